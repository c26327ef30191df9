package claim

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"orgmem/brain/text"
	"orgmem/brain/text/undress"
)

const (
	// maxSubjectWords, maxAttributeWords and maxValueWords bound a fact's parts:
	// what is longer is an argument, not a name.
	maxSubjectWords   = 24
	maxAttributeWords = 4
	maxValueWords     = 12
)

var (
	copulas = text.Set(`is are was were be becomes became remains equals`)
	changes = text.Set(`changed moved set rescheduled updated renamed switched increased decreased raised lowered postponed
extended shifted`)
	fillers  = text.Set(`now currently still already again officially finally been being has have had is was were are`)
	articles = text.Set(`the a an this that its his her their our my your`)
	// clauses begin what is an argument and no value.
	clauses = text.Set(`that to because if when whether how why what not no so very`)
)

// fact recognises the sentences that give an attribute of a subject a value:
//
//	S: the A is V       S, the A is V
//	the A of S is V     the A for S is V
//	S's A is V          my A is V
//	A: V                under a title, which is the subject
//
// and the same with "is now", "changed to", "was moved from U to V".
func (r *Reader) fact(src *Source, c *Claim) Fact {
	w, s := c.Words, src.Text
	if a := header(w, s, c.Span.Start); a > 0 && src.Title != "" {
		return r.newFact(src.Title, between(s, w[:a]), rest(s, w[a:], c.Span.End), w[a:])
	}
	verb := verbOf(w, s)
	if verb < 1 || verb > maxSubjectWords+maxAttributeWords {
		return Fact{}
	}
	value := valueOf(w, verb)
	if value >= len(w) || len(w)-value > maxValueWords || clauses[w[value].Form] || w[value].Not {
		return Fact{}
	}
	if f := w[value].Form; value+1 < len(w) && !isCapital(s[w[value].Start:]) &&
		(strings.HasSuffix(f, "ing") || strings.HasSuffix(f, "ed") || w[value+1].Form == "by") {
		return Fact{} // what is done, not what is
	}
	subject, attribute := subjectOf(w[:verb], s, src.Speaker)
	if subject == "" || attribute == "" {
		return Fact{}
	}
	return r.newFact(subject, attribute, rest(s, w[value:], c.Span.End), w[value:])
}

// verbOf gives the place of the word that joins subject and value, −1 where there
// is none: the first form of be, else the first word of change. What stands in
// brackets only explains.
func verbOf(w []Word, s string) int {
	change, depth := -1, 0
	for i := range w {
		if i > 0 {
			gap := s[w[i-1].End:w[i].Start]
			depth = max(0, depth+strings.Count(gap, "(")-strings.Count(gap, ")"))
		}
		switch {
		case depth > 0, w[i].Link != 0:
		case copulas[w[i].Form], (w[i].Form == "has" || w[i].Form == "have") && i+1 < len(w) &&
			(w[i+1].Form == "been" || changes[w[i+1].Form]):
			return i
		case change < 0 && changes[w[i].Form]:
			change = i
		}
	}
	return change
}

// header gives the length of A in a line "A: V", 0 where it is no such line.
func header(w []Word, s string, start int) int {
	for i := 0; i+1 < len(w) && i < maxAttributeWords; i++ {
		gap := s[w[i].End:w[i+1].Start]
		if strings.HasPrefix(gap, ": ") || strings.HasPrefix(gap, ":\t") {
			if len(w)-i-1 > maxValueWords || strings.TrimLeft(s[start:w[0].Start], "-*# ") != "" || articles[w[i+1].Form] {
				return 0
			}
			return i + 1
		}
		if strings.TrimSpace(gap) != "" {
			return 0
		}
	}
	return 0
}

// valueOf gives the place where the value begins behind the verb: behind the "to"
// of a change, else behind the verb itself.
func valueOf(w []Word, verb int) int {
	i, change := verb, -1
	for i < len(w) && (copulas[w[i].Form] || fillers[w[i].Form] || changes[w[i].Form]) {
		if changes[w[i].Form] && change < 0 {
			change = i
		}
		i++
	}
	if change < 0 {
		return i
	}
	for k := i; k < len(w); k++ { // from U to V
		if f := w[k].Form; f == "to" || f == "as" {
			return k + 1
		}
	}
	if change > verb {
		return change // "is postponed"
	}
	return len(w)
}

// subjectOf takes what stands before the verb apart.
func subjectOf(w []Word, s, speaker string) (subject, attribute string) {
	last := len(w) - 1
	for i := last; i >= 0 && last-i <= maxAttributeWords; i-- {
		switch {
		case w[i].Form == "the" && i < last && i > 0 && strings.ContainsAny(s[w[i-1].End:w[i].Start], ":,"): // S: the A
			if w[0].Form == "like" || w[0].Form == "unlike" { // "like its predecessor, the …"
				return "", ""
			}
			return named(s, w[:i]), between(s, w[i+1:])
		case i < last && i > 0 && (w[i].Form == "of" || w[i].Form == "for"):
			continue
		case i < last && possessive(s, w[i], w[i+1]): // S's A
			return named(s, w[:i+1]), between(s, w[i+1:])
		case i < last && i == 0 && (w[i].Form == "my" || w[i].Form == "our"):
			if speaker == "" {
				speaker = w[i].Form
			}
			return speaker, between(s, w[1:])
		}
	}
	if len(w) < 4 || w[0].Form != "the" {
		return "", ""
	}
	for i := 2; i < last && i <= maxAttributeWords+1; i++ {
		if w[i].Form == "of" || w[i].Form == "for" { // the A of S
			return named(s, w[i+1:]), between(s, w[1:i])
		}
	}
	return "", ""
}

// named is what some words name, empty where they name nothing by themselves:
// "the film" is another one in each text.
func named(s string, w []Word) string {
	for len(w) > 0 && w[0].Kind == Function {
		w = w[1:]
	}
	content := 0
	for i := range w {
		if w[i].Kind == Function || w[i].Kind == Negation {
			continue
		}
		if content++; w[i].Name || w[i].Kind == Number || i == 0 && isCapital(s[w[i].Start:]) || content > 1 {
			name := between(s, w)
			if strings.Count(name, "(") > strings.Count(name, ")") && strings.HasPrefix(s[w[len(w)-1].End:], ")") {
				name += ")"
			}
			return name
		}
	}
	return ""
}

func isCapital(s string) bool {
	c, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(c)
}

func possessive(s string, w, next Word) bool {
	gap := s[w.End:next.Start]
	return strings.HasPrefix(gap, "'s ") || strings.HasPrefix(gap, "’s ")
}

// between is the text from the first of some words to the last.
func between(s string, w []Word) string {
	if len(w) == 0 {
		return ""
	}
	return s[w[0].Start:w[len(w)-1].End]
}

// rest is the text from the first of some words to the end of the sentence,
// without its closing punctuation.
func rest(s string, w []Word, end int) string {
	return strings.TrimRight(s[w[0].Start:end], " .;!\"”")
}

// newFact makes the keys of a fact.
func (r *Reader) newFact(subject, attribute, value string, words []Word) Fact {
	f := Fact{Subject: strings.TrimSpace(subject), Attribute: strings.TrimSpace(attribute), Value: value, Words: words}
	key := append(r.canonical(nil, bare(f.Subject)), 0)
	if len(key) == 1 {
		return Fact{}
	}
	subjectBytes := len(key)
	if key = r.canonical(key, f.Attribute); len(key) == subjectBytes {
		return Fact{}
	}
	f.Key = Key(xxhash.Sum64(key) | 1) // never 0
	f.Same = xxhash.Sum64(r.canonical(nil, f.Value))
	return f
}

// bare is a name without what explains it in brackets behind.
func bare(name string) string {
	if i := strings.IndexByte(name, '('); i > 0 {
		return strings.TrimSpace(name[:i])
	}
	return name
}

// canonical appends the stems of the words that carry meaning.
func (r *Reader) canonical(dst []byte, s string) []byte {
	s = undress.Of(s).Plain // which a title is not yet
	for _, w := range r.words(s, text.Span{End: len(s)}) {
		if w.Kind != Function {
			dst = append(append(dst, w.Stem...), ' ')
		}
	}
	return dst
}
