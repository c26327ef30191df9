package graph

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/partition"
	"orgmem/brain/cognition"
	"orgmem/brain/extract"
	"orgmem/brain/extract/resolve"
	"orgmem/brain/text"
	pb "orgmem/proto"
)

// What a text says becomes part of the graph in the commit that takes the text in: nodes for the entities that it names
// and for the preferences and beliefs that it states, and edges with the passages that say so. Each of these nodes
// counts the texts that it rests on, and each text has a trace of what was read out of it, so that forgetting the text
// removes what only it said.

const (
	// KindEntity is the kind of a node that stands for what texts name: a person, a place, a project.
	KindEntity = cognition.KindEntity

	// EdgeMentions is the type of the edge from a text to an entity that it names. This type and the two
	// below are those that a text causes beside its relations.
	EdgeMentions = cognition.EdgeMentions
	// edgeStatedIn leads from a preference or belief to the text that states it.
	edgeStatedIn = cognition.EdgeStatedIn
	// EdgeFollows is the type of the edge from a text to the one before it in its sequence.
	EdgeFollows = cognition.EdgeFollows

	// maxEntitiesPerText bounds the entities that one text is linked to: a book
	// names thousands, and the first few hundred are what it is about. Each is some
	// 700 bytes of edge and entries.
	maxEntitiesPerText = 400
	// maxStatementsPerText bounds its preferences and beliefs.
	maxStatementsPerText = 50
	// maxStatement bounds the length of one in bytes: it is a sentence.
	maxStatement = 1000
	// maxForms bounds the ways of writing one entity that are counted.
	maxForms = 32
	// maxMeant bounds the entities that are looked at under one key of a name.
	maxMeant = 16
	// maxEvidence bounds the passages that one edge names.
	maxEvidence = 20
)

// link writes what an item's text says into the graph. n has its chunks.
func (f *Tx) link(it *Prepared, n *pb.Node) error {
	if it.reading == nil || n.GetUnlearned() {
		return nil
	}
	s, err := f.settings()
	if err != nil {
		return err
	}
	n.Facts = it.reading.facts
	if f.Traces.Known {
		return nil
	}
	t := &texts{Tx: f, node: n, chunks: it.Chunks, trace: &pb.Trace{}, reading: it.reading}
	if len(t.chunks) == 0 {
		if t.chunks, err = f.Traces.spansOf(n); err != nil {
			return err
		}
	}
	if err := t.mentions(); err != nil {
		return err
	}
	if s.Quality != partition.QualityFast { // which is for those to whom speed matters more
		if err := t.relations(); err != nil {
			return err
		}
	}
	if err := t.statements(it.GetItem()); err != nil {
		return err
	}
	for _, d := range it.reading.Dates[:min(len(it.reading.Dates), maxEntitiesPerText)] {
		t.trace.Dates = append(t.trace.Dates, &pb.TraceDate{
			Start: uint32(d.Span.Start), End: uint32(d.Span.End),
			FromMs: d.FromMs, UntilMs: d.UntilMs,
		})
	}
	t.trace.Recurrences = it.reading.recurrences
	if err := t.sequence(it.GetItem()); err != nil {
		return err
	}
	f.Traces.Put(pb.NodeID(n.GetId()), t.trace)
	return nil
}

// texts links one text into the graph.
type texts struct {
	*Tx
	node    *pb.Node
	chunks  []text.Chunk
	trace   *pb.Trace
	reading *reading
	means   []pb.NodeID // of each mention, "" where it means nothing
}

// evidence names the chunk that holds a span.
func (t *texts) evidence(s extract.Span) string {
	ordinal, _ := slices.BinarySearchFunc(t.chunks, s.Start, func(c text.Chunk, at int) int {
		if c.End <= at {
			return -1
		}
		return 1
	})
	return fmt.Sprintf("%s:%d", t.node.GetId(), min(ordinal, max(len(t.chunks)-1, 0)))
}

// mentions links the text to the entities that it names.
func (t *texts) mentions() error {
	type form struct {
		name string
		kind extract.Type
	}
	at := map[form]int{}
	var names []resolve.Name
	var certain []float64
	which := make([]int, len(t.reading.Mentions))
	for i, m := range t.reading.Mentions {
		k := form{m.Name, m.Type}
		place, ok := at[k]
		if !ok {
			if len(names) == maxEntitiesPerText {
				which[i] = -1
				continue
			}
			place = len(names)
			at[k] = place
			names, certain = append(names, resolve.Name{Name: m.Name, Type: m.Type}), append(certain, 0)
		}
		certain[place] = max(certain[place], m.Certainty)
		which[i] = place
	}
	known, err := t.Entities.known(names)
	if err != nil {
		return err
	}
	means := make([]pb.NodeID, len(names))
	for i, d := range resolve.Resolve(known, names) {
		switch {
		case d.Entity != "":
			means[i] = pb.NodeID(d.Entity)
		case d.Leader != i:
			means[i] = means[d.Leader]
		default:
			if means[i], err = t.begin(names[i]); err != nil {
				return err
			}
		}
		if means[i] == "" {
			continue
		}
		said := resolve.Said{Name: names[i], Decision: d, Certainty: certain[i]}
		if err := t.Entities.Name(t.trace, means[i], said, t.node.GetValidFromMs()); err != nil {
			return err
		}
	}
	t.means = make([]pb.NodeID, len(which))
	strongest := map[pb.NodeID]*pb.Edge{}
	var order []pb.NodeID
	for i, place := range which {
		if place < 0 || means[place] == "" {
			continue
		}
		id, m := means[place], t.reading.Mentions[i]
		t.means[i] = id
		e := strongest[id]
		if e == nil {
			e = &pb.Edge{Source: t.node.GetId(), Target: string(id), Type: EdgeMentions}
			strongest[id] = e
			order = append(order, id)
		}
		e.Confidence = max(e.GetConfidence(), m.Confidence)
		AddEvidence(e, t.evidence(m.Span))
	}
	for _, id := range order {
		e := strongest[id]
		e.Weight = e.GetConfidence()
		if err := t.derive(e); err != nil {
			return err
		}
	}
	return nil
}

// AddEvidence adds a chunk to an edge's evidence, unless it is there already or the edge has the most that it may have.
func AddEvidence(e *pb.Edge, chunk string) {
	if len(e.GetEvidence()) < maxEvidence && !slices.Contains(e.GetEvidence(), chunk) {
		e.Evidence = append(e.Evidence, chunk)
	}
}

// begin makes the node of an entity that no text has named before. It returns "" where a person has forgotten the
// entity: what they do not want to see does not come back by itself.
func (t *texts) begin(name resolve.Name) (pb.NodeID, error) {
	if forgotten, err := t.Entities.Forgotten(name); err != nil || forgotten {
		return "", err
	}
	id := t.Part.DerivedNode(KindEntity, string(name.Type)+"\x00"+strings.ToLower(name.Name))
	return t.BeginNode(id, KindEntity, string(name.Type), name.Name, t.node.GetValidFromMs())
}

// BeginNode makes a node that is read out of texts, of which the first holds since then. It returns "" where a person
// has forgotten it.
func (f *Tx) BeginNode(id pb.NodeID, kind, typ, title string, since int64) (pb.NodeID, error) {
	n, err := f.Node(id)
	if err != nil {
		return "", err
	}
	switch {
	case n == nil:
		n = &pb.Node{
			Id: string(id), Kind: kind, Title: title, Authority: 0.5, Confidence: 1, Status: pb.StatusLive,
			Source: &pb.Source{Type: pb.SourceIngest}, CreatedMs: f.NowMs, ValidFromMs: since,
		}
		f.State.Nodes++
	case n.GetStatus() == pb.StatusTombstoned:
		return "", nil
	case n.GetErased(): // restored without what it held
		n.Title, n.Erased = title, false
	}
	rec, err := f.Entities.Get(id)
	if err != nil {
		return "", err
	}
	if rec == nil {
		f.Entities.Put(&pb.Entity{Node: string(id), Type: typ})
	}
	f.putUpdated(n)
	return id, nil
}

// relations links entities as the text says that they are related.
func (t *texts) relations() error {
	for _, r := range t.reading.Relations {
		from, to := t.means[r.From], t.means[r.To]
		if from == "" || to == "" || from == to {
			continue
		}
		e := &pb.Edge{
			Source: string(from), Target: string(to), Type: string(r.Type), Weight: r.Confidence,
			Confidence: r.Confidence,
		}
		AddEvidence(e, t.evidence(r.Evidence))
		if err := t.derive(e); err != nil {
			return err
		}
	}
	return nil
}

// statements makes nodes of the preferences and beliefs that the text states.
func (t *texts) statements(item *pb.IngestItem) error {
	for _, s := range t.reading.Statements[:min(len(t.reading.Statements), maxStatementsPerText)] {
		said := strings.TrimSpace(item.GetContent()[s.Span.Start:s.Span.End])
		if said == "" || len(said) > maxStatement ||
			said == strings.TrimSpace(item.GetContent()) && t.node.GetKind() == string(s.Kind) {
			continue
		}
		id := t.Part.DerivedNode(string(s.Kind), s.Speaker+"\x00"+said)
		before, err := t.Tx.Node(id)
		if err != nil {
			return err
		}
		id, err = t.BeginNode(id, string(s.Kind), string(s.Kind), text.Title("", said), t.node.GetValidFromMs())
		if err != nil {
			return err
		}
		if id == "" {
			continue
		}
		n := t.Nodes[id]
		if before == nil {
			t.PutContent(n, said)
			n.Confidence, n.OccurredMs, n.ValidFromMs = s.Confidence, item.GetOccurredMs(), t.validFrom(item)
			about := map[string]any{"object": item.GetContent()[s.Object.Start:s.Object.End]}
			if s.Polarity != 0 {
				about["polarity"] = s.Polarity
			}
			if s.Speaker != "" {
				about["speaker"] = s.Speaker
			}
			if n.Metadata, err = json.Marshal(about); err != nil {
				return err
			}
		}
		for _, ext := range t.node.GetSource().GetExternalIds() {
			if !slices.Contains(n.GetSource().GetExternalIds(), ext) {
				n.Source.ExternalIds = append(n.Source.ExternalIds, ext)
			}
		}
		t.putUpdated(n)
		rec, err := t.Entities.Get(id)
		if err != nil {
			return err
		}
		rec.Mentions++
		t.Entities.Put(rec)
		t.trace.Entities = append(t.trace.Entities, &pb.TraceEntity{Node: string(id)})
		e := &pb.Edge{
			Source: string(id), Target: t.node.GetId(), Type: edgeStatedIn, Weight: s.Confidence,
			Confidence: s.Confidence,
		}
		AddEvidence(e, t.evidence(s.Span))
		if err := t.derive(e); err != nil {
			return err
		}
	}
	return nil
}

// sequence links an event of a coding session to the one before it.
func (t *texts) sequence(item *pb.IngestItem) error {
	session, _, ok := strings.Cut(item.GetScope(), "\x00")
	if !ok || session == "" {
		return nil
	}
	id := pb.NodeID(t.node.GetId())
	before, err := t.Traces.follow(session, id)
	if err != nil || before == "" || before == id {
		return err
	}
	n, err := t.Tx.Node(before)
	if err != nil || n.GetStatus() != pb.StatusLive {
		return err
	}
	t.trace.Follows = string(before)
	return t.derive(&pb.Edge{Source: string(id), Target: string(before), Type: EdgeFollows, Weight: 1, Confidence: 1})
}

// derive writes an edge that a text is evidence of, or adds the evidence to an existing edge. An edge that a person has
// forgotten is not derived again.
func (t *texts) derive(e *pb.Edge) error {
	e.Origin = pb.OriginIngest
	before, err := t.Current(EdgeIdentityOf(e))
	if err != nil {
		return err
	}
	if before != nil && before.GetStatus() == pb.StatusTombstoned {
		if before.GetTombstonedWith() == "" {
			return nil
		}
		RemoveEdge(t.Batch.Batch, t.Part.Space, before) // it went with a node that is there again
		before = nil
	}
	var after *pb.Edge
	if before != nil {
		after = proto.CloneOf(before)
		for _, chunk := range e.GetEvidence() {
			AddEvidence(after, chunk)
		}
		after.Weight, after.Confidence = max(after.GetWeight(), e.GetWeight()), max(after.GetConfidence(), e.GetConfidence())
		if after.GetStatus() == pb.StatusSuperseded {
			after.Status, after.ValidFromMs, after.ValidToMs = pb.StatusLive, t.NowMs, 0
		}
		after.ValidFromMs = min(after.GetValidFromMs(), t.node.GetValidFromMs())
	} else {
		id, err := t.Org.NewID()
		if err != nil {
			return err
		}
		after = e
		after.Id, after.Status, after.CreatedMs, after.ValidFromMs = id.String(), pb.StatusLive, t.NowMs,
			t.node.GetValidFromMs()
	}
	after.UpdatedMs = t.NowMs
	if after.GetSource() != t.node.GetId() && after.GetTarget() != t.node.GetId() {
		t.trace.Relations = append(t.trace.Relations, after.GetId())
	}
	return t.PutCurrent(before, after)
}
