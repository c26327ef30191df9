package training

import (
	"fmt"
	"slices"

	"orgmem/actors/graph"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/brain/cognition"
	"orgmem/brain/drift"
	"orgmem/brain/extract/resolve"
	"orgmem/brain/retriever"
	pb "orgmem/proto"
	"orgmem/storage"
)

const (
	// maxBrainPassages bounds what a brain is trained on, in the order of the ids, which
	// prefers nothing: a graph of some 100 MB.
	maxBrainPassages = 200_000
	// maxBrainEntities bounds the entities of its graph, beside retriever.MaxTies.
	maxBrainEntities = 200_000
	// maxBrainTold bounds the supersessions, and the proposals, that questions are made
	// of: there are some hundred such questions.
	maxBrainTold = 10_000
)

// brainTies are what the edges of the graph are to a brain. Mentions it finds
// itself, sentence by sentence.
var brainTies = map[graph.EdgeType]retriever.TieKind{
	cognition.EdgeSimilar: retriever.TieSimilar,
	graph.EdgeFollows:     retriever.TieSequence,
}

// Source is an organization's content as a brain is made of it.
type Source struct {
	retriever.Source
	Places []ChunkPlace       // of each passage
	Seen   []*pb.BrainSeen    // how much each partition held, against which drift is measured later
	shapes []*retriever.Shape // of the partitions
}

// ChunkPlace is where a chunk lies.
type ChunkPlace struct {
	Part int // of the partitions
	Seq  uint64
}

// ReadSource reads what may be learned from, in the order of the partitions' and the nodes' ids: the same content is
// the same source, whatever came between. All of it is of one moment, since a node whose text is forgotten while it is
// being read would fail the training. Between two nodes it asks goOn, whose error it returns.
func ReadSource(store *storage.Store, parts []*partition.Ref, goOn func() error) (_ *Source, err error) {
	st, err := store.Snapshot()
	if err != nil {
		return nil, err
	}
	defer partition.CloseSnapshot(st, &err)
	src := &Source{}
	for i, part := range parts {
		state := &pb.PartitionState{}
		if _, err := st.Get(part.Space.Key(storage.TableState), state); err != nil {
			return nil, err
		}
		src.shapes = append(src.shapes, retriever.NewShape())
		src.Seen = append(src.Seen, &pb.BrainSeen{
			Partition: part.ID.Bytes(), Chunks: state.GetChunks(),
			Came: state.GetCame(), Went: state.GetWent(), NextChunk: state.GetNextChunk(),
		})
		if err := src.readPartition(st, part, i, goOn); err != nil {
			return nil, fmt.Errorf("read partition %s: %w", part.ID, err)
		}
	}
	src.FollowFormer()
	return src, nil
}

func (src *Source) readPartition(st storage.Reader, part *partition.Ref, at int, goOn func() error) error {
	for rec, err := range storage.ScanRecords(st, part.Space.Prefix(storage.TableNode), storage.ScanOptions{},
		func() *pb.Node { return &pb.Node{} }) {
		if err == nil {
			err = goOn()
		}
		if err != nil {
			return err
		}
		n := rec.Value
		src.Seen[at].Size += drift.ShareOf(n).Size()
		switch {
		case n.GetStatus() == pb.StatusSuperseded && !n.GetUnlearned() && n.GetKind() != graph.KindEntity &&
			len(src.Former) < maxBrainTold:
			if err := src.readFormer(st, part, n); err != nil {
				return err
			}
		case n.GetStatus() != pb.StatusLive || n.GetUnlearned():
		case n.GetKind() == graph.KindEntity:
			src.shapes[at].Hold(n)
			if err := src.readEntity(st, part, n); err != nil {
				return err
			}
		case len(n.GetChunks()) > 0 && len(src.Places)+len(n.GetChunks()) <= maxBrainPassages:
			src.shapes[at].Hold(n)
			if err := src.readDocument(st, part, at, n); err != nil {
				return err
			}
		}
	}
	for rec, err := range storage.ScanRecords(st, part.Space.Prefix(storage.TableEdge), storage.ScanOptions{},
		func() *pb.Edge { return &pb.Edge{} }) {
		if err == nil {
			err = goOn()
		}
		if err != nil {
			return err
		}
		e := rec.Value
		from, to := pb.NodeID(e.GetSource()), pb.NodeID(e.GetTarget())
		if drift.InGraph(e) {
			src.Seen[at].Size++
		}
		if drift.FoundAlike(e) {
			if e.GetStatus() == pb.StatusTombstoned && e.GetTombstonedWith() == "" {
				src.shapes[at].KeepApart(from, to)
			}
			continue
		}
		if e.GetStatus() != pb.StatusLive {
			continue
		}
		src.shapes[at].Join(from, to, cognition.TieOf(e.GetType()), e.GetWeight())
		if e.GetType() == graph.EdgeMentions || len(src.Ties) == retriever.MaxTies {
			continue
		}
		kind, known := brainTies[graph.EdgeType(e.GetType())]
		if !known {
			kind = retriever.TieStated
		}
		src.Ties = append(src.Ties, retriever.Tie{From: from, To: to, Kind: kind, Weight: float32(e.GetWeight())})
	}
	return src.readAccepted(st, part, goOn)
}

// readFormer reads what a superseded node said, as far as it is still there.
func (src *Source) readFormer(st storage.Reader, part *partition.Ref, n *pb.Node) error {
	f := retriever.Former{
		Document: retriever.Document{ID: pb.NodeID(n.GetId()), Title: n.GetTitle()},
		By:       pb.NodeID(n.GetSupersededBy()),
	}
	var err error
	if f.Passages, err = passagesOf(st, part, n); err == nil {
		src.Former = append(src.Former, f)
	}
	return err
}

// readAccepted reads the proposals that somebody accepted, in the order of their ids,
// which are made of those of the nodes.
func (src *Source) readAccepted(st storage.Reader, part *partition.Ref, goOn func() error) error {
	for rec, err := range storage.ScanRecords(st, part.Space.Prefix(storage.TableProposal), storage.ScanOptions{},
		func() *pb.Proposal { return &pb.Proposal{} }) {
		if err == nil {
			err = goOn()
		}
		if err != nil {
			return err
		}
		if p := rec.Value; p.GetStatus() == pb.ProposalAccepted && len(src.Accepted) < maxBrainTold {
			src.Accepted = append(src.Accepted, retriever.Tie{
				From: pb.NodeID(p.GetSource()), To: pb.NodeID(p.GetTarget()),
				Kind: retriever.TieStated, Weight: float32(p.GetScore()),
			})
		}
	}
	return nil
}

func (src *Source) readEntity(st storage.Reader, part *partition.Ref, n *pb.Node) error {
	if len(src.Entities) == maxBrainEntities {
		return nil
	}
	e := retriever.Entity{ID: pb.NodeID(n.GetId()), Names: []string{n.GetTitle()}}
	written := &pb.Entity{}
	if _, err := st.Get(part.Space.Key(storage.TableEntity, storage.Str(n.GetId())), written); err != nil {
		return err
	}
	refused := resolve.Refused(n.GetMetadata())
	for _, form := range written.GetForms() {
		if name := form.GetName(); name != n.GetTitle() && !slices.Contains(refused, name) {
			e.Names = append(e.Names, name)
		}
	}
	src.Entities = append(src.Entities, e)
	return nil
}

func (src *Source) readDocument(st storage.Reader, part *partition.Ref, at int, n *pb.Node) error {
	d := retriever.Document{ID: pb.NodeID(n.GetId()), Title: n.GetTitle()}
	var err error
	if d.Passages, err = passagesOf(st, part, n); err != nil {
		return err
	}
	for _, seq := range n.GetChunks() {
		src.Places = append(src.Places, ChunkPlace{at, seq})
	}
	src.Documents = append(src.Documents, d)
	return nil
}

// passagesOf reads the texts of a node's chunks.
func passagesOf(st storage.Reader, part *partition.Ref, n *pb.Node) (texts []string, err error) {
	for _, seq := range n.GetChunks() {
		chunk := &pb.Chunk{}
		found, err := st.Get(part.Space.Key(storage.TableChunk, storage.U64(seq)), chunk)
		if err != nil {
			return nil, err
		}
		if !found {
			return nil, fmt.Errorf("chunk %d of %s: %w", seq, n.GetId(), tenant.ErrNoRecord)
		}
		texts = append(texts, chunk.GetText())
	}
	return texts, nil
}
