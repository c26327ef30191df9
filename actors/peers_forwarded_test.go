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
	held := func() (small, large int) {
		f := &a.sys.peers.forwarded
		f.mu.Lock()
		defer f.mu.Unlock()
		return f.small, f.large
	}
	if _, got := held(); got < first || got > first+largeForwarded {
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

// TestALargeRequestHasRoomAlone, also one that is larger than all of it, and beside small
// ones that fill it.
func TestALargeRequestHasRoomAlone(t *testing.T) {
	f := forwarded{room: 4 * largeForwarded}
	ask := func(bytes int) *pb.NodeAsk {
		return &pb.NodeAsk{What: &pb.NodeAsk_Envelope{Envelope: file("a", strings.Repeat("x", bytes))}}
	}
	enter := func(bytes int, want bool) func() {
		t.Helper()
		leave, ok := f.enter(ask(bytes))
		if ok != want {
			t.Errorf("%d beside %d and %d: let in: %v", bytes, f.small, f.large, ok)
		}
		return leave
	}
	small := make([]func(), 0, 4)
	for range 4 {
		small = append(small, enter(largeForwarded-200, true))
	}
	enter(largeForwarded-200, false)
	huge := enter(10*largeForwarded, true)
	enter(largeForwarded, false)
	enter(1, false)
	for _, leave := range small {
		leave()
	}
	enter(1, true)()
	huge()
	first := enter(largeForwarded, true)
	second := enter(largeForwarded, true)
	enter(largeForwarded, false) // three quarters
	enter(largeForwarded-200, true)()
	first()
	second()
	if f.small != 0 || f.large != 0 {
		t.Errorf("%d and %d bytes are held by nobody", f.small, f.large)
	}
}
