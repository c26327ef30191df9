package cluster

import (
	"errors"
	"fmt"
	"testing"

	"github.com/hashicorp/raft"

	"orgmem/cluster/wire"
)

// TestRaftsAnswersKeepTheirMeaning: "not applied" is said of what raft answers before an
// entry can lie on any disk, and of nothing else.
func TestRaftsAnswersKeepTheirMeaning(t *testing.T) {
	if err := classify(nil); err != nil {
		t.Error(err)
	}
	for _, known := range []error{raft.ErrNotLeader, raft.ErrEnqueueTimeout, raft.ErrLeadershipTransferInProgress} {
		if err := classify(known); !errors.Is(err, wire.ErrNotApplied) || !errors.Is(err, wire.ErrNotLeader) ||
			errors.Is(err, wire.ErrOutcomeUnknown) {
			t.Errorf("%v becomes %v", known, err)
		}
	}
	for _, open := range []error{
		raft.ErrLeadershipLost, raft.ErrRaftShutdown, raft.ErrAbortedByRestore, raft.ErrTransportShutdown,
		errors.New("input/output error"), fmt.Errorf("store logs: %w", raft.ErrLeadershipLost),
	} {
		if err := classify(open); !errors.Is(err, wire.ErrOutcomeUnknown) || errors.Is(err, wire.ErrNotApplied) {
			t.Errorf("%v becomes %v", open, err)
		}
	}
}
