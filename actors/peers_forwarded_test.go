package actors

import (
	"runtime"
	"strings"
	"testing"

	"orgmem/actors/tenant"
	formatreading "orgmem/brain/format/reading"
	pb "orgmem/proto"
	"orgmem/storage"
)

// TestUploadsOfOtherNodesAreBounded: what other nodes send on is held by the one that
// answers it. Beyond its room it refuses at once, and small requests have room beside.
func TestUploadsOfOtherNodesAreBounded(t *testing.T) {
	const room = 4 << 20
	w := startTownWith(t, func(cfg *tenant.Config, _ *storage.Options) { cfg.ForwardedBytes = room }, "a", "b")
	made := w.org("a", pb.PlanUnlimited)
	b, a := w.at("b").client(made.APIKey), w.at("a")
	// so that imports wait
	all, err := a.sys.ReadingMemory.Begin(t.Context(), made.Org, formatreading.MaxMemory*2, formatreading.MaxMemory*2, 0)
	if err != nil {
		t.Fatal(err)
	}
	upload := func(bytes int) *pb.Envelope { return file("a.bin", strings.Repeat("\x00", bytes)) }
	const first, second = room / 2, room / 3 // three quarters hold one of them
	waiting := make(chan *pb.Reply, 1)
	go func() { waiting <- b.ask(upload(first)) }()
	for a.sys.ReadingMemory.Waiting() == 0 {
		runtime.Gosched()
		if len(waiting) > 0 {
			t.Fatalf("it did not wait: %v", <-waiting)
		}
	}
	if p := b.refused(pb.CodeServiceDegraded, upload(second)); p.GetRetryAfterS() == 0 {
		t.Errorf("refused with %v", p)
	}
	held := a.sys.peers.HeldBytes
	const beside = 64 << 10 // more than a request has beside its file
	if _, got := held(); got < first || got > first+beside {
		t.Errorf("%d bytes are held for other nodes", got)
	}
	b.chunks("anything")
	all.End()
	if p := (<-waiting).GetProblem(); p.GetCode() == pb.CodeServiceDegraded {
		t.Errorf("the first is answered %v", p)
	}
	if p := b.ask(upload(second)).GetProblem(); p.GetCode() == pb.CodeServiceDegraded {
		t.Errorf("once there is room: %v", p)
	}
	a.waitFor(func() bool {
		small, large := held()
		return small == 0 && large == 0
	})
}
