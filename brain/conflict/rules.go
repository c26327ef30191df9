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
	// leastStatedOfFew is that share where they have but leastStrong such words in
	// common: "the board did not decide" denies no more of what it did decide.
	leastStatedOfFew = 0.6
	// leastDenial, leastOpposite are from which confidence on the two are reported.
	leastDenial   = 0.66
	leastOpposite = 0.7
	// maxSlot is how many words a value may have: "30 June 2027".
	maxSlot = 3
)

// denies is how sure it is that one side negates what the other states. The
// denied words must be stated there: who does not eat a banana by a tree may
// well eat a banana, but who eats no banana eats none by a tree.
func denies(x, y *profile, al *alignment, cosine float64) float64 {
	if others(x, y, al) {
		return 0
	}
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
	least := leastStated
	if al.strong == leastStrong {
		least = leastStatedOfFew
	}
	if missed > 1 || covered < leastCovered || stated < least {
		return 0
	}
	return 0.5*covered + 0.2*stated + 0.3*cosine - 0.15*float64(missed)
}

// others tells whether two statements name different things at their head: what Ann
// has, Bob need not have, and what is in the north wing not in the south wing.
func others(x, y *profile, al *alignment) bool {
	for a := range x.words {
		if al.to[a] >= 0 {
			continue
		}
		for b := range y.words {
			if al.back[b] < 0 && x.names(a) && y.names(b) &&
				(a == 0 && b == 0 && x.named(a) && y.named(b) || opposite(&x.words[a], &y.words[b])) {
				return true
			}
		}
	}
	return false
}

// named tells whether the i-th word is written as a name is, or begins the sentence
// without an article.
func (p *profile) named(i int) bool {
	w := p.words[i].word
	return w.Kind == claim.Content && !w.Label && (w.Name || w.Start == p.claim.Words[0].Start)
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
			if al.back[b] < 0 && opposite(&x.words[a], &y.words[b]) && !x.names(a) && !y.names(b) {
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

// names tells whether the i-th word stands where the thing is named of which something
// is said: the north wing is not the south wing.
func (p *profile) names(i int) bool {
	w := p.words[i].word
	return !p.verbBefore(w) && p.verbBehind(w)
}

// opposite tells whether one of two words says the contrary of the other.
func opposite(a, b *token) bool {
	if a.word.Not != b.word.Not {
		return false
	}
	return a.sign*b.sign < 0 || a.opposable && b.opposable && antonyms()[pairOf(a.word.Stem, b.word.Stem)]
}

// values looks for the one quantity, time or name in which two statements about one
// definite thing differ. It must stand where something is said, not where the thing is
// named: version 2 is not version 3. i and k are where the two values begin.
func values(x, y *profile, al *alignment) (i, k int, kind Kind, ok bool) {
	if al.strong < leastStrong+1 || !x.definite && !x.general || !y.definite && !y.general {
		return 0, 0, "", false
	}
	i, n := slot(x, al.to[:])
	k, m := slot(y, al.back[:])
	if n == 0 || m == 0 || i > 0 != (k > 0) || i > 0 && int(al.to[i-1]) != k-1 { // in two places
		return 0, 0, "", false
	}
	kind, a := x.valueIn(i, n)
	other, b := y.valueIn(k, m)
	if kind == "" || kind != other || a != b {
		return 0, 0, "", false
	}
	return i, k, kind, x.before(i) >= leastStrong && y.before(k) >= leastStrong && x.verbBefore(x.words[i].word) &&
		y.verbBefore(y.words[k].word)
}

// slot is where the words stand that the other side does not have, and how many they
// are; 0 where they are too many, or stand apart.
func slot(p *profile, to []int8) (from, n int) {
	for i := range p.words {
		if to[i] >= 0 {
			continue
		}
		if n == 0 {
			from = i
		}
		if n++; n > maxSlot || i != from+n-1 {
			return 0, 0
		}
	}
	return from, n
}

// valueIn tells of what kind the value in n words from the i-th on is, and in what: a
// name stands behind a form of be, or where something has one place or maker; a quantity
// has its unit with it. It is "" where they
// are no value.
func (p *profile) valueIn(i, n int) (kind Kind, name bool) {
	names := 0
	for k := i; k < i+n; k++ {
		w := p.words[k].word
		switch {
		case w.Not:
			return "", false
		case w.Kind == claim.Time, w.Kind == claim.Number && p.dates(k):
			kind = Temporal
		case w.Kind == claim.Number:
			if kind == "" {
				kind = Value
			}
		case units[w.Stem]:
		case w.Name:
			names++
		default:
			return "", false
		}
	}
	if names == n && i > 0 && (p.isBefore(p.words[i].word) ||
		settled[p.words[i-1].word.Form] && p.formBefore(p.words[i].word, placers)) {
		return Value, true
	}
	if names > 0 {
		return "", false
	}
	return kind, false
}

// dates tells whether a number belongs to a time: "11 March", "6 pm", "in 1974".
func (p *profile) dates(k int) bool {
	w := p.words[k].word
	for _, beside := range []int{k - 1, k + 1} {
		if beside >= 0 && beside < len(p.words) &&
			(p.words[beside].word.Kind == claim.Time || hours[p.words[beside].word.Form]) {
			return true
		}
	}
	return len(w.Form) == len("1974") && (w.Form[0] == '1' || w.Form[0] == '2') && w.Form[1] != '.' &&
		p.formBefore(w, years)
}

// isBefore tells whether a form of be stands right in front of w, or but an article
// between.
func (p *profile) isBefore(w *claim.Word) bool { return p.formBefore(w, copulas) }

// formBefore tells whether one of some words stands right in front of w, or but an
// article between.
func (p *profile) formBefore(w *claim.Word, forms map[string]bool) bool {
	words := p.claim.Words
	for i := range words {
		if words[i].Start != w.Start {
			continue
		}
		if i > 0 && articles[words[i-1].Form] {
			i--
		}
		return i > 0 && forms[words[i-1].Form]
	}
	return false
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

// verbBefore tells whether a form of be or have, a modal, or a verb that gives something
// a value stands in front of w, and verbBehind whether one stands behind it.
func (p *profile) verbBefore(w *claim.Word) bool { return p.firstVerb < w.Start }
func (p *profile) verbBehind(w *claim.Word) bool { return p.lastVerb > w.Start }
