package cognition

import (
	"cmp"
	"fmt"
	"slices"

	"orgmem/actors/partition"
	"orgmem/brain/cognition"
	"orgmem/brain/extract/resolve"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const (
	// maxFreshChunks bounds the chunks that one cycle compares with all others: each costs a search. What is over is
	// left to the next cycle, which begins at once.
	maxFreshChunks = 10_000
	// maxShapeNodes and maxShapeEdges bound the graph whose shape a cycle looks at, the newest nodes of it: some 200 MB
	// while it lasts.
	maxShapeNodes = 500_000
	maxShapeEdges = 4_000_000
	// compareBatch is how many chunks one CPU task compares: some 50 ms.
	compareBatch = 32
)

// cycle is one look at what is new in a partition: what its stages share. A stage is a type of its own, which embeds
// it.
type cycle struct {
	*cognitionActor
	cog  *pb.Cognition
	job  *pb.Job
	now  int64
	more bool // content is left for another
	// removed: something was taken away since the last cycle, so that sums over all have to be made anew.
	removed bool

	cognition.Graph

	hot *partition.Index
	// fresh are the chunks that no cycle has compared yet, and until is the sequence number after the last of them.
	fresh []cognition.Chunk
	until uint64
	notes []note             // of the fresh chunks
	found []cognition.Domain // the domains, once they are cut
	// Both gather what they look at while the cycle reads the graph.
	relations relationsStage
	imports   importCounts
}

func newCycle(m *cognitionActor, cog *pb.Cognition, job *pb.Job) *cycle {
	c := &cycle{cognitionActor: m, cog: cog, job: job, now: clock.Millis(m.org.System.Clock.Now())}
	c.relations.cycle, c.imports.cycle = c, c
	return c
}

// stages are what a cycle does, in order. Each leaves the memory whole: a crash after any of them costs the work of the
// next ones, and what is found twice is written once.
var stages = [...]struct {
	name string
	run  func(c *cycle) error
}{
	{"compare", func(c *cycle) error { return (&compareStage{cycle: c}).run() }},
	{"look back", func(c *cycle) error { return timelineStage{c}.run() }},
	{"relations", func(c *cycle) error { return c.relations.run() }},
	{"domains", func(c *cycle) error { return domainsStage{c}.run() }},
	{"identity", func(c *cycle) error { return identityStage{c}.run() }},
	{"proposals", func(c *cycle) error { return proposalsStage{c}.run() }},
	{"insights", func(c *cycle) error { return insightsStage{c}.run() }},
	{"names", func(c *cycle) error { return namesStage{c}.run() }},
}

// Stages is how many stages a cycle has.
const Stages = len(stages)

// run goes through the stages.
func (c *cycle) run() error {
	if err := c.gather(); err != nil {
		return fmt.Errorf("gather: %w", err)
	}
	for _, stage := range stages {
		if err := c.goOn(); err != nil {
			return err
		}
		if err := stage.run(c); err != nil {
			return fmt.Errorf("%s: %w", stage.name, err)
		}
		c.job.Done++
	}
	if err := c.imports.count(); err != nil {
		return fmt.Errorf("count: %w", err)
	}
	c.cog.NextChunk, c.cog.Model = c.until, c.hot.State.GetModel()
	if c.more {
		c.cog.Changes-- // what is left is work for the next cycle, also after a restart
	}
	return nil
}

// gather reads the graph as it is now.
func (c *cycle) gather() error {
	before := &pb.Cognition{}
	return c.org.WithStore(func(st *storage.Store) (err error) {
		if c.hot, err = c.org.Residents.Get(st, c.part, c.org.System.Embedders.Dim); err != nil {
			return err
		}
		snap, err := st.Snapshot()
		if err != nil {
			return err
		}
		defer partition.CloseSnapshot(snap, &err)
		if _, err := snap.Get(c.part.Space.Key(storage.TableCognition), before); err != nil {
			return err
		}
		c.removed = before.GetRemovals() != c.cog.GetRemovals()
		if err := c.gatherNodes(snap); err != nil {
			return err
		}
		if err := c.gatherEdges(snap); err != nil {
			return err
		}
		return c.imports.gather(snap)
	})
}

func (c *cycle) gatherNodes(r storage.Reader) error {
	c.At = map[pb.NodeID]int32{}
	from := c.cog.GetNextChunk()
	if c.cog.GetModel() != c.hot.State.GetModel() {
		from = 0 // all vectors are others
	}
	c.until = max(c.hot.State.GetNextChunk(), 1)
	var n pb.NodeSketch
	words := interned{}
	for item, err := range r.Scan(c.part.Space.Prefix(storage.TableNode), storage.ScanOptions{}) {
		if err == nil {
			err = item.DecodeBy(n.Read)
		}
		if err != nil {
			return err
		}
		if string(n.Status) != pb.StatusLive || n.Unlearned || len(c.Nodes) == maxShapeNodes {
			continue
		}
		t := cognition.Node{
			ID: pb.NodeID(n.ID), Kind: words.of(n.Kind), Title: string(n.Title), Domain: words.of(n.Domain), Placed: n.Placed,
			AtMS:    n.OccurredMs,
			ValidMS: n.OccurredMs, Chunks: slices.Clone(n.Chunks), Bytes: int(n.ContentBytes),
		}
		t.Own, t.Person = t.OwnWriting(n.Metadata), t.Entity() && resolve.IsPerson(t.Title, n.Metadata)
		if t.AtMS == 0 {
			t.AtMS = n.CreatedMs
		}
		place := int32(len(c.Nodes))
		c.At[t.ID] = place
		c.Nodes = append(c.Nodes, t)
		for _, seq := range t.Chunks {
			if seq >= from {
				c.fresh = append(c.fresh, cognition.Chunk{Seq: seq, Node: place})
			}
		}
	}
	slices.SortFunc(c.fresh, func(a, b cognition.Chunk) int { return int(int64(a.Seq) - int64(b.Seq)) })
	if most := cmp.Or(c.org.System.Config.FreshChunks, maxFreshChunks); len(c.fresh) > most {
		c.until, c.more = c.fresh[most].Seq, true
		c.fresh = c.fresh[:most]
	}
	return nil
}

// interned keeps one string of each of few texts that are read many times.
type interned map[string]string

func (w interned) of(text []byte) string {
	s, ok := w[string(text)]
	if !ok {
		s = string(text)
		w[s] = s
	}
	return s
}

func (c *cycle) gatherEdges(r storage.Reader) error {
	var e pb.EdgeSketch
	words := interned{}
	for item, err := range r.Scan(c.part.Space.Prefix(storage.TableEdge), storage.ScanOptions{}) {
		if err == nil {
			err = item.DecodeBy(e.Read)
		}
		if err != nil {
			return err
		}
		if string(e.Status) != pb.StatusLive || len(c.Edges) == maxShapeEdges {
			continue
		}
		a, known := c.At[pb.NodeID(e.Source)]
		b, also := c.At[pb.NodeID(e.Target)]
		if !known || !also {
			continue
		}
		c.Edges = append(c.Edges, cognition.Edge{A: a, B: b, Kind: words.of(e.Type), Weight: e.Weight})
		if err := c.relations.collect(item); err != nil {
			return err
		}
	}
	return nil
}
