package api

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

	"orgmem/actors"
	pb "orgmem/proto"
)

// The operator interface is its own router on its own listener. It makes and
// removes organizations, members and keys, and shows how the node is; it reads
// no content, but for backups, which read all.

// operatorRoute is one row of the operator's table. handle gets the parameters of
// the path and those of the query that the row names, the decoded body (a pointer
// to the type of body, or nil), and returns what to answer.
type operatorRoute struct {
	method string
	path   string
	status int
	open   bool // needs no token
	query  []string
	body   reflect.Type // nil: none
	raw    bool         // the body is handed over as it came, up to Config.MaxIngestBody
	handle func(ctx context.Context, s *operatorServer, path gin.Params, body any) (any, error)
}

// operatorConfig is what the operator interface is made of.
type operatorConfig struct {
	Operator actors.Operator
	// Token is the bearer token of the operator interface.
	Token string
	// Ready tells whether the node can serve; nil means always.
	Ready func(ctx context.Context) error
	// Doctor examines the node; nil answers an empty report.
	Doctor func(ctx context.Context) Doctor
	// Cluster is what the node belongs to; nil: it is alone.
	Cluster Cluster
	// Backups hands the stores' files to backups; nil: it does not.
	Backups actors.Copier
	// Metrics are served at /metrics.
	Metrics prometheus.Gatherer
}

// operatorServer answers the operator interface.
type operatorServer struct {
	cfg  operatorConfig
	edge *httpEdge
}

// operatorEngine routes the operator interface.
func operatorEngine(e *httpEdge, c operatorConfig) (*gin.Engine, error) {
	s := &operatorServer{cfg: c, edge: e}
	engine, err := e.newEngine()
	if err != nil {
		return nil, err
	}
	registry := huma.NewMapRegistry("#/", schemaName)
	routes := operatorRoutes
	if s.cfg.Backups != nil {
		routes = slices.Concat(routes, backupRoutes)
	}
	for _, r := range routes {
		var body *operatorBody
		if r.body != nil {
			p, err := planOf(r.body)
			if err != nil {
				return nil, fmt.Errorf("operator route %s: %w", r.path, err)
			}
			body = &operatorBody{r.body, p, registry.Schema(r.body, true, ""), registry}
		}
		meter := e.meter(r.method, r.path)
		path := strings.NewReplacer("{", ":", "}", "").Replace(r.path)
		engine.Handle(r.method, path, func(c *gin.Context) {
			ex := e.begin(c.Writer, c.Request, nil, meter)
			defer ex.end()
			s.serve(ex, r, body, c.Params)
		})
	}
	// A scrape is not a request of anybody's: it is neither counted nor logged.
	scrape := promhttp.HandlerFor(c.Metrics, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
	refused := e.meter(http.MethodGet, "/metrics")
	engine.GET("/metrics", func(c *gin.Context) {
		if ownHost(c.Request.Host) {
			scrape.ServeHTTP(c.Writer, c.Request)
			return
		}
		ex := e.begin(c.Writer, c.Request, nil, refused)
		defer ex.end()
		ex.refuse(refusal(CodePermission), nil)
	})
	return engine, nil
}

type operatorBody struct {
	of       reflect.Type
	plan     *plan
	schema   *huma.Schema
	registry huma.Registry
}

// serve answers one request of the operator.
func (s *operatorServer) serve(ex *exchange, r operatorRoute, body *operatorBody, path gin.Params) {
	if !ownHost(ex.r.Host) {
		// A page that made its own name point here (DNS rebinding) sends that name.
		ex.refuse(refusalf(CodePermission, "The operator interface answers to localhost and to addresses, not to this host name."), nil)
		return
	}
	if !r.open && !s.hasToken(ex.r.Header) {
		ex.refuse(refusalf(CodeAuthentication, "The operator token is missing or wrong."), nil)
		return
	}
	var input any
	if r.raw {
		problem := refusal(CodeMediaType)
		if jsonContent(ex.r.Header) {
			var err error
			if problem, err = ex.readBody(s.edge.cfg.MaxIngestBody); err != nil {
				problem = refusal(CodeDegraded)
			}
		}
		if problem != nil {
			ex.refuse(problem, nil)
			return
		}
		input = ex.body
	}
	if body != nil {
		var errs violations
		value := reflect.New(body.of)
		problem := refusal(CodeMediaType)
		if jsonContent(ex.r.Header) {
			var err error
			if problem, err = ex.readBody(s.edge.cfg.MaxBody); err != nil {
				ex.refuse(refusal(CodeDegraded), nil)
				return
			}
			if problem == nil {
				problem = decodeBody(ex.body, body.plan, body.schema, body.registry, value.Elem(), &errs)
			}
		}
		if problem == nil {
			problem = errs.refusal()
		}
		if problem != nil {
			ex.refuse(problem, nil)
			return
		}
		input = value.Interface()
	}
	if !r.open { // a probe may say what it likes
		query, problem := operatorQuery(ex.r.URL.RawQuery, r.query)
		if problem != nil {
			ex.refuse(problem, nil)
			return
		}
		path = append(path, query...)
	}
	ctx, cancel := context.WithCancel(ex.r.Context())
	late := s.edge.cfg.Clock.AfterFunc(s.edge.cfg.RequestTimeout, cancel)
	defer func() { late.Stop(); cancel() }()
	output, err := r.handle(ctx, s, path, input)
	if err != nil {
		problem, internal := operatorProblem(err)
		if internal {
			ex.err = err
		}
		ex.refuse(problem, nil)
		return
	}
	if r.status == http.StatusNoContent {
		ex.write(r.status, nil, nil)
		return
	}
	ex.writeJSON(r.status, contentJSON, output)
}

// operatorProblem maps the failures of actors.Operator.
func operatorProblem(err error) (p *pb.Problem, internal bool) {
	switch {
	case errors.Is(err, actors.ErrOrgNotFound):
		return refusal(CodeOrgNotFound), false
	case errors.Is(err, actors.ErrUserNotFound):
		return refusal(CodeUserNotFound), false
	case errors.Is(err, actors.ErrInvalid):
		// The operator's own words: names of fields and reasons, no tenant's text.
		return refusalf(CodeValidation, "%s", err), false
	case errors.Is(err, actors.ErrConflict):
		return refusalf(CodeConflict, "%s", err), false
	}
	return askProblem(err)
}

// operatorQuery reads the parameters that a row names; one that is not given is
// empty. As under /v1, a misspelt one is not ignored.
func operatorQuery(raw string, names []string) (gin.Params, *pb.Problem) {
	var errs violations
	query, problem := readQuery(raw, func(name string) bool { return slices.Contains(names, name) }, &errs)
	if problem != nil {
		return nil, problem
	}
	var params gin.Params
	for _, name := range names {
		params = append(params, gin.Param{Key: name, Value: query.Get(name)})
	}
	return params, errs.refusal()
}

// hasToken reports whether a request carries the operator's token. It compares in
// constant time.
func (s *operatorServer) hasToken(h http.Header) bool {
	value, ok := single(h, headerAuth)
	if !ok {
		return false
	}
	token, ok := bearer(value)
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
