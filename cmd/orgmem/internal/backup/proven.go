package backup

import (
	"errors"
	"fmt"
	"hash"
	"io"
)

// proven reads a file and answers its end only when size and sum are right.
type proven struct {
	io.ReadCloser

	hash hash.Hash
	size int64
	file File
}

func (p *proven) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	p.hash.Write(b[:n])
	p.size += int64(n)
	switch {
	case errors.Is(err, io.EOF):
		if p.size != p.file.Size || Sum(p.hash.Sum(nil)) != p.file.Sum {
			return n, fmt.Errorf("%s: %w", p.file.Name, ErrDamaged)
		}
	case err != nil:
		return n, fmt.Errorf("%s: %w: %w", p.file.Name, ErrDamaged, err)
	}
	return n, err
}
