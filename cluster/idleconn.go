package cluster

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
	// transferChunk is what is sent and awaited at a time.
	transferChunk = 256 << 10
	// transferIdle ends a transfer on which nothing moves. The longest silence is a
	// source reading a large store for its sums: 10 GB in a minute.
	transferIdle = 2 * time.Minute
	// maxListingBytes bounds one message of a transfer: a listing of as many files as
	// a store may have, at 100 bytes.
	maxListingBytes = 8 << 20
)

// errTransfer means that the other side of a transfer does not speak this
// protocol.
var errTransfer = errors.New("message of a transfer is too long")

// transferConn is a connection that ends when nothing moves on it for too long.
type transferConn struct {
	conn  net.Conn
	r     *bufio.Reader
	w     *bufio.Writer
	clock clock.Clock
	stop  func() bool // of the context's watch

	mu   sync.Mutex
	idle clock.Timer
	over bool
}

func newTransferConn(ctx context.Context, conn net.Conn, c clock.Clock) *transferConn {
	t := &transferConn{conn: conn, clock: c, r: bufio.NewReaderSize(conn, transferChunk), w: bufio.NewWriterSize(conn, transferChunk)}
	t.stop = context.AfterFunc(ctx, func() { _ = conn.Close() })
	t.touch()
	return t
}

// touch says that something has moved.
func (t *transferConn) touch() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.idle != nil {
		t.idle.Stop()
	}
	if !t.over {
		t.idle = t.clock.AfterFunc(transferIdle, func() { _ = t.conn.Close() })
	}
}

func (t *transferConn) end() {
	t.mu.Lock()
	t.over = true
	t.idle.Stop()
	t.mu.Unlock()
	t.stop()
	_ = t.conn.Close()
}

// Read reads what follows a message.
func (t *transferConn) Read(b []byte) (int, error) {
	n, err := t.r.Read(b)
	t.touch()
	return n, err
}

// Write writes what follows a message; flush sends it.
func (t *transferConn) Write(b []byte) (int, error) {
	n, err := t.w.Write(b)
	t.touch()
	return n, err
}

func (t *transferConn) flush() error { return t.w.Flush() }

// send writes one message: its length in four bytes, and it.
func (t *transferConn) send(m proto.Message) error {
	b, err := proto.Marshal(m)
	if err == nil && len(b) > maxListingBytes {
		err = errTransfer
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
	return t.flush()
}

// receive reads one message.
func (t *transferConn) receive(m proto.Message) error {
	var head [4]byte
	if _, err := io.ReadFull(t, head[:]); err != nil {
		return err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > maxListingBytes {
		return errTransfer
	}
	b := make([]byte, size)
	if _, err := io.ReadFull(t, b); err != nil {
		return err
	}
	return proto.Unmarshal(b, m)
}
