package undress

import (
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// passing are letters of Cyrillic and Greek that look like Latin ones.
var passing = func() map[rune]byte {
	const pairs = "аaеeоoрpсcуyхxіiјjѕsһhԁdԛqԝwАAВBЕEКKМMНHОOРPСCТTУYХXЅSІIЈJ" + // Cyrillic
		"οoΑAΒBΕEΖZΗHΙIΚKΜMΝNΟOΡPΤTΥYΧX" // Greek
	all, from := map[rune]byte{}, rune(0)
	for _, r := range pairs {
		if r < utf8.RuneSelf {
			all[from] = byte(r)
		}
		from = r
	}
	return all
}()

// shaped is the letter, digit or mark of which a character is a shape: full-width, or a letter of mathematics.
func shaped(r rune) (byte, bool) {
	switch {
	case r >= '！' && r <= '～':
		return byte(r - '！' + '!'), true
	case r >= 0x1D400 && r <= 0x1D7FF, r >= 0x210A && r <= 0x2134, r >= 0x24B6 && r <= 0x24E9:
		if c := norm.NFKC.String(string(r)); len(c) == 1 {
			return c[0], true
		}
	}
	return 0, false
}

// isEmoji tells whether a character is a picture, or a part of one. Marks of music are not.
func isEmoji(r rune) bool {
	switch {
	case r < 0x20E3:
		return false
	case r == 0x20E3, // the frame of a key
		r >= 0x231A && r <= 0x231B, r >= 0x23E9 && r <= 0x23FA,
		r >= 0x2600 && r <= 0x27BF && !(r >= 0x2669 && r <= 0x266F),
		r >= 0x2B1B && r <= 0x2B1C, r == 0x2B50, r == 0x2B55, r >= 0x1F000 && r <= 0x1FAFF:
		return true
	}
	return false
}
