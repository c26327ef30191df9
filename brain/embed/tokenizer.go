package embed

import (
	"fmt"

	"orgmem/brain/embed/packfile"
	"orgmem/brain/embed/unigram"
	"orgmem/brain/embed/wordpiece"
	"orgmem/brain/text"
)

// tokenizer cuts texts into pieces of a vocabulary: package wordpiece or
// unigram, which document the methods. It is immutable, serves many callers at
// once, and adds no marks.
type tokenizer interface {
	Len() int
	Append(ids []int32, of string, max int) []int32
	AppendSpans(ids []int32, spans []text.Span, of string, max int) ([]int32, []text.Span)
	Count(of string) int
	Inner(id int32) bool
}

// openTokenizer opens the tokenizer that a pack names.
func openTokenizer(f *packfile.File) (tokenizer, error) {
	if f.Tokenizer == packfile.TokenizerUnigram {
		section, err := f.Unigram()
		if err != nil {
			return nil, err
		}
		t, err := unigram.Open(section)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrPack, err)
		}
		return t, nil
	}
	vocab, err := f.Vocab()
	if err != nil {
		return nil, err
	}
	t, err := wordpiece.New(vocab)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPack, err)
	}
	return t, nil
}
