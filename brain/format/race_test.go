//go:build race

package format

// raceEnabled: readers are some twenty times as slow under the race detector.
const raceEnabled = true
