package actors

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/commit"
	"orgmem/actors/partition"
	"orgmem/cluster"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// idempotencyRetention is how long an outcome can be replayed.
const idempotencyRetention = 24 * time.Hour

// secretMarker stands in a replay where the original had a secret.
const secretMarker = "[redacted: returned only once]"

// outcomeReplies seals outcomes, together with what only the request knows (outcomeWords).
const outcomeReplies = "orgmem outcome "

// idemKey identifies a request that may be sent again: credential, effective
// subject, method, path and the client's key.
type idemKey [sha256.Size]byte

// idempotent is a request's place among those that may be replayed.
type idempotent struct {
	org      *orgView
	part     pb.PartitionID
	key      idemKey
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
	if !i.org.sys.cfg.Host.Speaks(cluster.SealedVersion) {
		return &pb.Outcome{Reply: reply}, nil
	}
	sealed, err := i.org.Seal(outcomeReplies+string(i.words), reply, i.key[:])
	return &pb.Outcome{Sealed: sealed}, err
}

// outcome opens a stored outcome for the request that it is of.
func (o *orgView) outcome(out *pb.Outcome, env *pb.Envelope, key idemKey) (*pb.Reply, error) {
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

func newIdemKey(c *call) idemKey {
	h := sha256.New()
	part := func(b []byte) {
		var n [4]byte
		binary.BigEndian.PutUint32(n[:], uint32(len(b)))
		h.Write(n[:])
		h.Write(b)
	}
	part(c.who.key[:])
	part(c.part.ID[:])
	part([]byte(c.env.GetMethod()))
	part([]byte(c.env.GetPath()))
	part([]byte(c.env.GetIdempotencyKey()))
	return idemKey(h.Sum(nil))
}

// checkReplay answers a request that was decided before, or is being decided,
// and marks a new one as under way.
func (o *orgActor) checkReplay(c *call) bool {
	if c.env.GetIdempotencyKey() == "" {
		return true
	}
	key := newIdemKey(c)
	if _, underway := o.idem[key]; underway {
		p := problem(pb.CodeIdempotencyInProgress, "The first request with this Idempotency-Key has not finished.")
		p.RetryAfterS = 1
		c.refuse(p)
		return false
	}
	now := clock.Millis(o.sys.clock.Now())
	rec := &pb.Idempotency{}
	var found bool
	err := o.withStore(func(st *storage.Store) (err error) {
		found, err = st.Get(o.space.Key(storage.TableIdempotency, storage.Hash32(key)), rec)
		return err
	})
	if err != nil {
		c.fail(err)
		return false
	}
	if found && now-rec.GetCreatedMs() < idempotencyRetention.Milliseconds() {
		if !hmac.Equal(rec.GetBodyHash(), o.keyed(c.env.GetBodyHash())) {
			c.refuse(problem(pb.CodeIdempotencyKeyReused, "The Idempotency-Key was used before with another body."))
			return false
		}
		r, err := o.outcome(rec.GetOutcome(), c.env, key)
		if err != nil {
			c.fail(err)
			return false
		}
		if err := o.withTexts(c.part, r); err != nil {
			c.fail(err)
			return false
		}
		r.Replayed = true
		c.reply(r)
		return false
	}
	if _, rejected := c.env.GetOp().(*pb.Envelope_Rejected); rejected {
		return true // a request that is invalid in itself leaves no outcome
	}
	o.idem[key] = struct{}{}
	c.idem = &idempotent{org: &o.orgView, part: c.part.ID, key: key, bodyHash: o.keyed(c.env.GetBodyHash()), at: now, words: outcomeWords(c.env)}
	return true
}

// record puts the outcome into the batch of the effect, so that there is never
// one without the other. r must be what the caller will be answered.
func (i *idempotent) record(b *storage.Batch, r *pb.Reply) error {
	if i == nil {
		return nil
	}
	stored := proto.CloneOf(r)
	stored.Rate, stored.Replayed = nil, false
	if k := stored.GetNewKey(); k != nil {
		k.ApiKey = secretMarker
	}
	if hook := stored.GetLink().GetWebhook(); hook.GetSecret() != "" {
		hook.Secret = secretMarker
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
	b.Put(i.org.space.Key(storage.TableIdempotency, storage.Hash32(i.key)), &pb.Idempotency{
		Partition: i.part.Bytes(), BodyHash: i.bodyHash, CreatedMs: i.at, Outcome: outcome,
	})
	b.PutRaw(i.org.space.Key(storage.TableIdempotencyByTime, storage.U64(uint64(i.at)), storage.Hash32(i.key)), nil)
	return nil
}

// keyed makes a body's hash useless to whoever reads the store: a plain one
// would tell whether a guessed text was here, after it was forgotten.
func (o *orgView) keyed(bodyHash []byte) []byte {
	mac := hmac.New(sha256.New, o.secret)
	mac.Write([]byte("body"))
	mac.Write(bodyHash)
	return mac.Sum(nil)
}

// withTexts gives an outcome the note of its edge, or the rationale of its
// proposal. Outcomes hold no text of the client's, or made from it, so that nothing
// of what is forgotten is left in them.
func (o *orgView) withTexts(part *partition.Ref, r *pb.Reply) error {
	e, p := r.GetGraph().GetEdge().GetEdge(), r.GetMind().GetProposal()
	if e == nil && p == nil {
		return nil
	}
	return o.withStore(func(st *storage.Store) error {
		if e != nil {
			now := &pb.Edge{}
			_, err := st.Get(part.Space.Key(storage.TableEdge, storage.Str(e.GetId())), now)
			e.Note = now.GetNote()
			return err
		}
		now := &pb.Proposal{}
		_, err := st.Get(proposalKey(part.Space, pb.DerivedID(p.GetId())), now)
		p.Rationale = now.GetRationale()
		return err
	})
}

// finish ends the time in which a second request is told to wait.
func (i *idempotent) finish() {
	i.org.tell(func(o *orgActor) { delete(o.idem, i.key) })
}

// settle commits a change with the request's outcome in it, calls then, which may be
// nil, once that is decided, and answers.
func (c *call) settle(ch *commit.Change, r *pb.Reply, then func()) {
	decided := func(err error) {
		if then != nil {
			then()
		}
		if err != nil {
			c.fail(err)
			return
		}
		c.reply(r)
	}
	for _, e := range ch.Events {
		if len(e.GetUser()) == 0 {
			e.User = c.who.user.Bytes()
		}
	}
	if err := c.idem.record(ch.Batch, r); err != nil {
		decided(err)
		return
	}
	c.org.committer.SubmitChange(ch, decided)
}

// refuseSettled answers a refusal that a retry must see again.
func (c *call) refuseSettled(p *pb.Problem) {
	if c.idem == nil || !replayable(p.GetCode()) {
		c.refuse(p)
		return
	}
	c.settle(commit.New(c.org.store), refuse(p), nil)
}

// eraseOutcomes erases what requests to a memory were answered, which a replay
// would answer again. Their entries in the order of expiry say nothing, and expire.
func (o *orgView) eraseOutcomes(ref *partition.Ref) error {
	return eraseRecords(o, storage.TableIdempotency, func() *pb.Idempotency { return &pb.Idempotency{} }, func(b *storage.Batch, key storage.Key, rec *pb.Idempotency) (bool, error) {
		return eraseOf(b, key, rec, ref), nil
	}, func() {})
}

// proposalKey is where a proposal lies.
func proposalKey(space storage.Space, id pb.DerivedID) storage.Key {
	return space.Key(storage.TableProposal, storage.ID16(id))
}
