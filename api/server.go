package api

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"

	"orgmem/actors"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// Asker carries an envelope to its organization's actor and waits for the
// answer. An error means that no actor could answer; a refusal is a Reply with
// a problem. Ask returns soon after ctx ends or the envelope's deadline passes;
// the edge sets no timer of its own. The envelope belongs to the callee from
// the call on.
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
	// Cluster is what the node belongs to; nil: it is alone.
	Cluster Cluster
	// OperatorToken is the bearer token of the operator interface, at least
	// MinOperatorToken characters.
	OperatorToken string
	Clock         clock.Clock
	Logger        *slog.Logger
	// Streams takes up the event stream that an actor has opened for a caller, by
	// its ticket; false when there is none (any more). nil: there are no streams.
	Streams func(ticket string) (EventStream, bool)
	// Exports reads the documents that GET /v1/exports/{export_id}/download sends;
	// nil: there are none.
	Exports ExportPieces
	// Backups hands the stores' files to the operator's backups; nil: it does not.
	Backups actors.Copier
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
	// MaxUpload bounds the body of an import; default 64 MiB.
	MaxUpload int64
	// MaxContent bounds the characters of one content; default 5,000,000. In
	// UTF-8 they may fill MaxIngestBody, which then bounds them first.
	MaxContent int
	// MaxBatch bounds the items of one batch; default 1,000.
	MaxBatch int
	// MaxBodiesInFlight bounds the bytes of all bodies being read or decoded;
	// default 128 MiB, a dozen of the largest JSON bodies. Above it: 503. Uploads
	// together take uploadShare of it at most, or one of the largest.
	MaxBodiesInFlight int64
	// MaxConnections bounds the open connections of the public interface; default
	// 10,000, at some 20 KiB each. One more closes the one that has been idle for
	// longest. Where none is idle it is answered 503, and under TLS closed without an
	// answer. Who knows how many files the process may open sets it to what of that is for
	// connections.
	MaxConnections int
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
	require(c.MaxBody >= 0 && c.MaxIngestBody >= 0 && c.MaxUpload >= 0 && c.MaxBodiesInFlight >= 0 && c.MaxContent >= 0 && c.MaxBatch >= 0 && c.MaxConnections >= 0, "a size is negative")
	if len(problems) == 0 {
		return nil
	}
	return errors.New("api configuration: " + strings.Join(problems, "; "))
}

func (c Config) withDefaults() Config {
	setDefault := func(d *time.Duration, value time.Duration) {
		if *d == 0 {
			*d = value
		}
	}
	setDefault(&c.RequestTimeout, 30*time.Second)
	setDefault(&c.BodyTimeout, 30*time.Second)
	setDefault(&c.SlowRequest, time.Second)
	for _, size := range []struct {
		of    *int64
		value int64
	}{{&c.MaxBody, 1 << 20}, {&c.MaxIngestBody, 10 << 20}, {&c.MaxUpload, 64 << 20}, {&c.MaxBodiesInFlight, 128 << 20}} {
		if *size.of == 0 {
			*size.of = size.value
		}
	}
	if c.MaxContent == 0 {
		c.MaxContent = 5_000_000
	}
	if c.MaxBatch == 0 {
		c.MaxBatch = 1_000
	}
	if c.MaxConnections == 0 {
		c.MaxConnections = defaultConnections
	}
	if c.AccessLog == "" {
		c.AccessLog = LogProblems
	}
	if c.DocsURL == "" {
		c.DocsURL = "/docs"
	}
	if c.Random == nil {
		c.Random = rand.Reader
	}
	return c
}

// Server is the HTTP edge of one node: the public interface and the operator
// interface. It holds no state of any organization.
type Server struct {
	cfg      Config
	docsURL  string
	table    []*Route
	registry huma.Registry
	openapi  []byte
	gatherer *prometheus.Registry
	metrics  *metrics
	bodies   budget
	uploads  budget // what of bodies is of forms
	// connections counts those of both listeners.
	connections connectionFigures
	draining    atomic.Bool
	// downloads counts the exports that are being sent.
	downloads sends
	drained   chan struct{} // closed when draining begins: streams end
	drain     sync.Once

	idPrefix string // of request ids: new with every start
	idNext   atomic.Uint64

	public   *http.Server
	operator *http.Server
}

// settleLibraries sets what gin and huma keep in package variables. Setting them
// once, before the first server, keeps them from being written under readers.
var settleLibraries = sync.OnceFunc(func() {
	gin.SetMode(gin.ReleaseMode)
	huma.ValidateStrictCasing = true
	huma.DefaultArrayNullable = false // our lists are never null
})

// New builds a server; nothing listens yet.
func New(c Config) (*Server, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	settleLibraries()
	s := &Server{cfg: c.withDefaults(), gatherer: prometheus.NewRegistry(), drained: make(chan struct{})}
	s.docsURL = strings.TrimSuffix(s.cfg.DocsURL, "/")
	s.bodies.limit = s.cfg.MaxBodiesInFlight
	s.uploads.limit = max(s.cfg.MaxUpload, s.cfg.MaxBodiesInFlight/uploadShareOf*uploadShare)
	var seed [8]byte
	if _, err := io.ReadFull(s.cfg.Random, seed[:]); err != nil {
		return nil, fmt.Errorf("seed request ids: %w", err)
	}
	s.idPrefix = hex.EncodeToString(seed[:]) + "-"

	var err error
	if s.metrics, err = newMetrics(s.gatherer, &s.bodies, &s.connections); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	for _, collector := range s.cfg.Collectors {
		if err := s.gatherer.Register(collector); err != nil {
			return nil, fmt.Errorf("register a collector: %w", err)
		}
	}
	if s.table, s.registry, err = newTable(); err != nil {
		return nil, err
	}
	if err := limitIngest(s.table, s.registry, s.cfg.MaxContent, s.cfg.MaxBatch); err != nil {
		return nil, err
	}
	document := newDocument(s.table, s.registry)
	if s.openapi, err = encodeDocument(document); err != nil {
		return nil, err
	}
	engine, err := s.publicEngine(document)
	if err != nil {
		return nil, err
	}
	var tlsConfig *tls.Config
	if s.cfg.TLS.Cert != "" {
		if tlsConfig, err = newTLS(s.cfg.TLS, s.cfg.Clock, s.cfg.Logger); err != nil {
			return nil, err
		}
	}
	s.public = s.httpServer(engine)
	s.public.TLSConfig = tlsConfig
	operator, err := s.operatorEngine()
	if err != nil {
		return nil, err
	}
	s.operator = s.httpServer(operator)
	return s, nil
}

func (s *Server) httpServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler:                      handler,
		DisableGeneralOptionsHandler: true, // "OPTIONS *" is an unknown path like any other
		ReadHeaderTimeout:            headerTimeout,
		IdleTimeout:                  idleTimeout,
		WriteTimeout:                 s.cfg.BodyTimeout + s.cfg.RequestTimeout + writeSlack,
		MaxHeaderBytes:               maxHeaderBytes,
		HTTP2:                        &http.HTTP2Config{MaxConcurrentStreams: maxStreamsPerConnection},
		ErrorLog:                     slog.NewLogLogger(s.cfg.Logger.Handler(), slog.LevelDebug), // handshakes that fail and clients that leave
	}
}

// publicEngine routes the public interface: the table, the document and the
// pages. Client addresses come from connections alone, never from headers.
func (s *Server) publicEngine(document *huma.OpenAPI) (*gin.Engine, error) {
	engine, err := s.newEngine()
	if err != nil {
		return nil, err
	}
	for _, r := range s.table {
		r.meter = s.metrics.route(r.Method, r.Path)
		engine.Handle(r.Method, r.ginPath(), s.handler(r))
	}
	if err := s.serveDocs(engine, document); err != nil {
		return nil, err
	}
	return engine, nil
}

// newEngine returns a router that answers what it does not know with problems.
func (s *Server) newEngine() (*gin.Engine, error) {
	engine := gin.New()
	if err := engine.SetTrustedProxies(nil); err != nil {
		return nil, fmt.Errorf("trust no proxies: %w", err)
	}
	engine.HandleMethodNotAllowed = false // methodsOf says why
	engine.RedirectTrailingSlash = false
	engine.RedirectFixedPath = false
	// Ids may hold any character, a slash too: match the path as it was sent,
	// and decode each parameter once, ourselves.
	engine.UseEscapedPath = true
	engine.UnescapePathValues = false
	unknown := s.metrics.route("any", "unmatched")
	routes := sync.OnceValue(engine.Routes) // the router is complete before it serves
	engine.NoRoute(func(c *gin.Context) {
		ex := s.begin(c.Writer, c.Request, nil, unknown)
		defer ex.end()
		methods := methodsOf(routes(), c.Request.URL.EscapedPath())
		if len(methods) == 0 {
			ex.refuse(refusal(codeNotFound), nil)
			return
		}
		ex.w.Header()["Allow"] = []string{strings.Join(methods, ", ")}
		ex.refuse(refusal(codeMethod), nil)
	})
	return engine, nil
}

// requestID is the caller's own, when it is fit to be logged and repeated, or a
// new one.
func (s *Server) requestID(h http.Header) string {
	if values := h[headerRequestID]; len(values) == 1 && visibleASCII(values[0], maxRequestID) {
		return values[0]
	}
	var buf [40]byte
	b := append(buf[:0], s.idPrefix...)
	return string(strconv.AppendUint(b, s.idNext.Add(1), 16))
}

// Serve answers requests on both listeners until Shutdown, and then returns
// nil; it returns an error as soon as either listener fails. It takes the
// listeners over and closes them. Call it once.
func (s *Server) Serve(public, operator net.Listener) error {
	failed := make(chan error, 2)
	doors := newListener(public, s.cfg.MaxConnections, s.cfg.Clock, s.cfg.Logger, &s.connections)
	s.public.ConnState = doors.state
	back := newListener(operator, min(s.cfg.MaxConnections, maxOperatorConnections), s.cfg.Clock, s.cfg.Logger, &s.connections)
	back.rewrite, s.operator.ConnState = s.wireProblem, back.state
	go func() {
		if s.public.TLSConfig != nil {
			failed <- s.public.ServeTLS(doors, "", "")
			return
		}
		doors.rewrite = s.wireProblem
		failed <- s.public.Serve(doors)
	}()
	go func() { failed <- s.operator.Serve(back) }()
	first := <-failed
	if !errors.Is(first, http.ErrServerClosed) {
		// One listener without the other is no node: stop both.
		closed := errors.Join(s.public.Close(), s.operator.Close())
		if second := <-failed; !errors.Is(second, http.ErrServerClosed) {
			closed = errors.Join(second, closed)
		}
		return errors.Join(fmt.Errorf("serve: %w", first), closed)
	}
	if second := <-failed; !errors.Is(second, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", second)
	}
	return nil
}

// Drain makes every new request on the public interface fail with 503
// service_draining, and /readyz with it, so that load balancers turn away
// before the listeners close. It may be called more than once.
func (s *Server) Drain() {
	s.draining.Store(true)
	s.drain.Do(func() { close(s.drained) })
}

// Shutdown drains, closes both listeners and waits for the requests under way
// until ctx ends; then it cuts them off and returns ctx's error. It may be
// called more than once.
func (s *Server) Shutdown(ctx context.Context) error {
	s.Drain()
	err := s.public.Shutdown(ctx)
	// The operator's listener goes last: it shows how the draining goes.
	err = errors.Join(err, s.operator.Shutdown(ctx))
	if err != nil {
		return errors.Join(fmt.Errorf("shut down: %w", err), s.public.Close(), s.operator.Close())
	}
	return nil
}
