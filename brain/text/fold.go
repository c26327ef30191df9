package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// ascii tells whether s has no byte above 127.
func ascii(s string) bool {
	for len(s) >= 8 {
		if (s[0]|s[1]|s[2]|s[3]|s[4]|s[5]|s[6]|s[7])&0x80 != 0 {
			return false
		}
		s = s[8:]
	}
	for i := 0; i < len(s); i++ {
		if s[i]&0x80 != 0 {
			return false
		}
	}
	return true
}

func isASCII(w []byte) bool {
	for _, c := range w {
		if c&0x80 != 0 {
			return false
		}
	}
	return true
}

// normalize brings s to NFKC: full-width letters, ligatures, half-width kana
// and decomposed accents then have one spelling.
func normalize(s string) string {
	if ascii(s) {
		return s
	}
	return strings.Map(plainDigits, norm.NFKC.String(s))
}

// appendLower appends s in lower case, without what readers leave out at will:
// Arabic and Hebrew vowel points, the Arabic stretch, soft hyphens, and the
// Russian ё. Combining marks of other scripts (Hindi, Thai) are vowels and stay.
// Letters that are written in several ways have one form.
func appendLower(dst []byte, s string) []byte {
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c-'A' < 26 {
				c += 'a' - 'A'
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case r == utf8.RuneError:
			continue
		case r == 0xDF: // ß
			dst = append(dst, "ss"...)
			continue
		case r == 'ς':
			r = 'σ'
		case r == 'ё' || r == 'Ё':
			r = 'е'
		case invisible(r),
			r >= 0x64B && r <= 0x65F, r == 0x670,
			r >= 0x591 && r <= 0x5C7:
			continue
		case r >= 0x3400:
			r = plainHan(r)
		case r >= 0x5DA && r <= 0x5E5:
			r = plainHebrew(r)
		case r >= 0x621 && r <= 0x6D3:
			r = plainArabic(r)
		case r == 'ँ':
			r = 'ं'
		case r == 0x93C || r == 0x9BC: // the dot below of Hindi and Bengali, which many leave out
			continue
		default:
			r = unicode.ToLower(r)
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// plainArabic gives the letter that others are written for: the forms of alef, yeh and kaf, and what Persian and Urdu
// have instead of Arabic's.
func plainArabic(r rune) rune {
	switch r {
	case 'أ', 'إ', 'آ', 'ٱ':
		return 'ا'
	case 'ى', 'ی', 'ې', 'ئ':
		return 'ي'
	case 'ے', 'ۓ':
		return 'ے'
	case 'ک':
		return 'ك'
	case 'ة', 'ہ', 'ھ', 'ۀ', 'ۂ', 'ە', 'ۃ':
		return 'ه'
	case 'ؤ':
		return 'و'
	}
	return r
}

// plainHebrew gives the form that a letter has inside words for that at their end.
func plainHebrew(r rune) rune {
	switch r {
	case 'ך':
		return 'כ'
	case 'ם':
		return 'מ'
	case 'ן':
		return 'נ'
	case 'ף':
		return 'פ'
	case 'ץ':
		return 'צ'
	}
	return r
}

// digitZeros are the zeros of the decimal digits of other scripts than Latin, in ascending order.
var digitZeros = [...]rune{
	0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xE50, 0xED0,
	0xF20, 0x1040, 0x17E0,
}

// plainDigits writes the digits of all scripts as ASCII has them, and the Arabic marks between digits.
func plainDigits(r rune) rune {
	switch {
	case r < digitZeros[0]:
		return r
	case r == '٫':
		return '.'
	case r == '٬':
		return ','
	case !unicode.Is(unicode.Nd, r):
		return r
	}
	for k := len(digitZeros) - 1; k >= 0; k-- {
		if d := r - digitZeros[k]; d >= 0 && d < 10 {
			return '0' + d
		}
	}
	return r
}

// invisible are the characters inside words that change nothing in them: the
// soft hyphen, zero-width spaces and (non-)joiners, marks of direction, the Arabic stretch.
func invisible(r rune) bool {
	return r == 0xAD || r >= 0x200B && r <= 0x200F || r == 0x2060 || r == 0xFEFF || r == 0x640
}

// stroked are letters that no decomposition takes apart, though readers type
// them without the stroke.
var stroked = strings.NewReplacer("ø", "o", "æ", "ae", "œ", "oe", "đ", "d", "ð", "d", "ł", "l", "ı", "i", "þ",
	"th", "ħ", "h")

// stripAccents takes the diacritics off Latin and Greek letters, so that
// "resume" finds "résumé".
func stripAccents(s string) string {
	if ascii(s) {
		return s
	}
	d := norm.NFD.String(s)
	var b strings.Builder
	b.Grow(len(d))
	for _, r := range d {
		if r >= 0x300 && r <= 0x36F {
			continue
		}
		b.WriteRune(r)
	}
	return stroked.Replace(b.String())
}

// Fold gives a text in the form in which its words are compared: NFKC, lower case, without what readers leave out at
// will. Diacritics stay: stemmers need them.
func Fold(s string) string { return string(appendLower(nil, normalize(s))) }
