package actors

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/export"
	"orgmem/actors/tenant"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
)

// A node that says nothing is given up, too, where its successor is not known: reads are
// asked of who may know better, and of a write it is said that its outcome is not known.
func TestASilentOwnerIsGivenUpWithoutASuccessor(t *testing.T) {
	w := startTown(t, "a", "b", "c")
	made := w.org("a", pb.PlanUnlimited)
	c := w.at("c").client(made.APIKey)
	c.ok(me())
	w.lead("b")
	w.at("b").client(made.APIKey).ok(me())
	w.at("c").thinks("a")
	w.mu.Lock()
	w.many = true
	w.mu.Unlock()
	w.watch(func(from wire.ServerID, _ proto.Message) bool { return from == "a" })
	var asked sync.WaitGroup
	defer asked.Wait()
	read := c.envelope(me())
	read.Method = tenant.MethodGet
	asked.Go(func() {
		if r, err := w.at("c").sys.Ask(t.Context(), read); err != nil || r.GetProblem() != nil {
			t.Errorf("a read: %v %v", r, err)
		}
	})
	for name, op := range map[string]*pb.Envelope{
		"a write": createKey(""), "a file": file("a.txt", "Bread rises."), "an export": createExport(false),
	} {
		write := c.envelope(op)
		asked.Go(func() {
			r, err := w.at("c").sys.Ask(t.Context(), write)
			var known interface{ Problem() *pb.Problem }
			if !errors.As(err, &known) || !strings.Contains(known.Problem().GetDetail(), "Idempotency-Key") ||
				known.Problem().GetRetryAfterS() == 0 {
				t.Errorf("%s without a key: %v %v", name, r, err)
			}
		})
	}
	asked.Go(func() {
		if _, err := w.at("c").sys.ExportPiece(t.Context(), &pb.Export{Org: made.Org.Bytes()}, 0); !errors.Is(err,
			export.ErrGone) {
			t.Errorf("a piece of an export that is not there: %v", err)
		}
	})
	asked.Go(func() {
		if _, err := w.at("c").operator().Org(t.Context(), made.Org); err != nil {
			t.Errorf("an operator's look: %v", err)
		}
	})
	asked.Go(func() {
		if _, err := w.at("c").operator().AddMember(t.Context(), made.Org, "b@example.com", pb.RoleMember); err == nil ||
			!strings.Contains(err.Error(), "not known") {
			t.Errorf("an operator's order: %v", err)
		}
	})
}

// thinks makes a node take another one for the leader.
func (n *townNode) thinks(who wire.ServerID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.believe = who
}
