package record

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"orgmem/brain/format/reading"
	"orgmem/proto/canon"
)

// JSON that holds no ingest items is what people export from their notes, chats and
// forms, or some program's settings. What carries content, by its name, becomes
// documents; where nothing does, the JSON is the text that it is.

// contentNames are the names of what somebody wrote, in small letters, without what
// divides words, and in the singular.
var contentNames = []string{
	"text", "content", "body", "message", "note", "comment", "transcript", "memo", "entry", "post", "answer",
	"question", "reply",
	"bodytext", "textcontent", "plaintext", "contenttext", "messagetext", "notetext", "fulltext", "rawtext",
	"markdown", "selftext",
}

var (
	titleNames  = []string{"title", "subject", "heading", "headline"}
	authorNames = []string{"author", "sender", "from", "user", "username", "speaker", "role", "by"}
	timeNames   = []string{
		"date", "time", "datetime", "timestamp", "ts", "created", "createdat", "createtime", "sentat", "publishedat",
		"occurredat",
	}
	itemNames = []string{"content", "title", "kind", "externalId", "occurredAt", "metadata"}
)

// bareName is a name as it is compared.
func bareName(name string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == ' ' {
			return -1
		}
		return r
	}, name))
}

func isContent(name string) bool {
	return slices.Contains(contentNames, name) || slices.Contains(contentNames, strings.TrimSuffix(name, "s")) ||
		strings.HasSuffix(name, "ies") && slices.Contains(contentNames, strings.TrimSuffix(name, "ies")+"y")
}

// meantAsItems reports whether a file's first record is an item as POST /v1/ingest takes
// it, faults aside: then what is wrong with an item is said, and nothing is guessed.
func meantAsItems(raw []byte) bool {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), lenient)
	if d.PeekKind() == '[' {
		if _, err := d.ReadToken(); err == nil && d.PeekKind() == '"' {
			return true // a list of texts is one of items
		}
	}
	if bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{")) {
		if line, _, more := bytes.Cut(raw, []byte("\n")); more && valid(line) { // of lines the first
			raw = line
		}
	}
	s := ShapeOf(raw)
	if s.holds("items", "content") {
		return !slices.ContainsFunc(s.names["items"], func(n string) bool { return !slices.Contains(itemNames, n) })
	}
	if !s.Has("content") {
		return false
	}
	for n := range s.names {
		if !slices.Contains(itemNames, n) {
			return false
		}
	}
	return true
}

// lineWork is what a line costs beside its letters: a decoder of its own.
const lineWork = 256

// maxPieces bounds the texts of one object that are put together: it has a few names.
const maxPieces = 32

// loose is JSON that is being searched for what somebody wrote.
type loose struct {
	*reading.Reader
	name  string // of the file
	lines bool
	docs  []reading.Document
	found int
	all   strings.Builder // what was found, once it is more than documents may be
}

// level is a value that lies open.
type level struct {
	list    bool
	content bool   // of a list: its name is one of content
	member  string // of an object: the name whose value comes
	named   bool   // and it has come
	first   int    // the document that begins here
	own     int    // the document that this object is; -1: none yet
	pieces  int    // texts of that
	title   string
	author  string
	at      string
}

// readLoosely reads JSON that holds no items. failed is why.
func readLoosely(r *reading.Reader, name, format string, raw []byte, failed error) ([]reading.Document, string, error) {
	l := &loose{Reader: r, name: name, lines: format == reading.JSONL}
	kept := r.Kept
	if err := l.read(raw); err != nil && !reading.IsFileError(err) {
		return nil, format, err
	} else if err == nil && l.found > 0 {
		docs, err := l.done()
		return docs, format, err
	}
	r.Kept = kept
	if bytes.IndexFunc(raw, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsNumber(c) }) < 0 {
		if r.Nested > 0 { // it says nothing, as an empty file
			return nil, format, nil
		}
		return nil, format, failed
	}
	docs, err := readAsText(r, name, raw)
	return docs, reading.Text, err
}

// readAsText takes JSON as the text that it is.
func readAsText(r *reading.Reader, name string, raw []byte) ([]reading.Document, error) {
	if err := r.Keep(len(raw)); err != nil {
		return nil, err
	}
	if err := r.Hold(len(raw)); err != nil {
		return nil, err
	}
	return r.Cut(reading.Document{Title: reading.BaseTitle(name), Content: unbroken(string(raw))})
}

// read goes through the file, or its lines.
func (l *loose) read(raw []byte) error {
	if !l.lines {
		return l.value(raw, "")
	}
	n := 0
	for line := range bytes.Lines(raw) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if err := l.Step(lineWork); err != nil {
			return err
		}
		if err := l.value(line, fmt.Sprintf("line %d", n)); err != nil {
			return err
		}
	}
	return nil
}

// value goes through one value, without recursion: how deep it is is the file's choice.
func (l *loose) value(raw []byte, where string) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), lenient)
	var open []level
	for at := int64(0); ; {
		t, err := d.ReadToken()
		if err == io.EOF && len(open) == 0 { //nolint:errorlint // the decoder's own
			return nil
		}
		if err != nil {
			return malformed(err)
		}
		if err := l.Step(reading.TableWork*int(d.InputOffset()-at) + recordWork); err != nil {
			return err
		}
		at = d.InputOffset()
		kind := t.Kind()
		var top *level
		if len(open) > 0 {
			top = &open[len(open)-1]
		}
		if top != nil && !top.list && !top.named && kind == '"' {
			top.member, top.named = "", true
			if name := t.String(); len(name) <= reading.MaxNote {
				top.member = bareName(name)
			}
			continue
		}
		switch kind {
		case '{', '[':
			next := level{list: kind == '[', first: len(l.docs), own: -1}
			if top != nil && next.list {
				next.content = top.list && top.content || !top.list && isContent(top.member)
			}
			if top != nil {
				top.named = false
			}
			open = append(open, next)
			continue
		case '}', ']':
			if err := l.close(top); err != nil {
				return err
			}
			open = open[:len(open)-1]
			continue
		case '"':
			if err := l.said(d, t, open, where); err != nil {
				return err
			}
		case '0':
			if top != nil && !top.list && top.at == "" && slices.Contains(timeNames, top.member) {
				if f, err := t.Float(); err == nil && f > 1e8 && f < 1e13 { // seconds, or milliseconds
					if f >= 1e11 {
						f /= 1000
					}
					top.at = reading.UnixInstant(int64(f))
				}
			}
		default: // it says nothing
		}
		if top != nil {
			top.named = false
		}
	}
}

// said takes a string.
func (l *loose) said(d *jsontext.Decoder, t jsontext.Token, open []level, where string) error {
	if len(open) == 0 {
		return nil
	}
	top := &open[len(open)-1]
	switch {
	case top.list && top.content, !top.list && isContent(top.member):
		words := unbroken(t.String())
		if canon.Blank(words) {
			return nil
		}
		if err := l.Step(recordWork * len(open)); err != nil { // of where it is
			return err
		}
		if where == "" {
			where = reading.Clip(strings.TrimPrefix(string(d.StackPointer()), "/"))
		}
		return l.take(top, words, where)
	case top.list:
	case top.title == "" && slices.Contains(titleNames, top.member):
		top.title = reading.ClipTitle(t.String())
	case top.author == "" && slices.Contains(authorNames, top.member):
		top.author = reading.Clip(reading.Clean(t.String()))
	case top.at == "" && slices.Contains(timeNames, top.member):
		if s := t.String(); len(s) <= maxTiming {
			top.at = reading.Instant(s)
		}
	}
	return nil
}

// take makes a document of what was written, or adds it to that of the same object.
func (l *loose) take(top *level, words, where string) error {
	l.found++
	if err := l.Keep(len(words) + len("\n\n")); err != nil {
		return err
	}
	if err := l.Hold(2*len(words) + reading.NameMemory + recordMemory); err != nil {
		return err
	}
	switch {
	case l.all.Len() > 0:
		l.all.WriteString("\n\n" + words)
	case !top.list && top.own >= 0 && top.pieces < maxPieces:
		top.pieces++
		l.docs[top.own].Content += "\n\n" + words
	case len(l.docs) == reading.MaxDocuments: // it is many records of little: one text of all
		for i := range l.docs {
			if i > 0 {
				l.all.WriteString("\n\n")
			}
			l.all.WriteString(l.docs[i].Content)
		}
		l.all.WriteString("\n\n" + words)
		l.docs = nil
	default:
		if !top.list {
			top.own, top.pieces = len(l.docs), 1
		}
		l.docs = append(l.docs, reading.Document{Content: words, Where: where, Noted: true})
	}
	return nil
}

// close tells the documents of an object what it says of them.
func (l *loose) close(top *level) error {
	if l.all.Len() > 0 || top.list || top.title == "" && top.author == "" && top.at == "" {
		return nil
	}
	if err := l.Step(recordWork * (len(l.docs) - top.first)); err != nil {
		return err
	}
	for i := top.first; i < len(l.docs); i++ {
		doc := &l.docs[i]
		if doc.Title == "" {
			doc.Title = top.title
		}
		if i != top.own && top.own >= 0 {
			continue // the author of a text is not that of the answers to it
		}
		if doc.OccurredAt == "" {
			doc.OccurredAt = top.at
		}
		if doc.Metadata == nil && top.author != "" {
			doc.Metadata = reading.Noted("author", top.author)
		}
	}
	return nil
}

// done ends the file.
func (l *loose) done() ([]reading.Document, error) {
	if l.all.Len() > 0 {
		return l.Cut(reading.Document{Title: reading.BaseTitle(l.name), Content: l.all.String()})
	}
	var docs []reading.Document
	for _, d := range l.docs {
		if d.Title == "" {
			d.Title = reading.BaseTitle(l.name)
		}
		parts, err := l.Cut(d)
		if err != nil {
			return nil, err
		}
		if docs = append(docs, parts...); len(docs) > reading.MaxDocuments {
			return nil, reading.Errorf("holds more than %d documents", reading.MaxDocuments)
		}
	}
	return docs, nil
}
