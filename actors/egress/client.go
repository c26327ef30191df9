package egress

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/bits"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"
)

const (
	// AttemptTimeout is the interface's: from the look-up of the name to the end
	// of the response.
	AttemptTimeout = 10 * time.Second
	// CheckTimeout bounds the look-up when an address is registered.
	CheckTimeout = 5 * time.Second
	// MaxResponse is how much of a response is read: what is shown of it is a small part.
	MaxResponse = 64 << 10
	// maxResponseHeader bounds a response's header: what a receiver may make us
	// hold beside MaxResponse.
	maxResponseHeader = 16 << 10
	// maxQuick and maxSlow bound the attempts under way on a node, at receivers that
	// were quick last time and at those that were not. Each holds a socket and some
	// 100 KiB for at most its time-out. So receivers that hang have a quarter of the
	// places, however many they are and whosever; the others meet a hanging one in
	// its first attempt only. An organization has at most 36 under way (actors), and
	// its sandbox as many, so it takes the receivers of ten that begin to hang within
	// the same ten seconds before a quick one waits.
	maxQuick = 384
	maxSlow  = 128
	// maxIdle and idleTimeout bound the connections that a Session keeps between
	// two attempts: as many as its user has under way at a time, for as long as a
	// busy receiver's next event takes.
	maxIdle     = 8
	idleTimeout = 5 * time.Second
	// maxAddresses bounds the addresses of one name that are looked at: more are
	// no honest receiver.
	maxAddresses = 32
)

// Resolver looks a host name up; *net.Resolver is one. network is "ip".
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Dialer opens a connection to an address that Client has checked; *net.Dialer
// is one.
type Dialer interface {
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

// Config says what a Client is made of. Resolver and Dialer are required.
type Config struct {
	Rules    Rules
	Resolver Resolver
	Dialer   Dialer
	// Roots are the certificate authorities that are trusted; nil means the
	// system's.
	Roots *x509.CertPool
}

// Client sends requests to addresses that tenants chose. Its methods may be
// called from any goroutine.
type Client struct {
	cfg         Config
	quick, slow chan struct{} // the places that are taken
}

// New returns a Client.
func New(c Config) (*Client, error) {
	if c.Resolver == nil || c.Dialer == nil {
		return nil, errors.New("egress: Resolver and Dialer are required")
	}
	return &Client{cfg: c, quick: make(chan struct{}, maxQuick), slow: make(chan struct{}, maxSlow)}, nil
}

// Check returns nil when an address satisfies the rules now. Its errors wrap
// ErrAddress, or are about the name service.
func (c *Client) Check(ctx context.Context, address string) error {
	u, err := c.cfg.Rules.parse(address)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, CheckTimeout)
	defer cancel()
	_, err = c.resolve(ctx, u.Hostname())
	return err
}

// resolve returns the addresses of a host, all of which may be connected to: one
// that may not condemns the name, since which of them is dialled is chance.
func (c *Client) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	var found []netip.Addr
	if a, err := netip.ParseAddr(host); err == nil {
		found = []netip.Addr{a}
	} else if found, err = c.cfg.Resolver.LookupNetIP(ctx, "ip", host); err != nil || len(found) == 0 {
		return nil, refusef("names a host that does not resolve")
	}
	if len(found) > maxAddresses {
		return nil, refusef("names a host with more than %d addresses", maxAddresses)
	}
	for _, a := range found {
		if !c.cfg.Rules.allows(a) {
			return nil, refusef("must name a host whose addresses are all public")
		}
	}
	return found, nil
}

// Request is one attempt.
type Request struct {
	Method  string
	Address string
	Header  http.Header
	Body    []byte
	// MaxResponse bounds the body of the response; 0 is the constant.
	MaxResponse int64
	// Grow is asked before the body takes so many bytes more than was asked for so far; it
	// may wait, within Timeout. Its error ends the attempt, and is the attempt's as it is.
	// nil: nobody is asked.
	Grow func(bytes int) error
	// Timeout bounds the attempt; 0 is AttemptTimeout.
	Timeout time.Duration
}

// Response is what came back. Body is at most MaxResponse bytes long; Cut says
// that there was more.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
	Cut    bool
}

// attemptError carries what a tenant may read beside what the log may.
type attemptError struct {
	reason string
	cause  error
}

func (e attemptError) Error() string { return e.reason + ": " + e.cause.Error() }
func (e attemptError) Unwrap() error { return e.cause }

// ErrBusy means that nothing was tried, because the node has as many attempts
// under way as it may.
var ErrBusy = errors.New("too many attempts are under way")

// Do makes one attempt, in a place for quick receivers; a response of any status is
// a success of Do. An error means that there was none, or that it could not be
// read; Reason tells a tenant why.
func (c *Client) Do(ctx context.Context, r Request) (Response, error) {
	leave, err := c.Enter(ctx, false)
	if err != nil {
		return Response{}, err
	}
	defer leave()
	return c.Once(ctx, r)
}

// Once is Do for a caller that has a place already (Enter).
func (c *Client) Once(ctx context.Context, r Request) (Response, error) {
	s, err := c.Session(r.Address)
	if err != nil {
		return Response{}, err
	}
	defer s.Close()
	s.transport.DisableKeepAlives = true
	return s.Do(ctx, r)
}

// Session makes attempts at one host that one tenant chose. It keeps connections
// between them, for a row of attempts in quick succession, and shares none with
// another Session. Each attempt resolves the name and holds the addresses against the
// rules anew, and takes no connection to an address that is not among them. Its
// methods may be called from any goroutine.
type Session struct {
	client    *Client
	host      string // with the port, as the address has it
	transport *http.Transport
}

// Session returns a new one for the host of an address. The caller closes it. The
// error wraps ErrAddress.
func (c *Client) Session(address string) (*Session, error) {
	u, err := c.cfg.Rules.parse(address)
	if err != nil {
		return nil, err
	}
	return &Session{client: c, host: u.Host, transport: &http.Transport{
		Proxy:           nil, // a proxy would resolve the name again
		TLSClientConfig: &tls.Config{RootCAs: c.cfg.Roots, MinVersion: tls.VersionTLS12, ServerName: u.Hostname()},
		// What a receiver may make us hold.
		MaxResponseHeaderBytes: maxResponseHeader,
		DisableCompression:     true,
		MaxIdleConnsPerHost:    maxIdle,
		IdleConnTimeout:        idleTimeout,
		// The address is one that an attempt has resolved and checked, never a
		// name; it is checked once more because nothing else stands behind it.
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			at, err := netip.ParseAddrPort(address)
			if err != nil || !c.cfg.Rules.allows(at.Addr()) || !c.cfg.Rules.port(at.Port()) {
				return nil, refusef("must name a host whose addresses are all public")
			}
			return c.cfg.Dialer.DialContext(ctx, "tcp", at.String())
		},
	}}, nil
}

// Close lets go of the connections that are kept.
func (s *Session) Close() { s.transport.CloseIdleConnections() }

// Do is Client.Do, for addresses of the session's host and a caller who has a place
// already.
func (s *Session) Do(ctx context.Context, r Request) (Response, error) {
	c := s.client
	u, err := c.cfg.Rules.parse(r.Address)
	if err == nil && u.Host != s.host {
		err = refusef("names another host")
	}
	if err != nil {
		return Response{}, err
	}
	timeout := cmp.Or(r.Timeout, AttemptTimeout)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	addresses, err := c.resolve(ctx, u.Hostname())
	if err != nil {
		return Response{}, err
	}
	answer, err := s.ask(ctx, u, addresses, r)
	if err != nil {
		return Response{}, attemptError{reasonOf(ctx, timeout, err), err}
	}
	defer func() { _ = answer.Body.Close() }() // everything that is wanted of it has been read
	limit := r.MaxResponse
	if limit == 0 {
		limit = MaxResponse
	}
	out := Response{Status: answer.StatusCode, Header: answer.Header}
	var refused error
	out.Body, refused, err = readBody(io.LimitReader(answer.Body, limit+1), limit+1, r.Grow)
	if refused != nil {
		return out, refused
	}
	if err != nil {
		return out, attemptError{"did not send its response to the end", err}
	}
	if out.Cut = int64(len(out.Body)) > limit; out.Cut {
		out.Body = out.Body[:limit]
	}
	return out, nil
}

// firstBody is about what a body takes before its size is known, in bits.
const firstBody = 10

// readBody reads a body of at most limit bytes. What it grows to is asked for before, and
// in full: while it moves it holds the former, too.
func readBody(r io.Reader, limit int64, grow func(int) error) (body []byte, refused, err error) {
	if grow == nil {
		body, err = io.ReadAll(r)
		return body, nil, err
	}
	for shift := max(0, bits.Len64(uint64(limit))-firstBody); ; shift-- {
		size := limit >> shift // each is twice the one before, and the last is the limit
		if err := grow(int(size)); err != nil {
			return nil, err, nil
		}
		body = append(make([]byte, 0, size), body...)
		for len(body) < cap(body) {
			n, err := r.Read(body[len(body):cap(body)])
			body = body[:len(body)+n]
			if errors.Is(err, io.EOF) {
				return body, nil, nil
			}
			if err != nil {
				return body, nil, err
			}
		}
		if shift == 0 {
			return body, nil, nil
		}
	}
}

// Enter waits for one of the node's places, for as long as an attempt may take. slow
// says that the receiver kept an attempt waiting last time. The caller leaves the
// place as soon as its attempt has ended. The error wraps ErrBusy.
func (c *Client) Enter(ctx context.Context, slow bool) (leave func(), err error) {
	places := c.quick
	if slow {
		places = c.slow
	}
	leave = func() { <-places }
	select {
	case places <- struct{}{}:
		return leave, nil
	default:
	}
	ctx, cancel := context.WithTimeout(ctx, AttemptTimeout)
	defer cancel()
	select {
	case places <- struct{}{}:
		return leave, nil
	case <-ctx.Done():
		return nil, attemptError{"was not tried: too many deliveries are under way", errors.Join(ErrBusy, ctx.Err())}
	}
}

// ask sends a request to the first of some addresses that a connection stands or
// can be made to. The transport knows the address only: connections are found by
// what they lead to, and not by a name that may mean something else by now.
func (s *Session) ask(
	ctx context.Context, u *url.URL, addresses []netip.Addr, r Request,
) (answer *http.Response, err error) {
	for _, a := range addresses {
		at := *u
		at.Host, at.Fragment = netip.AddrPortFrom(a.Unmap(), portOf(u)).String(), ""
		var request *http.Request
		if request, err = http.NewRequestWithContext(ctx, r.Method, at.String(), bytes.NewReader(r.Body)); err != nil {
			return nil, err
		}
		maps.Copy(request.Header, r.Header)
		// Nothing is sent for it, but a request on a connection that the receiver
		// was just closing is sent again on another.
		request.Header["Idempotency-Key"] = []string{}
		request.Host = u.Host
		answer, err = s.transport.RoundTrip(request) // not http.Client: it would follow redirects
		var operation *net.OpError
		if err == nil || !errors.As(err, &operation) || operation.Op != "dial" {
			return answer, err
		}
	}
	return nil, err
}

// reasonOf says for a tenant how an attempt failed.
func reasonOf(ctx context.Context, timeout time.Duration, err error) string {
	var (
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
		operation   *net.OpError
	)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("did not answer within %d seconds", int(timeout.Seconds()))
	case errors.As(err, &certificate):
		return "has a certificate that is not trusted"
	case errors.As(err, &record):
		return "does not speak TLS"
	case errors.As(err, &operation) && operation.Op == "dial":
		return "refused the connection, or could not be reached"
	}
	return "ended the connection before it answered"
}
