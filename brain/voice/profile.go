package voice

import "math"

// rate is a measure of how often something comes.
type rate struct {
	group, name string
	count       counter
	per         counter // what it is counted against
	// common is the rate among people who write in English in chats, commit
	// messages and meetings, to one or two digits: it is what a profile without
	// evidence says, and the zero of the scale.
	common float64
}

// plain are the classes' and marks' rates; those of [habits] follow them.
//
// A rate is answered as the binary logarithm of its ratio to what is common, with
// one occurrence at the common rate taken as seen before (a Gamma prior): 0 is as
// everybody, 1 twice as often, -1 half. On that scale a rare mark and a frequent
// word vary alike, and one stray occurrence moves little. With the ratios
// themselves, half as many authors of commit messages are found again.
//
// What is left out was tried and did not tell people apart: participles in -ing,
// the words to, for, with, at, from, by, or, if, when, all, more.
var plain = []rate{
	{"rhythm", "shortMessages", cShort, cMessages, 0.28},
	{"rhythm", "longMessages", cLong, cMessages, 0.11},
	{"rhythm", "severalSentences", cSeveral, cMessages, 0.41},
	{"rhythm", "lines", cLines, cMessages, 1.6},
	{"rhythm", "paragraphs", cParagraphs, cMessages, 0.23},
	{"rhythm", "listItems", cBullets, cMessages, 0.22},
	{"rhythm", "lists", cLists, cMessages, 0.05},
	{"rhythm", "starredItems", cStars, cBullets, 0.15},
	{"rhythm", "indentedLines", cIndented, cLines, 0.005},
	{"rhythm", "quotedLines", cQuoted, cMessages, 0.003},

	{"opening", "lowerCase", cOpensLower, cMessages, 0.2},
	{"opening", "self", cOpensSelf, cMessages, 0.07},
	{"opening", "assent", cOpensAssent, cMessages, 0.19},
	{"opening", "conjunction", cOpensConjunction, cMessages, 0.11},
	{"opening", "article", cOpensArticle, cMessages, 0.044},
	{"opening", "pastTense", cOpensEd, cMessages, 0.026},
	{"opening", "presentTense", cOpensS, cMessages, 0.014},

	{"closing", "fullStop", cEndsStop, cMessages, 0.52},
	{"closing", "question", cEndsQuestion, cMessages, 0.07},
	{"closing", "exclamation", cEndsBang, cMessages, 0.0075},
	{"closing", "open", cEndsOpen, cMessages, 0.36},

	{"punctuation", "questions", cQuestions, cWords, 0.008},
	{"punctuation", "exclamations", cBangs, cWords, 0.001},
	{"punctuation", "commas", cCommas, cWords, 0.05},
	{"punctuation", "semicolons", cSemicolons, cWords, 0.0016},
	{"punctuation", "colons", cColons, cWords, 0.011},
	{"punctuation", "parentheses", cParens, cWords, 0.011},
	{"punctuation", "quotes", cQuotes, cWords, 0.0085},
	{"punctuation", "singleQuotes", cSingle, cWords, 0.008},
	{"punctuation", "dashes", cDashes, cWords, 0.0047},
	{"punctuation", "longDashes", cLongDashes, cWords, 0.0005},
	{"punctuation", "ellipses", cEllipsis, cWords, 0.001},
	{"punctuation", "arrows", cArrows, cWords, 0.0004},
	{"punctuation", "slashes", cSlashes, cWords, 0.0007},
	{"punctuation", "ampersands", cAmpersands, cWords, 0.0009},
	{"punctuation", "emphasis", cEmphasis, cWords, 0.0013},
	{"punctuation", "symbols", cSymbols, cWords, 0.005},
	{"punctuation", "doubleSpaces", cWide, cStops, 0.035},
	{"punctuation", "curlyQuotes", cCurly, cApostrophes, 0.04},

	{"spelling", "lowerCaseSentences", cStartsLower, cStarts, 0.13},
	{"spelling", "capitalised", cCapitalised, cWords, 0.05},
	{"spelling", "allCapitals", cShouted, cWords, 0.019},
	{"spelling", "contractions", cContractions, cWords, 0.02},
	{"spelling", "writtenOut", cWritten, cWords, 0.008},
	{"spelling", "longWords", cLongWords, cWords, 0.13},
	{"spelling", "shortWords", cShortWords, cWords, 0.44},
	{"spelling", "hyphenated", cHyphenated, cWords, 0.008},
	{"spelling", "pastForms", cEd, cWords, 0.022},
	{"spelling", "adverbs", cLy, cWords, 0.011},
	{"spelling", "nominalisations", cNoun, cWords, 0.028},
	{"spelling", "numbers", cNumbers, cWords, 0.018},

	{"address", "greetings", cClass + greeting, cMessages, 0.0035},
	{"address", "thanks", cClass + thanks, cMessages, 0.015},
	{"address", "courtesy", cCourtesy, cMessages, 0.01},
	{"address", "mentions", cMentions, cMessages, 0.06},
	{"address", "emoji", cEmoji, cMessages, 0.01},
	{"address", "emoticons", cEmoticons, cMessages, 0.007},

	{"stance", "hedges", cClass + hedge, cWords, 0.014},
	{"stance", "boosters", cClass + booster, cWords, 0.008},
	{"stance", "negations", cClass + negation, cWords, 0.017},
	{"stance", "assent", cClass + assent, cWords, 0.023},
	{"stance", "interjections", cClass + interjection, cWords, 0.02},
	{"stance", "connectives", cClass + connective, cWords, 0.0046},
	{"stance", "questionWords", cClass + question, cWords, 0.016},
	{"stance", "self", cClass + self, cWords, 0.027},
	{"stance", "group", cClass + group, cWords, 0.013},
	{"stance", "other", cClass + other, cWords, 0.015},
	{"stance", "third", cClass + third, cWords, 0.029},
	{"stance", "demonstratives", cClass + demonstrative, cWords, 0.033},
	{"stance", "time", cClass + timely, cWords, 0.015},
	{"stance", "articles", cClass + article, cWords, 0.069},
	{"stance", "prepositions", cClass + preposition, cWords, 0.1},
	{"stance", "conjunctions", cClass + conjunction, cWords, 0.058},
	{"stance", "auxiliaries", cClass + verb, cWords, 0.082},

	{"technical", "code", cCode, cWords, 0.009},
	{"technical", "codeBlocks", cBlocks, cMessages, 0.016},
	{"technical", "identifiers", cIdentifiers, cWords, 0.015},
	{"technical", "links", cLinks, cMessages, 0.044},
	{"technical", "references", cReferences, cMessages, 0.1},
}

// Profile returns the profile, or false while there is too little evidence.
func (t *Tally) Profile() (Profile, bool) {
	t.ready()
	c := &t.counts
	messages, words := c.get(cMessages), c.get(cWords)
	if messages < MinMessages || words < MinWords {
		return Profile{}, false
	}
	p := Profile{
		MessageWords:   words / messages,
		Formality:      formality(c),
		TechnicalDepth: depth(c),
		Evidence:       uint64(messages),
		Style:          make([]Measure, 0, 4+len(plain)+len(habits)),
	}
	mean := c.get(cLog) / messages
	p.Style = append(p.Style,
		Measure{"rhythm", "typicalWords", math.Expm1(mean)},
		Measure{"rhythm", "lengthSpread", math.Sqrt(max(0, c.get(cLogSquared)/messages-mean*mean))},
		// One sentence of common length is taken as seen before.
		Measure{"rhythm", "sentenceWords", (c.get(cSentenceWords) + 10) / (c.get(cSentences) + 1)},
		Measure{"spelling", "wordLetters", c.get(cLetters) / words},
	)
	for _, r := range plain {
		p.Style = append(p.Style, Measure{r.group, r.name, r.of(c)})
	}
	for i, h := range habits {
		p.Style = append(p.Style, Measure{
			"words", h.name, rate{count: cHabit + counter(i), per: cWords, common: h.common}.of(c),
		})
	}
	return p, true
}

// of is the rate's logarithmic ratio to the common one.
func (r rate) of(c *counts) float64 {
	return math.Log2((c.get(r.count) + 1) / (c.get(r.per)*r.common + 1))
}

// share is the rate itself, drawn to the common one where there are few words.
func share(c *counts, k, per counter, common float64) float64 {
	const before = 50 // words or so taken as seen before
	return (c.get(k) + before*common) / (c.get(per) + before)
}

// formality follows Heylighen and Dewaele's F: nouns, articles and prepositions
// speak for it, pronouns, verbs, adverbs and interjections against it, as far as
// closed lists and endings know them. What they did not look at, since they read
// printed text, is weighed by hand: contractions, lower case and emoji. Middle and
// slope are such that chat comes out near 0.2, commit messages near 0.6 and
// standards near 0.8.
func formality(c *counts) float64 {
	in := func(k counter, common float64) float64 { return share(c, k, cWords, common) }
	f := in(cClass+article, 0.069) + in(cClass+preposition, 0.1) + in(cNoun, 0.028) -
		in(cClass+self, 0.027) - in(cClass+group, 0.013) - in(cClass+other, 0.015) - in(cClass+third, 0.029) -
		in(cClass+verb, 0.082) - in(cLy, 0.011) - in(cClass+interjection, 0.02) - in(cClass+assent, 0.023)
	m := max(c.get(cMessages), 1)
	loose := 10*in(cContractions, 0.02) + (c.get(cEmoji)+c.get(cEmoticons)+c.get(cEndsBang))/m + 0.7*c.get(cOpensLower)/m
	// A letter speaks of I and you, and is formal all the same.
	strict := c.get(cWritten)/(c.get(cWritten)+c.get(cContractions)+4) + 1.5*c.get(cSigned)/m
	return 1 / (1 + math.Exp(-(12*(f-0.05) + 0.4 + strict - loose)))
}

// depth grows with the share of code, identifiers and addresses among the words,
// and a little with long words: 0.5 where one in twenty is of that kind.
func depth(c *counts) float64 {
	words := c.get(cWords) + c.get(cTechnical)
	t := (c.get(cTechnical) + 10*c.get(cBlocks) + 2*c.get(cLinks) + c.get(cReferences)) / (words + 20)
	t += max(0, share(c, cLongWords, cWords, 0.13)-0.13) / 15
	return t / (t + 0.05)
}
