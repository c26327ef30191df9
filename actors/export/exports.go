package export

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"orgmem/actors/commit"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// Format is the format of all documents.
const Format = "json"

const (
	// DefaultExportRetention is how long a document can be downloaded (docs/export.md).
	DefaultExportRetention = 7 * 24 * time.Hour
	// maxOpenExports bounds an organization's exports that are queued or running,
	// one of which is written at a time: it shares the commit and the disk with
	// everything else.
	maxOpenExports = 20
	// MaxKeptExports bounds the documents that an organization keeps, each of which
	// may be as large as its memory; the oldest expires for a new one.
	MaxKeptExports = 50
	// MaxEndedExports bounds the records of exports that have expired or failed: all
	// of them are read when one is asked for and when something is forgotten, some
	// 2 µs each. The oldest leave for a new one.
	MaxEndedExports = 200
)

// Run is an export that is queued or being written. Its fields are guarded
// by Module.mu, but for the first three, which do not change.
type Run struct {
	ID   pb.ExportID
	part *partition.Ref // whose memory; for the whole organization nil
	user pb.UserID
	// stale says that something it may hold was forgotten since it was begun; gone,
	// that nobody is to have it any more.
	stale, Gone bool
	cancel      context.CancelFunc // nil while it is queued
	// finished is its record when the last commit is on its way: from then on it is
	// what the store says.
	finished *pb.Export
}

// mayHold reports whether an export may hold something of a partition's memory: it
// is of that memory, or of the organization and did not read its memories before
// the partition was there. The numbers of events tell, and not clocks: those of two
// nodes may differ.
func mayHold(e *pb.Export, part *partition.Ref) bool {
	if e.GetScope() != pb.ExportScopeOrg {
		return string(e.GetPartition()) == string(part.ID[:])
	}
	return e.GetSeen() == 0 || part.Born <= e.GetSeen()
}

// Key is the key of an export's record.
func Key(space storage.Space, id pb.ExportID) storage.Key {
	return space.Key(storage.TableExport, storage.ID16(id))
}

func exportPieces(space storage.Space, id pb.ExportID) storage.Range {
	return space.Prefix(storage.TableExportPiece, storage.ID16(id))
}

// KeyByTime is the key of an export in the index that lists the newest first.
func KeyByTime(space storage.Space, e *pb.Export) storage.Key {
	return space.Key(storage.TableExportByTime, storage.U64Desc(uint64(e.GetCreatedMs())),
		storage.ID16(pb.ExportID(e.GetId())))
}

// Module writes an organization's exports, one at a time. It stands between those
// who write documents and those who forget: an export that holds what was forgotten ends
// with it, in one commit, and one that is being written begins anew.
type Module struct {
	*tenant.Org
	tenant.NoModule
	retention time.Duration // how long an export can be downloaded
	Mu        sync.Mutex
	Runs      map[pb.ExportID]*Run // the exports that are not finished
}

// Feature is what a node has once for exports.
type Feature struct {
	tenant.NoFeature
	retention time.Duration
}

// New makes the feature of a node. A retention of zero in the configuration means DefaultExportRetention.
func New(cfg *tenant.Config) Feature {
	return Feature{retention: cmp.Or(cfg.ExportRetention, DefaultExportRetention)}
}

// Module makes the module of an organization.
func (f Feature) Module(o *tenant.Org) tenant.Module {
	return &Module{Org: o, retention: f.retention, Runs: map[pb.ExportID]*Run{}}
}

// Handle begins what a request about exports asks for. It reports whether the request is one of this module's.
func (o *Module) Handle(c *tenant.Call) bool {
	switch op := c.Env.GetData().GetOp().(type) {
	case *pb.DataOp_CreateExport:
		o.createExport(c, op.CreateExport)
	case *pb.DataOp_ListExports:
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) { return o.listExports(st, c, op.ListExports) })
	case *pb.DataOp_GetExport:
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) { return o.getExport(st, c, op.GetExport.GetId(), false) })
	case *pb.DataOp_DownloadExport:
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) {
			return o.downloadExport(st, c, op.DownloadExport.GetId())
		})
	default:
		return false
	}
	return true
}

// Sweep ends documents whose time is over.
func (o *Module) Sweep(st *storage.Store, b *storage.Batch, _ time.Time) (int, error) {
	return 0, o.sweepExports(b, st)
}

// JobKinds has the job of an export, which is the module's from its begin to its end.
func (o *Module) JobKinds() map[string]tenant.JobKind {
	return map[string]tenant.JobKind{pb.JobExport: {
		Resume: func(job *pb.Job) (bool, error) { return true, o.resumeExport(pb.ExportID(job.GetId())) },
		Cancel: func(c *tenant.Call, job *pb.Job) bool { o.cancelExport(c, job); return true },
	}}
}

// createExport queues an export and answers 202.
func (o *Module) createExport(c *tenant.Call, op *pb.CreateExport) {
	scope, part := pb.ExportScopeUser, c.Part
	if op.GetOrgScope() {
		scope = pb.ExportScopeOrg
		if c.Env.GetHasSubject() {
			c.Refuse(tenant.NewProblem(pb.CodePermissionDenied, "A subject cannot export the organization."))
			return
		}
	}
	o.WithBusyMarkFor(c, func() {
		o.Exclusive(tenant.ExportsLock, func(release func()) {
			if !o.StillInUse(c) {
				release()
				return
			}
			fail := func(err error) { release(); c.Fail(err) }
			stored, err := o.storedExports()
			if err != nil {
				fail(err)
				return
			}
			open, kept, ended := 0, []*pb.Export{}, []*pb.Export{}
			for _, e := range stored {
				switch e.GetStatus() {
				case pb.ExportQueued, pb.ExportRunning:
					open++
				case pb.ExportSucceeded:
					kept = append(kept, e)
				default:
					ended = append(ended, e)
				}
			}
			if open >= maxOpenExports {
				fail(commit.ErrQueueFull)
				return
			}
			job, err := o.NewJob(pb.JobExport, c.Principal, part, 1)
			if err != nil {
				fail(err)
				return
			}
			job.Trace = c.RecordedTrace()
			e := &pb.Export{
				Id: job.GetId(), User: c.Principal.User.Bytes(), Scope: scope, Status: pb.ExportQueued,
				Format: Format, CreatedMs: job.GetCreatedMs(),
			}
			if scope == pb.ExportScopeUser {
				e.Partition = part.ID.Bytes()
			}
			ch := commit.New(o.Store)
			for ; len(kept)+open >= MaxKeptExports && len(kept) > 0; kept = kept[:len(kept)-1] {
				expireExport(ch.Batch, o.Space, kept[len(kept)-1], job.GetCreatedMs())
			}
			for ; len(ended) >= MaxEndedExports; ended = ended[:len(ended)-1] {
				removeExport(ch.Batch, o.Space, ended[len(ended)-1])
			}
			ch.Put(Key(o.Space, pb.ExportID(e.GetId())), e)
			ch.PutRaw(KeyByTime(o.Space, e), nil)
			tenant.PutJob(ch.Batch, o.Space, job)
			ch.Audit(c.AuditOf("export.create", pb.ExportID(e.GetId()).String()))
			r := &pb.Reply{Status: 202, Result: &pb.Reply_Data{Data: &pb.DataResult{Result: &pb.DataResult_Export{Export: e}}}}
			c.SettleJob(ch, r, release, func() { o.queueExport(e) })
		})
	})
}

// storedExports reads all exports, newest first: at most MaxKeptExports,
// MaxEndedExports, and what has expired for the last ones.
func (o *Module) storedExports() (all []*pb.Export, err error) {
	err = o.WithStore(func(st *storage.Store) (err error) {
		all, err = o.readExports(st)
		return err
	})
	return all, err
}

func (o *Module) readExports(r storage.Reader) (all []*pb.Export, err error) {
	for rec, err := range storage.ScanRecords(r, o.Space.Prefix(storage.TableExport), storage.ScanOptions{},
		func() *pb.Export { return &pb.Export{} }) {
		if err != nil {
			return nil, fmt.Errorf("read exports: %w", err)
		}
		all = append(all, rec.Value)
	}
	slices.SortFunc(all, func(a, b *pb.Export) int { return cmp.Compare(b.GetCreatedMs(), a.GetCreatedMs()) })
	return all, nil
}

// expireExport ends a document: its record stays, its bytes go.
func expireExport(b *storage.Batch, space storage.Space, e *pb.Export, now int64) {
	e.Status, e.ExpiresMs = pb.ExportExpired, min(e.GetExpiresMs(), now)
	id := pb.ExportID(e.GetId())
	b.Put(Key(space, id), e)
	b.EraseRange(exportPieces(space, id))
}

// removeExport deletes an export as if it had never been.
func removeExport(b *storage.Batch, space storage.Space, e *pb.Export) {
	id := pb.ExportID(e.GetId())
	b.Erase(Key(space, id))
	b.Delete(KeyByTime(space, e))
	b.EraseRange(exportPieces(space, id))
}

// concerning says which exports may hold something of a memory, nil for all memories.
func concerning(part *partition.Ref) func(*pb.Export) bool {
	return func(e *pb.Export) bool { return part == nil || mayHold(e, part) }
}

// Forgetting ends the documents that may hold what is forgotten.
func (o *Module) Forgetting(b *storage.Batch, r storage.Reader, part *partition.Ref) error {
	return o.expireExports(b, r, concerning(part))
}

// expireExports ends, in the batch of what forgets, the documents that may hold
// it, and sends those that are being written back to their begin. After the
// commit forgot is called: a document that was begun in between has seen what is
// forgotten. concerns says which exports are meant; it is called under a lock.
func (o *Module) expireExports(b *storage.Batch, r storage.Reader, concerns func(*pb.Export) bool) error {
	o.Mu.Lock()
	defer o.Mu.Unlock()
	stored, err := o.readExports(r)
	if err != nil {
		return err
	}
	for _, e := range stored {
		run := o.Runs[pb.ExportID(e.GetId())]
		if run != nil && run.finished != nil {
			e = run.finished
		}
		if !concerns(e) {
			continue
		}
		switch {
		case e.GetStatus() == pb.ExportSucceeded:
			expireExport(b, o.Space, e, clock.Millis(o.System.Clock.Now()))
		case run != nil:
			run.stale = true
		}
	}
	return nil
}

// Forgot sends documents back to their begin that may hold what is forgotten.
func (o *Module) Forgot(part *partition.Ref) {
	concerns := concerning(part)
	o.Mu.Lock()
	defer o.Mu.Unlock()
	for id, run := range o.Runs {
		e := &pb.Export{Id: id[:], Scope: pb.ExportScopeOrg}
		if run.part != nil {
			e.Scope, e.Partition = pb.ExportScopeUser, run.part.ID.Bytes()
		}
		if run.finished == nil && concerns(e) {
			run.stale = true
		}
	}
}

// CountHolding counts the documents that may hold something of a memory, nil for all.
func (o *Module) CountHolding(r storage.Reader, part *partition.Ref) (n uint64, err error) {
	stored, err := o.readExports(r)
	concerns := concerning(part)
	for _, e := range stored {
		if e.GetStatus() == pb.ExportSucceeded && concerns(e) {
			n++
		}
	}
	return n, err
}

// ErasePartition removes the exports of a memory that is erased, those of the
// organization that its member has begun, and ends the documents of others that
// hold it.
func (o *Module) ErasePartition(ref *partition.Ref) error {
	b := storage.NewBatch(o.Store)
	err := o.WithStore(func(st *storage.Store) error {
		stored, err := o.readExports(st)
		if err != nil {
			return err
		}
		o.Mu.Lock()
		for _, e := range stored {
			own := string(e.GetPartition()) == string(ref.ID[:])
			begun := string(e.GetUser()) == string(ref.ID[:]) &&
				(e.GetStatus() == pb.ExportQueued || e.GetStatus() == pb.ExportRunning)
			if !own && !begun {
				continue
			}
			removeExport(b, o.Space, e)
			id := pb.ExportID(e.GetId())
			if run := o.Runs[id]; run != nil && run.finished == nil {
				run.Gone = true
				if run.cancel != nil {
					run.cancel()
				}
				delete(o.Runs, id)
			}
		}
		o.Mu.Unlock()
		return o.expireExports(b, st, func(e *pb.Export) bool { return e.GetScope() == pb.ExportScopeOrg && mayHold(e, ref) })
	})
	if err != nil || b.Len() == 0 {
		return err
	}
	return o.Committer.Commit(b)
}

// mayReadExport reports whether an export is the caller's. One of a memory belongs to
// those who act for that memory; one of the organization to the user who made it,
// with any key that reads: making it takes admin, and not having it.
func mayReadExport(c *tenant.Call, e *pb.Export) bool {
	if e.GetScope() == pb.ExportScopeOrg {
		return !c.Env.GetHasSubject() && bytes.Equal(e.GetUser(), c.Principal.User[:])
	}
	return string(e.GetPartition()) == string(c.Part.ID[:])
}

// shown is an export as its clients see it: it expires at its time, whenever the
// sweep comes, and what has expired has not yet to do so (an earlier version left
// the time standing).
func (o *Module) shown(e *pb.Export) *pb.Export {
	now := clock.Millis(o.System.Clock.Now())
	if e.GetStatus() == pb.ExportSucceeded && now >= e.GetExpiresMs() {
		e.Status = pb.ExportExpired
	}
	if e.GetStatus() == pb.ExportExpired {
		e.ExpiresMs = min(e.GetExpiresMs(), now)
	}
	return e
}

func exportNotFound() *pb.Problem {
	return tenant.NewProblem(pb.CodeExportNotFound, "There is no such export of yours.")
}

// findExport returns an export that the caller may read, or nil.
func (o *Module) findExport(r storage.Reader, c *tenant.Call, id string) (*pb.Export, error) {
	exportID, err := pb.ParseExportID(id)
	if err != nil {
		return nil, nil //nolint:nilerr // what is no id names no export
	}
	e := &pb.Export{}
	found, err := r.Get(Key(o.Space, exportID), e)
	if err != nil || !found || !mayReadExport(c, e) {
		return nil, err
	}
	return o.shown(e), nil
}

// getExport answers one export; for a download, also where its pieces lie.
func (o *Module) getExport(st *storage.Store, c *tenant.Call, id string, download bool) (*pb.Reply, error) {
	e, err := o.findExport(st, c, id)
	switch {
	case err != nil:
		return nil, err
	case e == nil:
		return tenant.Refuse(exportNotFound()), nil
	case !download:
		return &pb.Reply{Result: &pb.Reply_Data{Data: &pb.DataResult{Result: &pb.DataResult_Export{Export: e}}}}, nil
	case e.GetStatus() == pb.ExportExpired:
		return tenant.Refuse(tenant.NewProblem(pb.CodeExportNotReady,
			"The export has expired, or something in it was forgotten; ask for a new one.")), nil
	case e.GetStatus() != pb.ExportSucceeded:
		return tenant.Refuse(tenant.NewProblem(pb.CodeExportNotReady, "The export is %s.", e.GetStatus())), nil
	}
	e.Org, e.Realm = o.Store.Org.Bytes(), uint32(o.Store.Realm)
	return &pb.Reply{Result: &pb.Reply_Data{Data: &pb.DataResult{Result: &pb.DataResult_Download{Download: e}}}}, nil
}

// listExports pages through the exports that the caller may read, newest first.
func (o *Module) listExports(r storage.Reader, c *tenant.Call, op *pb.ListExports) (*pb.Reply, error) {
	all := o.Space.Prefix(storage.TableExportByTime)
	admin := "" // nothing depends on it any more, but cursors of the version before are sealed with it
	if !c.Env.GetHasSubject() && tenant.Grants(c.Principal.Scopes, pb.ScopeAdmin) {
		admin = pb.ScopeAdmin
	}
	kind := tenant.CursorKind{List: "exports", Filters: admin, Partition: c.Part.ID}
	entries, next, p, err := tenant.PageOfKeys(&o.View, r, all, kind, op.GetPage(), tenant.MaxRecordsPerPage,
		func(item storage.Item) (*pb.Export, bool, error) {
			parts := item.Key.Parts()
			parts.U64Desc()
			id := pb.ExportID(parts.ID16())
			if err := parts.Done(); err != nil {
				return nil, false, err
			}
			e := &pb.Export{}
			found, err := r.Get(Key(o.Space, id), e)
			if err != nil || !found || !mayReadExport(c, e) {
				return nil, false, err
			}
			return o.shown(e), true, nil
		})
	if p != nil {
		return tenant.Refuse(p), nil
	}
	return &pb.Reply{Result: &pb.Reply_Data{Data: &pb.DataResult{Result: &pb.DataResult_Exports{
		Exports: &pb.ExportList{Exports: entries, NextCursor: next},
	}}}}, err
}

// ErrGone means that a document ended while it was sent.
var ErrGone = errors.New("the export has ended")

// ReadPiece returns one piece of an export's document, counted from 0, where the organization lives on this node. It
// fails with ErrGone when the document has ended, is another one by now, or has no such piece.
func ReadPiece(ctx context.Context, s *tenant.System, e *pb.Export, piece uint32) (data []byte, err error) {
	org, err := pb.OrgIDFrom(e.GetOrg())
	if err != nil {
		return nil, fmt.Errorf("export piece: %w", err)
	}
	id, err := pb.ExportIDFrom(e.GetId())
	if err != nil {
		return nil, fmt.Errorf("export piece: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("export piece: %w", err)
	}
	store := storage.StoreID{Org: org, Realm: storage.Realm(e.GetRealm())}
	st, err := s.Config.Storage.AcquireToRead(store)
	if err != nil {
		return nil, fmt.Errorf("export piece: %w", err)
	}
	defer st.Release()
	space := storage.OrgSpace(store)
	now := &pb.Export{}
	found, err := st.Get(Key(space, id), now)
	if err == nil && (!found || now.GetStatus() != pb.ExportSucceeded || now.GetSha256() != e.GetSha256()) {
		err = ErrGone
	}
	if err == nil {
		data, found, err = st.GetRaw(pieceKey(space, id, piece))
		if err == nil && !found {
			err = ErrGone
		}
	}
	if err != nil {
		return nil, fmt.Errorf("export piece: %w", err)
	}
	return data, nil
}

func pieceKey(space storage.Space, id pb.ExportID, n uint32) storage.Key {
	return space.Key(storage.TableExportPiece, storage.ID16(id), storage.U32(n))
}

// cancelExport ends a job of type export: the document is given up.
func (o *Module) cancelExport(c *tenant.Call, job *pb.Job) {
	id := pb.ExportID(job.GetId())
	o.Exclusive(tenant.ExportsLock, func(release func()) {
		o.Mu.Lock()
		run := o.Runs[id]
		if run == nil || run.finished != nil {
			o.Mu.Unlock()
			release()
			c.Refuse(tenant.NotCancellable(job)) // it has just ended
			return
		}
		run.Gone = true
		if run.cancel != nil {
			run.cancel()
		}
		delete(o.Runs, id)
		o.Mu.Unlock()
		e := &pb.Export{}
		err := o.WithStore(func(st *storage.Store) error {
			_, err := st.Get(Key(o.Space, id), e)
			return err
		})
		if err != nil {
			release()
			c.Fail(err)
			return
		}
		now := clock.Millis(o.System.Clock.Now())
		e.Status, e.Error, e.FinishedMs = pb.ExportFailed, pb.JobCancelled, now
		job.Status, job.FinishedMs = pb.JobCancelled, now
		ch := commit.New(o.Store)
		ch.Put(Key(o.Space, id), e)
		ch.EraseRange(exportPieces(o.Space, id))
		if err := tenant.EndJob(ch, &o.View, job); err != nil {
			release()
			c.Fail(err)
			return
		}
		ch.Audit(c.AuditOf("job.cancel", pb.JobID(id).String()))
		o.Committer.SubmitChange(ch, func(err error) {
			o.InMailbox(func() {
				release()
				if err != nil {
					// The export continues.
					o.queueExport(&pb.Export{Id: e.GetId(), User: e.GetUser(), Scope: e.GetScope(), Partition: e.GetPartition()})
					c.Fail(err)
					return
				}
				o.JobsEnded(pb.JobID(id))
				o.nextExport()
				c.Reply(&pb.Reply{Result: &pb.Reply_Job{Job: &pb.JobInfo{Job: job}}})
			})
		})
	})
}

// sweepExports ends documents whose time is over, and forgets those that ended
// long ago.
func (o *Module) sweepExports(b *storage.Batch, st *storage.Store) error {
	stored, err := o.readExports(st)
	if err != nil {
		return err
	}
	now := o.System.Clock.Now()
	for _, e := range stored {
		switch {
		case e.GetStatus() == pb.ExportSucceeded && clock.Millis(now) >= e.GetExpiresMs():
			expireExport(b, o.Space, e, clock.Millis(now))
		case e.GetStatus() != pb.ExportSucceeded && e.GetFinishedMs() != 0 &&
			e.GetFinishedMs() < now.Add(-tenant.JobRetention).UnixMilli():
			removeExport(b, o.Space, e)
		}
	}
	return nil
}

// downloadExport answers where an export's document lies, behind a commit that says who
// asked for it. On a full disk the document can be had all the same: what is in it is the
// caller's, and may be what makes room.
func (o *Module) downloadExport(st *storage.Store, c *tenant.Call, id string) (*pb.Reply, error) {
	r, err := o.getExport(st, c, id, true)
	if err != nil || r.GetProblem() != nil {
		return r, err
	}
	ch := commit.New(o.Store)
	ch.Audit(c.AuditOf(pb.ActionExportDownload, strings.ToLower(id)))
	o.Committer.SubmitChange(ch, func(err error) {
		switch {
		case errors.Is(err, storage.ErrNoSpace):
			o.System.Log.Warn("a download is not in the trail: the disk is nearly full", "org", o.ID.String(),
				"request_id", c.Env.GetRequestId())
			c.Reply(r)
		case err != nil:
			c.Fail(err)
		default:
			c.Reply(r)
		}
	})
	return nil, nil
}
