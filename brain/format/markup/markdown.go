package markup

import (
	"cmp"
	"path"
	"regexp"
	"strings"

	"orgmem/brain/format/reading"
	"orgmem/proto/canon"
)

// front divides a Markdown text from what is said about it before it begins: lines
// of "name: value", and lists, between two lines of dashes. Of YAML that is what
// people write there; the rest is left out.
func front(s string) (values map[string][]string, body string) {
	rest, ok := strings.CutPrefix(s, "---\n")
	if !ok {
		return nil, s
	}
	end := strings.Index("\n"+rest[:min(len(rest), reading.MaxFront)], "\n---\n")
	if end < 0 {
		return nil, s
	}
	head, body := rest[:end], rest[end+len("---\n"):]
	values = map[string][]string{}
	last := ""
	for line := range strings.Lines(head) {
		item, isItem := strings.CutPrefix(strings.TrimSpace(line), "- ")
		switch {
		case isItem && last != "":
			values[last] = append(values[last], bare(item))
			continue
		case strings.HasPrefix(line, " "), strings.HasPrefix(line, "\t"), strings.HasPrefix(line, "#"):
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		last = strings.ToLower(strings.TrimSpace(name))
		if value = strings.TrimSpace(value); value == "" {
			continue
		}
		if list, isList := strings.CutPrefix(value, "["); isList {
			for one := range strings.SplitSeq(strings.TrimSuffix(list, "]"), ",") {
				values[last] = append(values[last], bare(one))
			}
			continue
		}
		values[last] = append(values[last], bare(value))
	}
	return values, body
}

// bare takes the quotes off a value.
func bare(s string) string {
	s = strings.TrimSpace(s)
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

// wikiLink is a link between notes: [[Note]], [[Note#Part]] or [[Note|shown]].
var wikiLink = regexp.MustCompile(`!?\[\[([^\[\]|\n]{1,300})(?:\|([^\[\]\n]{1,300}))?\]\]`)

// WithoutWikiLinks shows links between notes as their texts.
func WithoutWikiLinks(s string) string {
	if !strings.Contains(s, "[[") {
		return s
	}
	return wikiLink.ReplaceAllStringFunc(s, func(link string) string {
		m := wikiLink.FindStringSubmatch(link)
		if strings.HasPrefix(m[1], " ") { // a test in a shell's script
			return link
		}
		return cmp.Or(m[2], m[1])
	})
}

// tagsOf divides tags that stand in one line.
func tagsOf(said []string) (tags []string) {
	for _, s := range said {
		for one := range strings.SplitSeq(s, ",") {
			if one = strings.TrimSpace(one); one != "" {
				tags = append(tags, one)
			}
		}
	}
	return tags
}

// Markdown reads a Markdown text. It stands as it is, but for what its head says of
// it and for links between notes.
func Markdown(r *reading.Reader, name, s string) ([]reading.Document, error) {
	values, body := front(s)
	one := func(names ...string) string {
		for _, n := range names {
			if v := values[n]; len(v) > 0 {
				return v[0]
			}
		}
		return ""
	}
	if ext := strings.ToLower(path.Ext(name)); ext == ".md" || ext == ".markdown" { // elsewhere such brackets are code
		body = WithoutWikiLinks(body)
	}
	doc := reading.Document{Content: body, Title: reading.ClipTitle(one("title"))}
	if canon.Blank(body) {
		doc.Content = s
	}
	if doc.Title == "" && r.Nested > 0 { // in an archive the name is how others refer to it
		doc.Title = reading.BaseTitle(name)
	}
	if values != nil {
		doc.Noted, doc.OccurredAt = true, reading.Instant(one("date", "created"))
		doc.Metadata = reading.Noted("tags", tagsOf(values["tags"]), "aliases", values["aliases"], "author", one("author"),
			"language", one("lang", "language"))
	}
	return r.Cut(doc)
}
