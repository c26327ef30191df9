package cluster

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"orgmem/cluster/mesh"
	"orgmem/cluster/state"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// Config says what a Host is made of. Storage, Clock and Logger are required. Large because
// each field is one thing that a host is given or one bound of it, and is argued for here.
type Config struct {
	// Storage is the node's stores and raft log. The host does not close it.
	Storage *storage.Node
	// Clock measures the age of what is not yet compacted.
	Clock clock.Clock
	// Logger receives what raft and the host report.
	Logger *slog.Logger
	// Fatal stops the process; it must not return. It is called when the state
	// machine cannot go on without lying: an unreadable log entry, a failed apply.
	// Nil logs the message and exits with status 70.
	Fatal func(msg string)

	// Network connects this node with the others; the host does not close it. Nil is
	// a node alone, which answers as long as it is the only voter of its groups.
	Network *mesh.Network
	// Join says that a new data directory waits to be added to the groups of a
	// cluster instead of being one. It needs Server and Shards, which the cluster
	// gives. It has no effect on a directory that exists.
	Join bool
	// TransferRate is how many bytes of stores the node sends to others per second.
	// 0 is DefaultTransferRate, negative no limit.
	TransferRate int64

	// GoneAfter is how long a node may be away before the controller makes its
	// replicas anew on others. 0 is ten minutes: a machine restarts in less, and
	// copying its data takes longer. All nodes should have the same.
	GoneAfter time.Duration

	// OnLead is called when this node begins to lead a shard (Host.Lead says yes from
	// here on) and when it has ceased to. Calls for one shard come one after the other,
	// from a goroutine of the host, which it must not block. It is also called for what
	// the node leads soon after Start, perhaps before Start has returned. Nil is not
	// called.
	OnLead func(shard uint32, leads bool)
	// OnHandOver is called when this node is about to give a shard to another one, by a
	// drain or to level: after OnLead has said that it leads no more, and before its last
	// proposals are waited for. What it has answered and not written yet can be written now.
	// Nobody answers for the shard until it returns, so it must return within LeaderLease.
	// The goroutine that hands over calls it. Nil: there is nothing to write.
	OnHandOver func(shard uint32)

	// Shards is the number of shard groups, fixed when the data directory is
	// created. 0 takes what the directory has, or DefaultShards for a new one.
	Shards int
	// Server is this node's id, fixed when the data directory is created. Empty
	// takes what the directory has, or draws one from Random for a new one.
	Server wire.ServerID
	// Random is read once, when a new directory gets its id. Nil is crypto/rand.
	Random io.Reader

	// CompactBytes is how many bytes of log a group may gather before its stores
	// are flushed and its log is cut. 0 is 8 MiB: large enough that a busy
	// organization's memtable would flush at about that size anyway, small enough
	// that a restart replays a group in well under a second.
	CompactBytes int64
	// CompactTotalBytes is the same for all groups of the node together; the
	// largest is compacted first. 0 is 64 MiB, which bounds what a restart replays
	// and holds in memory meanwhile.
	CompactTotalBytes int64
	// CompactAge is how long an entry may stay in a log although its group is
	// quiet. 0 is one minute: a restart has to open every store that the logs
	// mention (about 20 ms each), so logs of sleeping groups should be empty.
	CompactAge time.Duration

	// recovering are the groups that are opened, and no other, while Recover works.
	recovering []uint32

	peers peers // a test's network in the place of Network
	// pacer spaces what is sent of stores at TransferRate; a test has another clock.
	pacer *mesh.Pacer
	// speaks is ProtocolVersion and needs the function of that name; tests have other
	// programs.
	speaks uint32
	needs  func(*pb.Command) uint32
	// maxKeys is MaxKeys and maxKeysPerOrg the constant; less in tests.
	maxKeys, maxKeysPerOrg int
}

// withDefaults checks the configuration and fills in what is zero.
func (c Config) withDefaults() (Config, error) {
	var errs []error
	if c.Storage == nil {
		errs = append(errs, errors.New("cluster: Config.Storage is nil"))
	}
	if c.Clock == nil {
		errs = append(errs, errors.New("cluster: Config.Clock is nil"))
	}
	if c.Logger == nil {
		errs = append(errs, errors.New("cluster: Config.Logger is nil"))
	}
	if c.Shards < 0 || c.Shards > wire.MaxShards {
		errs = append(errs, fmt.Errorf("cluster: Config.Shards is %d, want 0 to %d", c.Shards, wire.MaxShards))
	}
	if c.CompactBytes < 0 || c.CompactTotalBytes < 0 || c.CompactAge < 0 {
		errs = append(errs, errors.New("cluster: negative compaction limit"))
	}
	if c.GoneAfter < 0 {
		errs = append(errs, errors.New("cluster: negative Config.GoneAfter"))
	}
	if c.Join && (c.Server == "" || c.Shards == 0) {
		errs = append(errs, errors.New("cluster: Config.Join without Server and Shards"))
	}
	if len(errs) > 0 {
		return c, errors.Join(errs...)
	}
	if c.Network != nil {
		c.peers = meshPeers{c.Network, c.Logger}
	}
	if c.TransferRate == 0 {
		c.TransferRate = DefaultTransferRate
	}
	if c.pacer == nil {
		c.pacer = mesh.NewPacer(c.Clock, c.TransferRate)
	}
	if c.Fatal == nil {
		logger := c.Logger
		c.Fatal = func(msg string) {
			logger.Error("cluster: stopping the process", "cause", msg)
			os.Exit(70) // EX_SOFTWARE, as storage does
		}
	}
	if c.speaks == 0 {
		c.speaks = wire.ProtocolVersion
	}
	if c.needs == nil {
		c.needs = wire.Needs
	}
	c.maxKeys, c.maxKeysPerOrg = cmp.Or(c.maxKeys, state.MaxKeys), cmp.Or(c.maxKeysPerOrg, state.MaxKeysPerOrg)
	if c.Random == nil {
		c.Random = rand.Reader
	}
	if c.CompactBytes == 0 {
		c.CompactBytes = defaultCompactBytes
	}
	if c.CompactTotalBytes == 0 {
		c.CompactTotalBytes = defaultCompactTotalBytes
	}
	if c.CompactAge == 0 {
		c.CompactAge = defaultCompactAge
	}
	return c, nil
}
