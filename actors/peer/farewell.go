package peer

import (
	"time"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
)

const (
	// FarewellWait bounds how long a node that stops waits for the others to have had
	// all its answers: they need a round trip, and one that is paused gives none.
	FarewellWait = time.Second
	// farewellHold is how long a node that has said farewell is asked nothing, if nobody
	// hears meanwhile that it has been started again. That its connection has ended says
	// nothing: its process ends later, and takes connections until then.
	farewellHold = 2 * FarewellWait
)

// farewell is what a node that is about to stop has said.
type farewell struct {
	at       time.Time
	instance string // the start of the node that it ends; "" where that is not known
	heard    func() // says that all it was asked is answered; nil: that was said
}

// Drain ends this node's part in the others' requests before their connections end:
// a question or an answer that is on its way then is lost, and a write whose answer is
// lost may have been done. It returns once nothing is on its way, or FarewellWait has
// passed, and reports whether all have said that they ask this node nothing more. What
// the node is still asked meanwhile it passes on.
func (o *Router) Drain() bool {
	late := o.sys.Clock.NewTimer(FarewellWait)
	defer late.Stop()
	told := map[wire.ServerID]bool{}
	for over := false; !over; {
		asked := o.sayFarewell(o.visitors.askersBut(told))
		if len(asked) == 0 {
			return true
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
			o.questions.drop(id)
		}
	}
	return false
}

// sayFarewell asks all before it waits for one.
func (o *Router) sayFarewell(to []wire.ServerID) map[uint64]*question {
	told := map[uint64]*question{}
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
