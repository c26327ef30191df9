package tenant

import (
	"errors"
	"fmt"

	"github.com/asynkron/protoactor-go/actor"

	"orgmem/actors/partition"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/storage"
)

// sandboxHost is an organization's side of its sandbox.
type sandboxHost struct {
	org         *Org
	sandboxPart *partition.Ref // the sandbox's; nil until one exists and is needed
	Sandbox     *Child         // its actor, nil when it sleeps
	sandboxDue  bool           // it must be woken, because it may have unfinished jobs
}

// SandboxRef returns the partition that sandbox keys act in, nil when there has
// never been one.
func (h *sandboxHost) SandboxRef() (*partition.Ref, error) {
	if h.sandboxPart != nil {
		return h.sandboxPart, nil
	}
	rec := &pb.Partition{}
	found := false
	err := h.org.WithStore(func(st *storage.Store) (err error) {
		found, err = st.Get(h.org.Space.Key(storage.TableSandbox), rec)
		return err
	})
	if err != nil || !found {
		return nil, err
	}
	id, err := pb.PartitionIDFrom(rec.GetId())
	if err != nil {
		return nil, err
	}
	h.sandboxPart = partition.NewRef(SandboxStore(h.org.ID), nil, id, rec)
	return h.sandboxPart, nil
}

// RememberSandbox says that the sandbox is another now: one that NewSandbox made, whose commit was answered.
func (h *sandboxHost) RememberSandbox(part *partition.Ref) { h.sandboxPart = part }

// NewSandbox makes an empty partition and writes that it is the sandbox's.
func (h *sandboxHost) NewSandbox(b *storage.Batch) (*partition.Ref, error) {
	id, err := h.org.System.NewUUID()
	if err != nil {
		return nil, err
	}
	view := &View{System: h.org.System, Store: SandboxStore(h.org.ID)}
	ref, err := view.NewPartition(pb.PartitionID(id), pb.PartitionSandbox, SandboxSubject)
	if err != nil {
		return nil, err
	}
	b.Put(h.org.Space.Key(storage.TableSandbox), partitionRecord(ref))
	return ref, nil
}

// toSandbox hands a call to the sandbox's actor.
func (h *sandboxHost) toSandbox(c *Call) {
	if h.Sandbox == nil {
		h.startSandbox()
	}
	ch := h.Sandbox
	ch.Calls.Add(1)
	c.sandbox = ch
	h.org.Send(ch, c)
}

func (h *sandboxHost) startSandbox() {
	ch := &Child{}
	view, record, part := &h.org.View, h.org.record, h.sandboxPart
	ch.PID = h.org.Context.Spawn(actor.PropsFromProducer(func() actor.Actor {
		return newSandboxActor(view, record, part, ch)
	}, actor.WithSupervisor(StopFailed)))
	h.Sandbox, h.sandboxDue = ch, false
}

// ResumeSandbox opens a sandbox that may have unfinished jobs.
func (h *sandboxHost) ResumeSandbox() error {
	part, err := h.SandboxRef()
	if err != nil || part == nil {
		return err
	}
	there, err := h.org.System.Config.Storage.Exists(part.Store)
	if err != nil {
		return fmt.Errorf("look for the sandbox: %w", err)
	}
	if there && h.Sandbox == nil {
		h.startSandbox()
	}
	return nil
}

// sandboxFailed is the word of a sandbox that could not be opened. The next call
// tries again, and so does this when there may be jobs in it.
func (h *sandboxHost) sandboxFailed(ch *Child, why error) {
	h.org.System.ActorRoot.Poison(ch.PID) // behind all that was sent to it
	if h.Sandbox != ch {
		return
	}
	h.Sandbox = nil
	switch {
	case errors.Is(why, wire.ErrRemoved):
		h.org.Retire()
	case h.org.busyMark.set:
		h.WakeSandboxLater()
	}
}

// WakeSandboxLater opens a sandbox that has something to do and could not be opened.
func (h *sandboxHost) WakeSandboxLater() {
	h.sandboxDue = true
	h.org.System.Clock.AfterFunc(sandboxRetry, func() { h.org.send(sandboxDue{}) })
}

// openDueSandbox tries once more, where nobody else has meanwhile.
func (h *sandboxHost) openDueSandbox() {
	if !h.sandboxDue || h.org.Retired {
		return
	}
	h.sandboxDue = false
	if err := h.ResumeSandbox(); err != nil {
		h.org.System.Log.Error("could not open the sandbox; it is tried again", "org", h.org.ID.String(), "err", err)
		h.WakeSandboxLater()
	}
}

// ReleaseSandbox is ReleaseSubject for the sandbox.
func (h *sandboxHost) ReleaseSandbox(ch *Child, handled uint64) {
	if h.Sandbox == ch && ch.spent(handled) {
		h.Sandbox = nil
		h.org.System.ActorRoot.Poison(ch.PID)
	}
}

// ReplaceSandbox puts another actor in the place of the sandbox's, and calls done
// when it has opened, or failed to: what was there before is out of reach either
// way.
func (h *sandboxHost) ReplaceSandbox(done func()) {
	if old := h.Sandbox; old != nil {
		h.Sandbox = nil
		// Counted like a call, so that the last to leave ends it, exactly once.
		old.Calls.Add(1)
		old.replaced.Store(true)
		old.Leave(h.org.System)
	}
	if err := h.ResumeSandbox(); err != nil {
		h.org.System.Log.Error("could not open the sandbox after its reset; it is tried again", "org", h.org.ID.String(),
			"err", err)
		h.WakeSandboxLater()
	}
	if h.Sandbox == nil {
		done()
		return
	}
	h.org.System.ActorRoot.Send(h.Sandbox.PID, &Visit{
		Run:  func(_ *Org, done func(error)) { done(nil) },
		Done: func(error) { done() },
	})
}
