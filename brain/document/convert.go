package document

import (
	"strings"

	pb "orgmem/proto"
)

// DomainOf is the record of a domain.
func DomainOf(id pb.DomainID, d *pb.Domain) Domain {
	return Domain{
		ID: id.String(), Label: d.GetLabel(), Keywords: orEmpty(d.GetKeywords()), Refined: d.GetRefined(),
		NodeCount: d.GetNodes(), EdgeCount: d.GetEdges(), Cohesion: d.GetCohesion(),
		TopNodes: orEmpty(d.GetTopNodes()), NamedBy: orEmpty(d.GetNamedBy()),
		CreatedAt: Time(d.GetCreatedMs()), UpdatedAt: Time(d.GetUpdatedMs()),
	}
}

// orEmpty makes an empty list of nil, which JSON would write as null.
func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// NodeOf is the record of a node, without its content, trace and history.
func NodeOf(n *pb.Node) Node {
	out := Node{
		ID: n.GetId(), Kind: n.GetKind(), Title: n.GetTitle(), DomainID: n.GetDomain(),
		Authority: n.GetAuthority(), Confidence: n.GetConfidence(),
		Status: n.GetStatus(), SupersededBy: n.GetSupersededBy(),
		Source: Source{
			Type: n.GetSource().GetType(), ExternalIDs: n.GetSource().GetExternalIds(),
			Anonymous: n.GetSource().GetAnonymous(),
		},
		ValidFrom: Time(n.GetValidFromMs()), ValidTo: Time(n.GetValidToMs()), CreatedAt: Time(n.GetCreatedMs()),
		UpdatedAt: Time(n.GetUpdatedMs()), OccurredAt: Time(n.GetOccurredMs()), TombstonedAt: Time(n.GetTombstonedMs()),
		RestorableUntil: Time(n.GetRestorableMs()), Was: n.GetWas(), Metadata: n.GetMetadata(), Turn: n.GetTurn(),
		Unlearned: n.GetUnlearned(), Edited: n.GetEdited(), Erased: n.GetErased(), Curated: n.GetCurated(),
		Placed: n.GetPlaced(),
	}
	if id, err := pb.JobIDFrom(n.GetSource().GetJob()); err == nil {
		out.Source.JobID = id.String()
	}
	for _, g := range groundsOf(n.GetGrounds()) {
		if g.Gone != "" {
			out.Grounds = append(out.Grounds, g)
		}
	}
	return out
}

func groundsOf(grounds []*pb.Ground) (out []Ground) {
	for _, g := range grounds {
		out = append(out, Ground{g.GetNode(), g.GetGone(), Time(g.GetGoneMs())})
	}
	return out
}

func storedGrounds(grounds []Ground) (out []*pb.Ground) {
	for _, g := range grounds {
		out = append(out, &pb.Ground{Node: g.NodeID, Gone: g.Gone, GoneMs: int64(g.Since)})
	}
	return out
}

// Stored is the node that a record restores, under an id of the memory that it goes into.
// When it was updated, whether it was edited and whether it is a turn are left to the
// caller, who restores it.
func (n *Node) Stored(id pb.NodeID) *pb.Node {
	return &pb.Node{
		Id: string(id), Kind: n.Kind, Title: n.Title, Domain: n.DomainID,
		Authority: n.Authority, Confidence: n.Confidence, Status: n.Status,
		Source:      &pb.Source{Type: n.Source.Type, ExternalIds: n.Source.ExternalIDs, Anonymous: n.Source.Anonymous},
		ValidFromMs: int64(n.ValidFrom), ValidToMs: int64(n.ValidTo), CreatedMs: int64(n.CreatedAt),
		OccurredMs: int64(n.OccurredAt), TombstonedMs: int64(n.TombstonedAt), RestorableMs: int64(n.RestorableUntil),
		Was: n.Was, Metadata: n.Metadata,
		Unlearned: n.Unlearned, Erased: n.Erased, Curated: n.Curated, Placed: n.Placed,
		Grounds: storedGrounds(n.Grounds),
	}
}

// DerivedOf says what a node was read out of.
func DerivedOf(e *pb.Entity) *Derived {
	out := &Derived{Type: e.GetType(), Mentions: e.GetMentions()}
	for _, f := range e.GetForms() {
		out.Forms = append(out.Forms, Form{f.GetName(), f.GetCount(), f.GetReason(), f.GetConfidence()})
	}
	return out
}

// Stored is the entity that a record restores, of a node.
func (d *Derived) Stored(node pb.NodeID) *pb.Entity {
	e := &pb.Entity{Node: string(node), Type: d.Type, Mentions: d.Mentions}
	for _, x := range d.Forms {
		e.Forms = append(e.Forms, &pb.EntityForm{Name: x.Name, Count: x.Count, Reason: x.Reason, Confidence: x.Confidence})
	}
	return e
}

// TraceOf says what was read out of a node's text.
func TraceOf(t *pb.Trace) *Trace {
	out := &Trace{Relations: t.GetRelations(), Follows: t.GetFollows()}
	for _, x := range t.GetEntities() {
		out.Entities = append(out.Entities, Named{x.GetNode(), x.GetNames()})
	}
	for _, d := range t.GetDates() {
		out.Dates = append(out.Dates, Date{d.GetStart(), d.GetEnd(), d.GetFromMs(), d.GetUntilMs()})
	}
	return out
}

// Stored is the trace that a record restores in a memory: from is the name of the memory
// in the document, here the one that the ids of nodes get. What the text follows is left
// out: it may not be there yet.
func (t *Trace) Stored(from, here string) *pb.Trace {
	out := &pb.Trace{Relations: t.Relations}
	for _, x := range t.Entities {
		out.Entities = append(out.Entities, &pb.TraceEntity{Node: strings.Replace(x.NodeID, from, here, 1), Names: x.Names})
	}
	for _, d := range t.Dates {
		out.Dates = append(out.Dates, &pb.TraceDate{Start: d.Start, End: d.End, FromMs: d.From, UntilMs: d.Until})
	}
	return out
}

// ChangeOf is the record of an entry of a node's history.
func ChangeOf(a *pb.Audit) Change {
	out := Change{At: Time(a.GetAtMs()), Action: a.GetAction(), Reason: a.GetReason()}
	if hash, err := pb.KeyHashFrom(a.GetKeyHash()); err == nil {
		out.KeyID = hash.String()
	}
	if user, err := pb.UserIDFrom(a.GetUser()); err == nil {
		out.UserID = user.String()
	}
	for _, f := range a.GetChanges() {
		out.Changes = append(out.Changes, Field{f.GetField(), f.Before, f.After, f.GetCut()})
	}
	return out
}

// Stored is the entry that a record restores in the memory of a subject, or of a member:
// then subject is empty.
func (c *Change) Stored(subject pb.SubjectKey) *pb.Audit {
	a := &pb.Audit{AtMs: int64(c.At), Subject: string(subject), Action: c.Action, Reason: c.Reason}
	if hash, err := pb.ParseKeyHash(c.KeyID); err == nil {
		a.KeyHash = hash[:]
	}
	if user, err := pb.ParseUserID(c.UserID); err == nil {
		a.User = user.Bytes()
	}
	for _, f := range c.Changes {
		a.Changes = append(a.Changes, &pb.FieldChange{Field: f.Field, Before: f.Before, After: f.After, Cut: f.Cut})
	}
	return a
}

// EdgeOf is the record of an edge.
func EdgeOf(e *pb.Edge) Edge {
	return Edge{
		ID: e.GetId(), Source: e.GetSource(), Target: e.GetTarget(), Type: e.GetType(),
		Weight: e.GetWeight(), Confidence: e.GetConfidence(), Origin: e.GetOrigin(), Status: e.GetStatus(),
		Note: e.GetNote(), Evidence: e.GetEvidence(), ValidFrom: Time(e.GetValidFromMs()), ValidTo: Time(e.GetValidToMs()),
		CreatedAt: Time(e.GetCreatedMs()), UpdatedAt: Time(e.GetUpdatedMs()), TombstonedAt: Time(e.GetTombstonedMs()),
		TombstonedWith: e.GetTombstonedWith(), Grounds: groundsOf(e.GetGrounds()),
	}
}

// Stored is the edge that a record restores.
func (e *Edge) Stored() *pb.Edge {
	return &pb.Edge{
		Id: e.ID, Source: e.Source, Target: e.Target, Type: e.Type, Weight: e.Weight, Confidence: e.Confidence,
		Origin: e.Origin, Status: e.Status, Note: e.Note, Evidence: e.Evidence,
		ValidFromMs: int64(e.ValidFrom), ValidToMs: int64(e.ValidTo), CreatedMs: int64(e.CreatedAt),
		UpdatedMs: int64(e.UpdatedAt), TombstonedMs: int64(e.TombstonedAt), TombstonedWith: e.TombstonedWith,
		Grounds: storedGrounds(e.Grounds),
	}
}

// SessionOf is the record of a coding session.
func SessionOf(s *pb.Session) Session {
	return Session{
		ID: s.GetId(), Cwd: s.GetCwd(), Model: s.GetModel(),
		CreatedAt: Time(s.GetCreatedMs()), UpdatedAt: Time(s.GetUpdatedMs()),
	}
}

// EventOf is the record of an event of a coding session.
func EventOf(e *pb.StoredEvent) SessionEvent {
	out := SessionEvent{NodeID: e.GetNode()}
	if signal := e.GetSignal(); signal != nil {
		out.Signal, out.Severity, out.Detail = signal.GetType(), signal.GetSeverity(), signal.GetDetail()
		out.At = Time(signal.GetAtMs())
		return out
	}
	ev := e.GetEvent()
	out.At, out.Role, out.Text, out.Tool = Time(ev.GetAtMs()), ev.GetRole(), ev.GetText(), ev.GetTool()
	out.EventID, out.Metadata = ev.GetEvent(), ev.GetMetadata()
	return out
}
