//go:build !race

package actors

import "testing"

func withoutRace(*testing.T) {}
