package api

import (
	"context"
	"net/http"
	"strings"
	"testing"

	pb "orgmem/proto"
)

// Each view has its shape, and the two that paginate the envelope too.
//
// interface: Resources/Recall identity view
// interface: Endpoints/Recall views
func TestRecallViews(t *testing.T) {
	h := newHarness(t)
	for path, field := range map[string]string{
		"identity": "manifold", "graph": "counts", "insights": "insights", "temporal": "trends",
		"insights?pageSize=2": "data", "temporal?pageSize=2": "data", "temporal?cursor=x": "data",
	} {
		res := h.do("GET", "/v1/recall/"+path, "")
		if res.StatusCode != http.StatusOK || res.json(t)[field] == nil {
			t.Errorf("%s: %d %s", path, res.StatusCode, res.body)
		}
	}
	for _, view := range []string{"identity", "graph"} {
		for _, query := range []string{"cursor=x", "pageSize=3", "pageSize=0", "cursor=", "cursor=x&pageSize=nine"} {
			res := h.do("GET", "/v1/recall/"+view+"?"+query, "")
			if res.code(t) != pb.CodePaginationUnsupported || h.asker.last().GetRejected() == nil {
				t.Errorf("%s?%s: %d %s", view, query, res.StatusCode, res.body)
			}
		}
	}
	if res := h.do("GET", "/v1/recall/identity?asOf=2025-01-01T00:00:00Z", ""); res.StatusCode !=
		http.StatusUnprocessableEntity || !strings.Contains(string(res.body), `"asOf"`) {
		t.Errorf("identity as of a time: %d %s", res.StatusCode, res.body)
	}
	h.do("GET", "/v1/recall/graph?asOf=2025-01-01T00:00:00Z", "")
	if op := h.asker.last().GetMind().GetRecall(); op.GetAsOfMs() != 1735689600000 {
		t.Errorf("%v", op)
	}
	h.do("GET", "/v1/recall/insights?pageSize=7&cursor=c", "")
	op := h.asker.last().GetMind().GetRecall()
	if !op.GetPaged() || op.GetPage().GetSize() != 7 || op.GetPage().GetCursor() != "c" {
		t.Errorf("%v", op)
	}
}

// The shapes before the first cycle are valid too: null where the interface says
// so, and empty collections.
//
// interface: What the service does/derived views are empty at first
func TestEmptyViews(t *testing.T) {
	h := newHarness(t)
	for path, result := range map[string]*pb.MindResult{
		"/v1/recall/identity":            {Result: &pb.MindResult_Identity{Identity: &pb.IdentityInfo{}}},
		"/v1/recall/graph":               {Result: &pb.MindResult_Graph{Graph: &pb.GraphView{}}},
		"/v1/recall/insights":            {Result: &pb.MindResult_Insights{Insights: &pb.InsightList{}}},
		"/v1/recall/temporal":            {Result: &pb.MindResult_Temporal{Temporal: &pb.TemporalList{}}},
		"/v1/recall/temporal?pageSize=1": {Result: &pb.MindResult_Temporal{Temporal: &pb.TemporalList{Paged: true}}},
		"/v1/identity/plot":              {Result: &pb.MindResult_Plot{Plot: &pb.IdentityPlot{View: &pb.IdentityView{}}}},
		"/v1/identity/user/" + testUser.String(): {
			Result: &pb.MindResult_Identity{Identity: &pb.IdentityInfo{User: testUser.Bytes()}},
		},
		"/v1/contradictions?status=resolved": {
			Result: &pb.MindResult_Contradictions{Contradictions: &pb.ContradictionList{}},
		},
		"/v1/proposals?status=open": {Result: &pb.MindResult_Proposals{Proposals: &pb.ProposalList{}}},
		"/v1/brain/info": {
			Result: &pb.MindResult_Brain{Brain: &pb.BrainState{Training: &pb.Training{Status: "none"}}},
		},
	} {
		h.asker.answer = func(context.Context, *pb.Envelope) (*pb.Reply, error) {
			return &pb.Reply{Result: &pb.Reply_Mind{Mind: result}}, nil
		}
		if res := h.do("GET", path, ""); res.StatusCode != http.StatusOK {
			t.Errorf("%s: %d %s", path, res.StatusCode, res.body)
		}
	}
}

// interface: Endpoints/Contradictions
func TestReviewFilters(t *testing.T) {
	h := newHarness(t)
	for path, want := range map[string]string{
		"/v1/contradictions?status=open": "", "/v1/contradictions?status=resolved": "",
		"/v1/contradictions?status=rejected": pb.CodeValidation,
		"/v1/proposals?status=rejected":      "", "/v1/proposals?status=resolved": pb.CodeValidation,
		"/v1/proposals?status=": pb.CodeValidation,
	} {
		if res := h.do("GET", path, ""); res.code(t) != want {
			t.Errorf("%s: %d %s", path, res.StatusCode, res.body)
		}
	}
}

// interface: Endpoints/Condition session
func TestConditioningBounds(t *testing.T) {
	h := newHarness(t)
	ids := `"orgId":"` + testOrg.String() + `","userId":"` + testUser.String() + `"`
	for _, c := range []struct{ path, body, field string }{
		{"/v1/condition/session", `{` + ids + `}`, "cwd"},
		{"/v1/condition/session", `{` + ids + `,"cwd":" "}`, "cwd"},
		{"/v1/condition/session", `{"cwd":"/x","userId":"` + testUser.String() + `"}`, "orgId"},
		{"/v1/condition/session", `{"cwd":"/x","orgId":"me","userId":"` + testUser.String() + `"}`, "orgId"},
		{"/v1/condition/scaffold", `{"prompt":""}`, "prompt"},
		{"/v1/condition/scaffold", `{"prompt":"x","maxTokens":0}`, "maxTokens"},
		{"/v1/retrieve", `{"query":" "}`, "query"},
		{"/v1/retrieve", `{"query":"x","maxHops":5}`, "maxHops"},
		{"/v1/retrieve", `{"query":"x","topK":101}`, "topK"},
		{"/v1/retrieve", `{"query":"x","scope":"all"}`, "scope"},
		{"/v1/brain/query", `{"query":"x","topK":0}`, "topK"},
		{"/v1/brain/answer", `{"query":"x","maxWords":1001}`, "maxWords"},
	} {
		if res := h.do("POST", c.path, c.body); res.code(t) != pb.CodeValidation || res.fields(t)[c.field] == "" {
			t.Errorf("%s %s: %d %s", c.path, c.body, res.StatusCode, res.body)
		}
	}
}
