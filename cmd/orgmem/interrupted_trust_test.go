//go:build trust

package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"orgmem/cmd/orgmem/process"
	"orgmem/proto/clock"
)

const (
	// interruptedRounds are starts of the process, each of which ends by SIGTERM or kill -9
	// in turn. ORGMEM_INTERRUPTED_ROUNDS says otherwise.
	interruptedRounds = 16
	// interruptedWithin is the longest time of work before that.
	interruptedWithin = 3 * time.Second
)

// TestTrustInterruptedWork ends the process, in good order and not, while it takes in
// content, trains, finalizes sessions, runs cycles, exports and erases: none of that work
// has failed.
func TestTrustInterruptedWork(t *testing.T) {
	rounds := trustRounds(t, "ORGMEM_INTERRUPTED_ROUNDS", interruptedRounds)
	data := t.TempDir()
	p := start(t, data, process.Options{})
	c := caller{base: p.BaseURL, key: p.APIKey}
	unlimited(t, p, data, p.OrgID)
	names := []string{"Anna", "Bela", "Cora", "Dora", "Emil", "Finn", "Gero", "Hugo"}
	notes := func(tag, n int) (items []map[string]any) {
		for i := range n {
			a, b := names[(tag+i)%len(names)], names[(tag*3+i*5+1)%len(names)]
			items = append(items, map[string]any{
				"externalId": fmt.Sprintf("%d-%d", tag, i), "title": fmt.Sprintf("%s %d-%d", a, tag, i),
				"content": fmt.Sprintf("%s met %s at the mill number %d. The mill of %s grinds %d sacks of flour a week, "+
					"says note %d of %d.", a, b, i, b, 10+i, i, tag),
			})
		}
		return items
	}
	first := c.must(t, http.StatusAccepted, http.MethodPost, "/v1/ingest/batch", map[string]any{"items": notes(0, 120)})
	c.finished(t, first["jobId"].(string))
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	kills, running := 0, 0
	for round := range rounds {
		subject := fmt.Sprintf("s%d", round)
		for _, r := range []struct {
			method, path string
			body         any
		}{
			{http.MethodPost, "/v1/ingest/batch", map[string]any{"items": notes(round+1, 20)}},
			{
				http.MethodPost, "/v1/ingest/session-event",
				map[string]any{"sessionId": subject, "role": "user", "text": fmt.Sprintf("I fixed the mill %d.", round)},
			},
			{http.MethodPost, "/v1/ingest/session-finalize", nil},
			{http.MethodPost, "/v1/brain/train", nil}, // 409 where one is under way
			{http.MethodPost, "/v1/exports", map[string]any{"format": "json"}},
			{http.MethodPut, "/v1/subjects/" + subject, nil},
			{http.MethodDelete, "/v1/subjects/" + subject, nil},
		} {
			if a := c.send(t.Context(), r.method, r.path, "", r.body); a.Status/100 != 2 && a.Status != http.StatusConflict {
				t.Errorf("%s %s: %d %s", r.method, r.path, a.Status, a.Body)
			}
		}
		if err := clock.Wait(t.Context(), clock.Real(), time.Duration(random.Int64N(int64(interruptedWithin)))); err != nil {
			t.Fatal(err)
		}
		if round%2 == 0 {
			busy := c.must(t, http.StatusOK, http.MethodGet, "/v1/jobs?pageSize=100&status=running", nil)["data"].([]any)
			p.Kill()
			kills++
			running += len(busy)
		} else if err := p.Stop(); err != nil {
			t.Error(err)
		}
		p = start(t, data, process.Options{})
		c.base = p.BaseURL
	}
	ends := map[string]int{}
	eventually(t, "the end of all jobs", func() bool {
		clear(ends)
		for cursor := ""; ; {
			path := "/v1/jobs?pageSize=100"
			if cursor != "" {
				path += "&cursor=" + cursor
			}
			page := c.must(t, http.StatusOK, http.MethodGet, path, nil)
			for _, j := range page["data"].([]any) {
				job := j.(map[string]any)
				ends[fmt.Sprint(job["type"], " ", job["status"])]++
				switch {
				case job["status"] == "failed":
					t.Fatalf("%v", job)
				case job["attempts"].(float64) > 5:
					t.Fatalf("more attempts than there are: %v", job)
				case job["finishedAt"] == nil:
					return false
				}
			}
			if cursor, _ = page["nextCursor"].(string); cursor == "" {
				return true
			}
		}
	})
	t.Logf("trust: interrupted work: %d kills, at which %d jobs ran, %d stops: jobs %v, none failed", kills, running,
		rounds-kills, ends)
	if running == 0 {
		t.Error("no job ran at a kill: nothing was interrupted")
	}
}
