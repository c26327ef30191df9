//nolint:gosec // All of the package's unsafe code, so that it can be read at once.
package index

import "unsafe"

// Bytes that never change are seen as numbers and strings here.

// array views bytes as numbers. b is aligned to 8 bytes, since sections are, and
// its length is a multiple of the number's size.
func array[T uint32 | uint64 | int64 | float32 | int8](b []byte) []T {
	if len(b) == 0 {
		return nil
	}
	var z T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(z)))
}

// aligned tells whether data begins at a multiple of 8.
func aligned(data []byte) bool { return uintptr(unsafe.Pointer(unsafe.SliceData(data)))%8 == 0 }

// alignedBytes allocates n bytes at a multiple of 8.
func alignedBytes(n int) []byte {
	words := make([]uint64, (n+7)/8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))[:n:n]
}

// str shares the bytes, which never change.
func str(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// raw views numbers as bytes.
func raw[T uint32 | uint64 | float32 | int8](a []T) []byte {
	var z T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(a))), len(a)*int(unsafe.Sizeof(z)))
}
