package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/hashicorp/raft"
	"google.golang.org/protobuf/proto"

	"orgmem/cluster/mesh"
	"orgmem/cluster/plan"
	"orgmem/cluster/raftlog"
	"orgmem/cluster/state"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const (
	// recoveredEntries is how many entries a recovered group skips. The epoch of an
	// activation is the index of its OPEN, so that with it every new epoch is above
	// all that the lost nodes can have given out: a group that takes 10,000 entries a
	// second for five days has as many, and no node is behind by that.
	recoveredEntries = 1 << 32
	// recoveredTerms is the same for terms, of which each election takes one.
	recoveredTerms = 1 << 20
	// answerTimeout is how long a node that is said to be lost has to prove that it
	// is not.
	answerTimeout = 3 * time.Second
)

var (
	// ErrNotLost means that a node that is to be given up is there, or that nothing
	// needs it to be given up.
	ErrNotLost = errors.New("not lost")
	// ErrNoRecovery means that this node cannot go on for the others.
	ErrNoRecovery = errors.New("this node cannot go on alone")
	// ErrRecovering means that a recovery of this data directory was begun and not
	// finished.
	ErrRecovering = errors.New(
		"a recovery of this data directory was begun and not finished: run `orgmem cluster recover` again",
	)
)

// RecoverConfig says whose data directory goes on alone. All of it is required but
// Fatal, which is as in Config.
type RecoverConfig struct {
	Storage     *storage.Node
	Credentials *mesh.Credentials
	Clock       clock.Clock
	Logger      *slog.Logger
	Fatal       func(msg string)

	// answers replaces asking a node whether it is there; a test's.
	answers func(ctx context.Context, n *pb.NodeEntry) bool
}

// Loss is what a recovery gives up, and what it keeps.
type Loss struct {
	Server wire.ServerID
	// Nodes are given up, by id. Of one that this node knows nothing of only the id
	// is set.
	Nodes []*pb.NodeEntry
	// Groups have no majority without them, and go on with this node's copy.
	Groups []uint32
	// Newest is when the newest entry that this node has was written, by the clock of
	// the node that led; zero where its logs are empty.
	Newest time.Time
}

// recoveryKey is a stable value of the meta group while a recovery is under way.
const recoveryKey = "orgmem/recovery"

// recoveryNote is what recoveryKey holds.
type recoveryNote struct {
	Lost   []wire.ServerID `json:"lost"`
	Groups []uint32        `json:"groups"`
}

// SurveyLoss says what Recover would do if the given nodes were lost, or all others if
// none is named. It changes nothing that a start would not.
func SurveyLoss(cfg RecoverConfig, lost ...wire.ServerID) (Loss, error) {
	r, err := newRecovery(cfg)
	if err != nil {
		return Loss{}, err
	}
	return r.survey(lost)
}

// Recover makes a stopped node go on alone with its copy of every group that has lost its
// majority with the given nodes. What only they had is lost, also where it was
// acknowledged; what was under way may turn out to have been taken. It is for disks that
// are gone: it is refused while one of the nodes answers (ErrNotLost), while a group has
// a majority without them, and where another node that is not given up holds a copy, too
// (ErrNoRecovery).
//
// Called again after a crash it continues where it was, and until it has ended the node
// does not start (ErrRecovering):
//
//  1. A note of what is to be done.
//  2. An entry behind each group's log makes this node the only voter. etcd's
//     --force-new-cluster does the same; hashicorp/raft's RecoverCluster would want
//     the state machines beforehand, to make a snapshot.
//  3. The groups are opened without a network: each elects itself, and so takes
//     all that its log holds. The lost nodes are removed from the node table, so
//     that nobody speaks to them should they come back.
//  4. When everything is in the stores, each log is replaced by a marker far behind
//     its end, see recoveredEntries.
//  5. The note goes.
func Recover(ctx context.Context, cfg RecoverConfig, lost ...wire.ServerID) (Loss, error) {
	r, err := newRecovery(cfg)
	if err != nil {
		return Loss{}, err
	}
	l, err := r.survey(lost)
	if err != nil {
		return l, err
	}
	for _, n := range l.Nodes {
		if r.answers(ctx, n) {
			return l, fmt.Errorf(
				"%s answers at %s: %w; where a majority is there, start this node, and nothing is lost", n.GetServer(),
				n.GetAddress(), ErrNotLost,
			)
		}
	}
	if r.note == nil {
		r.note = &recoveryNote{Groups: l.Groups}
		for _, n := range l.Nodes {
			r.note.Lost = append(r.note.Lost, wire.ServerID(n.GetServer()))
		}
		if err := r.keep(r.note); err != nil {
			return l, err
		}
	}
	for _, id := range r.note.Groups {
		if err := r.groups[id].claim(); err != nil {
			return l, err
		}
	}
	if err := r.settle(ctx); err != nil {
		return l, err
	}
	for _, id := range r.note.Groups {
		if err := r.groups[id].leap(); err != nil {
			return l, err
		}
	}
	return l, r.keep(nil)
}

// recovery is a data directory that is looked at while no group of it runs.
type recovery struct {
	cfg      RecoverConfig
	identity identity
	note     *recoveryNote // of an earlier attempt
	groups   []*replica    // by number; nil: not here
	nodes    map[wire.ServerID]*pb.NodeEntry
	shards   *pb.ShardMap
}

// replica is one group's copy on the disk.
type replica struct {
	*raftlog.GroupLog
	id      uint32
	self    wire.ServerID
	members []raft.Server
	newest  time.Time
}

func newRecovery(cfg RecoverConfig) (*recovery, error) {
	if cfg.Credentials == nil && cfg.answers == nil {
		return nil, fmt.Errorf("cluster: recover: %w: it belongs to no cluster", ErrNoRecovery)
	}
	r := &recovery{cfg: cfg}
	stable := &raftlog.StableStore{Log: cfg.Storage.Log(), Group: wire.MetaGroup}
	b, err := stable.Get([]byte(identityKey))
	if err != nil {
		return nil, fmt.Errorf("cluster: read identity: %w", err)
	}
	if len(b) == 0 {
		return nil, fmt.Errorf("cluster: recover: %w: its data directory is new", ErrNoRecovery)
	}
	if r.identity, err = recognize(b, Config{}); err != nil {
		return nil, err
	}
	if b, err = stable.Get([]byte(recoveryKey)); err != nil {
		return nil, fmt.Errorf("cluster: read recovery: %w", err)
	}
	if len(b) > 0 {
		r.note = new(recoveryNote)
		if err := json.Unmarshal(b, r.note); err != nil {
			return nil, fmt.Errorf("cluster: recovery record: %w", err)
		}
	}
	r.groups = make([]*replica, 1+r.identity.Shards)
	for i := range r.groups {
		if r.groups[i], err = openReplica(cfg.Storage.Log(), uint32(i), r.identity.Server); err != nil {
			return nil, fmt.Errorf("cluster: recover group %d: %w", i, err)
		}
	}
	if r.groups[wire.MetaGroup] == nil {
		return nil, fmt.Errorf("cluster: recover: %w: it has no copy of the directory", ErrNoRecovery)
	}
	if err := r.readTable(); err != nil {
		return nil, fmt.Errorf("cluster: recover: read the node table: %w", err)
	}
	return r, nil
}

// openReplica reads a group's newest membership; nil where the group is not here.
func openReplica(log *storage.Log, id uint32, self wire.ServerID) (*replica, error) {
	entries, err := raftlog.OpenGroupLog(log, id)
	if err != nil {
		return nil, err
	}
	p := &replica{GroupLog: entries, id: id, self: self}
	if err := p.Mend(); err != nil {
		return nil, err
	}
	metas, err := p.Marks.List()
	if err != nil {
		return nil, err
	}
	if len(metas) > 0 {
		p.members = metas[0].Configuration.Servers
	}
	err = p.each(p.Marks.Index.Load(), func(l *raft.Log) error {
		p.newest = l.AppendedAt
		if l.Type == raft.LogConfiguration {
			p.members = raft.DecodeConfiguration(l.Data).Servers
		}
		return nil
	})
	if err != nil || len(p.members) == 0 {
		return nil, err
	}
	return p, nil
}

// each calls f for every entry of the log behind an index.
func (p *replica) each(after uint64, f func(*raft.Log) error) error {
	first, err := p.Logs.FirstIndex()
	if err != nil {
		return err
	}
	last, err := p.Logs.LastIndex()
	if err != nil || last == 0 {
		return err
	}
	for i := max(first, after+1); i <= last; i++ {
		var l raft.Log
		if err := p.Logs.GetLog(i, &l); err != nil {
			return fmt.Errorf("entry %d: %w", i, err)
		}
		if err := f(&l); err != nil {
			return fmt.Errorf("entry %d: %w", i, err)
		}
	}
	return nil
}

// readTable reads the node table and the shard map: what the store has, and what
// the log has behind it.
func (r *recovery) readTable() error {
	store, err := r.cfg.Storage.Acquire(storage.MetaStore)
	if err != nil {
		return err
	}
	defer store.Release()
	if r.nodes, r.shards, err = state.ReadTables(store); err != nil {
		return err
	}
	return r.groups[wire.MetaGroup].each(store.Applied(), func(l *raft.Log) error {
		if l.Type != raft.LogCommand {
			return nil
		}
		cmd := new(pb.Command)
		if err := proto.Unmarshal(l.Data, cmd); err != nil {
			return err
		}
		switch k := cmd.GetKind().(type) {
		case *pb.Command_PutNode:
			r.nodes[wire.ServerID(k.PutNode.GetNode().GetServer())] = k.PutNode.GetNode()
		case *pb.Command_RemoveNode:
			r.nodes[wire.ServerID(k.RemoveNode.GetServer())] = &pb.NodeEntry{Server: k.RemoveNode.GetServer(), Removed: true}
		case *pb.Command_PutShardMap:
			r.shards = k.PutShardMap.GetMap()
		}
		return nil
	})
}

// survey decides what is given up, and refuses what must not be.
func (r *recovery) survey(lost []wire.ServerID) (Loss, error) {
	self := r.identity.Server
	l := Loss{Server: self}
	others := map[wire.ServerID]*pb.NodeEntry{}
	for id, n := range r.nodes {
		if id != self && !n.GetRemoved() {
			others[id] = n
		}
	}
	for _, p := range r.groups {
		if p == nil {
			continue
		}
		if p.newest.After(l.Newest) {
			l.Newest = p.newest
		}
		for _, s := range p.members {
			if id := wire.ServerID(s.ID); id != self && others[id] == nil && !r.nodes[id].GetRemoved() {
				others[id] = &pb.NodeEntry{Server: string(id)}
			}
		}
	}
	if r.note != nil { // decided before
		if len(lost) > 0 && !sameServers(lost, r.note.Lost) {
			return l, fmt.Errorf("%w, for %v", ErrRecovering, r.note.Lost)
		}
		for _, id := range r.note.Lost {
			l.Nodes = append(l.Nodes, cmp.Or(others[id], &pb.NodeEntry{Server: string(id)}))
		}
		l.Groups = r.note.Groups
		return l, nil
	}
	if len(lost) == 0 {
		lost = slices.Sorted(maps.Keys(others))
	}
	given := map[wire.ServerID]bool{}
	for _, id := range slices.Sorted(slices.Values(lost)) {
		n := others[id]
		if n == nil {
			return l, fmt.Errorf("%s: %w", id, wire.ErrNodeUnknown)
		}
		if !given[id] {
			given[id] = true
			l.Nodes = append(l.Nodes, n)
		}
	}
	for i, p := range r.groups {
		claimed, err := r.judge(uint32(i), p, given)
		if err != nil {
			return l, err
		}
		if claimed {
			l.Groups = append(l.Groups, uint32(i))
		}
	}
	if len(l.Groups) == 0 {
		return l, fmt.Errorf("%w: every group has a majority without %v; start this node, and remove them", ErrNotLost, lost)
	}
	return l, nil
}

// judge reports whether a group has to go on with this node's copy.
func (r *recovery) judge(id uint32, p *replica, lost map[wire.ServerID]bool) (bool, error) {
	var left []wire.ServerID // who has a copy, or may have one, and is not lost
	for _, s := range r.placement(id).GetPresent() {
		if !lost[wire.ServerID(s)] {
			left = append(left, wire.ServerID(s))
		}
	}
	if p == nil {
		if len(left) == 0 {
			return false, fmt.Errorf(
				"%w: no copy of group %d would be left; restore a backup into a new cluster", ErrNoRecovery, id,
			)
		}
		return false, nil // it is those nodes' to recover, if need be
	}
	voters, alive, mine := 0, 0, false
	for _, s := range p.members {
		mine = mine || wire.ServerID(s.ID) == p.self
		there := !lost[wire.ServerID(s.ID)]
		if there && !slices.Contains(left, wire.ServerID(s.ID)) {
			left = append(left, wire.ServerID(s.ID))
		}
		if s.Suffrage == raft.Voter {
			voters++
			if there {
				alive++
			}
		}
	}
	if alive > voters/2 {
		return false, nil
	}
	others := slices.DeleteFunc(slices.Clone(left), func(id wire.ServerID) bool { return id == p.self })
	if len(others) > 0 {
		return false, fmt.Errorf("%w: group %d has no majority any more, and %v may have a copy, too; what they have "+
			"would be given up with them as --lost", ErrNoRecovery, id, others)
	}
	fresh, err := p.Stable.Get([]byte(freshKey))
	if err != nil {
		return false, err
	}
	if !mine || len(fresh) > 0 {
		return false, fmt.Errorf(
			"%w: its copy of group %d was never complete; restore a backup into a new cluster", ErrNoRecovery, id,
		)
	}
	return true, nil
}

// placement is where the shard map has a group; empty without a shard map.
func (r *recovery) placement(id uint32) *pb.GroupPlacement {
	if all := r.shards.GetGroups(); int(id) < len(all) {
		return all[id]
	}
	return nil
}

func sameServers(a, b []wire.ServerID) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// keep writes what is under way, durably; nil that nothing is.
func (r *recovery) keep(note *recoveryNote) error {
	var b []byte
	if note != nil {
		var err error
		if b, err = json.Marshal(note); err != nil {
			return fmt.Errorf("cluster: encode recovery: %w", err)
		}
	}
	stable := &raftlog.StableStore{Log: r.cfg.Storage.Log(), Group: wire.MetaGroup}
	if err := stable.Set([]byte(recoveryKey), b); err != nil {
		return fmt.Errorf("cluster: write recovery: %w", err)
	}
	return nil
}

// alone is the membership of a group that has nobody else.
func (p *replica) alone() raft.Configuration {
	return raft.Configuration{Servers: []raft.Server{
		{Suffrage: raft.Voter, ID: raft.ServerID(p.self), Address: raft.ServerAddress(p.self)},
	}}
}

// end is the last entry that the copy stands for, and the newest term it knows.
func (p *replica) end() (index, term uint64, err error) {
	if term, err = p.Stable.GetUint64([]byte("CurrentTerm")); err != nil {
		return 0, 0, err
	}
	metas, err := p.Marks.List()
	if err != nil {
		return 0, 0, err
	}
	if len(metas) > 0 {
		index, term = metas[0].Index, max(term, metas[0].Term)
	}
	last, err := p.Logs.LastIndex()
	if err != nil || last <= index {
		return index, term, err
	}
	var l raft.Log
	err = p.Logs.GetLog(last, &l)
	return last, max(term, l.Term), err
}

// claim makes this node the group's only voter, once.
func (p *replica) claim() error {
	if len(p.members) == 1 && wire.ServerID(p.members[0].ID) == p.self && p.members[0].Suffrage == raft.Voter {
		return nil
	}
	last, term, err := p.end()
	if err == nil {
		// The term first: an entry of a term that the node has not seen would be none.
		err = p.Stable.SetUint64([]byte("CurrentTerm"), term+1)
	}
	if err == nil {
		err = p.Logs.StoreLog(&raft.Log{
			Index: last + 1, Term: term + 1, Type: raft.LogConfiguration, Data: raft.EncodeConfiguration(p.alone()),
		})
	}
	if err != nil {
		return fmt.Errorf("cluster: claim group %d: %w", p.id, err)
	}
	return nil
}

// settle opens the claimed groups, so that all that their logs hold comes into the
// stores, and gives up the lost nodes where this one can decide it.
func (r *recovery) settle(ctx context.Context) (err error) {
	host, err := Start(ctx, Config{
		Storage: r.cfg.Storage, Clock: r.cfg.Clock, Logger: r.cfg.Logger, Fatal: r.cfg.Fatal, recovering: r.note.Groups,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, host.Close()) }()
	if err := host.WaitReady(ctx); err != nil {
		return err
	}
	if !slices.Contains(r.note.Groups, wire.MetaGroup) {
		return nil // the others decide, when they hear from the operator
	}
	for _, id := range r.note.Lost {
		if err := host.Meta().RemoveNode(ctx, id); err != nil && !errors.Is(err, wire.ErrNodeUnknown) {
			return err
		}
	}
	// The meta group is everybody's, so nobody else is left.
	sm := plan.First(host.Server(), len(host.groups))
	sm.Version = host.Meta().ShardMap().GetVersion()
	return host.Meta().PutShardMap(ctx, sm)
}

// leap replaces the group's log, which is in the stores, by a marker far behind
// its end. A crash between the two leaves a log that does not lead to its marker,
// which the next start drops (GroupLog.Mend).
func (p *replica) leap() error {
	last, term, err := p.end()
	if err == nil {
		term += recoveredTerms
		err = p.Stable.SetUint64([]byte("CurrentTerm"), term)
	}
	index := last + recoveredEntries
	if err == nil {
		err = p.Marks.Publish(&raft.SnapshotMeta{
			Version: raft.SnapshotVersionMax, ID: fmt.Sprintf("%d-%d", term, index), Index: index, Term: term,
			Configuration: p.alone(), ConfigurationIndex: index,
		})
	}
	if err == nil {
		err = p.Mend()
	}
	if err != nil {
		return fmt.Errorf("cluster: recover group %d: %w", p.id, err)
	}
	return nil
}

// answers reports whether a node is there; see mesh.Answers.
func (r *recovery) answers(ctx context.Context, n *pb.NodeEntry) bool {
	if r.cfg.answers != nil {
		return r.cfg.answers(ctx, n)
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	return mesh.Answers(ctx, r.cfg.Credentials, r.cfg.Clock, wire.ServerID(n.GetServer()), n.GetAddress())
}
