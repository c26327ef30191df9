package web

import (
	"maps"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"

	"orgmem/api/problems"
	pb "orgmem/proto"
)

// Mount adds a path outside the table, which speaks a protocol of its own. Its requests are
// counted, logged and traced as those of the table, a panic is a 500, and a draining node refuses them.
func (e *Edge) Mount(engine *gin.Engine, method, path string, serve func(*Exchange)) {
	meter := e.metrics.route(method, path)
	engine.Handle(method, path, func(c *gin.Context) {
		ex := e.Begin(c.Writer, c.Request, nil, meter)
		defer ex.End()
		ex.traced()
		if e.IsDraining() {
			ex.Refuse(problems.New(pb.CodeServiceDraining), nil)
			return
		}
		serve(ex)
	})
}

// ID is the request's id, as the answer and the log have it.
func (ex *Exchange) ID() string { return ex.requestID }

// ReadWhole reads a body of at most limit bytes, and refuses the request where it cannot.
func (ex *Exchange) ReadWhole(limit int64) bool {
	problem, overload := ex.ReadBody(limit)
	if overload != nil {
		ex.edge.metrics.shed.Inc()
		problem = problems.Newf(pb.CodeServiceDegraded, "The node has as many bodies under way as it may.")
	}
	if problem != nil {
		ex.Refuse(problem, nil)
	}
	return problem == nil
}

// passedOn are the headers of an answer that hold for the request it was made for.
var passedOn = []string{HeaderRate, HeaderRatePolicy, "Retry-After", "Www-Authenticate", "Content-Type"}

// PassOn answers with what a request of this service's own was answered.
func (ex *Exchange) PassOn(status int, header http.Header, body []byte) {
	h := ex.W.Header()
	for _, name := range passedOn {
		if values := header[name]; values != nil {
			h[name] = values
		}
	}
	ex.Write(status, nil, body)
}

// WriteFixed sends what is the same for everybody who asks, with the headers that it always has.
func (ex *Exchange) WriteFixed(status int, header http.Header, body []byte) {
	h := ex.W.Header()
	maps.Copy(h, header)
	h[HeaderRequestID] = []string{ex.requestID}
	if status != http.StatusNotModified {
		h["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	ex.sent(status, len(body))
	ex.W.WriteHeader(status)
	_, _ = ex.W.Write(body) // a client that does not take it has left
}

// MayCall keeps pages of other origins away. A browser sends Origin with every POST; a
// program that is no browser sends none. A page may call its own origin only, and where the
// connection came in on loopback, only if its name is one of loopback: else a name that is
// made to point to this machine (DNS rebinding) would count as its own origin.
func MayCall(r *http.Request) bool {
	values := r.Header["Origin"]
	if len(values) == 0 {
		return true
	}
	origin, err := url.Parse(values[0])
	if err != nil || len(values) > 1 || origin.Host == "" || !strings.EqualFold(origin.Host, r.Host) {
		return false
	}
	local, known := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if known {
		if at, err := netip.ParseAddrPort(local.String()); err == nil && !at.Addr().Unmap().IsLoopback() {
			return true
		}
	}
	name := origin.Hostname()
	at, err := netip.ParseAddr(name)
	return strings.EqualFold(name, "localhost") || err == nil && at.Unmap().IsLoopback()
}
