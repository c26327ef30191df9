package tenant

import (
	"errors"
	"fmt"

	pb "orgmem/proto"
)

// What refusals say in Retry-After, in seconds.
const (
	// RetryAfterBusySeconds is for an overload, which passes quickly or not at all.
	RetryAfterBusySeconds = 1
	// RetryAfterStreamsSeconds is for too many event streams, as docs/interface.md says.
	RetryAfterStreamsSeconds = 15
	// RetryAfterNoSpaceSeconds is for what an operator, or a compaction, must mend first.
	RetryAfterNoSpaceSeconds = 30
)

// NewProblem makes a problem of a code (proto) and a detail, which clients are shown. The edge adds status, title and
// page of the code; a code that it does not know fails its tests.
func NewProblem(code, format string, args ...any) *pb.Problem {
	return &pb.Problem{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// Invalid is the refusal of one field of a request. The message goes on after the field's name: "must be …".
func Invalid(field, message string) *pb.Problem {
	return &pb.Problem{
		Code:   pb.CodeValidation,
		Detail: field + " " + message,
		Errors: []*pb.FieldError{{Field: field, Message: message}},
	}
}

// Refuse is the answer that a problem makes.
func Refuse(p *pb.Problem) *pb.Reply {
	return &pb.Reply{Result: &pb.Reply_Problem{Problem: p}}
}

// replayable says whether a refusal is an outcome that a retry under the same
// idempotency key must see again (docs/interface.md). What depends on the
// caller's rights, the rate or our own state may change by waiting, so it is
// decided anew.
func replayable(code string) bool {
	switch code {
	case pb.CodeAuthentication, pb.CodePermissionDenied, pb.CodeSubjectNotProvisioned, pb.CodeSubjectNotSupported,
		pb.CodeRateLimit, pb.CodeTooManyStreams, pb.CodeValidation, pb.CodeIdempotencyKeyReused, pb.CodeIdempotencyInProgress,
		pb.CodeServiceDegraded, pb.CodeServiceDraining, pb.CodeInternal:
		return false
	}
	return true
}

// Errors of the packages above this one; ProblemOf says what they mean to the caller.
var (
	// ErrEditContention means that what an edit depends on changed as often as it was
	// prepared for.
	ErrEditContention = errors.New("what is to be edited keeps changing")
)

// EmptyReply is the answer of a success that has nothing to show: 204.
func EmptyReply() *pb.Reply {
	return &pb.Reply{Status: 204, Result: &pb.Reply_Empty{Empty: &pb.Empty{}}}
}

// LinkReply is the answer of an operation of proto/link.proto: connectors, webhooks, sessions and imports.
func LinkReply(r *pb.LinkResult) *pb.Reply { return &pb.Reply{Result: &pb.Reply_Link{Link: r}} }
