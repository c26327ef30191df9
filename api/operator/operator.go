package operator

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"orgmem/actors/account"
	"orgmem/actors/backup"
	"orgmem/actors/tenant"
	"orgmem/api/problems"
	"orgmem/api/web"
	"orgmem/api/wire"
	pb "orgmem/proto"
)

// The operator interface is its own router on its own listener. It makes and
// removes organizations, members and keys, and shows how the node is; it reads
// no content, but for backups, which read all.

// Route is one row of the operator's table. handle gets the parameters of
// the path and those of the query that the row names, the decoded body (a pointer
// to the type of body, or nil), and returns what to answer.
type Route struct {
	Method string
	Path   string
	status int
	Open   bool // needs no token
	query  []string
	Body   reflect.Type // nil: none
	Raw    bool         // the body is handed over as it came, up to Config.MaxIngestBody
	handle func(ctx context.Context, s *server, path gin.Params, body any) (any, error)
}

// Config is what the operator interface is made of.
type Config struct {
	Operator account.Operator
	// Token is the bearer token of the operator interface.
	Token string
	// Ready tells whether the node can serve; nil means always.
	Ready func(ctx context.Context) error
	// Doctor examines the node; nil answers an empty report.
	Doctor func(ctx context.Context) Doctor
	// Cluster is what the node belongs to; nil: it is alone.
	Cluster Cluster
	// Backups hands the stores' files to backups; nil: it does not.
	Backups backup.Copier
	// Vault is where the configuration has backups; nil: it names none.
	Vault Vault
	// Node is what this one is called.
	Node NodeName
	// Metrics are served at /metrics.
	Metrics prometheus.Gatherer
}

// NodeName is a node's id, empty where it is alone, and what people call it.
type NodeName struct{ ID, Name string }

// server answers the operator interface.
type server struct {
	cfg      Config
	edge     *web.Edge
	profiler profiler
}

// Engine routes the operator interface.
func Engine(e *web.Edge, c Config) (*gin.Engine, error) {
	s := &server{cfg: c, edge: e}
	engine, err := e.NewEngine()
	if err != nil {
		return nil, err
	}
	registry := huma.NewMapRegistry("#/", web.SchemaName)
	routes := Routes
	if s.cfg.Backups != nil {
		routes = slices.Concat(routes, backupRoutes)
	}
	for _, r := range routes {
		var body *bodyType
		if r.Body != nil {
			p, err := wire.PlanOf(r.Body)
			if err != nil {
				return nil, fmt.Errorf("operator route %s: %w", r.Path, err)
			}
			body = &bodyType{r.Body, p, registry.Schema(r.Body, true, ""), registry}
		}
		meter := e.Meter(r.Method, r.Path)
		path := strings.NewReplacer("{", ":", "}", "").Replace(r.Path)
		engine.Handle(r.Method, path, func(c *gin.Context) {
			ex := e.Begin(c.Writer, c.Request, nil, meter)
			defer ex.End()
			s.serve(ex, r, body, c.Params)
		})
	}
	// A scrape is not a request of anybody's: it is neither counted nor logged.
	scrape := promhttp.HandlerFor(c.Metrics, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError,
		// For those who ask for it: it alone has room for the traces that are examples of a bucket.
		EnableOpenMetrics: true,
	})
	refused := e.Meter(http.MethodGet, "/metrics")
	engine.GET("/metrics", func(c *gin.Context) {
		if ownHost(c.Request.Host) {
			scrape.ServeHTTP(c.Writer, c.Request)
			return
		}
		ex := e.Begin(c.Writer, c.Request, nil, refused)
		defer ex.End()
		ex.Refuse(problems.New(pb.CodePermissionDenied), nil)
	})
	return engine, nil
}

type bodyType struct {
	of       reflect.Type
	plan     *wire.Plan
	schema   *huma.Schema
	registry huma.Registry
}

// serve answers one request of the operator.
func (s *server) serve(ex *web.Exchange, r Route, body *bodyType, path gin.Params) {
	if !ownHost(ex.R.Host) {
		// A page that made its own name point here (DNS rebinding) sends that name.
		ex.Refuse(problems.Newf(pb.CodePermissionDenied,
			"The operator interface answers to localhost and to addresses, not to this host name."), nil)
		return
	}
	if !r.Open && !s.hasToken(ex.R.Header) {
		ex.Refuse(problems.Newf(pb.CodeAuthentication, "The operator token is missing or wrong."), nil)
		return
	}
	var input any
	if r.Raw {
		problem := problems.New(pb.CodeUnsupportedMediaType)
		if web.JSONContent(ex.R.Header) {
			var err error
			if problem, err = ex.ReadBody(s.edge.Cfg.MaxIngestBody); err != nil {
				problem = problems.New(pb.CodeServiceDegraded)
			}
		}
		if problem != nil {
			ex.Refuse(problem, nil)
			return
		}
		input = ex.Body
	}
	if body != nil {
		var errs problems.Violations
		value := reflect.New(body.of)
		problem := problems.New(pb.CodeUnsupportedMediaType)
		if web.JSONContent(ex.R.Header) {
			var err error
			if problem, err = ex.ReadBody(s.edge.Cfg.MaxBody); err != nil {
				ex.Refuse(problems.New(pb.CodeServiceDegraded), nil)
				return
			}
			if problem == nil {
				problem = wire.Decode(ex.Body, body.plan, body.schema, body.registry, value.Elem(), &errs)
			}
		}
		if problem == nil {
			problem = errs.Refusal()
		}
		if problem != nil {
			ex.Refuse(problem, nil)
			return
		}
		input = value.Interface()
	}
	if !r.Open { // a probe may say what it likes
		query, problem := readQuery(ex.R.URL.RawQuery, r.query)
		if problem != nil {
			ex.Refuse(problem, nil)
			return
		}
		path = append(path, query...)
	}
	ctx, cancel := context.WithCancel(ex.R.Context())
	late := s.edge.Cfg.Clock.AfterFunc(s.edge.Cfg.RequestTimeout, cancel)
	defer func() { late.Stop(); cancel() }()
	output, err := r.handle(ctx, s, path, input)
	if err != nil {
		ex.RefuseError(err, problemOf)
		return
	}
	if r.status == http.StatusNoContent {
		ex.Write(r.status, nil, nil)
		return
	}
	if f, ok := output.(file); ok {
		ex.Write(r.status, []string{f.media}, f.body)
		return
	}
	ex.WriteJSON(r.status, web.ContentJSON, output)
}

// problemOf maps the failures of actors.Operator.
func problemOf(err error) (p *pb.Problem, internal bool) {
	switch {
	case errors.Is(err, tenant.ErrOrgNotFound):
		return problems.New(pb.CodeOrganizationNotFound), false
	case errors.Is(err, tenant.ErrUserNotFound):
		return problems.New(pb.CodeUserNotFound), false
	case errors.Is(err, tenant.ErrInvalid):
		// The operator's own words: names of fields and reasons, no tenant's text.
		return problems.Newf(pb.CodeValidation, "%s", err), false
	case errors.Is(err, tenant.ErrConflict):
		return problems.Newf(pb.CodeConflict, "%s", err), false
	}
	return web.AskProblem(err)
}

// readQuery reads the parameters that a row names; one that is not given is
// empty. As under /v1, a misspelt one is not ignored.
func readQuery(raw string, names []string) (gin.Params, *pb.Problem) {
	var errs problems.Violations
	query, problem := web.ReadQuery(raw, func(name string) bool { return slices.Contains(names, name) }, &errs)
	if problem != nil {
		return nil, problem
	}
	var params gin.Params
	for _, name := range names {
		params = append(params, gin.Param{Key: name, Value: query.Get(name)})
	}
	return params, errs.Refusal()
}

// hasToken reports whether a request carries the operator's token. It compares in
// constant time.
func (s *server) hasToken(h http.Header) bool {
	value, ok := web.SingleHeader(h, web.HeaderAuth)
	if !ok {
		return false
	}
	token, ok := web.Bearer(value)
	return ok && subtle.ConstantTimeCompare([]byte(token), []byte(s.cfg.Token)) == 1
}

// ownHost reports whether a Host header names the server in a way that no
// stranger's DNS can: by address, or as localhost.
func ownHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	_, err := netip.ParseAddr(host)
	return err == nil
}

// orgParam reads {org}. What is no id names no organization.
func orgParam(path gin.Params) (pb.OrgID, error) {
	id, err := pb.ParseOrgID(path.ByName("org"))
	if err != nil {
		return id, errNoOrg
	}
	return id, nil
}
