package export

import (
	"io"

	"orgmem/actors/partition"
	"orgmem/brain/document"
	pb "orgmem/proto"
	"orgmem/storage"
)

// writeDocument writes the document of an export from one snapshot. part is
// whose memory it is, nil for the organization.
func (o *Module) writeDocument(to io.Writer, snap storage.Reader, e *pb.Export, part *partition.Ref) error {
	rec := &pb.Organization{}
	if o.Main == nil { // a sandbox's store has no root record
		if _, err := snap.Get(o.Space.Key(storage.TableOrg), rec); err != nil {
			return err
		}
	}
	head := document.Head{
		Format: document.Format, Version: document.Version, ExportID: pb.ExportID(e.GetId()).String(), Scope: e.GetScope(),
		CreatedAt: document.Time(e.GetCreatedMs()), Organization: document.Org{
			ID: o.ID.String(), Name: rec.GetName(),
			Slug: rec.GetSlug(),
		},
	}
	w := document.NewWriter(to, head)
	w.Open("partitions")
	if part != nil {
		if err := o.writePartition(w, snap, part); err != nil {
			return err
		}
	} else {
		for rec, err := range storage.ScanRecords(snap, o.Space.Prefix(storage.TablePartition), storage.ScanOptions{},
			func() *pb.Partition { return &pb.Partition{} }) {
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
			if err := o.writePartition(w, snap, partition.NewRef(o.Store, &o.View, id, rec.Value)); err != nil {
				return err
			}
		}
	}
	w.Close()
	return w.Finish()
}

// writePartition writes one memory.
func (o *Module) writePartition(w *document.Writer, snap storage.Reader, part *partition.Ref) error {
	head := document.Partition{
		ID: part.ID.String(), Kind: part.Kind, Subject: string(part.Subject),
		CreatedAt: document.Time(part.Created),
	}
	if part.Kind == pb.PartitionMember {
		member := &pb.Member{}
		if _, err := snap.Get(o.Space.Key(storage.TableMember, storage.ID16(part.ID)), member); err != nil {
			return err
		}
		head.Email = member.GetEmail()
	}
	settings := &pb.Settings{}
	if found, err := snap.Get(part.Space.Key(storage.TableSettings), settings); err != nil {
		return err
	} else if found {
		head.Settings = &document.Settings{QualityMode: settings.QualityMode, LearnModeDefault: settings.LearnModeDefault}
	}
	w.Begin(head)
	for _, table := range []struct {
		name  string
		write func(*document.Writer, storage.Reader, *partition.Ref) error
	}{
		{"domains", writeDomains},
		{"nodes", writeNodes},
		{"edges", writeEdges},
		{"externalIds", writeExternalIDs},
		{"sessions", writeSessions},
	} {
		w.Open(table.name)
		if err := table.write(w, snap, part); err != nil {
			return err
		}
		w.Close()
	}
	w.End()
	return w.Err()
}

func writeDomains(w *document.Writer, r storage.Reader, part *partition.Ref) error {
	for rec, err := range storage.ScanRecords(r, part.Space.Prefix(storage.TableDomain), storage.ScanOptions{},
		func() *pb.Domain { return &pb.Domain{} }) {
		if err != nil {
			return err
		}
		d := rec.Value
		id, err := pb.DomainIDFrom(d.GetId())
		if err != nil {
			return err
		}
		w.Record(document.DomainOf(id, d))
	}
	return w.Err()
}

func writeNodes(w *document.Writer, r storage.Reader, part *partition.Ref) error {
	for rec, err := range storage.ScanRecords(r, part.Space.Prefix(storage.TableNode), storage.ScanOptions{},
		func() *pb.Node { return &pb.Node{} }) {
		if err != nil {
			return err
		}
		n := rec.Value
		out := document.NodeOf(n)
		if err := addDerived(&out, r, part); err != nil {
			return err
		}
		content := &pb.Content{}
		found, err := r.Get(part.Space.Key(storage.TableContent, storage.Str(n.GetId())), content)
		if err != nil {
			return err
		}
		if found {
			out.Content = &content.Text
			out.OfContent = part.NodeFor(content.GetText()) == pb.NodeID(n.GetId())
		}
		if out.History, err = documentHistory(r, part, pb.NodeID(n.GetId())); err != nil {
			return err
		}
		w.Record(out)
	}
	return w.Err()
}

// addDerived says what a node was read out of, and what was read out of it.
func addDerived(out *document.Node, r storage.Reader, part *partition.Ref) error {
	rec, trace := &pb.Entity{}, &pb.Trace{}
	found, err := r.Get(part.Space.Key(storage.TableEntity, storage.Str(out.ID)), rec)
	if err != nil {
		return err
	}
	if found {
		out.Derived = document.DerivedOf(rec)
	}
	if found, err = r.Get(part.Space.Key(storage.TableTrace, storage.Str(out.ID)), trace); err != nil || !found {
		return err
	}
	out.Trace = document.TraceOf(trace)
	return nil
}

func documentHistory(r storage.Reader, part *partition.Ref, node pb.NodeID) (out []document.Change, err error) {
	for rec, err := range storage.ScanRecords(r, part.Space.Prefix(storage.TableHistory, storage.Str(node)),
		storage.ScanOptions{}, func() *pb.Audit { return &pb.Audit{} }) {
		if err != nil {
			return nil, err
		}
		out = append(out, document.ChangeOf(rec.Value))
	}
	return out, nil
}

func writeEdges(w *document.Writer, r storage.Reader, part *partition.Ref) error {
	for rec, err := range storage.ScanRecords(r, part.Space.Prefix(storage.TableEdge), storage.ScanOptions{},
		func() *pb.Edge { return &pb.Edge{} }) {
		if err != nil {
			return err
		}
		e := rec.Value
		if e.GetSealed() != nil || e.GetOfEdge() {
			continue // the one comes back where it was forgotten, and nowhere else; the other its edge tells
		}
		w.Record(document.EdgeOf(e))
	}
	return w.Err()
}

func writeExternalIDs(w *document.Writer, r storage.Reader, part *partition.Ref) error {
	for rec, err := range storage.ScanRecords(r, part.Space.Prefix(storage.TableExternalID), storage.ScanOptions{},
		func() *pb.ExternalRef { return &pb.ExternalRef{} }) {
		if err != nil {
			return err
		}
		parts := rec.Key.Parts()
		id := parts.Str()
		if err := parts.Done(); err != nil {
			return err
		}
		w.Record(document.External{ExternalID: id, NodeID: rec.Value.GetNode()})
	}
	return w.Err()
}

func writeSessions(w *document.Writer, r storage.Reader, part *partition.Ref) error {
	for rec, err := range storage.ScanRecords(r, part.Space.Prefix(storage.TableSession), storage.ScanOptions{},
		func() *pb.Session { return &pb.Session{} }) {
		if err != nil {
			return err
		}
		s := rec.Value
		w.Begin(document.SessionOf(s))
		w.Open("events")
		for ev, err := range storage.ScanRecords(r, part.Space.Prefix(storage.TableSessionEvent, storage.Str(s.GetId())),
			storage.ScanOptions{}, func() *pb.StoredEvent { return &pb.StoredEvent{} }) {
			if err != nil {
				return err
			}
			w.Record(document.EventOf(ev.Value))
		}
		w.Close()
		w.End()
	}
	return w.Err()
}
