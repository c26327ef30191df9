package tenant

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"orgmem/actors/budget"
	"orgmem/actors/commit"
	"orgmem/actors/egress"
	"orgmem/actors/llm"
	"orgmem/actors/node"
	"orgmem/actors/partition"
	"orgmem/brain/format/reading"
	"orgmem/brain/index"
	"orgmem/cluster"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const (
	// MinReadingBytes is the least budget: that of one file.
	MinReadingBytes     = reading.MaxMemory
	defaultReadingBytes = 2 * MinReadingBytes
	// MaxCalls bounds the requests inside the actors of one node. Each holds at
	// most one body, which the edge bounds by bytes; the number bounds the
	// goroutines that wait.
	MaxCalls = 8192
	// maxReadingsPerOrg bounds the files of one organization that are read or wait for
	// that. Each holds an upload, which the edge counts.
	maxReadingsPerOrg = 64
	// maxCallsPerOrg keeps one tenant from filling MaxCalls by itself.
	maxCallsPerOrg = 2048
	// PressureFrom calls at once make ingestion stand back until there are
	// pressureUntil: eight for each of two processors are more than a few clients
	// cause, and the distance keeps it from flapping.
	PressureFrom  = 16
	pressureUntil = 12
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
	// defaultCognitionQuiet is how long a partition must have been left alone before
	// a cycle begins: what comes in a burst is looked at once.
	defaultCognitionQuiet = 3 * time.Second
)

// Config says what a System is made of. All fields but the last group are
// required.
type Config struct {
	Host     *cluster.Host
	Storage  *storage.Node
	Clock    clock.Clock
	Random   io.Reader // keys, ids, secrets: crypto/rand
	Logger   *slog.Logger
	Embedder partition.Embedder
	// Former embedders serve partitions whose vectors they made until the
	// partition is embedded anew.
	Former []partition.Embedder

	// IdleOrg and IdleSubject are how long an unused actor stays in memory; 0 is
	// 10 and 5 minutes. A cold start costs some 20 ms, memory about 100 KB.
	IdleOrg, IdleSubject time.Duration
	// TombstoneRetention is how long a forgotten node can be restored; 0 is 30 days.
	TombstoneRetention time.Duration
	// SnapshotBytes bounds the memory of all partitions' indexes; the least
	// recently used leave first. 0 is 2 GiB: about 3 million chunks.
	SnapshotBytes int64
	// ReadingBytes bounds the memory for what files unpack to and are made of while they
	// are read, and half as much the memory for texts that are cut and embedded; 0 is
	// 256 MiB. At least MinReadingBytes.
	ReadingBytes int
	// ForwardedBytes bounds the bytes of requests that other nodes have sent on and that
	// are not answered yet: what is over is refused like a body that the edge has no
	// memory for. 0 is 128 MiB.
	ForwardedBytes int
	// Workers is the number of CPU workers of ingestion; 0 is GOMAXPROCS.
	Workers int
	// CognitionQuiet is how long a memory must have been left alone before a cognition
	// cycle looks at what is new; 0 is 3 s.
	CognitionQuiet time.Duration
	// LLM words what cognition finds, and answers, and weighs relations; nil: what the
	// rules find and say stands.
	LLM *llm.Client
	// Egress reaches the addresses that tenants chose; nil: nothing does, and what
	// needs it is refused.
	Egress *egress.Client
	// WebhookRetryDelays are the waits before the second and the third attempt to
	// deliver an event; nil is 30 s and 120 s.
	WebhookRetryDelays []time.Duration
	// SecretsKey goes into the keys that the secrets of webhooks and connectors are
	// stored under; nil: the organization's own secret makes them alone. Once there is
	// one, it must stay what it is.
	SecretsKey []byte
	// SandboxKeyLife is how long a sandbox key works whose creation does not say; 0
	// is 7 days.
	SandboxKeyLife time.Duration
	// ExportRetention is how long an export can be downloaded; 0 is 7 days.
	ExportRetention time.Duration
	// Placement says where organizations live; nil: the node is alone, and all live here.
	Placement Placement

	// CaughtUp is Directory.Fresh; a test has a directory that lags.
	CaughtUp func(context.Context) error
	// Tests wait for these: a job's end is committed, a worker knows of a
	// cancellation, a worker is to stop, a part of an effect is committed, an epoch of
	// a training is, so is something that a mind's cycle has found, a worker begins
	// what is no item, and work of a kind of job begins, which may be asked whether it
	// is to stop.
	JobFinished     func(pb.JobID)
	CancelRequested func(pb.JobID)
	StopRequested   func()
	PieceCommitted  func()
	EpochCommitted  func()
	CycleWrote      func(cancel func())
	UpkeepBegan     func()
	JobWorkBegan    func(kind string, stopped func() bool)
	// SegmentChunks, PieceBytes, EdgesPerPiece, FreshChunks and MaxBackOff are less than the
	// constants of like names in tests; 0 is the constant.
	// Usable says which stored segments serve; those of today's text analysis, but
	// in tests.
	// Plain means that nothing is read out of texts and no cycle runs: for tests of
	// other things, which count nodes and jobs.
	WithoutDerivation bool
	SegmentChunks     int
	PieceBytes        int
	EdgesPerPiece     int
	FreshChunks       int
	MaxBackOff        time.Duration
	SegmentUsable     func(index.View) bool
}

// System holds the actors of one node. All methods may be called from any
// goroutine.
type System struct {
	Config          Config
	Features        []Feature
	Log             *slog.Logger
	Clock           clock.Clock
	Actors          *actor.ActorSystem
	ActorRoot       *actor.RootContext
	refuser         *actor.PID
	Reads           *node.ReadPool
	CPU             *node.CPUPool
	ReadingMemory   *budget.Budget // for reading files, until their texts are accepted
	EmbeddingMemory *budget.Budget // for cutting and embedding texts: apart, since that takes minutes
	Partitions      *partition.Cache
	Models          map[string]partition.Embedder
	wakeSlots       chan struct{}
	Readers         []Reader   // one per read worker
	Computers       []computer // one per CPU worker

	calls           atomic.Int64
	inFlightCalls   sync.WaitGroup // calls and visits; grows only under mu, and not while closing
	underPressure   atomic.Bool    // ingestion stands back
	draining        atomic.Bool
	pressureMu      sync.Mutex // one decision about pressed at a time
	Counters        counters
	Checks          checks
	BaseContext     context.Context // never ends
	Lifetime        context.Context // ends when Close begins; for background work only
	EndLifetime     context.CancelFunc
	BackgroundTasks sync.WaitGroup // background work

	process string // server/id: names this process
	// AskOutlived asks another process whether it outlived an activation of its own; nil: the node is alone.
	AskOutlived func(ctx context.Context, activation string) bool
	// NewSubject makes the actor of a subject.
	NewSubject func(*View, *partition.Ref, *Child) actor.Actor

	mu              sync.Mutex
	orgs            map[pb.OrgID]*Activation
	activationCount uint64   // activations so far
	panicked        []string // names of the last activations that panicked
	// openReadings counts the files of an organization that are read or wait for that.
	openReadings map[pb.OrgID]int
	// by shard that was led here: closed when its last costs are written, or with the error in it
	settlingShards map[uint32]<-chan error
	closing        bool
}

// Activation is an organization's actor on this node.
type Activation struct {
	org     pb.OrgID
	Name    string // server/process/number: no other has had it, or will
	PID     *actor.PID
	Calls   atomic.Int64
	retired atomic.Bool // not in System.orgs any more; stops when calls is 0
	once    sync.Once
	view    atomic.Pointer[View] // once it is open
}

// New builds what the organizations of a node share. NewSubject makes the actor of a subject.
func New(cfg Config) (*System, error) {
	switch {
	case cfg.Host == nil, cfg.Storage == nil, cfg.Clock == nil, cfg.Random == nil, cfg.Logger == nil, cfg.Embedder == nil:
		return nil, errors.New("actors: Host, Storage, Clock, Random, Logger and Embedder are required")
	}
	if cfg.IdleOrg == 0 {
		cfg.IdleOrg = 10 * time.Minute
	}
	if cfg.IdleSubject == 0 {
		cfg.IdleSubject = 5 * time.Minute
	}
	if cfg.TombstoneRetention == 0 {
		cfg.TombstoneRetention = DefaultTombstoneRetention
	}
	if cfg.ReadingBytes == 0 {
		cfg.ReadingBytes = defaultReadingBytes
	}
	if cfg.ReadingBytes < MinReadingBytes {
		return nil, fmt.Errorf("actors: ReadingBytes is less than the %d that one file may take", MinReadingBytes)
	}
	if cfg.SnapshotBytes == 0 {
		cfg.SnapshotBytes = 2 << 30
	}
	if cfg.SandboxKeyLife == 0 {
		cfg.SandboxKeyLife = DefaultSandboxKeyLife
	}
	if cfg.CognitionQuiet == 0 {
		cfg.CognitionQuiet = defaultCognitionQuiet
	}
	if cfg.CaughtUp == nil {
		cfg.CaughtUp = cfg.Host.Directory().Fresh
	}
	if cfg.JobFinished == nil {
		cfg.JobFinished = func(pb.JobID) {}
	}
	if cfg.CancelRequested == nil {
		cfg.CancelRequested = func(pb.JobID) {}
	}
	if cfg.StopRequested == nil {
		cfg.StopRequested = func() {}
	}
	if cfg.EpochCommitted == nil {
		cfg.EpochCommitted = func() {}
	}
	if cfg.CycleWrote == nil {
		cfg.CycleWrote = func(func()) {}
	}
	if cfg.JobWorkBegan == nil {
		cfg.JobWorkBegan = func(string, func() bool) {}
	}
	if cfg.UpkeepBegan == nil {
		cfg.UpkeepBegan = func() {}
	}
	if cfg.PieceCommitted == nil {
		cfg.PieceCommitted = func() {}
	}
	if cfg.SegmentUsable == nil {
		cfg.SegmentUsable = func(v index.View) bool { return v.Segment.Current() }
	}
	if cfg.MaxBackOff == 0 {
		cfg.MaxBackOff = MaxBackOff
	}
	if cfg.Workers == 0 {
		cfg.Workers = runtime.GOMAXPROCS(0)
	}
	s := &System{
		Config:          cfg,
		Log:             cfg.Logger,
		Clock:           cfg.Clock,
		orgs:            make(map[pb.OrgID]*Activation),
		settlingShards:  make(map[uint32]<-chan error),
		CPU:             node.NewCPUPool(cfg.Workers, cfg.Clock),
		ReadingMemory:   budget.New(cfg.ReadingBytes, cfg.Clock),
		EmbeddingMemory: budget.New(cfg.ReadingBytes/2, cfg.Clock),
		openReadings:    make(map[pb.OrgID]int),
		Partitions:      partition.NewCache(cfg.SnapshotBytes, cfg.SegmentUsable),

		wakeSlots: make(chan struct{}, ResumeAtOnce),
	}
	id, err := s.NewUUID()
	if err != nil {
		return nil, fmt.Errorf("actors: %w", err)
	}
	s.process = "/" + id.String()
	if cfg.Placement != nil {
		s.process = string(cfg.Placement.Server()) + s.process
	}
	s.Models = map[string]partition.Embedder{}
	for _, e := range append([]partition.Embedder{cfg.Embedder}, cfg.Former...) {
		if _, dup := s.Models[e.ID()]; !dup {
			s.Models[e.ID()] = e
		}
	}
	// protoactor logs undelivered messages whole, which would be customer text.
	quiet := slog.New(slog.DiscardHandler)
	s.Actors = actor.NewActorSystem(
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return quiet }),
		// It counts undelivered messages in a goroutine that lives this long.
		actor.WithDeadLetterThrottleInterval(time.Millisecond),
	)
	s.ActorRoot = s.Actors.Root.WithGuardian(StopFailed)
	s.Actors.EventStream.Subscribe(func(event any) {
		if e, ok := event.(*actor.SupervisorEvent); ok {
			s.Log.Error("actor failed", "actor", e.Child.GetId(), "reason", fmt.Sprint(e.Reason),
				"directive", e.Directive.String())
		}
	})
	s.refuser = s.ActorRoot.Spawn(actor.PropsFromFunc(refuseUnknown))
	readWorkers := 2 * runtime.GOMAXPROCS(0) // some wait for the disk
	s.Readers = make([]Reader, readWorkers)
	for i := range s.Readers {
		s.Readers[i].Queries = s.Partitions.Queries
	}
	s.Computers = make([]computer, cfg.Workers)
	s.Reads = node.NewReadPool(readWorkers, func(err error) { s.Log.Error("read failed", "err", err) })
	s.BaseContext = context.Background() //nolint:forbidigo // work that outlives the request that began it has no other parent
	s.Lifetime, s.EndLifetime = context.WithCancel(s.BaseContext)
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
		if !s.enter() {
			s.leave(c.inFlight.act)
			return Refuse(&pb.Problem{
				Code: pb.CodeServiceDegraded, Detail: "The node has its maximum of requests under way.",
				RetryAfterS: RetryAfterBusySeconds,
			}), Decided, nil
		}
		c.inFlight.sys, c.inFlight.entered = s, true
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
// the System: until whoever asked and whoever answers are both through with it.
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
		st.sys.exit()
	}
	st.sys.leave(st.act)
}

// enter counts a call in, and reports false when there are too many.
func (s *System) enter() bool {
	n := s.calls.Add(1)
	if n > MaxCalls {
		s.calls.Add(-1)
		return false
	}
	if n >= PressureFrom && !s.underPressure.Load() {
		s.updatePressure()
	}
	return true
}

func (s *System) exit() {
	if s.calls.Add(-1) <= pressureUntil && s.underPressure.Load() {
		s.updatePressure()
	}
}

// updatePressure decides by the calls of this moment, not of the one that asked: two that
// cross the border together must not leave the wrong answer behind.
func (s *System) updatePressure() {
	s.pressureMu.Lock()
	defer s.pressureMu.Unlock()
	n := s.calls.Load()
	on := n >= PressureFrom || n > pressureUntil && s.underPressure.Load()
	if s.underPressure.Swap(on) != on {
		s.CPU.Pressure(on)
	}
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
		s.inFlightCalls.Add(1)
		return nil, nil //nolint:nilnil // nobody's call
	}
	a := s.orgs[org]
	if err := s.Config.Storage.OutOfService(MainStoreOf(org)); err != nil {
		if a != nil { // what it remembers may be what the disk does not say
			s.ActorRoot.Send(a.PID, Task((*Org).Retire))
		}
		return nil, err
	}
	if a == nil {
		s.activationCount++
		a = &Activation{org: org, Name: fmt.Sprintf("%s/%d", s.process, s.activationCount)}
		a.PID = s.ActorRoot.Spawn(actor.PropsFromProducer(func() actor.Actor { return newOrgActor(s, a) },
			actor.WithSupervisor(StopFailed)))
		s.orgs[org] = a
		s.Counters.orgActivations.Add(1)
	}
	if a.Calls.Add(1) > maxCallsPerOrg {
		a.Calls.Add(-1)
		return nil, node.ErrPoolFull
	}
	s.inFlightCalls.Add(1)
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
	s.inFlightCalls.Done()
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

// wakeOrgInSlot is rouse for who has a place for waking. It leaves the place between two
// attempts: an organization that cannot be opened must not keep others asleep.
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
	s.mu.Lock()
	closing := s.closing
	s.mu.Unlock()
	switch {
	case closing:
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
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.EndLifetime()
	s.awaitCalls()
	s.mu.Lock()
	all := slices.Collect(maps.Values(s.orgs))
	s.mu.Unlock()
	for _, a := range all {
		_ = s.ActorRoot.PoisonFuture(a.PID).Wait() // its own time-out only means that it was gone
	}
	s.BackgroundTasks.Wait()
}

// awaitCalls waits until no call is under way: what is in the mailbox of an actor
// that stops is dropped, an answer too.
func (s *System) awaitCalls() {
	quiet := make(chan struct{})
	go func() { // ends with the last call
		s.inFlightCalls.Wait()
		close(quiet)
	}()
	timer := s.Clock.NewTimer(closeWait)
	defer timer.Stop()
	select {
	case <-quiet:
	case <-timer.C():
		s.Log.Warn("calls are still under way; they will not be answered", "calls", s.calls.Load())
	}
}

// AdmitVisit counts a visit in, unless Close has begun; the caller ends it.
func (s *System) AdmitVisit() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closing {
		s.inFlightCalls.Add(1)
	}
	return !s.closing
}

// Sleep waits, and reports false when Close began meanwhile.
func (s *System) Sleep(d time.Duration) bool {
	return clock.Wait(s.Lifetime, s.Clock, d) == nil
}

// AcquireReading counts a file of an organization; false: it has as many as it may.
func (s *System) AcquireReading(org pb.OrgID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.openReadings[org] == maxReadingsPerOrg {
		return false
	}
	s.openReadings[org]++
	return true
}

// ReleaseReading counts it out.
func (s *System) ReleaseReading(org pb.OrgID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.openReadings[org]--; s.openReadings[org] == 0 {
		delete(s.openReadings, org)
	}
}

// EndVisit counts a visit out.
func (s *System) EndVisit() { s.inFlightCalls.Done() }

// RetireOrg has an organization that is in memory forget what it remembers.
func (s *System) RetireOrg(org pb.OrgID) {
	s.mu.Lock()
	a := s.orgs[org]
	s.mu.Unlock()
	if a != nil {
		s.ActorRoot.Send(a.PID, Task((*Org).Retire))
	}
}
