package actors

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"

	pb "orgmem/proto"
	"orgmem/storage"
)

const (
	// maxEntriesPerPage bounds the list entries that one page reads where a filter
	// is held against them; a page may then be short, and its cursor goes on. 5,000
	// take some 2 ms.
	maxEntriesPerPage = 5000
	// maxRecordsPerPage is the same for records, which cost several times as much.
	maxRecordsPerPage = 500
)

// position is a place in a list that is newest first, and of one time ascending
// by id. Nothing that is written moves what is in a list: a record keeps its
// time and its id as long as it is there, so a cursor that stands behind a
// position goes on exactly there.
type position struct {
	created int64
	id      string
}

func (p position) compare(o position) int {
	return cmp.Or(cmp.Compare(o.created, p.created), cmp.Compare(p.id, o.id))
}

func (p position) encode() []byte {
	return append(binary.BigEndian.AppendUint64(nil, uint64(p.created)), p.id...)
}

func decodePosition(b []byte) (position, error) {
	if len(b) < 8 {
		return position{}, errBadCursor
	}
	return position{int64(binary.BigEndian.Uint64(b)), string(b[8:])}, nil
}

// positionOf opens the cursor of a list that is walked by position; nil without
// one.
func (o *orgView) positionOf(kind cursorKind, page *pb.Page) (*position, *pb.Problem) {
	if page.GetCursor() == "" {
		return nil, nil
	}
	raw, err := openCursor(o.secret, kind, page.GetCursor())
	if err == nil {
		var at position
		if at, err = decodePosition(raw); err == nil {
			return &at, nil
		}
	}
	return nil, problem(codeInvalidCursor, "The cursor is damaged or belongs to another list, filter or partition.")
}

// window is a half-open range of record times in milliseconds.
type window struct{ from, until int64 }

// always holds every time there is.
var always = window{1, math.MaxInt64}

// entry is one of a list.
type entry struct {
	position
	value []byte // valid until the walk's next step
}

// newestFirst walks the children of some keys as one list. They must end in
// (U64Desc created ms, Str id); no entry may stand under two of them.
func newestFirst(r storage.Reader, above []storage.Key, w window, after *position) iter.Seq2[entry, error] {
	if len(above) == 1 {
		return entriesOf(r, above[0], w, after)
	}
	return func(yield func(entry, error) bool) {
		type head struct {
			entry
			next func() (entry, error, bool)
		}
		var heads []head
		for _, key := range above {
			next, stop := iter.Pull2(entriesOf(r, key, w, after))
			defer stop()
			e, err, ok := next()
			if err != nil {
				yield(entry{}, err)
				return
			}
			if ok {
				heads = append(heads, head{e, next})
			}
		}
		for len(heads) > 0 {
			first := 0 // a dozen at most: no heap
			for i := range heads {
				if heads[i].compare(heads[first].position) < 0 {
					first = i
				}
			}
			h := &heads[first]
			if !yield(h.entry, nil) {
				return
			}
			e, err, ok := h.next()
			switch {
			case err != nil:
				yield(entry{}, err)
				return
			case ok:
				h.entry = e
			default:
				heads = append(heads[:first], heads[first+1:]...)
			}
		}
	}
}

func entriesOf(r storage.Reader, above storage.Key, w window, after *position) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		w.from = max(w.from, 1) // nothing was recorded in 1970
		if w.from >= w.until {
			return
		}
		all := above.Children()
		if w != always { // the newest come first
			all = storage.Between(above.Child(storage.U64Desc(uint64(w.until-1))), above.Child(storage.U64Desc(uint64(w.from-1))))
		}
		opts := storage.ScanOptions{}
		if after != nil {
			opts.After = above.Child(storage.U64Desc(uint64(after.created)), storage.Str(after.id))
		}
		for item, err := range r.Scan(all, opts) {
			if err != nil {
				yield(entry{}, err)
				return
			}
			parts := item.Key.PartsAfter(above)
			e := entry{position{int64(parts.U64Desc()), parts.Str()}, item.Value}
			if err := parts.Done(); err != nil {
				yield(entry{}, err)
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

// errNoRecord means that a list has an entry without its record: both are
// written together, so the store is damaged.
var errNoRecord = errors.New("list entry without a record")

// pageOf gathers one page of a walk. take turns an entry into what the page
// shows, and reports false for one that does not belong to the list. It returns
// the position that the next page goes on behind, nil when nothing is left. limit
// bounds the entries that are taken.
func pageOf[T any](walk iter.Seq2[entry, error], size, limit int, take func(entry) (T, bool, error)) (page []T, next *position, err error) {
	var last position
	seen := 0
	for e, err := range walk {
		if err != nil {
			return nil, nil, fmt.Errorf("read a list: %w", err)
		}
		if seen == limit {
			return page, &last, nil
		}
		seen++
		one, ok, err := take(e)
		switch {
		case err != nil:
			return nil, nil, fmt.Errorf("read a list: %w", err)
		case ok && len(page) == size:
			return page, &last, nil
		case ok:
			page = append(page, one)
		}
		last = e.position
	}
	return page, nil, nil
}
