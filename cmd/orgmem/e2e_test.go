package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"orgmem/cmd/orgmem/internal/client"
	"orgmem/cmd/orgmem/process"
	"orgmem/proto/clock"
)

// The binary is built once for all tests of the package, unless
// ORGMEM_TEST_BINARY names one.
var (
	buildOnce sync.Once
	buildDir  string
	built     string
	buildErr  error
)

// TestMain also holds every answer of the built binary to the OpenAPI document, but
// for those of a version from before it.
func TestMain(m *testing.M) {
	held, err := newDocumented()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if os.Getenv(upgradeVariable) == "" {
		http.DefaultClient.Transport = held
	}
	status := m.Run()
	if err := held.found(); err != nil {
		fmt.Fprintln(os.Stderr, "what the binary answered does not fit docs/openapi.json:\n", err)
		status = 1
	}
	if buildDir != "" {
		os.RemoveAll(buildDir)
	}
	os.Exit(status)
}

func binary(t *testing.T) string {
	t.Helper()
	buildOnce.Do(func() {
		if built = os.Getenv("ORGMEM_TEST_BINARY"); built != "" {
			_, buildErr = os.Stat(built) // go test then knows what its cached result depends on
			return
		}
		//nolint:usetesting // shared by all tests, removed by TestMain
		if buildDir, buildErr = os.MkdirTemp("", "orgmem-test-"); buildErr == nil {
			built, buildErr = process.Build(context.Background(), buildDir)
		}
	})
	if buildErr != nil {
		t.Fatal(buildErr)
	}
	return built
}

// start runs the service on data until the test ends.
func start(t *testing.T, data string, o process.Options) *process.Process {
	t.Helper()
	o.Data = data
	if o.Binary == "" {
		o.Binary = binary(t)
	}
	p, err := process.Start(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

// caller sends single requests, without any retry: tests want to see what one
// request does.
type caller struct {
	base, key, subject string
}

// answer is a response; Status 0 means that none came, so that the outcome is
// unknown.
type answer struct {
	Status int
	Header http.Header
	Body   []byte
}

func (c caller) as(subject string) caller {
	c.subject = subject
	return c
}

// form is a body that is sent as it is.
type form string

func (c caller) send(ctx context.Context, method, path, idempotencyKey string, body any) answer {
	var raw []byte
	if f, multipart := body.(form); multipart {
		raw = []byte(f)
	} else if body != nil {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			panic(err)
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(raw))
	if err != nil {
		panic(err)
	}
	request.Header.Set("X-Svc-Api-Key", c.key)
	if _, multipart := body.(form); multipart {
		request.Header.Set("Content-Type", "multipart/form-data; boundary=sample")
	} else if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.subject != "" {
		request.Header.Set("X-Svc-Subject", url.PathEscape(c.subject))
	}
	if idempotencyKey != "" {
		request.Header.Set("Idempotency-Key", idempotencyKey)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return answer{}
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}
	}
	return answer{response.StatusCode, response.Header, got}
}

// must sends a request that has to be answered with the status.
func (c caller) must(t *testing.T, status int, method, path string, body any) map[string]any {
	t.Helper()
	a := c.send(t.Context(), method, path, "", body)
	if a.Status != status {
		t.Fatalf("%s %s: %d, want %d: %s", method, path, a.Status, status, a.Body)
	}
	var object map[string]any
	if len(a.Body) > 0 {
		if err := json.Unmarshal(a.Body, &object); err != nil {
			t.Fatalf("%s %s: %s: %v", method, path, a.Body, err)
		}
	}
	return object
}

// eventually asks until ok or too long; it waits on the real clock, since it
// watches a real process.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for pause := 5 * time.Millisecond; !ok(); pause = min(2*pause, 200*time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within two minutes", what)
		}
		if err := clock.Wait(t.Context(), clock.Real(), pause); err != nil {
			t.Fatal(err)
		}
	}
}

// finished waits for an ingest job and returns it.
func (c caller) finished(t *testing.T, job string) client.Job {
	t.Helper()
	var j client.Job
	eventually(t, "job "+job, func() bool {
		a := c.send(t.Context(), http.MethodGet, "/v1/ingest/"+job+"/status", "", nil)
		j = client.Job{}
		if a.Status == http.StatusTooManyRequests {
			return false
		}
		if a.Status != http.StatusOK || json.Unmarshal(a.Body, &j) != nil {
			t.Fatalf("job %s: %d %s", job, a.Status, a.Body)
		}
		return j.Finished()
	})
	return j
}

func TestQuickstartServesSearchesAndStopsCleanly(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	p := start(t, data, process.Options{})
	t.Logf("ready after %v", p.ReadyAfter)
	if !strings.HasPrefix(p.APIKey, "svc_prod_") {
		t.Fatalf("greeting %+v", p.Greeting)
	}
	for name, mode := range map[string]os.FileMode{"quickstart.key": 0o600, "operator.token": 0o600, ".": 0o700} {
		info, err := os.Stat(filepath.Join(data, name))
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: mode %v, want %v: %v", name, info.Mode().Perm(), mode, err)
		}
	}
	saved, err := os.ReadFile(filepath.Join(data, "quickstart.key"))
	if err != nil || strings.TrimSpace(string(saved)) != p.APIKey {
		t.Errorf("quickstart.key holds %q: %v", saved, err)
	}
	c := caller{base: p.BaseURL, key: p.APIKey}
	accepted := c.must(t, http.StatusAccepted, http.MethodPost, "/v1/ingest",
		map[string]any{"content": "The boiler was serviced in May by Mrs Okafor.", "externalId": "boiler"})
	if job := c.finished(t, accepted["jobId"].(string)); job.Status != "done" {
		t.Fatalf("job %+v", job)
	}
	c.mustFind(t, "who looked after the heating", "boiler")
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	again := start(t, data, process.Options{})
	if again.APIKey != "" {
		t.Error("a second quickstart made a second key")
	}
	c.base = again.BaseURL
	c.mustFind(t, "who looked after the heating", "boiler")
}

// mustFind searches and wants the document first.
func (c caller) mustFind(t *testing.T, query, externalID string) {
	t.Helper()
	found := c.must(t, http.StatusOK, http.MethodPost, "/v1/search", map[string]any{"query": query})
	hits, _ := found["results"].([]any)
	if len(hits) == 0 || hits[0].(map[string]any)["externalId"] != externalID {
		t.Fatalf("%q found %v", query, found)
	}
}

func TestASecondProcessOnTheSameDataIsRefused(t *testing.T) {
	data := t.TempDir()
	first := start(t, data, process.Options{})
	second, err := process.Start(t.Context(), process.Options{Binary: binary(t), Data: data})
	if err == nil {
		second.Kill()
		t.Fatal("it started")
	}
	if !strings.Contains(err.Error(), "data directory is in use") ||
		!strings.Contains(err.Error(), fmt.Sprint(first.Pid())) {
		t.Errorf("it says: %v", err)
	}
	caller{base: first.BaseURL, key: first.APIKey}.must(t, http.StatusOK, http.MethodGet, "/v1/me", nil)
}

// The command line against the real thing: an organization, a member, a key, a
// folder taken in and found again.
func TestCommandsAgainstTheRealService(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	p := start(t, data, process.Options{})
	m := newMachine(t)
	m.env["ORGMEM_OPERATOR"], m.env["ORGMEM_DATA"], m.env["ORGMEM_BASE_URL"] = p.OperatorURL, data, p.BaseURL

	made := m.ok("org", "create", "--name", "Acme Tools", "--owner-email", "a@example.com", "--plan", "unlimited")
	org := made["orgId"].(string)
	if shown := m.ok("org", "show", made["slug"].(string)); shown["orgId"] != org || shown["plan"] != "unlimited" {
		t.Errorf("shown %v", shown)
	}
	user := m.ok("member", "add", org, "--email", "b@example.com", "--role", "member")["userId"].(string)
	if members := m.ok("member", "list", org)["data"].([]any); len(members) != 2 {
		t.Errorf("members %v", members)
	}
	key := m.ok("key", "create", org, "--user", user, "--scopes", "read,write", "--label", "test")
	m.env["ORGMEM_API_KEY"] = key["apiKey"].(string)

	folder := t.TempDir()
	for name, text := range map[string]string{
		"garden.md":     "# Garden\n\nThe apple trees are pruned in late winter, before the buds swell.",
		"money/rent.md": "# Rent\n\nThe landlord takes the payment on the third of each month.",
		"photo.png":     "\x89PNG",
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if sum := m.ok("import", folder); sum["created"] != 2.0 {
		t.Fatalf("imported %v", sum)
	}
	if sum := m.ok("import", folder); sum["unchanged"] != 2.0 {
		t.Fatalf("imported again %v", sum)
	}
	found := m.ok("search", "when do I pay for the flat")
	if first := found["results"].([]any)[0].(map[string]any); first["externalId"] != "money/rent.md" {
		t.Errorf("found %v", found)
	}
	report := m.run("doctor", "--json", "--data", data, "--listen", strings.TrimPrefix(p.BaseURL, "http://"),
		"--operator-listen", strings.TrimPrefix(p.OperatorURL, "http://"))
	var seen struct {
		Checks []struct {
			Name, Detail string
			OK           bool
		}
		Server json.RawMessage
	}
	if err := json.Unmarshal([]byte(report.out), &seen); err != nil || len(seen.Server) == 0 {
		t.Fatalf("doctor printed %s: %v", report.out, err)
	}
	for _, check := range seen.Checks {
		if !check.OK {
			t.Errorf("doctor: %s: %s", check.Name, check.Detail)
		}
	}
	m.ok("member", "remove", org, user)
	if r := m.run("search", "x"); r.status != exitFailed || !strings.Contains(r.err, "401") {
		t.Errorf("a removed member's key still works: %+v", r)
	}
	m.ok("org", "delete", org)
	if r := m.run("org", "show", org); r.status != exitFailed {
		t.Errorf("a removed organization is shown: %+v", r)
	}
}

func TestHealthAndMetrics(t *testing.T) {
	p := start(t, t.TempDir(), process.Options{})
	for path, want := range map[string]string{"/healthz": "", "/readyz": "", "/metrics": "orgmem_storage_free_bytes"} {
		a := caller{base: p.OperatorURL}.send(t.Context(), http.MethodGet, path, "", nil)
		if a.Status != http.StatusOK || !strings.Contains(string(a.Body), want) {
			t.Errorf("%s: %d %.300s", path, a.Status, a.Body)
		}
	}
	if a := (caller{base: p.OperatorURL}).send(t.Context(), http.MethodGet, "/operator/orgs", "",
		nil); a.Status != http.StatusUnauthorized {
		t.Errorf("organizations without a token: %d", a.Status)
	}
}

func TestSizesAreConfigurable(t *testing.T) {
	p := start(t, filepath.Join(t.TempDir(), "data"), process.Options{Args: []string{
		"--max-content-chars", "20", "--max-batch-items", "2",
		"--max-body-bytes", "64KiB", "--max-ingest-body-bytes", "64KiB", "--max-upload-bytes", "64KiB",
		"--max-bodies-in-flight-bytes", "64KiB",
	}})
	c := caller{base: p.BaseURL, key: p.APIKey}
	content := func(n int) map[string]any { return map[string]any{"content": strings.Repeat("x", n)} }
	c.must(t, http.StatusAccepted, http.MethodPost, "/v1/ingest", content(20))
	c.must(t, http.StatusRequestEntityTooLarge, http.MethodPost, "/v1/ingest", content(21))
	batch := func(n int) map[string]any {
		items := make([]map[string]any, n)
		for i := range items {
			items[i] = content(i + 1)
		}
		return map[string]any{"items": items}
	}
	upload := func(n int) form {
		return form("--sample\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n" + strings.Repeat("x", n) +
			"\r\n--sample--\r\n")
	}
	c.must(t, http.StatusAccepted, http.MethodPost, "/v1/import", upload(20))
	c.must(t, http.StatusRequestEntityTooLarge, http.MethodPost, "/v1/import", upload(64<<10))
	c.must(t, http.StatusAccepted, http.MethodPost, "/v1/ingest/batch", batch(2))
	c.must(t, http.StatusRequestEntityTooLarge, http.MethodPost, "/v1/ingest/batch", batch(3))

	// One body that has arrived by half leaves no room for another. (With room the
	// other one is refused too, but for its length.)
	body, rest := io.Pipe()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.BaseURL+"/v1/ingest", body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Svc-API-Key", p.APIKey)
	request.Header.Set("Content-Type", "application/json")
	var slow sync.WaitGroup
	slow.Go(func() {
		if res, err := http.DefaultClient.Do(request); err == nil {
			res.Body.Close()
		}
	})
	if _, err := rest.Write(append([]byte(`{"content":"x"`), bytes.Repeat([]byte(" "), 30<<10)...)); err != nil {
		t.Fatal(err)
	}
	// Another is sent once that is so: one that is quicker would have the room itself, and the slow one be refused.
	eventually(t, "half of a body holds more than what has arrived", func() bool {
		told := caller{base: p.OperatorURL}.send(t.Context(), http.MethodGet, "/metrics", "", nil)
		_, gauge, found := strings.Cut(string(told.Body), "\norgmem_http_request_body_held_bytes ")
		var held float64
		_, err := fmt.Sscan(gauge, &held)
		return found && err == nil && held > 30<<10
	})
	c.must(t, http.StatusServiceUnavailable, http.MethodPost, "/v1/ingest", content(10<<10))
	rest.CloseWithError(io.ErrUnexpectedEOF)
	slow.Wait()
	c.must(t, http.StatusAccepted, http.MethodPost, "/v1/ingest", content(2))
}
