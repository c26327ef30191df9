package api

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"
	"time"
)

// benchLoopback serves the handler on loopback as production does, and asks it
// from 64 connections that write ready-made requests and skip the answers, so
// that little of the CPU goes to the client. It reports CPU per request, client
// included.
func benchLoopback(b *testing.B, handler http.Handler, method, path, body string) {
	b.Helper()
	const connections = 64
	inner, err := (&net.ListenConfig{}).Listen(b.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	e := newHarness(b).s.edge
	server := e.HTTPServer(handler)
	listener := e.Listen(server, inner, connections, false)
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	defer func() {
		server.Close()
		<-done
	}()
	request := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: localhost\r\nX-Svc-API-Key: %s\r\nContent-Type: "+
		"application/json\r\nContent-Length: %d\r\n\r\n%s", method, path, goodKey, len(body), body)

	work := make(chan struct{}, connections)
	finished := make(chan error, connections)
	for range connections {
		c, err := (&net.Dialer{}).DialContext(b.Context(), "tcp", inner.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close()
		go func() {
			r := bufio.NewReader(c)
			for range work {
				if _, err := io.WriteString(c, request); err != nil {
					finished <- err
					return
				}
				res, err := http.ReadResponse(r, nil)
				if err != nil {
					finished <- err
					return
				}
				if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode >= 300 {
					finished <- fmt.Errorf("status %d: %w", res.StatusCode, err)
					return
				}
			}
			finished <- nil
		}()
	}
	b.ReportAllocs()
	before := cpuTime(b)
	for b.Loop() {
		work <- struct{}{}
	}
	close(work)
	for range connections {
		if err := <-finished; err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
