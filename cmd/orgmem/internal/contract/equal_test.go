package contract

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestEqualCallsReadTheSame asks every route that only reads, of an organization that
// has been thought about, trained and written down, again and again while nothing
// happens: the bytes are the same, and no figure has more digits than it means. A list
// that was made from a map, and a sum that was added up in a map's order, are found
// here.
func TestEqualCallsReadTheSame(t *testing.T) {
	t.Parallel()
	const calls = 6
	s := startStack(t)
	o := s.org(t, "Acme")
	f := s.credentials(t, o)[1].fix
	f.trained(t)
	f.proposals(t, 1)
	f.edge(t)
	f.ok(t, f.maker, http.MethodPost, "/v1/ingest/session-event",
		`{"sessionId":"s","role":"user","text":"The router is down again."}`)
	// The event is stored. The job that has it found goes on, and could end between two calls.
	for _, j := range f.ok(t, f.maker, http.MethodGet, "/v1/jobs", "").entries(t, "data") {
		id, _ := j["id"].(string)
		f.job(t, f.maker, id)
	}
	purge := f.ok(t, f.maker, http.MethodPost, "/v1/purge", `{"scope":"org"}`).object(t)["counts"].(map[string]any)
	if len(purge) < 3 {
		t.Errorf("a purge counts %v", purge)
	}
	reading := []string{"search", "retrieve", "conditionScaffold", "conditionSession", "queryBrain", "answerFromBrain"}
	figures := 0
	for _, r := range s.routes(t) {
		if r.id == "streamEvents" || r.id == "downloadExport" ||
			r.method != http.MethodGet && !slices.Contains(reading, r.id) {
			continue
		}
		var req request
		if sample := samples[r.id]; sample != nil {
			req = sample(t, f)
		}
		ids, bodies := []string{req.id}, []string{req.body}
		switch r.id {
		case "recall":
			ids = []string{"identity", "graph", "insights", "temporal"}
		case "getJob", "getIngestStatus":
			s.job(t, f.maker, req.id) // it would go on between two calls
		case "getExport":
			s.job(t, f.maker, req.id)
		case "getUsage":
			continue // each call is counted
		}
		if strings.Contains(req.body, `"query"`) {
			bodies = []string{`{"query":"router kernel cluster"}`, `{"query":"Who is the mother of Almar Osberga?","topK":30}`}
			if r.id == "answerFromBrain" {
				bodies[1] = `{"query":"Who is the mother of Almar Osberga?"}`
			}
		}
		for _, id := range ids {
			for _, body := range bodies {
				first := ""
				for n := range calls {
					a := s.send(t, f.maker, r.method, r.target(id, req.query), body, "X-Request-Id", "same")
					if a.status != http.StatusOK {
						t.Errorf("%s %s: %d %s", r.id, id, a.status, a.body)
						break
					}
					if n == 0 {
						first = string(a.body)
						var v any
						must(t, json.Unmarshal(a.body, &v))
						figures += digitsIn(t, r.id, v)
					} else if string(a.body) != first {
						t.Errorf("%s %s: equal calls read\n%s\nand\n%s", r.id, id, first, a.body)
						break
					}
				}
			}
		}
	}
	if figures < 100 {
		t.Errorf("only %d figures were read", figures)
	}
}

// digitsIn counts the numbers with decimals in an answer and complains about those that
// show more than six of them, behind the zeros of a small one.
func digitsIn(t *testing.T, path string, v any) (figures int) {
	t.Helper()
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			figures += digitsIn(t, path+"[]", e)
		}
	case map[string]any:
		for name, e := range v {
			if name != "metadata" { // the client's
				figures += digitsIn(t, fmt.Sprint(path, ".", name), e)
			}
		}
	case float64:
		if v == math.Trunc(v) {
			return 0
		}
		_, decimals, _ := strings.Cut(strconv.FormatFloat(v, 'f', -1, 64), ".")
		if len(strings.TrimLeft(decimals, "0")) > 6 {
			t.Errorf("%s is %v", path, v)
		}
		return 1
	}
	return figures
}
