package connector

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"orgmem/actors/commit"
	"orgmem/actors/connect"
	"orgmem/actors/node"
	"orgmem/actors/partition"
	"orgmem/actors/subject"
	"orgmem/actors/tenant"
	formatreading "orgmem/brain/format/reading"
	"orgmem/brain/text"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// The connectors of an organization have one child, the syncer, which fetches for one
// of them at a time. It decides nothing: which connector is due, and what becomes of
// what was fetched, the organization decides, under the lock of connectors, so that
// each change of a connector sees the one before. What was fetched becomes the items
// of the sync's job, in the commit that also remembers what was fetched: a crash before
// it fetches once more, and one behind it loses and repeats nothing.
//
// An organization with connectors stays in memory, and marked busy in the directory:
// so the schedule goes on behind a crash, and wherever its shard moves.

const (

	// InitialDelay is how long a new or changed connector is left alone: its owner may
	// think better of it.
	InitialDelay = 5 * time.Second
	// moreSoon is the pause before what one sync had no place for is fetched.
	moreSoon = time.Minute
	// maxSyncBackOff bounds the pause behind syncs that fail: it doubles with each.
	maxSyncBackOff = 24 * time.Hour
	// syncRetry is the pause behind a sync that failed on our side.
	syncRetry = 30 * time.Second
	// SyncTimeout bounds one fetch. Connect ends the walk through a site's pages well
	// before, and returns what came; this is for what hangs.
	SyncTimeout = 30 * time.Minute
	// MaxConcurrentSyncs bounds the fetches under way on a node: one holds what connect allows,
	// at most some 200 MiB for a large repository.
	MaxConcurrentSyncs = 2
)

type (
	// syncLook says that a connector may be due.
	syncLook struct{ n uint64 }
	// syncDue ends the wait for the next connector.
	syncDue struct{}
	// syncRest is the organization's word that nothing is due before a time, in
	// milliseconds; 0: never.
	syncRest struct{ next int64 }
	// syncFetch is its word to fetch.
	syncFetch struct {
		id     pb.ConnectorID
		job    pb.JobID
		source connect.Source
		before []byte
	}
	// syncEnded says that what became of a fetch is decided, or why it is not.
	syncEnded struct{ err error }
	// syncStop ends the fetch of a job that is being cancelled.
	syncStop struct{ job pb.JobID }
)

// syncer is an organization's connector child.
type syncer struct {
	module  *Module
	org     *tenant.View
	ctx     actor.Context
	timer   clock.Timer
	seen    uint64 // the newest look
	running bool   // something is asked, fetched or decided
	again   bool   // a connector changed meanwhile
	job     pb.JobID
	stop    context.CancelFunc // of the fetch under way
	ended   chan struct{}      // closed when the fetch that runs has ended
	dead    bool
}

// Receive implements actor.Actor.
func (s *syncer) Receive(ctx actor.Context) {
	defer func() {
		if r := recover(); r != nil {
			s.dead = true
			s.halt()
			s.org.Panicked("connectors", r)
		}
	}()
	if s.dead {
		return
	}
	switch m := ctx.Message().(type) {
	case *actor.Started:
		s.ctx = ctx
	case *actor.Stopping:
		s.halt()
		if s.ended != nil {
			<-s.ended
		}
		if s.timer != nil {
			s.timer.Stop()
		}
	case syncLook:
		s.seen = max(s.seen, m.n)
		s.look()
	case syncDue:
		s.timer = nil
		s.look()
	case syncRest:
		s.running = false
		switch {
		case s.again:
			s.look()
		case m.next == 0:
			seen, self := s.seen, ctx.Self()
			s.module.InMailbox(func() { s.module.releaseSyncer(self, seen) })
		default:
			s.wait(time.UnixMilli(m.next).Sub(s.org.System.Clock.Now()))
		}
	case syncFetch:
		s.fetch(m)
	case syncStop:
		if s.stop != nil && s.job == m.job {
			s.stop()
		}
	case syncEnded:
		s.running, s.stop = false, nil
		if m.err != nil {
			if !tenant.Superseded(m.err) {
				s.org.System.Log.Error("a sync failed; it is tried again", "org", s.org.ID.String(), "err", m.err)
			}
			s.wait(syncRetry) // in vain, as a rule, where another activation goes on
			return
		}
		s.look()
	}
}

func (s *syncer) halt() {
	if s.stop != nil {
		s.stop()
	}
}

// wait looks again after a pause.
func (s *syncer) wait(d time.Duration) {
	if s.timer != nil {
		s.timer.Stop()
	}
	self, root := s.ctx.Self(), s.org.System.ActorRoot
	s.timer = s.org.System.Clock.AfterFunc(max(d, time.Millisecond), func() { root.Send(self, syncDue{}) })
}

// look asks which connector is due.
func (s *syncer) look() {
	if s.running {
		s.again = true
		return
	}
	s.running, s.again = true, false
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	self := s.ctx.Self()
	s.module.InMailbox(func() { s.module.nextSync(self) })
}

// fetch fetches beside the actor, and hands the outcome to the organization.
func (s *syncer) fetch(m syncFetch) {
	ctx, stop := context.WithCancel(s.org.System.Lifetime)
	s.stop, s.job = stop, m.job
	s.ended = make(chan struct{})
	ended, self, view := s.ended, s.ctx.Self(), s.org
	view.System.BackgroundTasks.Go(func() {
		defer close(ended)
		defer stop()
		result, err := s.module.fetchSource(ctx, m)
		s.module.InMailbox(func() { s.module.endSync(self, m, result, err) })
	})
}

func (o *Module) fetchSource(ctx context.Context, m syncFetch) (result connect.Result, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = node.PanicError("sync", r)
		}
	}()
	select {
	case o.syncs <- struct{}{}:
		defer func() { <-o.syncs }()
	case <-ctx.Done():
		return connect.Result{}, ctx.Err()
	}
	if o.System.Config.Egress == nil {
		return connect.Result{}, tenant.ErrNoEgress
	}
	// From here on, since what others fetch before it is not the source's time.
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	limit := o.System.Clock.AfterFunc(SyncTimeout, func() { stop(context.DeadlineExceeded) })
	defer limit.Stop()
	m.source.Reading = func(ctx context.Context, most int) (connect.Memory, error) {
		work, err := o.System.ReadingMemory.Begin(ctx, o.ID, formatreading.FirstMemory, most, 0)
		if err != nil {
			return connect.Memory{}, err
		}
		return connect.Memory{
			Most: min(most, o.System.ReadingMemory.Limit()), More: func(n int) error { return work.More(ctx, n, 0) },
			GoOn: ctx.Err, End: work.End,
		}, nil
	}
	o.System.Config.JobWorkBegan(pb.JobConnectorSync, func() bool { return ctx.Err() != nil })
	result, err = connect.Sync(ctx, o.System.Config.Egress, o.System.Clock, m.source, m.before)
	if errors.Is(err, context.Canceled) {
		err = context.Cause(ctx)
	}
	return result, err
}

// lookConnectors lets the syncer look whether a connector is due.
func (o *Module) lookConnectors() {
	if o.Retired || o.Record() == nil {
		return
	}
	if o.syncing == nil {
		view := &o.View
		o.syncing = o.Context.Spawn(actor.PropsFromProducer(func() actor.Actor { return &syncer{module: o, org: view} },
			actor.WithSupervisor(tenant.StopFailed)))
		o.WithBusyMark(func(error) {}) // without the mark only a crash now is not made good
	}
	o.looks++
	o.Context.Send(o.syncing, syncLook{o.looks})
}

// Resume takes up the schedule, and what a stop or a crash
// interrupted.
func (o *Module) Resume() error {
	return o.WithStore(func(st *storage.Store) error {
		for _, err := range st.Scan(o.Space.Prefix(storage.TableConnector), storage.ScanOptions{Limit: 1}) {
			if err != nil {
				return err
			}
			o.lookConnectors()
		}
		return nil
	})
}

// releaseSyncer lets a syncer go that has nothing to wait for.
func (o *Module) releaseSyncer(child *actor.PID, seen uint64) {
	if o.syncing != nil && o.syncing.Equal(child) && o.looks == seen {
		o.syncing = nil
		o.Context.Poison(child)
	}
}

func (o *Module) connectorState(id pb.ConnectorID) storage.Key {
	return o.Space.Key(storage.TableConnectorState, storage.ID16(id))
}

// eraseConnector takes a connector away with all that was remembered for it, and ends
// the sync that is under way for it. It returns that sync's job, if there is one.
func (o *Module) eraseConnector(ch *commit.Change, st *storage.Store, k *pb.Connector) ([]pb.JobID, error) {
	id := pb.ConnectorID(k.GetId())
	ch.Erase(o.ConnectorKey(id)) // its secrets leave the files too
	ch.Erase(o.connectorState(id))
	job, err := o.openSync(st, k)
	if err != nil || job == nil {
		return nil, err
	}
	job.Status, job.FinishedMs = pb.JobCancelled, clock.Millis(o.System.Clock.Now())
	return []pb.JobID{pb.JobID(job.GetId())}, tenant.EndJob(ch, &o.View, job)
}

// openSync is the job of a fetch that is under way for a connector, nil when there is
// none.
func (o *Module) openSync(r storage.Reader, k *pb.Connector) (*pb.Job, error) {
	if len(k.GetJob()) == 0 {
		return nil, nil
	}
	id, err := pb.JobIDFrom(k.GetJob())
	if err != nil {
		return nil, err
	}
	job := &pb.Job{}
	found, err := r.Get(o.Space.Key(storage.TableJob, storage.ID16(id)), job)
	if err != nil || !found || tenant.Terminal(job.GetStatus()) {
		return nil, err
	}
	return job, nil
}

// ownerOf is the partition that a connector fills, nil when its owner is gone. In the
// sandbox, which knows nobody, the organization tells who is a member.
func (o *Module) ownerOf(k *pb.Connector) (*partition.Ref, error) {
	user, err := pb.UserIDFrom(k.GetUser())
	if err != nil {
		return nil, err
	}
	if o.Main == nil {
		return o.LoadPartition(pb.PartitionID(user))
	}
	found := false
	err = o.Main.WithStore(func(st *storage.Store) (err error) {
		found, err = st.Get(o.Main.Space.Key(storage.TableMember, storage.ID16(user)), &pb.Member{})
		return err
	})
	if err != nil || !found {
		return nil, err
	}
	return o.SandboxRef()
}

// dueAt is when a connector is to be fetched for, in milliseconds; 0: never, until
// somebody asks for it.
func dueAt(k *pb.Connector, now int64) int64 {
	switch {
	case len(k.GetJob()) > 0:
		return 1
	case !k.GetEnabled():
		return 0
	}
	longest := time.Duration(k.GetIntervalS()) * time.Second
	if k.GetFailures() > 0 || k.GetLastError() != "" { // a source that gave some of its pages may ask for a pause, too
		longest = max(longest, maxSyncBackOff)
	}
	if next := k.GetNextSyncMs(); !subject.IsDue(next, now, longest) {
		return next
	}
	return max(min(k.GetNextSyncMs(), now), 1)
}

// nextSync tells the syncer to fetch for the connector that is due longest, or when
// the next one is. Connectors whose owner is gone leave on the way.
func (o *Module) nextSync(child *actor.PID) {
	o.Exclusive(tenant.ConnectorsLock, func(release func()) {
		answer := func(m any) { release(); o.System.ActorRoot.Send(child, m) }
		if o.Retired {
			answer(syncEnded{commit.ErrLost})
			return
		}
		now := clock.Millis(o.System.Clock.Now())
		var first *pb.Connector
		var owner *partition.Ref
		var ended []pb.JobID
		ch := commit.New(o.Store)
		err := o.WithStore(func(st *storage.Store) error {
			for rec, err := range storage.ScanRecords(st, o.Space.Prefix(storage.TableConnector), storage.ScanOptions{},
				func() *pb.Connector { return &pb.Connector{} }) {
				if err != nil {
					return err
				}
				k := rec.Value
				part, err := o.ownerOf(k)
				if err != nil {
					return err
				}
				if part == nil {
					jobs, err := o.eraseConnector(ch, st, k)
					if err != nil {
						return err
					}
					ended = append(ended, jobs...)
					continue
				}
				if due := dueAt(k, now); due > 0 && (first == nil || due < dueAt(first, now)) {
					first, owner = k, part
				}
			}
			return nil
		})
		switch {
		case err != nil:
			answer(syncEnded{err})
		case ch.Len() > 0:
			o.Committer.SubmitChange(ch, func(err error) {
				if err == nil {
					o.JobsEnded(ended...)
				}
				answer(syncEnded{err}) // and looks again
			})
		case first == nil:
			answer(syncRest{})
		case dueAt(first, now) > now:
			answer(syncRest{dueAt(first, now)})
		default:
			o.beginSync(child, first, owner, release)
		}
	})
}

// beginSync makes the job of a sync, or continues the job that is open.
func (o *Module) beginSync(child *actor.PID, k *pb.Connector, part *partition.Ref, release func()) {
	answer := func(m any) { release(); o.System.ActorRoot.Send(child, m) }
	id := pb.ConnectorID(k.GetId())
	var job *pb.Job
	var before []byte
	err := o.WithStore(func(st *storage.Store) (err error) {
		if job, err = o.openSync(st, k); err != nil {
			return err
		}
		before, _, err = st.GetRaw(o.connectorState(id))
		return err
	})
	opened := job == nil
	if err == nil && opened {
		job, err = o.newSync(k, part)
	}
	if err != nil {
		answer(syncEnded{err})
		return
	}
	ch := commit.New(o.Store)
	why := o.BeginAttempt(job)
	wait, waits := errors.AsType[tenant.WaitError](why)
	if job.GetStartedMs() == 0 && !waits {
		job.Status, job.StartedMs = pb.JobRunning, clock.Millis(o.System.Clock.Now())
	}
	k.Job = job.GetId()
	if opened {
		tenant.PutJob(ch.Batch, o.Space, job)
	} else {
		tenant.UpdateJob(ch.Batch, o.Space, job)
	}
	ch.Put(o.ConnectorKey(id), k)
	config, _, unread := o.UnsealConfig(k)
	m := syncFetch{
		id: id, job: pb.JobID(job.GetId()), source: connect.Source{Type: k.GetType(), Config: config},
		before: before,
	}
	o.Committer.SubmitChange(ch, func(err error) {
		o.InMailbox(func() {
			if err == nil && opened {
				o.JobOpened()
			}
			switch {
			case err != nil:
				answer(syncEnded{err})
			case waits:
				answer(syncRest{clock.Millis(o.System.Clock.Now().Add(wait.Wait))})
			case why != nil: // it ends the process
				release()
				o.endSync(child, m, connect.Result{}, why)
			case unread != nil:
				release()
				o.endSync(child, m, connect.Result{}, unread)
			default:
				answer(m)
			}
		})
	})
}

func (o *Module) newSync(k *pb.Connector, part *partition.Ref) (*pb.Job, error) {
	user, err := pb.UserIDFrom(k.GetUser())
	if err != nil {
		return nil, err
	}
	return o.NewJob(pb.JobConnectorSync, tenant.Principal{User: user}, part, 0)
}

// endSync decides what becomes of a fetch.
func (o *Module) endSync(child *actor.PID, m syncFetch, result connect.Result, failure error) {
	o.Exclusive(tenant.ConnectorsLock, func(release func()) {
		answer := func(err error) { release(); o.System.ActorRoot.Send(child, syncEnded{err}) }
		if o.Retired || o.System.Lifetime.Err() != nil {
			answer(commit.ErrLost)
			return
		}
		k, job := &pb.Connector{}, (*pb.Job)(nil)
		found := false
		err := o.WithStore(func(st *storage.Store) (err error) {
			if found, err = st.Get(o.ConnectorKey(m.id), k); err == nil && found {
				job, err = o.openSync(st, k)
			}
			return err
		})
		var part *partition.Ref
		if err == nil && found {
			part, err = o.ownerOf(k)
		}
		switch {
		case err != nil:
			answer(err)
			return
		case !found || part == nil || string(k.GetJob()) != string(m.job[:]):
			answer(nil) // deleted, or cancelled: what was fetched is nobody's
			return
		}
		if errors.Is(failure, context.Canceled) { // a stop: the next activation fetches again
			answer(commit.ErrLost)
			return
		}
		if _, held := o.CallsHeld(part.ID); held { // its memory is being purged
			release()
			o.System.Clock.AfterFunc(tenant.SweepPause, func() { o.InMailbox(func() { o.endSync(child, m, result, failure) }) })
			return
		}
		now := o.System.Clock.Now()
		k.Job, k.LastSyncMs = nil, clock.Millis(now)
		ch := commit.New(o.Store)
		ch.User = k.GetUser()
		if failure != nil {
			if !errors.Is(failure, connect.ErrSource) && !errors.Is(failure, context.DeadlineExceeded) &&
				!errors.Is(failure, tenant.ErrNoEgress) && !errors.Is(failure, tenant.ErrUnclean) &&
				!errors.Is(failure, tenant.ErrGivenUp) {
				o.System.Log.Error("a source could not be read", "org", o.ID.String(), "connector", m.id.String(), "err", failure)
			}
			o.syncFailed(k, failure, now)
			ch.Put(o.ConnectorKey(m.id), k)
			if job == nil { // its memory was purged meanwhile
				o.Committer.SubmitChange(ch, answer)
				return
			}
			if result.State != nil {
				ch.PutRaw(o.connectorState(m.id), result.State)
			}
			job.Status, job.FinishedMs, job.ErrorCode, job.ErrorDetail = pb.JobFailed, clock.Millis(now), pb.ErrorConnector,
				k.GetLastError()
			o.endSyncJob(ch, job, answer)
			return
		}
		interval := time.Duration(k.GetIntervalS()) * time.Second
		if result.More {
			interval = min(interval, moreSoon)
		}
		interval = max(interval, result.Retry)
		k.Failures, k.NextSyncMs = 0, clock.Millis(now.Add(interval))
		k.LastStatus, k.LastError, k.Documents = pb.JobSucceeded, "", uint64(result.Known)
		if result.Note != "" {
			k.LastError = "The source " + result.Note + "."
		}
		if job == nil { // what it fetched goes nowhere, and is fetched again
			k.LastStatus = pb.JobCancelled
			ch.Put(o.ConnectorKey(m.id), k)
			o.Committer.SubmitChange(ch, answer)
			return
		}
		ch.Put(o.ConnectorKey(m.id), k)
		ch.PutRaw(o.connectorState(m.id), result.State)
		if len(result.Documents) == 0 {
			job.Status, job.FinishedMs = pb.JobSucceeded, clock.Millis(now)
			o.endSyncJob(ch, job, answer)
			return
		}
		items, err := itemsOf(k, result.Documents)
		if err != nil {
			answer(err)
			return
		}
		o.NoteProgress(job) // the fetch is done; what follows is the worker's
		owner := o.Child(part)
		owner.Calls.Add(1)
		o.Send(owner, &subject.SyncedItems{Change: ch, Job: job, Items: items, Done: func(err error) {
			owner.Calls.Add(-1)
			answer(err)
		}})
	})
}

func (o *Module) endSyncJob(ch *commit.Change, job *pb.Job, answer func(error)) {
	if err := tenant.EndJob(ch, &o.View, job); err != nil {
		answer(err)
		return
	}
	view := &o.View
	o.Committer.SubmitChange(ch, func(err error) {
		if err == nil {
			view.JobsEnded(pb.JobID(job.GetId()))
		}
		answer(err)
	})
}

// syncFailed notes a failed sync, and how long its source is left alone.
func (o *Module) syncFailed(k *pb.Connector, failure error, now time.Time) {
	k.Failures++
	interval := time.Duration(k.GetIntervalS()) * time.Second
	wait := min(interval<<min(k.GetFailures()-1, 10), max(maxSyncBackOff, interval))
	wait = max(wait, connect.RetryAfter(failure))
	k.NextSyncMs = clock.Millis(now.Add(wait))
	reason := "could not be read"
	switch {
	case errors.Is(failure, connect.ErrSource):
		reason = connect.Reason(failure)
	case errors.Is(failure, context.DeadlineExceeded):
		reason = fmt.Sprintf("was not read to its end within %d minutes", int(SyncTimeout.Minutes()))
	case errors.Is(failure, tenant.ErrUnclean):
		reason = fmt.Sprintf("was given up: the service ended %d times in a row while it was read", tenant.MaxUncleanEnds)
	case errors.Is(failure, tenant.ErrSealed):
		reason = "was not asked: the connector's secrets cannot be opened any more; give it new ones"
	case errors.Is(failure, tenant.ErrNoEgress):
		reason = "cannot be reached: this deployment reaches no other hosts"
	}
	k.LastStatus = pb.JobFailed
	k.LastError = "The source " + reason + "."
	if k.GetEnabled() {
		k.LastError += " It is tried again at " + now.Add(wait).UTC().Format(time.RFC3339) + "."
	}
}

// itemsOf makes items of what a connector has fetched. A document keeps its external
// id when its text changes, so that the new text takes the old one's place.
func itemsOf(k *pb.Connector, docs []connect.Document) ([]*pb.IngestItem, error) {
	items := make([]*pb.IngestItem, 0, len(docs))
	id := pb.ConnectorID(k.GetId()).String()
	for _, d := range docs {
		about := map[string]string{"connector": k.GetName(), "connectorId": id}
		if d.Link != "" {
			about["url"] = d.Link
		}
		metadata, err := json.Marshal(about)
		if err != nil {
			return nil, err
		}
		items = append(items, &pb.IngestItem{
			Content: d.Content, Title: text.OneLine(d.Title), ExternalId: connectorExternalID(id, d.ID),
			OccurredMs: d.OccurredMs, Metadata: metadata, Source: pb.SourceConnector,
		})
	}
	return items, nil
}

// maxConnectorID bounds what an external id quotes of a document's own; the interface
// takes 512 bytes.
const maxConnectorID = 400

func connectorExternalID(connector, id string) string {
	id = strings.ToValidUTF8(id, "?")
	if len(id) > maxConnectorID {
		sum := sha256.Sum256([]byte(id))
		id = hex.EncodeToString(sum[:])
	}
	return "connector/" + connector + "/" + id
}

// syncConnector begins a sync at once, or names the one that is under way.
func (o *Module) syncConnector(c *tenant.Call, op *pb.SyncConnector) {
	o.WithBusyMarkFor(c, func() {
		o.changeConnector(c, op.GetId(), func(k *pb.Connector, release func()) {
			var job *pb.Job
			err := o.WithStore(func(st *storage.Store) (err error) {
				job, err = o.openSync(st, k)
				return err
			})
			if err == nil && job != nil {
				release()
				c.Reply(tenant.Accepted(job))
				return
			}
			var part *partition.Ref
			if err == nil {
				part, err = o.ownerOf(k)
			}
			if err == nil && part == nil {
				release()
				c.Refuse(connectorNotFound())
				return
			}
			if err == nil {
				job, err = o.newSync(k, part)
			}
			if err != nil {
				release()
				c.Fail(err)
				return
			}
			k.Job = job.GetId()
			ch := commit.New(o.Store)
			tenant.PutJob(ch.Batch, o.Space, job)
			ch.Put(o.ConnectorKey(pb.ConnectorID(k.GetId())), k)
			ch.Audit(c.AuditOf("connector.sync", pb.ConnectorID(k.GetId()).String()))
			o.commitSync(c, ch, release, func() {
				o.JobOpened()
				o.lookConnectors()
				c.Reply(tenant.Accepted(job))
			})
		})
	})
}

// commitSync commits what a caller did to a sync; then answers.
func (o *Module) commitSync(c *tenant.Call, ch *commit.Change, release func(), then func()) {
	o.Committer.SubmitChange(ch, func(err error) {
		o.InMailbox(func() {
			release()
			if err != nil {
				c.Fail(err)
				return
			}
			then()
		})
	})
}

// stopSync ends a fetch whose job has ended.
func (o *Module) stopSync(id pb.JobID) {
	if o.syncing != nil {
		o.Context.Send(o.syncing, syncStop{id})
	}
}

// cancelSync ends a sync that is fetching; behind that its items are the worker's.
func (o *Module) cancelSync(c *tenant.Call, id pb.JobID) {
	o.Exclusive(tenant.ConnectorsLock, func(release func()) {
		job, k := &pb.Job{}, (*pb.Connector)(nil)
		err := o.WithStore(func(st *storage.Store) error {
			if _, err := st.Get(o.Space.Key(storage.TableJob, storage.ID16(id)), job); err != nil {
				return err
			}
			all, err := o.connectors(st, c.Principal)
			for _, one := range all {
				if string(one.GetJob()) == string(id[:]) {
					k = one
				}
			}
			return err
		})
		switch {
		case err != nil:
			release()
			c.Fail(err)
			return
		case k == nil || tenant.Terminal(job.GetStatus()):
			release()
			c.Refuse(tenant.NotCancellable(job)) // it has just ended, or is the worker's
			return
		}
		now := o.System.Clock.Now()
		k.Job, k.LastStatus, k.LastError = nil, pb.JobCancelled, ""
		k.LastSyncMs, k.NextSyncMs = clock.Millis(now), clock.Millis(now.Add(time.Duration(k.GetIntervalS())*time.Second))
		job.Status, job.FinishedMs = pb.JobCancelled, clock.Millis(now)
		ch := commit.New(o.Store)
		ch.Put(o.ConnectorKey(pb.ConnectorID(k.GetId())), k)
		ch.Audit(c.AuditOf("job.cancel", id.String()))
		if err := tenant.EndJob(ch, &o.View, job); err != nil {
			release()
			c.Fail(err)
			return
		}
		o.commitSync(c, ch, release, func() {
			o.stopSync(id)
			o.JobsEnded(id)
			c.Reply(&pb.Reply{Result: &pb.Reply_Job{Job: &pb.JobInfo{Job: job}}})
		})
	})
}
