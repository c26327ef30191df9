package mesh

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"orgmem/proto/clock"
)

const (
	// ChunkBytes is what is sent and awaited at a time.
	ChunkBytes = 256 << 10
	// idleTimeout ends a transfer on which nothing moves. The longest silence is a
	// source reading a large store for its sums: 10 GB in a minute.
	idleTimeout = 2 * time.Minute
	// maxMessageBytes bounds one message of a transfer: a listing of as many files as
	// a store may have, at 100 bytes.
	maxMessageBytes = 8 << 20
)

// ErrMessage means that the other side of a transfer does not speak this
// protocol.
var ErrMessage = errors.New("message of a transfer is too long")

// IdleConn is a connection for messages and bytes that ends when nothing moves on it
// for two minutes. One goroutine reads and one writes.
type IdleConn struct {
	conn  net.Conn
	r     *bufio.Reader
	w     *bufio.Writer
	clock clock.Clock
	stop  func() bool // of the context's watch

	mu   sync.Mutex
	idle clock.Timer
	over bool
}

// NewIdleConn wraps a connection, which ends with the context too. Its caller ends it.
func NewIdleConn(ctx context.Context, conn net.Conn, c clock.Clock) *IdleConn {
	t := &IdleConn{
		conn: conn, clock: c, r: bufio.NewReaderSize(conn, ChunkBytes), w: bufio.NewWriterSize(conn, ChunkBytes),
	}
	t.stop = context.AfterFunc(ctx, func() { _ = conn.Close() })
	t.touch()
	return t
}

// touch says that something has moved.
func (t *IdleConn) touch() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.idle != nil {
		t.idle.Stop()
	}
	if !t.over {
		t.idle = t.clock.AfterFunc(idleTimeout, func() { _ = t.conn.Close() })
	}
}

// End closes the connection.
func (t *IdleConn) End() {
	t.mu.Lock()
	t.over = true
	t.idle.Stop()
	t.mu.Unlock()
	t.stop()
	_ = t.conn.Close()
}

// Read reads what follows a message.
func (t *IdleConn) Read(b []byte) (int, error) {
	n, err := t.r.Read(b)
	t.touch()
	return n, err
}

// Write writes what follows a message; flush sends it.
func (t *IdleConn) Write(b []byte) (int, error) {
	n, err := t.w.Write(b)
	t.touch()
	return n, err
}

// Flush sends what was written.
func (t *IdleConn) Flush() error { return t.w.Flush() }

// Send writes one message: its length in four bytes, and it. ErrMessage where that is
// too long.
func (t *IdleConn) Send(m proto.Message) error {
	b, err := proto.Marshal(m)
	if err == nil && len(b) > maxMessageBytes {
		err = ErrMessage
	}
	if err != nil {
		return err
	}
	if _, err := t.Write(binary.BigEndian.AppendUint32(nil, uint32(len(b)))); err != nil {
		return err
	}
	if _, err := t.Write(b); err != nil {
		return err
	}
	return t.Flush()
}

// Receive reads one message; ErrMessage where it is too long.
func (t *IdleConn) Receive(m proto.Message) error {
	var head [4]byte
	if _, err := io.ReadFull(t, head[:]); err != nil {
		return err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > maxMessageBytes {
		return ErrMessage
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(t, b); err != nil {
		return err
	}
	return proto.Unmarshal(b, m)
}
