package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// Part is one component of a key. Its encoding keeps order: for two values of
// one constructor, encode(a) < encode(b) bytewise exactly when a < b, and no
// encoding is a prefix of another's. So keys sort as tuples sort, and the keys
// that begin with given parts are exactly one contiguous range.
//
// Parts carry no type tag: every table has one shape (tables.go), and a tag per
// part would cost each of tens of millions of keys a byte.
type Part struct {
	kind partKind
	num  uint64
	id   [32]byte
	str  string
}

type partKind uint8

const (
	partStr partKind = iota + 1
	partU64
	partU32
	partID16
	partHash32
)

// Variable-length parts are escaped: NUL becomes NUL 0xFF and the part ends
// with NUL 0x01. The end sorts below any continuation, so "a" < "a\x00" < "aa".
const (
	escape     = 0x00
	escapedNul = 0xFF
	terminator = 0x01
)

// Str is text of any length, ordered bytewise.
func Str[S ~string](s S) Part { return Part{kind: partStr, str: string(s)} }

// Bytes is a byte string of any length; b is copied.
func Bytes(b []byte) Part { return Part{kind: partStr, str: string(b)} }

// U64 is an unsigned number, ascending; 8 bytes.
func U64(v uint64) Part { return Part{kind: partU64, num: v} }

// U64Desc is an unsigned number, descending: the newest first.
func U64Desc(v uint64) Part { return Part{kind: partU64, num: ^v} }

// I64 is a signed number, ascending: times before 1970 sort before the others.
func I64(v int64) Part { return Part{kind: partU64, num: uint64(v) ^ (1 << 63)} }

// I64Desc is a signed number, descending.
func I64Desc(v int64) Part { return Part{kind: partU64, num: ^(uint64(v) ^ (1 << 63))} }

// U32 is an unsigned number, ascending; 4 bytes.
func U32(v uint32) Part { return Part{kind: partU32, num: uint64(v)} }

// ID16 is a 16-byte id: an organization, partition, user or job.
func ID16[I ~[16]byte](id I) Part {
	p := Part{kind: partID16}
	copy(p.id[:], id[:])
	return p
}

// Hash32 is a 32-byte hash.
func Hash32[H ~[32]byte](h H) Part { return Part{kind: partHash32, id: h} }

func (p *Part) append(b []byte) []byte {
	switch p.kind {
	case partStr:
		rest := p.str
		for {
			i := strings.IndexByte(rest, escape)
			if i < 0 {
				break
			}
			b = append(b, rest[:i]...)
			b = append(b, escape, escapedNul)
			rest = rest[i+1:]
		}
		b = append(b, rest...)
		return append(b, escape, terminator)
	case partU64:
		return binary.BigEndian.AppendUint64(b, p.num)
	case partU32:
		return binary.BigEndian.AppendUint32(b, uint32(p.num))
	case partID16:
		return append(b, p.id[:16]...)
	case partHash32:
		return append(b, p.id[:]...)
	}
	broken("key part without a constructor")
	return nil
}

// ErrBadKey says that bytes are not a key of the expected place or shape.
var ErrBadKey = errors.New("malformed key")

// PartReader takes a key's parts apart, in order, with the reader of each part
// named like its constructor. After the first mismatch every reader returns the
// zero value; check Err at the end.
type PartReader struct {
	rest []byte
	err  error
}

// Err is nil when all parts so far were well-formed, else ErrBadKey.
func (r *PartReader) Err() error { return r.err }

// Done is Err, or ErrBadKey when parts are left over.
func (r *PartReader) Done() error {
	if r.err == nil && len(r.rest) > 0 {
		r.err = fmt.Errorf("%d bytes after the last part: %w", len(r.rest), ErrBadKey)
	}
	return r.err
}

func (r *PartReader) fail(what string) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: %w", what, ErrBadKey)
	}
	r.rest = nil
}

func (r *PartReader) fixed(n int, what string) []byte {
	if r.err != nil || len(r.rest) < n {
		r.fail(what)
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

// Bytes reads a Bytes or Str part; the slice is the caller's.
func (r *PartReader) Bytes() []byte {
	var out []byte
	for i := 0; i+1 < len(r.rest); i++ {
		if r.rest[i] != escape {
			continue
		}
		out = append(out, r.rest[:i]...)
		mark := r.rest[i+1]
		r.rest = r.rest[i+2:]
		i = -1
		switch mark {
		case terminator:
			return out
		case escapedNul:
			out = append(out, escape)
		default:
			r.fail("escape in a text part")
			return nil
		}
	}
	r.fail("unterminated text part")
	return nil
}

// Str reads a Str part.
func (r *PartReader) Str() string { return string(r.Bytes()) }

// U64 reads a U64 part.
func (r *PartReader) U64() uint64 {
	b := r.fixed(8, "8-byte part")
	if b == nil {
		return 0
	}
	return binary.BigEndian.Uint64(b)
}

// U64Desc reads a U64Desc part.
func (r *PartReader) U64Desc() uint64 { return ^r.U64() }

// I64 reads an I64 part.
func (r *PartReader) I64() int64 { return int64(r.U64() ^ (1 << 63)) }

// I64Desc reads an I64Desc part.
func (r *PartReader) I64Desc() int64 { return int64(^r.U64() ^ (1 << 63)) }

// U32 reads a U32 part.
func (r *PartReader) U32() uint32 {
	b := r.fixed(4, "4-byte part")
	if b == nil {
		return 0
	}
	return binary.BigEndian.Uint32(b)
}

// ID16 reads an ID16 part; convert it to the id type of the table's shape.
func (r *PartReader) ID16() (id [16]byte) {
	copy(id[:], r.fixed(16, "16-byte part"))
	return id
}

// Hash32 reads a Hash32 part.
func (r *PartReader) Hash32() (h [32]byte) {
	copy(h[:], r.fixed(32, "32-byte part"))
	return h
}
