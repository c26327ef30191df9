package actors

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"

	pb "orgmem/proto"
)

var errBadCursor = errors.New("cursor is not one of this list")

const cursorTagBytes = 16 // a 128-bit tag; cursors are not secrets, only unforgeable

// cursorKind names the list, the filters and the partition that a cursor
// belongs to; a cursor of another kind does not verify.
type cursorKind struct {
	list      string
	filters   string
	partition pb.PartitionID
}

// sealCursor returns an opaque cursor that stands after position. secret is the
// organization's.
func sealCursor(secret []byte, kind cursorKind, position []byte) string {
	return base64.RawURLEncoding.EncodeToString(append(cursorTag(secret, kind, position), position...))
}

// openCursor returns the position of a cursor that sealCursor made for the same
// secret and kind, and errBadCursor for anything else.
func openCursor(secret []byte, kind cursorKind, cursor string) ([]byte, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(raw) < cursorTagBytes {
		return nil, errBadCursor
	}
	tag, position := raw[:cursorTagBytes], raw[cursorTagBytes:]
	if !hmac.Equal(tag, cursorTag(secret, kind, position)) {
		return nil, errBadCursor
	}
	return position, nil
}

func cursorTag(secret []byte, kind cursorKind, position []byte) []byte {
	m := hmac.New(sha256.New, secret)
	// Lengths keep ("ab","c") and ("a","bc") apart.
	m.Write([]byte{'c', byte(len(kind.list))})
	m.Write([]byte(kind.list))
	f := sha256.Sum256([]byte(kind.filters))
	m.Write(f[:])
	m.Write(kind.partition[:])
	m.Write(position)
	return m.Sum(nil)[:cursorTagBytes]
}
