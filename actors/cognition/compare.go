package cognition

import (
	"context"
	"maps"
	"slices"

	"orgmem/actors/graph"
	"orgmem/actors/llm"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/brain/cognition"
	"orgmem/brain/community"
	"orgmem/brain/conflict"
	"orgmem/brain/index"
	pb "orgmem/proto"
	"orgmem/storage"
)

const (
	// maxFactSearches bounds the facts of one chunk that others are looked up for.
	maxFactSearches = 4
	// maxContradictionsPerCommit bounds the contradictions of one commit.
	maxContradictionsPerCommit = 100
	// maxExplained bounds the contradictions that a language model explains in one cycle: a call each.
	maxExplained = 10
)

// compareStage compares what is new with everything: it finds what is near to it, and what it contradicts.
type compareStage struct {
	*cycle
	candidates shortlist // for the reader
	explained  int       // contradictions that a language model was asked to explain
}

func (c *compareStage) run() error {
	c.notes = make([]note, len(c.fresh))
	alike := make([][]community.Neighbour, len(c.fresh))
	contradictions := make([][]cognition.Contradiction, len(c.fresh))
	c.candidates.most = conflict.MostRead(len(c.fresh))
	var tasks []func(int) error
	for from := 0; from < len(c.fresh); from += compareBatch {
		to := min(from+compareBatch, len(c.fresh))
		tasks = append(tasks, func(worker int) error {
			own := c.comparer(worker)
			return c.org.WithStore(func(st *storage.Store) error {
				var candidates []candidate
				for i := from; i < to; i++ {
					var err error
					found := comparison{of: c.fresh[i]}
					if c.notes[i], err = c.compare(st, own, &found); err != nil {
						return err
					}
					alike[i], contradictions[i] = found.near, found.contradictions
					candidates = append(candidates, found.candidates...)
				}
				c.candidates.add(candidates)
				return nil
			})
		})
	}
	if err := c.compute(tasks); err != nil {
		return err
	}
	if err := c.writeAll(c.similarities(alike)); err != nil {
		return err
	}
	read, err := c.readCandidates()
	if err != nil {
		return err
	}
	return c.writeContradictions(append(contradictions, read))
}

// comparison is what came of setting a fresh chunk against its neighbours.
type comparison struct {
	of             cognition.Chunk
	near           []community.Neighbour
	contradictions []cognition.Contradiction
	candidates     []candidate // for the reader
}

// compare takes one fresh chunk apart and sets it against its neighbours.
func (c *compareStage) compare(st *storage.Store, own *tenant.Comparer, found *comparison) (note, error) {
	f := found.of
	n, passage, err := c.passage(st, own, f)
	if err != nil || passage == nil {
		return n, err
	}
	vec, err := partition.ReadVector(st, c.part, c.hot.State.GetModel(), f.Seq)
	if err != nil {
		return n, err
	}
	others := map[uint64]conflict.Near{}
	if vec != nil {
		q := c.org.System.Embedders.LikenessQuery(c.hot.State.GetModel(), vec)
		var cosines []float64
		var nearest []uint64
		for _, x := range own.Scratch.Candidates([]*index.Snapshot{c.hot.Snapshot}, q) {
			if x.Seq == f.Seq || len(others) == conflict.Neighbours {
				continue
			}
			place, ok := c.At[x.Node]
			if !ok || place == f.Node {
				continue
			}
			cosines, nearest = append(cosines, float64(x.Vector)), append(nearest, x.Seq)
			others[x.Seq] = conflict.Near{Cosine: float64(x.Vector), Rank: len(cosines), Of: int(c.hot.State.GetChunks())}
			if x.Vector >= cognition.LeastSimilar {
				found.near = append(found.near, community.Neighbour{Other: place, Cosine: float64(x.Vector)})
			}
		}
		own.Scratch.Reset()
		for i, clear := range conflict.Clearance(cosines) {
			x := others[nearest[i]]
			x.Clear = clear
			others[nearest[i]] = x
		}
	}
	searched := 0
	for _, cl := range passage.Claims {
		if cl.Fact.Key == 0 || searched == maxFactSearches {
			continue
		}
		searched++
		q := &index.Query{
			Mode: index.KeywordOnly, Config: index.DefaultConfig(), N: conflict.Neighbours,
			Terms: own.Analyzer.Query(cl.Fact.Subject+" "+cl.Fact.Attribute, c.hot.Snapshot.Langs()),
		}
		for _, x := range own.Scratch.Candidates([]*index.Snapshot{c.hot.Snapshot}, q) {
			if _, known := others[x.Seq]; !known && x.Seq != f.Seq {
				if place, ok := c.At[x.Node]; ok && place != f.Node {
					others[x.Seq] = conflict.Near{Of: int(c.hot.State.GetChunks())} // found by its words
				}
			}
		}
		own.Scratch.Reset()
	}
	for _, seq := range slices.Sorted(maps.Keys(others)) { // of findings that are alike the first is reported
		place := others[seq]
		o, other, err := c.passageOf(st, own, seq)
		if err != nil {
			return n, err
		}
		if other == nil {
			continue
		}
		if r := c.org.System.Config.Reader; r != nil && r.Tells() {
			for _, x := range own.Judge.Candidates(nil, passage, other, place) {
				found.candidates = append(found.candidates, candidate{Candidate: x, a: f, b: o.Chunk})
			}
		} else if finding, ok := own.Judge.Compare(passage, other, place); ok {
			found.contradictions = append(found.contradictions, cognition.Contradiction{A: f, B: o.Chunk, Finding: finding})
		}
	}
	return n, nil
}

// similarities joins each fresh text with the nearest others.
func (c *compareStage) similarities(alike [][]community.Neighbour) (changes []func(*graph.Tx) error) {
	for _, e := range c.JoinSimilar(c.fresh, alike) {
		from, to := c.Nodes[e.A].ID, c.Nodes[e.B].ID
		changes = append(changes, func(f *graph.Tx) error { return joinAlike(f, from, to, e.Weight) })
	}
	return changes
}

// joinAlike writes an edge of likeness between two texts that still stand, unless there is one, or a person has
// forgotten it.
func joinAlike(f *graph.Tx, from, to pb.NodeID, weight float64) error {
	for _, id := range []pb.NodeID{from, to} {
		if ok, err := f.StillHolds(id, 0); err != nil || !ok {
			return err
		}
	}
	for _, triple := range []graph.EdgeIdentity{
		{Source: to, Target: from, Kind: cognition.EdgeSimilar, Origin: pb.OriginCognition},
		{Source: from, Target: to, Kind: cognition.EdgeSimilar, Origin: pb.OriginCognition},
	} {
		before, err := f.Current(triple)
		if err != nil {
			return err
		}
		if before != nil && before.GetStatus() == pb.StatusTombstoned && before.GetTombstonedWith() != "" {
			graph.RemoveEdge(f.Batch.Batch, f.Part.Space, before)
			before = nil
		}
		if before != nil {
			return nil
		}
	}
	id, err := f.Org.System.NewUUID()
	if err != nil {
		return err
	}
	e := &pb.Edge{
		Id: id.String(), Source: string(from), Target: string(to), Type: cognition.EdgeSimilar, Weight: weight,
		Confidence: weight, Origin: pb.OriginCognition,
		Status: pb.StatusLive, CreatedMs: f.NowMs, UpdatedMs: f.NowMs,
		// they were alike before anybody looked
		ValidFromMs: max(f.Nodes[from].GetValidFromMs(), f.Nodes[to].GetValidFromMs()),
	}
	return f.PutCurrent(nil, e)
}

// writeContradictions reports contradictions, each pair of nodes once: the gravest.
func (c *compareStage) writeContradictions(found [][]cognition.Contradiction) error {
	for part := range slices.Chunk(c.Gravest(found), maxContradictionsPerCommit) {
		if err := c.goOn(); err != nil {
			return err
		}
		for i := range part {
			part[i] = c.explain(part[i])
		}
		err := c.write(func(f *graph.Tx) error {
			reported := 0
			for _, x := range part {
				ok, err := c.report(f, x)
				if err != nil {
					return err
				}
				if ok {
					reported++
				}
			}
			if reported == 0 {
				return nil
			}
			return f.Batch.Event(f.Org, pb.EventContradictionFound, f.Part, map[string]any{
				"count":   reported,
				"subject": f.Part.EventSubject(),
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// report writes a contradiction that is not on record, of two texts that still stand.
func (c *compareStage) report(f *graph.Tx, x cognition.Contradiction) (bool, error) {
	a, b := c.Nodes[x.A.Node].ID, c.Nodes[x.B.Node].ID
	for id, chunk := range map[pb.NodeID]uint64{a: x.A.Seq, b: x.B.Seq} {
		if ok, err := f.StillHolds(id, chunk); err != nil || !ok {
			return false, err
		}
	}
	id := f.Part.ContradictionID(a, b)
	if known, err := f.Derived.Has(a, id); err != nil || known {
		return false, err
	}
	graph.PutContradiction(f.Batch.Batch, f.Part.Space, &pb.Contradiction{
		Id: id[:], NodeA: string(a), NodeB: string(b), Kind: string(x.Finding.Kind), Severity: x.Finding.Severity,
		Explanation: x.Finding.Explanation, DetectedMs: f.NowMs, ChunkA: x.A.Seq, ChunkB: x.B.Seq,
	})
	return true, nil
}

// explain has the language model word the explanation of a contradiction that is not on record.
func (c *compareStage) explain(x cognition.Contradiction) cognition.Contradiction {
	if c.org.System.Config.LLM == nil || c.explained == maxExplained {
		return x
	}
	a, b := c.Nodes[x.A.Node].ID, c.Nodes[x.B.Node].ID
	id := c.part.ContradictionID(a, b)
	known := false
	texts := map[uint64]string{x.A.Seq: "", x.B.Seq: ""}
	err := c.org.WithStore(func(st *storage.Store) (err error) {
		if _, known, err = st.GetRaw(c.part.Space.Key(storage.TableDerivedByNode, storage.Str(a),
			storage.ID16(id))); err != nil {
			return err
		}
		for seq := range texts {
			chunk := &pb.Chunk{}
			if _, err := st.Get(c.part.Space.Key(storage.TableChunk, storage.U64(seq)), chunk); err != nil {
				return err
			}
			texts[seq] = chunk.GetText()
		}
		return nil
	})
	if err != nil || known || texts[x.A.Seq] == "" || texts[x.B.Seq] == "" {
		return x // an error will come again where it matters
	}
	c.explained++
	said := ""
	err = c.ask(func(ctx context.Context, model *llm.Client) (err error) {
		said, err = model.Explain(ctx, c.org.ID, texts[x.A.Seq], texts[x.B.Seq], string(x.Finding.Kind)+": "+
			x.Finding.Explanation)
		return err
	})
	if err != nil {
		c.unanswered("an explanation", err)
		return x
	}
	x.Finding.Explanation = said
	return x
}
