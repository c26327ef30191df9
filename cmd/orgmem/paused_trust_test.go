//go:build trust

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	// pausedRounds is how often each node is paused. ORGMEM_PAUSED_ROUNDS says otherwise.
	pausedRounds = 2
	// pausedOrgs are made before each round: the first write of an organization asks more
	// of the cluster than the later ones.
	pausedOrgs = 6
	// electedWithin is how long a shard is without a leader, about, and answeredWithin that
	// and the longest time that docs/cluster.md gives a node that says nothing.
	electedWithin  = 2 * time.Second
	answeredWithin = electedWithin + 3*time.Second
)

// pausedOp is one request, and the statuses that it may be answered with.
type pausedOp struct {
	name         string
	operator     bool
	method, path string
	key          bool // with an Idempotency-Key
	body         any
}

// pausedOps are all kinds of requests that a node passes on.
func pausedOps(tag, org string) []pausedOp {
	file := form("--sample\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nBread rises " +
		tag + ".\r\n--sample--\r\n")
	note := map[string]any{"content": "Bread rises " + tag + "."}
	return []pausedOp{
		{name: "read", method: http.MethodGet, path: "/v1/me"},
		{name: "list", method: http.MethodGet, path: "/v1/graph/nodes"},
		{name: "search", method: http.MethodPost, path: "/v1/search", body: map[string]any{"query": "bread"}},
		{name: "retrieve", method: http.MethodPost, path: "/v1/retrieve", body: map[string]any{"query": "bread"}},
		{name: "ingest", method: http.MethodPost, path: "/v1/ingest", body: note},
		{name: "ingest with a key", method: http.MethodPost, path: "/v1/ingest", key: true, body: note},
		{name: "import", method: http.MethodPost, path: "/v1/import", body: file},
		{
			name: "session event", method: http.MethodPost, path: "/v1/ingest/session-event",
			body: map[string]any{"sessionId": "s", "role": "user", "text": "Hello " + tag},
		},
		{name: "new key", method: http.MethodPost, path: "/v1/keys", key: true, body: map[string]any{"label": tag}},
		{name: "new key without a key", method: http.MethodPost, path: "/v1/keys", body: map[string]any{"label": tag}},
		{name: "sandbox key", method: http.MethodPost, path: "/v1/sandbox/keys", body: map[string]any{}},
		{name: "subject", method: http.MethodPut, path: "/v1/subjects/" + tag, body: nil},
		{name: "settings", method: http.MethodPatch, path: "/v1/settings", body: map[string]any{"learnModeDefault": true}},
		{name: "export", method: http.MethodPost, path: "/v1/exports", key: true, body: map[string]any{"format": "json"}},
		{name: "train", method: http.MethodPost, path: "/v1/brain/train", body: nil},
		{name: "purge", method: http.MethodPost, path: "/v1/purge", body: map[string]any{"scope": "org"}},
		{name: "stream", method: http.MethodGet, path: "/v1/events"},
		{name: "unknown key", method: http.MethodGet, path: "/v1/me"},
		{name: "operator: organization", operator: true, method: http.MethodGet, path: "/operator/orgs/" + org},
		{name: "operator: list", operator: true, method: http.MethodGet, path: "/operator/orgs"},
		{name: "operator: cluster", operator: true, method: http.MethodGet, path: "/operator/cluster"},
		{
			name: "operator: plan", operator: true, method: http.MethodPut, path: "/operator/orgs/" + org + "/plan",
			body: map[string]any{"plan": "unlimited"},
		},
		{
			name: "operator: new organization", operator: true, method: http.MethodPost, path: "/operator/orgs",
			body: map[string]any{"name": tag, "ownerEmail": "o@example.com"},
		},
	}
}

// askPaused sends one request to node i, and returns its status, 0 where none came.
func (c *trio) askPaused(i int, op pausedOp, key, tag string) (status int, detail string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	raw, kind := []byte(nil), "application/json"
	if f, is := op.body.(form); is {
		raw, kind = []byte(f), "multipart/form-data; boundary=sample"
	} else if op.body != nil {
		raw, _ = json.Marshal(op.body)
	}
	base := c.nodes[i].BaseURL
	if op.operator {
		base = c.nodes[i].OperatorURL
	}
	r, err := http.NewRequestWithContext(ctx, op.method, base+op.path, bytes.NewReader(raw))
	if err != nil {
		return 0, err.Error()
	}
	switch {
	case op.operator:
		token, err := os.ReadFile(filepath.Join(c.data(i), "operator.token"))
		if err != nil {
			return 0, err.Error()
		}
		r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	case op.name == "unknown key":
		r.Header.Set("X-Svc-Api-Key", "svc_prod_"+strings.Repeat("x", 43))
	default:
		r.Header.Set("X-Svc-Api-Key", key)
	}
	if raw != nil {
		r.Header.Set("Content-Type", kind)
	}
	if op.key {
		r.Header.Set("Idempotency-Key", strings.ReplaceAll(op.name+tag, " ", "-"))
	}
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	if op.name == "stream" {
		return response.StatusCode, ""
	}
	var problem struct{ Code, Detail string }
	_ = json.NewDecoder(response.Body).Decode(&problem)
	if response.StatusCode == http.StatusServiceUnavailable && response.Header.Get("Retry-After") == "" {
		return 0, "503 without Retry-After"
	}
	return response.StatusCode, problem.Code + " " + problem.Detail
}

// TestTrustPausedNode pauses each node of three in turn (SIGSTOP), and sends requests of
// all kinds through the other two meanwhile: each is answered, or refused with 503, within
// some seconds, however long the pause is.
func TestTrustPausedNode(t *testing.T) {
	rounds := trustRounds(t, "ORGMEM_PAUSED_ROUNDS", pausedRounds)
	c := startTrio(t)
	type slow struct {
		took time.Duration
		what string
	}
	var mu sync.Mutex
	var all []slow
	statuses := map[int]int{}
	for round := range rounds * len(c.nodes) {
		paused := round % len(c.nodes)
		var keys, orgs []string
		for k := range pausedOrgs {
			var made struct{ APIKey, Org string }
			out := c.run(slices.Concat([]string{
				"org", "create", "--name", fmt.Sprintf("r%d-%d", round, k), "--owner-email",
				"o@example.com", "--plan", "unlimited",
			}, c.operator((paused+1)%3))...)
			if err := json.Unmarshal(out, &made); err != nil || made.APIKey == "" {
				t.Fatalf("%s: %v", out, err)
			}
			keys, orgs = append(keys, made.APIKey), append(orgs, made.Org)
		}
		pid := c.nodes[paused].Pid()
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		var asked sync.WaitGroup
		for k, key := range keys {
			for _, i := range []int{(paused + 1) % 3, (paused + 2) % 3} {
				tag := fmt.Sprintf("r%d-%d-%d", round, k, i)
				for _, op := range pausedOps(tag, orgs[k]) {
					asked.Go(func() {
						began := time.Now()
						status, detail := c.askPaused(i, op, key, tag)
						took := time.Since(began)
						mu.Lock()
						defer mu.Unlock()
						statuses[status]++
						all = append(all, slow{took, fmt.Sprintf("round %d, node %d paused, %s through node %d: %d %s", round,
							paused, op.name, i, status, detail)})
						if status == 0 || status >= 500 && status != http.StatusServiceUnavailable {
							t.Errorf("%s", all[len(all)-1].what)
						}
					})
				}
			}
		}
		asked.Wait()
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		c.settled((paused + 1) % 3)
	}
	slices.SortFunc(all, func(a, b slow) int { return cmp.Compare(b.took, a.took) })
	late := 0
	for i, s := range all {
		if s.took > answeredWithin {
			late++
			if late <= 30 {
				t.Errorf("%v: %s", s.took, s.what)
			}
		} else if i < 5 {
			t.Logf("%v: %s", s.took, s.what)
		}
	}
	t.Logf("trust: paused node: %d pauses, %d requests through the others: statuses %v, %d later than %v, the "+
		"slowest after %v, the median after %v",
		rounds*len(c.nodes), len(all), statuses, late, answeredWithin, all[0].took.Round(time.Millisecond),
		all[len(all)/2].took.Round(time.Millisecond))
}
