package storage

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"orgmem/proto/clock"
)

// Background work that fails again and again, as it does when the disk is full or
// the directory is gone, does not fill the log.
func TestFailingBackgroundWorkIsLoggedNowAndThen(t *testing.T) {
	var lines bytes.Buffer
	fake := clock.NewFake(time.Unix(1_800_000_000, 0))
	n := &Node{opts: Options{Clock: fake, Logger: slog.New(slog.NewTextHandler(&lines, nil))}}
	for range 1000 {
		n.backgroundFailed(errors.New("no space"))
	}
	if got := strings.Count(lines.String(), "no space"); got != 1 {
		t.Errorf("%d lines for 1,000 failures at one moment", got)
	}
	fake.Advance(backgroundLogEvery)
	n.backgroundFailed(errors.New("no space"))
	if got := lines.String(); strings.Count(got, "no space") != 2 || !strings.Contains(got, "failures=1001") {
		t.Errorf("after a while: %s", got)
	}
	fake.Jump(-3 * time.Hour)
	n.backgroundFailed(errors.New("no space"))
	if got := strings.Count(lines.String(), "no space"); got != 3 {
		t.Errorf("%d lines after the clock was put back", got)
	}
}
