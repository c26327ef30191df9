package actors

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"time"

	pb "orgmem/proto"
	"orgmem/storage"
)

// The document of an export is described in docs/export.md; these are its parts.
// Each record stands on a line of its own, so that a reader need not hold
// more than one.
const (
	documentFormat  = "orgmem-export"
	documentVersion = 1
)

type (
	documentHead struct {
		Format       string       `json:"format"`
		Version      int          `json:"version"`
		ExportID     string       `json:"exportId"`
		Scope        string       `json:"scope"`
		CreatedAt    documentTime `json:"createdAt"`
		Organization documentOrg  `json:"organization"`
	}
	documentOrg struct {
		ID   string `json:"id"`
		Name string `json:"name"`
		Slug string `json:"slug"`
	}
	documentPartition struct {
		ID        string            `json:"id"`
		Kind      string            `json:"kind"` // member, subject
		Subject   string            `json:"subject,omitempty"`
		Email     string            `json:"email,omitempty"` // a member's
		CreatedAt documentTime      `json:"createdAt"`
		Settings  *documentSettings `json:"settings,omitempty"`
	}
	documentSettings struct {
		QualityMode      *string `json:"qualityMode,omitempty"`
		LearnModeDefault *bool   `json:"learnModeDefault,omitempty"`
	}
	documentNode struct {
		ID              string           `json:"id"`
		OfContent       bool             `json:"ofContent"` // the id is what this content has in this memory
		Kind            string           `json:"kind"`
		Title           string           `json:"title"`
		Content         *string          `json:"content,omitempty"`
		DomainID        string           `json:"domainId,omitempty"`
		Authority       float64          `json:"authority"`
		Confidence      float64          `json:"confidence"`
		Status          string           `json:"status"`
		SupersededBy    string           `json:"supersededBy,omitempty"`
		Source          documentSource   `json:"source"`
		ValidFrom       documentTime     `json:"validFrom,omitzero"`
		ValidTo         documentTime     `json:"validTo,omitzero"`
		CreatedAt       documentTime     `json:"createdAt"`
		UpdatedAt       documentTime     `json:"updatedAt"`
		OccurredAt      documentTime     `json:"occurredAt,omitzero"`
		TombstonedAt    documentTime     `json:"tombstonedAt,omitzero"`
		RestorableUntil documentTime     `json:"restorableUntil,omitzero"`
		Was             string           `json:"was,omitempty"` // of a tombstone: its status before
		Metadata        json.RawMessage  `json:"metadata,omitempty"`
		Turn            bool             `json:"turn,omitempty"`
		Unlearned       bool             `json:"unlearned,omitempty"`
		Edited          bool             `json:"edited,omitempty"`
		Erased          bool             `json:"erased,omitempty"`
		Curated         bool             `json:"curated,omitempty"`
		Placed          bool             `json:"placed,omitempty"` // a person chose the domain
		Derived         *documentDerived `json:"derived,omitempty"`
		Trace           *documentTrace   `json:"trace,omitempty"`
		History         []documentChange `json:"history,omitempty"` // newest first
	}
	// documentDerived is of a node that was read out of texts: what it rests on.
	documentDerived struct {
		Type     string         `json:"type"`
		Mentions uint32         `json:"mentions"`
		Forms    []documentForm `json:"forms,omitempty"`
	}
	documentForm struct {
		Name       string  `json:"name"`
		Count      uint32  `json:"count"`
		Reason     string  `json:"reason,omitempty"`
		Confidence float64 `json:"confidence,omitempty"`
	}
	// documentTrace is what was read out of a node's text.
	documentTrace struct {
		Entities  []documentNamed `json:"entities,omitempty"`
		Relations []string        `json:"relations,omitempty"`
		Dates     []documentDate  `json:"dates,omitempty"`
		Follows   string          `json:"follows,omitempty"`
	}
	documentNamed struct {
		NodeID string   `json:"nodeId"`
		Names  []string `json:"names,omitempty"`
	}
	// documentDate spans bytes of the text and milliseconds since 1970, which may lie
	// beyond what RFC 3339 can say.
	documentDate struct {
		Start uint32 `json:"start"`
		End   uint32 `json:"end"`
		From  int64  `json:"from,string"`
		Until int64  `json:"until,string"`
	}
	documentSource struct {
		Type        string   `json:"type"`
		JobID       string   `json:"jobId,omitempty"`
		ExternalIDs []string `json:"externalIds,omitempty"`
		Anonymous   bool     `json:"anonymous,omitempty"`
	}
	documentChange struct {
		At      documentTime    `json:"at"`
		Action  string          `json:"action"`
		KeyID   string          `json:"keyId,omitempty"`
		UserID  string          `json:"userId,omitempty"`
		Reason  string          `json:"reason,omitempty"`
		Changes []documentField `json:"changes,omitempty"`
	}
	documentField struct {
		Field  string  `json:"field"`
		Before *string `json:"before,omitempty"`
		After  *string `json:"after,omitempty"`
		Cut    bool    `json:"cut,omitempty"`
	}
	documentEdge struct {
		ID           string       `json:"id"`
		Source       string       `json:"source"`
		Target       string       `json:"target"`
		Type         string       `json:"type"`
		Weight       float64      `json:"weight"`
		Confidence   float64      `json:"confidence"`
		Origin       string       `json:"origin"`
		Status       string       `json:"status"`
		Note         string       `json:"note,omitempty"`
		Evidence     []string     `json:"evidence,omitempty"`
		ValidFrom    documentTime `json:"validFrom,omitzero"`
		ValidTo      documentTime `json:"validTo,omitzero"`
		CreatedAt    documentTime `json:"createdAt"`
		UpdatedAt    documentTime `json:"updatedAt,omitzero"`
		TombstonedAt documentTime `json:"tombstonedAt,omitzero"`
		// TombstonedWith is the node with which it was forgotten, and comes back.
		TombstonedWith string `json:"tombstonedWith,omitempty"`
	}
	documentDomain struct {
		ID        string       `json:"id"`
		Label     string       `json:"label"`
		Keywords  []string     `json:"keywords"`
		Refined   bool         `json:"refined,omitempty"` // a language model has made the label
		NodeCount uint32       `json:"nodeCount"`
		EdgeCount uint32       `json:"edgeCount"`
		Cohesion  float64      `json:"cohesion"`
		TopNodes  []string     `json:"topNodes"`
		NamedBy   []string     `json:"namedBy"` // the nodes that label and keywords were made of
		CreatedAt documentTime `json:"createdAt"`
		UpdatedAt documentTime `json:"updatedAt"`
	}
	documentExternal struct {
		ExternalID string `json:"externalId"`
		NodeID     string `json:"nodeId"`
	}
	documentSession struct {
		ID        string       `json:"id"`
		Cwd       string       `json:"cwd,omitempty"`
		Model     string       `json:"model,omitempty"`
		CreatedAt documentTime `json:"createdAt"`
		UpdatedAt documentTime `json:"updatedAt"`
	}
	documentSessionEvent struct {
		At       documentTime    `json:"at,omitzero"`
		Role     string          `json:"role,omitempty"`
		Text     string          `json:"text,omitempty"`
		Tool     string          `json:"tool,omitempty"`
		EventID  string          `json:"eventId,omitempty"`
		Metadata json.RawMessage `json:"metadata,omitempty"`
		NodeID   string          `json:"nodeId,omitempty"`
		Signal   string          `json:"signal,omitempty"` // an agent's signal: its type
		Severity string          `json:"severity,omitempty"`
		Detail   string          `json:"detail,omitempty"`
	}
)

// documentTime is Unix milliseconds, written as RFC 3339.
type documentTime int64

// documentTimeLayout is RFC 3339 in UTC with milliseconds, as everywhere.
const documentTimeLayout = "2006-01-02T15:04:05.000Z"

// MarshalJSON implements json.Marshaler.
func (t documentTime) MarshalJSON() ([]byte, error) {
	if t == 0 {
		return []byte("null"), nil
	}
	return []byte(time.UnixMilli(int64(t)).UTC().Format(`"` + documentTimeLayout + `"`)), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *documentTime) UnmarshalJSON(raw []byte) error {
	if string(raw) == "null" {
		*t = 0
		return nil
	}
	var at time.Time
	if err := json.Unmarshal(raw, &at); err != nil {
		return err
	}
	if at = at.UTC(); at.Year() < 0 || at.Year() > 9999 { // its offset takes it out of what can be written
		return errors.New("a time before the year 0 or after 9999")
	}
	*t = documentTime(at.UnixMilli())
	return nil
}

// recordWriter writes records one after another, each on its line. After an
// error it writes nothing more.
type recordWriter struct {
	to    io.Writer
	buf   bytes.Buffer
	comma bool
	err   error
}

func (w *recordWriter) text(s string) {
	if w.err == nil {
		_, w.err = io.WriteString(w.to, s)
	}
}

// open begins a member that is an array.
func (w *recordWriter) open(name string) {
	w.text(",\n\"" + name + "\":[")
	w.comma = false
}

func (w *recordWriter) close() { w.text("]"); w.comma = true }

// value writes JSON without the line break that an encoder adds; cut is what is
// left out at its end.
func (w *recordWriter) value(v any, cut int) {
	if w.err != nil {
		return
	}
	w.buf.Reset()
	encoder := json.NewEncoder(&w.buf)
	encoder.SetEscapeHTML(false)
	if w.err = encoder.Encode(v); w.err != nil {
		return
	}
	_, w.err = w.to.Write(w.buf.Bytes()[:w.buf.Len()-1-cut])
}

// record writes one element of an array. With open, further members follow.
func (w *recordWriter) record(v any, open bool) {
	if w.comma {
		w.text(",")
	}
	w.text("\n")
	cut := 0
	if open {
		cut = 1
	}
	w.value(v, cut)
	w.comma = true
}

// writeDocument writes the document of an export from one snapshot. part is
// whose memory it is, nil for the organization.
func (o *orgView) writeDocument(to io.Writer, snap storage.Reader, e *pb.Export, part *partitionRef) error {
	w := &recordWriter{to: to}
	rec := &pb.Organization{}
	if o.main == nil { // a sandbox's store has no root record
		if _, err := snap.Get(o.space.Key(storage.TableOrg), rec); err != nil {
			return err
		}
	}
	head := documentHead{
		Format: documentFormat, Version: documentVersion, ExportID: pb.ExportID(e.GetId()).String(), Scope: e.GetScope(),
		CreatedAt: documentTime(e.GetCreatedMs()), Organization: documentOrg{o.id.String(), rec.GetName(), rec.GetSlug()},
	}
	w.value(head, 1)
	w.open("partitions")
	if part != nil {
		if err := o.writePartition(w, snap, part); err != nil {
			return err
		}
	} else {
		for rec, err := range storage.ScanRecords(snap, o.space.Prefix(storage.TablePartition), storage.ScanOptions{}, func() *pb.Partition { return &pb.Partition{} }) {
			if err != nil {
				return err
			}
			id, err := pb.PartitionIDFrom(rec.Value.GetId())
			if err != nil {
				return err
			}
			if rec.Value.GetErasing() {
				continue
			}
			if err := o.writePartition(w, snap, newPartitionRef(o, id, rec.Value)); err != nil {
				return err
			}
		}
	}
	w.close()
	w.text("}\n")
	return w.err
}

// writePartition writes one memory.
func (o *orgView) writePartition(w *recordWriter, snap storage.Reader, part *partitionRef) error {
	head := documentPartition{ID: part.id.String(), Kind: part.kind, Subject: string(part.subject), CreatedAt: documentTime(part.created)}
	if part.kind == partitionMember {
		member := &pb.Member{}
		if _, err := snap.Get(o.space.Key(storage.TableMember, storage.ID16(part.id)), member); err != nil {
			return err
		}
		head.Email = member.GetEmail()
	}
	settings := &pb.Settings{}
	if found, err := snap.Get(part.space.Key(storage.TableSettings), settings); err != nil {
		return err
	} else if found {
		head.Settings = &documentSettings{settings.QualityMode, settings.LearnModeDefault}
	}
	w.record(head, true)
	for _, table := range []struct {
		name  string
		write func(*recordWriter, storage.Reader, *partitionRef) error
	}{
		{"domains", writeDomains}, {"nodes", writeNodes}, {"edges", writeEdges}, {"externalIds", writeExternalIDs}, {"sessions", writeSessions},
	} {
		w.open(table.name)
		if err := table.write(w, snap, part); err != nil {
			return err
		}
		w.close()
	}
	w.text("}")
	return w.err
}

func writeDomains(w *recordWriter, r storage.Reader, part *partitionRef) error {
	for rec, err := range storage.ScanRecords(r, part.space.Prefix(storage.TableDomain), storage.ScanOptions{}, func() *pb.Domain { return &pb.Domain{} }) {
		if err != nil {
			return err
		}
		d := rec.Value
		id, err := pb.DomainIDFrom(d.GetId())
		if err != nil {
			return err
		}
		w.record(documentDomain{
			ID: id.String(), Label: d.GetLabel(), Keywords: orEmpty(d.GetKeywords()), Refined: d.GetRefined(), NodeCount: d.GetNodes(), EdgeCount: d.GetEdges(),
			Cohesion: d.GetCohesion(), TopNodes: orEmpty(d.GetTopNodes()), NamedBy: orEmpty(d.GetNamedBy()), CreatedAt: documentTime(d.GetCreatedMs()), UpdatedAt: documentTime(d.GetUpdatedMs()),
		}, false)
	}
	return w.err
}

// orEmpty makes an empty list where there is none.
func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func writeNodes(w *recordWriter, r storage.Reader, part *partitionRef) error {
	for rec, err := range storage.ScanRecords(r, part.space.Prefix(storage.TableNode), storage.ScanOptions{}, func() *pb.Node { return &pb.Node{} }) {
		if err != nil {
			return err
		}
		n := rec.Value
		out := documentNode{
			ID: n.GetId(), Kind: n.GetKind(), Title: n.GetTitle(), DomainID: n.GetDomain(), Authority: n.GetAuthority(), Confidence: n.GetConfidence(),
			Status: n.GetStatus(), SupersededBy: n.GetSupersededBy(),
			Source:    documentSource{Type: n.GetSource().GetType(), ExternalIDs: n.GetSource().GetExternalIds(), Anonymous: n.GetSource().GetAnonymous()},
			ValidFrom: documentTime(n.GetValidFromMs()), ValidTo: documentTime(n.GetValidToMs()), CreatedAt: documentTime(n.GetCreatedMs()),
			UpdatedAt: documentTime(n.GetUpdatedMs()), OccurredAt: documentTime(n.GetOccurredMs()), TombstonedAt: documentTime(n.GetTombstonedMs()),
			RestorableUntil: documentTime(n.GetRestorableMs()), Was: n.GetWas(), Metadata: n.GetMetadata(),
			Turn: n.GetTurn(), Unlearned: n.GetUnlearned(), Edited: n.GetEdited(), Erased: n.GetErased(), Curated: n.GetCurated(), Placed: n.GetPlaced(),
		}
		if err := addDerived(&out, r, part); err != nil {
			return err
		}
		if id, err := pb.JobIDFrom(n.GetSource().GetJob()); err == nil {
			out.Source.JobID = id.String()
		}
		content := &pb.Content{}
		found, err := r.Get(part.space.Key(storage.TableContent, storage.Str(n.GetId())), content)
		if err != nil {
			return err
		}
		if found {
			out.Content = &content.Text
			out.OfContent = part.nodeFor(content.GetText()) == pb.NodeID(n.GetId())
		}
		if out.History, err = documentHistory(r, part, pb.NodeID(n.GetId())); err != nil {
			return err
		}
		w.record(out, false)
	}
	return w.err
}

// addDerived says what a node was read out of, and what was read out of it.
func addDerived(out *documentNode, r storage.Reader, part *partitionRef) error {
	rec, trace := &pb.Entity{}, &pb.Trace{}
	found, err := r.Get(part.space.Key(storage.TableEntity, storage.Str(out.ID)), rec)
	if err != nil {
		return err
	}
	if found {
		out.Derived = &documentDerived{Type: rec.GetType(), Mentions: rec.GetMentions()}
		for _, f := range rec.GetForms() {
			out.Derived.Forms = append(out.Derived.Forms, documentForm{f.GetName(), f.GetCount(), f.GetReason(), f.GetConfidence()})
		}
	}
	if found, err = r.Get(part.space.Key(storage.TableTrace, storage.Str(out.ID)), trace); err != nil || !found {
		return err
	}
	out.Trace = &documentTrace{Relations: trace.GetRelations(), Follows: trace.GetFollows()}
	for _, x := range trace.GetEntities() {
		out.Trace.Entities = append(out.Trace.Entities, documentNamed{x.GetNode(), x.GetNames()})
	}
	for _, d := range trace.GetDates() {
		out.Trace.Dates = append(out.Trace.Dates, documentDate{d.GetStart(), d.GetEnd(), d.GetFromMs(), d.GetUntilMs()})
	}
	return nil
}

func documentHistory(r storage.Reader, part *partitionRef, node pb.NodeID) (out []documentChange, err error) {
	for rec, err := range storage.ScanRecords(r, part.space.Prefix(storage.TableHistory, storage.Str(node)), storage.ScanOptions{}, func() *pb.Audit { return &pb.Audit{} }) {
		if err != nil {
			return nil, err
		}
		a := rec.Value
		change := documentChange{At: documentTime(a.GetAtMs()), Action: a.GetAction(), Reason: a.GetReason()}
		if hash, err := pb.KeyHashFrom(a.GetKeyHash()); err == nil {
			change.KeyID = hash.String()
		}
		if user, err := pb.UserIDFrom(a.GetUser()); err == nil {
			change.UserID = user.String()
		}
		for _, f := range a.GetChanges() {
			change.Changes = append(change.Changes, documentField{f.GetField(), f.Before, f.After, f.GetCut()})
		}
		out = append(out, change)
	}
	return out, nil
}

func writeEdges(w *recordWriter, r storage.Reader, part *partitionRef) error {
	for rec, err := range storage.ScanRecords(r, part.space.Prefix(storage.TableEdge), storage.ScanOptions{}, func() *pb.Edge { return &pb.Edge{} }) {
		if err != nil {
			return err
		}
		e := rec.Value
		if e.GetSealed() != nil {
			continue // it comes back where it was forgotten, and nowhere else
		}
		w.record(documentEdge{
			ID: e.GetId(), Source: e.GetSource(), Target: e.GetTarget(), Type: e.GetType(), Weight: e.GetWeight(), Confidence: e.GetConfidence(),
			Origin: e.GetOrigin(), Status: e.GetStatus(), Note: e.GetNote(), Evidence: e.GetEvidence(), ValidFrom: documentTime(e.GetValidFromMs()), ValidTo: documentTime(e.GetValidToMs()),
			CreatedAt: documentTime(e.GetCreatedMs()), UpdatedAt: documentTime(e.GetUpdatedMs()), TombstonedAt: documentTime(e.GetTombstonedMs()),
			TombstonedWith: e.GetTombstonedWith(),
		}, false)
	}
	return w.err
}

func writeExternalIDs(w *recordWriter, r storage.Reader, part *partitionRef) error {
	for rec, err := range storage.ScanRecords(r, part.space.Prefix(storage.TableExternalID), storage.ScanOptions{}, func() *pb.ExternalRef { return &pb.ExternalRef{} }) {
		if err != nil {
			return err
		}
		parts := rec.Key.Parts()
		id := parts.Str()
		if err := parts.Done(); err != nil {
			return err
		}
		w.record(documentExternal{id, rec.Value.GetNode()}, false)
	}
	return w.err
}

func writeSessions(w *recordWriter, r storage.Reader, part *partitionRef) error {
	for rec, err := range storage.ScanRecords(r, part.space.Prefix(storage.TableSession), storage.ScanOptions{}, func() *pb.Session { return &pb.Session{} }) {
		if err != nil {
			return err
		}
		s := rec.Value
		w.record(documentSession{
			ID: s.GetId(), Cwd: s.GetCwd(), Model: s.GetModel(), CreatedAt: documentTime(s.GetCreatedMs()), UpdatedAt: documentTime(s.GetUpdatedMs()),
		}, true)
		w.open("events")
		for ev, err := range storage.ScanRecords(r, part.space.Prefix(storage.TableSessionEvent, storage.Str(s.GetId())), storage.ScanOptions{}, func() *pb.StoredEvent { return &pb.StoredEvent{} }) {
			if err != nil {
				return err
			}
			w.record(documentEvent(ev.Value), false)
		}
		w.close()
		w.text("}")
	}
	return w.err
}

func documentEvent(e *pb.StoredEvent) documentSessionEvent {
	out := documentSessionEvent{NodeID: e.GetNode()}
	if signal := e.GetSignal(); signal != nil {
		out.Signal, out.Severity, out.Detail, out.At = signal.GetType(), signal.GetSeverity(), signal.GetDetail(), documentTime(signal.GetAtMs())
		return out
	}
	ev := e.GetEvent()
	out.At, out.Role, out.Text, out.Tool, out.EventID = documentTime(ev.GetAtMs()), ev.GetRole(), ev.GetText(), ev.GetTool(), ev.GetEvent()
	out.Metadata = ev.GetMetadata()
	return out
}
