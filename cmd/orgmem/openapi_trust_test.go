//go:build trust

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"orgmem/cmd/orgmem/process"
)

// The bounds of TestTrustOpenAPI.
const (
	// fuzzSeconds is how long the second fuzzer runs, unless ORGMEM_TRUST_OPENAPI_SECONDS
	// says otherwise.
	fuzzSeconds = 180
	// fuzzExamples is how many random requests it makes of each operation and phase, unless
	// ORGMEM_TRUST_OPENAPI_EXAMPLES says otherwise.
	fuzzExamples = 25
	// fuzzSlack is how much longer than its time it may take to say what it found.
	fuzzSlack = 5 * time.Minute
)

// fromEnv is a whole number in a variable, or what it is without it.
func fromEnv(t *testing.T, name string, without int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return without
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s: %q is no whole number above 0", name, text)
	}
	return n
}

// schemathesisIn installs the second fuzzer, pinned, into a virtual environment of its
// own, and returns its command.
func schemathesisIn(t *testing.T, dir, requirements string) string {
	t.Helper()
	for _, args := range [][]string{
		{"python3", "-m", "venv", dir},
		{filepath.Join(dir, "bin", "pip"), "install", "--quiet", "--disable-pip-version-check", "-r", requirements},
	} {
		if out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Skipf("NOT RUN: the second fuzzer could not be installed: %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	return filepath.Join(dir, "bin", "schemathesis")
}

// TestTrustOpenAPI lets a fuzzer that reads nothing but the OpenAPI document send what
// fits it and what does not, to all operations: every answer is one that the document
// describes, what it allows is accepted, what it forbids is refused, and nothing is a
// server error. testdata/schemathesis/hooks.py holds the few rules that no schema can
// say.
//
// Two operations are left out. DELETE /v1/me would end the run; its answers are held to
// the document by hand, here. GET /v1/events never ends; TestStream of package api holds
// it.
func TestTrustOpenAPI(t *testing.T) {
	settings, err := filepath.Abs(filepath.Join("testdata", "schemathesis"))
	if err != nil {
		t.Fatal(err)
	}
	work := t.TempDir()
	fuzzer := schemathesisIn(t, filepath.Join(work, "venv"), filepath.Join(settings, "requirements.txt"))

	const port, hook = 18433, "https://127.0.0.1:18433/hook" // nobody listens there: it need only be allowed
	data := filepath.Join(work, "data")
	p := start(t, data,
		process.Options{Env: []string{
			"ORGMEM_EGRESS_ALLOW_CIDRS=127.0.0.1/32",
			fmt.Sprint("ORGMEM_EGRESS_ALLOW_PORTS=", port),
		}})
	unlimited(t, p, data, p.OrgID)
	c := caller{base: p.BaseURL, key: p.APIKey}
	c.must(t, http.StatusCreated, http.MethodPut, "/v1/subjects/ann", nil)
	for _, who := range []caller{c, c.as("ann")} {
		var items []map[string]any
		for i := range 12 {
			items = append(items, map[string]any{
				"content": fmt.Sprintf("Note %d: Mrs Okafor serviced the boiler of house %d in May; the garden of Acme Tools "+
					"needs apple trees.", i, i),
				"externalId": fmt.Sprint("note-", i),
			})
		}
		who.finished(t, who.must(t, http.StatusAccepted, http.MethodPost, "/v1/ingest/batch",
			map[string]any{"items": items})["jobId"].(string))
		export := who.must(t, http.StatusAccepted, http.MethodPost, "/v1/exports", map[string]any{})["exportId"].(string)
		eventually(t, "an export", func() bool {
			return who.must(t, http.StatusOK, http.MethodGet, "/v1/exports/"+export, nil)["status"] == "succeeded"
		})
	}
	c.must(t, http.StatusOK, http.MethodPost, "/v1/ingest/session-event",
		map[string]any{"sessionId": "s1", "role": "user", "text": "Fix the boiler's build."})
	c.must(t, http.StatusCreated, http.MethodPost, "/v1/webhooks",
		map[string]any{"url": hook, "eventTypes": []string{"*"}})
	c.must(t, http.StatusCreated, http.MethodPost, "/v1/connectors",
		map[string]any{"type": "feed", "name": "News", "config": map[string]any{"url": hook}})

	seconds, events := fromEnv(t, "ORGMEM_TRUST_OPENAPI_SECONDS", fuzzSeconds), filepath.Join(work, "events.ndjson")
	run := exec.CommandContext(t.Context(), fuzzer, "--config-file", filepath.Join(settings, "schemathesis.toml"), "run",
		p.BaseURL+"/openapi.json",
		"--url", p.BaseURL, "--header", "X-Svc-API-Key: "+p.APIKey,
		"--exclude-operation-id", "deleteMe", "--exclude-operation-id", "streamEvents",
		// hooks.py has it with the rules that no schema can say.
		"--exclude-checks", "positive_data_acceptance",
		"--phases", "examples,coverage,fuzzing", "--max-time", strconv.Itoa(seconds),
		"--max-examples", strconv.Itoa(fromEnv(t, "ORGMEM_TRUST_OPENAPI_EXAMPLES", fuzzExamples)),
		"--seed", strconv.Itoa(fromEnv(t, "ORGMEM_TRUST_OPENAPI_SEED", 1)),
		"--continue-on-failure", "--no-color", "--request-timeout", "60", "--generation-database", "none",
		"--generation-with-security-parameters", "false", "--report", "ndjson", "--report-ndjson-path", events)
	run.Dir = work
	run.Env = append(os.Environ(), "SCHEMATHESIS_HOOKS="+filepath.Join(settings, "hooks.py"), "PYTHONDONTWRITEBYTECODE=1",
		"TRUST_BASE="+p.BaseURL, "TRUST_KEY="+p.APIKey, "TRUST_SUBJECT=ann", "TRUST_URL="+hook, "TRUST_ORG="+p.OrgID,
		"TRUST_USER="+p.UserID)
	run.WaitDelay = time.Minute
	late := time.AfterFunc(time.Duration(seconds)*time.Second+fuzzSlack, func() {
		run.Process.Kill() //nolint:errcheck // it has ended, then
	})
	defer late.Stop()
	out, err := run.CombinedOutput()
	statuses := answersIn(t, events)
	requests, accepted := 0, 0
	for status, n := range statuses {
		requests += n
		if status < http.StatusMultipleChoices {
			accepted += n
		}
	}
	tested := regexp.MustCompile(`Tested: (\d+)`).FindSubmatch(out)
	failures := regexp.MustCompile(`(\d+) unique failure`).FindSubmatch(out)
	found := "0"
	if failures != nil {
		found = string(failures[1])
	}
	if tested == nil {
		t.Fatalf("schemathesis said nothing of what it tested: %v\n%s", err, out)
	}
	t.Logf("trust: schemathesis: %s operations, %d requests, %s findings", tested[1], requests, found)
	t.Logf("answers by status: %v", statuses)
	if err != nil {
		t.Errorf("schemathesis: %v\n%s", err, out)
	}
	// A run in which hardly anything was accepted, or was let in at all, proves little.
	if stray := statuses[http.StatusUnauthorized]; accepted*10 < requests || stray*4 > requests {
		t.Errorf("of %d requests %d succeeded and %d were not let in", requests, accepted, stray)
	}

	// What would have ended the run. Every answer is held to the document (TestMain).
	for _, a := range []struct {
		who    caller
		status int
	}{
		{caller{base: p.BaseURL}, http.StatusUnauthorized},
		{c.as("nobody"), http.StatusForbidden},
		{c, http.StatusNoContent},
		{c, http.StatusUnauthorized},
	} {
		if got := a.who.send(t.Context(), http.MethodDelete, "/v1/me", "", nil); got.Status != a.status {
			t.Errorf("DELETE /v1/me: %d, want %d: %s", got.Status, a.status, got.Body)
		}
	}
}

// answersIn counts the answers of a run by status.
func answersIn(t *testing.T, events string) map[int]int {
	t.Helper()
	raw, err := os.ReadFile(events)
	if err != nil {
		t.Fatal(err)
	}
	type scenario struct {
		Recorder struct {
			Interactions map[string]struct {
				Response *struct {
					Status int `json:"status_code"`
				}
			}
		}
	}
	statuses := map[int]int{}
	for line := range bytes.Lines(raw) {
		var event map[string]json.RawMessage
		if err := json.Unmarshal(line, &event); err != nil {
			t.Fatalf("%s: %v", events, err)
		}
		var s scenario
		if err := json.Unmarshal(event["ScenarioFinished"], &s); err != nil && event["ScenarioFinished"] != nil {
			t.Fatalf("%s: %v", events, err)
		}
		for _, i := range s.Recorder.Interactions {
			if i.Response != nil {
				statuses[i.Response.Status]++
			}
		}
	}
	return statuses
}
