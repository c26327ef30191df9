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

// log writes the request's line. It holds no content, no credential (the first
// bytes of a key's hash identify it among the operator's), no query and no path:
// both may hold a client's own identifiers.
func (ex *Exchange) log(took time.Duration) {
	level := slog.LevelInfo
	switch {
	case ex.Err != nil || ex.status == http.StatusInternalServerError:
		level = slog.LevelError
	case took >= ex.edge.Cfg.SlowRequest && !ex.streamed:
		level = slog.LevelWarn
	case ex.status < http.StatusBadRequest && ex.edge.Cfg.AccessLog != LogAll:
		return
	}
	logger := ex.edge.Cfg.Logger
	if !logger.Enabled(ex.R.Context(), level) {
		return
	}
	client, _, err := net.SplitHostPort(ex.R.RemoteAddr)
	if err != nil {
		client = ex.R.RemoteAddr // not of the form host:port, such as a test's pipe
	}
	attrs := make([]slog.Attr, 0, 12)
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
	if ex.key != (pb.KeyHash{}) {
		attrs = append(attrs, slog.String("key", hex.EncodeToString(ex.key[:6])))
	}
	if ex.code != "" {
		attrs = append(attrs, slog.String("code", ex.code))
	}
	if ex.Err != nil {
		attrs = append(attrs, slog.String("err", ex.Err.Error()))
	}
	if ex.stack != nil {
		attrs = append(attrs, slog.String("stack", string(ex.stack)))
	}
	logger.LogAttrs(context.WithoutCancel(ex.R.Context()), level, "request", attrs...)
}
