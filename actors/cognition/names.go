package cognition

import (
	"errors"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/graph"
	"orgmem/brain/cognition"
	"orgmem/brain/extract"
	"orgmem/brain/extract/resolve"
	pb "orgmem/proto"
	"orgmem/storage"
)

// Where a text is taken in, its names go to what is called so, whatever the text takes it for. A cycle looks at what
// the votes of all texts have come to: a name that clearly means two things gets a second entity, and entities of one
// name that clearly mean no two become one. Texts that are forgotten or edited take their votes with them, so this
// goes both ways.

// maxSharedEdges bounds the edges of an entity whose texts are shared out: it is one commit. One with more is what it
// is.
const maxSharedEdges = 5000

// namesStage shares the texts of entities that are called the same out among them.
type namesStage struct{ *cycle }

// run looks at the names that fresh texts say, and at those that several entities have.
func (c namesStage) run() error {
	called := map[string][]int32{}
	var names []string
	for i := range c.Nodes {
		if n := &c.Nodes[i]; n.Entity() {
			name := strings.ToLower(n.Title)
			if called[name] = append(called[name], int32(i)); len(called[name]) == 2 {
				names = append(names, name)
			}
		}
	}
	fresh, err := c.named()
	if err != nil {
		return err
	}
	for at := range fresh {
		names = append(names, strings.ToLower(c.Nodes[at].Title))
	}
	slices.Sort(names)
	for _, name := range names {
		if len(called[name]) == 0 {
			continue // it was looked at
		}
		if err := c.look(called[name]); err != nil {
			return err
		}
		delete(called, name)
	}
	return c.parts(fresh)
}

// named are the places of the entities that fresh texts name.
func (c namesStage) named() (map[int32]bool, error) {
	texts, named := map[int32]bool{}, map[int32]bool{}
	err := c.org.WithStore(func(st *storage.Store) error {
		for i := range c.notes {
			text := c.notes[i].Node
			if texts[text] {
				continue
			}
			texts[text] = true
			trace := &pb.Trace{}
			if _, err := st.Get(c.part.Space.Key(storage.TableTrace, storage.Str(c.Nodes[text].ID)), trace); err != nil {
				return err
			}
			for _, x := range trace.GetEntities() {
				if at, ok := c.At[pb.NodeID(x.GetNode())]; ok && c.Nodes[at].Entity() {
					named[at] = true
				}
			}
		}
		return nil
	})
	return named, err
}

// look shares out the texts of the entities of one name, if any are with the wrong one.
func (c namesStage) look(places []int32) error {
	var ids []pb.NodeID
	var recs []*pb.Entity
	err := c.org.WithStore(func(st *storage.Store) error {
		for _, i := range places {
			rec := &pb.Entity{}
			found, err := st.Get(c.part.Space.Key(storage.TableEntity, storage.Str(c.Nodes[i].ID)), rec)
			if err != nil {
				return err
			}
			if found && resolve.Guessed(extract.Type(rec.GetType())) {
				ids, recs = append(ids, c.Nodes[i].ID), append(recs, rec)
			}
		}
		return nil
	})
	title := c.Nodes[places[0]].Title
	if err != nil || len(resolve.Sort(title, recs)) == 0 {
		return err
	}
	if err := c.goOn(); err != nil {
		return err
	}
	return c.write(func(f *graph.Tx) error {
		moved, err := (&sharing{Tx: f}).share(title, ids)
		c.more = c.more || moved > 0 // what is to be moved after that, and what the moved edges mean
		return err
	})
}

// sharing moves texts from one entity to another.
type sharing struct {
	*graph.Tx
	from   *pb.Entity
	to     pb.NodeID
	reason resolve.Reason // why the names of the first mean the other; empty: they are its own
}

// share carries out the first move that may be, as the votes are now, and says how many texts it has moved.
func (s *sharing) share(title string, ids []pb.NodeID) (moved int, err error) {
	var recs []*pb.Entity
	for _, id := range ids {
		rec, err := s.shareable(id, title)
		if err != nil {
			return 0, err
		}
		if rec != nil {
			recs = append(recs, rec)
		}
	}
	for _, m := range resolve.Sort(title, recs) {
		s.from, s.to = recs[m.From], ""
		if m.To >= 0 {
			s.to = pb.NodeID(recs[m.To].GetNode())
		}
		if moved, err = s.moveAll(m.Type, title); err != nil || moved > 0 {
			return moved, err // the next one needs to see what this has changed
		}
	}
	return 0, nil
}

// moveAll lets the texts name the other entity that take the name for a type, "" for any, and says how many.
func (s *sharing) moveAll(kind extract.Type, title string) (moved int, err error) {
	edges, err := s.edges()
	if err != nil {
		return 0, err
	}
	for _, e := range edges {
		if s.IsFull() {
			break
		}
		ok, err := s.move(pb.NodeID(e.GetSource()), kind, title)
		if err != nil {
			return moved, err
		}
		if ok {
			moved++
		}
	}
	return moved, nil
}

// shareable is the record of an entity that has this name, unless a person has said something of it: what they said of
// one would be said of another.
func (s *sharing) shareable(id pb.NodeID, title string) (*pb.Entity, error) {
	n, err := s.Node(id)
	if err != nil || n.GetStatus() != pb.StatusLive || !strings.EqualFold(n.GetTitle(), title) ||
		n.GetCurated() || n.GetEdited() || n.GetPlaced() || n.GetContentBytes() > 0 || n.GetDegree() > maxSharedEdges {
		return nil, err
	}
	if refuses(n, title) {
		return nil, nil
	}
	return s.Entities.Get(id)
}

// edges are those by which texts name the entity. Where a person asserts something of it, derived something from it
// or forgot an edge of it, edges returns nothing, since that would be lost, or be said of another.
func (s *sharing) edges() (naming []*pb.Edge, err error) {
	places := append([]string{pb.StatusTombstoned}, graph.EdgeOrigins...)
	edges, err := s.EdgesOfNode(pb.NodeID(s.from.GetNode()), places...)
	if errors.Is(err, storage.ErrBatchTooLarge) {
		return nil, nil
	}
	for _, e := range edges {
		switch {
		case e.GetOrigin() == pb.OriginCognition: // cycles make them anew
		case e.GetOrigin() != pb.OriginIngest, e.GetType() == pb.EdgeDerivedFrom,
			e.GetStatus() == pb.StatusTombstoned && e.GetTombstonedWith() == "":
			return nil, err
		case e.GetType() == cognition.EdgeMentions && e.GetTarget() == s.from.GetNode():
			naming = append(naming, e)
		}
	}
	return naming, err
}

// move lets a text name the other entity, if it takes the name for a type; "" is any.
func (s *sharing) move(text pb.NodeID, kind extract.Type, title string) (bool, error) {
	from := pb.NodeID(s.from.GetNode())
	trace, err := s.Traces.Get(text)
	if err != nil || trace == nil {
		return false, err
	}
	at := slices.IndexFunc(trace.GetEntities(), func(x *pb.TraceEntity) bool { return x.GetNode() == string(from) })
	if at < 0 {
		return false, nil
	}
	x := trace.GetEntities()[at]
	said := resolve.Said{Name: resolve.Name{Type: extract.Type(x.GetType())}, Certainty: float64(x.GetCertainty()) / 100}
	if x.GetType() == "" {
		said.Name.Type, said.Certainty = extract.Type(s.from.GetType()), 1
	}
	if kind != "" && said.Name.Type != kind {
		return false, nil
	}
	n, err := s.Node(text)
	if err != nil || n == nil {
		return false, err
	}
	if s.to == "" {
		s.to, err = s.begin(resolve.Name{Name: title, Type: said.Name.Type}, n.GetValidFromMs())
		if err != nil || s.to == "" {
			return false, err
		}
	}
	trace.Entities = slices.Delete(trace.GetEntities(), at, at+1)
	if err := s.name(trace, x, said, n.GetValidFromMs(), title); err != nil {
		return false, err
	}
	if err := s.moveNaming(text); err != nil {
		return false, err
	}
	if err := s.moveRelations(text, trace); err != nil {
		return false, err
	}
	s.Traces.Put(text, trace)
	return true, s.RemoveName(x, "", pb.StaleEnded)
}

// begin makes the second entity of a name; "" where a person does not want to see it.
func (s *sharing) begin(name resolve.Name, since int64) (pb.NodeID, error) {
	if forgotten, err := s.Entities.Forgotten(name); err != nil || forgotten {
		return "", err
	}
	is := string(name.Type) + "\x00" + strings.ToLower(name.Name)
	id := s.Part.DerivedNode(cognition.KindEntity, is)
	n, err := s.Node(id)
	if err != nil {
		return "", err
	}
	if n.GetStatus() == pb.StatusTombstoned {
		return "", nil
	}
	if n != nil { // it began as this and is something else now
		id = s.Part.DerivedNode(cognition.KindEntity, is+"\x00second")
	}
	return s.BeginNode(id, cognition.KindEntity, string(name.Type), name.Name, since)
}

// name notes in a text's trace, and in the record of the other entity, the names that the text has of the first.
func (s *sharing) name(trace *pb.Trace, x *pb.TraceEntity, said resolve.Said, since int64, title string) error {
	names := x.GetNames()
	if len(names) == 0 { // of an entity that is written in more ways than are counted
		names = []string{title}
	}
	for _, name := range names {
		said.Name.Name, said.Reason, said.Confidence = name, resolve.Same, 1
		for _, form := range s.from.GetForms() {
			if form.GetName() == name && form.GetReason() != string(resolve.New) {
				said.Reason, said.Confidence = resolve.Reason(form.GetReason()), form.GetConfidence()
			}
		}
		if s.reason != "" {
			said.Reason, said.Confidence = s.reason, resolve.ConfidenceOf(s.reason)
		}
		if err := s.Entities.Name(trace, s.to, said, since); err != nil {
			return err
		}
	}
	return nil
}

// moveNaming moves the edge by which a text names the entity. One that a person has forgotten stays forgotten.
func (s *sharing) moveNaming(text pb.NodeID) error {
	before, err := s.Current(graph.EdgeIdentity{
		Source: text, Target: pb.NodeID(s.from.GetNode()), Kind: cognition.EdgeMentions, Origin: pb.OriginIngest,
	})
	if err != nil || before == nil || before.GetStatus() == pb.StatusTombstoned {
		return err
	}
	_, err = s.reconnect(before, before.GetEvidence())
	return err
}

// moveRelations moves what a text says of how the entity is related to others.
func (s *sharing) moveRelations(text pb.NodeID, trace *pb.Trace) error {
	relations := trace.GetRelations()[:0:0]
	for _, id := range trace.GetRelations() {
		stored, err := s.Edge(pb.EdgeID(id))
		if err != nil {
			return err
		}
		if stored != nil {
			before, err := s.Current(graph.EdgeIdentityOf(stored))
			if err != nil {
				return err
			}
			if before != nil && before.GetStatus() != pb.StatusTombstoned &&
				(before.GetSource() == s.from.GetNode() || before.GetTarget() == s.from.GetNode()) {
				mine := slices.DeleteFunc(slices.Clone(before.GetEvidence()), func(chunk string) bool {
					return !strings.HasPrefix(chunk, string(text)+":")
				})
				if id, err = s.reconnect(before, mine); err != nil {
					return err
				}
			}
		}
		if id != "" && !slices.Contains(relations, id) {
			relations = append(relations, id)
		}
	}
	trace.Relations = relations
	return nil
}

// reconnect gives an edge of the first entity to the other one, as far as some of its evidence goes, and returns the
// id of the edge that has it then, or "".
func (s *sharing) reconnect(before *pb.Edge, evidence []string) (id string, err error) {
	if len(evidence) == 0 && len(before.GetEvidence()) > 0 {
		return before.GetId(), nil
	}
	after, left := proto.CloneOf(before), proto.CloneOf(before)
	after.Evidence, after.UpdatedMs, left.UpdatedMs = evidence, s.NowMs, s.NowMs
	left.Evidence = slices.DeleteFunc(left.Evidence, func(chunk string) bool { return slices.Contains(evidence, chunk) })
	if after.GetSource() == s.from.GetNode() {
		after.Source = string(s.to)
	}
	if after.GetTarget() == s.from.GetNode() {
		after.Target = string(s.to)
	}
	if len(left.GetEvidence()) == 0 {
		err = s.RemoveUnsupported(before)
	} else {
		fresh, failed := s.Org.NewID()
		if failed != nil {
			return "", failed
		}
		after.Id, err = fresh.String(), s.PutCurrent(before, left)
	}
	if err != nil || after.GetSource() == after.GetTarget() {
		return "", err
	}
	same, err := s.Current(graph.EdgeIdentityOf(after))
	switch {
	case err != nil:
		return "", err
	case same == nil:
		return after.GetId(), s.PutCurrent(nil, after)
	case same.GetStatus() != pb.StatusTombstoned:
		both := proto.CloneOf(same)
		for _, chunk := range evidence {
			graph.AddEvidence(both, chunk)
		}
		both.Weight = max(both.GetWeight(), after.GetWeight())
		both.Confidence = max(both.GetConfidence(), after.GetConfidence())
		both.ValidFromMs, both.UpdatedMs = min(both.GetValidFromMs(), after.GetValidFromMs()), s.NowMs
		return both.GetId(), s.PutCurrent(same, both)
	case same.GetTombstonedWith() == "":
		return "", nil // a person does not want to see it
	}
	graph.RemoveEdge(s.Batch.Batch, s.Part.Space, same)
	return after.GetId(), s.PutCurrent(nil, after)
}
