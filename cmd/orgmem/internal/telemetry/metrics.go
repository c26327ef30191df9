package telemetry

import "github.com/prometheus/client_golang/prometheus"

// Collectors are what has become of the spans; none where nothing is traced.
func (t *Telemetry) Collectors() []prometheus.Collector {
	if t == nil {
		return nil
	}
	counter := func(name, help string, of func(Figures) uint64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "orgmem_traces_" + name, Help: help},
			func() float64 { return float64(of(t.Figures())) })
	}
	return []prometheus.Collector{
		counter("spans_sent_total", "Spans that the collector took.", func(f Figures) uint64 { return f.Sent }),
		counter("spans_dropped_total", "Spans dropped because too many waited for the collector.",
			func(f Figures) uint64 { return f.Dropped }),
		counter("spans_failed_total", "Spans that the collector did not take.", func(f Figures) uint64 { return f.Failed }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "orgmem_traces_spans_waiting", Help: "Spans that wait for the collector.",
		}, func() float64 { return float64(t.Figures().Waiting) }),
	}
}
