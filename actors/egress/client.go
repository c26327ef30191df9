package egress

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"maps"
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
	// MaxResponse is how much of a response is read (decisions.md, section 13).
	MaxResponse = 64 << 10
	// maxResponseHeader bounds a response's header: what a receiver may make us
	// hold beside MaxResponse.
	maxResponseHeader = 16 << 10
	// maxAttempts bounds the attempts under way on a node. Each holds a socket
	// and some 100 KiB for at most AttemptTimeout; 64 that all time out still let
	// six a second begin.
	maxAttempts = 64
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
	cfg  Config
	gate chan struct{}
}

// New returns a Client.
func New(c Config) (*Client, error) {
	if c.Resolver == nil || c.Dialer == nil {
		return nil, errors.New("egress: Resolver and Dialer are required")
	}
	return &Client{cfg: c, gate: make(chan struct{}, maxAttempts)}, nil
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

// Do makes one attempt; a response of any status is a success of Do. An error
// means that there was none, or that it could not be read; Reason tells a tenant
// why.
func (c *Client) Do(ctx context.Context, r Request) (Response, error) {
	u, err := c.cfg.Rules.parse(r.Address)
	if err != nil {
		return Response{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, AttemptTimeout)
	defer cancel()
	select {
	case c.gate <- struct{}{}:
		defer func() { <-c.gate }()
	case <-ctx.Done():
		return Response{}, attemptError{"was not tried: too many deliveries are under way", ctx.Err()}
	}
	addresses, err := c.resolve(ctx, u.Hostname())
	if err != nil {
		return Response{}, err
	}
	transport := c.transport(u, addresses)
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, r.Method, u.String(), bytes.NewReader(r.Body))
	if err != nil {
		return Response{}, attemptError{"could not be asked", err}
	}
	maps.Copy(request.Header, r.Header)
	answer, err := transport.RoundTrip(request) // not http.Client: it would follow redirects
	if err != nil {
		return Response{}, attemptError{reasonOf(ctx, err), err}
	}
	defer func() { _ = answer.Body.Close() }() // everything that is wanted of it has been read
	limit := r.MaxResponse
	if limit == 0 {
		limit = MaxResponse
	}
	out := Response{Status: answer.StatusCode, Header: answer.Header}
	out.Body, err = io.ReadAll(io.LimitReader(answer.Body, limit+1))
	if err != nil {
		return out, attemptError{"did not send its response to the end", err}
	}
	if out.Cut = int64(len(out.Body)) > limit; out.Cut {
		out.Body = out.Body[:limit]
	}
	return out, nil
}

// transport is made for one attempt: it connects to the addresses that were
// checked, whatever the name means by now.
func (c *Client) transport(u *url.URL, addresses []netip.Addr) *http.Transport {
	return &http.Transport{
		Proxy:             nil, // a proxy would resolve the name again
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{RootCAs: c.cfg.Roots, MinVersion: tls.VersionTLS12},
		// What a receiver may make us hold.
		MaxResponseHeaderBytes: maxResponseHeader,
		DisableCompression:     true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var last error
			for _, a := range addresses {
				conn, err := c.cfg.Dialer.DialContext(ctx, "tcp", netip.AddrPortFrom(a.Unmap(), portOf(u)).String())
				if err == nil {
					return conn, nil
				}
				last = err
			}
			return nil, last
		},
	}
}

// reasonOf says for a tenant how an attempt failed.
func reasonOf(ctx context.Context, err error) string {
	var (
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
		operation   *net.OpError
	)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return "did not answer within 10 seconds"
	case errors.As(err, &certificate):
		return "has a certificate that is not trusted"
	case errors.As(err, &record):
		return "does not speak TLS"
	case errors.As(err, &operation) && operation.Op == "dial":
		return "refused the connection, or could not be reached"
	}
	return "ended the connection before it answered"
}
