package index

// dotRowsPortable writes to out[i] the dot product of q and the i-th of the rows
// that follow each other in rows, each as long as q (a multiple of rowAlign).
// All kernels give the same integers.
func dotRowsPortable(q []int16, rows []int8, out []int32) {
	for i := range out {
		row := rows[i*len(q):][:len(q)]
		var a, b, c, d int32
		for k := 0; k+4 <= len(q); k += 4 {
			a += int32(q[k]) * int32(row[k])
			b += int32(q[k+1]) * int32(row[k+1])
			c += int32(q[k+2]) * int32(row[k+2])
			d += int32(q[k+3]) * int32(row[k+3])
		}
		out[i] = a + b + c + d
	}
}

// dotSomePortable writes to out[i] the dot product of q and the row at position
// docs[i] of rows.
func dotSomePortable(q []int16, rows []int8, docs, out []int32) {
	for i, doc := range docs {
		dotRowsPortable(q, rows[int(doc)*len(q):], out[i:i+1])
	}
}

// abovePortable gives, in out, which has room for all, the places whose weight·kw +
// vec is not below least.
func abovePortable(out []int32, kw, vec []float32, weight, least float32) []int32 {
	out = out[:0]
	for i, k := range kw {
		if float32(weight*k)+vec[i] >= least {
			out = append(out, int32(i))
		}
	}
	return out
}
