package mesh

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"reflect"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
)

const (
	// maxCallBytes bounds one question or answer. The largest are the shard map and
	// the node table; state goes over streams of its own.
	maxCallBytes = 4 << 20
	// maxCallsInFlight bounds the calls from one node to another; further ones wait. They
	// are questions to a leader, each answered within a commit.
	maxCallsInFlight = 256
	// maxCallTime bounds a call that has no deadline of its own: the callers are
	// background work which would rather ask somebody else.
	maxCallTime = 30 * time.Second
)

// A frame of a call stream: the length of what follows; the number that an answer
// shares with its question; in a question how long the asking node waits, in
// milliseconds, in an answer 0; and the message.
const frameHead = 4 + 8 + 4

type frame struct {
	number uint64
	wait   uint32
	body   []byte
}

func writeFrame(w io.Writer, f frame) error {
	b := make([]byte, 0, frameHead+len(f.body))
	b = binary.BigEndian.AppendUint32(b, uint32(len(f.body)))
	b = binary.BigEndian.AppendUint64(b, f.number)
	b = binary.BigEndian.AppendUint32(b, f.wait)
	_, err := w.Write(append(b, f.body...))
	return err
}

// errFrame means that the other side does not speak this protocol.
var errFrame = errors.New("frame of a call is too long")

func readFrame(r io.Reader) (frame, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return frame{}, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > maxCallBytes {
		return frame{}, errFrame
	}
	f := frame{
		number: binary.BigEndian.Uint64(head[4:]), wait: binary.BigEndian.Uint32(head[12:]), body: make([]byte, size),
	}
	_, err := io.ReadFull(r, f.body)
	return f, err
}

// calls asks other nodes and answers them. There is one stream to each node that
// was asked; a question and its answer share a number, so that a slow one does not
// hold up the others.
type calls struct {
	node   *node
	dialer *dialer

	mu       sync.Mutex // guards what follows
	handlers map[reflect.Type]callHandler
	lines    map[wire.ServerID]*line
}

type callHandler func(ctx context.Context, peer wire.ServerID, call *pb.NodeCall) (*pb.NodeAnswer, error)

func newCalls(n *node, d *dialer) *calls {
	return &calls{node: n, dialer: d, handlers: map[reflect.Type]callHandler{}, lines: map[wire.ServerID]*line{}}
}

// line is the stream to one node on which it is asked.
type line struct {
	room chan struct{} // one for each call in flight

	opening chan struct{} // holds one while the stream is being opened
	writing sync.Mutex    // held while a question is written

	mu      sync.Mutex // guards what follows
	conn    net.Conn   // nil while no stream is open
	number  uint64
	waiting map[uint64]chan frame // closed when the stream has ended
}

// HandleCall registers what answers the calls of one arm, for instance
// (*pb.NodeCall_Probe)(nil).
func (c *calls) HandleCall(
	arm any, f func(ctx context.Context, peer wire.ServerID, call *pb.NodeCall) (*pb.NodeAnswer, error),
) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.handlers[reflect.TypeOf(arm)] = f
}

// Call asks a node and waits for its answer or the context. An error wraps what
// the other side's error wrapped of this package's sentinels; or ErrUnreachable
// when nothing was said, ErrNoAnswer when it is not known what came of it. A node
// may call itself.
func (c *calls) Call(ctx context.Context, to wire.ServerID, call *pb.NodeCall) (*pb.NodeAnswer, error) {
	body, err := proto.Marshal(call)
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", to, err)
	}
	if len(body) > maxCallBytes {
		return nil, fmt.Errorf("call %s: %w", to, errFrame)
	}
	ctx, cancel := context.WithTimeout(ctx, maxCallTime)
	defer cancel()
	answer, err := c.line(to).ask(ctx, c, to, body)
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", to, err)
	}
	if r := answer.GetRefusal(); r != nil {
		return nil, wire.DecodeError(to, r)
	}
	return answer, nil
}

// line returns the line to a node. There are as many as nodes were ever asked,
// which the node table bounds.
func (c *calls) line(to wire.ServerID) *line {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := c.lines[to]
	if l == nil {
		l = &line{
			room: make(chan struct{}, maxCallsInFlight), opening: make(chan struct{}, 1), waiting: map[uint64]chan frame{},
		}
		c.lines[to] = l
	}
	return l
}

func (l *line) ask(ctx context.Context, c *calls, to wire.ServerID, body []byte) (*pb.NodeAnswer, error) {
	select {
	case l.room <- struct{}{}:
		defer func() { <-l.room }()
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", wire.ErrUnreachable, ctx.Err())
	}
	conn, number, answer, err := l.begin(ctx, c, to)
	if err != nil {
		return nil, err
	}
	defer l.end(number)
	wait := maxCallTime
	if deadline, ok := ctx.Deadline(); ok {
		wait = min(wait, max(deadline.Sub(c.node.cfg.Clock.Now()), time.Millisecond))
	}
	if ctx.Err() != nil { // it shall not take the line down
		return nil, fmt.Errorf("%w: %w", wire.ErrUnreachable, ctx.Err())
	}
	// A peer that does not read must not hold up its caller: when the caller
	// gives up the whole line is.
	stop := context.AfterFunc(ctx, func() { hangUp(conn) })
	l.writing.Lock()
	err = writeFrame(conn, frame{number: number, wait: uint32(wait.Milliseconds()), body: body})
	l.writing.Unlock()
	if !stop() || err != nil {
		return nil, fmt.Errorf("%w: %w", wire.ErrNoAnswer, errors.Join(err, ctx.Err()))
	}
	select {
	case f, ok := <-answer:
		if !ok {
			return nil, fmt.Errorf("%w: connection ended", wire.ErrNoAnswer)
		}
		a := new(pb.NodeAnswer)
		if err := proto.Unmarshal(f.body, a); err != nil {
			return nil, fmt.Errorf("%w: %w", wire.ErrNoAnswer, err)
		}
		return a, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", wire.ErrNoAnswer, ctx.Err())
	}
}

// hangUp ends a connection without waiting for a peer that does not read.
func hangUp(conn net.Conn) {
	if s, ok := conn.(*stream); ok {
		s.cut()
		return
	}
	_ = conn.Close() // its users see an error
}

// begin makes sure that there is a stream, and registers a question.
func (l *line) begin(ctx context.Context, c *calls, to wire.ServerID) (net.Conn, uint64, chan frame, error) {
	select {
	case l.opening <- struct{}{}:
		defer func() { <-l.opening }()
	case <-ctx.Done(): // others try for longer than this caller has
		return nil, 0, nil, fmt.Errorf("%w: %w", wire.ErrUnreachable, ctx.Err())
	}
	l.mu.Lock()
	conn := l.conn
	l.mu.Unlock()
	if conn == nil {
		var err error
		if conn, err = c.dialer.Dial(ctx, to, KindCall); err != nil {
			return nil, 0, nil, err
		}
		l.mu.Lock()
		l.conn = conn
		l.mu.Unlock()
		if !c.node.run(func() { l.listen(conn) }) {
			_ = conn.Close() // nobody listens to it
			return nil, 0, nil, ErrNetworkClosed
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn != conn { // it ended meanwhile
		return nil, 0, nil, fmt.Errorf("%w: connection ended", wire.ErrUnreachable)
	}
	l.number++
	answer := make(chan frame, 1)
	l.waiting[l.number] = answer
	return conn, l.number, answer, nil
}

func (l *line) end(number uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.waiting, number)
}

// listen hands answers to those who wait for them, until the stream ends.
func (l *line) listen(conn net.Conn) {
	r := bufio.NewReader(conn)
	for {
		f, err := readFrame(r)
		if err != nil {
			break
		}
		l.mu.Lock()
		answer := l.waiting[f.number]
		delete(l.waiting, f.number)
		l.mu.Unlock()
		if answer != nil { // else its caller has gone
			answer <- f
		}
	}
	hangUp(conn)
	_ = conn.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conn = nil
	for number, answer := range l.waiting {
		close(answer)
		delete(l.waiting, number)
	}
}

// serve answers the questions that come over a stream.
func (c *calls) serve(ctx context.Context, peer wire.ServerID, conn net.Conn) {
	var (
		wg      sync.WaitGroup
		writing sync.Mutex
	)
	ctx, cancel := context.WithCancel(ctx)
	defer func() { // the answers that are not ready yet would reach nobody
		cancel()
		hangUp(conn)
		wg.Wait()
		_ = conn.Close()
	}()
	room := make(chan struct{}, maxCallsInFlight)
	r := bufio.NewReader(conn)
	for {
		f, err := readFrame(r)
		if err != nil {
			return
		}
		room <- struct{}{} // full: the peer waits, as it should not have sent it
		wg.Go(func() {
			defer func() { <-room }()
			body, err := proto.Marshal(c.answer(ctx, peer, f))
			// An answer that was cut short by the end of this node says nothing.
			if err != nil || len(body) > maxCallBytes || ctx.Err() != nil {
				hangUp(conn) // the asking node gets ErrNoAnswer, as it must
				return
			}
			writing.Lock()
			defer writing.Unlock()
			if writeFrame(conn, frame{number: f.number, body: body}) != nil {
				hangUp(conn)
			}
		})
	}
}

func (c *calls) answer(ctx context.Context, peer wire.ServerID, f frame) *pb.NodeAnswer {
	call := new(pb.NodeCall)
	if err := proto.Unmarshal(f.body, call); err != nil {
		return wire.EncodeError(err)
	}
	c.mu.Lock()
	handle := c.handlers[reflect.TypeOf(call.GetKind())]
	c.mu.Unlock()
	if handle == nil {
		return wire.EncodeError(wire.ErrUnknownCall)
	}
	ctx, cancel := context.WithTimeout(ctx, min(time.Duration(f.wait)*time.Millisecond, maxCallTime))
	defer cancel()
	a, err := handle(ctx, peer, call)
	if err != nil {
		return wire.EncodeError(err)
	}
	return a
}
