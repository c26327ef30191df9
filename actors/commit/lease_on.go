//go:build invariants

package commit

import (
	"fmt"
	"sync"

	"orgmem/cluster"
)

// Violated ends the process, from a goroutine of its own: actors recover from
// panics, and this must not be recovered from.
func Violated(format string, args ...any) {
	message := fmt.Sprintf("invariant Violated: "+format, args...)
	go panic(message) //nolint:forbidigo // see above
	select {}
}

// leaseOrder is about one committer.
type leaseOrder struct {
	mu   sync.Mutex
	last uint64
}

// applied: groups are applied in the order of their proposals, each at the
// version that its lease counted on.
func (o *leaseOrder) applied(lease cluster.Lease, version uint64, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil {
		return
	}
	if version != lease.Version+1 || version <= o.last {
		Violated("version %d was applied under a lease at %d, after %d", version, lease.Version, o.last)
	}
	o.last = version
}
