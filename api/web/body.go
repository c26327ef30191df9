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

// errTooLarge means that a body is longer than its route takes.
var errTooLarge = errors.New("too large")

// body is the body of a request, while it is under way.
type body struct {
	Body   []byte  // once it was read
	pooled *[]byte // its buffer, if it came from the pool
	held   int64   // bytes drawn from the node's budgets
	cut    bool    // it was not read to its end
	upload bool    // it draws from the budget of uploads, too
}

// ReadBody reads the whole body into the exchange. The problem is the client's
// fault; errOverBudget is ours.
func (ex *Exchange) ReadBody(limit int64) (*pb.Problem, error) {
	r := ex.R
	if r.ContentLength > limit {
		return tooLarge(limit), nil
	}
	if r.ContentLength == 0 || r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	late := startIOTimer(ex.edge.Cfg.Clock, ex.edge.Cfg.BodyTimeout, http.NewResponseController(ex.W).SetReadDeadline)
	defer late.stop()
	defer func() {
		ex.bytesIn = len(ex.Body)
		ex.edge.metrics.bodyBytes.Add(float64(ex.bytesIn))
	}()
	switch err := ex.read(r, limit, ex.edge); {
	case err == nil:
		return nil, nil
	case errors.Is(err, errTooLarge):
		return tooLarge(limit), nil
	case errors.Is(err, errOverBudget):
		return nil, err
	case errors.Is(err, os.ErrDeadlineExceeded):
		ex.cut = true
		ex.W.Header()["Connection"] = closeConnection
		return problems.New(pb.CodeRequestTimeout), nil
	default:
		ex.cut = true
		return problems.Newf(pb.CodeMalformed, "The body could not be read to its end."), nil
	}
}

func tooLarge(limit int64) *pb.Problem {
	return problems.Newf(pb.CodePayloadTooLarge, "The body is larger than the %d bytes that this route accepts.", limit)
}

// read reads the whole body. Its errors are errOverBudget, errTooLarge and those of the
// connection.
func (b *body) read(r *http.Request, limit int64, e *Edge) error {
	b.pooled = bodyBuffers.Get().(*[]byte)
	buf := (*b.pooled)[:0]
	defer func() { *b.pooled, b.Body = buf, buf }()
	step := int64(FirstBodyStep)
	for {
		if int64(len(buf)) == b.held {
			more := step
			if r.ContentLength > 0 {
				more = min(more, r.ContentLength-b.held)
			}
			if !b.draw(more, e) {
				return errOverBudget
			}
			step = min(2*step, bodyStep)
		}
		if int64(cap(buf)) < b.held {
			size := max(b.held, min(2*int64(cap(buf)), limit+1))
			if all := r.ContentLength; int64(len(buf)) >= all/trustedPart {
				size = max(size, all)
			}
			grown := make([]byte, len(buf), size)
			copy(grown, buf)
			buf = grown
		}
		n, err := r.Body.Read(buf[len(buf):min(b.held, int64(cap(buf)))])
		buf = buf[:len(buf)+n]
		switch {
		case int64(len(buf)) > limit:
			return errTooLarge
		case err == io.EOF, r.ContentLength > 0 && int64(len(buf)) == r.ContentLength:
			return nil
		case err != nil:
			return err // ReadBody tells it apart
		}
	}
}

// draw takes bytes from the budgets that the body belongs to.
func (b *body) draw(n int64, e *Edge) bool {
	if b.upload && !e.Uploads.Take(n) {
		return false
	}
	if !e.Bodies.Take(n) {
		if b.upload {
			e.Uploads.Give(n)
		}
		return false
	}
	b.held += n
	return true
}

// release gives the body's bytes back. Nothing of the request points into
// them: decoding copies. The file of a form may, of a body that is too large to be
// used again.
func (b *body) release(e *Edge) {
	e.Bodies.Give(b.held)
	if b.upload {
		e.Uploads.Give(b.held)
	}
	if b.pooled == nil {
		return
	}
	if cap(*b.pooled) <= maxPooledBuffer {
		bodyBuffers.Put(b.pooled)
	}
	b.pooled, b.Body, b.held = nil, nil, 0
}

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
