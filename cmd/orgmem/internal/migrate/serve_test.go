package migrate

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"orgmem/proto/clock"
)

// jumping is a clock on which every wait is over at once.
type jumping struct{ *clock.Fake }

func (j jumping) NewTimer(d time.Duration) clock.ChanTimer {
	t := j.Fake.NewTimer(d)
	j.Advance(d)
	return t
}

// fetched pages through a stand-in of a product's server.
func fetched(t *testing.T, product string, handler http.HandlerFunc, users ...string) (*Plan, *Found, error) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	found, err := Fetch(t.Context(), product, t.TempDir(), Server{
		Base: server.URL + "/", Key: "secret", Users: users, Clock: jumping{clock.NewFake(time.Unix(1_700_000_000, 0))},
	})
	if err != nil {
		return nil, found, err
	}
	p, err := Read(t.Context(), found, Options{From: product, Now: now})
	return p, found, err
}

func answer(w http.ResponseWriter, format string, args ...any) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, format, args...)
}

func TestFetchHindsight(t *testing.T) {
	busy := 0
	p, _, err := fetched(t, "hindsight", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret" {
			t.Errorf("%s without the key", r.URL)
		}
		if busy++; busy == 1 {
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		offset := r.URL.Query().Get("offset")
		switch r.URL.Path {
		case "/v1/default/banks":
			if offset == "0" { // the first hundred, of which only one holds anything
				banks := []string{`{"bank_id":"a b"}`}
				for i := range pageItems - 1 {
					banks = append(banks, fmt.Sprintf(`{"bank_id":"empty %d"}`, i))
				}
				answer(w, `{"banks":[%s],"total":101}`, strings.Join(banks, ","))
				return
			}
			answer(w, `{"banks":[{"bank_id":"last"}],"total":101}`)
		case "/v1/default/banks/last/memories/list":
			answer(w, `{"items":[{"id":"l1","text":"fact of the last bank","fact_type":"world"}]}`)
		case "/v1/default/banks/a b/memories/list":
			var items []string
			for i := range map[string]int{"0": 100, "100": 3}[offset] {
				items = append(items, fmt.Sprintf(`{"id":"%s-%d","text":"fact %[1]s %[2]d","fact_type":"world",`+
					`"document_id":"d/1"}`, offset, i))
			}
			answer(w, `{"items":[%s],"total":103}`, strings.Join(items, ","))
		case "/v1/default/banks/a b/documents":
			answer(w, `{"items":[{"id":"d/1","bank_id":"a b","memory_unit_count":103}]}`)
		case "/v1/default/banks/a b/documents/d/1":
			answer(w, `{"id":"d/1","bank_id":"a b","original_text":"All of it.","created_at":"2025-01-01T00:00:00Z"}`)
		default:
			if !strings.HasPrefix(r.URL.Path, "/v1/default/banks/empty ") && r.URL.Path != "/v1/default/banks/last/documents" {
				t.Errorf("asked for %s", r.URL)
			}
			answer(w, `{"items":[]}`)
		}
	})
	if err != nil || p.Notes != 105 || len(p.Users) != 2 || p.Users[0].Subject != "a b" || p.Users[1].Subject != "last" {
		t.Fatalf("%+v, %v", p, err)
	}
	if n := of(t, p.sent(t), "hindsight:a b/100-2"); len(n.item.DerivedFrom) != 1 {
		t.Errorf("%+v", n)
	}
}

func TestFetchLetta(t *testing.T) {
	p, _, err := fetched(t, "letta", func(w http.ResponseWriter, r *http.Request) {
		after := r.URL.Query().Get("after")
		switch r.URL.Path {
		case "/v1/agents/":
			answer(w, `[{"id":"agent-1","name":"ida"}]`)
		case "/v1/agents/agent-1/core-memory/blocks":
			answer(w, `[{"id":"block-10000000-0000-4000-8000-000000000001","label":"human","value":"Paints."}]`)
		case "/v1/agents/agent-1/archival-memory":
			var all []string
			for i := range map[string]int{"": 100, "passage-99": 1}[after] {
				all = append(all, fmt.Sprintf(`{"id":"passage-%s%d","text":"passage %s %d","archive_id":"x"}`, after, i, after, i))
			}
			answer(w, `[%s]`, strings.Join(all, ","))
		case "/v1/agents/agent-1/messages":
			answer(w, `[{"id":"message-10000000-0000-4000-8000-000000000001","date":"2025-01-01T00:00:00Z",`+
				`"message_type":"user_message","content":"Hello"},`+
				`{"id":"message-2","date":"2025-01-01T00:00:00Z","message_type":"tool_call_message"}]`)
		default:
			t.Errorf("asked for %s", r.URL)
		}
	})
	if err != nil || p.Notes != 103 || p.Users[0].Subject != "ida" || len(p.Users) != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	if n := of(t, p.sent(t), "letta:message-10000000-0000-4000-8000-000000000001"); n.item.Content != "User: Hello" {
		t.Errorf("%+v", n)
	}
}

// Agents of one name become two subjects, and the report says which.
func TestFetchLettaAgentsOfOneName(t *testing.T) {
	p, _, err := fetched(t, "letta", func(w http.ResponseWriter, r *http.Request) {
		agent := strings.Split(r.URL.Path, "/")[3]
		switch {
		case agent == "":
			answer(w, `[{"id":"agent-1","name":"ida"},{"id":"agent-2","name":"ida"},{"id":"agent-3","name":"jon"}]`)
		case strings.HasSuffix(r.URL.Path, "/blocks"):
			answer(w, `[{"id":"block-0","label":"human","value":"Of %s."}]`, agent)
		default:
			answer(w, `[]`)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	whose := map[string]string{}
	for _, n := range p.sent(t) {
		whose[n.user] = n.item.Content
	}
	if whose["ida (agent-1)"] != "Of agent-1." || whose["ida (agent-2)"] != "Of agent-2." || whose["jon"] != "Of agent-3." ||
		len(whose) != 3 || len(p.Faults) != 2 || !strings.Contains(p.Faults[0].Reason, "goes to ida (agent-1)") {
		t.Errorf("%v, %+v", whose, p.Faults)
	}
}

// The server that people run for themselves: one user's, everybody's, and more than one answer holds.
func TestFetchMem0Server(t *testing.T) {
	var many []string
	for i := range mem0Items {
		many = append(many, fmt.Sprintf(`{"id":"%d","memory":"note %d","user_id":"ann"}`, i, i))
	}
	full := strings.Join(many, ",")
	entities := true
	handler := func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		switch {
		case r.URL.Path == "/entities" && entities:
			answer(w, `[{"id":"ann","type":"user","total_memories":1000},{"id":"bob","type":"user","total_memories":1},`+
				`{"id":"concierge","type":"agent","total_memories":1}]`)
		case r.URL.Path != "/memories":
			w.WriteHeader(http.StatusNotFound)
		case r.Header.Get("Authorization") != "Bearer secret" || q.Get("top_k") != "1000":
			t.Errorf("asked %s with %v", r.URL, r.Header)
		case q.Get("user_id") == "bob":
			answer(w, `{"results":[{"id":"b","memory":"note of bob","user_id":"bob"}]}`)
		case q.Get("agent_id") != "":
			answer(w, `{"results":[{"id":"c","memory":"note of nobody","agent_id":"concierge"}]}`)
		default: // everybody's, or ann's
			answer(w, `{"results":[%s]}`, full)
		}
	}
	p, _, err := fetched(t, "mem0", handler, "bob")
	if err != nil || p.Notes != 1 || p.Users[0].Subject != "bob" || len(p.Faults) > 0 {
		t.Errorf("of bob: %+v, %v", p, err)
	}
	p, _, err = fetched(t, "mem0", handler)
	if err != nil || p.Notes != mem0Items+2 || p.Repeated != 0 || len(p.Faults) != 1 ||
		!strings.Contains(p.Faults[0].Reason, "may have more") || p.Faults[0].Part != "ann" {
		t.Errorf("of all: %d notes, %+v, %v", p.Notes, p.Faults, err)
	}
	entities = false
	p, _, err = fetched(t, "mem0", handler)
	if err != nil || p.Notes != mem0Items || len(p.Faults) != 1 {
		t.Errorf("of an older server: %d notes, %+v, %v", p.Notes, p.Faults, err)
	}
	_, _, err = fetched(t, "mem0", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/memories" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.WriteHeader(http.StatusBadRequest)
	})
	if err == nil || !strings.Contains(err.Error(), "name the users with --user") {
		t.Error(err)
	}
}

// The platform: entities and memories in pages, with links that name an address of its own.
func TestFetchMem0Platform(t *testing.T) {
	handler := func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Token secret" {
			t.Errorf("%s with %v", r.URL, r.Header)
		}
		page := r.URL.Query().Get("page")
		switch r.Method + " " + r.URL.Path {
		case "GET /v1/entities/":
			if page == "" {
				answer(w, `{"count":2,"next":"https://api.example.com/v1/entities/?page=2",`+
					`"results":[{"id":"1","name":"ann","type":"user"}]}`)
				return
			}
			answer(w, `{"count":2,"next":null,"results":[{"id":"2","name":"concierge","type":"agent"}]}`)
		case "POST /v3/memories/":
			var asked struct{ Filters map[string]string }
			if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
				t.Error(err)
			}
			if asked.Filters["agent_id"] != "" {
				answer(w, `{"count":1,"next":null,"results":[{"id":"c1","memory":"Brief","agent_id":"concierge"}]}`)
				return
			}
			if asked.Filters["user_id"] != "ann" {
				t.Errorf("asked for %v", asked.Filters)
			}
			if page == "1" {
				answer(w, `{"count":3,"next":"http://x/v3/memories/?page=2","results":[`+
					`{"id":"a1","memory":"Lives in Rome","user_id":"ann","session_id":"s1","replaced_by":"a2",`+
					`"created_at":"2025-01-01T00:00:00Z"},`+
					`{"id":"a2","memory":"Lives in Oslo","user_id":"ann","session_id":"s1","app_id":"shop","replaced_by":null,`+
					`"structured_attributes":{"year":2025},"synthesized":false,"created_at":"2025-02-01T00:00:00Z"}]}`)
				return
			}
			answer(w, `{"count":3,"next":null,"results":[{"id":"a3","memory":"Rows","created_at":"2025-03-01T00:00:00Z"}]}`)
		default:
			t.Errorf("asked %s %s", r.Method, r.URL)
		}
	}
	p, _, err := fetched(t, "mem0", handler)
	if err != nil || p.Notes != 3 || len(p.Users) != 2 || len(p.Left) != 1 ||
		!strings.Contains(p.Left[0].Why, "replaced_by") {
		t.Fatalf("%+v, %v", p, err)
	}
	n := of(t, p.sent(t), "mem0:a2")
	if m := metadataOf(t, n); m["run"] != "s1" || m["app"] != "shop" || m["synthesized"] != nil || n.user != "ann" ||
		n.item.OccurredAt != "2025-02-01T00:00:00.000Z" {
		t.Errorf("%+v with %v", n, m)
	}
	if n := of(t, p.sent(t), "mem0:a3"); n.user != "ann" {
		t.Errorf("a memory that does not say whose it is: %+v", n)
	}
	if p, _, err = fetched(t, "mem0", handler, "ann"); err != nil || p.Notes != 2 {
		t.Errorf("of ann: %+v, %v", p, err)
	}
}

func TestFetchZep(t *testing.T) {
	p, _, err := fetched(t, "zep", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Api-Key secret" || r.Method != http.MethodPost {
			t.Errorf("%s %s with %v", r.Method, r.URL, r.Header)
		}
		switch r.URL.Path + "?" + r.URL.Query().Get("cursor") {
		case "/users/list?":
			answer(w, `{"items":[{"uuid":"u1","user_id":"ann","graph_uuid":"g1"}],"next_cursor":"more"}`)
		case "/users/list?more":
			answer(w, `{"items":[{"uuid":"u2","user_id":"bob","graph_uuid":"g2"}]}`)
		case "/graphs/list?":
			answer(w, `{"items":[{"uuid":"g1","name":"of ann"},{"uuid":"g3","name":"products"}]}`)
		case "/graphs/g1/episodes/list?":
			answer(w, `{"items":[{"uuid":"e1","content":"I moved to Oslo.","role":"user","role_name":"Ann","graph_uuid":"g1",`+
				`"reference_time":"2025-02-01T00:00:00Z"}],"next_cursor":"p2"}`)
		case "/graphs/g1/episodes/list?p2":
			answer(w, `{"items":[{"uuid":"e2","content":"Noted.","role":"assistant","graph_uuid":"g1"}]}`)
		case "/graphs/g1/edges/list?":
			answer(w, `{"items":[{"uuid":"f1","fact":"Ann lives in Oslo","graph_uuid":"g1","episode_uuids":["e1"]},`+
				`{"uuid":"f2","fact":"Ann lives in Rome","graph_uuid":"g1","expired_at":"2025-02-01T00:00:00Z"}]}`)
		case "/graphs/g3/nodes/list?":
			answer(w, `{"items":[{"uuid":"n1","name":"Kayak","summary":"Two seats.","labels":["Entity"],"graph_uuid":"g3"}]}`)
		default:
			answer(w, `{"items":[],"next_cursor":null}`)
		}
	})
	if err != nil || p.Notes != 4 || len(p.Users) != 2 || p.Left[0].Count != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	notes := p.sent(t)
	if n := of(t, notes, "zep:f1"); n.user != "ann" || !slices.Equal(n.item.DerivedFrom, []string{"zep:e1"}) {
		t.Errorf("%+v", n)
	}
	if n := of(t, notes, "zep:n1"); n.user != "products" {
		t.Errorf("%+v", n)
	}
	if n := of(t, notes, "zep:e1"); n.item.Content != "Ann: I moved to Oslo." ||
		n.item.OccurredAt != "2025-02-01T00:00:00.000Z" {
		t.Errorf("%+v", n)
	}
}

func TestFetchGraphiti(t *testing.T) {
	handler := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/episodes/ann" || r.URL.Query().Get("last_n") == "" {
			t.Errorf("asked for %s", r.URL)
		}
		answer(w, `[{"uuid":"e1","name":"call","group_id":"ann","labels":[],"created_at":"2025-02-02T00:00:00Z",`+
			`"source":"text","source_description":"phone","content":"Ann ordered two oars.","valid_at":"2025-02-01T00:00:00Z",`+
			`"entity_edges":["f1"]}]`)
	}
	p, _, err := fetched(t, "graphiti", handler, "ann")
	if err != nil || p.Notes != 1 || p.Users[0].Subject != "ann" || len(p.Faults) != 1 ||
		!strings.Contains(p.Faults[0].Reason, "episodes only") {
		t.Errorf("%+v, %v", p, err)
	}
	if _, _, err := fetched(t, "graphiti", handler); err == nil || !strings.Contains(err.Error(), "--user") {
		t.Error(err)
	}
}

func TestFetchSupermemory(t *testing.T) {
	p, _, err := fetched(t, "supermemory", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v3/container-tags/list" {
			answer(w, `[{"id":"s1","name":"Ann","containerTag":"ann","isNova":false}]`)
			return
		}
		var asked struct {
			ContainerTags  []string
			Page           int
			IncludeContent bool
		}
		err := json.NewDecoder(r.Body).Decode(&asked)
		if err != nil || !slices.Equal(asked.ContainerTags, []string{"ann"}) {
			t.Errorf("%s: %+v, %v", r.URL, asked, err)
		}
		switch fmt.Sprint(r.URL.Path, " ", asked.Page) {
		case "/v3/documents/list 1":
			if !asked.IncludeContent {
				t.Error("asks for documents without their content")
			}
			answer(w, `{"memories":[{"id":"d1","title":"Quay","type":"text","content":"Long boats moor at the east quay.",`+
				`"containerTags":["ann"],"createdAt":"2025-07-01T06:00:00.000Z"}],"pagination":{"currentPage":1,"totalPages":2}}`)
		case "/v3/documents/list 2":
			answer(w, `{"memories":[{"id":"d2","type":"text","content":"Oars are in the shed.","containerTags":["ann","crew"],`+
				`"createdAt":"2025-07-01T06:00:00.000Z"}],"pagination":{"currentPage":2,"totalPages":2}}`)
		case "/v4/memories/list 1":
			answer(w, `{"memoryEntries":[{"id":"m1","memory":"The east quay is for long boats","version":2,"isLatest":true,`+
				`"isForgotten":false,"documentIds":["d1"],"history":[{"id":"m0","memory":"The west quay is for long boats",`+
				`"version":1}],"createdAt":"2025-07-02T06:00:00.000Z"}],"pagination":{"currentPage":1,"totalPages":1}}`)
		default:
			t.Errorf("asked for %s %d", r.URL, asked.Page)
		}
	})
	if err != nil || p.Notes != 3 || len(p.Users) != 1 || p.Users[0].Subject != "ann" {
		t.Fatalf("%+v, %v", p, err)
	}
	if n := of(t, p.sent(t), "supermemory:m1"); !slices.Equal(n.item.DerivedFrom, []string{"supermemory:d1"}) {
		t.Errorf("%+v", n)
	}
}

func TestFetchCognee(t *testing.T) {
	const entity, chunk = "e0000000-0000-4000-8000-000000000001", "c0000000-0000-4000-8000-000000000001"
	const mill = "e0000000-0000-4000-8000-000000000002"
	p, _, err := fetched(t, "cognee", func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/v1/datasets":
			answer(w, `[{"id":"d1","name":"main_dataset","ownerId":"o1"},{"id":"d2","name":"other","ownerId":"o1"}]`)
		case "/api/v1/datasets/d1/graph":
			answer(w, `{"nodes":[`+
				`{"id":"%s","label":"DocumentChunk_%[1]s","type":"DocumentChunk","properties":{`+
				`"text":"The regatta starts at the mill.","chunk_index":0}},`+
				`{"id":"%s","label":"regatta","type":"Entity","properties":{"description":"A race of boats"}},`+
				`{"id":"%s","label":"mill","type":"Entity","properties":{}}],"edges":[`+
				`{"source":"%[1]s","target":"%[2]s","label":"contains"},{"source":"%[2]s","target":"%[3]s","label":"starts_at"},`+
				`{"source":"%[1]s","target":"%[2]s","label":"tells_of"}]}`, chunk, entity, mill)
		default:
			t.Errorf("asked for %s", r.URL)
		}
	}, "main_dataset", "nowhere")
	if err != nil || p.Notes != 3 || len(p.Faults) != 1 || p.Faults[0].Part != "nowhere" {
		t.Fatalf("%+v, %v", p, err)
	}
	notes := p.sent(t)
	for id, want := range map[string]string{
		"cognee:" + chunk:                         "The regatta starts at the mill.",
		"cognee:" + entity:                        "regatta: A race of boats",
		"cognee:" + entity + ":starts_at:" + mill: "regatta starts at mill.",
	} {
		if n := of(t, notes, id); n.item.Content != want {
			t.Errorf("%q, want %q", n.item.Content, want)
		}
	}
}

// The package for npm writes mem0's fields in its own spelling.
func TestMem0FromNPM(t *testing.T) {
	p := planned(t, "mem0", file(t, "all.json", `{"count":1,"next":null,"results":[{"id":"7","memory":"Rows on Fridays",`+
		`"userId":"ann","agentId":"coach","createdAt":"2025-03-01T00:00:00.000Z","updatedAt":"2025-03-02T00:00:00.000Z",`+
		`"expirationDate":"2025-04-01"},{"id":"8","memory":"Has two oars","userId":"ann","agentId":"coach",`+
		`"createdAt":"2025-03-01T00:00:00.000Z"}]}`))
	n := of(t, p.sent(t), "mem0:8")
	if m := metadataOf(t, n); p.Notes != 1 || n.user != "ann" || n.item.OccurredAt != "2025-03-01T00:00:00.000Z" ||
		m["agent"] != "coach" {
		t.Errorf("%+v of %+v", n, p.Report)
	}
}

// Each answer of something else is an error that says what to do.
func TestFetchRefused(t *testing.T) {
	for want, handler := range map[string]http.HandlerFunc{
		"no JSON": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html>")
		},
		"ORGMEM_FROM_KEY": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) },
		"is --url right":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) },
		"answers 503":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		"answers 302": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		},
		"cannot be read": func(w http.ResponseWriter, _ *http.Request) { answer(w, `{"results":[`) },
		"broken JSON": func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/memories" {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			answer(w, `{"results":[`)
		},
	} {
		if _, _, err := fetched(t, "mem0", handler); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	for _, base := range []string{"localhost", "file:///etc/passwd", ""} {
		if _, err := Fetch(t.Context(), "mem0", t.TempDir(), Server{Base: base}); err == nil {
			t.Errorf("%q is an address", base)
		}
	}
	if _, err := Fetch(t.Context(), Own, t.TempDir(), Server{Base: "http://127.0.0.1:1"}); err == nil ||
		!strings.Contains(err.Error(), "export to a file") {
		t.Error(err)
	}
}
