package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"orgmem/api/apitest"
	"orgmem/api/problems"
	"orgmem/api/wire"
	pb "orgmem/proto"
	"orgmem/proto/canon"
)

// interface: Endpoints/Ingest
func TestIngestBecomesAnOperation(t *testing.T) {
	h := newHarness(t)
	res := h.do("POST", "/v1/ingest", ` { "content" : "Fi\u0067s.\n", "title":"T", "kind":"belief", "externalId":"x-1",
		"occurredAt":"2026-01-02T03:04:05.678+01:00", "metadata": {"b":1.50,
			"a":{"z":[1,2],"y":9007199254740993}, "e":1E2 } } `)
	if res.StatusCode != http.StatusAccepted {
		t.Fatalf("%s", res.body)
	}
	got := h.asker.last().GetIngest()
	want := &pb.Ingest{Items: []*pb.IngestItem{{
		Content: "Figs.\n", Title: "T", Kind: "belief", ExternalId: "x-1",
		OccurredMs: time.Date(2026, 1, 2, 2, 4, 5, 678e6, time.UTC).UnixMilli(),
		Metadata:   []byte(`{"a":{"y":9007199254740993,"z":[1,2]},"b":1.5,"e":100}`),
	}}}
	if !proto.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	h.do("POST", "/v1/ingest/batch", `{"items":[{"content":"a"},{"content":"b","metadata":{}}]}`)
	got = h.asker.last().GetIngest()
	want = &pb.Ingest{
		Batch: true,
		Items: []*pb.IngestItem{{Content: "a", Kind: "document"}, {Content: "b", Kind: "document", Metadata: []byte("{}")}},
	}
	if !proto.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

// interface: Resources/Search hit
func TestSearchBecomesAnOperation(t *testing.T) {
	h := newHarness(t)
	h.do("POST", "/v1/search", `{"query":"figs"}`)
	if got, want := h.asker.last().GetSearch(),
		(&pb.Search{Query: "figs", TopK: 10, Mode: "hybrid"}); !proto.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	res := h.do("POST", "/v1/search", `{"query":"figs","scope":"org","topK":1e1,"mode":"vector","includeSuperseded":true,
		"filters":{"kind":"event","domainId":"d1","createdAfter":"2026-01-01T00:00:00Z",
			"createdBefore":"2026-02-01T00:00:00Z",
			"metadata":{"s":"x\u0041","n":1.0,"i":12345678901234567890,"t":true,"e.f":"y"}}}`)
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%s", res.body)
	}
	want := &pb.Search{
		Query: "figs", OrgScope: true, TopK: 10, Mode: "vector", IncludeSuperseded: true,
		Filters: &pb.Filters{
			Kind: "event", Domain: "d1",
			CreatedAfterMs:  time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli(),
			CreatedBeforeMs: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC).UnixMilli(),
			Metadata:        map[string]string{"s": `"xA"`, "n": "1", "i": "12345678901234567890", "t": "true", "e.f": `"y"`},
		},
	}
	if got := h.asker.last().GetSearch(); !proto.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
	h.do("POST", "/v1/search", `{"query":"figs","topK":100,"filters":{}}`)
	if got := h.asker.last().GetSearch(); got.GetTopK() != 100 || got.GetFilters() == nil {
		t.Errorf("got %v", got)
	}
}

func TestCreateKeyBecomesAnOperation(t *testing.T) {
	h := newHarness(t)
	h.do("POST", "/v1/keys", `{"label":"x","scopes":["read","graph:write"]}`)
	if got, want := h.asker.last().GetCreateKey(),
		(&pb.CreateKey{Label: "x", Scopes: []string{"read", "graph:write"}}); !proto.Equal(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

// TestFieldErrors holds, field by field, what is refused and under which name.
func TestFieldErrors(t *testing.T) {
	h := newHarness(t)
	item := func(fields string) string { return `{"content":"ok",` + fields + `}` }
	search := func(fields string) string { return `{"query":"ok",` + fields + `}` }
	cases := []struct{ target, body, field, message string }{
		{"/v1/ingest", `{}`, "content", "is required"},
		{"/v1/ingest", `{"content":""}`, "content", "must not be blank"},
		{"/v1/ingest", `{"content":" \t\n"}`, "content", "must not be blank"},
		{"/v1/ingest", `{"content":"\u00a0\u3000\u200b\ufeff\u2028"}`, "content", "must not be blank"},
		{"/v1/ingest", `{"content":null}`, "content", "expected string"},
		{"/v1/ingest", `{"content":7}`, "content", "expected string"},
		{"/v1/ingest", `{"content":["x"]}`, "content", "expected string"},
		{"/v1/ingest", `{"content":{"x":1}}`, "content", "expected string"},
		{"/v1/ingest", `{"content":"a\u0000b"}`, "content", "must not contain the character U+0000"},
		{"/v1/ingest", item(`"title":null`), "title", "expected string"},
		{"/v1/ingest", item(`"title":"` + strings.Repeat("ö", 1001) + `"`), "title", "expected length <= 1000"},
		{"/v1/ingest", item(`"kind":"entity"`), "kind", `expected value to be one of "document, belief, preference, event"`},
		{"/v1/ingest", item(`"kind":""`), "kind", `expected value to be one of "document, belief, preference, event"`},
		{
			"/v1/ingest", item(`"kind":"Document"`), "kind", `expected value to be one of "document, belief, preference, event"`,
		},
		{"/v1/ingest", item(`"kind":1e999`), "kind", "is a number out of range"},
		{"/v1/ingest", item(`"externalId":""`), "externalId", "expected length >= 1"},
		{"/v1/ingest", item(`"externalId":"` + strings.Repeat("x", 513) + `"`), "externalId", "expected length <= 512"},
		{"/v1/ingest", item(`"occurredAt":"yesterday"`), "occurredAt", "expected RFC 3339 date-time"},
		{"/v1/ingest", item(`"occurredAt":"2026-01-02"`), "occurredAt", "expected RFC 3339 date-time"},
		{"/v1/ingest", item(`"occurredAt":"2026-02-30T00:00:00Z"`), "occurredAt", "expected RFC 3339 date-time"},
		{"/v1/ingest", item(`"occurredAt":"2026-01-02T00:00:00"`), "occurredAt", "expected RFC 3339 date-time"},
		{"/v1/ingest", item(`"occurredAt":1767225600`), "occurredAt", "expected RFC 3339 date-time"},
		{"/v1/ingest", item(`"metadata":[]`), "metadata", "expected object"},
		{"/v1/ingest", item(`"metadata":null`), "metadata", "expected object"},
		{"/v1/ingest", item(`"metadata":"{}"`), "metadata", "expected object"},
		{"/v1/ingest", item(`"metadata":{"a":-1e999}`), "metadata", "is a number out of range"},
		{"/v1/ingest", item(`"metadata":{"a":["\u0000"]}`), "metadata", "must not contain the character U+0000"},
		{"/v1/ingest", item(`"metadata":{"a\u0000":1}`), "metadata", "must not contain the character U+0000"},
		{
			"/v1/ingest", item(`"metadata":{"a":"` + strings.Repeat("x", canon.MaxBytes) + `"}`), "metadata",
			"expected at most 65536 bytes of JSON",
		},
		{"/v1/ingest", item(`"contnet":1`), "contnet", "unknown field"},
		{"/v1/ingest", item(`"a.b[0]":1,"title":2`), "a.b[0]", "unknown field"},
		{"/v1/ingest", item(`"a.b[0]":1,"title":2`), "title", "expected string"},
		{"/v1/ingest", item(`"` + strings.Repeat("é", 80) + `":1`), strings.Repeat("é", 64) + "…", "unknown field"},
		{"/v1/ingest/batch", `{}`, "items", "is required"},
		{"/v1/ingest/batch", `{"items":[]}`, "items", "expected array length >= 1"},
		{"/v1/ingest/batch", `{"items":{}}`, "items", "expected array"},
		{"/v1/ingest/batch", `{"items":[1]}`, "items[0]", "expected object"},
		{"/v1/ingest/batch", `{"items":[null]}`, "items[0]", "expected object"},
		{
			"/v1/ingest/batch", `{"items":[{"content":"a"},{"content":"b"},{"content":"c"},{"content":"  "}]}`,
			"items[3].content", "must not be blank",
		},
		{"/v1/ingest/batch", `{"items":[{"content":"a"},{}]}`, "items[1].content", "is required"},
		{
			"/v1/ingest/batch", `{"items":[{"content":"a"},{"content":"b","contentt":"c"}]}`, "items[1].contentt",
			"unknown field",
		},
		{"/v1/ingest", item(`"derivedFrom":"a"`), "derivedFrom", "expected array"},
		{"/v1/ingest", item(`"derivedFrom":[3]`), "derivedFrom[0]", "expected string"},
		{"/v1/ingest", item(`"derivedFrom":["a",""]`), "derivedFrom[1]", "expected length >= 1"},
		{
			"/v1/ingest", item(`"derivedFrom":["` + strings.Repeat("x", 513) + `"]`), "derivedFrom[0]",
			"expected length <= 512",
		},
		{
			"/v1/ingest", item(`"derivedFrom":[` + strings.Repeat(`"a",`, 64) + `"a"]`), "derivedFrom",
			"expected array length <= 64",
		},
		{"/v1/ingest", item(`"externalId":"m","derivedFrom":["a","m"]`), "derivedFrom[1]", "is the item's own externalId"},
		{
			"/v1/ingest/batch", `{"items":[{"content":"a"},{"content":"b","externalId":"m","derivedFrom":["m"]}]}`,
			"items[1].derivedFrom[0]", "is the item's own externalId",
		},
		{"/v1/ingest/batch", `{"items":[{"content":"a","metadata":3}]}`, "items[0].metadata", "expected object"},
		{"/v1/search", `{"query":""}`, "query", "must not be blank"},
		{"/v1/search", `{"query":"  "}`, "query", "must not be blank"},
		{"/v1/search", search(`"topK":0`), "topK", "expected number >= 1"},
		{"/v1/search", search(`"topK":101`), "topK", "expected number <= 100"},
		{"/v1/search", search(`"topK":-5`), "topK", "expected number >= 1"},
		{"/v1/search", search(`"topK":2.5`), "topK", "expected integer"},
		{"/v1/search", search(`"topK":1e300`), "topK", "expected number <= 100"},
		{"/v1/search", search(`"topK":1e999`), "topK", "is a number out of range"},
		{"/v1/search", search(`"topK":"10"`), "topK", "expected integer"},
		{"/v1/search", search(`"topK":null`), "topK", "expected integer"},
		{"/v1/search", search(`"scope":"team"`), "scope", `expected value to be one of "user, org"`},
		{"/v1/search", search(`"mode":"semantic"`), "mode", `expected value to be one of "hybrid, vector, keyword"`},
		{"/v1/search", search(`"includeSuperseded":"yes"`), "includeSuperseded", "expected boolean"},
		{"/v1/search", search(`"includeSuperseded":1`), "includeSuperseded", "expected boolean"},
		{"/v1/search", search(`"filters":[]`), "filters", "expected object"},
		{"/v1/search", search(`"filters":null`), "filters", "expected object"},
		{"/v1/search", search(`"filters":{"Kind":"event"}`), "filters.Kind", "unknown field"},
		{
			"/v1/search", search(`"filters":{"kind":"note"}`), "filters.kind",
			`expected value to be one of "document, entity, belief, preference, event, session"`,
		},
		{"/v1/search", search(`"filters":{"createdAfter":"now"}`), "filters.createdAfter", "expected RFC 3339 date-time"},
		{
			"/v1/search", search(`"filters":{"metadata":{"a":[1]}}`), "filters.metadata",
			"expected each value to be text, a number or a boolean",
		},
		{
			"/v1/search", search(`"filters":{"metadata":{"a":null}}`), "filters.metadata",
			"expected each value to be text, a number or a boolean",
		},
		{"/v1/search", search(`"filters":{"metadata":[1]}`), "filters.metadata", "expected object"},
		{
			"/v1/keys", `{"label":"x","scopes":["everything"]}`, "scopes[0]",
			`expected value to be one of "read, write, admin, graph:write, memory:forget, subjects:provision, usage:read"`,
		},
		{"/v1/keys", `{"label":"x","scopes":[]}`, "scopes", "expected array length >= 1"},
		{"/v1/keys", `{"label":"x","scopes":null}`, "scopes", "expected array"},
		{"/v1/keys", `{"label":"x","scopes":"read"}`, "scopes", "expected array"},
		{"/v1/keys", `{"label":" "}`, "label", "must not be blank"},
		{"/v1/keys", `{"scopes":["read"]}`, "label", "is required"},
	}
	for _, c := range cases {
		res := h.do("POST", c.target, c.body)
		if res.code(t) != pb.CodeValidation {
			t.Errorf("%s %.80s: %d %s", c.target, c.body, res.StatusCode, res.body)
			continue
		}
		if got := res.fields(t); got[c.field] != c.message {
			t.Errorf("%s %.80s: %q, want %s: %s", c.target, c.body, got, c.field, c.message)
		}
		if h.asker.last().GetRejected() == nil {
			t.Errorf("%s %.80s: not rejected", c.target, c.body)
		}
	}
	many := `{"query":"x","filters":{"metadata":{`
	for i := range 17 {
		many += fmt.Sprintf(`"k%d":1,`, i)
	}
	if res := h.do("POST", "/v1/search", strings.TrimSuffix(many, ",")+"}}}"); res.fields(t)["filters.metadata"] !=
		"expected at most 16 fields" {
		t.Errorf("%s", res.body)
	}
}

// TestAllFaultsAtOnce holds that a client sees every fault in one answer, up to
// the bound.
func TestAllFaultsAtOnce(t *testing.T) {
	h := newHarness(t)
	res := h.do("POST", "/v1/ingest?zz=1",
		`{"content":"","title":7,"kind":"x","externalId":"","occurredAt":"x","metadata":1,"more":1}`, "Idempotency-Key", "ü")
	got := slices.Sorted(maps.Keys(res.fields(t)))
	want := []string{"Idempotency-Key", "content", "externalId", "kind", "metadata", "more", "occurredAt", "title", "zz"}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	res = h.do("POST", "/v1/ingest/batch", `{"items":[`+
		strings.TrimSuffix(strings.Repeat(`{"content":1},`, 500), ",")+`]}`)
	if n := len(res.fields(t)); n != problems.MaxViolations {
		t.Errorf("%d errors", n)
	}
}

func TestLargestContent(t *testing.T) {
	h := newHarness(t)
	for n, want := range map[int]int{1000: http.StatusAccepted, 1001: http.StatusRequestEntityTooLarge} {
		items := strings.TrimSuffix(strings.Repeat(`{"content":"a"},`, n), ",")
		if res := h.do("POST", "/v1/ingest/batch", `{"items":[`+items+`]}`); res.StatusCode != want {
			t.Errorf("%d items: %d %.200s", n, res.StatusCode, res.body)
		}
	}
	for n, want := range map[int]int{5_000_000: http.StatusAccepted, 5_000_001: http.StatusRequestEntityTooLarge} {
		if res := h.do("POST", "/v1/ingest", `{"content":"`+strings.Repeat("é", n)+`"}`); res.StatusCode != want {
			t.Errorf("%d characters: %d %.200s", n, res.StatusCode, res.body)
		}
	}
}

func TestConfiguredSizes(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.MaxContent, c.MaxBatch = 3, 2 })
	for body, want := range map[string]int{
		`{"items":[{"content":"äöü"},{"content":"b"}]}`:                  http.StatusAccepted,
		`{"items":[{"content":"äöüß"}]}`:                                 http.StatusRequestEntityTooLarge,
		`{"items":[{"content":"a"},{"content":"b"},{"content":"c"}]}`:    http.StatusRequestEntityTooLarge,
		`{"items":[{"content":"a"},{"content":"b"},{"contentt":"c"}]}`:   http.StatusRequestEntityTooLarge,
		`{"items":[{"content":"a"},{"content":"b"},3,4,5,6,7,8,9,null]}`: http.StatusRequestEntityTooLarge,
	} {
		if res := h.do("POST", "/v1/ingest/batch", body); res.StatusCode != want {
			t.Errorf("%s: %d %s", body, res.StatusCode, res.body)
		}
	}
	event := `{"sessionId":"s","role":"user","text":"äöüß"}`
	if res := h.do("POST", "/v1/ingest/session-event", event); res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("%s: %d %s", event, res.StatusCode, res.body)
	}
	h.do("POST", "/v1/ingest/session-batch", `{"events":[`+event+`,{"sessionId":"s","role":"user","text":"äöü"}]}`)
	if events := h.asker.last().GetLink().GetSessionEvents().GetEvents(); len(events) != 2 ||
		events[0].GetInvalid() == "" || events[1].GetInvalid() != "" {
		t.Errorf("%v", events)
	}
	h.do("POST", "/v1/import", apitest.Form("file", "a", "x"))
	if n := h.asker.last().GetLink().GetImportFile().GetMaxRunes(); n != 3 {
		t.Errorf("a document of a file may have %d characters", n)
	}
	if plain := newHarness(t); bytes.Equal(plain.openAPI(), h.openAPI()) {
		t.Error("the document does not know the configured sizes")
	}
}

// TestTheBeginningOf1970IsATime: 0 milliseconds stand for no time at all.
func TestTheBeginningOf1970IsATime(t *testing.T) {
	const epoch = "1970-01-01T00:00:00Z"
	h := newHarness(t)
	for name, ask := range map[string]func(env *pb.Envelope) int64{
		"GET /v1/usage?startTime=" + epoch: func(env *pb.Envelope) int64 { return env.GetData().GetGetUsage().GetStartMs() },
		"GET /v1/usage?endTime=" + epoch:   func(env *pb.Envelope) int64 { return env.GetData().GetGetUsage().GetEndMs() },
		`POST /v1/search {"query":"x","filters":{"createdBefore":"` + epoch + `"}}`: func(env *pb.Envelope) int64 {
			return env.GetSearch().GetFilters().GetCreatedBeforeMs()
		},
		`POST /v1/ingest {"content":"x","occurredAt":"` + epoch + `"}`: func(env *pb.Envelope) int64 {
			return env.GetIngest().GetItems()[0].GetOccurredMs()
		},
		"POST /v1/import " + apitest.Form("file", "a", "x", "occurredAt", "", epoch): func(env *pb.Envelope) int64 {
			return env.GetLink().GetImportFile().GetOccurredMs()
		},
		`POST /v1/ingest/session-event {"sessionId":"s","role":"user","text":"x","at":"` + epoch +
			`"}`: func(env *pb.Envelope) int64 {
			return env.GetLink().GetSessionEvents().GetEvents()[0].GetAtMs()
		},
	} {
		method, rest, _ := strings.Cut(name, " ")
		target, body, _ := strings.Cut(rest, " ")
		if res := h.do(method, target, body); res.StatusCode >= 400 {
			t.Errorf("%s: %s", name, res.body)
			continue
		}
		if ms := ask(h.asker.last()); ms != 1 {
			t.Errorf("%s: read as %d", name, ms)
		}
	}
}

func TestDeepestBody(t *testing.T) {
	h := newHarness(t)
	// The body is level 1 and metadata level 2.
	for levels, want := range map[int]int{62: http.StatusAccepted, 63: http.StatusUnprocessableEntity} {
		body := `{"content":"x","metadata":{"a":` + strings.Repeat("[", levels) + strings.Repeat("]", levels) + `}}`
		res := h.do("POST", "/v1/ingest", body)
		if res.StatusCode != want {
			t.Errorf("%d more levels: %d %s", levels, res.StatusCode, res.body)
		}
	}
}

func TestManyMembers(t *testing.T) {
	h := newHarness(t)
	for n, want := range map[int]int{
		wire.MaxMembers / 2: http.StatusAccepted, wire.MaxMembers + 1: http.StatusUnprocessableEntity,
	} {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"%x":1`, i)
		}
		members := b.String()[1:]
		if res := h.do("POST", "/v1/ingest", `{"content":"x","metadata":{"m":{`+members+`}}}`); res.StatusCode != want {
			t.Errorf("%d members: %d %.300s", n, res.StatusCode, res.body)
		}
		if res := h.do("POST", "/v1/ingest", `{"content":"x",`+members+`}`); res.StatusCode !=
			http.StatusUnprocessableEntity {
			t.Errorf("%d unknown members: %d", n, res.StatusCode)
		}
	}
}

// decodeAs runs the decoder as a route does.
func decodeAs(t testing.TB, h *harness, id string, body []byte) (any, *pb.Problem, *problems.Violations) {
	t.Helper()
	for _, r := range h.s.table.Routes {
		if r.ID == id {
			input := r.NewInput()
			var errs problems.Violations
			p := r.Decode(body, input, &errs)
			return input.Elem().FieldByName("Body").Interface(), p, &errs
		}
	}
	t.Fatalf("no route %s", id)
	return nil, nil, nil
}

// TestDecoderAgainstEncodingJSON decodes generated items with both and compares.
func TestDecoderAgainstEncodingJSON(t *testing.T) {
	h := newHarness(t)
	text := rapid.StringMatching(`[a-zA-ZäöüЖ日 "\\/<&\n]{0,20}`)
	rapid.Check(t, func(rt *rapid.T) {
		fields := map[string]any{"content": "x" + text.Draw(rt, "content")}
		if rapid.Bool().Draw(rt, "title?") {
			fields["title"] = text.Draw(rt, "title")
		}
		if rapid.Bool().Draw(rt, "kind?") {
			fields["kind"] = rapid.SampledFrom([]string{"document", "belief", "preference", "event"}).Draw(rt, "kind")
		}
		meta := map[string]any{}
		if rapid.Bool().Draw(rt, "metadata?") {
			for range rapid.IntRange(0, 3).Draw(rt, "members") {
				meta[text.Draw(rt, "name")] = rapid.OneOf(
					rapid.Just(any(nil)), rapid.Map(rapid.Float64Range(-1e20, 1e20), func(f float64) any { return f }),
					rapid.Map(text, func(s string) any { return s }), rapid.Map(rapid.Bool(), func(b bool) any { return b }),
				).Draw(rt, "value")
			}
			fields["metadata"] = meta
		}
		body, err := json.Marshal(fields)
		if err != nil {
			rt.Fatal(err)
		}
		got, problem, errs := decodeAs(t, h, "ingest", body)
		if problem != nil || errs.Any() {
			rt.Fatalf("%s: %v %v", body, problem, errs.List)
		}
		item := got.(ingestItemBody)
		title, _ := fields["title"].(string)
		kind, _ := fields["kind"].(string)
		if item.Content != fields["content"] || item.Title != title || item.Kind != kind {
			rt.Fatalf("%s: %+v", body, item)
		}
		if fields["metadata"] != nil {
			var back map[string]any
			if err := json.Unmarshal(item.Metadata, &back); err != nil || !reflect.DeepEqual(back, meta) {
				rt.Fatalf("metadata %s: %v %v", item.Metadata, back, err)
			}
		}
	})
}

// FuzzDecode throws bytes at every body type. Whatever comes, the decoder
// neither panics nor accepts what a strict second reader refuses, and no message
// of a known field repeats the input.
func FuzzDecode(f *testing.F) {
	for _, b := range sampleBodies {
		f.Add([]byte(b))
	}
	for _, b := range badBodies {
		f.Add([]byte(b.body))
	}
	f.Add([]byte(`{"query":"x","filters":{"metadata":{"a":1}},"topK":3}`))
	f.Add([]byte(`{"items":[{"content":"a","metadata":{"b":{"c":[1,2,3]}}}]}`))
	f.Add([]byte(`{"content":"\u0000","metadata":{"\\u0000":1}}`))
	h := newHarness(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		for id, sample := range sampleBodies {
			if sample == sampleForm {
				continue // no JSON
			}
			got, problem, errs := decodeAs(t, h, id, body)
			if problem == nil && !errs.Any() {
				if !utf8.Valid(body) || !jsontext.Value(body).IsValid() {
					t.Fatalf("%s accepted %q", id, body)
				}
				if _, err := json.Marshal(got); err != nil {
					t.Fatalf("%s: %v", id, err)
				}
			}
			if len(errs.List) > problems.MaxViolations {
				t.Fatalf("%d violations", len(errs.List))
			}
			for _, e := range errs.List {
				if !utf8.ValidString(e.GetField()) || !utf8.ValidString(e.GetMessage()) {
					t.Fatalf("not UTF-8: %q", e)
				}
			}
		}
	})
}

// TestBombs holds that a large body costs a few times its size, whatever shape
// it has. Half a megabyte shows it as well as ten.
func TestBombs(t *testing.T) {
	h := newHarness(t)
	const size = 512 << 10
	fill := func(before, piece, after string) []byte {
		n := (size - len(before) - len(after)) / len(piece)
		return []byte(before + strings.TrimSuffix(strings.Repeat(piece, n), ",") + after)
	}
	for name, body := range map[string][]byte{
		"empty items":          fill(`{"items":[`, `{},`, `]}`),
		"numbers for items":    fill(`{"items":[`, `1,`, `]}`),
		"unknown lists":        fill(`{"items":[{"x":[`, `[],`, `]}]}`),
		"unknown numbers":      fill(`{"items":[{"x":[`, `123456,`, `]}]}`),
		"unknown objects":      fill(`{"items":[{"x":[`, `{"a":{}},`, `]}]}`),
		"metadata of numbers":  fill(`{"items":[{"content":"x","metadata":{"x":[`, `0,`, `]}}]}`),
		"metadata of escapes":  fill(`{"items":[{"content":"x","metadata":{"x":"`, `\u0041`, `"}}]}`),
		"escapes":              fill(`{"items":[{"content":"`, `\u0041`, `"}]}`),
		"text in place of it":  fill(`{"items":"`, `a`, `"}`),
		"white space":          fill(`{"items":[`, ` `, `]}`),
		"escaped NULs":         fill(`{"items":[{"content":["`, `\u0000`, `"]}]}`),
		"metadata of metadata": fill(`{"items":[`, `{"content":"x","metadata":{"a":{"b":[1]}}},`, `]}`),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		decodeAs(t, h, "ingestBatch", body)
		runtime.ReadMemStats(&after)
		if cost := after.TotalAlloc - before.TotalAlloc; cost > 3*size {
			t.Errorf("%s: %d bytes for a body of %d", name, cost, len(body))
		}
	}
}
