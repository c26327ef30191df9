package pdf

import (
	"fmt"
	"strings"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"

	"orgmem/brain/format/meter"
)

// Document is what was read of a file.
type Document struct {
	Pages [][]Line
	// Lost counts the pages whose letters are unknown, since their fonts do not
	// say what their codes mean, and those that hold no text at all.
	Lost, Blank int
	// What the file says of itself; dates are as it has them.
	Title, Author, Language, Created, Modified string
}

// maxPages bounds the pages of a file.
const maxPages = 20_000

// ErrPages says that a file has more of them.
var ErrPages = fmt.Errorf("has more than %d pages; split it", maxPages)

// Read reads a file. The meter counts what is worked through and what is held, and ends
// the reading with an error; the others are ErrEncrypted, ErrDamaged, ErrPages and
// ErrTooLarge. text bounds the bytes of text that are read.
func Read(data []byte, m *meter.Meter, text int) (*Document, error) {
	return read(data, m, bounds{maxDecoded, maxStream, min(text, maxText) + maxText/2})
}

func read(data []byte, m *meter.Meter, most bounds) (*Document, error) {
	f, err := open(data, m, most)
	if err != nil {
		return nil, err
	}
	d := &Document{}
	if err := f.pages(func(p dict) bool {
		if len(d.Pages) == maxPages {
			f.stop(ErrPages)
			return false
		}
		lines, lost := f.page(p)
		switch {
		case lost:
			d.Lost++
		case len(lines) == 0:
			d.Blank++
		}
		d.Pages = append(d.Pages, lines)
		return true
	}); err != nil {
		return nil, err
	}
	if len(d.Pages) == 0 {
		return nil, fmt.Errorf("no pages: %w", ErrDamaged)
	}
	info := f.dict(f.trailer["Info"])
	d.Title, d.Author = f.text(info["Title"]), f.text(info["Author"])
	d.Created, d.Modified = f.text(info["CreationDate"]), f.text(info["ModDate"])
	d.Language = f.text(f.dict(f.trailer["Root"])["Lang"])
	return d, nil
}

// page reads one page. lost: it has text, and all its letters are unknown.
func (f *file) page(p dict) (lines []Line, lost bool) {
	g := &page{}
	w := &painter{file: f, out: g, text: identity, line: identity, state: state{ctm: identity, scale: 1}}
	all, free, ok := f.contents(f.list(p["Contents"]))
	if !ok {
		return nil, false
	}
	w.run(all, f.dict(p["Resources"]), 0)
	free()
	g.end()
	f.written += g.bytes
	f.hold(g.bytes)
	return g.lines, w.lost && len(g.lines) == 0
}

// contents are what a page draws: one stream, wherever it is divided.
func (f *file) contents(parts array) (all []byte, free func(), ok bool) {
	joined := meter.Buffer{Meter: f.meter}
	for _, part := range parts {
		if !f.spend(listWork) {
			return nil, nil, false
		}
		s, is := f.object(part).(*stream)
		if !is {
			continue
		}
		data, free := f.decode(s)
		if len(parts) == 1 {
			return data, free, f.stopped == nil
		}
		f.stop(joined.Append(data))
		f.stop(joined.Append([]byte{'\n'}))
		if free(); joined.Len() > f.most.stream {
			f.stop(ErrTooLarge)
		}
		if f.stopped != nil {
			return nil, nil, false
		}
	}
	return joined.Bytes(), func() { f.meter.Release(cap(joined.Bytes())) }, true
}

// text reads a text that is not drawn: UTF-16, UTF-8 or nearly Latin-1.
func (f *file) text(o object) string {
	t, ok := f.object(o).(text)
	if !ok {
		return ""
	}
	s := string(t[:min(len(t), 4096)])
	if rest, ok := strings.CutPrefix(s, "\xfe\xff"); ok {
		var units []uint16
		for i := 0; i+1 < len(rest); i += 2 {
			units = append(units, uint16(rest[i])<<8|uint16(rest[i+1]))
		}
		return string(utf16.Decode(units))
	}
	if rest, ok := strings.CutPrefix(s, "\xef\xbb\xbf"); ok {
		return rest
	}
	out, err := charmap.Windows1252.NewDecoder().String(s)
	if err != nil {
		return ""
	}
	return out
}
