package markup

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"

	"golang.org/x/net/html/charset"

	"orgmem/brain/format/reading"
)

// maxXMLDepth bounds how deep elements may lie in each other: word processors nest
// some dozens.
const maxXMLDepth = 512

// Elements are called with what an XML part holds, in its order. Each may be nil. An
// error that fault points to ends the walk, and is returned.
type Elements struct {
	Open  func(xml.StartElement)
	Shut  func(name string)
	Text  func([]byte)
	Fault *error
}

var errLongToken = reading.Errorf("holds XML of more than %d MiB without an end", reading.MaxToken>>20)

// allowance gives bytes to a decoder until it has got what it may for one token or
// row; their reader grants the next one by setting allowed.
type allowance struct {
	rest    []byte
	allowed int
	spent   error
	// more is asked where what was allowed is used up; nil: there is no more.
	more func() (int, error)
}

// used reports that what was allowed is used up.
func (b *allowance) used() (err error) {
	if b.allowed > 0 {
		return nil
	}
	if b.more == nil {
		return b.spent
	}
	if b.allowed, err = b.more(); err != nil {
		b.more, b.spent = nil, err
	}
	return err
}

// ReadByte implements io.ByteReader, so that the decoder reads no further than it
// must.
func (b *allowance) ReadByte() (byte, error) {
	if len(b.rest) == 0 {
		return 0, io.EOF
	}
	if b.allowed == 0 {
		if err := b.used(); err != nil {
			return 0, err
		}
	}
	c := b.rest[0]
	b.rest, b.allowed = b.rest[1:], b.allowed-1
	return c, nil
}

// Read implements io.Reader, for tables, and for XML that is in another encoding.
func (b *allowance) Read(p []byte) (int, error) {
	if len(b.rest) == 0 {
		return 0, io.EOF
	}
	if err := b.used(); err != nil {
		return 0, err
	}
	n := copy(p, b.rest[:min(len(b.rest), b.allowed)])
	b.rest, b.allowed = b.rest[n:], b.allowed-n
	return n, nil
}

// Walk reads an XML part. Names are the local ones: the prefixes are the file's
// choice, and no two elements that matter differ in theirs alone. Entities that a
// part defines are not expanded, so that a bomb of them stays a few letters.
func Walk(r *reading.Reader, raw []byte, e Elements) error {
	in := &allowance{rest: raw, spent: errLongToken}
	d := xml.NewDecoder(in)
	d.Strict = false
	recoded := false // offsets are not those of raw then
	d.CharsetReader = func(label string, from io.Reader) (io.Reader, error) {
		recoded = true
		return charset.NewReaderLabel(label, from)
	}
	depth, at := 0, int64(0)
	long, held := 0, 0 // of the open token: what it may be, and the memory for it
	var refused error
	in.more = func() (int, error) {
		most, each := reading.MaxTag, reading.TagMemory
		if !recoded && at < int64(len(raw)) && (raw[at] != '<' || bytes.HasPrefix(raw[at:], []byte("<!["))) {
			most, each = reading.MaxToken, reading.TextMemory
		}
		more := min(long, most-long)
		if refused = errLongToken; more <= 0 {
			return 0, refused
		}
		if refused = r.Hold(more * each); refused != nil {
			return 0, refused
		}
		held, long = held+more*each, long+more
		return more, nil
	}
	defer func() { r.Release(held) }()
	for {
		r.Release(held)
		in.allowed, long, held = reading.FreeToken, reading.FreeToken, 0
		t, err := d.RawToken()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case refused != nil:
			return refused
		case err != nil:
			return reading.Errorf("holds XML that is damaged or cut short")
		}
		if err := r.Step(reading.MarkupWork*int(d.InputOffset()-at) + tokenWork + attributeWork*attributesOf(t)); err != nil {
			return err
		}
		at = d.InputOffset()
		switch t := t.(type) {
		case xml.StartElement:
			if depth++; depth > maxXMLDepth {
				return reading.Errorf("holds XML that is nested deeper than %d", maxXMLDepth)
			}
			if e.Open != nil {
				e.Open(t)
			}
		case xml.EndElement:
			depth--
			if e.Shut != nil {
				e.Shut(t.Name.Local)
			}
		case xml.CharData:
			if e.Text != nil {
				e.Text(t)
			}
		}
		if e.Fault != nil && *e.Fault != nil {
			return *e.Fault
		}
	}
}

// tokenWork and attributeWork are what a token and an attribute cost beside their
// letters.
const tokenWork, attributeWork = 32, 16

func attributesOf(t xml.Token) int {
	if t, ok := t.(xml.StartElement); ok {
		return len(t.Attr)
	}
	return 0
}

// Attr is the value of an attribute.
func Attr(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
