package state

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/storage"
)

const (
	// MaxNodes bounds the node table, removed nodes included: every node has all of
	// it in memory, and 100 nodes are the largest cluster that is planned for.
	// A removed node's row is kept so that its id is never used again.
	MaxNodes = 1024
	// MaxJoinTokens bounds the tokens that have not expired. One admits one machine;
	// nobody adds more than these at a time.
	MaxJoinTokens = 64
	// maxNodeTextBytes bounds each text of a node's entry; a host name has at most
	// 253 characters.
	maxNodeTextBytes = 300
	// maxAuthorityBytes bounds the encoded authority: a few certificates of some
	// kilobytes, more than one only while it is being rotated.
	maxAuthorityBytes = 256 << 10
)

// Meta is the part of the meta group's state that is about the cluster itself:
// its nodes, where the replicas are, its authority and the tokens to join it. It
// lies in the same store as the Directory, is applied from the same log, and is
// wholly in memory on every node, since every node is in the meta group.
type Meta struct {
	d *Directory

	// Guarded by Directory.mu; values are replaced, never changed.
	nodes     map[wire.ServerID]*pb.NodeEntry
	shardMap  *pb.ShardMap
	authority *pb.AuthorityEntry
	tokens    map[tokenHash]*pb.JoinToken
	version   uint32
	changed   chan struct{} // closed and replaced when any of it changes
}

// tokenHash is the SHA-256 of a join token's secret.
type tokenHash [32]byte

const (
	settingAuthority = "authority"
	settingVersion   = "version"
)

func nodeRow(id wire.ServerID) storage.Key {
	return dirSpace.Key(storage.TableNodeInfo, storage.Str(id))
}

func tokenRow(h tokenHash) storage.Key {
	return dirSpace.Key(storage.TableJoinToken, storage.Hash32(h))
}

func settingRow(name string) storage.Key {
	return dirSpace.Key(storage.TableClusterSetting, storage.Str(name))
}

func shardMapRow() storage.Key { return dirSpace.Key(storage.TableShard) }

func newMeta(d *Directory) *Meta {
	return &Meta{
		d: d, changed: make(chan struct{}),
		nodes: map[wire.ServerID]*pb.NodeEntry{}, tokens: map[tokenHash]*pb.JoinToken{},
		shardMap: &pb.ShardMap{}, authority: &pb.AuthorityEntry{},
	}
}

// Nodes returns the node table by server id, removed nodes included. The caller
// must not change the entries.
func (m *Meta) Nodes() []*pb.NodeEntry {
	m.d.mu.RLock()
	nodes := slices.Collect(maps.Values(m.nodes))
	m.d.mu.RUnlock()
	slices.SortFunc(nodes, func(a, b *pb.NodeEntry) int { return cmp.Compare(a.GetServer(), b.GetServer()) })
	return nodes
}

// Node returns one entry; false when it is unknown. The caller must not change
// it.
func (m *Meta) Node(id wire.ServerID) (*pb.NodeEntry, bool) {
	m.d.mu.RLock()
	defer m.d.mu.RUnlock()
	n := m.nodes[id]
	return n, n != nil
}

// ShardMap returns the placement of the groups. Version 0 has none: the node is
// a cluster of one that hosts them all. The caller must not change it.
func (m *Meta) ShardMap() *pb.ShardMap {
	m.d.mu.RLock()
	defer m.d.mu.RUnlock()
	return m.shardMap
}

// Authority returns the cluster's authority; version 0 before the cluster was founded.
// The caller must not change it.
func (m *Meta) Authority() *pb.AuthorityEntry {
	m.d.mu.RLock()
	defer m.d.mu.RUnlock()
	return m.authority
}

// Changed returns a channel that is closed at the next change of anything above. Take it
// before reading.
func (m *Meta) Changed() <-chan struct{} {
	m.d.mu.RLock()
	defer m.d.mu.RUnlock()
	return m.changed
}

// PutNode creates or updates a node's entry (ErrNodeRemoved, ErrTooManyNodes,
// ErrOutdated where it speaks less than the cluster does).
// Further errors of this and the following methods are the proposal's:
// ErrNotApplied and ErrOutcomeUnknown, after which it may be called again. They
// work on every node.
func (m *Meta) PutNode(ctx context.Context, node *pb.NodeEntry) error {
	if err := checkNode(node); err != nil {
		return wire.NotApplied(err)
	}
	return m.d.propose(ctx, "put node", &pb.Command{Kind: &pb.Command_PutNode{PutNode: &pb.PutNode{Node: node}}})
}

// RemoveNode marks a node as gone for good (ErrNodeUnknown). Doing it twice is no
// error. It does not touch the groups; see Host.RemoveReplica.
func (m *Meta) RemoveNode(ctx context.Context, id wire.ServerID) error {
	return m.d.propose(
		ctx, "remove node", &pb.Command{Kind: &pb.Command_RemoveNode{RemoveNode: &pb.RemoveNode{Server: string(id)}}},
	)
}

// PutShardMap replaces the shard map that has the version of the given one
// (ErrMapChanged when there is a newer one), and gives it the next version.
func (m *Meta) PutShardMap(ctx context.Context, sm *pb.ShardMap) error {
	if err := checkShardMap(sm, m.d.cfg.Shards); err != nil {
		return wire.NotApplied(err)
	}
	return m.d.propose(ctx, "put shard map", &pb.Command{Kind: &pb.Command_PutShardMap{
		PutShardMap: &pb.PutShardMap{Map: sm, ExpectedVersion: sm.GetVersion()},
	}})
}

// PutAuthority replaces the authority that has the version of the given one
// (ErrMapChanged), and gives it the next version.
func (m *Meta) PutAuthority(ctx context.Context, a *pb.AuthorityEntry) error {
	if n := len(a.GetData()); n == 0 || n > maxAuthorityBytes {
		return wire.NotApplied(fmt.Errorf("authority of %d bytes, want 1 to %d", n, maxAuthorityBytes))
	}
	return m.d.propose(ctx, "put authority", &pb.Command{Kind: &pb.Command_PutAuthority{
		PutAuthority: &pb.PutAuthority{Authority: a, ExpectedVersion: a.GetVersion()},
	}})
}

// PutJoinToken allows one machine to join until a time, with the secret that has
// this SHA-256 (ErrTooManyTokens).
func (m *Meta) PutJoinToken(ctx context.Context, hash [32]byte, expires time.Time) error {
	return m.d.propose(ctx, "put join token", &pb.Command{Kind: &pb.Command_PutJoinToken{PutJoinToken: &pb.PutJoinToken{
		Token: &pb.JoinToken{Hash: hash[:], ExpiresMs: expires.UnixMilli()},
		AtMs:  m.d.cfg.Clock.Now().UnixMilli(),
	}}})
}

// UseJoinToken spends a token for a server, which may do so again
// (ErrTokenUnknown, ErrTokenUsed, ErrNodeRemoved).
func (m *Meta) UseJoinToken(ctx context.Context, hash [32]byte, id wire.ServerID) error {
	if err := wire.CheckServerID(string(id)); err != nil {
		return wire.NotApplied(err)
	}
	return m.d.propose(ctx, "use join token", &pb.Command{Kind: &pb.Command_UseJoinToken{UseJoinToken: &pb.UseJoinToken{
		Hash: hash[:], Server: string(id), AtMs: m.d.cfg.Clock.Now().UnixMilli(),
	}}})
}

func checkNode(n *pb.NodeEntry) error {
	if err := wire.CheckServerID(n.GetServer()); err != nil {
		return err
	}
	if n.GetRemoved() {
		return fmt.Errorf("put node: %w", wire.ErrNodeRemoved)
	}
	for _, s := range []string{n.GetName(), n.GetAddress(), n.GetZone()} {
		if len(s) > maxNodeTextBytes {
			return fmt.Errorf("entry of node %q has a text of %d bytes, limit %d", n.GetServer(), len(s), maxNodeTextBytes)
		}
	}
	return nil
}

// checkShardMap refuses a map that leaves a group without a replica or names one
// twice.
func checkShardMap(sm *pb.ShardMap, shards int) error {
	if len(sm.GetGroups()) != shards+1 {
		return fmt.Errorf("shard map has %d groups, want %d", len(sm.GetGroups()), shards+1)
	}
	for i, g := range sm.GetGroups() {
		if g.GetGroup() != uint32(i) {
			return fmt.Errorf("shard map has group %d in place %d", g.GetGroup(), i)
		}
		if len(g.GetDesired()) == 0 {
			return fmt.Errorf("shard map wants no replica of group %d", i)
		}
		for _, list := range [][]string{g.GetDesired(), g.GetPresent()} {
			if len(list) > MaxNodes {
				return fmt.Errorf("shard map names %d servers for group %d, limit %d", len(list), i, MaxNodes)
			}
			seen := map[string]bool{}
			for _, id := range list {
				if err := wire.CheckServerID(id); err != nil {
					return err
				}
				if seen[id] {
					return fmt.Errorf("shard map names %q twice for group %d", id, i)
				}
				seen[id] = true
			}
		}
	}
	return nil
}

// judge decides one command of this part, as Directory.judge does. It runs in
// the only goroutine that changes the maps.
func (m *Meta) judge(cmd *pb.Command, batch *storage.Batch) (publish func(), err error) {
	switch k := cmd.GetKind().(type) {
	case *pb.Command_PutNode:
		if err := checkNode(k.PutNode.GetNode()); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrBadCommand, err)
		}
		return m.judgeNode(k.PutNode.GetNode(), batch)
	case *pb.Command_RemoveNode:
		id := wire.ServerID(k.RemoveNode.GetServer())
		old := m.nodes[id]
		if old == nil {
			return nil, wire.ErrNodeUnknown
		}
		return m.putNode(&pb.NodeEntry{Server: old.GetServer(), Name: old.GetName(), Removed: true}, batch), nil
	case *pb.Command_PutShardMap:
		if k.PutShardMap.GetExpectedVersion() != m.shardMap.GetVersion() {
			return nil, wire.ErrMapChanged
		}
		sm := proto.CloneOf(k.PutShardMap.GetMap())
		sm.Version = m.shardMap.GetVersion() + 1
		batch.Put(shardMapRow(), sm)
		return m.publish(func() { m.shardMap = sm }), nil
	case *pb.Command_PutAuthority:
		if k.PutAuthority.GetExpectedVersion() != m.authority.GetVersion() {
			return nil, wire.ErrMapChanged
		}
		a := proto.CloneOf(k.PutAuthority.GetAuthority())
		a.Version = m.authority.GetVersion() + 1
		batch.Put(settingRow(settingAuthority), a)
		return m.publish(func() { m.authority = a }), nil
	case *pb.Command_PutJoinToken:
		return m.judgeToken(k.PutJoinToken, batch)
	case *pb.Command_UseJoinToken:
		return m.judgeUse(k.UseJoinToken, batch)
	case *pb.Command_SetClusterVersion:
		return m.judgeVersion(k.SetClusterVersion, batch)
	}
	return nil, fmt.Errorf("%w: %T", ErrBadCommand, cmd.GetKind())
}

// publish makes a change that readers are woken for. Its caller holds mu.
func (m *Meta) publish(change func()) func() {
	return func() {
		change()
		m.wake()
	}
}

// wake tells those who wait for a change. Its caller holds mu.
func (m *Meta) wake() {
	close(m.changed)
	m.changed = make(chan struct{})
}

func (m *Meta) judgeNode(n *pb.NodeEntry, batch *storage.Batch) (func(), error) {
	old := m.nodes[wire.ServerID(n.GetServer())]
	if old.GetRemoved() {
		return nil, wire.ErrNodeRemoved
	}
	if old == nil && len(m.nodes) >= MaxNodes {
		return nil, wire.ErrTooManyNodes
	}
	if err := m.judgeOutdated(old, n); err != nil {
		return nil, err
	}
	if old.GetLeaving() && !n.GetLeaving() {
		// A node writes its own entry when it starts, and does not know everything.
		n = proto.CloneOf(n)
		n.Leaving = true
	}
	return m.putNode(n, batch), nil
}

func (m *Meta) putNode(n *pb.NodeEntry, batch *storage.Batch) func() {
	id := wire.ServerID(n.GetServer())
	batch.Put(nodeRow(id), n)
	return m.publish(func() { m.nodes[id] = n })
}

func (m *Meta) judgeToken(k *pb.PutJoinToken, batch *storage.Batch) (func(), error) {
	hash, err := tokenHashFrom(k.GetToken().GetHash())
	if err != nil {
		return nil, err
	}
	var expired []tokenHash
	for h, t := range m.tokens {
		if t.GetExpiresMs() <= k.GetAtMs() {
			expired = append(expired, h)
		}
	}
	if len(m.tokens)-len(expired) >= MaxJoinTokens {
		return nil, wire.ErrTooManyTokens
	}
	for _, h := range expired {
		batch.Delete(tokenRow(h))
	}
	t := k.GetToken()
	batch.Put(tokenRow(hash), t)
	return m.publish(func() {
		for _, h := range expired {
			delete(m.tokens, h)
		}
		m.tokens[hash] = t
	}), nil
}

func (m *Meta) judgeUse(k *pb.UseJoinToken, batch *storage.Batch) (func(), error) {
	hash, err := tokenHashFrom(k.GetHash())
	if err != nil {
		return nil, err
	}
	t := m.tokens[hash]
	switch {
	case t == nil || t.GetExpiresMs() <= k.GetAtMs():
		return nil, wire.ErrTokenUnknown
	case t.GetUsedBy() != "" && t.GetUsedBy() != k.GetServer():
		return nil, wire.ErrTokenUsed
	case m.nodes[wire.ServerID(k.GetServer())].GetRemoved():
		return nil, wire.ErrNodeRemoved
	}
	used := proto.CloneOf(t)
	used.UsedBy = k.GetServer()
	batch.Put(tokenRow(hash), used)
	return m.publish(func() { m.tokens[hash] = used }), nil
}

// tokenHashFrom reads a token's hash out of a command.
func tokenHashFrom(b []byte) (h tokenHash, err error) {
	if len(b) != len(h) {
		return h, fmt.Errorf("%w: token hash of %d bytes", ErrBadCommand, len(b))
	}
	return tokenHash(b), nil
}

// adopt takes over what was loaded from another store. Its caller holds mu.
func (m *Meta) adopt(o *Meta) {
	m.nodes, m.tokens, m.shardMap, m.authority, m.version = o.nodes, o.tokens, o.shardMap, o.authority, o.version
	m.wake()
}

// load reads this part of the meta store into memory.
func (m *Meta) load() error {
	nodes := dirSpace.Prefix(storage.TableNodeInfo)
	for rec, err := range storage.ScanRecords(
		m.d.store, nodes, storage.ScanOptions{}, func() *pb.NodeEntry { return new(pb.NodeEntry) },
	) {
		if err != nil {
			return err
		}
		m.nodes[wire.ServerID(rec.Value.GetServer())] = rec.Value
	}
	tokens := dirSpace.Prefix(storage.TableJoinToken)
	for rec, err := range storage.ScanRecords(
		m.d.store, tokens, storage.ScanOptions{}, func() *pb.JoinToken { return new(pb.JoinToken) },
	) {
		if err != nil {
			return err
		}
		hash, err := tokenHashFrom(rec.Value.GetHash())
		if err != nil {
			return err
		}
		m.tokens[hash] = rec.Value
	}
	var version pb.SetClusterVersion
	for _, r := range []struct {
		key storage.Key
		to  proto.Message
	}{{shardMapRow(), m.shardMap}, {settingRow(settingAuthority), m.authority}, {settingRow(settingVersion), &version}} {
		if _, err := m.d.store.Get(r.key, r.to); err != nil {
			return err
		}
	}
	m.version = version.GetVersion()
	return nil
}

// JoinToken returns a token that has not expired, nil when this node's copy has
// none of that hash. The caller must not change it.
func (m *Meta) JoinToken(hash [32]byte) *pb.JoinToken {
	now := m.d.cfg.Clock.Now().UnixMilli()
	m.d.mu.RLock()
	defer m.d.mu.RUnlock()
	if t := m.tokens[hash]; t != nil && t.GetExpiresMs() > now {
		return t
	}
	return nil
}

// ReadTables reads the node table and the shard map out of a meta store that no
// Directory has open. The caller may change the table.
func ReadTables(store *storage.Store) (map[wire.ServerID]*pb.NodeEntry, *pb.ShardMap, error) {
	d := &Directory{
		store: store,
		orgs:  map[pb.OrgID]*dirOrg{}, slugs: map[string]*dirOrg{}, keys: map[pb.KeyHash]*dirOrg{},
	}
	d.meta = newMeta(d)
	if err := d.load(); err != nil {
		return nil, nil, err
	}
	return d.meta.nodes, d.meta.shardMap, nil
}

// ForgetCluster takes what a restored directory says of the cluster that was backed
// up out of it: with the old shard map the new node would wait for the old ones, and
// the old authority's key is in every backup. The version stays, since the commands
// of that version have been used. Nothing to do in a directory that is really new.
//
// It is written as entry 1, which in every group that is created is the membership
// and no command, so that doing it again after a crash changes nothing.
func ForgetCluster(node *storage.Node) error {
	there, err := node.Exists(storage.MetaStore)
	if err != nil || !there {
		return err
	}
	store, err := node.Acquire(storage.MetaStore)
	if err != nil {
		return err
	}
	defer store.Release()
	batch := storage.NewBatch(storage.MetaStore)
	for _, table := range []storage.Table{storage.TableNodeInfo, storage.TableJoinToken} {
		for item, err := range store.Scan(dirSpace.Prefix(table), storage.ScanOptions{}) {
			if err != nil {
				return fmt.Errorf("cluster: forget the cluster that was backed up: %w", err)
			}
			batch.Delete(item.Key)
		}
	}
	batch.Delete(shardMapRow())
	batch.Delete(settingRow(settingAuthority))
	if _, err = store.Apply(storage.Entry{Index: 1, Kind: storage.EntryPlain, Changes: batch.Changes()}); err == nil {
		err = store.Flush()
	}
	if err != nil {
		return fmt.Errorf("cluster: forget the cluster that was backed up: %w", err)
	}
	return nil
}
