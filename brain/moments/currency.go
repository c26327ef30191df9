package moments

import (
	"cmp"
	"slices"

	"orgmem/brain/claim"
)

// Stated are the facts of one passage, with when it was said.
type Stated struct {
	Facts []claim.Fact
	AtMs  int64
}

// Replaced tells for each passage which other one gives a later value to the
// same fact, as far as was known at asOfMs: the place of the newest, or -1 where
// the passage is the newest of its fact or states none. A passage with several
// facts is replaced only where all of them are. What was said after asOfMs
// replaces nothing. Of two said at the same time neither replaces the other.
func Replaced(all []Stated, asOfMs int64) []int {
	out := newest(all, asOfMs)
	for i, k := range out {
		if k >= 0 && slices.ContainsFunc(all[i].Facts, func(f claim.Fact) bool { return says(all[k].Facts, f) }) {
			out[i] = -1 // the later one says so again
		}
	}
	return out
}

// newest gives for each passage the newest other that speaks of the same facts,
// −1 where it is the newest itself of one of its facts.
func newest(all []Stated, asOfMs int64) []int {
	last := map[claim.Key]int{}
	for i, s := range all {
		if s.AtMs > asOfMs {
			continue
		}
		for _, f := range s.Facts {
			if k, ok := last[f.Key]; f.Key != 0 && (!ok || all[k].AtMs < s.AtMs) {
				last[f.Key] = i
			}
		}
	}
	out := make([]int, len(all))
	for i, s := range all {
		out[i] = -1
		for n, f := range s.Facts {
			k, ok := last[f.Key]
			if !ok || all[k].AtMs <= s.AtMs {
				out[i] = -1
				break
			}
			if n == 0 || all[k].AtMs > all[out[i]].AtMs {
				out[i] = k
			}
		}
	}
	return out
}

// says tells whether one of facts gives f the same value.
func says(facts []claim.Fact, f claim.Fact) bool {
	return slices.ContainsFunc(facts, func(g claim.Fact) bool { return g.Key == f.Key && g.Same == f.Same })
}

// Current reorders a ranking, best first, so that no passage stands before a
// newer one about the same facts: among these the newest known at asOfMs takes
// the best of their places, and the others follow by their age. Everything else
// keeps its place. It returns the places of the passages in the new order.
func Current(ranking []Stated, asOfMs int64) []int {
	order := make([]int, len(ranking))
	for i := range order {
		order[i] = i
	}
	groups := map[int][]int{} // by the newest
	for i, k := range newest(ranking, asOfMs) {
		if k >= 0 {
			groups[k] = append(groups[k], i)
		}
	}
	for first, older := range groups {
		members := append([]int{first}, older...)
		places := slices.Clone(members)
		slices.Sort(places)
		slices.SortFunc(members, func(a, b int) int {
			return cmp.Or(cmp.Compare(ranking[b].AtMs, ranking[a].AtMs), cmp.Compare(a, b))
		})
		for n, place := range places {
			order[place] = members[n]
		}
	}
	return order
}
