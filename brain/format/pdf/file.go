package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"

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

// bounds are those that tests make smaller, to get there sooner.
type bounds struct{ decoded, stream, written int }

// entry says where an object lies: at an offset, or in an object stream. There are up
// to a million.
type entry struct {
	offset int32
	within int32 // the number of the stream; 0: none
	index  int32
}

type file struct {
	data    []byte
	meter   *meter.Meter
	entries map[int32]entry
	trailer dict
	cache   map[int]object
	packed  map[int]*packedObjects
	held    int
	cached  int // memory of cache
	decoded int
	most    bounds
	key     *cipherKey
	busy    map[int]bool // objects that are being read
	stopped error        // by step, or by a bound
	fonts   map[int]*font
	codes   int // that fonts hold
	written int // bytes of the pages that were read
}

type packedObjects struct {
	data    []byte
	free    func()
	numbers []int32
	offsets []int32
}

// stop ends the reading; what is read from then on is nothing.
func (f *file) stop(err error) {
	if f.stopped == nil && err != nil {
		f.stopped = err
	}
}

// spend counts bytes that were worked through.
func (f *file) spend(n int) bool {
	if f.stopped != nil {
		return false
	}
	if f.decoded += n; f.decoded > f.most.decoded {
		f.stop(ErrTooLarge)
		return false
	}
	f.stop(f.meter.Step(n))
	return f.stopped == nil
}

// hold counts memory that is about to be taken.
func (f *file) hold(n int) bool {
	f.stop(f.meter.Hold(n))
	return f.stopped == nil
}

// open finds the directory of a file.
func open(data []byte, m *meter.Meter, most bounds) (*file, error) {
	f := &file{data: data, meter: m, most: most}
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

func (f *file) reset() {
	f.meter.Release(entryMemory * len(f.entries))
	f.forget()
	f.unpack(0)
	f.entries, f.cache, f.packed, f.busy, f.fonts = map[int32]entry{}, map[int]object{}, map[int]*packedObjects{},
		map[int]bool{}, map[int]*font{}
	f.trailer = dict{}
}

// forget drops the objects that are held, and unpack the object streams, but for what is
// about to be.
func (f *file) forget() {
	clear(f.cache)
	f.meter.Release(f.cached)
	f.cached = 0
}

func (f *file) unpack(held int) {
	for _, p := range f.packed {
		p.free()
	}
	clear(f.packed)
	f.held = held
}

func (f *file) pagesRoot() dict {
	root := f.dict(f.trailer["Root"])
	return f.dict(root["Pages"])
}

// directory reads the sections of the directory, the newest first: what is known
// of an object stands.
func (f *file) directory() bool {
	tail := f.data[max(0, len(f.data)-2048):]
	at := bytes.LastIndex(tail, []byte("startxref"))
	if at < 0 {
		return false
	}
	l := lexer{data: tail, pos: at + len("startxref")}
	o, _ := l.next()
	offset, ok := o.(int)
	seen := map[int]bool{}
	for n := 0; ok && n < maxSections; n++ {
		if offset < 0 || offset >= len(f.data) || seen[offset] {
			break
		}
		seen[offset] = true
		d := f.section(offset)
		if d == nil {
			return false
		}
		for k, v := range d {
			if _, known := f.trailer[k]; !known {
				f.trailer[k] = v
			}
		}
		if hybrid, is := d["XRefStm"].(int); is && hybrid >= 0 && hybrid < len(f.data) && !seen[hybrid] {
			seen[hybrid] = true
			f.section(hybrid)
		}
		offset, ok = d["Prev"].(int)
	}
	return f.trailer["Root"] != nil
}

// section reads a table or a stream of the directory, and returns its trailer.
func (f *file) section(offset int) dict {
	l := lexer{data: f.data, pos: offset}
	if bytes.HasPrefix(f.data[min(len(f.data), offset):], []byte("xref")) {
		l.pos += len("xref")
		return f.table(&l)
	}
	_, o, ok := l.indirect()
	s, isStream := o.(*stream)
	if !f.spend(l.pos-offset) || !ok || !isStream || s.dict["Type"] != name("XRef") {
		return nil
	}
	f.tableStream(s)
	return s.dict
}

func (f *file) table(l *lexer) dict {
	for {
		o, ok := l.next()
		if !ok {
			return nil
		}
		if o == operator("trailer") {
			d, _ := l.next()
			t, _ := d.(dict)
			return t
		}
		first, ok1 := o.(int)
		o, _ = l.next()
		count, ok2 := o.(int)
		if !ok1 || !ok2 || first < 0 || count < 0 {
			return nil
		}
		for i := range count {
			off, _ := l.next()
			_, _ = l.next()
			kind, ok := l.next()
			if !ok || !f.spend(entryWork) {
				return nil
			}
			offset, isInt := off.(int)
			if isInt && kind == operator("n") && offset > 0 && offset < len(f.data) {
				f.add(first+i, placed(offset))
			}
		}
	}
}

func (f *file) add(number int, e entry) {
	if number < 0 || number > math.MaxInt32 || len(f.entries) >= maxObjects {
		return
	}
	if _, known := f.entries[int32(number)]; !known && f.hold(entryMemory) {
		f.entries[int32(number)] = e
	}
}

// placed is an entry of a place in the file, and packedIn of one in an object stream.
func placed(offset int) entry { return entry{offset: int32(min(offset, math.MaxInt32))} }

func packedIn(within, index int) entry {
	if within > math.MaxInt32 || index > math.MaxInt32 {
		within, index = math.MaxInt32, math.MaxInt32 // it has no such place
	}
	return entry{within: int32(within), index: int32(index)}
}

func (f *file) tableStream(s *stream) {
	raw, free := f.decode(s)
	defer free()
	widths, _ := s.dict["W"].(array)
	if len(widths) < 3 {
		return
	}
	var w [3]int
	for i := range w {
		n, ok := widths[i].(int)
		if !ok || n < 0 || n > 8 {
			return
		}
		w[i] = n
	}
	size := w[0] + w[1] + w[2]
	if size == 0 {
		return
	}
	index, _ := s.dict["Index"].(array)
	if len(index) < 2 {
		index = array{0, len(raw) / size}
	}
	for i := 0; i+1 < len(index); i += 2 {
		first, ok1 := index[i].(int)
		count, ok2 := index[i+1].(int)
		if !ok1 || !ok2 || first < 0 {
			return
		}
		for n := 0; n < count && len(raw) >= size; n++ {
			kind := 1
			if w[0] > 0 {
				kind = number(raw[:w[0]])
			}
			a, b := number(raw[w[0]:w[0]+w[1]]), number(raw[w[0]+w[1]:size])
			raw = raw[size:]
			switch {
			case kind == 1 && a > 0 && a < len(f.data):
				f.add(first+n, placed(a))
			case kind == 2 && a > 0:
				f.add(first+n, packedIn(a, b))
			}
		}
	}
}

func number(b []byte) int {
	n := 0
	for _, c := range b {
		n = n<<8 | int(c)
	}
	return n
}

// rebuild finds the objects by looking for them, the last of each number, and the
// trailer by what it must hold.
func (f *file) rebuild() {
	var streams []int
	for from := 0; from < len(f.data); {
		at := bytes.Index(f.data[from:], []byte("obj"))
		if at < 0 {
			at = len(f.data) - from
		}
		if !f.spend(at + 3) {
			return
		}
		at += from
		from = at + 3
		n, start, ok := objectBefore(f.data, at)
		if !ok {
			continue
		}
		if _, known := f.entries[int32(min(n, math.MaxInt32))]; known {
			f.entries[int32(min(n, math.MaxInt32))] = placed(start) // the last of each number
		} else {
			f.add(n, placed(start))
		}
		head := f.data[at:min(len(f.data), at+300)]
		if bytes.Contains(head, []byte("/ObjStm")) {
			streams = append(streams, n)
		}
		if f.trailer["Root"] == nil && bytes.Contains(head, []byte("/Catalog")) {
			f.trailer["Root"] = ref{n, 0}
		}
		if bytes.Contains(head, []byte("/XRef")) {
			l := lexer{data: f.data, pos: start}
			_, o, _ := l.indirect()
			if !f.spend(l.pos - start) { // an object that does not end holds all that follow
				return
			}
			if s, is := o.(*stream); is {
				f.adopt(s.dict)
			}
		}
	}
	for from := 0; ; {
		at := bytes.Index(f.data[from:], []byte("trailer"))
		if at < 0 {
			break
		}
		from += at + len("trailer")
		l := lexer{data: f.data, pos: from}
		if d, _ := l.next(); d != nil {
			if t, is := d.(dict); is {
				f.adopt(t)
			}
		}
		if from = max(from, l.pos); !f.spend(at + 1) {
			return
		}
	}
	for _, n := range streams {
		if p := f.objects(n); p != nil {
			for i, number := range p.numbers {
				f.add(int(number), packedIn(n, i))
			}
		}
	}
	if f.trailer["Root"] != nil {
		return
	}
	for n := range f.entries { // the one catalogue may lie in an object stream
		if d := f.dict(ref{int(n), 0}); d["Type"] == name("Catalog") {
			f.trailer["Root"] = ref{int(n), 0}
			return
		}
	}
}

// adopt takes over what a trailer says.
func (f *file) adopt(t dict) {
	for _, k := range []name{"Root", "Encrypt", "ID", "Info"} {
		if v := t[k]; v != nil {
			f.trailer[k] = v
		}
	}
}

// objectBefore reads "7 0 " backwards from the word obj.
func objectBefore(data []byte, at int) (number, start int, ok bool) {
	i := at
	digits := func() (int, bool) {
		for i > 0 && isSpace(data[i-1]) && at-i < 64 {
			i--
		}
		end := i
		for i > 0 && data[i-1] >= '0' && data[i-1] <= '9' && end-i < 10 {
			i--
		}
		n, err := strconv.Atoi(string(data[i:end]))
		return n, err == nil
	}
	if i == 0 || !isSpace(data[i-1]) {
		return 0, 0, false
	}
	if _, ok := digits(); !ok {
		return 0, 0, false
	}
	if i == 0 || !isSpace(data[i-1]) {
		return 0, 0, false
	}
	number, ok = digits()
	return number, i, ok
}

// object follows references to what they name.
func (f *file) object(o object) object {
	for range maxChain {
		r, is := o.(ref)
		if !is {
			return o
		}
		o = f.load(r.number)
	}
	return nil
}

func (f *file) load(n int) object {
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
		p := f.objects(int(e.within))
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

// objects unpacks an object stream.
func (f *file) objects(n int) *packedObjects {
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

// The views of an object as one kind; the zero value where it is another.

func (f *file) dict(o object) dict {
	switch o := f.object(o).(type) {
	case dict:
		return o
	case *stream:
		return o.dict
	}
	return nil
}

func (f *file) array(o object) array {
	a, _ := f.object(o).(array)
	return a
}

func (f *file) name(o object) name {
	n, _ := f.object(o).(name)
	return n
}

func (f *file) float(o object) float64 {
	switch o := f.object(o).(type) {
	case int:
		return float64(o)
	case float64:
		return o
	}
	return 0
}

func (f *file) int(o object) int {
	switch o := f.object(o).(type) {
	case int:
		return o
	case float64:
		return int(o)
	}
	return 0
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
