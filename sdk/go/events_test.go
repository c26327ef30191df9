package orgmem

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"
)

// streamed serves what is sent to it, one connection after the other; the connection
// ends with its texts, unless the last is hold.
const hold = "hold"

func streams(t *testing.T, cfg Config, connections ...[]string) (*Client, *world, *atomic.Int32) {
	t.Helper()
	var n atomic.Int32
	c, w := stub(t, cfg, func(w http.ResponseWriter, r *http.Request) {
		i := int(n.Add(1)) - 1
		if r.Header.Get("Accept") != "text/event-stream" || i >= len(connections) {
			problem(w, 401, "authentication_error")
			return
		}
		texts := connections[i]
		if len(texts) > 0 && strings.HasPrefix(texts[0], "status ") {
			var status int
			fmt.Sscanf(texts[0], "status %d", &status)
			w.Header().Set("Retry-After", "15")
			problem(w, status, "some_code")
			return
		}
		if len(texts) > 0 && strings.HasPrefix(texts[0], "<html>") {
			io.WriteString(w, texts[0])
			return
		}
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		for _, text := range texts {
			if text == hold {
				<-r.Context().Done()
				return
			}
			io.WriteString(w, text)
			w.(http.Flusher).Flush()
		}
	})
	return c, w, &n
}

func frame(id string, kind EventType) string {
	return fmt.Sprintf("event: %s\nid: %s\ndata: {\"type\":%q,\"data\":{\"n\":1},\"timestamp\":\"2026-01-02T03:04:05.678Z\"}\n\n", kind, id, kind)
}

// watched writes down what comes, until an error.
func watched(ctx context.Context, c *Client, request EventsRequest) (seen []string, last error) {
	for notice, err := range c.Events(ctx, request) {
		if err != nil {
			return seen, err
		}
		switch n := notice.(type) {
		case Event:
			seen = append(seen, n.ID)
		case Gap:
			seen = append(seen, "gap: "+n.Why)
		}
	}
	return seen, nil
}

func TestEventsReconnect(t *testing.T) {
	c, w, _ := streams(t, Config{},
		[]string{frame("1", EventTypeJobCompleted), ": ping\n\n", frame("2", EventTypeGraphUpdated), ": the node stops\n\n"},
		[]string{"status 503"},
		[]string{"status 500"},
		[]string{"status 429"},
		[]string{frame("3", EventTypeJobCompleted), "id: 4\ndata: {\"type\""}, // in the middle of an event
		[]string{": ping\n\n"},
		[]string{frame("5", EventTypeJobCompleted)},
	)
	opened, waits := 0, []string{}
	seen, err := watched(t.Context(), c, EventsRequest{OnOpen: func() { opened++ }, OnWait: func(why error) { waits = append(waits, why.Error()) }})
	want := []string{"1", "2", "gap: the node stops", "3", "gap: the stream has ended", "gap: the stream has ended", "5"}
	if !slices.Equal(seen, want) {
		t.Errorf("%q", seen)
	}
	if !errors.Is(err, ErrUnauthorized) {
		t.Errorf("a refusal is the last: %v", err)
	}
	if opened != 4 || len(waits) != 7 || waits[0] != "the node stops" {
		t.Errorf("%d opened, waits %q", opened, waits)
	}
	// Three quarters of the pauses at a Random of 0.5, which double while no stream lasts.
	// Retry-After is added.
	wantPauses := []time.Duration{375, 15750, 16500, 18000, 375, 750, 375}
	for i, d := range w.pauses {
		if d != wantPauses[i]*time.Millisecond {
			t.Errorf("pause %d is %v", i, d)
		}
	}
}

// Nothing that stands between here and the service ends a stream that was open.
func TestEventsGoOnBehindForeignAnswers(t *testing.T) {
	page := "<html>The service will be back soon</html>"
	c, _, _ := streams(t, Config{},
		[]string{frame("1", EventTypeJobCompleted)},
		[]string{page},
		[]string{page},
		[]string{frame("2", EventTypeJobCompleted), "data: <html>\n\n", hold},
		[]string{"data: " + strings.Repeat("x", maxEvent+1)},
		[]string{frame("3", EventTypeJobCompleted)},
	)
	var waits []error
	seen, err := watched(t.Context(), c, EventsRequest{OnWait: func(why error) { waits = append(waits, why) }})
	if len(seen) != 6 || seen[0] != "1" || seen[1] != "gap: the stream has ended" || seen[2] != "2" ||
		!strings.Contains(seen[3], "cannot be read") || !strings.Contains(seen[4], "no end") || seen[5] != "3" {
		t.Errorf("%q", seen)
	}
	if !errors.Is(err, ErrUnauthorized) {
		t.Errorf("a refusal is the last: %v", err)
	}
	if len(waits) != 6 {
		t.Fatalf("%v", waits)
	}
	says(t, waits[1], "no event stream", "back soon")
}

func TestEventsHoldWhatTheyWereSent(t *testing.T) {
	c, _, _ := streams(t, Config{}, []string{frame("1", EventTypeImportStarted)})
	for notice, err := range c.Events(t.Context(), EventsRequest{}) {
		event, ok := notice.(Event)
		if err != nil || !ok || event.Type != EventTypeImportStarted || string(event.Data) != `{"n":1}` ||
			!event.Timestamp.Equal(time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)) {
			t.Errorf("%+v %v", notice, err)
		}
		break
	}
}

func TestEventsOfSomeTypes(t *testing.T) {
	all := []string{frame("1", EventTypeJobCompleted), frame("2", EventTypeGraphUpdated), frame("3", "newer.type")}
	for want, types := range map[string][]EventType{"2": {EventTypeGraphUpdated}, "1 3": {EventTypeJobCompleted, "newer.type"}, "1 2 3": {EventTypeAny}} {
		c, _, _ := streams(t, Config{}, all)
		seen, _ := watched(t.Context(), c, EventsRequest{Types: types})
		if strings.Join(seen, " ") != want {
			t.Errorf("%q, want %s", seen, want)
		}
	}
}

// A gap begins with the last event that came, by the service's clock, whatever ours says
// and however long a caller was busy. A heartbeat says that fifteen seconds have passed.
func TestAGapHasItsTimes(t *testing.T) {
	opened := time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		texts []string
		want  time.Time
	}{
		"nothing":                 {nil, opened},
		"an event":                {[]string{frame("1", EventTypeJobCompleted)}, opened.Add(5678 * time.Millisecond)},
		"an event, a heartbeat":   {[]string{frame("1", EventTypeJobCompleted), ": ping\n\n"}, opened.Add(20678 * time.Millisecond)},
		"heartbeats":              {[]string{": ping\n\n: ping\n\n"}, opened.Add(30 * time.Second)},
		"more than can have been": {[]string{": ping\n\n: ping\n\n: ping\n\n"}, opened.Add(30 * time.Second)},
	} {
		t.Run(name, func(t *testing.T) {
			var n, clock atomic.Int64
			c, _ := stub(t, Config{Now: func() time.Time { return time.Unix(clock.Load(), 0) }}, func(w http.ResponseWriter, r *http.Request) {
				first := n.Add(1) == 1
				w.Header().Set("Date", opened.Format(http.TimeFormat))
				if !first {
					w.Header().Set("Date", opened.Add(time.Hour).Format(http.TimeFormat))
				}
				w.Header().Set("Content-Type", "text/event-stream")
				w.WriteHeader(200)
				if first {
					io.WriteString(w, strings.Join(tc.texts, ""))
				}
			})
			for notice, err := range c.Events(t.Context(), EventsRequest{OnOpen: func() { clock.Add(40) }}) {
				if err != nil {
					t.Fatal(err)
				}
				if gap, ok := notice.(Gap); ok {
					if !gap.Since.Equal(tc.want.Add(-2*time.Second)) || !gap.Until.Equal(opened.Add(time.Hour)) {
						t.Errorf("since %v until %v", gap.Since, gap.Until)
					}
					break
				}
			}
		})
	}
}

// The first connection is no gap, and made by the rules of all requests.
func TestEventsThatCannotBegin(t *testing.T) {
	c, w, n := streams(t, Config{}, []string{"status 403"})
	seen, err := watched(t.Context(), c, EventsRequest{})
	if _, times := w.slept(); !errors.Is(err, ErrPermissionDenied) || times != 0 || len(seen) != 0 {
		t.Errorf("%d pauses, %q, %v", times, seen, err)
	}
	c, _, n = streams(t, Config{MaxRetries: 2}, []string{"status 503"}, []string{"status 503"}, []string{"status 503"}, []string{hold})
	if _, err := watched(t.Context(), c, EventsRequest{}); !errors.Is(err, ErrServer) || n.Load() != 3 {
		t.Errorf("%d connections, %v", n.Load(), err)
	}
	c, _ = stub(t, Config{}, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<html>A proxy</html>") })
	_, err = watched(t.Context(), c, EventsRequest{})
	says(t, err, "no event stream", "A proxy")
	c, _ = stub(t, Config{Timeout: 50 * time.Millisecond, MaxRetries: 1}, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	_, err = watched(t.Context(), c, EventsRequest{})
	var timeout *TimeoutError
	if !errors.As(err, &timeout) {
		t.Errorf("%T %v", err, err)
	}
}

// A stream on which nothing comes is lost, and a caller who is slow is not silence.
func TestSilenceIsALoss(t *testing.T) {
	var n atomic.Int32
	rested := make(chan struct{})
	c, _ := stub(t, Config{}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		send := func(id string) {
			io.WriteString(w, frame(id, EventTypeJobCompleted))
			w.(http.Flusher).Flush()
		}
		switch n.Add(1) {
		case 1:
			send("1")
			<-rested
			send("2")
			<-r.Context().Done()
		case 2:
			send("3")
		default:
			problem(w, 401, "authentication_error")
		}
	})
	c.silence = 200 * time.Millisecond
	c.bind()
	var seen []string
	for notice, err := range c.Events(t.Context(), EventsRequest{}) {
		if err != nil {
			break
		}
		switch v := notice.(type) {
		case Event:
			seen = append(seen, v.ID)
			if v.ID == "1" {
				<-time.After(2 * c.silence)
				close(rested)
			}
		case Gap:
			seen = append(seen, v.Why)
		}
	}
	if !slices.Equal(seen, []string{"1", "2", "nothing came for 200ms", "3"}) {
		t.Errorf("%q", seen)
	}
}

// A stream that lasted, or told something, was no failure: the next pause is the first again.
func TestPausesBeginAnew(t *testing.T) {
	var clock atomic.Int64
	cfg := Config{Now: func() time.Time { return time.Unix(clock.Load(), 0) }}
	c, w, n := streams(t, cfg, []string{": ping\n\n"}, []string{": ping\n\n"}, []string{": ping\n\n"}, []string{": ping\n\n"},
		[]string{frame("1", EventTypeJobCompleted)}, []string{": ping\n\n"})
	opened := 0
	watched(t.Context(), c, EventsRequest{OnOpen: func() { opened++ }})
	want := []time.Duration{375, 750, 1500, 3000, 375, 750}
	if n.Load() != 7 || opened != 6 || len(w.pauses) != 6 {
		t.Fatalf("%d connections, pauses %v", n.Load(), w.pauses)
	}
	for i, d := range w.pauses {
		if d != want[i]*time.Millisecond {
			t.Errorf("pause %d is %v", i, d)
		}
	}
	// The third lasts: time passes while it is open.
	c, w, _ = streams(t, cfg, []string{": ping\n\n"}, []string{": ping\n\n"}, []string{": ping\n\n"}, []string{": ping\n\n"})
	gaps := 0
	for notice := range c.Events(t.Context(), EventsRequest{}) {
		if _, ok := notice.(Gap); ok {
			if gaps++; gaps == 2 {
				clock.Add(11)
			}
		}
	}
	want = []time.Duration{375, 750, 375, 750}
	for i, d := range w.pauses {
		if d != want[i]*time.Millisecond {
			t.Errorf("with one that lasts, pause %d is %v", i, d)
		}
	}
}

func TestEventsEndWithTheirContextOrTheLoop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c, _, _ := streams(t, Config{}, []string{frame("1", EventTypeJobCompleted), hold})
	for notice, err := range c.Events(ctx, EventsRequest{}) {
		if err != nil {
			says(t, err)
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			break
		}
		if notice.(Event).ID == "1" {
			cancel()
		}
	}
	if ctx.Err() == nil {
		t.Error("no event came")
	}
	c, w, _ := streams(t, Config{}, []string{frame("1", EventTypeJobCompleted)})
	ctx, cancel = context.WithCancel(t.Context())
	w.before = func(int) { cancel() } // while it waits for the next attempt
	if seen, err := watched(ctx, c, EventsRequest{}); !errors.Is(err, context.Canceled) || len(seen) != 1 {
		t.Errorf("%q %v", seen, err)
	}
	c, _, n := streams(t, Config{}, []string{frame("1", EventTypeJobCompleted)}, []string{hold})
	for notice := range c.Events(t.Context(), EventsRequest{}) {
		if _, gap := notice.(Gap); gap {
			break // a loop may be left at a gap, too
		}
	}
	if n.Load() != 2 {
		t.Errorf("%d connections", n.Load())
	}
}

// Lines end in LF, CR or both, and come in pieces of any size.
func TestFrames(t *testing.T) {
	text := "\n:comment\nid:1\ndata:{\"type\":\ndata: \"a\"}\nretry: 5\nunknown\n\nid: 2\n\ndata: {\"type\":\"b\"}\n\ndata: {\"type\":\"half"
	for name, end := range map[string]string{"LF": "\n", "CRLF": "\r\n", "CR": "\r"} {
		for _, pieces := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.HalfReader, func(r io.Reader) io.Reader { return r }} {
			s := &stream{c: &Client{cfg: Config{}.withDefaults()}, lines: lineReader{Reader: bufio.NewReader(pieces(strings.NewReader(strings.ReplaceAll(text, "\n", end))))}}
			var got []string
			why := s.read(nil, nil, func(n Notice, _ error) bool {
				got = append(got, fmt.Sprintf("%s=%s", n.(Event).ID, n.(Event).Type))
				return true
			})
			if !slices.Equal(got, []string{"1=a", "=b"}) || why.Error() != "comment" {
				t.Errorf("%s: %q, %v", name, got, why)
			}
		}
	}
	for name, endless := range map[string]string{
		"a line":   "data: " + strings.Repeat("x", maxEvent+1) + "\n\n",
		"an event": strings.Repeat("data: "+strings.Repeat("x", 1000)+"\n", maxEvent/1000+1) + "\n",
		"no JSON":  "data: {\n\n",
	} {
		s := &stream{c: &Client{cfg: Config{}.withDefaults()}, lines: lineReader{Reader: bufio.NewReader(strings.NewReader(endless))}}
		why := s.read(nil, nil, func(n Notice, _ error) bool { t.Errorf("%s: %v", name, n); return true })
		if why == nil || !strings.Contains(why.Error(), "no end") && !strings.Contains(why.Error(), "cannot be read") {
			t.Errorf("%s: %v", name, why)
		}
	}
}
