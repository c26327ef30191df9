package tenant

import (
	"errors"
	"fmt"

	pb "orgmem/proto"
)

// The problem codes that actors answer. The HTTP edge holds the catalogue that
// gives each a status, a title and a page; a code that it does not know there
// fails its tests.
const (
	RetryAfterBusySeconds    = 1  // overload passes quickly or not at all
	RetryAfterStreamsSeconds = 15 // the interface's
	RetryAfterNoSpaceSeconds = 30 // an operator, or a compaction, must act first
)

func NewProblem(code, format string, args ...any) *pb.Problem {
	return &pb.Problem{Code: code, Detail: fmt.Sprintf(format, args...)}
}

func Invalid(field, message string) *pb.Problem {
	return &pb.Problem{
		Code:   pb.CodeValidation,
		Detail: field + " " + message,
		Errors: []*pb.FieldError{{Field: field, Message: message}},
	}
}

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

// What rooms above this one answer calls with; ProblemOf knows what they mean to the caller.
var (
	// ErrUnsettled means that what an edit depends on changed as often as it was
	// prepared for.
	ErrUnsettled = errors.New("what is to be edited keeps changing")
	// ErrReembedding means that text cannot be taken in by hand now: the vectors
	// are of a model that this node has not got, and are being made anew.
	ErrReembedding = errors.New("the memory is being embedded anew")
)

func EmptyReply() *pb.Reply {
	return &pb.Reply{Status: 204, Result: &pb.Reply_Empty{Empty: &pb.Empty{}}}
}

func Linked(r *pb.LinkResult) *pb.Reply { return &pb.Reply{Result: &pb.Reply_Link{Link: r}} }
