package storage

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"orgmem/storage/ledger"
)

// recordVersion is the first byte of every record. A later layout takes the
// next number and teaches decode both; protobuf alone already carries added
// fields, so the byte is for what protobuf cannot: another encoding, or
// compression.
const recordVersion = 1

var (
	// ErrUnknownVersion says that a record was written by a newer version.
	ErrUnknownVersion = errors.New("record of an unknown version")
	// ErrCorrupt says that stored bytes are damaged. The store answers it, never
	// a guess; other stores of the node are unaffected.
	ErrCorrupt = ledger.ErrCorrupt
)

// marshal is deterministic so that replicas that apply the same batch hold the
// same bytes and can be compared by checksum.
var marshal = proto.MarshalOptions{Deterministic: true}

// encodeRecord returns version byte and protobuf.
func encodeRecord(m proto.Message) ([]byte, error) {
	b := make([]byte, 1, 1+proto.Size(m))
	b[0] = recordVersion
	b, err := marshal.MarshalAppend(b, m)
	if err != nil {
		return nil, fmt.Errorf("encode record: %w", err)
	}
	return b, nil
}

// DecodeRecord reads a record's bytes into m, which is overwritten. Errors:
// ErrUnknownVersion, ErrCorrupt.
func DecodeRecord(b []byte, m proto.Message) error {
	b, err := recordBody(b)
	if err != nil {
		return err
	}
	if err := proto.Unmarshal(b, m); err != nil {
		return fmt.Errorf("decode record: %w: %w", ErrCorrupt, err)
	}
	return nil
}

// recordBody is the protobuf of a record.
func recordBody(b []byte) ([]byte, error) {
	if len(b) == 0 {
		return nil, fmt.Errorf("empty record: %w", ErrCorrupt)
	}
	if b[0] != recordVersion {
		return nil, fmt.Errorf("version %d: %w", b[0], ErrUnknownVersion)
	}
	return b[1:], nil
}
