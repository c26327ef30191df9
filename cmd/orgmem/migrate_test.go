package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orgmem/cmd/orgmem/internal/vault"
	"orgmem/cmd/orgmem/process"
)

// told is a note as an export has it.
type told struct {
	ID, Kind, Title, Content, Status, OccurredAt, CreatedAt string
	Source                                                  struct{ ExternalIDs []string }
	Metadata                                                json.RawMessage
	Derived                                                 json.RawMessage
}

// notesOf are the notes of an organization that were taken in, by their subject ("" for a
// member) and external id.
func notesOf(t *testing.T, c caller) map[string]told {
	t.Helper()
	var doc struct {
		Partitions []struct {
			Subject string
			Nodes   []told
			Edges   []struct{ Source, Target, Type string }
		}
	}
	if err := json.Unmarshal(c.exported(t, "org"), &doc); err != nil {
		t.Fatal(err)
	}
	notes := map[string]told{}
	for _, p := range doc.Partitions {
		for _, n := range p.Nodes {
			if n.Kind == "entity" || len(n.Derived) > 0 {
				continue
			}
			for _, id := range n.Source.ExternalIDs {
				if notes[p.Subject+" "+id].Status != "live" { // else it is what took this one's place
					notes[p.Subject+" "+id] = n
				}
			}
			if len(n.Source.ExternalIDs) == 0 {
				notes[p.Subject+" content "+n.Content] = n
			}
		}
		for _, e := range p.Edges {
			if e.Type == "derived_from" {
				notes["derived_from "+e.Source+" "+e.Target] = told{}
			}
		}
	}
	return notes
}

// derived reports whether a note of a subject rests on another.
func derived(notes map[string]told, subject, from, to string) bool {
	_, ok := notes["derived_from "+notes[subject+" "+from].ID+" "+notes[subject+" "+to].ID]
	return ok
}

func fixture(product string) string { return filepath.Join("internal", "migrate", "testdata", product) }

// wanted is a note that an import must have made.
type wanted struct{ subject, id, content, at string }

// migrations are the fixtures' notes that are looked for, and words that must be nowhere.
var migrations = map[string]struct {
	notes  int
	wanted []wanted
	absent []string
	rests  [][3]string // subject, note, ground
}{
	"mem0": {
		5,
		[]wanted{
			{"ann", "mem0:7f3a1c52-0b1e-4f6d-9a58-6d0f3c1a9e01", "Prefers the window seat", "2025-03-04T16:15:00.123Z"},
			{"bob", "mem0:7f3a1c52-0b1e-4f6d-9a58-6d0f3c1a9e02", "hazelnuts", "2025-02-01T08:00:00.000Z"},
			{"", "mem0:7f3a1c52-0b1e-4f6d-9a58-6d0f3c1a9e04", "short sentences", "2025-02-03T08:00:00.000Z"},
			{"carla", "mem0:c0ffee00-0000-4000-8000-000000000001", "bees", "2025-05-01T12:00:00.000Z"},
		},
		[]string{"library card", "walnuts", "goats"},
		nil,
	},
	"zep": {
		3,
		[]wanted{
			{"emil", "zep:d0000000-0000-4000-8000-000000000003", "Emil repairs clocks", "2025-02-01T00:00:00.000Z"},
			{"emil", "zep:d0000000-0000-4000-8000-000000000005", "Emil: From now on", "2025-02-01T18:00:00.000Z"},
			{"", "zep:d0000000-0000-4000-8000-000000000009", "Frida: My bakery", "2024-11-01T07:00:00.000Z"},
		},
		[]string{"radios"},
		[][3]string{{"emil", "zep:d0000000-0000-4000-8000-000000000003", "zep:d0000000-0000-4000-8000-000000000005"}},
	},
	"graphiti": {
		4,
		[]wanted{
			{"dora", "graphiti:e0000000-0000-4000-8000-000000000001", "Dora: I moved", "2025-05-30T09:30:00.000Z"},
			{"dora", "graphiti:f0000000-0000-4000-8000-000000000001", "works at Acme", "2025-05-01T00:00:00.000Z"},
			{"dora", "graphiti:f0000000-0000-4000-8000-000000000004", "visa", "2025-01-01T00:00:00.000Z"},
			{"dora", "graphiti:a0000000-0000-4000-8000-000000000001", "Dora: Dora works", "2025-06-01T10:00:00.000Z"},
		},
		[]string{"lives in Porto", "garage"},
		[][3]string{{
			"dora", "graphiti:f0000000-0000-4000-8000-000000000001", "graphiti:e0000000-0000-4000-8000-000000000001",
		}},
	},
	"supermemory": {
		3,
		[]wanted{
			{"", "supermemory:doc1", "Boats over nine", "2025-07-01T06:00:00.000Z"},
			{"", "supermemory:mem1", "east quay", "2025-07-02T06:00:00.000Z"},
			{"greta", "supermemory:acxV5LHMEsG2hMSNb4umbn", "14 knots", "2025-01-05T05:00:00.000Z"},
		},
		[]string{"west quay", "Ole"},
		nil,
	},
	"hindsight": {
		5,
		[]wanted{
			{"henk", "hindsight:henk/standup/1", "Henk: the crane", "2025-08-06T08:00:00.000Z"},
			{"henk", "hindsight:90000000-0000-4000-8000-000000000001", "back in the yard", "2025-08-04T00:00:00.000Z"},
			{"henk", "hindsight:henk/standup/1[1]", "oils the crane", "2025-08-06T08:00:00.000Z"},
			{"henk", "hindsight:90000000-0000-4000-8000-000000000009", "looks after", "2025-08-06T08:00:00.000Z"},
			{"", "hindsight:90000000-0000-4000-8000-000000000021", "icy", "2025-01-09T00:00:00.000Z"},
		},
		[]string{"slipway is closed"},
		[][3]string{
			{"henk", "hindsight:90000000-0000-4000-8000-000000000001", "hindsight:henk/standup/1"},
			{"henk", "hindsight:90000000-0000-4000-8000-000000000009", "hindsight:90000000-0000-4000-8000-000000000001"},
			{"henk", "hindsight:90000000-0000-4000-8000-000000000009", "hindsight:henk/standup/1[1]"},
		},
	},
	"letta": {
		5,
		[]wanted{
			{"ida", "letta:block:ida/agent.af/agent-0/human", "paints lighthouses", ""},
			{"ida", "letta:block:ida/agent.af/agent-0/persona", "patient assistant", ""},
			{"ida", "letta:file:ida/agent.af/agent-0/tides_1a2b.txt", "High water", "2025-03-02T00:00:00.000Z"},
			{"", "letta:passage-10000000-0000-4000-8000-000000000001", "fog horn", "2025-04-03T00:00:00.000Z"},
		},
		[]string{"Gone.", `{"status": "OK"}`},
		nil,
	},
	"cognee": {
		4,
		[]wanted{
			{"jon", "cognee:c4444444-4444-4444-8444-444444444444", "Jon rents the boathouse from", "2025-09-01T07:00:00.000Z"},
			{
				"jon", "cognee:c1111111-1111-4111-8111-111111111111:rents:c2222222-2222-4222-8222-222222222222",
				"Jon rents boathouse.", "2023-05-01T00:00:00.000Z",
			},
			{"", "cognee:c5555555-5555-4555-8555-555555555555", "regatta", "2025-09-02T08:00:00.000Z"},
		},
		[]string{"owns the boathouse", "hash"},
		[][3]string{{
			"jon", "cognee:c1111111-1111-4111-8111-111111111111:rents:c2222222-2222-4222-8222-222222222222",
			"cognee:c4444444-4444-4444-8444-444444444444",
		}},
	},
}

// freshOrg makes an organization and a machine whose key is its owner's.
func freshOrg(t *testing.T, p *process.Process, data, name string) (*machine, caller, string) {
	t.Helper()
	m := newMachine(t)
	m.env["ORGMEM_OPERATOR"], m.env["ORGMEM_DATA"] = p.OperatorURL, data
	made := m.ok("org", "create", "--name", name, "--owner-email", name+"@example.com", "--plan", "unlimited")
	key := made["apiKey"].(string)
	m.env["ORGMEM_API_KEY"], m.env["ORGMEM_BASE_URL"] = key, p.BaseURL
	return m, caller{base: p.BaseURL, key: key}, made["orgId"].(string)
}

// What each product exports is taken in, each user's into a subject, at its time, and what
// is over does not come back. A second run changes nothing, with its journal or without.
func TestMigrations(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	p := start(t, data, process.Options{})
	for _, product := range slices.Sorted(maps.Keys(migrations)) {
		t.Run(product, func(t *testing.T) {
			want := migrations[product]
			m, c, _ := freshOrg(t, p, data, product)
			args := []string{"import", "--from", product, fixture(product)}
			if dry := m.ok(append(args, "--dry-run")...); dry["notes"] != float64(want.notes) || dry["created"] != nil {
				t.Errorf("dry run %v", dry)
			}
			if before := notesOf(t, c); len(before) != 0 {
				t.Fatalf("the dry run has made %v", before)
			}
			sum := m.ok(args...)
			if sum["created"] != float64(want.notes) || len(sum["failed"].([]any))+len(sum["faults"].([]any)) != 0 {
				t.Errorf("import %v", sum)
			}
			notes := notesOf(t, c)
			held, err := json.Marshal(slices.Collect(maps.Values(notes)))
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range want.wanted {
				n, ok := notes[w.subject+" "+w.id]
				if !ok || !strings.Contains(n.Content, w.content) || w.at != "" && n.OccurredAt != w.at || n.Status != "live" {
					t.Errorf("%v is %+v", w, n)
				}
			}
			for _, words := range want.absent {
				if strings.Contains(string(held), words) {
					t.Errorf("%q has come back", words)
				}
			}
			for _, r := range want.rests {
				if !derived(notes, r[0], r[1], r[2]) {
					t.Errorf("%s of %q does not rest on %s", r[1], r[0], r[2])
				}
			}
			for _, journal := range []string{"kept", "lost"} {
				if journal == "lost" {
					m.env["XDG_STATE_HOME"] = t.TempDir()
				}
				again := m.ok(args...)
				if again["unchanged"] != float64(want.notes) || again["created"] != 0.0 || again["superseded"] != 0.0 {
					t.Errorf("journal %s: the second run %v", journal, again)
				}
				if now := notesOf(t, c); !slices.Equal(slices.Sorted(maps.Keys(now)), slices.Sorted(maps.Keys(notes))) {
					t.Errorf("journal %s: the second run has changed the notes", journal)
				}
			}
		})
	}
}

// What was forgotten since does not come back with a second run; what was changed in the
// product takes the place of what it was; and a key that may not provision is told so before
// anything is sent.
func TestMigrationAgain(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	p := start(t, data, process.Options{})
	m, c, org := freshOrg(t, p, data, "again")
	file := filepath.Join(t.TempDir(), "mem0.json")
	write := func(second string) {
		t.Helper()
		raw := fmt.Sprintf(`{"results":[{"id":"1","memory":"The gate is green","user_id":"ann",`+
			`"created_at":"2025-01-01T00:00:00Z"},`+
			`{"id":"2","memory":%q,"user_id":"ann","created_at":"2025-01-02T00:00:00Z"},`+
			`{"id":"3","memory":"The bell is brass","user_id":"a/b ü","created_at":"2025-01-03T00:00:00Z"}]}`, second)
		if err := os.WriteFile(file, []byte(raw), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("The fence is low")
	me := c.must(t, http.StatusOK, http.MethodGet, "/v1/me", nil)
	member := me["user"].(map[string]any)["id"].(string)
	weak := m.ok("key", "create", org, "--user", member, "--scopes", "read,write", "--label", "x")
	owner := m.env["ORGMEM_API_KEY"]
	m.env["ORGMEM_API_KEY"] = weak["apiKey"].(string)
	r := m.run("import", "--from", "mem0", file)
	if r.status != exitFailed || !strings.Contains(r.err, "subjects:provision") ||
		!strings.Contains(r.err, "a/b ü, ann") || !strings.Contains(r.err, "--merge-users") {
		t.Errorf("without the scope: %+v", r)
	}
	if notes := notesOf(t, c); len(notes) != 0 {
		t.Errorf("it has sent %v", notes)
	}
	m.env["ORGMEM_API_KEY"] = owner
	if sum := m.ok("import", "--from", "mem0", file); sum["created"] != 3.0 {
		t.Fatalf("import %v", sum)
	}
	first := notesOf(t, c)["ann mem0:1"]
	r2 := c.as("ann").send(t.Context(), http.MethodDelete, "/v1/graph/nodes/"+first.ID, "", nil)
	if r2.Status/100 != 2 {
		t.Fatalf("forget: %d %s", r2.Status, r2.Body)
	}
	write("The fence is high")
	if sum := m.ok("import", "--from", "mem0", file); sum["superseded"] != 1.0 || sum["unchanged"] != 2.0 {
		t.Errorf("the second run %v", sum)
	}
	notes := notesOf(t, c)
	if n := notes["ann mem0:1"]; n.Status == "live" {
		t.Errorf("what was forgotten is back: %+v", n)
	}
	if n := notes["ann mem0:2"]; n.Content != "The fence is high" {
		t.Errorf("what was changed is %+v", n)
	}
	// An erased subject stays erased, and the report says so, until the command line asks for it.
	if r := c.send(t.Context(), http.MethodDelete, "/v1/subjects/ann", "", nil); r.Status/100 != 2 {
		t.Fatalf("erase: %d %s", r.Status, r.Body)
	}
	again := m.run("import", "--from", "mem0", file)
	if again.status != exitDone || !strings.Contains(again.out, "not provisioned again: ann") ||
		!strings.Contains(again.out, "2 notes that were forgotten") || !strings.Contains(again.out, "--again") {
		t.Errorf("after the erasure: %+v", again)
	}
	if r := c.send(t.Context(), http.MethodGet, "/v1/subjects/ann", "", nil); r.Status != http.StatusNotFound {
		t.Errorf("an erased subject is back: %d %s", r.Status, r.Body)
	}
	if sum := m.ok("import", "--from", "mem0", "--again", file); sum["created"] != 2.0 || sum["unchanged"] != 1.0 {
		t.Errorf("when asked: %v", sum)
	}
	if sum := m.ok("import", "--from", "mem0", "--merge-users", file); sum["created"] != 3.0 {
		t.Errorf("into one memory: %v", sum)
	}
	if n := notesOf(t, c)[" mem0:3"]; n.Content != "The bell is brass" {
		t.Errorf("in the owner's memory: %+v", n)
	}
}

// A command line that cannot be carried out is refused with a word on what to do.
func TestMigrationUsage(t *testing.T) {
	m := newMachine(t)
	own := t.TempDir()
	if err := os.WriteFile(filepath.Join(own, vault.Manifest), []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"import":                              "requires at least 1 arg",
		"import --from nothing x":             "there are mem0",
		"import --dry-run x":                  "--dry-run goes with --from",
		"import --merge-users x":              "--merge-users goes with --from",
		"import --from mem0 --url http://a x": "--url takes no PATH",
		"import --from orgmem --url http://a": "of others export to a file",
		"import --from mem0 --user ann x":     "--user goes with --url",
		"import " + own + " " + t.TempDir():   "apart from the others",
		"export":                              "accepts 1 arg",
		"export --format xml x":               "there are json and markdown",
		"export --all --subject ann x":        "exclude each other",
	} {
		if r := m.run(strings.Fields(args)...); r.status != exitUsage || !strings.Contains(r.err, want) {
			t.Errorf("%s: %+v, want %q", args, r, want)
		}
	}
}

// A server that answers no JSON, or nobody: the command says so, and leaves no file behind.
func TestMigrationFromServer(t *testing.T) {
	m := newMachine(t)
	t.Setenv("TMPDIR", t.TempDir())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key") != "theirs" {
			t.Errorf("%s without the key", r.URL)
		}
		if r.URL.Path != "/memories" { // of mem0's platform
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"results":[{"id":"1","memory":"The door is red","user_id":"ann"}]}`)
	}))
	t.Cleanup(server.Close)
	m.env["ORGMEM_FROM_KEY"] = "theirs"
	sum := m.ok("import", "--from", "mem0", "--url", server.URL, "--dry-run")
	if sum["notes"] != 1.0 || sum["users"].([]any)[0].(map[string]any)["subject"] != "ann" {
		t.Errorf("%v", sum)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) != 0 {
		t.Errorf("it leaves %v, %v", left, err)
	}
}

// One of a thing is said in the singular.
func TestMarkdownIsSaidGrammatically(t *testing.T) {
	for said, sum := range map[string]vault.Summary{
		"1 memory, 1 note, 1 page of an entity; 0 superseded and 1 forgotten note is not in it": {
			Memories: 1, Notes: 1, Entities: 1, Forgotten: 1,
		},
		"2 memories, 0 notes, 3 pages of entities; 4 superseded and 0 forgotten notes are not in it": {
			Memories: 2, Entities: 3, Superseded: 4,
		},
	} {
		if got := sayMarkdown(sum); got != said {
			t.Errorf("%+v is %q", sum, got)
		}
	}
}

// A memory that is written as Markdown comes back from it: contents, titles, times, external
// ids and metadata.
func TestMarkdownRoundTrip(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	p := start(t, data, process.Options{})
	m, c, _ := freshOrg(t, p, data, "from")
	c.must(t, http.StatusCreated, http.MethodPut, "/v1/subjects/Ann%20%2F%20B", nil)
	c.must(t, http.StatusCreated, http.MethodPut, "/v1/subjects/bob", nil)
	items := []map[string]any{
		{
			"content":    "---\nkey: value\n---\n\n# A head of its own\r\nand odd ends \t\n\n",
			"title":      `A "title": with [[brackets]] | and #`,
			"externalId": "one/of: them", "kind": "belief", "occurredAt": "2021-02-03T04:05:06.789Z",
			"metadata": map[string]any{
				"deep": map[string]any{"n": 1, "s": "a\nb", "none": nil}, "id": "mine", "title": "theirs", "x": []any{1, "2"},
			},
		},
		{"content": "Marit Dahl keeps the ledger at Fjord Bank.", "title": "CON", "externalId": "two"},
		{"content": "No title, no id, no end of line"},
		{"content": "日本語のメモ。", "title": "日本語/の?題", "externalId": "三", "metadata": map[string]any{"言": "語"}},
	}
	for _, who := range []string{"", "Ann / B", "bob"} {
		as := c.as(who)
		job := as.must(t, http.StatusAccepted, http.MethodPost, "/v1/ingest/batch", map[string]any{"items": items})
		if done := as.finished(t, job["jobId"].(string)); done.Status != "done" {
			t.Fatalf("job %+v", done)
		}
	}
	before := notesOf(t, c)
	dir := t.TempDir()
	all, mine, ann := filepath.Join(dir, "all"), filepath.Join(dir, "own"), filepath.Join(dir, "ann")
	m.ok("export", "--format", "markdown", "--all", all)
	m.ok("export", "--format", "markdown", mine)
	sum := m.ok("export", "--format", "markdown", "--subject", "Ann / B", ann)
	if md := sum["markdown"].(map[string]any); md["memories"] != 1.0 || md["notes"] != float64(len(items)) {
		t.Errorf("export of a subject: %v", sum)
	}
	r := m.run("export", "--format", "markdown", mine)
	if r.status != exitFailed || !strings.Contains(r.err, "not empty") {
		t.Errorf("into a folder that holds one: %+v", r)
	}
	m2, c2, _ := freshOrg(t, p, data, "to")
	sum = m2.ok("import", all)
	if sum["created"] != float64(2*len(items)) || sum["from"] != "orgmem" {
		t.Errorf("import of all: %v", sum)
	}
	if sum := m2.ok("import", mine); sum["created"] != float64(len(items)) {
		t.Errorf("import of the own: %v", sum)
	}
	after := notesOf(t, c2)
	compareNotes(t, before, after)
	for _, folder := range []string{all, mine} {
		if sum := m2.ok("import", folder); sum["created"] != 0.0 || sum["superseded"] != 0.0 {
			t.Errorf("a second import: %v", sum)
		}
	}
	// Back into the memory where it is from: nothing is new there.
	if sum := m.ok("import", all); sum["created"] != 0.0 {
		t.Errorf("import into where it is from: %v", sum)
	}
	compareNotes(t, before, notesOf(t, c))
	doc := filepath.Join(dir, "doc.json")
	m.ok("export", doc)
	raw, err := os.ReadFile(doc)
	if err != nil || !json.Valid(raw) || !strings.Contains(string(raw), "Fjord Bank") {
		t.Errorf("the document: %v", err)
	}
	if r := m.run("export", doc); r.status != exitFailed || !strings.Contains(r.err, "is there already") {
		t.Errorf("over a file: %+v", r)
	}
	if _, err := os.Stat(filepath.Join(all, vault.Manifest)); err != nil {
		t.Error(err)
	}
}

func compareNotes(t *testing.T, before, after map[string]told) {
	t.Helper()
	n := 0
	for key, was := range before {
		if strings.HasPrefix(key, "derived_from ") {
			continue
		}
		n++
		is := after[key]
		at := was.OccurredAt
		if at == "" {
			at = was.CreatedAt
		}
		if is.Content != was.Content || is.Title != was.Title || is.Kind != was.Kind ||
			is.OccurredAt != at && is.OccurredAt != was.OccurredAt ||
			string(is.Metadata) != string(was.Metadata) || !slices.Equal(is.Source.ExternalIDs, was.Source.ExternalIDs) {
			t.Errorf("%q: %+v was %+v", key, is, was)
		}
	}
	if n == 0 {
		t.Error("there is nothing to compare")
	}
}
