package actors

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestBucketAgainstModel compares the bucket with a reference that keeps exact
// whole-token accounting in integer nanoseconds.
func TestBucketAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		family := rapid.SampledFrom([]string{"reads", "writes", "ingest", "sessions", "search", "exports", "default"}).Draw(t, "family")
		plan := rapid.SampledFrom([]string{planFree, planStandard, planScale}).Draw(t, "plan")
		l := limitOf(family, plan)
		perToken := time.Duration(float64(time.Minute) / l.perMinute)
		now := time.Unix(1_700_000_000, 0)
		var b bucket
		full := time.Duration(l.burst) * perToken
		level, last := full-perToken, now // the model's level, as time, after a first request
		b.take(now, l, false)
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			step := rapid.SampledFrom([]time.Duration{0, 0, 0, time.Millisecond, 300 * time.Millisecond, perToken, 7 * time.Second, -time.Hour, 2 * time.Minute}).Draw(t, "step")
			now = now.Add(step)
			if now.After(last) {
				level, last = min(full, level+now.Sub(last)), now
			}
			// Within a nanosecond of the edge float and integer may differ.
			if d := level - perToken; d > -time.Microsecond && d < time.Microsecond {
				now = now.Add(time.Millisecond)
				if now.After(last) {
					level, last = min(full, level+now.Sub(last)), now
				}
			}
			want := level >= perToken
			r, ok := b.take(now, l, false)
			if ok != want {
				t.Fatalf("take = %v, model says %v (level %v of %v)", ok, want, level, full)
			}
			if ok {
				level -= perToken
			} else if r.RetryAfterS < 1 {
				t.Fatal("a refusal must name a Retry-After of at least a second")
			}
			if left := float64(level) / float64(perToken); float64(r.Remaining) > left+1e-3 || float64(r.Remaining) < left-1.001 {
				t.Fatalf("remaining %d, model has %.4f", r.Remaining, left)
			}
			if float64(r.Quota) != l.perMinute {
				t.Fatalf("quota %d, want %v", r.Quota, l.perMinute)
			}
		}
	})
}

func TestRetryAfterIsEnough(t *testing.T) {
	l := limitOf("ingest", planStandard)
	now := time.Unix(1_700_000_000, 0)
	var b bucket
	for range 30 {
		if _, ok := b.take(now, l, false); !ok {
			t.Fatal("refused within the burst")
		}
	}
	r, ok := b.take(now, l, false)
	if ok || r.Remaining != 0 {
		t.Fatalf("the 31st request of a burst of 30 passed, %d remaining", r.Remaining)
	}
	if _, ok := b.take(now.Add(time.Duration(r.RetryAfterS)*time.Second), l, false); !ok {
		t.Fatal("refused after waiting as told")
	}
}

func TestUnlimitedPlanIsNeverRefusedAndStillDescribed(t *testing.T) {
	l := limitOf("search", planUnlimited)
	var b bucket
	for range 10_000 {
		r, ok := b.take(time.Unix(1_700_000_000, 0), l, true)
		if !ok || r.Quota == 0 {
			t.Fatalf("ok=%v quota=%d", ok, r.Quota)
		}
	}
}

func TestScopesFollowTheVocabulary(t *testing.T) {
	for _, c := range []struct {
		held string
		want []string
	}{
		{scopeRead, []string{scopeRead}},
		{scopeWrite, []string{scopeWrite, scopeGraph, scopeForget}},
		{scopeAdmin, []string{scopeAdmin, scopeProvision, scopeUsage}},
		{scopeGraph, []string{scopeGraph}},
		{scopeForget, []string{scopeForget}},
		{scopeProvision, []string{scopeProvision}},
		{scopeUsage, []string{scopeUsage}},
	} {
		granted := 0
		for _, s := range allScopes {
			if grants([]string{c.held}, s) {
				granted++
			}
		}
		if granted != len(c.want) {
			t.Errorf("%s grants %d scopes, want %v", c.held, granted, c.want)
		}
		for _, s := range c.want {
			if !grants([]string{c.held}, s) {
				t.Errorf("%s does not grant %s", c.held, s)
			}
		}
	}
}
