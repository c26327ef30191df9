package storage

import (
	"bytes"
	"fmt"

	pb "orgmem/proto"
)

// A key's first byte says whose it is. Storage's own records (the applied
// index, pending erasures) have a byte that no Space can produce, so no batch
// can touch them.
const (
	ownSpace       = 0x01
	orgSpace       = 0x02
	partitionSpace = 0x03
)

// MaxKeyBytes bounds an encoded key. The longest legitimate one holds an
// external id and a node id of some hundred bytes each; Pebble's own limit is
// far higher, but index blocks and manifests keep whole keys in memory.
const MaxKeyBytes = 8 << 10

// Space is a place for keys: an organization's own tables or one partition. It
// is the only maker of keys, so no key exists without an organization, and none
// of a partition's tables without the partition.
type Space struct {
	store  StoreID
	prefix string
}

// OrgSpace holds the tables below 0x80 of a store.
func OrgSpace(id StoreID) Space {
	return Space{store: id, prefix: string([]byte{orgSpace})}
}

// PartitionSpace holds the tables of one partition: one contiguous key range,
// so that erasing a partition is one range deletion.
func PartitionSpace(id StoreID, p pb.PartitionID) Space {
	b := make([]byte, 0, 1+len(p))
	b = append(b, partitionSpace)
	return Space{store: id, prefix: string(append(b, p[:]...))}
}

// Store returns the store whose keys the space makes.
func (s Space) Store() StoreID { return s.store }

// Key makes the key of a record. It panics on a table of the other level: that
// is a bug of the caller, not input.
func (s Space) Key(t Table, parts ...Part) Key {
	return Key{store: s.store, b: s.encode(t, parts)}
}

// Prefix is the range of exactly the keys of t that begin with the parts.
func (s Space) Prefix(t Table, parts ...Part) Range {
	lo := s.encode(t, parts)
	return Range{store: s.store, lo: lo, hi: successor(lo)}
}

// All is the range of every key of the space.
func (s Space) All() Range {
	lo := []byte(s.prefix)
	return Range{store: s.store, lo: lo, hi: successor(lo)}
}

func (s Space) encode(t Table, parts []Part) []byte {
	if s.prefix == "" {
		broken("key from a zero Space")
	}
	if (s.prefix[0] == partitionSpace) != (t >= partitionTables) || t == 0 {
		broken("table %#x in a space of the other level", byte(t))
	}
	n := len(s.prefix) + 1
	for i := range parts {
		n += len(parts[i].str) + 34 // 34: the longest fixed part, or a text part's terminator
	}
	b := make([]byte, 0, min(n, len(s.prefix)+1+len(parts)*34+64))
	b = append(b, s.prefix...)
	b = append(b, byte(t))
	for i := range parts {
		b = parts[i].append(b)
	}
	return b
}

// Key addresses one record of one store. Two keys are equal when Equal says so;
// the zero Key addresses nothing.
type Key struct {
	store StoreID
	b     []byte
}

// Store returns the store the key belongs to.
func (k Key) Store() StoreID { return k.store }

// IsZero reports whether k is the zero Key.
func (k Key) IsZero() bool { return len(k.b) == 0 }

// Equal reports whether both address the same record of the same store.
func (k Key) Equal(o Key) bool { return k.store == o.store && bytes.Equal(k.b, o.b) }

// Bytes returns the encoding, the caller's copy; Range.ParseKey reads it back.
// It may hold customer text (external ids): do not log it.
func (k Key) Bytes() []byte { return bytes.Clone(k.b) }

// Table returns the key's table.
func (k Key) Table() Table { return Table(k.b[k.header()-1]) }

// Partition returns the partition the key lies in; ok is false for a key of the
// organization.
func (k Key) Partition() (id pb.PartitionID, ok bool) {
	if len(k.b) == 0 || k.b[0] != partitionSpace {
		return id, false
	}
	copy(id[:], k.b[1:])
	return id, true
}

// Parts reads the parts behind the table.
func (k Key) Parts() *PartReader { return &PartReader{rest: k.b[k.header():]} }

// PartsAfter reads the parts behind those of above, a key that k is a child of:
// lists that join ranges of several tables read their common end.
func (k Key) PartsAfter(above Key) *PartReader {
	if k.store != above.store || !bytes.HasPrefix(k.b, above.b) {
		return &PartReader{err: fmt.Errorf("no child of the key above: %w", ErrBadKey)}
	}
	return &PartReader{rest: k.b[len(above.b):]}
}

// header is the length of space and table.
func (k Key) header() int {
	if k.b[0] == partitionSpace {
		return 1 + 16 + 1
	}
	return 2
}

// Child is the key whose parts are k's and then these.
func (k Key) Child(parts ...Part) Key {
	b := bytes.Clone(k.b)
	for i := range parts {
		b = parts[i].append(b)
	}
	return Key{store: k.store, b: b}
}

// Children is the range of k itself and every key below it.
func (k Key) Children() Range {
	return Range{store: k.store, lo: k.b, hi: successor(k.b)}
}

// Range of k alone.
func (k Key) Range() Range {
	return Range{store: k.store, lo: k.b, hi: append(bytes.Clone(k.b), 0)}
}

// String shows the place without the parts, which may be customer text.
func (k Key) String() string {
	if k.IsZero() {
		return "no key"
	}
	return fmt.Sprintf("%v table %#x, %d bytes", k.store, byte(k.Table()), len(k.b))
}

// Range is a contiguous range of keys of one space. It comes from Prefix, All,
// Children or Between; the zero Range holds nothing.
type Range struct {
	store  StoreID
	lo, hi []byte // [lo, hi)
}

// Between is [lo, hi). Both keys must lie in one space; it panics otherwise,
// since such a range would reach into other partitions.
func Between(lo, hi Key) Range {
	if lo.store != hi.store || lo.IsZero() || hi.IsZero() ||
		!bytes.Equal(lo.b[:lo.header()-1], hi.b[:min(len(hi.b), lo.header()-1)]) {
		broken("range between keys of different spaces")
	}
	return Range{store: lo.store, lo: lo.b, hi: hi.b}
}

// Around is the range without one of its keys: what lies before it, and what lies
// behind. k must lie in the range; it panics otherwise.
func (r Range) Around(k Key) (before, behind Range) {
	if !r.Contains(k) {
		broken("range around a key outside of it")
	}
	return Range{store: r.store, lo: r.lo, hi: k.b}, Range{store: r.store, lo: k.Range().hi, hi: r.hi}
}

// Store returns the store the range lies in.
func (r Range) Store() StoreID { return r.store }

// Empty reports whether no key can lie in the range.
func (r Range) Empty() bool { return bytes.Compare(r.lo, r.hi) >= 0 }

// Contains reports whether k lies in the range.
func (r Range) Contains(k Key) bool {
	return r.store == k.store && bytes.Compare(r.lo, k.b) <= 0 && bytes.Compare(k.b, r.hi) < 0
}

// ParseKey reads back what Key.Bytes gave, and refuses with ErrBadKey what does
// not lie in the range: the key of another list, partition or store.
func (r Range) ParseKey(b []byte) (Key, error) {
	k := Key{store: r.store, b: bytes.Clone(b)}
	if len(b) > MaxKeyBytes || !r.Contains(k) || !k.wellPlaced() {
		return Key{}, fmt.Errorf("key outside its range: %w", ErrBadKey)
	}
	return k, nil
}

// wellPlaced reports whether the bytes begin like a key that a Space could have
// made.
func (k Key) wellPlaced() bool {
	if len(k.b) == 0 {
		return false
	}
	switch k.b[0] {
	case orgSpace:
		return len(k.b) >= 2 && Table(k.b[1]) < partitionTables && k.b[1] != 0
	case partitionSpace:
		return len(k.b) >= 18 && Table(k.b[17]) >= partitionTables
	}
	return false
}

// successor returns the least byte string above all that begin with b.
func successor(b []byte) []byte {
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] != 0xFF {
			out := bytes.Clone(b[:i+1])
			out[i]++
			return out
		}
	}
	broken("prefix of 0xFF only") // spaces begin with 0x02 or 0x03
	return nil
}
