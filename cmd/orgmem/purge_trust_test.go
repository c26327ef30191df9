//go:build trust

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"orgmem/cmd/orgmem/process"
	"orgmem/proto/clock"
)

const (
	// purgeKillRounds take a minute or two.
	purgeKillRounds = 60
	// purgedTexts are the notes of a memory that is purged.
	purgedTexts = 60
)

// trustRounds is how often a test repeats: its default, or what the variable says.
func trustRounds(t *testing.T, variable string, usual int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q", variable, text)
	}
	return n
}

type purgeReport struct {
	Counts       map[string]int
	ConfirmToken string
	PurgedAt     string
	DryRun       bool
}

// TestTrustPurgeUnderKill confirms purges and kills the service meanwhile. Behind each
// kill either nothing is purged, and the token is good, or everything is, and the same
// confirmation sent again is answered that it was.
func TestTrustPurgeUnderKill(t *testing.T) {
	rounds := trustRounds(t, "ORGMEM_TRUST_PURGE_ROUNDS", purgeKillRounds)
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	data := t.TempDir()
	p := start(t, data, process.Options{})
	unlimited(t, p, data, p.OrgID)
	key := p.APIKey
	admin := func() caller { return caller{base: p.BaseURL, key: key} }
	within := 10 * time.Millisecond // adapted to what a purge takes here
	before, behind, answered := 0, 0, 0
	for round := range rounds {
		subject, whole := fmt.Sprint("subject-", round), round%3 == 2
		admin().must(t, http.StatusCreated, http.MethodPut, "/v1/subjects/"+subject, nil)
		ann := func() caller { return admin().as(subject) }
		items := make([]map[string]any, purgedTexts)
		for i := range items {
			items[i] = map[string]any{
				"content":    fmt.Sprintf("Note %d of round %d: the heron stands in the pond.", i, round),
				"externalId": fmt.Sprint("note-", i),
			}
		}
		job := ann().must(t, http.StatusAccepted, http.MethodPost, "/v1/ingest/batch",
			map[string]any{"items": items})["jobId"].(string)
		if got := ann().finished(t, job); got.Status != "done" {
			t.Fatalf("round %d: %+v", round, got)
		}
		body := map[string]any{"scope": "org"}
		if !whole {
			body = map[string]any{"scope": "subject", "subjectId": subject}
		}
		dry := purge(t, admin(), body)
		body["dryRun"], body["confirmToken"] = false, dry.ConfirmToken
		done := make(chan answer, 1)
		began := time.Now()
		go func() {
			done <- admin().send(context.WithoutCancel(t.Context()), http.MethodPost, "/v1/purge", "", body)
		}()
		if err := clock.Wait(t.Context(), clock.Real(), time.Duration(random.Int64N(int64(within)))); err != nil {
			t.Fatal(err)
		}
		killed := p
		killed.Kill()
		first := <-done
		switch {
		case first.Status == http.StatusOK:
			answered++
			within = max(within*4/5, time.Millisecond)
		case first.Status == 0:
			within = min(within*6/5, 2*time.Second)
		case first.Status != http.StatusServiceUnavailable:
			t.Fatalf("round %d: after %v the confirmation is answered %d %s", round, time.Since(began), first.Status, first.Body)
		}
		p = start(t, data, process.Options{})
		left := nodesOf(t, ann())
		switch {
		case left == 0:
			behind++
		case left == purgedTexts && first.Status != http.StatusOK:
			before++
		default:
			t.Errorf("round %d: of %d notes %d are left, and the first answer was %d", round, purgedTexts, left, first.Status)
		}
		again := admin().send(t.Context(), http.MethodPost, "/v1/purge", "", body)
		var report purgeReport
		if err := json.Unmarshal(again.Body, &report); err != nil || again.Status != http.StatusOK || report.PurgedAt == "" ||
			report.DryRun || !maps.Equal(report.Counts, dry.Counts) {
			t.Errorf("round %d, %d notes were left: sent again it is answered %d %s", round, left, again.Status, again.Body)
		}
		if left := nodesOf(t, ann()); left != 0 {
			t.Errorf("round %d: behind the purge %d notes are left", round, left)
		}
		if next := purge(t, admin(),
			map[string]any{"scope": body["scope"], "subjectId": body["subjectId"]}); next.Counts["vault_nodes"] != 0 ||
			next.Counts["memory_chunks"] != 0 {
			t.Errorf("round %d: behind the purge there are %v", round, next.Counts)
		}
	}
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
	t.Logf("trust: purge under kill: %d rounds, %d killed before the purge, %d behind it and %d of these before the "+
		"answer, %d in between", rounds, before, behind, behind-answered, rounds-before-behind)
	if rounds >= purgeKillRounds && (before == 0 || behind == answered) {
		t.Error("the kills came all on one side: the run proves little")
	}
}

func purge(t *testing.T, c caller, body map[string]any) (r purgeReport) {
	t.Helper()
	if body["subjectId"] == nil {
		delete(body, "subjectId")
	}
	a := c.send(t.Context(), http.MethodPost, "/v1/purge", "", body)
	if err := json.Unmarshal(a.Body, &r); err != nil || a.Status != http.StatusOK {
		t.Fatalf("dry run: %d %s", a.Status, a.Body)
	}
	return r
}

// nodesOf counts the documents that a memory lists.
func nodesOf(t *testing.T, c caller) int {
	t.Helper()
	list := c.must(t, http.StatusOK, http.MethodGet, "/v1/graph/nodes?pageSize=100&kind=document", nil)
	return len(list["data"].([]any))
}
