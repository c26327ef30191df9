package api

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"orgmem/api/problems"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// The benchmarks set what the edge costs beside a bare gin route, without the
// kernel and without an actor: Go's HTTP server, a client and loopback add the
// same 14 µs or so to each.

// instantAsker answers at once what was made beforehand.
type instantAsker struct{ reply *pb.Reply }

func (a instantAsker) Ask(context.Context, *pb.Envelope) (*pb.Reply, error) { return a.reply, nil }

func benchServer(b *testing.B, op *pb.Envelope) *Server {
	b.Helper()
	reply := fakeResult(op)
	reply.Rate = &pb.RateLimit{Remaining: 29, ResetS: 2, Quota: 120, Partition: "c2VjcmV0"}
	s, err := New(Config{
		Asker: instantAsker{reply}, Operator: fakeOperator{}, OperatorToken: testToken,
		Clock: clock.Real(), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

type nullWriter struct{ header http.Header }

func (w *nullWriter) Header() http.Header         { return w.header }
func (w *nullWriter) WriteHeader(int)             {}
func (w *nullWriter) Write(p []byte) (int, error) { return len(p), nil }

func benchRequests(b *testing.B, handler http.Handler, method, path, body string) {
	b.Helper()
	b.ReportAllocs()
	w := &nullWriter{header: http.Header{}}
	header := http.Header{"X-Svc-Api-Key": {goodKey}, "Content-Type": {"application/json"}, "User-Agent": {"bench"}}
	reader := bytes.NewReader(nil)
	for b.Loop() {
		clear(w.header)
		reader.Reset([]byte(body))
		r := &http.Request{
			Method: method, URL: &url.URL{Path: path}, Header: header, Host: "localhost", RemoteAddr: "127.0.0.1:1",
			Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(len(body)), Body: io.NopCloser(reader),
		}
		handler.ServeHTTP(w, r.WithContext(b.Context()))
	}
}

func bareGin() *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.GET("/v1/me", func(c *gin.Context) { c.JSON(http.StatusOK, gin.H{"ok": true}) })
	engine.POST("/v1/ingest", func(c *gin.Context) {
		var in struct {
			Content string `json:"content"`
		}
		if err := c.ShouldBindJSON(&in); err != nil {
			c.Status(http.StatusBadRequest)
			return
		}
		c.JSON(http.StatusAccepted, gin.H{"status": "pending"})
	})
	return engine
}

// ingest300 is a body of 300 bytes.
var ingest300 = `{"content":"` + strings.Repeat("Figs ripen late in the year. ", 10)[:286] + `"}`

func BenchmarkBareGinGet(b *testing.B) {
	benchRequests(b, bareGin(), http.MethodGet, "/v1/me", "")
}

func BenchmarkBareGinPost300(b *testing.B) {
	benchRequests(b, bareGin(), http.MethodPost, "/v1/ingest", ingest300)
}

func BenchmarkMe(b *testing.B) {
	s := benchServer(b, &pb.Envelope{Op: &pb.Envelope_Me{}})
	benchRequests(b, s.public.Handler, http.MethodGet, "/v1/me", "")
}

func BenchmarkIngest300(b *testing.B) {
	s := benchServer(b, &pb.Envelope{Op: &pb.Envelope_Ingest{}})
	benchRequests(b, s.public.Handler, http.MethodPost, "/v1/ingest", ingest300)
}

func BenchmarkIngestBatch1000(b *testing.B) {
	s := benchServer(b, &pb.Envelope{Op: &pb.Envelope_Ingest{}})
	body := `{"items":[` + strings.TrimSuffix(strings.Repeat(ingest300+",", 1000), ",") + `]}`
	b.SetBytes(int64(len(body)))
	benchRequests(b, s.public.Handler, http.MethodPost, "/v1/ingest/batch", body)
}

func BenchmarkUnknownKey(b *testing.B) {
	s := benchServer(b, &pb.Envelope{
		Op: &pb.Envelope_Rejected{Rejected: &pb.Rejected{Problem: problems.New(pb.CodeAuthentication)}},
	})
	benchRequests(b, s.public.Handler, http.MethodGet, "/v1/me", "")
}

// BenchmarkLoopback is the same over real connections, 64 at a time.
func BenchmarkLoopback(b *testing.B) {
	for _, c := range []struct {
		name         string
		handler      func(b *testing.B) http.Handler
		method, path string
		body         string
	}{
		{"gin/get", func(*testing.B) http.Handler { return bareGin() }, http.MethodGet, "/v1/me", ""},
		{"me", func(b *testing.B) http.Handler {
			return benchServer(b, &pb.Envelope{Op: &pb.Envelope_Me{}}).public.Handler
		}, http.MethodGet, "/v1/me", ""},
		{"gin/post300", func(*testing.B) http.Handler { return bareGin() }, http.MethodPost, "/v1/ingest", ingest300},
		{"ingest300", func(b *testing.B) http.Handler {
			return benchServer(b, &pb.Envelope{Op: &pb.Envelope_Ingest{}}).public.Handler
		}, http.MethodPost, "/v1/ingest", ingest300},
	} {
		b.Run(c.name, func(b *testing.B) { benchLoopback(b, c.handler(b), c.method, c.path, c.body) })
	}
}
