package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"orgmem/cmd/orgmem/internal/transcripts"
	"orgmem/proto/clock"
)

// serveSessions is a service that stores every event it is sent.
func serveSessions(t *testing.T, m *machine) *[]string {
	t.Helper()
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Svc-Api-Key") != "svc_test" {
			t.Errorf("%s with the key %q", r.URL.Path, r.Header.Get("X-Svc-Api-Key"))
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		asked = append(asked, r.Method+" "+r.URL.Path+" "+string(body))
		answer := `{"accepted":1}`
		switch r.URL.Path {
		case "/v1/me":
			answer = `{"org":{"id":"` + testOrg + `"},"user":{"id":"` + testUser + `"}}`
		case "/v1/ingest/session-batch":
			var batch struct{ Events []any }
			if err := json.Unmarshal(body, &batch); err != nil {
				t.Error(err)
			}
			var results []map[string]any
			for i := range batch.Events {
				results = append(results, map[string]any{"index": i, "status": "stored"})
			}
			raw, err := json.Marshal(map[string]any{"results": results})
			if err != nil {
				t.Error(err)
			}
			answer = string(raw)
		}
		io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	m.env["ORGMEM_BASE_URL"] = server.URL
	return &asked
}

const transcriptLine = `{"type":"user","uuid":"u","sessionId":"s","message":{"content":"use DB_PASSWORD=hunter22"}}` +
	"\n"

func TestSessionsPush(t *testing.T) {
	m := newMachine(t)
	asked := serveSessions(t, m)
	home := t.TempDir()
	m.env["HOME"], m.env["ORGMEM_API_KEY"] = home, "svc_test"
	path := filepath.Join(home, ".claude", "projects", "p", "s.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(transcriptLine), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := m.ok("sessions", "push", "--dry-run"); got["stored"] != 1.0 || got["redacted"] != 1.0 || len(*asked) != 0 {
		t.Errorf("a dry run answers %v and asks %q", got, *asked)
	}
	if got := m.ok("sessions", "push"); got["stored"] != 1.0 || got["redacted"] != 1.0 {
		t.Errorf("got %v", got)
	}
	if all := strings.Join(*asked, "\n"); strings.Contains(all, "hunter22") || !strings.Contains(all, "session-finalize") {
		t.Errorf("asked %s", all)
	}
	if got := m.ok("sessions", "push"); got["stored"] != 0.0 || got["unchanged"] != 1.0 {
		t.Errorf("pushed again: %v", got)
	}
	if got := m.ok("sessions", "push", "--all", "--assistant", "claude-code", path); got["stored"] != 1.0 {
		t.Errorf("pushed all: %v", got)
	}
	for _, args := range [][]string{{"--assistant", "nobody"}, {"/elsewhere.jsonl"}} {
		if r := m.run(append([]string{"sessions", "push"}, args...)...); r.status != exitUsage {
			t.Errorf("%v ended with %d: %s", args, r.status, r.err)
		}
	}
}

// The hook ends with no status that would hold the assistant up.
func TestSessionsHook(t *testing.T) {
	m := newMachine(t)
	asked := serveSessions(t, m)
	home := t.TempDir()
	m.env["HOME"] = home
	key := filepath.Join(home, "the key")
	transcript := filepath.Join(home, "t.jsonl")
	for path, text := range map[string]string{key: "svc_test\n", transcript: transcriptLine} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := m.ok("sessions", "hook", "install", "--key-file", key); got["changed"] != true {
		t.Errorf("got %v", got)
	}
	settings, err := os.ReadFile(filepath.Join(home, ".claude", "settings.json"))
	if err != nil || !strings.Contains(string(settings), "sessions push --hook") ||
		!strings.Contains(string(settings), "'"+key+"'") {
		t.Errorf("%s: %v", settings, err)
	}
	hook := func(input string) result {
		var out, errs bytes.Buffer
		status := run(t.Context(), []string{"sessions", "push", "--hook", "--key-file", key}, world{
			in: strings.NewReader(input), out: &out, err: &errs, clock: clock.Real(),
			lookupEnv: func(name string) (string, bool) { v, ok := m.env[name]; return v, ok },
			environ:   func() []string { return nil },
		})
		return result{status, out.String(), errs.String()}
	}
	if r := hook(`{"session_id":"s","transcript_path":"` + transcript +
		`","hook_event_name":"SessionEnd"}`); r.status != exitDone || len(*asked) < 2 {
		t.Errorf("ended with %d: %s%s", r.status, r.out, r.err)
	}
	for _, input := range []string{"", "{}", "no"} {
		if r := hook(input); r.status != exitFailed {
			t.Errorf("%q ended with %d", input, r.status)
		}
	}
	if got := m.ok("sessions", "hook", "remove"); got["changed"] != true {
		t.Errorf("got %v", got)
	}
}

// Two sessions that end at once are both pushed: the second hook waits for the first.
func TestSessionsHookWaitsForAnother(t *testing.T) {
	m := newMachine(t)
	asked := serveSessions(t, m)
	home := t.TempDir()
	m.env["HOME"], m.env["ORGMEM_API_KEY"] = home, "svc_test"
	path := filepath.Join(home, "t.jsonl")
	if err := os.WriteFile(path, []byte(transcriptLine), 0o600); err != nil {
		t.Fatal(err)
	}
	memory := strings.Join([]string{m.env["ORGMEM_BASE_URL"], testOrg, testUser}, "\n")
	other, err := transcripts.OpenState(filepath.Join(m.env["XDG_STATE_HOME"], "orgmem", "sessions"), memory)
	if err != nil {
		t.Fatal(err)
	}
	if r := m.run("sessions", "push", "--assistant", "claude-code", path); r.status != exitFailed {
		t.Errorf("a person is not told: %+v", r)
	}
	fake := clock.NewFake(time.Unix(0, 0))
	done := make(chan int, 1)
	go func() {
		done <- run(t.Context(), []string{"sessions", "push", "--hook"}, world{
			in: strings.NewReader(`{"transcript_path":"` + path + `"}`), out: io.Discard, err: io.Discard, clock: fake,
			lookupEnv: func(name string) (string, bool) { v, ok := m.env[name]; return v, ok },
			environ:   func() []string { return nil },
		})
	}()
	for fake.WaitersIn(busyPause) == 0 {
		runtime.Gosched()
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	fake.Advance(busyPause)
	if status := <-done; status != exitDone || !strings.Contains(strings.Join(*asked, "\n"), "session-batch") {
		t.Errorf("the hook ended with %d and asked %q", status, *asked)
	}
}
