package actors

import (
	"fmt"

	pb "orgmem/proto"
)

// entity is something in an organization of which one change at a time is made (orgActor.exclusive). A change that
// waits for a second entity while it has a first takes them in the order of this list, so that no two wait for each
// other.
type entity string

const (
	// purgeLock is had by a purge, and behind it the subject that is purged.
	purgeLock entity = "purge"
	// membersLock is had by what adds or removes a member, and behind it that member's connectors.
	membersLock entity = "members"
	// sandboxLock is had by what makes or resets the sandbox, and behind it the keys of the member who does.
	sandboxLock entity = "sandbox"

	// Behind these nothing is waited for but the directory.
	connectorsLock   entity = "connectors"
	webhooksLock     entity = "webhooks" // their number
	exportsLock      entity = "exports"
	brainLock        entity = "brain"
	organizationLock entity = "organization"

	// directoryLock is the organization's entry in the directory. Behind it nothing is waited for.
	directoryLock entity = "directory entry"
)

// subjectLock is a subject: whether there is one.
func subjectLock(id string) entity { return entity("subject " + id) }

// keysLock are the keys of a member: their number.
func keysLock(user []byte) entity { return entity(fmt.Sprintf("keys %x", user)) }

// keyLock is one key.
func keyLock(id string) entity { return entity("key " + id) }

// settingsLock are the settings of a partition.
func settingsLock(part pb.PartitionID) entity { return entity("settings " + part.String()) }

// webhookLock is one endpoint.
func webhookLock(id pb.WebhookID) entity { return entity("webhook " + id.String()) }

// exclusive runs f when no other change of the entity is under way, and until
// release is called no other: changes that depend on what is stored must see
// the one before them. release may be called from any goroutine.
func (o *orgActor) exclusive(of entity, f func(release func())) {
	run := func() {
		f(func() {
			o.tell(func(o *orgActor) {
				waiting := o.locks[of]
				if len(waiting) == 0 {
					delete(o.locks, of)
					return
				}
				o.locks[of] = waiting[1:]
				waiting[0]()
			})
		})
	}
	if waiting, taken := o.locks[of]; taken {
		o.locks[of] = append(waiting, run) // bounded by maxCallsPerOrg
		return
	}
	o.locks[of] = nil
	run()
}
