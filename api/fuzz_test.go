package api

import (
	"bytes"
	"errors"
	"io"
	"math/big"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/proto"

	"orgmem/proto/canon"
)

// What reads bytes from outside has a fuzz target here, or beside what it belongs
// to: headers_test.go, edit_test.go, upload_test.go and decode_test.go. Each holds its
// parser to a second opinion. The inputs that they found interesting are kept in
// testdata/fuzz and run with every test.

func FuzzContentType(f *testing.F) {
	for _, s := range []string{"application/json", "Application/JSON; charset=UTF-8", `application/json;charset="utf-8"`, "application/json; charset=latin1", "application/jsonx", "text/plain; application/json"} {
		f.Add(s, "")
	}
	f.Add("application/json", "gzip")
	f.Add("application/json", "Identity")
	f.Fuzz(func(t *testing.T, value, encoding string) {
		if !jsonContent(http.Header{"Content-Type": {value}, "Content-Encoding": {encoding}}) {
			if value == "application/json" && (encoding == "" || encoding == "identity") {
				t.Fatalf("%q %q is refused", value, encoding)
			}
			return
		}
		if encoding != "" && !strings.EqualFold(encoding, "identity") {
			t.Fatalf("compressed as %q", encoding)
		}
		media, params, err := mime.ParseMediaType(value)
		if err == nil && (media != "application/json" || params["charset"] != "" && !strings.EqualFold(params["charset"], "utf-8")) && !strings.Contains(value, "*") {
			t.Fatalf("%q passes; it is %s %v", value, media, params)
		}
	})
}

func FuzzRequestID(f *testing.F) {
	for _, s := range []string{"a", "", "a b", strings.Repeat("x", 129), "ü", "\r\nX: y"} {
		f.Add(s)
	}
	h := newHarness(f)
	legal := regexp.MustCompile(`^[!-~]{1,128}$`)
	f.Fuzz(func(t *testing.T, value string) {
		id := h.s.edge.requestID(http.Header{headerRequestID: {value}})
		if !legal.MatchString(id) || legal.MatchString(value) && id != value {
			t.Fatalf("%q became %q", value, id)
		}
	})
}

// FuzzRange holds a span to its document and, where the header is one that
// RFC 9110 section 14.1.2 describes, to the bytes that it asks for.
func FuzzRange(f *testing.F) {
	for _, s := range []string{"bytes=0-1", "bytes=5-", "bytes=-6", "bytes=-0", "bytes=19-", "bytes=0-1,3-4", "lines=1-2", "bytes=4-2", "bytes= 1-2", "bytes=10-99999999999999999999", ""} {
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
		} else if s.from < 0 || s.from > s.to || s.to > size || !s.part && s != (span{0, size, false}) || s.part && condition != "" && condition != `"abc"` {
			t.Fatalf("%q if %q of %d: %v", text, condition, size, s)
		}
		m := single.FindStringSubmatch(text)
		if m == nil || m[1] == "" && m[2] == "" || condition != "" && condition != `"abc"` {
			if m == nil && ok && s.part && !strings.Contains(text, " ") && !strings.Contains(text, "\t") && strings.TrimSpace(text) == text {
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
		if satisfiable := from.Cmp(end) < 0; ok != satisfiable || ok && (!s.part || s.from != from.Int64() || s.to != to.Int64()) {
			t.Fatalf("%q of %d: %v %v, want %v to %v", text, size, s, ok, from, to)
		}
	})
}

// FuzzIfNoneMatch holds the reader of lists to the grammar of RFC 9110, section 8.8.3:
// where the value is such a list, the tag is in it or not.
func FuzzIfNoneMatch(f *testing.F) {
	for _, s := range []string{`*`, `"abc"`, `W/"abc"`, `"x", "abc"`, `"x","y" , W/"abc"`, `"a,b"`, `"x,"abc",y"`, `abc`, `"abc`, ``} {
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
		"", "cursor=abc&pageSize=7", "pageSize=0", "pageSize=99999999999999999999", "pagesize=7", "a;b", "%zz", "a=%ff", "cursor=", "type=ingest&status=queued",
		"createdAfter=2026-03-01T10:00:00Z&kind=document&q=figs", "startTime=2026-03-01T10:00:00%2B02:00&groupBy=key", "q=a&q=b", "asOf=today&cursor=x",
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
			readable = readable && utf8.ValidString(name) && !slices.ContainsFunc(list, func(v string) bool { return !utf8.ValidString(v) })
		}
		decoded, err := url.PathUnescape(segment)
		named := err == nil && utf8.ValidString(decoded)
		for _, r := range h.s.table.routes {
			fill := func() (reflect.Value, string, *violations) {
				var params gin.Params
				for _, p := range r.pathParams {
					params = append(params, gin.Param{Key: p.name, Value: segment})
				}
				input, errs := reflect.New(r.input).Elem(), &violations{}
				return input, fillParams(r, params, http.Header{}, query, input, errs).GetCode(), errs
			}
			input, code, errs := fill()
			if want := !readable || !named && len(r.pathParams) > 0; (code == codeMalformed) != want || code != "" && !want {
				t.Fatalf("%s: %q %q: %q", r.ID, query, segment, code)
			}
			again, code2, errs2 := fill()
			if code != code2 || code == "" && (errs.any() != errs2.any() || len(errs.list) != len(errs2.list)) {
				t.Fatalf("%s: %q twice: %q %v, then %q %v", r.ID, query, code, errs.list, code2, errs2.list)
			}
			if code != "" {
				continue
			}
			for _, e := range errs.list {
				if !utf8.ValidString(e.GetField()) || utf8.RuneCountInString(e.GetField()) > maxFieldName+1 {
					t.Fatalf("%s: %q names %q", r.ID, query, e.GetField())
				}
			}
			if errs.any() {
				continue
			}
			if !reflect.DeepEqual(input.Interface(), again.Interface()) {
				t.Fatalf("%s: %q gives %+v, then %+v", r.ID, query, input, again)
			}
			for _, p := range r.pathParams {
				if field := input.FieldByIndex(p.index); field.Kind() == reflect.String && field.String() != decoded {
					t.Fatalf("%s: %q became %q", r.ID, segment, field)
				}
			}
			for name, p := range r.queryParams {
				given := values[name]
				if p.needed && given == nil || len(given) > 1 {
					t.Fatalf("%s: %q passes with %d of %s", r.ID, query, len(given), name)
				}
				switch field := input.FieldByIndex(p.index); {
				case given == nil:
					if !field.IsZero() {
						t.Fatalf("%s: %s is %v of nothing", r.ID, name, field)
					}
				case field.Kind() == reflect.String:
					if field.String() != given[0] {
						t.Fatalf("%s: %s=%q became %q", r.ID, name, given[0], field)
					}
				case field.Type() == reflect.TypeFor[pageSize]():
					n, ok := new(big.Int).SetString(given[0], 10)
					if !ok || n.Sign() <= 0 || uint64(min(maxPageSize, n.Uint64())) != field.Uint() && n.IsUint64() || !n.IsUint64() && field.Uint() != maxPageSize {
						t.Fatalf("%s: a page of %q became %d", r.ID, given[0], field.Uint())
					}
				}
			}
			for name := range values {
				if _, known := r.queryParams[name]; !known && name != "cursor" && name != "pageSize" {
					t.Fatalf("%s: %q passes with %q", r.ID, query, name)
				}
			}
		}
	})
}

// instantForm is the grammar of RFC 3339, section 5.6, with capital letters, but for
// which days a month has.
var instantForm = regexp.MustCompile(`^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`)

// FuzzInstant: what is taken is RFC 3339, and what is answered of it is too, and is
// the same moment.
func FuzzInstant(f *testing.F) {
	for _, s := range []string{
		"2026-03-04T05:06:07Z", "2026-03-04T05:06:07.089+02:00", "1970-01-01T00:00:00Z", "0000-01-01T00:00:00+23:59", "9999-12-31T23:59:59.999-23:59",
		"2026-03-04T5:06:07Z", "2026-03-04T05:06:07,5Z", "2026-03-04T05:06:07+24:00", "2026-02-30T05:06:07Z", "2026-03-04 05:06:07Z", "today", "",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var at instant
		if message := at.parse(text); message != "" {
			if reference, err := time.Parse(time.RFC3339, text); err == nil && instantForm.MatchString(text) && reference.UTC().Year() >= 0 && reference.UTC().Year() <= 9999 {
				t.Fatalf("%q is refused: %s", text, message)
			}
			if at.ms != 0 {
				t.Fatalf("%q is refused and gives %d", text, at.ms)
			}
			return
		}
		if !instantForm.MatchString(text) {
			t.Fatalf("%q passes", text)
		}
		said := strings.Trim(string(timestamp(at.ms).append(nil)), `"`)
		var again instant
		if message := again.parse(said); message != "" || again != at {
			t.Fatalf("%q is said as %s: %s, %v and %v", text, said, message, again, at)
		}
	})
}

func FuzzFormBoundary(f *testing.F) {
	for _, s := range []string{"multipart/form-data; boundary=sample", `Multipart/Form-Data; boundary="a b"`, "multipart/form-data", "multipart/mixed; boundary=x", "multipart/form-data; boundary=", `multipart/form-data; boundary="a\"b"`} {
		f.Add(s, "")
	}
	f.Add("multipart/form-data; boundary=sample", "gzip")
	f.Fuzz(func(t *testing.T, value, encoding string) {
		boundary, ok := formBoundary(http.Header{"Content-Type": {value}, "Content-Encoding": {encoding}})
		if !ok {
			if boundary != "" {
				t.Fatalf("%q is refused and gives %q", value, boundary)
			}
			return
		}
		if encoding != "" && !strings.EqualFold(encoding, "identity") {
			t.Fatalf("compressed as %q", encoding)
		}
		// A form that is written with it is read with it.
		var body bytes.Buffer
		w := multipart.NewWriter(&body)
		if w.SetBoundary(boundary) != nil {
			return // nothing that RFC 2046 allows; it will not be found in a body
		}
		part, err := w.CreateFormFile("file", "a")
		if err == nil {
			_, err = io.WriteString(part, "Figs")
		}
		if err := errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		var form uploadForm
		var errs violations
		if p := readForm(body.Bytes(), boundary, &form, []string{"file"}, &errs); p != nil || errs.any() || string(form.content) != "Figs" {
			t.Fatalf("%q: %v %v, read %q", boundary, p, errs.list, form.content)
		}
	})
}

func FuzzFilename(f *testing.F) {
	for _, s := range []string{"a.txt", "/etc/passwd", `..\..\x.md`, "", "..", "a\x00b", "\u202etxt.exe", "\xff", strings.Repeat("é", 200), " . ", "a/ "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		clean := cleanFilename(name)
		if clean == "" || clean == "." || clean == ".." || len(clean) > maxFilename || !utf8.ValidString(clean) || strings.ContainsAny(clean, "/\\\x00\n\r") || path.Base(clean) != clean {
			t.Fatalf("%q became %q", name, clean)
		}
		if again := cleanFilename(clean); again != clean {
			t.Fatalf("%q became %q, then %q", name, clean, again)
		}
	})
}

// FuzzHost: a Host header that passes names an address, or localhost, and nothing
// that a name service could answer.
func FuzzHost(f *testing.F) {
	for _, s := range []string{"localhost", "LOCALHOST:80", "127.0.0.1:8080", "[::1]:8080", "::1", "evil.example", "127.0.0.1.evil.example", "[localhost]", "", "localhost."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, host string) {
		name := host
		if h, _, err := net.SplitHostPort(host); err == nil {
			name = h
		}
		name = strings.Trim(name, "[]")
		_, err := netip.ParseAddr(name)
		if ownHost(host) != (err == nil || strings.EqualFold(name, "localhost")) {
			t.Fatalf("%q is %v", host, ownHost(host))
		}
	})
}

// FuzzOperatorQuery: what is taken is what net/url reads, once each, of the
// parameters that the row has, and nothing else.
func FuzzOperatorQuery(f *testing.F) {
	for _, q := range []string{"", "limit=5&cursor=17.x", "limit=5&limit=6", "Limit=5", "offset=0", "cursor=%zz", "cursor=%ff", "a;b", "limit"} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, query string) {
		values, err := url.ParseQuery(query)
		for name, list := range values {
			if !utf8.ValidString(name) || slices.ContainsFunc(list, func(v string) bool { return !utf8.ValidString(v) }) {
				err = errors.New("not UTF-8")
			}
		}
		for _, r := range operatorRoutes {
			params, problem := operatorQuery(query, r.query)
			alien, twice := false, false
			for name, list := range values {
				alien, twice = alien || !slices.Contains(r.query, name), twice || len(list) > 1
			}
			switch want := ""; {
			case err != nil:
				want = codeMalformed
				fallthrough
			case alien || twice:
				if want == "" {
					want = codeValidation
				}
				if problem.GetCode() != want {
					t.Fatalf("%s: %q: %v, want %s", r.path, query, problem, want)
				}
			case problem != nil || len(params) != len(r.query):
				t.Fatalf("%s: %q: %v %v", r.path, query, params, problem)
			}
			for _, p := range params {
				if problem == nil && p.Value != values.Get(p.Key) {
					t.Fatalf("%s: %q: %s is %q", r.path, query, p.Key, p.Value)
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
		`{"sessionId":"s","role":"user","text":"Hello."}`, `{"sessionId":"s","role":"poet","text":"x"}`, `{}`, `null`, `[1]`, `"x"`, `{"sessionId":"s\u0000","role":"user","text":"x"}`,
		`{"sessionId":"s","role":"tool","text":"x","at":"2026-03-01T10:00:00Z","eventId":"e","cwd":"/","model":"m","tool":"t","metadata":{"a":[1,{"b":1e400}]}}`,
		`{"sessionId":"s","role":"user","text":"x","metadata":` + strings.Repeat(`{"a":`, canon.MaxDepth) + "1" + strings.Repeat("}", canon.MaxDepth) + "}",
		`{"sessionId":"s","role":"user","text":" "}`, `{"sessionId":"s","role":"user","text":"x","text":"y"}`, `{"sessionId":"s","role":"user","text":"x","colour":1}`,
	} {
		f.Add([]byte(e))
	}
	const good = `{"sessionId":"s","role":"user","text":"A good one."}`
	h := newHarness(f)
	f.Fuzz(func(t *testing.T, event []byte) {
		depth := deepest(event)
		if depth < 0 || depth > maxParsed-2 || depth == canon.MaxDepth-1 || depth == canon.MaxDepth {
			return // a fault of the body as a whole, or one that its place decides
		}
		alone, problem, errs := decodeAs(t, h, "ingestSessionEvent", event)
		taken := problem == nil && !errs.any()
		if taken {
			body := alone.(sessionEventBody)
			body.check(errs)
			taken = !errs.any()
		}
		got, problem, faults := decodeAs(t, h, "ingestSessionBatch", slices.Concat([]byte(`{"events":[`+good+`,`), event, []byte(`,`+good+`]}`)))
		if problem != nil || faults.any() {
			t.Fatalf("%s: the batch: %v %v", event, problem, faults.list)
		}
		list := got.(sessionBatchBody).Events.list
		if len(list) != 3 || list[0].GetInvalid() != "" || list[2].GetInvalid() != "" || list[0].GetText() != "A good one." || list[2].GetText() != "A good one." {
			t.Fatalf("%s: %v", event, list)
		}
		if one := list[1]; (one.GetInvalid() == "") != taken || !utf8.ValidString(one.GetInvalid()) {
			t.Fatalf("%s alone: %v; in a batch %v", event, errs.list, one)
		}
		if body, ok := alone.(sessionEventBody); taken && (!ok || !proto.Equal(body.proto(), list[1])) {
			t.Fatalf("%s alone: %v; in a batch %v", event, alone, list[1])
		}
	})
}
