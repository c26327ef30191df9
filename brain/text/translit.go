package text

import (
	"strings"
	"unicode/utf8"
)

const (
	// minName and maxName bound the words that are looked for in the other alphabet, in bytes: shorter ones mean something
	// else there, and longer ones are no names.
	minName = 4
	maxName = 40
	// maxSpellings is how many spellings of a name are looked for.
	maxSpellings = 4
)

// cyrillicOf are the ways in which Russian and Ukrainian letters are written in Latin script, the longest first: those of
// passports (ICAO 9303), of the British and American boards (BGN/PCGN), and of German. Several letters after a slash are
// other readings.
var cyrillicOf = pairs(`shch щ schtsch щ tsch ч sch ш zh ж kh х ch ч sh ш ts ц yu ю ju ю ya я ja я yo е ye е ie ие iu ю
ia ия/я ck к a а b б c к/ц d д e е f ф g г h х/г i и j й k к l л m м n н o о p п q к r р s с t т u у v в w в x кс
y й/ы z з ' ь`)

// latinOf is the other way round.
var latinOf = pairs(`щ shch ш sh ч ch ж zh х kh ц ts/c ю yu ю yu я ya/ia а a б b в v г g/h ґ g д d е e є ye/ie ё yo з z
и i і i ї i/yi й y/i к k л l м m н n о o п p р r с s т t у u ф f ъ ъ ы y ь ь э e`)

// spelling is a run of letters and what it is in the other alphabet.
type spelling struct {
	from string
	to   []string
}

// pairs reads a table.
func pairs(list string) (out []spelling) {
	f := strings.Fields(list)
	for k := 0; k+1 < len(f); k += 2 {
		to := strings.Split(f[k+1], "/")
		if to[0] == "ъ" || to[0] == "ь" && f[k] != "'" {
			to = []string{""}
		}
		out = append(out, spelling{f[k], to})
	}
	return out
}

// toCyrillic gives the spellings in Cyrillic that a lower-case word in Latin script may stand for.
func toCyrillic(w string) []string { return respell(stripAccents(w), cyrillicOf, cyrillicEnds) }

// toLatin is the other way round.
func toLatin(w string) []string { return respell(w, latinOf, nil) }

// cyrillicEnds are the ends of names that their letters do not tell ("Dostoevsky" ends in -ский).
var cyrillicEnds = []spelling{
	{"skiy", []string{"ский"}},
	{"sky", []string{"ский"}},
	{"skyi", []string{"ский"}},
	{"ski", []string{"ски"}},
	{"skii", []string{"ский"}},
	{"iy", []string{"ий"}},
	{"ey", []string{"ей"}},
	{"ay", []string{"ай"}},
	{"oy", []string{"ой"}},
	{"eva", []string{"ева"}},
	{"ina", []string{"ина"}},
}

func respell(w string, table, ends []spelling) []string {
	if len(w) < minName || len(w) > maxName {
		return nil
	}
	tail := ""
	for _, e := range ends {
		if t, ok := strings.CutSuffix(w, e.from); ok && len(t) > 1 {
			w, tail = t, e.to[0]
			break
		}
	}
	out := []string{""}
	for i := 0; i < len(w); {
		to, n := match(table, w[i:])
		if n == 0 {
			return nil // a letter that the other alphabet has not
		}
		i += n
		before := len(out)
		for _, other := range to[1:] {
			for k := range before {
				if len(out) < maxSpellings {
					out = append(out, out[k]+other)
				}
			}
		}
		for k := range before {
			out[k] += to[0]
		}
	}
	for k := range out {
		out[k] += tail
		if utf8.RuneCountInString(out[k]) < minName-1 {
			return nil
		}
	}
	return out
}

// match finds the longest run of a table that s begins with.
func match(table []spelling, s string) ([]string, int) {
	for _, p := range table {
		if strings.HasPrefix(s, p.from) {
			return p.to, len(p.from)
		}
	}
	return nil, 0
}
