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
	// loadStep is the smallest change of the load that a node announces: gossip stays quiet where
	// load changes all the time.
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

// processors is how many the process may use at once; Go knows of a container's limit.
func processors() int { return runtime.GOMAXPROCS(0) }

// gaugeLoad tells the others how busy this node is, until the network closes.
func (g *gossip) gaugeLoad() {
	m := loadMeter{used: g.cfg.CPUTime, procs: processors()}
	m.look(g.cfg.Clock.Now())
	for clock.Wait(g.life, g.cfg.Clock, loadEvery) == nil {
		if load, ok := m.look(g.cfg.Clock.Now()); ok {
			g.setLoad(load)
		}
	}
}

// setLoad says how busy this node is, in thousandths of what it can do. A change of
// less than loadStep is not worth telling.
func (g *gossip) setLoad(load uint32) {
	old := g.load()
	if load < old+loadStep && old < load+loadStep {
		return
	}
	g.change(func(m *pb.NodeMeta) { m.Load = load })
}

// load is what this node says of how busy it is, in thousandths of what it can do.
func (g *gossip) load() uint32 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.meta.GetLoad()
}
