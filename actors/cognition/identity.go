package cognition

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/graph"
	"orgmem/actors/partition"
	"orgmem/brain/cognition"
	"orgmem/brain/manifold"
	"orgmem/brain/topic"
	"orgmem/brain/voice"
	pb "orgmem/proto"
	"orgmem/proto/canon"
	"orgmem/storage"
)

const (
	// maxSignals bounds the passages that the manifold is laid through, the newest: 30 MB of vectors while a cycle
	// lasts.
	maxSignals = 20_000
	// MaxPlotSignals bounds the passages that are drawn: more points on one screen hide each other.
	MaxPlotSignals = 500
	// maxBasinNodes bounds the evidence that a basin shows.
	maxBasinNodes = 20
	// MaxTraitNodes bounds the evidence that a trait shows: of all that was measured the latest.
	MaxTraitNodes = 20
	// traitEvidence is at how many messages half of the confidence in a trait is reached.
	traitEvidence = 20
)

// identityStage finds who the partition's person is, as far as what they wrote says. What the next cycle starts from is
// written with it, so that a crash after this stage does not report the same again.
type identityStage struct{ *cycle }

func (c identityStage) run() error {
	if c.cog.GetIdentified() == c.cog.GetChanges() {
		return nil
	}
	view := &pb.IdentityView{}
	before := &pb.IdentityView{}
	err := c.org.WithStore(func(st *storage.Store) error {
		_, err := st.Get(c.part.Space.Key(storage.TableView, storage.Str(graph.ViewIdentity)), before)
		return err
	})
	if err != nil {
		return err
	}
	next := &pb.Cognition{Identified: c.cog.GetChanges()}
	words, err := c.whose()
	if err != nil {
		return err
	}
	if err := c.findVoice(words, next, view); err != nil {
		return err
	}
	found, err := c.findManifold(next, before, view)
	if err != nil {
		return err
	}
	if err := words.draw(view.GetVoice()); err != nil {
		return err
	}
	know := func(cog *pb.Cognition) {
		cog.Identified, cog.Mind = next.GetIdentified(), next.GetMind()
		cog.Voice, cog.VoiceChunk, cog.VoiceOf = next.GetVoice(), next.GetVoiceChunk(), next.GetVoiceOf()
	}
	err = c.write(func(f *graph.Tx) error {
		cog := &pb.Cognition{}
		if _, err := f.Store.Get(cognitionKey(f), cog); err != nil {
			return err
		}
		know(cog)
		f.Batch.Put(cognitionKey(f), cog)
		now := &pb.IdentityView{}
		if _, err := f.Store.Get(f.Part.Space.Key(storage.TableView, storage.Str(graph.ViewIdentity)), now); err != nil {
			return err
		}
		// What lost words since the cycle read it may have gone on with them.
		lost := !slices.EqualFunc(before.GetBasins(), now.GetBasins(), sameBasinWords)
		for i, b := range view.GetBasins() {
			if lost {
				b.Label, b.Keywords = "", nil
			}
			if lent := found.rests[i].lent; lent != nil {
				if ok, err := c.stillSaid(f, nil, lent); err != nil {
					return err
				} else if !ok {
					b.Label = ""
				}
			}
			for _, at := range found.rests[i].nodes {
				ok, err := c.unchanged(f, at)
				if err != nil {
					return err
				}
				if !ok { // its words may be in the label: until the next cycle there is none
					b.Label, b.Keywords = "", nil
					b.Nodes = slices.DeleteFunc(b.Nodes, func(n string) bool { return n == string(c.Nodes[at].ID) })
				}
			}
		}
		for _, t := range view.GetTraits() {
			var err error
			if t.Nodes, err = f.StillHolding(t.GetNodes()); err != nil {
				return err
			}
		}
		var err error
		if view.Portrait, err = words.standing(f); err != nil || proto.Equal(now, view) {
			return err
		}
		if err := putViews(f, view, found.plot); err != nil {
			return err
		}
		// Without a manifold there may be a voice: its version is then 0.
		if err := f.Batch.Event(f.Org, pb.EventIdentityUpdated, f.Part, map[string]any{
			"subject": f.Part.EventSubject(),
			"version": view.GetManifold().GetVersion(),
		}); err != nil {
			return err
		}
		if found.shift == nil {
			return nil
		}
		return f.Batch.Event(f.Org, pb.EventBasinShifted, f.Part, map[string]any{
			"subject": f.Part.EventSubject(), "from": basinName(found.shift.From), "to": basinName(found.shift.To),
			"confidence": canon.Measure(found.shift.Confidence),
		})
	})
	if err == nil {
		know(c.cog)
	}
	return err
}

func sameBasinWords(a, b *pb.Basin) bool {
	return a.GetId() == b.GetId() && a.GetLabel() == b.GetLabel() && slices.Equal(a.GetKeywords(), b.GetKeywords())
}

func basinName(number uint32) string { return fmt.Sprintf("basin-%d", number) }

// findVoice measures how the person writes. The sums of what was measured before are kept; where something was taken
// away, or the person is another now, all is measured anew. Where several people write, all they write is measured,
// and traits, which are a person's, are left out.
func (c identityStage) findVoice(d *drawn, next *pb.Cognition, view *pb.IdentityView) error {
	view.Shared = !d.personal
	tally, ok := voice.TallyOf(c.cog.GetVoice())
	from := c.cog.GetVoiceChunk()
	if !ok || c.removed || c.cog.GetVoiceOf() != d.whom() {
		tally, from = &voice.Tally{}, 0
	}
	var ids []int32
	until := from
	for i := range c.Nodes {
		if t := &c.Nodes[i]; t.Own && t.Chunks[0] >= from {
			ids = append(ids, int32(i))
			until = max(until, slices.Max(t.Chunks)+1)
		}
	}
	var tasks []func(int) error
	parts := make([]voice.Tally, 1+len(ids)/voiceBatch)
	for n := range parts {
		own := ids[min(n*voiceBatch, len(ids)):min((n+1)*voiceBatch, len(ids))]
		tasks = append(tasks, func(int) error {
			return c.org.WithStore(func(st *storage.Store) error {
				for _, i := range own {
					w, err := d.writerOf(st, i)
					if err != nil {
						return err
					}
					said, err := d.content(st, i)
					if err != nil {
						return err
					}
					if said = d.frame.Own(said); (!d.personal || d.his(w)) && said != "" {
						parts[n].Add(said)
					}
				}
				return nil
			})
		})
	}
	if err := c.compute(tasks); err != nil {
		return err
	}
	for n := range parts {
		tally.Merge(&parts[n])
	}
	next.Voice, next.VoiceChunk, next.VoiceOf = tally.Sums(), until, d.whom()
	p, ok := tally.Profile()
	if !ok {
		return nil
	}
	if view.Voice = p.Message(); !d.personal {
		return nil
	}
	confidence := float64(p.Evidence) / float64(p.Evidence+traitEvidence)
	view.Traits = []*pb.Trait{
		{Name: "formality", Value: p.Formality, Confidence: confidence, Nodes: d.latest},
		{Name: "technicalDepth", Value: p.TechnicalDepth, Confidence: confidence, Nodes: d.latest},
	}
	return nil
}

// voiceBatch is how many texts one CPU task measures: some 20 ms of short ones.
const voiceBatch = 200

// basinGround is what a basin's words rest on: nodes, and the domains that it is called after, if it is.
type basinGround struct {
	nodes, lent []int32
}

// foundManifold is what comes of a manifold beside the view. It is empty if no manifold was found.
type foundManifold struct {
	shift *manifold.Shift // set where the person has moved
	rests []basinGround   // of each basin
	plot  *pb.ManifoldPlot
}

// findManifold lays the manifold through what the person wrote.
func (c identityStage) findManifold(next *pb.Cognition, before, view *pb.IdentityView) (
	out foundManifold, err error,
) {
	said := c.OwnPassages(maxSignals)
	seqs := make([]uint64, len(said))
	for i, s := range said {
		seqs[i] = s.Seq
	}
	var vectors [][]float32
	// one piece for all
	reader := partition.VectorReader{Floats: make([]float32, 0,
		len(said)*c.org.System.Embedders.Dim(c.hot.State.GetModel()))}
	err = c.org.WithStore(func(st *storage.Store) (err error) {
		vectors, err = reader.ReadAll(st, c.part, c.hot.State.GetModel(), seqs)
		return err
	})
	if err != nil {
		return out, err
	}
	signals, of := make([]manifold.Signal, 0, len(said)), make([]cognition.Chunk, 0, len(said))
	for i, s := range said {
		if vectors[i] != nil {
			signals, of = append(signals, manifold.Signal{
				Vector: vectors[i], AtMS: c.Nodes[s.Node].AtMS, Key: s.Seq,
			}), append(of, s)
		}
	}
	last := manifold.State{}
	if c.cog.GetModel() == c.hot.State.GetModel() {
		last = manifold.StateFrom(c.cog.GetMind())
	}
	if c.removed { // what it was laid through is not all there any more
		last.Fitted = 0
	}
	var r manifold.Reading
	var plot manifold.Plot
	found := false
	err = c.compute([]func(int) error{func(int) error {
		if r, found = manifold.Refresh(last, signals, c.now); found {
			plot = r.Plot(signals, MaxPlotSignals)
		}
		return nil
	}})
	if err != nil || !found {
		return out, err
	}
	next.Mind = r.State.Message()
	groups := make([]topic.Group, len(r.State.Basins))
	rests := make([]basinGround, len(groups))
	homes, homesOf := make([][]int32, len(groups)), cognition.Homes(c.found)
	labelled := map[string]*pb.Basin{}
	for _, b := range before.GetBasins() {
		labelled[b.GetId()] = b
	}
	for i, b := range r.State.Basins {
		var passages []cognition.Chunk
		if i < len(r.Central) {
			for _, s := range r.Central[i] {
				passages = append(passages, of[s])
				if !slices.Contains(rests[i].nodes, of[s].Node) {
					rests[i].nodes = append(rests[i].nodes, of[s].Node)
				}
			}
		}
		if groups[i], err = c.groupOfPassages(passages); err != nil {
			return out, err
		}
		homes[i] = homesOf(rests[i].nodes)
		groups[i].Mixed = len(homes[i]) != 1
		if was := labelled[basinName(b.Number)]; was != nil {
			groups[i].Before = topic.Label{Text: was.GetLabel(), Keywords: was.GetKeywords()}
		}
	}
	labels := topic.Describe(groups)
	for i, b := range r.State.Basins {
		basin := &pb.Basin{Id: basinName(b.Number), Label: labels[i].Text, Keywords: labels[i].Keywords, Share: b.Share}
		if basin.Current = b.Number == r.State.At; basin.Current {
			basin.SinceMs = r.State.SinceMS
		}
		if basin.Label == "" { // words that do not name it say nothing of it, either
			rests[i].lent, basin.Keywords = homes[i], nil
			basin.Label = cognition.CalledAfter(homes[i], c.found)
		}
		for _, at := range rests[i].nodes[:min(len(rests[i].nodes), maxBasinNodes)] {
			basin.Nodes = append(basin.Nodes, string(c.Nodes[at].ID))
		}
		view.Basins = append(view.Basins, basin)
	}
	view.Manifold = r.State.Summary(len(signals))
	return foundManifold{r.Shift, rests, c.plotOf(&r, &plot, of)}, nil
}

// plotOf is a plot as it is stored; of has the passage of each signal.
func (c identityStage) plotOf(r *manifold.Reading, p *manifold.Plot, of []cognition.Chunk) *pb.ManifoldPlot {
	out := &pb.ManifoldPlot{Version: r.State.Version, Refreshes: r.State.Refreshes, Ratios: p.Ratios}
	for i, at := range p.Places {
		out.Basins = append(out.Basins, &pb.PlotBasin{
			Id: basinName(r.State.Basins[i].Number), X: at.X, Y: at.Y, Major: at.Major, Minor: at.Minor, Angle: at.Angle,
		})
	}
	for _, at := range p.Points {
		n := &c.Nodes[of[at.Signal].Node]
		out.Signals = append(out.Signals, &pb.PlotSignal{
			Node: string(n.ID), Chunk: of[at.Signal].Seq, AtMs: n.AtMS, Basin: uint32(r.Of[at.Signal]),
			X: float32(at.X), Y: float32(at.Y),
		})
	}
	return out
}

// putViews writes an identity and its plot, without what was forgotten since the cycle read it. Without a manifold it
// removes the plot that was stored.
func putViews(f *graph.Tx, view *pb.IdentityView, plot *pb.ManifoldPlot) (err error) {
	f.Derived.PutView(graph.ViewIdentity, view)
	if plot == nil {
		f.Derived.DropView(graph.ViewPlot)
		return nil
	}
	plot.Signals = slices.DeleteFunc(plot.GetSignals(), func(s *pb.PlotSignal) bool {
		holds := false
		if err == nil {
			holds, err = f.StillHolds(pb.NodeID(s.GetNode()), s.GetChunk())
		}
		return !holds
	})
	if err == nil {
		f.Derived.PutView(graph.ViewPlot, plot)
	}
	return err
}
