package conflict

// alignment is which words of two claims are the same.
type alignment struct {
	// to is for each word of x its place in y, −1 if it has no counterpart; back is the
	// other way round.
	to, back [maxTokens]int8
	same     int // pairs
	strong   int // pairs of different words that are not weak
	// loneX and loneY are how many words the other side does not have.
	loneX, loneY int
}

// align pairs the words of x and y that share a stem, first with first.
func align(al *alignment, x, y *profile) {
	al.same, al.strong = 0, 0
	for k := range y.words {
		al.back[k] = -1
	}
	for i := range x.words {
		al.to[i] = -1
		id := x.words[i].id
		bit := uint64(1) << (id & 63)
		if y.bloom&bit == 0 {
			continue
		}
		for k := range y.words {
			if al.back[k] < 0 && y.words[k].id == id {
				al.to[i], al.back[k] = int8(k), int8(i)
				al.same++
				if !x.words[i].weak && !al.before(x, i) {
					al.strong++
				}
				break
			}
		}
	}
	al.loneX, al.loneY = len(x.words)-al.same, len(y.words)-al.same
}

// before tells whether a word in front of the i-th is the same and paired, too: one that
// is stuttered counts once.
func (al *alignment) before(x *profile, i int) bool {
	for k := range i {
		if al.to[k] >= 0 && x.words[k].id == x.words[i].id {
			return true
		}
	}
	return false
}
