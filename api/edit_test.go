package api

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	pb "orgmem/proto"
	"orgmem/proto/canon"
	"orgmem/proto/prototest"
)

const nodeTarget = "/v1/graph/nodes/ingest:x:y"

func TestEditNodeBody(t *testing.T) {
	h := newHarness(t)
	for body, field := range map[string]string{
		`{}`:                                "body",
		`{"reason":"why"}`:                  "body",
		`{"title":""}`:                      "title",
		`{"title":" \t"}`:                   "title",
		`{"title":null}`:                    "title",
		`{"title":7}`:                       "title",
		`{"content":""}`:                    "content",
		`{"content":"\n"}`:                  "content",
		`{"content":null}`:                  "content",
		`{"kind":"poem"}`:                   "kind",
		`{"metadata":null}`:                 "metadata",
		`{"metadata":[]}`:                   "metadata",
		`{"domainId":""}`:                   "domainId",
		`{"domainId":7}`:                    "domainId",
		`{"Title":"Figs"}`:                  "Title",
		`{"title":"Figs","authority":1}`:    "authority",
		`{"title":"Figs","status":"live"}`:  "status",
		`{"title":"Figs","externalId":"x"}`: "externalId",
		`{"title":"` + strings.Repeat("x", 1001) + `"}`:                      "title",
		`{"title":"Figs","reason":"` + strings.Repeat("x", 2001) + `"}`:      "reason",
		`{"domainId":"` + strings.Repeat("x", 201) + `"}`:                    "domainId",
		`{"metadata":{"a":"` + strings.Repeat("x", canon.MaxBytes) + `"}}`:   "metadata",
		`{"title":"Figs","metadata":{"a":1},"kind":"document","extra":null}`: "extra",
	} {
		res := h.do(http.MethodPatch, nodeTarget, body)
		if fields := res.fields(t); res.StatusCode != http.StatusUnprocessableEntity || fields[field] == "" ||
			len(fields) != 1 {
			t.Errorf("%.60s: %d %v, want %s", body, res.StatusCode, fields, field)
		}
	}
	res := h.do(http.MethodPatch, nodeTarget, `{"domainId":null,"metadata":{}}`, "If-Match", `"1-ab", W/"2"`)
	if res.StatusCode != http.StatusOK || res.Header.Get("Etag") != `"7-ab"` {
		t.Fatalf("%d %v", res.StatusCode, res.Header)
	}
	op := h.asker.last().GetGraph().GetEditNode()
	want := &pb.EditNode{Domain: new(""), Metadata: []byte{}, IfMatch: []string{`"1-ab"`, `W/"2"`}}
	if diff := prototest.Diff(want, op, "title", "content", "kind"); diff != "" {
		t.Errorf("operation (-want +got):\n%s", diff)
	}
	for _, bad := range []string{
		"", "1-ab", `"1-ab`, `"a" "b"`, `*, "a"`, `"a",`, `"a b"`, "\"a\x7f\"", strings.Repeat(`"a",`, maxEntityTags) + `"a"`,
	} {
		r := httpRequest(t, http.MethodPatch, nodeTarget, `{"title":"Figs"}`)
		r.Header["If-Match"] = []string{bad}
		r.Header.Set("Content-Type", "application/json")
		if res := h.serve(r); res.StatusCode != http.StatusUnprocessableEntity || res.fields(t)["If-Match"] == "" {
			t.Errorf("If-Match %q: %d %s", bad, res.StatusCode, res.body)
		}
	}
}

func TestSupersedeNodeBody(t *testing.T) {
	h := newHarness(t)
	for body, field := range map[string]string{
		`{"content":"Figs."}`:                        "reason",
		`{"reason":"so they said"}`:                  "content",
		`{"content":" ","reason":"so they said"}`:    "content",
		`{"content":"Figs.","reason":"  "}`:          "reason",
		`{"content":"Figs.","reason":"x","kind":""}`: "kind",
	} {
		res := h.do(http.MethodPost, nodeTarget+"/supersede", body)
		if fields := res.fields(t); res.StatusCode != http.StatusUnprocessableEntity || fields[field] == "" ||
			len(fields) != 1 {
			t.Errorf("%s: %d %v, want %s", body, res.StatusCode, fields, field)
		}
	}
	res := h.do(http.MethodPost, nodeTarget+"/supersede", `{"content":"Figs.","reason":"so they said"}`)
	want := `{"oldNodeId":"ingest:x:y","newNodeId":"ingest:x:z","edgeId":"ingest:x:y_ingest:x:z_superseded_by",` +
		`"created":true,"newAuthority":0.625}`
	if got := strings.TrimSpace(string(res.body)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if res := h.do(http.MethodPost, nodeTarget+"/undelete", `{"reason":"x"}`); res.fields(t)["reason"] == "" {
		t.Errorf("a body where there is none: %s", res.body)
	}
}

func TestForgottenNodeAndHistoryShapes(t *testing.T) {
	h := newHarness(t)
	n := h.do(http.MethodDelete, nodeTarget, "").json(t)
	if diff := prototest.DiffObject(map[string]any{"status": "tombstoned", "title": ""}, n); diff != "" {
		t.Errorf("tombstone (-want +got):\n%s", diff)
	}
	if _, there := n["content"]; there || n["restorableUntil"] == nil || n["tombstonedAt"] == nil {
		t.Errorf("tombstone %v", n)
	}
	page := h.do(http.MethodGet, nodeTarget+"/history?pageSize=2", "").json(t)
	entries, _ := page["data"].([]any)
	if len(entries) != 2 || page["hasMore"] != true || page["nextCursor"] != "next" {
		t.Fatalf("page %v", page)
	}
	first, _ := entries[0].(map[string]any)
	actor, _ := first["actor"].(map[string]any)
	if first["reason"] != nil || actor["subject"] != "ann" || actor["userId"] != testUser.String() ||
		len(actor["keyId"].(string)) != 64 {
		t.Errorf("entry %v", first)
	}
	second, _ := entries[1].(map[string]any)
	changes, _ := second["changes"].([]any)
	if len(changes) != 2 {
		t.Fatalf("changes %v", changes)
	}
	title, _ := changes[0].(map[string]any)
	content, _ := changes[1].(map[string]any)
	if diff := prototest.DiffObject(map[string]any{"before": "Figs", "truncated": true}, title); diff != "" {
		t.Errorf("change of the title (-want +got):\n%s", diff)
	}
	wiped := map[string]any{"before": nil, "after": nil, "truncated": false}
	if diff := prototest.DiffObject(wiped, content); diff != "" {
		t.Errorf("change of the content (-want +got):\n%s", diff)
	}
}

func FuzzEntityTags(f *testing.F) {
	for _, s := range []string{`*`, `"a"`, `W/"a"`, `"a", "b"`, `"a","b" , W/"c"`, `""`, `"`, `a`, `"a"b`, `W/`, ` "a" `} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tags, ok := parseEntityTags(text)
		if !ok {
			if tags != nil {
				t.Fatalf("%q is refused and gives %q", text, tags)
			}
			return
		}
		if len(tags) == 0 || len(tags) > maxEntityTags {
			t.Fatalf("%q gives %d tags", text, len(tags))
		}
		// What was understood says the same again.
		again, ok := parseEntityTags(strings.Join(tags, ", "))
		if !ok || !slices.Equal(again, tags) {
			t.Fatalf("%q became %q, then %q", text, tags, again)
		}
	})
}
