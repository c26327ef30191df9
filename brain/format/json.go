package format

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// item is a document as POST /v1/ingest takes it.
type item struct {
	Content    *string         `json:"content"`
	Title      string          `json:"title"`
	Kind       string          `json:"kind"`
	ExternalID string          `json:"externalId"`
	OccurredAt string          `json:"occurredAt"`
	Metadata   json.RawMessage `json:"metadata"`
}

// The bounds of POST /v1/ingest.
const (
	maxTitleRunes = 1000
	maxExternalID = 512
	maxMetadata   = 64 << 10
)

var kinds = []string{"document", "belief", "preference", "event"}

func looksJSON(s string) bool {
	t := strings.TrimSpace(s)
	return t != "" && (t[0] == '{' || t[0] == '[') && json.Valid([]byte(t))
}

// looksJSONL: more than one line, and each a JSON object.
func looksJSONL(s string) bool {
	lines := 0
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if line[0] != '{' || !json.Valid([]byte(line)) {
			return false
		}
		lines++
	}
	return lines > 1
}

// jsonItems reads an item, a list of items or texts, or an object with items.
func jsonItems(s string) ([]Document, error) {
	raw := bytes.TrimSpace([]byte(s))
	if !json.Valid(raw) {
		return nil, errorf("is not well-formed JSON")
	}
	if raw[0] == '{' {
		var holder struct {
			Items *[]json.RawMessage `json:"items"`
		}
		if err := strict(raw, &holder); err == nil && holder.Items != nil {
			return items(*holder.Items, "items")
		}
		d, err := one(raw, "item")
		return []Document{d}, err
	}
	var list []json.RawMessage
	if raw[0] != '[' || json.Unmarshal(raw, &list) != nil {
		return nil, errorf("is JSON, but neither an item with content nor a list of such")
	}
	return items(list, "items")
}

func items(list []json.RawMessage, name string) ([]Document, error) {
	switch {
	case len(list) == 0:
		return nil, errorf("holds no items")
	case len(list) > MaxDocuments:
		return nil, errorf("holds more than %d documents", MaxDocuments)
	}
	docs := make([]Document, 0, len(list))
	for i, raw := range list {
		d, err := one(raw, fmt.Sprintf("%s[%d]", name, i))
		if err != nil {
			return nil, err
		}
		docs = append(docs, d)
	}
	return docs, nil
}

func jsonl(s string) ([]Document, error) {
	var docs []Document
	n := 0
	for line := range strings.Lines(s) {
		n++
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if len(docs) == MaxDocuments {
			return nil, errorf("holds more than %d documents", MaxDocuments)
		}
		d, err := one([]byte(line), fmt.Sprintf("line %d", n))
		if err != nil {
			return nil, err
		}
		docs = append(docs, d)
	}
	return docs, nil
}

func strict(raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// one reads a text or an item.
func one(raw []byte, where string) (Document, error) {
	var words string
	if json.Unmarshal(raw, &words) == nil && len(raw) > 0 && raw[0] == '"' {
		return checked(Document{Content: words, Where: where})
	}
	var it item
	if err := strict(raw, &it); err != nil {
		return Document{}, errorf("has at %s no item: expected content, and at most title, kind, externalId, occurredAt and metadata", where)
	}
	if it.Content == nil {
		return Document{}, errorf("has at %s no content", where)
	}
	d := Document{Content: *it.Content, Title: it.Title, Kind: it.Kind, ExternalID: it.ExternalID, OccurredAt: it.OccurredAt, Where: where}
	if m := bytes.TrimSpace(it.Metadata); len(m) > 0 && !bytes.Equal(m, []byte("null")) {
		var object map[string]any
		if json.Unmarshal(m, &object) != nil || len(m) > maxMetadata {
			return Document{}, errorf("has at %s metadata that is no object of at most %d bytes", where, maxMetadata)
		}
		canonical, err := json.Marshal(object)
		if err != nil {
			return Document{}, errorf("has at %s metadata that cannot be kept", where)
		}
		d.Metadata = canonical
	}
	return checked(d)
}

// checked holds an item to the bounds of POST /v1/ingest.
func checked(d Document) (Document, error) {
	known := d.Kind == ""
	for _, k := range kinds {
		known = known || d.Kind == k
	}
	switch {
	case strings.TrimSpace(d.Content) == "":
		return d, errorf("has at %s a blank content", d.Where)
	case strings.ContainsRune(d.Content+d.Title+d.ExternalID, 0):
		return d, errorf("has at %s the character U+0000", d.Where)
	case utf8.RuneCountInString(d.Content) > MaxRunes:
		return d, errorf("has at %s more than %d characters", d.Where, MaxRunes)
	case utf8.RuneCountInString(d.Title) > maxTitleRunes:
		return d, errorf("has at %s a title of more than %d characters", d.Where, maxTitleRunes)
	case utf8.RuneCountInString(d.ExternalID) > maxExternalID:
		return d, errorf("has at %s an externalId of more than %d characters", d.Where, maxExternalID)
	case !known:
		return d, errorf("has at %s an unknown kind; known are %s", d.Where, strings.Join(kinds, ", "))
	}
	return d, nil
}
