package tenant

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"time"
	"unicode"
	"unicode/utf8"

	"orgmem/actors/commit"
	"orgmem/actors/partition"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// MaxSubjectBytes bounds a subject key (docs/interface.md, "Subjects").
const MaxSubjectBytes = 256

// keyState is an API key in memory.
type keyState struct {
	Record   *pb.Key
	Buckets  map[string]*Bucket
	digest   string    // pk of the rate-limit policy
	seen     time.Time // when it last authenticated a request
	usedNote time.Time // when its use was last written
}

// The states of an API key (Key.status).
const (
	// KeyActive is the state of a key that works until it expires.
	KeyActive = "active"
	// KeyRevoked is the state of a key that was revoked. It never becomes active again.
	KeyRevoked = "revoked"
)

// Unauthenticated is the refusal of a request whose key is not valid, and of a request to an organization or member
// that is gone. It does not say which of these it was.
func Unauthenticated() *pb.Problem {
	return NewProblem(pb.CodeAuthentication, "The API key is missing, unknown, expired or revoked.")
}

// admit checks a request in the order of docs/interface.md, checks 2 to 5. It answers a request that
// it refuses, and reports whether the request was admitted.
func (o *Org) admit(c *Call) bool {
	now := o.System.Clock.Now()
	key, err := o.key(c.Env)
	switch {
	case err != nil:
		c.Fail(err)
		return false
	case key == nil, key.Record.GetStatus() != KeyActive,
		key.Record.GetExpiresMs() != 0 && clock.Millis(now) >= key.Record.GetExpiresMs():
		c.Refuse(Unauthenticated())
		return false
	}
	hash := pb.KeyHash(key.Record.GetHash())
	user, err := pb.UserIDFrom(key.Record.GetUser())
	if err != nil {
		c.Fail(err)
		return false
	}
	c.Principal = Principal{Key: hash, User: user, Scopes: key.Record.GetScopes(), Sandbox: key.Record.GetSandbox()}
	key.seen = now
	o.noteUse(key, now)

	family := c.Env.GetFamily()
	b := key.Buckets[family]
	if b == nil {
		b = &Bucket{}
		key.Buckets[family] = b
	}
	rate, ok := b.Take(now, LimitOf(family, o.Record.GetPlan()), o.Record.GetPlan() == pb.PlanUnlimited)
	rate.Partition = key.digest
	c.rate = rate
	if !ok {
		p := NewProblem(pb.CodeRateLimit, "The rate limit of the family %q is used up.", family)
		p.RetryAfterS = rate.GetRetryAfterS()
		c.Refuse(p)
		return false
	}

	part, p, err := o.Partition(c.Env, key.Record)
	if err != nil {
		c.Fail(err)
		return false
	}
	if p != nil {
		c.Refuse(p)
		return false
	}
	if part == nil { // the member was removed while the key was still cached
		c.Refuse(Unauthenticated())
		return false
	}
	c.Part = part

	if !Grants(c.Principal.Scopes, c.Env.GetScope()) {
		c.Refuse(NewProblem(pb.CodePermissionDenied, "The key lacks the scope %q.", c.Env.GetScope()))
		return false
	}
	return true
}

// key returns the state of the key that a request carries, nil when the
// organization does not know it.
func (o *Org) key(env *pb.Envelope) (*keyState, error) {
	hash, err := pb.KeyHashFrom(env.GetKeyHash())
	if err != nil {
		return nil, err
	}
	if k := o.Keys[hash]; k != nil {
		return k, nil
	}
	k := &keyState{Record: &pb.Key{}, Buckets: map[string]*Bucket{}}
	use := &pb.Key{}
	found := false
	err = o.WithStore(func(st *storage.Store) error {
		var err error
		if found, err = st.Get(o.Space.Key(storage.TableKey, storage.Hash32(hash)), k.Record); err != nil || !found {
			return err
		}
		_, err = st.Get(o.Space.Key(storage.TableKeyUse, storage.Hash32(hash)), use)
		return err
	})
	if err != nil || !found {
		return nil, err
	}
	k.usedNote = time.UnixMilli(use.GetLastUsedMs())
	mac := hmac.New(sha256.New, o.Secret)
	mac.Write([]byte("pk"))
	mac.Write(hash[:])
	k.digest = hex.EncodeToString(mac.Sum(nil)[:8])
	if len(o.Keys) >= maxCachedKeys {
		now := o.System.Clock.Now()
		for h, other := range o.Keys {
			if now.Sub(other.seen) > BucketRefillTime {
				delete(o.Keys, h)
			}
		}
	}
	o.Keys[hash] = k
	return k, nil
}

// bucketsFull reports whether the buckets of all keys are: they are in memory only, so an
// organization that left it earlier would come back with more than was left.
func (o *Org) bucketsFull() bool {
	now := o.System.Clock.Now()
	for _, k := range o.Keys {
		for family, b := range k.Buckets {
			if b.refill(now, LimitOf(family, o.Record.GetPlan())); b.spent > 0 {
				return false
			}
		}
	}
	return true
}

// noteUse writes lastUsedAt, at most once a minute. Nobody waits for it: a
// crash may lose the last minute's note. A note of a time that is to come was
// written before the clock was put back.
func (o *Org) noteUse(k *keyState, now time.Time) {
	if since := now.Sub(k.usedNote); since >= 0 && since < LastUsedInterval {
		return
	}
	k.usedNote = now
	b := storage.NewBatch(o.Store)
	b.Put(o.Space.Key(storage.TableKeyUse, storage.Hash32(pb.KeyHash(k.Record.GetHash()))),
		&pb.Key{LastUsedMs: clock.Millis(now)})
	o.Committer.Submit(b, func(error) {})
}

// Partition resolves who the request acts as. A route that ignores the selector
// still refuses a subject that was never provisioned.
func (o *Org) Partition(env *pb.Envelope, key *pb.Key) (*partition.Ref, *pb.Problem, error) {
	user, err := pb.UserIDFrom(key.GetUser())
	if err != nil {
		return nil, nil, err
	}
	own, err := o.Member(user)
	if err == nil && own != nil && key.GetSandbox() {
		own, err = o.SandboxRef()
	}
	if err != nil || own == nil || !env.GetHasSubject() {
		return own, nil, err // a removed member's key means nobody, whomever it selects
	}
	if env.GetSubjectMode() == pb.SubjectMode_SUBJECT_REFUSED {
		return nil, NewProblem(pb.CodeSubjectNotSupported,
			"This route acts for the key owner and takes no X-Svc-Subject."), nil
	}
	name := env.GetSubject()
	if key.GetSandbox() {
		if name == string(SandboxSubject) {
			return own, nil, nil
		}
		return nil, NewProblem(pb.CodePermissionDenied, "A sandbox key cannot select another subject."), nil
	}
	var ref *partition.Ref
	if ValidSubject(name) {
		if ref, err = o.LookupSubject(pb.SubjectKey(name)); err != nil {
			return nil, nil, err
		}
	}
	if ref == nil {
		return nil, NewProblem(pb.CodeSubjectNotProvisioned, "The subject was never provisioned, or was erased."), nil
	}
	if env.GetSubjectMode() == pb.SubjectMode_SUBJECT_IGNORED {
		ref = own
	}
	return ref, nil, nil
}

// ValidSubject reports whether a string can be a subject key.
func ValidSubject(s string) bool {
	if s == "" || len(s) > MaxSubjectBytes || !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if unicode.IsControl(r) {
			return false
		}
	}
	return true
}

// Member returns a human member's own partition.
func (o *Org) Member(user pb.UserID) (*partition.Ref, error) {
	if ref := o.Members[user]; ref != nil {
		return ref, nil
	}
	ref, err := o.LoadPartition(pb.PartitionID(user))
	if err != nil || ref == nil || ref.Kind != pb.PartitionMember {
		return nil, err // a subject's partition has an id of the same kind, and is nobody's
	}
	if len(o.Members) >= maxCachedSubjects {
		clear(o.Members)
	}
	o.Members[user] = ref
	return ref, nil
}

// LookupSubject returns a provisioned subject's partition, nil when there is
// none.
func (o *Org) LookupSubject(name pb.SubjectKey) (*partition.Ref, error) {
	if ref := o.Subjects[name]; ref != nil {
		return ref, nil
	}
	var id pb.PartitionID
	found := false
	err := o.WithStore(func(st *storage.Store) error {
		raw, ok, err := st.GetRaw(o.Space.Key(storage.TableSubject, storage.Str(name)))
		if err != nil || !ok {
			return err
		}
		found = true
		id, err = pb.PartitionIDFrom(raw)
		return err
	})
	if err != nil || !found {
		return nil, err
	}
	ref, err := o.LoadPartition(id)
	if err != nil || ref == nil {
		return nil, err
	}
	o.rememberSubject(ref)
	return ref, nil
}

func (o *Org) rememberSubject(ref *partition.Ref) {
	if len(o.Subjects) >= maxCachedSubjects {
		clear(o.Subjects)
	}
	o.Subjects[ref.Subject] = ref
}

// LoadPartition reads a partition from the store, past what the actor remembers. It returns nil where the organization
// has no partition of that id, and where the partition is being erased.
func (o *Org) LoadPartition(id pb.PartitionID) (*partition.Ref, error) {
	if o.Erasing[id] {
		return nil, nil
	}
	rec := &pb.Partition{}
	found := false
	err := o.WithStore(func(st *storage.Store) (err error) {
		found, err = st.Get(o.Space.Key(storage.TablePartition, storage.ID16(id)), rec)
		return err
	})
	if err != nil || !found || rec.GetErasing() {
		return nil, err
	}
	return partition.NewRef(o.Store, &o.View, id, rec), nil
}

// StillInUse reports whether a call that has waited may go on, and answers one whose
// partition began to be erased meanwhile: what it would write now would outlive
// the erasure.
func (o *Org) StillInUse(c *Call) bool {
	ref, err := o.LoadPartition(c.Part.ID)
	switch {
	case err != nil:
		c.Fail(err)
	case ref == nil && c.Part.Kind == pb.PartitionMember:
		c.Refuse(Unauthenticated())
	case ref == nil && c.Part.Kind == pb.PartitionSandbox: // it was reset; the next call finds it empty
		c.Fail(commit.ErrLost)
	case ref == nil:
		c.Refuse(NewProblem(pb.CodeSubjectNotProvisioned, "The subject was erased meanwhile."))
	}
	return err == nil && ref != nil
}
