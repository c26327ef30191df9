package pdf

import (
	"errors"
	"fmt"
	"math"

	"orgmem/brain/format/meter"
)

var (
	// ErrEncrypted says that the file is locked by a password.
	ErrEncrypted = errors.New("is encrypted")
	// ErrDamaged says that neither the file's directory nor its objects lead to a page.
	ErrDamaged = errors.New("is a PDF file that is damaged or cut short")
	// ErrTooLarge says that more is unpacked, or asked for, than any file needs.
	ErrTooLarge = errors.New("is a PDF file that unpacks to too much")
)

const (
	// maxDecoded bounds what is worked through of one file, all its pages, fonts and forms
	// together: what is unpacked, what is unpacked twice counted twice, and what is done
	// with it. That is some seconds of a processor. Pictures are not unpacked.
	maxDecoded = 640 << 20
	// maxStream bounds one stream, unpacked.
	maxStream = 64 << 20
	// maxObjects bounds the directory.
	maxObjects = 1 << 20
	// maxCached bounds the memory of the objects that are held, as the lexer counts it.
	maxCached = 32 << 20
	// maxHeld bounds the object streams that are held unpacked.
	maxHeld = 32 << 20
	// entryMemory is what an object takes in the directory, and placeMemory in the list of
	// the objects of a stream.
	entryMemory, placeMemory = 48, 32
	// maxBusy bounds the objects that are being read, each of which names the next where
	// its length should stand.
	maxBusy = 16
	// maxChain bounds references to references, and trees of pages.
	maxChain = 64
	// pageWork, and listWork, are what a node of the tree of pages and an element of a
	// list cost, in bytes that are worked through: references make much of little.
	pageWork = 64
	listWork = 8
	// entryWork is what an entry of the directory costs, objectWork what an object costs beside its
	// letters, and cachedMemory what it takes where it is held.
	entryWork    = 64
	objectWork   = 16
	cachedMemory = 64
	// maxSections bounds the parts of the directory, one for each time that the file
	// was saved.
	maxSections = 4096
)

// file is what is read of a file: its objects, the fonts among them, and its pages.
type file struct {
	objects
	fonts   fonts
	written int // bytes of the pages that were read
}

// objects are those of a file, which are read where they are asked for.
type objects struct {
	measure
	data    []byte
	entries map[int32]entry
	trailer dict
	cache   map[int]object
	cached  int // memory of cache
	packed  map[int]*packedObjects
	held    int // bytes of packed
	key     *cipherKey
	busy    map[int]bool // objects that are being read
}

type packedObjects struct {
	data    []byte
	free    func()
	numbers []int32
	offsets []int32
}

// open finds the directory of a file.
func open(data []byte, m *meter.Meter, most bounds) (*file, error) {
	f := &file{objects: objects{measure: measure{meter: m, most: most}, data: data}}
	f.fonts = fonts{objects: &f.objects, known: map[int]*font{}}
	f.reset()
	if !f.directory() || f.pagesRoot() == nil {
		if f.stopped != nil {
			return nil, f.stopped
		}
		f.reset()
		f.rebuild()
	}
	if f.stopped != nil {
		return nil, f.stopped
	}
	if f.trailer["Encrypt"] != nil {
		if err := f.unlock(); err != nil {
			return nil, err
		}
	}
	if f.pagesRoot() == nil {
		if f.stopped != nil {
			return nil, f.stopped
		}
		return nil, ErrDamaged
	}
	return f, nil
}

func (f *objects) reset() {
	f.meter.Release(entryMemory * len(f.entries))
	f.forget()
	f.unpack(0)
	f.entries, f.cache = map[int32]entry{}, map[int]object{}
	f.packed, f.busy = map[int]*packedObjects{}, map[int]bool{}
	f.trailer = dict{}
}

// forget drops the objects that are held, and unpack the object streams, but for what is
// about to be.
func (f *objects) forget() {
	clear(f.cache)
	f.meter.Release(f.cached)
	f.cached = 0
}

func (f *objects) unpack(held int) {
	for _, p := range f.packed {
		p.free()
	}
	clear(f.packed)
	f.held = held
}

// object follows references to what they name.
func (f *objects) object(o object) object {
	for range maxChain {
		r, is := o.(ref)
		if !is {
			return o
		}
		o = f.load(r.number)
	}
	return nil
}

func (f *objects) load(n int) object {
	if o, ok := f.cache[n]; ok {
		return o
	}
	if n < 0 || n > math.MaxInt32 || f.stopped != nil || f.busy[n] || len(f.busy) >= maxBusy {
		return nil
	}
	e, ok := f.entries[int32(n)]
	if !ok {
		return nil
	}
	f.busy[n] = true
	defer delete(f.busy, n)
	var o object
	memory := 0
	if e.within > 0 {
		p := f.objectStream(int(e.within))
		if p == nil {
			return nil
		}
		i := int(e.index)
		if i < 0 || i >= len(p.numbers) || p.numbers[i] != int32(n) {
			if i = -1; !f.spend(len(p.numbers)) {
				return nil
			}
			for k, number := range p.numbers {
				if number == int32(n) {
					i = k
				}
			}
		}
		if i < 0 || p.offsets[i] < 0 || int(p.offsets[i]) > len(p.data) {
			return nil
		}
		l := lexer{data: p.data, pos: int(p.offsets[i])}
		o, _ = l.next()
		if _, stray := o.(operator); stray {
			o = nil
		}
		f.spend(l.pos - int(p.offsets[i]) + objectWork)
		memory = l.memory
	} else {
		l := lexer{data: f.data, pos: int(e.offset)}
		r, found, ok := l.indirect()
		if !f.spend(l.pos-int(e.offset)+objectWork) || !ok || r.number != n {
			return nil
		}
		memory = l.memory
		o = found
		if f.key != nil {
			o = f.key.strings(o, r, 0)
		}
		if s, is := o.(*stream); is {
			length, ok := f.object(s.dict["Length"]).(int)
			if !ok {
				length = -1
			}
			s.raw = cutStream(s.raw, length)
		}
	}
	if memory += cachedMemory; f.cached+memory > maxCached {
		f.forget()
	}
	if !f.hold(memory) {
		return nil
	}
	f.cached += memory
	f.cache[n] = o
	return o
}

// objectStream unpacks an object stream.
func (f *objects) objectStream(n int) *packedObjects {
	if p, ok := f.packed[n]; ok {
		return p
	}
	if n > math.MaxInt32 || f.entries[int32(n)].within > 0 {
		return nil // it cannot lie in another
	}
	s, ok := f.load(n).(*stream)
	if !ok {
		return nil
	}
	count, ok1 := f.object(s.dict["N"]).(int)
	first, ok2 := f.object(s.dict["First"]).(int)
	data, free := f.decode(s)
	if !ok1 || !ok2 || first < 0 || first > len(data) {
		free()
		return nil
	}
	places := placeMemory * min(max(count, 0), first/2, maxObjects)
	if !f.hold(places) {
		free()
		return nil
	}
	p := &packedObjects{data: data, free: func() { free(); f.meter.Release(places) }}
	l := lexer{data: data[:first]}
	for range min(count, first/2, maxObjects) {
		number, ok1 := l.next()
		offset, ok2 := l.next()
		n, isInt1 := number.(int)
		at, isInt2 := offset.(int)
		if !ok1 || !ok2 || !isInt1 || !isInt2 || n < 0 || n > math.MaxInt32 || at < 0 || at > len(data) ||
			!f.spend(objectWork) {
			break
		}
		p.numbers, p.offsets = append(p.numbers, int32(n)), append(p.offsets, int32(first+at))
	}
	if f.held += len(data); f.held > maxHeld {
		f.unpack(len(data))
	}
	f.packed[n] = p
	return p
}

func (f *objects) pagesRoot() dict {
	root := f.dict(f.trailer["Root"])
	return f.dict(root["Pages"])
}

// The views of an object as one kind; the zero value where it is another.

func (f *objects) dict(o object) dict {
	switch o := f.object(o).(type) {
	case dict:
		return o
	case *stream:
		return o.dict
	}
	return nil
}

func (f *objects) array(o object) array {
	a, _ := f.object(o).(array)
	return a
}

func (f *objects) name(o object) name {
	n, _ := f.object(o).(name)
	return n
}

func (f *objects) float(o object) float64 {
	switch o := f.object(o).(type) {
	case int:
		return float64(o)
	case float64:
		return o
	}
	return 0
}

func (f *objects) int(o object) int {
	switch o := f.object(o).(type) {
	case int:
		return o
	case float64:
		return int(o)
	}
	return 0
}

// list makes a list of a value that may be one or several.
func (f *objects) list(values ...object) array {
	for _, v := range values {
		switch v := f.object(v).(type) {
		case nil:
		case array:
			return v
		default:
			return array{v}
		}
	}
	return nil
}

// pages walks the tree of pages. Each holds what it inherits.
func (f *file) pages(visit func(page dict) bool) error {
	seen := map[int]bool{}
	var walk func(o object, inherited dict, depth int) bool
	walk = func(o object, inherited dict, depth int) bool {
		if r, is := o.(ref); is {
			if seen[r.number] {
				return true
			}
			seen[r.number] = true
		}
		// A node that is written out in its parent's list is not seen: two that name the
		// list they stand in would double at each level.
		if !f.spend(pageWork) {
			return false
		}
		d := f.dict(o)
		if d == nil || depth > maxChain {
			return true
		}
		all := dict{"Resources": inherited["Resources"]}
		if v := d["Resources"]; v != nil {
			all["Resources"] = v
		}
		kids := f.array(d["Kids"])
		if f.name(d["Type"]) == "Page" || kids == nil {
			all["Contents"] = d["Contents"]
			return visit(all)
		}
		for _, kid := range kids {
			if !walk(kid, all, depth+1) {
				return false
			}
		}
		return true
	}
	root := f.dict(f.trailer["Root"])
	walk(root["Pages"], dict{}, 0)
	if f.stopped != nil {
		return fmt.Errorf("pages: %w", f.stopped)
	}
	return nil
}
