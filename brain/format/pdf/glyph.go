package pdf

import (
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// accents are the ends of glyph names of accented letters, with what composes them.
var accents = map[string]string{
	"grave": "\u0300", "acute": "\u0301", "circumflex": "\u0302", "tilde": "\u0303", "macron": "\u0304", "breve": "\u0306",
	"dotaccent": "\u0307",
	"dieresis":  "\u0308", "ring": "\u030a", "hungarumlaut": "\u030b", "caron": "\u030c", "cedilla": "\u0327",
	"commaaccent": "\u0327", "ogonek": "\u0328",
}

// glyphs are the names of other characters that fonts of Latin, and mathematics in
// them, use; the names are Adobe's.
var glyphs = map[string]string{
	"space": " ", "nbspace": " ", "exclam": "!", "quotedbl": "\"", "numbersign": "#", "dollar": "$", "percent": "%",
	"ampersand": "&", "quotesingle": "'",
	"parenleft": "(", "parenright": ")", "asterisk": "*", "plus": "+", "comma": ",", "hyphen": "-", "sfthyphen": "-",
	"period": ".", "slash": "/",
	"zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
	"eight": "8", "nine": "9",
	"colon": ":", "semicolon": ";", "less": "<", "equal": "=", "greater": ">", "question": "?", "at": "@",
	"bracketleft": "[", "backslash": "\\",
	"bracketright": "]", "asciicircum": "^", "underscore": "_", "grave": "`", "braceleft": "{", "bar": "|",
	"braceright": "}", "asciitilde": "~",
	"quoteleft": "‘", "quoteright": "’", "quotedblleft": "“", "quotedblright": "”", "quotesinglbase": "‚",
	"quotedblbase": "„", "guillemotleft": "«",
	"guillemotright": "»", "guilsinglleft": "‹", "guilsinglright": "›", "endash": "–", "emdash": "—", "bullet": "•",
	"ellipsis": "…", "dagger": "†",
	"daggerdbl": "‡", "section": "§", "paragraph": "¶", "copyright": "©", "registered": "®", "trademark": "™",
	"degree": "°", "plusminus": "±",
	"multiply": "×", "divide": "÷", "minus": "−", "fraction": "⁄", "onehalf": "½", "onequarter": "¼", "threequarters": "¾",
	"onesuperior": "¹",
	"twosuperior": "²", "threesuperior": "³", "cent": "¢", "sterling": "£", "yen": "¥", "currency": "¤", "Euro": "€",
	"florin": "ƒ", "perthousand": "‰",
	"fi": "fi", "fl": "fl", "ff": "ff", "ffi": "ffi", "ffl": "ffl", "germandbls": "ß", "ae": "æ", "AE": "Æ", "oe": "œ",
	"OE": "Œ", "oslash": "ø",
	"Oslash": "Ø", "eth": "ð", "Eth": "Ð", "thorn": "þ", "Thorn": "Þ", "dotlessi": "ı", "lslash": "ł", "Lslash": "Ł",
	"dcroat": "đ", "Dcroat": "Đ",
	"exclamdown": "¡", "questiondown": "¿", "ordfeminine": "ª", "ordmasculine": "º", "logicalnot": "¬", "brokenbar": "¦",
	"periodcentered": "·", "mu": "µ",
	"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "zeta": "ζ", "eta": "η", "theta": "θ",
	"iota": "ι", "kappa": "κ", "lambda": "λ",
	"nu": "ν", "xi": "ξ", "omicron": "ο", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "upsilon": "υ", "phi": "φ",
	"chi": "χ", "psi": "ψ", "omega": "ω",
	"Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ", "Phi": "Φ",
	"Psi": "Ψ", "Omega": "Ω",
	"infinity": "∞", "partialdiff": "∂", "summation": "∑", "product": "∏", "integral": "∫", "radical": "√",
	"approxequal": "≈", "notequal": "≠",
	"lessequal": "≤", "greaterequal": "≥", "element": "∈", "arrowright": "→", "arrowleft": "←", "arrowup": "↑",
	"arrowdown": "↓", "lozenge": "◊",
	"dieresis": "¨", "acute": "´", "macron": "¯", "cedilla": "¸", "circumflex": "ˆ", "tilde": "˜", "caron": "ˇ",
	"ring": "˚", "breve": "˘",
}

// glyph is what a glyph's name stands for; empty where it does not tell.
func glyph(n string) string {
	n, _, _ = strings.Cut(n, ".")
	if s, ok := glyphs[n]; ok {
		return s
	}
	if len(n) == 1 {
		return n
	}
	if parts := strings.Split(n, "_"); len(parts) > 1 && len(parts) < 8 {
		var b strings.Builder
		for _, p := range parts {
			b.WriteString(glyph(p))
		}
		return b.String()
	}
	for _, prefix := range []string{"uni", "u"} {
		digits, ok := strings.CutPrefix(n, prefix)
		if ok && len(digits) >= 4 && len(digits) <= 6 {
			if r, err := strconv.ParseUint(digits, 16, 32); err == nil && r > 0x1f &&
				(r < 0xd800 || r > 0xdfff) && r <= 0x10ffff {
				return string(rune(r))
			}
		}
	}
	if mark, ok := accents[n[min(1, len(n)):]]; ok && len(n) > 1 {
		return norm.NFC.String(n[:1] + mark)
	}
	return ""
}

// standard is what Adobe's standard encoding has beside ASCII.
var standard = map[byte]string{
	0x27: "’", 0x60: "‘", 0xa1: "¡", 0xa2: "¢", 0xa3: "£", 0xa4: "⁄", 0xa5: "¥", 0xa6: "ƒ", 0xa7: "§", 0xa8: "¤",
	0xa9: "'", 0xaa: "“", 0xab: "«",
	0xac: "‹", 0xad: "›", 0xae: "fi", 0xaf: "fl", 0xb1: "–", 0xb2: "†", 0xb3: "‡", 0xb4: "·", 0xb6: "¶", 0xb7: "•",
	0xb8: "‚", 0xb9: "„", 0xba: "”",
	0xbb: "»", 0xbc: "…", 0xbd: "‰", 0xbf: "¿", 0xd0: "—", 0xe1: "Æ", 0xe3: "ª", 0xe8: "Ł", 0xe9: "Ø", 0xea: "Œ",
	0xeb: "º", 0xf1: "æ", 0xf5: "ı",
	0xf8: "ł", 0xf9: "ø", 0xfa: "œ", 0xfb: "ß",
}
