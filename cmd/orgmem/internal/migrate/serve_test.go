package migrate

import (
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
			answer(w, `{"banks":[{"bank_id":"a b"}],"total":1}`)
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
			t.Errorf("asked for %s", r.URL)
		}
	})
	if err != nil || p.Notes != 104 || len(p.Users) != 1 || p.Users[0].Subject != "a b" {
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

func TestFetchMem0(t *testing.T) {
	p, _, err := fetched(t, "mem0", func(w http.ResponseWriter, r *http.Request) {
		user := r.URL.Query().Get("user_id")
		answer(w, `{"results":[{"id":"%s-1","memory":"note of %s","user_id":"%s"}]}`, user, user, user)
	}, "ann", "bob")
	if err != nil || p.Notes != 2 || len(p.Users) != 2 {
		t.Errorf("%+v, %v", p, err)
	}
	var many []string
	for i := range mem0Items {
		many = append(many, fmt.Sprintf(`{"id":"%d","memory":"note %d","user_id":"ann"}`, i, i))
	}
	p, found, err := fetched(t, "mem0", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, `{"results":[%s]}`, strings.Join(many, ","))
	})
	if err != nil || p.Notes != mem0Items || !slices.ContainsFunc(p.Faults, func(f Fault) bool {
		return strings.Contains(f.Reason, "may have more")
	}) {
		t.Errorf("%d faults %v, %v", p.Notes, found.Faults, err)
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
		"broken JSON": func(w http.ResponseWriter, _ *http.Request) { answer(w, `{"results":[`) },
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
	if _, err := Fetch(t.Context(), "zep", t.TempDir(), Server{Base: "http://127.0.0.1:1"}); err == nil ||
		!strings.Contains(err.Error(), "export to a file") {
		t.Error(err)
	}
}
