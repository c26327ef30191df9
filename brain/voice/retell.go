package voice

import (
	"regexp"
	"strings"
)

// Short answers of a person whose messages are short: as many words as two of them
// have, within bounds.
const (
	answerMessages = 2
	leastAnswer    = 40
)

// AnswerWords is how long an answer in p's voice is, at most: most for who writes long
// messages.
func (p *Profile) AnswerWords(most int) int {
	return min(most, max(leastAnswer, int(answerMessages*p.MessageWords)))
}

// Retell puts a sentence that somebody else wrote into p's manner, as far as that
// changes nothing that it says: words are contracted, or written out, where p does so
// clearly more often than others, or less. A sentence that quotes, or that holds code,
// stays as it is. A nil p tells everything as it was written.
func (p *Profile) Retell(sentence string) string {
	if p == nil || strings.ContainsAny(sentence, "\"“”„«»`") {
		return sentence
	}
	switch {
	case p.style("spelling", "contractions") >= marked:
		return full.ReplaceAllStringFunc(sentence, func(s string) string { return inCaseOf(s, short[strings.ToLower(s)]) })
	case p.writesOut():
		return shortened.ReplaceAllStringFunc(sentence, func(s string) string {
			return inCaseOf(s, long[strings.ReplaceAll(strings.ToLower(s), "’", "'")])
		})
	}
	return sentence
}

// End leaves out the full stop at the end of a text where p does so.
func (p *Profile) End(text string) string {
	if p == nil || !p.leavesOpen() || strings.HasSuffix(text, "..") {
		return text
	}
	return strings.TrimSuffix(text, ".")
}

// negations are the contractions that mean one thing only, whatever stands around
// them; "it's" and "he'd" may be two each, and "can not only" is no "can't only".
var negations = [][2]string{
	{"do not", "don't"},
	{"does not", "doesn't"},
	{"did not", "didn't"},
	{"is not", "isn't"},
	{"are not", "aren't"},
	{"was not", "wasn't"},
	{"were not", "weren't"},
	{"has not", "hasn't"},
	{"have not", "haven't"},
	{"had not", "hadn't"},
	{"will not", "won't"},
	{"would not", "wouldn't"},
	{"should not", "shouldn't"},
	{"could not", "couldn't"},
	{"must not", "mustn't"},
	{"cannot", "can't"},
}

// short and long are one by the other; full and shortened find them in a text.
var short, long, full, shortened = negationPatterns()

func negationPatterns() (short, long map[string]string, full, shortened *regexp.Regexp) {
	short, long = map[string]string{}, map[string]string{}
	var a, b []string
	for _, n := range negations {
		short[n[0]], long[n[1]] = n[1], n[0]
		a, b = append(a, n[0]), append(b, strings.ReplaceAll(n[1], "'", "['’]"))
	}
	return short, long, regexp.MustCompile(`(?i)\b(?:` + strings.Join(a, "|") + `)\b`),
		regexp.MustCompile(`(?i)\b(?:` + strings.Join(b, "|") + `)\b`)
}

// inCaseOf gives to with the first letter's case of from.
func inCaseOf(from, to string) string {
	if from[:1] != strings.ToLower(from[:1]) {
		return strings.ToUpper(to[:1]) + to[1:]
	}
	return to
}
