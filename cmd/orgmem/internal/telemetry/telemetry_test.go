package telemetry

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "go.opentelemetry.io/otel/sdk/trace"

	"orgmem/cmd/orgmem/internal/config"
	"orgmem/proto/clock"
	"orgmem/proto/tracing"
)

// sink is an exporter that a test holds up, or has fail.
type sink struct {
	mu      sync.Mutex
	batches []int
	err     error
	hold    chan struct{} // nil: it does not wait
	called  chan struct{} // receives at each batch; buffered
	closed  bool
}

func (s *sink) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	s.called <- struct{}{}
	if s.hold != nil {
		select {
		case <-s.hold:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.batches = append(s.batches, len(spans))
	return s.err
}

func (s *sink) Shutdown(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

func startWith(t *testing.T, s *sink) (*Telemetry, *clock.Fake) {
	t.Helper()
	s.called = make(chan struct{}, 64)
	c := clock.NewFake(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	return start(Config{
		Server: config.Server{TracesRatio: 1}, Clock: c, Random: rand.Reader, Logger: slog.New(slog.DiscardHandler),
	}, s), c
}

func (t *Telemetry) some(n int) {
	for range n {
		t.Tracer().Server(http.Header{}, t.clock.Now(), "GET", "/v1/me").End()
	}
}

// A collector that does not answer costs spans, and neither memory nor anybody's time.
func TestAFullQueueDropsAndCounts(t *testing.T) {
	t.Parallel()
	s := &sink{hold: make(chan struct{})}
	sender, _ := startWith(t, s)
	sender.some(maxBatch)
	<-s.called // the batch is under way, and stays so
	sender.some(maxQueue + 100)
	if f := sender.Figures(); f.Dropped != 100 || f.Waiting != maxQueue {
		t.Errorf("%+v", f)
	}
	close(s.hold)
	sender.Close()
	if f := sender.Figures(); f.Sent != maxBatch+maxQueue || f.Failed != 0 || f.Waiting != 0 || !s.closed {
		t.Errorf("after the close %+v", f)
	}
}

func TestSpansWaitForOthersAndNotForLong(t *testing.T) {
	t.Parallel()
	s := &sink{}
	sender, c := startWith(t, s)
	sender.some(3)
	for c.WaitersIn(batchWait) == 0 || sender.Figures().Waiting > 0 { // until the goroutine has taken them
		if err := clock.Wait(t.Context(), clock.Real(), time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	c.Advance(batchWait)
	<-s.called
	sender.Close()
	if len(s.batches) != 1 || s.batches[0] != 3 {
		t.Errorf("batches of %v", s.batches)
	}
}

// The stop waits for the collector no longer than it may.
func TestCloseHasABound(t *testing.T) {
	t.Parallel()
	s := &sink{hold: make(chan struct{})}
	sender, c := startWith(t, s)
	sender.some(5)
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		sender.Close()
	}()
	<-s.called
	c.Advance(closeWait)
	<-closed
	if f := sender.Figures(); f.Failed != 5 {
		t.Errorf("%+v", f)
	}
}

func TestWhatACollectorRefusesIsCounted(t *testing.T) {
	t.Parallel()
	sender, _ := startWith(t, &sink{err: errors.New("no")})
	sender.some(7)
	if err := sender.ForceFlush(t.Context()); err != nil {
		t.Error(err)
	}
	sender.Close()
	if f := sender.Figures(); f.Failed != 7 || f.Sent != 0 {
		t.Errorf("%+v", f)
	}
	if n := len(sender.Collectors()); n != 4 {
		t.Errorf("%d collectors", n)
	}
}

func TestNothingIsStartedWithoutACollector(t *testing.T) {
	t.Parallel()
	off, err := Start(t.Context(), Config{})
	if off != nil || err != nil || off.Tracer() != nil || off.Collectors() != nil {
		t.Errorf("%v, %v", off, err)
	}
	off.Close()
}

// The path of a collector is its own, where it names one.
func TestWhereSpansGo(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{"": "/v1/traces", "/": "/v1/traces", "/otlp/in": "/otlp/in"} {
		got := make(chan *http.Request, 1)
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r }))
		headers := filepath.Join(t.TempDir(), "headers")
		if err := os.WriteFile(headers, []byte("# of the collector\nX-Team: memory\n\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		sender, err := Start(t.Context(), Config{
			Server: config.Server{TracesEndpoint: server.URL + path, TracesRatio: 1, TracesHeadersFile: headers},
			Clock:  clock.Real(), Random: rand.Reader, Logger: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		s := sender.Tracer().Server(http.Header{}, sender.clock.Now(), "GET", "/v1/me")
		s.Word(tracing.AttributeRoute, "/v1/me")
		s.End()
		sender.Close()
		if r := <-got; r.URL.Path != want || r.Header.Get("X-Team") != "memory" {
			t.Errorf("%q went to %q with %v", path, r.URL.Path, r.Header)
		}
		if f := sender.Figures(); f.Sent != 1 {
			t.Errorf("%+v", f)
		}
		server.Close()
	}
}

func TestHeadersOfACollector(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                "no header",
		"# nothing":                       "no header",
		"nonsense":                        "line 1",
		"\nTwo Words: x":                  "line 2",
		"A: " + strings.Repeat("x", 5000): "longer",
		strings.Join(func() (many []string) {
			for i := range MaxHeaders + 1 {
				many = append(many, "H"+string(rune('a'+i))+": x")
			}
			return many
		}(), "\n"): "more than",
	} {
		if _, err := ParseHeaders(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

// taken is an exporter that takes everything.
type taken struct{}

func (taken) ExportSpans(context.Context, []sdk.ReadOnlySpan) error { return nil }
func (taken) Shutdown(context.Context) error                        { return nil }

// BenchmarkSearchSpans is what the spans of one search cost its request: of a node that traces nothing, of a request
// that is not recorded, and of one that is.
func BenchmarkSearchSpans(b *testing.B) {
	for name, ratio := range map[string]float64{"off": -1, "unrecorded": 0, "recorded": 1} {
		b.Run(name, func(b *testing.B) {
			var sender *Telemetry
			if ratio >= 0 {
				sender = start(Config{
					Server: config.Server{TracesRatio: ratio}, Clock: clock.Real(), Random: rand.Reader,
					Logger: slog.New(slog.DiscardHandler),
				}, taken{})
				defer sender.Close()
			}
			t, at, h := sender.Tracer(), clock.Real().Now(), http.Header{}
			b.ReportAllocs()
			for b.Loop() {
				s := t.Server(h, at, "POST", "/v1/search")
				c := s.Context()
				t.Tell(c, tracing.StepReceive, at)
				t.Tell(c, tracing.StepMailbox, at)
				for _, step := range []tracing.Step{
					tracing.StepAdmission, tracing.StepReadWait, tracing.StepRead, tracing.StepQuery, tracing.StepSearch,
				} {
					one := t.Start(c, step)
					one.Int(tracing.AttributeHits, 10)
					one.End()
				}
				s.Word(tracing.AttributeRoute, "/v1/search")
				s.Int(tracing.AttributeStatus, http.StatusOK)
				s.End()
			}
		})
	}
}
