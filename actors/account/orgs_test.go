package account

import (
	"errors"
	"fmt"
	"testing"

	"orgmem/actors/tenant"
	"orgmem/cluster/wire"
)

// TestFullDirectoryIsToldToOperators: where the directory has no place for an operator's key, the error says so.
func TestFullDirectoryIsToldToOperators(t *testing.T) {
	full := fmt.Errorf("%w: %w", wire.ErrNotApplied, wire.ErrDirectoryFull)
	if err := keyConflict(full); !errors.Is(err, tenant.ErrConflict) || !errors.Is(err, wire.ErrDirectoryFull) {
		t.Errorf("an operator is told %v", err)
	}
}
