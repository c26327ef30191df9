package operator

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"orgmem/actors/tenant"
	"orgmem/proto/clock"
)

// Not in parallel: the runtime of the test's own process takes one profile of the
// processor at a time.
func TestProfiles(t *testing.T) {
	var p profiler
	clk := clock.NewFake(time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC))
	for _, name := range profilesOfNow {
		f, err := p.take(t.Context(), clk, name, "")
		if err != nil || !unzips(f.body) {
			t.Errorf("%s: %v, %d bytes", name, err, len(f.body))
		}
	}
	for _, asked := range [][2]string{
		{"cmdline", ""}, {"", ""}, {"heap", "5"}, {profileCPU, "0"}, {profileCPU, "21"}, {profileTrace, "x"},
	} {
		if _, err := p.take(t.Context(), clk, asked[0], asked[1]); !errors.Is(err, tenant.ErrInvalid) {
			t.Errorf("%q for %q seconds: %v", asked[0], asked[1], err)
		}
	}
	for name, begins := range map[string]string{profileCPU: "\x1f\x8b", profileTrace: "go 1."} {
		taken := make(chan file)
		go func() {
			f, err := p.take(t.Context(), clk, name, "3")
			if err != nil {
				t.Error(err)
			}
			taken <- f
		}()
		for clk.Waiters() == 0 {
			runtime.Gosched()
		}
		if _, err := p.take(t.Context(), clk, "heap", ""); !errors.Is(err, tenant.ErrConflict) {
			t.Errorf("beside the %s: %v", name, err)
		}
		clk.Advance(3 * time.Second)
		if f := <-taken; !strings.HasPrefix(string(f.body), begins) {
			t.Errorf("%s begins with %.20q", name, f.body)
		}
	}
	// Who has hung up ends it.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.take(ctx, clk, profileCPU, ""); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if f, err := p.take(t.Context(), clk, "heap", ""); err != nil || !unzips(f.body) {
		t.Errorf("after it: %v", err)
	}
}

func unzips(b []byte) bool {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return false
	}
	n, err := io.Copy(io.Discard, r)
	return err == nil && n > 0
}

func TestBounded(t *testing.T) {
	t.Parallel()
	b := &bounded{left: 3}
	if n, err := b.Write([]byte("ab")); n != 2 || err != nil || b.over {
		t.Errorf("%d %v", n, err)
	}
	if _, err := b.Write([]byte("cd")); !errors.Is(err, errProfileSize) || !b.over || b.String() != "ab" {
		t.Errorf("%v, holds %q", err, b.String())
	}
}
