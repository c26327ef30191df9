package index

import "golang.org/x/sys/cpu"

//go:noescape
func dotRowsAVX2(q *int16, rows *int8, stride, n int, out *int32)

//go:noescape
func dotSomeAVX2(q *int16, rows *int8, stride int, docs *int32, n int, out *int32)

//go:noescape
func sketchDotsAVX2(table, codes *byte, steps, blocks int, out *uint16)

//go:noescape
func aboveAVX2(kw, vec *float32, weight, least float32, n int, out *int32) int

//go:noescape
func fetchLines(p *byte, n int)

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

var dotSome = func() func(q []int16, rows []int8, docs, out []int32) {
	if cpu.X86.HasAVX2 {
		return dotSomeFast
	}
	return dotSomePortable
}()

func dotSomeFast(q []int16, rows []int8, docs, out []int32) {
	if len(docs) == 0 || len(q) == 0 {
		clear(out[:len(docs)])
		return
	}
	_ = out[len(docs)-1]
	for _, doc := range docs {
		_ = rows[(int(doc)+1)*len(q)-1]
	}
	dotSomeAVX2(&q[0], &rows[0], len(q), &docs[0], len(docs), &out[0])
}

var sketchDots = func() func(table, codes []byte, out []uint16) {
	if cpu.X86.HasAVX2 {
		return sketchDotsFast
	}
	return sketchDotsPortable
}()

func sketchDotsFast(table, codes []byte, out []uint16) {
	blocks := len(out) / sketchRows
	if blocks == 0 || len(table) == 0 {
		clear(out)
		return
	}
	_ = codes[blocks*len(table)-1]
	sketchDotsAVX2(&table[0], &codes[0], len(table)/32, blocks, &out[0])
}

// fetch asks for the cache lines of b, which is going to be read.
func fetch(b []byte) {
	if len(b) > 0 {
		fetchLines(&b[0], len(b))
	}
}

var above = func() func(out []int32, kw, vec []float32, weight, least float32) []int32 {
	if cpu.X86.HasAVX2 {
		return aboveFast
	}
	return abovePortable
}()

func aboveFast(out []int32, kw, vec []float32, weight, least float32) []int32 {
	n := len(kw) &^ 7
	if n > 0 {
		_, _ = vec[n-1], out[n-1]
		out = out[:aboveAVX2(&kw[0], &vec[0], weight, least, n, &out[0])]
	} else {
		out = out[:0]
	}
	for i, k := range kw[n:] {
		if float32(weight*k)+vec[n+i] >= least {
			out = append(out, int32(n+i))
		}
	}
	return out
}
