package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"orgmem/proto/clock"
)

// Bounds of one call.
const (
	// MaxWait is how long the waits of one call may add up to. The slowest
	// bucket of the interface refills in a minute, and a restart takes seconds.
	MaxWait = 3 * time.Minute
	// maxAttempts stops a server that answers 429 with Retry-After: 0 for ever.
	maxAttempts = 50
	// firstBackoff doubles up to maxBackoff where no Retry-After is sent.
	firstBackoff = 200 * time.Millisecond
	maxBackoff   = 10 * time.Second
	// maxResponse bounds what is read of an answer: a page of 100 jobs with 1,000
	// items each stays below it.
	maxResponse = 32 << 20
	// requestTimeout bounds one attempt; the server gives up after 30 s itself.
	requestTimeout = 60 * time.Second
)

// Options say whom to call as whom.
type Options struct {
	Base      string // absolute http or https address without a path
	APIKey    string // public interface; empty when Token is set
	Token     string // operator interface
	Subject   string // acting subject; empty: the key owner
	Clock     clock.Clock
	Transport http.RoundTripper // nil: a plain one, without a proxy on loopback
}

// Client may be used by many goroutines.
type Client struct {
	base    string
	apiKey  string
	token   string
	subject string
	clock   clock.Clock
	http    *http.Client
}

// New checks the options and returns a client; it does not connect.
func New(o Options) (*Client, error) {
	u, err := url.Parse(o.Base)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("%q is not an address such as http://127.0.0.1:8080", o.Base)
	}
	return &Client{
		base: strings.TrimRight(o.Base, "/"), apiKey: o.APIKey, token: o.Token, subject: o.Subject,
		clock: o.Clock,
		http: &http.Client{
			Transport: o.Transport, Timeout: requestTimeout,
			// A redirect would carry the key to another address.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// Base is the address the client calls.
func (c *Client) Base() string { return c.base }

// call is one request. body and out are JSON; out may be nil.
type call struct {
	method         string
	path           string // escaped
	body           any
	idempotencyKey string
	repeatable     bool // sending it twice is the same as once, whatever its method
	out            any
}

// do sends the call until it is answered for good. See the package comment.
func (c *Client) do(ctx context.Context, in call) error {
	var body []byte
	if in.body != nil {
		raw, err := json.Marshal(in.body)
		if err != nil {
			return fmt.Errorf("%s %s: encode: %w", in.method, in.path, err)
		}
		body = raw
	}
	repeatable := in.method == http.MethodGet || in.method == http.MethodPut ||
		in.method == http.MethodDelete || in.idempotencyKey != "" || in.repeatable
	var waited time.Duration
	backoff := firstBackoff
	for attempt := 1; ; attempt++ {
		err := c.once(ctx, in, body)
		pause, again := retryPause(err, backoff, repeatable)
		if !again || attempt == maxAttempts || waited+pause > MaxWait {
			return err
		}
		backoff = min(2*backoff, maxBackoff)
		waited += pause
		if werr := clock.Wait(ctx, c.clock, pause); werr != nil {
			return werr
		}
	}
}

// retryPause says whether err is worth another attempt, and after which pause.
func retryPause(err error, backoff time.Duration, repeatable bool) (time.Duration, bool) {
	if err == nil {
		return 0, false
	}
	if p, ok := errors.AsType[*Problem](err); ok {
		busy := p.Status == http.StatusTooManyRequests || p.Status == http.StatusServiceUnavailable ||
			p.Code == "idempotency_in_progress"
		// A refusal means that nothing happened, so any method may try again.
		return max(p.RetryAfter, backoff), busy
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errAnswer) {
		return 0, false
	}
	return backoff, repeatable
}

// errAnswer marks an answer that is not what the interface promises; sending
// the request again would not mend it.
var errAnswer = errors.New("unexpected answer")

func (c *Client) once(ctx context.Context, in call, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, in.method, c.base+in.path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%s %s: %w", in.method, in.path, err)
	}
	request.Header.Set("Accept", "application/json, application/problem+json")
	if in.body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if in.idempotencyKey != "" {
		request.Header.Set("Idempotency-Key", in.idempotencyKey)
	}
	if c.apiKey != "" {
		request.Header.Set("X-Svc-Api-Key", c.apiKey)
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	if c.subject != "" {
		request.Header.Set("X-Svc-Subject", url.PathEscape(c.subject)) // the server percent-decodes it
	}
	response, err := c.http.Do(request)
	if err != nil {
		return fmt.Errorf("no answer from %s: %w", c.base, err)
	}
	defer response.Body.Close() //nolint:errcheck // nothing was written
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxResponse+1))
	if err != nil {
		return fmt.Errorf("answer of %s broke off: %w", c.base, err)
	}
	if len(raw) > maxResponse {
		return fmt.Errorf("%s %s: more than %d bytes: %w", in.method, in.path, maxResponse, errAnswer)
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return problemOf(response, raw)
	}
	if in.out == nil {
		return nil
	}
	if err := json.Unmarshal(raw, in.out); err != nil {
		return fmt.Errorf("%s %s: %w: %w", in.method, in.path, errAnswer, err)
	}
	return nil
}

// Problem is the service's refusal, as it put it.
type Problem struct {
	Status     int          `json:"status"`
	Code       string       `json:"code"`
	Title      string       `json:"title"`
	Detail     string       `json:"detail"`
	RequestID  string       `json:"requestId"`
	Errors     []FieldError `json:"errors"`
	RetryAfter time.Duration
}

// FieldError is one refused field.
type FieldError struct {
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Error is one line: what, why, and the id to look for in the log.
func (p *Problem) Error() string {
	var b strings.Builder
	b.WriteString(strconv.Itoa(p.Status))
	if p.Code != "" {
		b.WriteString(" " + p.Code)
	}
	if text := p.Detail; text != "" {
		b.WriteString(": " + text)
	} else if p.Title != "" {
		b.WriteString(": " + p.Title)
	}
	for _, e := range p.Errors {
		b.WriteString("; " + e.Field + ": " + e.Message)
	}
	if p.RequestID != "" {
		b.WriteString(" (request " + p.RequestID + ")")
	}
	return b.String()
}

func problemOf(response *http.Response, raw []byte) error {
	p := &Problem{}
	if err := json.Unmarshal(raw, p); err != nil || p.Code == "" {
		p.Title = "not an answer of this service; is the address right?"
	}
	p.Status = response.StatusCode
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
		p.RetryAfter = time.Duration(seconds) * time.Second
	}
	return p
}

// IsCode reports whether err is a problem with the code.
func IsCode(err error, code string) bool {
	p, ok := errors.AsType[*Problem](err)
	return ok && p.Code == code
}
