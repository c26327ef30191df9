// Package clustertest is what the tests of package cluster and of those below it
// share.
package clustertest

import (
	"context"
	"testing"
	"time"

	"orgmem/proto/clock"
)

// Patience bounds every wait of a test. It is never waited for by a test that
// passes, even where ten other programs want the machine's processors.
const Patience = 3 * time.Minute

// WaitFor waits until something that happens elsewhere has happened.
func WaitFor(t testing.TB, done func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	for !done() {
		if clock.Wait(ctx, clock.Real(), time.Millisecond) != nil { // polls; the condition ends the wait
			t.Fatal("waited too long")
		}
	}
}
