package storage

import (
	"bytes"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	pb "orgmem/proto"
)

// MaxBatchBytes bounds a batch. Ten mebibytes of request body become at most
// this much with records and indexes; a raft entry of this size still replicates
// in well under an election timeout.
const MaxBatchBytes = 24 << 20

// changeOverhead is what a change costs in the log beside key and value:
// protobuf tags and lengths, at most.
const changeOverhead = 16

// ErrBatchTooLarge says that a batch is above MaxBatchBytes, or one of its keys
// above MaxKeyBytes.
var ErrBatchTooLarge = errors.New("batch too large")

// Batch collects changes to one store, to be applied together or not at all. A
// later change of a key wins over an earlier one. It is not safe for concurrent
// use. A key of another store panics: writing into another organization is a
// bug that must not reach a log.
type Batch struct {
	store   StoreID
	changes []*pb.Change
	size    int
	tooLong bool
}

// NewBatch begins an empty batch for a store.
func NewBatch(id StoreID) *Batch { return &Batch{store: id} }

// Store returns the store the batch is for.
func (b *Batch) Store() StoreID { return b.store }

// Put writes a record. m is encoded at once; a message that cannot be encoded
// (invalid UTF-8 in a string field) panics, since input is validated long before
// it becomes a record.
func (b *Batch) Put(k Key, m proto.Message) {
	v, err := encodeRecord(m)
	if err != nil {
		broken("put %v: %v", k, err)
	}
	b.add(k.store, &pb.Change{Op: pb.Change_PUT, Key: k.b, Value: v})
}

// PutRaw writes bytes that carry their own format: index entries, pieces. The
// batch keeps v; the caller must not change it afterwards.
func (b *Batch) PutRaw(k Key, v []byte) {
	b.add(k.store, &pb.Change{Op: pb.Change_PUT, Key: k.b, Value: v})
}

// Delete removes a record; a missing one is no error.
func (b *Batch) Delete(k Key) {
	b.add(k.store, &pb.Change{Op: pb.Change_DELETE, Key: k.b})
}

// DeleteRange removes every record of the range.
func (b *Batch) DeleteRange(r Range) { b.addRange(pb.Change_DELETE_RANGE, r) }

// EraseRange removes every record of the range, and orders their bytes to leave
// the store's files too: on each replica the erasure is remembered durably and
// carried out in the background, or at once by Node.Erase.
func (b *Batch) EraseRange(r Range) { b.addRange(pb.Change_ERASE_RANGE, r) }

// Erase is EraseRange of one record.
func (b *Batch) Erase(k Key) { b.EraseRange(k.Range()) }

func (b *Batch) addRange(op pb.Change_Op, r Range) {
	if r.Empty() {
		return
	}
	b.add(r.store, &pb.Change{Op: op, Key: r.lo, End: r.hi})
}

func (b *Batch) add(id StoreID, c *pb.Change) {
	if id != b.store {
		broken("change of %v in a batch for %v", id, b.store)
	}
	if len(c.Key) == 0 {
		broken("change of the zero key")
	}
	b.tooLong = b.tooLong || len(c.Key) > MaxKeyBytes
	b.changes = append(b.changes, c)
	b.size += len(c.Key) + len(c.Value) + len(c.End) + changeOverhead
}

// Append adds the changes of o, which must be for the same store, after b's.
func (b *Batch) Append(o *Batch) {
	if o.store != b.store {
		broken("batch for %v appended to one for %v", o.store, b.store)
	}
	b.changes = append(b.changes, o.changes...)
	b.size += o.size
	b.tooLong = b.tooLong || o.tooLong
}

// Len returns the number of changes.
func (b *Batch) Len() int { return len(b.changes) }

// Bytes returns the size of the batch in a log entry, rounded up.
func (b *Batch) Bytes() int { return b.size }

// Check returns ErrBatchTooLarge when the batch must not be proposed.
func (b *Batch) Check() error {
	if b.size > MaxBatchBytes || b.tooLong {
		return fmt.Errorf("batch of %d changes, %d bytes: %w", len(b.changes), b.size, ErrBatchTooLarge)
	}
	return nil
}

// Changes returns the changes in order. The slice and what it points to belong
// to the batch and must not be modified.
func (b *Batch) Changes() []*pb.Change { return b.changes }

// ErrBadChange says that a change could not have come from a Batch.
var ErrBadChange = errors.New("malformed change")

// checkChange is the replica's own look at a change, before anything of its
// batch is written: the log is trusted to be ours, not to be right.
func checkChange(c *pb.Change) error {
	k := Key{b: c.GetKey()}
	if !k.wellPlacedBound() || len(c.GetKey()) > MaxKeyBytes {
		return fmt.Errorf("key: %w", ErrBadChange)
	}
	switch c.GetOp() {
	case pb.Change_PUT, pb.Change_DELETE:
		if !k.wellPlaced() {
			return fmt.Errorf("key: %w", ErrBadChange)
		}
		return nil
	case pb.Change_DELETE_RANGE, pb.Change_ERASE_RANGE:
		// The end may not lie beyond the space of the key: no change, however
		// it came about, reaches from one partition into another.
		if bytes.Compare(c.GetKey(), c.GetEnd()) >= 0 ||
			bytes.Compare(c.GetEnd(), successor(spacePrefix(c.GetKey()))) > 0 {
			return fmt.Errorf("range: %w", ErrBadChange)
		}
		return nil
	}
	return fmt.Errorf("operation %d: %w", c.GetOp(), ErrBadChange)
}

// spacePrefix is the part of a well-placed key that names its space.
func spacePrefix(key []byte) []byte {
	if key[0] == partitionSpace {
		return key[:1+len(pb.PartitionID{})]
	}
	return key[:1]
}

// wellPlacedBound is wellPlaced for the lower bound of a range, which may be the
// bare prefix of a space.
func (k Key) wellPlacedBound() bool {
	return len(k.b) >= 1 && k.b[0] == orgSpace || len(k.b) >= 17 && k.b[0] == partitionSpace
}
