package answer

import (
	"strings"
	"unicode"

	"orgmem/brain/reader"
	"orgmem/brain/text"
)

// A reader that has learned from notes is not to be trusted with a page: of a stretch of many sentences it says that
// something in it answers nearly whatever is asked. So of such a stretch the sentence that it points at is read again
// by itself, below its topic, and the answer is as probable as that is, and as that the reader meant this sentence.

// maxAtOnce is how many sentences a stretch has, at most, of which one reading suffices.
const maxAtOnce = 8

// Take takes over what the reader found in a window of the passage, unless it found more in another.
func (p *Read) Take(found reader.Reading, window text.Span) {
	found.Span = text.Span{Start: found.Span.Start + window.Start, End: found.Span.End + window.Start}
	if p.Window.End == 0 || found.Answers*found.Within > p.Answers*p.Within {
		p.Reading, p.Window = found, window
	}
}

// ReadCloser has the sentence that answers read again by itself where it was found in a stretch of many. labels are
// what the passages are called to the reader.
func ReadCloser(read []Read, labels []string, ask func([]reader.Passage) []reader.Reading) {
	var again []int
	var stretches []text.Span
	var passages []reader.Passage
	for i := range read {
		p := &read[i]
		if p.Answers < leastAnswers || !p.ofMany() {
			continue
		}
		at := p.stretch()
		label := labels[i]
		if topic := p.topic(); topic != "" {
			label = strings.TrimPrefix(label+", "+topic, ", ")
		}
		again, stretches = append(again, i), append(stretches, at)
		passages = append(passages, reader.Passage{Label: label, Text: p.Hit.GetChunk()[at.Start:at.End]})
	}
	if len(again) == 0 {
		return
	}
	for k, found := range ask(passages) {
		p := &read[again[k]]
		found.Answers *= p.Within
		found.Span = text.Span{Start: found.Span.Start + stretches[k].Start, End: found.Span.End + stretches[k].Start}
		p.Reading = found
	}
}

// ofMany tells whether the window that was read has more sentences than are read at once.
func (p *Read) ofMany() bool {
	n := 0
	for range text.Sentences(p.Hit.GetChunk()[p.Window.Start:p.Window.End]) {
		if n++; n > maxAtOnce {
			return true
		}
	}
	return false
}

// stretch is the sentences that hold the span, and the one before where they are not understood without.
func (p *Read) stretch() text.Span {
	chunk, at := p.Hit.GetChunk(), p.Span
	before := text.Span{Start: -1}
	for s := range text.Sentences(chunk) {
		if s.Start >= p.Span.End {
			break
		}
		if s.End <= p.Span.Start {
			before = s
			continue
		}
		at.Start, at.End = min(at.Start, s.Start), max(at.End, s.End)
	}
	if before.Start >= 0 && leans(unlisted(chunk[at.Start:at.End])) && p.topic() == "" &&
		!heading.MatchString(chunk[before.Start:before.End]) {
		at.Start = before.Start
	}
	return at
}

// leans tells whether a sentence is not understood without the one before.
func leans(s string) bool {
	word := strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })
	return len(word) > 0 && leaning[strings.ToLower(word[0])]
}

// known is the passage behind what is known of the text before it, and where in that its span stands.
func (p *Read) known() (passage string, at text.Span) {
	n := len(p.Before)
	return p.Before + p.Hit.GetChunk(), text.Span{Start: n + p.Span.Start, End: n + p.Span.End}
}

// topic is the item of a list that the one with the span stands under.
func (p *Read) topic() string {
	passage, at := p.known()
	topic, _ := topicOf(passage, at.Start)
	return topic
}

// said are the sentences of a passage that tell what stands at its span, as [said] has them.
func (p *Read) said() (whole, alone string) {
	passage, at := p.known()
	return said(passage, at)
}
