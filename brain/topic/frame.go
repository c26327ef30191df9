package topic

import (
	"regexp"
	"slices"
	"strings"

	"orgmem/brain/text"
)

// What frames a text says nothing of what it is about: the subject that a whole thread bears, the headings of a
// template, what an answer quotes, and the caption that a program puts under a picture.

// maxSeries bounds the name of a series, which is a part of a label.
const maxSeries = 40

var (
	// answers are what programs of several languages put before the subject of an answer, or of what they pass on.
	answers = regexp.MustCompile(`^(?i:\s*(?:re|fwd?|aw|wg|antw|sv|vs|tr|rv|res|enc|rif)(?:\[\d+\])?\s*[:：])+\s*`)
	// captions are "[image: a boat on a lake]", and a picture of Markdown, with its text.
	captions = regexp.MustCompile(`!\[[^\]\n]*\](?:\([^)\n]*\))?|\[\pL[\pL ]{0,30}: [^\]\n]*\](?:[^(]|$)`)
)

// Subject is a title without what says that it is an answer to, or passes on, what had that title.
func Subject(title string) string { return title[len(answers.FindString(title)):] }

// bare is a line without captions.
func bare(line string) string {
	if !strings.Contains(line, "[") {
		return line
	}
	return captions.ReplaceAllString(line, "; ") // no phrase goes over it
}

// quoted tells whether a line quotes what somebody else wrote.
func quoted(line string) bool { return strings.HasPrefix(line, ">") }

// ownLines are the lines of a passage that its writer wrote: not those that are quoted, if there are others, no block
// of code, and not who was there.
func ownLines(t string) (lines []string) {
	if len(t) > maxPassageBytes {
		t = text.Truncate(t, maxPassageBytes)
	}
	var quotes []string
	fence := false
	for line := range strings.SplitSeq(t, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```"):
			fence = !fence
		case fence || line == "" || text.OnRoll(line):
		case quoted(line):
			quotes = append(quotes, line)
		default:
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return quotes
	}
	return lines
}

// said remembers the lines of a group's texts by their words.
type said map[string]bool

// again tells whether the same words were a line of a text before, whatever numbers and addresses stand among them.
func (s said) again(line []token) bool {
	var b strings.Builder
	for i := range line {
		if line[i].key != "" {
			b.WriteString(line[i].key)
			b.WriteByte(' ')
		}
	}
	key := b.String()
	if key == "" {
		return false
	}
	was := s[key]
	s[key] = true
	return was
}

// seriesOf is what most of some texts are called but for a number or date: the minutes of one board, say. It is empty
// where they are not of one series, or where a single word is all that they have in common.
func seriesOf(passages []Passage, texts int, titleOf func(*Passage) string) string {
	times, distinct := map[string]int{}, map[string]bool{}
	for i := range passages {
		title := Subject(titleOf(&passages[i]))
		if title == "" || distinct[title] { // an answer belongs to its thread
			continue
		}
		distinct[title] = true
		words := strings.Fields(title)
		kept := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return strings.ContainsAny(w, "0123456789") })
		name := strings.Trim(strings.Join(kept, " "), " -–—:|#,()")
		// It stands as such in the title, so that it goes with the texts that have it.
		if strings.Contains(name, " ") && len(kept) < len(words) && !strings.Contains(name, ", ") &&
			strings.Contains(strings.Join(words, " "), name) {
			times[name]++
		}
	}
	for name, n := range times {
		if n >= leastOfSeries && 2*n > texts && len(name) <= maxSeries {
			return name
		}
	}
	return ""
}
