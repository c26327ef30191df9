package tenant

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/commit"
	"orgmem/actors/partition"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// IdempotencyRetention is how long an outcome can be replayed.
const IdempotencyRetention = 24 * time.Hour

// SecretMarker stands in a replay where the original had a secret.
const SecretMarker = "[redacted: returned only once]"

// outcomeReplies seals outcomes, together with what only the request knows (outcomeWords).
const outcomeReplies = "orgmem outcome "

// IdemKey identifies a request that may be sent again: credential, effective
// subject, method, path and the client's key.
type IdemKey [sha256.Size]byte

// idempotent is a request's place among those that may be replayed.
type idempotent struct {
	org      *View
	part     pb.PartitionID
	key      IdemKey
	bodyHash []byte
	at       int64
	words    []byte // the request's own, see outcomeWords
}

// outcomeWords are what only the sender of a request knows of it: its key and its body.
// Its outcome is sealed under them, and not only under what the store holds: it says
// what the request said (the address of an endpoint, the type of an edge), and may
// outlive what came of it.
func outcomeWords(env *pb.Envelope) []byte {
	sum := sha256.Sum256(slices.Concat(env.GetBodyHash(), []byte(env.GetIdempotencyKey())))
	return sum[:]
}

func (i *idempotent) seal(reply []byte) (*pb.Outcome, error) {
	if !i.org.System.Config.Host.Speaks(wire.SealedVersion) {
		return &pb.Outcome{Reply: reply}, nil
	}
	sealed, err := i.org.Seal(outcomeReplies+string(i.words), reply, i.key[:])
	return &pb.Outcome{Sealed: sealed}, err
}

// outcome opens a stored outcome for the request that it is of.
func (o *View) outcome(out *pb.Outcome, env *pb.Envelope, key IdemKey) (*pb.Reply, error) {
	raw := out.GetReply()
	if out.GetSealed() != nil {
		var err error
		if raw, _, err = o.Unseal(outcomeReplies+string(outcomeWords(env)), out.GetSealed(), key[:]); err != nil {
			return nil, err
		}
	}
	r := &pb.Reply{}
	return r, proto.Unmarshal(raw, r)
}

func newIdemKey(c *Call) IdemKey {
	h := sha256.New()
	part := func(b []byte) {
		var n [4]byte
		binary.BigEndian.PutUint32(n[:], uint32(len(b)))
		h.Write(n[:])
		h.Write(b)
	}
	part(c.Principal.Key[:])
	part(c.Part.ID[:])
	part([]byte(c.Env.GetMethod()))
	part([]byte(c.Env.GetPath()))
	part([]byte(c.Env.GetIdempotencyKey()))
	return IdemKey(h.Sum(nil))
}

// checkReplay answers a request that was decided before, or is being decided,
// and marks a new one as under way.
func (o *Org) checkReplay(c *Call) bool {
	if c.Env.GetIdempotencyKey() == "" {
		return true
	}
	key := newIdemKey(c)
	if _, underway := o.replaysInFlight[key]; underway {
		p := NewProblem(pb.CodeIdempotencyInProgress, "The first request with this Idempotency-Key has not finished.")
		p.RetryAfterS = 1
		c.Refuse(p)
		return false
	}
	now := clock.Millis(o.System.Clock.Now())
	rec := &pb.Idempotency{}
	var found bool
	err := o.WithStore(func(st *storage.Store) (err error) {
		found, err = st.Get(o.Space.Key(storage.TableIdempotency, storage.Hash32(key)), rec)
		return err
	})
	if err != nil {
		c.Fail(err)
		return false
	}
	if found && now-rec.GetCreatedMs() < IdempotencyRetention.Milliseconds() {
		if !hmac.Equal(rec.GetBodyHash(), o.keyed(c.Env.GetBodyHash())) {
			c.Refuse(NewProblem(pb.CodeIdempotencyKeyReused, "The Idempotency-Key was used before with another body."))
			return false
		}
		r, err := o.outcome(rec.GetOutcome(), c.Env, key)
		if err != nil {
			c.Fail(err)
			return false
		}
		if err := o.withTexts(c.Part, r); err != nil {
			c.Fail(err)
			return false
		}
		r.Replayed = true
		c.Reply(r)
		return false
	}
	if _, rejected := c.Env.GetOp().(*pb.Envelope_Rejected); rejected {
		return true // a request that is invalid in itself leaves no outcome
	}
	o.replaysInFlight[key] = struct{}{}
	c.Idempotency = &idempotent{
		org: &o.View, part: c.Part.ID, key: key, bodyHash: o.keyed(c.Env.GetBodyHash()), at: now,
		words: outcomeWords(c.Env),
	}
	return true
}

// Record puts the outcome into the batch of the effect, so that there is never
// one without the other. r must be what the caller will be answered.
func (i *idempotent) Record(b *storage.Batch, r *pb.Reply) error {
	if i == nil {
		return nil
	}
	stored := proto.CloneOf(r)
	stored.Rate, stored.Replayed = nil, false
	if k := stored.GetNewKey(); k != nil {
		k.ApiKey = SecretMarker
	}
	if hook := stored.GetLink().GetWebhook(); hook.GetSecret() != "" {
		hook.Secret = SecretMarker
	}
	if e := stored.GetGraph().GetEdge().GetEdge(); e != nil {
		e.Note = "" // withTexts brings it back, and the next
	}
	if p := stored.GetMind().GetProposal(); p != nil {
		p.Rationale = ""
	}
	if n := stored.GetNode().GetNode(); n != nil {
		n.Title, n.Metadata = "", nil // of one that came back, which has none but what another edit gave it meanwhile
	}
	raw, err := proto.Marshal(stored)
	if err != nil {
		return err
	}
	outcome, err := i.seal(raw)
	if err != nil {
		return err
	}
	outcome.Status = r.GetStatus()
	b.Put(i.org.Space.Key(storage.TableIdempotency, storage.Hash32(i.key)), &pb.Idempotency{
		Partition: i.part.Bytes(), BodyHash: i.bodyHash, CreatedMs: i.at, Outcome: outcome,
	})
	b.PutRaw(i.org.Space.Key(storage.TableIdempotencyByTime, storage.U64(uint64(i.at)), storage.Hash32(i.key)), nil)
	return nil
}

// keyed makes a body's hash useless to a reader of the store: a plain one
// would tell whether a guessed text was here, after it was forgotten.
func (o *View) keyed(bodyHash []byte) []byte {
	mac := hmac.New(sha256.New, o.Secret)
	mac.Write([]byte("body"))
	mac.Write(bodyHash)
	return mac.Sum(nil)
}

// withTexts gives an outcome the note of its edge, or the rationale of its
// proposal. Outcomes hold no text of the client's, or made from it, so that nothing
// of what is forgotten is left in them.
func (o *View) withTexts(part *partition.Ref, r *pb.Reply) error {
	e, p := r.GetGraph().GetEdge().GetEdge(), r.GetMind().GetProposal()
	if e == nil && p == nil {
		return nil
	}
	return o.WithStore(func(st *storage.Store) error {
		if e != nil {
			now := &pb.Edge{}
			_, err := st.Get(part.Space.Key(storage.TableEdge, storage.Str(e.GetId())), now)
			e.Note = now.GetNote()
			return err
		}
		now := &pb.Proposal{}
		_, err := st.Get(ProposalKey(part.Space, pb.DerivedID(p.GetId())), now)
		p.Rationale = now.GetRationale()
		return err
	})
}

// finish ends the time in which a second request has to wait.
func (i *idempotent) finish() {
	i.org.send(replayEnded{i.key})
}

// Settle commits a change with the request's outcome in it, calls then, which may be
// nil, once that is decided, and answers.
func (c *Call) Settle(ch *commit.Change, r *pb.Reply, then func()) {
	decided := func(err error) {
		if then != nil {
			then()
		}
		if err != nil {
			c.Fail(err)
			return
		}
		c.Reply(r)
	}
	for _, e := range ch.Events {
		if len(e.GetUser()) == 0 {
			e.User = c.Principal.User.Bytes()
		}
	}
	if err := c.Idempotency.Record(ch.Batch, r); err != nil {
		decided(err)
		return
	}
	c.Org.Committer.SubmitChange(ch.In(c.RecordedTrace()), decided)
}

// RefuseSettled answers a refusal that a retry must see again.
func (c *Call) RefuseSettled(p *pb.Problem) {
	if c.Idempotency == nil || !replayable(p.GetCode()) {
		c.Refuse(p)
		return
	}
	c.Settle(commit.New(c.Org.Store), Refuse(p), nil)
}

// eraseOutcomes erases what requests to a memory were answered, which a replay
// would answer again. Their entries in the order of expiry say nothing, and expire.
func (o *View) eraseOutcomes(ref *partition.Ref) error {
	pick := func(b *storage.Batch, key storage.Key, rec *pb.Idempotency) (bool, error) {
		return EraseOf(b, key, rec, ref), nil
	}
	return EraseRecords(o, storage.TableIdempotency, func() *pb.Idempotency { return &pb.Idempotency{} }, pick, func() {})
}

// ProposalKey is where a proposal lies.
func ProposalKey(space storage.Space, id pb.DerivedID) storage.Key {
	return space.Key(storage.TableProposal, storage.ID16(id))
}
