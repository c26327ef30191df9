package pages_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"orgmem/cmd/orgmem/pages"
)

func TestWeightsAreZeroAndTheCallers(t *testing.T) {
	for _, n := range []int{0, 1, 1 << 20, 1<<20 + 1, 3_000_000} {
		a, b := pages.Weights(n), pages.Weights(n)
		if len(a) != n || cap(a) != n || len(b) != n {
			t.Fatalf("asked for %d: %d with room for %d, and %d", n, len(a), cap(a), len(b))
		}
		for i := range a {
			if a[i] != 0 {
				t.Fatalf("of %d, number %d is %d", n, i, a[i])
			}
			a[i] = -1
		}
		for i := range b {
			if b[i] != 0 {
				t.Fatalf("two callers share number %d of %d", i, n)
			}
		}
		if n > 0 && uintptr(unsafe.Pointer(&a[0]))%64 != 0 {
			t.Errorf("%d begin in the middle of a cache line", n)
		}
	}
}

// What was unloaded reads the same again, and its neighbours in memory are left
// alone.
func TestUnloadedBytesComeBack(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	want := make([]byte, 16<<20+123)
	for i := range want {
		want[i] = byte(i % 251)
	}
	if err := os.WriteFile(name, want, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	mapped, err := unix.Mmap(int(file.Fd()), 0, len(want), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(mapped) }()
	const from, to = 5000, 16<<20 - 3000
	mapped[from-1], mapped[to] = 1, 2 // written: on the first and last page of what goes
	want[from-1], want[to] = 1, 2
	used := func() int64 {
		line, err := os.ReadFile("/proc/self/statm")
		if err != nil {
			t.Fatal(err)
		}
		n, err := strconv.ParseInt(strings.Fields(string(line))[1], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n * int64(os.Getpagesize())
	}
	if !bytes.Equal(mapped, want) { // reads all of it
		t.Fatal("the file reads differently")
	}
	full := used()
	pages.Unload(mapped[from:to])
	if given := full - used(); given < to/2 {
		t.Errorf("of %d bytes, %d were given back", to, given)
	}
	if !bytes.Equal(mapped, want) {
		t.Fatal("what was unloaded reads differently, or what was written beside it is lost")
	}
	pages.Unload(mapped[from : from+10]) // less than a page: nothing to take
	pages.Unload(nil)
	if !bytes.Equal(mapped, want) {
		t.Fatal("bytes within one page were touched")
	}
}
