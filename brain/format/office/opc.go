package office

import (
	"archive/zip"
	"encoding/xml"
	"maps"
	"path"
	"slices"
	"strings"

	"orgmem/brain/format/markup"
	"orgmem/brain/format/reading"
)

// walkNamed reads an XML file of an archive, if it is there.
func walkNamed(r *reading.Reader, z *zip.Reader, name string, e markup.Elements) (found bool, err error) {
	raw, err := r.Named(z, name)
	if err != nil || raw == nil {
		return false, err
	}
	defer r.Drop(raw)
	return true, markup.Walk(r, raw, e)
}

// related is a file that a part of an office document names. kind is the last word of
// the address that says what it is to the part: the rest differs between the editions
// of the standard.
type related struct{ part, kind string }

// relationsOf are the files that a part names, by their ids; those that the archive
// itself does, where part is empty.
func relationsOf(r *reading.Reader, z *zip.Reader, part string) (map[string]related, error) {
	dir, base := path.Split(part)
	to := map[string]related{}
	var fault error
	_, err := walkNamed(r, z, dir+"_rels/"+base+".rels", markup.Elements{Open: func(t xml.StartElement) {
		if t.Name.Local != "Relationship" || markup.Attr(t, "TargetMode") == "External" {
			return
		}
		target := markup.Attr(t, "Target")
		if strings.HasPrefix(target, "/") {
			target = target[1:]
		} else {
			target = path.Join(dir, target)
		}
		kind, id := path.Base(markup.Attr(t, "Type")), markup.Attr(t, "Id")
		if fault = r.Hold(reading.NameMemory + len(id) + len(target) + len(kind)); fault == nil {
			to[id] = related{part: target, kind: kind}
		}
	}, Fault: &fault})
	return to, err
}

// partOf is the file of that kind, of several the one with the first id; empty if
// there is no such file.
func partOf(parts map[string]related, kind string) string {
	for _, id := range slices.Sorted(maps.Keys(parts)) {
		if parts[id].kind == kind {
			return parts[id].part
		}
	}
	return ""
}

// propertiesOf are what a document says of itself: the values of a flat XML part.
func propertiesOf(r *reading.Reader, z *zip.Reader, part string) (map[string]string, error) {
	values := map[string]string{}
	var text strings.Builder
	_, err := walkNamed(r, z, part, markup.Elements{
		Open: func(xml.StartElement) { text.Reset() },
		Shut: func(name string) {
			if s := reading.Clean(text.String()); s != "" && len(values) < reading.MaxNotes {
				values[name] = reading.Clip(s)
			}
			text.Reset()
		},
		Text: func(b []byte) { text.Write(b[:min(len(b), max(0, reading.MaxFront-text.Len()))]) },
	})
	return values, err
}

// documentOf makes a document of what was written of an office file, and of what the
// file says of itself.
func documentOf(m *reading.Builder, values map[string]string, extra ...any) (reading.Document, error) {
	content, err := m.DoneVisible("holds no text to read")
	if err != nil {
		return reading.Document{}, err
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
	return reading.Document{
		Title: reading.ClipTitle(values["title"]), Content: content, Noted: true,
		Metadata: reading.Noted(append([]any{
			"author", author, "created", reading.Instant(created), "modified", reading.Instant(modified), "language",
			values["language"],
		}, extra...)...),
	}, nil
}
