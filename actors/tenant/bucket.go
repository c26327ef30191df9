package tenant

import (
	"math"
	"time"

	pb "orgmem/proto"
)

// Limit is a token bucket's shape: at most burst tokens, refilled continuously
// at PerMinute tokens a minute.
type Limit struct{ Burst, PerMinute float64 }

// limits are the figures of docs/interface.md ("Rate limits"), those of the plan
// `standard`.
var limits = map[string]Limit{
	"reads":    {100, 300},
	"writes":   {30, 120},
	"ingest":   {30, 60},
	"sessions": {300, 600},
	"search":   {30, 120},
	"exports":  {10, 30},
	"default":  {60, 120},
}

// PlanFactor multiplies both figures of every family; an unlimited plan shows
// the figures of scale in its headers and is never refused.
var PlanFactor = map[string]float64{pb.PlanFree: 0.5, pb.PlanStandard: 1, pb.PlanScale: 10, pb.PlanUnlimited: 10}

// LimitOf is the limit of a route family under a plan. A family that is not in the table has the figures of "default",
// and an unknown plan those of the plan `standard`.
func LimitOf(family, plan string) Limit {
	l, ok := limits[family]
	if !ok {
		l = limits["default"]
	}
	f, ok := PlanFactor[plan]
	if !ok {
		f = 1
	}
	return Limit{l.Burst * f, l.PerMinute * f}
}

// Bucket is the state of one credential's bucket in one family. The zero value
// is a full bucket.
type Bucket struct {
	spent float64   // tokens missing from a full bucket
	at    time.Time // when spent was last brought up to date
}

// Take draws one token and describes the bucket afterwards. On refusal nothing
// is drawn, and RetryAfterS says when one token will be there. A clock that
// steps back neither refills nor empties.
func (b *Bucket) Take(now time.Time, l Limit, unlimited bool) (*pb.RateLimit, bool) {
	b.refill(now, l)
	perSecond := l.PerMinute / 60
	ok := unlimited || b.spent+1 <= l.Burst
	if ok && !unlimited {
		b.spent++
	}
	r := &pb.RateLimit{
		Remaining: uint32(max(0, l.Burst-b.spent)),
		ResetS:    uint32(math.Ceil(b.spent / perSecond)),
		Quota:     uint32(l.PerMinute),
	}
	if !ok {
		r.RetryAfterS = uint32(max(1, math.Ceil((b.spent+1-l.Burst)/perSecond)))
	}
	return r, ok
}

// refill brings a bucket up to date.
func (b *Bucket) refill(now time.Time, l Limit) {
	if elapsed := now.Sub(b.at).Seconds(); elapsed > 0 && !b.at.IsZero() {
		b.spent = max(0, b.spent-elapsed*l.PerMinute/60)
	}
	if b.at.IsZero() || now.After(b.at) {
		b.at = now
	}
}

// Replan moves a bucket from one plan's limit to another's: it was refilled at
// the old rate until now, and cannot lack more than the new one holds.
func (b *Bucket) Replan(now time.Time, from, to Limit) {
	b.refill(now, from)
	b.spent = min(b.spent, to.Burst)
}
