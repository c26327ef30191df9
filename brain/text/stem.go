package text

import (
	"strings"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/danish"
	"github.com/blevesearch/snowballstem/dutch"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/finnish"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/hungarian"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/norwegian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/romanian"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
	"github.com/blevesearch/snowballstem/swedish"
	"github.com/blevesearch/snowballstem/turkish"
)

// maxStemBytes bounds what is stemmed. The longest words of real languages are
// shorter; what is longer is a key or a blob, and some stemmers are quadratic.
const maxStemBytes = 64

// stemmers are the Snowball algorithms (Porter, snowballstem.org).
var stemmers = [langCount]func(*snowballstem.Env) bool{
	English: english.Stem, German: german.Stem, French: french.Stem, Spanish: spanish.Stem,
	Portuguese: portuguese.Stem, Italian: italian.Stem, Dutch: dutch.Stem, Swedish: swedish.Stem,
	Norwegian: norwegian.Stem, Danish: danish.Stem, Finnish: finnish.Stem, Hungarian: hungarian.Stem,
	Romanian: romanian.Stem, Turkish: turkish.Stem, Russian: russian.Stem,
}

// stem gives the form of a lower-case word under which it is indexed. English
// rules know no accents, so they see the word without; the others need them
// ("organización" ends in a suffix, "organizacion" does not) and lose them after.
func stem(l Lang, w string) string {
	if l == English {
		w = stripAccents(w)
	}
	if l == Arabic {
		return lightArabic(w)
	}
	if l == Romanian {
		w = cedillas.Replace(w)
	}
	f := stemmers[l]
	if f != nil && len(w) > 2 && len(w) <= maxStemBytes && utf8.ValidString(w) {
		env := snowballstem.NewEnv(w)
		f(env)
		if s := env.Current(); s != "" {
			w = s
		}
	}
	w = stripAccents(w)
	switch l {
	case German:
		w = withoutE(w)
	case Polish:
		w = lightEnding(w, polishEndings, shortestLight)
	case Neutral:
		w = lightByScript(w)
	case Norwegian, Danish:
		w = strings.ReplaceAll(w, "aa", "a") // å, before 1917 and 1948 and in names
	default:
	}
	return w
}

// cedillas are how the stemmer, and old files, write Romanian letters.
var cedillas = strings.NewReplacer("ș", "ş", "ț", "ţ")

// withoutE reads ae, oe and, behind a consonant, ue as umlauts, whose dots are off already. "Bauer" and "Quelle" have
// none; "Poet" loses a letter wherever it stands.
func withoutE(w string) string {
	if !strings.Contains(w, "ae") && !strings.Contains(w, "oe") && !strings.Contains(w, "ue") {
		return w
	}
	b := make([]byte, 0, len(w))
	for i := range len(w) {
		if c := w[i]; c == 'e' && i > 0 {
			switch w[i-1] {
			case 'a', 'o':
				continue
			case 'u':
				if i > 1 && !strings.ContainsRune("aeouqy", rune(w[i-2])) {
					continue
				}
			}
		}
		b = append(b, w[i])
	}
	return string(b)
}

var (
	arabicArticles = []string{"وال", "بال", "كال", "فال", "لل", "ال"}
	arabicSuffixes = []string{"هاي", "ها", "ان", "ات", "ون", "ين", "يه", "ية", "ه", "ة", "ي"}
)

// lightArabic is the light10 stemmer of Larkey, Ballesteros and Connell
// (Light Stemming for Arabic Information Retrieval, 2007): conjunction, article
// and the endings of nouns, no roots. Snowball's rules treat a plural otherwise
// when it has no article, which loses more than they win.
func lightArabic(w string) string {
	left := func() int { return utf8.RuneCountInString(w) }
	if t, ok := strings.CutPrefix(w, "و"); ok && left() > 3 {
		w = t
	}
	for _, a := range arabicArticles {
		if t, ok := strings.CutPrefix(w, a); ok && utf8.RuneCountInString(t) >= 2 {
			w = t
			break
		}
	}
	for _, e := range arabicSuffixes {
		if t, ok := strings.CutSuffix(w, e); ok && utf8.RuneCountInString(t) >= 2 {
			w = t
		}
	}
	return w
}

// Endings of Polish nouns, adjectives and verbs without diacritics, longest first; those of Czech and Slovak, which are
// taken for Polish, are much the same.
var polishEndings = []string{
	"owego", "owych", "owymi", "iami", "iach", "iego", "iemu", "ymi", "imi", "ami", "ach", "ego", "emu", "ych",
	"ich", "iej", "owi", "owe", "owa", "owy", "iem", "iom", "ym", "im", "ej", "em", "om", "ow", "ie", "ia", "io", "iu",
	"y", "i", "e", "a", "o", "u",
}

// greekEndings are those of nouns, adjectives and of the present, without accents and with σ at the end.
var greekEndings = []string{
	"ουμε", "ουσα", "ησεισ", "ησησ", "ματων", "ματοσ", "ματα", "ουν", "εισ", "ουσ", "ετε", "εων", "ιων", "ησ", "ασ", "εσ",
	"οσ", "ου", "ων", "οι", "ον", "ει", "αι", "ισ", "α", "η", "ι", "ο", "ω", "ε", "υ",
}

// hindiEndings are those of Ramanathan and Rao (A Lightweight Stemmer for Hindi, 2003).
var hindiEndings = []string{
	"ाएंगी", "ाएंगे", "ाऊंगी", "ाऊंगा", "ाएगी", "ाएगा", "ाओगी", "ाओगे", "एंगी",
	"ेंगी", "एंगे", "ेंगे", "ूंगी", "ूंगा", "ातीं", "नाओं", "नाएं", "ताओं", "ताएं",
	"ियाँ", "ियों", "ियां", "ाकर", "ाइए", "ाईं", "ाया", "ेगी", "ेगा", "ोगी", "ोगे",
	"ाने", "ाना", "ाते", "ाती", "ाता", "तीं", "ाओं", "ाएं", "ुओं", "ुएं", "ुआं",
	"कर", "ाओ", "िए", "ाई", "ाए", "ने", "नी", "ना", "ते", "ीं", "ती", "ता", "ाँ",
	"ां", "ों", "ें", "ो", "े", "ू", "ु", "ी", "ि", "ा",
}

// lightByScript stems the languages that are known by their script.
func lightByScript(w string) string {
	r, _ := utf8.DecodeRuneInString(w)
	switch {
	case r >= 0x370 && r <= 0x3FF:
		return lightEnding(w, greekEndings, 2*shortestLight)
	case r >= 0x900 && r <= 0x97F:
		return lightEnding(w, hindiEndings, 3*(shortestLight-1))
	}
	return w
}

// shortestLight is what a light stem keeps, in letters; one less in Hindi, which writes few of its vowels as letters.
const shortestLight = 3

// lightEnding takes the first of the endings off that leaves so many bytes.
func lightEnding(w string, endings []string, least int) string {
	for _, e := range endings {
		if t, ok := strings.CutSuffix(w, e); ok && len(t) >= least {
			return t
		}
	}
	return w
}
