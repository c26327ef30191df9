package plugin

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// ErrSettings means that a settings file cannot be changed safely.
var ErrSettings = errors.New("the settings file is not as expected")

// byteOrderMark may begin a file that was written on Windows.
const byteOrderMark = "\xef\xbb\xbf"

// place is a value of a JSON text, and where it stands: [start, end).
type place struct {
	kind       jsontext.Kind
	start, end int
	members    []member // of an object
	items      []place  // of a list
}

// member is one member of an object; start is where its name begins.
type member struct {
	name  string
	start int
	value place
}

// document is a JSON object with the places of all that is in it.
type document struct {
	text []byte
	root place
}

// parseDocument reads a settings file. Nothing at all is an error: a file that an
// assistant has emptied is not what anybody left there.
func parseDocument(text []byte) (*document, error) {
	skip := 0
	if bytes.HasPrefix(text, []byte(byteOrderMark)) {
		skip = len(byteOrderMark)
	}
	if len(bytes.TrimSpace(text[skip:])) == 0 {
		return nil, fmt.Errorf("%w: it is empty; write {} into it, or delete it", ErrSettings)
	}
	p := jsonReader{d: jsontext.NewDecoder(bytes.NewReader(text[skip:])), skip: skip}
	root, err := p.value()
	if err == nil && root.kind != '{' {
		return nil, fmt.Errorf("%w: line 1: it holds no JSON object", ErrSettings)
	}
	if err == nil {
		if rest := bytes.TrimSpace(text[root.end:]); len(rest) > 0 {
			at := len(text) - len(bytes.TrimLeft(text[root.end:], " \t\r\n"))
			return nil, fmt.Errorf("%w: line %d: there is more behind the object", ErrSettings, lineOf(text, at))
		}
	}
	if err != nil {
		at := len(text)
		if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
			at = skip + int(syntax.ByteOffset)
			err = syntax.Err
		}
		return nil, fmt.Errorf("%w: line %d: %w", ErrSettings, lineOf(text, at), err)
	}
	return &document{text, root}, nil
}

// lineOf is the number of the line that a byte is in, from 1.
func lineOf(text []byte, at int) int {
	return 1 + bytes.Count(text[:max(0, min(at, len(text)))], []byte("\n"))
}

// jsonReader notes where values stand. The decoder refuses names that come twice, and
// what is nested more than 10,000 deep.
type jsonReader struct {
	d    *jsontext.Decoder
	skip int
}

func (p jsonReader) at() int { return p.skip + int(p.d.InputOffset()) }

func (p jsonReader) value() (place, error) {
	switch kind := p.d.PeekKind(); kind {
	case '{', '[':
		if _, err := p.d.ReadToken(); err != nil {
			return place{}, err
		}
		v := place{kind: kind, start: p.at() - 1}
		for p.d.PeekKind() != kind+2 { // ] and } stand two behind [ and {
			if kind == '[' {
				item, err := p.value()
				if err != nil {
					return place{}, err
				}
				v.items = append(v.items, item)
				continue
			}
			quoted, err := p.d.ReadValue()
			if err != nil {
				return place{}, err
			}
			m := member{start: p.at() - len(quoted)}
			name, err := jsontext.AppendUnquote(nil, quoted)
			if err != nil {
				return place{}, err
			}
			m.name = string(name)
			if m.value, err = p.value(); err != nil {
				return place{}, err
			}
			v.members = append(v.members, m)
		}
		if _, err := p.d.ReadToken(); err != nil {
			return place{}, err
		}
		v.end = p.at()
		return v, nil
	default:
		raw, err := p.d.ReadValue()
		if err != nil {
			return place{}, err
		}
		return place{kind: raw.Kind(), start: p.at() - len(raw), end: p.at()}, nil
	}
}

// get is a member's value.
func (v place) get(name string) (place, bool) {
	for _, m := range v.members {
		if m.name == name {
			return m.value, true
		}
	}
	return place{}, false
}

// elements are where the parts of a list or an object begin and end.
func (v place) elements() (starts, ends []int) {
	for _, m := range v.members {
		starts, ends = append(starts, m.start), append(ends, m.value.end)
	}
	for _, item := range v.items {
		starts, ends = append(starts, item.start), append(ends, item.end)
	}
	return starts, ends
}

// raw is a value's own text.
func (d *document) raw(v place) jsontext.Value { return jsontext.Value(d.text[v.start:v.end]) }

// str is the value of a string, and empty for anything else.
func (d *document) str(v place) string {
	s, err := jsontext.AppendUnquote(nil, d.raw(v))
	if v.kind != '"' || err != nil {
		return ""
	}
	return string(s)
}

// object is a member that must be an object where it is there.
func (d *document) object(in place, name string) (v place, there bool, err error) {
	return d.of(in, name, '{', "an object")
}

// list is a member that must be a list where it is there.
func (d *document) list(in place, name string) (v place, there bool, err error) {
	return d.of(in, name, '[', "a list")
}

func (d *document) of(in place, name string, kind jsontext.Kind, what string) (place, bool, error) {
	v, there := in.get(name)
	if there && v.kind != kind {
		return v, true, fmt.Errorf("%w: line %d: %q is not %s", ErrSettings, lineOf(d.text, v.start), name, what)
	}
	return v, there, nil
}

// style is how a file is laid out.
type style struct {
	newline string
	unit    string // of indentation
	flat    bool   // everything on one line
}

func (d *document) style() style {
	s := style{newline: "\n", unit: "  "}
	if bytes.Contains(d.text, []byte("\r\n")) {
		s.newline = "\r\n"
	}
	if starts, _ := d.root.elements(); len(starts) > 0 {
		gap := string(d.text[d.root.start+1 : starts[0]])
		i := strings.LastIndexByte(gap, '\n')
		s.flat = i < 0
		if i >= 0 && i+1 < len(gap) {
			s.unit = gap[i+1:]
		}
	}
	return s
}

// put adds a part behind the last of a list or an object, in the manner of its
// neighbours; name is empty for a list. depth is how deep the container stands.
func (d *document) put(in place, depth int, name string, value jsontext.Value) (*document, error) {
	s := d.style()
	starts, ends := in.elements()
	before, after, inner, colon := "", "", strings.Repeat(s.unit, depth+1), ": "
	at := in.start + 1
	switch flat := s.flat; {
	case len(starts) > 0:
		gap := string(d.text[in.start+1 : starts[0]])
		at = ends[len(ends)-1]
		before = "," + gap
		if i := strings.LastIndexByte(gap, '\n'); i >= 0 {
			inner = gap[i+1:]
		} else {
			s.flat = true
			if own := d.text[in.start:in.end]; !bytes.Contains(own, []byte(": ")) && !bytes.Contains(own, []byte(", ")) {
				colon = ":"
			} else if gap == "" {
				before = ", "
			}
		}
	case !flat:
		before, after = s.newline+inner, s.newline+strings.Repeat(s.unit, depth)
	}
	part, err := s.written(value, inner)
	if err != nil {
		return nil, err
	}
	if name != "" {
		quoted, err := jsontext.AppendQuote(nil, name)
		if err != nil {
			return nil, err
		}
		part = append(append(quoted, colon...), part...)
	}
	out := make([]byte, 0, len(d.text)+len(before)+len(part)+len(after))
	out = append(out, d.text[:at]...)
	out = append(append(append(out, before...), part...), after...)
	return parseDocument(append(out, d.text[at:]...))
}

// written is a value in the file's style.
func (s style) written(value jsontext.Value, prefix string) ([]byte, error) {
	v := value.Clone()
	if s.flat {
		err := v.Compact()
		return v, err
	}
	// Only spaces and tabs can be an indentation here: they stood between two tokens.
	if err := v.Indent(jsontext.WithIndentPrefix(prefix), jsontext.WithIndent(s.unit)); err != nil {
		return nil, err
	}
	return bytes.ReplaceAll(v, []byte("\n"), []byte(s.newline)), nil
}

// drop takes out the part of a list or an object with a number: the inverse of put.
func (d *document) drop(in place, depth, i int) (*document, error) {
	starts, ends := in.elements()
	var from, to int
	switch {
	case i > 0:
		from, to = ends[i-1], ends[i]
	case len(starts) > 1:
		from, to = starts[0], starts[1]
	default:
		from, to = in.start+1, ends[0]
		s := d.style()
		if tail := s.newline + strings.Repeat(s.unit, depth); bytes.HasPrefix(d.text[to:], []byte(tail)) {
			to += len(tail)
		}
	}
	out := append([]byte{}, d.text[:from]...)
	return parseDocument(append(out, d.text[to:]...))
}

// has reports whether an object has members with just these values.
func (d *document) has(in place, settings []setting) bool {
	for _, one := range settings {
		v, there := in.get(one.key)
		if !there || !(jsonFormat{}).same(d.raw(v), []byte(one.value)) {
			return false
		}
	}
	return true
}

// set gives members of an object these values, and lets all others stand. depth is how
// deep the object stands.
func (d *document) set(in place, depth int, settings []setting) (*document, error) {
	start := in.start
	for _, one := range settings {
		v, there := in.get(one.key)
		var err error
		switch {
		case !there:
			d, err = d.put(in, depth, one.key, []byte(one.value))
		case !(jsonFormat{}).same(d.raw(v), []byte(one.value)):
			d, err = d.replace(v, []byte(one.value))
		}
		if err != nil {
			return nil, err
		}
		in = d.root.starting(start) // nothing before it has changed
	}
	return d, nil
}

// starting is the value that begins at a place.
func (v place) starting(at int) place {
	if v.start == at {
		return v
	}
	for _, m := range v.members {
		if m.value.start <= at && at < m.value.end {
			return m.value.starting(at)
		}
	}
	for _, item := range v.items {
		if item.start <= at && at < item.end {
			return item.starting(at)
		}
	}
	return place{}
}

// replace gives a value another's place, on as many lines as it had, or on one.
func (d *document) replace(v place, value jsontext.Value) (*document, error) {
	s := d.style()
	s.flat = !bytes.Contains(d.raw(v), []byte("\n"))
	line := d.text[bytes.LastIndexByte(d.text[:v.start], '\n')+1 : v.start]
	part, err := s.written(value, string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))]))
	if err != nil {
		return nil, err
	}
	out := append(append([]byte{}, d.text[:v.start]...), part...)
	return parseDocument(append(out, d.text[v.end:]...))
}
