package api

import (
	"net/http"
	"reflect"
	"time"

	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// streaming completes a row whose answer is not one JSON object: serve writes
// it, after what the reply allows, through ex.startStream. A problem that serve
// returns is answered like any other; it must not come after startStream.
func streaming[In any](r Route, media string, fill func(*pb.Envelope, *In, *violations), serve func(*exchange, *pb.Reply) *pb.Problem) Route {
	r.input = reflect.TypeFor[In]()
	r.fill = func(env *pb.Envelope, input any, errs *violations) { fill(env, input.(*In), errs) }
	r.media, r.serve = media, serve
	return r
}

// streamWriter writes an answer piece by piece, each before it returns, for as
// long as that takes. A client that does not take a piece within
// streamWriteTimeout is cut off.
type streamWriter struct {
	ex      *exchange
	control *http.ResponseController
	clock   clock.Clock
}

// startStream sends the header of an answer whose length is not known, or stands
// in the header already.
func (ex *exchange) startStream(status int, media string) *streamWriter {
	h := ex.w.Header()
	ex.commonHeaders(h)
	h["Content-Type"] = []string{media}
	w := &streamWriter{ex: ex, control: http.NewResponseController(ex.w), clock: ex.edge.cfg.Clock}
	// The server's own time-out is one for the whole answer; from here on each
	// piece has its own.
	_ = w.control.SetWriteDeadline(time.Time{}) // not supported: a test's recorder
	ex.answered, ex.streamed, ex.status = true, true, status
	ex.w.WriteHeader(status)
	_ = w.control.Flush()
	return w
}

// Write implements io.Writer.
func (w *streamWriter) Write(piece []byte) (int, error) {
	late := startIOTimer(w.clock, streamWriteTimeout, w.control.SetWriteDeadline)
	defer late.stop()
	n, err := w.ex.w.Write(piece)
	w.ex.bytesOut += n
	if err != nil {
		return n, err
	}
	return n, w.control.Flush()
}
