package account

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"orgmem/actors/commit"
	"orgmem/actors/export"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/actors/training"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const (
	// ConfirmLife is how long a confirm token can be used (docs/interface.md, "Other limits").
	ConfirmLife = 10 * time.Minute
	// confirmBytes of randomness make a token.
	confirmBytes = 32

	// PurgeOutcomeLife is how long a confirmation that is sent again is answered what
	// came of it: as long as other outcomes can be replayed.
	PurgeOutcomeLife = tenant.IdempotencyRetention
	// maxPurgedMemories bounds the memories that one purge empties, whose ids are kept
	// until it is done: 16 MiB of them.
	maxPurgedMemories = 1 << 20

	// purgeEvents is from how many events on a purge begins another commit, which
	// does not count their bytes before it is under way: at most 4 MB.
	purgeEvents = 4000
)

// Purges empties memories in two steps: a dry run that counts, and its confirmation.
type Purges struct {
	*tenant.Org
	tenant.NoModule
}

// Handle begins either call of a purge.
func (o *Purges) Handle(c *tenant.Call) bool {
	op := c.Env.GetData().GetPurge()
	if op == nil {
		return false
	}
	o.purge(c, op)
	return true
}

// purgeStores are what a purge counts of a memory, beside its edges. What is only
// bookkeeping (list entries, the index) or derived by a cycle (domains,
// contradictions, proposals, likeness) goes too and is not counted: it changes by
// itself, and a purge that somebody has looked at must not be refused for that.
var purgeStores = []struct {
	name  string
	table storage.Table
}{
	{"vault_nodes", storage.TableNode},
	{"memory_chunks", storage.TableChunk},
	{"history", storage.TableHistory},
	{"external_ids", storage.TableExternalID},
	{"sessions", storage.TableSession},
	{"session_events", storage.TableSessionEvent},
	{"imports", storage.TableImport},
	{"files", storage.TableUploadPiece},
	{"queued_items", storage.TableQueue},
}

// purge is a purge under way: what it is of.
type purge struct {
	call  *tenant.Call // nil when it was decided upon by an earlier activation
	op    *pb.Purge
	parts []*partition.Ref
	org   bool
	// Of a confirmation: the token's place and what it stands for, and the decision.
	ticket  storage.Key
	counted *pb.PurgeTicket
	key     storage.Key
	run     *pb.PurgeRun
	// decided says that the decision is committed: nothing but the end of the purge is
	// right any more.
	decided bool
}

// of is the memory that is purged, nil where all are.
func (p *purge) of() *partition.Ref {
	if p.org {
		return nil
	}
	return p.parts[0]
}

// purge answers both calls of POST /v1/purge.
func (o *Purges) purge(c *tenant.Call, op *pb.Purge) {
	p := &purge{call: c, op: op, org: op.GetScope() == pb.PurgeScopeOrg}
	if !op.GetConfirm() {
		o.alone(p, func(release func()) { o.beginPurge(p, release) })
		return
	}
	// The mark says that there may be work here: where a crash comes between the
	// decision and the end, somebody opens the organization to carry it on.
	o.WithBusyMarkFor(c, func() {
		o.alone(p, func(release func()) { o.beginPurge(p, release) })
	})
}

func (o *Purges) beginPurge(p *purge, release func()) {
	c := p.call
	wrong, err := o.purgeParts(p)
	var before *pb.PurgeRun
	if err == nil && wrong == nil && p.op.GetConfirm() {
		if before, err = o.findRun(p); err == nil && before == nil {
			wrong, err = o.findTicket(p)
		}
	}
	switch {
	case err != nil:
		release()
		c.Fail(err)
	case wrong != nil:
		release()
		c.Refuse(wrong)
	case before != nil:
		release()
		if before.GetPurgedMs() == 0 { // its commits failed here; the next activation carries it on
			c.Fail(commit.ErrLost)
			return
		}
		if before.GetDecidedIn() == o.Activation.Name {
			c.Refuse(tenant.NewProblem(pb.CodeConfirmTokenInvalid,
				"The confirm token is spent: the purge that it confirmed was done at %s; this request deleted nothing.",
				time.UnixMilli(before.GetPurgedMs()).UTC().Format(time.RFC3339)))
			return
		}
		// The answer may have been lost with the activation that took the confirmation.
		c.Reply(purgeReply(p.outcome(before)))
	case p.op.GetConfirm():
		o.purgeNow(p, release)
	default:
		o.System.BackgroundTasks.Go(func() { // it reads as much as there is
			defer release()
			o.dryPurge(p)
		})
	}
}

// alone runs f when nothing else is purged or erased, and until release is called
// nothing else is: a purge stops what works in its memories, and an erasure that
// did not find that would be overtaken by what is still being written. A subject
// of its own does not begin to be erased meanwhile either.
func (o *Purges) alone(p *purge, f func(release func())) {
	o.Exclusive(tenant.PurgeLock, func(release func()) {
		if p.org {
			f(release)
			return
		}
		o.Exclusive(tenant.SubjectLock(p.op.GetSubject()), func(subject func()) {
			f(func() { subject(); release() })
		})
	})
}

// purgeParts finds the memories that are meant.
func (o *Purges) purgeParts(p *purge) (*pb.Problem, error) {
	if !p.org {
		if !tenant.ValidSubject(p.op.GetSubject()) {
			return tenant.NewProblem(pb.CodeSubjectNotFound, "There is no such subject."), nil
		}
		ref, err := o.LookupSubject(pb.SubjectKey(p.op.GetSubject()))
		if err != nil {
			return nil, err
		}
		if ref == nil {
			return tenant.NewProblem(pb.CodeSubjectNotFound, "There is no such subject."), nil
		}
		p.parts = []*partition.Ref{ref}
		return nil, nil
	}
	return nil, o.WithStore(func(st *storage.Store) error {
		for rec, err := range storage.ScanRecords(st, o.Space.Prefix(storage.TablePartition), storage.ScanOptions{},
			func() *pb.Partition { return &pb.Partition{} }) {
			if err != nil {
				return err
			}
			id, err := pb.PartitionIDFrom(rec.Value.GetId())
			if err != nil {
				return err
			}
			if !rec.Value.GetErasing() {
				p.parts = append(p.parts, partition.NewRef(o.Store, &o.View, id, rec.Value))
			}
		}
		return nil
	})
}

func ticketKey(space storage.Space, token string) storage.Key {
	return space.Key(storage.TablePurgeTicket, storage.Hash32(sha256.Sum256([]byte(token))))
}

func runKey(space storage.Space, token string) storage.Key {
	return space.Key(storage.TablePurgeRun, storage.Hash32(sha256.Sum256([]byte(token))))
}

// meant is the memory of a purge of scope subject, as tickets and decisions name it.
func (p *purge) meant() []byte {
	if p.org {
		return nil
	}
	return p.parts[0].ID.Bytes()
}

// findRun returns what was decided upon with the token before, nil when nothing was.
func (o *Purges) findRun(p *purge) (*pb.PurgeRun, error) {
	p.key = runKey(o.Space, p.op.GetToken())
	run, found := &pb.PurgeRun{}, false
	err := o.WithStore(func(st *storage.Store) (err error) {
		found, err = st.Get(p.key, run)
		return err
	})
	if err != nil || !found || run.GetScope() != p.op.GetScope() || !bytes.Equal(run.GetPartition(), p.meant()) ||
		!bytes.Equal(run.GetUser(), p.call.Principal.User[:]) {
		return nil, err
	}
	return run, nil
}

// findTicket finds what a confirm token stands for, or says why it is not valid.
func (o *Purges) findTicket(p *purge) (*pb.Problem, error) {
	t, found := &pb.PurgeTicket{}, false
	p.ticket = ticketKey(o.Space, p.op.GetToken())
	err := o.WithStore(func(st *storage.Store) (err error) {
		found, err = st.Get(p.ticket, t)
		return err
	})
	if err != nil {
		return nil, err
	}
	if !found || clock.Millis(o.System.Clock.Now()) >= t.GetExpiresMs() || t.GetScope() != p.op.GetScope() ||
		!bytes.Equal(t.GetPartition(), p.meant()) || !bytes.Equal(t.GetUser(), p.call.Principal.User[:]) {
		return tenant.NewProblem(pb.CodeConfirmTokenInvalid,
			"The confirm token is spent, expired, or was issued for another purge; this request deleted nothing."), nil
	}
	if len(p.parts) > maxPurgedMemories {
		return tenant.Invalid("scope",
			fmt.Sprintf("org purges at most %d memories, and this organization has more: purge subjects one by one first",
				maxPurgedMemories)), nil
	}
	p.counted = t
	return nil, nil
}

// dryPurge counts, and issues the token that stands for the counts.
func (o *Purges) dryPurge(p *purge) {
	c := p.call
	counts, err := o.countPurge(p)
	token := make([]byte, confirmBytes)
	if err == nil {
		_, err = io.ReadFull(o.System.Config.Random, token)
	}
	if err != nil {
		c.Fail(err)
		return
	}
	text := base64.RawURLEncoding.EncodeToString(token)
	t := &pb.PurgeTicket{
		Scope: p.op.GetScope(), Counts: counts, User: c.Principal.User.Bytes(),
		ExpiresMs: clock.Millis(o.System.Clock.Now().Add(ConfirmLife)),
	}
	if !p.org {
		t.Partition = p.parts[0].ID.Bytes()
	}
	ch := commit.New(o.Store)
	ch.Put(ticketKey(o.Space, text), t)
	ch.Audit(c.AuditOf(pb.ActionPurgeDryRun, p.target()))
	r := p.report(counts)
	r.DryRun, r.ConfirmToken, r.ExpiresMs = true, text, t.GetExpiresMs()
	c.Settle(ch, purgeReply(r), nil)
}

// outcome is the report of a purge that is done.
func (p *purge) outcome(run *pb.PurgeRun) *pb.PurgeReport {
	r := p.report(run.GetCounts())
	r.Request, r.PurgedMs = run.GetRequest(), run.GetPurgedMs()
	return r
}

// target names what is purged in the trail: the subject's partition, or org.
func (p *purge) target() string {
	if p.org {
		return pb.PurgeScopeOrg
	}
	return p.parts[0].ID.String()
}

func (p *purge) report(counts map[string]uint64) *pb.PurgeReport {
	r := &pb.PurgeReport{
		Request: p.call.Env.GetRequestId(), Scope: p.op.GetScope(), Subject: p.op.GetSubject(),
		Counts: counts,
	}
	for _, n := range counts {
		r.Total += n
	}
	return r
}

func purgeReply(r *pb.PurgeReport) *pb.Reply {
	return &pb.Reply{Result: &pb.Reply_Data{Data: &pb.DataResult{Result: &pb.DataResult_Purge{Purge: r}}}}
}

// countPurge counts what a purge would delete.
func (o *Purges) countPurge(p *purge) (counts map[string]uint64, err error) {
	counts = map[string]uint64{"exports": 0, "graph_edges": 0}
	for _, s := range purgeStores {
		counts[s.name] = 0
	}
	err = o.WithStore(func(st *storage.Store) (err error) {
		snap, err := st.Snapshot()
		if err != nil {
			return err
		}
		defer partition.CloseSnapshot(snap, &err)
		for _, part := range p.parts {
			for _, s := range purgeStores {
				n, err := countRange(snap, part.Space.Prefix(s.table))
				if err != nil {
					return err
				}
				counts[s.name] += n
			}
			for rec, err := range storage.ScanRecords(snap, part.Space.Prefix(storage.TableEdge), storage.ScanOptions{},
				func() *pb.Edge { return &pb.Edge{} }) {
				if err != nil {
					return err
				}
				if rec.Value.GetOrigin() != pb.OriginCognition {
					counts["graph_edges"]++
				}
			}
		}
		counts["exports"], err = tenant.ModuleOf[*export.Module](&o.View).CountHolding(snap, p.of())
		if err == nil && p.org {
			counts["brain_artifacts"], err = countRange(snap, o.Space.Prefix(storage.TableBrain))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count what a purge deletes: %w", err)
	}
	return counts, nil
}

func countRange(r storage.Reader, keys storage.Range) (n uint64, err error) {
	for _, err := range r.Scan(keys, storage.ScanOptions{}) {
		if err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}

// purgeNow ends what works in the memories, counts again, and deletes all of it
// in the commit that spends the token, or, where that is too much for one, in some
// that begin with it. Requests for the memories' actors wait meanwhile: what they
// write comes behind the purge, and stays.
func (o *Purges) purgeNow(p *purge, release func()) {
	stopping := map[pb.PartitionID]*tenant.Child{}
	for _, part := range p.parts {
		if ch := o.HoldCalls(part.ID); ch != nil {
			stopping[part.ID] = ch
		}
	}
	view := &o.View
	o.System.BackgroundTasks.Go(func() {
		for _, ch := range stopping {
			view.StopChild(ch)
		}
		r, ended, err := o.purgeStored(p)
		o.InMailbox(func() {
			if err != nil && p.decided {
				// There is no way back, and nobody may see it half done: the next
				// activation carries it on before it answers anything.
				o.Retire()
			}
			if err != nil || r.GetProblem() == nil {
				for _, part := range p.parts {
					o.Residents.Drop(part.ID)
				}
				o.Modules.AfterForget(p.of())
				training := tenant.ModuleOf[*training.Module](&o.View)
				training.Serving.Void() // also one that began in between
				training.Serving.Now.Store(nil)
				o.JobsEnded(ended...)
			}
			for _, part := range p.parts {
				o.ReleaseCalls(part)
				if ch := stopping[part.ID]; ch != nil && ch.Awake() && !o.Retired && (err != nil || r.GetProblem() != nil) {
					o.Child(part) // it continues its queue
				}
				o.Hold(part.ID)
			}
			release()
			if err != nil {
				p.call.Fail(err)
				return
			}
			p.call.Reply(r)
		})
	})
}

// purgeStored is the purge in the store. It returns the jobs that ended with it,
// also where the rest of it came to nothing.
func (o *Purges) purgeStored(p *purge) (_ *pb.Reply, ended []pb.JobID, err error) {
	// Behind this commit, which changes nothing, the store holds all that was
	// acknowledged.
	settled := storage.NewBatch(o.Store)
	settled.Put(p.ticket, p.counted)
	if err := o.Committer.Commit(settled); err != nil {
		return nil, nil, err
	}
	counts, err := o.countPurge(p)
	if err != nil {
		return nil, nil, err
	}
	if !maps.Equal(counts, p.counted.GetCounts()) {
		spent := storage.NewBatch(o.Store) // a token is spent by use, whatever it leads to
		spent.Delete(p.ticket)
		if err := o.Committer.Commit(spent); err != nil {
			return nil, nil, err
		}
		return tenant.Refuse(tenant.NewProblem(pb.CodePurgeImpactChanged,
			"What the purge would delete has changed since the dry run; nothing was deleted.")), nil, nil
	}
	by := p.call.AuditOf("", "")
	p.run = &pb.PurgeRun{
		Scope: p.op.GetScope(), Partition: p.meant(), Counts: counts, User: by.GetUser(), Request: by.GetRequestId(),
		KeyHash: by.GetKeyHash(), ActsFor: by.GetPartition(), DecidedMs: by.GetAtMs(), DecidedIn: o.Activation.Name,
	}
	for _, part := range p.parts {
		p.run.Memories = append(p.run.Memories, part.ID[:]...)
	}
	d := newPurgeWork(&o.View, p)
	if err := d.run(counts); err != nil {
		return nil, d.ended, err
	}
	return purgeReply(p.outcome(p.run)), d.ended, nil
}

// Complete carries those purges to their end that were decided upon and not
// done when the organization was closed, or its node stopped: before anything of it
// is read or written, so that nobody sees one half done.
func (o *Purges) Complete() error {
	var open []*purge
	err := o.WithStore(func(st *storage.Store) error {
		for rec, err := range storage.ScanRecords(st, o.Space.Prefix(storage.TablePurgeRun), storage.ScanOptions{},
			func() *pb.PurgeRun { return &pb.PurgeRun{} }) {
			if err != nil {
				return err
			}
			if rec.Value.GetPurgedMs() == 0 {
				org := rec.Value.GetScope() == pb.PurgeScopeOrg
				open = append(open, &purge{run: rec.Value, key: rec.Key, org: org, decided: true})
			}
		}
		return nil
	})
	for _, p := range open {
		if err == nil {
			err = o.resumePurge(p)
		}
	}
	if err != nil {
		return fmt.Errorf("carry on a purge: %w", err)
	}
	return nil
}

func (o *Purges) resumePurge(p *purge) error {
	for raw := range slices.Chunk(p.run.GetMemories(), len(pb.PartitionID{})) {
		id, err := pb.PartitionIDFrom(raw)
		if err != nil {
			return err
		}
		part, err := o.LoadPartition(id)
		if err != nil {
			return err
		}
		if part != nil { // nil: it is being erased, which takes more
			p.parts = append(p.parts, part)
		}
	}
	if !p.org && len(p.parts) == 0 {
		done := storage.NewBatch(o.Store)
		p.finish(done, clock.Millis(o.System.Clock.Now()))
		return o.Committer.Finish(done)
	}
	d := newPurgeWork(&o.View, p)
	if err := d.run(p.run.GetCounts()); err != nil {
		return err
	}
	for _, id := range d.ended { // they are counted behind this
		o.System.Config.JobFinished(id)
	}
	return nil
}

// finish writes that a purge is done, and what is answered of it from now on.
func (p *purge) finish(b *storage.Batch, now int64) {
	p.run.Memories, p.run.PurgedMs = nil, now
	b.Put(p.key, p.run)
}

// Sweep deletes confirm tokens that were not used, and what came of those that were, long ago.
func (o *Purges) Sweep(st *storage.Store, b *storage.Batch, at time.Time) (int, error) {
	now := clock.Millis(at)
	for rec, err := range storage.ScanRecords(st, o.Space.Prefix(storage.TablePurgeTicket), storage.ScanOptions{},
		func() *pb.PurgeTicket { return &pb.PurgeTicket{} }) {
		if err != nil {
			return 0, err
		}
		if now >= rec.Value.GetExpiresMs() {
			b.Delete(rec.Key)
		}
	}
	for rec, err := range storage.ScanRecords(st, o.Space.Prefix(storage.TablePurgeRun), storage.ScanOptions{},
		func() *pb.PurgeRun { return &pb.PurgeRun{} }) {
		if err != nil {
			return 0, err
		}
		if done := rec.Value.GetPurgedMs(); done != 0 && now-done >= PurgeOutcomeLife.Milliseconds() {
			b.Delete(rec.Key)
		}
	}
	return 0, nil
}
