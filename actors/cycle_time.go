package actors

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"orgmem/actors/partition"
	"orgmem/brain/moments"
	"orgmem/brain/text"
	pb "orgmem/proto"
	"orgmem/storage"
)

const (
	// maxReadNotes bounds the newest passages in which insights are looked for, and what
	// answers or ends them: reading 400 is some 30 ms, and looking through them 60.
	maxReadNotes = 400
	// maxToldSignals bounds the signals of coding sessions that are reported: the newest.
	maxToldSignals = 100
	// maxTrends bounds the trends of the temporal view, and maxTrendNodes the
	// evidence of each.
	maxTrends     = 30
	maxTrendNodes = 10
	// maxMomentMs bounds the time that a moment may have, on both sides of 1970: what
	// lies eight thousand years away was misread.
	maxMomentMs = 8000 * 365 * 24 * 3600 * 1000
)

// asNote is a fresh chunk as brain/moments takes it.
func (c *cycle) asNote(n *note) moments.Note {
	return moments.Note{Text: n.text, Claims: n.claims, AtMs: c.nodes[n.node].at, Dates: n.dates}
}

// lookBack writes what the fresh texts tell of times.
func (c *cycle) lookBack() error {
	var notes []moments.Note
	var of []*note
	for i := range c.notes {
		if n := &c.notes[i]; n.text != "" {
			notes, of = append(notes, c.asNote(n)), append(of, n)
		}
	}
	var changes []func(*effect) error
	promised := moments.Commitments(notes)
	type day struct {
		note  int
		until int64
	}
	due := map[day]bool{}
	for _, p := range promised {
		due[day{p.Note, p.DueMs}] = true
	}
	for _, m := range moments.Timeline(notes) {
		if m.AtMs < -maxMomentMs || m.AtMs > maxMomentMs || due[day{m.Note, m.UntilMs}] { // which is told as due
			continue
		}
		changes = append(changes, c.momentOf(of[m.Note], m.Kind, m.AtMs, m.Title))
	}
	for _, p := range promised {
		if n := of[p.Note]; p.DueMs != 0 { // in the period that is named, not behind it
			changes = append(changes, c.momentOf(n, moments.Due, p.DueMs-1, text.OneLine(n.text[p.Span.Start:p.Span.End])))
		}
	}
	return c.writeAll(changes)
}

func (c *cycle) momentOf(n *note, kind string, at int64, title string) func(*effect) error {
	node, seq := c.nodes[n.node].id, n.seq
	return func(f *effect) error {
		ok, err := f.carries(node, seq)
		if err != nil || !ok {
			return err
		}
		id := f.part.DerivedID("moment", string(node), kind, string(binary.BigEndian.AppendUint64(nil, uint64(at))), title)
		if known, err := f.rests(node, id); err != nil || known {
			return err
		}
		putMoment(f.batch.Batch, f.part.Space, &pb.Moment{Id: id[:], AtMs: at, Title: text.OneLine(title), Node: string(node), Kind: kind})
		return nil
	}
}

// newestNotes reads the newest passages, in the order in which they were said.
func (c *cycle) newestNotes() (notes []moments.Note, of []int32, err error) {
	var newest []freshChunk
	for i := range c.nodes {
		if t := &c.nodes[i]; !t.entity() {
			for _, seq := range t.chunks {
				newest = append(newest, freshChunk{seq, int32(i)})
			}
		}
	}
	slices.SortFunc(newest, func(a, b freshChunk) int {
		return cmp.Or(cmp.Compare(c.nodes[b.node].at, c.nodes[a.node].at), cmp.Compare(b.seq, a.seq))
	})
	newest = newest[:min(len(newest), maxReadNotes)]
	slices.Reverse(newest)
	fresh := map[uint64]*note{}
	for i := range c.notes {
		fresh[c.notes[i].seq] = &c.notes[i]
	}
	err = c.compute([]func(int) error{func(worker int) error {
		own := c.comparer(worker)
		return c.org.withStore(func(st *storage.Store) error {
			for _, p := range newest {
				n := fresh[p.seq]
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
				one.Source = n.node
				var err error
				if one.Vector, err = partition.ReadVector(st, c.part, c.hot.State.GetModel(), p.seq); err != nil {
					return err
				}
				if one.Speaker, err = c.writerOf(st, n.node); err != nil {
					return err
				}
				notes, of = append(notes, one), append(of, n.node)
			}
			return nil
		})
	}})
	return notes, of, err
}

// writerOf is who wrote a text, as far as a client tells. Of a coding session nobody is:
// there an agent speaks, too.
func (c *cycle) writerOf(st *storage.Store, node int32) (string, error) {
	t := &c.nodes[node]
	if !t.own || t.kind == kindSession {
		return "", nil
	}
	n := &pb.Node{}
	if _, err := st.Get(c.part.Space.Key(storage.TableNode, storage.Str(t.id)), n); err != nil {
		return "", err
	}
	speaker, _ := speakersOf(n.GetMetadata())
	return text.OneLine(speaker), nil
}

// trending is a trend with what it quotes: the nodes that it shows, and the domain, if
// it is one's.
type trending struct {
	*pb.Trend
	nodes, domains []int32
}

// temporalView tells how regularly something is written, and which topics come up more
// often, or less; the latter are not in the view yet.
func (c *cycle) temporalView(labels []namedDomain) (*pb.TemporalView, []trending) {
	var total []int64
	var until, from int64
	for i := range c.nodes {
		if t := &c.nodes[i]; !t.entity() && t.at != 0 {
			total = append(total, t.at)
		}
	}
	view := &pb.TemporalView{}
	if len(total) == 0 {
		return view, nil
	}
	from, until = slices.Min(total), slices.Max(total)+1
	var series []moments.Series
	var topics []trending
	for k, d := range labels {
		if d.label == "" {
			continue
		}
		s := moments.Series{Topic: d.label}
		for _, i := range d.members {
			if one := &c.nodes[i]; !one.entity() && one.at != 0 {
				s.AtMs = append(s.AtMs, one.at)
			}
		}
		series, topics = append(series, s), append(topics, trending{nodes: d.top[:min(len(d.top), maxTrendNodes)], domains: []int32{int32(k)}})
	}
	series = c.entitySeries(series, func(entity int32) { topics = append(topics, trending{nodes: []int32{entity}}) })
	trends := moments.Trends(series, total, from, until)
	slices.SortStableFunc(trends, func(a, b moments.Trend) int { return cmp.Compare(b.Confidence, a.Confidence) })
	var found []trending
	for _, t := range trends[:min(len(trends), maxTrends)] {
		x := topics[t.Series]
		x.Trend = &pb.Trend{Topic: series[t.Series].Topic, Direction: t.Direction, Change: t.Change, FromMs: t.FromMs, UntilMs: t.UntilMs}
		for _, i := range x.nodes {
			x.Nodes = append(x.Nodes, string(c.nodes[i].id))
		}
		found = append(found, x)
	}
	if r, ok := moments.Cadence(total); ok {
		view.Cadence = &pb.Cadence{EveryMs: r.EveryMs, Regularity: r.Regularity, Times: uint32(r.Times)}
	}
	return view, found
}

// maxTrendEntities bounds the entities whose trends are looked at: those that are
// named most.
const maxTrendEntities = 200

// entitySeries adds when the entities that are named most were.
func (c *cycle) entitySeries(series []moments.Series, add func(entity int32)) []moments.Series {
	times := map[int32][]int64{}
	for _, e := range c.edges {
		if e.kind == edgeMentions && c.nodes[e.b].entity() && c.nodes[e.a].at != 0 {
			times[e.b] = append(times[e.b], c.nodes[e.a].at)
		}
	}
	var order []int32
	for i := range times {
		order = append(order, i)
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(len(times[b]), len(times[a])), cmp.Compare(a, b)) })
	for _, i := range order[:min(len(order), maxTrendEntities)] {
		series = append(series, moments.Series{Topic: strings.Clone(c.nodes[i].title), AtMs: times[i]})
		add(i)
	}
	return series
}

// dayOf is a day as a person reads it.
func dayOf(ms int64) string { return time.UnixMilli(ms).UTC().Format("2 January 2006") }
