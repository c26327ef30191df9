package api

import pb "orgmem/proto"

// linkSamples holds a valid body for each of the routes of proto/link.proto that
// want one.
var linkSamples = map[string]string{
	"createWebhook":      `{"url":"https://hooks.example.com/in","eventTypes":["graph.updated","job.completed"]}`,
	"importFile":         sampleForm,
	"importTranscript":   sampleForm,
	"createConnector":    `{"type":"feed","name":"News","config":{"url":"https://example.com/feed.xml"}}`,
	"patchConnector":     `{"enabled":false}`,
	"patchWebhook":       `{"disabled":false}`,
	"ingestSessionEvent": `{"sessionId":"s-1","role":"user","text":"Rename the field."}`,
	"ingestSessionBatch": `{"events":[{"sessionId":"s-1","role":"tool","text":"ok","tool":"bash",` +
		`"at":"2026-03-01T10:00:00Z"}]}`,
	"ingestAgentSignals": `{"sessionId":"s-1","signals":[{"type":"loop"}]}`,
}

// sampleForm is a form with the boundary that the tests announce.
const sampleForm = "--sample\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nFigs ripen " +
	"late.\r\n--sample--\r\n"

// fakeLink answers an operation of proto/link.proto with a full record.
func fakeLink(op *pb.LinkOp) *pb.Reply {
	ms := testNow.UnixMilli()
	hook := &pb.Webhook{
		Id: testJob.Bytes(), Url: "https://hooks.example.com/in",
		EventTypes: []string{"graph.updated", "brain.trained"}, CreatedMs: ms,
	}
	fetched := &pb.Connector{
		Id: testJob.Bytes(), Type: "feed", Name: "News", Config: []byte(`{"url":"https://example.com/feed.xml"}`),
		IntervalS: 3600, Enabled: true, CreatedMs: ms,
	}
	switch op.GetOp().(type) {
	case *pb.LinkOp_ImportFile, *pb.LinkOp_SyncConnector:
		return &pb.Reply{
			Status: 202, Result: &pb.Reply_Accepted{Accepted: &pb.Accepted{Job: testJob.Bytes(), Status: "pending"}},
		}
	case *pb.LinkOp_ListImports:
		return linkReply(&pb.LinkResult{Result: &pb.LinkResult_Imports{Imports: &pb.ImportList{Imports: []*pb.Import{
			{Id: testJob.Bytes(), Filename: "a.txt", Format: "text", Bytes: 16, Status: "running", CreatedMs: ms},
			{
				Id: testJob.Bytes(), Filename: "b.vtt", Format: "vtt", Status: "failed", CreatedMs: ms, FinishedMs: ms,
				Error: "It was forgotten.",
			},
		}}}})
	case *pb.LinkOp_ListConnectors:
		return linkReply(&pb.LinkResult{
			Result: &pb.LinkResult_Connectors{
				Connectors: &pb.ConnectorList{Connectors: []*pb.Connector{fetched}, NextCursor: "next"},
			},
		})
	case *pb.LinkOp_CreateConnector:
		r := linkReply(&pb.LinkResult{Result: &pb.LinkResult_Connector{Connector: fetched}})
		r.Status = 201
		return r
	case *pb.LinkOp_GetConnector, *pb.LinkOp_PatchConnector:
		fetched.LastSyncMs, fetched.LastStatus, fetched.LastError = ms, "failed", "It was not there."
		return linkReply(&pb.LinkResult{Result: &pb.LinkResult_Connector{Connector: fetched}})
	case *pb.LinkOp_DeleteConnector:
		return &pb.Reply{Status: 204, Result: &pb.Reply_Empty{Empty: &pb.Empty{}}}
	case *pb.LinkOp_ListWebhooks:
		return linkReply(&pb.LinkResult{
			Result: &pb.LinkResult_Webhooks{Webhooks: &pb.WebhookList{Webhooks: []*pb.Webhook{hook}, NextCursor: "next"}},
		})
	case *pb.LinkOp_CreateWebhook:
		hook.Secret = "whsec_c2VjcmV0"
		r := linkReply(&pb.LinkResult{Result: &pb.LinkResult_Webhook{Webhook: hook}})
		r.Status = 201
		return r
	case *pb.LinkOp_PatchWebhook:
		hook.Disabled, hook.DisabledReason, hook.Failures, hook.UpdatedMs = true, "failed too often", 8, ms
		return linkReply(&pb.LinkResult{Result: &pb.LinkResult_Webhook{Webhook: hook}})
	case *pb.LinkOp_GetWebhook:
		hook.LastDeliveryMs, hook.LastSuccessMs = ms, ms
		return linkReply(&pb.LinkResult{Result: &pb.LinkResult_WebhookDetail{WebhookDetail: &pb.WebhookDetail{
			Webhook: hook,
			Attempts: []*pb.Delivery{
				{
					Id: testJob.Bytes(), Event: testJob.Bytes(), EventType: "graph.updated", Attempt: 1, AtMs: ms, DurationMs: 12,
					ResponseStatus: 204, Ok: true,
				},
				{
					Id: testJob.Bytes(), Event: testJob.Bytes(), EventType: "webhook.test", Attempt: 1, AtMs: ms,
					Error: "The receiver could not be reached.",
				},
			},
		}}})
	case *pb.LinkOp_GetDelivery:
		return linkReply(&pb.LinkResult{Result: &pb.LinkResult_Sent{Sent: &pb.SentDelivery{
			Attempt: &pb.Delivery{
				Id: testJob.Bytes(), Event: testJob.Bytes(), EventType: "webhook.test", Attempt: 1, AtMs: ms, DurationMs: 12,
				ResponseStatus: 204, Ok: true,
			},
			Body: []byte(`{"id":"1"}`), Signature: "t=1700000000,v1=c7ac13b57a8d",
		}}})
	case *pb.LinkOp_DeleteWebhook:
		return &pb.Reply{Status: 204, Result: &pb.Reply_Empty{Empty: &pb.Empty{}}}
	case *pb.LinkOp_TestWebhook:
		return linkReply(&pb.LinkResult{
			Result: &pb.LinkResult_Test{
				Test: &pb.Delivery{ResponseStatus: 500, DurationMs: 3, Error: "The receiver answered 500."},
			},
		})
	case *pb.LinkOp_SessionEvents:
		stored := []*pb.SessionResult{{Status: "stored", Node: "ingest:x:y"}}
		return linkReply(&pb.LinkResult{
			Result: &pb.LinkResult_SessionResults{SessionResults: &pb.SessionResults{Results: stored}},
		})
	case *pb.LinkOp_AgentSignals:
		r := linkReply(&pb.LinkResult{Result: &pb.LinkResult_Signals{Signals: 1}})
		r.Status = 202
		return r
	case *pb.LinkOp_SessionFinalize:
		return linkReply(&pb.LinkResult{
			Result: &pb.LinkResult_SessionState{
				SessionState: &pb.SessionState{FinalizePending: true, Building: true, Finalize: true},
			},
		})
	case *pb.LinkOp_SessionStatus:
		return linkReply(&pb.LinkResult{
			Result: &pb.LinkResult_SessionState{
				SessionState: &pb.SessionState{SessionNodes: 2, TotalNodes: 3, LastIngestedMs: ms},
			},
		})
	case *pb.LinkOp_ListSessions:
		return linkReply(&pb.LinkResult{Result: &pb.LinkResult_Sessions{Sessions: &pb.SessionList{Sessions: []*pb.Session{
			{Id: "s-1", Events: 3, Cwd: "src", CreatedMs: ms, UpdatedMs: ms, FirstEventMs: ms, LastEventMs: ms},
			{Id: "s-2", Signals: 1, CreatedMs: ms, UpdatedMs: ms},
		}}}})
	case *pb.LinkOp_DeleteSession:
		return &pb.Reply{Status: 204, Result: &pb.Reply_Empty{Empty: &pb.Empty{}}}
	case *pb.LinkOp_StreamEvents:
		return linkReply(&pb.LinkResult{Result: &pb.LinkResult_Stream{Stream: "ticket"}})
	}
	return fakeProblem(pb.CodeInternal)
}

func linkReply(r *pb.LinkResult) *pb.Reply { return &pb.Reply{Result: &pb.Reply_Link{Link: r}} }

// fakeStream yields what is in its channel; it is cut off when that is closed.
type fakeStream struct {
	events chan *pb.OutboxEvent
	valid  func() bool
	closed chan struct{}
	slow   bool
}

func newFakeStream(events ...*pb.OutboxEvent) *fakeStream {
	s := &fakeStream{
		events: make(chan *pb.OutboxEvent, len(events)), closed: make(chan struct{}), valid: func() bool { return true },
	}
	for _, e := range events {
		s.events <- e
	}
	return s
}

func (s *fakeStream) Events() <-chan *pb.OutboxEvent { return s.events }
func (s *fakeStream) Valid() bool                    { return s.valid() }
func (s *fakeStream) Slow() bool                     { return s.slow }
func (s *fakeStream) Close()                         { close(s.closed) }

// fakeStreams gives every ticket a stream with one event, which is then cut off.
func fakeStreams(string) (EventStream, bool) {
	s := newFakeStream(&pb.OutboxEvent{
		Id: testJob.Bytes(), Type: "graph.updated", AtMs: testNow.UnixMilli(), Data: []byte(`{"changeType":"created"}`),
	})
	close(s.events)
	return s, true
}
