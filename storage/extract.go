package storage

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// A backup takes a store as its records, not as its files: two replicas' tables have
// nothing in common, and their records are the same. So what a backup has from one
// node it need not take again from the next one that leads.
//
// The records, in key order, are cut into parts (Node.Extract). Where a part ends
// depends on the key of its last record, on the sizes of the records behind the cut
// before, and on nothing else, so that a record that is added, changed or removed
// changes the part it is in, and at most the few until a cut falls where it fell
// before. It is content-defined chunking (LBFS, Muthitacharoen et al. 2001; the least
// size as in rsync and restic), on whole records: where the rolling hash would be over
// bytes there, the hash is over a key here, and a record as long as a part is as likely
// to end one as all the short ones that would fill it.
//
// Storage's own records are in no part: they are of one replica's log and of its files.

const (
	// minPart and meanPart make parts of 512 KiB on average: a change costs as much, and
	// each part a look whether the vault has it.
	minPart  = 128 << 10
	meanPart = 384 << 10 // beyond the minimum
	// maxPart is where a part ends whatever the keys are: with a mean of meanPart less
	// than one in a hundred gets there.
	maxPart = 2 << 20
	// maxParts bounds the parts of one store: 128 GiB of records.
	maxParts = 256 << 10
	// recordHead is the most that the two lengths before a record take.
	recordHead = 2 * binary.MaxVarintLen32
)

// errBadPart says that a part of a store was not made by Extract.
var errBadPart = fmt.Errorf("part of a store: %w", ErrCorrupt)

// The names of parts are none that a table has (fileNames). A program that knows tables
// alone puts all that a backup names into one folder and opens it as a store; were the
// names good ones, Pebble would find nothing of its own there and make an empty store,
// and the restore would end well without a record.
const partNameFormat = "~%06d"

var partNames = regexp.MustCompile(`^~[0-9]{6}$`)

// InParts reports whether files are the parts of an Extract, and not the tables of a
// Copy.
func InParts(files []CopyFile) bool {
	return len(files) > 0 && !slices.ContainsFunc(files, func(f CopyFile) bool { return !partNames.MatchString(f.Name) })
}

// Extract is a store's records as they were at one moment, in parts. Its methods may
// be called from one goroutine at a time.
type Extract struct {
	copy  *Copy // the files that it reads
	db    *pebble.DB
	files []CopyFile
	first [][]byte // the key that each part begins with

	mu   sync.Mutex // guards what follows
	last int        // the part in buf; -1: none
	buf  []byte
}

// Extract takes a store's records as they are now; ErrNoStore when it does not exist. The
// caller closes it. It reads all of the store once, for the sums.
func (n *Node) Extract(ctx context.Context, id StoreID) (_ *Extract, err error) {
	c, err := n.hold(id)
	if err != nil {
		return nil, err
	}
	x := &Extract{copy: c, last: -1}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("extract %v: %w", id, err), x.Close())
		}
	}()
	o := n.storeOptions()
	o.ReadOnly = true
	if x.db, err = pebble.Open(c.dir, o); err != nil {
		return nil, wrapPebble("open copy", err)
	}
	sum, size := sha256.New(), int64(0)
	end := func() error {
		if len(x.files) >= maxParts {
			return fmt.Errorf("store has more than %d parts", maxParts)
		}
		x.files = append(x.files, CopyFile{
			Name: fmt.Sprintf(partNameFormat, len(x.files)), Size: size, Sum: [sha256.Size]byte(sum.Sum(nil)),
		})
		sum.Reset()
		size = 0
		return nil
	}
	head := make([]byte, 0, recordHead)
	err = x.records(nil, func(key, value []byte) (bool, error) {
		if size == 0 {
			x.first = append(x.first, bytes.Clone(key))
		}
		head = appendHead(head[:0], key, value)
		sum.Write(head)
		sum.Write(key)
		sum.Write(value)
		record := int64(len(head) + len(key) + len(value))
		if size += record; !cutBehind(key, record, size) {
			return true, nil
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
		return true, end()
	})
	if err == nil && size > 0 {
		err = end()
	}
	return x, err
}

// cutBehind decides whether a part of a size ends with a record.
func cutBehind(key []byte, record, size int64) bool {
	if size >= maxPart {
		return true
	}
	if size < minPart {
		return false
	}
	sum := sha256.Sum256(key)
	return uint64(binary.BigEndian.Uint32(sum[:]))*meanPart>>32 < uint64(record)
}

func appendHead(b, key, value []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(key)))
	return binary.AppendUvarint(b, uint64(len(value)))
}

// records calls f for each record from a key on, until it returns false.
func (x *Extract) records(from []byte, f func(key, value []byte) (bool, error)) (err error) {
	it, err := x.db.NewIter(&pebble.IterOptions{LowerBound: from})
	if err != nil {
		return wrapPebble("extract", err)
	}
	defer func() { err = errors.Join(err, wrapPebble("extract", it.Close())) }()
	for ok := it.First(); ok; ok = it.Next() {
		if it.Key()[0] == ownSpace {
			continue
		}
		value, err := it.ValueAndErr()
		if err != nil {
			return wrapPebble("extract", err)
		}
		if more, err := f(it.Key(), value); err != nil || !more {
			return err
		}
	}
	return wrapPebble("extract", it.Error())
}

// State returns the store's state in the extract.
func (x *Extract) State() State { return x.copy.State() }

// Files returns the parts. The caller must not change them.
func (x *Extract) Files() []CopyFile { return x.files }

// Open reads a part from an offset to its end. The caller closes it.
func (x *Extract) Open(name string, offset int64) (io.ReadCloser, error) {
	i, found := slices.BinarySearchFunc(x.files, name, func(f CopyFile, name string) int {
		return strings.Compare(f.Name, name)
	})
	if !found || offset < 0 || offset > x.files[i].Size {
		return nil, fmt.Errorf("%q from %d on: %w", name, offset, errBadFileName)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.last != i {
		// A reader of pieces asks for the next one soon.
		x.last, x.buf = -1, make([]byte, 0, x.files[i].Size)
		err := x.records(x.first[i], func(key, value []byte) (bool, error) {
			x.buf = append(append(appendHead(x.buf, key, value), key...), value...)
			return int64(len(x.buf)) < x.files[i].Size, nil
		})
		if err != nil {
			return nil, err
		}
		x.last = i
	}
	return io.NopCloser(bytes.NewReader(x.buf[offset:])), nil
}

// Close deletes the extract. What Open gave stays readable.
func (x *Extract) Close() error {
	var err error
	if x.db != nil {
		err = wrapPebble("close copy", x.db.Close())
	}
	return errors.Join(err, x.copy.Close())
}

// Parts looks at the parts of one store, whether a store can be made of them. The zero
// value is ready for the first one.
type Parts struct{ last []byte } // key

// Next looks at the next part, in the order of Extract.Files: its records must be whole,
// in order behind those before, and none of storage's own; ErrCorrupt. Each is given to
// f (nil: nobody wants them), which keeps neither slice.
func (p *Parts) Next(part []byte, f func(key, value []byte) error) error {
	last := p.last
	for len(part) > 0 {
		k, n := binary.Uvarint(part)
		if n <= 0 {
			return errBadPart
		}
		v, m := binary.Uvarint(part[n:])
		if m <= 0 {
			return errBadPart
		}
		part = part[n+m:]
		if k == 0 || k > uint64(len(part)) || v > uint64(len(part))-k {
			return errBadPart
		}
		key, value := part[:k], part[k:k+v]
		part = part[k+v:]
		if key[0] == ownSpace || bytes.Compare(key, last) <= 0 {
			return errBadPart
		}
		last = key
		if f == nil {
			continue
		}
		if err := f(key, value); err != nil {
			return err
		}
	}
	p.last = bytes.Clone(last)
	return nil
}

// Rebuild makes a store of an extract's parts, in the place where the files of a Stage
// are collected.
type Rebuild struct {
	stage *Stage
	db    *pebble.DB
	parts Parts
}

// Rebuild begins to make a store of parts that have so many bytes together. What an
// earlier attempt has left is deleted. ErrNoSpace when the disk has no room for it. The
// caller ends it with Adopt or Close.
func (n *Node) Rebuild(id StoreID, size int64) (*Rebuild, error) {
	if err := n.disk.Room(size); err != nil {
		return nil, fmt.Errorf("rebuild %v: %w", id, err)
	}
	if err := n.layout.discard(id); err != nil {
		return nil, err
	}
	s, err := n.Stage(id)
	if err != nil {
		return nil, err
	}
	if _, err := beginFormat(n.disk, s.dir); err != nil {
		return nil, fmt.Errorf("rebuild %v: %w", id, err)
	}
	db, err := pebble.Open(s.dir, n.storeOptions())
	if err != nil {
		return nil, wrapPebble("rebuild", err)
	}
	return &Rebuild{stage: s, db: db}, nil
}

// Add takes the next part, in the order of Extract.Files. The caller has compared it
// with its sum. Add answers ErrCorrupt to a part that has its sum and cannot be read.
func (r *Rebuild) Add(part []byte) error {
	b := r.db.NewBatchWithSize(256 + len(part) + len(part)/8) // Pebble panics when it closes one smaller than its header
	defer closeBatch(b)
	err := r.parts.Next(part, func(key, value []byte) error { return wrapPebble("rebuild", b.Set(key, value, nil)) })
	if err != nil {
		return err
	}
	return wrapPebble("rebuild", r.db.Apply(b, pebble.NoSync))
}

// Adopt puts the store in its place (Stage.Adopt). It begins another log, as a store
// does after Stage.BeginAnew, with a version.
func (r *Rebuild) Adopt(version uint64) error {
	err := wrapPebble("rebuild", r.db.Set(stateKey, State{Version: version}.encode(), pebble.NoSync))
	if err == nil {
		// Without a WAL a flush is what makes it durable.
		err = wrapPebble("rebuild", r.db.Flush())
	}
	if err = errors.Join(err, r.Close()); err != nil {
		return err
	}
	return r.stage.Adopt(0)
}

// Close ends an attempt. It may be called after Adopt, and twice.
func (r *Rebuild) Close() error {
	if r.db == nil {
		return nil
	}
	err := wrapPebble("rebuild", r.db.Close())
	r.db = nil
	return err
}
