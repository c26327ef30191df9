package api

import pb "orgmem/proto"

// linkSamples holds a valid body for each of the routes of proto/link.proto that
// want one.
var linkSamples = map[string]string{}

// fakeLink answers an operation of proto/link.proto with a full record.
func fakeLink(op *pb.LinkOp) *pb.Reply {
	switch op.GetOp().(type) {
	case *pb.LinkOp_StreamEvents:
		return linkReply(&pb.LinkResult{Result: &pb.LinkResult_Stream{Stream: "ticket"}})
	}
	return fakeProblem(codeInternal)
}

func linkReply(r *pb.LinkResult) *pb.Reply { return &pb.Reply{Result: &pb.Reply_Link{Link: r}} }

// fakeStream yields what is in its channel; it is cut off when that is closed.
type fakeStream struct {
	events chan *pb.OutboxEvent
	valid  func() bool
	closed chan struct{}
}

func newFakeStream(events ...*pb.OutboxEvent) *fakeStream {
	s := &fakeStream{events: make(chan *pb.OutboxEvent, len(events)), closed: make(chan struct{}), valid: func() bool { return true }}
	for _, e := range events {
		s.events <- e
	}
	return s
}

func (s *fakeStream) Events() <-chan *pb.OutboxEvent { return s.events }
func (s *fakeStream) Valid() bool                    { return s.valid() }
func (s *fakeStream) Close()                         { close(s.closed) }

// fakeStreams gives every ticket a stream with one event, which is then cut off.
func fakeStreams(string) (EventStream, bool) {
	s := newFakeStream(&pb.OutboxEvent{Id: testJob.Bytes(), Type: "graph.updated", AtMs: testNow.UnixMilli(), Data: []byte(`{"changeType":"created"}`)})
	close(s.events)
	return s, true
}
