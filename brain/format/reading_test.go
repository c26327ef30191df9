package format

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"orgmem/brain/format/hostile"
)

func TestMeasureHostile(t *testing.T) {
	want := os.Getenv("HOSTILE")
	if want == "" {
		t.Skip()
	}
	for _, f := range hostile.Files() {
		if want != "all" && !strings.Contains(f.Name, want) {
			continue
		}
		data := f.Make()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		base := m.HeapAlloc
		peak, n := uint64(0), 0
		var gc time.Duration
		look := func() error {
			if n++; n > 3000 || n%8 != 0 && n > 64 {
				return nil
			}
			b := time.Now()
			runtime.GC()
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc)
			gc += time.Since(b)
			return nil
		}
		t0 := m.TotalAlloc
		began := time.Now()
		docs, kind, err := Documents(f.Name, data, Limits{Bytes: 16 << 20, GoOn: look})
		took := time.Since(began) - gc
		runtime.ReadMemStats(&m)
		text := 0
		for _, d := range docs {
			text += len(d.Content)
		}
		t.Logf("%-24s %8d KiB: %5d ms, live %5d MiB, allocated %6d MiB, %s %d docs %d KiB text, %.80v", f.Name, len(data)>>10, took.Milliseconds(), (peak-min(base, peak))>>20, (m.TotalAlloc-t0)>>20, kind, len(docs), text>>10, err)
		runtime.KeepAlive(data)
	}
}
