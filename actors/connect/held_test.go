package connect

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"orgmem/brain/format/reading"
	"orgmem/proto/clock"
)

// purse is a budget for one reading at a time: what is in it, and what was taken.
type purse struct {
	most, taken, ended int
	refuse             error
}

func (p *purse) reading(_ context.Context, most int) (Memory, error) {
	p.most = min(p.most, most)
	p.taken = reading.FirstMemory
	return Memory{
		Most: p.most, GoOn: func() error { return nil }, End: func() { p.ended++ },
		More: func(n int) error {
			if p.refuse != nil {
				return p.refuse
			}
			p.taken += n
			return nil
		},
	}, nil
}

func (f *forge) syncWithin(p *purse) (Result, error) {
	return Sync(f.t.Context(), f, clock.NewFake(time.Unix(0, 0)),
		Source{Type: "git", Config: []byte(`{"url":"https://x.example/r.git"}`), Reading: p.reading}, nil)
}

// TestARepositoryAsksForItsMemory, its files included of which none is taken in: in one
// reading, since waiting for a second one could be for ever, and for no more than there is.
func TestARepositoryAsksForItsMemory(t *testing.T) {
	f := newForge(t)
	const code = 24 << 20
	f.commit(map[string]string{"main.go": strings.Repeat("x", code), "page.html": "<p>A page.</p>", "notes.md": "Notes."})
	p := &purse{most: gitMemory}
	r, err := f.syncWithin(p)
	if err != nil || len(r.Documents) != 2 || p.ended != 1 || p.taken < code || p.taken > 2*code {
		t.Errorf("%d documents, %d bytes for %d, %d times ended: %v", len(r.Documents), p.taken, code, p.ended, err)
	}
	small := &purse{most: 16 << 20}
	if _, err := f.syncWithin(small); !errors.Is(err, ErrSource) || !strings.Contains(Reason(err), "16 MiB of memory") ||
		small.ended != 1 || small.taken > small.most {
		t.Errorf("with %d bytes of %d: %v", small.taken, small.most, err)
	}
	ended := errors.New("ended")
	refusing := &purse{most: gitMemory, refuse: ended}
	if _, err := f.syncWithin(refusing); !errors.Is(err, ended) || refusing.ended != 1 {
		t.Errorf("where waiting ends: %v, %d times ended", err, refusing.ended)
	}
}

// TestAPackTakesWhatItAsksFor: many small objects take little more than was asked for them,
// and none is asked for a promise that the pack cannot keep.
func TestAPackTakesWhatItAsksFor(t *testing.T) {
	const many = 100_000
	objects := make([][]byte, many)
	for i := range objects {
		objects[i] = packed(objBlob, nil, []byte{byte(i), byte(i >> 8), byte(i >> 16)})
	}
	raw := sealed(packFile(objects...))
	objects = nil
	asked := 0
	before := live()
	got, err := readPack(raw, func(n int) error { asked += n; return nil })
	after := live()
	if err != nil || len(got) != many || after-before > asked {
		t.Errorf("%d objects take %d bytes, and %d were asked for: %v", len(got), after-before, asked, err)
	}
	runtime.KeepAlive(got)
	runtime.KeepAlive(raw)

	// Each waits for the one behind it.
	const links = 50_000
	chain := make([][]byte, links+1)
	chain[links] = packed(objBlob, nil, fmt.Appendf(nil, "%08d", 0))
	for i := range links {
		chain[links-1-i] = packed(objRefDelta, blobID(fmt.Sprintf("%08d", i)), fmt.Appendf([]byte{8, 8, 8}, "%08d", i+1))
	}
	raw, chain, asked, peak := sealed(packFile(chain...)), nil, 0, 0
	before = live()
	got, err = readPack(raw, func(n int) error {
		if asked += n; n < objectMemory && peak == 0 { // the first that is made of another: all wait
			peak = live() - before - asked
		}
		return nil
	})
	if err != nil || len(got) != links+1 || peak > 0 {
		t.Errorf("%d objects that wait for others take %d bytes more than was asked for: %v", len(got), peak, err)
	}

	lie := packed(objBlob, nil, []byte("short"))
	lie = append([]byte{objBlob<<4 | 0x80, 0x80, 0x80, 0x20}, lie[1:]...) // 64 MiB
	most := 0
	if _, err := readPack(sealed(packFile(lie)), func(n int) error { most = max(most, n); return nil }); !errors.Is(err,
		ErrSource) || most > 0 {
		t.Errorf("%d bytes were asked for a promise: %v", most, err)
	}
}

// live is what the heap holds.
func live() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
