// Package listing pages through lists that are ordered newest first: positions, cursors, the walk that joins several
// ranges of a store, and one page of it.
package listing

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"math"

	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
)

const (
	// maxPassedOver bounds the entries of one range that a filter keeps out of a page. The page may then be short, and its
	// cursor goes on. A list joins two to twelve ranges, so this takes some 1 ms, and never 5.
	maxPassedOver = 800
)

// Position is a place in a list that is ordered newest first, and by id within one time. A record keeps its time and
// its id as long as it exists, so a cursor that stands behind a position goes on exactly there.
type Position struct {
	Created int64 // Unix milliseconds
	ID      string
}

// Compare orders positions as lists have them: newest first, and ascending by id within one time.
func (p Position) Compare(o Position) int {
	return cmp.Or(cmp.Compare(o.Created, p.Created), cmp.Compare(p.ID, o.ID))
}

// Encode is a position as a cursor holds it.
func (p Position) Encode() []byte {
	return append(binary.BigEndian.AppendUint64(nil, uint64(p.Created)), p.ID...)
}

// DecodePosition reads what Encode has made, and fails with tenant.ErrBadCursor for anything shorter than a time.
func DecodePosition(b []byte) (Position, error) {
	if len(b) < 8 {
		return Position{}, tenant.ErrBadCursor
	}
	return Position{int64(binary.BigEndian.Uint64(b)), string(b[8:])}, nil
}

// PositionOf opens the cursor of a list that is walked by position; nil without
// one.
func PositionOf(o *tenant.View, kind tenant.CursorKind, page *pb.Page) (*Position, *pb.Problem) {
	if page.GetCursor() == "" {
		return nil, nil
	}
	raw, err := tenant.OpenCursor(o.Secret, kind, page.GetCursor())
	if err == nil {
		var at Position
		if at, err = DecodePosition(raw); err == nil {
			return &at, nil
		}
	}
	return nil, tenant.InvalidCursor()
}

// Window is a half-open range of record times in milliseconds.
type Window struct{ From, Until int64 }

// Holds reports whether a time is in the window.
func (w Window) Holds(ms int64) bool { return ms >= w.From && ms < w.Until }

// AllTime holds every time there is.
var AllTime = Window{1, math.MaxInt64}

// Entry is one place of a list, or a pause of the walk.
type Entry struct {
	Position
	// pause means that the walk has passed over as many entries as it may. The position is how far it has come.
	pause bool
}

// Filter says by id and value which entries belong to a list; nil keeps all. The value is only valid during the call.
type Filter func(id string, value []byte) bool

// NewestFirst walks the children of some keys as one list, as far as keep lets
// them pass. The keys must end in (U64Desc created ms, Str id); no entry may
// stand under two of those above.
//
// Each range passes over a bounded number of entries, and pauses then. The walk ends with the first pause in the order
// of the list, so a cursor that stands on it has missed nothing of the other ranges.
func NewestFirst(
	r storage.Reader, above []storage.Key, w Window, after *Position, keep Filter,
) iter.Seq2[Entry, error] {
	if len(above) == 1 {
		return entriesOf(r, above[0], w, after, keep)
	}
	return func(yield func(Entry, error) bool) {
		type head struct {
			Entry
			next func() (Entry, error, bool)
		}
		var heads []head
		for _, key := range above {
			next, stop := iter.Pull2(entriesOf(r, key, w, after, keep))
			defer stop()
			e, err, ok := next()
			if err != nil {
				yield(Entry{}, err)
				return
			}
			if ok {
				heads = append(heads, head{e, next})
			}
		}
		for len(heads) > 0 {
			first := 0 // a dozen at most: no heap
			for i := range heads {
				if heads[i].Compare(heads[first].Position) < 0 {
					first = i
				}
			}
			h := &heads[first]
			if !yield(h.Entry, nil) || h.pause {
				return
			}
			e, err, ok := h.next()
			switch {
			case err != nil:
				yield(Entry{}, err)
				return
			case ok:
				h.Entry = e
			default:
				heads = append(heads[:first], heads[first+1:]...)
			}
		}
	}
}

func entriesOf(r storage.Reader, above storage.Key, w Window, after *Position, keep Filter) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		w.From = max(w.From, 1) // nothing was recorded in 1970
		if w.From >= w.Until {
			return
		}
		all := above.Children()
		if w != AllTime { // the newest come first
			all = storage.Between(above.Child(storage.U64Desc(uint64(w.Until-1))),
				above.Child(storage.U64Desc(uint64(w.From-1))))
		}
		opts := storage.ScanOptions{}
		if after != nil {
			opts.After = above.Child(storage.U64Desc(uint64(after.Created)), storage.Str(after.ID))
		}
		passed := 0
		for item, err := range r.Scan(all, opts) {
			if err != nil {
				yield(Entry{}, err)
				return
			}
			parts := item.Key.PartsAfter(above)
			e := Entry{Position: Position{int64(parts.U64Desc()), parts.Str()}}
			if err := parts.Done(); err != nil {
				yield(Entry{}, err)
				return
			}
			if keep != nil && !keep(e.ID, item.Value) {
				if passed++; passed < maxPassedOver {
					continue
				}
				e.pause = true
			}
			if !yield(e, nil) || e.pause {
				return
			}
		}
	}
}

// PageOf gathers one page of a walk. take turns an entry into what the page
// shows, and reports false for one that does not belong to the list. It returns
// the position that the next page goes on behind, nil when nothing is left. limit
// bounds the entries that are taken, which cost a record each.
func PageOf[T any](
	walk iter.Seq2[Entry, error], size, limit int, take func(Entry) (T, bool, error),
) (page []T, next *Position, err error) {
	var last Position
	seen := 0
	for e, err := range walk {
		if err != nil {
			return nil, nil, fmt.Errorf("read a list: %w", err)
		}
		switch {
		case e.pause:
			return page, &e.Position, nil
		case seen == limit:
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
		last = e.Position
	}
	return page, nil, nil
}
