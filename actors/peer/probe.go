package peer

import (
	"orgmem/cluster/wire"
	pb "orgmem/proto"
)

// probe asks a node whether it still works on a question: one question at a time.
type probe struct {
	o     *Router
	to    wire.ServerID
	about uint64
	id    uint64
	asked *question // nil: there is none
}

func (o *Router) probe(to wire.ServerID, about uint64) *probe {
	return &probe{o: o, to: to, about: about}
}

// ask asks, instead of before: that may be lost, too.
func (d *probe) ask() {
	d.drop()
	id, a, err := d.o.send(d.to, &pb.NodeAsk{What: &pb.NodeAsk_Underway{Underway: d.about}})
	if err == nil { // else as much is on its way there as may be: next time
		d.id, d.asked = id, a
	}
}

func (d *probe) drop() {
	if d.asked != nil {
		d.o.questions.drop(d.id)
		d.asked = nil
	}
}

// waits reports whether something is asked, and nothing was answered to it.
func (d *probe) waits() bool { return d.asked != nil }

// reply is where the answer comes; nil, which is never, where nothing is asked.
func (d *probe) reply() <-chan *pb.NodeReply {
	if d.asked == nil {
		return nil
	}
	return d.asked.reply
}

// confirmed reports whether an answer says that nobody works on the question. A node
// of before there were such questions answers that it does not know.
func (*probe) confirmed(r *pb.NodeReply) bool {
	w, ok := r.GetWhat().(*pb.NodeReply_Underway)
	return ok && !w.Underway
}
