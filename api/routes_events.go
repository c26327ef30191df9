package api

import (
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	pb "orgmem/proto"
)

var eventRoutes = []Route{
	streaming(Route{
		Method: http.MethodGet, Path: "/v1/events", ID: "streamEvents", Tag: tagEvents,
		Summary: "Watch what happens",
		Description: "A stream of server-sent events: `event: <type>`, `id: <uuid>` and `data: <json>` with `type`, `data` and `timestamp`. " +
			"It is a live view: nothing is replayed, and Last-Event-ID is ignored. After 15 seconds without an event comes the comment `: ping`. " +
			"The caller sees what it did itself, what concerns its own memory, and what concerns provisioned subjects or the whole organization. " +
			"A reader that does not keep up is cut off.",
		Scope: scopeRead, Family: familyReads, Status: http.StatusOK,
		Problems: []string{codeTooManyStreams},
	}, mediaEvents, func(env *pb.Envelope, _ *empty, _ *violations) {
		env.Op = &pb.Envelope_Link{Link: &pb.LinkOp{Op: &pb.LinkOp_StreamEvents{StreamEvents: &pb.StreamEvents{}}}}
	}, serveEvents),
}

const mediaEvents = "text/event-stream"

// EventStream is one caller's live view of its organization.
type EventStream interface {
	// Events yields what the caller may see. It is closed when the stream was cut
	// off, because its buffer was full.
	Events() <-chan *pb.OutboxEvent
	// Valid reports whether the caller's credential still stands. It reads the
	// store.
	Valid() bool
	// Close ends the stream; it may be called more than once.
	Close()
}

// serveEvents writes frames until the client leaves, the node drains, the
// credential ends or the reader falls behind.
func serveEvents(ex *exchange, reply *pb.Reply) *pb.Problem {
	if ex.s.cfg.Streams == nil {
		return refusal(codeDegraded)
	}
	stream, ok := ex.s.cfg.Streams(reply.GetLink().GetStream())
	if !ok {
		return refusal(codeDegraded)
	}
	defer stream.Close()
	ex.w.Header()["X-Accel-Buffering"] = noBuffering
	out := ex.startStream(http.StatusOK, mediaEvents)
	for {
		idle := ex.s.cfg.Clock.NewTimer(streamHeartbeat)
		var frame []byte
		select {
		case event, ok := <-stream.Events():
			if !ok {
				idle.Stop()
				return nil
			}
			frame = eventFrame(event)
		case <-idle.C():
			frame = pingFrame
		case <-ex.s.drained:
			idle.Stop()
			return nil
		case <-ex.r.Context().Done():
			idle.Stop()
			return nil
		}
		idle.Stop()
		// Asked before each frame, so that a revoked key sees nothing that happens
		// after its revocation was acknowledged.
		if !stream.Valid() {
			return nil
		}
		if _, err := out.Write(frame); err != nil {
			return nil // the client has left; nobody is to be told
		}
	}
}

var (
	pingFrame   = []byte(": ping\n\n")
	noBuffering = []string{"no"} // a proxy that collects an answer would hold events back
)

// eventData is the JSON of a frame.
type eventData struct {
	Type      string         `json:"type"`
	Data      jsontext.Value `json:"data"`
	Timestamp timestamp      `json:"timestamp"`
}

// eventFrame spells one event. Its JSON holds no line break, so one data line
// takes it.
func eventFrame(e *pb.OutboxEvent) []byte {
	data := eventData{Type: e.GetType(), Data: e.GetData(), Timestamp: timestamp(e.GetAtMs())}
	if len(data.Data) == 0 {
		data.Data = jsontext.Value("{}")
	}
	body, err := json.Marshal(data, jsonOptions)
	if err != nil { // the outbox holds what was marshalled before: this cannot happen
		return pingFrame
	}
	var b strings.Builder
	b.WriteString("event: " + e.GetType() + "\n")
	if id, err := uuid.FromBytes(e.GetId()); err == nil {
		b.WriteString("id: " + id.String() + "\n")
	}
	b.WriteString("data: ")
	b.Write(body)
	b.WriteString("\n\n")
	return []byte(b.String())
}
