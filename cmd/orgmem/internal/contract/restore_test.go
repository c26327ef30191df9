package contract

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"

	"orgmem/cmd/orgmem/internal/restore"
)

// TestImporterKeepsWhatDomainsShow brings a document back by the importer of the command
// line, over the operator interface: the domains there show the same nodes, under the ids
// that they have there, and lose one that is forgotten.
func TestImporterKeepsWhatDomainsShow(t *testing.T) {
	s := startStack(t)
	o, other := s.org(t, "First"), s.org(t, "Second")
	c, there := caller{key: o.key}, caller{key: other.key}
	f := fixture{s, o, o.owner, c, &atomic.Int64{}}
	f.domain(t)
	export := s.ok(t, c, http.MethodPost, "/v1/exports", `{"scope":"org"}`).text(t, "exportId")
	s.job(t, c, export)
	document := s.ok(t, c, http.MethodGet, "/v1/exports/"+export+"/download", "").body
	for range 2 { // a repetition changes nothing
		_, err := restore.Import(t.Context(), bytes.NewReader(document),
			restore.Options{Send: func(_ context.Context, part restore.Part) (restore.Answer, error) {
				raw, err := json.Marshal(part)
				must(t, err)
				a := s.operate(t, http.MethodPost, "/operator/orgs/"+other.id.String()+"/restore", string(raw))
				if a.status != http.StatusOK {
					t.Fatalf("%d %s", a.status, a.body)
				}
				var out restore.Answer
				must(t, json.Unmarshal(a.body, &out))
				return out, nil
			}})
		must(t, err)
	}
	// shown is what a domain says, with titles in the place of ids.
	shown := func(c caller) (all []string, top []string) {
		t.Helper()
		for _, d := range s.ok(t, c, http.MethodGet, "/v1/graph/domains", "").entries(t, "data") {
			var titles []string
			for _, id := range d["topNodes"].([]any) {
				top = append(top, id.(string))
				titles = append(titles, s.ok(t, c, http.MethodGet, "/v1/graph/nodes/"+id.(string), "").text(t, "title"))
			}
			d["topNodes"] = titles
			all = append(all, fmt.Sprint(d))
		}
		return all, top
	}
	was, _ := shown(c)
	is, top := shown(there)
	if !slices.Equal(was, is) || len(top) == 0 {
		t.Fatalf("the domains are\n%q, and were\n%q", is, was)
	}
	s.ok(t, there, http.MethodDelete, "/v1/graph/nodes/"+top[0], "")
	if _, left := shown(there); slices.Contains(left, top[0]) || len(left) != len(top)-1 {
		t.Errorf("a domain still shows what was forgotten: %q", left)
	}
}
