package actors

import (
	"fmt"

	pb "orgmem/proto"
)

// The problem codes that actors answer. The HTTP edge holds the catalogue that
// gives each a status, a title and a page; a code that it does not know there
// fails its tests.
const (
	codeAuthentication       = "authentication_error"
	codePermissionDenied     = "permission_denied"
	codeSubjectNotSupported  = "subject_not_supported"
	codeSubjectNotProvided   = "subject_not_provisioned"
	codeRateLimit            = "rate_limit_exceeded"
	codeInvalidCursor        = "invalid_cursor"
	codeValidation           = "validation_failed"
	codeKeyNotFound          = "key_not_found"
	codeSubjectNotFound      = "subject_not_found"
	codeJobNotFound          = "job_not_found"
	codeNodeNotFound         = "node_not_found"
	codeEdgeNotFound         = "edge_not_found"
	codeDomainNotFound       = "domain_not_found"
	codeNodeNotForgotten     = "node_not_forgotten"
	codeUndeletePassed       = "undelete_window_passed"
	codeAlreadySuperseded    = "already_superseded"
	codePreconditionFailed   = "precondition_failed"
	codeLastOwner            = "last_owner"
	codeExportNotFound       = "export_not_found"
	codeExportNotReady       = "export_not_ready"
	codePurgeImpactChanged   = "purge_impact_changed"
	codeConfirmTokenInvalid  = "confirm_token_invalid"
	codeJobNotCancellable    = "job_not_cancellable"
	codeIdempotencyReused    = "idempotency_key_reused"
	codeIdempotencyInFlight  = "idempotency_in_progress"
	codeServiceDegraded      = "service_degraded"
	codeServiceDraining      = "service_draining"
	codeTooManyStreams       = "too_many_streams"
	codeWebhookNotFound      = "webhook_not_found"
	codeWebhookLimit         = "webhook_limit_reached"
	codeConnectorLimit       = "connector_limit_reached"
	codeConnectorNotFound    = "connector_not_found"
	codeSessionNotFound      = "session_not_found"
	codePayloadTooLarge      = "payload_too_large"
	codeInternal             = "internal_error"
	retryAfterBusySeconds    = 1  // overload passes quickly or not at all
	retryAfterStreamsSeconds = 15 // the interface's
	retryAfterNoSpaceSeconds = 30 // an operator, or a compaction, must act first
)

func problem(code, format string, args ...any) *pb.Problem {
	return &pb.Problem{Code: code, Detail: fmt.Sprintf(format, args...)}
}

func invalid(field, message string) *pb.Problem {
	return &pb.Problem{
		Code:   codeValidation,
		Detail: field + " " + message,
		Errors: []*pb.FieldError{{Field: field, Message: message}},
	}
}

func refuse(p *pb.Problem) *pb.Reply {
	return &pb.Reply{Result: &pb.Reply_Problem{Problem: p}}
}

// replayable says whether a refusal is an outcome that a retry under the same
// idempotency key must see again (decisions.md, section 12). What depends on the
// caller's rights, the rate or our own state may change by waiting, so it is
// decided anew.
func replayable(code string) bool {
	switch code {
	case codeAuthentication, codePermissionDenied, codeSubjectNotProvided, codeSubjectNotSupported,
		codeRateLimit, codeTooManyStreams, codeValidation, codeIdempotencyReused, codeIdempotencyInFlight,
		codeServiceDegraded, codeServiceDraining, codeInternal:
		return false
	}
	return true
}
