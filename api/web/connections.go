package web

import (
	"container/list"
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"orgmem/proto/clock"
)

const (
	// maxRefusing bounds the connections that are being told that there is no room; those
	// beyond are closed without a word.
	maxRefusing = 8
	// refusePatience is how long one of them has to take the answer.
	refusePatience = 500 * time.Millisecond
	// maxRefusedBytes is how much of its request is read meanwhile: a connection that is
	// closed with a request unread is reset, and the answer lost.
	maxRefusedBytes = 64 << 10
	// fullLogEvery is how often it is logged at most that there is no room.
	fullLogEvery = 10 * time.Second
)

// listener bounds the open connections, and wraps each. A connection more closes the one
// that has been without a request for longest; where all are busy, it is answered 503, or
// closed without an answer under TLS, where the answer would cost a handshake. It never
// waits: behind idle connections new requests would wait until those time out.
type listener struct {
	net.Listener
	clock   clock.Clock
	log     *slog.Logger
	figures *connectionFigures
	limit   int
	rewrite func(status int) []byte // nil under TLS, whose connections net/http must recognise

	refusing chan struct{} // one for each connection that is being refused

	mu     sync.Mutex
	open   int
	idle   list.List // of *conn: those without a request; the longest at the front
	logged time.Time // when it was last logged that there is no room
}

// connectionFigures are what the metrics show, of both listeners together.
type connectionFigures struct{ open, displaced, refused atomic.Int64 }

func newListener(inner net.Listener, limit int, c clock.Clock, log *slog.Logger, figures *connectionFigures) *listener {
	return &listener{
		Listener: inner, clock: c, log: log, figures: figures, limit: limit, refusing: make(chan struct{}, maxRefusing),
	}
}

// Accept returns the next connection that there is room for.
func (l *listener) Accept() (net.Conn, error) {
	for {
		inner, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if c := l.admit(inner); c != nil {
			return c, nil
		}
		l.refuse(inner)
	}
}

// admit counts a connection in; nil when all that may be open are busy.
func (l *listener) admit(inner net.Conn) *conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open >= l.limit {
		front := l.idle.Front()
		l.full(front == nil)
		if front == nil {
			return nil
		}
		l.figures.displaced.Add(1)
		idlest := front.Value.(*conn)
		l.leave(idlest)
		_ = idlest.Conn.Close() // net/http finds it closed
	}
	c := &conn{Conn: inner, listener: l}
	l.open++
	l.figures.open.Add(1)
	c.element = l.idle.PushBack(c)
	return c
}

// leave counts a connection out, once. l.mu is held.
func (l *listener) leave(c *conn) {
	if c.left {
		return
	}
	c.left = true
	l.busy(c)
	l.open--
	l.figures.open.Add(-1)
}

// busy takes a connection out of the idle ones. l.mu is held.
func (l *listener) busy(c *conn) {
	if c.element != nil {
		l.idle.Remove(c.element)
		c.element = nil
	}
}

// full logs that there is no room, now and then. l.mu is held.
func (l *listener) full(refused bool) {
	now := l.clock.Now()
	if !l.logged.IsZero() && now.Sub(l.logged) < fullLogEvery && !now.Before(l.logged) {
		return
	}
	l.logged = now
	const remedy = "more open files: ulimit -n, LimitNOFILE"
	if refused {
		l.log.Warn("as many connections are open as may be, all of them busy: new ones are refused", "limit", l.limit,
			"remedy", remedy)
		return
	}
	l.log.Warn("as many connections are open as may be: the longest idle one is closed for each new one", "limit", l.limit,
		"remedy", remedy)
}

// refuse closes a connection that there is no room for. Without TLS it is answered first,
// unless too many are being answered.
func (l *listener) refuse(c net.Conn) {
	l.figures.refused.Add(1)
	select {
	case l.refusing <- struct{}{}:
	default:
		_ = c.Close()
		return
	}
	go func() { // ends within refusePatience
		defer func() { <-l.refusing }()
		defer c.Close() //nolint:errcheck // nobody waits for it
		if l.rewrite == nil || c.SetDeadline(l.clock.Now().Add(refusePatience)) != nil {
			return
		}
		if _, err := c.Write(l.rewrite(http.StatusServiceUnavailable)); err != nil {
			return
		}
		if half, ok := c.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
			_, _ = io.CopyN(io.Discard, c, maxRefusedBytes)
		}
	}()
}

// state is called by net/http when the state of a connection changes.
func (l *listener) state(c net.Conn, s http.ConnState) {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	mine, ok := c.(*conn)
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case s != http.StateIdle && s != http.StateNew:
		l.busy(mine)
	case mine.element == nil && !mine.left:
		mine.element = l.idle.PushBack(mine)
	}
}

type conn struct {
	net.Conn
	listener *listener

	// Guarded by listener.mu.
	element *list.Element // in listener.idle
	left    bool          // it counts no more
}

// Close makes room for another one, once.
func (c *conn) Close() error {
	c.listener.mu.Lock()
	c.listener.leave(c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}
