// Package locale reads dates, times of day and numbers as other languages than English write them: one reader over a
// table of words per language. English, whose rules know more, is package extract's own.
//
// golang.org/x/text has the digits and separators of CLDR and neither names of months nor of days, so the words stand
// here. What is written with a number and the name of a month is read in any text ("le 3 mai 2026"); what is but a word
// ("morgen", "hier") only where the text is in its language.
package locale
