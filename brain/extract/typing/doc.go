// Package typing says how much the words of a name and those beside it speak for each type that it may be of: what the
// lexicon knows of them, how they are written, the noun that says what it is ("the ferry", "Ltd", "Festival"), the
// preposition before it and the verb behind.
//
// A clue is one such observation. What it weighs was fitted to labelled notes ("nametagger types") and stands in
// weights.tsv. The weights are logarithms: they are added to each other, and to those of what a reader thinks of the
// same name, which knows the sentence and nothing of spelling and lists.
package typing
