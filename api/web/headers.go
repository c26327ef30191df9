package web

import (
	"net/http"
	"strings"

	"orgmem/api/problems"
	pb "orgmem/proto"
)

// Header names in the canonical form under which net/http files them.
const (
	headerKey         = "X-Svc-Api-Key"
	HeaderAuth        = "Authorization"
	headerSubject     = "X-Svc-Subject"
	headerIdempotency = "Idempotency-Key"
	HeaderRequestID   = "X-Request-Id"
)

// Not canonical on purpose: over HTTP/1.1 these then read as the interface
// writes them.
const (
	HeaderRate       = "RateLimit"
	HeaderRatePolicy = "RateLimit-Policy"
)

// tokenLength is the length of 32 bytes in unpadded base64url.
const tokenLength = 43

// credential finds the API key of a request and returns its hash. Both headers
// may carry it, but then the same one. The value is the caller's secret: it is
// hashed here and goes nowhere else.
func credential(h http.Header) (pb.KeyHash, bool) {
	key, ok := SingleHeader(h, headerKey)
	if !ok {
		return pb.KeyHash{}, false
	}
	if values, present := h[HeaderAuth]; present {
		if len(values) != 1 {
			return pb.KeyHash{}, false
		}
		token, ok := Bearer(values[0])
		if !ok || (key != "" && key != token) {
			return pb.KeyHash{}, false
		}
		key = token
	}
	// An ill-formed key is hashed all the same, so that it costs what an unknown
	// one costs up to here.
	hash := pb.HashKey(key)
	return hash, wellFormedKey(key)
}

// SingleHeader returns a header's one value, or empty; ok is false when it is given
// several times, which a proxy may have merged or not.
func SingleHeader(h http.Header, name string) (value string, ok bool) {
	switch values := h[name]; len(values) {
	case 0:
		return "", true
	case 1:
		return values[0], true
	}
	return "", false
}

// Bearer reads "Bearer <token>"; the scheme's case does not matter (RFC 9110).
func Bearer(value string) (string, bool) {
	scheme, token, ok := strings.Cut(value, " ")
	token = strings.Trim(token, " ")
	return token, ok && strings.EqualFold(scheme, "Bearer") && token != ""
}

// wellFormedKey reports whether text looks like svc_<env>_<token>. What does
// not was never issued, and need not be looked up.
func wellFormedKey(text string) bool {
	token, ok := strings.CutPrefix(text, "svc_prod_")
	if !ok {
		token, ok = strings.CutPrefix(text, "svc_sandbox_")
	}
	if !ok || len(token) != tokenLength {
		return false
	}
	for i := range len(token) {
		c := token[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// subjectSelector reads X-Svc-Subject. A selector that was never provisioned,
// because no subject can be called so, is left to the organization to refuse,
// like any other that it does not know.
func subjectSelector(h http.Header) (subject string, present bool, p *pb.Problem) {
	values := h[headerSubject]
	if len(values) == 0 {
		return "", false, nil
	}
	subject, ok := decodeEscapes(values[0])
	if !ok || len(values) > 1 {
		return "", true, problems.Newf(pb.CodeMalformed,
			"X-Svc-Subject is given more than once, holds a malformed escape, or is not UTF-8.")
	}
	return subject, true, nil
}

// idempotencyKey reads Idempotency-Key: 1–255 visible ASCII characters.
func idempotencyKey(h http.Header, errs *problems.Violations) string {
	values := h[headerIdempotency]
	if len(values) == 0 {
		return ""
	}
	if len(values) > 1 || !VisibleASCII(values[0], MaxIdempotencyKey) {
		errs.Add(headerIdempotency, "expected 1 to 255 visible ASCII characters, once")
		return ""
	}
	return values[0]
}

// VisibleASCII reports whether text is 1–limit characters of 0x21–0x7e.
func VisibleASCII(text string, limit int) bool {
	if text == "" || len(text) > limit {
		return false
	}
	for i := range len(text) {
		if text[i] <= ' ' || text[i] >= 0x7f {
			return false
		}
	}
	return true
}

// JSONContent reports whether the headers announce a JSON body that we can
// read: application/json, in UTF-8 if a charset is named, not compressed.
func JSONContent(h http.Header) bool {
	encoding, ok := SingleHeader(h, "Content-Encoding")
	if !ok || (encoding != "" && !strings.EqualFold(encoding, "identity")) {
		return false
	}
	value, ok := SingleHeader(h, "Content-Type")
	if !ok {
		return false
	}
	if value == "application/json" {
		return true
	}
	media, rest, _ := strings.Cut(value, ";")
	if !strings.EqualFold(strings.TrimSpace(media), "application/json") {
		return false
	}
	for parameter := range strings.SplitSeq(rest, ";") {
		name, charset, _ := strings.Cut(strings.TrimSpace(parameter), "=")
		if strings.EqualFold(name, "charset") && !strings.EqualFold(strings.Trim(charset, `"`), "utf-8") {
			return false
		}
	}
	return true
}
