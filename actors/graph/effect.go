package graph

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/commit"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/brain/drift"
	"orgmem/brain/index"
	"orgmem/brain/text"
	pb "orgmem/proto"
	"orgmem/storage"
)

// Tx is a transaction over a partition's graph: it collects what a slice of items,
// or an edit, does to it. It reads through to the store and sees its own changes,
// since items of one slice may concern the same node. Nothing is stored before the
// partition's worker commits it. It belongs to one goroutine.
type Tx struct {
	Org   *tenant.View
	Part  *partition.Ref
	Store *storage.Store
	NowMs int64 // when it began, in Unix milliseconds: the time of all that it writes
	model string
	Call  *tenant.Call // whose edit it is; nil for a slice of ingestion
	Job   *pb.Job      // whose item is being applied; nil for an edit

	Batch         *commit.Change
	State         *pb.PartitionState
	Nodes         map[pb.NodeID]*pb.Node
	StoredPlaces  map[pb.NodeID]NodePlace   // of the nodes as they are stored
	StoredShares  map[pb.NodeID]drift.Share // of the same
	Changed       []pb.NodeID
	changedSet    map[pb.NodeID]bool          // those of Changed
	changedBytes  int                         // of the records in Changed
	ExternalRefs  map[pb.ExternalID]pb.NodeID // what external ids mean, as far as somebody has asked
	IndexEntries  []index.Entry               // of the new chunks
	HiddenNodes   []pb.NodeID                 // leave search
	ShownNodes    []pb.NodeID                 // come back to it
	RemovedChunks []uint64                    // chunks that were replaced
	StagedBatches []*storage.Batch            // to be committed before Batch
	recentChanges []deed                      // of ingestion
	// Forgotten are the nodes of which nothing may be left.
	Forgotten []pb.NodeID
	// vectors are the models that there are vectors of, once somebody has looked.
	vectors         []string
	UnchargedTokens uint64 // tokens that were embedded and are not charged yet
	TouchesExports  bool   // something that exports may hold goes
	// What texts are linked to, with what the transaction itself has written: derived
	// nodes, the keys of their names, edges by triple (nil: cut), the last event of
	// each session, the traces that a cycle has changed.
	entities           map[pb.NodeID]*pb.Entity
	changedEntities    map[pb.NodeID]bool // the entities whose records have changed
	entityKeys         map[string][]pb.NodeID
	currentEdges       map[EdgeIdentity]*pb.Edge
	sessionTails       map[string]pb.NodeID
	Traces             map[pb.NodeID]*pb.Trace
	domains            map[string]*pb.Domain // by raw id: those that words were taken from
	views              map[string]proto.Message
	withdrawnProposals map[string]bool // by key: the proposals that went with an end
	shapeInsightsGone  bool            // the insights that are not of one text are gone
	ImportFile         string          // that the item at hand was imported from
	HasTrace           bool            // what is taken in was read before: its document says what was found
	IsRestore          bool            // what comes back from a document is no update of its domain
	// ChangesBefore is PartitionState.changes before the transaction.
	ChangesBefore uint64
}

// Node returns the current record, or nil.
func (f *Tx) Node(id pb.NodeID) (*pb.Node, error) {
	if n, ok := f.Nodes[id]; ok {
		return n, nil
	}
	n := &pb.Node{}
	found, err := f.Store.Get(f.Part.Space.Key(storage.TableNode, storage.Str(id)), n)
	if err != nil {
		return nil, err
	}
	if !found {
		n = nil
	}
	f.Nodes[id], f.StoredPlaces[id], f.StoredShares[id] = n, PlaceOf(n), drift.ShareOf(n)
	return n, nil
}

func (f *Tx) putUpdated(n *pb.Node) {
	n.UpdatedMs = f.NowMs
	f.PutNodeRecord(n)
}

// PutNodeRecord writes a node whose change is no update of it: its degree.
func (f *Tx) PutNodeRecord(n *pb.Node) {
	id := pb.NodeID(n.GetId())
	f.Nodes[id] = n
	if !f.changedSet[id] {
		f.changedSet[id] = true
		f.Changed = append(f.Changed, id)
		f.changedBytes += proto.Size(n)
	}
}

// ResolveExternal returns the node that an external id means, "" when it is new.
func (f *Tx) ResolveExternal(ext pb.ExternalID) (pb.NodeID, error) {
	if id, ok := f.ExternalRefs[ext]; ok {
		return id, nil
	}
	r := &pb.ExternalRef{}
	_, err := f.Store.Get(f.Part.Space.Key(storage.TableExternalID, storage.Str(ext)), r)
	if err != nil {
		return "", err
	}
	f.ExternalRefs[ext] = pb.NodeID(r.GetNode())
	return f.ExternalRefs[ext], nil
}

// ErrNotPrepared says that an item needs its chunks, and they were not computed,
// because another item of the same slice has changed what it meets. The slice
// ends before it; at the head of the next one it is prepared for what is stored.
var ErrNotPrepared = errors.New("item is not prepared")

// Apply makes one item's document true and says what happened to it. With
// ErrNotPrepared it has changed nothing.
func (f *Tx) Apply(it *Prepared) (status string, err error) {
	item := it.GetItem()
	ext := pb.ExternalID(item.GetExternalId())
	var before pb.NodeID // what the external id meant so far
	if ext != "" {
		if before, err = f.ResolveExternal(ext); err != nil {
			return "", err
		}
	}
	stands, err := f.standsByHand(before, item.GetContent())
	if err != nil {
		return "", err
	}
	if stands {
		it.Node = before
		return pb.ItemUnchanged, nil
	}
	n, err := f.Node(it.Node)
	if err != nil {
		return "", err
	}
	absent := n == nil || n.GetStatus() == pb.StatusTombstoned
	anew := !absent && (Redescribes(n, item) || n.GetErased())
	if it.Known && (absent || anew) || it.Stands || it.Unread && !absent && !n.GetUnlearned() {
		return "", ErrNotPrepared
	}
	learned, err := f.mayLearn()
	if err != nil {
		return "", err
	}
	if !absent && n.GetUnlearned() && learned { // what was sent to be learned from once may be
		n.Unlearned = false
		f.putUpdated(n)
		if !anew {
			if err := f.link(it, n); err != nil {
				return "", err
			}
		}
	}
	switch {
	case absent:
		if err := f.create(it); err != nil {
			return "", err
		}
		status = pb.ItemCreated
	case n.GetStatus() == pb.StatusSuperseded:
		// The external ids that have moved on to other content do not come back
		// with it.
		kept := n.Source.ExternalIds[:0]
		for _, id := range n.GetSource().GetExternalIds() {
			current, err := f.ResolveExternal(pb.ExternalID(id))
			if err != nil {
				return "", err
			}
			if current == it.Node {
				kept = append(kept, id)
			}
		}
		n.Source.ExternalIds = kept
		if err := f.markActive(n, f.validFrom(item)); err != nil {
			return "", err
		}
		if anew {
			if err := f.redescribe(it, n); err != nil {
				return "", err
			}
		}
		status = pb.ItemRevived
	case n.GetErased(): // restored, and now it has its content again
		if err := f.redescribe(it, n); err != nil {
			return "", err
		}
		f.note(it.Node, ActionRevived, "")
		status = pb.ItemRevived
	case anew:
		was := proto.CloneOf(n)
		if err := f.redescribe(it, n); err != nil {
			return "", err
		}
		f.note(it.Node, ActionUpdated, "", described(was, n)...)
		return pb.ItemSuperseded, nil
	default:
		status = pb.ItemUnchanged
	}
	if n = f.Nodes[it.Node]; ext == "" && !n.GetSource().GetAnonymous() {
		n.Source.Anonymous = true
		f.putUpdated(n)
	}
	if ext == "" || before == it.Node {
		return status, nil
	}
	n = f.Nodes[it.Node]
	if !slices.Contains(n.GetSource().GetExternalIds(), string(ext)) {
		n.Source.ExternalIds = append(n.Source.ExternalIds, string(ext))
		f.putUpdated(n)
	}
	f.ExternalRefs[ext] = it.Node
	f.Batch.Put(f.Part.Space.Key(storage.TableExternalID, storage.Str(ext)), &pb.ExternalRef{Node: string(it.Node)})
	if before == "" {
		return status, nil
	}
	if err := f.supersede(before, it.Node, ext); err != nil {
		return "", err
	}
	// What a person had put in the place of the document's old content held against
	// that, and not against what the document says now.
	successor, err := f.successor(before)
	if err != nil {
		return "", err
	}
	if successor != "" && successor != it.Node {
		if err := f.supersede(successor, it.Node, ext); err != nil {
			return "", err
		}
	}
	if status != pb.ItemRevived {
		status = pb.ItemSuperseded
	}
	return status, nil
}

// supersede takes an external id from the node that it meant. A node that no
// other document holds leaves search, and stays readable.
func (f *Tx) supersede(old, by pb.NodeID, ext pb.ExternalID) error {
	n, err := f.Node(old)
	if err != nil || n == nil || n.GetStatus() != pb.StatusLive {
		return err
	}
	others := n.GetSource().GetExternalIds()
	if n.GetSource().GetAnonymous() { // it was also sent for itself
		n.Source.ExternalIds = slices.DeleteFunc(n.Source.ExternalIds, func(s string) bool { return s == string(ext) })
		f.putUpdated(n)
		return nil
	}
	for _, other := range others {
		if other == string(ext) {
			continue
		}
		current, err := f.ResolveExternal(pb.ExternalID(other))
		if err != nil {
			return err
		}
		if current == old { // another document still has this content
			n.Source.ExternalIds = slices.DeleteFunc(n.Source.ExternalIds, func(s string) bool { return s == string(ext) })
			f.putUpdated(n)
			return nil
		}
	}
	f.markSuperseded(n, by, "")
	return nil
}

// markSuperseded takes a live node out of search, in favour of another.
func (f *Tx) markSuperseded(n *pb.Node, by pb.NodeID, reason string) {
	was, id := proto.CloneOf(n), pb.NodeID(n.GetId())
	n.Status, n.SupersededBy, n.ValidToMs = pb.StatusSuperseded, string(by), f.NowMs
	f.HiddenNodes = append(f.HiddenNodes, id)
	f.ShownNodes = slices.DeleteFunc(f.ShownNodes, func(other pb.NodeID) bool { return other == id })
	f.putUpdated(n)
	f.note(id, ActionSuperseded, reason, described(was, n)...)
}

// markActive makes a superseded node live again, with a new validity.
func (f *Tx) markActive(n *pb.Node, since int64) error {
	was, id := proto.CloneOf(n), pb.NodeID(n.GetId())
	n.Status, n.SupersededBy, n.ValidFromMs, n.ValidToMs = pb.StatusLive, "", since, 0
	f.ShownNodes = append(f.ShownNodes, id)
	f.HiddenNodes = slices.DeleteFunc(f.HiddenNodes, func(other pb.NodeID) bool { return other == id })
	f.putUpdated(n)
	f.note(id, ActionRevived, "", described(was, n)...)
	return f.endSupersession(id, pb.NodeID(was.GetSupersededBy()))
}

func (f *Tx) validFrom(item *pb.IngestItem) int64 {
	if item.GetOccurredMs() != 0 {
		return item.GetOccurredMs()
	}
	return f.NowMs
}

// mayLearn says whether what is taken in now is learned from: by the settings of
// the moment when the job was accepted, or of now, where a person writes.
func (f *Tx) mayLearn() (bool, error) {
	if f.Job != nil {
		return !f.Job.GetUnlearned(), nil
	}
	s, err := f.Org.Residents.Settings(f.Store, f.Part)
	return s.Learn, err
}

// create writes a new node with its chunks.
func (f *Tx) create(it *Prepared) error {
	item := it.GetItem()
	if err := f.removeTombstone(it.Node); err != nil {
		return err
	}
	n := &pb.Node{
		Id: string(it.Node), Authority: 0.5, Confidence: 1, Status: pb.StatusLive,
		Source:    &pb.Source{Type: cmp.Or(item.GetSource(), "ingest"), Job: it.GetJob()},
		CreatedMs: f.NowMs,
	}
	learned, err := f.mayLearn()
	if err != nil {
		return err
	}
	n.Unlearned = !learned
	if item.GetExternalId() != "" {
		n.Source.ExternalIds = []string{item.GetExternalId()}
	}
	f.describe(n, item)
	f.PutContent(n, item.GetContent())
	if it.Variant {
		f.Batch.PutRaw(f.Part.ContentKey(item.GetContent()), []byte(it.Node))
	}
	f.State.Nodes++
	f.note(it.Node, ActionCreated, "")
	f.tellSignal(n, item)
	return f.PutChunks(it, n)
}

// PutContent writes the text that a node holds from now on, and its size in bytes into the node. The caller writes the
// node.
func (f *Tx) PutContent(n *pb.Node, text string) {
	f.Batch.Put(f.Part.Space.Key(storage.TableContent, storage.Str(n.GetId())), &pb.Content{Text: text})
	n.ContentBytes, n.Erased = uint32(len(text)), false
}

// describe sets what a document says of its content.
func (f *Tx) describe(n *pb.Node, item *pb.IngestItem) {
	n.Kind, n.Title, n.Metadata = kindOf(item), text.Title(item.GetTitle(), item.GetContent()), item.GetMetadata()
	n.OccurredMs, n.ValidFromMs = item.GetOccurredMs(), f.validFrom(item)
	n.Curated = false
}

// redescribe gives a node another title, kind, time or metadata. Titles are part
// of what is embedded, so its chunks are made anew.
func (f *Tx) redescribe(it *Prepared, n *pb.Node) error {
	if err := f.unlink(n, false); err != nil {
		return err
	}
	for _, seq := range n.GetChunks() {
		f.Batch.Delete(f.Part.Space.Key(storage.TableChunk, storage.U64(seq)))
		f.Batch.Delete(partition.VectorKey(f.Part, f.model, seq))
		for model := range f.Org.System.Embedders.IDs() { // one of them may be embedding anew
			f.Batch.Delete(partition.VectorKey(f.Part, model, seq))
		}
		f.Batch.Delete(f.Part.Space.Key(storage.TableUnsealed, storage.U64(seq)))
	}
	// Those of this very slice are in no segment yet.
	f.IndexEntries = slices.DeleteFunc(f.IndexEntries, func(e index.Entry) bool {
		return slices.Contains(n.GetChunks(),
			e.Seq)
	})
	f.RemovedChunks = append(f.RemovedChunks, n.GetChunks()...)
	f.State.Chunks -= uint64(len(n.GetChunks()))
	n.Chunks = nil
	if n.GetErased() {
		f.PutContent(n, it.GetItem().GetContent())
	}
	f.describe(n, it.GetItem())
	return f.PutChunks(it, n)
}

// PutChunks writes a node's chunks and the node.
func (f *Tx) PutChunks(it *Prepared, n *pb.Node) error {
	item := it.GetItem()
	tokens := 0
	for _, c := range it.Chunks {
		tokens += c.Tokens
	}
	n.Turn = strings.TrimSpace(item.GetTitle()) == "" && tokens <= index.MaxTurnTokens
	space := f.Part.Space
	f.State.Model = f.model
	to := f.Batch.Batch
	large := len(item.GetContent()) > StageBytes/4 // its records take several times its size
	if large {
		to = storage.NewBatch(f.Org.Store)
	}
	for i, c := range it.Chunks {
		seq := max(f.State.NextChunk, 1) // 0 stands for "before the first"
		f.State.NextChunk = seq + 1
		chunk := &pb.Chunk{
			Seq: seq, Node: n.Id, Ordinal: uint32(i), Text: c.Text, TitlePath: c.TitlePath, Tokens: uint32(c.Tokens),
			CreatedMs: f.NowMs, Start: uint32(c.Start), End: uint32(c.End),
		}
		to.Put(space.Key(storage.TableChunk, storage.U64(seq)), chunk)
		if it.Vectors[i] != nil {
			f.UnchargedTokens += uint64(c.Tokens)
			partition.PutVector(to, f.Part, f.model, seq, it.Vectors[i])
		}
		f.Batch.PutRaw(space.Key(storage.TableUnsealed, storage.U64(seq)), nil)
		f.IndexEntries = append(f.IndexEntries, index.EntryOf(chunk, n, it.Vectors[i], it.Passages[i]))
		n.Chunks = append(n.Chunks, seq)
		if large && to.Bytes() > StageBytes {
			f.StagedBatches = append(f.StagedBatches, to)
			to = storage.NewBatch(f.Org.Store)
		}
	}
	if large && to.Len() > 0 {
		f.StagedBatches = append(f.StagedBatches, to)
	}
	f.State.Chunks += uint64(len(it.Chunks))
	f.putUpdated(n)
	return f.link(it, n)
}

// Charge counts what was embedded since the last time: with the effect, so that
// content which is tried several times costs once.
func (f *Tx) Charge(capability string, key pb.KeyHash) {
	if f.UnchargedTokens > 0 && f.Part.Kind != pb.PartitionSandbox {
		line := commit.LineAt(f.Org.System.Clock.Now(), capability, key, f.Part)
		f.Batch.Cost(commit.Usage{Line: line, EmbedTokens: f.UnchargedTokens})
	}
	f.UnchargedTokens = 0
}
