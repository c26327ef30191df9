package answer

import "strings"

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
