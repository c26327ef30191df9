package format

import (
	"archive/zip"
	"encoding/xml"
	"maps"
	"path"
	"slices"
	"strings"
)

// walkNamed reads an XML file of an archive, if it is there.
func (r *reader) walkNamed(z *zip.Reader, name string, e elements) (found bool, err error) {
	raw, err := r.named(z, name)
	if err != nil || raw == nil {
		return false, err
	}
	defer r.drop(raw)
	return true, r.walk(raw, e)
}

// related is a file that a part of an office document names. kind is the last word of
// the address that says what it is to the part: the rest differs between the editions
// of the standard.
type related struct{ part, kind string }

// relations are the files that a part names, by their ids; those that the archive
// itself does, where part is empty.
func (r *reader) relations(z *zip.Reader, part string) (map[string]related, error) {
	dir, base := path.Split(part)
	to := map[string]related{}
	var fault error
	_, err := r.walkNamed(z, dir+"_rels/"+base+".rels", elements{open: func(t xml.StartElement) {
		if t.Name.Local != "Relationship" || xmlAttr(t, "TargetMode") == "External" {
			return
		}
		target := xmlAttr(t, "Target")
		if strings.HasPrefix(target, "/") {
			target = target[1:]
		} else {
			target = path.Join(dir, target)
		}
		kind, id := path.Base(xmlAttr(t, "Type")), xmlAttr(t, "Id")
		if fault = r.Hold(nameMemory + len(id) + len(target) + len(kind)); fault == nil {
			to[id] = related{part: target, kind: kind}
		}
	}, fault: &fault})
	return to, err
}

// partOf is the file of that kind, of several the one with the first id; empty where
// there is none.
func partOf(parts map[string]related, kind string) string {
	for _, id := range slices.Sorted(maps.Keys(parts)) {
		if parts[id].kind == kind {
			return parts[id].part
		}
	}
	return ""
}

// properties are what a document says of itself: the values of a flat XML part.
func (r *reader) properties(z *zip.Reader, part string) (map[string]string, error) {
	values := map[string]string{}
	var text strings.Builder
	_, err := r.walkNamed(z, part, elements{
		open: func(xml.StartElement) { text.Reset() },
		shut: func(name string) {
			if s := clean(text.String()); s != "" && len(values) < maxNotes {
				values[name] = clip(s)
			}
			text.Reset()
		},
		text: func(b []byte) { text.Write(b[:min(len(b), max(0, maxFront-text.Len()))]) },
	})
	return values, err
}

// office makes a document of what was written of an office file, and of what the
// file says of itself.
func office(m *markup, values map[string]string, extra ...any) (Document, error) {
	content, err := m.said("holds no text to read")
	if err != nil {
		return Document{}, err
	}
	author := values["creator"]
	if author == "" {
		author = values["initial-creator"]
	}
	created := values["created"]
	if created == "" {
		created = values["creation-date"]
	}
	modified := values["modified"]
	if modified == "" {
		modified = values["date"]
	}
	return Document{
		Title: clipTitle(values["title"]), Content: content, Noted: true,
		Metadata: noted(append([]any{"author", author, "created", instant(created), "modified", instant(modified), "language", values["language"]}, extra...)...),
	}, nil
}
