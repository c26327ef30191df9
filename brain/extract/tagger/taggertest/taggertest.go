// Package taggertest reads sentences for tests of what is decided by their words.
package taggertest

import (
	"strings"

	"orgmem/brain/extract/tagger"
	"orgmem/brain/text"
)

// Named is a text, read, and which of its tokens, [From, To), are a name in it.
type Named struct {
	Model    *tagger.Model
	Tokens   []tagger.Token
	Lows     []string // the tokens in small letters
	From, To int
}

// Read reads a text that has a name in it. An error means that the tagger's model is damaged.
func Read(s, name string) (n Named, err error) {
	if n.Model, err = tagger.Load(); err != nil {
		return n, err
	}
	for sentence := range text.Sentences(s) {
		n.Tokens = tagger.Tokens(n.Tokens, s, sentence)
	}
	at := strings.Index(s, name)
	for i, x := range n.Tokens {
		n.Lows = append(n.Lows, strings.ToLower(s[x.Start:x.End]))
		if x.Start <= at {
			n.From = i
		}
		if x.Start < at+len(name) {
			n.To = i + 1
		}
	}
	return n, nil
}
