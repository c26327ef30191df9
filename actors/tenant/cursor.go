package tenant

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"

	pb "orgmem/proto"
)

// ErrBadCursor means that a cursor is damaged, or was made for another list, filter, partition or organization.
var ErrBadCursor = errors.New("cursor is not one of this list")

const cursorTagBytes = 16 // a 128-bit tag; cursors are not secrets, only unforgeable

// CursorKind names the list, the filters and the partition that a cursor
// belongs to; a cursor of another kind does not verify.
type CursorKind struct {
	List      string
	Filters   string
	Partition pb.PartitionID
}

// SealCursor returns an opaque cursor that stands after position. secret is the
// organization's.
func SealCursor(secret []byte, kind CursorKind, position []byte) string {
	return base64.RawURLEncoding.EncodeToString(append(cursorTag(secret, kind, position), position...))
}

// OpenCursor returns the position of a cursor that SealCursor made for the same
// secret and kind, and ErrBadCursor for anything else.
func OpenCursor(secret []byte, kind CursorKind, cursor string) ([]byte, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(raw) < cursorTagBytes {
		return nil, ErrBadCursor
	}
	tag, position := raw[:cursorTagBytes], raw[cursorTagBytes:]
	if !hmac.Equal(tag, cursorTag(secret, kind, position)) {
		return nil, ErrBadCursor
	}
	return position, nil
}

func cursorTag(secret []byte, kind CursorKind, position []byte) []byte {
	m := hmac.New(sha256.New, secret)
	// Lengths keep ("ab","c") and ("a","bc") apart.
	m.Write([]byte{'c', byte(len(kind.List))})
	m.Write([]byte(kind.List))
	f := sha256.Sum256([]byte(kind.Filters))
	m.Write(f[:])
	m.Write(kind.Partition[:])
	m.Write(position)
	return m.Sum(nil)[:cursorTagBytes]
}
