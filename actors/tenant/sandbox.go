package tenant

import (
	"crypto/hmac"
	"crypto/sha256"
	"time"

	"orgmem/actors/partition"
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
		Mailbox: Mailbox{root: main.root}, System: main.System, ID: main.ID, Store: part.Store,
		Space:      storage.OrgSpace(part.Store),
		Activation: main.Activation, Main: main, Modules: o.Modules,
	}
	o.Residents = main.System.Memory.NewResidents(part.Store, o.partitionRead)
	// A cursor of the sandbox must not open the organization's lists.
	mac := hmac.New(sha256.New, main.Secret)
	mac.Write([]byte("sandbox"))
	o.Secret = mac.Sum(nil)
	own := *part
	own.Opener = &o.View // what is sealed in the sandbox is sealed by its secret
	o.record, o.sandboxPart, o.self = record, &own, self
	return o
}

// inSandbox is what the actor of a sandbox remembers beside what every organization's does.
type inSandbox struct {
	org     *Org
	self    *Child // what the organization knows it as
	handled uint64 // how much of what the organization has sent was dealt with
}

// handleSandboxed continues with a call that the organization has admitted.
func (in *inSandbox) handleSandboxed(c *Call) {
	in.handled++
	if in.org.Retired || in.self.replaced.Load() {
		c.tryAgain.Store(true)
		c.Reply(&pb.Reply{})
		return
	}
	if in.org.Failed != nil {
		c.Fail(in.org.Failed)
		return
	}
	in.org.lastWork = in.org.System.Clock.Now()
	c.Part = in.org.sandboxPart
	if in.org.checkReplay(c) {
		in.org.withMarkForEvents(c, func() { in.org.carryOut(c) })
	}
}

// openSandbox makes sure that the store holds nothing but the partition that the
// organization means. A reset only says which that is: what was there before goes
// here, before the first call, however often a crash came between.
func (in *inSandbox) openSandbox() error {
	var before []*partition.Ref
	current := false
	err := in.org.WithStore(func(st *storage.Store) error {
		for rec, err := range storage.ScanRecords(st, in.org.Space.Prefix(storage.TablePartition), storage.ScanOptions{},
			func() *pb.Partition { return &pb.Partition{} }) {
			if err != nil {
				return err
			}
			id, err := pb.PartitionIDFrom(rec.Value.GetId())
			if err != nil {
				return err
			}
			if id == in.org.sandboxPart.ID {
				current = true
				continue
			}
			before = append(before, partition.NewRef(in.org.Store, &in.org.View, id, rec.Value))
		}
		return nil
	})
	if err != nil || current && len(before) == 0 {
		return err
	}
	b := storage.NewBatch(in.org.Store)
	if len(before) > 0 {
		b.EraseRange(in.org.Space.All()) // jobs, outcomes, endpoints, exports: all that came with it
	}
	for _, ref := range before {
		b.EraseRange(ref.Space.All())
		job, err := in.org.NewJob(pb.JobSubjectErase, Principal{}, ref, 1)
		if err != nil {
			return err
		}
		PutJob(b, in.org.Space, job) // whose end says that the bytes have left the files
	}
	PutPartition(b, in.org.Space, in.org.sandboxPart)
	return in.org.Committer.Finish(b) // a full disk must not keep it from being read
}

// Leave counts a call out. A sandbox that was reset ends with the last of those
// it still had.
func (ch *Child) Leave(s *System) {
	if ch.Calls.Add(-1) == 0 && ch.replaced.Load() {
		s.ActorRoot.Poison(ch.PID)
	}
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
