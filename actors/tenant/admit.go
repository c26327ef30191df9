package tenant

import (
	"unicode"
	"unicode/utf8"

	"orgmem/actors/commit"
	"orgmem/actors/partition"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// MaxSubjectBytes bounds a subject key (docs/interface.md, "Subjects").
const MaxSubjectBytes = 256

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
