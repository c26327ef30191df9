package topic

import (
	"slices"
	"strings"
)

// WordsOf are the words of a label: what its commas part.
func WordsOf(label string) []string { return strings.Split(label, ", ") }

// LabelFrom makes a label of keywords, of the first three.
func LabelFrom(keywords []string) string {
	return strings.Join(keywords[:min(len(keywords), labelWords)], ", ")
}

// Called is a label of some words, the first with a capital.
func Called(words []string) string { return upperFirst(LabelFrom(words)) }

// Without takes words that are gone out of a label and its keywords. A label that loses
// one is made of the keywords that are left.
func Without(label string, keywords []string, gone func(string) bool) (string, []string) {
	kept := slices.DeleteFunc(slices.Clone(keywords), gone)
	if !slices.ContainsFunc(WordsOf(label), gone) {
		return label, kept
	}
	return LabelFrom(kept), kept
}
