package temporal

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

// newest gives for each passage the newest other that speaks of the same facts, as
// far as was known at asOfMs, −1 where it is the newest itself of one of its facts.
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
