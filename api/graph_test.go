package api

import (
	"net/url"
	"strings"
	"testing"

	pb "orgmem/proto"
	"orgmem/proto/prototest"
)

// interface: Resources/Graph records
func TestAssertEdgeBodies(t *testing.T) {
	h := newHarness(t)
	for body, field := range map[string]string{
		`{"source":"a","target":"b","type":"near"}`:                                            "",
		`{"source":"a","target":"b","type":"Near.by:x-1_y","weight":0,"confidence":1}`:         "",
		`{"source":"a","target":"b","type":"` + strings.Repeat("x", 64) + `"}`:                 "",
		`{"source":"a","target":"b","type":"near","note":""}`:                                  "",
		`{"source":"a","target":"b"}`:                                                          "type",
		`{"target":"b","type":"near"}`:                                                         "source",
		`{"source":"a","type":"near"}`:                                                         "target",
		`{"source":"","target":"b","type":"near"}`:                                             "source",
		`{"source":"a","target":"a","type":"near"}`:                                            "target",
		`{"source":"a","target":"b","type":""}`:                                                "type",
		`{"source":"a","target":"b","type":"1near"}`:                                           "type",
		`{"source":"a","target":"b","type":"near by"}`:                                         "type",
		`{"source":"a","target":"b","type":"nähe"}`:                                            "type",
		`{"source":"a","target":"b","type":"superseded_by"}`:                                   "type",
		`{"source":"a","target":"b","type":"` + strings.Repeat("x", 65) + `"}`:                 "type",
		`{"source":"a","target":"b","type":"near","weight":1.01}`:                              "weight",
		`{"source":"a","target":"b","type":"near","weight":-0.1}`:                              "weight",
		`{"source":"a","target":"b","type":"near","confidence":2}`:                             "confidence",
		`{"source":"a","target":"b","type":"near","weight":"0.4"}`:                             "weight",
		`{"source":"a","target":"b","type":"near","weight":null}`:                              "weight",
		`{"source":"a","target":"b","type":"near","origin":"ingest"}`:                          "origin",
		`{"source":"a","target":"b","type":"near","note":"` + strings.Repeat("x", 2001) + `"}`: "note",
	} {
		res := h.do("POST", "/v1/graph/edges", body)
		op := h.asker.last().GetGraph().GetAssertEdge()
		switch {
		case field == "" && (res.StatusCode != 201 || op == nil):
			t.Errorf("%s: %s", body, res.body)
		case field != "" && (res.code(t) != pb.CodeValidation || res.fields(t)[field] == "" || op != nil):
			t.Errorf("%s: %d %s", body, res.StatusCode, res.body)
		}
	}
	h.do("POST", "/v1/graph/edges", `{"source":"a","target":"b","type":"near","weight":0}`)
	if op := h.asker.last().GetGraph().GetAssertEdge(); op.Weight == nil || op.Confidence != nil || op.Note != nil {
		t.Errorf("what is named and what is not: %v", op)
	}
}

// interface: Endpoints/Recall node and search
func TestGraphListQueries(t *testing.T) {
	h := newHarness(t)
	for query, field := range map[string]string{
		"kind=belief&status=tombstoned&domainId=x&q=figs":                             "",
		"createdAfter=2026-01-01T00:00:00Z&createdBefore=2026-01-02T00:00:00%2B01:00": "",
		"kind=note":                        "kind",
		"kind=":                            "kind",
		"status=deleted":                   "status",
		"createdAfter=yesterday":           "createdAfter",
		"createdBefore=2026-01-01":         "createdBefore",
		"q=":                               "q",
		"q=%20%09":                         "q",
		"q=" + strings.Repeat("x", 501):    "q",
		"domainId=":                        "domainId",
		"externalId=":                      "externalId",
		"ids=":                             "ids",
		"ids=a,b&kind=document":            "",
		"ids=a,,b":                         "ids",
		"ids=a&q=figs":                     "ids",
		"ids=a&externalId=b":               "ids",
		"ids=a" + strings.Repeat(",a", 49): "",
		"ids=a" + strings.Repeat(",a", 50): "ids",
		"Kind=belief":                      "Kind",
	} {
		res := h.do("GET", "/v1/graph/nodes?"+query, "")
		op := h.asker.last().GetGraph().GetListNodes()
		if field == "" && op == nil || field != "" && res.fields(t)[field] == "" {
			t.Errorf("%s: %d %s", query, res.StatusCode, res.body)
		}
	}
	h.do("GET", "/v1/graph/nodes?createdAfter="+url.QueryEscape("1970-01-01T00:00:00Z"), "")
	if op := h.asker.last().GetGraph().GetListNodes(); op.CreatedAfterMs == nil || op.CreatedBeforeMs != nil {
		t.Errorf("the beginning of time is a bound like any other: %v", op)
	}
	for query, field := range map[string]string{"": "q", "q=": "q", "q=%20": "q", "q=figs&kind=belief": "kind"} {
		if res := h.do("GET", "/v1/recall/graph/search?"+query, ""); res.fields(t)[field] == "" {
			t.Errorf("search %s: %d %s", query, res.StatusCode, res.body)
		}
		h.asker.last()
	}
	for query, field := range map[string]string{"origin=mine": "origin", "type=": "type", "status=live": "status"} {
		if res := h.do("GET", "/v1/graph/edges?"+query, ""); res.fields(t)[field] == "" {
			t.Errorf("edges %s: %d %s", query, res.StatusCode, res.body)
		}
		h.asker.last()
	}
	h.do("GET", "/v1/graph/edges?source=a&target=b&node=c&type=near&origin=proposal", "")
	want := &pb.ListEdges{Source: "a", Target: "b", Node: "c", Type: "near", Origin: "proposal"}
	if diff := prototest.Diff(want, h.asker.last().GetGraph().GetListEdges()); diff != "" {
		t.Errorf("filters (-want +got):\n%s", diff)
	}
}

func TestNodeAnswersCarryTheirVersion(t *testing.T) {
	h := newHarness(t)
	for _, target := range []string{"/v1/graph/nodes/ingest:x:y", "/v1/recall/graph/node/ingest:x:y"} {
		if res := h.do("GET", target, ""); res.Header.Get("ETag") != `"7-ab"` {
			t.Errorf("%s: ETag %q", target, res.Header.Get("ETag"))
		}
	}
	if res := h.do("GET", "/v1/graph/nodes", ""); res.Header.Get("ETag") != "" {
		t.Error("a list has no version")
	}
}
