package api

import (
	"bytes"
	"fmt"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"

	"orgmem/api/problems"
	"orgmem/api/web"
	"orgmem/api/wire"
	pb "orgmem/proto"
	"orgmem/proto/tracing"
)

var sessionRoutes = []web.Route{
	web.On(web.Route{
		Method: http.MethodPost, Path: "/v1/ingest/session-event", ID: "ingestSessionEvent", Tag: tagSessions,
		Memory:  tracing.OperationUpsert,
		Summary: "Push one event of a coding session",
		Description: "An event that is stored already is deduped: by its eventId, else by its session, role, time and " +
			"text. Each stored event becomes a node of kind session, in the background.",
		Scope: pb.ScopeWrite, Family: pb.FamilySessions, Subject: pb.SubjectMode_SUBJECT_REFUSED,
		LargeBody: true, Status: http.StatusOK,
	}, func(env *pb.Envelope, in *sessionEventInput, errs *problems.Violations) {
		in.Body.check(errs)
		linkOp(env, &pb.LinkOp{
			Op: &pb.LinkOp_SessionEvents{SessionEvents: &pb.SessionEvents{Events: []*pb.SessionEvent{in.Body.proto()}}},
		})
	}, func(reply *pb.Reply) (sessionResult, bool) {
		list := reply.GetLink().GetSessionResults().GetResults()
		if len(list) != 1 {
			return sessionResult{}, false
		}
		return resultOf(0, list[0]), true
	}),
	web.On(web.Route{
		Method: http.MethodPost, Path: "/v1/ingest/session-batch", ID: "ingestSessionBatch", Tag: tagSessions,
		Memory:      tracing.OperationUpsert,
		Summary:     "Push events of coding sessions",
		Description: "Up to 500. Each has a result of its own: a bad event is rejected and the others are stored.",
		Scope:       pb.ScopeWrite, Family: pb.FamilySessions, Subject: pb.SubjectMode_SUBJECT_REFUSED,
		LargeBody: true, Status: http.StatusOK,
	}, func(env *pb.Envelope, in *sessionBatchInput, errs *problems.Violations) {
		switch n := in.Body.Events.count; {
		case n == 0:
			errs.Add("events", "expected array length >= 1")
		case n > maxSessionBatch:
			errs.Add("events", fmt.Sprintf("expected array length <= %d", maxSessionBatch))
		}
		linkOp(env, &pb.LinkOp{
			Op: &pb.LinkOp_SessionEvents{SessionEvents: &pb.SessionEvents{Batch: true, Events: in.Body.Events.list}},
		})
	}, func(reply *pb.Reply) (sessionResults, bool) {
		list := reply.GetLink().GetSessionResults()
		out := sessionResults{Results: make([]sessionResult, 0, len(list.GetResults()))}
		for i, r := range list.GetResults() {
			out.Results = append(out.Results, resultOf(i, r))
		}
		return out, list != nil
	}),
	web.On(web.Route{
		Method: http.MethodPost, Path: "/v1/ingest/agent-signals", ID: "ingestAgentSignals", Tag: tagSessions,
		Summary: "Report what an agent did wrong",
		Description: "Failures that the client noticed, of a tool, a test, or the agent itself, and what the person " +
			"corrected. Each becomes a node of " +
			"the session and an insight. One that says when it was is stored once, however often it is sent.",
		Scope: pb.ScopeWrite, Family: pb.FamilySessions, Subject: pb.SubjectMode_SUBJECT_REFUSED, Status: http.StatusAccepted,
	}, func(env *pb.Envelope, in *agentSignalsInput, errs *problems.Violations) {
		checkSessionID("sessionId", in.Body.SessionID, errs)
		op := &pb.AgentSignals{Session: in.Body.SessionID}
		for _, s := range in.Body.Signals {
			op.Signals = append(op.Signals, &pb.AgentSignal{Type: s.Type, Severity: s.Severity, Detail: s.Detail, AtMs: s.At.Ms})
		}
		linkOp(env, &pb.LinkOp{Op: &pb.LinkOp_AgentSignals{AgentSignals: op}})
	}, func(reply *pb.Reply) (signalsAccepted, bool) {
		_, ok := reply.GetLink().GetResult().(*pb.LinkResult_Signals)
		return signalsAccepted{reply.GetLink().GetSignals()}, ok
	}),
	web.On(web.Route{
		Method: http.MethodPost, Path: "/v1/ingest/session-finalize", ID: "finalizeSessions", Tag: tagSessions,
		Summary:     "Finish a backfill of sessions",
		Description: "Call it once after the last batch. The work is a job behind everything that was sent before.",
		Scope:       pb.ScopeWrite, Family: pb.FamilySessions, Subject: pb.SubjectMode_SUBJECT_REFUSED, Status: http.StatusOK,
	}, func(env *pb.Envelope, _ *web.Empty, _ *problems.Violations) {
		linkOp(env, &pb.LinkOp{Op: &pb.LinkOp_SessionFinalize{SessionFinalize: &pb.SessionFinalize{}}})
	}, answerSessionState),
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/ingest/session-status", ID: "getSessionStatus", Tag: tagSessions,
		Summary: "How far the sessions are",
		Scope:   pb.ScopeWrite, Family: pb.FamilySessions, Subject: pb.SubjectMode_SUBJECT_REFUSED, Status: http.StatusOK,
	}, func(env *pb.Envelope, _ *web.Empty, _ *problems.Violations) {
		linkOp(env, &pb.LinkOp{Op: &pb.LinkOp_SessionStatus{SessionStatus: &pb.SessionStatus{}}})
	}, answerSessionState),
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/recall/sessions", ID: "listSessions", Tag: tagSessions,
		Summary:     "List the coding sessions",
		Description: "Those of the subject, by when they began to be stored, newest first.",
		Scope:       pb.ScopeRead, Family: pb.FamilyReads, Subject: pb.SubjectMode_SUBJECT_AWARE,
		Capability: pb.CapabilityRecall,
		Status:     http.StatusOK,
	}, func(env *pb.Envelope, in *listSessionsInput, _ *problems.Violations) {
		linkOp(env, &pb.LinkOp{Op: &pb.LinkOp_ListSessions{ListSessions: &pb.ListSessions{Page: in.Proto()}}})
	}, func(reply *pb.Reply) (web.PageOf[session], bool) {
		list := reply.GetLink().GetSessions()
		out := web.NewPage[session](len(list.GetSessions()), list.GetNextCursor())
		for _, s := range list.GetSessions() {
			out.Data = append(out.Data, session{
				ID: s.GetId(), Cwd: wire.OrNull(s.GetCwd()), Model: wire.OrNull(s.GetModel()), EventCount: s.GetEvents(),
				SignalCount:  s.GetSignals(),
				FirstEventAt: wire.Timestamp(s.GetFirstEventMs()), LastEventAt: wire.Timestamp(s.GetLastEventMs()),
				CreatedAt: wire.Timestamp(s.GetCreatedMs()), UpdatedAt: wire.NotBefore(s.GetUpdatedMs(), s.GetCreatedMs()),
			})
		}
		return out, list != nil
	}),
	web.On(web.Route{
		Method: http.MethodDelete, Path: "/v1/recall/sessions/{session_id}", ID: "deleteSession", Tag: tagSessions,
		Summary:     "Delete a coding session",
		Description: "Its events are forgotten like nodes are, and nothing else of it is left.",
		Scope:       pb.ScopeWrite, Family: pb.FamilyDefault, Subject: pb.SubjectMode_SUBJECT_AWARE,
		Capability: pb.CapabilityRecall,
		Status:     http.StatusNoContent,
		Problems:   []string{pb.CodeSessionNotFound},
	}, func(env *pb.Envelope, in *sessionInput, _ *problems.Violations) {
		linkOp(env, &pb.LinkOp{Op: &pb.LinkOp_DeleteSession{DeleteSession: &pb.DeleteSession{Id: in.ID}}})
	}, web.AnswerEmpty),
}

type (
	listSessionsInput struct{ web.Page }
	sessionInput      struct {
		ID string `path:"session_id" doc:"The client's own id of the session, percent-encoded."`
	}
	sessionEventInput struct{ Body sessionEventBody }
	sessionBatchInput struct{ Body sessionBatchBody }
	agentSignalsInput struct{ Body agentSignalsBody }
)

type sessionEventBody struct {
	SessionID string       `json:"sessionId" minLength:"1" doc:"1 to 256 bytes without control characters."`
	Role      string       `json:"role" enum:"user,assistant,tool,system"`
	Text      string       `json:"text" minLength:"1" maxLength:"5000000" blank:"false"`
	At        wire.Instant `json:"at,omitzero" doc:"When it was said; by default, when it was stored."`
	EventID   string       `json:"eventId,omitempty" minLength:"1" maxLength:"256" doc:"@sessionEventBody.eventId"`
	Cwd       string       `json:"cwd,omitempty" maxLength:"4096"`
	Model     string       `json:"model,omitempty" maxLength:"256"`
	Tool      string       `json:"tool,omitempty" maxLength:"256"`
	Metadata  wire.Object  `json:"metadata,omitempty" doc:"@sessionEventBody.metadata"`
}

// TransformSchema implements huma.SchemaTransformer.
func (sessionEventBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return describeSession(s)
}

// TransformSchema implements huma.SchemaTransformer.
func (agentSignalsBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return describeSession(s)
}

func describeSession(s *huma.Schema) *huma.Schema {
	wire.Keyword(s.Properties["sessionId"], "pattern", wire.PlainName)
	wire.Keyword(s.Properties["sessionId"], "maxLength", web.MaxSubjectBytes)
	return s
}

func (b *sessionEventBody) check(errs *problems.Violations) {
	checkSessionID("sessionId", b.SessionID, errs)
}

// checkSessionID: a session may be called what a subject may.
func checkSessionID(field, id string, errs *problems.Violations) {
	if id != "" && !validSubject(id) {
		errs.Add(field, "expected 1 to 256 bytes without control characters")
	}
}

func (b *sessionEventBody) proto() *pb.SessionEvent {
	return &pb.SessionEvent{
		Session: b.SessionID, Role: b.Role, Text: b.Text, AtMs: b.At.Ms, Event: b.EventID, Cwd: b.Cwd, Model: b.Model,
		Tool: b.Tool, Metadata: b.Metadata,
	}
}

type sessionBatchBody struct {
	Events sessionEvents `json:"events,omitzero" needed:"true" doc:"Each an event as session-event takes it."`
}

// sessionEvents reads a list of events each by itself, so that a bad one becomes
// a rejected one.
type sessionEvents struct {
	count int
	list  []*pb.SessionEvent
}

var (
	sessionEventType    = reflect.TypeFor[sessionEventBody]()
	sessionEventPlan, _ = wire.PlanOf(sessionEventType) // the row of session-event reports what is wrong with it
)

// Schema implements huma.SchemaProvider.
func (sessionEvents) Schema(r huma.Registry) *huma.Schema {
	one, most := 1, maxSessionBatch
	return &huma.Schema{
		Type: huma.TypeArray, MinItems: &one, MaxItems: &most, Items: r.Schema(sessionEventType, true, "SessionEvent"),
	}
}

// FromJSONWith implements wire.Tolerant.
func (e *sessionEvents) FromJSONWith(raw jsontext.Value, registry huma.Registry, around int) string {
	if raw.Kind() != '[' {
		return "expected array"
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw))
	if _, err := dec.ReadToken(); err != nil {
		return "expected array"
	}
	for dec.PeekKind() != ']' {
		one, err := dec.ReadValue()
		if err != nil {
			return "expected array"
		}
		if e.count++; e.count <= maxSessionBatch {
			e.list = append(e.list, readEvent(one, around+1, registry))
		}
	}
	return ""
}

// eventSchema is the schema of session-event, as each server has it.
var eventSchema = &huma.Schema{Ref: "#/components/schemas/SessionEvent"}

// readEvent reads one event; what is wrong with it becomes the reason of its
// rejection. It stands around levels deep in the body.
func readEvent(raw jsontext.Value, around int, registry huma.Registry) *pb.SessionEvent {
	var body sessionEventBody
	var errs problems.Violations
	problem := wire.DecodeWithin(around, raw, sessionEventPlan, eventSchema, registry,
		reflect.ValueOf(&body).Elem(), &errs)
	if problem == nil && !errs.Any() {
		body.check(&errs)
	}
	if problem == nil {
		problem = errs.Refusal()
	}
	if problem == nil {
		return body.proto()
	}
	reason := problem.GetDetail()
	if faults := problem.GetErrors(); len(faults) > 0 {
		reason = faults[0].GetField() + ": " + faults[0].GetMessage()
	}
	return &pb.SessionEvent{Invalid: reason}
}

type agentSignalsBody struct {
	SessionID string            `json:"sessionId" minLength:"1" doc:"1 to 256 bytes without control characters."`
	Signals   []agentSignalBody `json:"signals" minItems:"1" maxItems:"100"`
}

type agentSignalBody struct {
	Type     string       `json:"type" minLength:"1" maxLength:"64" doc:"@agentSignalBody.type"`
	Severity string       `json:"severity,omitempty" maxLength:"32"`
	Detail   string       `json:"detail,omitempty" maxLength:"8192"`
	At       wire.Instant `json:"at,omitzero"`
}

type signalsAccepted struct {
	Accepted uint32 `json:"accepted" doc:"How many signals were stored."`
}

type sessionResult struct {
	Index  int         `json:"index"`
	Status string      `json:"status" enum:"stored,deduped,rejected"`
	NodeID wire.OrNull `json:"nodeId" doc:"The node that the event becomes; it can be found once it is ingested."`
	Error  string      `json:"error,omitempty" doc:"Why it was rejected."`
}

type sessionResults struct {
	Results []sessionResult `json:"results"`
}

func resultOf(i int, r *pb.SessionResult) sessionResult {
	return sessionResult{Index: i, Status: r.GetStatus(), NodeID: wire.OrNull(r.GetNode()), Error: r.GetError()}
}

type sessionState struct {
	SessionNodeCount uint64         `json:"sessionNodeCount"`
	SessionEdgeCount uint64         `json:"sessionEdgeCount" doc:"@sessionState.sessionEdgeCount"`
	IngestPending    uint64         `json:"ingestPending" doc:"Events that are stored and not yet ingested."`
	FinalizePending  bool           `json:"finalizePending"`
	Building         bool           `json:"building" doc:"What is derived from sessions is being built."`
	TotalNodeCount   uint64         `json:"totalNodeCount" doc:"All nodes of the subject."`
	LastIngestedAt   wire.Timestamp `json:"lastIngestedAt" nullable:"true"`
	WarmLayers       []string       `json:"warmLayers" doc:"@sessionState.warmLayers"`
	AlreadyInFlight  *bool          `json:"alreadyInFlight,omitempty" doc:"@sessionState.alreadyInFlight"`
}

func answerSessionState(reply *pb.Reply) (sessionState, bool) {
	s := reply.GetLink().GetSessionState()
	out := sessionState{
		SessionNodeCount: s.GetSessionNodes(), SessionEdgeCount: s.GetSessionEdges(), IngestPending: s.GetIngestPending(),
		FinalizePending: s.GetFinalizePending(), Building: s.GetBuilding(), TotalNodeCount: s.GetTotalNodes(),
		LastIngestedAt: wire.Timestamp(s.GetLastIngestedMs()), WarmLayers: append([]string{}, s.GetWarmLayers()...),
	}
	if s.GetFinalize() {
		already := s.GetAlreadyInFlight()
		out.AlreadyInFlight = &already
	}
	return out, s != nil
}

type session struct {
	ID           string         `json:"id"`
	Cwd          wire.OrNull    `json:"cwd"`
	Model        wire.OrNull    `json:"model"`
	EventCount   uint64         `json:"eventCount"`
	SignalCount  uint64         `json:"signalCount"`
	FirstEventAt wire.Timestamp `json:"firstEventAt" nullable:"true"`
	LastEventAt  wire.Timestamp `json:"lastEventAt" nullable:"true"`
	CreatedAt    wire.Timestamp `json:"createdAt"`
	UpdatedAt    wire.Timestamp `json:"updatedAt"`
}
