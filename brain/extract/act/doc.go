// Package act reads what a sentence of another language than English does: whether somebody promises a thing in it, is
// made responsible for one, says what they like or hold, or tells of a change. English, whose rules know more, is read
// by packages insight and stance.
//
// # Promises
//
//   - [Read] is a pure function of a language and a sentence, linear in its length: no more than [maxTokens] are read.
//   - Spans are of the sentence, on the borders of characters.
//   - Rather nothing than something that nobody meant: what is wished for, doubted, asked, reported of others or said
//     of every day does nothing.
//
// # What it hides
//
// A table per language: patterns over words, and the words that take an act back. Chinese and Japanese, which part no
// words, have expressions over characters.
package act
