package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"orgmem/actors"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// Asker carries an envelope to its organization's actor and waits for the
// answer. An error means that no actor could answer; a refusal is a Reply with
// a problem. Ask returns soon after ctx ends. The envelope belongs to the
// callee from the call on.
type Asker interface {
	Ask(ctx context.Context, envelope *pb.Envelope) (*pb.Reply, error)
}

// Doctor is what GET /operator/doctor reports.
type Doctor struct {
	Version string
	Config  []Setting
	Checks  []Check
}

// Setting is one effective configuration value; secrets come masked.
type Setting struct {
	Name   string
	Value  string
	Origin string // flag, env, file, default
}

// Check is the outcome of one self-examination.
type Check struct {
	Name   string
	OK     bool
	Detail string
}

// TLSFiles names a PEM certificate chain and its key. Both empty: plain HTTP.
// Changed files are picked up without a restart.
type TLSFiles struct {
	Cert string
	Key  string
}

// AccessLog says which requests get a line in the log.
type AccessLog string

const (
	// LogProblems (the default) logs answers of status 400 and above and those
	// slower than SlowRequest.
	LogProblems AccessLog = "problems"
	// LogAll logs every request.
	LogAll AccessLog = "all"
)

// Config is what a Server is made of. Asker, Operator, OperatorToken, Clock and
// Logger are required; every other zero value works.
type Config struct {
	Asker    Asker
	Operator actors.Operator
	// Ready tells whether the node can serve; nil means always. It is asked by
	// GET /readyz only, and its error is shown there.
	Ready func(ctx context.Context) error
	// Doctor examines the node for GET /operator/doctor; nil answers an empty
	// report.
	Doctor func(ctx context.Context) Doctor
	// OperatorToken is the bearer token of the operator interface, at least
	// MinOperatorToken characters.
	OperatorToken string
	Clock         clock.Clock
	Logger        *slog.Logger
	// Random seeds request ids; nil means crypto/rand.
	Random io.Reader
	// Collectors are served at /metrics beside the edge's own.
	Collectors []prometheus.Collector
	// DocsURL is what problem types begin with: {DocsURL}/errors/<code>. The
	// default, "/docs", is where this server serves those pages itself; give
	// an absolute URL where the public address is known.
	DocsURL string
	// TLS makes the public listener speak HTTPS (HTTP/1.1 and HTTP/2). The
	// operator listener is plain: it is meant for loopback.
	TLS TLSFiles
	// AccessLog defaults to LogProblems.
	AccessLog AccessLog
	// RequestTimeout bounds the wait for an actor; default 30 s, more than any
	// route needs and less than most proxies wait.
	RequestTimeout time.Duration
	// BodyTimeout bounds the arrival of one body; default 30 s: 10 MiB then
	// still arrives over 3 Mbit/s, and a dripping client holds its buffer no
	// longer.
	BodyTimeout time.Duration
	// SlowRequest is logged by LogProblems; default 1 s.
	SlowRequest time.Duration
	// MaxBody bounds the JSON bodies of ordinary routes; default 1 MiB.
	MaxBody int64
	// MaxIngestBody bounds those of ingest, batches and session batches;
	// default 10 MiB.
	MaxIngestBody int64
	// MaxBodiesInFlight bounds the bytes of all bodies being read or decoded;
	// default 128 MiB, a dozen of the largest. Above it: 503.
	MaxBodiesInFlight int64
}

// MinOperatorToken is the least length of an operator token: 16 random bytes
// in hexadecimal.
const MinOperatorToken = 32

// Validate names everything that is wrong with the configuration.
func (c Config) Validate() error {
	var problems []string
	require := func(ok bool, text string) {
		if !ok {
			problems = append(problems, text)
		}
	}
	require(c.Asker != nil, "Asker is missing")
	require(c.Operator != nil, "Operator is missing")
	require(c.Clock != nil, "Clock is missing")
	require(c.Logger != nil, "Logger is missing")
	require(len(c.OperatorToken) >= MinOperatorToken, fmt.Sprintf("OperatorToken has fewer than %d characters", MinOperatorToken))
	require((c.TLS.Cert == "") == (c.TLS.Key == ""), "TLS needs both a certificate and a key file")
	require(c.AccessLog == "" || c.AccessLog == LogProblems || c.AccessLog == LogAll, "AccessLog is neither problems nor all")
	require(c.RequestTimeout >= 0 && c.BodyTimeout >= 0 && c.SlowRequest >= 0, "a time-out is negative")
	require(c.MaxBody >= 0 && c.MaxIngestBody >= 0 && c.MaxBodiesInFlight >= 0, "a size is negative")
	if len(problems) == 0 {
		return nil
	}
	return errors.New("api configuration: " + strings.Join(problems, "; "))
}

// Server is the HTTP edge of one node: the public interface and the operator
// interface. It holds no state of any organization.
type Server struct{}

// New builds a server; nothing listens yet.
func New(c Config) (*Server, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Server{}, nil
}

// Serve answers requests on both listeners until Shutdown, and then returns
// nil; it returns an error as soon as either listener fails. It takes the
// listeners over and closes them. Call it once.
func (s *Server) Serve(public, operator net.Listener) error { return nil }

// Drain makes every new request on the public interface fail with 503
// service_draining, and /readyz with it, so that load balancers turn away
// before the listeners close. It may be called more than once.
func (s *Server) Drain() {}

// Shutdown drains, closes both listeners and waits for the requests under way
// until ctx ends; then it cuts them off and returns ctx's error. It may be
// called more than once.
func (s *Server) Shutdown(ctx context.Context) error { return nil }
