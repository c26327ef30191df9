package api

import (
	"bytes"
	"math/big"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/proto"

	"orgmem/api/problems"
	"orgmem/api/web"
	"orgmem/api/wire"
	pb "orgmem/proto"
	"orgmem/proto/canon"
	"orgmem/proto/prototest"
)

// What reads bytes from outside has a fuzz target here, or beside what it belongs
// to: headers_test.go, edit_test.go, upload_test.go and decode_test.go. Each holds its
// parser to a second opinion. The inputs that they found interesting are kept in
// testdata/fuzz and run with every test.

func FuzzRequestID(f *testing.F) {
	for _, s := range []string{"a", "", "a b", strings.Repeat("x", 129), "ü", "\r\nX: y"} {
		f.Add(s)
	}
	h := newHarness(f)
	legal := regexp.MustCompile(`^[!-~]{1,128}$`)
	f.Fuzz(func(t *testing.T, value string) {
		id := h.s.edge.RequestID(http.Header{web.HeaderRequestID: {value}})
		if !legal.MatchString(id) || legal.MatchString(value) && id != value {
			t.Fatalf("%q became %q", value, id)
		}
	})
}

// FuzzRange holds a span to its document and, where the header is one that
// RFC 9110 section 14.1.2 describes, to the bytes that it asks for.
func FuzzRange(f *testing.F) {
	for _, s := range []string{
		"bytes=0-1", "bytes=5-", "bytes=-6", "bytes=-0", "bytes=19-", "bytes=0-1,3-4", "lines=1-2", "bytes=4-2",
		"bytes= 1-2", "bytes=10-99999999999999999999", "",
	} {
		f.Add(s, "", int64(19))
		f.Add(s, `"abc"`, int64(0))
	}
	f.Add("bytes=1-2", `"other"`, int64(7))
	single := regexp.MustCompile(`^bytes=([0-9]*)-([0-9]*)$`)
	f.Fuzz(func(t *testing.T, text, condition string, size int64) {
		size &= 1<<53 - 1
		s, ok := requestedSpan(http.Header{"Range": {text}, "If-Range": {condition}}, size, `"abc"`)
		if !ok {
			if s != (span{}) {
				t.Fatalf("%q of %d: nothing, and %v", text, size, s)
			}
		} else if s.from < 0 || s.from > s.to || s.to > size || !s.part && s != (span{0, size, false}) ||
			s.part && condition != "" && condition != `"abc"` {
			t.Fatalf("%q if %q of %d: %v", text, condition, size, s)
		}
		m := single.FindStringSubmatch(text)
		if m == nil || m[1] == "" && m[2] == "" || condition != "" && condition != `"abc"` {
			if m == nil && ok && s.part && !strings.Contains(text, " ") && !strings.Contains(text, "\t") &&
				strings.TrimSpace(text) == text {
				t.Fatalf("%q is no range and gives %v", text, s)
			}
			return
		}
		number := func(digits string) *big.Int { n, _ := new(big.Int).SetString(digits, 10); return n }
		end := big.NewInt(size)
		from, to := big.NewInt(0), new(big.Int).Set(end)
		switch {
		case m[1] == "": // a suffix
			if from.Sub(end, number(m[2])); from.Sign() < 0 {
				from.SetInt64(0)
			}
			if number(m[2]).Sign() == 0 {
				from = end // nothing of it
			} else if size == 0 {
				return // all of nothing: either answer will do
			}
		case m[2] == "":
			from = number(m[1])
		default:
			from = number(m[1])
			if last := number(m[2]); last.Cmp(from) < 0 {
				if ok && s.part {
					t.Fatalf("%q runs backwards and gives %v", text, s)
				}
				return
			} else if last.Cmp(end) < 0 {
				to = last.Add(last, big.NewInt(1))
			}
		}
		if satisfiable := from.Cmp(end) < 0; ok != satisfiable ||
			ok && (!s.part || s.from != from.Int64() || s.to != to.Int64()) {
			t.Fatalf("%q of %d: %v %v, want %v to %v", text, size, s, ok, from, to)
		}
	})
}

// FuzzIfNoneMatch holds the reader of lists to the grammar of RFC 9110, section 8.8.3:
// where the value is such a list, the tag is in it or not.
func FuzzIfNoneMatch(f *testing.F) {
	for _, s := range []string{
		`*`, `"abc"`, `W/"abc"`, `"x", "abc"`, `"x","y" , W/"abc"`, `"a,b"`, `"x,"abc",y"`, `abc`, `"abc`, ``,
	} {
		f.Add(s)
	}
	tag := regexp.MustCompile(`^(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"`)
	f.Fuzz(func(t *testing.T, value string) {
		const ours = `"abc"`
		listed := etagListed([]string{value}, ours)
		if listed && !strings.Contains(value, ours) && !strings.Contains(value, "*") {
			t.Fatalf("%q lists %s", value, ours)
		}
		if listed != etagListed([]string{`"x"`, value}, ours) {
			t.Fatalf("%q reads otherwise behind another line", value)
		}
		want, rest := false, strings.Trim(value, " \t")
		if rest == "*" {
			want, rest = true, ""
		}
		for rest != "" {
			one := tag.FindString(rest)
			if one == "" {
				return // no list
			}
			want = want || strings.TrimPrefix(one, "W/") == ours
			if rest = strings.TrimLeft(rest[len(one):], " \t"); rest != "" {
				if rest[0] != ',' {
					return
				}
				rest = strings.TrimLeft(rest[1:], " \t")
			}
		}
		if listed != want {
			t.Fatalf("%q: %v", value, listed)
		}
	})
}

// FuzzParams sends a query and a path segment to the parameters of every route.
// Whatever they are, the outcome is the same each time; what is not a query is one
// problem; and what was taken is what net/url reads in it.
func FuzzParams(f *testing.F) {
	for _, q := range []string{
		"", "cursor=abc&pageSize=7", "pageSize=0", "pageSize=99999999999999999999", "pagesize=7", "a;b", "%zz", "a=%ff",
		"cursor=", "type=ingest&status=queued",
		"createdAfter=2026-03-01T10:00:00Z&kind=document&q=figs", "startTime=2026-03-01T10:00:00%2B02:00&groupBy=key",
		"q=a&q=b", "asOf=today&cursor=x",
	} {
		f.Add(q, "ingest:x:y")
	}
	f.Add("", "a%2Fb")
	f.Add("", "%")
	f.Add("", "%ff")
	h := newHarness(f)
	f.Fuzz(func(t *testing.T, query, segment string) {
		values, err := url.ParseQuery(query)
		readable := err == nil
		for name, list := range values {
			readable = readable && utf8.ValidString(name) &&
				!slices.ContainsFunc(list, func(v string) bool { return !utf8.ValidString(v) })
		}
		decoded, err := url.PathUnescape(segment)
		named := err == nil && utf8.ValidString(decoded)
		for _, r := range h.s.table.Routes {
			fill := func() (reflect.Value, string, *problems.Violations) {
				var params gin.Params
				for _, p := range r.Params("path") {
					params = append(params, gin.Param{Key: p.Name, Value: segment})
				}
				input, errs := r.NewInput().Elem(), &problems.Violations{}
				return input, r.FillParams(params, http.Header{}, query, input, errs).GetCode(), errs
			}
			input, code, errs := fill()
			if want := !readable || !named && len(r.Params("path")) > 0; (code == pb.CodeMalformed) != want ||
				code != "" && !want {
				t.Fatalf("%s: %q %q: %q", r.ID, query, segment, code)
			}
			again, code2, errs2 := fill()
			if code != code2 || code == "" && (errs.Any() != errs2.Any() || len(errs.List) != len(errs2.List)) {
				t.Fatalf("%s: %q twice: %q %v, then %q %v", r.ID, query, code, errs.List, code2, errs2.List)
			}
			if code != "" {
				continue
			}
			for _, e := range errs.List {
				if !utf8.ValidString(e.GetField()) || utf8.RuneCountInString(e.GetField()) > problems.MaxFieldName+1 {
					t.Fatalf("%s: %q names %q", r.ID, query, e.GetField())
				}
			}
			if errs.Any() {
				continue
			}
			if !reflect.DeepEqual(input.Interface(), again.Interface()) {
				t.Fatalf("%s: %q gives %+v, then %+v", r.ID, query, input, again)
			}
			for _, p := range r.Params("path") {
				if field := input.FieldByIndex(p.Index); field.Kind() == reflect.String && field.String() != decoded {
					t.Fatalf("%s: %q became %q", r.ID, segment, field)
				}
			}
			known := map[string]bool{"cursor": true, "pageSize": true}
			for _, p := range r.Params("query") {
				name, given := p.Name, values[p.Name]
				known[name] = true
				if p.Needed && given == nil || len(given) > 1 {
					t.Fatalf("%s: %q passes with %d of %s", r.ID, query, len(given), name)
				}
				switch field := input.FieldByIndex(p.Index); {
				case given == nil:
					if !field.IsZero() {
						t.Fatalf("%s: %s is %v of nothing", r.ID, name, field)
					}
				case field.Kind() == reflect.String:
					if field.String() != given[0] {
						t.Fatalf("%s: %s=%q became %q", r.ID, name, given[0], field)
					}
				case field.Type() == reflect.TypeFor[web.PageSize]():
					n, ok := new(big.Int).SetString(given[0], 10)
					if !ok || n.Sign() <= 0 || uint64(min(web.MaxPageSize, n.Uint64())) != field.Uint() && n.IsUint64() ||
						!n.IsUint64() && field.Uint() != web.MaxPageSize {
						t.Fatalf("%s: a page of %q became %d", r.ID, given[0], field.Uint())
					}
				}
			}
			for name := range values {
				if !known[name] {
					t.Fatalf("%s: %q passes with %q", r.ID, query, name)
				}
			}
		}
	})
}

// deepest is how deep a JSON value is nested; -1: it is none.
func deepest(raw []byte) (levels int) {
	if !jsontext.Value(raw).IsValid() {
		return -1
	}
	for d := jsontext.NewDecoder(bytes.NewReader(raw)); ; levels = max(levels, d.StackDepth()) {
		if _, err := d.ReadToken(); err != nil {
			return levels
		}
	}
}

// FuzzSessionEvent: an event is taken in a batch as it is taken alone, and one that
// is not rejects itself and no other.
func FuzzSessionEvent(f *testing.F) {
	for _, e := range []string{
		`{"sessionId":"s","role":"user","text":"Hello."}`, `{"sessionId":"s","role":"poet","text":"x"}`, `{}`, `null`, `[1]`,
		`"x"`, `{"sessionId":"s\u0000","role":"user","text":"x"}`,
		`{"sessionId":"s","role":"tool","text":"x","at":"2026-03-01T10:00:00Z","eventId":"e","cwd":"/","model":"m",` +
			`"tool":"t","metadata":{"a":[1,{"b":1e400}]}}`,
		`{"sessionId":"s","role":"user","text":"x","metadata":` + strings.Repeat(`{"a":`, canon.MaxDepth) + "1" +
			strings.Repeat("}", canon.MaxDepth) + "}",
		`{"sessionId":"s","role":"user","text":" "}`, `{"sessionId":"s","role":"user","text":"x","text":"y"}`,
		`{"sessionId":"s","role":"user","text":"x","colour":1}`,
	} {
		f.Add([]byte(e))
	}
	const good = `{"sessionId":"s","role":"user","text":"A good one."}`
	want := &pb.SessionEvent{Session: "s", Role: "user", Text: "A good one."}
	h := newHarness(f)
	f.Fuzz(func(t *testing.T, event []byte) {
		depth := deepest(event)
		if depth < 0 || depth > wire.MaxParsed-2 || depth == canon.MaxDepth-1 || depth == canon.MaxDepth {
			return // a fault of the body as a whole, or one that its place decides
		}
		alone, problem, errs := decodeAs(t, h, "ingestSessionEvent", event)
		taken := problem == nil && !errs.Any()
		if taken {
			body := alone.(sessionEventBody)
			body.check(errs)
			taken = !errs.Any()
		}
		got, problem, faults := decodeAs(t, h, "ingestSessionBatch",
			slices.Concat([]byte(`{"events":[`+good+`,`), event, []byte(`,`+good+`]}`)))
		if problem != nil || faults.Any() {
			t.Fatalf("%s: the batch: %v %v", event, problem, faults.List)
		}
		list := got.(sessionBatchBody).Events.list
		if len(list) != 3 {
			t.Fatalf("%s: %d events of three: %v", event, len(list), list)
		}
		for _, i := range []int{0, 2} { // the good ones stay what they are
			if diff := prototest.Diff(want, list[i], "invalid"); diff != "" {
				t.Fatalf("%s: the event at %d (-want +got):\n%s", event, i, diff)
			}
		}
		if one := list[1]; (one.GetInvalid() == "") != taken || !utf8.ValidString(one.GetInvalid()) {
			t.Fatalf("%s alone: %v; in a batch %v", event, errs.List, one)
		}
		if body, ok := alone.(sessionEventBody); taken && (!ok || !proto.Equal(body.proto(), list[1])) {
			t.Fatalf("%s alone: %v; in a batch %v", event, alone, list[1])
		}
	})
}
