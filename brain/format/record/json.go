package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"orgmem/brain/format/reading"
	"orgmem/proto/canon"
)

// item is a document as POST /v1/ingest takes it. A null says nothing.
type item struct {
	Content    *string  `json:"content"`
	Title      string   `json:"title"`
	Kind       string   `json:"kind"`
	ExternalID string   `json:"externalId"`
	OccurredAt string   `json:"occurredAt"`
	Metadata   metadata `json:"metadata"`
}

// metadata is an object in its canonical form; empty for no metadata.
type metadata []byte

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (m *metadata) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	kind := d.PeekKind()
	if kind == 'n' {
		return d.SkipValue()
	}
	if kind != '{' {
		return canon.ErrNoObject
	}
	v, err := canon.Next(d)
	*m = metadata(v)
	return err
}

var kinds = []string{"", "document", "belief", "preference", "event"}

// valid asks for the syntax alone: a file that names a field twice, or holds half
// a surrogate, is JSON all the same, and refused as such.
func valid(raw []byte) bool {
	return jsontext.Value(raw).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// LooksJSON reports whether a text is one JSON object or list.
func LooksJSON(raw []byte) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) > 0 && (raw[0] == '{' || raw[0] == '[') && valid(raw)
}

// LooksJSONL reports whether a text has more than one line, and each is a JSON object.
// It looks at no more lines than a file may have documents.
func LooksJSONL(raw []byte) bool {
	if raw = bytes.TrimSpace(raw); bytes.IndexByte(raw, '\n') < 0 {
		return false
	}
	n := 0
	for line := range bytes.Lines(raw) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if line[0] != '{' || !valid(line) {
			return false
		}
		if n++; n > reading.MaxDocuments {
			break
		}
	}
	return true
}

// Items reads a file of items, of JSON or JSONL. JSON that is meant as no item is read as
// what it is; of what is meant as items the faults are said.
func Items(
	r *reading.Reader, name, format string, raw []byte, read func(*reading.Reader, []byte) ([]reading.Document, error),
) ([]reading.Document, string, error) {
	kept := r.Kept
	docs, err := read(r, raw)
	if err == nil || !reading.IsFileError(err) || meantAsItems(raw) {
		return docs, format, err
	}
	r.Kept = kept
	return readLoosely(r, name, format, raw, err)
}

// ReadItems reads an item, a list of items or texts, or an object with items.
func ReadItems(r *reading.Reader, raw []byte) ([]reading.Document, error) {
	var docs []reading.Document
	d := jsontext.NewDecoder(bytes.NewBuffer(raw))
	err := readList(r, d, "items", func(i int) error {
		if i == reading.MaxDocuments {
			return reading.Errorf("holds more than %d documents", reading.MaxDocuments)
		}
		doc, err := readItem(r, d, fmt.Sprintf("items[%d]", i))
		docs = append(docs, doc)
		return err
	})
	switch {
	case errors.Is(err, errNoList) && d.StackDepth() > 0: // an object of something else
		d = jsontext.NewDecoder(bytes.NewBuffer(raw))
		doc, err := readItem(r, d, "item")
		if err != nil {
			return nil, err
		}
		return []reading.Document{doc}, atEnd(d)
	case errors.Is(err, errNoList):
		return nil, reading.Errorf("is JSON, but neither an item with content nor a list of such")
	case err != nil:
		return nil, err
	case len(docs) == 0:
		return nil, reading.Errorf("holds no items")
	}
	return docs, atEnd(d)
}

// errNoList says that a value is neither a list nor an object of nothing but a
// list under the name that was asked for.
var errNoList = errors.New("no list")

// readList reads a list, or an object of nothing but a list of that name. element
// reads the next element.
func readList(r *reading.Reader, d *jsontext.Decoder, name string, element func(i int) error) error {
	begin, err := d.ReadToken()
	if err != nil {
		return malformed(err)
	}
	wrapped := begin.Kind() == '{'
	switch {
	case wrapped:
		if first, err := d.ReadToken(); err != nil {
			return malformed(err)
		} else if first.Kind() != '"' || first.String() != name || d.PeekKind() != '[' {
			return errNoList
		}
		if _, err := d.ReadToken(); err != nil {
			return malformed(err)
		}
	case begin.Kind() != '[':
		return errNoList
	}
	for i := 0; d.PeekKind() != ']'; i++ {
		at := d.InputOffset()
		if err := element(i); err != nil {
			return err
		}
		if err := r.Step(int(d.InputOffset() - at)); err != nil {
			return err
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return malformed(err)
	}
	if !wrapped {
		return nil
	}
	if d.PeekKind() == '"' {
		return errNoList
	}
	if _, err := d.ReadToken(); err != nil {
		return malformed(err)
	}
	return nil
}

// atEnd refuses what stands behind the value.
func atEnd(d *jsontext.Decoder) error {
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return reading.Errorf("is not well-formed JSON: something stands behind its end")
	}
	return nil
}

// malformed says of a syntax error, or of a name that stands twice, what it is.
func malformed(err error) error {
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return reading.Errorf("is JSON that names a field twice")
	}
	return reading.Errorf("is not well-formed JSON")
}

// ReadLines reads a file with an item in each line.
func ReadLines(r *reading.Reader, raw []byte) ([]reading.Document, error) {
	var docs []reading.Document
	n := 0
	for line := range bytes.Lines(raw) {
		n++
		if err := r.Step(len(line)); err != nil {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if len(docs) == reading.MaxDocuments {
			return nil, reading.Errorf("holds more than %d documents", reading.MaxDocuments)
		}
		where := fmt.Sprintf("line %d", n)
		d := jsontext.NewDecoder(bytes.NewBuffer(line))
		doc, err := readItem(r, d, where)
		if err != nil {
			return nil, err
		}
		if atEnd(d) != nil {
			return nil, reading.Errorf("has at %s something behind the item", where)
		}
		docs = append(docs, doc)
	}
	return docs, nil
}

// metadataFaults are what metadata may be refused for.
var metadataFaults = []error{canon.ErrOversized, canon.ErrTooDeep, canon.ErrNUL, canon.ErrRange, canon.ErrNoObject}

// readItem reads a text or an item.
func readItem(r *reading.Reader, d *jsontext.Decoder, where string) (reading.Document, error) {
	doc := reading.Document{Where: where}
	if d.PeekKind() == '"' {
		words, err := d.ReadToken()
		if err != nil {
			return doc, malformed(err)
		}
		doc.Content = words.String()
		return doc, checkItem(r, doc)
	}
	var it item
	if err := json.UnmarshalDecode(d, &it, json.RejectUnknownMembers(true)); err != nil {
		for _, fault := range metadataFaults {
			if errors.Is(err, fault) {
				return doc, reading.Errorf("has at %s metadata that %v", where, fault)
			}
		}
		if _, syntactic := errors.AsType[*jsontext.SyntacticError](err); syntactic || errors.Is(err, io.EOF) ||
			errors.Is(err, io.ErrUnexpectedEOF) {
			return doc, fmt.Errorf("%w, at %s", malformed(err), where)
		}
		return doc, reading.Errorf("has at %s no item: expected content, and at most title, kind, externalId, occurredAt "+
			"and metadata", where)
	}
	if it.Content == nil {
		return doc, reading.Errorf("has at %s no content", where)
	}
	doc.Content, doc.Title, doc.Kind, doc.ExternalID, doc.OccurredAt, doc.Metadata = *it.Content, it.Title, it.Kind,
		it.ExternalID, it.OccurredAt, it.Metadata
	return doc, checkItem(r, doc)
}

// checkItem holds an item to the bounds of POST /v1/ingest.
func checkItem(r *reading.Reader, d reading.Document) error {
	switch {
	case canon.Blank(d.Content):
		return reading.Errorf("has at %s a blank content", d.Where)
	case strings.ContainsRune(d.Content, 0), strings.ContainsRune(d.Title, 0), strings.ContainsRune(d.ExternalID, 0):
		return reading.Errorf("has at %s the character U+0000", d.Where)
	case utf8.RuneCountInString(d.Content) > r.Runes:
		return reading.TooLargef("has at %s more than %d characters", d.Where, r.Runes)
	case utf8.RuneCountInString(d.Title) > reading.MaxTitleRunes:
		return reading.Errorf("has at %s a title of more than %d characters", d.Where, reading.MaxTitleRunes)
	case utf8.RuneCountInString(d.ExternalID) > reading.MaxExternalID:
		return reading.Errorf("has at %s an externalId of more than %d characters", d.Where, reading.MaxExternalID)
	case !slices.Contains(kinds, d.Kind):
		return reading.Errorf("has at %s an unknown kind; known are %s", d.Where, strings.Join(kinds[1:], ", "))
	}
	return r.Keep(len(d.Content))
}
