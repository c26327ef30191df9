package answer

import (
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"orgmem/brain/text"
	"orgmem/brain/voice"
)

// ellipsis stands where words are left out.
const ellipsis = "…"

// shortened is what is said by somebody, which is too long for an answer of so many words: those around what answers,
// and who says it. Where that leaves no room it is the beginning.
func shortened(by, said string, c *Chosen, manner *voice.Profile, most int) string {
	_, n := FirstWords(by, math.MaxInt)
	if n >= most {
		begin, _ := FirstWords(by+said, most)
		return begin
	}
	at := answerIn(said, c, manner)
	for room := most - n; room > 0; room-- { // in scripts without spaces an ellipsis counts as a word
		part := wordsAround(said, at, room)
		if _, n := FirstWords(by+part, math.MaxInt); n <= most {
			return by + part
		}
	}
	begin, _ := FirstWords(by+said, most)
	return begin
}

// answerIn is where in what is said of a passage, which is without its marks, stands what answers.
func answerIn(said string, c *Chosen, manner *voice.Profile) text.Span {
	passage, from, to := c.Hit.GetChunk(), c.Span.Start, c.Span.End
	for s := range text.Sentences(passage) {
		if s.End > c.Span.Start {
			from, to = min(s.Start, from), max(s.End, to)
			break
		}
	}
	// About there, and as long: marks are a small part of a sentence.
	near := len(said) * (c.Span.Start - from) / max(1, to-from)
	answers := strings.TrimRight(plain(passage[c.Span.Start:c.Span.End]), ".。")
	best := text.Span{Start: -1}
	for _, v := range []string{manner.Retell(answers), answers} {
		for i := 0; v != "" && i+len(v) <= len(said); {
			k := strings.Index(said[i:], v)
			if k < 0 {
				break
			}
			if i += k; best.Start < 0 || distance(i, near) < distance(best.Start, near) {
				best = text.Span{Start: i, End: i + len(v)}
			}
			i++
		}
		if best.Start >= 0 {
			return best
		}
	}
	return text.Span{Start: near, End: min(len(said), near+len(answers))}
}

func distance(a, b int) int { return max(a-b, b-a) }

// wordsAround are so many words of a text, those around a span of it, with an ellipsis for what is left out: from the
// beginning where that reaches the span, else from a clause's where one begins in reach.
func wordsAround(s string, at text.Span, most int) string {
	words := wordSpans(s)
	if len(words) <= most {
		return s
	}
	first := slices.IndexFunc(words, func(w text.Span) bool { return w.End > at.Start })
	if first < 0 {
		first = len(words) - 1
	}
	last := first
	for last+1 < len(words) && words[last+1].Start < at.End {
		last++
	}
	from := 0
	if last >= most {
		spare := max(0, most-(last-first+1))
		from = max(0, min(first-(spare+1)/2, len(words)-most))
		for i := max(1, from); i < min(first, len(words)-most+1); i++ {
			if w, _ := utf8.DecodeLastRuneInString(s[:words[i-1].End]); strings.ContainsRune(",;:–—，；：、", w) {
				from = i
				break
			}
		}
	}
	until := min(len(words), from+most)
	part := s[words[from].Start:words[until-1].End]
	if until == len(words) {
		part = s[words[from].Start:]
	} else {
		part = strings.TrimRight(part, ",;:.–—- (") + ellipsis
	}
	if from > 0 {
		part = ellipsis + part
	}
	return part
}

// wordSpans are the words of a text, as [FirstWords] counts them: in scripts without spaces each letter is one.
func wordSpans(s string) (words []text.Span) {
	inside := false
	for i, r := range s {
		switch {
		case text.Spaceless(r):
			words, inside = append(words, text.Span{Start: i}), false
		case unicode.IsSpace(r):
			inside = false
			continue
		case !inside:
			words, inside = append(words, text.Span{Start: i}), true
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		words[len(words)-1].End = i + size
	}
	return words
}
