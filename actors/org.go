package actors

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"orgmem/actors/commit"
	"orgmem/actors/node"
	"orgmem/actors/partition"
	"orgmem/cluster"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const (
	// defaultTombstoneRetention is how long a forgotten node can be restored
	// (docs/interface.md, "Other limits").
	defaultTombstoneRetention = 30 * 24 * time.Hour
	// minTombstoneSweep bounds how often removal is looked for where the retention
	// is short, as in tests.
	minTombstoneSweep = 100 * time.Millisecond
	// openTimeout bounds the OPEN of an organization's store: an election takes
	// less.
	openTimeout = 10 * time.Second
	// maxCachedKeys and maxCachedSubjects bound what an organization's actor
	// remembers; it looks up the rest in the store (about 2 µs).
	maxCachedKeys     = 4096
	maxCachedSubjects = 4096
	// fullAgain is longer than any bucket takes to fill: forgetting the buckets
	// of a key unused for so long changes nothing.
	fullAgain = 2 * time.Minute
	// useWriteInterval is how often a key's lastUsedAt is written.
	useWriteInterval = time.Minute
	// sweepInterval is how often expired records are looked for.
	sweepInterval = 10 * time.Minute
)

// orgView is what an organization's calls share. It does not change while the
// activation lives.
type orgView struct {
	sys       *System
	id        pb.OrgID
	store     storage.StoreID
	space     storage.Space
	committer *commit.Committer
	secret    []byte
	act       *activation
	pid       *actor.PID // set when the actor starts, before anybody has the view
	main      *orgView   // of a sandbox: the organization; nil otherwise
	past      *past
	modules   []module // the features, as modulesOf lists them
}

// tell runs f in the organization's actor, soon.
func (o *orgView) tell(f func(o *orgActor)) { o.sys.root.Send(o.pid, task(f)) }

type task func(o *orgActor)

// orgActor is an organization in memory. Its fields belong to its mailbox.
type orgActor struct {
	orgView
	ctx      actor.Context
	record   *pb.Organization
	keys     map[pb.KeyHash]*keyState
	subjects map[pb.SubjectKey]*partition.Ref
	members  map[pb.UserID]*partition.Ref
	erasing  map[pb.PartitionID]bool // their erasure is being committed: of no use any more
	children map[pb.PartitionID]*child
	idem     map[idemKey]struct{} // under way
	locks    map[entity][]func()  // waiting for an entity whose change is under way
	openJobs int                  // jobs accepted or found, not finished
	kinds    map[string]jobKind   // what the modules say of kinds of job
	busy     bool                 // the directory says so
	busyWait []func(error)        // waiting for the directory to say so
	sweeping bool                 // a sweep's commit, or the pause to the next, is under way
	lastWork time.Time
	timer    clock.Timer
	failed   error // why it could not be opened
	lost     bool

	// held are the calls for memories that are being purged.
	held map[pb.PartitionID][]*call

	part *partition.Ref // the sandbox's, nil when there is none or it was not needed yet
	// Of an organization: the sandbox's actor, nil when it sleeps; and whether that
	// must be woken, because it may have unfinished jobs.
	sandbox    *child
	sandboxDue bool
	// Of a sandbox: what the organization knows it as, and what it has been sent.
	self    *child
	handled uint64
}

// child is the actor of a subject, or of the sandbox.
type child struct {
	pid   *actor.PID
	calls atomic.Int64 // handed to it and not answered
	sent  uint64       // what the organization has sent it, which only that counts
	// Of a sandbox: another has taken its place.
	replaced atomic.Bool
}

func newOrgActor(s *System, a *activation) *orgActor {
	o := &orgActor{
		keys:     map[pb.KeyHash]*keyState{},
		subjects: map[pb.SubjectKey]*partition.Ref{},
		members:  map[pb.UserID]*partition.Ref{},
		erasing:  map[pb.PartitionID]bool{},
		children: map[pb.PartitionID]*child{},
		held:     map[pb.PartitionID][]*call{},
		idem:     map[idemKey]struct{}{},
		locks:    map[entity][]func(){},
		kinds:    map[string]jobKind{},
	}
	id := storage.StoreID{Org: a.org, Realm: storage.RealmMain}
	o.orgView = orgView{sys: s, id: a.org, store: id, space: storage.OrgSpace(id), act: a}
	o.modules = modulesOf(o)
	for _, m := range o.modules {
		maps.Copy(o.kinds, m.JobKinds())
	}
	return o
}

// Receive implements actor.Actor.
func (o *orgActor) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		o.ctx, o.pid = ctx, ctx.Self()
		o.guard(func(err error) { o.failed = err }, func() { o.failed = o.open() })
		if o.failed != nil {
			say := o.sys.log.Error
			if errors.Is(o.failed, cluster.ErrRemoved) { // somebody asked for it while it was being deleted
				say = o.sys.log.Debug
			}
			say("could not open an organization", "store", o.store.String(), "err", o.failed)
			o.giveUp()
		}
		o.timer = o.sys.clock.AfterFunc(min(o.sys.cfg.IdleOrg, o.sys.tombstoneSweep()), func() { o.tell((*orgActor).passivate) })
	case *actor.Stopping:
		if o.timer != nil {
			o.timer.Stop()
		}
		o.handOver()
		o.settleUsage()
	case *actor.Stopped:
		o.sys.parts.DropStore(o.store)
	case *call:
		o.guard(func(err error) { m.org = &o.orgView; m.fail(err) }, func() { o.handle(m) })
	case *visit:
		o.guard(m.done, func() {
			switch {
			case o.lost:
				m.done(errTryAgain)
			case o.failed != nil:
				m.done(o.failed)
			default:
				m.run(o, m.done)
			}
		})
	case look: // of a sandbox
		o.handled++
		if o.failed == nil {
			o.guard(func(error) {}, func() {
				for _, m := range o.modules {
					m.Look()
				}
			})
		}
	case task:
		if o.failed == nil {
			o.guard(func(error) {}, func() { m(o) })
		}
	}
}

// guard answers a request whose handling panics, and retires the activation:
// what it remembers may be half changed.
func (o *orgActor) guard(answer func(error), f func()) {
	defer func() {
		if r := recover(); r != nil {
			o.panicked("organization actor", r)
			o.lose() // at once: nothing else may be decided by this memory
			answer(fmt.Errorf("panic: %v", r))
		}
	}()
	f()
}

// panicked ends an activation one of whose actors panicked. Nothing that it
// still tries takes effect. A call that the panic left unanswered would keep it
// in memory, so it ends when every caller has given up waiting.
func (o *orgView) panicked(who string, r any) {
	o.sys.log.Error("panicked", "actor", who, "org", o.id.String(), "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
	o.sys.notePanic(o.act.name)
	if o.committer != nil {
		o.committer.Abandon()
	}
	o.tell((*orgActor).lose)
	o.sys.clock.AfterFunc(defaultDeadline, func() { o.sys.stop(o.act) })
}

// open becomes the organization's only writer and reads its root.
func (o *orgActor) open() error {
	ctx, cancel := context.WithTimeout(o.sys.root0, openTimeout)
	defer cancel()
	// Whatever an earlier activation left in the cache may be older than the
	// store: its writes could have been applied after it lost its lease.
	o.sys.parts.DropStore(o.store)
	lease, err := o.sys.cfg.Host.OpenStore(ctx, o.store)
	if err != nil {
		return fmt.Errorf("open organization: %w", err)
	}
	o.past = newPast()
	trail, err := commit.NewTrail(o.space, o.withStore, o.flushUsageSoon, o.lastEvent)
	if err != nil {
		return fmt.Errorf("open organization: %w", err)
	}
	o.committer = commit.NewCommitter(o.sys.root0, o.sys.cfg.Host, o.store, lease, trail, o.publish, o.committed, func() { o.tell((*orgActor).lose) })
	if o.main != nil {
		err = o.openSandbox()
	} else {
		err = o.openMain()
	}
	if err == nil && o.record != nil {
		err = errors.Join(o.completeChanges(), o.resealSecrets())
	}
	if err != nil {
		return fmt.Errorf("open organization: %w", err)
	}
	if o.main == nil {
		o.act.view.Store(&o.orgView)
		// The log takes an opening as long as it takes what gaveUp writes. One that began
		// behind gaveUp's look nobody would tell to lose what it remembers.
		if !o.sys.ledHere(o.id) {
			return fmt.Errorf("open organization: %w: %w", cluster.ErrNotApplied, cluster.ErrNotLeader)
		}
	}
	o.lastWork = o.sys.clock.Now()
	if err := o.resumeJobs(); err != nil || o.record == nil {
		return err
	}
	return o.resumeModules()
}

// openMain reads the organization's root, and wakes the sandbox where it may have
// unfinished jobs.
func (o *orgActor) openMain() error {
	o.record = &pb.Organization{}
	err := o.withStore(func(st *storage.Store) error {
		found, err := st.Get(o.space.Key(storage.TableOrg), o.record)
		if err == nil && !found {
			o.record = nil // being created
		}
		return err
	})
	if err != nil || o.record == nil {
		return err
	}
	o.secret = o.record.GetSecret()
	if e, ok := o.sys.cfg.Host.Directory().Org(o.id); ok {
		o.busy = e.GetBusy()
	}
	if o.busy {
		return o.resumeSandbox()
	}
	return nil
}

// giveUp makes way after a failed opening.
func (o *orgActor) giveUp() {
	if o.main == nil {
		o.sys.retire(o.act, false)
		return
	}
	self, why := o.self, o.failed
	o.main.tell(func(o *orgActor) { o.sandboxFailed(self, why) })
}

// settleUsage is the last chance of what reads have cost.
func (o *orgActor) settleUsage() {
	if o.committer == nil || o.lost {
		return
	}
	if err := o.lastly(o.flushUsage); err != nil {
		o.sys.log.Warn("usage of the last moment was not stored", "org", o.id.String(), "err", err)
	}
}

// lastly waits for a commit in the actor's last moment, for commit.UsageDelay at most.
func (o *orgActor) lastly(submit func(done func(error))) error {
	done := make(chan error, 1)
	submit(func(err error) { done <- err })
	timer := o.sys.clock.NewTimer(commit.UsageDelay)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C():
		return context.DeadlineExceeded
	}
}

// withStore runs f with the organization's store held open. The OPEN that began
// the activation has created it: where it is missing, it was removed.
func (o *orgView) withStore(f func(*storage.Store) error) error {
	st, err := o.sys.cfg.Storage.AcquireToRead(o.store)
	if err != nil {
		return err
	}
	defer st.Release()
	return f(st)
}

// lose makes way for another activation, which will read the store anew.
func (o *orgActor) lose() {
	if o.lost {
		return
	}
	o.lost = true
	o.sys.counters.orgsLost.Add(1)
	removed := o.sys.removed(o.id)
	if o.sys.ledHere(o.id) && !removed { // else it has only moved, or is gone
		o.sys.log.Warn("organization opens again", "org", o.id.String())
	}
	o.sys.parts.DropStore(o.store)
	if o.main != nil {
		self := o.self
		o.main.tell(func(o *orgActor) {
			if o.sandbox == self { // one that was reset has lost nothing that matters
				o.lose()
			}
		})
	} else {
		o.sys.retire(o.act, false)
		if (o.busy || o.openJobs > 0 || !o.modulesIdle() || o.sandbox != nil || o.sandboxDue) && !removed && o.sys.ctx.Err() == nil {
			o.sys.wg.Go(func() { o.sys.rouse(o.id) }) // its work waits for nobody's next request
		}
	}
	// What waits for an entity goes on, to be told that the lease is lost: from here on
	// several may be at one entity at once, and none may change it.
	if o.committer != nil {
		o.committer.Retire()
	}
	waiting := o.locks
	o.locks = map[entity][]func(){}
	for _, queue := range waiting {
		for _, run := range queue {
			o.guard(func(error) {}, run)
		}
	}
}

// passivate lets an idle organization leave memory, and expired records leave the
// store.
func (o *orgActor) passivate() {
	o.expire()
	for _, m := range o.modules {
		m.Tick()
	}
	o.keepMark()
	idle := o.sys.clock.Now().Sub(o.lastWork)
	atRest := len(o.children) == 0 && o.openJobs == 0 && len(o.locks) == 0 && o.sandbox == nil && !o.sandboxDue && !o.sweeping && o.modulesQuiet() && o.modulesIdle()
	if idle >= o.sys.cfg.IdleOrg && atRest && o.full() && o.rest() {
		return
	}
	o.timer = o.sys.clock.AfterFunc(min(o.sys.cfg.IdleOrg, sweepInterval, o.sys.tombstoneSweep()), func() { o.tell((*orgActor).passivate) })
}

// rest takes an organization out of memory, and reports whether it did; a sandbox
// asks its organization for it.
func (o *orgActor) rest() bool {
	if o.main == nil {
		return o.setIdle() && o.sys.retire(o.act, true)
	}
	self, handled := o.self, o.handled
	o.main.tell(func(o *orgActor) { o.releaseSandbox(self, handled) })
	return false
}

// handle decides on one request.
func (o *orgActor) handle(c *call) {
	c.org = &o.orgView
	if o.main != nil {
		o.handleSandboxed(c)
		return
	}
	if o.lost {
		c.tryAgain.Store(true)
		c.reply(&pb.Reply{})
		return
	}
	if o.failed != nil {
		c.fail(o.failed)
		return
	}
	if o.record == nil {
		c.refuse(unauthenticated())
		return
	}
	o.lastWork = o.sys.clock.Now()
	switch {
	case !o.admit(c):
	case c.who.sandbox && !ofAccount(c.env):
		o.toSandbox(c)
	case o.checkReplay(c):
		o.marked(c, func() { o.carryOut(c) })
	}
}

// carryOut begins what an admitted request asks for.
func (o *orgActor) carryOut(c *call) {
	if op := c.env.GetRejected(); op != nil {
		c.refuse(op.GetProblem())
		return
	}
	o.dispatch(c)
}

// marked runs f, for a call that may change something, once the directory says that
// this organization may have something to bring. Where nobody listens, or it says so
// already, that is now.
func (o *orgActor) marked(c *call, f func()) {
	if !slices.ContainsFunc(o.modules, module.Listens) || o.busy || c.env.GetMethod() == methodGet {
		f()
		return
	}
	o.whenBusy(func(err error) {
		if err != nil {
			c.fail(err)
			return
		}
		if c.part == nil || o.inUse(c) {
			f()
		}
	})
}

// read answers a call from the store, in the read pool.
func (o *orgActor) read(c *call, f func(*storage.Store) (*pb.Reply, error)) {
	o.readWith(c, func(st *storage.Store, _ int) (*pb.Reply, error) { return f(st) })
}

// readWith is read for what needs the working memory of the pool's worker. Where f
// gives no reply, it has seen to it that somebody else does.
func (o *orgActor) readWith(c *call, f func(st *storage.Store, worker int) (*pb.Reply, error)) {
	o.readAs(c, node.Narrow, f)
}

// readWide is readWith for what may read all of the organization.
func (o *orgActor) readWide(c *call, f func(st *storage.Store, worker int) (*pb.Reply, error)) {
	o.readAs(c, node.Wide, f)
}

func (o *orgActor) readAs(c *call, w node.Width, f func(st *storage.Store, worker int) (*pb.Reply, error)) {
	err := o.sys.reads.Do(o.id, w, func(worker int) {
		if err := c.awaited(); err != nil { // it has waited for its turn in vain
			c.fail(err)
			return
		}
		defer func() {
			if r := recover(); r != nil { // the pool's own recovery would leave the caller waiting
				c.fail(node.PanicError("read", r))
			}
		}()
		var r *pb.Reply
		err := c.org.withStore(func(st *storage.Store) (err error) {
			r, err = f(st, worker)
			return err
		})
		if err != nil {
			c.fail(err)
			return
		}
		if r != nil {
			c.reply(r)
		}
	})
	if err != nil {
		c.fail(err)
	}
}

// child returns the partition's actor, which it makes when there is none.
func (o *orgActor) child(part *partition.Ref) *child {
	ch := o.children[part.ID]
	if ch == nil {
		ch = &child{}
		view := &o.orgView
		ch.pid = o.ctx.Spawn(actor.PropsFromProducer(func() actor.Actor { return view.sys.newSubject(view, part, ch) }, actor.WithSupervisor(stopFailed)))
		o.children[part.ID] = ch
	}
	return ch
}

// forward hands a call to the partition's actor, which answers it.
func (o *orgActor) forward(c *call, part *partition.Ref) {
	if waiting, held := o.held[part.ID]; held {
		o.held[part.ID] = append(waiting, c) // bounded by maxCallsPerOrg
		return
	}
	ch := o.child(part)
	ch.calls.Add(1)
	c.child = ch
	o.send(ch, c)
}

// send gives a child something to do. Whatever does is sent by this, so that the
// child is not released while it is on its way.
func (o *orgActor) send(ch *child, message any) {
	ch.sent++
	o.ctx.Send(ch.pid, message)
}

// accept takes in content: the job is counted before it can exist, so that the
// organization stays awake until it is finished.
func (o *orgActor) accept(c *call) {
	o.whenBusyFor(c, func() {
		o.openJobs++
		c.jobOpen = true
		o.forward(c, c.part)
	})
}

// releaseSubject lets an idle subject leave memory. handled is how much of what it
// was sent it had dealt with when it found itself idle: where there is more, it has
// work again, even if all of its calls are answered.
func (o *orgActor) releaseSubject(id pb.PartitionID, ch *child, handled uint64) {
	if o.children[id] == ch && ch.spent(handled) {
		delete(o.children, id)
		o.sys.root.Poison(ch.pid)
	}
}

// spent reports whether a child that has dealt with so much of what it was sent has
// dealt with all.
func (ch *child) spent(handled uint64) bool { return ch.sent == handled && ch.calls.Load() == 0 }

// setIdle clears the directory's busy mark and reports whether it is clear.
func (o *orgActor) setIdle() bool {
	if !o.busy && !o.markedBusy() {
		return true
	}
	// From now on a job that is accepted asks for the mark again, behind this; also
	// where this fails, for then it may have taken effect all the same.
	o.busy = false
	o.markBusy(false, func(error) {})
	return false // the next tick sees the result
}

// markedBusy reports what this node's copy of the directory says.
func (o *orgActor) markedBusy() bool {
	e, ok := o.sys.cfg.Host.Directory().Org(o.id)
	return ok && !e.GetRemoved() && e.GetBusy()
}

// keepMark marks an organization with work that is not marked: the mark of its syncer
// was not to be had, or an earlier activation, which was about to rest, has cleared it
// since this one found it.
func (o *orgActor) keepMark() {
	works := o.openJobs > 0 || !o.modulesIdle() || o.sandbox != nil || o.sandboxDue
	if o.main != nil || o.lost || !works || o.busyWait != nil || o.busy && o.markedBusy() {
		return
	}
	o.busy = false
	o.whenBusy(func(error) {}) // the next tick tries again
}

// whenBusy calls f once the directory says that this organization may have
// unfinished jobs, so that after a crash somebody finishes them.
func (o *orgActor) whenBusy(f func(error)) {
	if o.main != nil { // the directory knows of the organization, not of its sandbox
		view := &o.orgView
		o.main.tell(func(o *orgActor) {
			o.whenBusy(func(err error) { view.tell(func(*orgActor) { f(err) }) })
		})
		return
	}
	if o.busy && o.busyWait == nil {
		f(nil)
		return
	}
	o.busyWait = append(o.busyWait, f)
	if len(o.busyWait) == 1 {
		o.markBusy(true, func(err error) {
			waiting := o.busyWait
			o.busyWait = nil
			for _, f := range waiting {
				f(err)
			}
		})
	}
}

// whenBusyFor is whenBusy for a call, which fails without the mark, and where its
// partition began to be erased while it waited, here or before.
func (o *orgActor) whenBusyFor(c *call, f func()) {
	o.whenBusy(func(err error) {
		if err != nil {
			c.fail(err)
			return
		}
		if o.inUse(c) {
			f()
		}
	})
}

// markBusy writes the mark through the directory; then runs in this actor.
func (o *orgActor) markBusy(busy bool, then func(error)) {
	o.exclusive(directoryLock, func(release func()) {
		entry, ok := o.sys.cfg.Host.Directory().Org(o.id)
		if !ok || entry.GetRemoved() {
			release()
			then(cluster.ErrRemoved)
			return
		}
		next := &pb.OrgEntry{Org: entry.GetOrg(), Name: entry.GetName(), Slug: entry.GetSlug(), CreatedMs: entry.GetCreatedMs(), Busy: busy}
		o.sys.background(func(ctx context.Context) {
			err := o.sys.cfg.Host.Directory().PutOrg(ctx, next)
			o.tell(func(o *orgActor) {
				if err == nil {
					o.busy = busy
				}
				then(err)
			})
			release()
		})
	})
}

// background runs f beside the actors. Its number is bounded by maxCalls: each
// serves a call or an actor that waits for it.
func (s *System) background(f func(context.Context)) {
	s.wg.Go(func() {
		ctx, cancel := context.WithTimeout(s.root0, openTimeout)
		defer cancel()
		f(ctx)
	})
}

// tombstoneSweep is how often that is, at least.
func (s *System) tombstoneSweep() time.Duration {
	return max(s.cfg.TombstoneRetention, minTombstoneSweep)
}

// look wakes a subject's worker for what its partition needs by itself, or a sandbox
// for its connectors.
type look struct{}
