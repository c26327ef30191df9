package main

import (
	"strings"
	"testing"
)

func setOf(members ...int) (s set) {
	for _, m := range members {
		s.put(m)
	}
	return s
}

// What is chosen runs all that the candidates run, in as few inputs as a greedy
// choice finds, and nothing is chosen that adds nothing.
func TestChoose(t *testing.T) {
	from := []input{
		{name: "small", ran: setOf(1, 2)},
		{name: "seeds only", ran: setOf(0)},
		{name: "large", ran: setOf(0, 1, 2, 3, 200)},
		{name: "another", ran: setOf(3, 4)},
	}
	names := func(most int) string {
		var list []string
		for _, in := range choose(setOf(0), from, most) {
			list = append(list, in.name)
		}
		return strings.Join(list, ", ")
	}
	if got := names(20); got != "large, another" {
		t.Errorf("chose %s", got)
	}
	if got := names(1); got != "large" {
		t.Errorf("of one, chose %s", got)
	}
	if got := choose(setOf(0, 1, 2, 3, 4, 200), from, 20); got != nil {
		t.Errorf("of nothing new, chose %v", got)
	}
	if n := union(setOf(0), choose(setOf(0), from, 20)).count(); n != 6 {
		t.Errorf("%d statements run", n)
	}
}

func TestProfilesAreRead(t *testing.T) {
	target := target{blocks: map[string]int{}}
	first := target.read([]byte("mode: set\na.go:1.2,3.4 2 1\na.go:5.6,7.8 1 0\n"))
	second := target.read([]byte("mode: set\na.go:1.2,3.4 2 1\na.go:5.6,7.8 1 1\n"))
	if first.count() != 1 || second.count() != 2 || second.beyond(first) != 1 || first.beyond(second) != 0 {
		t.Errorf("%v, %v", first, second)
	}
}
