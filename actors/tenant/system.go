package tenant

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"orgmem/actors/commit"
	"orgmem/actors/node"
	"orgmem/actors/partition"
	"orgmem/cluster/remoting"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/storage"
)

const (
	// maxCallsPerOrg keeps one tenant from filling node.MaxCalls by itself.
	maxCallsPerOrg = 2048
	// maxActivations is how often a call is offered to an organization that was
	// just leaving memory.
	maxActivations = 4
	// DefaultDeadline bounds a call whose caller named no deadline.
	DefaultDeadline = 30 * time.Second
	// AbandonedCallLimit is how long an abandoned call counts at most: longer than the work
	// of any. One that a bug leaves without an answer must not hold its place for
	// ever.
	AbandonedCallLimit = 10 * time.Minute
	// ResumeAtOnce is how many organizations are woken together at start to
	// finish the jobs that a stop interrupted: opening a store costs some 20 ms
	// of CPU, which requests need more.
	ResumeAtOnce = 2
)

// System holds the actors of one node. All methods may be called from any
// goroutine.
type System struct {
	lifecycle
	activations
	resources
	actorSystem

	Config    Config
	calls     *node.Pressure
	Features  []Feature
	Log       *slog.Logger
	Embedders partition.Embedders
	Memory    *partition.Memory // of the partitions that are in memory
	Counters  counters
	Checks    checks
	wakeSlots chan struct{} // as many as are woken at once
	draining  atomic.Bool
	// AskOutlived asks another process whether it outlived an activation of its own; nil: the node is alone.
	AskOutlived func(ctx context.Context, activation string) bool
}

// actorSystem is where the actors of a node run.
type actorSystem struct {
	Actors    *actor.ActorSystem
	ActorRoot *actor.RootContext
	refuser   *actor.PID // answers the calls that are of no organization
	Kinds     Kinds      // the virtual actors
}

// newActorSystem starts an actor system, whose failures it logs.
func newActorSystem(log *slog.Logger) actorSystem {
	// protoactor logs undelivered messages whole, which would be customer text.
	quiet := slog.New(slog.DiscardHandler)
	r := actorSystem{Actors: actor.NewActorSystem(
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return quiet }),
		// It counts undelivered messages in a goroutine that lives this long.
		actor.WithDeadLetterThrottleInterval(time.Millisecond),
	), Kinds: Kinds{remoting.KindOrganization: newOrganization}}
	r.ActorRoot = r.Actors.Root.WithGuardian(StopFailed)
	r.Actors.EventStream.Subscribe(func(event any) {
		if e, ok := event.(*actor.SupervisorEvent); ok {
			log.Error("actor failed", "actor", e.Child.GetId(), "reason", fmt.Sprint(e.Reason),
				"directive", e.Directive.String())
		}
	})
	r.refuser = r.ActorRoot.Spawn(actor.PropsFromFunc(refuseUnknown))
	return r
}

// New builds what the organizations of a node share. How a subject's actor is made its caller adds to Kinds.
func New(cfg Config) (*System, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	memory := partition.NewMemory(cfg.SnapshotBytes, cfg.SegmentUsable)
	s := &System{
		lifecycle:   newLifecycle(cfg.Clock),
		resources:   newResources(&cfg, memory.Queries),
		actorSystem: newActorSystem(cfg.Logger),
		Config:      cfg,
		Log:         cfg.Logger,
		Embedders:   cfg.embedders(),
		Memory:      memory,
		wakeSlots:   make(chan struct{}, ResumeAtOnce),
	}
	s.calls = node.NewPressure(s.CPU.Pressure)
	id, err := s.NewUUID()
	if err != nil {
		return nil, fmt.Errorf("actors: %w", err)
	}
	server := ""
	if cfg.Placement != nil {
		server = string(cfg.Placement.Server())
	}
	s.activations = newActivations(server + "/" + id.String())
	return s, nil
}

// refuseUnknown answers calls whose key belongs to no organization, at the end
// of the same path that a revoked key takes, so that neither the answer nor
// its time tells them apart.
func refuseUnknown(ctx actor.Context) {
	if c, ok := ctx.Message().(*Call); ok {
		c.Refuse(Unauthenticated())
	}
}

// AskHere is Ask where the organization lives on this node, or is of no
// organization.
func (s *System) AskHere(
	ctx context.Context, late <-chan time.Time, org pb.OrgID, known bool, env *pb.Envelope,
) (*pb.Reply, Outcome, error) {
	for range maxActivations {
		if known && !s.LivesHere(org) {
			return nil, Moved, nil
		}
		c := NewCall(env)
		var err error
		if c.inFlight.act, err = s.activate(org, known); err != nil {
			return s.unavailable(err), Decided, nil
		}
		if !s.calls.Enter() {
			s.leave(c.inFlight.act)
			return Refuse(&pb.Problem{
				Code: pb.CodeServiceDegraded, Detail: "The node has its maximum of requests under way.",
				RetryAfterS: RetryAfterBusySeconds,
			}), Decided, nil
		}
		c.inFlight.sys, c.inFlight.entered, c.sent = s, true, s.Clock.Now()
		leave := func() {}
		if env.GetLink().GetImportFile() != nil {
			c.abandonedCtx, leave = context.WithCancel(s.Lifetime)
		}
		pid := s.refuser
		if known {
			pid = c.inFlight.act.PID
		}
		s.ActorRoot.Send(pid, c)
		var r *pb.Reply
		select {
		case r = <-c.Done:
		case <-ctx.Done():
			err = ctx.Err()
		case <-late:
			err = context.DeadlineExceeded
		}
		c.inFlight.end()
		leave()
		if err != nil {
			c.abandon(s.Clock.AfterFunc(AbandonedCallLimit, c.expire))
			return nil, Decided, fmt.Errorf("ask: %w", err)
		}
		if !c.tryAgain.Load() {
			return r, c.outcome, nil
		}
	}
	return s.unavailable(commit.ErrLost), s.OutcomeOf(commit.ErrLost), nil
}

// inFlight is how long something counts in an activation and, if it has entered, in
// the System: until the caller and the actor that answers are both through with it.
// A caller that has given up waiting leaves work behind that still has to be
// bounded, and answers that need a mailbox.
type inFlight struct {
	sys     *System     // nil: it counts nowhere
	act     *Activation // nil: of no organization
	entered bool
	through atomic.Int32
}

func (st *inFlight) end() {
	if st.sys == nil || st.through.Add(1) != 2 {
		return
	}
	if st.entered {
		st.sys.calls.Exit()
	}
	st.sys.leave(st.act)
}

func (s *System) unavailable(err error) *pb.Reply {
	return Refuse((&View{System: s}).ProblemOf(err, ""))
}

// activate returns the organization's activation with one more call counted in
// it: the caller must leave it. Where no organization is known, the call counts
// all the same, in none.
func (s *System) activate(org pb.OrgID, known bool) (*Activation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return nil, node.ErrClosing
	}
	if !known {
		s.inFlight.Add(1)
		return nil, nil //nolint:nilnil // nobody's call
	}
	a := s.orgs[org]
	if err := s.Config.Storage.OutOfService(MainStoreOf(org)); err != nil {
		if a != nil { // what it remembers may be what the disk does not say
			s.ActorRoot.Send(a.PID, retireActivation{})
		}
		return nil, err
	}
	if a == nil {
		s.count++
		a = &Activation{org: org, Name: fmt.Sprintf("%s/%d", s.process, s.count)}
		a.PID = s.ActorRoot.Spawn(s.Kinds.props(remoting.KindOrganization, Incarnation{System: s, Activation: a}))
		s.orgs[org] = a
		s.Counters.orgActivations.Add(1)
	}
	if a.Calls.Add(1) > maxCallsPerOrg {
		a.Calls.Add(-1)
		return nil, node.ErrPoolFull
	}
	s.inFlight.Add(1)
	return a, nil
}

// MainStoreOf is the store of an organization that everything but the sandbox lies in.
func MainStoreOf(org pb.OrgID) storage.StoreID {
	return storage.StoreID{Org: org, Realm: storage.RealmMain}
}

// removed reports whether an organization was deleted.
func (s *System) removed(org pb.OrgID) bool {
	e, ok := s.Config.Host.Directory().Org(org)
	return ok && e.GetRemoved()
}

// StopFailed ends an actor that fails. Nothing is restarted in place: what is
// on its way to an actor is meant for the one that asked for it, and would reach
// a successor that knows nothing of it. It is a last resort, because actors
// recover by themselves (View.Panicked).
var StopFailed = actor.NewOneForOneStrategy(0, 0, func(any) actor.Directive { return actor.StopDirective })

func (s *System) leave(a *Activation) {
	if a != nil && a.Calls.Add(-1) == 0 && a.retired.Load() {
		s.stop(a)
	}
	s.inFlight.Done()
}

// retire takes an activation out of the directory. Calls that already have it
// are answered (with "try again", where it is lost); after the last one it
// stops. With onlyIdle it retires nothing that has calls.
func (s *System) retire(a *Activation, onlyIdle bool) bool {
	s.mu.Lock()
	if onlyIdle && a.Calls.Load() > 0 {
		s.mu.Unlock()
		return false
	}
	if s.orgs[a.org] == a {
		delete(s.orgs, a.org)
	}
	a.retired.Store(true)
	s.mu.Unlock()
	if a.Calls.Load() == 0 {
		s.stop(a)
	}
	return true
}

func (s *System) stop(a *Activation) {
	a.once.Do(func() { s.ActorRoot.Poison(a.PID) })
}

// ResumeAll wakes all organizations whose jobs a stop or a crash interrupted, on
// a node that is alone.
func (s *System) ResumeAll() {
	if err := s.Config.Host.WaitReady(s.Lifetime); err != nil {
		return
	}
	s.resume(func(pb.OrgID) bool { return true })
}

// resume wakes those of the organizations that are meant whose jobs a stop, a crash
// or a move interrupted. It returns when each of them has had its turn.
func (s *System) resume(meant func(pb.OrgID) bool) {
	for _, entry := range s.Config.Host.Directory().Orgs() {
		org, err := pb.OrgIDFrom(entry.GetOrg())
		if err != nil || !entry.GetBusy() || !meant(org) {
			continue
		}
		if !s.acquireWakeSlot() {
			return
		}
		s.BackgroundTasks.Go(func() { s.wakeOrgInSlot(org) })
	}
}

// wakeOrg brings an organization into memory, which resumes its jobs, however
// often that takes; until Close, or until it lives elsewhere.
func (s *System) wakeOrg(org pb.OrgID) {
	if s.acquireWakeSlot() {
		s.wakeOrgInSlot(org)
	}
}

// acquireWakeSlot takes one of the places for waking; false when Close has begun.
func (s *System) acquireWakeSlot() bool {
	select {
	case s.wakeSlots <- struct{}{}:
		return true
	case <-s.Lifetime.Done():
		return false
	}
}

// wakeOrgInSlot is wakeOrg for a caller that has a place for waking already. It leaves the place
// between two attempts: an organization that cannot be opened must not keep others asleep.
func (s *System) wakeOrgInSlot(org pb.OrgID) {
	for wait := MinBackOff; ; wait = min(2*wait, MaxBackOff) {
		var err error
		if s.ledHere(org) {
			err = s.Visit(s.Lifetime, org, func(o *Org, done func(error)) { done(nil) })
		}
		<-s.wakeSlots
		if err == nil || s.Lifetime.Err() != nil || errors.Is(err, wire.ErrRemoved) ||
			errors.Is(err, storage.ErrOutOfService) {
			return
		}
		s.Log.Error("could not resume an organization's jobs; it is tried again", "org", org.String(), "err", err)
		if !s.Sleep(wait) || !s.acquireWakeSlot() {
			return
		}
	}
}

// Visit runs f in the organization's actor and waits until f's done is called.
func (s *System) Visit(ctx context.Context, org pb.OrgID, f func(o *Org, done func(error))) error {
	for range maxActivations {
		a, err := s.activate(org, true)
		if err != nil {
			return err
		}
		result := make(chan error, 1)
		st := &inFlight{sys: s, act: a}
		var once sync.Once // a panic after the answer does not change it
		s.ActorRoot.Send(a.PID, &Visit{Run: f, Done: func(err error) {
			once.Do(func() {
				result <- err
				st.end()
			})
		}})
		select {
		case err = <-result:
		case <-ctx.Done():
			err = ctx.Err()
		}
		st.end()
		if !errors.Is(err, ErrTryAgain) {
			return err
		}
	}
	return commit.ErrLost
}

// ErrTryAgain is a retired actor's answer: another activation will decide.
var ErrTryAgain = errors.New("organization is moving")

// Visit is an operator's or the system's work in an organization's actor.
type Visit struct {
	Run  func(o *Org, done func(error))
	Done func(error)
}

// Ready returns nil when the node can serve, be it by asking another one, ErrDraining
// when it still does and should be left alone.
func (s *System) Ready(context.Context) error {
	switch {
	case s.isClosing():
		return node.ErrClosing
	case s.draining.Load(), s.Config.Placement != nil && s.Config.Placement.Draining():
		return ErrDraining
	}
	return s.Config.Host.Serves()
}

// ErrDraining means that the node answers, but is about to stop: others should be
// asked.
var ErrDraining = errors.New("the node is being drained")

// Drain makes Ready say that the node is about to stop. It goes on to answer.
func (s *System) Drain() { s.draining.Store(true) }

// closeWait bounds the wait of Halt for calls under way. The edge has let its
// requests finish by then; what is left are operators' calls and those whose
// callers gave up.
const closeWait = 5 * time.Second

// Halt stops taking calls, lets those under way finish, stops the actors and
// their workers, and waits.
func (s *System) Halt() {
	s.beginClosing()
	s.EndLifetime()
	s.awaitCalls()
	for _, a := range s.those(func(pb.OrgID) bool { return true }) {
		_ = s.ActorRoot.PoisonFuture(a.PID).Wait() // its own time-out only means that it was gone
	}
	s.BackgroundTasks.Wait()
}

// awaitCalls waits until no call is under way: what is in the mailbox of an actor
// that stops is dropped, an answer too.
func (s *System) awaitCalls() {
	quiet := make(chan struct{})
	go func() { // ends with the last call
		s.inFlight.Wait()
		close(quiet)
	}()
	timer := s.Clock.NewTimer(closeWait)
	defer timer.Stop()
	select {
	case <-quiet:
	case <-timer.C():
		s.Log.Warn("calls are still under way; they will not be answered", "calls", s.calls.Calls())
	}
}

// RetireOrg has an organization that is in memory forget what it remembers.
func (s *System) RetireOrg(org pb.OrgID) {
	if a := s.inMemory(org); a != nil {
		s.ActorRoot.Send(a.PID, retireActivation{})
	}
}
