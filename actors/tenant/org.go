package tenant

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"orgmem/actors/commit"
	"orgmem/actors/node"
	"orgmem/actors/partition"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/tracing"
	"orgmem/storage"
)

const (
	// DefaultTombstoneRetention is how long a forgotten node can be restored
	// (docs/interface.md, "Other limits").
	DefaultTombstoneRetention = 30 * 24 * time.Hour
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
	// BucketRefillTime is longer than any bucket takes to fill: forgetting the buckets
	// of a key unused for so long changes nothing.
	BucketRefillTime = 2 * time.Minute
	// LastUsedInterval is how often a key's lastUsedAt is written.
	LastUsedInterval = time.Minute
	// SweepInterval is how often expired records are looked for.
	SweepInterval = 10 * time.Minute
)

// View is what an organization's calls share. It does not change while the
// activation lives.
type View struct {
	Mailbox

	System         *System
	ID             pb.OrgID
	Store          storage.StoreID
	Space          storage.Space
	Committer      *commit.Committer
	Secret         []byte
	Activation     *Activation
	Residents      *partition.Residents // the partitions that are in memory
	Main           *View                // of a sandbox: the organization; nil otherwise
	outcomesBefore *past
	Modules        Modules // one of each feature of the node, in their order
}

// Org is an organization in memory. Its fields belong to its mailbox.
type Org struct {
	View
	keyring
	roster
	locks
	busyMark
	sandboxHost
	children
	openJobs
	sweeper
	residence
	inSandbox

	record          *pb.Organization
	replaysInFlight map[IdemKey]struct{} // under way
	Failed          error                // why it could not be opened
	Retired         bool
}

// Record is the organization as its store has it. Nobody changes it: SetRecord takes another.
func (o *Org) Record() *pb.Organization { return o.record }

// SetRecord says that the organization is another now, behind the commit that made it so.
func (o *Org) SetRecord(next *pb.Organization) { o.record, o.Secret = next, next.GetSecret() }

func newOrgActor(s *System, a *Activation) *Org {
	o := &Org{replaysInFlight: map[IdemKey]struct{}{}}
	id := storage.StoreID{Org: a.org, Realm: storage.RealmMain}
	o.View = View{
		Mailbox: Mailbox{root: s.ActorRoot}, System: s, ID: a.org, Store: id, Space: storage.OrgSpace(id),
		Activation: a,
	}
	o.keyring = keyring{view: &o.View, keys: map[pb.KeyHash]*keyState{}}
	o.roster = roster{
		view: &o.View, subjects: map[pb.SubjectKey]*partition.Ref{}, members: map[pb.UserID]*partition.Ref{},
		erasing: map[pb.PartitionID]bool{},
	}
	o.locks = locks{mailbox: &o.Mailbox, waiting: map[LockKey][]func(){}}
	o.children = children{
		org: o, actors: map[pb.PartitionID]*Child{}, heldCalls: map[pb.PartitionID][]*Call{},
	}
	o.busyMark = busyMark{org: o}
	o.sandboxHost, o.inSandbox = sandboxHost{org: o}, inSandbox{org: o}
	o.openJobs, o.sweeper = openJobs{org: o, kinds: map[string]JobKind{}}, sweeper{org: o}
	o.residence = residence{org: o}
	o.Residents = s.Memory.NewResidents(id, o.partitionRead)
	o.Modules = modulesOf(o)
	for _, m := range o.Modules {
		maps.Copy(o.kinds, m.JobKinds())
	}
	return o
}

// Receive implements actor.Actor.
func (o *Org) Receive(ctx actor.Context) {
	switch m := ctx.Message().(type) {
	case *actor.Started:
		o.Context, o.PID = ctx, ctx.Self()
		o.guard(func(err error) { o.Failed = err }, func() { o.Failed = o.open() })
		if o.Failed != nil {
			say := o.System.Log.Error
			if errors.Is(o.Failed, wire.ErrRemoved) { // somebody asked for it while it was being deleted
				say = o.System.Log.Debug
			}
			say("could not open an organization", "store", o.Store.String(), "err", o.Failed)
			o.retireUnopened()
		}
		o.timer = o.System.Clock.AfterFunc(min(o.System.Config.IdleOrg, o.System.tombstoneSweep()), func() {
			o.send(idleTick{})
		})
	case *actor.Stopping:
		if o.timer != nil {
			o.timer.Stop()
		}
		o.handOver()
		o.settleUsage()
	case *actor.Stopped:
		o.Residents.Close()
	case *Call:
		o.guard(func(err error) { m.Org = &o.View; m.Fail(err) }, func() { o.Handle(m) })
	case *Visit:
		o.guard(m.Done, func() {
			switch {
			case o.Retired:
				m.Done(ErrTryAgain)
			case o.Failed != nil:
				m.Done(o.Failed)
			default:
				m.Run(o, m.Done)
			}
		})
	case WakeMessage: // of a sandbox
		o.handled++
		if o.Failed == nil {
			o.guard(func(error) {}, func() {
				for _, m := range o.Modules {
					m.SandboxWoken()
				}
			})
		}
	case message:
		if o.Failed == nil {
			o.guard(func(error) {}, func() { m.apply(o) })
		}
	}
}

// guard answers a request whose handling panics, and retires the activation:
// what it remembers may be half changed.
func (o *Org) guard(answer func(error), f func()) {
	defer func() {
		if r := recover(); r != nil {
			o.Panicked("organization actor", r)
			o.Retire() // at once: nothing else may be decided by this memory
			answer(fmt.Errorf("panic: %v", r))
		}
	}()
	f()
}

// Panicked ends an activation one of whose actors panicked. Nothing that it
// still tries takes effect. A call that the panic left unanswered would keep it
// in memory, so it ends when every caller has given up waiting.
func (o *View) Panicked(who string, r any) {
	o.System.Log.Error("panicked", "actor", who, "org", o.ID.String(), "panic", fmt.Sprint(r),
		"stack", string(debug.Stack()))
	o.System.recordPanic(o.Activation.Name)
	if o.Committer != nil {
		o.Committer.Abandon()
	}
	o.AskRetire()
	o.System.Clock.AfterFunc(DefaultDeadline, func() { o.System.stop(o.Activation) })
}

// open becomes the organization's only writer and reads its root.
func (o *Org) open() error {
	ctx, cancel := context.WithTimeout(o.System.BaseContext, openTimeout)
	defer cancel()
	lease, err := o.System.Config.Host.OpenStore(ctx, o.Store)
	if err != nil {
		return fmt.Errorf("open organization: %w", err)
	}
	o.outcomesBefore = newPast()
	trail, err := commit.NewTrail(o.Space, o.WithStore, o.FlushUsageSoon, o.Modules.lastEvent)
	if err != nil {
		return fmt.Errorf("open organization: %w", err)
	}
	o.Committer = commit.NewCommitter(o.System.BaseContext, o.System.Config.Host, o.System.Config.Tracer, o.Store, lease,
		trail, o.Modules.publish, o.Modules.committed, o.AskRetire)
	if o.Main != nil {
		err = o.openSandbox()
	} else {
		err = o.openMain()
	}
	if err == nil && o.record != nil {
		err = errors.Join(o.Modules.complete(), o.resealSecrets())
	}
	if err != nil {
		return fmt.Errorf("open organization: %w", err)
	}
	if o.Main == nil {
		o.Activation.view.Store(&o.View)
		// The log takes an opening as long as it takes what shardLost writes. One that began
		// behind shardLost's look nobody would tell to lose what it remembers.
		if !o.System.ledHere(o.ID) {
			return fmt.Errorf("open organization: %w: %w", wire.ErrNotApplied, wire.ErrNotLeader)
		}
	}
	o.lastWork = o.System.Clock.Now()
	if err := o.resumeJobs(); err != nil || o.record == nil {
		return err
	}
	return o.Modules.resume()
}

// openMain reads the organization's root, and wakes the sandbox where it may have
// unfinished jobs.
func (o *Org) openMain() error {
	o.record = &pb.Organization{}
	err := o.WithStore(func(st *storage.Store) error {
		found, err := st.Get(o.Space.Key(storage.TableOrg), o.record)
		if err == nil && !found {
			o.record = nil // being created
		}
		return err
	})
	if err != nil || o.record == nil {
		return err
	}
	o.Secret = o.record.GetSecret()
	if e, ok := o.System.Config.Host.Directory().Org(o.ID); ok {
		o.busyMark.set = e.GetBusy()
	}
	if o.busyMark.set {
		return o.ResumeSandbox()
	}
	return nil
}

// retireUnopened makes way after a failed opening.
func (o *Org) retireUnopened() {
	if o.Main == nil {
		o.System.retire(o.Activation, false)
		return
	}
	self, why := o.self, o.Failed
	o.Main.send(sandboxUnopened{self, why})
}

// settleUsage is the last chance of what reads have cost.
func (o *Org) settleUsage() {
	if o.Committer == nil || o.Retired {
		return
	}
	if err := o.commitBeforeStop(o.flushUsage); err != nil {
		o.System.Log.Warn("usage of the last moment was not stored", "org", o.ID.String(), "err", err)
	}
}

// commitBeforeStop waits for a commit in the actor's last moment, for commit.UsageDelay at most.
func (o *Org) commitBeforeStop(submit func(done func(error))) error {
	done := make(chan error, 1)
	submit(func(err error) { done <- err })
	timer := o.System.Clock.NewTimer(commit.UsageDelay)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C():
		return context.DeadlineExceeded
	}
}

// WithStore runs f with the organization's store held open. The OPEN that began
// the activation has created it: where it is missing, it was removed.
func (o *View) WithStore(f func(*storage.Store) error) error {
	st, err := o.System.Config.Storage.AcquireToRead(o.Store)
	if err != nil {
		return err
	}
	defer st.Release()
	return f(st)
}

// Retire makes way for another activation, which will read the store anew.
func (o *Org) Retire() {
	if o.Retired {
		return
	}
	o.Retired = true
	o.System.Counters.orgsLost.Add(1)
	removed := o.System.removed(o.ID)
	if o.System.ledHere(o.ID) && !removed { // else it has only moved, or is gone
		o.System.Log.Warn("organization opens again", "org", o.ID.String())
	}
	o.Residents.Close()
	if o.Main != nil {
		o.Main.send(sandboxRetired{o.self})
	} else {
		o.System.retire(o.Activation, false)
		if (o.busyMark.set || o.openCount > 0 || !o.Modules.Idle() || o.Sandbox != nil || o.sandboxDue) && !removed &&
			o.System.Lifetime.Err() == nil {
			o.System.BackgroundTasks.Go(func() { o.System.wakeOrg(o.ID) }) // its work waits for nobody's next request
		}
	}
	// Operations that wait for an entity run now, and fail since the lease is lost: from here
	// on several may be at one entity at once, and none may change it.
	if o.Committer != nil {
		o.Committer.Retire()
	}
	for _, run := range o.locks.abandon() {
		o.guard(func(error) {}, run)
	}
}

// Handle decides on one request.
func (o *Org) Handle(c *Call) {
	c.Org = &o.View
	if o.Main != nil {
		o.handleSandboxed(c)
		return
	}
	if o.Retired {
		c.tryAgain.Store(true)
		c.Reply(&pb.Reply{})
		return
	}
	if o.Failed != nil {
		c.Fail(o.Failed)
		return
	}
	if o.record == nil {
		c.Refuse(Unauthenticated())
		return
	}
	o.lastWork, o.asked = o.System.Clock.Now(), true
	switch {
	case !o.admit(c):
	case c.Principal.Sandbox && !ofAccount(c.Env):
		o.toSandbox(c)
	case o.checkReplay(c):
		o.withMarkForEvents(c, func() { o.carryOut(c) })
	}
}

// carryOut begins what an admitted request asks for.
func (o *Org) carryOut(c *Call) {
	if op := c.Env.GetRejected(); op != nil {
		c.Refuse(op.GetProblem())
		return
	}
	o.dispatch(c)
}

// dispatch hands an admitted request to the module whose it is.
func (o *Org) dispatch(c *Call) {
	for _, m := range o.Modules {
		if m.Handle(c) {
			return
		}
	}
	c.Fail(fmt.Errorf("operation %T is unknown here", c.Env.GetOp()))
}

// Read answers a call from the store, in the read pool.
func (o *Org) Read(c *Call, f func(*storage.Store) (*pb.Reply, error)) {
	o.ReadWith(c, func(st *storage.Store, _ int) (*pb.Reply, error) { return f(st) })
}

// ReadWith is Read for what needs the working memory of the pool's worker. Where f
// gives no reply, it has seen to it that somebody else does.
func (o *Org) ReadWith(c *Call, f func(st *storage.Store, worker int) (*pb.Reply, error)) {
	o.ReadAs(c, node.Narrow, f)
}

// ReadWide is ReadWith for what may read all of the organization.
func (o *Org) ReadWide(c *Call, f func(st *storage.Store, worker int) (*pb.Reply, error)) {
	o.ReadAs(c, node.Wide, f)
}

// ReadAs is ReadWith in a turn of the given width: how much of the read pool an organization may take for it. f runs in
// a worker of the pool, with the store held open and the number of the worker; the call fails with the error of f, with
// node.ErrPoolFull where the pool has no room, and without running f where its caller has given up.
func (o *Org) ReadAs(c *Call, w node.Width, f func(st *storage.Store, worker int) (*pb.Reply, error)) {
	waits := o.System.Config.Tracer.Start(c.Env.GetTrace(), tracing.StepReadWait)
	err := o.System.Reads.Do(o.ID, w, func(worker int) {
		waits.End()
		if err := c.Awaited(); err != nil { // it has waited for its turn in vain
			c.Fail(err)
			return
		}
		span := o.System.Config.Tracer.Start(c.Env.GetTrace(), tracing.StepRead)
		defer func() {
			if r := recover(); r != nil { // the pool's own recovery would leave the caller waiting
				err := node.PanicError("read", r)
				span.FailedIf(err)
				span.End()
				c.Fail(err)
			}
		}()
		c.step = span.Context()
		var r *pb.Reply
		err := c.Org.WithStore(func(st *storage.Store) (err error) {
			r, err = f(st, worker)
			return err
		})
		span.FailedIf(err)
		span.End()
		if err != nil {
			c.Fail(err)
			return
		}
		if r != nil {
			c.Reply(r)
		}
	})
	if err != nil {
		waits.FailedIf(err)
		waits.End()
		c.Fail(err)
	}
}

// Forward hands a call to the partition's actor, which answers it.
func (o *Org) Forward(c *Call, part *partition.Ref) {
	if waiting, held := o.heldCalls[part.ID]; held {
		o.heldCalls[part.ID] = append(waiting, c) // bounded by maxCallsPerOrg
		return
	}
	ch := o.subject(part)
	ch.Calls.Add(1)
	c.child = ch
	o.Send(ch, c)
}

// Send gives a child something to do. Whatever does is sent by this, so that the
// child is not released while it is on its way.
func (o *Org) Send(ch *Child, message any) {
	ch.Sent++
	o.Context.Send(ch.PID, message)
}

// Accept takes in content: the job is counted before it can exist, so that the
// organization stays awake until it is finished.
func (o *Org) Accept(c *Call) {
	o.WithBusyMarkFor(c, func() {
		o.JobOpened()
		c.JobOpen = true
		o.Forward(c, c.Part)
	})
}

// tombstoneSweep is how often that is, at least.
func (s *System) tombstoneSweep() time.Duration {
	return max(s.Config.TombstoneRetention, minTombstoneSweep)
}

// WakeMessage wakes a subject's worker for what its partition needs by itself, or a sandbox
// for its connectors.
type WakeMessage struct{}
