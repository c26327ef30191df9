package stance

import (
	"orgmem/brain/extract/clause"
	"orgmem/brain/extract/tagger"
	"orgmem/brain/text"
)

// bounds finds where an object begins and ends.
type bounds struct{ *view }

// ends is where the object that begins at token i ends: with its clause, or where a new one begins that says something
// else.
func (b bounds) ends(kind Kind, i int) int {
	b.survey()
	concedes := b.From < i && concessions[b.Lows[b.From]]
	depth := 0
	if i < b.To {
		if depth = b.depth[i-b.From]; b.Lows[i] == "(" || b.Lows[i] == "[" {
			depth--
		}
	}
	k := i
	for k < b.To {
		w := b.Lows[k]
		if b.inQuotes(k) || b.depth[k-b.From] > depth && w != "(" && w != "[" {
			k++
			continue
		}
		if b.depth[k-b.From] < depth || b.closes(kind, k, i, concedes) {
			break
		}
		k++
	}
	return b.trimmed(i, k)
}

// concessions at the head of a sentence rule what goes to its first comma.
var concessions = text.Set(`although though while whereas if because since as even`)

// closes tells whether a clause that says something else, or none, begins with token k.
func (b bounds) closes(kind Kind, k, from int, concedes bool) bool {
	w, next := b.Lows[k], b.low(k+1)
	if b.Tokens[k].Kind != tagger.Mark {
		return b.parts(kind, k, from)
	}
	switch w[0] {
	case ';', '!', '?', '|':
		return true
	case ')', ']', '}':
		return b.depth[k-b.From] == 0 || k+1 == b.To
	case '.':
		return len(w) > 1 || b.spaced(k+1)
	case '<':
		return b.spaced(k)
	case '[':
		return b.spaced(k) && !b.linked(k)
	case '(':
		return b.spaced(k) && !b.telling(k)
	case '-':
		return b.spaced(k) && b.spaced(k+1) || len(w) > 1
	case ':':
		return kind == Preference && (b.spaced(k) || b.spaced(k+1)) || k+1 == b.To || next == "<" || next == "(" ||
			next == ")" || b.Tokens[k+1].Kind == tagger.Link
	case ',':
		return concedes || b.comma(kind, k, from)
	}
	return w == "–" || w == "—" || w == "…" || w == "•" || w == "→"
}

// maxTelling is how many tokens in brackets may say what something is called.
const maxTelling = 6

// telling tells whether the brackets that open at k hold a name or a word of code, rather than an aside.
func (b bounds) telling(k int) bool {
	for j := k + 1; j < b.To && j <= k+maxTelling; j++ {
		if b.Lows[j] == ")" {
			return j > k+1 && (b.inQuotes(k+1) || b.capital(k+2) || b.Tokens[k+1].Kind == tagger.Number ||
				b.Lows[k+1] != b.word(k+1))
		}
	}
	return false
}

// parts tells whether the word at k begins another clause.
func (b bounds) parts(kind Kind, k, from int) bool {
	next := b.low(k + 1)
	before := b.low(k - 1)
	switch b.Lows[k] {
	case "but":
		return !butLess[before] && (kind == Preference || !b.among(from, k, "not") || subjects[next])
	case "although", "though", "whereas":
		return k > from
	case "because":
		return k > from && before != "just" && before != "only"
	case "so":
		return k > from && before != "and" && before != "or" && before != "not" && before != "do" && before != "do so" &&
			(subjects[next] || next == "`" || b.capital(k+1) || next == "the")
	case "and", "or":
		if kind == Preference && goesOn[next] && within[b.low(from)] {
			return false // when you try something new and it works
		}
		return k > from && (next == "i" || next == "so" || next == "then" || agents[next] && !b.mark(k+2) ||
			subjects[next] && b.predicated(k+2))
	case "tbh", "imo", "imho", "lol", "haha", "btw", "fwiw":
		return k > from
	}
	return b.Tokens[k].Kind == tagger.Link && k > from && b.mark(k-1)
}

var (
	// within begin a clause that is what is liked, which goesOn may say more of.
	within   = text.Set(`when whenever how that if it`)
	goesOn   = text.Set(`it they`)
	butLess  = text.Set(`nothing all anything everything none nobody everyone everybody last no only`)
	subjects = text.Set(`i we he she they you it there this that these those`)
	agents   = text.Set(`we he she they it`)
	// behindComma begin what is no longer part of what is said before the comma.
	behindComma = text.Set(`but so though although however which because since as while whereas thanks thank please haha
		lol yeah right see imo imho tbh fwiw btw especially even too anyway honestly personally actually at by though hence
		therefore meaning otherwise plus whatever`)
)

// comma tells whether the comma at k ends what is preferred or believed. Between likes it parts a list.
func (b bounds) comma(kind Kind, k, from int) bool {
	next, second := b.low(k+1), b.low(k+2)
	switch {
	case b.inserted(k, from):
		return false
	case next == "" || subjects[next]:
		return true
	case next == "to" && (second == "be" || second == "me"):
		return true
	case next == "so" && second == "that":
		return false
	case next == "and" || next == "or":
		return kind == Belief && (second == "so" || second == "then" || second == "hence" || b.clausal(k+2) ||
			clause.Determines(second) && (b.verbal(k+4) || b.verbal(k+5))) || kind == Preference && b.clausal(k+2)
	case next == "at" && second != "least", next == "by" && second != "far", next == "as" && second != "well":
		return kind == Preference && !b.listed(k)
	case behindComma[next]:
		return true
	}
	return kind == Preference && !b.listed(k)
}

// inserted tells whether the comma at k opens or closes what was put in behind "that" or "and".
func (b bounds) inserted(k, from int) bool {
	for j := k; j > from; j-- {
		if b.Lows[j] == "," {
			switch before := b.Lows[j-1]; {
			case before == "that", before == "and", before == "or":
				return true
			case j < k:
				return false
			}
		}
	}
	return false
}

// maxItem is how many words an item of a list has at most.
const maxItem = 5

// listed tells whether the comma at k parts the items of a list, which "and" or "or" ends.
func (b bounds) listed(k int) bool {
	for j, n := k+1, 0; j < b.To && n <= maxItem; j++ {
		switch w := b.Lows[j]; {
		case w == ",":
			n = 0
			if next := b.low(j + 1); next == "and" || next == "or" {
				return !b.clausal(j + 2)
			}
		case b.mark(j) && !b.inQuotes(j):
			return false
		case w == "and" || w == "or":
			return j > k+1 && !b.clausal(j+1)
		default:
			n++
		}
	}
	return false
}

// clausal tells whether a clause with a verb of its own begins at k.
func (b bounds) clausal(k int) bool {
	if subjects[b.low(k)] {
		return true
	}
	for j := k; j < b.To && j < k+maxItem && !b.mark(j); j++ {
		if b.finite(j) {
			return true
		}
	}
	return false
}

// predicated tells whether a verb stands at k, perhaps behind adverbs.
func (b bounds) predicated(k int) bool {
	for k < b.To && (b.part(k) == tagger.Adverb || fillers[b.Lows[k]]) {
		k++
	}
	return b.verbal(k)
}

// begins is where the object begins that token i stands at or before.
func (b bounds) begins(kind Kind, i int) int {
	for i < b.To {
		w := b.Lows[i]
		switch {
		case w == "that" && kind == Belief && i+1 < b.To && !b.verbal(i+1) && (!b.mark(i+1) || b.Lows[i+1] == ","):
		case w == "it" && kind == Preference && (b.low(i+1) == "when" || b.low(i+1) == "that" || b.low(i+1) == "how"):
		case b.Tokens[i].Kind == tagger.Mark && w[0] != '`' && w != `"` && w != "“" && w != "«" && w != "[" &&
			(b.spaced(i+1) || w == "," || w == ":" || w == "*" || w == "**" || w == "_"):
		default:
			return i
		}
		i++
	}
	return i
}

// trimmed is the end of [from, end) without marks, links and words that belong to the talk.
func (b bounds) trimmed(from, end int) int {
	for end > from {
		last := end - 1
		w := b.Lows[last]
		switch {
		case b.Tokens[last].Kind == tagger.Mark:
			if b.closing(from, last) {
				return end
			}
		case b.Tokens[last].Kind == tagger.Link && last > from && b.mark(last-1):
		case trailing[w] && !(w == "well" && b.low(last-1) != "as"), w == "as" && b.low(last+1) == "well",
			w == "far" && b.low(last-1) == "by", w == "by" && b.low(last+1) == "far":
		default:
			return end
		}
		end = last
	}
	return end
}

// trailing are words at the end of a clause that belong to the talk.
var trailing = text.Set(`too also though anyway lol haha tbh imo imho honestly please instead well and but or so because
	personally either`)

// closing tells whether the mark at k belongs to the words before it: it closes what was opened behind from, or is
// part of a name such as C++.
func (b bounds) closing(from, k int) bool {
	switch w := b.Lows[k]; w[0] {
	case '`', '"':
		return b.among(from, k, w)
	case ')':
		return b.among(from, k, "(")
	case ']':
		return b.among(from, k, "[")
	case '}':
		return b.among(from, k, "{")
	case '+', '#', '%', '$':
		return !b.spaced(k)
	}
	switch b.Lows[k] {
	case "”":
		return b.among(from, k, "“")
	case "»":
		return b.among(from, k, "«")
	case "€", "£", "°", "™", "®":
		return true
	}
	return false
}
