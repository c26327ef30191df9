package reader

import "orgmem/brain/text"

// maxStretch is about how many bytes of a text a stretch has: some eight windows, which take as long as the passages
// that are embedded at a time.
const maxStretch = 6 << 10

// Stretches divides what is tagged of a text into parts that can be tagged each for itself: at the ends of paragraphs
// or, where these are long, of sentences.
func Stretches(s string) (all []text.Span) {
	s = text.Truncate(s, MaxTagged)
	start, paragraph, end := 0, 0, 0 // of the stretch, of the last paragraph, of the last sentence
	for sentence := range text.Sentences(s) {
		if blank(s[end:sentence.Start]) {
			paragraph = sentence.Start
		}
		if sentence.End-start > maxStretch && end > start {
			at := sentence.Start
			if paragraph > start {
				at = paragraph
			}
			all = append(all, text.Span{Start: start, End: at})
			start = at
		}
		for sentence.End-start > 2*maxStretch { // text without sentences
			n := len(text.Truncate(s[start:sentence.End], maxStretch))
			all = append(all, text.Span{Start: start, End: start + n})
			start += n
		}
		end = sentence.End
	}
	if start < len(s) {
		all = append(all, text.Span{Start: start, End: len(s)})
	}
	return all
}

// Append adds what was made of a stretch that begins at an offset, behind those that were added before.
func (t *Tagged) Append(stretch Tagged, at int) {
	t.Until = at + stretch.Until
	for _, s := range stretch.Spans {
		s.Start, s.End = s.Start+at, s.End+at
		t.Spans = append(t.Spans, s)
	}
	for _, w := range stretch.Words {
		w.Start, w.End = w.Start+int32(at), w.End+int32(at)
		t.Words = append(t.Words, w)
	}
	for _, s := range stretch.Sentences {
		s.Start, s.End = s.Start+at, s.End+at
		t.Sentences = append(t.Sentences, s)
	}
}
