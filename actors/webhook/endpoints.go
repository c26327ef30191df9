package webhook

import (
	"slices"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
)

const (
	// SigningSecrets is the kind of secret under which the signing secrets of endpoints are sealed.
	SigningSecrets = "orgmem webhook secret"
	// allEvents subscribes to everything.
	allEvents = "*"
)

// published says of each type in the interface's catalogue whether this version publishes such events.
var published = map[string]bool{
	pb.EventGraphUpdated: true, pb.EventJobCompleted: true, pb.EventBeliefSuperseded: true, pb.EventWebhookTest: true,
	pb.EventInsightProposed: true, pb.EventContradictionFound: true, pb.EventBasinShifted: true,
	pb.EventBrainTrained: true,
}

// UnpublishedTypes lists, of the types that an endpoint subscribes to, those that this version never publishes, in
// order.
func UnpublishedTypes(subscribed []string) []string {
	var out []string
	for kind, alive := range published {
		if !alive && (slices.Contains(subscribed, kind) || slices.Contains(subscribed, allEvents)) {
			out = append(out, kind)
		}
	}
	slices.Sort(out)
	return out
}

// RecordKey is the key of an endpoint's record.
func RecordKey(space storage.Space, id pb.WebhookID) storage.Key {
	return space.Key(storage.TableWebhook, storage.ID16(id))
}

// endpoints reads and writes the records of an organization's endpoints. It keeps nothing in memory, and may be used
// from any goroutine.
type endpoints struct{ org *tenant.View }

func (e endpoints) key(id pb.WebhookID) storage.Key { return RecordKey(e.org.Space, id) }

// get returns the endpoint of this id, or nil.
func (e endpoints) get(r storage.Reader, id pb.WebhookID) (*pb.Webhook, error) {
	hook := &pb.Webhook{}
	found, err := r.Get(e.key(id), hook)
	if err != nil || !found {
		return nil, err
	}
	return hook, nil
}

// load is get on the organization's store.
func (e endpoints) load(id pb.WebhookID) (hook *pb.Webhook, err error) {
	err = e.org.WithStore(func(st *storage.Store) (err error) {
		hook, err = e.get(st, id)
		return err
	})
	return hook, err
}

// find returns the endpoint that a request names, or nil.
func (e endpoints) find(r storage.Reader, id string) (*pb.Webhook, error) {
	hookID, err := pb.ParseWebhookID(id)
	if err != nil {
		return nil, nil //nolint:nilerr // what is no id names no endpoint
	}
	return e.get(r, hookID)
}

// all returns the endpoints, newest first.
func (e endpoints) all(r storage.Reader) ([]*pb.Webhook, error) {
	var all []*pb.Webhook
	for rec, err := range storage.ScanRecords(r, e.org.Space.Prefix(storage.TableWebhook), storage.ScanOptions{},
		func() *pb.Webhook { return &pb.Webhook{} }) {
		if err != nil {
			return nil, err
		}
		all = append(all, rec.Value)
	}
	slices.SortFunc(all, func(a, b *pb.Webhook) int { return tenant.NewerFirst(a, b) })
	return all, nil
}

// loadAll is all on the organization's store.
func (e endpoints) loadAll() (all []*pb.Webhook, err error) {
	err = e.org.WithStore(func(st *storage.Store) (err error) {
		all, err = e.all(st)
		return err
	})
	return all, err
}

// seal returns an endpoint as it is stored: with its secret sealed.
func (e endpoints) seal(hook *pb.Webhook) (*pb.Webhook, error) {
	sealed, err := e.org.Seal(SigningSecrets, []byte(hook.GetSecret()), hook.GetId())
	if err != nil {
		return nil, err
	}
	stored := proto.CloneOf(hook)
	stored.Secret, stored.Sealed = "", sealed
	return stored, nil
}

// unseal puts a stored endpoint's secret into it.
func (e endpoints) unseal(hook *pb.Webhook) error {
	if hook.GetSealed() == nil {
		return nil // it was made before secrets were sealed
	}
	secret, _, err := e.org.Unseal(SigningSecrets, hook.GetSealed(), hook.GetId())
	if err != nil {
		return err
	}
	hook.Secret = string(secret)
	return nil
}

// reseal adds an endpoint to a batch if its secret is stored unsealed, or sealed under a former key.
func (e endpoints) reseal(b *storage.Batch, hook *pb.Webhook) error {
	if hook.GetSecret() == "" {
		secret, keyless, err := e.org.Unseal(SigningSecrets, hook.GetSealed(), hook.GetId())
		if err != nil || !keyless {
			return nil //nolint:nilerr // the error is reported where the secret is used
		}
		hook.Secret = string(secret)
	}
	stored, err := e.seal(hook)
	if err != nil {
		return err
	}
	key := e.key(pb.WebhookID(hook.GetId()))
	b.Erase(key)
	b.Put(key, stored)
	return nil
}

// isOrphan reports whether an endpoint's creator has left, and nobody has enabled it since. A sandbox has no members.
func (e endpoints) isOrphan(r storage.Reader, hook *pb.Webhook) (bool, error) {
	if e.org.Main != nil || hook.GetOutlivedCreator() {
		return false, nil
	}
	user, err := pb.UserIDFrom(hook.GetUser())
	if err != nil {
		return false, err
	}
	member := &pb.Partition{}
	found, err := r.Get(e.org.Space.Key(storage.TablePartition, storage.ID16(user)), member)
	return !found || member.GetErasing(), err
}

// receives is the interface's rule of reach for an endpoint ("Webhook delivery"): an endpoint receives the types that
// it subscribes to, except events about persons other than its creator, whose data the creator may not read. Events
// about a provisioned subject or the whole organization reach every endpoint. A sandbox has no persons.
func (e endpoints) receives(hook *pb.Webhook, event *pb.OutboxEvent) bool {
	kind := event.GetType()
	if _, known := published[kind]; !known || kind == pb.EventWebhookTest {
		return false // a test event goes to the streams alone
	}
	if !slices.Contains(hook.GetEventTypes(), allEvents) && !slices.Contains(hook.GetEventTypes(), kind) {
		return false
	}
	return e.maySee(hook.GetUser(), event)
}

// maySee is the part of the rule of reach that says which person's events a user may be told.
func (e endpoints) maySee(user []byte, event *pb.OutboxEvent) bool {
	kind := event.GetType()
	if e.org.Main != nil || kind == pb.EventInsightProposed || kind == pb.EventBrainTrained {
		return true
	}
	return len(event.GetPartition()) == 0 || event.GetSubject() != "" || string(event.GetPartition()) == string(user)
}

// shownWebhook is what a caller sees of a stored endpoint.
func shownWebhook(hook *pb.Webhook) *pb.Webhook {
	return &pb.Webhook{
		Id: hook.Id, Url: hook.Url, EventTypes: hook.EventTypes, Disabled: hook.Disabled, DisabledReason: hook.DisabledReason,
		Failures: hook.Failures, LastDeliveryMs: hook.LastDeliveryMs, LastSuccessMs: hook.LastSuccessMs,
		CreatedMs: hook.CreatedMs, UpdatedMs: hook.UpdatedMs,
	}
}
