package graph

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/partition"
	"orgmem/brain/cognition"
	"orgmem/brain/drift"
	"orgmem/brain/extract"
	"orgmem/brain/extract/resolve"
	"orgmem/brain/text"
	pb "orgmem/proto"
	"orgmem/storage"
)

// What a text speaks of becomes part of the graph in the commit that takes the
// text in: nodes for the entities that it names and for the preferences and
// beliefs that it states, edges that say which passage says so. Each of these
// nodes knows how many texts it rests on, and each text has a trace of what was
// read out of it, so that forgetting the text takes away what only it said.

const (
	// KindEntity is the kind of a node that stands for what texts name: a person, a place, a project.
	KindEntity = cognition.KindEntity

	// EdgeMentions is the type of the edge from a text to an entity that it names. This type and the two
	// below are those that a text causes beside its relations.
	EdgeMentions = cognition.EdgeMentions
	// edgeStatedIn leads from a preference or belief to the text that states it.
	edgeStatedIn = "stated_in"
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
	s, err := f.Org.Residents.Settings(f.Store, f.Part)
	if err != nil {
		return err
	}
	n.Facts = it.reading.facts
	if f.HasTrace {
		return nil
	}
	t := &texts{Tx: f, node: n, chunks: it.Chunks, trace: &pb.Trace{}, reading: it.reading}
	if len(t.chunks) == 0 {
		if t.chunks, err = f.spansOf(n); err != nil {
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
	if err := t.sequence(it.GetItem()); err != nil {
		return err
	}
	f.Batch.Put(f.TraceKey(pb.NodeID(n.GetId())), t.trace)
	return nil
}

// spansOf reads where the stored chunks of a node stand in its text.
func (f *Tx) spansOf(n *pb.Node) (spans []text.Chunk, err error) {
	for _, seq := range n.GetChunks() {
		c := &pb.Chunk{}
		if _, err := f.Store.Get(f.Part.Space.Key(storage.TableChunk, storage.U64(seq)), c); err != nil {
			return nil, err
		}
		spans = append(spans, text.Chunk{Start: int(c.GetStart()), End: int(c.GetEnd())})
	}
	return spans, nil
}

// TraceKey is where the trace of a text lies: what was read out of it.
func (f *Tx) TraceKey(id pb.NodeID) storage.Key {
	return f.Part.Space.Key(storage.TableTrace, storage.Str(id))
}

// texts links one text.
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
			names = append(names, resolve.Name{Name: m.Name, Type: m.Type})
		}
		which[i] = place
	}
	known, err := t.known(names)
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
		if err := t.name(means[i], names[i].Name, d); err != nil {
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

// AddEvidence adds a chunk to those that say what an edge says, unless it is among them or the edge has as many as it
// may.
func AddEvidence(e *pb.Edge, chunk string) {
	if len(e.GetEvidence()) < maxEvidence && !slices.Contains(e.GetEvidence(), chunk) {
		e.Evidence = append(e.Evidence, chunk)
	}
}

// known reads the entities that some names may mean.
func (t *texts) known(names []resolve.Name) (known []resolve.Known, err error) {
	seen := map[pb.NodeID]bool{}
	looked := map[string]bool{}
	for _, n := range names {
		for _, key := range resolve.Keys(n.Name, n.Type) {
			if looked[key] {
				continue
			}
			looked[key] = true
			ids, err := t.entitiesUnder(key)
			if err != nil {
				return nil, err
			}
			for _, id := range ids {
				if seen[id] {
					continue
				}
				seen[id] = true
				k, err := t.knownAs(id)
				if err != nil {
					return nil, err
				}
				if k != nil {
					known = append(known, *k)
				}
			}
		}
	}
	return known, nil
}

func (t *texts) knownAs(id pb.NodeID) (*resolve.Known, error) {
	rec, err := t.Entity(id)
	if err != nil || rec == nil {
		return nil, err
	}
	n, err := t.Tx.Node(id)
	if err != nil || n == nil || n.GetStatus() != pb.StatusLive {
		return nil, err
	}
	k := resolve.KnownOf(resolve.EntityID(id), n.GetTitle(), n.GetMetadata(), rec)
	return &k, nil
}

// entitiesUnder lists the entities that are stored under a key, or are going to be.
func (f *Tx) entitiesUnder(key string) (ids []pb.NodeID, err error) {
	for item, err := range f.Store.Scan(f.Part.Space.Prefix(storage.TableEntityKey, storage.Str(key)),
		storage.ScanOptions{Limit: maxMeant}) {
		if err != nil {
			return nil, err
		}
		parts := item.Key.Parts()
		parts.Str()
		ids = append(ids, pb.NodeID(parts.Str()))
		if err := parts.Done(); err != nil {
			return nil, err
		}
	}
	return append(ids, f.entityKeys[key]...), nil
}

// Entity returns the current record of a derived node, or nil.
func (f *Tx) Entity(id pb.NodeID) (*pb.Entity, error) {
	if rec, ok := f.entities[id]; ok {
		return rec, nil
	}
	rec := &pb.Entity{}
	found, err := f.Store.Get(f.Part.Space.Key(storage.TableEntity, storage.Str(id)), rec)
	if err != nil {
		return nil, err
	}
	if !found {
		rec = nil
	}
	f.entities[id] = rec
	return rec, nil
}

// PutEntity changes an entity. Its record is written once, with the transaction
// (PutEntities): a slice may name one entity in each of its texts.
func (f *Tx) PutEntity(rec *pb.Entity) {
	id := pb.NodeID(rec.GetNode())
	f.entities[id] = rec
	if !f.changedEntities[id] {
		f.changedEntities[id] = true
		f.changedBytes += proto.Size(rec)
	}
}

// PutEntities writes the entities that the transaction has changed, and not taken away.
func (f *Tx) PutEntities() {
	for _, id := range slices.Sorted(maps.Keys(f.changedEntities)) {
		if rec := f.entities[id]; rec != nil {
			f.Batch.Put(f.Part.Space.Key(storage.TableEntity, storage.Str(id)), rec)
		}
	}
}

// begin makes the node of an entity that nobody has named before; "" where a person
// has forgotten it: what they do not want to see does not come back by itself.
func (t *texts) begin(name resolve.Name) (pb.NodeID, error) {
	id := t.Part.DerivedNode(KindEntity, string(name.Type)+"\x00"+strings.ToLower(name.Name))
	return t.beginNode(id, KindEntity, string(name.Type), name.Name)
}

func (t *texts) beginNode(id pb.NodeID, kind, typ, title string) (pb.NodeID, error) {
	n, err := t.Tx.Node(id)
	if err != nil {
		return "", err
	}
	switch {
	case n == nil:
		n = &pb.Node{
			Id: string(id), Kind: kind, Title: title, Authority: 0.5, Confidence: 1, Status: pb.StatusLive,
			Source: &pb.Source{Type: "ingest"}, CreatedMs: t.NowMs, ValidFromMs: t.node.GetValidFromMs(),
		}
		t.State.Nodes++
	case n.GetStatus() == pb.StatusTombstoned:
		return "", nil
	case n.GetErased(): // restored without what it held
		n.Title, n.Erased = title, false
	}
	rec, err := t.Entity(id)
	if err != nil {
		return "", err
	}
	if rec == nil {
		t.PutEntity(&pb.Entity{Node: string(id), Type: typ})
	}
	t.putUpdated(n)
	return id, nil
}

// name notes that the text writes an entity in some way.
func (t *texts) name(id pb.NodeID, name string, d resolve.Decision) error {
	rec, err := t.Entity(id)
	if err != nil || rec == nil {
		return err
	}
	i := slices.IndexFunc(t.trace.GetEntities(), func(e *pb.TraceEntity) bool { return e.GetNode() == string(id) })
	if i < 0 {
		t.trace.Entities = append(t.trace.Entities, &pb.TraceEntity{Node: string(id)})
		i = len(t.trace.GetEntities()) - 1
		rec.Mentions++
	}
	mine := t.trace.GetEntities()[i]
	renamed := d.Type != "" && rec.GetType() != string(d.Type)
	if renamed {
		rec.Type = string(d.Type)
	}
	if !slices.Contains(mine.GetNames(), name) {
		form := slices.IndexFunc(rec.GetForms(), func(x *pb.EntityForm) bool { return x.GetName() == name })
		if form < 0 && len(rec.GetForms()) < maxForms {
			rec.Forms = append(rec.Forms, &pb.EntityForm{Name: name, Reason: string(d.Reason), Confidence: d.Confidence})
			form, renamed = len(rec.GetForms())-1, true
		}
		if form >= 0 {
			rec.Forms[form].Count++
			mine.Names = append(mine.Names, name)
		}
	}
	t.PutEntity(rec)
	if renamed {
		if err := t.describeEntity(rec); err != nil {
			return err
		}
	}
	return t.knownSince(id)
}

// knownSince lets what a text names be there since the text holds: history is often
// written down backwards.
func (t *texts) knownSince(id pb.NodeID) error {
	n, err := t.Tx.Node(id)
	if err != nil || n == nil {
		return err
	}
	if since := t.node.GetValidFromMs(); since < n.GetValidFromMs() {
		n.ValidFromMs = since
		t.putUpdated(n)
	}
	return nil
}

// describeEntity makes an entity's node and keys say what its record says. What a
// person has put there stays.
func (f *Tx) describeEntity(rec *pb.Entity) error {
	id := pb.NodeID(rec.GetNode())
	n, err := f.Node(id)
	if err != nil || n == nil || n.GetKind() != KindEntity {
		return err
	}
	if !n.GetCurated() {
		title, about := resolve.Describe(n.GetTitle(), rec)
		n.Title = title
		if n.Metadata, err = json.Marshal(about); err != nil {
			return err
		}
		f.putUpdated(n)
	}
	for _, form := range rec.GetForms() {
		f.PutEntityKeys(id, form.GetName(), extract.Type(rec.GetType()))
	}
	f.PutEntityKeys(id, n.GetTitle(), extract.Type(rec.GetType()))
	return nil
}

// PutEntityKeys writes the keys by which a name of an entity is found.
func (f *Tx) PutEntityKeys(id pb.NodeID, name string, t extract.Type) {
	for _, key := range resolve.Keys(name, t) {
		if !slices.Contains(f.entityKeys[key], id) {
			f.entityKeys[key] = append(f.entityKeys[key], id)
			f.Batch.PutRaw(f.Part.Space.Key(storage.TableEntityKey, storage.Str(key), storage.Str(id)), nil)
		}
	}
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
		if id, err = t.beginNode(id, string(s.Kind), string(s.Kind), text.Title("", said)); err != nil {
			return err
		}
		if id == "" {
			continue
		}
		n := t.Nodes[id]
		if before == nil {
			t.PutContent(n, said)
			n.Confidence, n.OccurredMs, n.ValidFromMs = s.Confidence, item.GetOccurredMs(), t.validFrom(item)
			about := map[string]any{"object": item.GetContent()[s.Object.Start:s.Object.End], "polarity": s.Polarity}
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
		rec, err := t.Entity(id)
		if err != nil {
			return err
		}
		rec.Mentions++
		t.PutEntity(rec)
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
	key := t.Part.Counter(CounterSequence + session)
	id := pb.NodeID(t.node.GetId())
	before, known := t.sessionTails[session]
	if !known {
		raw, _, err := t.Store.GetRaw(key)
		if err != nil {
			return err
		}
		before = pb.NodeID(raw)
	}
	t.sessionTails[session] = id
	t.Batch.PutRaw(key, []byte(id))
	if before == "" || before == id {
		return nil
	}
	n, err := t.Tx.Node(before)
	if err != nil || n.GetStatus() != pb.StatusLive {
		return err
	}
	t.trace.Follows = string(before)
	return t.derive(&pb.Edge{Source: string(id), Target: string(before), Type: EdgeFollows, Weight: 1, Confidence: 1})
}

// CounterSequence begins the names of the counters that hold the last event of a
// session.
const CounterSequence = "sequence."

// derive writes an edge that a text is the evidence of, or adds that evidence to
// it. One that a person has forgotten is not derived again.
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

// Current is EdgeByIdentity with what the transaction itself has written.
func (f *Tx) Current(triple EdgeIdentity) (*pb.Edge, error) {
	if e, ok := f.currentEdges[triple]; ok {
		return e, nil
	}
	return f.EdgeByIdentity(triple)
}

// PutCurrent is PutEdge for an edge that Current has given, or may be asked for: Current sees the change.
func (f *Tx) PutCurrent(before, after *pb.Edge) error {
	f.currentEdges[EdgeIdentityOf(after)] = after
	return f.PutEdge(before, after)
}

// unlink takes out of the graph what a text said, and only it. With forget the
// text's own edges are left: they are tombstoned with it.
func (f *Tx) unlink(n *pb.Node, forget bool) error {
	id := pb.NodeID(n.GetId())
	if !forget { // contradictions and moments were of the words that it had
		if err := eraseFindings(f.Store, f.Batch.Batch, f.Part.Space, id); err != nil {
			return err
		}
	}
	trace := &pb.Trace{}
	found, err := f.Store.Get(f.TraceKey(id), trace)
	if err != nil || !found {
		return err
	}
	f.Batch.Erase(f.TraceKey(id))
	for _, edge := range trace.GetRelations() {
		if err := f.dropEvidence(pb.EdgeID(edge), id); err != nil {
			return err
		}
	}
	if !forget {
		if err := f.removeOwnEdges(id, trace); err != nil {
			return err
		}
	}
	for _, x := range trace.GetEntities() {
		if err := f.removeName(x, id); err != nil {
			return err
		}
	}
	return nil
}

// dropEvidence takes a text's passages from what an edge rests on, and the edge
// away where it rests on nothing else.
func (f *Tx) dropEvidence(edge pb.EdgeID, text pb.NodeID) error {
	before, err := f.Edge(edge)
	if err != nil || before == nil {
		return err
	}
	if w, ok := f.currentEdges[EdgeIdentityOf(before)]; ok {
		before = w
	}
	if before == nil || before.GetStatus() == pb.StatusTombstoned {
		return nil
	}
	after := proto.CloneOf(before)
	after.Evidence = slices.DeleteFunc(after.Evidence, func(chunk string) bool {
		return strings.HasPrefix(chunk, string(text)+":")
	})
	if len(after.GetEvidence()) == 0 {
		return f.RemoveUnsupported(before)
	}
	after.UpdatedMs = f.NowMs
	return f.PutCurrent(before, after)
}

// RemoveUnsupported removes an edge that nothing speaks for any more.
func (f *Tx) RemoveUnsupported(e *pb.Edge) error {
	if e.GetStatus() != pb.StatusTombstoned {
		if err := f.addDegree(-1, e); err != nil {
			return err
		}
	}
	f.currentEdges[EdgeIdentityOf(e)] = nil
	drift.MoveEdge(f.State, e, nil)
	RemoveEdge(f.Batch.Batch, f.Part.Space, e)
	return nil
}

// removeOwnEdges removes the edges between a text and what was read out of it.
func (f *Tx) removeOwnEdges(id pb.NodeID, trace *pb.Trace) error {
	var triples []EdgeIdentity
	for _, x := range trace.GetEntities() {
		triples = append(triples,
			EdgeIdentity{id, pb.NodeID(x.GetNode()), EdgeMentions, pb.OriginIngest},
			EdgeIdentity{pb.NodeID(x.GetNode()), id, edgeStatedIn, pb.OriginIngest})
	}
	if trace.GetFollows() != "" {
		triples = append(triples, EdgeIdentity{id, pb.NodeID(trace.GetFollows()), EdgeFollows, pb.OriginIngest})
	}
	for _, triple := range triples {
		e, err := f.Current(triple)
		if err != nil {
			return err
		}
		if e != nil && e.GetStatus() != pb.StatusTombstoned {
			if err := f.RemoveUnsupported(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeName takes back that a text names an entity. An entity that no text names any
// more goes: its name was theirs.
func (f *Tx) removeName(x *pb.TraceEntity, text pb.NodeID) error {
	id := pb.NodeID(x.GetNode())
	rec, err := f.Entity(id)
	if err != nil || rec == nil {
		return err
	}
	if rec.Mentions--; rec.GetMentions() == 0 {
		return f.DropDerived(id, text)
	}
	var gone []string
	for _, name := range x.GetNames() {
		i := slices.IndexFunc(rec.GetForms(), func(form *pb.EntityForm) bool { return form.GetName() == name })
		if i < 0 {
			continue
		}
		if rec.Forms[i].Count--; rec.GetForms()[i].GetCount() == 0 {
			rec.Forms = slices.Delete(rec.Forms, i, i+1)
			gone = append(gone, name)
		}
	}
	return f.PutRenamed(rec, gone)
}

// PutRenamed writes an entity that fewer texts name, and that none writes in some ways
// any more.
func (f *Tx) PutRenamed(rec *pb.Entity, gone []string) error {
	id := pb.NodeID(rec.GetNode())
	// Its earlier versions hold the names that are gone.
	f.Batch.Erase(f.Part.Space.Key(storage.TableEntity, storage.Str(id)))
	f.PutEntity(rec)
	if len(gone) == 0 {
		return nil
	}
	f.eraseEntityKeys(id, rec.GetType(), gone...)
	if n, err := f.Node(id); err != nil || n == nil {
		return err
	}
	f.Batch.Erase(f.Part.Space.Key(storage.TableNode, storage.Str(id)))
	if err := f.removeQuotes(id, gone); err != nil {
		return err
	}
	return f.describeEntity(rec)
}

func (f *Tx) eraseEntityKeys(id pb.NodeID, typ string, names ...string) {
	for _, name := range names {
		for _, key := range resolve.Keys(name, extract.Type(typ)) {
			f.Batch.Erase(f.Part.Space.Key(storage.TableEntityKey, storage.Str(key), storage.Str(id)))
			f.entityKeys[key] = slices.DeleteFunc(f.entityKeys[key], func(other pb.NodeID) bool { return other == id })
		}
	}
}

// DropDerived removes a node that was read out of a text, when that is gone. The
// text's own edges to it are the caller's.
func (f *Tx) DropDerived(id, text pb.NodeID) error {
	n, err := f.Node(id)
	if err != nil || n == nil {
		return err
	}
	rec, err := f.Entity(id)
	if err != nil {
		return err
	}
	edges, err := f.EdgesOfNode(id, append([]string{pb.StatusTombstoned}, EdgeOrigins...)...)
	if err != nil {
		return err
	}
	for _, e := range edges {
		if w, ok := f.currentEdges[EdgeIdentityOf(e)]; ok && w == nil || OtherEnd(e, id) == text {
			continue // cut already, or the text's own
		}
		if err := f.RemoveUnsupported(e); err != nil {
			return err
		}
	}
	var names []string
	for _, form := range rec.GetForms() {
		names = append(names, form.GetName())
	}
	f.eraseEntityKeys(id, rec.GetType(), append(names, n.GetTitle())...)
	f.Batch.Erase(f.Part.Space.Key(storage.TableEntity, storage.Str(id)))
	f.entities[id] = nil
	return f.remove(n)
}

// remove takes a node away for good, as if it had never been. One that a person has
// edited holds a content like a text, with passages, and with what was read out of it.
func (f *Tx) remove(n *pb.Node) error {
	id := pb.NodeID(n.GetId())
	text, err := f.Content(id)
	if err != nil {
		return err
	}
	for _, erase := range []func() error{
		func() error { return f.UpdateContentKey(n, text, "") },
		func() error { return f.unlink(n, true) },
		func() error { return f.eraseWords(n, text) },
		func() error { return f.eraseChunks(n) },
		func() error { return f.eraseDerived(id) },
	} {
		if err := erase(); err != nil {
			return err
		}
	}
	f.Batch.Erase(f.Part.Space.Key(storage.TableContent, storage.Str(id)))
	f.Batch.EraseRange(f.Part.Space.Prefix(storage.TableHistory, storage.Str(id)))
	if n.GetStatus() == pb.StatusTombstoned {
		f.Batch.Delete(f.Tombstone(n))
	} else {
		f.State.Nodes--
	}
	RemoveNode(f.Batch.Batch, f.Part.Space, f.StoredPlaces[id], id)
	f.PutNodeRecord(n) // it is among what changed,
	f.Nodes[id] = nil  // as nothing
	f.StoredPlaces[id] = NodePlace{}
	return nil
}
