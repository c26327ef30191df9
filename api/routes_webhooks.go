package api

import (
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	webhooks "orgmem/actors/webhook"
	"orgmem/api/problems"
	"orgmem/api/web"
	"orgmem/api/wire"
	pb "orgmem/proto"
)

var webhookRoutes = []web.Route{
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/webhooks", ID: "listWebhooks", Tag: tagWebhooks,
		Summary:     "List the webhook endpoints",
		Description: "Those of the whole organization, newest first.",
		Scope:       pb.ScopeRead, Family: pb.FamilyReads, Status: http.StatusOK,
	}, func(env *pb.Envelope, in *listWebhooksInput, _ *problems.Violations) {
		linkOp(env, &pb.LinkOp{Op: &pb.LinkOp_ListWebhooks{ListWebhooks: &pb.ListWebhooks{Page: in.Proto()}}})
	}, func(reply *pb.Reply) (web.PageOf[webhook], bool) {
		list := reply.GetLink().GetWebhooks()
		return web.PageFrom(list != nil, list.GetWebhooks(), list.GetNextCursor(), webhookOf)
	}),
	web.On(web.Route{
		Method: http.MethodPost, Path: "/v1/webhooks", ID: "createWebhook", Tag: tagWebhooks,
		Summary: "Register a webhook endpoint",
		Description: "The answer holds the signing secret, this once. The URL must be https, with the default port and " +
			"without user name, and its host " +
			"must resolve to public addresses only; that is looked at again at every delivery, and redirects are never " +
			"followed. " +
			"The endpoint receives what the caller may read.",
		Scope: pb.ScopeWrite, Family: pb.FamilyWrites, Idempotent: true, Status: http.StatusCreated,
		Problems: []string{pb.CodeWebhookLimit},
	}, func(env *pb.Envelope, in *createWebhookInput, errs *problems.Violations) {
		checkEventTypes(in.Body.EventTypes, errs)
		linkOp(env, &pb.LinkOp{Op: &pb.LinkOp_CreateWebhook{CreateWebhook: &pb.CreateWebhook{
			Url: in.Body.URL, EventTypes: unrepeated(in.Body.EventTypes),
		}}})
	}, answerWebhook),
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/webhooks/{webhook_id}", ID: "getWebhook", Tag: tagWebhooks,
		Summary:     "Get a webhook endpoint",
		Description: "With its last 50 delivery attempts, newest first.",
		Scope:       pb.ScopeRead, Family: pb.FamilyReads, Status: http.StatusOK,
		Problems: []string{pb.CodeWebhookNotFound},
	}, func(env *pb.Envelope, in *webhookInput, _ *problems.Violations) {
		linkOp(env, &pb.LinkOp{Op: &pb.LinkOp_GetWebhook{GetWebhook: &pb.GetWebhook{Id: in.ID}}})
	}, func(reply *pb.Reply) (webhook, bool) {
		detail := reply.GetLink().GetWebhookDetail()
		out, ok := webhookOf(detail.GetWebhook())
		out.Attempts = make([]deliveryAttempt, 0, len(detail.GetAttempts()))
		for _, d := range detail.GetAttempts() {
			attempt, known := attemptOf(d)
			ok = ok && known
			out.Attempts = append(out.Attempts, attempt)
		}
		return out, ok
	}),
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/webhooks/{webhook_id}/deliveries/{delivery_id}", ID: "getDelivery",
		Tag:     tagWebhooks,
		Summary: "Get what a delivery attempt has sent",
		Description: "One of the last 50 attempts with its body, byte for byte, and its signature. The service keeps no " +
			"bodies: it makes this one from its event again. Where the event was erased, is older than 72 hours or was " +
			"sent by a version that did not note it, unavailable is gone; where it concerns another member's memory, " +
			"it is withheld.",
		Scope: pb.ScopeRead, Family: pb.FamilyReads, Status: http.StatusOK,
		Problems: []string{pb.CodeWebhookNotFound, pb.CodeDeliveryNotFound},
	}, func(env *pb.Envelope, in *deliveryInput, _ *problems.Violations) {
		linkOp(env, &pb.LinkOp{Op: &pb.LinkOp_GetDelivery{GetDelivery: &pb.GetDelivery{Webhook: in.ID, Id: in.Delivery}}})
	}, func(reply *pb.Reply) (sentDelivery, bool) {
		sent := reply.GetLink().GetSent()
		attempt, ok := attemptOf(sent.GetAttempt())
		return sentDelivery{
			Delivery: attempt, Body: wire.OrNull(sent.GetBody()), Signature: wire.OrNull(sent.GetSignature()),
			Unavailable: wire.OrNull(sent.GetUnavailable()),
		}, ok
	}),
	web.On(web.Route{
		Method: http.MethodPatch, Path: "/v1/webhooks/{webhook_id}", ID: "patchWebhook", Tag: tagWebhooks,
		Summary: "Change a webhook endpoint",
		Description: "disabled: false enables it again and clears its streak of failures. The secret stays as it is. " +
			"The endpoint goes on to receive what its creator may read, whoever changes it.",
		Scope: pb.ScopeWrite, Family: pb.FamilyWrites, Status: http.StatusOK,
		Problems: []string{pb.CodeWebhookNotFound},
	}, func(env *pb.Envelope, in *patchWebhookInput, errs *problems.Violations) {
		b := &in.Body
		if b.URL == nil && b.EventTypes == nil && b.Disabled == nil {
			errs.Add("body", "names nothing to change: url, eventTypes or disabled")
		}
		checkEventTypes(b.EventTypes, errs)
		linkOp(env, &pb.LinkOp{Op: &pb.LinkOp_PatchWebhook{PatchWebhook: &pb.PatchWebhook{
			Id: in.ID, Url: b.URL, EventTypes: unrepeated(b.EventTypes), Disabled: b.Disabled,
		}}})
	}, answerWebhook),
	web.On(web.Route{
		Method: http.MethodDelete, Path: "/v1/webhooks/{webhook_id}", ID: "deleteWebhook", Tag: tagWebhooks,
		Summary: "Delete a webhook endpoint",
		Scope:   pb.ScopeWrite, Family: pb.FamilyWrites, Status: http.StatusNoContent,
		Problems: []string{pb.CodeWebhookNotFound},
	}, func(env *pb.Envelope, in *webhookInput, _ *problems.Violations) {
		linkOp(env, &pb.LinkOp{Op: &pb.LinkOp_DeleteWebhook{DeleteWebhook: &pb.DeleteWebhook{Id: in.ID}}})
	}, web.AnswerEmpty),
	web.On(web.Route{
		Method: http.MethodPost, Path: "/v1/webhooks/{webhook_id}/test", ID: "testWebhook", Tag: tagWebhooks,
		Summary: "Send a test event",
		Description: "One delivery of webhook.test, at once; the answer is 200 also where the receiver refuses or cannot " +
			"be reached. " +
			"It is written to the delivery log, and neither counts towards the streak of failures nor is retried.",
		Scope: pb.ScopeWrite, Family: pb.FamilyWrites, Status: http.StatusOK,
		Problems: []string{pb.CodeWebhookNotFound},
	}, func(env *pb.Envelope, in *webhookInput, _ *problems.Violations) {
		linkOp(env, &pb.LinkOp{Op: &pb.LinkOp_TestWebhook{TestWebhook: &pb.TestWebhook{Id: in.ID}}})
	}, func(reply *pb.Reply) (webhookTest, bool) {
		d := reply.GetLink().GetTest()
		return webhookTest{
			OK: d.GetOk(), Status: statusOrNull(d.GetResponseStatus()), DurationMs: d.GetDurationMs(),
			Error: wire.OrNull(d.GetError()),
		}, d != nil
	}),
}

// linkOp sets the envelope's operation to one of proto/link.proto.
func linkOp(env *pb.Envelope, op *pb.LinkOp) { env.Op = &pb.Envelope_Link{Link: op} }

type listWebhooksInput struct{ web.Page }

type webhookInput struct {
	ID string `path:"webhook_id"`
}

type deliveryInput struct {
	webhookInput
	Delivery string `path:"delivery_id"`
}

type createWebhookInput struct {
	Body newWebhookBody
}

type newWebhookBody struct {
	URL        string   `json:"url" minLength:"1" maxLength:"2048"`
	EventTypes []string `json:"eventTypes" minItems:"1" maxItems:"20" doc:"@newWebhookBody.eventTypes"`
}

type patchWebhookInput struct {
	webhookInput
	Body patchWebhookBody
}

type patchWebhookBody struct {
	URL        *string  `json:"url,omitempty" minLength:"1" maxLength:"2048"`
	EventTypes []string `json:"eventTypes,omitempty" minItems:"1" maxItems:"20"`
	Disabled   *bool    `json:"disabled,omitempty"`
}

// TransformSchema implements huma.SchemaTransformer.
func (newWebhookBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return describeEndpoint(s)
}

// TransformSchema implements huma.SchemaTransformer.
func (patchWebhookBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	wire.Keyword(s, "minProperties", 1)
	return describeEndpoint(s)
}

func describeEndpoint(s *huma.Schema) *huma.Schema {
	httpsOnly(s.Properties["url"])
	s.Properties["eventTypes"].Items.Enum = []any{
		"*", pb.EventGraphUpdated, pb.EventJobCompleted, pb.EventInsightProposed, pb.EventContradictionFound,
		pb.EventBeliefSuperseded, pb.EventBasinShifted, pb.EventBrainTrained, pb.EventWebhookTest,
	}
	all := map[string]any{"const": "*"}
	wire.Either(s.Properties["eventTypes"], map[string]any{"items": all, "maxItems": 1},
		map[string]any{"items": map[string]any{"not": all}})
	return s
}

func checkEventTypes(types []string, errs *problems.Violations) {
	if len(types) > 1 && slices.Contains(types, "*") {
		errs.Add("eventTypes", "expected either * alone or a list of types")
	}
}

// unrepeated drops what was said before.
func unrepeated(types []string) []string {
	var out []string
	for _, t := range types {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

type webhook struct {
	ID                  string         `json:"id" format:"uuid"`
	URL                 string         `json:"url" format:"uri"`
	EventTypes          []string       `json:"eventTypes"`
	InactiveEventTypes  []string       `json:"inactiveEventTypes" doc:"@webhook.inactiveEventTypes"`
	Disabled            bool           `json:"disabled"`
	DisabledReason      wire.OrNull    `json:"disabledReason"`
	ConsecutiveFailures uint32         `json:"consecutiveFailures"`
	LastDeliveryAt      wire.Timestamp `json:"lastDeliveryAt" nullable:"true"`
	LastSuccessAt       wire.Timestamp `json:"lastSuccessAt" nullable:"true"`
	CreatedAt           wire.Timestamp `json:"createdAt"`
	UpdatedAt           wire.Timestamp `json:"updatedAt" nullable:"true"`
	// Attempts stand in the answer that shows one endpoint.
	Attempts []deliveryAttempt `json:"attempts,omitzero" doc:"@webhook.attempts"`
	Secret   string            `json:"secret,omitempty" doc:"@webhook.secret"`
}

type deliveryAttempt struct {
	ID              string         `json:"id" format:"uuid" doc:"X-Svc-Delivery of the attempt."`
	EventID         string         `json:"eventId" format:"uuid"`
	EventType       string         `json:"eventType"`
	Attempt         uint32         `json:"attempt" doc:"1 for the first, 2 and 3 for retries."`
	At              wire.Timestamp `json:"at"`
	DurationMs      uint32         `json:"durationMs"`
	ResponseStatus  *uint32        `json:"responseStatus" nullable:"true"`
	ResponseSnippet string         `json:"responseSnippet"`
	Error           wire.OrNull    `json:"error"`
	OK              bool           `json:"ok"`
}

type sentDelivery struct {
	Delivery    deliveryAttempt `json:"delivery"`
	Body        wire.OrNull     `json:"body" doc:"@sentDelivery.body"`
	Signature   wire.OrNull     `json:"signature" doc:"X-Svc-Signature as it was sent."`
	Unavailable wire.OrNull     `json:"unavailable" doc:"@sentDelivery.unavailable"`
}

type webhookTest struct {
	OK         bool        `json:"ok"`
	Status     *uint32     `json:"status" nullable:"true" doc:"What the receiver answered with; null when it did not."`
	DurationMs uint32      `json:"durationMs"`
	Error      wire.OrNull `json:"error"`
}

// statusOrNull shows an HTTP status, or null for none.
func statusOrNull(status uint32) *uint32 {
	if status == 0 {
		return nil
	}
	return &status
}

func answerWebhook(reply *pb.Reply) (webhook, bool) { return webhookOf(reply.GetLink().GetWebhook()) }

func webhookOf(h *pb.Webhook) (webhook, bool) {
	id, err := uuid.FromBytes(h.GetId())
	out := webhook{
		ID: id.String(), URL: h.GetUrl(), EventTypes: h.GetEventTypes(),
		InactiveEventTypes: webhooks.UnpublishedTypes(h.GetEventTypes()),
		Disabled:           h.GetDisabled(), DisabledReason: wire.OrNull(h.GetDisabledReason()),
		ConsecutiveFailures: h.GetFailures(),
		LastDeliveryAt:      wire.NotBefore(h.GetLastDeliveryMs(), h.GetCreatedMs()),
		LastSuccessAt:       wire.NotBefore(h.GetLastSuccessMs(), h.GetCreatedMs()),
		CreatedAt:           wire.Timestamp(h.GetCreatedMs()), UpdatedAt: wire.NotBefore(h.GetUpdatedMs(), h.GetCreatedMs()),
		Secret: h.GetSecret(),
	}
	return out, err == nil
}

func attemptOf(d *pb.Delivery) (deliveryAttempt, bool) {
	id, err := uuid.FromBytes(d.GetId())
	if err != nil {
		return deliveryAttempt{}, false
	}
	event, err := uuid.FromBytes(d.GetEvent())
	return deliveryAttempt{
		ID: id.String(), EventID: event.String(), EventType: d.GetEventType(), Attempt: d.GetAttempt(),
		At:         wire.Timestamp(d.GetAtMs()),
		DurationMs: d.GetDurationMs(), ResponseStatus: statusOrNull(d.GetResponseStatus()),
		ResponseSnippet: d.GetResponseSnippet(),
		Error:           wire.OrNull(d.GetError()), OK: d.GetOk(),
	}, err == nil
}
