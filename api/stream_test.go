package api

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	pb "orgmem/proto"
)

// startEvents opens the stream over a real connection and returns a reader of
// its lines; the answer's body is closed with the test.
func startEvents(t *testing.T, h *harness, stream *fakeStream) (*http.Response, *bufio.Scanner) {
	t.Helper()
	h.s.cfg.Streams = func(ticket string) (EventStream, bool) { return stream, ticket == "ticket" }
	server := httptest.NewServer(h.s.public.Handler)
	t.Cleanup(server.Close)
	r, err := http.NewRequestWithContext(t.Context(), "GET", server.URL+"/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Svc-API-Key", goodKey)
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Last-Event-ID", "6ba7b810-9dad-11d1-80b4-00c04fd430c8")
	res, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return res, bufio.NewScanner(res.Body)
}

func nextLine(t *testing.T, lines *bufio.Scanner) string {
	t.Helper()
	if !lines.Scan() {
		t.Fatalf("the stream ended: %v", lines.Err())
	}
	return lines.Text()
}

// TestEventFrames holds the bytes of the interface's "Event stream".
//
// interface: Endpoints/Events
// interface: Events/Stream frames
// interface: Limits/Stream heartbeat
func TestEventFrames(t *testing.T) {
	h := newHarness(t)
	stream := newFakeStream(
		&pb.OutboxEvent{
			Id: testJob.Bytes(), Type: "job.completed", AtMs: testNow.UnixMilli(), Data: []byte(`{"jobId":"x","text":"a\nb"}`),
		},
		&pb.OutboxEvent{Type: "graph.updated", AtMs: testNow.UnixMilli()},
	)
	res, lines := startEvents(t, h, stream)
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" ||
		res.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v", res.StatusCode, res.Header)
	}
	if res.Header["Ratelimit"] == nil && res.Header["RateLimit"] == nil {
		t.Error("no RateLimit header")
	}
	for _, want := range []string{
		"event: job.completed",
		"id: " + testJob.String(),
		`data: {"type":"job.completed","data":{"jobId":"x","text":"a\nb"},"timestamp":"2026-03-04T05:06:07.089Z"}`,
		"",
		"event: graph.updated",
		`data: {"type":"graph.updated","data":{},"timestamp":"2026-03-04T05:06:07.089Z"}`,
		"",
	} {
		if got := nextLine(t, lines); got != want {
			t.Errorf("line %q, want %q", got, want)
		}
	}
	// Idle for fifteen seconds: a comment, again and again.
	for range 2 {
		advanceWhenWaiting(t, h, 15*time.Second)
		if got := nextLine(t, lines) + nextLine(t, lines); got != ": ping" {
			t.Errorf("heartbeat %q", got)
		}
	}
	h.s.Drain()
	if got := nextLine(t, lines) + nextLine(t, lines); got != ": the stream ends here; connect again" {
		t.Errorf("on a draining node: %q", got)
	}
	if lines.Scan() {
		t.Errorf("a draining node goes on: %q", lines.Text())
	}
	<-stream.closed
}

// advanceWhenWaiting advances the clock once something waits for just that long.
// A frame that is being written waits too, for longer.
func advanceWhenWaiting(t *testing.T, h *harness, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for h.clock.WaitersIn(d) == 0 {
		if ctx.Err() != nil {
			t.Fatal("nothing waits for the clock")
		}
		runtime.Gosched()
	}
	h.clock.Advance(d)
}

// TestEventStreamEnds lists why the server ends a stream.
func TestEventStreamEnds(t *testing.T) {
	event := &pb.OutboxEvent{Type: "graph.updated", AtMs: testNow.UnixMilli()}
	for name, c := range map[string]struct {
		stream *fakeStream
		last   string
	}{
		"read too slowly": {
			func() *fakeStream { s := newFakeStream(); s.slow = true; close(s.events); return s }(),
			": dropped, because it was read too slowly; connect again",
		},
		"moved": {
			func() *fakeStream { s := newFakeStream(); close(s.events); return s }(), ": the stream ends here; connect again",
		},
		"credential revoked": {
			func() *fakeStream { s := newFakeStream(event); s.valid = func() bool { return false }; return s }(), "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, lines := startEvents(t, newHarness(t), c.stream)
			var got []string
			for lines.Scan() {
				got = append(got, lines.Text())
			}
			if strings.Join(got, "") != c.last {
				t.Errorf("%q", got)
			}
			<-c.stream.closed
		})
	}
	t.Run("client leaves", func(t *testing.T) {
		stream := newFakeStream()
		res, _ := startEvents(t, newHarness(t), stream)
		if err := res.Body.Close(); err != nil {
			t.Fatal(err)
		}
		<-stream.closed
	})
}

// interface: Events/Stream without a bus
func TestEventStreamWithoutABus(t *testing.T) {
	for name, streams := range map[string]func(string) (EventStream, bool){
		"none":           nil,
		"unknown ticket": func(string) (EventStream, bool) { return nil, false },
	} {
		h := newHarness(t, func(c *Config) { c.Streams = streams })
		res := h.do("GET", "/v1/events", "")
		if res.code(t) != pb.CodeServiceDegraded ||
			!strings.HasPrefix(res.Header.Get("Content-Type"), "application/problem+json") {
			t.Errorf("%s: %d %s", name, res.StatusCode, res.body)
		}
	}
}
