package typing

import (
	_ "embed"
	"strconv"
	"strings"
)

// Clue is something that is seen of a name.
type Clue uint8

// What the lexicon knows of a word, from a first clue on.
const (
	lexFirst = iota
	lexLast
	lexPlace
	lexOrg
	lexBrand
	lexCommon
	lexProper
	lexNoun
	lexVerb
	lexAdjective
	lexDemonym
	lexRole
	lexUnknown
	lexes
)

// The clues. Some are the first of several.
const (
	always  Clue = iota
	single       // of the only word: lexFirst to lexUnknown
	phrase  = single + lexes
	firstOf = phrase + lexes
	lastOf  = firstOf + lexes
)

const (
	onlyFirst = lastOf + lexes + Clue(iota)
	onlyLast
	onlyPerson
	onlyPlace
	onlyOrg
	onlyBrand
	onlyCommon
	family
	oneWord
	twoWords
	threeWords
	longName
	acronym
	shouted
	camel
	small
	digit
	numberLast
	letters
	initials
	hyphen
	ampersand
	joined
	apostrophe
	endsPlace
	endsPerson
	endsFirm
	endsProduct
	endsEvent
	linked
	firm
	afterIn
	afterAt
	afterTo
	afterFrom
	afterNear
	afterOn
	afterWith
	afterBy
	afterOf
	afterFor
	afterAbout
	afterDuring
	afterVia
	afterAnd
	afterThe
	afterA
	afterOwn
	afterSaid
	afterAsked
	afterUsed
	afterJoined
	afterVisited
	afterIs
	afterOther
	begins
	beforeS
	beforeMind
	beforeAct
	beforeTrade
	beforeHappens
	beforeWorks
	beforeIs
	beforeHas
	beforeWill
	beforeAnd
	beforeIn
	beforeAt
	beforeOn
	beforeTo
	beforeFor
	beforeOf
	beforeOther
	ends
	nextClue
)

// Of each type one: a noun of it at the end of the name, at its begin, before it, behind it, or there with an article.
const (
	head0      = nextClue
	leads      = head0 + Types
	beforeKind = leads + Types
	behindKind = beforeKind + Types
	apposed    = behindKind + Types
	// theAfter are afterIn to afterVia with an article between.
	theAfter = apposed + Types
	// The marks: , : ( " & and others.
	afterComma  = theAfter + 1 + afterVia - afterIn
	beforeComma = afterComma + marks
	clues       = beforeComma + marks
	marks       = 6
)

// fixedNames are how weights.tsv calls the clues that stand for themselves.
var fixedNames = strings.Fields(`
	onlyFirst onlyLast onlyPerson onlyPlace onlyOrg onlyBrand onlyCommon family oneWord twoWords threeWords
	longName acronym shouted camel small digit numberLast letters initials hyphen ampersand joined apostrophe
	endsPlace endsPerson endsFirm endsProduct endsEvent linked firm afterIn afterAt afterTo afterFrom afterNear
	afterOn afterWith afterBy afterOf afterFor afterAbout afterDuring afterVia afterAnd afterThe afterA afterOwn
	afterSaid afterAsked afterUsed afterJoined afterVisited afterIs afterOther begins beforeS beforeMind beforeAct
	beforeTrade beforeHappens beforeWorks beforeIs beforeHas beforeWill beforeAnd beforeIn beforeAt beforeOn
	beforeTo beforeFor beforeOf beforeOther ends`)

// Names are how weights.tsv calls the clues.
var Names = clueNames()

func clueNames() []string {
	all := []string{"always"}
	add := func(prefix, words string) {
		for w := range strings.FieldsSeq(words) {
			all = append(all, prefix+w)
		}
	}
	for _, prefix := range []string{"single.", "phrase.", "first.", "last."} {
		add(prefix, "first last place org brand common proper noun verb adjective demonym role unknown")
	}
	all = append(all, fixedNames...)
	for prefix := range strings.FieldsSeq("head. leads. beforeKind. behindKind. apposed.") {
		add(prefix, "person organization product place project event")
	}
	for _, name := range fixedNames[afterIn-onlyFirst : afterVia+1-onlyFirst] {
		all = append(all, name+"The")
	}
	for _, prefix := range []string{"after.", "before."} {
		add(prefix, "comma colon bracket quote and other")
	}
	return all
}

//go:embed weights.tsv
var table string

// weights are in hundredths.
var weights = parse(table)

// parse reads lines of a clue's name and what it weighs for each type. What is not there weighs nothing.
func parse(s string) (w [clues][Types]float64) {
	at := map[string]int{}
	for i, name := range Names {
		at[name] = i
	}
	for line := range strings.Lines(s) {
		fields := strings.Fields(line)
		i, ok := at[fields[0]]
		if !ok || len(fields) != 1+Types {
			panic(line) //nolint:forbidigo // it is embedded in the binary, and a test reads it
		}
		for k, f := range fields[1:] {
			n, err := strconv.Atoi(f)
			if err != nil {
				panic(line) //nolint:forbidigo // as above
			}
			w[i][k] = float64(n) / 100
		}
	}
	return w
}

// Add adds what clues weigh for each type.
func Add(to *[Types]float64, seen []Clue) {
	for _, c := range seen {
		for k, w := range weights[c] {
			to[k] += w
		}
	}
}
