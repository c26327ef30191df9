package api

import (
	"bytes"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"orgmem/api/problems"
	"orgmem/api/web"
	pb "orgmem/proto"
)

var update = flag.Bool("update", false, "rewrite docs/openapi.json")

const committedDocument = "../docs/openapi.json"

func TestDocumentIsValid(t *testing.T) {
	h := newHarness(t)
	if err := h.document().Validate(t.Context(), openapi3.IsOpenAPI31OrLater()); err != nil {
		t.Fatal(err)
	}
	if h.document().OpenAPI != "3.1.0" {
		t.Errorf("openapi: %s", h.document().OpenAPI)
	}
}

// TestCommittedDocument holds docs/openapi.json to what the server serves.
// Rewrite it with: go test ./api -run TestCommittedDocument -update
func TestCommittedDocument(t *testing.T) {
	h := newHarness(t)
	res := h.do("GET", "/openapi.json", "")
	if *update {
		if err := os.WriteFile(committedDocument, res.body, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	committed, err := os.ReadFile(committedDocument)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(committed, res.body) {
		t.Error("docs/openapi.json is not what the server serves; run: go test ./api -run TestCommittedDocument -update")
	}
}

// TestRouterEqualsDocument compares the two sets in both directions.
//
// interface: Versioning/path prefix
func TestRouterEqualsDocument(t *testing.T) {
	h := newHarness(t)
	engine, err := h.s.edge.PublicEngine(h.s.table)
	if err == nil {
		t.Log("routes registered twice on the same metrics: unexpected but harmless")
	}
	routed := map[string]bool{}
	for _, r := range engine.Routes() {
		if strings.HasPrefix(r.Path, "/v1/") {
			segments := strings.Split(r.Path, "/")
			for i, s := range segments {
				if name, ok := strings.CutPrefix(s, ":"); ok {
					segments[i] = "{" + name + "}"
				}
			}
			routed[r.Method+" "+strings.Join(segments, "/")] = true
		}
	}
	documented := map[string]bool{}
	for path, item := range h.document().Paths.Map() {
		for method := range item.Operations() {
			documented[method+" "+path] = true
		}
	}
	if len(routed) != len(h.s.table.Routes) {
		t.Errorf("%d routes, %d rows", len(routed), len(h.s.table.Routes))
	}
	for r := range routed {
		if !documented[r] {
			t.Errorf("%s is routed and not documented", r)
		}
	}
	for r := range documented {
		if !routed[r] {
			t.Errorf("%s is documented and not routed", r)
		}
	}
}

// TestTableAgainstInterface repeats, by hand and once, what the interface says of
// each route: the table must not drift from it.
//
// interface: Limits/Family figures
func TestTableAgainstInterface(t *testing.T) {
	want := map[string]string{
		"GET /v1/me":                       "any reads ignored",
		"DELETE /v1/me":                    "write default ignored",
		"GET /v1/team":                     "read reads ignored",
		"GET /v1/team/members":             "admin reads ignored",
		"GET /v1/team/keys":                "admin reads ignored",
		"GET /v1/usage":                    "usage:read reads ignored",
		"GET /v1/keys":                     "any reads ignored",
		"POST /v1/keys":                    "admin default ignored idempotent",
		"DELETE /v1/keys/{key_id}":         "any default ignored",
		"GET /v1/sandbox/keys":             "admin reads ignored",
		"POST /v1/sandbox/keys":            "admin default ignored",
		"DELETE /v1/sandbox/keys/{key_id}": "admin default ignored",
		"POST /v1/sandbox/reset":           "admin default ignored idempotent",

		"GET /v1/subjects":                 "read reads ignored",
		"GET /v1/subjects/{subject_id}":    "read reads ignored",
		"PUT /v1/subjects/{subject_id}":    "subjects:provision default ignored",
		"DELETE /v1/subjects/{subject_id}": "subjects:provision default ignored",

		"GET /v1/graph/domains":                    "read reads aware",
		"GET /v1/graph/domains/{id}":               "read reads aware",
		"GET /v1/graph/edges":                      "read reads aware",
		"POST /v1/graph/edges":                     "graph:write writes aware idempotent",
		"GET /v1/graph/edges/{edge_id}":            "read reads aware",
		"DELETE /v1/graph/edges/{edge_id}":         "memory:forget writes aware",
		"GET /v1/graph/nodes":                      "read reads aware",
		"GET /v1/graph/nodes/{node_id}":            "read reads aware",
		"PATCH /v1/graph/nodes/{node_id}":          "graph:write writes aware",
		"DELETE /v1/graph/nodes/{node_id}":         "memory:forget writes aware",
		"GET /v1/graph/nodes/{node_id}/history":    "graph:write reads aware",
		"POST /v1/graph/nodes/{node_id}/supersede": "graph:write writes aware idempotent",
		"POST /v1/graph/nodes/{node_id}/undelete":  "graph:write writes aware idempotent",

		"POST /v1/ingest":                "write ingest aware idempotent",
		"POST /v1/ingest/batch":          "write ingest aware idempotent",
		"POST /v1/import":                "write ingest aware",
		"POST /v1/import/transcript":     "write ingest aware",
		"GET /v1/import":                 "read reads aware",
		"GET /v1/ingest/{job_id}/status": "read reads aware",
		"GET /v1/jobs":                   "read reads ignored",
		"GET /v1/jobs/{job_id}":          "read reads ignored",
		"POST /v1/jobs/{job_id}/cancel":  "write writes ignored",

		"POST /v1/ingest/session-event":    "write sessions refused",
		"POST /v1/ingest/session-batch":    "write sessions refused",
		"POST /v1/ingest/agent-signals":    "write sessions refused",
		"POST /v1/ingest/session-finalize": "write sessions refused",
		"GET /v1/ingest/session-status":    "write sessions refused",

		"POST /v1/search":             "read search aware",
		"POST /v1/condition/session":  "read default aware",
		"POST /v1/condition/scaffold": "read default aware",
		"POST /v1/retrieve":           "read search aware",

		"GET /v1/recall/{recall_type}":            "read reads aware",
		"GET /v1/recall/graph/node/{node_id}":     "read reads aware",
		"GET /v1/recall/graph/search":             "read reads aware",
		"GET /v1/recall/sessions":                 "read reads aware",
		"DELETE /v1/recall/sessions/{session_id}": "write default aware",
		"GET /v1/identity/user/{user_id}":         "read reads ignored",
		"GET /v1/contradictions":                  "read reads aware",
		"GET /v1/proposals":                       "read reads aware",
		"POST /v1/proposals/{proposal_id}/accept": "graph:write writes aware idempotent",
		"POST /v1/proposals/{proposal_id}/reject": "graph:write writes aware idempotent",

		"GET /v1/brain/info":    "read reads refused",
		"POST /v1/brain/query":  "read default refused",
		"POST /v1/brain/answer": "read default refused",
		"POST /v1/brain/train":  "admin default refused",

		"GET /v1/exports":                      "read reads aware",
		"POST /v1/exports":                     "write exports aware idempotent",
		"GET /v1/exports/{export_id}":          "read reads aware",
		"GET /v1/exports/{export_id}/download": "read exports aware",
		"POST /v1/purge":                       "admin default ignored",
		"GET /v1/settings":                     "read reads aware",
		"PATCH /v1/settings":                   "write writes aware",
		"POST /v1/settings/reset":              "write writes aware idempotent",

		"GET /v1/events":                "read reads unread",
		"GET /v1/webhooks":              "read reads ignored",
		"POST /v1/webhooks":             "write writes ignored idempotent",
		"GET /v1/webhooks/{webhook_id}": "read reads ignored",
		"GET /v1/webhooks/{webhook_id}/deliveries/{delivery_id}": "read reads ignored",
		"PATCH /v1/webhooks/{webhook_id}":                        "write writes ignored",
		"DELETE /v1/webhooks/{webhook_id}":                       "write writes ignored",
		"POST /v1/webhooks/{webhook_id}/test":                    "write writes ignored",

		"GET /v1/connectors":            "read reads ignored",
		"POST /v1/connectors":           "write writes ignored",
		"GET /v1/connectors/{id}":       "read reads ignored",
		"PATCH /v1/connectors/{id}":     "write writes ignored",
		"DELETE /v1/connectors/{id}":    "write writes ignored",
		"POST /v1/connectors/{id}/sync": "write writes ignored",

		// Ours: the interface has no view of the organization's entities, none of its trail, and none of quality.
		"GET /v1/audit": "admin reads ignored",

		"GET /v1/brain/training": "read reads refused",

		"GET /v1/identity/plot": "read reads aware",

		"GET /v1/quality":  "read reads aware",
		"POST /v1/quality": "write default aware idempotent",

		"GET /v1/graph/nodes/{node_id}/elsewhere": "read reads aware",
	}
	h := newHarness(t)
	for _, r := range h.s.table.Routes {
		scope := r.Scope
		if scope == "" {
			scope = "any"
		}
		got := scope + " " + r.Family + " " + web.SubjectModeOf(r)
		if r.Idempotent {
			got += " idempotent"
		}
		key := r.Method + " " + r.Path
		if want[key] != got {
			t.Errorf("%s: %q in the table, %q in the interface", key, got, want[key])
		}
		delete(want, key)
	}
	for key := range want {
		t.Errorf("%s is missing", key)
	}
}

// TestFamiliesOfTheInterface holds the interface's table of rate-limit families as
// data: each route draws from the first family that names it. We added
// retrieve to search and the session status, a GET, to sessions. A star stands for
// any method, or for how a path goes on.
//
// interface: Limits/Family figures
func TestFamiliesOfTheInterface(t *testing.T) {
	t.Parallel()
	type draw struct{ method, path string }
	families := []struct {
		family string
		draws  []draw
	}{
		{pb.FamilyExports, []draw{{"POST", "/v1/exports"}, {"GET", "/v1/exports/{export_id}/download"}}},
		{pb.FamilySessions, []draw{{"*", "/v1/ingest/session-*"}, {"POST", "/v1/ingest/agent-signals"}}},
		{
			pb.FamilyIngest,
			[]draw{
				{"POST", "/v1/ingest"}, {"POST", "/v1/ingest/batch"}, {"POST", "/v1/import"}, {"POST", "/v1/import/transcript"},
			},
		},
		{pb.FamilySearch, []draw{{"POST", "/v1/search"}, {"POST", "/v1/retrieve"}}},
		{pb.FamilyReads, []draw{{"GET", "/v1/*"}}},
		{pb.FamilyWrites, []draw{
			{"*", "/v1/graph/*"},
			{"*", "/v1/proposals/*"},
			{"*", "/v1/settings*"},
			{"*", "/v1/webhooks*"},
			{"*", "/v1/connectors*"},
			{"POST", "/v1/jobs/{job_id}/cancel"},
		}},
		{pb.FamilyDefault, []draw{{"*", "/v1/*"}}},
	}
	names := func(d draw, r *web.Route) bool {
		prefix, open := strings.CutSuffix(d.path, "*")
		return (d.method == "*" || d.method == r.Method) && (d.path == r.Path || open && strings.HasPrefix(r.Path, prefix))
	}
	h := newHarness(t)
	drawn := map[draw]bool{}
	for _, r := range h.s.table.Routes {
	families:
		for _, f := range families {
			for _, d := range f.draws {
				if !names(d, r) {
					continue
				}
				drawn[d] = true
				if r.Family != f.family {
					t.Errorf("%s %s draws from %s, and the interface says %s", r.Method, r.Path, r.Family, f.family)
				}
				break families
			}
		}
	}
	for _, f := range families {
		for _, d := range f.draws {
			if !drawn[d] {
				t.Errorf("%s: no route is %s %s", f.family, d.method, d.path)
			}
		}
	}
}

func TestEveryCodeHasAPage(t *testing.T) {
	h := newHarness(t)
	index := string(h.do("GET", "/docs/errors", "").body)
	for code, e := range problems.Catalogue {
		res := h.do("GET", "/docs/errors/"+code, "")
		if res.StatusCode != 200 || !strings.HasPrefix(res.Header.Get("Content-Type"), "text/html") {
			t.Errorf("%s: %d %s", code, res.StatusCode, res.Header.Get("Content-Type"))
		}
		if csp := res.Header.Get("Content-Security-Policy"); csp != web.PagePolicy {
			t.Errorf("%s: policy %q", code, csp)
		}
		for _, text := range []string{code, e.Title} {
			if !bytes.Contains(res.body, []byte(text)) {
				t.Errorf("the page of %s does not say %q", code, text)
			}
		}
		if !strings.Contains(index, "/docs/errors/"+code) {
			t.Errorf("%s is not in the list of errors", code)
		}
		if e.Status < 400 || e.Title == "" || e.Explanation == "" {
			t.Errorf("%s: incomplete entry", code)
		}
	}
	if res := h.do("GET", "/docs/errors/no_such_code", ""); res.StatusCode != 404 {
		t.Errorf("unknown code: %d", res.StatusCode)
	}
}

// TestCatalogueIsComplete lists all codes by hand.
func TestCatalogueIsComplete(t *testing.T) {
	want := map[int][]string{
		400: {
			"subject_not_supported",
			"pagination_unsupported",
			"invalid_cursor",
			"malformed_request",
		},
		401: {
			"authentication_error",
		},
		403: {
			"permission_denied",
			"subject_not_provisioned",
		},
		404: {
			"node_not_found",
			"proposal_not_found",
			"edge_not_found",
			"domain_not_found",
			"not_found",
			"key_not_found",
			"recall_type_not_found",
			"brain_not_trained",
			"job_not_found",
			"subject_not_found",
			"webhook_not_found",
			"delivery_not_found",
			"export_not_found",
			"connector_not_found",
			"session_not_found",
			"user_not_found",
			"organization_not_found",
		},
		405: {
			"method_not_allowed",
		},
		408: {
			"request_timeout",
		},
		409: {
			"purge_impact_changed",
			"export_not_ready",
			"webhook_limit_reached",
			"connector_limit_reached",
			"train_in_progress",
			"brain_not_ready",
			"confirm_token_invalid",
			"undelete_window_passed",
			"job_not_cancellable",
			"idempotency_in_progress",
			"last_owner",
			"already_superseded",
			"node_not_forgotten",
			"conflict",
			"key_limit_reached",
			"proposal_already_decided",
		},
		412: {
			"precondition_failed",
		},
		416: {
			"range_not_satisfiable",
		},
		413: {
			"payload_too_large",
		},
		415: {
			"unsupported_media_type",
		},
		422: {
			"validation_failed",
			"idempotency_key_reused",
		},
		429: {
			"rate_limit_exceeded",
			"too_many_streams",
		},
		431: {
			"headers_too_large",
		},
		500: {
			"internal_error",
		},
		503: {
			"service_degraded",
			"service_draining",
		},
	}
	total := 0
	for status, codes := range want {
		for _, code := range codes {
			total++
			if problems.Catalogue[code].Status != status {
				t.Errorf("%s has status %d, want %d", code, problems.Catalogue[code].Status, status)
			}
		}
	}
	if total != len(problems.Catalogue) {
		t.Errorf("%d codes in the catalogue, %d here", len(problems.Catalogue), total)
	}
}

func TestReferenceShowsEveryRoute(t *testing.T) {
	h := newHarness(t)
	res := h.do("GET", "/docs", "")
	page := string(res.body)
	for _, r := range h.s.table.Routes {
		if !strings.Contains(page, `id="`+r.ID+`"`) || !strings.Contains(page, r.Path) {
			t.Errorf("%s is not in the reference", r.ID)
		}
		_, section, _ := strings.Cut(page, `<h3 id="`+r.ID+`"`)
		section, _, _ = strings.Cut(section, "</section>")
		if body := r.HasBodySchema(); body != strings.Contains(section, "<h4>Body</h4>") { // also one that may be left out
			t.Errorf("%s: its body is not in the reference", r.ID)
		}
	}
	for _, forbidden := range []string{"<script", "http://", "https://", "style=", "ZgotmplZ"} {
		if strings.Contains(page, forbidden) {
			t.Errorf("the reference holds %q", forbidden)
		}
	}
	for _, e := range problems.Sorted() {
		if e.Section != "" && !strings.Contains(page, `id="`+e.Section+`"`) {
			t.Errorf("%s points to a section that does not exist: %s", e.Code, e.Section)
		}
	}
	if css := h.do("GET", "/docs/style.css", ""); css.Header.Get("Content-Type") != "text/css; charset=utf-8" {
		t.Errorf("style sheet: %s", css.Header.Get("Content-Type"))
	}
}

// TestActorsAnswerKnownCodes reads the vocabulary, and the sources of actors, for
// the problem codes that are answered: each must be in the catalogue, or the client
// would read internal_error.
func TestActorsAnswerKnownCodes(t *testing.T) {
	files := []string{"../proto/vocabulary.go"}
	err := filepath.WalkDir("../actors", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".go") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	check := func(e ast.Expr) {
		literal, ok := e.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return
		}
		found++
		if code := strings.Trim(literal.Value, `"`); problems.Catalogue[code].Status == 0 {
			t.Errorf("actors answer %s, which is not in the catalogue", code)
		}
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				for i, id := range n.Names {
					if (strings.HasPrefix(id.Name, "code") || strings.HasPrefix(id.Name, "Code")) && i < len(n.Values) {
						check(n.Values[i])
					}
				}
			case *ast.CallExpr:
				if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "problem" && len(n.Args) > 0 {
					check(n.Args[0])
				}
			case *ast.KeyValueExpr:
				if id, ok := n.Key.(*ast.Ident); ok && id.Name == "Code" {
					check(n.Value)
				}
			}
			return true
		})
	}
	if found < 50 {
		t.Errorf("only %d codes found: the test looks in the wrong place", found)
	}
}
