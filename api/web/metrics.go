package web

import (
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the edge's own. Every label value comes from the table of routes
// or is a status: nothing a tenant or a scanner sends makes a new series.
type metrics struct {
	requests  *prometheus.CounterVec
	latency   *prometheus.HistogramVec
	inFlight  prometheus.Gauge
	bodyBytes prometheus.Counter
	shed      prometheus.Counter
}

func newMetrics(registry *prometheus.Registry, bodies *Budget, connections *connectionFigures) (*metrics, error) {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "orgmem_http_requests_total",
			Help: "Requests answered, by route and status.",
		}, []string{"method", "route", "status"}),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "orgmem_http_request_duration_seconds",
			Help: "Time from the request's header to the end of its answer, by route.",
			// From a cached read to a request that waited out a leader's loss.
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 30},
		}, []string{"method", "route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "orgmem_http_requests_in_flight",
			Help: "Requests under way.",
		}),
		bodyBytes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "orgmem_http_request_body_bytes_total",
			Help: "Bytes of request bodies read.",
		}),
		shed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "orgmem_http_requests_shed_total",
			Help: "Requests refused because too many bytes of bodies were under way.",
		}),
	}
	held := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "orgmem_http_request_body_held_bytes",
		Help: "Bytes of request bodies under way.",
	}, func() float64 { return float64(bodies.Held()) })
	open := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "orgmem_http_connections",
		Help: "Connections that are open.",
	}, func() float64 { return float64(connections.open.Load()) })
	displaced := prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "orgmem_http_connections_displaced_total",
		Help: "Idle connections that were closed to make room for new ones.",
	}, func() float64 { return float64(connections.displaced.Load()) })
	refused := prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "orgmem_http_connections_refused_total",
		Help: "Connections refused because all that may be open were busy.",
	}, func() float64 { return float64(connections.refused.Load()) })
	for _, c := range []prometheus.Collector{
		m.requests, m.latency, m.inFlight, m.bodyBytes, m.shed, held, open, displaced, refused,
	} {
		if err := registry.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// routeMeter counts one route's requests. Its counters are looked up once per
// status, not once per request.
type routeMeter struct {
	method   string
	pattern  string
	requests *prometheus.CounterVec
	latency  prometheus.Observer
	byStatus [600]atomic.Pointer[prometheus.Counter]
}

// Meter returns the counters of one route, or of all requests that have none.
func (e *Edge) Meter(method, pattern string) *routeMeter { return e.metrics.route(method, pattern) }

func (m *metrics) route(method, pattern string) *routeMeter {
	return &routeMeter{
		method: method, pattern: pattern,
		requests: m.requests,
		latency:  m.latency.WithLabelValues(method, pattern),
	}
}

// observe counts a request. Where its trace is recorded its time is an example for the bucket that it falls into.
func (r *routeMeter) observe(status int, took time.Duration, trace string) {
	if status < 0 || status >= len(r.byStatus) {
		status = 0
	}
	counter := r.byStatus[status].Load()
	if counter == nil {
		c := r.requests.WithLabelValues(r.method, r.pattern, strconv.Itoa(status))
		counter = &c
		r.byStatus[status].Store(counter)
	}
	(*counter).Inc()
	if examples, ok := r.latency.(prometheus.ExemplarObserver); ok && trace != "" {
		examples.ObserveWithExemplar(took.Seconds(), prometheus.Labels{"trace_id": trace})
		return
	}
	r.latency.Observe(took.Seconds())
}
