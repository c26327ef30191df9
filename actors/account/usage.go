package account

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"orgmem/actors/commit"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const (
	// HourlyUsage is the longest range whose buckets are hours; those of a longer
	// one are days (docs/usage.md).
	HourlyUsage = 7 * 24 * time.Hour
	// MaxUsageRange is the longest range of a report.
	MaxUsageRange = 92 * 24 * time.Hour
	// defaultUsageRange is what is answered to somebody who names no start.
	defaultUsageRange = HourlyUsage
	// UsageRetention is how long a line of usage can be read: a year, and time to
	// write its bill.
	UsageRetention = 400 * 24 * time.Hour
	// maxUsageGroups bounds an answer: some 20 MB of JSON. An organization with
	// more subjects asks for a shorter range.
	maxUsageGroups = 100_000
	// maxUsageLines bounds the lines that are read for an answer: some 2 s. Each hour
	// has one for each subject, capability and key that was used in it.
	maxUsageLines = 2_000_000
)

// The groups of a usage report.
const (
	GroupBySubject    = "subject"
	GroupByCapability = "capability"
	GroupByKey        = "key"
)

// Usage is what of the service an organization has used.
type Usage struct {
	*tenant.Org
	tenant.NoModule
}

// Handle begins a report.
func (o *Usage) Handle(c *tenant.Call) bool {
	op := c.Env.GetData().GetGetUsage()
	if op == nil {
		return false
	}
	o.getUsage(c, op)
	return true
}

// getUsage answers what was used. It waits until all that was answered before it
// is stored, so the report is exact.
func (o *Usage) getUsage(c *tenant.Call, op *pb.GetUsage) {
	now := o.System.Clock.Now()
	end := time.UnixMilli(op.GetEndMs())
	if op.GetEndMs() == 0 {
		end = now.Add(time.Millisecond) // the hour that has just begun too
	}
	start := time.UnixMilli(op.GetStartMs())
	if op.GetStartMs() == 0 {
		start = end.Add(-defaultUsageRange)
	}
	switch {
	case end.Before(start):
		c.Refuse(tenant.Invalid("endTime", "must not be before startTime"))
		return
	case end.Sub(start) > MaxUsageRange:
		c.Refuse(tenant.Invalid("startTime", "must be at most 92 days before endTime"))
		return
	}
	o.SettledUsage(func(err error) {
		if err != nil {
			c.Fail(err)
			return
		}
		o.InMailbox(func() {
			o.ReadWide(c, func(st *storage.Store, _ int) (*pb.Reply, error) {
				return o.Report(st, start, end, cmp.Or(op.GetGroupBy(), GroupBySubject), maxUsageLines)
			})
		})
	})
}

// usageBucket returns the bucket that a time lies in, and its length.
func usageBucket(at time.Time, length time.Duration) time.Time {
	return at.UTC().Truncate(length) // days too begin at midnight UTC: the zero time does
}

// Report adds up the lines from the bucket of start to the one before which
// end lies, at most so many.
func (o *Usage) Report(st *storage.Store, start, end time.Time, groupBy string, most int) (_ *pb.Reply, err error) {
	length := time.Hour
	if end.Sub(start) > HourlyUsage {
		length = 24 * time.Hour
	}
	snap, err := st.Snapshot()
	if err != nil {
		return nil, err
	}
	defer partition.CloseSnapshot(snap, &err)
	from := max(clock.Millis(usageBucket(start, length)), 0)
	to := max(clock.Millis(usageBucket(end, length)), 0)
	if usageBucket(end, length).Before(end) {
		to += length.Milliseconds()
	}
	lines := storage.Between(o.Space.Key(storage.TableUsage, storage.U64(uint64(from))), o.Space.Key(storage.TableUsage,
		storage.U64(uint64(to))))
	type group struct {
		bucket int64
		commit.Line
	}
	sums := map[group]*pb.Usage{}
	tooMany := func(n int, of string) *pb.Reply {
		return tenant.Refuse(tenant.Invalid("startTime",
			fmt.Sprintf("spans more than %d %s of usage; ask for a shorter range", n, of)))
	}
	read := 0
	for rec, err := range storage.ScanRecords(snap, lines, storage.ScanOptions{Limit: most + 1},
		func() *pb.Usage { return &pb.Usage{} }) {
		if err != nil {
			return nil, err
		}
		if read++; read > most {
			return tooMany(most, "lines"), nil
		}
		line, err := commit.LineOf(rec.Key)
		if err != nil {
			return nil, fmt.Errorf("line of usage: %w", err)
		}
		g := group{bucket: clock.Millis(usageBucket(time.UnixMilli(line.Hour), length)), Line: commit.Line{Part: line.Part}}
		switch groupBy {
		case GroupByCapability:
			g.Capability = line.Capability
		case GroupByKey:
			g.Key = line.Key
		}
		sum := sums[g]
		if sum == nil {
			if len(sums) == maxUsageGroups {
				return tooMany(maxUsageGroups, "groups"), nil
			}
			sum = &pb.Usage{}
			sums[g] = sum
		}
		sum.ReadUnits += rec.Value.GetReadUnits()
		sum.EmbedTokens += rec.Value.GetEmbedTokens()
	}
	names := map[pb.PartitionID]string{}
	report := &pb.UsageReport{}
	keys := make([]group, 0, len(sums))
	for g := range sums {
		keys = append(keys, g)
		if _, ok := names[g.Part]; !ok {
			if names[g.Part], err = o.nameOf(snap, g.Part); err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(keys, func(a, b group) int {
		return cmp.Or(
			cmp.Compare(a.bucket, b.bucket), cmp.Compare(names[a.Part], names[b.Part]), slices.Compare(a.Part[:], b.Part[:]),
			cmp.Compare(a.Capability, b.Capability), slices.Compare(a.Key[:], b.Key[:]),
		)
	})
	for _, g := range keys {
		if n := len(report.Buckets); n == 0 || report.Buckets[n-1].StartMs != g.bucket {
			report.Buckets = append(report.Buckets, &pb.UsageBucket{StartMs: g.bucket, EndMs: g.bucket + length.Milliseconds()})
		}
		b := report.Buckets[len(report.Buckets)-1]
		out := &pb.UsageGroup{
			Subject: names[g.Part], Capability: g.Capability, ReadUnits: sums[g].GetReadUnits(),
			EmbedTokens: sums[g].GetEmbedTokens(),
		}
		if groupBy == GroupByKey {
			out.Key = g.Key.String()
		}
		b.Groups = append(b.Groups, out)
	}
	return &pb.Reply{Result: &pb.Reply_Data{Data: &pb.DataResult{Result: &pb.DataResult_Usage{Usage: report}}}}, nil
}

// nameOf is what a partition is called in a report: a subject's id, a member's
// user id, and the partition's own id where the subject was erased.
func (o *Usage) nameOf(r storage.Reader, id pb.PartitionID) (string, error) {
	rec := &pb.Partition{}
	found, err := r.Get(o.Space.Key(storage.TablePartition, storage.ID16(id)), rec)
	if err != nil {
		return "", err
	}
	if !found || rec.GetErasing() || rec.GetSubject() == "" {
		return id.String(), nil
	}
	return rec.GetSubject(), nil
}

// Sweep orders the end of lines that are older than anybody may ask for.
func (o *Usage) Sweep(st *storage.Store, b *storage.Batch, now time.Time) (int, error) {
	old := now.Add(-UsageRetention)
	if old.UnixMilli() <= 0 {
		return 0, nil
	}
	lines := storage.Between(o.Space.Key(storage.TableUsage, storage.U64(0)), o.Space.Key(storage.TableUsage,
		storage.U64(uint64(old.UnixMilli()))))
	for _, err := range st.Scan(lines, storage.ScanOptions{Limit: 1}) {
		if err != nil {
			return 0, err
		}
		b.DeleteRange(lines)
	}
	return 0, nil
}
