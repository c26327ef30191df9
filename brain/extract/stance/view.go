package stance

import (
	"strings"

	"orgmem/brain/extract/clause"
	"orgmem/brain/extract/tagger"
	"orgmem/brain/text"
)

// view is a sentence and what its marks say of its tokens.
type view struct {
	Sentence
	cited []bool // whether a token stands in quotation marks
	code  []bool // whether it stands in backquotes
	depth []int  // in how many brackets
}

func (v *view) low(i int) string {
	if i < v.From || i >= v.To {
		return ""
	}
	return v.Lows[i]
}

func (v *view) word(i int) string { return v.Text[v.Tokens[i].Start:v.Tokens[i].End] }

func (v *view) mark(i int) bool {
	return i < v.From || i >= v.To || v.Tokens[i].Kind == tagger.Mark
}

// spaced tells whether there is room between a token and the one before it.
func (v *view) spaced(i int) bool {
	return i <= v.From || i >= v.To || v.Tokens[i].Start > v.Tokens[i-1].End
}

// part is the part of speech of a token, by the lexicon.
func (v *view) part(i int) tagger.Class {
	if i < v.From || i >= v.To || v.Tokens[i].Kind != tagger.Word {
		return 0
	}
	e, _ := v.Model.Find(v.word(i))
	return e.Class.Part()
}

// capital tells whether a token is a name by its spelling.
func (v *view) capital(i int) bool {
	return i > v.From && i < v.To && v.Tokens[i].Kind == tagger.Word && v.word(i) != v.Lows[i] && v.Lows[i] != "i" &&
		!v.mark(i-1)
}

// survey marks which tokens stand in quotation marks, in code, and in brackets.
func (v *view) survey() {
	if v.depth != nil {
		return
	}
	n := v.To - v.From
	v.cited, v.code, v.depth = make([]bool, n), make([]bool, n), make([]int, n)
	cited, code, depth := false, false, 0
	for i := range n {
		k := v.From + i
		w := v.Lows[k]
		was := [2]bool{cited, code}
		if v.Tokens[k].Kind == tagger.Mark {
			switch {
			case w[0] == '`':
				code = !code && v.again(k, w)
			case code:
			case w == `"`:
				cited = !cited && v.again(k, w)
			case w == "“" || w == "«" || w == "„":
				cited = true
			case w == "”" || w == "»":
				cited = false
			case !cited && (w[0] == '(' || w[0] == '[' || w[0] == '{'):
				depth += len(w)
			}
		}
		v.cited[i], v.code[i], v.depth[i] = cited || was[0], code || was[1], depth
		if v.Tokens[k].Kind == tagger.Mark && !code && !cited && (w[0] == ')' || w[0] == ']' || w[0] == '}') {
			depth = max(0, depth-len(w))
		}
	}
}

// again tells whether a mark comes once more behind k: a lone quotation mark opens nothing.
func (v *view) again(k int, w string) bool {
	for k++; k < v.To; k++ {
		if v.Lows[k] == w {
			return true
		}
	}
	return false
}

func (v *view) inQuotes(i int) bool {
	if i < v.From || i >= v.To {
		return false
	}
	v.survey()
	return v.cited[i-v.From] || v.code[i-v.From]
}

// linked tells whether the bracket at k opens the words of a link in Markdown.
func (v *view) linked(k int) bool {
	for j := k + 1; j+1 < v.To; j++ {
		if v.Lows[j] == "]" {
			return v.Lows[j+1] == "(" && !v.spaced(j+1)
		}
	}
	return false
}

// among tells whether a word stands in [from, to).
func (v *view) among(from, to int, w string) bool {
	for k := from; k < to; k++ {
		if v.Lows[k] == w {
			return true
		}
	}
	return false
}

// verbal tells whether the token at k is a verb, or hangs on one.
func (v *view) verbal(k int) bool {
	if k < v.From || k >= v.To {
		return false
	}
	return v.finite(k) || v.part(k) == tagger.Verb
}

// finite tells whether the token at k is a verb that makes a clause, and nothing else.
func (v *view) finite(k int) bool {
	w := v.low(k)
	if auxiliaries[w] {
		return true
	}
	switch v.part(k) {
	case tagger.Past:
		return k > v.From && !clause.Determines(v.low(k-1))
	case tagger.Verb:
		return strings.HasSuffix(w, "s") && k > v.From && !clause.Determines(v.low(k-1))
	default:
		return false
	}
}

var auxiliaries = text.Set(`is are was were am be been 's ’s 're ’re 'm ’m has have had 've ’ve do does did will would
	'll ’ll 'd ’d shall should can could may might must ca wo n't n’t cannot ought isn't aren't`)
