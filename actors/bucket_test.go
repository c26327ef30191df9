package actors

import (
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"orgmem/actors/account"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// TestBucketAgainstModel compares the bucket with a reference that keeps exact
// whole-token accounting in integer nanoseconds.
//
// interface: Limits/Families
func TestBucketAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		family := rapid.SampledFrom([]string{"reads", "writes", "ingest", "sessions", "search", "exports", "default"}).Draw(t,
			"family")
		plan := rapid.SampledFrom([]string{pb.PlanFree, pb.PlanStandard, pb.PlanScale}).Draw(t, "plan")
		l := tenant.LimitOf(family, plan)
		perToken := time.Duration(float64(time.Minute) / l.PerMinute)
		now := time.Unix(1_700_000_000, 0)
		var b tenant.Bucket
		full := time.Duration(l.Burst) * perToken
		level, last := full-perToken, now // the model's level, as time, after a first request
		b.Take(now, l, false)
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			step := rapid.SampledFrom([]time.Duration{
				0, 0, 0, time.Millisecond, 300 * time.Millisecond, perToken,
				7 * time.Second, -time.Hour, 2 * time.Minute,
			}).Draw(t, "step")
			now = now.Add(step)
			if now.After(last) {
				level, last = min(full, level+now.Sub(last)), now
			}
			want := level >= perToken
			r, ok := b.Take(now, l, false)
			if ok != want {
				t.Fatalf("take = %v, model says %v (level %v of %v)", ok, want, level, full)
			}
			if ok {
				level -= perToken
			} else if r.RetryAfterS < 1 {
				t.Fatal("a refusal must name a Retry-After of at least a second")
			}
			if left := float64(level) / float64(perToken); float64(r.Remaining) > left+1e-3 ||
				float64(r.Remaining) < left-1.001 {
				t.Fatalf("remaining %d, model has %.4f", r.Remaining, left)
			}
			if float64(r.Quota) != l.PerMinute {
				t.Fatalf("quota %d, want %v", r.Quota, l.PerMinute)
			}
		}
	})
}

// interface: Limits/Headers
func TestRetryAfterIsEnough(t *testing.T) {
	l := tenant.LimitOf("ingest", pb.PlanStandard)
	now := time.Unix(1_700_000_000, 0)
	var b tenant.Bucket
	for range 30 {
		if _, ok := b.Take(now, l, false); !ok {
			t.Fatal("refused within the burst")
		}
	}
	r, ok := b.Take(now, l, false)
	if ok || r.Remaining != 0 {
		t.Fatalf("the 31st request of a burst of 30 passed, %d remaining", r.Remaining)
	}
	if _, ok := b.Take(now.Add(time.Duration(r.RetryAfterS)*time.Second), l, false); !ok {
		t.Fatal("refused after waiting as told")
	}
}

func TestUnlimitedPlanIsNeverRefusedAndStillDescribed(t *testing.T) {
	l := tenant.LimitOf("search", pb.PlanUnlimited)
	var b tenant.Bucket
	for range 10_000 {
		r, ok := b.Take(time.Unix(1_700_000_000, 0), l, true)
		if !ok || r.Quota == 0 {
			t.Fatalf("ok=%v quota=%d", ok, r.Quota)
		}
	}
}

// interface: Authentication/6 scopes
func TestScopesFollowTheVocabulary(t *testing.T) {
	for _, c := range []struct {
		held string
		want []string
	}{
		{pb.ScopeRead, []string{pb.ScopeRead}},
		{pb.ScopeWrite, []string{pb.ScopeWrite, pb.ScopeGraph, pb.ScopeForget}},
		{pb.ScopeAdmin, []string{pb.ScopeAdmin, pb.ScopeProvision, pb.ScopeUsage}},
		{pb.ScopeGraph, []string{pb.ScopeGraph}},
		{pb.ScopeForget, []string{pb.ScopeForget}},
		{pb.ScopeProvision, []string{pb.ScopeProvision}},
		{pb.ScopeUsage, []string{pb.ScopeUsage}},
	} {
		granted := 0
		for _, s := range tenant.AllScopes {
			if tenant.Grants([]string{c.held}, s) {
				granted++
			}
		}
		if granted != len(c.want) {
			t.Errorf("%s grants %d scopes, want %v", c.held, granted, c.want)
		}
		for _, s := range c.want {
			if !tenant.Grants([]string{c.held}, s) {
				t.Errorf("%s does not grant %s", c.held, s)
			}
		}
	}
}

// TestLimitsAgainstModel sends requests of several families under several keys,
// one of them the sandbox's, while time and the plan change: each credential has a
// bucket of its own in each family, and every answer shows it.
func TestLimitsAgainstModel(t *testing.T) {
	storagetest.FewerUnderRace(t, 20)
	ops := map[string]func() *pb.Envelope{
		"reads":   me,
		"default": func() *pb.Envelope { return revoke(strings.Repeat("0", 64)) }, // refused, and paid for
		"search":  func() *pb.Envelope { return find("x") },
		"writes":  func() *pb.Envelope { return patchSettings("fast", nil) },
	}
	families := slices.Sorted(maps.Keys(ops))
	n := startNode(t, storagetest.NewDisk())
	org := n.org(account.NewOrg{Name: "Limits", OwnerEmail: "l@example.com", Plan: pb.PlanUnlimited})
	first := client{n: n, key: org.APIKey}
	// of the clock that the checks move
	long := first.ok(createSandboxKey(90 * 24 * time.Hour)).GetAccount().GetNewSandboxKey()
	clients := []client{first, n.keyOf(org.Org, org.Owner), {n: n, key: long.GetApiKey()}}
	rapid.Check(t, func(rt *rapid.T) {
		type bucketOf struct {
			client int
			family string
		}
		left := map[bucketOf]float64{} // tokens, as of now
		plan := pb.PlanStandard
		n.clock.Advance(tenant.BucketRefillTime) // each is full
		if err := n.sys.SetPlan(t.Context(), org.Org, plan); err != nil {
			rt.Fatal(err)
		}
		for range rapid.IntRange(1, 15).Draw(rt, "steps") {
			switch rapid.SampledFrom([]string{"ask", "ask", "ask", "burst", "wait", "plan"}).Draw(rt, "step") {
			case "wait":
				d := rapid.SampledFrom([]time.Duration{time.Millisecond, 250 * time.Millisecond, time.Second, 9 * time.Second}).
					Draw(rt, "wait")
				n.clock.Advance(d)
				for b := range left {
					l := tenant.LimitOf(b.family, plan)
					left[b] = min(l.Burst, left[b]+d.Seconds()*l.PerMinute/60)
				}
			case "plan":
				before := plan
				plan = rapid.SampledFrom([]string{pb.PlanFree, pb.PlanStandard}).Draw(rt, "plan")
				if err := n.sys.SetPlan(t.Context(), org.Org, plan); err != nil {
					rt.Fatal(err)
				}
				for b := range left { // what was spent stays spent
					left[b] = max(0, tenant.LimitOf(b.family, plan).Burst-(tenant.LimitOf(b.family, before).Burst-left[b]))
				}
			default:
				b := bucketOf{rapid.IntRange(0, len(clients)-1).Draw(rt, "client"), rapid.SampledFrom(families).Draw(rt, "family")}
				l := tenant.LimitOf(b.family, plan)
				if _, known := left[b]; !known {
					left[b] = l.Burst
				}
				for range rapid.SampledFrom([]int{1, 1, 5, 40}).Draw(rt, "requests") {
					r := clients[b.client].ask(ops[b.family]())
					refused := r.GetProblem().GetCode() == pb.CodeRateLimit
					if frac := left[b] - math.Floor(left[b]); frac > 1-1e-6 || frac < 1e-6 && left[b] < 1 && left[b] > 0 {
						left[b] = math.Round(left[b]) // float and sum of floats may differ here
					}
					if want := left[b] < 1; refused != want {
						rt.Fatalf("%v: refused %v with %.12f left; %v %v", b, refused, left[b], r, plan)
					}
					if !refused {
						left[b]--
					} else if r.GetProblem().GetRetryAfterS() == 0 {
						rt.Fatalf("%v: refused without a time to wait", b)
					}
					rate := r.GetRate()
					if rate == nil || float64(rate.GetQuota()) != l.PerMinute ||
						math.Abs(float64(rate.GetRemaining())-math.Floor(left[b]+1e-6)) > 0 {
						rt.Fatalf("%v: %v with %.6f left", b, rate, left[b])
					}
				}
			}
		}
	})
}

// TestBucketIsExact: a token is there when its time has passed, however often the bucket was looked at before.
func TestBucketIsExact(t *testing.T) {
	for _, family := range []string{pb.FamilyReads, pb.FamilyExports} {
		l := tenant.LimitOf(family, pb.PlanFree)
		perToken := time.Duration(float64(time.Minute) / l.PerMinute)
		now := time.Unix(1_700_000_000, 0)
		var b tenant.Bucket
		for range int(l.Burst) {
			b.Take(now, l, false)
		}
		for step := range 20 {
			for range perToken/time.Millisecond - 1 {
				now = now.Add(time.Millisecond)
				if _, ok := b.Take(now, l, false); ok {
					t.Fatalf("%s: token %d came early", family, step)
				}
			}
			now = now.Add(time.Millisecond)
			if _, ok := b.Take(now, l, false); !ok {
				t.Fatalf("%s: token %d came late", family, step)
			}
		}
	}
}

// TestSleepFillsNoBucket: an organization whose rest is due at once stays in memory
// while a bucket fills, since it would come back with a full one.
func TestSleepFillsNoBucket(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), func(c *tenant.Config, _ *storage.Options) { c.IdleOrg = time.Second })
	c := client{n: n, key: n.org(account.NewOrg{Name: "Idle", OwnerEmail: "i@example.com", Plan: pb.PlanFree}).APIKey}
	l := tenant.LimitOf("reads", pb.PlanFree)
	for range int(l.Burst) {
		c.ok(me())
	}
	c.refused(pb.CodeRateLimit, me())
	const steps = 8000 // of a millisecond: its rest is due once a second
	for range steps {
		n.clock.Advance(time.Millisecond)
		runtime.Gosched() // the actor's turn
		if n.sys.Stats().ActiveOrgs == 0 {
			t.Fatal("it has left memory, and its bucket with it")
		}
	}
	for range int(steps / 1000 * l.PerMinute / 60) {
		c.ok(me())
	}
	c.refused(pb.CodeRateLimit, me())
}
