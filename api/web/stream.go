package web

import (
	"net/http"
	"reflect"
	"time"

	"orgmem/api/problems"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// Streaming completes a row whose answer is not one JSON object: serve writes
// it, after what the reply allows, through ex.StartStream. A problem that serve
// returns is answered like any other; it must not come after StartStream.
func Streaming[In any](
	r Route, media string, fill func(*pb.Envelope, *In, *problems.Violations),
	serve func(*Exchange, *pb.Reply) *pb.Problem,
) Route {
	r.input = reflect.TypeFor[In]()
	r.fill = func(env *pb.Envelope, input any, errs *problems.Violations) { fill(env, input.(*In), errs) }
	r.media, r.serve = media, serve
	return r
}

// StreamWriter writes an answer piece by piece, each before it returns, for as
// long as that takes. A client that does not take a piece within
// streamWriteTimeout is cut off.
type StreamWriter struct {
	ex      *Exchange
	control *http.ResponseController
	clock   clock.Clock
}

// StartStream sends the header of an answer whose length is not known, or stands
// in the header already.
func (ex *Exchange) StartStream(status int, media string) *StreamWriter {
	h := ex.W.Header()
	ex.commonHeaders(h)
	h["Content-Type"] = []string{media}
	w := &StreamWriter{ex: ex, control: http.NewResponseController(ex.W), clock: ex.edge.Cfg.Clock}
	// The server's own time-out is one for the whole answer; from here on each
	// piece has its own.
	_ = w.control.SetWriteDeadline(time.Time{}) // not supported: a test's recorder
	ex.sent(status, 0)
	ex.streamed = true
	ex.W.WriteHeader(status)
	_ = w.control.Flush()
	return w
}

// Write implements io.Writer.
func (w *StreamWriter) Write(piece []byte) (int, error) {
	late := startIOTimer(w.clock, streamWriteTimeout, w.control.SetWriteDeadline)
	defer late.stop()
	n, err := w.ex.W.Write(piece)
	w.ex.bytesOut += n
	if err != nil {
		return n, err
	}
	return n, w.control.Flush()
}
