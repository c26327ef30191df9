package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"orgmem/cmd/orgmem/process"
	"orgmem/proto/clock"
)

const (
	// crashRounds is the short form for every run; `make crash` does 50.
	crashRounds = 5
	// crashWorkers load at once: enough that a kill meets every stage of a commit.
	crashWorkers = 6
	// crashWithin is the longest time of load before the kill.
	crashWithin = 500 * time.Millisecond
)

// history is what clients know: only what was acknowledged, and what was asked
// without an answer.
type history struct {
	mu       sync.Mutex
	docs     []*document
	jobs     map[string]string // job id to subject
	subjects map[string]bool   // acknowledged
	keys     map[string]*key   // by id
}

// document is one content with a word that occurs nowhere else.
type document struct {
	subject, externalID, token string
	node                       string // known once its job has finished
}

type key struct {
	id, secret string
	revoked    bool // acknowledged
	asked      bool // to be revoked, without an answer
}

// intent is a write whose answer never came. It is sent again under its
// idempotency key, as a client would.
type intent struct {
	subject, idempotencyKey, path string
	body                          any
	docs                          []*document
}

// After any number of kills at random moments, everything acknowledged is there
// once, every job finishes, and revoked keys stay revoked.
func TestCrashLosesNothingAcknowledged(t *testing.T) {
	rounds := crashRounds
	if text := os.Getenv("ORGMEM_TEST_CRASH_ROUNDS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("ORGMEM_TEST_CRASH_ROUNDS is %q", text)
		}
		rounds = n
	}
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("ORGMEM_TEST_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("ORGMEM_TEST_SEED=%d", seed) // chooses the load; when the kill strikes is the machine's choice
	random := rand.New(rand.NewPCG(seed, 0))

	data := t.TempDir()
	p := start(t, data, process.Options{})
	admin := caller{base: p.BaseURL, key: p.APIKey}
	unlimited(t, p, data, p.OrgID)
	h := &history{jobs: map[string]string{}, subjects: map[string]bool{}, keys: map[string]*key{}}
	for _, subject := range []string{"ann", "bob"} {
		admin.must(t, http.StatusCreated, http.MethodPut, "/v1/subjects/"+subject, nil)
		h.subjects[subject] = true
	}
	for round := range rounds {
		open := h.load(t, admin, p, random, round)
		p = start(t, data, process.Options{})
		admin.base = p.BaseURL
		h.verifyKeys(t, admin)
		h.retry(t, admin, open)
		h.verifyJobs(t, admin)
		h.verifySubjects(t, admin)
		t.Logf("round %d: ready after %v; %d documents, %d unanswered writes sent again", round, p.ReadyAfter,
			len(h.docs), len(open))
	}
	h.verifyDocuments(t, admin)
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
}

// unlimited lifts the rate limits of an organization.
func unlimited(t *testing.T, p *process.Process, data, org string) {
	t.Helper()
	m := newMachine(t)
	m.env["ORGMEM_OPERATOR"], m.env["ORGMEM_DATA"] = p.OperatorURL, data
	m.ok("org", "set-plan", org, "unlimited")
}

// load writes from several clients until the process is killed under them, and
// returns the writes that were never answered.
func (h *history) load(t *testing.T, admin caller, p *process.Process, random *rand.Rand, round int) []intent {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var (
		workers sync.WaitGroup
		mu      sync.Mutex
		open    []intent
	)
	for worker := range crashWorkers {
		own := rand.New(rand.NewPCG(random.Uint64(), uint64(worker)))
		workers.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				if in, unanswered := h.step(ctx, t, admin, own, fmt.Sprintf("%dx%dx%d", round, worker, n)); unanswered {
					mu.Lock()
					open = append(open, in)
					mu.Unlock()
				}
			}
		})
	}
	pause := time.Duration(random.Int64N(int64(crashWithin)))
	if err := clock.Wait(t.Context(), clock.Real(), pause); err != nil {
		t.Fatal(err)
	}
	p.Kill()
	cancel()
	workers.Wait()
	return open
}

// step does one random write. It returns the intent when no answer came.
func (h *history) step(ctx context.Context, t *testing.T, admin caller, random *rand.Rand, name string) (intent, bool) {
	switch dice := random.IntN(20); {
	case dice == 0:
		subject := "s" + name
		a := admin.send(ctx, http.MethodPut, "/v1/subjects/"+subject, "", nil)
		if a.Status == http.StatusCreated || a.Status == http.StatusOK {
			h.mu.Lock()
			h.subjects[subject] = true
			h.mu.Unlock()
		}
		h.expect(t, a, "subject", http.StatusCreated, http.StatusOK)
		return intent{}, false
	case dice <= 2:
		h.stepKey(ctx, t, admin, random, name)
		return intent{}, false
	}
	in := intent{subject: []string{"", "ann", "bob"}[random.IntN(3)], idempotencyKey: "i" + name, path: "/v1/ingest"}
	items := make([]map[string]any, 1+random.IntN(2))
	for i := range items {
		d := &document{
			subject: in.subject, externalID: fmt.Sprintf("d%s-%d", name, i),
			token: fmt.Sprintf("zq%sy%d", name, i),
		}
		in.docs = append(in.docs, d)
		items[i] = map[string]any{
			"content":    "A note about " + d.token + " and the weather in autumn.",
			"externalId": d.externalID,
		}
	}
	in.body = items[0]
	if len(items) > 1 {
		in.path, in.body = "/v1/ingest/batch", map[string]any{"items": items}
	}
	return in, !h.push(ctx, t, admin, in)
}

// push sends an ingest and reports whether it was answered.
func (h *history) push(ctx context.Context, t *testing.T, admin caller, in intent) bool {
	a := admin.as(in.subject).send(ctx, http.MethodPost, in.path, in.idempotencyKey, in.body)
	if a.Status == 0 {
		return false
	}
	h.expect(t, a, in.path, http.StatusAccepted)
	if a.Status != http.StatusAccepted {
		return a.Status != http.StatusServiceUnavailable
	}
	var accepted struct{ JobID string }
	if err := json.Unmarshal(a.Body, &accepted); err != nil {
		t.Errorf("accepted %s: %v", a.Body, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.jobs[accepted.JobID] = in.subject
	h.docs = append(h.docs, in.docs...)
	return true
}

// stepKey makes a key, or revokes one that was made.
func (h *history) stepKey(ctx context.Context, t *testing.T, admin caller, random *rand.Rand, name string) {
	h.mu.Lock()
	var victim *key
	for _, k := range h.keys { // any: the order of a map is as good as another
		if !k.asked && random.IntN(2) == 0 {
			victim = k
			victim.asked = true
			break
		}
	}
	h.mu.Unlock()
	if victim != nil {
		a := admin.send(ctx, http.MethodDelete, "/v1/keys/"+victim.id, "", nil)
		h.expect(t, a, "revoke", http.StatusNoContent)
		h.mu.Lock()
		victim.revoked = a.Status == http.StatusNoContent
		h.mu.Unlock()
		return
	}
	a := admin.send(ctx, http.MethodPost, "/v1/keys", "", map[string]any{"label": name, "scopes": []string{"read"}})
	h.expect(t, a, "key", http.StatusCreated)
	var made struct{ APIKey, ID string }
	if a.Status == http.StatusCreated && json.Unmarshal(a.Body, &made) == nil {
		h.mu.Lock()
		h.keys[made.ID] = &key{id: made.ID, secret: made.APIKey}
		h.mu.Unlock()
	}
}

// expect refuses answers that a healthy service does not give under this load.
// No answer and 503 are fair.
func (h *history) expect(t *testing.T, a answer, what string, statuses ...int) {
	if slices.Contains(append(statuses, 0, http.StatusServiceUnavailable), a.Status) {
		return
	}
	t.Errorf("%s: %d %s", what, a.Status, a.Body)
}

// verifyKeys comes first after a restart: a revoked key must fail on the very
// next request.
func (h *history) verifyKeys(t *testing.T, admin caller) {
	t.Helper()
	for _, k := range h.keys {
		a := caller{base: admin.base, key: k.secret}.send(t.Context(), http.MethodGet, "/v1/me", "", nil)
		switch {
		case k.revoked && a.Status != http.StatusUnauthorized:
			t.Errorf("revoked key answers %d", a.Status)
		case !k.asked && a.Status != http.StatusOK:
			t.Errorf("key answers %d: %s", a.Status, a.Body)
		case k.asked && !k.revoked:
			k.revoked = a.Status == http.StatusUnauthorized // the answer was lost; either is right, and must stay
			k.asked = k.revoked
		}
	}
}

// retry sends again what was never answered: whether the first try took effect
// or not, the second must not take effect beside it.
func (h *history) retry(t *testing.T, admin caller, open []intent) {
	t.Helper()
	for _, in := range open {
		eventually(t, "retry of "+in.idempotencyKey, func() bool { return h.push(t.Context(), t, admin, in) })
	}
}

func (h *history) verifyJobs(t *testing.T, admin caller) {
	t.Helper()
	nodes := map[string]string{}
	for id, subject := range h.jobs {
		job := admin.as(subject).finished(t, id)
		if job.Status != "done" || job.Result == nil {
			t.Errorf("job %s: %+v", id, job)
			continue
		}
		for _, item := range job.Result.Items {
			if item.Status != "created" || item.NodeID == "" {
				t.Errorf("job %s: item %+v", id, item)
			}
			nodes[item.ExternalID] = item.NodeID
		}
	}
	for _, d := range h.docs {
		if d.node == "" {
			d.node = nodes[d.externalID]
		}
		if d.node == "" {
			t.Errorf("document %s has no node", d.externalID)
		}
	}
	clear(h.jobs)
}

func (h *history) verifySubjects(t *testing.T, admin caller) {
	t.Helper()
	for subject := range h.subjects {
		admin.must(t, http.StatusOK, http.MethodGet, "/v1/subjects/"+subject, nil)
	}
}

// verifyDocuments looks each document up by its node and by its word, which
// must be found exactly once, in its own partition.
func (h *history) verifyDocuments(t *testing.T, admin caller) {
	t.Helper()
	for _, d := range h.docs {
		c := admin.as(d.subject)
		if node := c.must(t, http.StatusOK, http.MethodGet, "/v1/graph/nodes/"+d.node, nil); node["status"] != "live" {
			t.Errorf("node of %s: %v", d.externalID, node)
		}
		found := c.must(t, http.StatusOK, http.MethodPost, "/v1/search", map[string]any{
			"query": d.token, "mode": "keyword",
			"topK": 10,
		})
		times := 0
		for _, hit := range found["results"].([]any) {
			hit := hit.(map[string]any)
			if strings.Contains(hit["chunk"].(string), d.token+" ") {
				times++
				if hit["externalId"] != d.externalID {
					t.Errorf("%s is found as %v", d.externalID, hit["externalId"])
				}
			}
		}
		if times != 1 {
			t.Errorf("%s is found %d times", d.externalID, times)
		}
	}
	if len(h.docs) == 0 {
		t.Error("nothing was ever acknowledged")
	}
}
