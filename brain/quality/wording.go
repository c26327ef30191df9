package quality

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"orgmem/brain/text"
)

// Wording is the words of a passage in their order, for telling what says the same in the same words. The zero value is
// that of an empty one; it is for one goroutine at a time. Letters are
// compared without regard to case, and punctuation, markup and space not at all. Marks that change what is said are
// words of their own: a question mark, a currency, a sign before a number, an emoji.
type Wording struct {
	text  string // as it is compared
	words []word
	sum   uint64 // of all words
}

// word is a word of a passage.
type word struct {
	hash       uint64
	start, end int32
	fixed      bool // it is a number, a sign, or of a script without spaces: nothing may be added by it
}

// class is what a rune is in a word.
type class uint8

const (
	parts class = iota // ends a word
	letter
	digit
	sign   // a word of its own
	alone  // a letter that is a word of its own: its script puts no space between words
	unseen // says how others are shown, and ends no word
	loose  // outside of what can be told without normalizing
)

// tabled are the runes that are told by a table, since a page of hits is read for every query: those of nearly all
// alphabets, and of Indian scripts and Thai.
const tabled = 0x1000

// classes and lowers are of the runes below tabled. unsure are those that a text has to be normalized for, or may have.
var classes, lowers, unsure = func() (c [tabled]class, l [tabled]uint16, u [tabled]bool) {
	for i := range c {
		r := rune(i)
		lower, is := slowly(r)
		c[i], l[i] = is, uint16(lower)
		if r < utf8.RuneSelf {
			continue
		}
		p := norm.NFKC.PropertiesString(string(r))
		// Vowel points and the mark that a consonant has no vowel make up no other letter with it.
		plain := r >= 0x64B && r < 0x653 || r == 0x94D || r == 0x9CD || r >= 0xE38 && r < 0xE4C
		u[i] = !norm.NFKC.IsNormalString(string(r)) || !p.BoundaryBefore() && !plain
	}
	return c, l, u
}()

// Reset reads a passage. What the wording held before is overwritten. A passage that is longer than any text is cut
// into has no words: it is a copy of nothing.
func (w *Wording) Reset(passage string) {
	if len(passage) > maxText {
		passage = ""
	}
	if !w.read(passage) {
		w.read(norm.NFKC.String(passage))
	}
}

// Clear leaves nothing of the passage behind, and keeps the room for the next.
func (w *Wording) Clear() {
	clear(w.words)
	w.text, w.words, w.sum = "", w.words[:0], 0
}

// Len is the number of words.
func (w *Wording) Len() int { return len(w.words) }

// read takes a text apart; false: it must be normalized first.
func (w *Wording) read(s string) bool {
	w.text, w.words, w.sum = s, w.words[:0], 0
	checked := false
	var is word
	inWord := false
	end := func(at int) {
		if inWord {
			is.end = int32(at)
			w.words = append(w.words, is)
			w.sum = (w.sum ^ is.hash) * fnvPrime
			inWord = false
		}
	}
	for i := 0; i < len(s); {
		var r rune
		n, c := 1, parts
		if b := s[i]; b < utf8.RuneSelf {
			r, c = rune(lowers[b]), classes[b]
			switch b {
			case '-':
				if signs(s, i) {
					c = sign
				}
			case '#': // C#
				if inWord {
					c = sign
				}
			case '[': // what is to be done yet, which [x] is not
				if strings.HasPrefix(s[i:], "[ ]") {
					c = sign
				}
			}
		} else {
			r, n = utf8.DecodeRuneInString(s[i:])
			open := false
			if r < tabled {
				open = unsure[r]
				r, c = rune(lowers[r]), classes[r]
			} else if r, c = lowerOf(r); c == loose {
				open = true
				r, c = slowly(r)
			}
			if open && !checked {
				if checked = norm.NFKC.IsNormalString(s); !checked {
					return false
				}
			}
		}
		switch c {
		case letter, digit:
			if !inWord {
				is, inWord = word{hash: fnvOffset, start: int32(i)}, true
			}
			is.hash = (is.hash ^ uint64(r)) * fnvPrime
			is.fixed = is.fixed || c == digit
		case sign, alone:
			end(i)
			is, inWord = word{hash: (fnvOffset ^ uint64(r)) * fnvPrime, start: int32(i), fixed: true}, true
			end(i + n)
		case parts:
			end(i)
		case unseen, loose: // slowly leaves nothing loose
		}
		i += n
	}
	end(len(s))
	return true
}

// signs tells whether the hyphen at a place of a text belongs to what stands on one side of it, as in "-5" and "A-". It
// joins what stands on both, and is a dash or the mark of a list where nothing does.
func signs(s string, at int) bool {
	word := func(at int) bool {
		return 0 <= at && at < len(s) && (s[at] >= utf8.RuneSelf || classes[s[at]] == letter || classes[s[at]] == digit)
	}
	if before, behind := word(at-1), word(at+1); before || !behind {
		return before && !behind
	}
	return s[at+1] < utf8.RuneSelf && classes[s[at+1]] == digit
}

// lowerOf gives the lower case and the class of a rune behind those that are tabled.
func lowerOf(r rune) (rune, class) {
	switch {
	case r >= 0x4E00 && r < 0xA000, r >= 0x3041 && r < 0x3097, r >= 0x30A1 && r < 0x30FB:
		return r, alone
	case r >= 0xAC00 && r < 0xD7A4:
		return r, letter
	case r >= 0xFF01 && r < 0xFF5F: // what ASCII has, as wide as a Chinese character
		b := r - 0xFEE0
		return rune(lowers[b]), classes[b]
	case r >= 0x3000 && r < 0x3003 || r >= 0x3008 && r < 0x3012, r >= 0x2010 && r < 0x2028: // dashes, quotation marks
		return r, parts
	case r >= 0x200B && r < 0x2010:
		return r, unseen
	}
	return r, loose
}

// slowly is lowerOf for any rune.
func slowly(r rune) (rune, class) {
	if r < utf8.RuneSelf && unicode.In(r, unicode.P, unicode.S) {
		if strings.ContainsRune("?%$&+=<", r) { // not what Markdown is written with, nor '>', which begins a quotation
			return r, sign
		}
		return r, parts
	}
	switch {
	case text.Spaceless(r):
		return r, alone
	case unicode.IsLetter(r):
		return unicode.ToLower(r), letter
	case unicode.IsNumber(r):
		return r, digit
	case unicode.Is(unicode.Variation_Selector, r), unicode.Is(unicode.Cf, r):
		return r, unseen
	case unicode.IsMark(r):
		return r, letter
	case unicode.IsSymbol(r), r == '؟':
		return r, sign
	}
	return r, parts
}

// Copies tells how a passage stands to one that is read before it: whether it says nothing that the first does not, and
// whether both are the same. It says nothing else where its words are the first's, all of them and in their order, or
// stand in it in one piece, or where it has nothing but function words around those of the first; and where the two are
// near duplicates at that (Shingles.Near), so that neither is an answer to the other. What one has beside the other is
// never a number, a sign or a negation.
func (w *Wording) Copies(first *Wording) (copies, same bool) {
	a, b := len(w.words), len(first.words)
	switch {
	case a == 0 || b == 0:
		return false, false
	case a == b:
		same = w.sum == first.sum && slices.EqualFunc(w.words, first.words, sameWord)
		return same, same
	case a < b:
		return first.holds(w, false) && w.near(first), false
	default:
		return w.holds(first, true) && w.near(first), false
	}
}

// holds tells whether the words of another stand in these in one piece, and what is around them may be left out; or,
// where it must say nothing, is but function words.
func (w *Wording) holds(other *Wording, nothing bool) bool {
	n := len(other.words)
	if float64(n) < nearShare*float64(len(w.words)) {
		return false
	}
	for at := range len(w.words) - n + 1 {
		if w.words[at].hash == other.words[0].hash && slices.EqualFunc(w.words[at:at+n], other.words, sameWord) {
			return w.mayLack(w.words[:at], nothing) && w.mayLack(w.words[at+n:], nothing)
		}
	}
	return false
}

func sameWord(a, b word) bool { return a.hash == b.hash }

// mayLack tells whether a text with these words beside it says what it says without them.
func (w *Wording) mayLack(words []word, nothing bool) bool {
	for _, x := range words {
		s := strings.ToLower(w.text[x.start:x.end])
		if x.fixed || denials[s] || nothing && text.FunctionWord(s) == 0 {
			return false
		}
	}
	return true
}

// near tells whether two texts are near duplicates.
func (w *Wording) near(other *Wording) bool {
	return ShinglesOf(Memory{Texts: []string{w.text}}).Near(ShinglesOf(Memory{Texts: []string{other.text}}))
}

// denials are words that turn what is said around them, in the languages that text is told apart in, as they are cut
// into words ("don't" is two). More of them than there are costs a copy that is shown among the others.
var denials = text.Set(`
no not never nobody nothing none neither nor cannot nowhere hardly without t dont doesnt didnt isnt wasnt wont false
wrong untrue
nicht kein keine keinen keinem keiner keines nie niemals nichts niemand weder ohne falsch
ne n pas jamais aucun aucune rien personne sans faux
nunca jamás nadie nada ningún ninguna ninguno tampoco sin ni falso
não ninguém nenhum nenhuma nem sem
non mai nessuno nessuna nessun niente nulla né senza
niet geen nooit niemand niets zonder
inte ej aldrig ingen inget inga ingenting utan ikke aldri intet uten uden
ei en et emme ette eivät älä ilman nem ne nincs soha sem nu nici niciodată fără değil yok hayır hiç
nie bez nigdy nic nikt żaden tidak bukan jangan belum tanpa không chưa chẳng đừng
не нет ни нельзя никогда никто ничего без
لا ليس ليست لم لن ما غير بدون नहीं मत न ना बिना δεν μην όχι χωρίς לא אין אל בלי`)
