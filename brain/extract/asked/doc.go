// Package asked reads which times a question asks about: those that package extract
// reads in any text, and seasons. Questions ask for seasons as often as for months
// ("what did we paint last summer"). In a text "in spring" is as often a habit, so
// there only the reader decides; what a question asks about does nothing worse than
// rank, and it is read by its words alone.
//
// Times is pure: when the question is asked is an argument. Its cost is linear in the
// question, of which MaxQuestionText bytes are looked at.
package asked
