package reading

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"orgmem/brain/format/meter"
	"orgmem/proto/canon"
)

const (
	// MaxRunes bounds one document, like the content of an ingest.
	MaxRunes = 5_000_000
	// MaxDocuments bounds the documents of one file: a job of ten thousand items
	// is some minutes of embedding.
	MaxDocuments = 10_000
	// StepBytes of an archive's file are unpacked before it is looked at.
	StepBytes = 256 << 10
	// MaxMemory bounds what the reading of one file holds beside the file: twice what one
	// file of an archive may unpack to.
	MaxMemory = 128 << 20
	// MaxWork bounds what the reading of one file costs, in the units of meter.Meter: some
	// five seconds of a processor.
	MaxWork = 640 << 20
	// FirstMemory is what a reading may hold before Limits.More is asked.
	FirstMemory = 4 << 20
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
	// Memory and Work bound what the reading holds and costs; 0 means MaxMemory and
	// MaxWork. Above either: ErrTooLarge.
	Memory, Work int
	// GoOn is asked between two steps of the work; an error ends it, and is
	// returned. nil: it goes on.
	GoOn func() error
	// More is asked for memory beyond FirstMemory before it is held: by how much. It may
	// wait; an error ends the reading, and is returned. nil: there is enough.
	More func(bytes int) error
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
	HTML     = "html"
	CSV      = "csv"
	EML      = "eml"
	MBOX     = "mbox"
	ZIP      = "zip"
	TAR      = "tar"
	DOCX     = "docx"
	PPTX     = "pptx"
	XLSX     = "xlsx"
	ODT      = "odt"
	ODS      = "ods"
	ODP      = "odp"
	EPUB     = "epub"
	RTF      = "rtf"
	ICS      = "ics"
	PDF      = "pdf"
	// Exports of other systems, and of this one.
	Slack     = "slack"
	ChatGPT   = "chatgpt"
	Claude    = "claude"
	Mem0      = "mem0"
	Zep       = "zep"
	Canvas    = "canvas"
	OwnExport = "orgmem-export"
)

// Reader is what the readers of all formats share while one file is read: its limits, and what the reading has cost
// so far.
type Reader struct {
	Limits
	meter.Meter
	Kept     int // bytes of contents so far
	unpacked int // bytes that came out of archives
	Nested   int // archives that the file lies in
	// Inner reads a file within this one: an attachment, or a file of an archive. It is for
	// the package that knows all formats to set.
	Inner func(name string, raw []byte) ([]Document, error)
}

// New returns a reader of one file within the limits.
func New(l Limits) *Reader {
	l.Runes = cmp.Or(l.Runes, MaxRunes)
	l.Bytes = cmp.Or(l.Bytes, math.MaxInt)
	more := l.More
	if first := FirstMemory; more != nil {
		more = func(bytes int) error {
			free := min(first, bytes)
			if first -= free; bytes == free {
				return nil
			}
			return l.More(bytes - free)
		}
	}
	return &Reader{Limits: l, Meter: meter.Meter{
		GoOn: l.GoOn, More: more, Memory: cmp.Or(l.Memory, MaxMemory), Work: cmp.Or(l.Work, MaxWork), ErrMemory: ErrMemory,
		ErrWork: ErrWork,
	}}
}

// The costs of looking at a byte, in units of the meter: what tells the formats apart
// is how much is done with each.
const (
	lightWork  = 2 // of unpacking, and of text that stays as it is: so many bytes are one unit
	TableWork  = 3 // of CSV, calendars, captions and mails
	MarkupWork = 6 // of XML, HTML and RTF
)

// Drop releases what was unpacked or decoded.
func (r *Reader) Drop(raw []byte) { r.Release(cap(raw)) }

// Keep counts what becomes content.
func (r *Reader) Keep(n int) error {
	if r.Kept += n; r.Kept > r.Bytes {
		return TooLargef("holds more than %d bytes of text; split it", r.Bytes)
	}
	return nil
}

// Document is one text of a file. Title is empty where the file says none.
// OccurredAt is RFC 3339 as the file has it, not checked; Metadata a JSON object
// or empty.
//
// A part of a file that cannot be read is a Document of Where and Refused alone,
// in its place among the others.
type Document struct {
	Title      string
	Content    string
	Kind       string
	ExternalID string
	OccurredAt string
	Metadata   []byte
	// Where names the document in messages: "items[3]", empty for the whole file.
	Where string
	// Path is where in its archive the document lies; empty outside of one.
	Path string
	// Noted says that Metadata and OccurredAt are what the reading found, not what
	// the file's author asked for: they give way to what the caller says.
	Noted bool
	// Refused completes the sentence "the part …" of one that cannot be read.
	Refused string

	tooLarge bool // it is refused for its size
}

// foreign are the beginnings of files that are known and not read.
var foreign = []struct{ begin, name string }{
	{"\xd0\xcf\x11\xe0", "an office document of before 2007, or an encrypted one"},
	{"7z\xbc\xaf\x27", "a 7z archive"},
	{"Rar!", "a RAR archive"},
	{"\xfd7zXZ", "an xz archive"},
	{"\x28\xb5\x2f\xfd", "a zstd archive"},
	{"\x89PNG", "an image"},
	{"\xff\xd8\xff", "an image"},
	{"GIF8", "an image"},
	{"II*\x00", "an image"},
	{"MM\x00*", "an image"},
	{"BM", "an image"},
	{"RIFF", "an image or a sound"},
	{"ID3", "a sound"},
	{"OggS", "a sound"},
	{"fLaC", "a sound"},
	{"\x1aE\xdf\xa3", "a film"},
	{"\x7fELF", "a program"},
	{"MZ", "a program"},
	{"SQLite format 3\x00", "a database"},
	{"wOFF", "a font"},
	{"wOF2", "a font"},
	{"\x00\x01\x00\x00\x00", "a font"},
}

// ForeignOf names a file that is known and not read; it is empty for all others.
// Two letters may begin a text: then it is one if it reads as such.
func ForeignOf(data []byte) string {
	for _, f := range foreign {
		if bytes.HasPrefix(data, []byte(f.begin)) &&
			(len(f.begin) > 3 || bytes.IndexByte(data[:min(len(data), SampleBytes)], 0) >= 0) {
			return f.name
		}
	}
	if len(data) > 12 && string(data[4:8]) == "ftyp" {
		return "a film, a sound or an image"
	}
	return ""
}

func foreignError(name string) error { return Errorf("is %s, which cannot be read%s", name, Supported) }

// Newlines ends lines by newlines. A large text is copied once at most.
func (r *Reader) Newlines(data []byte) ([]byte, error) {
	at := bytes.IndexByte(data, '\r')
	if at < 0 {
		return data, nil
	}
	if err := r.Hold(len(data)); err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(data)-bytes.Count(data, []byte("\r\n")))
	for ; at >= 0; at = bytes.IndexByte(data, '\r') {
		out = append(append(out, data[:at]...), '\n')
		data = bytes.TrimPrefix(data[at+1:], []byte("\n"))
	}
	return append(out, data...), nil
}

// Text returns a file's text, its lines ended by newlines, or why it has none.
// label is the encoding that it says it is in, if it does.
func (r *Reader) Text(data []byte, label string) ([]byte, error) {
	if name := ForeignOf(data); name != "" {
		return nil, foreignError(name)
	}
	if err := r.Step(len(data) / lightWork); err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, Errorf("is empty")
	}
	data, err := r.Decoded(data, label)
	if err != nil {
		return nil, err
	}
	if bytes.IndexFunc(data, canon.Visible) < 0 {
		return nil, Errorf("is empty: it holds no visible character")
	}
	return r.Newlines(data)
}

// Single reads a file of one document.
func (r *Reader) Single(name, format string, read func() (Document, error)) ([]Document, string, error) {
	doc, err := read()
	if err != nil {
		return nil, "", err
	}
	if doc.Title == "" {
		doc.Title = BaseTitle(name)
	}
	docs, err := r.Cut(doc)
	return docs, format, err
}

// Cut divides a document that is too long, at paragraphs where it has any.
func (r *Reader) Cut(d Document) ([]Document, error) {
	if utf8.RuneCountInString(d.Content) <= r.Runes {
		return []Document{d}, nil
	}
	var docs []Document
	rest := d.Content
	for rest != "" {
		end := RuneOffset(rest, r.Runes)
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
			return nil, Errorf("holds more than %d documents", MaxDocuments)
		}
		if err := r.Step(end); err != nil {
			return nil, err
		}
	}
	return docs, nil
}

// RuneOffset is the byte offset behind the first n runes.
func RuneOffset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}

const (
	// MaxToken bounds a piece of text between two tags, and a row of a table, which are in
	// memory whole, at up to four times their size.
	MaxToken = 8 << 20
	// MaxTag bounds a tag with its attributes, which takes up to forty times its size.
	MaxTag = 1 << 20
	// FreeToken is what is read of a token before memory is asked for: nearly all are less.
	FreeToken = 64 << 10
	// TagMemory is what a byte of a tag takes at most.
	TagMemory = 40
	// TextMemory is what a byte of a text takes at most.
	TextMemory = 4
	// NameMemory is what an element of a list or a map takes beside its letters.
	NameMemory = 128
)

// MaxFront bounds what stands before a Markdown text about it.
const MaxFront = 64 << 10
