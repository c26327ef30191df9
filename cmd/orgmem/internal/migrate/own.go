package migrate

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"orgmem/cmd/orgmem/internal/vault"
)

// ownManifest says that a folder holds what orgmem export wrote as Markdown.
const ownManifest = vault.Manifest

// own reads what orgmem export writes as Markdown (package vault), also when a person has
// changed it since, or added notes.
func own() product {
	return product{
		name: Own, pages: true,
		passed: func(in Input, _ []Input) string {
			if in.base != ownManifest && !strings.HasSuffix(strings.ToLower(in.base), ".md") {
				return "is no Markdown"
			}
			return ""
		},
		reader: func() reader { return ownReader{} },
	}
}

// OwnFolder reports whether a folder holds what orgmem export wrote as Markdown.
func OwnFolder(found *Found) bool {
	return slices.ContainsFunc(found.Inputs, func(in Input) bool { return in.base == ownManifest })
}

type ownReader struct{}

func (ownReader) learn(entry) {}

// kinds are those that can be taken in.
var kinds = []string{"document", "belief", "preference", "event"}

func (ownReader) take(e entry, s *sink) {
	if e.in.base == ownManifest {
		return
	}
	h, content, err := vault.Decode(e.raw)
	switch {
	case err != nil: // a note that was added: all of it is content
		h = vault.Head{Title: strings.TrimSuffix(path.Base(e.in.base), path.Ext(e.in.base))}
		content = string(e.raw)
	case h.Kind == "entity" || h.Derived:
		s.leave(e, "entities and what was read out of notes", "are made anew from the notes")
		return
	case h.Status != "" && h.Status != "live":
		s.leave(e, "notes", "do not hold any more")
		return
	case h.Member != "" && !s.plan.options.Merge:
		s.leave(e, "notes of members", "can be taken in with the member's own key alone")
		return
	}
	d := draft{what: "notes", user: h.Subject, title: h.Title, content: content, kind: h.Kind, meta: meta{}}
	if !slices.Contains(kinds, d.kind) {
		d.kind = ""
	}
	if object, ok := valueOf(h.Metadata).(map[string]any); ok {
		d.meta = object
	}
	var ok bool
	if when := cmp.Or(h.Occurred, h.Created); when != "" {
		if d.at, ok = instant(when); !ok {
			d.badTime = clip(when, maxShown)
		}
	}
	if len(h.ExternalIDs) == 0 {
		h.ExternalIDs = []string{""}
	}
	for _, id := range h.ExternalIDs {
		d.id = id
		s.note(e, d)
	}
}
