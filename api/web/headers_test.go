package web

import (
	"mime"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"orgmem/api/problems"
	pb "orgmem/proto"
)

const (
	sampleKey = "svc_prod_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	otherKey  = "svc_prod_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"
)

func FuzzSubjectSelector(f *testing.F) {
	for _, s := range []string{"ann", "%41", "%", "%zz", "a%2Fb", "%ff", "\xff", "", "%00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		subject, present, problem := subjectSelector(http.Header{headerSubject: {value}})
		if !present {
			t.Fatal("a header that is there is not present")
		}
		if problem != nil {
			if subject != "" || problem.GetCode() != pb.CodeMalformed {
				t.Fatalf("%q: %q %v", value, subject, problem)
			}
			return
		}
		if !utf8.ValidString(subject) {
			t.Fatalf("%q became %q", value, subject)
		}
		// What we would send ourselves comes back unchanged.
		again, _, problem := subjectSelector(http.Header{headerSubject: {url.PathEscape(subject)}})
		if problem != nil || again != subject {
			t.Fatalf("%q escaped and read: %q %v", subject, again, problem)
		}
	})
}

func FuzzIdempotencyKey(f *testing.F) {
	for _, s := range []string{"k", "", " ", "a b", strings.Repeat("k", 256), "ü", "\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		var errs problems.Violations
		key := idempotencyKey(http.Header{headerIdempotency: {value}}, &errs)
		if (key == "") != errs.Any() || (key != "" && key != value) {
			t.Fatalf("%q: %q %v", value, key, errs.List)
		}
		if key != "" && (len(key) > MaxIdempotencyKey ||
			strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r >= 0x7f })) {
			t.Fatalf("%q was accepted", value)
		}
	})
}

func FuzzCredential(f *testing.F) {
	f.Add(sampleKey, "")
	f.Add("", "Bearer "+sampleKey)
	f.Add("", "bearer\t"+sampleKey)
	f.Add(sampleKey, "Bearer "+otherKey)
	f.Add("svc_sandbox_"+sampleKey[9:], "")
	f.Fuzz(func(t *testing.T, key, auth string) {
		h := http.Header{}
		if key != "" {
			h[headerKey] = []string{key}
		}
		if auth != "" {
			h[HeaderAuth] = []string{auth}
		}
		hash, ok := credential(h)
		if !ok {
			return
		}
		found := key
		if found == "" {
			found = strings.Trim(auth[strings.IndexByte(auth, ' ')+1:], " ")
		}
		if hash != pb.HashKey(found) || !wellFormedKey(found) {
			t.Fatalf("%q %q", key, auth)
		}
		if auth != "" && !strings.Contains(auth, found) {
			t.Fatalf("two keys: %q %q", key, auth)
		}
	})
}

func TestRepeatedHeaders(t *testing.T) {
	if _, ok := credential(http.Header{headerKey: {sampleKey, sampleKey}}); ok {
		t.Error("two key headers")
	}
	if _, ok := credential(http.Header{HeaderAuth: {"Bearer " + sampleKey, "Bearer " + sampleKey}}); ok {
		t.Error("two authorizations")
	}
	if _, _, p := subjectSelector(http.Header{headerSubject: {"ann", "bob"}}); p.GetCode() != pb.CodeMalformed {
		t.Error("two subjects")
	}
	var errs problems.Violations
	if idempotencyKey(http.Header{headerIdempotency: {"a", "b"}}, &errs); !errs.Any() {
		t.Error("two idempotency keys")
	}
	if JSONContent(http.Header{"Content-Type": {"application/json", "text/plain"}}) {
		t.Error("two content types")
	}
	if JSONContent(http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {"identity", "gzip"}}) {
		t.Error("two encodings")
	}
}

func FuzzContentType(f *testing.F) {
	for _, s := range []string{
		"application/json", "Application/JSON; charset=UTF-8", `application/json;charset="utf-8"`,
		"application/json; charset=latin1", "application/jsonx", "text/plain; application/json",
	} {
		f.Add(s, "")
	}
	f.Add("application/json", "gzip")
	f.Add("application/json", "Identity")
	f.Fuzz(func(t *testing.T, value, encoding string) {
		if !JSONContent(http.Header{"Content-Type": {value}, "Content-Encoding": {encoding}}) {
			if value == "application/json" && (encoding == "" || encoding == "identity") {
				t.Fatalf("%q %q is refused", value, encoding)
			}
			return
		}
		if encoding != "" && !strings.EqualFold(encoding, "identity") {
			t.Fatalf("compressed as %q", encoding)
		}
		media, params, err := mime.ParseMediaType(value)
		if err == nil && (media != "application/json" ||
			params["charset"] != "" && !strings.EqualFold(params["charset"], "utf-8")) && !strings.Contains(value, "*") {
			t.Fatalf("%q passes; it is %s %v", value, media, params)
		}
	})
}
