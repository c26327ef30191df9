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
	//nolint:gosec // aligned to far more than int16 needs
	return unsafe.Slice((*int16)(unsafe.Pointer(unsafe.SliceData(aligned))), size/2)[:n:n]
}

// Unload takes back the memory of file, bytes that the process has mapped from a
// file and never written: they stay in the system's cache and come back when they
// are read again, some microseconds for each 64 KB. Other memory would lose what
// it holds.
func Unload(file []byte) {
	page := unix.Getpagesize()
	first := unsafe.Pointer(unsafe.SliceData(file)) //nolint:gosec // only to find where pages begin
	skip := int(-uintptr(first) & uintptr(page-1))
	if len(file) < skip+page {
		return
	}
	whole := file[skip : skip+(len(file)-skip)/page*page]
	_ = unix.Madvise(whole, unix.MADV_DONTNEED) // who refuses it keeps the memory
}
