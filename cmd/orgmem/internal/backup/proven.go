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
	blob string // its name in the vault; empty: it is read from the service
}

// damaged names the blob too: a person who mends the vault must find it there.
func (p *proven) damaged() error {
	if p.blob == "" {
		return fmt.Errorf("%s: %w", p.file.Name, ErrDamaged)
	}
	return fmt.Errorf("%s: %s: %w", p.file.Name, p.blob, ErrDamaged)
}

func (p *proven) Read(b []byte) (int, error) {
	n, err := p.ReadCloser.Read(b)
	p.hash.Write(b[:n])
	p.size += int64(n)
	switch {
	case errors.Is(err, io.EOF):
		if p.size != p.file.Size || Sum(p.hash.Sum(nil)) != p.file.Sum {
			return n, p.damaged()
		}
	case err != nil:
		return n, fmt.Errorf("%w: %w", p.damaged(), err)
	}
	return n, err
}
