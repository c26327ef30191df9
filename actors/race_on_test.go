//go:build race

package actors

import "testing"

// withoutRace leaves a test of whole trainings, or of as many records as a cycle reads or a view counts, to make
// invariants: they take some twenty times as long under the race detector, which watches others of their kind.
func withoutRace(t *testing.T) {
	t.Helper()
	t.Skip("make invariants runs it, without the race detector")
}
