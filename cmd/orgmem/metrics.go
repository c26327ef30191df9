package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"orgmem/storage"
)

// nodeMetrics shows the storage's own figures at /metrics. Storage does not
// know Prometheus; the binary that puts all together does.
type nodeMetrics struct{ store *storage.Node }

type reading struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(storage.Stats) float64
}

func gauge(name, help string, of func(storage.Stats) float64) reading {
	return reading{prometheus.NewDesc("orgmem_storage_"+name, help, nil, nil), prometheus.GaugeValue, of}
}

func counter(name, help string, of func(storage.Stats) float64) reading {
	return reading{prometheus.NewDesc("orgmem_storage_"+name, help, nil, nil), prometheus.CounterValue, of}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

var readings = []reading{
	gauge("open_stores", "Stores open now.", func(s storage.Stats) float64 { return float64(s.OpenStores) }),
	gauge("held_stores", "Open stores that somebody holds.", func(s storage.Stats) float64 { return float64(s.HeldStores) }),
	gauge("open_stores_limit", "Stores that may be open at once.", func(s storage.Stats) float64 { return float64(s.MaxOpenStores) }),
	counter("opens_total", "Stores opened.", func(s storage.Stats) float64 { return float64(s.Opens) }),
	counter("evictions_total", "Stores closed to make room.", func(s storage.Stats) float64 { return float64(s.Evictions) }),
	counter("erasures_total", "Erasures carried out.", func(s storage.Stats) float64 { return float64(s.Erasures) }),
	gauge("pending_erasures", "Stores with erasures to carry out.", func(s storage.Stats) float64 { return float64(s.PendingErasures) }),
	gauge("cache_bytes", "Bytes in the block cache.", func(s storage.Stats) float64 { return float64(s.CacheBytes) }),
	counter("cache_hits_total", "Blocks found in the cache.", func(s storage.Stats) float64 { return float64(s.CacheHits) }),
	counter("cache_misses_total", "Blocks read from disk.", func(s storage.Stats) float64 { return float64(s.CacheMisses) }),
	gauge("open_tables", "Table files held open.", func(s storage.Stats) float64 { return float64(s.OpenTables) }),
	gauge("log_bytes", "Size of the raft log on disk.", func(s storage.Stats) float64 { return float64(s.LogBytes) }),
	counter("syncs_total", "Syncs of files.", func(s storage.Stats) float64 { return float64(s.Syncs) }),
	counter("sync_seconds_total", "Time spent in syncs.", func(s storage.Stats) float64 { return s.SyncTime.Seconds() }),
	gauge("slowest_sync_seconds", "The longest sync since the start.", func(s storage.Stats) float64 { return s.SlowestSync.Seconds() }),
	gauge("free_bytes", "Free disk space at the last look.", func(s storage.Stats) float64 { return float64(s.FreeBytes) }),
	gauge("low_space", "1 while writes are refused for lack of disk space.", func(s storage.Stats) float64 { return truth(s.LowSpace) }),
	gauge("ballast", "1 while the ballast file is in place.", func(s storage.Stats) float64 { return truth(s.Ballast) }),
	counter("refused_writes_total", "Writes refused for lack of disk space.", func(s storage.Stats) float64 { return float64(s.Refused) }),
	counter("disk_full_total", "Writes that met a full disk all the same.", func(s storage.Stats) float64 { return float64(s.DiskFull) }),
	counter("background_errors_total", "Errors of background work; each is tried again.", func(s storage.Stats) float64 { return float64(s.BackgroundErrors) }),
	counter("corruptions_total", "Corruptions found.", func(s storage.Stats) float64 { return float64(s.Corruptions) }),
	counter("write_stalls_total", "Write stalls begun.", func(s storage.Stats) float64 { return float64(s.WriteStalls) }),
}

// Describe implements prometheus.Collector.
func (m nodeMetrics) Describe(out chan<- *prometheus.Desc) {
	for _, r := range readings {
		out <- r.desc
	}
}

// Collect implements prometheus.Collector.
func (m nodeMetrics) Collect(out chan<- prometheus.Metric) {
	stats := m.store.Stats()
	for _, r := range readings {
		out <- prometheus.MustNewConstMetric(r.desc, r.kind, r.of(stats))
	}
}
