package web

import (
	"context"
	"encoding/hex"
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

	"orgmem/api/problems"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/proto/tracing"
)

// Asker carries an envelope to its organization's actor and waits for the
// answer. An error means that no actor could answer; a refusal is a Reply with
// a problem. Ask returns soon after ctx ends or the envelope's deadline passes;
// the edge sets no timer of its own. The envelope belongs to the callee from
// the call on.
type Asker interface {
	Ask(ctx context.Context, envelope *pb.Envelope) (*pb.Reply, error)
}

// Config is what an edge is made of. All of it is given: api.Config has the defaults,
// and says what each of them means. Large because each field is one thing that is given.
type Config struct {
	Asker  Asker
	Clock  clock.Clock
	Logger *slog.Logger
	// Tracer has the traces of requests; nil: nobody has.
	Tracer *tracing.Tracer
	// Random seeds request ids.
	Random io.Reader
	// OrgOf finds the organization of a key, for requests that were slow; nil: it is not told.
	OrgOf func(pb.KeyHash) (pb.OrgID, bool)
	// DocsURL is what the addresses of the problems' types begin with.
	DocsURL   string
	AccessLog AccessLog
	// The time-outs of an actor's answer and of a body, and what is logged as slow.
	RequestTimeout, BodyTimeout, SlowRequest time.Duration
	// The bytes of one body, by the kind of its route.
	MaxBody, MaxIngestBody, MaxUpload int64
	// MaxContent bounds the characters of one content.
	MaxContent int
	// MaxBodiesInFlight bounds the bytes of all bodies being read or decoded.
	MaxBodiesInFlight int64
}

// Edge is what the requests of one node share: the limits, the bytes that bodies hold,
// the counters, and whether the node drains. It knows no route and no organization.
type Edge struct {
	Cfg     Config
	docsURL string
	metrics *metrics
	Bodies  Budget // of all bodies under way
	Uploads Budget // of those that are forms; Bodies counts them, too
	// connections counts those of both listeners.
	connections connectionFigures
	slow        slowLog
	draining    atomic.Bool
	Drained     chan struct{} // closed when draining begins: streams end
	drainOnce   sync.Once

	idPrefix string // of request ids: new with every start
	idNext   atomic.Uint64
}

// settleLibraries sets what gin and huma keep in package variables. Setting them
// once, before the first server, keeps them from being written under readers.
var settleLibraries = sync.OnceFunc(func() {
	gin.SetMode(gin.ReleaseMode)
	huma.ValidateStrictCasing = true
	huma.DefaultArrayNullable = false // our lists are never null
})

// NewEdge builds an edge, and registers its metrics.
func NewEdge(c Config, registry *prometheus.Registry) (*Edge, error) {
	settleLibraries()
	e := &Edge{Cfg: c, docsURL: strings.TrimSuffix(c.DocsURL, "/"), Drained: make(chan struct{})}
	e.Bodies.limit = c.MaxBodiesInFlight
	e.Uploads.limit = max(c.MaxUpload, c.MaxBodiesInFlight/uploadShareOf*uploadShare)
	var seed [8]byte
	if _, err := io.ReadFull(c.Random, seed[:]); err != nil {
		return nil, fmt.Errorf("seed request ids: %w", err)
	}
	e.idPrefix = hex.EncodeToString(seed[:]) + "-"
	var err error
	if e.metrics, err = newMetrics(registry, &e.Bodies, &e.connections); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	return e, nil
}

// Drain makes every new request under the table fail with 503 service_draining, and ends
// the streams. It may be called more than once.
func (e *Edge) Drain() {
	e.draining.Store(true)
	e.drainOnce.Do(func() { close(e.Drained) })
}

// IsDraining reports whether Drain was called.
func (e *Edge) IsDraining() bool { return e.draining.Load() }

// Listen bounds the open connections of a listener that the server is about to serve.
// plain says that it does not speak TLS: then what net/http refuses by itself is
// answered with a problem, too.
func (e *Edge) Listen(server *http.Server, inner net.Listener, limit int, plain bool) net.Listener {
	l := newListener(inner, limit, e.Cfg.Clock, e.Cfg.Logger, &e.connections)
	if plain {
		l.rewrite = e.wireProblem
	}
	server.ConnState = l.state
	return l
}

// HTTPServer returns a server with the edge's time-outs and bounds.
func (e *Edge) HTTPServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler:                      handler,
		DisableGeneralOptionsHandler: true, // "OPTIONS *" is an unknown path like any other
		ReadHeaderTimeout:            headerTimeout,
		IdleTimeout:                  idleTimeout,
		WriteTimeout:                 e.Cfg.BodyTimeout + e.Cfg.RequestTimeout + writeSlack,
		MaxHeaderBytes:               MaxHeaderBytes,
		HTTP2:                        &http.HTTP2Config{MaxConcurrentStreams: maxStreamsPerConnection},
		// handshakes that fail and clients that leave
		ErrorLog: slog.NewLogLogger(e.Cfg.Logger.Handler(), slog.LevelDebug),
	}
}

// PublicEngine routes the public interface: the table, the document and the
// pages. Client addresses come from connections alone, never from headers.
func (e *Edge) PublicEngine(t *Table) (*gin.Engine, error) {
	engine, err := e.NewEngine()
	if err != nil {
		return nil, err
	}
	for _, r := range t.Routes {
		r.meter = e.metrics.route(r.Method, r.Path)
		engine.Handle(r.Method, r.ginPath(), e.handler(r))
	}
	e.serveDocs(engine, t)
	return engine, nil
}

// NewEngine returns a router that answers what it does not know with problems.
func (e *Edge) NewEngine() (*gin.Engine, error) {
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
	unknown := e.metrics.route("any", "unmatched")
	routes := sync.OnceValue(engine.Routes) // the router is complete before it serves
	engine.NoRoute(func(c *gin.Context) {
		ex := e.Begin(c.Writer, c.Request, nil, unknown)
		defer ex.End()
		methods := methodsOf(routes(), c.Request.URL.EscapedPath())
		if len(methods) == 0 {
			ex.Refuse(problems.New(pb.CodeNotFound), nil)
			return
		}
		ex.W.Header()["Allow"] = []string{strings.Join(methods, ", ")}
		ex.Refuse(problems.New(pb.CodeMethodNotAllowed), nil)
	})
	return engine, nil
}

// RequestID is the caller's own, when it is fit to be logged and repeated, or a
// new one.
func (e *Edge) RequestID(h http.Header) string {
	if values := h[HeaderRequestID]; len(values) == 1 && VisibleASCII(values[0], MaxRequestID) {
		return values[0]
	}
	var buf [40]byte
	b := append(buf[:0], e.idPrefix...)
	return string(strconv.AppendUint(b, e.idNext.Add(1), 16))
}
