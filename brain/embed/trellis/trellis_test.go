package trellis

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
)

// normal are rows whose columns are independent, each with a mean and a spread of its own, and the third without one.
func normal(n, columns int) Rows {
	data, r := make([]float32, n*columns), rand.New(rand.NewPCG(7, 9))
	for i := range data {
		column := i % columns
		data[i] = float32(column) + float32(r.NormFloat64())*float32(1+column%5)
		if column == 2 {
			data[i] = -3
		}
	}
	return Rows{N: n, Row: func(x []float32, i int) { copy(x, data[i*columns:][:columns]) }}
}

func learnt(t *testing.T, rows Rows, columns, bits int) *Code {
	t.Helper()
	c, err := Learn(rows, columns, bits)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What is read is as near to what was written as a trellis of 1,024 states comes, and the code is the same after a
// file.
func TestRowsComeBack(t *testing.T) {
	t.Parallel()
	const n, columns = 400, 48
	rows := normal(n, columns)
	for bits, most := range map[int]float64{2: 0.29, 3: 0.16, 4: 0.09, 6: 0.04} {
		c := learnt(t, rows, columns, bits)
		data, lost := c.Encode(rows)
		if len(data) != n*RowBytes(columns, bits) || lost > most || lost < most/3 {
			t.Errorf("%d bits: %d bytes, %.4f of the variance are lost", bits, len(data), lost)
		}
		again, err := Open(c.Append(nil), columns, bits)
		if err != nil {
			t.Fatal(err)
		}
		x, y := make([]float32, columns), make([]float32, columns)
		errors, all := 0.0, 0.0
		for i := range n {
			again.Decode(y, data[i*RowBytes(columns, bits):])
			rows.Row(x, i)
			for j := range x {
				if j == 2 {
					if y[j] != -3 {
						t.Fatalf("%d bits: a column without spread is %g, want -3", bits, y[j])
					}
					continue
				}
				spread := float64(1 + j%5)
				errors += math.Pow(float64(x[j]-y[j])/spread, 2)
				all += math.Pow((float64(x[j])-float64(j))/spread, 2)
			}
		}
		if off := errors/all - lost; math.Abs(off) > 0.01 {
			t.Errorf("%d bits: what is read has an error of %.4f, what was written %.4f", bits, errors/all, lost)
		}
	}
}

// The same rows make the same code and the same bytes.
func TestLearningIsAFunctionOfTheRows(t *testing.T) {
	t.Parallel()
	rows := normal(100, 16)
	a, b := learnt(t, rows, 16, 3), learnt(t, rows, 16, 3)
	if !bytes.Equal(a.Append(nil), b.Append(nil)) {
		t.Error("two codes of the same rows differ")
	}
	x, _ := a.Encode(rows)
	y, _ := b.Encode(rows)
	if !bytes.Equal(x, y) {
		t.Error("the same rows are written in two ways")
	}
}

// Values far out and rows that are all alike are taken as near as the table goes.
func TestFarValues(t *testing.T) {
	t.Parallel()
	rows := Rows{N: 40, Row: func(x []float32, i int) {
		for j := range x {
			x[j] = float32((i*7+j*3)%11) - 5
			if i == 3 && j == 4 {
				x[j] = 1e9
			}
		}
	}}
	c := learnt(t, rows, 8, 4)
	data, _ := c.Encode(rows)
	x := make([]float32, 8)
	for i := range rows.N {
		c.Decode(x, data[i*RowBytes(8, 4):])
		for j, v := range x {
			if math.IsNaN(float64(v)) || math.Abs(float64(v)) > 2e9 {
				t.Errorf("row %d, column %d is %g", i, j, v)
			}
		}
	}
}

func TestBadCodes(t *testing.T) {
	t.Parallel()
	rows := normal(10, 8)
	good := learnt(t, rows, 8, 4).Append(nil)
	notANumber := bytes.Clone(good)
	copy(notANumber[len(notANumber)-4:], []byte{0, 0, 0xc0, 0x7f})
	for what, err := range map[string]error{
		"no rows":       second(Learn(Rows{}, 8, 4)),
		"odd columns":   second(Learn(rows, 7, 4)),
		"too many bits": second(Learn(rows, 8, 7)),
		"short":         second(Open(good[:len(good)-1], 8, 4)),
		"other columns": second(Open(good, 10, 4)),
		"one bit":       second(Open(good, 8, 1)),
		"not a number":  second(Open(notANumber, 8, 4)),
	} {
		if !errors.Is(err, ErrCode) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func BenchmarkDecode(b *testing.B) {
	const columns = 384
	rows := normal(20, columns)
	c, err := Learn(rows, columns, 4)
	if err != nil {
		b.Fatal(err)
	}
	data, _ := c.Encode(rows)
	x := make([]float32, columns)
	for b.Loop() {
		c.Decode(x, data)
	}
}

func BenchmarkEncode(b *testing.B) {
	const columns = 384
	rows := normal(20, columns)
	c, err := Learn(rows, columns, 4)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		c.Encode(rows)
	}
}
