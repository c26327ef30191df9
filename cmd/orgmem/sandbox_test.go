package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"orgmem/cmd/orgmem/process"
)

// side is one of two memories of an organization, with something of each kind in
// it.
type side struct {
	caller
	name string
	mark string          // a word of its contents, titles and external ids
	ids  map[string]bool // of its records
	// document is its export.
	document string
}

// idShape tells ids of records from other texts.
var idShape = regexp.MustCompile(
	`^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[a-z]+:[0-9a-f-]{36}.*)$`)

// collect notes the ids that an answer shows.
func (s *side) collect(value any, shared map[string]bool) {
	switch v := value.(type) {
	case map[string]any:
		for _, x := range v {
			s.collect(x, shared)
		}
	case []any:
		for _, x := range v {
			s.collect(x, shared)
		}
	case string:
		if idShape.MatchString(v) && !shared[v] {
			s.ids[v] = true
		}
	}
}

// gets lists the paths of the routes that answer JSON to a GET.
func gets(t *testing.T, c caller) []string {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	if err := json.Unmarshal(c.send(t.Context(), "GET", "/openapi.json", "", nil).Body, &doc); err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		if doc.Paths[path]["get"] != nil && path != "/v1/events" { // a stream; its reach has tests of its own
			paths = append(paths, path)
		}
	}
	return paths
}

// TestNoRouteCrossesTheSandbox fills an organization's memory and its sandbox, and
// reads everything that either key can read: nothing of the one is shown to the
// other, and its ids answer like ids that never existed.
func TestNoRouteCrossesTheSandbox(t *testing.T) {
	data := t.TempDir()
	p := start(t, data, process.Options{})
	admin := caller{base: p.BaseURL, key: p.APIKey}
	who := admin.must(t, 200, "GET", "/v1/me", nil)
	org := who["org"].(map[string]any)["id"].(string)
	unlimited(t, p, data, org)
	made := admin.must(t, 201, "POST", "/v1/sandbox/keys", map[string]any{"label": "trial", "ttlSeconds": 3600})
	sides := []*side{
		{caller: admin, name: "main", mark: "quizzacious", ids: map[string]bool{}},
		{
			caller: caller{base: p.BaseURL, key: made["apiKey"].(string)}, name: "sandbox", mark: "absquatulate",
			ids: map[string]bool{},
		},
	}
	shared := map[string]bool{org: true, who["user"].(map[string]any)["id"].(string): true}
	paths := gets(t, admin)
	for _, s := range sides {
		s.plant(t)
	}
	readable := func(s *side, path string) bool {
		return s.name == "main" || !strings.HasPrefix(path, "/v1/sandbox/") && path != "/v1/team/members" &&
			path != "/v1/team/keys" && path != "/v1/audit" && path != "/v1/usage"
	}
	for _, s := range sides {
		for _, path := range paths {
			if strings.Contains(path, "{") || !readable(s, path) || path == "/v1/sandbox/keys" {
				continue
			}
			if a := s.send(t.Context(), "GET", path, "", nil); a.Status == 200 {
				var v any
				if err := json.Unmarshal(a.Body, &v); err != nil {
					t.Fatalf("%s: %v", path, err)
				}
				s.collect(v, shared)
			}
		}
		if len(s.ids) < 4 {
			t.Fatalf("%s: only %d ids are known", s.name, len(s.ids))
		}
	}
	for i, s := range sides {
		them := sides[1-i]
		check := func(what string, a answer) {
			t.Helper()
			if a.Status >= 500 {
				t.Errorf("%s: %s: %d %s", s.name, what, a.Status, a.Body)
			}
			body := string(a.Body)
			if strings.Contains(body, them.mark) {
				t.Errorf("%s reads of %s: %s: %s", s.name, them.name, what, body)
			}
			for id := range them.ids {
				if strings.Contains(body, id) && !strings.Contains(what, id) {
					t.Errorf("%s reads %s of %s: %s", s.name, id, them.name, what)
				}
			}
		}
		for _, path := range paths {
			if !strings.Contains(path, "{") {
				a := s.send(t.Context(), "GET", path, "", nil)
				if readable(s, path) == (a.Status == 403) {
					t.Errorf("%s: %s: %d", s.name, path, a.Status)
				}
				check(path, a)
				continue
			}
			never := s.problem(t, fill(path, "00000000-0000-4000-8000-000000000000"))
			for id := range them.ids {
				filled := fill(path, id)
				check(filled, s.send(t.Context(), "GET", filled, "", nil))
				if got := s.problem(t, filled); got != never && strings.HasPrefix(got, "2") {
					t.Errorf("%s: %s answers %s, an id that never was %s", s.name, filled, got, never)
				}
			}
		}
		query := "the texts about bridges and rivers" // which some answers repeat
		for path, body := range map[string]map[string]any{
			"/v1/search":             {"query": query, "topK": 100},
			"/v1/retrieve":           {"query": query, "topK": 100},
			"/v1/condition/scaffold": {"prompt": query},
			"/v1/condition/session":  {},
			"/v1/brain/query":        {"query": query},
			"/v1/brain/answer":       {"query": query},
		} {
			check(path, s.send(t.Context(), "POST", path, "", body))
		}
		if check("export", answer{Body: []byte(s.document)}); !strings.Contains(s.document, s.mark) {
			t.Errorf("%s: the export holds nothing of its own", s.name)
		}
		for _, path := range []string{"/v1/search", "/v1/retrieve"} {
			a := s.send(t.Context(), "POST", path, "", map[string]any{"query": query, "topK": 100, "scope": "org"})
			check(path+" scope org", a)
			if !strings.Contains(string(a.Body), s.mark) {
				t.Errorf("%s: %s finds nothing of its own: %s", s.name, path, a.Body)
			}
		}
	}
}

// plant puts something of each kind into the side's memory.
func (s *side) plant(t *testing.T) {
	t.Helper()
	job := s.finished(t, s.must(t, 202, "POST", "/v1/ingest/batch", map[string]any{"items": []map[string]any{
		{
			"content": "The " + s.mark + " text about bridges.", "title": "Bridges " + s.mark, "externalId": "bridge-" + s.mark,
			"metadata": map[string]any{"tag": s.mark},
		},
		{"content": "Another " + s.mark + " text about rivers.", "externalId": "river-" + s.mark},
		{"content": "A third " + s.mark + " text to forget.", "externalId": "forget-" + s.mark},
	}})["jobId"].(string))
	var nodes []string
	for _, item := range job.Result.Items {
		nodes = append(nodes, item.NodeID)
	}
	s.must(t, 201, "POST", "/v1/graph/edges", map[string]any{
		"source": nodes[0], "target": nodes[1], "type": "crosses",
		"note": s.mark,
	})
	s.must(t, 200, "DELETE", "/v1/graph/nodes/"+url.PathEscape(nodes[2]), nil)
	export := "/v1/exports/" +
		s.must(t, 202, "POST", "/v1/exports", map[string]any{"scope": "user", "format": "json"})["exportId"].(string)
	eventually(t, "export", func() bool { return s.must(t, 200, "GET", export, nil)["status"] == "succeeded" })
	s.document = string(s.send(t.Context(), "GET", export+"/download", "", nil).Body)
	s.must(t, 200, "PATCH", "/v1/settings", map[string]any{"qualityMode": "thorough"})
}

// fill puts one id in the place of every parameter of a path.
func fill(path, id string) string {
	return regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(path, url.PathEscape(id))
}

// problem is an answer's status and code.
func (s *side) problem(t *testing.T, path string) string {
	t.Helper()
	a := s.send(t.Context(), "GET", path, "", nil)
	var p struct {
		Code string `json:"code"`
	}
	_ = json.Unmarshal(a.Body, &p) // a success has none
	return fmt.Sprintf("%d %s", a.Status, p.Code)
}
