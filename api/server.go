package api

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"orgmem/actors/account"
	"orgmem/actors/backup"
	"orgmem/api/console"
	"orgmem/api/describe"
	"orgmem/api/mcp"
	"orgmem/api/operator"
	"orgmem/api/web"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/proto/tracing"
)

// Config is what a Server is made of. Asker, Operator, OperatorToken, Clock and
// Logger are required; every other zero value works. Large because each field is one thing
// that the edge is given or one bound of it, and all are read once, by New.
type Config struct {
	Asker    web.Asker
	Operator account.Operator
	// Ready tells whether the node can serve; nil means always. It is asked by
	// GET /readyz only, and its error is shown there.
	Ready func(ctx context.Context) error
	// Doctor examines the node for GET /operator/doctor; nil answers an empty
	// report.
	Doctor func(ctx context.Context) operator.Doctor
	// Cluster is what the node belongs to; nil: it is alone.
	Cluster operator.Cluster
	// OperatorToken is the bearer token of the operator interface, at least
	// MinOperatorToken characters.
	OperatorToken string
	Clock         clock.Clock
	Logger        *slog.Logger
	// Tracer has the traces of requests; nil: nobody has.
	Tracer *tracing.Tracer
	// Streams takes up the event stream that an actor has opened for a caller, by
	// its ticket; false when it has ended or never was. nil: there are no streams.
	Streams func(ticket string) (EventStream, bool)
	// Exports reads the documents that GET /v1/exports/{export_id}/download sends;
	// nil: there are none.
	Exports ExportPieces
	// Backups hands the stores' files to the operator's backups; nil: it does not.
	Backups backup.Copier
	// Vault is where the configuration has backups; nil: it names none.
	Vault operator.Vault
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
	TLS web.TLSFiles
	// AccessLog defaults to LogProblems.
	AccessLog web.AccessLog
	// RequestTimeout bounds the wait for an actor; default 30 s, more than any
	// route needs and less than most proxies wait.
	RequestTimeout time.Duration
	// BodyTimeout bounds the arrival of one body; default 30 s: 10 MiB then
	// still arrives over 3 Mbit/s, and a dripping client holds its buffer no
	// longer.
	BodyTimeout time.Duration
	// OrgOf finds the organization of a key, for GET /operator/requests/slow; nil: it is not
	// told.
	OrgOf func(pb.KeyHash) (pb.OrgID, bool)
	// Node is what the node is called, there.
	Node operator.NodeName
	// SlowRequest is logged by LogProblems, and remembered; default 1 s.
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
	// MCP says what POST /mcp offers.
	MCP MCP
	// Console is what a browser is served at /console; the zero value: nothing.
	Console console.Config
}

// MCP is the Model Context Protocol as the public interface speaks it.
type MCP struct {
	// Off leaves the path out.
	Off bool
	// Tools that may be listed; nil: all.
	Tools []string
	// Version of the program, which clients see.
	Version string
	// Source is what is served; nil: the memory. Only tests of the protocol have another.
	Source mcp.Source
	// Complete goes with it.
	Complete mcp.Complete
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
	require(len(c.OperatorToken) >= MinOperatorToken,
		fmt.Sprintf("OperatorToken has fewer than %d characters", MinOperatorToken))
	require((c.TLS.Cert == "") == (c.TLS.Key == ""), "TLS needs both a certificate and a key file")
	require(c.AccessLog == "" || c.AccessLog == web.LogProblems || c.AccessLog == web.LogAll,
		"AccessLog is neither problems nor all")
	require(c.RequestTimeout >= 0 && c.BodyTimeout >= 0 && c.SlowRequest >= 0, "a time-out is negative")
	require(c.MaxBody >= 0 && c.MaxIngestBody >= 0 && c.MaxUpload >= 0 && c.MaxBodiesInFlight >= 0 && c.MaxContent >= 0 &&
		c.MaxBatch >= 0 && c.MaxConnections >= 0, "a size is negative")
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
		c.AccessLog = web.LogProblems
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
	edge     *web.Edge
	table    *web.Table
	public   *http.Server
	operator *http.Server
	// downloads counts the exports that are being sent.
	downloads sends
}

// newTable builds the table of routes and its document.
func (s *Server) newTable() (*web.Table, error) {
	if _, err := configShapes(); err != nil {
		return nil, err
	}
	t, err := web.NewTable(
		web.About{
			Text: documentText, Tags: tagTexts, Fields: describe.Fields, Inputs: slices.Collect(maps.Values(connectorShapes)),
		},
		identityRoutes, accountRoutes, auditRoutes, keyRoutes, teamKeyRoutes, sandboxRoutes, subjectRoutes,
		graphRoutes, elsewhereRoutes, graphEditRoutes, edgeRoutes, domainRoutes, recallGraphRoutes,
		ingestRoutes, importRoutes, sessionRoutes, jobRoutes,
		searchRoutes, conditionRoutes, recallRoutes, reviewRoutes, brainRoutes,
		usageRoutes, qualityRoutes, exportRoutes, s.downloadRoutes(), purgeRoutes, settingsRoutes,
		s.eventRoutes(), webhookRoutes, connectorRoutes,
	)
	if err != nil {
		return nil, err
	}
	for _, r := range t.Routes {
		if r.Scope != pb.ScopeAny && !slices.Contains(scopes, r.Scope) {
			return nil, fmt.Errorf("route %s: unknown scope %s", r.ID, r.Scope)
		}
	}
	if err := limitIngest(t, s.cfg.MaxContent, s.cfg.MaxBatch); err != nil {
		return nil, err
	}
	return t, t.Finish()
}

// New builds a server; nothing listens yet.
func New(c Config) (*Server, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	gatherer := prometheus.NewRegistry()
	e, err := web.NewEdge(c.edge(), gatherer)
	if err != nil {
		return nil, err
	}
	for _, collector := range c.Collectors {
		if err := gatherer.Register(collector); err != nil {
			return nil, fmt.Errorf("register a collector: %w", err)
		}
	}
	s := &Server{cfg: c, edge: e}
	if s.table, err = s.newTable(); err != nil {
		return nil, err
	}
	engine, err := e.PublicEngine(s.table)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(s.serveMCP(engine), c.Console.ServePublic(e, engine)); err != nil {
		return nil, err
	}
	s.public = e.HTTPServer(engine)
	if c.TLS.Cert != "" {
		if s.public.TLSConfig, err = web.NewTLS(c.TLS, c.Clock, c.Logger); err != nil {
			return nil, err
		}
	}
	back, err := operator.Engine(e, operator.Config{
		Operator: c.Operator, Token: c.OperatorToken, Ready: c.Ready, Doctor: c.Doctor, Cluster: c.Cluster,
		Backups: c.Backups, Vault: c.Vault, Node: c.Node,
		Metrics: gatherer,
	})
	if err != nil {
		return nil, err
	}
	if err := c.Console.ServeOperator(e, back); err != nil {
		return nil, err
	}
	s.operator = e.HTTPServer(back)
	return s, nil
}

// edge is the part of the configuration that the requests of both interfaces share.
func (c Config) edge() web.Config {
	return web.Config{
		Asker: c.Asker, Clock: c.Clock, Tracer: c.Tracer, Logger: c.Logger, Random: c.Random, OrgOf: c.OrgOf,
		DocsURL: c.DocsURL, AccessLog: c.AccessLog,
		RequestTimeout: c.RequestTimeout, BodyTimeout: c.BodyTimeout, SlowRequest: c.SlowRequest,
		MaxBody: c.MaxBody, MaxIngestBody: c.MaxIngestBody, MaxUpload: c.MaxUpload, MaxContent: c.MaxContent,
		MaxBodiesInFlight: c.MaxBodiesInFlight,
	}
}

// Serve answers requests on both listeners until Shutdown, and then returns
// nil; it returns an error as soon as either listener fails. It takes the
// listeners over and closes them. Call it once.
func (s *Server) Serve(public, operator net.Listener) error {
	failed := make(chan error, 2)
	plain := s.public.TLSConfig == nil
	doors := s.edge.Listen(s.public, public, s.cfg.MaxConnections, plain)
	back := s.edge.Listen(s.operator, operator, min(s.cfg.MaxConnections, maxOperatorConnections), true)
	go func() {
		if !plain {
			failed <- s.public.ServeTLS(doors, "", "")
			return
		}
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
func (s *Server) Drain() { s.edge.Drain() }

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
