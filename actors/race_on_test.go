//go:build race

package actors

import "testing"

// withoutRace leaves a test of whole trainings to make invariants: their sums take some twenty times as long under the
// race detector, which watches other trainings.
func withoutRace(t *testing.T) {
	t.Helper()
	t.Skip("make invariants runs it, without the race detector")
}
