package tenant

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"time"
	"unicode"
	"unicode/utf8"

	"orgmem/actors/commit"
	"orgmem/actors/partition"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/proto/tracing"
	"orgmem/storage"
)

// MaxSubjectBytes bounds a subject key (docs/interface.md, "Subjects").
const MaxSubjectBytes = 256

// Unauthenticated refuses a key that is not valid, or whose organization or member is gone, and does not say which.
func Unauthenticated() *pb.Problem {
	return NewProblem(pb.CodeAuthentication, "The API key is missing, unknown, expired or revoked.")
}

// admit checks a request in the order of docs/interface.md, checks 2 to 5. It answers a request that
// it refuses, and reports whether the request was admitted.
func (o *Org) admit(c *Call) bool {
	c.admitted = o.System.Clock.Now()
	o.System.Config.Tracer.Tell(c.Env.GetTrace(), tracing.StepMailbox, c.sent)
	span := o.System.Config.Tracer.Start(c.Env.GetTrace(), tracing.StepAdmission)
	defer span.End()
	span.Org(o.ID)
	key, err := o.key(c.Env)
	switch {
	case err != nil:
		c.Fail(err)
		return false
	case key == nil, key.Record.GetStatus() != pb.KeyActive,
		key.Record.GetExpiresMs() != 0 && clock.Millis(c.admitted) >= key.Record.GetExpiresMs():
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
	key.seen = c.admitted
	o.noteUse(key, c.admitted)

	family := c.Env.GetFamily()
	b := key.Buckets[family]
	if b == nil {
		b = &Bucket{}
		key.Buckets[family] = b
	}
	rate, ok := b.Take(c.admitted, LimitOf(family, o.record.GetPlan()), o.record.GetPlan() == pb.PlanUnlimited)
	rate.Partition = key.digest
	c.rate = rate
	span.Int(tracing.AttributeRate, int(rate.GetRemaining()))
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

// keyState is an API key in memory.
type keyState struct {
	Record   *pb.Key
	Buckets  map[string]*Bucket
	digest   string    // pk of the rate-limit policy
	seen     time.Time // when it last authenticated a request
	usedNote time.Time // when its use was last written
}

// keyring are the API keys of an organization that its actor remembers, with their rate buckets.
type keyring struct {
	view *View
	keys map[pb.KeyHash]*keyState
}

// ForgetKey forgets a key that was revoked.
func (r *keyring) ForgetKey(hash pb.KeyHash) { delete(r.keys, hash) }

// Replan moves the buckets of all keys from one plan to another.
func (r *keyring) Replan(from, to string) {
	now := r.view.System.Clock.Now()
	for _, k := range r.keys {
		for family, b := range k.Buckets {
			b.Replan(now, LimitOf(family, from), LimitOf(family, to))
		}
	}
}

// key returns the state of the key that a request carries, nil when the
// organization does not know it.
func (r *keyring) key(env *pb.Envelope) (*keyState, error) {
	hash, err := pb.KeyHashFrom(env.GetKeyHash())
	if err != nil {
		return nil, err
	}
	if k := r.keys[hash]; k != nil {
		return k, nil
	}
	k := &keyState{Record: &pb.Key{}, Buckets: map[string]*Bucket{}}
	use := &pb.Key{}
	found := false
	err = r.view.WithStore(func(st *storage.Store) error {
		var err error
		if found, err = st.Get(r.view.Space.Key(storage.TableKey, storage.Hash32(hash)), k.Record); err != nil || !found {
			return err
		}
		_, err = st.Get(r.view.Space.Key(storage.TableKeyUse, storage.Hash32(hash)), use)
		return err
	})
	if err != nil || !found {
		return nil, err
	}
	k.usedNote = time.UnixMilli(use.GetLastUsedMs())
	mac := hmac.New(sha256.New, r.view.Secret)
	mac.Write([]byte("pk"))
	mac.Write(hash[:])
	k.digest = hex.EncodeToString(mac.Sum(nil)[:8])
	if len(r.keys) >= maxCachedKeys {
		now := r.view.System.Clock.Now()
		for h, other := range r.keys {
			if now.Sub(other.seen) > BucketRefillTime {
				delete(r.keys, h)
			}
		}
	}
	r.keys[hash] = k
	return k, nil
}

// bucketsFull reports whether the buckets of all keys are: they are in memory only, so an
// organization that left it earlier would come back with more than was left.
func (r *keyring) bucketsFull(plan string) bool {
	now := r.view.System.Clock.Now()
	for _, k := range r.keys {
		for family, b := range k.Buckets {
			if b.refill(now, LimitOf(family, plan)); b.spent > 0 {
				return false
			}
		}
	}
	return true
}

// noteUse writes lastUsedAt, at most once a minute. Nobody waits for it: a
// crash may lose the last minute's note. A note of a time that is to come was
// written before the clock was put back.
func (r *keyring) noteUse(k *keyState, now time.Time) {
	if since := now.Sub(k.usedNote); since >= 0 && since < LastUsedInterval {
		return
	}
	k.usedNote = now
	b := storage.NewBatch(r.view.Store)
	b.Put(r.view.Space.Key(storage.TableKeyUse, storage.Hash32(pb.KeyHash(k.Record.GetHash()))),
		&pb.Key{LastUsedMs: clock.Millis(now)})
	r.view.Committer.Submit(b, func(error) {})
}

// Limit is a token bucket's shape: at most burst tokens, refilled continuously
// at PerMinute tokens a minute.
type Limit struct{ Burst, PerMinute float64 }

// room is how much a full bucket holds, in parts of oneToken.
func (l Limit) room() int64 { return int64(l.Burst) * oneToken }

// limits are the figures of docs/interface.md ("Rate limits"), those of the plan
// `standard`.
var limits = map[string]Limit{
	pb.FamilyReads:    {100, 300},
	pb.FamilyWrites:   {30, 120},
	pb.FamilyIngest:   {30, 60},
	pb.FamilySessions: {300, 600},
	pb.FamilySearch:   {30, 120},
	pb.FamilyExports:  {10, 30},
	pb.FamilyDefault:  {60, 120},
}

// PlanFactor multiplies both figures of every family; an unlimited plan shows
// the figures of scale in its headers and is never refused.
var PlanFactor = map[string]float64{pb.PlanFree: 0.5, pb.PlanStandard: 1, pb.PlanScale: 10, pb.PlanUnlimited: 10}

// LimitOf is the limit of a route family under a plan. A family that is not in the table has the figures of
// pb.FamilyDefault, and an unknown plan those of the plan `standard`.
func LimitOf(family, plan string) Limit {
	l, ok := limits[family]
	if !ok {
		l = limits[pb.FamilyDefault]
	}
	f, ok := PlanFactor[plan]
	if !ok {
		f = 1
	}
	return Limit{l.Burst * f, l.PerMinute * f}
}

// oneToken is a token in the units of a bucket: a rate of n tokens a minute refills n units a nanosecond, whole
// ones, so a bucket holds the same however often it was looked at.
const oneToken = int64(time.Minute)

// Bucket is the state of one credential's bucket in one family. The zero value
// is a full bucket.
type Bucket struct {
	spent int64     // missing from a full bucket, in parts of oneToken
	at    time.Time // when spent was last brought up to date
}

// Take draws one token and describes the bucket afterwards. On refusal nothing
// is drawn, and RetryAfterS says when one token will be there. A clock that
// steps back neither refills nor empties.
func (b *Bucket) Take(now time.Time, l Limit, unlimited bool) (*pb.RateLimit, bool) {
	b.refill(now, l)
	room, perSecond := l.room()-b.spent, l.PerMinute/60
	ok := unlimited || room >= oneToken
	if ok && !unlimited {
		b.spent += oneToken
		room -= oneToken
	}
	r := &pb.RateLimit{
		Remaining: uint32(max(0, room/oneToken)),
		ResetS:    uint32(math.Ceil(float64(b.spent) / float64(oneToken) / perSecond)),
		Quota:     uint32(l.PerMinute),
	}
	if !ok {
		r.RetryAfterS = uint32(max(1, math.Ceil(float64(oneToken-room)/float64(oneToken)/perSecond)))
	}
	return r, ok
}

// refill brings a bucket up to date.
func (b *Bucket) refill(now time.Time, l Limit) {
	if elapsed := now.Sub(b.at); elapsed > 0 && !b.at.IsZero() {
		rate := int64(l.PerMinute)
		b.spent -= rate * min(int64(elapsed), b.spent/rate+1) // no more than fills it, which cannot overflow
		b.spent = max(0, b.spent)
	}
	if b.at.IsZero() || now.After(b.at) {
		b.at = now
	}
}

// Replan moves a bucket from one plan's limit to another's: it was refilled at
// the old rate until now, and cannot lack more than the new one holds.
func (b *Bucket) Replan(now time.Time, from, to Limit) {
	b.refill(now, from)
	b.spent = min(b.spent, to.room())
}
