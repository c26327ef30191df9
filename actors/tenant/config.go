package tenant

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"time"

	"orgmem/actors/egress"
	"orgmem/actors/llm"
	"orgmem/actors/partition"
	"orgmem/brain/format/reading"
	"orgmem/brain/index"
	"orgmem/brain/reader"
	"orgmem/cluster"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/proto/tracing"
	"orgmem/storage"
)

const (
	// MinReadingBytes is the least budget for reading: that of one file.
	MinReadingBytes     = reading.MaxMemory
	defaultReadingBytes = 2 * MinReadingBytes
	// defaultSnapshotBytes hold about 3 million chunks.
	defaultSnapshotBytes = 2 << 30
	// A cold start costs some 20 ms, an organization in memory about 100 KB.
	defaultIdleOrg     = 10 * time.Minute
	defaultIdleSubject = 5 * time.Minute
	// defaultMovingPercent leaves three quarters of the processors to what somebody waits for, and moves a million
	// chunks in some eleven hours on two processors (docs/operations.md).
	defaultMovingPercent = 25
	// defaultCognitionQuiet is how long a partition must have been left alone before
	// a cycle begins: what comes in a burst is looked at once.
	defaultCognitionQuiet = 3 * time.Second
)

// Config says what a System is made of: what the node has, what it may use, how long things are kept, and what tests
// put in place of that.
type Config struct {
	Platform
	Models
	Bounds
	Retention
	Testing

	// CognitionQuiet is how long a memory must have been left alone before a cognition
	// cycle looks at what is new; 0 is 3 s.
	CognitionQuiet time.Duration
	// Egress reaches the addresses that tenants chose; nil: nothing does, and what
	// needs it is refused.
	Egress *egress.Client
	// WebhookRetryDelays are the waits before the second and the third attempt to
	// deliver an event; nil is 30 s and 120 s.
	WebhookRetryDelays []time.Duration
	// SecretsKey goes into the keys that the secrets of webhooks and connectors are
	// stored under; nil: the organization's own secret makes them alone. Once there is
	// one, it must stay what it is.
	SecretsKey []byte
}

// Platform is what a node stands on. All but Placement and Tracer are required.
type Platform struct {
	Host    *cluster.Host
	Storage *storage.Node
	Clock   clock.Clock
	Random  io.Reader // keys, ids, secrets: crypto/rand
	Logger  *slog.Logger
	Tracer  *tracing.Tracer // nil: nothing is traced
	// Placement says where organizations live; nil: the node is alone, and all live here.
	Placement Placement
}

// Models are what gives texts their meaning. Embedder is required.
type Models struct {
	Embedder partition.Embedder
	// EmbedderSince is the version of the protocol from which on every node has Embedder; until the cluster speaks it,
	// the first of Former embeds what is new. 0: at once.
	EmbedderSince uint32
	// Former embedders serve partitions whose vectors they made until the
	// partition is embedded anew.
	Former []partition.Embedder
	Reader *reader.Reader // tells what contradicts what; nil: the rules alone do
	// LLM words what cognition finds, and answers, and weighs relations; nil: what the
	// rules find and say stands.
	LLM *llm.Client
}

// Bounds are what a node may use. 0 is the default of each.
type Bounds struct {
	// IdleOrg and IdleSubject are how long an unused actor stays in memory: 10 and 5 minutes.
	IdleOrg, IdleSubject time.Duration
	// SnapshotBytes bounds the memory of all partitions' indexes; the least
	// recently used leave first. The default is 2 GiB.
	SnapshotBytes int64
	// ReadingBytes bounds the memory for what files unpack to and are made of while they
	// are read, and half as much the memory for texts that are cut and embedded: 256 MiB.
	// At least MinReadingBytes.
	ReadingBytes int
	// ForwardedBytes bounds the bytes of requests that other nodes have sent on and that
	// are not answered yet: what is over is refused like a body that the edge has no
	// memory for. The default is 128 MiB.
	ForwardedBytes int
	// Workers is the number of CPU workers of ingestion: GOMAXPROCS.
	Workers int
	// MovingPercent is how much of the CPU workers embedding anew may take where nobody waits for it: 25. Negative: none
	// is done.
	MovingPercent int
}

// MovingLanes is how many of the CPU workers embed anew at a time.
func (b *Bounds) MovingLanes() int { return max(1, (b.Workers*b.MovingPercent+99)/100) }

func (b *Bounds) fill() error {
	b.IdleOrg = cmp.Or(b.IdleOrg, defaultIdleOrg)
	b.IdleSubject = cmp.Or(b.IdleSubject, defaultIdleSubject)
	b.SnapshotBytes = cmp.Or(b.SnapshotBytes, defaultSnapshotBytes)
	b.ReadingBytes = cmp.Or(b.ReadingBytes, defaultReadingBytes)
	b.Workers = cmp.Or(b.Workers, runtime.GOMAXPROCS(0))
	b.MovingPercent = cmp.Or(b.MovingPercent, defaultMovingPercent)
	if b.ReadingBytes < MinReadingBytes {
		return fmt.Errorf("actors: ReadingBytes is less than the %d that one file may take", MinReadingBytes)
	}
	return nil
}

// Retention says how long things are kept. 0 is the default of each.
type Retention struct {
	// TombstoneRetention is how long a forgotten node can be restored: 30 days.
	TombstoneRetention time.Duration
	// SandboxKeyLife is how long a sandbox key works whose creation does not say: 7 days.
	SandboxKeyLife time.Duration
	// ExportRetention is how long an export can be downloaded: 7 days.
	ExportRetention time.Duration
}

func (r *Retention) fill() {
	r.TombstoneRetention = cmp.Or(r.TombstoneRetention, DefaultTombstoneRetention)
	r.SandboxKeyLife = cmp.Or(r.SandboxKeyLife, DefaultSandboxKeyLife)
}

// Testing is what only tests set: the zero value is how the service runs.
type Testing struct {
	Hooks
	Sizes

	// CaughtUp is Directory.Fresh; a test has a directory that lags.
	CaughtUp func(context.Context) error
	// Speaks is Host.Speaks; a test has a cluster whose last old node leaves.
	Speaks func(version uint32) bool
	// WithoutDerivation means that nothing is read out of texts and no cycle runs: for tests of
	// other things, which count nodes and jobs.
	WithoutDerivation bool
	// SegmentUsable says which stored segments serve: those of today's text analysis.
	SegmentUsable func(index.View) bool
}

func (t *Testing) fill(host *cluster.Host) {
	t.Hooks.fill()
	t.MaxBackOff = cmp.Or(t.MaxBackOff, MaxBackOff)
	if t.CaughtUp == nil {
		t.CaughtUp = host.Directory().Fresh
	}
	if t.Speaks == nil {
		t.Speaks = host.Speaks
	}
	if t.SegmentUsable == nil {
		t.SegmentUsable = func(v index.View) bool { return v.Segment.Current() }
	}
}

// Hooks are called at moments that tests wait for.
type Hooks struct {
	JobFinished     func(pb.JobID) // a job's end is committed
	CancelRequested func(pb.JobID) // a worker knows of a cancellation
	StopRequested   func()         // a worker is to stop
	PieceCommitted  func()         // a part of an effect is committed
	EpochCommitted  func()         // an epoch of a training is committed
	QualitySliced   func()         // a slice of an evaluation is committed
	CycleWrote      func(cancel func())
	UpkeepBegan     func() // a worker begins what is no item
	// JobWorkBegan is called when work of a kind of job begins, which may be asked whether it is to stop.
	JobWorkBegan func(kind string, stopped func() bool)
}

func (h *Hooks) fill() {
	if h.JobFinished == nil {
		h.JobFinished = func(pb.JobID) {}
	}
	if h.CancelRequested == nil {
		h.CancelRequested = func(pb.JobID) {}
	}
	if h.StopRequested == nil {
		h.StopRequested = func() {}
	}
	if h.PieceCommitted == nil {
		h.PieceCommitted = func() {}
	}
	if h.EpochCommitted == nil {
		h.EpochCommitted = func() {}
	}
	if h.QualitySliced == nil {
		h.QualitySliced = func() {}
	}
	if h.CycleWrote == nil {
		h.CycleWrote = func(func()) {}
	}
	if h.UpkeepBegan == nil {
		h.UpkeepBegan = func() {}
	}
	if h.JobWorkBegan == nil {
		h.JobWorkBegan = func(string, func() bool) {}
	}
}

// Sizes are less than the constants of like names in tests; 0 is the constant.
type Sizes struct {
	SegmentChunks int
	PieceBytes    int
	EdgesPerPiece int
	FreshChunks   int
	MaxBackOff    time.Duration
}

// embedders are the models of the node, by which version of the protocol the cluster speaks.
func (c *Config) embedders() partition.Embedders {
	var common func() bool
	if since := c.EmbedderSince; since > 0 {
		common = func() bool { return c.Speaks(since) }
	}
	return partition.NewEmbedders(c.Embedder, c.Former, common)
}

// complete checks what is required and fills in what is left out.
func (c *Config) complete() error {
	if c.Host == nil || c.Storage == nil || c.Clock == nil || c.Random == nil || c.Logger == nil || c.Embedder == nil {
		return errors.New("actors: Host, Storage, Clock, Random, Logger and Embedder are required")
	}
	if err := c.Bounds.fill(); err != nil {
		return err
	}
	c.Retention.fill()
	c.Testing.fill(c.Host)
	c.CognitionQuiet = cmp.Or(c.CognitionQuiet, defaultCognitionQuiet)
	return nil
}
