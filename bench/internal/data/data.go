// Package data is what the benchmarks share that read labelled texts and compare
// vectors.
package data

import (
	"bufio"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"
)

// maxLine is the longest line that Lines takes, in bytes: a book.
const maxLine = 16 << 20

// Lines calls each with the lines of a file, without their ends, until it returns an
// error. What ends in .gz is unpacked; where there is no such file, the packed one of
// its name is read. A line is good until each returns.
func Lines(file string, each func([]byte) error) (err error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		file += ".gz"
		f, err = os.Open(file)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var r io.Reader = f
	if strings.HasSuffix(file, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return err
		}
	}
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, maxLine)
	for scanner.Scan() {
		if err := each(scanner.Bytes()); err != nil {
			return err
		}
	}
	return scanner.Err()
}

// Dot is the product of two vectors of the same length, which is a multiple of 4: their
// cosine where both are of length 1.
func Dot(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	b = b[:len(a)]
	for i := 0; i+3 < len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	return s0 + s1 + s2 + s3
}

// Day is when a day begins, such as 2026-11-26, in Unix milliseconds; 0 if it is not known.
func Day(s string) int64 {
	at, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return 0
	}
	return at.UnixMilli()
}
