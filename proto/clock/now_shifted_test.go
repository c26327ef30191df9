//go:build shifted

package clock_test

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"

	"orgmem/proto/clock"
)

// TestShift: the time of day jumps, and nothing else notices.
func TestShift(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shift")
	set := func(by time.Duration) {
		t.Helper()
		f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(binary.NativeEndian.AppendUint64(nil, uint64(by/time.Second))); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(clock.ShiftEnv, file)
	set(0)
	c := clock.Real()
	for _, by := range []time.Duration{0, 11 * time.Hour, -11 * time.Hour, time.Second, -400 * 24 * time.Hour} {
		set(by)
		before, shown, after := time.Now(), c.Now(), time.Now()
		if shown.Sub(before) < 0 || after.Sub(shown) < 0 {
			t.Errorf("shifted by %v it is %v and %v away from the moments around it", by, shown.Sub(before), after.Sub(shown))
		}
		if day := shown.Round(0); day.Before(before.Round(0).Add(by)) || day.After(after.Round(0).Add(by)) {
			t.Errorf("shifted by %v it shows %v at %v", by, day, before)
		}
	}
}
