package pdf

import (
	"bytes"
	"strconv"
)

// The objects of a file: nil, bool, int, float64, text, name, array, dict, ref, and
// *stream. A word of a content stream is an operator.
type (
	object   any
	text     string
	name     string
	operator string
	array    []object
	dict     map[name]object
	ref      struct{ number, generation int }
	stream   struct {
		dict
		raw []byte
		at  ref // for its key
	}
)

const (
	// maxDepth bounds objects in objects; page trees are deeper through references
	// only.
	maxDepth = 64
	// maxMemory bounds one object, of which two bytes of the file may ask for some hundred:
	// those that stand for a dictionary.
	maxMemory = 16 << 20
	// dictMemory is what a dictionary takes, pairMemory each pair in it, and valueMemory
	// any other object beside its letters.
	dictMemory, pairMemory, valueMemory = 320, 64, 32
)

// lexer reads objects out of bytes.
type lexer struct {
	data   []byte
	pos    int
	deep   int
	memory int // of the objects that were read
}

// count notes what an object takes, and ends the reading of too much.
func (l *lexer) count(n int) {
	if l.memory += n; l.memory > maxMemory && l.deep > 0 {
		l.pos = len(l.data)
	}
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == '\f' || c == 0
}

func isDelimiter(c byte) bool {
	switch c {
	case '(', ')', '<', '>', '[', ']', '{', '}', '/', '%':
		return true
	}
	return false
}

// skip passes over white space and comments.
func (l *lexer) skip() {
	for l.pos < len(l.data) {
		switch c := l.data[l.pos]; {
		case isSpace(c):
			l.pos++
		case c == '%':
			for l.pos < len(l.data) && l.data[l.pos] != '\n' && l.data[l.pos] != '\r' {
				l.pos++
			}
		default:
			return
		}
	}
}

// next reads an object or an operator; ok is false at the end. What closes nothing
// is an operator of its own.
func (l *lexer) next() (o object, ok bool) {
	l.skip()
	if l.pos >= len(l.data) {
		return nil, false
	}
	switch c := l.data[l.pos]; c {
	case '(':
		return l.literal(), true
	case '/':
		l.pos++
		return l.name(), true
	case '[':
		l.pos++
		return l.array(), true
	case '<':
		if l.pos+1 < len(l.data) && l.data[l.pos+1] == '<' {
			l.pos += 2
			return l.dict(), true
		}
		return l.hex(), true
	case ']', ')', '{', '}':
		l.pos++
		return operator(c), true
	case '>':
		l.pos++
		if l.pos < len(l.data) && l.data[l.pos] == '>' {
			l.pos++
			return operator(">>"), true
		}
		return operator(">"), true
	}
	start := l.pos
	for l.pos < len(l.data) && !isSpace(l.data[l.pos]) && !isDelimiter(l.data[l.pos]) {
		l.pos++
	}
	return word(l.data[start:l.pos]), true
}

// word makes a number, a boolean, null or an operator of a word.
func word(w []byte) object {
	if c := w[0]; c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' {
		if len(w) > 32 {
			return operator("?")
		}
		if n, err := strconv.Atoi(string(w)); err == nil {
			return n
		}
		if f, err := strconv.ParseFloat(string(w), 64); err == nil && f > -1e12 && f < 1e12 {
			return f
		}
		return 0 // "--5" and the like, which is found in files
	}
	switch string(w) {
	case "true":
		return true
	case "false":
		return false
	case "null":
		return nil
	}
	if len(w) > 32 {
		w = w[:32]
	}
	return operator(w)
}

func (l *lexer) literal() text {
	var out []byte
	depth := 0
	for l.pos < len(l.data) {
		c := l.data[l.pos]
		l.pos++
		switch c {
		case '(':
			if depth++; depth == 1 {
				continue
			}
		case ')':
			if depth--; depth == 0 {
				return text(out)
			}
		case '\\':
			if l.pos >= len(l.data) {
				return text(out)
			}
			c = l.data[l.pos]
			l.pos++
			switch c {
			case 'n':
				c = '\n'
			case 'r':
				c = '\r'
			case 't':
				c = '\t'
			case 'b':
				c = '\b'
			case 'f':
				c = '\f'
			case '\r':
				if l.pos < len(l.data) && l.data[l.pos] == '\n' {
					l.pos++
				}
				continue
			case '\n':
				continue
			case '0', '1', '2', '3', '4', '5', '6', '7':
				n := int(c - '0')
				for range 2 {
					if l.pos < len(l.data) && l.data[l.pos] >= '0' && l.data[l.pos] <= '7' {
						n = n*8 + int(l.data[l.pos]-'0')
						l.pos++
					}
				}
				c = byte(n)
			}
		}
		out = append(out, c)
	}
	return text(out)
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

func (l *lexer) hex() text {
	l.pos++
	var out []byte
	half := -1
	for l.pos < len(l.data) {
		c := l.data[l.pos]
		l.pos++
		if c == '>' {
			break
		}
		n := unhex(c)
		switch {
		case n < 0:
		case half < 0:
			half = n
		default:
			out = append(out, byte(half<<4|n))
			half = -1
		}
	}
	if half >= 0 {
		out = append(out, byte(half<<4))
	}
	return text(out)
}

func (l *lexer) name() name {
	start := l.pos
	escaped := false
	for l.pos < len(l.data) && !isSpace(l.data[l.pos]) && !isDelimiter(l.data[l.pos]) {
		escaped = escaped || l.data[l.pos] == '#'
		l.pos++
	}
	raw := l.data[start:l.pos]
	if !escaped {
		return name(raw)
	}
	var out []byte
	for i := 0; i < len(raw); i++ {
		if raw[i] == '#' && i+2 < len(raw) && unhex(raw[i+1]) >= 0 && unhex(raw[i+2]) >= 0 {
			out = append(out, byte(unhex(raw[i+1])<<4|unhex(raw[i+2])))
			i += 2
			continue
		}
		out = append(out, raw[i])
	}
	return name(out)
}

func (l *lexer) array() array { return l.list("]") }

// list reads objects up to the word that ends them, or that ends what they are in.
// Objects in too many objects end what is read.
func (l *lexer) list(end operator) array {
	var out array
	if l.deep++; l.deep > maxDepth {
		l.pos = len(l.data)
	}
	defer func() { l.deep-- }()
	for {
		o, ok := l.next()
		op, isWord := o.(operator)
		switch {
		case !ok, op == end, op == "endobj":
			return out
		case op == "stream" && end == ">>": // the dictionary's own, whose end is missing
			l.pos -= len("stream")
			return out
		case op == "R":
			out = reference(out)
		case !isWord:
			out = append(out, o)
			l.count(valueMemory)
		}
	}
}

// reference makes the last two numbers of a list a reference.
func reference(list array) array {
	if n := len(list); n >= 2 {
		number, ok1 := list[n-2].(int)
		generation, ok2 := list[n-1].(int)
		if ok1 && ok2 {
			return append(list[:n-2], ref{number, generation})
		}
	}
	return list
}

func (l *lexer) dict() dict {
	list := l.list(">>")
	l.count(dictMemory + pairMemory*(len(list)/2))
	out := make(dict, len(list)/2)
	for i := 0; i < len(list); {
		key, ok := list[i].(name)
		if !ok || i+1 >= len(list) {
			i++
			continue
		}
		if _, twice := out[key]; !twice {
			out[key] = list[i+1]
		}
		i += 2
	}
	return out
}

// indirect reads "7 0 obj …", with the bytes of a stream as far as it can be told
// without its length.
func (l *lexer) indirect() (r ref, o object, ok bool) {
	number, ok1 := l.next()
	generation, ok2 := l.next()
	word, ok3 := l.next()
	n, isInt1 := number.(int)
	g, isInt2 := generation.(int)
	if !ok1 || !ok2 || !ok3 || !isInt1 || !isInt2 || word != operator("obj") {
		return ref{}, nil, false
	}
	o, ok = l.next()
	if !ok {
		return ref{}, nil, false
	}
	if first, isInt := o.(int); isInt { // an object that is a reference
		back := l.pos
		if second, _ := l.next(); second != nil {
			if g2, isInt := second.(int); isInt {
				if third, _ := l.next(); third == operator("R") {
					return ref{n, g}, ref{first, g2}, true
				}
			}
		}
		l.pos = back
	}
	if _, stray := o.(operator); stray {
		return ref{n, g}, nil, true
	}
	d, isDict := o.(dict)
	if !isDict {
		return ref{n, g}, o, true
	}
	back := l.pos
	if word, _ := l.next(); word != operator("stream") {
		l.pos = back
		return ref{n, g}, o, true
	}
	if l.pos < len(l.data) && l.data[l.pos] == '\r' {
		l.pos++
	}
	if l.pos < len(l.data) && l.data[l.pos] == '\n' {
		l.pos++
	}
	return ref{n, g}, &stream{dict: d, raw: l.data[l.pos:], at: ref{n, g}}, true
}

// cutStream ends a stream's bytes: at its length, if its end stands there, else
// where the word for its end comes.
func cutStream(raw []byte, length int) []byte {
	if length >= 0 && length <= len(raw) {
		rest := raw[length:]
		if bytes.HasPrefix(bytes.TrimLeft(rest[:min(len(rest), 16)], "\r\n \t"), []byte("endstr")) {
			return raw[:length]
		}
	}
	body, _, _ := bytes.Cut(raw, []byte("endstream"))
	return body
}
