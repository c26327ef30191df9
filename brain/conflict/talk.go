package conflict

import (
	"regexp"
	"slices"
	"strings"

	"orgmem/brain/claim"
	themes "orgmem/brain/topic"
)

// personal is what people say of themselves or to each other.
var personal = regexp.MustCompile(`(?i)(?:^|[^\pL])(?:I|me|my|you|your)(?:[^\pL]|$)|(?:^|[\s<(])@\pL`)

// talks tells whether a statement of s is what people say of themselves or to each other, what somebody is
// quoted with, or of code and addresses: of that the rule of opposite conclusions, made for findings, knows nothing.
func (p *profile) talks(s string) bool {
	return p.quoted(s) || personal.MatchString(s[p.claim.Span.Start:p.claim.Span.End]) ||
		slices.ContainsFunc(p.claim.Words, func(w claim.Word) bool { return w.Code || w.Link != 0 })
}

// quoted tells whether a statement of s stands behind who says it, or behind what it is an item of: "Dana: it
// is done". The headings of an abstract, "RESULTS: …", are in capitals.
func (p *profile) quoted(s string) bool {
	k := slices.IndexFunc(p.claim.Words, func(w claim.Word) bool { return w.Label })
	if k < 0 {
		return false
	}
	label := s[p.claim.Words[k].Start:p.claim.Words[k].End]
	return label != strings.ToUpper(label)
}

// subjectOf is a title without the mark of a reply, and whether it has one.
func subjectOf(title string) (subject string, replies bool) {
	subject = themes.Subject(title)
	return strings.ToLower(strings.Join(strings.Fields(subject), " ")), len(subject) < len(title)
}

// sittingMs is how long after each other two messages belong to one conversation, where no title tells.
const sittingMs = 60 * 60 * 1000

// turnsOfOne tells whether two passages are what was said in one conversation: both have one subject, and the one
// answers; or neither has one, and they were said within the hour, one after the other. Two that only have one title
// may be the minutes of two meetings, and two of one time notes of one day.
func turnsOfOne(a, b *Passage) bool {
	if a.subject != "" || b.subject != "" {
		return a.subject == b.subject && (a.replies || b.replies)
	}
	return updates(a, b) && max(a.FromMs, b.FromMs)-min(a.FromMs, b.FromMs) <= sittingMs
}

// addressed counts the words at the head of a statement of s that only say to whom it is said: "@dana thanks". Of whom
// a verb says something is spoken of: "@dana is the treasurer".
func addressed(words []claim.Word, s string) (n int) {
	for n < len(words) && words[n].Start > 0 && s[words[n].Start-1] == '@' {
		n++
	}
	if n > 0 && n < len(words) && verbs[words[n].Form] {
		return 0
	}
	return n
}
