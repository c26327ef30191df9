package answer

import (
	"strings"

	"orgmem/brain/text"
)

// addressed writes out the address of a link that stands where the span s[first:last] does: it is part of what answers.
// Others keep their words only ([plain]).
func addressed(s string, first, last int) (written string, begin, end int) {
	var out strings.Builder
	done := 0
	begin, end = first, last
	for _, m := range link.FindAllStringSubmatchIndex(s, -1) {
		if m[0] >= last || m[1] <= first || m[0] > 0 && s[m[0]-1] == '!' {
			continue
		}
		label, to := s[m[2]:m[3]], s[m[4]:m[5]]
		if label == to || len(wordsOf(label)) == 0 {
			label = to
		} else {
			label += " (" + to + ")"
		}
		out.WriteString(s[done:m[0]] + label)
		done, begin, end = m[1], min(begin, m[0]), max(end, m[1])
	}
	out.WriteString(s[done:])
	return out.String(), begin, end + out.Len() - len(s)
}

// withAddresses is a sentence of a passage with the addresses of the links that stand where a span does.
func withAddresses(passage string, sentence, at text.Span) string {
	s := passage[sentence.Start:sentence.End]
	s, _, _ = addressed(s, max(at.Start-sentence.Start, 0), min(at.End-sentence.Start, len(s)))
	return s
}
