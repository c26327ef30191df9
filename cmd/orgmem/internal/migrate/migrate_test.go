package migrate

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// planned reads paths as a product's.
func planned(t *testing.T, from string, paths ...string) *Plan {
	t.Helper()
	found, err := Find(paths)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := found.Close(); err != nil {
			t.Error(err)
		}
	})
	p, err := Read(t.Context(), found, Options{From: from, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// notes are those of a plan, in the order in which they would be sent.
func (p *Plan) sent(t *testing.T) []note {
	t.Helper()
	var all []note
	for level := range levels {
		if err := p.notes(t.Context(), level, func(n note) error { all = append(all, n); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// file writes a file and returns its path.
func file(t *testing.T, name, content string) string {
	t.Helper()
	at := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(at, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return at
}

// metadataOf is a note's metadata.
func metadataOf(t *testing.T, n note) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(n.item.Metadata, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func of(t *testing.T, all []note, id string) note {
	t.Helper()
	i := slices.IndexFunc(all, func(n note) bool { return n.item.ExternalID == id })
	if i < 0 {
		t.Fatalf("there is no %s in %+v", id, all)
	}
	return all[i]
}

// Every fixture is known by itself, and is refused as that of any other product.
func TestEachExportIsKnown(t *testing.T) {
	for _, product := range Names() {
		if product == Own {
			continue
		}
		folder := filepath.Join("testdata", product)
		if p := planned(t, Auto, folder); p.From != product || p.Notes == 0 {
			t.Errorf("%s is taken for one of %s with %d notes", product, p.From, p.Notes)
		}
		for _, other := range Names() {
			if other == product || other == Own {
				continue
			}
			p := planned(t, other, folder)
			if p.Notes != 0 {
				t.Errorf("of %s %d notes are taken as those of %s", product, p.Notes, other)
			}
			if !slices.ContainsFunc(p.Faults, func(f Fault) bool {
				return strings.Contains(f.Reason, "is an export of "+product+", not of "+other)
			}) {
				t.Errorf("%s as %s: %+v", product, other, p.Faults)
			}
		}
	}
}

// A file tells by itself who has written it; what is not plain is nobody's.
func TestWrittenBy(t *testing.T) {
	for path, want := range map[string]string{
		"testdata/mem0/get_all.json":                  "mem0",
		"testdata/mem0/memories_export_carla.zip":     "mem0",
		"testdata/letta/agent.af":                     "letta",
		"testdata/mem0":                               "",
		"testdata/no such file":                       "",
		file(t, "notes.json", `[{"title":"Boiler"}]`): "",
		file(t, "notes.md", "# Boiler"):               "",
		file(t, "notes.json", `[{"id":"1","text":`):   "",
	} {
		if got := WrittenBy(path); got != want {
			t.Errorf("%s is of %q, want %q", path, got, want)
		}
	}
}

// What a product says beside the text is metadata under its own name; what has no
// counterpart is reported.
func TestFieldsAreKeptOrToldOf(t *testing.T) {
	p := planned(t, "mem0", "testdata/mem0")
	m := metadataOf(t, of(t, p.sent(t), "mem0:7f3a1c52-0b1e-4f6d-9a58-6d0f3c1a9e01"))
	want := `{"agent":"concierge","categories":["travel","preferences"],"confidence":0.9,"source":"mem0",` +
		`"topic":"travel","updatedAt":"2025-03-05T17:00:00.000Z"}`
	if got, err := json.Marshal(m); err != nil || string(got) != want {
		t.Errorf("metadata %s, want %s", got, want)
	}
	if p.Fields["hash"] != 2 {
		t.Errorf("fields without a counterpart: %v", p.Fields)
	}
	relation := of(t, p.sent(t), "mem0:relation:"+mark("ann", "ann", "lives_in", "lisbon"))
	if relation.item.Content != "ann lives in lisbon." || relation.user != "ann" {
		t.Errorf("the relation is %+v", relation)
	}
	graph := planned(t, "graphiti", "testdata/graphiti").sent(t)
	m = metadataOf(t, of(t, graph, "graphiti:f0000000-0000-4000-8000-000000000001"))
	if m["relation"] != "WORKS_AT" || m["from"] != "Dora" || m["to"] != "Acme" {
		t.Errorf("a fact's metadata %v", m)
	}
	m = metadataOf(t, of(t, graph, "graphiti:f0000000-0000-4000-8000-000000000004"))
	if m["validUntil"] != "2031-05-01T00:00:00.000Z" {
		t.Errorf("a fact that will end: %v", m)
	}
}

// What rests on another note is sent behind it, and names only what is taken.
func TestGroundsComeFirst(t *testing.T) {
	all := planned(t, "hindsight", "testdata/hindsight").sent(t)
	at := map[string]int{}
	for i, n := range all {
		at[n.item.ExternalID] = i
		for _, g := range n.item.DerivedFrom {
			if where, there := at[g]; !there || where >= i {
				t.Errorf("%s comes before its ground %s", n.item.ExternalID, g)
			}
		}
	}
	if n := of(t, all, "hindsight:90000000-0000-4000-8000-000000000009"); len(n.item.DerivedFrom) != 2 {
		t.Errorf("the observation rests on %v", n.item.DerivedFrom)
	}
	if n := of(t, all, "hindsight:90000000-0000-4000-8000-000000000021"); len(n.item.DerivedFrom) != 0 {
		t.Errorf("a fact rests on what is not there: %v", n.item.DerivedFrom)
	}
}

// Banks give their documents the same ids: in one memory each keeps its own, and what rests
// on them rests on its own.
func TestHindsightBanksInOneMemory(t *testing.T) {
	dir := t.TempDir()
	for _, bank := range []string{"ann", "bob"} {
		for name, content := range map[string]string{
			"manifest.json": `{"source_bank_id":"` + bank + `"}`,
			"documents/000001.json": `{"id":"diary","original_text":"Of ` + bank + `.","facts":[` +
				`{"text":"A fact of ` + bank + `.","fact_type":"world"}]}`,
			"observations.json": `[{"text":"` + bank + ` writes.","proof_count":1,"sources":[` +
				`{"document_id":"diary","fact_index":0}]}]`,
		} {
			at := filepath.Join(dir, bank, name)
			if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	found, err := Find([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	p, err := Read(t.Context(), found, Options{From: "hindsight", Now: now, Merge: true})
	if err != nil || p.Notes != 6 || len(p.Left) != 0 || len(p.Faults) != 0 {
		t.Fatalf("%+v, %v", p.Report, err)
	}
	all := p.sent(t)
	for _, bank := range []string{"ann", "bob"} {
		if n := of(t, all, "hindsight:"+bank+"/diary[0]"); n.item.Content != "A fact of "+bank+"." ||
			!slices.Equal(n.item.DerivedFrom, []string{"hindsight:" + bank + "/diary"}) {
			t.Errorf("%+v", n)
		}
		i := slices.IndexFunc(all, func(n note) bool { return n.item.Content == bank+" writes." })
		if i < 0 || !slices.Equal(all[i].item.DerivedFrom, []string{"hindsight:" + bank + "/diary[0]"}) {
			t.Errorf("the observation of %s in %+v", bank, all)
		}
	}
}

// Agents of one name stay apart, in whatever file they are, and the report says so; so do
// their blocks and files where all goes into one memory.
func TestLettaAgentsOfOneName(t *testing.T) {
	agent := func(n int) string {
		return fmt.Sprintf(`{"id":"agent-%d","name":"ida","block_ids":["block-%[1]d"],"messages":[`+
			`{"id":"message-%[1]d","role":"user","content":"I am the one of place %[1]d.","created_at":"2025-01-01T00:00:00Z"}]}`, n)
	}
	block := func(n int, words string) string {
		return fmt.Sprintf(`{"id":"block-%d","label":"human","value":%q}`, n, words)
	}
	dir := t.TempDir()
	for name, content := range map[string]string{
		"one.af": `{"agents":[` + agent(0) + `],"blocks":[` + block(0, "Paints.") + `],"files":[` +
			`{"id":"file-0","file_name":"notes.txt","content":"Of one."}]}`,
		"two.af": `{"agents":[` + agent(0) + `,` + agent(1) + `],"blocks":[` + block(0, "Sails.") + `,` + block(1, "Bakes.") +
			`],"files":[{"id":"file-0","file_name":"notes.txt","content":"Of two."}]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := planned(t, "letta", dir)
	whose := map[string]string{}
	for _, n := range p.sent(t) {
		whose[n.item.Content] = n.user
	}
	for words, user := range map[string]string{
		"Paints.": "ida (one.af/agent-0)", "Sails.": "ida (two.af/agent-0)", "Bakes.": "ida (two.af/agent-1)",
		"User: I am the one of place 1.": "ida (two.af/agent-1)", "Of one.": "ida (one.af/agent-0)",
	} {
		if whose[words] != user {
			t.Errorf("%q is of %q, want %q", words, whose[words], user)
		}
	}
	told := 0
	for _, f := range p.Faults {
		if strings.Contains(f.Reason, "other agents have, too") {
			told++
		}
	}
	if told != 3 || p.Notes != 8 {
		t.Errorf("%d notes, told %d times: %+v", p.Notes, told, p.Faults)
	}
	// Files of one name in two folders are two agents, too.
	raw, err := os.ReadFile(filepath.Join(dir, "one.af"))
	if err != nil {
		t.Fatal(err)
	}
	if p := planned(t, "letta", file(t, "a.af", string(raw)), file(t, "a.af", string(raw))); len(p.Users) != 2 {
		t.Errorf("files of one name: %+v", p.Users)
	}
	// Each file by itself, one after the other, into one memory: nothing takes another's place.
	ids := map[string]string{}
	for _, name := range []string{"one.af", "two.af"} {
		for _, n := range planned(t, "letta", filepath.Join(dir, name)).sent(t) {
			if was, there := ids[n.item.ExternalID]; there && was != n.item.Content {
				t.Errorf("%s is %q and %q", n.item.ExternalID, was, n.item.Content)
			}
			ids[n.item.ExternalID] = n.item.Content
		}
	}
	if p := planned(t, "letta", "testdata/letta"); len(p.Faults) != 0 || p.Users[1].User != "ida" {
		t.Errorf("one agent of a name: %+v", p.Report)
	}
}

func TestTimes(t *testing.T) {
	for in, want := range map[string]string{
		"2025-03-04T09:15:00.123456-07:00": "2025-03-04T16:15:00.123Z",
		"2025-03-04T09:15:00":              "2025-03-04T09:15:00.000Z",
		"2025-03-04 09:15:00.5+00:00":      "2025-03-04T09:15:00.500Z",
		"2025-03-04":                       "2025-03-04T00:00:00.000Z",
		"1741079700":                       "2025-03-04T09:15:00.000Z",
		"1741079700.25":                    "2025-03-04T09:15:00.250Z",
		"1741079700000":                    "2025-03-04T09:15:00.000Z",
		"1741079700000000":                 "2025-03-04T09:15:00.000Z",
		"0001-01-01T00:00:00Z":             "",
		"yesterday":                        "",
		"NaN":                              "",
		"2025-13-45T00:00:00Z":             "",
	} {
		if at, _ := instant(in); stamp(at) != want {
			if _, ok := instant(in); ok || want != "" {
				t.Errorf("%q is %q, want %q", in, stamp(at), want)
			}
		}
	}
}

func repeated(n int) string { return strings.Repeat("x", n) }

// Bad input: each has a line in the report, and what is sound is taken.
func TestBadInput(t *testing.T) {
	good := `{"id":"%d","memory":"note %d","user_id":"ann","created_at":"2025-01-01T00:00:00Z"}`
	records := func(n ...int) string {
		var all []string
		for _, i := range n {
			all = append(all, fmt.Sprintf(good, i, i))
		}
		return strings.Join(all, ",")
	}
	long := `{"id":"9","memory":"` + strings.Repeat("x", 2*maxRecord) + `","user_id":"ann"}`
	for name, c := range map[string]struct {
		file, content string
		notes         int
		fault         string
	}{
		"cut off":       {"a.json", `{"results":[` + records(1, 2) + `,{"id":"3","mem`, 2, "broken JSON"},
		"broken":        {"a.json", `{"results":[` + records(1) + `,}`, 1, "broken JSON at byte"},
		"no JSON":       {"a.json", `hello`, 0, "broken JSON"},
		"a text":        {"a.json", `"hello"`, 0, "holds no records"},
		"white space":   {"a.json", "  \n", 0, "holds no records"},
		"numbers":       {"a.json", `[1,` + records(1) + `]`, 1, "is no object"},
		"too long":      {"a.json", `[` + records(1) + `,` + long + `,` + records(2) + `]`, 1, "more than 16 MiB"},
		"too long line": {"a.jsonl", records(1) + "\n" + long + "\n" + records(2) + "\n", 2, "is longer than 16 MiB"},
		"broken line":   {"a.jsonl", records(1) + "\n{\"id\":\n" + records(2), 2, "is broken JSON"},
		"wrong date":    {"a.json", `[{"id":"1","memory":"m","created_at":"soon"}]`, 1, `without it: created_at "soon"`},
		"wrong user":    {"a.json", `[{"id":"1","memory":"m","user_id":"a\u0007b"}]`, 0, "no subject can have"},
		"longest user":  {"a.json", `[{"id":"1","memory":"m","user_id":"` + repeated(257) + `"}]`, 0, "no subject can have"},
		"large metadata": {
			"a.json", `[{"id":"1","memory":"m","metadata":{"big":"` + repeated(70_000) + `","small":1}}]`, 1,
			"without its field big",
		},
		"longest text": {"a.json", `[{"memory":"` + repeated(maxContent+1) + `"}]`, 0, "longer than 5000000 characters"},
		"broken gzip":  {"a.json.gz", "\x1f\x8bnothing", 0, "gzip"},
		"broken zip":   {"a.zip", "PK\x03\x04nothing", 0, "ZIP archive that cannot be read"},
		"empty":        {"a.json", "", 0, "is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			p := planned(t, "mem0", file(t, c.file, c.content))
			if p.Notes != c.notes || len(p.sent(t)) != c.notes {
				t.Errorf("%d notes, %d sent, want %d", p.Notes, len(p.sent(t)), c.notes)
			}
			if !slices.ContainsFunc(p.Faults, func(f Fault) bool { return strings.Contains(f.Reason, c.fault) }) {
				t.Errorf("faults %+v lack %q", p.Faults, c.fault)
			}
			if len(p.Faults) != 1 {
				t.Errorf("it is told %d times: %+v", len(p.Faults), p.Faults)
			}
		})
	}
}

// Odd values of fields that are not needed cost the note nothing.
func TestOddValues(t *testing.T) {
	p := planned(t, "mem0", file(t, "odd.json", `[{"id":7,"memory":"m\u0000\ud800","user_id":42,"categories":"one",`+
		`"metadata":"text","created_at":1741079700,"score":[],"extra":{"deep":[{"x":null}]},"nothing":null}]`))
	n := p.sent(t)[0]
	m := metadataOf(t, n)
	if n.item.Content != "m\ufffd" || n.user != "42" || n.item.ExternalID != "mem0:7" ||
		n.item.OccurredAt != "2025-03-04T09:15:00.000Z" || m["metadata"] != "text" ||
		fmt.Sprint(m["categories"]) != "[one]" || m["extra"] == nil || len(p.Faults) != 0 {
		t.Errorf("%+v with %v, faults %v", n, m, p.Faults)
	}
}

// A file that is not the only one of a folder has to be JSON, and what a product passes over
// is not opened.
func TestWhatIsPassedOver(t *testing.T) {
	p := planned(t, "cognee", "testdata/cognee")
	for _, f := range p.Passed {
		if strings.Contains(f.Path, "permissions.json") && strings.Contains(f.Reason, "is not opened") {
			return
		}
	}
	t.Errorf("passed over: %+v", p.Passed)
}

func TestUnknownExport(t *testing.T) {
	for name, content := range map[string]string{"settings": `{"a":1}`, "list": `[{"a":1}]`, "two": ``} {
		paths := []string{file(t, "a.json", content)}
		if name == "two" {
			paths = []string{"testdata/mem0", "testdata/zep"}
		}
		found, err := Find(paths)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Read(t.Context(), found, Options{From: Auto, Now: now})
		if err == nil || !strings.Contains(err.Error(), "--from") {
			t.Errorf("%s: %v", name, err)
		}
		if err := found.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := Find([]string{"testdata/not there"}); err == nil {
		t.Error("a path that does not exist is taken for an empty folder")
	}
}

// records writes an export without end.
type records struct {
	n, left int
	rest    []byte
}

func (r *records) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		switch {
		case r.left < 0:
			return 0, io.EOF
		case r.n == 0:
			r.rest = []byte(`{"results":[`)
		case r.left == 0:
			r.rest = []byte(`]}`)
			r.left = -1
		default:
			if r.n > 1 {
				r.rest = []byte(",")
			}
			r.rest = fmt.Appendf(r.rest, `{"id":"%d","memory":"note %d %s","user_id":"u%d"}`, r.n, r.n, repeated(10_000), r.n%50)
			r.left--
		}
		r.n++
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// Memory does not grow with the size of a file: a hundred megabytes are read in less than 16 MiB.
func TestMemoryIsBounded(t *testing.T) {
	const n = 10_000
	in := Input{Name: "large.json", base: "large.json", open: func() (io.ReadCloser, error) {
		return io.NopCloser(&records{left: n}), nil
	}}
	var most uint64
	looks := 0
	p := product{name: "mem0", layout: mem0().layout}
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	err := p.read(in, func(_, _, reason string) { t.Error(reason) }, func(entry) error {
		if looks++; looks%1000 == 0 {
			runtime.GC()
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapAlloc-min(before.HeapAlloc, now.HeapAlloc))
		}
		return nil
	})
	if err != nil || looks != n+1 || most > 16<<20 {
		t.Errorf("%d records, %d bytes held, %v", looks, most, err)
	}
}

func TestReadStops(t *testing.T) {
	found, err := Find([]string{"testdata/mem0"})
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Read(ctx, found, Options{From: "mem0", Now: now}); err == nil {
		t.Error("it goes on")
	}
}
