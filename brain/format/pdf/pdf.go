package pdf

import (
	"fmt"
	"strings"
	"unicode/utf16"

	"golang.org/x/text/encoding/charmap"
)

// Document is what was read of a file.
type Document struct {
	Pages [][]Line
	// Lost counts the pages whose letters cannot be told, since their fonts do not
	// say what their codes mean, and those that hold no text at all.
	Lost, Blank int
	// What the file says of itself; dates are as it has them.
	Title, Author, Language, Created, Modified string
}

// maxPages bounds the pages of a file.
const maxPages = 20_000

// ErrPages says that a file has more of them.
var ErrPages = fmt.Errorf("has more than %d pages; split it", maxPages)

// Read reads a file. step is told how many bytes were worked through, and ends the
// work with an error; the others are ErrEncrypted, ErrDamaged, ErrPages and
// ErrTooLarge.
func Read(data []byte, step func(int) error) (*Document, error) {
	return read(data, step, bounds{maxDecoded, maxStream, maxWritten})
}

func read(data []byte, step func(int) error, most bounds) (*Document, error) {
	f, err := open(data, step, most)
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

// page reads one page. lost: it has text, and none of it can be told.
func (f *file) page(p dict) (lines []Line, lost bool) {
	g := &page{}
	w := &painter{file: f, out: g, text: identity, line: identity, state: state{ctm: identity, scale: 1}}
	var all []byte // one stream, wherever it is divided
	for _, part := range f.list(p["Contents"]) {
		if !f.spend(listWork) {
			return nil, false
		}
		if s, ok := f.object(part).(*stream); ok {
			all = append(append(all, f.decode(s)...), '\n')
		}
		if len(all) > f.most.stream {
			f.stop(ErrTooLarge)
			return nil, false
		}
	}
	w.run(all, f.dict(p["Resources"]), 0)
	g.end()
	f.written += g.bytes
	return g.lines, w.lost && len(g.lines) == 0
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
