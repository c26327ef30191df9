package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxAbbreviation is how far before a full stop its word is looked for, in bytes.
	maxAbbreviation = 12
	// aroundStop is how many bytes on either side of a full stop tell in what language it stands.
	aroundStop = 120
)

// abbreviated tells whether the word before the full stop at stop is shortened
// rather than the sentence ended, given what follows from at on, whose first
// character is next.
func abbreviated(s string, start, stop, at, end int, next rune) bool {
	from := stop
	for from > start && stop-from < maxAbbreviation {
		r, n := utf8.DecodeLastRuneInString(s[start:from])
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && r != '.' {
			break
		}
		from -= n
	}
	w := s[from:stop]
	if strings.Trim(w, ".") == "" {
		return ordinal(s, start, stop, at, end)
	}
	if stop-from >= maxAbbreviation {
		return false
	}
	if utf8.RuneCountInString(w) == 1 { // an initial
		if w >= "a" && w <= "z" && foreign(s, stop) && digitLast(strings.TrimRight(s[start:from], spaces)) {
			return false // à 20 h.
		}
		return w != "I" && (from == start || unicode.IsSpace(rune(s[from-1])) || s[from-1] == '(' ||
			strings.HasSuffix(s[start:from], "à-"))
	}
	w = strings.ToLower(w)
	if kind, ok := abroad[w]; ok && foreign(s, stop) {
		return kind.holds(next)
	}
	if strings.HasSuffix(w, "str") && unicode.IsDigit(next) { // Hauptstr. 5
		return true
	}
	if kind, ok := abbreviations[w]; ok {
		return kind.holds(next)
	}
	return strings.IndexByte(w, '.') > 0 // U.S., z.B.
}

// foreign tells whether the text around a full stop is in another language than English, or at least spells so.
func foreign(s string, stop int) bool {
	around := s[max(0, stop-aroundStop):min(len(s), stop+aroundStop)]
	for _, r := range around {
		if r >= 'À' && unicode.IsLetter(r) {
			return true
		}
	}
	return LanguageOfQuestion(around) != English
}

// ordinal tells whether the number before the full stop at stop is an ordinal as German, Danish and Norwegian write it,
// or the day and month of a date, rather than the last word of a sentence: "am 3. Mai", "im 2. Stock", "bis 03.05.
// Montag". A word that has no such number beside it in English, or an article, has to stand on one side.
func ordinal(s string, start, stop, at, end int) bool {
	from, digits := stop, 0
	for from > start && stop-from < len("03.05") && (s[from-1] >= '0' && s[from-1] <= '9' || s[from-1] == '.') {
		if from--; s[from] != '.' {
			digits++
		}
	}
	if n := stop - from; digits == 0 || n > 2 && digits == n {
		return false
	}
	before := lastWord(s[max(start, from-aroundStop):from])
	behind := firstWord(s[at:min(end, at+aroundStop)])
	if behind == "" {
		return false
	}
	if ordinalMonths[behind] {
		return true
	}
	in := FunctionWord(behind)
	if before == "und" || before == "oder" { // am 1. und 2. Weihnachtstag
		lead := strings.TrimRight(s[max(start, from-aroundStop):from], spaces)
		lead = strings.TrimRight(lead[:len(lead)-len(before)], spaces)
		if strings.HasSuffix(lead, ".") && digitLast(lead[:len(lead)-1]) {
			before = "am"
		}
	}
	return ordinalLeads[before] && !in.Has(English) && !in.Has(German)
}

// spaces are those that stand between a number and its unit.
const spaces = " \u00a0\u202f"

// digitLast tells whether s ends with a digit.
func digitLast(s string) bool { return s != "" && s[len(s)-1] >= '0' && s[len(s)-1] <= '9' }

// lastWord is the last word of s in lower case, where only spaces and commas stand behind it.
func lastWord(s string) string {
	s = strings.TrimRight(s, " ,\u00a0\n")
	i := strings.LastIndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })
	if i >= 0 {
		_, n := utf8.DecodeRuneInString(s[i:])
		s = s[i+n:]
	}
	return strings.ToLower(s)
}

// firstWord is the first word of s in lower case, "" where s does not begin with a letter.
func firstWord(s string) string {
	if i := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) }); i >= 0 {
		s = s[:i]
	}
	return strings.ToLower(s)
}

var (
	// ordinalMonths are the months that no English sentence begins with.
	ordinalMonths = Set(`januar jänner februar feber märz mai juni juli oktober dezember januari februari
		marts maj desember`)
	// ordinalLeads stand before an ordinal and, but by chance, before no number that ends a sentence.
	ordinalLeads = Set(`am im vom zum zur beim der die das dem den des ab bis seit montag dienstag mittwoch donnerstag
		freitag samstag sonntag jeder jede jeden jedes`)
)

type abbrKind uint8

const (
	abbrAlways   abbrKind = iota + 1 // never ends a sentence: Dr.
	abbrNumber                       // before a number only: No. 5, Jan. 3
	abbrMaybeEnd                     // may end one: etc., p.m., Inc.
)

// holds tells whether a shortened word does not end its sentence, given the first character of what follows.
func (k abbrKind) holds(next rune) bool {
	switch k {
	case abbrNumber:
		return unicode.IsDigit(next)
	case abbrMaybeEnd:
		return !unicode.IsUpper(next)
	case abbrAlways:
	}
	return true
}

var abbreviations = kindsOf(map[abbrKind]string{
	abbrAlways: `dr mr mrs ms mx prof rev hon gen col sgt capt lt cpl gov sen rep st mt ft vs cf viz
al approx resp incl excl esp e.g i.e eg ie dept est hr fr hrn bzw z.b d.h u.a ggf evtl vgl inkl zzgl bspw
sog sr sra srta dra sig mme mlle mgr ing dipl jr.dr p.ej ev mio mrd tsd bzgl bijv dhr mevr drs dott avda aprox inż św
डॉ`,
	abbrNumber: `no nos nr num fig figs eq eqs sec ch chap vol vols p pp art par ref refs tab ver v
jan feb mar apr jun jul aug sep sept oct nov dec abs abb s kap ca c núm pág págs okt dez janv févr juil déc godz
रु नं`,
	abbrMaybeEnd: `etc inc ltd co corp jr sr.jr llc plc gmbh a.m p.m u.s u.k e.u a.d b.c ph.d m.d usw
min max std tel`,
})

// abroad are those of other languages that are words, or ends of sentences, in English: they count only where the text
// around them is not English.
var abroad = kindsOf(map[abbrKind]string{
	abbrAlways: `hl geb verh zz ggü allg mm mgr av bd éd ex ud uds vd vds ee gral
env bât eng fam jur phil rer nat lic arq dott.ssa avv geom arch rag egr gent spett es exmo exma mw ir evt nl
ul os pl hab tzn np płk`,
	abbrNumber: `app tél pag pagg art bl avr ene abr ago dic gen giu lug ott dez
mrt ok poz zob`,
	abbrMaybeEnd: `uu ecc s.p.a s.r.l ltda s.a enz itd itp usw e.v a.g b.v n.v`,
})

func kindsOf(lists map[abbrKind]string) map[string]abbrKind {
	m := make(map[string]abbrKind)
	for _, k := range []abbrKind{abbrNumber, abbrMaybeEnd, abbrAlways} { // the surest last
		for w := range strings.FieldsSeq(lists[k]) {
			m[w] = k
		}
	}
	return m
}
