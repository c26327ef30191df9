package actors

import (
	"time"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
)

const (
	// farewellWait bounds how long a node that stops waits for the others to have had
	// all its answers: they need a round trip, and one that is paused gives none.
	farewellWait = time.Second
	// farewellHold is how long a node that has said farewell is asked nothing, if nobody
	// hears meanwhile that it has been started again. That its connection has ended says
	// nothing: its process ends later, and takes connections until then.
	farewellHold = 2 * farewellWait
)

// farewell is what a node that is about to stop has said.
type farewell struct {
	at       time.Time
	instance string // the start of the node that it ends; "" where that is not known
	heard    func() // tells it that all it was asked is answered; nil: it was told
}

// drain ends this node's part in the others' requests before their connections end:
// a question or an answer that is on its way then is lost, and a write whose answer is
// lost may have been done. It returns once nothing is on its way, or farewellWait has
// passed. What the node is still asked meanwhile it passes on.
func (o *peers) drain() {
	late := o.sys.Clock.NewTimer(farewellWait)
	defer late.Stop()
	told := map[wire.ServerID]bool{}
	for over := false; !over; {
		asked := o.sayFarewell(o.askersBut(told))
		if len(asked) == 0 {
			return
		}
		for id, a := range asked {
			if !over {
				select {
				case <-a.reply:
				case <-late.C():
					over = true
					o.sys.Log.Info("not all nodes have said that they ask this one nothing more", "peer", string(a.to))
				}
			}
			o.drop(id)
		}
	}
}

// askersBut lists who has to be told that this node stops, and adds them to those who
// are.
func (o *peers) askersBut(told map[wire.ServerID]bool) (more []wire.ServerID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for who := range o.askers {
		if !told[who] {
			told[who] = true
			more = append(more, who)
		}
	}
	return more
}

// sayFarewell asks all before it waits for one.
func (o *peers) sayFarewell(to []wire.ServerID) map[uint64]*asked {
	told := map[uint64]*asked{}
	for _, who := range to {
		if !o.Remote.Reachable(who) {
			continue
		}
		if id, a, err := o.send(who, &pb.NodeAsk{What: &pb.NodeAsk_Farewell{Farewell: &pb.Empty{}}}); err == nil {
			told[id] = a
		}
	}
	return told
}

// noteAsker notes who has to be told when this node stops. Who asks has not stopped, or
// not any more.
func (o *peers) noteAsker(who wire.ServerID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.askers[who] = struct{}{}
	delete(o.parting, who)
}

// hearFarewell notes that a node is about to stop. heard is called when it has answered
// all that it was asked.
func (o *peers) hearFarewell(from wire.ServerID, heard func()) {
	o.mu.Lock()
	o.parting[from] = &farewell{at: o.sys.Clock.Now(), instance: o.Network.InstanceOf(from), heard: heard}
	now := o.allAnswered(from)
	o.mu.Unlock()
	if now != nil {
		now()
	}
}

// allAnswered returns what tells a node that it has answered everything; nil: it has
// not, or is not waiting for that. o.mu is held; what it returns is called without.
func (o *peers) allAnswered(server wire.ServerID) (heard func()) {
	f := o.parting[server]
	if f == nil || o.load[server] != nil {
		return nil
	}
	heard, f.heard = f.heard, nil
	return heard
}

// parts reports whether a node is about to stop, and is not to be asked. o.mu is held.
func (o *peers) parts(server wire.ServerID) bool {
	f := o.parting[server]
	if f == nil {
		return false
	}
	again := f.instance != "" && o.Network.InstanceOf(server) != f.instance
	if again || o.sys.Clock.Now().Sub(f.at) >= farewellHold {
		delete(o.parting, server)
		return false
	}
	return true
}
