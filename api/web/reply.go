package web

import (
	"bytes"
	"errors"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync"

	"github.com/go-json-experiment/json"

	"orgmem/api/problems"
	"orgmem/api/wire"
	pb "orgmem/proto"
)

// Header values that never change are shared: net/http copies what it keeps.
var (
	ContentJSON    = []string{"application/json"}
	contentProblem = []string{"application/problem+json"}
	headerTrue     = []string{"true"}
	headerBearer   = []string{`Bearer realm="orgmem"`}
	noStore        = []string{"no-store"} // every answer is about somebody's memory
	noSniff        = []string{"nosniff"}
)

// ErrUnexpectedReply means that an actor answered another operation's result,
// or a status that the route's row does not list.
var ErrUnexpectedReply = errors.New("the actor's reply does not fit the route")

// autoLength is the longest body whose Content-Length net/http sets by itself.
const autoLength = 2048

var outBuffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// WriteJSON encodes an answer before its first byte is sent, so that what
// cannot be encoded is a clean 500.
func (ex *Exchange) WriteJSON(status int, contentType []string, value any) {
	out := outBuffers.Get().(*bytes.Buffer)
	defer func() {
		if out.Cap() <= maxPooledBuffer {
			out.Reset()
			outBuffers.Put(out)
		}
	}()
	if err := wire.Encode(out, value); err != nil {
		ex.Err = err
		if contentType[0] == contentProblem[0] {
			ex.Write(http.StatusInternalServerError, contentType, nil) // a problem is plain text: this cannot happen
			return
		}
		out.Reset()
		e, body := ex.edge.problemJSON(problems.New(pb.CodeInternal), ex.requestID)
		ex.code, status, contentType = e.Code, e.Status, contentProblem
		if err := json.MarshalWrite(out, body, wire.Options); err != nil {
			ex.Err = errors.Join(ex.Err, err)
		}
	}
	ex.Write(status, contentType, out.Bytes())
}

// Write sends the answer. A client that does not take it has left; nobody else
// is to be told.
func (ex *Exchange) Write(status int, contentType []string, body []byte) {
	h := ex.W.Header()
	ex.commonHeaders(h)
	if contentType != nil {
		h["Content-Type"] = contentType
	}
	if len(body) > autoLength {
		h["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	ex.sent(status, len(body))
	ex.W.WriteHeader(status)
	if len(body) > 0 {
		_, _ = ex.W.Write(body)
	}
}

// commonHeaders stand on every answer.
func (ex *Exchange) commonHeaders(h http.Header) {
	h[HeaderRequestID] = []string{ex.requestID}
	h["Cache-Control"] = noStore
	h["X-Content-Type-Options"] = noSniff
}

// End closes an exchange: it turns a panic into a 500, gives back what was
// held, and counts and logs the request. The function that began the exchange defers it
// first.
func (ex *Exchange) End() {
	if p := recover(); p != nil {
		if p == http.ErrAbortHandler { //nolint:errorlint // net/http compares it so, too
			ex.finish()
			panic(p) //nolint:forbidigo // net/http's own way to cut a connection is passed on
		}
		ex.Err, ex.stack = panicError{p}, debug.Stack()
		if !ex.answered {
			ex.Refuse(problems.New(pb.CodeInternal), nil)
		}
	}
	ex.finish()
}

func (ex *Exchange) finish() {
	ex.release(ex.edge)
	ex.edge.metrics.inFlight.Dec()
	took := ex.edge.Cfg.Clock.Now().Sub(ex.start)
	ex.meter.observe(ex.status, took)
	ex.log(took)
}
