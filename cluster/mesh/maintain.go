package mesh

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
)

const (
	// maintainEvery is how often a node looks after its certificate and its entry when
	// nothing wakes it: it notices a certificate's age.
	maintainEvery = time.Minute
	// maintainRetry is how soon it looks again after a failure: when the meta group has a
	// leader.
	maintainRetry = 2 * time.Second
	// settleFor is how long all nodes must have had certificates of the new
	// generation before the old one is dropped: longer than any handshake that began
	// with an old certificate may take.
	settleFor = 2 * handshakeTimeout
	// maintainTimeout bounds the proposals of one look.
	maintainTimeout = 10 * time.Second
)

// maintenance looks after what a node owes the cluster: its certificate and what it
// trusts, its entry in the node table, and the steps of a rotation.
type maintenance struct {
	*node
	gossip  *gossip
	members *members

	once     sync.Mutex // held during a look; guards what follows
	entryPut bool       // since the start
	settling settling
}

// RotationStatus says how far a rotation of the authority is.
type RotationStatus struct {
	// Generations that are trusted, oldest first: two while a rotation is under way.
	Generations []uint64
	// Signing is the one that signs certificates and encrypts gossip.
	Signing uint64
	// Waiting are the nodes that have not taken the present step: they are down, or
	// have just not heard of it.
	Waiting []wire.ServerID
	// Expires is when this node's certificate ends; it is renewed long before.
	Expires time.Time
}

// settling is since when all nodes have had the new generation's certificates, by
// the authority of a version.
type settling struct {
	version uint64
	since   time.Time
}

// Rotate begins to replace the authority: its key, all certificates and the gossip
// key. It returns when the first step is written; the nodes go on by themselves,
// without a break in service, and Rotation says how far they are. ErrRotating
// when it is under way already. Further errors are the proposal's.
func (m *maintenance) Rotate(ctx context.Context) error {
	r := m.meta()
	if r == nil {
		return wire.ErrNotReady
	}
	a, err := openAuthority(r.Authority())
	if err != nil {
		return err
	}
	next, err := a.rotated(m.cfg.Random, m.cfg.Clock.Now())
	if err != nil {
		return err
	}
	return putAuthority(ctx, r, next, a.version)
}

// Rotation reports the rotation.
func (m *maintenance) Rotation() (RotationStatus, error) {
	r := m.meta()
	if r == nil {
		return RotationStatus{}, wire.ErrNotReady
	}
	a, err := openAuthority(r.Authority())
	if err != nil {
		return RotationStatus{}, err
	}
	s := RotationStatus{Signing: a.pb.GetSigning(), Expires: m.creds.Load().Expires()}
	for _, g := range a.pb.GetGenerations() {
		s.Generations = append(s.Generations, g.GetNumber())
	}
	if len(s.Generations) > 1 {
		_, _, s.Waiting = m.agreed(a)
	}
	return s, nil
}

// run looks when something has changed, and now and then, until the network closes.
func (m *maintenance) run() {
	for {
		pause := maintainEvery
		if r := m.meta(); r != nil {
			if err := m.look(r); err != nil && m.life.Err() == nil {
				pause = maintainRetry
				say := m.cfg.Logger.Warn
				if errors.Is(err, wire.ErrNotLeader) { // as at every start
					say = m.cfg.Logger.Debug
				}
				say("cluster: cannot keep this node's certificate or entry up to date; trying again", "error", err)
			}
		}
		m.once.Lock()
		if m.settling.version != 0 {
			pause = min(pause, settleFor)
		}
		m.once.Unlock()
		timer := m.cfg.Clock.NewTimer(pause)
		select {
		case <-timer.C():
		case <-m.members.maintaining:
		case <-m.life.Done():
			timer.Stop()
			return
		}
		timer.Stop()
	}
}

func (m *maintenance) look(r Registry) error {
	m.once.Lock()
	defer m.once.Unlock()
	ctx, cancel := context.WithTimeout(m.life, maintainTimeout)
	defer cancel()
	a, err := openAuthority(r.Authority())
	if errors.Is(err, ErrNoAuthority) {
		return nil // this node's copy of the meta group is not here yet
	}
	if err != nil {
		return err
	}
	if err := m.renew(a); err != nil {
		return err
	}
	return errors.Join(m.gossip.tell(), m.putEntry(ctx, r), m.advance(ctx, r, a))
}

// renew brings this node's credentials up to the authority. They are on the disk
// before anybody sees them. Streams that are open stay so.
func (m *maintenance) renew(a *authority) error {
	next, err := m.creds.Load().renewed(a, m.cfg.Random, m.cfg.Clock.Now())
	if err != nil || next == nil {
		return err
	}
	if err := m.cfg.Save(next); err != nil {
		return fmt.Errorf("keep renewed credentials: %w", err)
	}
	m.creds.Store(next)
	if err := m.gossip.rekey(next); err != nil {
		return err
	}
	m.cfg.Logger.Info(
		"cluster: credentials renewed", "generation", next.issuer, "trusts", next.trusts(), "expires", next.Expires(),
	)
	m.gossip.change(func(m *pb.NodeMeta) { m.Trusts, m.Issuer = next.trusts(), next.issuer })
	return nil
}

// putEntry makes this node's entry say what is so: its address may have changed with
// a restart, and its version with an upgrade; and a node that was drained before it
// stopped serves again. Only a node that the table has is entered, or the first of
// all.
func (m *maintenance) putEntry(ctx context.Context, r Registry) error {
	self := string(m.Server())
	nodes := r.Nodes()
	i := slices.IndexFunc(nodes, func(e *pb.NodeEntry) bool { return e.GetServer() == self })
	entry := &pb.NodeEntry{Server: self, JoinedMs: m.cfg.Clock.Now().UnixMilli()}
	switch {
	case i >= 0 && nodes[i].GetRemoved():
		return fmt.Errorf("this node %s: %w", self, wire.ErrNodeRemoved)
	case i >= 0:
		entry = proto.CloneOf(nodes[i])
	case len(nodes) > 0:
		return nil // it was admitted, so its entry is on the way
	}
	entry.Name, entry.Zone, entry.Address, entry.Version = m.cfg.Name, m.cfg.Zone, m.advertise, m.cfg.speaks
	if !m.entryPut {
		entry.Draining = false
	}
	if i < 0 || !proto.Equal(entry, nodes[i]) {
		if err := r.PutNode(ctx, entry); err != nil {
			return fmt.Errorf("enter this node: %w", err)
		}
	}
	m.entryPut = true
	return nil
}

// advance takes the next step of a rotation when every node has taken the last
// one. One node tries, the first of those that are alive; should two think so, the
// version of the authority lets one of them through.
func (m *maintenance) advance(ctx context.Context, r Registry, a *authority) error {
	was := m.settling
	m.settling = settling{}
	if len(a.pb.GetGenerations()) == 1 {
		return nil
	}
	if others := m.members.peers(); len(others) > 0 && others[0].Server < m.Server() {
		return nil
	}
	trusts, issuer, _ := m.agreed(a)
	next := a.advanced(trusts, issuer)
	if next == nil {
		return nil
	}
	if len(next.GetGenerations()) == 1 {
		now := m.cfg.Clock.Now()
		if was.version != a.version {
			was = settling{version: a.version, since: now}
		}
		if now.Sub(was.since) < settleFor {
			m.settling = was
			return nil
		}
	}
	if err := putAuthority(ctx, r, next, a.version); err != nil && !errors.Is(err, wire.ErrMapChanged) {
		return fmt.Errorf("rotate the authority: %w", err)
	}
	return nil
}

// agreed returns the generation that every node of the table trusts, and the one that
// every node's certificate comes from, or a later one; both are 0 while a node is away.
// waiting are the nodes that have not taken the present step.
func (m *maintenance) agreed(a *authority) (trusts, issuer uint64, waiting []wire.ServerID) {
	trusts, issuer = a.newest(), a.newest()
	step := a.pb.GetSigning() == a.newest() // certificates follow; else trust does
	for _, who := range m.members.list() {
		t, i := who.Trusts, who.Issuer
		if who.State != MemberAlive {
			t, i = 0, 0
		}
		trusts, issuer = min(trusts, t), min(issuer, i)
		if t < a.newest() || step && i < a.newest() {
			waiting = append(waiting, who.Server)
		}
	}
	return trusts, issuer, waiting
}
