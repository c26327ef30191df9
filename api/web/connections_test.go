package web

import (
	"bufio"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"orgmem/proto/clock"
)

// TestListenerBound holds that a connection beyond the bound closes the one that has been
// without a request for longest, that one with a request under way stays, and that where
// all are busy the next one is refused at once.
func TestListenerBound(t *testing.T) {
	t.Parallel()
	inner, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	figures := new(connectionFigures)
	l := newListener(inner, 2, clock.NewFake(time.Now()), slog.New(slog.DiscardHandler), figures)
	l.rewrite = func(status int) []byte { return fmt.Appendf(nil, "HTTP/1.1 %d No\r\n\r\n", status) }
	began, finish := make(chan struct{}), make(chan struct{})
	idle := make(chan struct{}, 8)
	server := &http.Server{
		ConnState: func(c net.Conn, state http.ConnState) {
			l.state(c, state)
			if state == http.StateIdle {
				idle <- struct{}{}
			}
		},
		ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/slow" {
				began <- struct{}{}
				<-finish
			}
		}),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		server.Close()
		<-served
	})
	dial := func() net.Conn {
		t.Helper()
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	ask := func(c net.Conn, path string) {
		t.Helper()
		if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: here\r\n\r\n", path); err != nil {
			t.Fatal(err)
		}
	}
	answered := func(c net.Conn) string {
		t.Helper()
		line, err := bufio.NewReader(c).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(line)
	}
	closed := func(c net.Conn) {
		t.Helper()
		if n, err := c.Read(make([]byte, 1)); n != 0 || err == nil {
			t.Fatalf("%d bytes, %v from a connection that should be closed", n, err)
		}
	}
	silent := dial() // it never asks
	kept := dial()
	ask(kept, "/")
	if got := answered(kept); got != "HTTP/1.1 200 OK" {
		t.Fatal(got)
	}
	<-idle         // the answer comes a moment before
	busy := dial() // in the place of the silent one
	closed(silent)
	ask(busy, "/slow")
	<-began
	other := dial() // in the place of the one that was answered
	closed(kept)
	ask(other, "/slow")
	<-began
	late := dial()
	if got := answered(late); got != "HTTP/1.1 503 No" {
		t.Fatal(got)
	}
	close(finish)
	for _, c := range []net.Conn{busy, other} {
		if got := answered(c); got != "HTTP/1.1 200 OK" {
			t.Fatal(got)
		}
		<-idle
	}
	next := dial()
	ask(next, "/")
	if got := answered(next); got != "HTTP/1.1 200 OK" {
		t.Fatal(got)
	}
	if d, r := figures.displaced.Load(), figures.refused.Load(); d != 3 || r != 1 {
		t.Errorf("%d displaced, %d refused", d, r)
	}
}
