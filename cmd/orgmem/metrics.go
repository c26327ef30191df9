package main

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"orgmem/actors"
	"orgmem/actors/tenant"
	"orgmem/cluster"
	"orgmem/storage"
)

// figures shows what a package counts of itself at /metrics. The packages do not
// know Prometheus; the binary that puts all together does.
type figures[S any] struct {
	read     func() S
	readings []reading[S]
}

type reading[S any] struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(S) float64
}

func gauge[S any](name, help string, of func(S) float64) reading[S] {
	return reading[S]{prometheus.NewDesc("orgmem_"+name, help, nil, nil), prometheus.GaugeValue, of}
}

func counter[S any](name, help string, of func(S) float64) reading[S] {
	return reading[S]{prometheus.NewDesc("orgmem_"+name, help, nil, nil), prometheus.CounterValue, of}
}

// nodeMetrics collects the figures of the packages behind the edge, and those of the
// process: what it takes, and what its garbage collector finds alive.
func nodeMetrics(store *storage.Node, host *cluster.Host, system *actors.Service) []prometheus.Collector {
	return []prometheus.Collector{
		figures[storage.Stats]{store.Stats, storageReadings},
		figures[cluster.Stats]{host.Stats, clusterReadings},
		figures[cluster.ControllerStats]{host.ControllerStats, controllerReadings},
		figures[tenant.Stats]{system.Stats, actorReadings},
		collectors.NewGoCollector(collectors.WithGoCollectorRuntimeMetrics(collectors.MetricsGC, collectors.MetricsMemory)),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

var storageReadings = []reading[storage.Stats]{
	gauge("storage_open_stores", "Stores open now.", func(s storage.Stats) float64 { return float64(s.OpenStores) }),
	gauge("storage_held_stores", "Open stores that somebody holds.", func(s storage.Stats) float64 {
		return float64(s.HeldStores)
	}),
	gauge("storage_open_stores_limit", "Stores that may be open at once.", func(s storage.Stats) float64 {
		return float64(s.MaxOpenStores)
	}),
	counter("storage_opens_total", "Stores opened.", func(s storage.Stats) float64 { return float64(s.Opens) }),
	counter("storage_rests_total", "Stores closed because nobody used them.", func(s storage.Stats) float64 {
		return float64(s.Rests)
	}),
	counter("storage_evictions_total", "Stores closed to make room.", func(s storage.Stats) float64 {
		return float64(s.Evictions)
	}),
	counter("storage_erasures_total", "Erasures carried out.", func(s storage.Stats) float64 {
		return float64(s.Erasures)
	}),
	gauge("storage_pending_erasures", "Stores with erasures to carry out.", func(s storage.Stats) float64 {
		return float64(s.PendingErasures)
	}),
	gauge("storage_cache_bytes", "Bytes in the block cache.", func(s storage.Stats) float64 {
		return float64(s.CacheBytes)
	}),
	counter("storage_cache_hits_total", "Blocks found in the cache.", func(s storage.Stats) float64 {
		return float64(s.CacheHits)
	}),
	counter("storage_cache_misses_total", "Blocks read from disk.", func(s storage.Stats) float64 {
		return float64(s.CacheMisses)
	}),
	gauge("storage_open_tables", "Table files held open.", func(s storage.Stats) float64 { return float64(s.OpenTables) }),
	gauge("storage_log_bytes", "Size of the raft log on disk.", func(s storage.Stats) float64 {
		return float64(s.LogBytes)
	}),
	counter("storage_syncs_total", "Syncs of files.", func(s storage.Stats) float64 { return float64(s.Syncs) }),
	counter("storage_sync_seconds_total", "Time spent in syncs.", func(s storage.Stats) float64 {
		return s.SyncTime.Seconds()
	}),
	gauge("storage_slowest_sync_seconds", "The longest sync since the start.", func(s storage.Stats) float64 {
		return s.SlowestSync.Seconds()
	}),
	gauge("storage_free_bytes", "Free disk space at the last look.", func(s storage.Stats) float64 {
		return float64(s.FreeBytes)
	}),
	gauge("storage_low_space", "1 while writes are refused for lack of disk space.", func(s storage.Stats) float64 {
		return truth(s.LowSpace)
	}),
	gauge("storage_ballast", "1 while the ballast file is in place.", func(s storage.Stats) float64 {
		return truth(s.Ballast)
	}),
	counter("storage_refused_writes_total", "Writes refused for lack of disk space.", func(s storage.Stats) float64 {
		return float64(s.Refused)
	}),
	counter("storage_disk_full_total", "Writes that met a full disk all the same.", func(s storage.Stats) float64 {
		return float64(s.DiskFull)
	}),
	counter("storage_background_errors_total", "Errors of background work; each is tried again.",
		func(s storage.Stats) float64 { return float64(s.BackgroundErrors) }),
	counter("storage_corruptions_total", "Corruptions found.", func(s storage.Stats) float64 {
		return float64(s.Corruptions)
	}),
	gauge("storage_stores_out_of_service", "Stores that are out of service on this node because they are damaged.",
		func(s storage.Stats) float64 { return float64(s.OutOfService) }),
	counter("storage_write_stalls_total", "Write stalls begun.", func(s storage.Stats) float64 {
		return float64(s.WriteStalls)
	}),
}

var clusterReadings = []reading[cluster.Stats]{
	counter("cluster_proposals_total", "Writes that entered a log.", func(s cluster.Stats) float64 {
		return float64(s.Proposed)
	}),
	counter("cluster_busy_total", "Writes refused because too much was in flight.", func(s cluster.Stats) float64 {
		return float64(s.Busy)
	}),
	counter("cluster_fenced_total", "Writes refused because their lease was lost.", func(s cluster.Stats) float64 {
		return float64(s.Fenced)
	}),
	counter("cluster_unknown_total", "Writes whose outcome was not known.", func(s cluster.Stats) float64 {
		return float64(s.Unknown)
	}),
	counter("cluster_compactions_total", "Logs cut.", func(s cluster.Stats) float64 { return float64(s.Compactions) }),
	counter("cluster_compaction_failures_total", "Logs that could not be cut; each is tried again.",
		func(s cluster.Stats) float64 { return float64(s.CompactionFailures) }),
	counter("cluster_stores_mended_total", "Damaged stores that were replaced by another node's.",
		func(s cluster.Stats) float64 { return float64(s.StoresMended) }),
	gauge("cluster_in_flight_bytes", "Bytes of writes that are not answered yet.", func(s cluster.Stats) float64 {
		return float64(s.InFlightBytes)
	}),
	gauge("cluster_keys", "Keys in the directory of all organizations.", func(s cluster.Stats) float64 {
		return float64(s.Keys)
	}),
	gauge("cluster_keys_limit", "Keys that the directory may hold.", func(s cluster.Stats) float64 {
		return float64(s.KeysLimit)
	}),
	gauge("cluster_load_ratio", "Share of its processors that this node has used lately, as it tells the others: 0 to 1.",
		func(s cluster.Stats) float64 { return float64(s.Load) / 1000 }),
	gauge("cluster_log_bytes", "Bytes of log that a restart would replay.", func(s cluster.Stats) float64 {
		return float64(s.LogBytes)
	}),
}

// controllerReadings are exported by every node; all but the counters are zero where
// another node's controller acts, so that their sums over the nodes are right.
var controllerReadings = []reading[cluster.ControllerStats]{
	gauge("cluster_controller", "1 while this node leads the meta group and controls the placement.",
		func(s cluster.ControllerStats) float64 { return truth(s.Acting) }),
	gauge("cluster_nodes", "Nodes of the cluster.", func(s cluster.ControllerStats) float64 { return float64(s.Nodes) }),
	gauge("cluster_nodes_away", "Nodes that are not alive.", func(s cluster.ControllerStats) float64 {
		return float64(s.Away)
	}),
	gauge("cluster_groups_short", "Groups with fewer live voters than they should have.",
		func(s cluster.ControllerStats) float64 { return float64(s.Short) }),
	gauge("cluster_groups_leadless", "Groups of which no leader answers.", func(s cluster.ControllerStats) float64 {
		return float64(s.Leadless)
	}),
	gauge("cluster_groups_waiting", "Groups with something amiss that has to wait; the status says for what.",
		func(s cluster.ControllerStats) float64 { return float64(s.Waiting) }),
	gauge("cluster_replicas_filling", "Replicas that are being filled.", func(s cluster.ControllerStats) float64 {
		return float64(s.Filling)
	}),
	counter("cluster_steps_total", "Steps that the controller carried out.", func(s cluster.ControllerStats) float64 {
		return float64(s.Steps)
	}),
	counter("cluster_moves_total", "Of them, replicas begun elsewhere.", func(s cluster.ControllerStats) float64 {
		return float64(s.Moves)
	}),
	counter("cluster_step_failures_total", "Steps that failed; each is planned again.",
		func(s cluster.ControllerStats) float64 { return float64(s.Failures) }),
}

var actorReadings = []reading[tenant.Stats]{
	gauge("actors_organizations", "Organizations in memory.", func(s tenant.Stats) float64 {
		return float64(s.ActiveOrgs)
	}),
	counter("actors_activations_total", "Organizations brought into memory.", func(s tenant.Stats) float64 {
		return float64(s.OrgActivations)
	}),
	counter("actors_lost_total", "Organizations opened again after a write of unknown outcome.",
		func(s tenant.Stats) float64 { return float64(s.OrgsLost) }),
	gauge("actors_calls", "Requests inside the actors.", func(s tenant.Stats) float64 { return float64(s.CallsInFlight) }),
	counter("actors_asked_elsewhere_total", "Requests brought to the node where their organization lives.",
		func(s tenant.Stats) float64 { return float64(s.AskedElsewhere) }),
	counter("actors_answered_for_others_total", "Requests that other nodes brought here.", func(s tenant.Stats) float64 {
		return float64(s.AnsweredForOthers)
	}),
	counter("actors_lost_on_the_way_total", "Requests whose node was lost before it answered.",
		func(s tenant.Stats) float64 { return float64(s.LostOnTheWay) }),
	gauge("actors_read_queue", "Reads that wait for a worker.", func(s tenant.Stats) float64 {
		return float64(s.ReadQueueLen)
	}),
	gauge("actors_read_queue_limit", "Reads that may wait.", func(s tenant.Stats) float64 {
		return float64(s.ReadQueueCap)
	}),
	gauge("actors_cpu_queue", "Tasks of ingestion that wait for a worker.", func(s tenant.Stats) float64 {
		return float64(s.IngestTasksQueue)
	}),
	gauge("actors_reading_bytes", "Memory that is granted for reading files.", func(s tenant.Stats) float64 {
		return float64(s.ReadingBytes)
	}),
	gauge("actors_reading_bytes_limit", "Memory that may be granted for reading files.", func(s tenant.Stats) float64 {
		return float64(s.ReadingBytesLimit)
	}),
	gauge("actors_readings_waiting", "Files that wait for memory to be read.", func(s tenant.Stats) float64 {
		return float64(s.ReadingsWaiting)
	}),
	counter("actors_items_total", "Items ingested.", func(s tenant.Stats) float64 { return float64(s.ItemsIngested) }),
	gauge("actors_chunks_to_move", "Chunks that are to be embedded anew, of organizations that this node leads.",
		func(s tenant.Stats) float64 { return float64(s.ChunksToMove) }),
	counter("actors_chunks_moved_total", "Chunks embedded anew.", func(s tenant.Stats) float64 {
		return float64(s.ChunksMoved)
	}),
	counter("webhook_deliveries_total", "Webhook attempts that a receiver took.", func(s tenant.Stats) float64 {
		return float64(s.Deliveries)
	}),
	counter("webhook_failures_total", "Webhook attempts that failed.", func(s tenant.Stats) float64 {
		return float64(s.DeliveriesFailed)
	}),
	counter("webhook_disabled_total", "Webhook endpoints that were disabled because of their failures.",
		func(s tenant.Stats) float64 { return float64(s.WebhooksDisabled) }),
	gauge("actors_snapshot_bytes", "Memory of search indexes.", func(s tenant.Stats) float64 {
		return float64(s.SnapshotBytes)
	}),
	gauge("actors_snapshots", "Partitions whose index is in memory.", func(s tenant.Stats) float64 {
		return float64(s.SnapshotsLoaded)
	}),
	counter("actors_snapshot_loads_total", "Indexes read from disk.", func(s tenant.Stats) float64 {
		return float64(s.SnapshotLoads)
	}),
}

// Describe implements prometheus.Collector.
func (f figures[S]) Describe(out chan<- *prometheus.Desc) {
	for _, r := range f.readings {
		out <- r.desc
	}
}

// Collect implements prometheus.Collector.
func (f figures[S]) Collect(out chan<- prometheus.Metric) {
	stats := f.read()
	for _, r := range f.readings {
		out <- prometheus.MustNewConstMetric(r.desc, r.kind, r.of(stats))
	}
}
