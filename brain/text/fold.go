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
	return norm.NFKC.String(s)
}

// appendLower appends s in lower case, without what readers leave out at will:
// Arabic and Hebrew vowel points, the Arabic stretch, soft hyphens, and the
// Russian ё. Combining marks of other scripts (Hindi, Thai) are vowels and stay.
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
		case r == 0xDF || r == 0x1E9E: // ß, ẞ
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
		case r == 'أ' || r == 'إ' || r == 'آ' || r == 'ٱ':
			r = 'ا'
		case r == 'ى' || r == 'ی': // Persian yeh too
			r = 'ي'
		case r == 'ک':
			r = 'ك'
		case r == 'ہ' || r == 'ۀ' || r == 'ە':
			r = 'ه'
		case r == 'ے':
			r = 'ي'
		case r >= firstKatakana && r <= lastHan:
			r = eastern(r)
		case unicode.IsDigit(r):
			r = digit(r)
		default:
			r = unicode.ToLower(r)
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// digitZeros are the zeros of the digits that texts of today are written with: Arabic, Persian, Devanagari, Bengali,
// Punjabi, Gujarati, Tamil, Telugu, Thai, Lao, Burmese, Khmer.
var digitZeros = [...]rune{0x660, 0x6F0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xBE6, 0xC66, 0xE50, 0xED0, 0x1040, 0x17E0}

// digit gives the ASCII digit of the same value.
func digit(r rune) rune {
	for _, zero := range digitZeros {
		if r >= zero && r < zero+10 {
			return '0' + r - zero
		}
	}
	return r
}

// invisible are the characters inside words that change nothing in them: the
// soft hyphen, zero-width (non-)joiners, the Arabic stretch.
func invisible(r rune) bool {
	return r == 0xAD || r == 0x200C || r == 0x200D || r == 0x640
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
