package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
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
	// maxDecoded bounds what is unpacked of one file, what is unpacked twice counted
	// twice: some seconds of a processor. Pictures are not unpacked.
	maxDecoded = 512 << 20
	// maxStream bounds one stream, unpacked.
	maxStream = 64 << 20
	// maxObjects bounds the directory.
	maxObjects = 1 << 20
	// maxCached bounds the elements of the objects that are held.
	maxCached = 4 << 20
	// elementBytes of text are held to cost what an element does.
	elementBytes = 24
	// maxHeld bounds the object streams that are held unpacked.
	maxHeld = 64 << 20
	// maxChain bounds references to references, and trees of pages.
	maxChain = 64
	// pageWork, and listWork, are what a node of the tree of pages and an element of a
	// list cost, in bytes that are worked through: references make much of little.
	pageWork = 64
	listWork = 8
	// maxSections bounds the parts of the directory, one for each time that the file
	// was saved.
	maxSections = 4096
)

// bounds are those that tests make smaller, to get there sooner.
type bounds struct{ decoded, stream, written int }

// entry says where an object lies: at an offset, or in an object stream.
type entry struct {
	offset int
	within int // the number of the stream; 0: none
	index  int
}

type file struct {
	data    []byte
	step    func(int) error
	entries map[int]entry
	trailer dict
	cache   map[int]object
	packed  map[int]*packedObjects
	held    int
	cached  int // elements of cache
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
	numbers []int
	offsets []int
}

// stop ends the reading; what is read from then on is nothing.
func (f *file) stop(err error) {
	if f.stopped == nil {
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
	if f.step != nil {
		if err := f.step(n); err != nil {
			f.stop(err)
			return false
		}
	}
	return true
}

// open finds the directory of a file.
func open(data []byte, step func(int) error, most bounds) (*file, error) {
	f := &file{data: data, step: step, most: most}
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
	f.entries, f.cache, f.packed, f.busy, f.fonts = map[int]entry{}, map[int]object{}, map[int]*packedObjects{}, map[int]bool{}, map[int]*font{}
	f.trailer, f.held = dict{}, 0
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
			if !ok || !f.spend(20) {
				return nil
			}
			offset, isInt := off.(int)
			if isInt && kind == operator("n") && offset > 0 && offset < len(f.data) {
				f.add(first+i, entry{offset: offset})
			}
		}
	}
}

func (f *file) add(number int, e entry) {
	if _, known := f.entries[number]; !known && number >= 0 && len(f.entries) < maxObjects {
		f.entries[number] = e
	}
}

func (f *file) tableStream(s *stream) {
	raw := f.decode(s)
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
				f.add(first+n, entry{offset: a})
			case kind == 2 && a > 0:
				f.add(first+n, entry{within: a, index: b})
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
		if len(f.entries) < maxObjects {
			f.entries[n] = entry{offset: start}
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
				f.add(number, entry{within: n, index: i})
			}
		}
	}
	if f.trailer["Root"] != nil {
		return
	}
	for n := range f.entries { // the one catalogue may lie in an object stream
		if d := f.dict(ref{n, 0}); d["Type"] == name("Catalog") {
			f.trailer["Root"] = ref{n, 0}
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
	e, ok := f.entries[n]
	if !ok || f.busy[n] || f.stopped != nil {
		return nil
	}
	f.busy[n] = true
	defer delete(f.busy, n)
	var o object
	elements := 1
	if e.within > 0 {
		p := f.objects(e.within)
		if p == nil {
			return nil
		}
		i := e.index
		if i < 0 || i >= len(p.numbers) || p.numbers[i] != n {
			if i = -1; !f.spend(len(p.numbers)) {
				return nil
			}
			for k, number := range p.numbers {
				if number == n {
					i = k
				}
			}
		}
		if i < 0 || p.offsets[i] < 0 || p.offsets[i] > len(p.data) {
			return nil
		}
		l := lexer{data: p.data, pos: p.offsets[i]}
		o, _ = l.next()
		if _, stray := o.(operator); stray {
			o = nil
		}
		f.spend(l.pos - p.offsets[i])
		elements += l.elements + (l.pos-p.offsets[i])/elementBytes
	} else {
		l := lexer{data: f.data, pos: e.offset}
		r, found, ok := l.indirect()
		if !f.spend(l.pos-e.offset) || !ok || r.number != n {
			return nil
		}
		elements += l.elements + (l.pos-e.offset)/elementBytes
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
	if f.cached += elements; f.cached > maxCached {
		clear(f.cache)
		f.cached = elements
	}
	f.cache[n] = o
	return o
}

// objects unpacks an object stream.
func (f *file) objects(n int) *packedObjects {
	if p, ok := f.packed[n]; ok {
		return p
	}
	if e := f.entries[n]; e.within > 0 {
		return nil // it cannot lie in another
	}
	s, ok := f.load(n).(*stream)
	if !ok {
		return nil
	}
	count, ok1 := f.object(s.dict["N"]).(int)
	first, ok2 := f.object(s.dict["First"]).(int)
	data := f.decode(s)
	if !ok1 || !ok2 || first < 0 || first > len(data) {
		return nil
	}
	p := &packedObjects{data: data}
	l := lexer{data: data[:first]}
	for range min(count, len(data)) {
		number, ok1 := l.next()
		offset, ok2 := l.next()
		n, isInt1 := number.(int)
		at, isInt2 := offset.(int)
		if !ok1 || !ok2 || !isInt1 || !isInt2 || at < 0 || at > len(data) {
			break
		}
		p.numbers, p.offsets = append(p.numbers, n), append(p.offsets, first+at)
	}
	if f.held += len(data); f.held > maxHeld {
		clear(f.packed)
		f.held = len(data)
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
