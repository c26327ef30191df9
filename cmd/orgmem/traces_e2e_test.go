package main

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collected is a collector of traces that keeps what it gets.
type collected struct {
	*httptest.Server

	mu    sync.Mutex
	raw   bytes.Buffer // every byte of the bodies, unpacked
	spans []sentSpan
	heads []http.Header
}

// sentSpan is a span, and the node that told of it.
type sentSpan struct {
	*otlp.Span

	node string
}

func newCollector(t *testing.T) *collected {
	t.Helper()
	c := &collected{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body io.Reader = r.Body
		if r.Header.Get("Content-Encoding") == "gzip" {
			unpacked, err := gzip.NewReader(r.Body)
			if err != nil {
				t.Error(err)
				return
			}
			body = unpacked
		}
		raw, err := io.ReadAll(body)
		var batch collector.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(raw, &batch)
		}
		if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("%s, %s: %v", r.URL.Path, r.Header.Get("Content-Type"), err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.raw.Write(raw)
		c.heads = append(c.heads, r.Header)
		for _, from := range batch.GetResourceSpans() {
			node := ""
			for _, a := range from.GetResource().GetAttributes() {
				if a.GetKey() == "service.instance.id" {
					node = a.GetValue().GetStringValue()
				}
			}
			for _, scope := range from.GetScopeSpans() {
				for _, s := range scope.GetSpans() {
					c.spans = append(c.spans, sentSpan{s, node})
				}
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

// of are the spans of a trace.
func (c *collected) of(trace string) (spans []sentSpan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		if hex.EncodeToString(s.GetTraceId()) == trace {
			spans = append(spans, s)
		}
	}
	return spans
}

// tree writes spans as a tree below the span of the caller, each branch once, children in the order of their names.
func tree(spans []sentSpan, root string) string {
	var b strings.Builder
	var write func(parent string, depth int)
	write = func(parent string, depth int) {
		below := map[string]string{}
		for _, s := range spans {
			if hex.EncodeToString(s.GetParentSpanId()) != parent {
				continue
			}
			was := b
			b = strings.Builder{}
			write(hex.EncodeToString(s.GetSpanId()), depth+1)
			below[fmt.Sprintf("%s%s\n", strings.Repeat("  ", depth), s.GetName())+b.String()] = ""
			b = was
		}
		var lines []string
		for line := range below {
			lines = append(lines, line)
		}
		slices.Sort(lines)
		for _, line := range lines {
			b.WriteString(line)
		}
	}
	write(root, 0)
	return b.String()
}

const (
	tracedTrace = "0af7651916cd43dd8448eb211c80319c"
	tracedSpan  = "b7ad6b7169203331"
)

// traced sends a request within the caller's trace.
func (c caller) traced(t *testing.T, status int, method, path string, body any) (object map[string]any) {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), method, c.base+path, bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Svc-Api-Key", c.key)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Svc-Subject", c.subject)
	r.Header.Set("Traceparent", "00-"+tracedTrace+"-"+tracedSpan+"-01")
	r.Header.Set("Tracestate", "vendor=hello")
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	if err := json.NewDecoder(a.Body).Decode(&object); err != nil || a.StatusCode != status {
		t.Fatalf("%s %s: %d, %v, %v", method, path, a.StatusCode, object, err)
	}
	return object
}

// What an ingest and a search cause on two nodes is one tree below the span of who asked, and nothing of what was
// stored or asked, nor of the key, leaves the nodes with it.
func TestTracesOfTwoNodesAreOneTree(t *testing.T) {
	t.Parallel()
	sink := newCollector(t)
	headers := filepath.Join(t.TempDir(), "headers")
	if err := os.WriteFile(headers, []byte("Authorization: Bearer of-the-collector\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := &trio{t: t, dir: t.TempDir(), flags: []string{
		"--traces-endpoint", sink.URL, "--traces-ratio", "0", "--traces-headers-file", headers,
	}}
	c.run("cluster", "init", "--data", c.data(0))
	c.serve(0, "")
	c.serve(1, c.token())
	key := c.nodes[0].APIKey
	secrets := []string{"zanzibar", "quagmire", "marzipan", "subjectofmine", key, c.nodes[0].OrgID, "of-the-collector"}
	direct := caller{base: c.nodes[0].BaseURL, key: key}
	direct.must(t, http.StatusCreated, http.MethodPut, "/v1/subjects/subjectofmine", map[string]any{})

	// Of two nodes the first leads everything: what the second is asked goes there.
	for i := range 2 {
		at := caller{c.nodes[i].BaseURL, key, "subjectofmine"}
		job := at.traced(t, http.StatusAccepted, http.MethodPost, "/v1/ingest", map[string]any{
			"content": fmt.Sprintf("The zanzibar of number %d is quagmire.", i), "title": "Of marzipan",
			"externalId": fmt.Sprintf("marzipan-%d", i), "metadata": map[string]any{"marzipan": "quagmire"},
		})
		at.finished(t, fmt.Sprint(job["jobId"]))
		at.traced(t, http.StatusOK, http.MethodPost, "/v1/search", map[string]any{"query": "quagmire in zanzibar"})
	}
	want := strings.TrimLeft(`
POST /v1/ingest
  node call
    node answer
      admission
      commit
        raft
      ingest
        commit
          raft
        embed
        embed queue
        index
      mailbox
      queue
  receive
POST /v1/ingest
  admission
  commit
    raft
  ingest
    commit
      raft
    embed
    embed queue
    index
  mailbox
  queue
  receive
POST /v1/search
  admission
  mailbox
  read queue
  read
    embed query
    index search
  receive
POST /v1/search
  node call
    node answer
      admission
      mailbox
      read queue
      read
        embed query
        index search
  receive
`, "\n")
	sorted := func(tree string) string {
		lines := strings.Split(tree, "\n")
		slices.Sort(lines)
		return strings.Join(lines, "\n")
	}
	got := ""
	eventually(t, "the whole tree", func() bool {
		got = tree(sink.of(tracedTrace), tracedSpan)
		return strings.Count(got, "\n") >= strings.Count(want, "\n")
	})
	if sorted(got) != sorted(want) {
		t.Errorf("the tree is\n%s\nand not\n%s", got, want)
	}
	nodes := map[string]bool{}
	for _, s := range sink.of(tracedTrace) {
		nodes[s.node] = true
		if s.GetTraceState() != "vendor=hello" {
			t.Errorf("%s has the state %q", s.GetName(), s.GetTraceState())
		}
		if s.GetEndTimeUnixNano() < s.GetStartTimeUnixNano() {
			t.Errorf("%s ends before it begins", s.GetName())
		}
	}
	if len(nodes) != 2 {
		t.Errorf("spans come from %v", nodes)
	}
	mine := len(sink.of(tracedTrace))
	sink.mu.Lock()
	defer sink.mu.Unlock()
	if others := len(sink.spans) - mine; others != 0 {
		t.Errorf("%d spans are of requests that nobody wanted traced", others)
	}
	for _, secret := range secrets {
		if bytes.Contains(bytes.ToLower(sink.raw.Bytes()), []byte(strings.ToLower(secret))) {
			t.Errorf("what was sent holds %q", secret)
		}
	}
	for _, h := range sink.heads {
		if h.Get("Authorization") != "Bearer of-the-collector" {
			t.Error("a batch came without the collector's header")
		}
	}
}
