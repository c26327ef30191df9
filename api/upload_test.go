package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	pb "orgmem/proto"
	"orgmem/proto/canon"
)

// formOf builds a form of name, file name and content triples; an empty file name
// makes a field.
func formOf(parts ...string) string {
	var b strings.Builder
	for i := 0; i < len(parts); i += 3 {
		b.WriteString("--sample\r\nContent-Disposition: form-data; name=\"" + parts[i] + "\"")
		if parts[i+1] != "" {
			b.WriteString("; filename=\"" + parts[i+1] + "\"")
		}
		b.WriteString("\r\n\r\n" + parts[i+2] + "\r\n")
	}
	return b.String() + "--sample--\r\n"
}

// interface: Endpoints/Import
func TestImportForms(t *testing.T) {
	h := newHarness(t)
	res := h.do("POST", "/v1/import", formOf(
		"file", `C:\\temp\\..\\a b.md`, "# Figs", "title", "", "About figs", "occurredAt", "", "2026-03-01T10:00:00Z", "metadata", "", ` {"b":1,"a":2} `))
	op := h.asker.last().GetLink().GetImportFile()
	if res.StatusCode != 202 || string(op.GetContent()) != "# Figs" || op.GetTitle() != "About figs" || op.GetOccurredMs() != 1772359200000 ||
		string(op.GetMetadata()) != `{"a":2,"b":1}` || op.GetTranscript() || op.GetFilename() != "a b.md" {
		t.Errorf("%s: %v", res.body, op)
	}
	res = h.do("POST", "/v1/import/transcript", formOf("transcript", "", "Ann: Hello"))
	if op := h.asker.last().GetLink().GetImportFile(); res.StatusCode != 202 || !op.GetTranscript() || op.GetFilename() != "upload" {
		t.Errorf("%s: %v", res.body, op)
	}
	for name, c := range map[string]struct{ path, body, code, field string }{
		"no file":          {"/v1/import", formOf("title", "", "x"), codeValidation, "file"},
		"other file":       {"/v1/import", formOf("transcript", "a", "x"), codeValidation, "transcript"},
		"two files":        {"/v1/import/transcript", formOf("file", "a", "x", "transcript", "b", "y"), codeValidation, "transcript"},
		"file twice":       {"/v1/import", formOf("file", "a", "x", "file", "b", "y"), codeValidation, "file"},
		"unknown field":    {"/v1/import", formOf("file", "a", "x", "colour", "", "y"), codeValidation, "colour"},
		"wrong case":       {"/v1/import", formOf("File", "a", "x"), codeValidation, "File"},
		"bad time":         {"/v1/import", formOf("file", "a", "x", "occurredAt", "", "today"), codeValidation, "occurredAt"},
		"bad metadata":     {"/v1/import", formOf("file", "a", "x", "metadata", "", "[1]"), codeValidation, "metadata"},
		"broken metadata":  {"/v1/import", formOf("file", "a", "x", "metadata", "", `{"a":1,"a":2}`), codeValidation, "metadata"},
		"deep metadata":    {"/v1/import", formOf("file", "a", "x", "metadata", "", strings.Repeat(`{"a":`, 64)+"{}"+strings.Repeat("}", 64)), codeValidation, "metadata"},
		"deepest metadata": {"/v1/import", formOf("file", "a", "x", "metadata", "", strings.Repeat(`{"a":`, 9_998)+"{}"+strings.Repeat("}", 9_998)), codeValidation, "metadata"},
		"NUL in metadata":  {"/v1/import", formOf("file", "a", "x", "metadata", "", `{"a":"\u0000"}`), codeValidation, "metadata"},
		"huge number":      {"/v1/import", formOf("file", "a", "x", "metadata", "", `{"a":1e999}`), codeValidation, "metadata"},
		"long title":       {"/v1/import", formOf("file", "a", "x", "title", "", strings.Repeat("x", 1001)), codeValidation, "title"},
		"cut off":          {"/v1/import", strings.TrimSuffix(formOf("file", "a", "x"), "--sample--\r\n"), codeMalformed, ""},
		"no form":          {"/v1/import", "Figs ripen late.", codeMalformed, ""},
		"empty":            {"/v1/import", "", codeMediaType, ""},
		"many parts":       {"/v1/import", formOf(strings.Split(strings.Repeat("a,,b,", maxFormParts+2), ",")[:3*(maxFormParts+2)]...), codeMalformed, ""},
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
	for _, ct := range []string{"application/json", "multipart/form-data", "multipart/mixed; boundary=sample", "text/plain"} {
		if res := h.do("POST", "/v1/import", sampleForm, "Content-Type", ct); res.code(t) != codeMediaType {
			t.Errorf("%s: %s", ct, res.body)
		}
	}
	small := newHarness(t, func(c *Config) { c.MaxUpload = 100 })
	if res := small.do("POST", "/v1/import", formOf("file", "a", strings.Repeat("x", 100))); res.code(t) != codeTooLarge {
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
	h.s.edge.bodies.take(768 << 10)
	h.s.edge.uploads.take(768 << 10)
	if res := h.do("POST", "/v1/import", formOf("file", "a", "x")); res.code(t) != codeDegraded || h.asker.last() != nil {
		t.Errorf("%d %s", res.StatusCode, res.body)
	}
	if res := h.do("POST", "/v1/ingest", `{"content":"`+strings.Repeat("x", 100<<10)+`"}`); res.StatusCode != 202 {
		t.Errorf("a body beside: %d %s", res.StatusCode, res.body)
	}
	h.s.edge.bodies.take(256 << 10)
	h.s.edge.uploads.give(768 << 10)
	if res := h.do("POST", "/v1/import", formOf("file", "a", "x")); res.code(t) != codeDegraded || h.s.edge.uploads.held() != 0 {
		t.Errorf("%d %s, %d bytes are lost", res.StatusCode, res.body, h.s.edge.uploads.held())
	}
	h.s.edge.bodies.give(1 << 20)
	if res := h.do("POST", "/v1/import", formOf("file", "a", strings.Repeat("x", 90<<10))); res.StatusCode != 202 {
		t.Errorf("%d %s", res.StatusCode, res.body)
	}
	if bodies, uploads := h.s.edge.bodies.held(), h.s.edge.uploads.held(); bodies != 0 || uploads != 0 {
		t.Errorf("%d and %d bytes are lost", bodies, uploads)
	}
	small := newHarness(t, func(c *Config) { c.MaxBodiesInFlight, c.MaxUpload = 1<<20, 1<<20 })
	if res := small.do("POST", "/v1/import", formOf("file", "a", strings.Repeat("x", 1000<<10))); res.StatusCode != 202 {
		t.Errorf("the largest upload: %d %s", res.StatusCode, res.body)
	}
}

func TestFilenames(t *testing.T) {
	for in, want := range map[string]string{
		"a.txt": "a.txt", "/etc/passwd": "passwd", `..\..\x.md`: "x.md", "": "upload", "..": "upload", "/": "upload", "a\x00b\n.txt": "ab.txt",
		"\u202Etxt.exe": "txt.exe", "\xff.txt": ".txt", strings.Repeat("é", 200) + ".txt": strings.Repeat("é", 125) + ".txt",
	} {
		if got := cleanFilename(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// FuzzForm reads forms as small ones are read, by copying, and as large ones are, in
// place, and holds both to what mime/multipart makes of them. filler is repeated in the
// middle, so that a few bytes make a form that is large in earnest.
func FuzzForm(f *testing.F) {
	for _, form := range []string{
		sampleForm, formOf("file", "a", "x", "metadata", "", "{}", "title", "", "y"), formOf("file", "a", "x", "file", "b", "y"),
		strings.ReplaceAll(sampleForm, "\r\n", "\n"), formOf("title", "", "\xff", "file", "a", ""),
	} {
		head, tail, _ := strings.Cut(form, "\r\n\r\n")
		f.Add([]byte(head), []byte("\r\n\r\n"), []byte(tail), uint16(1))
	}
	head, tail, _ := strings.Cut(formOf("title", "", "x", "file", "a", "Figs|", "occurredAt", "", "2026-03-01T10:00:00Z"), "|")
	for _, filler := range []string{"Figs ripen late. ", "\r\n--sampl", "\r\n\r\n", "\r\n--sample\r\n"} {
		f.Add([]byte(head), []byte(filler), []byte(tail), uint16(1+maxPooledBuffer/len(filler)))
	}
	f.Fuzz(func(t *testing.T, head, filler, tail []byte, times uint16) {
		times %= uint16(1 + 2*maxPooledBuffer/max(len(filler), 4))
		body := slices.Concat(head, bytes.Repeat(filler, int(times)), tail)
		read := func(body []byte) (*uploadForm, *pb.Problem, *violations) {
			form, errs := &uploadForm{}, &violations{}
			return form, readForm(body, "sample", form, []string{"file", "transcript"}, errs), errs
		}
		copied, problem, errs := read(slices.Clip(body))
		shared, problem2, errs2 := read(append(make([]byte, 0, maxPooledBuffer+1+len(body)), body...))
		if problem.GetCode() != problem2.GetCode() || fmt.Sprint(errs.list) != fmt.Sprint(errs2.list) {
			t.Fatalf("copied %v %v, in place %v %v", problem, errs.list, problem2, errs2.list)
		}
		if !bytes.Equal(copied.content, shared.content) || copied.filename != shared.filename || copied.Title != shared.Title || !bytes.Equal(copied.Metadata, shared.Metadata) {
			t.Fatalf("copied %+v, in place %+v", copied, shared)
		}
		if problem != nil || errs.any() {
			return
		}
		if !copied.given {
			t.Fatal("a form without a file was taken")
		}
		reader := multipart.NewReader(bytes.NewReader(body), "sample")
		for {
			part, err := reader.NextRawPart()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				t.Fatalf("taken, and broken: %v", err)
			}
			want, err := io.ReadAll(part)
			if err != nil {
				t.Fatalf("taken, and broken: %v", err)
			}
			switch name := part.FormName(); {
			case name == "file", name == "transcript":
				if !bytes.Equal(copied.content, want) {
					t.Fatalf("a file of %d bytes is read as %d", len(want), len(copied.content))
				}
			case name == "title" && copied.Title != string(want):
				t.Fatalf("the title %q is read as %q", want, copied.Title)
			}
		}
	})
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
		return `{"sessionId":"s","role":"user","text":"x","metadata":` + strings.Repeat(`{"a":`, levels-2) + "{}" + strings.Repeat("}", levels-1)
	}
	body := `{"events":[
		{"sessionId":"s","role":"user","text":"fine","at":"2026-03-01T10:00:00Z","eventId":"e","cwd":"c","model":"m","tool":"t","metadata":{"b":1,"a":2}},
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
		` + nested(maxParsed-2) + `,
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
	want := &pb.SessionEvent{Session: "s", Role: "user", Text: "fine", AtMs: 1772359200000, Event: "e", Cwd: "c", Model: "m", Tool: "t", Metadata: []byte(`{"a":2,"b":1}`)}
	if got := list[0]; got.String() != want.String() {
		t.Errorf("%v, want %v", got, want)
	}
	one := `{"sessionId":"s","role":"user","text":"x"}`
	for name, bad := range map[string]string{
		"none": `{}`, "empty": `{"events":[]}`, "too many": `{"events":[` + strings.Repeat(one+",", 500) + one + `]}`, "no list": `{"events":{}}`,
	} {
		if res := h.do("POST", "/v1/ingest/session-batch", bad); res.code(t) != codeValidation || res.fields(t)["events"] == "" {
			t.Errorf("%s: %s", name, res.body)
		}
	}
	// Where one ends that is deeper still, nobody looks for.
	if res := h.do("POST", "/v1/ingest/session-batch", `{"events":[`+nested(maxParsed-1)+`]}`); res.code(t) != codeValidation || res.fields(t)["body"] == "" {
		t.Errorf("far too deep: %s", res.body)
	}
	if res := h.do("POST", "/v1/ingest/session-batch", `{"events":[`+strings.Repeat(one+",", 499)+one+`]}`); res.StatusCode != 200 {
		t.Errorf("500 events: %s", res.body)
	}
	if res := h.do("POST", "/v1/ingest/session-event", `{"sessionId":"s","role":"user","text":"x","colour":1}`); res.code(t) != codeValidation || res.fields(t)["colour"] == "" {
		t.Errorf("%s", res.body)
	}
}

// TestAFileIsInMemoryOnce: the file of a large form stays where the body is, wherever
// in it that may be; of a small one it is copied, for that body's bytes are used again.
func TestAFileIsInMemoryOnce(t *testing.T) {
	large := strings.Repeat("Figs ripen late.\r\n\r\n--sampl\r\n", maxPooledBuffer/16)
	for name, c := range map[string]struct {
		body   string
		file   string
		shared bool
	}{
		"large":             {formOf("title", "", "x", "file", "a", large), large, true},
		"behind a preamble": {"before\r\n\r\nit\r\n" + formOf("file", "a", large, "title", "", "x"), large, true},
		"small":             {formOf("file", "a", "Figs"), "Figs", false},
		"ends of lines":     {strings.ReplaceAll(formOf("file", "a", strings.Repeat("Figs", maxPooledBuffer)), "\r\n", "\n"), strings.Repeat("Figs", maxPooledBuffer), false},
	} {
		body := []byte(c.body)
		form := &uploadForm{}
		errs := &violations{}
		if p := readForm(slices.Clip(body), "sample", form, []string{"file"}, errs); p != nil || len(errs.list) != 0 {
			t.Errorf("%s: %v, %v", name, p, errs.list)
			continue
		}
		if string(form.content) != c.file {
			t.Errorf("%s: read %d bytes, %.40q", name, len(form.content), form.content)
			continue
		}
		at := strings.Index(c.body, c.file)
		body[at]++
		if shared := string(form.content) != c.file; shared != c.shared {
			t.Errorf("%s: shared %v, want %v", name, shared, c.shared)
		}
	}
}
