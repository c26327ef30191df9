package subject

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"orgmem/actors/budget"
	"orgmem/actors/commit"
	"orgmem/actors/graph"
	"orgmem/actors/node"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/brain/format"
	formatreading "orgmem/brain/format/reading"
	"orgmem/brain/text"
	pb "orgmem/proto"
	"orgmem/proto/canon"
	"orgmem/storage"
)

// A file becomes documents before it is accepted, so that errors in it are reported at once. The documents become one
// job. The file's entry in the import history has the id of the job, and also its end, since it outlives the job's
// record.

const (
	// MaxImportText bounds the text of one import, which is queued in one commit: the size of a raft entry, without what
	// records need beside their text.
	MaxImportText = 16 << 20
)

// upload is a file that was read, on its way to the queue.
type upload struct {
	entry *pb.Import
	Items []*pb.IngestItem
}

// importFile reads an upload and goes on to accept its documents. It does so in a goroutine, since it waits for memory
// and for a processor. A quick file is read like any other read. Others take seconds of a processor, in the
// organization's own share, and are given up when the caller is gone.
func (o *Intake) importFile(c *tenant.Call, op *pb.ImportFile) {
	view, sys := c.Org, o.System
	if !sys.AcquireReading(view.ID) {
		c.Fail(node.ErrPoolFull)
		return
	}
	sys.BackgroundTasks.Go(func() {
		defer sys.ReleaseReading(view.ID)
		defer func() {
			if r := recover(); r != nil {
				c.Fail(node.PanicError("import", r))
			}
		}()
		work, err := beginReading(c.Abandoned(), sys, view.ID, ReadingWait)
		if err != nil {
			c.Fail(c.Unread(err))
			return
		}
		c.Memory.Store(work)
		up, p, err := readInTurn(view, c, op, work)
		if err != nil {
			err = c.Unread(err)
		}
		switch {
		case errors.Is(err, node.ErrAbandoned):
			c.Refuse(tenant.NewProblem(pb.CodeServiceDegraded, "The file was not read to its end."))
			return
		case err != nil:
			c.Fail(err)
			return
		case p != nil:
			c.Refuse(p)
			return
		}
		if err := work.More(c.Abandoned(), textMemory*up.size()-work.Held(), ReadingWait); err != nil {
			c.Fail(c.Unread(err))
			return
		}
		c.Payload = up
		o.InMailbox(func() {
			if o.Retired {
				c.Fail(commit.ErrLost)
				return
			}
			o.Accept(c)
		})
	})
}

// errNotQuick says that a file takes more than a quick one may.
var errNotQuick = errors.New("the file is not read quickly")

// readInTurn reads a file when it is its organization's turn.
func readInTurn(
	o *tenant.View, c *tenant.Call, op *pb.ImportFile, work *budget.Work,
) (up *upload, p *pb.Problem, err error) {
	now, stop := context.WithCancel(c.Abandoned())
	stop() // what is not free at once is waited for without a worker
	if format.Quick(op.GetContent()) {
		done := make(chan struct{})
		queued := o.System.Reads.Do(o.ID, node.Narrow, func(int) {
			defer close(done)
			defer func() {
				if r := recover(); r != nil {
					err = node.PanicError("import", r)
				}
			}()
			up, p, err = ReadUpload(op, formatreading.Limits{GoOn: c.StillWanted, More: func(n int) error {
				if work.More(now, n, 0) != nil {
					return errNotQuick
				}
				return nil
			}})
		})
		if queued != nil {
			return nil, nil, queued
		}
		<-done
		if !errors.Is(err, errNotQuick) {
			return up, p, err
		}
	}
	err = o.System.CPU.Share(o.ID, c.Abandoned().Done(), func(s *node.Share) (err error) {
		up, p, err = ReadUpload(op, formatreading.Limits{
			GoOn: func() error {
				if err := c.StillWanted(); err != nil {
					return err
				}
				return s.Yield()
			},
			More: func(n int) error {
				if work.More(now, n, 0) == nil {
					return nil
				}
				return s.Without(func() error { return work.More(c.Abandoned(), n, ReadingWait) })
			},
		})
		return err
	})
	return up, p, err
}

// size is the number of bytes of an upload's items in the queue.
func (u *upload) size() (n int) {
	for _, it := range u.Items {
		n += itemBytes(it)
	}
	return n
}

// itemBytes is the number of bytes of an item in an entry of the queue.
func itemBytes(it *pb.IngestItem) int {
	return len(it.GetContent()) + len(it.GetTitle()) + len(it.GetExternalId()) + len(it.GetMetadata()) +
		len(it.GetFile()) + len(it.GetRefused())
}

// ReadUpload makes documents of a file. It calls the functions of the limits meanwhile, and returns no errors but
// theirs.
func ReadUpload(op *pb.ImportFile, limits formatreading.Limits) (*upload, *pb.Problem, error) {
	if limits.GoOn != nil {
		if err := limits.GoOn(); err != nil {
			return nil, nil, err
		}
	}
	read := format.Documents
	if op.GetTranscript() {
		read = format.Transcript
	}
	limits.Runes, limits.Bytes = int(op.GetMaxRunes()), MaxImportText
	docs, kind, err := read(op.GetFilename(), op.GetContent(), limits)
	switch {
	case errors.Is(err, formatreading.ErrTooLarge):
		return nil, tenant.NewProblem(pb.CodePayloadTooLarge, "The file %s.", formatreading.Reason(err)), nil
	case errors.Is(err, formatreading.ErrFile):
		return nil, tenant.Invalid("file", formatreading.Reason(err)), nil
	case err != nil:
		return nil, nil, err
	}
	up := &upload{entry: &pb.Import{
		Filename: op.GetFilename(), Format: kind, Bytes: uint64(len(op.GetContent())), Transcript: op.GetTranscript(),
	}}
	size := 0
	for _, d := range docs {
		const noTime = "an occurredAt that is no RFC 3339 date-time"
		at := occurredIn(d)
		if d.OccurredAt != "" && !d.Noted && at == 0 {
			if d.Path == "" { // of an archive the rest is taken in
				return nil, tenant.Invalid("file", "has at "+d.Where+" "+noTime), nil
			}
			d = formatreading.Document{Where: d.Where, Refused: "has " + noTime}
		}
		item := &pb.IngestItem{
			Content: d.Content, Title: d.Title, Kind: cmp.Or(d.Kind, graph.DefaultKind), ExternalId: d.ExternalID,
			OccurredMs: op.GetOccurredMs(),
			Metadata:   d.Metadata, Source: pb.SourceImport,
		}
		if d.Refused != "" {
			item = &pb.IngestItem{Refused: partRefused(d), Source: pb.SourceImport}
		}
		item.File = op.GetFilename()
		if op.GetTitle() != "" && (len(docs) == 1 || d.Title == "") {
			item.Title = op.GetTitle()
		}
		item.OccurredMs = cmp.Or(at, item.GetOccurredMs())
		if d.Refused == "" {
			item.Metadata = metadataOf(d, op.GetMetadata())
		}
		// What the form says for all of them is stored with each.
		if size += itemBytes(item); size > MaxImportText {
			return nil, tenant.NewProblem(pb.CodePayloadTooLarge,
				"The file holds more than %d bytes of text, titles and metadata. Split it.", MaxImportText), nil
		}
		up.Items = append(up.Items, item)
	}
	return up, nil, nil
}

// maxRefusal bounds what is kept of a refusal: a reason, and where in the file.
const maxRefusal = 1000

// partRefused says which part of a file cannot be read, and why.
func partRefused(d formatreading.Document) string {
	return strings.ToValidUTF8(text.Truncate(d.Where+" "+d.Refused, maxRefusal), "")
}

// metadataOf is the metadata of a document: its author's, or otherwise that of the form, which holds for all. Notes
// from the reading of the file are added to either, as far as they do not contradict it and there is room.
func metadataOf(d formatreading.Document, form []byte) []byte {
	own := d.Metadata
	if !d.Noted {
		own = nil
		if len(d.Metadata) > 0 {
			form = d.Metadata
		}
	}
	notes := map[string]json.RawMessage{}
	if len(own) > 0 && json.Unmarshal(own, &notes) != nil {
		return form
	}
	if _, ok := notes["path"]; !ok && d.Path != "" {
		if raw, err := json.Marshal(d.Path); err == nil {
			notes["path"] = raw
		}
	}
	if len(notes) == 0 {
		return form
	}
	if len(form) > 0 && json.Unmarshal(form, &notes) != nil { // what was said comes before what was found
		return form
	}
	raw, err := json.Marshal(notes)
	if err != nil {
		return form
	}
	if all, err := canon.Object(raw); err == nil {
		return all
	}
	return form
}

// occurredIn is the time that a document says, or 0 where it says none that can be read.
func occurredIn(d formatreading.Document) int64 {
	at, err := time.Parse(time.RFC3339, d.OccurredAt)
	if err != nil {
		return 0
	}
	return cmp.Or(at.UnixMilli(), 1)
}

// ImportKey is where an entry of the import history lies, newest first.
func ImportKey(part *partition.Ref, e *pb.Import) storage.Key {
	return part.Space.Key(storage.TableImport, storage.U64Desc(uint64(e.GetCreatedMs())),
		storage.ID16(pb.JobID(e.GetId())))
}

// importJob queues the documents of an upload.
func (a *subjectActor) importJob(self *actor.PID, c *tenant.Call) {
	kind := pb.JobImport
	up, _ := c.Payload.(*upload) // importFile has put it there
	if up.entry.GetTranscript() {
		kind = pb.JobTranscript
	}
	ch := commit.New(a.org.Store)
	ch.User = c.Principal.User.Bytes()
	if err := a.trimImports(ch); err != nil {
		c.Fail(err)
		return
	}
	a.enqueue(self, c, kind, queueOf(up.Items), ch, func(job *pb.Job) (*pb.Reply, error) {
		e := up.entry
		e.Id, e.CreatedMs = job.GetId(), job.GetCreatedMs()
		ch.Put(ImportKey(a.part, e), e)
		id := pb.JobID(job.GetId()).String()
		return tenant.Accepted(job), ch.Event(a.org, pb.EventImportStarted, a.part, map[string]any{
			"importId": id, "jobId": id, "status": pb.JobPending, "nodesCreated": nil,
		})
	}, nil)
}

// trimImports drops the entries that the history no longer shows after the next one.
func (a *subjectActor) trimImports(ch *commit.Change) error {
	return a.org.WithStore(func(st *storage.Store) error {
		n := 0
		for item, err := range st.Scan(a.part.Space.Prefix(storage.TableImport), storage.ScanOptions{}) {
			if err != nil {
				return err
			}
			if n++; n >= graph.MaxImports {
				ch.Erase(item.Key) // a file's name is its owner's text
			}
		}
		return nil
	})
}

// listImports answers the most recent imports of a partition. The status of those that have not ended is that of their
// job.
func listImports(o *tenant.View, r storage.Reader, part *partition.Ref) (*pb.Reply, error) {
	list := &pb.ImportList{}
	for rec, err := range storage.ScanRecords(r, part.Space.Prefix(storage.TableImport),
		storage.ScanOptions{Limit: graph.MaxImports}, func() *pb.Import { return &pb.Import{} }) {
		if err != nil {
			return nil, err
		}
		if e := rec.Value; e.GetStatus() == "" {
			job := &pb.Job{}
			if _, err := r.Get(o.Space.Key(storage.TableJob, storage.ID16(pb.JobID(e.GetId()))), job); err != nil {
				return nil, err
			}
			e.Status = cmp.Or(job.GetStatus(), pb.JobQueued)
		}
		list.Imports = append(list.Imports, rec.Value)
	}
	return tenant.LinkReply(&pb.LinkResult{Result: &pb.LinkResult_Imports{Imports: list}}), nil
}

// JobEnded writes the end of an import's job into its entry.
func (o *Intake) JobEnded(c *commit.Change, part *partition.Ref, job *pb.Job) error {
	if job.GetType() != pb.JobImport && job.GetType() != pb.JobTranscript {
		return nil
	}
	e := &pb.Import{Id: job.GetId(), CreatedMs: job.GetCreatedMs()}
	key := ImportKey(part, e)
	found := false
	err := o.WithStore(func(st *storage.Store) (err error) {
		found, err = st.Get(key, e)
		return err
	})
	if err != nil {
		return err
	}
	if found { // the history may have moved on
		e.Status, e.Nodes, e.FinishedMs = job.GetStatus(), job.GetCreated(), job.GetFinishedMs()
		if job.GetStatus() == pb.JobFailed {
			e.Error = job.GetErrorDetail()
		}
		c.Put(key, e)
	}
	id := pb.JobID(job.GetId()).String()
	return c.Event(o, pb.EventImportFinished, part, map[string]any{
		"importId": id, "jobId": id, "status": job.GetStatus(), "nodesCreated": job.GetCreated(),
	})
}
