package wire

import (
	"crypto/sha256"
	"encoding/binary"

	pb "orgmem/proto"
)

const (
	// DefaultShards is the number of shard groups of a new data directory. Groups
	// share no heartbeat, so idle cost and fail-over follow the number of groups a
	// node hosts: with 32 groups of three replicas 8 % of a core idle and 1.9 s to
	// fail over were measured, with 128 groups 19 % and 4.3 s.
	DefaultShards = 32
	// MaxShards bounds the count an operator may choose; above it the idle cost of
	// the groups is no longer small beside the work.
	MaxShards = 1024
	// MetaGroup is the group that holds the directory. Shards are groups 1 to n.
	MetaGroup uint32 = 0
)

// ShardOf returns the group of an organization: both its realms live in it, so
// that one log orders all that concerns one organization. The function is part
// of the disk format. SHA-256 because ids may be time-ordered, which a plain
// modulus would turn into runs, and because it will never change under us.
func ShardOf(org pb.OrgID, shards int) uint32 {
	sum := sha256.Sum256(org[:])
	return 1 + uint32(binary.BigEndian.Uint64(sum[:8])%uint64(shards))
}
