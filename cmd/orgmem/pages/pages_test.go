package pages_test

import (
	"testing"
	"unsafe"

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
