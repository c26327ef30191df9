package vault

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Names of what is in a folder.
const (
	// Manifest says that a folder was written by this package.
	Manifest = "orgmem-markdown.json"
	// Format and Version stand in it.
	Format  = "orgmem-markdown"
	Version = 1
)

// Head is what a file says of its note. Large because each field is a line of the head.
type Head struct {
	ID          string
	ExternalIDs []string
	Title       string
	Kind        string
	Subject     string // of a provisioned subject's note
	Member      string // of a member's note, in an export of the organization
	Status      string // but for live
	Derived     bool   // it was read out of other notes, and is made anew from them
	Created     string
	Updated     string
	Occurred    string
	ValidFrom   string
	ValidTo     string
	Domain      string
	Metadata    json.RawMessage
	Links       []string // wiki links to other files
	Relations   []string // the same, with what they are called
}

// line is a field of the head.
type line struct {
	name  string
	value any
}

// lines are the fields that say something, in their order.
func (h Head) lines() []line {
	all := []line{{"id", h.ID}, {"externalId", ""}, {"externalIds", h.ExternalIDs}}
	if len(h.ExternalIDs) == 1 {
		all[1].value, all[2].value = h.ExternalIDs[0], []string(nil)
	}
	all = append(all,
		line{"title", h.Title}, line{"kind", h.Kind}, line{"subject", h.Subject}, line{"member", h.Member},
		line{"status", h.Status}, line{"derived", h.Derived}, line{"created", h.Created}, line{"updated", h.Updated},
		line{"occurred", h.Occurred}, line{"validFrom", h.ValidFrom}, line{"validTo", h.ValidTo}, line{"domain", h.Domain},
		line{"metadata", h.Metadata}, line{"links", h.Links}, line{"relations", h.Relations})
	said := all[:0]
	for _, l := range all {
		switch v := l.value.(type) {
		case string:
			if v == "" {
				continue
			}
		case bool:
			if !v {
				continue
			}
		case []string:
			if len(v) == 0 {
				continue
			}
		case json.RawMessage:
			if len(v) == 0 || string(v) == "{}" || string(v) == "null" {
				continue
			}
		}
		said = append(said, l)
	}
	return said
}

const fence = "---\n"

// Encode is a file: the head, and below it the content as it is.
func Encode(h Head, content string) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(fence)
	for _, l := range h.lines() {
		var value bytes.Buffer
		e := json.NewEncoder(&value)
		e.SetEscapeHTML(false)
		if err := e.Encode(l.value); err != nil {
			return nil, fmt.Errorf("%s: %w", l.name, err)
		}
		b.WriteString(l.name + ": ")
		b.Write(value.Bytes()) // with the end of the line
	}
	b.WriteString(fence)
	b.WriteString(content)
	return b.Bytes(), nil
}

// ErrNoNote means that a file has no head such as this package writes.
var ErrNoNote = errors.New("has no head such as orgmem export writes")

// Decode reads a file, also one that a person or a program for Markdown has changed: a
// value may be plain text, and a list a line for each element.
func Decode(raw []byte) (Head, string, error) {
	text := string(raw)
	text = strings.TrimPrefix(text, "\ufeff")
	first, rest, ok := strings.Cut(text, "\n")
	if !ok || strings.TrimRight(first, "\r ") != "---" {
		return Head{}, "", ErrNoNote
	}
	values := map[string]json.RawMessage{}
	last := ""
	for {
		var l string
		if l, rest, ok = strings.Cut(rest, "\n"); strings.TrimRight(l, "\r ") == "---" {
			break
		}
		if !ok {
			return Head{}, "", ErrNoNote
		}
		l = strings.TrimRight(l, "\r ")
		if element, in := strings.CutPrefix(strings.TrimLeft(l, " "), "- "); in && last != "" {
			values[last] = appended(values[last], element)
			continue
		}
		name, value, ok := strings.Cut(l, ":")
		if !ok {
			continue
		}
		last = strings.TrimSpace(name)
		values[last] = valueOf(strings.TrimSpace(value))
	}
	return headOf(values), rest, nil
}

// valueOf is JSON as it stands, and other text as a text.
func valueOf(s string) json.RawMessage {
	if s == "" || json.Valid([]byte(s)) {
		return json.RawMessage(s)
	}
	if quoted, ok := strings.CutPrefix(s, "'"); ok && strings.HasSuffix(quoted, "'") {
		s = strings.ReplaceAll(strings.TrimSuffix(quoted, "'"), "''", "'")
	}
	raw, err := json.Marshal(s)
	if err != nil { // a text always becomes JSON
		return nil
	}
	return raw
}

func appended(list json.RawMessage, element string) json.RawMessage {
	var all []json.RawMessage
	if len(list) > 0 && json.Unmarshal(list, &all) != nil {
		return list
	}
	raw, err := json.Marshal(append(all, valueOf(strings.TrimSpace(element))))
	if err != nil { // each element is JSON
		return list
	}
	return raw
}

func headOf(values map[string]json.RawMessage) Head {
	text := func(name string) string {
		raw := values[name]
		var s string
		if json.Unmarshal(raw, &s) == nil {
			return s
		}
		if len(raw) > 0 && raw[0] != '{' && raw[0] != '[' && string(raw) != "null" {
			return string(raw) // a title that is a number
		}
		return ""
	}
	texts := func(name string) []string {
		var all []string
		if json.Unmarshal(values[name], &all) == nil {
			return all
		}
		return nil
	}
	h := Head{
		ID: text("id"), ExternalIDs: texts("externalIds"), Title: text("title"), Kind: text("kind"), Subject: text("subject"),
		Member: text("member"), Status: text("status"), Derived: text("derived") == "true", Created: text("created"),
		Updated: text("updated"), Occurred: text("occurred"), ValidFrom: text("validFrom"), ValidTo: text("validTo"),
		Domain: text("domain"), Links: texts("links"), Relations: texts("relations"),
	}
	if one := text("externalId"); one != "" {
		h.ExternalIDs = append([]string{one}, h.ExternalIDs...)
	}
	if raw := values["metadata"]; len(raw) > 0 && raw[0] == '{' {
		h.Metadata = raw
	}
	return h
}
