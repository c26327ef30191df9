package vault

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// What is written is read again as it was, whatever is in it.
func TestNoteRoundTrip(t *testing.T) {
	h := Head{
		ID: "ingest:1", ExternalIDs: []string{"a: b", "#c"}, Title: "---\n\"quoted\": 'title' <&>", Kind: "belief",
		Subject: "ann",
		Derived: true, Created: "2026-01-01T00:00:00.000Z", Metadata: json.RawMessage(`{"a":"b\nc","n":1}`),
		Links: []string{"[[x|y]]"}, Relations: []string{"knows [[x|y]]"},
	}
	for _, content := range []string{
		"", "plain", "---\n", "\n---\nid: \"other\"\n---\n", "ends with lines\r\n\n\n", "\ufeffmark",
	} {
		raw, err := Encode(h, content)
		if err != nil {
			t.Fatal(err)
		}
		got, text, err := Decode(raw)
		if err != nil || text != content || !reflect.DeepEqual(got, h) {
			t.Errorf("%q is %q, %v, with %+v", content, text, err, got)
		}
	}
}

// Programs for Markdown write heads in their own way.
func TestEditedHead(t *testing.T) {
	h, content, err := Decode([]byte("---\r\ntitle: Boiler: the old one\nexternalIds:\n  - one\n  - \"two\"\n" +
		"subject: 'o''hara'\nid: 17\nnonsense\nmetadata:\n---\nThe boiler.\n"))
	want := Head{Title: "Boiler: the old one", ExternalIDs: []string{"one", "two"}, Subject: "o'hara", ID: "17"}
	if err != nil || content != "The boiler.\n" || !reflect.DeepEqual(h, want) {
		t.Errorf("%+v, %q, %v", h, content, err)
	}
	for _, raw := range []string{"", "no head", "---", "---\ntitle: \"open\"\n", "----\n---\n"} {
		if _, _, err := Decode([]byte(raw)); !errors.Is(err, ErrNoNote) {
			t.Errorf("%q: %v", raw, err)
		}
	}
}

// No title and no subject leads out of the folder, or to a name that a system keeps for itself.
func TestNames(t *testing.T) {
	m := &memory{folder: "own"}
	seen := map[string]bool{}
	for i, title := range []string{
		"../../etc/passwd", "a/b\\c:d", "CON", "", ".", "..", "日本語/題", strings.Repeat("long ", 100), "\x00\n\t",
		"Boiler", "boiler", strings.Repeat("\U0001D5D5", 60), strings.Repeat("\U0001D5D5 ", 60),
	} {
		at := m.pathOf(node{ID: string(rune('a' + i)), Title: title})
		base := filepath.Base(at)
		if filepath.Dir(at) != "own" || !utf8.ValidString(base) || len(base) > 255 ||
			strings.ContainsAny(base, "\\:*?\"<>|\x00\n") || base[0] == '.' ||
			seen[strings.ToLower(at)] {
			t.Errorf("%q is at %q", title, at)
		}
		seen[strings.ToLower(at)] = true
	}
	folders := map[string]bool{}
	for _, id := range []string{
		"ann", "Ann", "../ann", "con", "a b", "", "ann/", strings.Repeat("x", 256), strings.Repeat("\U0001D5D5", 64),
	} {
		name := folderName(id)
		if name == "" || name == "con" || strings.ContainsAny(name, "/\\") || strings.HasPrefix(name, ".") ||
			len(name) > 255 || folders[strings.ToLower(name)] {
			t.Errorf("%q is %q", id, name)
		}
		folders[strings.ToLower(name)] = true
	}
}

// Links lead to files that are there; what is superseded or forgotten is counted; a file
// that is not an export, or is cut off, leaves no folder that looks complete.
func TestWrite(t *testing.T) {
	doc := `{"format":"orgmem-export","version":1,"exportId":"e","scope":"user","createdAt":"2026-01-01T00:00:00.000Z",` +
		`"organization":{"id":"o"},"partitions":[{"id":"p","kind":"subject","subject":"ann",` +
		`"domains":[{"id":"d","label":"heating"}],"nodes":[` +
		`{"id":"n1","kind":"document","title":"Boiler","content":"Marit knows.","domainId":"d","status":"live",` +
		`"source":{"externalIds":["x"]}},` +
		`{"id":"n2","kind":"entity","title":"Marit","status":"live","derived":{"type":"person"}},` +
		`{"id":"n3","kind":"document","title":"Old","content":"Old.","status":"superseded"},` +
		`{"id":"n4","kind":"document","status":"tombstoned"}],` +
		`"edges":[{"source":"n1","target":"n2","type":"mentions","status":"live"},` +
		`{"source":"n3","target":"n2","type":"mentions","status":"live"},` +
		`{"source":"n1","target":"n2","type":"gone","status":"tombstoned","tombstonedAt":"2026-01-01T00:00:00.000Z"}],` +
		`"externalIds":[],"sessions":[]}]}`
	write := func(content string) (Summary, string, error) {
		t.Helper()
		file, dir := filepath.Join(t.TempDir(), "doc.json"), filepath.Join(t.TempDir(), "out")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		sum, err := Write(file, dir)
		return sum, dir, err
	}
	sum, dir, err := write(doc)
	if err != nil || sum != (Summary{Memories: 1, Notes: 1, Entities: 1, Superseded: 1, Forgotten: 1}) {
		t.Fatalf("%+v, %v", sum, err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "subjects", "ann", "Boiler-"+hash("n1")+".md"))
	if err != nil {
		t.Fatal(err)
	}
	h, content, err := Decode(raw)
	entity := "subjects/ann/entities/Marit-" + hash("n2")
	if err != nil || content != "Marit knows." || h.Domain != "heating" || len(h.Links) != 1 || len(h.Relations) != 1 ||
		h.Links[0] != "[["+entity+"|Marit]]" || h.Relations[0] != "mentions [["+entity+"|Marit]]" {
		t.Errorf("%+v, %q, %v", h, content, err)
	}
	raw, err = os.ReadFile(filepath.Join(dir, entity+".md"))
	if err != nil || !strings.HasSuffix(string(raw), "---\n- [[subjects/ann/Boiler-"+hash("n1")+"|Boiler]]\n") {
		t.Errorf("%s, %v", raw, err)
	}
	for _, bad := range []string{`{}`, `[]`, `{"format":"other","partitions":[]}`, doc[:len(doc)-60], doc[:300]} {
		_, dir, err := write(bad)
		if _, serr := os.Stat(filepath.Join(dir, Manifest)); err == nil || serr == nil {
			t.Errorf("%.40q: %v, manifest %v", bad, err, serr)
		}
	}
}
