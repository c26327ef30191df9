package format

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"path"
	"strings"
	"unicode/utf8"

	"orgmem/proto/canon"
)

const (
	// MaxRunes bounds one document, like the content of an ingest.
	MaxRunes = 5_000_000
	// MaxDocuments bounds the documents of one file: a job of ten thousand items
	// is some minutes of embedding.
	MaxDocuments = 10_000
	// stepBytes of a file are read between two questions whether to go on: some
	// milliseconds.
	stepBytes = 256 << 10
)

// Limits bound what is made of one file. The zero value sets no bound but this
// package's own.
type Limits struct {
	// Runes bounds one document; 0 means MaxRunes. A longer text is cut, a longer
	// item refused with ErrTooLarge.
	Runes int
	// Bytes bounds the contents of all documents together; 0 means that the file
	// alone does. Above it: ErrTooLarge.
	Bytes int
	// GoOn is asked between two steps of the work; an error ends it, and is
	// returned. nil: it goes on.
	GoOn func() error
}

// The formats that are read.
const (
	Text     = "text"
	Markdown = "markdown"
	JSON     = "json"
	JSONL    = "jsonl"
	VTT      = "vtt"
	SRT      = "srt"
	Lines    = "lines" // a transcript of "Name: text" lines
)

// ErrFile is wrapped by every error about a file; the text behind it completes
// the sentence "the file …". ErrTooLarge is wrapped beside it where the file, or
// a document in it, is above one of the Limits.
var (
	ErrFile     = errors.New("file refused")
	ErrTooLarge = fmt.Errorf("%w", ErrFile)
)

func errorf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFile, fmt.Sprintf(format, args...))
}

func tooLargef(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrTooLarge, fmt.Sprintf(format, args...))
}

// Reason is the text of an error behind ErrFile.
func Reason(err error) string { return strings.TrimPrefix(err.Error(), ErrFile.Error()+": ") }

// reader reads one file.
type reader struct {
	Limits
	kept int // bytes of contents so far
	todo int // bytes until GoOn is asked
}

func newReader(l Limits) *reader {
	l.Runes = cmp.Or(l.Runes, MaxRunes)
	l.Bytes = cmp.Or(l.Bytes, math.MaxInt)
	return &reader{Limits: l, todo: stepBytes}
}

// step counts what was read of the file, and asks from time to time whether to go
// on.
func (r *reader) step(n int) error {
	if r.todo -= n; r.todo > 0 || r.GoOn == nil {
		return nil
	}
	r.todo = stepBytes
	return r.GoOn()
}

// keep counts what becomes content.
func (r *reader) keep(n int) error {
	if r.kept += n; r.kept > r.Bytes {
		return tooLargef("holds more than %d bytes of text; split it", r.Bytes)
	}
	return nil
}

const supported = "; plain text, Markdown, JSON, JSONL, and as transcripts VTT and SRT can be"

// Document is one text of a file. Title is empty where the file says none.
// OccurredAt is RFC 3339 as the file has it, not checked; Metadata a JSON object
// or empty.
type Document struct {
	Title      string
	Content    string
	Kind       string
	ExternalID string
	OccurredAt string
	Metadata   []byte
	// Where names the document in messages: "items[3]", empty for the whole file.
	Where string
}

// foreign are the beginnings of files that are known and not read.
var foreign = []struct{ begin, name string }{
	{"%PDF-", "PDF"},
	{"PK\x03\x04", "a ZIP archive or an office document"},
	{"PK\x05\x06", "a ZIP archive"},
	{"\xd0\xcf\x11\xe0", "an old office document"},
	{"\x1f\x8b", "a gzip archive"},
	{"7z\xbc\xaf", "a 7z archive"},
	{"Rar!", "a RAR archive"},
	{"{\\rtf", "RTF"},
	{"\x89PNG", "an image"},
	{"\xff\xd8\xff", "an image"},
	{"GIF8", "an image"},
}

// foreignNames are the extensions of files that are text, but are not read as
// such yet: their markup would be remembered as if somebody had said it.
var foreignNames = map[string]string{".html": "HTML", ".htm": "HTML", ".csv": "CSV", ".eml": "an e-mail", ".mbox": "a mailbox", ".xml": "XML"}

// text returns a file's text, its lines ended by newlines, or why it has none.
func text(name string, data []byte) ([]byte, error) {
	for _, f := range foreign {
		if bytes.HasPrefix(data, []byte(f.begin)) {
			return nil, errorf("is %s, which cannot be read%s", f.name, supported)
		}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return nil, errorf("is empty")
	case !utf8.Valid(data):
		return nil, errorf("is not text in UTF-8%s", supported)
	case bytes.IndexByte(data, 0) >= 0:
		return nil, errorf("holds binary data%s", supported)
	}
	if bytes.IndexByte(data, '\r') >= 0 {
		data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	}
	head := strings.ToLower(strings.TrimSpace(string(data[:min(len(data), 512)])))
	if kind, ok := foreignNames[strings.ToLower(path.Ext(name))]; ok {
		return nil, errorf("is %s, which cannot be read%s", kind, supported)
	}
	if strings.HasPrefix(head, "<!doctype html") || strings.HasPrefix(head, "<html") {
		return nil, errorf("is HTML, which cannot be read%s", supported)
	}
	if bytes.IndexFunc(data, canon.Visible) < 0 {
		return nil, errorf("is empty: it holds no visible character")
	}
	return data, nil
}

// isMarkdown reports whether a line is a heading, or opens a block of code.
func isMarkdown(s string) bool {
	for line := range strings.Lines(s) {
		if strings.HasPrefix(line, "```") {
			return true
		}
		words := strings.TrimLeft(line, "#")
		level := len(line) - len(words)
		if level >= 1 && level <= 6 && strings.HasPrefix(words, " ") && strings.TrimSpace(words) != "" {
			return true
		}
	}
	return false
}

// Documents reads a file and says what it was.
func Documents(name string, data []byte, limits Limits) (docs []Document, format string, err error) {
	raw, err := text(name, data)
	if err != nil {
		return nil, "", err
	}
	r := newReader(limits)
	ext := strings.ToLower(path.Ext(name))
	switch {
	case isVTT(raw), isSRT(raw):
		return r.transcript(name, raw)
	case ext == ".jsonl" || ext == ".ndjson" || looksJSONL(raw):
		docs, err = r.jsonl(raw)
		return docs, JSONL, err
	case ext == ".json" || looksJSON(raw):
		docs, err = r.jsonItems(raw)
		return docs, JSON, err
	}
	if err := r.keep(len(raw)); err != nil {
		return nil, "", err
	}
	s := string(raw)
	format = Text
	if ext == ".md" || ext == ".markdown" || isMarkdown(s) {
		format = Markdown
	}
	title := ""
	if format == Text {
		title = strings.TrimSuffix(name, path.Ext(name))
	}
	docs, err = r.cut(Document{Title: title, Content: s})
	return docs, format, err
}

// cut divides a document that is too long, at paragraphs where it has any.
func (r *reader) cut(d Document) ([]Document, error) {
	if utf8.RuneCountInString(d.Content) <= r.Runes {
		return []Document{d}, nil
	}
	var docs []Document
	rest := d.Content
	for rest != "" {
		end := runeOffset(rest, r.Runes)
		if end < len(rest) {
			for _, border := range []string{"\n\n", "\n", " "} {
				if at := strings.LastIndex(rest[:end], border); at > end/2 {
					end = at + len(border)
					break
				}
			}
		}
		part := d
		part.Content = rest[:end]
		rest = rest[end:]
		if len(docs) > 0 && d.Title != "" {
			part.Title = fmt.Sprintf("%s (%d)", d.Title, len(docs)+1)
		}
		if !canon.Blank(part.Content) {
			docs = append(docs, part)
		}
		if len(docs) > MaxDocuments {
			return nil, errorf("holds more than %d documents", MaxDocuments)
		}
		if err := r.step(end); err != nil {
			return nil, err
		}
	}
	return docs, nil
}

// runeOffset is the byte offset behind the first n runes.
func runeOffset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}
