package embed

import "orgmem/brain/text"

// AppendTokenSpans is AppendTokens, and adds to spans where in the text each token stands, in bytes. The spans are in
// the order of the text and hold whole characters with their accents; neighbours share one that becomes several
// letters.
func (t *Tower) AppendTokenSpans(ids []int32, spans []text.Span, of string, most int) ([]int32, []text.Span) {
	return t.m.tok.AppendSpans(ids, spans, of, most)
}

// ContinuesWord tells whether a token is a later piece of the word that the token before it belongs to.
func (t *Tower) ContinuesWord(id int32) bool { return t.m.tok.Inner(id) }
