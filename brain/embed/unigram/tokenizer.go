package unigram

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"sync"

	"orgmem/brain/text"
)

// Tokenizer cuts texts with the vocabulary of a section, which it refers to.
type Tokenizer struct {
	rules
	trie, scores, begins []byte

	count        int
	unknown      int32
	unknownScore float64

	scanners sync.Pool
}

// unknownPenalty is how far the score of an unknown character lies below the least of all pieces (SentencePiece,
// unigram_model.cc).
const unknownPenalty = 10

// Open returns the tokenizer of a section that Encode wrote, which must not change; nothing of it is copied. A damaged
// one fails with ErrVocab. One that was made to harm, its sum correct, yields wrong ids below Len.
func Open(section []byte) (*Tokenizer, error) {
	if len(section) < bodyAt || string(section[:sumAt]) != magic {
		return nil, fmt.Errorf("%w: not a section of one", ErrVocab)
	}
	le := binary.LittleEndian
	if le.Uint32(section[sumAt:]) != crc32.ChecksumIEEE(section[countsAt:]) {
		return nil, fmt.Errorf("%w: the section does not match its sum", ErrVocab)
	}
	var counts [7]int
	for i := range counts {
		counts[i] = int(le.Uint32(section[countsAt+4*i:]))
		if counts[i] > len(section) {
			return nil, fmt.Errorf("%w: count %d is %d in %d bytes", ErrVocab, i, counts[i], len(section))
		}
	}
	pieces, unknown := counts[0], counts[1]
	if pieces > maxPieces || unknown >= pieces {
		return nil, fmt.Errorf("%w: piece %d of %d stands for the unknown", ErrVocab, unknown, pieces)
	}
	t := &Tokenizer{count: pieces, unknown: int32(unknown)}
	rest := section[bodyAt:]
	for _, part := range []struct {
		of   *[]byte
		size int
	}{
		{&t.trie, counts[2] * 4},
		{&t.scores, pieces * 4},
		{&t.begins, (pieces + 7) / 8},
		{&t.index, indexLen * 2},
		{&t.pages, counts[3] * pageBytes},
		{&t.ends, counts[4] * 4},
		{&t.results, counts[5]},
		{&t.pairs, counts[6] * pairBytes},
	} {
		if part.size > len(rest) {
			return nil, fmt.Errorf("%w: the section ends early", ErrVocab)
		}
		*part.of, rest = rest[:part.size:part.size], rest[part.size:]
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("%w: %d bytes behind the section", ErrVocab, len(rest))
	}
	least := math.Inf(1)
	for id := range pieces {
		least = min(least, t.score(uint32(id)))
	}
	if math.IsNaN(least) || math.IsInf(least, 0) {
		return nil, fmt.Errorf("%w: the least score is %g", ErrVocab, least)
	}
	t.unknownScore = least - unknownPenalty
	t.rules.open()
	t.scanners.New = func() any { return &scanner{t: t} }
	return t, nil
}

func (t *Tokenizer) score(id uint32) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(t.scores[4*id:])))
}

// Len returns the number of pieces; every id is below it.
func (t *Tokenizer) Len() int { return t.count }

// Inner tells whether a piece is a later piece of a word; of text without spaces, all are but the first.
func (t *Tokenizer) Inner(id int32) bool { return t.begins[id/8]>>(id%8)&1 == 0 }

// Append adds the ids of a text to ids and returns the result, reading little further than the first max tokens need.
func (t *Tokenizer) Append(ids []int32, of string, max int) []int32 {
	s := t.scanner(max)
	s.ids, s.keep = ids, true
	s.scan(of)
	ids = s.ids
	t.done(s)
	return ids
}

// AppendSpans is Append, and adds to spans where in the text each token stands. The span of a piece that is only the
// beginning of a word is empty, before the word. Characters of which one rule made several may belong to two tokens.
func (t *Tokenizer) AppendSpans(ids []int32, spans []text.Span, of string, max int) ([]int32, []text.Span) {
	s := t.scanner(max)
	s.ids, s.spans, s.keep, s.locate = ids, spans, true, true
	s.scan(of)
	ids, spans = s.ids, s.spans
	t.done(s)
	return ids, spans
}

// Count returns the number of tokens of the whole text. Texts joined by white space have the sum of their counts.
func (t *Tokenizer) Count(of string) int {
	s := t.scanner(math.MaxInt)
	s.scan(of)
	n := math.MaxInt - s.left
	t.done(s)
	return n
}

// scanner returns one without a text.
func (t *Tokenizer) scanner(left int) *scanner {
	s := t.scanners.Get().(*scanner)
	s.left = left
	return s
}

// done gives back a scanner, unless a word made it large.
func (t *Tokenizer) done(s *scanner) {
	if cap(s.word) <= keptWord {
		s.forget()
		t.scanners.Put(s)
	}
}
