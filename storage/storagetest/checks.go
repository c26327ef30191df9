package storagetest

import (
	"flag"
	"strconv"
	"testing"
)

// FewerChecks lowers rapid's 100 checks for a test that opens or crashes whole nodes in each, unless another number was
// asked for on the command line. Such a test does not run in parallel: the number is the process's.
func FewerChecks(t *testing.T, n int) {
	t.Helper()
	f := flag.Lookup("rapid.checks")
	if f == nil || f.Value.String() != f.DefValue {
		return
	}
	if err := f.Value.Set(strconv.Itoa(n)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Value.Set(f.DefValue); err != nil {
			t.Error(err)
		}
	})
}

// FewerUnderRace is FewerChecks under the race detector, which multiplies what a check takes by five to ten, and finds
// what it looks for in few of them. make invariants finds the tests that call it, and runs them with all checks and
// without the detector.
func FewerUnderRace(t *testing.T, n int) {
	t.Helper()
	if underRace {
		FewerChecks(t, n)
	}
}

// LessUnderRace is FewerUnderRace of other amounts: how much a test plants, or how often it tries.
func LessUnderRace(_ *testing.T, full, less int) int {
	if underRace {
		return less
	}
	return full
}
