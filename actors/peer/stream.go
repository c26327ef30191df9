package peer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/proto"

	"orgmem/actors/tenant"
	"orgmem/actors/webhook"
	"orgmem/cluster/mesh"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// An event stream lives where its organization does; the node that its reader is
// connected to fetches the events from there. What flows is decided there, too:
// whom an event reaches, and before each whether the key still stands.

const (
	// streamBeat is how often a stream without events says that it stands, and
	// streamSilence how long the other side waits for that: a node that was paused
	// or cut off must not look like an organization where nothing happens.
	streamBeat    = 5 * time.Second
	streamSilence = 3 * streamBeat
	// streamOpening bounds the opening of a stream to another node.
	streamOpening = 5 * time.Second
	// maxTicketFrame and maxEventFrame bound what the two sides read: an id; an event,
	// whose data is at most some kilobytes.
	maxTicketFrame = 256
	maxEventFrame  = 4 << 20
)

// ticketAt is a ticket with the node that it is good at.
func ticketAt(ticket string, server wire.ServerID) string { return ticket + "@" + string(server) }

// LiveStream is an event stream, of this node or another. Its methods are
// webhook.EventStream's.
type LiveStream interface {
	Events() <-chan *pb.OutboxEvent
	Slow() bool
	Valid() bool
	Close()
}

var (
	_ LiveStream = (*webhook.EventStream)(nil)
	_ LiveStream = (*remoteStream)(nil)
)

// TakeStream takes up the event stream that was opened under a ticket, on whichever node it lives. It reports false for
// an unknown ticket, and for one whose stream was taken up already.
func (o *Router) TakeStream(ticket string) (LiveStream, bool) {
	id, at, remote := strings.Cut(ticket, "@")
	if !remote {
		return tenant.FeatureOf[*webhook.Feature](o.sys).Streams.Take(ticket)
	}
	stream, err := o.openStream(o.sys.Lifetime, wire.ServerID(at), id)
	if err != nil {
		o.sys.Log.Info("an event stream of another node could not be taken up", "node", at, "err", err)
		return nil, false
	}
	return stream, true
}

// remoteStream is a stream that lives on another node.
type remoteStream struct {
	conn   net.Conn
	events chan *pb.OutboxEvent
	ended  atomic.Bool
	slow   atomic.Bool
	once   sync.Once
}

// openStream takes up a stream of another node. The first frame says that there is
// one.
func (o *Router) openStream(ctx context.Context, server wire.ServerID, ticket string) (*remoteStream, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	late := o.sys.Clock.AfterFunc(streamOpening, cancel)
	defer late.Stop()
	conn, err := o.Network.Dial(ctx, server, mesh.KindEvents)
	if err != nil {
		return nil, fmt.Errorf("open stream: %w", err)
	}
	unwatch := context.AfterFunc(ctx, func() { _ = conn.Close() })
	in := bufio.NewReader(conn)
	if _, err = protodelim.MarshalTo(conn, &pb.TakeStream{Ticket: ticket}); err == nil {
		err = readFrame(in, maxEventFrame, &pb.StreamFrame{})
	}
	if !unwatch() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open stream: %w", err), conn.Close())
	}
	stream := &remoteStream{conn: conn, events: make(chan *pb.OutboxEvent, webhook.StreamBuffer)}
	go stream.receive(o.sys.Clock, in) // ends with the connection, which Close closes
	return stream, nil
}

// receive hands on events until the connection ends. It takes what comes whether the
// reader does or not, and cuts one off that has let its buffer fill: if it waited, the
// other side would find a node that takes nothing, and end the stream without saying
// that its reader was slow.
func (a *remoteStream) receive(c clock.Clock, in *bufio.Reader) {
	defer func() {
		a.ended.Store(true)
		_ = a.conn.Close()
		close(a.events)
	}()
	for {
		silent := c.AfterFunc(streamSilence, func() { _ = a.conn.Close() })
		frame := &pb.StreamFrame{}
		err := readFrame(in, maxEventFrame, frame)
		silent.Stop()
		if err != nil {
			return
		}
		a.slow.Store(frame.GetSlow()) // nothing follows it
		if frame.GetEvent() == nil {
			continue
		}
		select {
		case a.events <- frame.GetEvent():
		default:
			a.slow.Store(true)
			return
		}
	}
}

// Events implements LiveStream.
func (a *remoteStream) Events() <-chan *pb.OutboxEvent { return a.events }

// Slow implements LiveStream.
func (a *remoteStream) Slow() bool { return a.slow.Load() }

// Valid implements LiveStream. The other side has looked before it sent, and ends
// the stream when the key does not stand any more.
func (a *remoteStream) Valid() bool { return !a.ended.Load() }

// Close implements LiveStream.
func (a *remoteStream) Close() { a.once.Do(func() { _ = a.conn.Close() }) }

func readFrame(in *bufio.Reader, limit int64, m proto.Message) error {
	return protodelim.UnmarshalOptions{MaxSize: limit}.UnmarshalFrom(in, m)
}

// serveStream sends one stream's events to the node that its reader is connected
// to.
func (o *Router) serveStream(ctx context.Context, _ wire.ServerID, conn net.Conn) {
	s := o.sys
	defer func() { _ = conn.Close() }()
	if !s.AdmitVisit() {
		return
	}
	defer s.EndVisit()
	late := s.Clock.AfterFunc(streamOpening, func() { _ = conn.Close() })
	in := bufio.NewReaderSize(conn, maxTicketFrame)
	take := &pb.TakeStream{}
	err := readFrame(in, maxTicketFrame, take)
	late.Stop()
	if err != nil {
		return
	}
	stream, ok := tenant.FeatureOf[*webhook.Feature](s).Streams.Take(take.GetTicket())
	if !ok {
		return
	}
	defer stream.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	left := make(chan struct{})
	go func() { // the other side says nothing more until it leaves
		defer close(left)
		_, _ = io.Copy(io.Discard, in)
		cancel()
	}()
	defer func() { _ = conn.Close(); <-left }()
	frames := []*pb.StreamFrame{{}} // the first one says that the stream is there
	for stream.Valid() {
		if err := o.sendFrames(conn, frames); err != nil {
			return
		}
		beat := s.Clock.NewTimer(streamBeat)
		select {
		case e, ok := <-stream.Events():
			if !ok {
				beat.Stop()
				if stream.Slow() {
					_ = o.sendFrames(conn, []*pb.StreamFrame{{Slow: true}}) // it ends either way
				}
				return
			}
			frames = append(frames[:0], &pb.StreamFrame{Event: e})
			frames = appendWaiting(frames, stream.Events())
		case <-beat.C():
			frames = append(frames[:0], &pb.StreamFrame{})
		case <-s.Lifetime.Done():
			beat.Stop()
			return
		case <-ctx.Done():
			beat.Stop()
			return
		}
		beat.Stop()
	}
}

// appendWaiting adds the events that wait already: a burst is written at once.
func appendWaiting(frames []*pb.StreamFrame, events <-chan *pb.OutboxEvent) []*pb.StreamFrame {
	for len(frames) < webhook.StreamBuffer {
		select {
		case e, ok := <-events:
			if !ok {
				return frames // the next look finds that
			}
			frames = append(frames, &pb.StreamFrame{Event: e})
		default:
			return frames
		}
	}
	return frames
}

// sendFrames writes frames; another node that does not take them in time is left.
func (o *Router) sendFrames(conn net.Conn, frames []*pb.StreamFrame) error {
	late := o.sys.Clock.AfterFunc(streamSilence, func() { _ = conn.Close() })
	defer late.Stop()
	out := bufio.NewWriter(conn)
	for _, frame := range frames {
		if _, err := protodelim.MarshalTo(out, frame); err != nil {
			return err
		}
	}
	return out.Flush()
}
