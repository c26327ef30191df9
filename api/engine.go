package api

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

// edgeConfig is what an edge is made of. All of it is given: api.Config has the defaults,
// and says what each of them means.
type edgeConfig struct {
	Asker  Asker
	Clock  clock.Clock
	Logger *slog.Logger
	// Random seeds request ids.
	Random io.Reader
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

// edge is what the requests of one node share: the limits, the bytes that bodies hold,
// the counters, and whether the node drains. It knows no route and no organization.
type httpEdge struct {
	cfg     edgeConfig
	docsURL string
	metrics *metrics
	bodies  budget
	uploads budget // what of bodies is of forms
	// connections counts those of both listeners.
	connections connectionFigures
	draining    atomic.Bool
	drained     chan struct{} // closed when draining begins: streams end
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

// newEdge builds an edge, and registers its metrics.
func newEdge(c edgeConfig, registry *prometheus.Registry) (*httpEdge, error) {
	settleLibraries()
	e := &httpEdge{cfg: c, docsURL: strings.TrimSuffix(c.DocsURL, "/"), drained: make(chan struct{})}
	e.bodies.limit = c.MaxBodiesInFlight
	e.uploads.limit = max(c.MaxUpload, c.MaxBodiesInFlight/uploadShareOf*uploadShare)
	var seed [8]byte
	if _, err := io.ReadFull(c.Random, seed[:]); err != nil {
		return nil, fmt.Errorf("seed request ids: %w", err)
	}
	e.idPrefix = hex.EncodeToString(seed[:]) + "-"
	var err error
	if e.metrics, err = newMetrics(registry, &e.bodies, &e.connections); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	return e, nil
}

// drain makes every new request under the table fail with 503 service_draining, and ends
// the streams. It may be called more than once.
func (e *httpEdge) drain() {
	e.draining.Store(true)
	e.drainOnce.Do(func() { close(e.drained) })
}

// isDraining reports whether drain was called.
func (e *httpEdge) isDraining() bool { return e.draining.Load() }

// listen bounds the open connections of a listener that the server is about to serve.
// plain says that it does not speak TLS: then what net/http refuses by itself is
// answered with a problem, too.
func (e *httpEdge) listen(server *http.Server, inner net.Listener, limit int, plain bool) net.Listener {
	l := newListener(inner, limit, e.cfg.Clock, e.cfg.Logger, &e.connections)
	if plain {
		l.rewrite = e.wireProblem
	}
	server.ConnState = l.state
	return l
}

// httpServer returns a server with the edge's time-outs and bounds.
func (e *httpEdge) httpServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler:                      handler,
		DisableGeneralOptionsHandler: true, // "OPTIONS *" is an unknown path like any other
		ReadHeaderTimeout:            headerTimeout,
		IdleTimeout:                  idleTimeout,
		WriteTimeout:                 e.cfg.BodyTimeout + e.cfg.RequestTimeout + writeSlack,
		MaxHeaderBytes:               maxHeaderBytes,
		HTTP2:                        &http.HTTP2Config{MaxConcurrentStreams: maxStreamsPerConnection},
		ErrorLog:                     slog.NewLogLogger(e.cfg.Logger.Handler(), slog.LevelDebug), // handshakes that fail and clients that leave
	}
}

// publicEngine routes the public interface: the table, the document and the
// pages. Client addresses come from connections alone, never from headers.
func (e *httpEdge) publicEngine(t *table) (*gin.Engine, error) {
	engine, err := e.newEngine()
	if err != nil {
		return nil, err
	}
	for _, r := range t.routes {
		r.meter = e.metrics.route(r.Method, r.Path)
		engine.Handle(r.Method, r.ginPath(), e.handler(r))
	}
	if err := e.serveDocs(engine, t); err != nil {
		return nil, err
	}
	return engine, nil
}

// newEngine returns a router that answers what it does not know with problems.
func (e *httpEdge) newEngine() (*gin.Engine, error) {
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
		ex := e.begin(c.Writer, c.Request, nil, unknown)
		defer ex.end()
		methods := methodsOf(routes(), c.Request.URL.EscapedPath())
		if len(methods) == 0 {
			ex.refuse(refusal(CodeNotFound), nil)
			return
		}
		ex.w.Header()["Allow"] = []string{strings.Join(methods, ", ")}
		ex.refuse(refusal(CodeMethod), nil)
	})
	return engine, nil
}

// requestID is the caller's own, when it is fit to be logged and repeated, or a
// new one.
func (e *httpEdge) requestID(h http.Header) string {
	if values := h[headerRequestID]; len(values) == 1 && visibleASCII(values[0], maxRequestID) {
		return values[0]
	}
	var buf [40]byte
	b := append(buf[:0], e.idPrefix...)
	return string(strconv.AppendUint(b, e.idNext.Add(1), 16))
}
