package tenant

import (
	"fmt"

	pb "orgmem/proto"
)

// LockKey is something in an organization of which one change at a time is made (locks.Exclusive). A change that
// waits for a second entity while it has a first takes them in the order of this list, so that no two wait for each
// other.
type LockKey string

const (
	// PurgeLock is held by a purge, and behind it the subject that is purged.
	PurgeLock LockKey = "purge"
	// MembersLock is held by what adds or removes a member, and behind it that member's connectors.
	MembersLock LockKey = "members"
	// SandboxLock is held by what makes or resets the sandbox, and behind it the keys of the member who does.
	SandboxLock LockKey = "sandbox"

	// The holder of one of the following waits for no other entity but the directory entry.

	// ConnectorsLock is held by what changes connectors or what they have fetched.
	ConnectorsLock LockKey = "connectors"
	// WebhooksLock is held by what changes the number of webhook endpoints.
	WebhooksLock LockKey = "webhooks"
	// ExportsLock is held by what begins, cancels or removes an export.
	ExportsLock LockKey = "exports"
	// QualityLock is held by what begins or cancels an evaluation.
	QualityLock LockKey = "quality"
	// BrainLock is held by what starts a training or changes a model.
	BrainLock LockKey = "brain"
	// OrganizationLock is held by what changes the organization's own record.
	OrganizationLock LockKey = "organization"

	// directoryLock is the organization's entry in the directory. Behind it nothing is waited for.
	directoryLock LockKey = "directory entry"
)

// SubjectLock is a subject: whether there is one.
func SubjectLock(id string) LockKey { return LockKey("subject " + id) }

// KeysLock are the keys of a member: their number.
func KeysLock(user []byte) LockKey { return LockKey(fmt.Sprintf("keys %x", user)) }

// KeyLock is one key.
func KeyLock(id string) LockKey { return LockKey("key " + id) }

// SettingsLock are the settings of a partition.
func SettingsLock(part pb.PartitionID) LockKey { return LockKey("settings " + part.String()) }

// WebhookLock is one endpoint.
func WebhookLock(id pb.WebhookID) LockKey { return LockKey("webhook " + id.String()) }

// locks are the entities of an organization that a change is under way of.
type locks struct {
	mailbox *Mailbox
	waiting map[LockKey][]func() // by entity: the changes that come next
}

// Exclusive runs f when no other change of the entity is under way, and until
// release is called no other: changes that depend on what is stored must see
// the one before them. release may be called from any goroutine.
func (l *locks) Exclusive(of LockKey, f func(release func())) {
	run := func() {
		f(func() {
			l.mailbox.send(lockReleased{of})
		})
	}
	if waiting, taken := l.waiting[of]; taken {
		l.waiting[of] = append(waiting, run) // bounded by maxCallsPerOrg
		return
	}
	l.waiting[of] = nil
	run()
}

// Waiting returns how many changes of an entity wait for the one that is under way.
func (l *locks) Waiting(of LockKey) int { return len(l.waiting[of]) }

// LocksHeld returns of how many entities a change is under way.
func (l *locks) LocksHeld() int { return len(l.waiting) }

// unlock lets the next change of an entity begin.
func (l *locks) unlock(of LockKey) {
	waiting := l.waiting[of]
	if len(waiting) == 0 {
		delete(l.waiting, of)
		return
	}
	l.waiting[of] = waiting[1:]
	waiting[0]()
}

// abandon gives up all locks and returns what waited for one.
func (l *locks) abandon() (all []func()) {
	for _, queue := range l.waiting {
		all = append(all, queue...)
	}
	l.waiting = map[LockKey][]func(){}
	return all
}
