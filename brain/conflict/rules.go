package conflict

import "orgmem/brain/claim"

// The thresholds of the rules. They were set on labelled pairs (bench/contradictions)
// and checked on ten thousand sentences that have nothing to do with each other,
// of which each is compared with its nearest: a wrong report costs a person's
// trust, a missed one nothing that they had.
const (
	// leastStrong is how many different words that mean something by themselves
	// two statements must share to be about the same.
	leastStrong = 2
	// leastCovered is which share of the words of the denying side the other must
	// state, leastStated the same the other way round: what is stated may say more.
	leastCovered = 0.6
	leastStated  = 0.4
	// leastDenial, leastOpposite are from which confidence on the two are reported.
	leastDenial   = 0.66
	leastOpposite = 0.7
	// maxLone is how many words, beside those at odds, two statements that give
	// different values may not share.
	maxLone = 1
)

// denies is how sure it is that one side negates what the other states. The
// denied words must be stated there: who does not eat a banana by a tree may
// well eat a banana, but who eats no banana eats none by a tree.
func denies(x, y *profile, al *alignment, cosine float64) float64 {
	turned := 0
	for i := range x.words {
		if k := al.to[i]; k >= 0 && x.words[i].word.Not != y.words[k].word.Not {
			turned++
		}
	}
	deniedX, missedX := denied(x, al.to[:])
	deniedY, missedY := denied(y, al.back[:])
	if turned == 0 || (deniedX > 0) == (deniedY > 0) || al.strong < leastStrong {
		return 0
	}
	denier, stater, lone, missed, unsaid := x, y, al.loneX, missedX, al.loneY
	if deniedY > 0 {
		denier, stater, lone, missed, unsaid = y, x, al.loneY, missedY, al.loneX
	}
	covered := 1 - float64(lone)/float64(len(denier.words))
	stated := 1 - float64(unsaid)/float64(len(stater.words))
	if missed > 1 || covered < leastCovered || stated < leastStated {
		return 0
	}
	return 0.5*covered + 0.2*stated + 0.3*cosine - 0.15*float64(missed)
}

// denied counts the words that a negation reaches, and those among them that the
// other side does not have.
func denied(p *profile, to []int8) (n, missed int) {
	for i := range p.words {
		if p.words[i].word.Not {
			n++
			if to[i] < 0 {
				missed++
			}
		}
	}
	return n, missed
}

// opposites looks for the one pair of opposite words in which two statements
// about one definite thing differ. "A man" is another man each time; "the door"
// is open or closed.
func opposites(x, y *profile, al *alignment) (i, k int, confidence float64) {
	if al.strong < leastStrong || !x.definite || !y.definite {
		return -1, -1, 0
	}
	i, k = -1, -1
	for a := range x.words {
		if al.to[a] >= 0 {
			continue
		}
		for b := range y.words {
			if al.back[b] < 0 && opposite(&x.words[a], &y.words[b]) {
				i, k = a, b
			}
		}
	}
	if i < 0 {
		return i, k, 0
	}
	lone := al.loneX + al.loneY - 2
	return i, k, 1 - 2*float64(lone)/float64(len(x.words)+len(y.words))
}

// opposite tells whether one of two words says the contrary of the other.
func opposite(a, b *token) bool {
	if a.word.Not != b.word.Not {
		return false
	}
	return a.sign*b.sign < 0 || a.opposable && b.opposable && antonyms()[pairOf(a.word.Stem, b.word.Stem)]
}

// values looks for the one quantity or time in which two statements about one
// definite thing differ. It must stand where something is said, not where the
// thing is named: version 2 is not version 3.
func values(x, y *profile, al *alignment) (i, k int, ok bool) {
	if al.strong < leastStrong+1 || !x.definite || !y.definite || al.loneX > maxLone || al.loneY > maxLone || al.loneX == 0 || al.loneY == 0 {
		return 0, 0, false
	}
	i, k = lone(x, al.to[:]), lone(y, al.back[:])
	a, b := x.words[i].word, y.words[k].word
	if a.Kind != b.Kind || a.Kind != claim.Number && a.Kind != claim.Time || a.Not || b.Not {
		return 0, 0, false
	}
	return i, k, x.before(i) >= leastStrong && y.before(k) >= leastStrong && x.verbBefore(a) && y.verbBefore(b)
}

// lone is the first word that the other side does not have.
func lone(p *profile, to []int8) int {
	for i := range p.words {
		if to[i] < 0 {
			return i
		}
	}
	return -1
}

// before counts the strong words in front of the i-th.
func (p *profile) before(i int) (n int) {
	for _, t := range p.words[:i] {
		if !t.weak {
			n++
		}
	}
	return n
}

// verbBefore tells whether a form of be, have or a modal stands in front of w.
func (p *profile) verbBefore(w *claim.Word) bool {
	for i := range p.claim.Words {
		c := &p.claim.Words[i]
		if c.Start >= w.Start {
			return false
		}
		if verbs[c.Form] {
			return true
		}
	}
	return false
}
