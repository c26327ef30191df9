package account

import (
	"errors"
	"fmt"
	"testing"

	"orgmem/actors/tenant"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/storage"
)

// TestFullDiskIsToldToOperators: an organization that cannot be stored is refused as what may be tried again, and other
// errors stay internal.
func TestFullDiskIsToldToOperators(t *testing.T) {
	t.Parallel()
	var told interface{ Problem() *pb.Problem }
	err := notCreated(fmt.Errorf("%w: %w", wire.ErrNotApplied, storage.ErrNoSpace))
	if !errors.As(err, &told) || told.Problem().GetCode() != pb.CodeServiceDegraded ||
		told.Problem().GetRetryAfterS() == 0 || !errors.Is(err, wire.ErrNotApplied) {
		t.Errorf("an operator is told %v", err)
	}
	if err := notCreated(wire.ErrBusy); errors.As(err, &told) || !errors.Is(err, wire.ErrBusy) {
		t.Errorf("an operator is told %v", err)
	}
}

// TestFullDirectoryIsToldToOperators: where the directory has no place for an operator's key, the error says so.
func TestFullDirectoryIsToldToOperators(t *testing.T) {
	full := fmt.Errorf("%w: %w", wire.ErrNotApplied, wire.ErrDirectoryFull)
	if err := keyConflict(full); !errors.Is(err, tenant.ErrConflict) || !errors.Is(err, wire.ErrDirectoryFull) {
		t.Errorf("an operator is told %v", err)
	}
}
