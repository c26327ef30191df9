package mesh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"orgmem/cluster/clustertest"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// byeArm is an arm for tests: the instance says what to do.
func byeArm(what string) *pb.NodeCall {
	return &pb.NodeCall{Kind: &pb.NodeCall_Goodbye{Goodbye: &pb.NodeGoodbye{Instance: what}}}
}

func TestErrorsKeepTheirMeaning(t *testing.T) {
	w := newCampus(t, clock.Real())
	two := w.grow()
	for code, sentinel := range wire.Sentinels() {
		w.first.HandleCall((*pb.NodeCall_Goodbye)(nil), func(
			context.Context, wire.ServerID, *pb.NodeCall,
		) (*pb.NodeAnswer, error) {
			return nil, fmt.Errorf("here: %w", wire.NotApplied(sentinel))
		})
		_, err := two.Call(t.Context(), "one", byeArm("x"))
		if !errors.Is(err, sentinel) || !errors.Is(err, wire.ErrNotApplied) {
			t.Errorf("%s came as %v", code, err)
		}
		if !errors.Is(sentinel, wire.ErrFenced) && errors.Is(err, wire.ErrFenced) {
			t.Errorf("%s came with another meaning: %v", code, err)
		}
	}
	w.first.HandleCall((*pb.NodeCall_Goodbye)(nil), func(
		context.Context, wire.ServerID, *pb.NodeCall,
	) (*pb.NodeAnswer, error) {
		return nil, io.ErrUnexpectedEOF
	})
	if _, err := two.Call(t.Context(), "one", byeArm("x")); err == nil || errors.Is(err, wire.ErrNoAnswer) ||
		errors.Is(err, wire.ErrUnreachable) {
		t.Errorf("an error without a name came as %v", err)
	}
	if _, err := two.Call(t.Context(), "one", &pb.NodeCall{}); !errors.Is(err, wire.ErrUnknownCall) {
		t.Errorf("a call that nobody knows gave %v", err)
	}
	if storage.ErrNoSpace == nil {
		t.Fatal("storage has lost an error of the protocol")
	}
}

// Slow calls do not hold up others, and each gets its own answer.
func TestCallsShareALine(t *testing.T) {
	w := newCampus(t, clock.Real())
	two := w.grow()
	release := make(chan struct{})
	w.first.HandleCall((*pb.NodeCall_Goodbye)(nil), func(
		_ context.Context, peer wire.ServerID, call *pb.NodeCall,
	) (*pb.NodeAnswer, error) {
		if call.GetGoodbye().GetInstance() == "slow" {
			<-release
		}
		return &pb.NodeAnswer{
			Kind: &pb.NodeAnswer_Probed{Probed: &pb.NodeProbed{Server: string(peer), Cluster: call.GetGoodbye().GetInstance()}},
		}, nil
	})
	var slow, fast sync.WaitGroup
	ask := func(wg *sync.WaitGroup, what string) {
		wg.Go(func() {
			a, err := two.Call(t.Context(), "one", byeArm(what))
			if err != nil || a.GetProbed().GetCluster() != what || a.GetProbed().GetServer() != string(two.Server()) {
				t.Errorf("asked %q, got %v, %v", what, a, err)
			}
		})
	}
	for range 20 {
		ask(&slow, "slow")
	}
	for i := range maxCallsInFlight + 50 {
		ask(&fast, fmt.Sprint(i))
	}
	fast.Wait()
	if n := two.Status().Streams; n > 6 {
		t.Errorf("%d streams for the calls of one node", n)
	}
	close(release)
	slow.Wait()
}

// The caller learns whether it was heard.
func TestCallsTellWhatIsKnown(t *testing.T) {
	w := newCampus(t, clock.Real())
	two := w.grow()
	if _, err := two.Call(t.Context(), "nobody", probe()); !errors.Is(err, wire.ErrUnreachable) {
		t.Errorf("asking nobody gave %v", err)
	}
	begun := make(chan struct{})
	w.first.HandleCall((*pb.NodeCall_Goodbye)(nil), func(
		ctx context.Context, _ wire.ServerID, _ *pb.NodeCall,
	) (*pb.NodeAnswer, error) {
		close(begun)
		<-ctx.Done() // ends with the caller's time, or the connection
		return nil, ctx.Err()
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func(begun <-chan struct{}) {
		<-begun
		cancel()
	}(begun)
	if _, err := two.Call(ctx, "one", byeArm("")); !errors.Is(err, wire.ErrNoAnswer) || !errors.Is(err, context.Canceled) {
		t.Errorf("giving up gave %v", err)
	}
	if _, err := two.Call(ctx, "one", probe()); !errors.Is(err, wire.ErrUnreachable) {
		t.Errorf("asking with an ended context gave %v", err)
	}
	if _, err := two.Call(t.Context(), "one", probe()); err != nil {
		t.Errorf("the line did not survive: %v", err)
	}

	begun = make(chan struct{})
	done := make(chan error, 1)
	go func() {
		_, err := two.Call(t.Context(), "one", byeArm(""))
		done <- err
	}()
	select {
	case <-begun:
	case err := <-done:
		t.Fatalf("the call ended before it was answered: %v", err)
	}
	if err := w.first.shut(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, wire.ErrNoAnswer) {
		t.Errorf("the death of who was asked gave %v", err)
	}
	clustertest.WaitFor(t, func() bool {
		_, err := two.Call(t.Context(), "one", probe())
		return errors.Is(err, wire.ErrUnreachable)
	})
	if _, err := two.Call(t.Context(), "one", byeArm(string(make([]byte, maxCallBytes)))); !errors.Is(err, errFrame) {
		t.Errorf("a call that is too long gave %v", err)
	}
}

// Who waits for a stream that somebody else is opening waits no longer than it has.
func TestACallEndsWithItsTime(t *testing.T) {
	w := newCampus(t, clock.Real())
	two := w.grow()
	l := two.calls.line("one")
	l.opening <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := two.Call(ctx, "one", probe())
		done <- err
	}()
	clustertest.WaitFor(t, func() bool { return len(l.room) == 1 })
	cancel()
	if err := <-done; !errors.Is(err, wire.ErrUnreachable) || !errors.Is(err, context.Canceled) {
		t.Errorf("giving up gave %v", err)
	}
	<-l.opening
	if _, err := two.Call(t.Context(), "one", probe()); err != nil {
		t.Errorf("the line did not survive: %v", err)
	}
}

// A member that does not keep to the protocol loses its stream and nothing else.
func TestBadFramesEndTheStream(t *testing.T) {
	w := newCampus(t, clock.Real())
	two := w.grow()
	for name, say := range map[string][]byte{
		"too long":    {0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		"cut short":   {0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1},
		"not a frame": bytes.Repeat([]byte("x"), 64),
	} {
		t.Run(name, func(t *testing.T) {
			s, err := two.Dial(t.Context(), "one", KindCall)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if _, err := s.Write(say); err != nil {
				t.Fatal(err)
			}
			if name == "cut short" {
				s.(*stream).CloseWrite()
			}
			sentAway(t, s)
		})
	}
	s, err := two.Dial(t.Context(), "one", Kind(250)) // of a later version
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sentAway(t, s)
	if _, err := two.Call(t.Context(), "one", probe()); err != nil {
		t.Error(err)
	}
}

// Handlers end with the network, and Close waits for them.
func TestCloseEndsHandlers(t *testing.T) {
	w := newCampus(t, clock.Real())
	two := w.grow()
	var ended sync.WaitGroup
	ended.Add(1)
	w.first.Handle(KindEvents, func(ctx context.Context, _ wire.ServerID, conn net.Conn) {
		defer conn.Close()
		conn.Write([]byte("x"))
		<-ctx.Done()
		ended.Done()
	})
	s, err := two.Dial(t.Context(), "one", KindEvents)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := w.first.Close(); err != nil {
		t.Fatal(err)
	}
	ended.Wait()
	if err := w.first.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	if _, err := w.first.Dial(t.Context(), two.Server(), KindEvents); !errors.Is(err, ErrNetworkClosed) &&
		!errors.Is(err, wire.ErrUnreachable) {
		t.Errorf("dialling with a closed network gave %v", err)
	}
	if _, err := w.first.Call(t.Context(), two.Server(), probe()); err == nil {
		t.Error("a closed network calls")
	}
}

func BenchmarkCall(b *testing.B) {
	w := newCampus(b, clock.Real())
	two := w.grow()
	for b.Loop() {
		if _, err := two.Call(b.Context(), "one", probe()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDial(b *testing.B) {
	w := newCampus(b, clock.Real())
	two := w.grow()
	for b.Loop() {
		s, err := two.Dial(b.Context(), "one", KindCall)
		if err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}

func FuzzFrame(f *testing.F) {
	var b bytes.Buffer
	if err := writeFrame(&b, frame{number: 7, wait: 9, body: []byte("body")}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, in []byte) {
		r := bytes.NewReader(in)
		got, err := readFrame(r)
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := writeFrame(&out, got); err != nil || !bytes.Equal(out.Bytes(), in[:len(in)-r.Len()]) {
			t.Errorf("%x was read as %+v, %v", in, got, err)
		}
	})
}
