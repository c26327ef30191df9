package graph

import (
	"cmp"

	"orgmem/actors/commit"
	pb "orgmem/proto"
	"orgmem/storage"
)

// Pending is what a transaction is going to commit. Most records are in Batch as soon as they change; nodes and
// entities, which one slice may change many times, are put there by Finish.
type Pending struct {
	Scope
	Batch          *commit.Change
	State          *pb.PartitionState
	StagedBatches  []*storage.Batch // to be committed before Batch
	TouchesExports bool             // it erases something that exports may hold
	// deferredBytes is the size of the records that Finish will put into Batch.
	deferredBytes int
	// unchargedTokens counts the tokens that were embedded and are not charged yet.
	unchargedTokens uint64
}

// IsFull reports whether the transaction is as large as one commit should be. The rest of the edit then goes into
// another.
func (p *Pending) IsFull() bool {
	return p.Batch.Bytes()+p.deferredBytes > p.maxBytes()
}

// maxBytes is the size from which on a commit is full.
func (p *Pending) maxBytes() int { return cmp.Or(p.Org.System.Config.PieceBytes, MaxPieceBytes) }

// Charge adds to the commit what was embedded since the last call. It goes with the effect, so content that is tried
// several times is charged once.
func (p *Pending) Charge(capability string, key pb.KeyHash) {
	if p.unchargedTokens > 0 && p.Part.Kind != pb.PartitionSandbox {
		line := commit.LineAt(p.Org.System.Clock.Now(), capability, key, p.Part)
		p.Batch.Cost(commit.Usage{Line: line, EmbedTokens: p.unchargedTokens})
	}
	p.unchargedTokens = 0
}

// PutContent writes the text that a node holds from now on, and its size in bytes into the node. The caller writes the
// node.
func (p *Pending) PutContent(n *pb.Node, text string) {
	p.Batch.Put(p.Part.Space.Key(storage.TableContent, storage.Str(n.GetId())), &pb.Content{Text: text})
	n.ContentBytes, n.Erased = uint32(len(text)), false
}

// WaiveCharge forgets what was embedded since the last Charge: nobody pays for it.
func (p *Pending) WaiveCharge() { p.unchargedTokens = 0 }

// announce adds to the commit what a person did: the entry of the audit trail, and the event for those who listen.
// target is the node, edge or proposal; affected is the number of nodes that it touched.
func (p *Pending) announce(action, change, target string, affected int) error {
	p.Batch.Audit(p.Call.AuditOf(action, target))
	return AddGraphUpdated(p.Batch, p.Org, p.Part, change, target, affected)
}
