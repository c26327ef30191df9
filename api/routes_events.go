package api

import (
	"encoding/hex"
	"net/http"

	"github.com/google/uuid"

	"orgmem/api/problems"
	"orgmem/api/web"
	"orgmem/api/wire"
	pb "orgmem/proto"
)

func (s *Server) eventRoutes() []web.Route {
	return []web.Route{web.Streaming(web.Route{
		Method: http.MethodGet, Path: "/v1/events", ID: "streamEvents", Tag: tagEvents,
		Summary: "Watch what happens",
		Description: "A stream of server-sent events: `event: <type>`, `id: <uuid>` and `data: <json>` with `type`, `data` " +
			"and `timestamp`. " +
			"It is a live view: nothing is replayed, and Last-Event-ID is ignored. After 15 seconds without an event comes " +
			"the comment `: ping`. " +
			"The caller sees what it did itself, what concerns its own memory, and what concerns provisioned subjects or the " +
			"whole organization. " +
			"A reader that falls some hundred events behind is cut off; a comment is the last it gets. A comment also ends " +
			"the stream " +
			"where the node stops or the organization moves to another: connect again.",
		Scope: pb.ScopeRead, Family: pb.FamilyReads, NoSubject: true, Status: http.StatusOK,
		Problems: []string{pb.CodeTooManyStreams},
	}, mediaEvents, func(env *pb.Envelope, _ *web.Empty, _ *problems.Violations) {
		env.Op = &pb.Envelope_Link{Link: &pb.LinkOp{Op: &pb.LinkOp_StreamEvents{StreamEvents: &pb.StreamEvents{}}}}
	}, s.serveEvents)}
}

const mediaEvents = "text/event-stream"

// EventStream is one caller's live view of its organization.
type EventStream interface {
	// Events yields what the caller may see. It is closed when the stream has ended.
	Events() <-chan *pb.OutboxEvent
	// Slow reports of a stream that has ended whether that is because its reader fell
	// too far behind.
	Slow() bool
	// Valid reports whether the caller's credential still stands. It reads the
	// store.
	Valid() bool
	// Close ends the stream; it may be called more than once.
	Close()
}

// serveEvents writes frames until the client leaves, the node drains, the
// credential ends or the reader falls behind.
func (s *Server) serveEvents(ex *web.Exchange, reply *pb.Reply) *pb.Problem {
	if s.cfg.Streams == nil {
		return problems.New(pb.CodeServiceDegraded)
	}
	stream, ok := s.cfg.Streams(reply.GetLink().GetStream())
	if !ok {
		return problems.New(pb.CodeServiceDegraded)
	}
	defer stream.Close()
	ex.W.Header()["X-Accel-Buffering"] = noBuffering
	out := ex.StartStream(http.StatusOK, mediaEvents)
	var frames []byte
	for {
		idle := s.cfg.Clock.NewTimer(streamHeartbeat)
		var end []byte // the last that is written
		select {
		case event, ok := <-stream.Events():
			switch {
			case ok:
				frames = appendWaiting(appendFrame(frames[:0], event), stream.Events())
			case stream.Slow():
				end = slowFrame
			default:
				end = endFrame
			}
		case <-idle.C():
			frames = append(frames[:0], pingFrame...)
		case <-s.edge.Drained:
			end = endFrame
		case <-ex.R.Context().Done():
			idle.Stop()
			return nil
		}
		idle.Stop()
		if end != nil {
			_, _ = out.Write(end) // whether it still arrives or not, this is the end
			return nil
		}
		// Asked before each write, so that a revoked key sees nothing that happens
		// after its revocation was acknowledged.
		if !stream.Valid() {
			return nil
		}
		if _, err := out.Write(frames); err != nil {
			return nil // the client has left; there is nobody to answer
		}
		if cap(frames) > keptFrames {
			frames = nil
		}
	}
}

const (
	// maxFrames ends the gathering of frames for one write: the size of a TLS record
	// and of what a socket takes at once. A write costs some 10 µs, a frame less than
	// one, so that a burst is paid for once and not per event.
	maxFrames = 16 << 10
	// keptFrames is how much of that a stream keeps while nothing happens: a few
	// events.
	keptFrames = 1 << 10
)

// appendWaiting adds the events that wait already.
func appendWaiting(frames []byte, events <-chan *pb.OutboxEvent) []byte {
	for len(frames) < maxFrames {
		select {
		case event, ok := <-events:
			if !ok {
				return frames // the next look finds that
			}
			frames = appendFrame(frames, event)
		default:
			return frames
		}
	}
	return frames
}

var (
	pingFrame   = []byte(": ping\n\n")
	slowFrame   = []byte(": dropped, because it was read too slowly; connect again\n\n")
	endFrame    = []byte(": the stream ends here; connect again\n\n")
	noBuffering = []string{"no"} // a proxy that collects an answer would hold events back
)

// appendUUID is id.String without its allocation.
func appendUUID(b []byte, id uuid.UUID) []byte {
	b = hex.AppendEncode(b, id[:4])
	for _, group := range [][]byte{id[4:6], id[6:8], id[8:10], id[10:]} {
		b = hex.AppendEncode(append(b, '-'), group)
	}
	return b
}

// appendFrame spells one event. Its data was marshalled when the event was made, so
// it holds no line break, and one data line takes it.
func appendFrame(b []byte, e *pb.OutboxEvent) []byte {
	b = append(b, "event: "...)
	b = append(b, e.GetType()...)
	if id, err := uuid.FromBytes(e.GetId()); err == nil {
		b = append(b, "\nid: "...)
		b = appendUUID(b, id)
	}
	b = append(b, "\ndata: {\"type\":\""...)
	b = append(b, e.GetType()...) // lower-case letters and dots
	b = append(b, "\",\"data\":"...)
	if len(e.GetData()) == 0 {
		b = append(b, "{}"...)
	}
	b = append(b, e.GetData()...)
	b = append(b, ",\"timestamp\":"...)
	b = wire.Timestamp(e.GetAtMs()).Append(b)
	return append(b, "}\n\n"...)
}
