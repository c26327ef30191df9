package peer

import (
	"bufio"
	"context"
	"net"
	"runtime"
	"testing"
	"time"

	"orgmem/actors/tenant"
	"orgmem/actors/webhook"
	"orgmem/cluster/mesh"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// pipeNetwork connects with a node that is paused: it takes nothing, and says nothing.
type pipeNetwork struct {
	Network
	conns chan net.Conn
}

// Dial implements Network.
func (n pipeNetwork) Dial(context.Context, wire.ServerID, mesh.Kind) (net.Conn, error) {
	near, far := net.Pipe()
	n.conns <- far
	return near, nil
}

// TestStreamsOfASilentNodeEndInTime holds the times that docs/cluster.md promises: an event
// stream of a node that is paused is refused within five seconds, and one that stands ends
// after fifteen without a word.
func TestStreamsOfASilentNodeEndInTime(t *testing.T) {
	begin := time.Unix(1_700_000_000, 0)
	waits := func(c *clock.Fake) {
		t.Helper()
		for end := time.Now().Add(5 * time.Minute); c.Waiters() == 0; runtime.Gosched() {
			if time.Now().After(end) {
				t.Fatal("nobody waits")
			}
		}
	}
	over := func(c *clock.Fake, after time.Duration) {
		t.Helper()
		if c.Advance(after); c.Waiters() > 0 {
			t.Errorf("it still waits after %v", after)
			c.Advance(24 * time.Hour)
		}
	}
	now := clock.NewFake(begin)
	network := pipeNetwork{conns: make(chan net.Conn, 1)}
	sys := &tenant.System{}
	sys.Clock = now
	s := &Router{sys: sys, Config: Config{Network: network}}
	opened := make(chan error, 1)
	go func() {
		_, err := s.openStream(t.Context(), "a", "ticket")
		opened <- err
	}()
	far := <-network.conns
	waits(now)
	over(now, 5*time.Second)
	if err := <-opened; err == nil {
		t.Error("a stream was opened to a node that says nothing")
	}
	_ = far.Close()

	now = clock.NewFake(begin)
	near, far := net.Pipe()
	stream := &remoteStream{conn: near, events: make(chan *pb.OutboxEvent, webhook.StreamBuffer)}
	go stream.receive(now, bufio.NewReader(near))
	waits(now)
	now.Advance(15*time.Second - 1)
	if !stream.Valid() {
		t.Error("it ended before")
	}
	over(now, 1)
	if _, more := <-stream.Events(); more || stream.Slow() || stream.Valid() {
		t.Error("a stream outlives the node that it comes from")
	}
	_ = far.Close()
}
