package tenant

import (
	"encoding/binary"
	"errors"
	"slices"

	pb "orgmem/proto"
	"orgmem/storage"
)

const (
	// MaxRecordsPerPage bounds the records that a page of a filtered list reads; the page may then be short.
	MaxRecordsPerPage = 500
)

// defaultPageSize is what a page holds when the client names no size.
const defaultPageSize = 50

// PageSize is the number of entries that a client wants on a page, or the default where it names none. The edge has
// checked the upper bound.
func PageSize(p *pb.Page) int {
	if p.GetSize() == 0 {
		return defaultPageSize
	}
	return int(p.GetSize())
}

// InvalidCursor is the refusal of a cursor that OpenCursor does not open.
func InvalidCursor() *pb.Problem {
	return NewProblem(pb.CodeInvalidCursor, "The cursor is damaged or belongs to another list, filter or partition.")
}

// ScanFrom turns a page request into scan options, or a cursor that is not of
// this list into a problem.
func (o *View) ScanFrom(all storage.Range, kind CursorKind, page *pb.Page) (storage.ScanOptions, *pb.Problem) {
	if page.GetCursor() == "" {
		return storage.ScanOptions{}, nil
	}
	position, err := OpenCursor(o.Secret, kind, page.GetCursor())
	if err == nil {
		var after storage.Key
		if after, err = all.ParseKey(position); err == nil {
			return storage.ScanOptions{After: after}, nil
		}
	}
	return storage.ScanOptions{}, InvalidCursor()
}

// PageOfKeys gathers a page of a list in the order of its keys. take turns an item
// into what the page shows, and reports false for one that does not belong to the
// list; it may follow an index entry to the record that it stands for. limit, which
// is above the size of any page, bounds the items that are looked at: a page may
// then be short, and its cursor goes on.
func PageOfKeys[T any](
	o *View, r storage.Reader, all storage.Range, kind CursorKind, page *pb.Page, limit int,
	take func(storage.Item) (T, bool, error),
) (entries []T, next string, _ *pb.Problem, _ error) {
	return PageOfWalk(o, r, KeyWalk{All: all}, kind, page, limit, take)
}

// KeyWalk is a range of keys and the direction in which it is read.
type KeyWalk struct {
	All     storage.Range
	Reverse bool
}

// PageOfWalk is PageOfKeys in either direction.
func PageOfWalk[T any](
	o *View, r storage.Reader, walk KeyWalk, kind CursorKind, page *pb.Page, limit int,
	take func(storage.Item) (T, bool, error),
) (entries []T, next string, _ *pb.Problem, _ error) {
	opts, p := o.ScanFrom(walk.All, kind, page)
	if p != nil {
		return nil, "", p, nil
	}
	opts.Limit, opts.Reverse = limit, walk.Reverse
	size, scanned := PageSize(page), 0
	var last storage.Key
	for item, err := range r.Scan(walk.All, opts) {
		if err != nil {
			return nil, "", nil, err
		}
		scanned++
		one, ok, err := take(item)
		switch {
		case err != nil:
			return nil, "", nil, err
		case len(entries) < size:
			last = item.Key
			if ok {
				entries = append(entries, one)
			}
		case ok: // one more that belongs to the list
			return entries, SealCursor(o.Secret, kind, last.Bytes()), nil, nil
		}
	}
	if scanned == limit {
		next = SealCursor(o.Secret, kind, last.Bytes())
	}
	return entries, next, nil, nil
}

// ErrNoRecord means that something names a record that is not there, such as an
// entry of a list: both are written together, so the store is damaged.
var ErrNoRecord = errors.New("an entry without its record")

// dated is a record of a list that is short enough to be sorted when it is read.
type dated interface {
	GetId() []byte
	GetCreatedMs() int64
}

// NewerFirst orders such records; their ids decide where times are equal.
func NewerFirst(a, b dated) int {
	return -slices.Compare(datedPosition(a), datedPosition(b))
}

// datedPosition is a record's place in its list, as cursors hold it.
func datedPosition(d dated) []byte {
	return append(binary.BigEndian.AppendUint64(nil, uint64(d.GetCreatedMs())), d.GetId()...)
}

// PageOfDated cuts one page out of a whole list that NewerFirst has sorted.
func PageOfDated[D dated](o *View, all []D, list string, page *pb.Page) (entries []D, next string, p *pb.Problem) {
	kind := CursorKind{List: list}
	if page.GetCursor() != "" {
		position, err := OpenCursor(o.Secret, kind, page.GetCursor())
		if err != nil {
			return nil, "", InvalidCursor()
		}
		at := slices.IndexFunc(all, func(d D) bool { return slices.Compare(datedPosition(d), position) < 0 })
		if at < 0 {
			at = len(all)
		}
		all = all[at:]
	}
	if size := PageSize(page); len(all) > size {
		all = all[:size]
		next = SealCursor(o.Secret, kind, datedPosition(all[size-1]))
	}
	return all, next, nil
}
