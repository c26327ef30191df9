package api

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"orgmem/api/apitest"
	"orgmem/api/web"
	"orgmem/api/wire"
	pb "orgmem/proto"
	"orgmem/proto/canon"
	"orgmem/proto/prototest"
)

// interface: Endpoints/Import
func TestImportForms(t *testing.T) {
	h := newHarness(t)
	res := h.do("POST", "/v1/import", apitest.Form(
		"file", `C:\\temp\\..\\a b.md`, "# Figs", "title", "", "About figs", "occurredAt", "", "2026-03-01T10:00:00Z",
		"metadata", "", ` {"b":1,"a":2} `))
	op := h.asker.last().GetLink().GetImportFile()
	want := &pb.ImportFile{
		Filename: "a b.md", Content: []byte("# Figs"), Title: "About figs", OccurredMs: 1772359200000,
		Metadata: []byte(`{"a":2,"b":1}`),
	}
	if diff := prototest.Diff(want, op, "transcript"); res.StatusCode != 202 || diff != "" {
		t.Errorf("%d %s (-want +got):\n%s", res.StatusCode, res.body, diff)
	}
	res = h.do("POST", "/v1/import/transcript", apitest.Form("transcript", "", "Ann: Hello"))
	if op := h.asker.last().GetLink().GetImportFile(); res.StatusCode != 202 || !op.GetTranscript() ||
		op.GetFilename() != "upload" {
		t.Errorf("%s: %v", res.body, op)
	}
	for name, c := range map[string]struct{ path, body, code, field string }{
		"no file":    {"/v1/import", apitest.Form("title", "", "x"), pb.CodeValidation, "file"},
		"other file": {"/v1/import", apitest.Form("transcript", "a", "x"), pb.CodeValidation, "transcript"},
		"two files": {
			"/v1/import/transcript", apitest.Form("file", "a", "x", "transcript", "b", "y"), pb.CodeValidation, "transcript",
		},
		"file twice":    {"/v1/import", apitest.Form("file", "a", "x", "file", "b", "y"), pb.CodeValidation, "file"},
		"unknown field": {"/v1/import", apitest.Form("file", "a", "x", "colour", "", "y"), pb.CodeValidation, "colour"},
		"wrong case":    {"/v1/import", apitest.Form("File", "a", "x"), pb.CodeValidation, "File"},
		"bad time": {
			"/v1/import", apitest.Form("file", "a", "x", "occurredAt", "", "today"), pb.CodeValidation, "occurredAt",
		},
		"bad metadata": {"/v1/import", apitest.Form("file", "a", "x", "metadata", "", "[1]"), pb.CodeValidation, "metadata"},
		"broken metadata": {
			"/v1/import", apitest.Form("file", "a", "x", "metadata", "", `{"a":1,"a":2}`), pb.CodeValidation, "metadata",
		},
		"deep metadata": {
			"/v1/import",
			apitest.Form("file", "a", "x", "metadata", "", strings.Repeat(`{"a":`, 64)+"{}"+strings.Repeat("}", 64)),
			pb.CodeValidation, "metadata",
		},
		"deepest metadata": {
			"/v1/import",
			apitest.Form("file", "a", "x", "metadata", "", strings.Repeat(`{"a":`, 9_998)+"{}"+strings.Repeat("}", 9_998)),
			pb.CodeValidation, "metadata",
		},
		"NUL in metadata": {
			"/v1/import", apitest.Form("file", "a", "x", "metadata", "", `{"a":"\u0000"}`), pb.CodeValidation, "metadata",
		},
		"huge number": {
			"/v1/import", apitest.Form("file", "a", "x", "metadata", "", `{"a":1e999}`), pb.CodeValidation, "metadata",
		},
		"long title": {
			"/v1/import", apitest.Form("file", "a", "x", "title", "", strings.Repeat("x", 1001)), pb.CodeValidation, "title",
		},
		"cut off": {"/v1/import", strings.TrimSuffix(apitest.Form("file", "a", "x"), "--sample--\r\n"), pb.CodeMalformed, ""},
		"no form": {"/v1/import", "Figs ripen late.", pb.CodeMalformed, ""},
		"empty":   {"/v1/import", "", pb.CodeUnsupportedMediaType, ""},
		"many parts": {
			"/v1/import",
			apitest.Form(strings.Split(strings.Repeat("a,,b,", web.MaxFormParts+2), ",")[:3*(web.MaxFormParts+2)]...),
			pb.CodeMalformed, "",
		},
	} {
		res := h.do("POST", c.path, c.body)
		if got := res.code(t); got != c.code {
			t.Errorf("%s: %s", name, res.body)
			continue
		}
		if c.field != "" && res.fields(t)[c.field] == "" {
			t.Errorf("%s: no error for %s: %s", name, c.field, res.body)
		}
		if env := h.asker.last(); env.GetRejected() == nil {
			t.Errorf("%s: reached the organization as %T", name, env.GetOp())
		}
	}
	for _, ct := range []string{
		"application/json", "multipart/form-data", "multipart/mixed; boundary=sample", "text/plain",
	} {
		if res := h.do("POST", "/v1/import", sampleForm, "Content-Type", ct); res.code(t) != pb.CodeUnsupportedMediaType {
			t.Errorf("%s: %s", ct, res.body)
		}
	}
	small := newHarness(t, func(c *Config) { c.MaxUpload = 100 })
	if res := small.do("POST", "/v1/import",
		apitest.Form("file", "a", strings.Repeat("x", 100))); res.code(t) != pb.CodePayloadTooLarge {
		t.Errorf("%s", res.body)
	}
}

// TestFormsAreDocumented: each route's own, with the names that it takes.
func TestFormsAreDocumented(t *testing.T) {
	h := newHarness(t)
	for path, want := range map[string]string{
		"/v1/import": "file metadata occurredAt title", "/v1/import/transcript": "file metadata occurredAt title transcript",
	} {
		schema := h.document().Paths.Value(path).Post.RequestBody.Value.Content["multipart/form-data"].Schema.Value
		if got := strings.Join(slices.Sorted(maps.Keys(schema.Properties)), " "); got != want {
			t.Errorf("%s: %s", path, got)
		}
		for _, given := range []map[string]any{{"file": "x"}, {"transcript": "x"}, {"title": "x"}} {
			_, taken := schema.Properties["transcript"]
			fits := given["file"] != nil || given["transcript"] != nil && taken
			if err := schema.VisitJSON(given, openapi3.EnableJSONSchema2020()); (err == nil) != fits {
				t.Errorf("%s: %v: %v", path, given, err)
			}
		}
	}
}

// TestUploadsLeaveRoom: however many arrive, other bodies find room; and one that
// is as large as may be always finds some itself.
func TestUploadsLeaveRoom(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.MaxBodiesInFlight, c.MaxUpload = 1<<20, 100<<10 })
	h.s.edge.Bodies.Take(768 << 10)
	h.s.edge.Uploads.Take(768 << 10)
	if res := h.do("POST", "/v1/import", apitest.Form("file", "a", "x")); res.code(t) != pb.CodeServiceDegraded ||
		h.asker.last() != nil {
		t.Errorf("%d %s", res.StatusCode, res.body)
	}
	if res := h.do("POST", "/v1/ingest", `{"content":"`+strings.Repeat("x", 100<<10)+`"}`); res.StatusCode != 202 {
		t.Errorf("a body beside: %d %s", res.StatusCode, res.body)
	}
	h.s.edge.Bodies.Take(256 << 10)
	h.s.edge.Uploads.Give(768 << 10)
	if res := h.do("POST", "/v1/import", apitest.Form("file", "a", "x")); res.code(t) != pb.CodeServiceDegraded ||
		h.s.edge.Uploads.Held() != 0 {
		t.Errorf("%d %s, %d bytes are lost", res.StatusCode, res.body, h.s.edge.Uploads.Held())
	}
	h.s.edge.Bodies.Give(1 << 20)
	if res := h.do("POST", "/v1/import", apitest.Form("file", "a", strings.Repeat("x", 90<<10))); res.StatusCode != 202 {
		t.Errorf("%d %s", res.StatusCode, res.body)
	}
	if bodies, uploads := h.s.edge.Bodies.Held(), h.s.edge.Uploads.Held(); bodies != 0 || uploads != 0 {
		t.Errorf("%d and %d bytes are lost", bodies, uploads)
	}
	small := newHarness(t, func(c *Config) { c.MaxBodiesInFlight, c.MaxUpload = 1<<20, 1<<20 })
	if res := small.do("POST", "/v1/import",
		apitest.Form("file", "a", strings.Repeat("x", 1000<<10))); res.StatusCode != 202 {
		t.Errorf("the largest upload: %d %s", res.StatusCode, res.body)
	}
}

// TestSessionBatch: one bad event becomes a rejected one, and changes nothing for
// the others.
//
// interface: Endpoints/Coding sessions
// interface: Limits/Session batch
func TestSessionBatch(t *testing.T) {
	h := newHarness(t)
	// An event that is nested so deep; the list of events is nested twice.
	nested := func(levels int) string {
		return `{"sessionId":"s","role":"user","text":"x","metadata":` + strings.Repeat(`{"a":`, levels-2) + "{}" +
			strings.Repeat("}", levels-1)
	}
	body := `{"events":[
		{"sessionId":"s","role":"user","text":"fine","at":"2026-03-01T10:00:00Z","eventId":"e",
		"cwd":"c","model":"m","tool":"t","metadata":{"b":1,"a":2}},
		{"sessionId":"s","role":"user","text":"x","colour":1},
		{"sessionId":"s","role":"robot","text":"x"},
		{"sessionId":"s","role":"user","text":" "},
		{"sessionId":"s","role":"user"},
		{"sessionId":"","role":"user","text":"x"},
		{"sessionId":"a\u0007","role":"user","text":"x"},
		{"sessionId":"s","role":"user","text":"a\u0000"},
		{"sessionId":"s","role":"user","text":"x","metadata":{"n":1e999}},
		{"sessionId":"s","role":"user","text":"x","at":"today"},
		7,
		` + nested(canon.MaxDepth-2) + `,
		` + nested(canon.MaxDepth-1) + `,
		` + nested(wire.MaxParsed-2) + `,
		{"sessionId":"s","role":"system","text":"fine too"}
	]}`
	res := h.do("POST", "/v1/ingest/session-batch", body)
	list := h.asker.last().GetLink().GetSessionEvents().GetEvents()
	if res.StatusCode != 200 || len(list) != 15 {
		t.Fatalf("%s: %d events", res.body, len(list))
	}
	for i, e := range list {
		if (e.GetInvalid() == "") != (i == 0 || i == 11 || i == 14) {
			t.Errorf("event %d: %v", i, e)
		}
	}
	want := &pb.SessionEvent{
		Session: "s", Role: "user", Text: "fine", AtMs: 1772359200000, Event: "e", Cwd: "c", Model: "m", Tool: "t",
		Metadata: []byte(`{"a":2,"b":1}`),
	}
	if got := list[0]; got.String() != want.String() {
		t.Errorf("%v, want %v", got, want)
	}
	one := `{"sessionId":"s","role":"user","text":"x"}`
	for name, bad := range map[string]string{
		"none": `{}`, "empty": `{"events":[]}`, "too many": `{"events":[` + strings.Repeat(one+",", 500) + one + `]}`,
		"no list": `{"events":{}}`,
	} {
		if res := h.do("POST", "/v1/ingest/session-batch", bad); res.code(t) != pb.CodeValidation ||
			res.fields(t)["events"] == "" {
			t.Errorf("%s: %s", name, res.body)
		}
	}
	// Where one ends that is deeper still, nobody looks for.
	if res := h.do("POST", "/v1/ingest/session-batch", `{"events":[`+nested(wire.MaxParsed-1)+`]}`); res.code(t) !=
		pb.CodeValidation || res.fields(t)["body"] == "" {
		t.Errorf("far too deep: %s", res.body)
	}
	if res := h.do("POST", "/v1/ingest/session-batch",
		`{"events":[`+strings.Repeat(one+",", 499)+one+`]}`); res.StatusCode != 200 {
		t.Errorf("500 events: %s", res.body)
	}
	if res := h.do("POST", "/v1/ingest/session-event",
		`{"sessionId":"s","role":"user","text":"x","colour":1}`); res.code(t) != pb.CodeValidation ||
		res.fields(t)["colour"] == "" {
		t.Errorf("%s", res.body)
	}
}
