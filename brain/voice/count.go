package voice

import "math"

// counter names one sum of a tally. The order is the stored form: a change is a
// change of [tallyVersion].
type counter int

const (
	cMessages counter = iota
	cWords
	cWordsSquared
	cLog
	cLogSquared
	cShort
	cLong
	cSeveral
	cSentences
	cSentenceWords
	cLines
	cIndented
	cParagraphs
	cBullets
	cStars
	cQuoted
	cLetters
	cLongWords
	cShortWords
	cHyphenated
	cShouted
	cCapitalised
	cContractions
	cCurly
	cIng
	cEd
	cLy
	cNoun
	cStarts
	cStartsLower
	cOpensLower
	cOpensSelf
	cOpensAssent
	cOpensQuestion
	cOpensConjunction
	cOpensArticle
	cOpensEd
	cOpensIng
	cOpensS
	cEndsStop
	cEndsQuestion
	cEndsBang
	cEndsOpen
	cStops
	cWide
	cQuestions
	cBangs
	cCommas
	cSemicolons
	cColons
	cParens
	cQuotes
	cSingle
	cDashes
	cLongDashes
	cArrows
	cEllipsis
	cSlashes
	cAmpersands
	cEmphasis
	cSymbols
	cEmoji
	cEmoticons
	cMentions
	cLinks
	cReferences
	cNumbers
	cBlocks
	cCode
	cIdentifiers
	cTechnical
	cApostrophes // contractions and quotes, straight or curly
	cCourtesy    // please and sorry
	cWritten     // what could have been contracted, and was not
	cSigned      // messages that end as a formal letter does
	cLists       // messages that hold a list
	cClass       // one for each class, in the order of their bits
)

// The classes' numbers, in the order of their bits.
const (
	article counter = iota
	preposition
	conjunction
	self
	group
	other
	third
	verb
	negation
	hedge
	booster
	greeting
	thanks
	apology
	please
	assent
	interjection
	connective
	question
	demonstrative
	timely
	classCount
)

const (
	cHabit = cClass + classCount // one for each of habits
)

// counts are the sums of a tally.
type counts struct{ sums []float64 }

func counters() int { return int(cHabit) + len(habits) }

func (c *counts) add(k counter, v float64) { c.sums[k] += v }

func (c *counts) get(k counter) float64 { return c.sums[k] }

func logOf(words int) float64 { return math.Log1p(float64(words)) }
