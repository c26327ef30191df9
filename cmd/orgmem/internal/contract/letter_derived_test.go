package contract

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"orgmem/proto/prototest"
)

// What was derived says, wherever it is shown, that what it rests on does not stand, with the node, the reason and the
// time. The field is absent before.
func TestDerivationsToTheLetter(t *testing.T) {
	s := startStack(t)
	o := s.org(t, "Acme")
	c := caller{key: o.key}
	ground, other := s.note(t, c, "The lease ends in May."), s.note(t, c, "The movers are cheap.")
	derive := func(content string, from ...string) (node string, item map[string]any) {
		t.Helper()
		body, err := json.Marshal(map[string]any{"content": content, "derivedFrom": from})
		must(t, err)
		job := s.job(t, c, s.ok(t, c, http.MethodPost, "/v1/ingest", string(body)).text(t, "jobId"))
		item = job["result"].(map[string]any)["items"].([]any)[0].(map[string]any)
		node, _ = item["nodeId"].(string)
		return node, item
	}
	middle, _ := derive("We move out in May.", ground)
	top, _ := derive("Book Gulliver for May.", middle)
	if _, item := derive("Nothing rests on nothing.", "nobody"); item["status"] != "failed" ||
		item["error"] != "derivedFrom[0] names no node and no document of this memory" {
		t.Errorf("an unknown ground: %v", item)
	}
	edge := fmt.Sprintf(`{"source":%q,"target":%q,"type":"needs","derivedFrom":[%q]}`, top, other, middle)
	made := s.send(t, c, http.MethodPost, "/v1/graph/edges", edge, "Idempotency-Key", "once")
	again := s.send(t, c, http.MethodPost, "/v1/graph/edges", edge, "Idempotency-Key", "once")
	if made.status != http.StatusCreated || string(again.body) != string(made.body) {
		t.Errorf("an edge: %d %s, and again %s", made.status, made.body, again.body)
	}
	bad := s.send(t, c, http.MethodPost, "/v1/graph/edges",
		fmt.Sprintf(`{"source":%q,"target":%q,"type":"needs","derivedFrom":[%q,"nobody"]}`, top, other, middle))
	if errs := bad.entries(t, "errors"); bad.code(t) != "validation_failed" || len(errs) != 1 ||
		errs[0]["field"] != "derivedFrom[1]" {
		t.Errorf("an edge on nothing: %d %s", bad.status, bad.body)
	}
	kept := s.ok(t, c, http.MethodGet, "/v1/graph/edges?type=derived_from&source="+top, "").entries(t, "data")
	if len(kept) != 1 || kept[0]["target"] != middle || kept[0]["origin"] != "ingest" {
		t.Errorf("it is kept as %v", kept)
	}

	shown := func() map[string]any {
		t.Helper()
		out := map[string]any{}
		first := func(way string, a answer, list string) {
			t.Helper()
			for _, x := range a.entries(t, list) {
				if x["nodeId"] == top || x["id"] == top {
					out[way] = x["stale"]
				}
			}
		}
		query := `{"query":"Gulliver"}`
		out["node"] = s.ok(t, c, http.MethodGet, "/v1/graph/nodes/"+top, "").object(t)["stale"]
		out["recalled"] = s.ok(t, c, http.MethodGet, "/v1/recall/graph/node/"+top, "").object(t)["stale"]
		first("listed", s.ok(t, c, http.MethodGet, "/v1/graph/nodes", ""), "data")
		first("found", s.ok(t, c, http.MethodPost, "/v1/search", query), "results")
		first("retrieved", s.ok(t, c, http.MethodPost, "/v1/retrieve", query), "results")
		first("graph", s.ok(t, c, http.MethodGet, "/v1/recall/graph", ""), "nodes")
		answered := s.ok(t, c, http.MethodPost, "/v1/brain/answer", query)
		out["answer"] = answered.object(t)["stale"]
		first("cited", answered, "citations")
		out["edge"] = s.ok(t, c, http.MethodGet, "/v1/graph/edges/"+made.text(t, "id"), "").object(t)["stale"]
		return out
	}
	for way, told := range shown() {
		if told != nil {
			t.Errorf("%s tells %v before anything has changed", way, told)
		}
	}
	s.clock.Advance(time.Minute)
	s.ok(t, c, http.MethodPost, "/v1/graph/nodes/"+ground+"/supersede",
		`{"content":"The lease ends in June.","reason":"It was extended."}`)
	want := map[string]any{"because": ground, "reason": "superseded", "since": stamp(s.clock.Now())}
	ways := shown()
	if len(ways) != 9 {
		t.Errorf("it is shown in the ways %v", ways)
	}
	for way, told := range ways {
		list, _ := told.([]any)
		if len(list) != 1 {
			t.Errorf("%s tells %v", way, told)
			continue
		}
		if diff := prototest.DiffObject(want, list[0].(map[string]any)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", way, diff)
		}
	}
}

// What comes again and again stands beside the events in its normal form, and goes with its text.
func TestRecurrencesToTheLetter(t *testing.T) {
	s := startStack(t)
	o := s.org(t, "Acme")
	c := caller{key: o.key}
	node := s.note(t, c, "The choir meets every Wednesday at 10, except in August.")
	recurrences := func() []map[string]any {
		t.Helper()
		s.ok(t, c, http.MethodPost, "/v1/ingest/session-finalize", "")
		for _, j := range s.ok(t, c, http.MethodGet, "/v1/jobs?type=session_finalize", "").entries(t, "data") {
			s.job(t, c, j["id"].(string))
		}
		return s.letter(t, c, http.MethodGet, "/v1/recall/temporal", "", http.StatusOK, map[string]shape{
			"events": []shape{"object"}, "trends": []shape{"object"}, "cadence?": "object",
			"recurrences": []shape{map[string]shape{
				"id": "uuid", "title": "string", "text": "string", "nodeId": "string", "since": "time|null",
				"until": "time|null", "every": "object",
			}},
		}).entries(t, "recurrences")
	}
	list := recurrences()
	if len(list) != 1 {
		t.Fatalf("%v", list)
	}
	delete(list[0], "id")
	if diff := prototest.DiffObject(map[string]any{
		"title": "The choir meets every Wednesday at 10, except in August.", "text": "every Wednesday at 10",
		"nodeId": node, "since": nil, "until": nil,
		"every": map[string]any{
			"unit": "week", "interval": 1.0, "weekdays": []any{"wednesday"}, "at": []any{"10:00"},
			"except": map[string]any{"text": "in August", "months": []any{8.0}},
		},
	}, list[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.ok(t, c, http.MethodDelete, "/v1/graph/nodes/"+node, "")
	if list := recurrences(); len(list) > 0 {
		t.Errorf("of a text that is forgotten: %v", list)
	}
}
