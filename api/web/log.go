package web

import (
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	pb "orgmem/proto"
)

// One request, one line. By default only those that failed or were slow get
// theirs: at 20,000 requests a second a line each would cost more than the
// requests do, and the counters at /metrics already hold what the dull ones
// would say.

// AccessLog says which requests get a line in the log.
type AccessLog string

const (
	// LogProblems (the default) logs answers of status 400 and above and those
	// slower than SlowRequest.
	LogProblems AccessLog = "problems"
	// LogAll logs every request.
	LogAll AccessLog = "all"
)

// panicError is a recovered panic. Its value goes to the log and nowhere else.
type panicError struct{ value any }

func (p panicError) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// outcome is what a request came to, for its line in the log.
type outcome struct {
	key      pb.KeyHash
	answered bool
	streamed bool // it lasts as long as its client wants
	status   int
	code     string
	bytesIn  int
	bytesOut int
	Err      error  // what made it an internal error
	stack    []byte // of a panic
}

// sent notes that an answer has gone out.
func (o *outcome) sent(status, bytes int) { o.answered, o.status, o.bytesOut = true, status, bytes }

// level is that of the line; logged is false where the request gets none.
func (o *outcome) level(took time.Duration, cfg *Config) (level slog.Level, logged bool) {
	switch {
	case o.Err != nil || o.status == http.StatusInternalServerError:
		return slog.LevelError, true
	case took >= cfg.SlowRequest && !o.streamed:
		return slog.LevelWarn, true
	}
	return slog.LevelInfo, o.status >= http.StatusBadRequest || cfg.AccessLog == LogAll
}

// attrs adds what only some lines have.
func (o *outcome) attrs(attrs []slog.Attr) []slog.Attr {
	if o.key != (pb.KeyHash{}) {
		attrs = append(attrs, slog.String("key", hex.EncodeToString(o.key[:6])))
	}
	if o.code != "" {
		attrs = append(attrs, slog.String("code", o.code))
	}
	if o.Err != nil {
		attrs = append(attrs, slog.String("err", o.Err.Error()))
	}
	if o.stack != nil {
		attrs = append(attrs, slog.String("stack", string(o.stack)))
	}
	return attrs
}

// log writes the request's line. It holds no content, no credential (the first
// bytes of a key's hash identify it among the operator's), no query and no path:
// both may hold a client's own identifiers.
func (ex *Exchange) log(took time.Duration, trace string) {
	level, logged := ex.level(took, &ex.edge.Cfg)
	logger := ex.edge.Cfg.Logger
	if !logged || !logger.Enabled(ex.R.Context(), level) {
		return
	}
	client, _, err := net.SplitHostPort(ex.R.RemoteAddr)
	if err != nil {
		client = ex.R.RemoteAddr // not of the form host:port, such as a test's pipe
	}
	attrs := make([]slog.Attr, 0, 13)
	attrs = append(attrs,
		slog.String("request_id", ex.requestID),
		slog.String("method", ex.meter.method),
		slog.String("route", ex.meter.pattern),
		slog.Int("status", ex.status),
		slog.Duration("took", took),
		slog.Int("bytes_in", ex.bytesIn),
		slog.Int("bytes_out", ex.bytesOut),
		slog.String("client", client),
	)
	if trace != "" {
		attrs = append(attrs, slog.String("trace_id", trace))
	}
	logger.LogAttrs(context.WithoutCancel(ex.R.Context()), level, "request", ex.attrs(attrs)...)
}
