//go:build race

package actors

import "testing"

// withoutRace leaves a test of whole trainings, or of as many notes as a cycle reads, to make invariants: their sums
// take some twenty times as long under the race detector, which watches other trainings and cycles.
func withoutRace(t *testing.T) {
	t.Helper()
	t.Skip("make invariants runs it, without the race detector")
}
