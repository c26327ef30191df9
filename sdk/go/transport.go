package orgmem

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"
)

const (
	maxAnswer  = 64 << 20 // bytes of an answer; a download streams
	maxProblem = 64 << 10 // bytes of a refusal
	maxExcerpt = 120      // bytes of a page that is not the service's

	maxIdempotencyKey = 255

	firstPause   = 250 * time.Millisecond
	longestPause = 10 * time.Second

	mediaJSON    = "application/json"
	mediaProblem = "application/problem+json"
)

// request is one call, which may be tried several times.
type request struct {
	method string
	path   string // escaped, below the base address
	query  url.Values
	body   any // becomes JSON; nil: no body
	header http.Header
	length int64 // of a body that is streamed; -1 if that is not known

	keyed bool        // its route takes an Idempotency-Key, so it may be repeated
	reads bool        // a POST that only reads, or a write that the service recognizes
	spent func() bool // whether a streamed body cannot be sent again
}

func (r request) repeatable() bool {
	switch r.method {
	case http.MethodGet, http.MethodPut, http.MethodDelete:
		return true
	}
	return r.keyed || r.reads
}

// path joins literals and ids: the ids are at the odd places.
func path(parts ...string) (string, error) {
	var b strings.Builder
	for i, part := range parts {
		if i%2 == 0 {
			b.WriteString(part)
			continue
		}
		switch part {
		case "":
			return "", argument("the id is empty: %s… needs one", b.String())
		case ".", "..": // a path's own words; a proxy would take them for that
			b.WriteString(strings.ReplaceAll(part, ".", "%2E"))
		default:
			b.WriteString(url.PathEscape(part))
		}
	}
	return b.String(), nil
}

// at is a request for a path that holds ids.
func at(method string, parts ...string) (request, error) {
	p, err := path(parts...)
	return request{method: method, path: p}, err
}

// queryOf reads the query tags of a struct; zero values are left out.
func queryOf(filter any) url.Values {
	q := url.Values{}
	v := reflect.ValueOf(filter)
	for i := range v.NumField() {
		name, field := v.Type().Field(i).Tag.Get("query"), v.Field(i)
		if field.IsZero() {
			continue
		}
		switch value := field.Interface().(type) {
		case time.Time:
			q.Set(name, timestamp(value))
		default:
			q.Set(name, fmt.Sprint(value))
		}
	}
	return q
}

func timestamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

type idempotencyKey struct{}

// WithIdempotencyKey sets the key of the one write that is called with the context,
// for a program that wants to repeat it after a restart: 1 to 255 visible ASCII
// characters, without spaces; the write is not sent with any other. Without it, each
// call has a fresh one.
func WithIdempotencyKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, idempotencyKey{}, key)
}

// newUUID is a random one, of version 4.
func newUUID() string {
	var b [16]byte
	rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// answer is what came back, read to its end.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// send does a request and reads its answer as a T.
func send[T any](ctx context.Context, c *Client, r request, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	got, err := c.do(ctx, r)
	if err != nil {
		return nil, err
	}
	into := new(T)
	if err := decode(got.body, into); err != nil {
		return nil, c.badAnswer(r, got.status, got.header, got.body, fmt.Errorf("the answer cannot be read: %w", err))
	}
	if node, ok := any(into).(*Node); ok {
		node.ETag = got.header.Get("ETag")
	}
	return into, nil
}

// sendBare does a request whose answer has no body.
func sendBare(ctx context.Context, c *Client, r request, err error) error {
	if err != nil {
		return err
	}
	_, err = c.do(ctx, r)
	return err
}

// decode reads JSON, and keeps it where there is a place for it.
func decode(body []byte, into any) error {
	if err := json.Unmarshal(body, into); err != nil {
		return err
	}
	if keeper, ok := into.(interface{ setRaw(json.RawMessage) }); ok {
		keeper.setRaw(body)
	}
	return nil
}

// do tries until there is an answer, or no more sense in trying.
func (c *Client) do(ctx context.Context, r request) (*answer, error) {
	var body []byte
	if r.body != nil {
		var err error
		if body, err = json.Marshal(r.body); err != nil {
			return nil, argument("%s %s: the request is no JSON: %v", r.method, r.path, err)
		}
	}
	if r.keyed {
		key, ok := ctx.Value(idempotencyKey{}).(string)
		if !ok {
			key = newUUID()
		}
		if key == "" || len(key) > maxIdempotencyKey || strings.ContainsFunc(key, invisible) {
			return nil, argument("%s %s: the idempotency key is not valid: it has 1 to %d visible ASCII characters",
				r.method, r.path, maxIdempotencyKey)
		}
		r.header = r.header.Clone()
		if r.header == nil {
			r.header = http.Header{}
		}
		r.header.Set("Idempotency-Key", key)
	}
	var got *answer
	err := c.retry(ctx, r, func() error {
		var err error
		got, err = c.try(ctx, r, body)
		return err
	})
	return got, err
}

// retry calls once until it succeeds, by the rules of the package comment. Every call
// passes here before anything of it is sent.
func (c *Client) retry(ctx context.Context, r request, once func() error) error {
	if c.broken != nil {
		return c.broken
	}
	var waited time.Duration
	for tries := 0; ; tries++ {
		err := once()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return c.ended(ctx, r, nil)
		}
		again, after := retryable(err)
		pause := after + c.jitter(tries)
		if !again || !r.repeatable() && !withoutEffect(err) || r.spent != nil && r.spent() || tries >= c.cfg.MaxRetries || waited+pause > c.cfg.RetryBudget {
			return err
		}
		waited += pause
		if c.cfg.Sleep(ctx, pause) != nil {
			return c.ended(ctx, r, err)
		}
	}
}

// ended is the error of a call whose context has ended. last is that of its last
// try, nil if that was under way.
func (c *Client) ended(ctx context.Context, r request, last error) error {
	return &endedError{r.method + " " + c.base + r.path, ctx.Err(), context.Cause(ctx), last}
}

// withoutEffect says that nothing can have been done: a rate limit is looked at before
// the body, and who was not reached read nothing.
func withoutEffect(err error) bool {
	var dial *net.OpError
	return errors.Is(err, ErrRateLimited) || errors.As(err, &dial) && dial.Op == "dial"
}

// jitter is full: those who failed together do not come back together.
func (c *Client) jitter(tries int) time.Duration {
	most := longestPause
	if tries < 6 { // firstPause << 6 is above it
		most = min(most, firstPause<<tries)
	}
	return time.Duration(c.cfg.Random() * float64(most))
}

// retryable says whether another try may go better, and not before when.
func retryable(err error) (bool, time.Duration) {
	var (
		api     *APIError
		page    *AnswerError
		timeout *TimeoutError
		lost    *ConnectionError
	)
	switch {
	case errors.As(err, &api):
		return transient(api.Status) || api.Code == "idempotency_in_progress", api.RetryAfter
	case errors.As(err, &page):
		return transient(page.Status) || errors.Is(page.Err, errCutOff), page.RetryAfter
	case errors.As(err, &timeout):
		return true, 0
	case errors.As(err, &lost):
		var certificate *tls.CertificateVerificationError
		return !errors.As(lost.Err, &certificate) && !errors.Is(lost.Err, http.ErrSchemeMismatch), 0
	}
	return false, 0
}

func transient(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// errCutOff is an answer that ended before its end.
var errCutOff = errors.New("the answer was cut off")

// errTooLong is an answer that nobody wants to hold.
var errTooLong = errors.New("the answer is too long")

// errSlow is the cause of a context that a watchdog has ended.
var errSlow = errors.New("nothing came")

// try sends a request once and reads its answer.
func (c *Client) try(ctx context.Context, r request, body []byte) (*answer, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.cfg.Timeout, errSlow)
	defer cancel()
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	response, err := c.open(ctx, r, reader, c.cfg.Timeout)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	raw, err := readAll(response, maxAnswer)
	if err != nil {
		return nil, c.readError(ctx, r, response, raw, err, c.cfg.Timeout)
	}
	if response.StatusCode != http.StatusNoContent && !isMedia(response.Header, mediaJSON) {
		return nil, c.badAnswer(r, response.StatusCode, response.Header, raw, errors.New("the answer is not JSON"))
	}
	return &answer{response.StatusCode, response.Header, raw}, nil
}

// open sends a request and returns its answer before its body was read, if it is a
// success. The caller closes the body.
func (c *Client) open(ctx context.Context, r request, body io.Reader, patience time.Duration) (*http.Response, error) {
	address := c.base + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, address, body)
	if err != nil {
		return nil, argument("%s %s: %v", r.method, r.path, err)
	}
	if r.length != 0 {
		req.ContentLength = r.length
	}
	for name, values := range r.header {
		req.Header[name] = values
	}
	req.Header.Set("User-Agent", "orgmem-go/"+Version)
	req.Header.Set("X-Svc-API-Key", c.key)
	if c.subject != "" {
		req.Header.Set("X-Svc-Subject", url.PathEscape(c.subject))
	}
	if body != nil && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", mediaJSON)
	}
	if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", mediaJSON)
	}
	response, err := c.cfg.HTTPClient.Do(req)
	if err != nil {
		return nil, c.sendError(ctx, r, err, patience)
	}
	if response.StatusCode/100 == 2 {
		return response, nil
	}
	defer response.Body.Close()
	raw, err := readAll(response, maxProblem)
	if err != nil {
		return nil, c.readError(ctx, r, response, raw, err, patience)
	}
	return nil, c.refusal(r, response, raw)
}

// readAll reads a body to its end. What it has read comes with its error, too.
func readAll(response *http.Response, most int64) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(response.Body, most+1))
	if err != nil {
		return raw, err
	}
	if int64(len(raw)) > most {
		return nil, fmt.Errorf("%w: more than %d bytes", errTooLong, most)
	}
	return raw, nil
}

// refusal reads an answer without success.
func (c *Client) refusal(r request, response *http.Response, raw []byte) error {
	if response.StatusCode/100 == 3 {
		return c.badAnswer(r, response.StatusCode, response.Header, nil,
			fmt.Errorf("it redirects to %q, and a redirect is not followed, since the key would go along", response.Header.Get("Location")))
	}
	var problem struct {
		Code, Title, Detail, RequestID string
		SuggestedAction                string
		DocumentationURL               string
		Errors                         []FieldError
	}
	if !isMedia(response.Header, mediaProblem) && !isMedia(response.Header, mediaJSON) ||
		json.Unmarshal(raw, &problem) != nil || problem.Code == "" {
		return c.badAnswer(r, response.StatusCode, response.Header, raw, errors.New("the refusal is none of the service's"))
	}
	e := &APIError{
		Status: response.StatusCode, Code: problem.Code, Title: problem.Title, Detail: problem.Detail,
		RequestID: problem.RequestID, Errors: problem.Errors, RetryAfter: retryAfter(response.Header),
		SuggestedAction: problem.SuggestedAction, DocumentationURL: problem.DocumentationURL,
		Request: r.method + " " + c.base + r.path,
	}
	if e.RequestID == "" {
		e.RequestID = response.Header.Get("X-Request-Id")
	}
	switch {
	case e.Code == "not_found", e.Code == "method_not_allowed":
		e.next = "The service is older than this client and does not have this route, or the base address (" + c.baseIs + ") leads past it: ask it for /openapi.json, and bring it up to date."
	case e.Code == "subject_not_supported":
		e.next = "Call this on the client that Subject was called on."
	case e.Code == "subject_not_provisioned":
		e.next = "Make the subject with Subjects.Put first."
	case e.Status == http.StatusUnauthorized:
		e.next = "The key is that of " + c.keyIs + "."
	case e.Status == http.StatusForbidden:
		e.next = "Me() tells what the key (" + c.keyIs + ") may do."
	case e.Status == http.StatusTooManyRequests && e.RetryAfter > 0:
		e.next = fmt.Sprintf("Try again in %v, or ask the operator for a larger plan.", e.RetryAfter)
	case e.Status == http.StatusTooManyRequests:
		e.next = "Try again later, or ask the operator for a larger plan."
	case e.Status >= http.StatusInternalServerError:
		e.next = "Try again; if it stays so, the operator finds the request by its id."
	}
	return e
}

// retryAfter reads seconds, or a date, which proxies send.
func retryAfter(header http.Header) time.Duration {
	value := header.Get("Retry-After")
	if seconds, err := strconv.ParseInt(value, 10, 32); err == nil && seconds > 0 {
		return time.Duration(seconds) * time.Second
	}
	until, err := http.ParseTime(value)
	now, nerr := http.ParseTime(header.Get("Date")) // by the clock that wrote the other
	if err != nil || nerr != nil {
		return 0
	}
	return max(0, until.Sub(now))
}

// sendError tells why there was no answer at all.
func (c *Client) sendError(ctx context.Context, r request, err error, patience time.Duration) error {
	name := r.method + " " + c.base + r.path
	if errors.Is(context.Cause(ctx), errSlow) {
		return &TimeoutError{name, patience}
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) { // it repeats the address
		err = wrapped.Err
	}
	next := "Is the service running there? The address is that of " + c.baseIs + "."
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(err, &certificate):
		next = "The address (" + c.baseIs + ") is that of somebody else, or its certificate's authority is not known here: give Config.HTTPClient a Transport that trusts it."
	case errors.Is(err, http.ErrSchemeMismatch):
		next = "The service speaks plain HTTP there: write http:// in the base address (" + c.baseIs + ")."
	}
	return &ConnectionError{name, err, next}
}

// readError tells why an answer could not be read to its end.
func (c *Client) readError(ctx context.Context, r request, response *http.Response, raw []byte, err error, patience time.Duration) error {
	if errors.Is(context.Cause(ctx), errSlow) {
		return &TimeoutError{r.method + " " + c.base + r.path, patience}
	}
	if !errors.Is(err, errTooLong) {
		err = fmt.Errorf("%w: %w", errCutOff, err)
	}
	return c.badAnswer(r, response.StatusCode, response.Header, raw, err)
}

func (c *Client) badAnswer(r request, status int, header http.Header, raw []byte, why error) error {
	e := &AnswerError{
		Request: r.method + " " + c.base + r.path, Status: status, ContentType: header.Get("Content-Type"),
		RetryAfter: retryAfter(header), Err: why,
		next: "Something between here and the service answers in its place, or the base address (" + c.baseIs + ") is not the service's: look what stands there.",
	}
	if errors.Is(why, errCutOff) {
		e.next = "The service, or what stands before it, broke off: try again, and look whether it restarts."
	}
	if !isMedia(header, mediaJSON) { // what is JSON may hold somebody's memory
		e.Excerpt = strings.ToValidUTF8(string(raw[:min(len(raw), maxExcerpt)]), "")
	}
	return e
}

func isMedia(header http.Header, want string) bool {
	media, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	return err == nil && media == want
}
