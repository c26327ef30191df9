package pages

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// large is the size of a large page.
const large = 2 << 20

// Weights gives n zeros in large pages, where the system has them. It is an
// embed.Room.
func Weights(n int) []int16 {
	size := (2*n + large - 1) / large * large
	if size == 0 {
		return nil
	}
	// One page more than is wanted, to begin at a multiple of its size; what is
	// left over is never touched and so takes no memory.
	whole, err := unix.Mmap(-1, 0, size+large, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return make([]int16, n)
	}
	first := unsafe.Pointer(unsafe.SliceData(whole)) //nolint:gosec // the mapping is never undone
	aligned := whole[-uintptr(first)&(large-1):][:size]
	// Advice that a system without large pages refuses; its small ones do as well.
	_ = unix.Madvise(aligned, unix.MADV_HUGEPAGE)
	return unsafe.Slice((*int16)(unsafe.Pointer(unsafe.SliceData(aligned))), size/2)[:n:n] //nolint:gosec // aligned to far more than int16 needs
}
