package account

import (
	"fmt"
	"time"

	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
)

const (
	// AuditRetention is how long an act stays in the trail: a year and the month in
	// which somebody looks back at it.
	AuditRetention = 400 * 24 * time.Hour
	// MaxAudits bounds the acts of one organization's trail, of which the newest stay:
	// some 250 MB, and at the standard plan's rate of writes, used to the full day and
	// night, six days.
	MaxAudits = 1_000_000
	// maxAuditsPerPage bounds the records that a page reads to find those that pass its
	// filters: some 5 ms. The page may then be short, and its cursor goes on.
	maxAuditsPerPage = 5000

	// ActorKey says of an act that a key did it.
	ActorKey = "key"
	// ActorOperator says that the operator did it, through the operator interface.
	ActorOperator = "operator"
	// ActorService says that the service did it by itself.
	ActorService = "service"
)

// Trail is the audit trail of an organization: who did what, and when.
type Trail struct {
	*tenant.Org
	tenant.NoModule
}

// Handle begins a read of the trail.
func (o *Trail) Handle(c *tenant.Call) bool {
	op, ok := c.Env.GetAccount().GetOp().(*pb.AccountOp_ListAudit)
	if ok {
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) { return o.page(st, op.ListAudit) })
	}
	return ok
}

// aboutPartition reports whether an act's target is a partition.
func aboutPartition(action string) bool {
	switch action {
	case pb.ActionSubjectProvision, pb.ActionSubjectErase, pb.ActionPurge, pb.ActionPurgeDryRun:
		return true
	}
	return false
}

// actorOf says what kind of actor it was. Records of what the operator restored used to
// hold a hash and a user of zeros.
func actorOf(a *pb.Audit) string {
	hash, err := pb.KeyHashFrom(a.GetKeyHash())
	switch {
	case err == nil && hash != pb.KeyHash{}:
		return ActorKey
	case a.GetAction() == pb.ActionWebhookDisable:
		return ActorService
	}
	return ActorOperator
}

// auditFilter is what an act must be to be on the page.
type auditFilter struct {
	*pb.ListAudit
	partition string // of the subject that the target names, where it names one
}

func (f auditFilter) passes(a *pb.Audit) bool {
	switch actor := f.GetActor(); actor {
	case "":
	case ActorOperator, ActorService:
		if actorOf(a) != actor {
			return false
		}
	default:
		hash, keyErr := pb.KeyHashFrom(a.GetKeyHash())
		user, userErr := pb.UserIDFrom(a.GetUser())
		if (keyErr != nil || hash.String() != actor) && (userErr != nil || user.String() != actor) {
			return false
		}
	}
	if f.GetTarget() != "" && a.GetTarget() != f.GetTarget() &&
		(f.partition == "" || !aboutPartition(a.GetAction()) || a.GetTarget() != f.partition) {
		return false
	}
	return (f.GetAction() == "" || a.GetAction() == f.GetAction()) &&
		(f.GetAfterMs() == 0 || a.GetAtMs() >= f.GetAfterMs()) &&
		(f.GetBeforeMs() == 0 || a.GetAtMs() < f.GetBeforeMs())
}

// key tells the cursors of one filter from those of another.
func (f auditFilter) key() string {
	return fmt.Sprintf("%q %q %q %d %d", f.GetActor(), f.GetAction(), f.GetTarget(), f.GetAfterMs(), f.GetBeforeMs())
}

// page pages through the organization's trail, the newest act first. Acts are
// numbered in the order in which they became true, so what comes meanwhile stands before
// the first page.
func (o *Trail) page(r storage.Reader, op *pb.ListAudit) (*pb.Reply, error) {
	f := auditFilter{ListAudit: op}
	if tenant.ValidSubject(op.GetTarget()) {
		raw, found, err := r.GetRaw(o.Space.Key(storage.TableSubject, storage.Str(op.GetTarget())))
		if err != nil {
			return nil, err
		}
		if id, err := pb.PartitionIDFrom(raw); found && err == nil {
			f.partition = id.String()
		}
	}
	names := subjectNames{o: &o.View, r: r, known: map[pb.PartitionID]string{}}
	kind := tenant.CursorKind{List: "audit", Filters: f.key()}
	walk := tenant.KeyWalk{All: o.Space.Prefix(storage.TableAudit), Reverse: true}
	entries, next, p, err := tenant.PageOfWalk(&o.View, r, walk, kind, op.GetPage(), maxAuditsPerPage,
		func(item storage.Item) (*pb.AuditEntry, bool, error) {
			a := &pb.Audit{}
			if err := item.Decode(a); err != nil || !f.passes(a) {
				return nil, false, err
			}
			parts := item.Key.Parts()
			e := &pb.AuditEntry{Seq: parts.U64(), Audit: a, Target: a.GetTarget(), Actor: actorOf(a)}
			if err := parts.Done(); err != nil {
				return nil, false, err
			}
			if e.GetActor() != ActorKey {
				a.KeyHash, a.User = nil, nil
			}
			return e, true, names.fill(e)
		})
	if p != nil {
		return tenant.Refuse(p), nil
	}
	return accountReply(&pb.AccountResult{Result: &pb.AccountResult_Audit{Audit: &pb.AuditList{
		Entries:    entries,
		NextCursor: next,
	}}}), err
}

// subjectNames looks up what the subjects of a page are called. The trail holds their
// partitions alone: a name in it would outlive the subject.
type subjectNames struct {
	o     *tenant.View
	r     storage.Reader
	known map[pb.PartitionID]string // "" of what is no subject, or none any more
}

func (n subjectNames) of(id pb.PartitionID) (string, error) {
	if name, ok := n.known[id]; ok {
		return name, nil
	}
	rec := &pb.Partition{}
	if _, err := n.r.Get(n.o.Space.Key(storage.TablePartition, storage.ID16(id)), rec); err != nil {
		return "", err
	}
	n.known[id] = rec.GetSubject() // one that is being erased has none
	return rec.GetSubject(), nil
}

// fill says for which subject an act was done. What was done to a subject was done for
// that one.
func (n subjectNames) fill(e *pb.AuditEntry) error {
	a := e.GetAudit()
	if aboutPartition(a.GetAction()) {
		if id, err := pb.ParsePartitionID(a.GetTarget()); err == nil {
			name, err := n.of(id)
			if err != nil {
				return err
			}
			a.Partition, e.Subject = id.Bytes(), name
			if name != "" {
				e.Target = name
			}
			return nil
		}
	}
	id, err := pb.PartitionIDFrom(a.GetPartition())
	if err != nil {
		return nil //nolint:nilerr // the operator's acts, and the service's, are in no partition
	}
	e.Subject, err = n.of(id)
	return err
}

// Sweep deletes acts that are past their retention, and the oldest of too many. It returns how many it has deleted.
// The newest stays: the numbers go on behind it.
func (o *Trail) Sweep(st *storage.Store, b *storage.Batch, now time.Time) (n int, err error) {
	before := now.Add(-AuditRetention)
	all := o.Space.Prefix(storage.TableAudit)
	last := uint64(0)
	for item, err := range st.Scan(all, storage.ScanOptions{Reverse: true, Limit: 1}) {
		if err != nil {
			return 0, err
		}
		parts := item.Key.Parts()
		last = parts.U64()
		if err := parts.Done(); err != nil {
			return 0, err
		}
	}
	for rec, err := range storage.ScanRecords(st, all, storage.ScanOptions{Limit: tenant.MaxSweep},
		func() *pb.Audit { return &pb.Audit{} }) {
		if err != nil {
			return n, err
		}
		parts := rec.Key.Parts()
		seq := parts.U64()
		if err := parts.Done(); err != nil {
			return n, err
		}
		if seq == last || seq+MaxAudits > last && rec.Value.GetAtMs() > before.UnixMilli() {
			break
		}
		b.Delete(rec.Key)
		n++
	}
	return n, nil
}
