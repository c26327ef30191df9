package actors

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

// effect collects what a slice of items does to a partition. It reads through
// to the store and sees its own changes, since items of one slice may concern
// the same node.
type effect struct {
	org   *tenant.View
	part  *partition.Ref
	st    *storage.Store
	now   int64
	model string
	call  *tenant.Call // whose edit it is; nil for a slice of ingestion
	job   *pb.Job      // whose item is being applied; nil for an edit

	batch   *commit.Change
	state   *pb.PartitionState
	nodes   map[pb.NodeID]*pb.Node
	places  map[pb.NodeID]nodePlace   // of the nodes as they are stored
	shares  map[pb.NodeID]drift.Share // of the same
	changed []pb.NodeID
	kept    map[pb.NodeID]bool // those of changed
	bytes   int                // of the records in changed
	refs    map[pb.ExternalID]pb.NodeID
	entries []index.Entry
	hide    []pb.NodeID
	show    []pb.NodeID
	gone    []uint64         // chunks that were replaced
	stage   []*storage.Batch // to be committed before batch
	deeds   []deed           // of ingestion
	// forgotten are the nodes of which nothing may be left.
	forgotten []pb.NodeID
	// vectors are the models that there are vectors of, once somebody has looked.
	vectors []string
	spent   uint64 // tokens that were embedded and are not charged yet
	forgets bool   // something that exports may hold goes
	// What texts are linked to, with what the effect itself has written: derived
	// nodes, the keys of their names, edges by triple (nil: cut), the last event of
	// each session, the traces that a cycle has changed.
	entities   map[pb.NodeID]*pb.Entity
	renewed    map[pb.NodeID]bool // the entities whose records have changed
	entityKeys map[string][]pb.NodeID
	written    map[edgeTriple]*pb.Edge
	follows    map[string]pb.NodeID
	traces     map[pb.NodeID]*pb.Trace
	domains    map[string]*pb.Domain // by raw id: those that words were taken from
	views      map[string]proto.Message
	undone     map[string]bool // by key: the proposals that went with an end
	shapeless  bool            // the insights that are not of one text are gone
	file       string          // that the item at hand was imported from
	traced     bool            // what is taken in was read before: its document says what was found
	restores   bool            // what comes back from a document is no update of its domain
	// changesBefore is PartitionState.changes before the effect.
	changesBefore uint64
}

// node returns the current record, nil when there is none.
func (f *effect) node(id pb.NodeID) (*pb.Node, error) {
	if n, ok := f.nodes[id]; ok {
		return n, nil
	}
	n := &pb.Node{}
	found, err := f.st.Get(f.part.Space.Key(storage.TableNode, storage.Str(id)), n)
	if err != nil {
		return nil, err
	}
	if !found {
		n = nil
	}
	f.nodes[id], f.places[id], f.shares[id] = n, placeOf(n), drift.ShareOf(n)
	return n, nil
}

func (f *effect) touch(n *pb.Node) {
	n.UpdatedMs = f.now
	f.keep(n)
}

// keep writes a node whose change is no update of it: its degree.
func (f *effect) keep(n *pb.Node) {
	id := pb.NodeID(n.GetId())
	f.nodes[id] = n
	if !f.kept[id] {
		f.kept[id] = true
		f.changed = append(f.changed, id)
		f.bytes += proto.Size(n)
	}
}

// ref returns the node that an external id means, "" when it is new.
func (f *effect) ref(ext pb.ExternalID) (pb.NodeID, error) {
	if id, ok := f.refs[ext]; ok {
		return id, nil
	}
	r := &pb.ExternalRef{}
	_, err := f.st.Get(f.part.Space.Key(storage.TableExternalID, storage.Str(ext)), r)
	if err != nil {
		return "", err
	}
	f.refs[ext] = pb.NodeID(r.GetNode())
	return f.refs[ext], nil
}

// errNotPrepared says that an item needs its chunks, and they were not computed,
// because another item of the same slice has changed what it meets. The slice
// ends before it; at the head of the next one it is prepared for what is stored.
var errNotPrepared = errors.New("item is not prepared")

// apply makes one item's document true and says what happened to it. With
// errNotPrepared it has changed nothing.
func (f *effect) apply(it *prepared) (status string, err error) {
	item := it.GetItem()
	ext := pb.ExternalID(item.GetExternalId())
	var before pb.NodeID // what the external id meant so far
	if ext != "" {
		if before, err = f.ref(ext); err != nil {
			return "", err
		}
	}
	stands, err := f.standsByHand(before, item.GetContent())
	if err != nil {
		return "", err
	}
	if stands {
		it.node = before
		return pb.ItemUnchanged, nil
	}
	n, err := f.node(it.node)
	if err != nil {
		return "", err
	}
	absent := n == nil || n.GetStatus() == pb.StatusTombstoned
	anew := !absent && (redescribes(n, item) || n.GetErased())
	if it.known && (absent || anew) || it.stands || it.unread && !absent && !n.GetUnlearned() {
		return "", errNotPrepared
	}
	learned, err := f.learned()
	if err != nil {
		return "", err
	}
	if !absent && n.GetUnlearned() && learned { // what was sent to be learned from once may be
		n.Unlearned = false
		f.touch(n)
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
			current, err := f.ref(pb.ExternalID(id))
			if err != nil {
				return "", err
			}
			if current == it.node {
				kept = append(kept, id)
			}
		}
		n.Source.ExternalIds = kept
		if err := f.revive(n, f.validFrom(item)); err != nil {
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
		f.note(it.node, actionRevived, "")
		status = pb.ItemRevived
	case anew:
		was := proto.CloneOf(n)
		if err := f.redescribe(it, n); err != nil {
			return "", err
		}
		f.note(it.node, actionUpdated, "", described(was, n)...)
		return pb.ItemSuperseded, nil
	default:
		status = pb.ItemUnchanged
	}
	if n = f.nodes[it.node]; ext == "" && !n.GetSource().GetAnonymous() {
		n.Source.Anonymous = true
		f.touch(n)
	}
	if ext == "" || before == it.node {
		return status, nil
	}
	n = f.nodes[it.node]
	if !slices.Contains(n.GetSource().GetExternalIds(), string(ext)) {
		n.Source.ExternalIds = append(n.Source.ExternalIds, string(ext))
		f.touch(n)
	}
	f.refs[ext] = it.node
	f.batch.Put(f.part.Space.Key(storage.TableExternalID, storage.Str(ext)), &pb.ExternalRef{Node: string(it.node)})
	if before == "" {
		return status, nil
	}
	if err := f.supersede(before, it.node, ext); err != nil {
		return "", err
	}
	// What a person had put in the place of the document's old content held against
	// that, and not against what the document says now.
	successor, err := f.successor(before)
	if err != nil {
		return "", err
	}
	if successor != "" && successor != it.node {
		if err := f.supersede(successor, it.node, ext); err != nil {
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
func (f *effect) supersede(old, by pb.NodeID, ext pb.ExternalID) error {
	n, err := f.node(old)
	if err != nil || n == nil || n.GetStatus() != pb.StatusLive {
		return err
	}
	others := n.GetSource().GetExternalIds()
	if n.GetSource().GetAnonymous() { // it was also sent for itself
		n.Source.ExternalIds = slices.DeleteFunc(n.Source.ExternalIds, func(s string) bool { return s == string(ext) })
		f.touch(n)
		return nil
	}
	for _, other := range others {
		if other == string(ext) {
			continue
		}
		current, err := f.ref(pb.ExternalID(other))
		if err != nil {
			return err
		}
		if current == old { // another document still has this content
			n.Source.ExternalIds = slices.DeleteFunc(n.Source.ExternalIds, func(s string) bool { return s == string(ext) })
			f.touch(n)
			return nil
		}
	}
	f.retire(n, by, "")
	return nil
}

// retire takes a live node out of search, in favour of another.
func (f *effect) retire(n *pb.Node, by pb.NodeID, reason string) {
	was, id := proto.CloneOf(n), pb.NodeID(n.GetId())
	n.Status, n.SupersededBy, n.ValidToMs = pb.StatusSuperseded, string(by), f.now
	f.hide = append(f.hide, id)
	f.show = slices.DeleteFunc(f.show, func(other pb.NodeID) bool { return other == id })
	f.touch(n)
	f.note(id, actionSuperseded, reason, described(was, n)...)
}

// revive makes a superseded node live again, with a new validity.
func (f *effect) revive(n *pb.Node, since int64) error {
	was, id := proto.CloneOf(n), pb.NodeID(n.GetId())
	n.Status, n.SupersededBy, n.ValidFromMs, n.ValidToMs = pb.StatusLive, "", since, 0
	f.show = append(f.show, id)
	f.hide = slices.DeleteFunc(f.hide, func(other pb.NodeID) bool { return other == id })
	f.touch(n)
	f.note(id, actionRevived, "", described(was, n)...)
	return f.endSupersession(id, pb.NodeID(was.GetSupersededBy()))
}

func (f *effect) validFrom(item *pb.IngestItem) int64 {
	if item.GetOccurredMs() != 0 {
		return item.GetOccurredMs()
	}
	return f.now
}

// learned says whether what is taken in now is learned from: by the settings of
// the moment when the job was accepted, or of now, where a person writes.
func (f *effect) learned() (bool, error) {
	if f.job != nil {
		return !f.job.GetUnlearned(), nil
	}
	s, err := f.org.System.Parts.Settings(f.st, f.part)
	return s.Learn, err
}

// create writes a new node with its chunks.
func (f *effect) create(it *prepared) error {
	item := it.GetItem()
	if err := f.unbury(it.node); err != nil {
		return err
	}
	n := &pb.Node{
		Id: string(it.node), Authority: 0.5, Confidence: 1, Status: pb.StatusLive,
		Source:    &pb.Source{Type: cmp.Or(item.GetSource(), "ingest"), Job: it.GetJob()},
		CreatedMs: f.now,
	}
	learned, err := f.learned()
	if err != nil {
		return err
	}
	n.Unlearned = !learned
	if item.GetExternalId() != "" {
		n.Source.ExternalIds = []string{item.GetExternalId()}
	}
	f.describe(n, item)
	f.putContent(n, item.GetContent())
	if it.variant {
		f.batch.PutRaw(f.part.ContentKey(item.GetContent()), []byte(it.node))
	}
	f.state.Nodes++
	f.note(it.node, actionCreated, "")
	f.tellSignal(n, item)
	return f.putChunks(it, n)
}

func (f *effect) putContent(n *pb.Node, text string) {
	f.batch.Put(f.part.Space.Key(storage.TableContent, storage.Str(n.GetId())), &pb.Content{Text: text})
	n.ContentBytes, n.Erased = uint32(len(text)), false
}

// describe sets what a document says of its content.
func (f *effect) describe(n *pb.Node, item *pb.IngestItem) {
	n.Kind, n.Title, n.Metadata = kindOf(item), text.Title(item.GetTitle(), item.GetContent()), item.GetMetadata()
	n.OccurredMs, n.ValidFromMs = item.GetOccurredMs(), f.validFrom(item)
	n.Curated = false
}

// redescribe gives a node another title, kind, time or metadata. Titles are part
// of what is embedded, so its chunks are made anew.
func (f *effect) redescribe(it *prepared, n *pb.Node) error {
	if err := f.unlink(n, false); err != nil {
		return err
	}
	for _, seq := range n.GetChunks() {
		f.batch.Delete(f.part.Space.Key(storage.TableChunk, storage.U64(seq)))
		f.batch.Delete(partition.VectorKey(f.part, f.model, seq))
		for model := range f.org.System.Models { // one of them may be embedding anew
			f.batch.Delete(partition.VectorKey(f.part, model, seq))
		}
		f.batch.Delete(f.part.Space.Key(storage.TableUnsealed, storage.U64(seq)))
	}
	// Those of this very slice are in no segment yet.
	f.entries = slices.DeleteFunc(f.entries, func(e index.Entry) bool { return slices.Contains(n.GetChunks(), e.Seq) })
	f.gone = append(f.gone, n.GetChunks()...)
	f.state.Chunks -= uint64(len(n.GetChunks()))
	n.Chunks = nil
	if n.GetErased() {
		f.putContent(n, it.GetItem().GetContent())
	}
	f.describe(n, it.GetItem())
	return f.putChunks(it, n)
}

// putChunks writes a node's chunks and the node.
func (f *effect) putChunks(it *prepared, n *pb.Node) error {
	item := it.GetItem()
	tokens := 0
	for _, c := range it.chunks {
		tokens += c.Tokens
	}
	n.Turn = strings.TrimSpace(item.GetTitle()) == "" && tokens <= index.MaxTurnTokens
	space := f.part.Space
	f.state.Model = f.model
	to := f.batch.Batch
	large := len(item.GetContent()) > stageBytes/4 // its records take several times its size
	if large {
		to = storage.NewBatch(f.org.Store)
	}
	for i, c := range it.chunks {
		seq := max(f.state.NextChunk, 1) // 0 stands for "before the first"
		f.state.NextChunk = seq + 1
		chunk := &pb.Chunk{
			Seq: seq, Node: n.Id, Ordinal: uint32(i), Text: c.Text, TitlePath: c.TitlePath, Tokens: uint32(c.Tokens),
			CreatedMs: f.now, Start: uint32(c.Start), End: uint32(c.End),
		}
		to.Put(space.Key(storage.TableChunk, storage.U64(seq)), chunk)
		if it.vectors[i] != nil {
			f.spent += uint64(c.Tokens)
			partition.PutVector(to, f.part, f.model, seq, it.vectors[i])
		}
		f.batch.PutRaw(space.Key(storage.TableUnsealed, storage.U64(seq)), nil)
		f.entries = append(f.entries, index.EntryOf(chunk, n, it.vectors[i], it.passages[i]))
		n.Chunks = append(n.Chunks, seq)
		if large && to.Bytes() > stageBytes {
			f.stage = append(f.stage, to)
			to = storage.NewBatch(f.org.Store)
		}
	}
	if large && to.Len() > 0 {
		f.stage = append(f.stage, to)
	}
	f.state.Chunks += uint64(len(it.chunks))
	f.touch(n)
	return f.link(it, n)
}

// charge counts what was embedded since the last time: with the effect, so that
// content which is tried several times costs once.
func (f *effect) charge(capability string, key pb.KeyHash) {
	if f.spent > 0 && f.part.Kind != pb.PartitionSandbox {
		line := commit.LineAt(f.org.System.Clock.Now(), capability, key, f.part)
		f.batch.Cost(commit.Usage{Line: line, EmbedTokens: f.spent})
	}
	f.spent = 0
}
