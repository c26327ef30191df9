package format

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	// MaxRunes bounds one document, like the content of an ingest.
	MaxRunes = 5_000_000
	// MaxDocuments bounds the documents of one file: a job of ten thousand items
	// is some minutes of embedding.
	MaxDocuments = 10_000
)

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
// the sentence "the file …".
var ErrFile = errors.New("file refused")

func errorf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFile, fmt.Sprintf(format, args...))
}

// Reason is the text of an error behind ErrFile.
func Reason(err error) string { return strings.TrimPrefix(err.Error(), ErrFile.Error()+": ") }

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

// text returns a file's text, or why it has none.
func text(name string, data []byte) (string, error) {
	for _, f := range foreign {
		if bytes.HasPrefix(data, []byte(f.begin)) {
			return "", errorf("is %s, which cannot be read%s", f.name, supported)
		}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return "", errorf("is empty")
	case !utf8.Valid(data):
		return "", errorf("is not text in UTF-8%s", supported)
	case bytes.IndexByte(data, 0) >= 0:
		return "", errorf("holds binary data%s", supported)
	}
	s := strings.ReplaceAll(strings.ReplaceAll(string(data), "\r\n", "\n"), "\r", "\n")
	head := strings.ToLower(strings.TrimSpace(s[:min(len(s), 512)]))
	if kind, ok := foreignNames[strings.ToLower(path.Ext(name))]; ok {
		return "", errorf("is %s, which cannot be read%s", kind, supported)
	}
	if strings.HasPrefix(head, "<!doctype html") || strings.HasPrefix(head, "<html") {
		return "", errorf("is HTML, which cannot be read%s", supported)
	}
	return s, nil
}

var (
	heading = regexp.MustCompile(`(?m)^#{1,6} +\S`)
	fence   = regexp.MustCompile("(?m)^```")
)

// Documents reads a file and says what it was.
func Documents(name string, data []byte) (docs []Document, format string, err error) {
	s, err := text(name, data)
	if err != nil {
		return nil, "", err
	}
	ext := strings.ToLower(path.Ext(name))
	switch {
	case isVTT(s), isSRT(s):
		return Transcript(name, data)
	case ext == ".jsonl" || ext == ".ndjson" || looksJSONL(s):
		docs, err = jsonl(s)
		return docs, JSONL, err
	case ext == ".json" || looksJSON(s):
		docs, err = jsonItems(s)
		return docs, JSON, err
	}
	format = Text
	if ext == ".md" || ext == ".markdown" || heading.MatchString(s) || fence.MatchString(s) {
		format = Markdown
	}
	title := ""
	if format == Text {
		title = strings.TrimSuffix(name, path.Ext(name))
	}
	docs, err = cut(Document{Title: title, Content: s})
	return docs, format, err
}

// cut divides a document that is too long, at paragraphs where it has any.
func cut(d Document) ([]Document, error) {
	if utf8.RuneCountInString(d.Content) <= MaxRunes {
		return []Document{d}, nil
	}
	var docs []Document
	rest := d.Content
	for rest != "" {
		end := runeOffset(rest, MaxRunes)
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
		if strings.TrimSpace(part.Content) != "" {
			docs = append(docs, part)
		}
		if len(docs) > MaxDocuments {
			return nil, errorf("holds more than %d documents", MaxDocuments)
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
