package actors

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"orgmem/actors/partition"
	"orgmem/cluster"
	pb "orgmem/proto"
	"orgmem/storage"
)

// The sandbox is an organization in small: an orgActor of its own, a child of the
// organization's, over a store of its own. The organization authenticates a
// sandbox key, since keys lie with it, draws from its bucket, checks subject and
// scope, and hands the call over. From there on nothing can reach the real
// partitions, because no key of their store can be built from what the sandbox's
// actor knows; nor the other way round.

const (
	// sandboxSubject is what the sandbox's one partition is called.
	sandboxSubject pb.SubjectKey = "sandbox"
	// defaultSandboxKeyLife is how long a sandbox key works when neither its
	// creation nor the configuration says.
	defaultSandboxKeyLife = 7 * 24 * time.Hour
	// sandboxRetry is the wait before a sandbox that has unfinished jobs and could
	// not be opened is opened again.
	sandboxRetry = 5 * time.Second
)

func sandboxStore(org pb.OrgID) storage.StoreID {
	return storage.StoreID{Org: org, Realm: storage.RealmSandbox}
}

func newSandboxActor(main *orgView, record *pb.Organization, part *partition.Ref, self *child) *orgActor {
	o := newOrgActor(main.sys, main.act)
	o.orgView = orgView{
		sys: main.sys, id: main.id, store: part.Store, space: storage.OrgSpace(part.Store), act: main.act, main: main,
		modules: o.modules,
	}
	// A cursor of the sandbox must not open the organization's lists.
	mac := hmac.New(sha256.New, main.secret)
	mac.Write([]byte("sandbox"))
	o.secret = mac.Sum(nil)
	own := *part
	own.Opener = &o.orgView // what is sealed in the sandbox is sealed by its secret
	o.record, o.part, o.self = record, &own, self
	return o
}

// leave counts a call out. A sandbox that was reset ends with the last of those
// it still had.
func (ch *child) leave(s *System) {
	if ch.calls.Add(-1) == 0 && ch.replaced.Load() {
		s.root.Poison(ch.pid)
	}
}

// sandboxRef returns the partition that sandbox keys act in, nil when there has
// never been one.
func (o *orgActor) sandboxRef() (*partition.Ref, error) {
	if o.part != nil {
		return o.part, nil
	}
	rec := &pb.Partition{}
	found := false
	err := o.withStore(func(st *storage.Store) (err error) {
		found, err = st.Get(o.space.Key(storage.TableSandbox), rec)
		return err
	})
	if err != nil || !found {
		return nil, err
	}
	id, err := pb.PartitionIDFrom(rec.GetId())
	if err != nil {
		return nil, err
	}
	o.part = partition.NewRef(sandboxStore(o.id), nil, id, rec)
	return o.part, nil
}

// newSandbox makes an empty partition and writes that it is the sandbox's.
func (o *orgActor) newSandbox(b *storage.Batch) (*partition.Ref, error) {
	id, err := o.sys.newUUID()
	if err != nil {
		return nil, err
	}
	ref, err := (&orgView{sys: o.sys, store: sandboxStore(o.id)}).newPartition(pb.PartitionID(id), pb.PartitionSandbox, sandboxSubject)
	if err != nil {
		return nil, err
	}
	b.Put(o.space.Key(storage.TableSandbox), partitionRecord(ref))
	return ref, nil
}

// toSandbox hands a call to the sandbox's actor.
func (o *orgActor) toSandbox(c *call) {
	if o.sandbox == nil {
		o.startSandbox()
	}
	ch := o.sandbox
	ch.calls.Add(1)
	c.sandbox = ch
	o.send(ch, c)
}

func (o *orgActor) startSandbox() {
	ch := &child{}
	view, record, part := &o.orgView, o.record, o.part
	ch.pid = o.ctx.Spawn(actor.PropsFromProducer(func() actor.Actor { return newSandboxActor(view, record, part, ch) }, actor.WithSupervisor(stopFailed)))
	o.sandbox, o.sandboxDue = ch, false
}

// resumeSandbox opens a sandbox that may have unfinished jobs.
func (o *orgActor) resumeSandbox() error {
	part, err := o.sandboxRef()
	if err != nil || part == nil {
		return err
	}
	there, err := o.sys.cfg.Storage.Exists(part.Store)
	if err != nil {
		return fmt.Errorf("look for the sandbox: %w", err)
	}
	if there && o.sandbox == nil {
		o.startSandbox()
	}
	return nil
}

// sandboxFailed is the word of a sandbox that could not be opened. The next call
// tries again, and so does this when there may be jobs in it.
func (o *orgActor) sandboxFailed(ch *child, why error) {
	o.sys.root.Poison(ch.pid) // behind all that was sent to it
	if o.sandbox != ch {
		return
	}
	o.sandbox = nil
	switch {
	case errors.Is(why, cluster.ErrRemoved):
		o.lose()
	case o.busy:
		o.wakeSandboxLater()
	}
}

// wakeSandboxLater opens a sandbox that has something to do and could not be opened.
func (o *orgActor) wakeSandboxLater() {
	o.sandboxDue = true
	o.sys.clock.AfterFunc(sandboxRetry, func() {
		o.tell(func(o *orgActor) {
			if !o.sandboxDue || o.lost {
				return
			}
			o.sandboxDue = false
			if err := o.resumeSandbox(); err != nil {
				o.sys.log.Error("could not open the sandbox; it is tried again", "org", o.id.String(), "err", err)
				o.wakeSandboxLater()
			}
		})
	})
}

// releaseSandbox is releaseSubject for the sandbox.
func (o *orgActor) releaseSandbox(ch *child, handled uint64) {
	if o.sandbox == ch && ch.spent(handled) {
		o.sandbox = nil
		o.sys.root.Poison(ch.pid)
	}
}

// handleSandboxed continues with a call that the organization has admitted.
func (o *orgActor) handleSandboxed(c *call) {
	o.handled++
	if o.lost || o.self.replaced.Load() {
		c.tryAgain.Store(true)
		c.reply(&pb.Reply{})
		return
	}
	if o.failed != nil {
		c.fail(o.failed)
		return
	}
	o.lastWork = o.sys.clock.Now()
	c.part = o.part
	if o.checkReplay(c) {
		o.marked(c, func() { o.carryOut(c) })
	}
}

// openSandbox makes sure that the store holds nothing but the partition that the
// organization means. A reset only says which that is: what was there before goes
// here, before the first call, however often a crash came between.
func (o *orgActor) openSandbox() error {
	var before []*partition.Ref
	current := false
	err := o.withStore(func(st *storage.Store) error {
		for rec, err := range storage.ScanRecords(st, o.space.Prefix(storage.TablePartition), storage.ScanOptions{}, func() *pb.Partition { return &pb.Partition{} }) {
			if err != nil {
				return err
			}
			id, err := pb.PartitionIDFrom(rec.Value.GetId())
			if err != nil {
				return err
			}
			if id == o.part.ID {
				current = true
				continue
			}
			before = append(before, partition.NewRef(o.store, &o.orgView, id, rec.Value))
		}
		return nil
	})
	if err != nil || current && len(before) == 0 {
		return err
	}
	b := storage.NewBatch(o.store)
	if len(before) > 0 {
		b.EraseRange(o.space.All()) // jobs, outcomes, endpoints, exports: all that came with it
	}
	for _, ref := range before {
		b.EraseRange(ref.Space.All())
		job, err := o.newJob(pb.JobSubjectErase, principal{}, ref, 1)
		if err != nil {
			return err
		}
		putJob(b, o.space, job) // whose end says that the bytes have left the files
	}
	putPartition(b, o.space, o.part)
	return o.committer.Finish(b) // a full disk must not keep it from being read
}

// replaceSandbox puts another actor in the place of the sandbox's, and calls done
// when it has opened, or failed to: what was there before is out of reach either
// way.
func (o *orgActor) replaceSandbox(done func()) {
	if old := o.sandbox; old != nil {
		o.sandbox = nil
		// Counted like a call, so that it ends exactly once, whoever comes last.
		old.calls.Add(1)
		old.replaced.Store(true)
		old.leave(o.sys)
	}
	if err := o.resumeSandbox(); err != nil {
		o.sys.log.Error("could not open the sandbox after its reset; it is tried again", "org", o.id.String(), "err", err)
		o.wakeSandboxLater()
	}
	if o.sandbox == nil {
		done()
		return
	}
	o.sys.root.Send(o.sandbox.pid, &visit{run: func(_ *orgActor, done func(error)) { done(nil) }, done: func(error) { done() }})
}

// ofAccount reports whether an operation concerns the organization and its
// people. The organization answers it, whoever asks; all else a sandbox key asks
// of the sandbox.
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
