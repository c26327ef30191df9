package api

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// budget bounds the bytes of all bodies under way on the node.
type budget struct {
	limit int64
	used  atomic.Int64
}

func (b *budget) take(n int64) bool {
	if b.used.Add(n) > b.limit {
		b.used.Add(-n)
		return false
	}
	return true
}

func (b *budget) give(n int64) { b.used.Add(-n) }

// held is how many bytes are drawn.
func (b *budget) held() int64 { return b.used.Load() }

var bodyBuffers = sync.Pool{New: func() any { return new([]byte) }}

// errOverBudget means that the node holds as many bytes of bodies as it may.
var errOverBudget = errors.New("too many bytes of bodies under way")

// readBody reads the whole body into the exchange. The problem is the client's
// fault; errOverBudget is ours.
func (ex *exchange) readBody(limit int64) (*pb.Problem, error) {
	r := ex.r
	if r.ContentLength > limit {
		return refusalf(CodeTooLarge, "The body is larger than the %d bytes that this route accepts.", limit), nil
	}
	if r.ContentLength == 0 || r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	late := startIOTimer(ex.edge.cfg.Clock, ex.edge.cfg.BodyTimeout, http.NewResponseController(ex.w).SetReadDeadline)
	defer late.stop()

	ex.pooled = bodyBuffers.Get().(*[]byte)
	buf := (*ex.pooled)[:0]
	defer func() {
		*ex.pooled, ex.body, ex.bytesIn = buf, buf, len(buf)
		ex.edge.metrics.bodyBytes.Add(float64(len(buf)))
	}()
	step := int64(firstBodyStep)
	for {
		if int64(len(buf)) == ex.held {
			more := step
			if r.ContentLength > 0 {
				more = min(more, r.ContentLength-ex.held)
			}
			if !ex.draw(more) {
				return nil, errOverBudget
			}
			step = min(2*step, bodyStep)
		}
		if int64(cap(buf)) < ex.held {
			size := max(ex.held, min(2*int64(cap(buf)), limit+1))
			if all := r.ContentLength; int64(len(buf)) >= all/trustedPart {
				size = max(size, all)
			}
			grown := make([]byte, len(buf), size)
			copy(grown, buf)
			buf = grown
		}
		n, err := r.Body.Read(buf[len(buf):min(ex.held, int64(cap(buf)))])
		buf = buf[:len(buf)+n]
		if int64(len(buf)) > limit {
			return refusalf(CodeTooLarge, "The body is larger than the %d bytes that this route accepts.", limit), nil
		}
		switch {
		case err == io.EOF, r.ContentLength > 0 && int64(len(buf)) == r.ContentLength:
			return nil, nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			ex.cut = true
			ex.w.Header()["Connection"] = closeConnection
			return refusal(CodeRequestTimeout), nil
		case err != nil:
			ex.cut = true
			return refusalf(CodeMalformed, "The body could not be read to its end."), nil
		}
	}
}

// draw takes bytes from the budgets that the body belongs to.
func (ex *exchange) draw(n int64) bool {
	if ex.isUpload() && !ex.edge.uploads.take(n) {
		return false
	}
	if !ex.edge.bodies.take(n) {
		if ex.isUpload() {
			ex.edge.uploads.give(n)
		}
		return false
	}
	ex.held += n
	return true
}

func (ex *exchange) isUpload() bool { return ex.route != nil && ex.route.upload != nil }

// ioTimer makes a read or a write fail once the injected clock says that time is
// up: it puts the connection's own deadline into the past.
type ioTimer struct {
	timer    clock.Timer
	deadline func(time.Time) error

	mu    sync.Mutex
	ended bool // guarded by mu: a timer that fires late must not touch what comes next
	fired bool // guarded by mu
}

func startIOTimer(c clock.Clock, after time.Duration, deadline func(time.Time) error) *ioTimer {
	t := &ioTimer{deadline: deadline}
	t.timer = c.AfterFunc(after, t.fire)
	return t
}

func (t *ioTimer) fire() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		t.fired = true
		_ = t.deadline(time.Unix(1, 0)) // not supported: the server's own time-outs hold
	}
}

func (t *ioTimer) stop() {
	t.timer.Stop()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	if t.fired {
		_ = t.deadline(time.Time{})
	}
}

var closeConnection = []string{"close"}

// releaseBody gives the body's bytes back. Nothing of the request points into
// them: decoding copies. The file of a form may, of a body that is too large to be
// used again.
func (ex *exchange) releaseBody() {
	ex.edge.bodies.give(ex.held)
	if ex.isUpload() {
		ex.edge.uploads.give(ex.held)
	}
	if ex.pooled == nil {
		return
	}
	if cap(*ex.pooled) <= maxPooledBuffer {
		bodyBuffers.Put(ex.pooled)
	}
	ex.pooled, ex.body, ex.held = nil, nil, 0
}
