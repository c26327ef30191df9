package actors

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

// maxSubjectBytes bounds a subject key (docs/interface.md, "Subjects").
const maxSubjectBytes = 256

// keyState is an API key in memory.
type keyState struct {
	record   *pb.Key
	buckets  map[string]*bucket
	digest   string    // pk of the rate-limit policy
	seen     time.Time // when it last authenticated a request
	usedNote time.Time // when its use was last written
}

const (
	keyActive  = "active"
	keyRevoked = "revoked"
)

func unauthenticated() *pb.Problem {
	return problem(pb.CodeAuthentication, "The API key is missing, unknown, expired or revoked.")
}

// admit checks a request in the order of docs/interface.md, checks 2 to 5,
// and answers it when it must not go on.
func (o *orgActor) admit(c *call) bool {
	now := o.sys.clock.Now()
	key, err := o.key(c.env)
	switch {
	case err != nil:
		c.fail(err)
		return false
	case key == nil, key.record.GetStatus() != keyActive,
		key.record.GetExpiresMs() != 0 && clock.Millis(now) >= key.record.GetExpiresMs():
		c.refuse(unauthenticated())
		return false
	}
	hash := pb.KeyHash(key.record.GetHash())
	user, err := pb.UserIDFrom(key.record.GetUser())
	if err != nil {
		c.fail(err)
		return false
	}
	c.who = principal{key: hash, user: user, scopes: key.record.GetScopes(), sandbox: key.record.GetSandbox()}
	key.seen = now
	o.noteUse(key, now)

	family := c.env.GetFamily()
	b := key.buckets[family]
	if b == nil {
		b = &bucket{}
		key.buckets[family] = b
	}
	rate, ok := b.take(now, limitOf(family, o.record.GetPlan()), o.record.GetPlan() == pb.PlanUnlimited)
	rate.Partition = key.digest
	c.rate = rate
	if !ok {
		p := problem(pb.CodeRateLimit, "The rate limit of the family %q is used up.", family)
		p.RetryAfterS = rate.GetRetryAfterS()
		c.refuse(p)
		return false
	}

	part, p, err := o.partition(c.env, key.record)
	if err != nil {
		c.fail(err)
		return false
	}
	if p != nil {
		c.refuse(p)
		return false
	}
	if part == nil { // the member was removed while the key was still cached
		c.refuse(unauthenticated())
		return false
	}
	c.part = part

	if !grants(c.who.scopes, c.env.GetScope()) {
		c.refuse(problem(pb.CodePermissionDenied, "The key lacks the scope %q.", c.env.GetScope()))
		return false
	}
	return true
}

// key returns the state of the key that a request carries, nil when the
// organization does not know it.
func (o *orgActor) key(env *pb.Envelope) (*keyState, error) {
	hash, err := pb.KeyHashFrom(env.GetKeyHash())
	if err != nil {
		return nil, err
	}
	if k := o.keys[hash]; k != nil {
		return k, nil
	}
	k := &keyState{record: &pb.Key{}, buckets: map[string]*bucket{}}
	use := &pb.Key{}
	found := false
	err = o.withStore(func(st *storage.Store) error {
		var err error
		if found, err = st.Get(o.space.Key(storage.TableKey, storage.Hash32(hash)), k.record); err != nil || !found {
			return err
		}
		_, err = st.Get(o.space.Key(storage.TableKeyUse, storage.Hash32(hash)), use)
		return err
	})
	if err != nil || !found {
		return nil, err
	}
	k.usedNote = time.UnixMilli(use.GetLastUsedMs())
	mac := hmac.New(sha256.New, o.secret)
	mac.Write([]byte("pk"))
	mac.Write(hash[:])
	k.digest = hex.EncodeToString(mac.Sum(nil)[:8])
	if len(o.keys) >= maxCachedKeys {
		now := o.sys.clock.Now()
		for h, other := range o.keys {
			if now.Sub(other.seen) > fullAgain {
				delete(o.keys, h)
			}
		}
	}
	o.keys[hash] = k
	return k, nil
}

// full reports whether the buckets of all keys are: they are in memory only, so an
// organization that left it earlier would come back with more than was left.
func (o *orgActor) full() bool {
	now := o.sys.clock.Now()
	for _, k := range o.keys {
		for family, b := range k.buckets {
			if b.refill(now, limitOf(family, o.record.GetPlan())); b.spent > 0 {
				return false
			}
		}
	}
	return true
}

// noteUse writes lastUsedAt, at most once a minute. Nobody waits for it: a
// crash may lose the last minute's note. A note of a time that is to come was
// written before the clock was put back.
func (o *orgActor) noteUse(k *keyState, now time.Time) {
	if since := now.Sub(k.usedNote); since >= 0 && since < useWriteInterval {
		return
	}
	k.usedNote = now
	b := storage.NewBatch(o.store)
	b.Put(o.space.Key(storage.TableKeyUse, storage.Hash32(pb.KeyHash(k.record.GetHash()))), &pb.Key{LastUsedMs: clock.Millis(now)})
	o.committer.Submit(b, func(error) {})
}

// partition resolves who the request acts as. A route that ignores the selector
// still refuses a subject that was never provisioned.
func (o *orgActor) partition(env *pb.Envelope, key *pb.Key) (*partition.Ref, *pb.Problem, error) {
	user, err := pb.UserIDFrom(key.GetUser())
	if err != nil {
		return nil, nil, err
	}
	own, err := o.member(user)
	if err == nil && own != nil && key.GetSandbox() {
		own, err = o.sandboxRef()
	}
	if err != nil || own == nil || !env.GetHasSubject() {
		return own, nil, err // a removed member's key means nobody, whomever it selects
	}
	if env.GetSubjectMode() == pb.SubjectMode_SUBJECT_REFUSED {
		return nil, problem(pb.CodeSubjectNotSupported, "This route acts for the key owner and takes no X-Svc-Subject."), nil
	}
	name := env.GetSubject()
	if key.GetSandbox() {
		if name == string(sandboxSubject) {
			return own, nil, nil
		}
		return nil, problem(pb.CodePermissionDenied, "A sandbox key cannot select another subject."), nil
	}
	var ref *partition.Ref
	if validSubject(name) {
		if ref, err = o.lookupSubject(pb.SubjectKey(name)); err != nil {
			return nil, nil, err
		}
	}
	if ref == nil {
		return nil, problem(pb.CodeSubjectNotProvisioned, "The subject was never provisioned, or was erased."), nil
	}
	if env.GetSubjectMode() == pb.SubjectMode_SUBJECT_IGNORED {
		ref = own
	}
	return ref, nil, nil
}

// validSubject reports whether a string can be a subject key.
func validSubject(s string) bool {
	if s == "" || len(s) > maxSubjectBytes || !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if unicode.IsControl(r) {
			return false
		}
	}
	return true
}

// member returns a human member's own partition.
func (o *orgActor) member(user pb.UserID) (*partition.Ref, error) {
	if ref := o.members[user]; ref != nil {
		return ref, nil
	}
	ref, err := o.loadPartition(pb.PartitionID(user))
	if err != nil || ref == nil || ref.Kind != pb.PartitionMember {
		return nil, err // a subject's partition has an id of the same kind, and is nobody's
	}
	if len(o.members) >= maxCachedSubjects {
		clear(o.members)
	}
	o.members[user] = ref
	return ref, nil
}

// lookupSubject returns a provisioned subject's partition, nil when there is
// none.
func (o *orgActor) lookupSubject(name pb.SubjectKey) (*partition.Ref, error) {
	if ref := o.subjects[name]; ref != nil {
		return ref, nil
	}
	var id pb.PartitionID
	found := false
	err := o.withStore(func(st *storage.Store) error {
		raw, ok, err := st.GetRaw(o.space.Key(storage.TableSubject, storage.Str(name)))
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
	ref, err := o.loadPartition(id)
	if err != nil || ref == nil {
		return nil, err
	}
	o.rememberSubject(ref)
	return ref, nil
}

func (o *orgActor) rememberSubject(ref *partition.Ref) {
	if len(o.subjects) >= maxCachedSubjects {
		clear(o.subjects)
	}
	o.subjects[ref.Subject] = ref
}

func (o *orgActor) loadPartition(id pb.PartitionID) (*partition.Ref, error) {
	if o.erasing[id] {
		return nil, nil
	}
	rec := &pb.Partition{}
	found := false
	err := o.withStore(func(st *storage.Store) (err error) {
		found, err = st.Get(o.space.Key(storage.TablePartition, storage.ID16(id)), rec)
		return err
	})
	if err != nil || !found || rec.GetErasing() {
		return nil, err
	}
	return partition.NewRef(o.store, &o.orgView, id, rec), nil
}

// inUse reports whether a call that has waited may go on, and answers one whose
// partition began to be erased meanwhile: what it would write now would outlive
// the erasure.
func (o *orgActor) inUse(c *call) bool {
	ref, err := o.loadPartition(c.part.ID)
	switch {
	case err != nil:
		c.fail(err)
	case ref == nil && c.part.Kind == pb.PartitionMember:
		c.refuse(unauthenticated())
	case ref == nil && c.part.Kind == pb.PartitionSandbox: // it was reset; the next call finds it empty
		c.fail(commit.ErrLost)
	case ref == nil:
		c.refuse(problem(pb.CodeSubjectNotProvisioned, "The subject was erased meanwhile."))
	}
	return err == nil && ref != nil
}
