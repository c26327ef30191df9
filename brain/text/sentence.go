package text

import "iter"

// Span is a half-open range of byte offsets.
type Span struct{ Start, End int }

// Sentences yields the sentences of s in order, without the white space around
// them. They do not overlap, and what they leave out is white space. A blank
// line, a list item and a heading line end a sentence.
func Sentences(s string) iter.Seq[Span] { panic("not yet") }
