package web

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"orgmem/api/problems"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// Budget bounds the bytes of all bodies under way on the node.
type Budget struct {
	limit int64
	used  atomic.Int64
}

// Take draws bytes, unless that would be more than the limit.
func (b *Budget) Take(n int64) bool {
	if b.used.Add(n) > b.limit {
		b.used.Add(-n)
		return false
	}
	return true
}

// Give gives bytes back.
func (b *Budget) Give(n int64) { b.used.Add(-n) }

// Held is how many bytes are drawn.
func (b *Budget) Held() int64 { return b.used.Load() }

var bodyBuffers = sync.Pool{New: func() any { return new([]byte) }}

// errOverBudget means that the node holds as many bytes of bodies as it may.
var errOverBudget = errors.New("too many bytes of bodies under way")

// ReadBody reads the whole body into the exchange. The problem is the client's
// fault; errOverBudget is ours.
func (ex *Exchange) ReadBody(limit int64) (*pb.Problem, error) {
	r := ex.R
	if r.ContentLength > limit {
		return problems.Newf(pb.CodePayloadTooLarge,
			"The body is larger than the %d bytes that this route accepts.", limit), nil
	}
	if r.ContentLength == 0 || r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	late := startIOTimer(ex.edge.Cfg.Clock, ex.edge.Cfg.BodyTimeout, http.NewResponseController(ex.W).SetReadDeadline)
	defer late.stop()

	ex.pooled = bodyBuffers.Get().(*[]byte)
	buf := (*ex.pooled)[:0]
	defer func() {
		*ex.pooled, ex.Body, ex.bytesIn = buf, buf, len(buf)
		ex.edge.metrics.bodyBytes.Add(float64(len(buf)))
	}()
	step := int64(FirstBodyStep)
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
			return problems.Newf(pb.CodePayloadTooLarge,
				"The body is larger than the %d bytes that this route accepts.", limit), nil
		}
		switch {
		case err == io.EOF, r.ContentLength > 0 && int64(len(buf)) == r.ContentLength:
			return nil, nil
		case errors.Is(err, os.ErrDeadlineExceeded):
			ex.cut = true
			ex.W.Header()["Connection"] = closeConnection
			return problems.New(pb.CodeRequestTimeout), nil
		case err != nil:
			ex.cut = true
			return problems.Newf(pb.CodeMalformed, "The body could not be read to its end."), nil
		}
	}
}

// draw takes bytes from the budgets that the body belongs to.
func (ex *Exchange) draw(n int64) bool {
	if ex.isUpload() && !ex.edge.Uploads.Take(n) {
		return false
	}
	if !ex.edge.Bodies.Take(n) {
		if ex.isUpload() {
			ex.edge.Uploads.Give(n)
		}
		return false
	}
	ex.held += n
	return true
}

func (ex *Exchange) isUpload() bool { return ex.route != nil && ex.route.Upload != nil }

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
func (ex *Exchange) releaseBody() {
	ex.edge.Bodies.Give(ex.held)
	if ex.isUpload() {
		ex.edge.Uploads.Give(ex.held)
	}
	if ex.pooled == nil {
		return
	}
	if cap(*ex.pooled) <= maxPooledBuffer {
		bodyBuffers.Put(ex.pooled)
	}
	ex.pooled, ex.Body, ex.held = nil, nil, 0
}
