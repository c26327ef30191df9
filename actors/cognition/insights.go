package cognition

import (
	"cmp"

	"orgmem/actors/graph"
	"orgmem/actors/partition"
	"orgmem/actors/subject"
	"orgmem/brain/extract"
	"orgmem/brain/insight"
	"orgmem/brain/temporal"
	"orgmem/brain/text"
	pb "orgmem/proto"
	"orgmem/storage"
)

const (
	// MaxInsightPassages bounds the newest passages in which insights are looked for, and what answers or ends them:
	// reading 400 is some 30 ms, and looking through them 60.
	MaxInsightPassages = 400
	// maxSignalInsights bounds the signals of coding sessions that are reported: the newest.
	maxSignalInsights = 100
)

// insightsStage replaces the insights from the shape of the graph and from the newest texts, and the view of topics
// over time.
type insightsStage struct{ *cycle }

func (c insightsStage) run() error {
	in := c.InsightInput(c.found, c.now)
	notes, of, err := c.newestNotes()
	if err != nil {
		return err
	}
	var shape []insight.Insight
	var said []insight.Ranked
	err = c.compute([]func(int) error{func(int) error {
		shape = insight.Find(in)
		said = insight.Rank(insight.Gather(notes), insight.ByRules, c.now)
		return nil
	}})
	if err != nil {
		return err
	}
	found := append(c.SaidInsights(said, of, c.now, c.part.DerivedID), c.ShapeInsights(shape, c.found,
		c.now, c.part.DerivedID)...)
	view, trends := c.TemporalView(c.found)
	return c.write(func(f *graph.Tx) error {
		var stand []*pb.Insight
		for _, x := range found {
			ok, err := c.stillSaid(f, x.OfNodes, x.OfDomains)
			if err != nil {
				return err
			}
			if ok {
				stand = append(stand, x.Insight)
			}
		}
		if err := c.replace(f, stand, of); err != nil {
			return err
		}
		view.Trends = nil
		for _, t := range trends {
			ok, err := c.stillSaid(f, t.OfNodes, t.OfDomains)
			if err != nil {
				return err
			}
			if ok {
				view.Trends = append(view.Trends, t.Trend)
			}
		}
		f.Derived.PutView(graph.ViewTemporal, view)
		return nil
	})
}

// replace writes the insights that a cycle has found in place of the ones before. What the shape of the graph tells
// again of a domain keeps its time. What a text says that is no more among the newest, of which the nodes are given,
// stays as long as the text does and there are not more of its kind; and what a signal told stays, but for the oldest
// of many.
func (c insightsStage) replace(f *graph.Tx, found []*pb.Insight, read []int32) error {
	wanted, kinds := map[string]*pb.Insight{}, map[string]int{}
	for _, i := range found {
		wanted[string(i.GetId())] = i
		kinds[i.GetKind()]++
	}
	newest := map[string]bool{}
	for _, n := range read {
		newest[string(c.Nodes[n].ID)] = true
	}
	kept := func(i *pb.Insight) (bool, error) {
		kind := i.GetKind()
		switch {
		case kind == pb.InsightSignal:
			kinds[kind]++
			return kinds[kind] <= maxSignalInsights, nil // newest first
		case !insight.Said(kind) || wanted[string(i.GetId())] != nil || kinds[kind] >= insight.MaxPerKind ||
			len(read) < MaxInsightPassages || i.GetUntilMs() != 0 && i.GetUntilMs() <= c.now:
			return false, nil
		}
		for _, n := range i.GetNodes() {
			ok, err := f.StillHolds(pb.NodeID(n), 0)
			if err != nil || !ok || newest[n] {
				return false, err
			}
		}
		kinds[kind]++
		return true, nil
	}
	for rec, err := range storage.ScanRecords(f.Store, f.Part.Space.Prefix(storage.TableInsight), storage.ScanOptions{},
		func() *pb.Insight { return &pb.Insight{} }) {
		if err != nil {
			return err
		}
		i := rec.Value
		if stays, err := kept(i); err != nil {
			return err
		} else if stays {
			continue
		}
		if again := wanted[string(i.GetId())]; again != nil && again.GetCreatedMs() == 0 {
			again.CreatedMs = i.GetCreatedMs()
		}
		f.Derived.DropInsight(rec.Key, i)
	}
	for _, i := range found {
		if len(i.GetNodes()) > 0 {
			i.CreatedMs = cmp.Or(i.GetCreatedMs(), f.NowMs)
			graph.PutInsight(f.Batch.Batch, f.Part.Space, i)
		}
	}
	return nil
}

// newestNotes reads the newest passages, in the order in which they were said.
func (c insightsStage) newestNotes() (notes []temporal.Note, of []int32, err error) {
	newest := c.NewestPassages(MaxInsightPassages)
	fresh := map[uint64]*note{}
	for i := range c.notes {
		fresh[c.notes[i].Seq] = &c.notes[i]
	}
	err = c.compute([]func(int) error{func(worker int) error {
		own := c.comparer(worker)
		return c.org.WithStore(func(st *storage.Store) error {
			for _, p := range newest {
				n := fresh[p.Seq]
				if n == nil || n.text == "" {
					read, passage, err := c.passage(st, own, p)
					if err != nil {
						return err
					}
					if passage == nil {
						continue
					}
					n = &read
				}
				one := c.asNote(n)
				one.Source = n.Node
				var err error
				if one.Vector, err = partition.ReadVector(st, c.part, c.hot.State.GetModel(), p.Seq); err != nil {
					return err
				}
				if one.Speaker, err = c.writerOf(st, n.Node); err != nil {
					return err
				}
				notes, of = append(notes, one), append(of, n.Node)
			}
			return nil
		})
	}})
	return notes, of, err
}

// writerOf is who wrote a text, as far as a client says. A coding session has no one writer: an agent speaks there,
// too.
func (c insightsStage) writerOf(st *storage.Store, node int32) (string, error) {
	t := &c.Nodes[node]
	if !t.Own || t.Kind == subject.KindSession {
		return "", nil
	}
	n := &pb.Node{}
	if _, err := st.Get(c.part.Space.Key(storage.TableNode, storage.Str(t.ID)), n); err != nil {
		return "", err
	}
	speaker, _ := extract.Speakers(n.GetMetadata())
	return text.OneLine(speaker), nil
}
