package orgmem

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	os.Unsetenv(EnvAPIKey)
	os.Unsetenv(EnvBaseURL)
	before := runtime.NumGoroutine()
	code := m.Run()
	sharedTransport.CloseIdleConnections()
	localTransport.CloseIdleConnections()
	for deadline := time.Now().Add(10 * time.Second); code == 0 && runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			fmt.Printf("goroutines are left:\n%s", stacks[:runtime.Stack(stacks, true)])
			code = 1
		}
	}
	os.Exit(code)
}

// world is what a client under test knows of time and chance.
type world struct {
	mu     sync.Mutex
	pauses []time.Duration
	random float64
	before func(pause int) // called before each pause
}

func (w *world) sleep(ctx context.Context, d time.Duration) error {
	w.mu.Lock()
	w.pauses = append(w.pauses, d)
	n := len(w.pauses)
	w.mu.Unlock()
	if w.before != nil {
		w.before(n)
	}
	return ctx.Err()
}

func (w *world) slept() (sum time.Duration, times int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range w.pauses {
		sum += d
	}
	return sum, len(w.pauses)
}

// stub is a server of the test's own, and a client of it that waits for nothing.
func stub(t *testing.T, cfg Config, handler http.HandlerFunc) (*Client, *world) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	w := &world{random: 0.5}
	cfg.BaseURL, cfg.Sleep, cfg.Random = server.URL, w.sleep, func() float64 { return w.random }
	if cfg.APIKey == "" {
		cfg.APIKey = "svc_prod_key"
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c, w
}

func writeJSON(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", mediaJSON)
	w.WriteHeader(status)
	io.WriteString(w, text)
}

func problem(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", mediaProblem)
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"type":"/docs/errors/%s","title":"Title","status":%d,"detail":"Detail.","code":%q,"requestId":"r-1"}`, code, status, code)
}

// says fails unless the error is of this package, and its text holds all of the words.
func says(t *testing.T, err error, words ...string) {
	t.Helper()
	var ours Error
	if !errors.As(err, &ours) {
		t.Fatalf("%T %v is no Error", err, err)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
}

func TestConfig(t *testing.T) {
	for name, tc := range map[string]struct {
		cfg  Config
		says string
	}{
		"no key":           {Config{}, EnvAPIKey},
		"a broken key":     {Config{APIKey: "svc_prod_a\nb"}, "copy it once more"},
		"no address":       {Config{APIKey: "k", BaseURL: "memory.example.com"}, "https://"},
		"another scheme":   {Config{APIKey: "k", BaseURL: "ftp://memory.example.com"}, "https://"},
		"a key in it":      {Config{APIKey: "k", BaseURL: "https://k@memory.example.com"}, EnvAPIKey},
		"with a version":   {Config{APIKey: "k", BaseURL: "https://memory.example.com/v1/"}, "leave it out"},
		"in the clear":     {Config{APIKey: "k", BaseURL: "http://memory.example.com"}, "AllowInsecure"},
		"almost this host": {Config{APIKey: "k", BaseURL: "http://127.0.0.1.example.com"}, "AllowInsecure"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(tc.cfg)
			says(t, err, tc.says)
			var wrong *ArgumentError
			if !errors.As(err, &wrong) {
				t.Errorf("%T", err)
			}
		})
	}
	for _, base := range []string{"http://localhost:8080", "http://[::1]:8080/", "https://memory.example.com/orgmem/", ""} {
		if _, err := New(Config{APIKey: "k", BaseURL: base}); err != nil {
			t.Errorf("%s: %v", base, err)
		}
	}
	if _, err := New(Config{APIKey: "k", BaseURL: "http://memory.example.com", AllowInsecure: true}); err != nil {
		t.Error(err)
	}
	t.Setenv(EnvAPIKey, "from_env\n")
	t.Setenv(EnvBaseURL, "https://memory.example.com/")
	c, err := New(Config{})
	if err != nil || c.key != "from_env" || c.base != "https://memory.example.com" {
		t.Errorf("%v %v", c, err)
	}
	for _, form := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(form, c); strings.Contains(text, "from_env") {
			t.Errorf("%s prints the key: %s", form, text)
		}
	}
}

func TestAddressesAreEscaped(t *testing.T) {
	var seen []string
	c, _ := stub(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.URL.EscapedPath()+" "+r.Header.Get("X-Svc-Subject"))
		writeJSON(w, 200, `{}`)
	})
	for _, id := range []string{"a/b?c#d", "..", "ingest:x:y", "ä %"} {
		if _, err := c.Subject("Ann Müller/%").Get(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"a%2Fb%3Fc%23d", "%2E%2E", "ingest:x:y", "%C3%A4%20%25"}
	for i, id := range want {
		if seen[i] != "/v1/graph/nodes/"+id+" Ann%20M%C3%BCller%2F%25" {
			t.Errorf("%s", seen[i])
		}
	}
	_, err := c.Get(t.Context(), "")
	says(t, err, "id is empty")
	if _, err := c.History("").Page(t.Context(), ""); err == nil {
		t.Error("an empty id was sent")
	}
}

// An empty id, of a session that was lost, is not the key's owner.
func TestNoSubject(t *testing.T) {
	var seen []string
	c, _ := stub(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		seen = append(seen, r.Header.Get("X-Svc-Subject"))
		writeJSON(w, 200, `{}`)
	})
	for _, nobody := range []*Client{c.Subject(""), c.Subject("ann").Subject("")} {
		for name, call := range map[string]func() error{
			"get":      func() error { _, err := nobody.Get(t.Context(), "x"); return err },
			"add":      func() error { _, err := nobody.Add(t.Context(), Item{Content: "x"}); return err },
			"revoke":   func() error { return nobody.Keys.Revoke(t.Context(), "x") },
			"list":     func() error { _, err := nobody.List(NodeFilter{}).Page(t.Context(), ""); return err },
			"upload":   func() error { _, err := nobody.Imports.Upload(t.Context(), uploadOf("x")); return err },
			"download": func() error { _, err := nobody.Exports.DownloadTo(t.Context(), "x", io.Discard); return err },
			"events":   func() error { _, err := watched(t.Context(), nobody, EventsRequest{}); return err },
		} {
			err := call()
			var wrong *ArgumentError
			if !errors.As(err, &wrong) || !strings.Contains(err.Error(), "subject is empty") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if text := nobody.String(); text == c.String() {
			t.Errorf("%s is the owner's", text)
		}
	}
	if len(seen) > 0 {
		t.Errorf("it was sent as %q", seen)
	}
	for _, one := range []*Client{c, c.Subject("").Subject("ann")} {
		if _, err := one.Get(t.Context(), "x"); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(seen, []string{"", "ann"}) {
		t.Errorf("%q", seen)
	}
}

func TestRetries(t *testing.T) {
	var tries []string
	c, w := stub(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		tries = append(tries, r.Header.Get("Idempotency-Key"))
		switch len(tries) {
		case 1:
			w.Header().Set("Retry-After", "7")
			problem(w, 429, "rate_limit_exceeded")
		case 2:
			problem(w, 409, "idempotency_in_progress")
		case 3:
			http.Error(w, "<html>Bad gateway</html>", 502)
		case 4:
			panic(http.ErrAbortHandler) // the connection breaks
		case 5: // the body is cut off
			w.Header().Set("Content-Type", mediaJSON)
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, `{"jobId":`)
		default:
			writeJSON(w, 202, `{"jobId":"j","status":"pending"}`)
		}
	})
	accepted, err := c.Add(t.Context(), Item{Content: "x"})
	if err != nil || accepted.JobID != "j" {
		t.Fatalf("%v %v", accepted, err)
	}
	if len(tries) != 6 || tries[0] == "" || slices.ContainsFunc(tries, func(key string) bool { return key != tries[0] }) {
		t.Errorf("keys %q", tries)
	}
	// The middle of 0.25, 0.5, 1, 2, 4 s, the first behind Retry-After.
	want := []time.Duration{7125, 250, 500, 1000, 2000}
	for i, d := range w.pauses {
		if d != want[i]*time.Millisecond {
			t.Errorf("pause %d is %v, want %v ms", i, d, want[i])
		}
	}
	first := tries[0]
	if _, err := c.Add(t.Context(), Item{Content: "x"}); err != nil || tries[len(tries)-1] == first {
		t.Errorf("the next call has the same key, or %v", err)
	}
	if _, err := c.Add(WithIdempotencyKey(t.Context(), "mine"), Item{Content: "x"}); err != nil || tries[len(tries)-1] != "mine" {
		t.Errorf("%q %v", tries[len(tries)-1], err)
	}
}

func TestIdempotencyKeysAreChecked(t *testing.T) {
	sent := 0
	c, _ := stub(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		sent++
		writeJSON(w, 202, `{"jobId":"j"}`)
	})
	for _, key := range []string{"", " ", "a b", "a\n", "a\r\nX-Svc-Subject: b", "\x7f", "ä", strings.Repeat("x", 256)} {
		_, err := c.Add(WithIdempotencyKey(t.Context(), key), Item{Content: "x"})
		var wrong *ArgumentError
		if !errors.As(err, &wrong) || sent != 0 {
			t.Errorf("%q: %d sent, %v", key, sent, err)
		}
	}
	for _, key := range []string{"!", "~", strings.Repeat("x", 255)} {
		if _, err := c.Add(WithIdempotencyKey(t.Context(), key), Item{Content: "x"}); err != nil {
			t.Errorf("%q: %v", key, err)
		}
	}
}

// The key does not leave this machine, whatever proxy the environment names.
func TestNoProxyToThisMachine(t *testing.T) {
	const proxy = "proxy.example.com:3128"
	if sharedTransport.Proxy == nil {
		t.Fatal("the environment's proxy is not asked")
	}
	for base, want := range map[string]string{
		"http://memory.localhost:8080": "memory.localhost:8080",
		"http://localhost:8080":        "localhost:8080",
		"http://127.0.0.1:8080":        "127.0.0.1:8080",
		"http://memory.example.com":    proxy,
	} {
		for name, own := range map[string]*http.Client{"none": nil, "without a transport": {}} {
			c, err := New(Config{APIKey: "k", BaseURL: base, AllowInsecure: true, MaxRetries: -1, HTTPClient: own})
			if err != nil {
				t.Fatal(err)
			}
			// The environment was read when the first test sent something, so its proxy
			// stands here, and nothing is dialled.
			transport := c.cfg.HTTPClient.Transport.(*http.Transport).Clone()
			if transport.Proxy != nil {
				transport.Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: proxy})
			}
			var dialled string
			transport.DialContext = func(_ context.Context, _, address string) (net.Conn, error) {
				dialled = address
				return nil, errors.New("not dialled")
			}
			c.cfg.HTTPClient.Transport = transport
			if _, err := c.Me(t.Context()); err == nil || dialled != want {
				t.Errorf("%s, client %s: %s was dialled, %v", base, name, dialled, err)
			}
		}
	}
	own := http.DefaultTransport
	c, err := New(Config{APIKey: "k", BaseURL: "http://memory.localhost", HTTPClient: &http.Client{Transport: own}})
	if err != nil || c.cfg.HTTPClient.Transport != own {
		t.Errorf("the caller's transport is not used: %v", err)
	}
}

func TestRetriesAreBounded(t *testing.T) {
	var tries atomic.Int32
	down := func(after string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			tries.Add(1)
			w.Header().Set("Retry-After", after)
			problem(w, 503, "service_draining")
		}
	}
	search := func(c *Client) error {
		tries.Store(0)
		_, err := c.Search(t.Context(), SearchRequest{Query: "x"})
		return err
	}
	c, _ := stub(t, Config{}, down(""))
	if err := search(c); !errors.Is(err, ErrServer) || tries.Load() != 9 {
		t.Errorf("%d tries, %v", tries.Load(), err)
	}
	c, w := stub(t, Config{MaxRetries: 1000, RetryBudget: 30 * time.Second}, down("2"))
	w.random = 0.999
	err := search(c)
	if sum, times := w.slept(); sum > 30*time.Second || times < 3 || !errors.Is(err, ErrServer) {
		t.Errorf("%d pauses, %v in all, %v", times, sum, err)
	}
	c, w = stub(t, Config{}, down("61"))
	if _, times := w.slept(); search(c) == nil || times != 0 || tries.Load() != 1 {
		t.Errorf("%d tries of a server that wants to be left alone for longer than the budget", tries.Load())
	}
	c, _ = stub(t, Config{MaxRetries: -1}, down(""))
	if search(c) == nil || tries.Load() != 1 {
		t.Errorf("%d tries without retries", tries.Load())
	}
}

// What the service does not know again is sent once.
func TestNotRepeated(t *testing.T) {
	var tries atomic.Int32
	c, _ := stub(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		tries.Add(1)
		io.Copy(io.Discard, r.Body)
		problem(w, 503, "service_degraded")
	})
	ctx := t.Context()
	now := time.Unix(1, 0)
	for name, tc := range map[string]struct {
		call func() error
		want int32
	}{
		"update":        {func() error { _, err := c.Update(ctx, "x", NodePatch{Title: "y"}); return err }, 1},
		"upload":        {func() error { _, err := c.Imports.Upload(ctx, uploadOf("x")); return err }, 1},
		"purge":         {func() error { _, err := c.Purge.Confirm(ctx, &PurgeReport{ConfirmToken: "t"}); return err }, 1},
		"train":         {func() error { _, err := c.Brain.Train(ctx); return err }, 1},
		"sandbox key":   {func() error { _, err := c.Sandbox.Keys.Create(ctx, "", 0); return err }, 1},
		"signal":        {func() error { _, err := c.Signals(ctx, AgentSignals{Signals: []AgentSignal{{}}}); return err }, 1},
		"dated signal":  {func() error { _, err := c.Signals(ctx, AgentSignals{Signals: []AgentSignal{{At: now}}}); return err }, 9},
		"session event": {func() error { _, err := c.Sessions.Push(ctx, SessionEvent{Text: "x"}); return err }, 9},
		"preview":       {func() error { _, err := c.Purge.Preview(ctx, PurgeScopeOrg, ""); return err }, 9},
		"delete":        {func() error { _, err := c.Delete(ctx, "x"); return err }, 9},
	} {
		tries.Store(0)
		if err := tc.call(); !errors.Is(err, ErrServer) || tries.Load() != tc.want {
			t.Errorf("%s: %d tries, want %d; %v", name, tries.Load(), tc.want, err)
		}
	}
}

// What had no effect is sent again, whatever it is.
func TestRepeatedWithoutEffect(t *testing.T) {
	tries := 0
	c, w := stub(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		if tries++; tries == 1 {
			w.Header().Set("Retry-After", "1")
			problem(w, 429, "rate_limit_exceeded")
			return
		}
		io.Copy(io.Discard, r.Body)
		writeJSON(w, 200, `{"id":"x","jobId":"j"}`)
	})
	for name, call := range map[string]func() error{
		"update": func() error { _, err := c.Update(t.Context(), "x", NodePatch{Title: "y"}); return err },
		"upload": func() error { _, err := c.Imports.Upload(t.Context(), uploadOf("x")); return err },
	} {
		tries = 0
		if err := call(); err != nil || tries != 2 {
			t.Errorf("%s after a rate limit: %d tries, %v", name, tries, err)
		}
	}
	w.pauses = nil
	nobody, err := New(Config{APIKey: "k", BaseURL: "http://127.0.0.1:1", Sleep: w.sleep})
	if err != nil {
		t.Fatal(err)
	}
	_, err = nobody.Brain.Train(t.Context())
	var lost *ConnectionError
	if _, times := w.slept(); !errors.As(err, &lost) || times != defaultMaxRetries {
		t.Errorf("without a connection: %d pauses, %v", times, err)
	}
	// A file that was read is not: half of it is gone.
	tries = 0
	c, _ = stub(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		tries++
		io.Copy(io.Discard, r.Body)
		problem(w, 429, "rate_limit_exceeded")
	})
	if _, err := c.Imports.Upload(t.Context(), uploadOf("x")); !errors.Is(err, ErrRateLimited) || tries != 1 {
		t.Errorf("%d tries, %v", tries, err)
	}
}

// Each event of a session can be known again, also one that the caller gave no name.
func TestSessionEventsHaveIDs(t *testing.T) {
	var sent struct{ Events []SessionEvent }
	c, _ := stub(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		json.NewDecoder(r.Body).Decode(&sent)
		writeJSON(w, 200, `{"results":[]}`)
	})
	events := []SessionEvent{{Text: "a"}, {Text: "b", EventID: "mine"}, {Text: "c", At: time.Unix(1, 0)}}
	if _, err := c.Sessions.Push(t.Context(), events...); err != nil {
		t.Fatal(err)
	}
	if len(sent.Events[0].EventID) != 36 || sent.Events[1].EventID != "mine" || sent.Events[2].EventID != "" {
		t.Errorf("%+v", sent.Events)
	}
	if events[0].EventID != "" {
		t.Error("the caller's event was changed")
	}
}

func TestTheContextEndsEverything(t *testing.T) {
	mine := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	c, w := stub(t, Config{}, func(w http.ResponseWriter, _ *http.Request) { problem(w, 503, "service_draining") })
	w.before = func(n int) {
		if n == 2 {
			cancel(mine)
		}
	}
	_, err := c.Search(ctx, SearchRequest{Query: "x"})
	says(t, err)
	var last *APIError
	if _, times := w.slept(); times != 2 || !errors.Is(err, context.Canceled) || !errors.Is(err, mine) || !errors.As(err, &last) {
		t.Errorf("%d pauses, %v", times, err)
	}

	entered := make(chan struct{})
	c, _ = stub(t, Config{}, func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		close(entered)
		<-r.Context().Done()
	})
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		<-entered
		stop()
	}()
	_, err = c.Search(ctx, SearchRequest{Query: "x"})
	says(t, err)
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestOneTryHasATime(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"no answer": func(_ http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		},
		"half of one": func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			writeJSON(w, 200, `{"results":`)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			var tries atomic.Int32
			c, _ := stub(t, Config{Timeout: 50 * time.Millisecond, MaxRetries: 2}, func(w http.ResponseWriter, r *http.Request) {
				tries.Add(1)
				handler(w, r)
			})
			_, err := c.Search(t.Context(), SearchRequest{Query: "x"})
			var timeout *TimeoutError
			if !errors.As(err, &timeout) || tries.Load() != 3 {
				t.Errorf("%d tries, %v", tries.Load(), err)
			}
			says(t, err, "Config.Timeout")
		})
	}
}

func TestAProblemIsRead(t *testing.T) {
	c, _ := stub(t, Config{MaxRetries: -1}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaProblem)
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(422)
		io.WriteString(w, `{"type":"/docs/errors/validation_failed","title":"Not valid","status":422,"detail":"Some fields are not valid.",
			"code":"validation_failed","requestId":"r-1","suggestedAction":"Mend them.","documentationUrl":"/docs","errors":[{"field":"topK","message":"at most 100"}],"newer":1}`)
	})
	_, err := c.Search(t.Context(), SearchRequest{Query: "x", TopK: 1000})
	var got *APIError
	if !errors.As(err, &got) {
		t.Fatalf("%T %v", err, err)
	}
	want := APIError{422, "validation_failed", "Not valid", "Some fields are not valid.", "r-1",
		[]FieldError{{"topK", "at most 100"}}, 3 * time.Second, "Mend them.", "/docs", "POST " + c.base + "/v1/search", ""}
	if !reflect.DeepEqual(*got, want) {
		t.Errorf("%+v", *got)
	}
	says(t, err, "422 validation_failed", "[topK: at most 100]", "Mend them.", "r-1")
}

func TestErrorsByStatus(t *testing.T) {
	status := 0
	c, _ := stub(t, Config{MaxRetries: -1}, func(w http.ResponseWriter, _ *http.Request) { problem(w, status, "some_code") })
	all := []error{ErrBadRequest, ErrUnauthorized, ErrPermissionDenied, ErrNotFound, ErrConflict, ErrRateLimited, ErrServer}
	for want, statuses := range map[error][]int{
		ErrBadRequest: {400, 413, 415, 422}, ErrUnauthorized: {401}, ErrPermissionDenied: {403}, ErrNotFound: {404, 405},
		ErrConflict: {409, 412}, ErrRateLimited: {429}, ErrServer: {500, 501, 503}, nil: {416, 418},
	} {
		for _, status = range statuses {
			_, err := c.Me(t.Context())
			for _, one := range all {
				if errors.Is(err, one) != (one == want) {
					t.Errorf("%d matches %v: %v", status, one, errors.Is(err, one))
				}
			}
		}
	}
}

// What stands where the service should.
func TestAnswersOfOthers(t *testing.T) {
	page := "<html><body>Please log in</body></html>"
	for name, tc := range map[string]struct {
		handler http.HandlerFunc
		says    []string
		is      error
	}{
		"a page": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, page)
		}, []string{"not JSON", "Please log in", "Config.BaseURL"}, nil},
		"a page of a refusal": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(404)
			io.WriteString(w, page)
		}, []string{"404", "Please log in"}, ErrNotFound},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://elsewhere.example.com/", http.StatusTemporaryRedirect)
		}, []string{"elsewhere.example.com", "not followed"}, nil},
		"JSON of another": {func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, 400, `{"error":"nope"}`) }, []string{"none of the service's"}, ErrBadRequest},
		"half of it":      {func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, 200, `{"results":[`) }, []string{"cannot be read"}, nil},
		"another kind":    {func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, 200, `{"results":"none"}`) }, []string{"cannot be read"}, nil},
		"cut off": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			writeJSON(w, 200, `{"results":[`)
		}, []string{"cut off", "try again"}, nil},
		"no type": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			io.WriteString(w, `{}`)
		}, []string{"not JSON"}, nil},
		"an endless refusal": {func(w http.ResponseWriter, _ *http.Request) {
			problem(w, 400, "malformed_request")
			w.Write(bytes.Repeat([]byte(" "), maxProblem))
		}, []string{"too long"}, ErrBadRequest},
		"an endless answer": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", mediaJSON)
			for chunk := bytes.Repeat([]byte(" "), 1<<20); ; {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
		}, []string{"too long"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := stub(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				tc.handler(w, r)
			})
			_, err := c.Search(t.Context(), SearchRequest{Query: "x"})
			var answer *AnswerError
			if !errors.As(err, &answer) {
				t.Fatalf("%T %v", err, err)
			}
			says(t, err, tc.says...)
			if tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("it is no %v", tc.is)
			}
			if strings.Contains(answer.Excerpt, "results") {
				t.Error("what may be somebody's memory is in the error")
			}
		})
	}
}

func TestNobodyThere(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	w := &world{random: 0.5}
	c, err := New(Config{APIKey: "k", BaseURL: "http://" + listener.Addr().String(), Sleep: w.sleep})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Search(t.Context(), SearchRequest{Query: "x"})
	var lost *ConnectionError
	if _, times := w.slept(); !errors.As(err, &lost) || times != defaultMaxRetries {
		t.Errorf("%d pauses, %T", times, err)
	}
	says(t, err, listener.Addr().String(), "Is the service running there?", "Config.BaseURL")

	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	secure.Config.ErrorLog = nil
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	for base, word := range map[string]string{
		secure.URL: "authority is not known",
		strings.Replace(plain.URL, "http:", "https:", 1): "plain HTTP there",
	} {
		w := &world{}
		c, err := New(Config{APIKey: "k", BaseURL: base, Sleep: w.sleep})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Search(t.Context(), SearchRequest{Query: "x"})
		if _, times := w.slept(); !errors.As(err, &lost) || times != 0 {
			t.Errorf("%d pauses for what will not change, %v", times, err)
		}
		says(t, err, word)
	}
}

func TestANewerService(t *testing.T) {
	c, _ := stub(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/nodes") {
			writeJSON(w, 200, `{"data":[{"id":"a","mood":"blue","status":"asleep"}],"hasMore":false,"total":1}`)
			return
		}
		w.Header().Set("ETag", `"7"`)
		writeJSON(w, 200, `{"id":"a","mood":"blue","status":"asleep","supersededBy":null,"validTo":null}`)
	})
	node, err := c.Get(t.Context(), "a")
	if err != nil || node.Status != "asleep" || node.ETag != `"7"` || node.SupersededBy != "" || !node.ValidTo.IsZero() {
		t.Fatalf("%+v %v", node, err)
	}
	page, err := c.List(NodeFilter{}).Page(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range []*Node{node, &page.Data[0]} {
		var newer struct{ Mood string }
		if err := json.Unmarshal(node.Raw(), &newer); err != nil || newer.Mood != "blue" {
			t.Errorf("%s: %v", node.Raw(), err)
		}
	}
}

// A list that does not lead to its end must not look as if it had.
func TestAListWithoutAnEnd(t *testing.T) {
	for name, next := range map[string]map[string]string{
		"the same again": {"": "2", "2": "2"},
		"in a ring":      {"": "2", "2": "3", "3": "2"},
		"to nowhere":     {"": "2", "2": ""},
	} {
		c, _ := stub(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
			writeJSON(w, 200, fmt.Sprintf(`{"data":[{"id":"a"}],"hasMore":true,"nextCursor":%q}`, next[r.URL.Query().Get("cursor")]))
		})
		var last error
		nodes := 0
		for _, err := range c.List(NodeFilter{}).All(t.Context()) {
			if last = err; err == nil {
				nodes++
			}
			if nodes > 100 {
				break
			}
		}
		var answer *AnswerError
		if !errors.As(last, &answer) || nodes != len(next) {
			t.Errorf("%s: %d nodes, %v", name, nodes, last)
		}
	}
}

func TestLists(t *testing.T) {
	var asked []string
	c, _ := stub(t, Config{MaxRetries: -1}, func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.RawQuery)
		switch r.URL.Query().Get("cursor") {
		case "":
			writeJSON(w, 200, `{"data":[{"id":"a"},{"id":"b"}],"hasMore":true,"nextCursor":"2"}`)
		case "2":
			writeJSON(w, 200, `{"data":[{"id":"c"}],"hasMore":true,"nextCursor":"3"}`)
		default:
			problem(w, 400, "invalid_cursor")
		}
	})
	var ids []string
	var last error
	for node, err := range c.List(NodeFilter{Kind: NodeKindEvent, CreatedAfter: time.Unix(0, 0)}).All(t.Context()) {
		if err != nil {
			last = err
			continue
		}
		ids = append(ids, node.ID)
	}
	if !slices.Equal(ids, []string{"a", "b", "c"}) || !errors.Is(last, ErrBadRequest) {
		t.Errorf("%v %v", ids, last)
	}
	if asked[0] != "createdAfter=1970-01-01T00%3A00%3A00Z&kind=event&pageSize=100" {
		t.Error(asked[0])
	}
	asked = nil
	for range c.List(NodeFilter{PageSize: 2}).All(t.Context()) {
		break
	}
	if len(asked) != 1 || asked[0] != "pageSize=2" {
		t.Errorf("a loop that was left asked %q", asked)
	}
}

func TestWaitingForAJob(t *testing.T) {
	looks, end := 0, ""
	c, w := stub(t, Config{}, func(w http.ResponseWriter, _ *http.Request) {
		if looks++; looks <= 20 {
			writeJSON(w, 200, `{"id":"j","status":"running"}`)
			return
		}
		writeJSON(w, 200, end)
	})
	for status, says := range map[JobStatus]string{JobStatusSucceeded: "", JobStatusCancelled: "was cancelled", JobStatusFailed: "bad_item: It has no content."} {
		looks, end = 0, fmt.Sprintf(`{"id":"j","type":"ingest","status":%q,"error":{"code":"bad_item","detail":"It has no content."}}`, status)
		job, err := c.Jobs.Wait(t.Context(), "j")
		var failed *JobFailedError
		switch {
		case job.Status != status:
			t.Errorf("%+v", job)
		case says == "" && err != nil, says != "" && (!errors.As(err, &failed) || !strings.Contains(err.Error(), says)):
			t.Errorf("%v", err)
		}
	}
	if w.pauses[0] != firstLook || w.pauses[1] != firstLook*3/2 || w.pauses[10] >= longestLook || w.pauses[19] != longestLook {
		t.Errorf("%v", w.pauses[:20])
	}
	ctx, cancel := context.WithCancel(t.Context())
	w.before = func(int) { cancel() }
	looks = -1000
	_, err := c.Jobs.Wait(ctx, "j")
	says(t, err)
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestPatches(t *testing.T) {
	for want, patch := range map[string]NodePatch{
		`{"title":"x"}`:                 {Title: "x", IfMatch: `"1"`},
		`{"title":"x","domainId":null}`: {Title: "x", DomainID: Ptr("")},
		`{"domainId":"d"}`:              {DomainID: Ptr("d")},
		`{"metadata":{}}`:               {Metadata: map[string]any{}},
	} {
		if got, err := json.Marshal(patch); err != nil || string(got) != want {
			t.Errorf("%s, want %s: %v", got, want, err)
		}
	}
}

func TestArguments(t *testing.T) {
	c, err := New(Config{APIKey: "k", BaseURL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	for name, call := range map[string]func() error{
		"no item":    func() error { _, err := c.Add(ctx); return err },
		"no event":   func() error { _, err := c.Sessions.Push(ctx); return err },
		"no file":    func() error { _, err := c.Imports.Upload(ctx, Upload{Name: "a"}); return err },
		"no name":    func() error { _, err := c.Imports.Upload(ctx, Upload{File: zeros{}}); return err },
		"no preview": func() error { _, err := c.Purge.Confirm(ctx, &PurgeReport{}); return err },
		"no JSON":    func() error { _, err := c.Add(ctx, Item{Metadata: map[string]any{"f": func() {}}}); return err },
	} {
		var wrong *ArgumentError
		if err := call(); !errors.As(err, &wrong) {
			t.Errorf("%s: %T %v", name, err, err)
		}
	}
}
