package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// Bounds of one call.
const (
	// MaxWait is how long one call is tried. The slowest bucket of the interface
	// refills in a minute, and a restart takes seconds.
	MaxWait = 3 * time.Minute
	// firstContact is how long an address is tried that nobody has answered at yet: a service
	// that is about to start is there by then, and what speaks another protocol never is.
	firstContact = 2 * time.Second
	// dialTimeout bounds the making of a connection: a host that lets packets vanish
	// must be distinguished from one that is busy.
	dialTimeout = 10 * time.Second
	// tellAfter is how long a person may look at nothing before the client says what
	// it waits for.
	tellAfter = 5 * time.Second
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
	// Advice is what a person can do where nobody answers at Base.
	Advice string
	// Waiting is called with the reason why a call is not over yet, from any goroutine: now and then
	// when it has waited for some seconds. It may be nil.
	Waiting func(why error)
}

// Client may be used by many goroutines. Large because it has a method for each request that the commands make.
type Client struct {
	base    string
	apiKey  string
	token   string
	subject string
	advice  string
	clock   clock.Clock
	waiting func(error)
	http    *http.Client
	// answered: somebody has answered at the address once. Until then it may as well
	// be the wrong one, and waiting for it would be in vain.
	answered atomic.Bool
}

// New checks the options and returns a client; it does not connect.
func New(o Options) (*Client, error) {
	u, err := url.Parse(o.Base)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("%q is not an address such as http://127.0.0.1:8080", o.Base)
	}
	if o.Transport == nil {
		plain := http.DefaultTransport.(*http.Transport).Clone()
		plain.DialContext = (&net.Dialer{Timeout: dialTimeout}).DialContext
		o.Transport = plain
	}
	if o.Waiting == nil {
		o.Waiting = func(error) {}
	}
	return &Client{
		base: strings.TrimRight(o.Base, "/"), apiKey: o.APIKey, token: o.Token, subject: o.Subject,
		advice: o.Advice, clock: o.Clock, waiting: o.Waiting,
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
	began := c.clock.Now()
	backoff := firstBackoff
	for attempt := 1; ; attempt++ {
		quiet := c.clock.AfterFunc(tellAfter, func() { c.waiting(fmt.Errorf("no answer from %s yet", c.base)) })
		err := c.once(ctx, in, body)
		quiet.Stop()
		if dial, ok := unreachable(err); ok && !c.answered.Load() {
			return fmt.Errorf("nobody answers at %s (%w); %s", c.base, dial.Err, c.advice)
		}
		pause, again := retryPause(err, backoff, repeatable)
		waited := c.clock.Now().Sub(began)
		most := MaxWait
		if !c.answered.Load() {
			most = firstContact
		}
		if !again || attempt == maxAttempts || waited+pause > most {
			return err
		}
		if waited+pause >= tellAfter {
			if p, ok := errors.AsType[*Problem](err); ok { // without its request's id: it is always the same
				err = fmt.Errorf("%s answers %d %s", c.base, p.Status, p.Code)
			}
			c.waiting(fmt.Errorf("%w; trying again", err))
		}
		backoff = min(2*backoff, maxBackoff)
		if werr := clock.Wait(ctx, c.clock, pause); werr != nil {
			return werr
		}
	}
}

// unreachable returns how an attempt failed that found nobody to talk to.
func unreachable(err error) (*net.OpError, bool) {
	operation, ok := errors.AsType[*net.OpError](err)
	return operation, ok && operation.Op == "dial"
}

// retryPause says whether err is worth another attempt, and after which pause.
func retryPause(err error, backoff time.Duration, repeatable bool) (time.Duration, bool) {
	if err == nil {
		return 0, false
	}
	if p, ok := errors.AsType[*Problem](err); ok {
		busy := p.Status == http.StatusTooManyRequests || p.Status == http.StatusServiceUnavailable ||
			p.Code == pb.CodeIdempotencyInProgress
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

// request is one with everything that says who asks.
func (c *Client) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
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
	return request, nil
}

// answer is a response, read and closed.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// send sends JSON once, and reads what is answered, of any status. Without a body it is nil.
func (c *Client) send(
	ctx context.Context, method, path string, body []byte, idempotencyKey string,
) (answer, error) {
	request, err := c.request(ctx, method, path, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	request.Header.Set("Accept", "application/json, application/problem+json")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if idempotencyKey != "" {
		request.Header.Set("Idempotency-Key", idempotencyKey)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return answer{}, fmt.Errorf("no answer from %s: %w", c.base, err)
	}
	defer response.Body.Close() //nolint:errcheck // nothing was written
	c.answered.Store(true)
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxResponse+1))
	if err != nil {
		return answer{}, fmt.Errorf("answer of %s broke off: %w", c.base, err)
	}
	if len(raw) > maxResponse {
		return answer{}, fmt.Errorf("%s %s: more than %d bytes: %w", method, path, maxResponse, errAnswer)
	}
	return answer{response.StatusCode, response.Header, raw}, nil
}

func (c *Client) once(ctx context.Context, in call, body []byte) error {
	got, err := c.send(ctx, in.method, in.path, body, in.idempotencyKey)
	if err != nil {
		return err
	}
	if got.status < 200 || got.status > 299 {
		return problemOf(got)
	}
	if in.out == nil {
		return nil
	}
	if err := json.Unmarshal(got.body, in.out); err != nil {
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

func problemOf(a answer) error {
	p := &Problem{}
	if err := json.Unmarshal(a.body, p); err != nil || p.Code == "" {
		p.Title = "not an answer of this service; is the address right?"
	}
	p.Status = a.status
	if seconds, err := strconv.Atoi(a.header.Get("Retry-After")); err == nil && seconds > 0 {
		p.RetryAfter = time.Duration(seconds) * time.Second
	}
	return p
}

// IsCode reports whether err is a problem with the code.
func IsCode(err error, code string) bool {
	p, ok := errors.AsType[*Problem](err)
	return ok && p.Code == code
}
