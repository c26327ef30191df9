package mesh

import (
	"runtime"
	"time"

	pb "orgmem/proto"
	"orgmem/proto/clock"
)

const (
	// loadEvery is how often a node looks how busy it is: often enough for a person who
	// looks twice, and too seldom to be seen in what an idle node costs.
	loadEvery = 10 * time.Second
	// fullLoad is the load of a node that can do no more.
	fullLoad = 1000
	// loadStep is how much a load has to differ from the one that was told last to be
	// told: it keeps gossip quiet where load changes all the time.
	loadStep = 50
)

// loadMeter says how busy a node is: the share of the processors it may use that it
// has used since the last look. Nearly all that a node does is computing (embedding,
// extraction, search, training), and what waits in its queues waits for a processor,
// so that the queues' lengths would say the same later. It is shown and decides
// nothing: a shard is as much work on another node, and by the time it had moved the
// load would be somewhere else.
type loadMeter struct {
	used  func() time.Duration // processor time of the process since its start
	procs int                  // that it may use

	at   time.Time // of the last look
	last time.Duration
}

// look returns the load since the last look in thousandths; false at the first one, and
// where the clock was set back.
func (m *loadMeter) look(now time.Time) (thousandths uint32, ok bool) {
	used := m.used()
	span, spent := now.Sub(m.at)*time.Duration(m.procs), used-m.last
	first := m.at.IsZero()
	m.at, m.last = now, used
	if first || span <= 0 || spent < 0 {
		return 0, false
	}
	return uint32(min(fullLoad, float64(fullLoad)*float64(spent)/float64(span)+0.5)), true
}

// gaugeLoad tells the others how busy this node is, until the network closes.
func (n *Network) gaugeLoad() {
	m := loadMeter{used: n.cfg.CPUTime, procs: processors()}
	m.look(n.cfg.Clock.Now())
	for clock.Wait(n.life, n.cfg.Clock, loadEvery) == nil {
		if load, ok := m.look(n.cfg.Clock.Now()); ok {
			n.setLoad(load)
		}
	}
}

// processors is how many the process may use at once; Go knows of a container's limit.
func processors() int { return runtime.GOMAXPROCS(0) }

// setLoad says how busy this node is, in thousandths of what it can do. A change of
// less than loadStep is not worth telling.
func (n *Network) setLoad(load uint32) {
	old := n.Load()
	if load < old+loadStep && old < load+loadStep {
		return
	}
	n.gossip.change(func(m *pb.NodeMeta) { m.Load = load })
}

// Load is what this node says of how busy it is, in thousandths of what it can do.
func (n *Network) Load() uint32 {
	n.gossip.mu.Lock()
	defer n.gossip.mu.Unlock()
	return n.gossip.meta.GetLoad()
}
