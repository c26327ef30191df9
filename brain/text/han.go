package text

import _ "embed"

// hanPairs are traditional and Japanese characters, each followed by the simplified one that is written for the same
// word: those with one simplified variant in Unicode's Unihan database, and the commoner Japanese ones.
//
//go:embed han.txt
var hanPairs string

const (
	firstHan = 0x4E00
	lastHan  = 0x9FFF
)

// simplified gives the simplified form of a character, 0 where it has none.
var simplified = func() *[lastHan - firstHan + 1]uint16 {
	var t [lastHan - firstHan + 1]uint16
	var from rune
	for _, r := range hanPairs {
		switch {
		case r == '\n':
		case from == 0:
			from = r
		default:
			t[from-firstHan] = uint16(r)
			from = 0
		}
	}
	return &t
}()

// plainHan writes a Chinese or Japanese character in the simplified form, so that "東京" finds "东京".
func plainHan(r rune) rune {
	if r < firstHan || r > lastHan {
		return r
	}
	if s := simplified[r-firstHan]; s != 0 {
		return rune(s)
	}
	return r
}
