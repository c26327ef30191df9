package extract

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"orgmem/brain/extract/act"
	"orgmem/brain/extract/address"
	"orgmem/brain/extract/locale"
	"orgmem/brain/extract/tagger"
	"orgmem/brain/text"
)

// abroad are the dates of one sentence, its tokens [from, to), that are written in another language than English.
func (r *reader) abroad(from, to int) []Date {
	start, end := r.tokens[from].Start, r.tokens[to-1].End
	sentence := r.text[start:end]
	found := locale.Of(sentence).And(r.langs).Dates(sentence, int(dayIndex(r.atMs)), r.atMs != 0)
	dates := make([]Date, 0, len(found))
	for _, x := range found {
		d := Date{
			Span: Span{Start: start + x.Start, End: start + x.End}, FromMs: abroadMs(x.From), UntilMs: abroadMs(x.Until),
			Grain: abroadGrains[x.Grain], Relative: x.Relative, Confidence: 0.95,
		}
		switch {
		case x.Guessed:
			d.Confidence = 0.6
		case x.Relative:
			d.Confidence = 0.85
		}
		if x.Minute >= 0 {
			at := int64(x.Minute) * msPerMinute
			d.Grain = Minute
			switch {
			case x.Until == locale.Ever:
				d.FromMs += at
			case x.From == locale.Always:
				d.UntilMs += at - msPerDay
			default:
				d.FromMs += at
				d.UntilMs = d.FromMs + msPerMinute
			}
		}
		dates = append(dates, d)
	}
	return dates
}

// sureNamed is how often a name is right that is known by what stands beside it.
const sureNamed = 0.9

// addressed marks the names of another language than English that are known by what stands beside them.
func addressed(r *reader) {
	for _, n := range address.Find(r.code, r.text) {
		m := Mention{Span: n.Span, Name: r.text[n.Start:n.End], Type: Person, Confidence: sureNamed}
		if n.Place {
			m.Type = Place
		}
		r.marked = append(r.marked, m)
	}
}

// determining words of German stand before nouns and hardly before a person's name.
var determining = text.Set("der die das den dem des ein eine einen einem einer eines kein keine keinen keiner mein " +
	"meine unser unsere")

// describing words stand before nouns of German, and before nobody's name.
var describing = text.Set("gute guten gutes schöne schönen frohe frohes neue neuen alte alten große großen kleine " +
	"kleinen ganze ganzen nächste nächsten letzte letzten viel viele")

// joining words stand within names.
var joining = text.Set("von van der den de du des di del della da do dos das la le los las und y e et en zu am im an " +
	"für i te ter ten op aan het z")

// nameless tells whether the tokens [from, to) name nothing in the language of the document: a word that begins a
// sentence, words that are joined as no name is, a noun of German that was taken for a person.
func nameless(r *reader, from, to int, kind Type) bool {
	first := r.lows[from]
	if to > from+1 {
		for i := from + 1; i < to; i++ {
			if !act.Names(r.code, r.lows[i]) && !joining[r.lows[i]] && r.lows[i] == r.word(i) {
				return true
			}
		}
		return r.code == "de" && r.tokens[from].First && determining[first]
	}
	if e, _ := r.model.Find(first); e.Class&tagger.FirstName != 0 {
		return false
	}
	if !act.Names(r.code, first) || r.code == "fr" && strings.HasPrefix(first, "j'") {
		return true
	}
	if c, _ := utf8.DecodeRuneInString(r.word(from)); unicode.IsLower(c) && kind == Person {
		return true
	}
	if r.code != "de" || kind != Person || from == 0 {
		return false
	}
	i, before := from, r.lows[from-1]
	return determining[before] || describing[before] || i > 1 && determining[r.lows[i-2]] &&
		(strings.HasSuffix(before, "es") || strings.HasSuffix(before, "en") || strings.HasSuffix(before, "e"))
}

var abroadGrains = map[locale.Grain]Grain{locale.Day: Day, locale.Week: Week, locale.Month: Month, locale.Year: Year}

func abroadMs(days int) int64 {
	switch days {
	case locale.Always:
		return math.MinInt64
	case locale.Ever:
		return math.MaxInt64
	}
	return int64(days) * msPerDay
}
