package wire

import (
	"context"
	"errors"
	"fmt"
	"iter"

	pb "orgmem/proto"
	"orgmem/storage"
)

// sentinels are the errors that keep their meaning from node to node. Their codes
// are part of the protocol.
var sentinels = []struct {
	code string
	err  error
}{
	{"not_applied", ErrNotApplied},
	{"fenced", ErrFenced},
	{"removed", ErrRemoved},
	{"outcome_unknown", ErrOutcomeUnknown},
	{"not_leader", ErrNotLeader},
	{"busy", ErrBusy},
	{"closed", ErrClosed},
	{"not_ready", ErrNotReady},
	{"key_taken", ErrKeyTaken},
	{"slug_taken", ErrSlugTaken},
	{"org_unknown", ErrOrgUnknown},
	{"org_removed", ErrOrgRemoved},
	{"directory_full", ErrDirectoryFull},
	{"too_many_keys", ErrTooManyKeys},
	{"node_removed", ErrNodeRemoved},
	{"node_unknown", ErrNodeUnknown},
	{"too_many_nodes", ErrTooManyNodes},
	{"map_changed", ErrMapChanged},
	{"token_unknown", ErrTokenUnknown},
	{"token_used", ErrTokenUsed},
	{"too_many_tokens", ErrTooManyTokens},
	{"unreachable", ErrUnreachable},
	{"no_answer", ErrNoAnswer},
	{"no_space", storage.ErrNoSpace},
	{"batch_too_large", storage.ErrBatchTooLarge},
	{"canceled", context.Canceled},
	{"deadline", context.DeadlineExceeded},
	{"unknown_call", ErrUnknownCall},
	{"outdated", ErrOutdated},
	{"not_spoken", ErrNotSpoken},
}

// Sentinels yields the errors that keep their meaning from node to node, and their
// codes.
func Sentinels() iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, s := range sentinels {
			if !yield(s.code, s.err) {
				return
			}
		}
	}
}

// EncodeError is an error on its way to another node.
func EncodeError(err error) *pb.NodeAnswer {
	r := &pb.NodeRefusal{Detail: err.Error()}
	for _, s := range sentinels {
		if errors.Is(err, s.err) {
			r.Codes = append(r.GetCodes(), s.code)
		}
	}
	return &pb.NodeAnswer{Refusal: r}
}

// remoteError is an error that another node answered with.
type remoteError struct {
	peer   ServerID
	detail string
	means  []error
}

func (e *remoteError) Error() string { return fmt.Sprintf("%s says: %s", e.peer, e.detail) }

func (e *remoteError) Unwrap() []error { return e.means }

// DecodeError makes an error of what EncodeError made; errors.Is finds the sentinels
// again. peer is the node that said it.
func DecodeError(peer ServerID, r *pb.NodeRefusal) error {
	e := &remoteError{peer: peer, detail: r.GetDetail()}
	for _, code := range r.GetCodes() {
		for _, s := range sentinels {
			if s.code == code {
				e.means = append(e.means, s.err)
			}
		}
	}
	return e
}
