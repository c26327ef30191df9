package tenant

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"orgmem/actors/partition"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/storage"
)

// The sandbox is an organization in small: an Org of its own, a child of the
// organization's, over a store of its own. The organization authenticates a
// sandbox key, since keys lie with it, draws from its bucket, checks subject and
// scope, and hands the call over. From there on nothing can reach the real
// partitions, because no key of their store can be built from what the sandbox's
// actor knows; nor the other way round.

const (
	// SandboxSubject is what the sandbox's one partition is called.
	SandboxSubject pb.SubjectKey = "sandbox"
	// DefaultSandboxKeyLife is how long a sandbox key works when neither its
	// creation nor the configuration says.
	DefaultSandboxKeyLife = 7 * 24 * time.Hour
	// sandboxRetry is the wait before a sandbox that has unfinished jobs and could
	// not be opened is opened again.
	sandboxRetry = 5 * time.Second
)

// SandboxStore is the store of an organization's sandbox. It exists once a sandbox key was used.
func SandboxStore(org pb.OrgID) storage.StoreID {
	return storage.StoreID{Org: org, Realm: storage.RealmSandbox}
}

func newSandboxActor(main *View, record *pb.Organization, part *partition.Ref, self *Child) *Org {
	o := newOrgActor(main.System, main.Activation)
	o.View = View{
		System: main.System, ID: main.ID, Store: part.Store, Space: storage.OrgSpace(part.Store),
		Activation: main.Activation, Main: main, Modules: o.Modules,
	}
	// A cursor of the sandbox must not open the organization's lists.
	mac := hmac.New(sha256.New, main.Secret)
	mac.Write([]byte("sandbox"))
	o.Secret = mac.Sum(nil)
	own := *part
	own.Opener = &o.View // what is sealed in the sandbox is sealed by its secret
	o.Record, o.SandboxPart, o.self = record, &own, self
	return o
}

// Leave counts a call out. A sandbox that was reset ends with the last of those
// it still had.
func (ch *Child) Leave(s *System) {
	if ch.Calls.Add(-1) == 0 && ch.replaced.Load() {
		s.ActorRoot.Poison(ch.PID)
	}
}

// SandboxRef returns the partition that sandbox keys act in, nil when there has
// never been one.
func (o *Org) SandboxRef() (*partition.Ref, error) {
	if o.SandboxPart != nil {
		return o.SandboxPart, nil
	}
	rec := &pb.Partition{}
	found := false
	err := o.WithStore(func(st *storage.Store) (err error) {
		found, err = st.Get(o.Space.Key(storage.TableSandbox), rec)
		return err
	})
	if err != nil || !found {
		return nil, err
	}
	id, err := pb.PartitionIDFrom(rec.GetId())
	if err != nil {
		return nil, err
	}
	o.SandboxPart = partition.NewRef(SandboxStore(o.ID), nil, id, rec)
	return o.SandboxPart, nil
}

// NewSandbox makes an empty partition and writes that it is the sandbox's.
func (o *Org) NewSandbox(b *storage.Batch) (*partition.Ref, error) {
	id, err := o.System.NewUUID()
	if err != nil {
		return nil, err
	}
	view := &View{System: o.System, Store: SandboxStore(o.ID)}
	ref, err := view.NewPartition(pb.PartitionID(id), pb.PartitionSandbox, SandboxSubject)
	if err != nil {
		return nil, err
	}
	b.Put(o.Space.Key(storage.TableSandbox), partitionRecord(ref))
	return ref, nil
}

// toSandbox hands a call to the sandbox's actor.
func (o *Org) toSandbox(c *Call) {
	if o.Sandbox == nil {
		o.startSandbox()
	}
	ch := o.Sandbox
	ch.Calls.Add(1)
	c.sandbox = ch
	o.Send(ch, c)
}

func (o *Org) startSandbox() {
	ch := &Child{}
	view, record, part := &o.View, o.Record, o.SandboxPart
	ch.PID = o.Context.Spawn(actor.PropsFromProducer(func() actor.Actor { return newSandboxActor(view, record, part, ch) },
		actor.WithSupervisor(StopFailed)))
	o.Sandbox, o.sandboxDue = ch, false
}

// ResumeSandbox opens a sandbox that may have unfinished jobs.
func (o *Org) ResumeSandbox() error {
	part, err := o.SandboxRef()
	if err != nil || part == nil {
		return err
	}
	there, err := o.System.Config.Storage.Exists(part.Store)
	if err != nil {
		return fmt.Errorf("look for the sandbox: %w", err)
	}
	if there && o.Sandbox == nil {
		o.startSandbox()
	}
	return nil
}

// sandboxFailed is the word of a sandbox that could not be opened. The next call
// tries again, and so does this when there may be jobs in it.
func (o *Org) sandboxFailed(ch *Child, why error) {
	o.System.ActorRoot.Poison(ch.PID) // behind all that was sent to it
	if o.Sandbox != ch {
		return
	}
	o.Sandbox = nil
	switch {
	case errors.Is(why, wire.ErrRemoved):
		o.Retire()
	case o.busy:
		o.WakeSandboxLater()
	}
}

// WakeSandboxLater opens a sandbox that has something to do and could not be opened.
func (o *Org) WakeSandboxLater() {
	o.sandboxDue = true
	o.System.Clock.AfterFunc(sandboxRetry, func() { o.send(sandboxDue{}) })
}

// openDueSandbox tries once more, where nobody else has meanwhile.
func (o *Org) openDueSandbox() {
	if !o.sandboxDue || o.Retired {
		return
	}
	o.sandboxDue = false
	if err := o.ResumeSandbox(); err != nil {
		o.System.Log.Error("could not open the sandbox; it is tried again", "org", o.ID.String(), "err", err)
		o.WakeSandboxLater()
	}
}

// ReleaseSandbox is ReleaseSubject for the sandbox.
func (o *Org) ReleaseSandbox(ch *Child, handled uint64) {
	if o.Sandbox == ch && ch.spent(handled) {
		o.Sandbox = nil
		o.System.ActorRoot.Poison(ch.PID)
	}
}

// handleSandboxed continues with a call that the organization has admitted.
func (o *Org) handleSandboxed(c *Call) {
	o.handled++
	if o.Retired || o.self.replaced.Load() {
		c.tryAgain.Store(true)
		c.Reply(&pb.Reply{})
		return
	}
	if o.Failed != nil {
		c.Fail(o.Failed)
		return
	}
	o.lastWork = o.System.Clock.Now()
	c.Part = o.SandboxPart
	if o.checkReplay(c) {
		o.withMarkForEvents(c, func() { o.carryOut(c) })
	}
}

// openSandbox makes sure that the store holds nothing but the partition that the
// organization means. A reset only says which that is: what was there before goes
// here, before the first call, however often a crash came between.
func (o *Org) openSandbox() error {
	var before []*partition.Ref
	current := false
	err := o.WithStore(func(st *storage.Store) error {
		for rec, err := range storage.ScanRecords(st, o.Space.Prefix(storage.TablePartition), storage.ScanOptions{},
			func() *pb.Partition { return &pb.Partition{} }) {
			if err != nil {
				return err
			}
			id, err := pb.PartitionIDFrom(rec.Value.GetId())
			if err != nil {
				return err
			}
			if id == o.SandboxPart.ID {
				current = true
				continue
			}
			before = append(before, partition.NewRef(o.Store, &o.View, id, rec.Value))
		}
		return nil
	})
	if err != nil || current && len(before) == 0 {
		return err
	}
	b := storage.NewBatch(o.Store)
	if len(before) > 0 {
		b.EraseRange(o.Space.All()) // jobs, outcomes, endpoints, exports: all that came with it
	}
	for _, ref := range before {
		b.EraseRange(ref.Space.All())
		job, err := o.NewJob(pb.JobSubjectErase, Principal{}, ref, 1)
		if err != nil {
			return err
		}
		PutJob(b, o.Space, job) // whose end says that the bytes have left the files
	}
	PutPartition(b, o.Space, o.SandboxPart)
	return o.Committer.Finish(b) // a full disk must not keep it from being read
}

// ReplaceSandbox puts another actor in the place of the sandbox's, and calls done
// when it has opened, or failed to: what was there before is out of reach either
// way.
func (o *Org) ReplaceSandbox(done func()) {
	if old := o.Sandbox; old != nil {
		o.Sandbox = nil
		// Counted like a call, so that the last to leave ends it, exactly once.
		old.Calls.Add(1)
		old.replaced.Store(true)
		old.Leave(o.System)
	}
	if err := o.ResumeSandbox(); err != nil {
		o.System.Log.Error("could not open the sandbox after its reset; it is tried again", "org", o.ID.String(), "err", err)
		o.WakeSandboxLater()
	}
	if o.Sandbox == nil {
		done()
		return
	}
	o.System.ActorRoot.Send(o.Sandbox.PID, &Visit{
		Run:  func(_ *Org, done func(error)) { done(nil) },
		Done: func(error) { done() },
	})
}

// ofAccount reports whether an operation concerns the organization and its
// people. The organization answers such an operation for every key; the sandbox answers
// all others of a sandbox key.
func ofAccount(env *pb.Envelope) bool {
	switch op := env.GetOp().(type) {
	case *pb.Envelope_Me, *pb.Envelope_ListKeys, *pb.Envelope_CreateKey, *pb.Envelope_RevokeKey:
		return true
	case *pb.Envelope_Account:
		switch op.Account.GetOp().(type) {
		case *pb.AccountOp_GetSettings, *pb.AccountOp_PatchSettings, *pb.AccountOp_ResetSettings:
			return false
		}
		return true
	}
	return false
}
