package pdf

import (
	"bytes"
	"math"
	"strconv"
)

// entry says where an object lies: at an offset, or in an object stream. There are up
// to a million.
type entry struct {
	offset int32
	within int32 // the number of the stream; 0: none
	index  int32
}

// directory reads the sections of the directory, the newest first: what is known
// of an object stands.
func (f *objects) directory() bool {
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
func (f *objects) section(offset int) dict {
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

func (f *objects) table(l *lexer) dict {
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

func (f *objects) add(number int, e entry) {
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

func (f *objects) tableStream(s *stream) {
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
func (f *objects) rebuild() {
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
		if p := f.objectStream(n); p != nil {
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
func (f *objects) adopt(t dict) {
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
