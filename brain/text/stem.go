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
	f := stemmers[l]
	if f != nil && len(w) > 2 && len(w) <= maxStemBytes && utf8.ValidString(w) {
		env := snowballstem.NewEnv(w)
		f(env)
		if s := env.Current(); s != "" {
			w = s
		}
	}
	return stripAccents(w)
}

var (
	arabicArticles = []string{"وال", "بال", "كال", "فال", "لل", "ال"}
	arabicSuffixes = []string{"ها", "ان", "ات", "ون", "ين", "يه", "ية", "ه", "ة", "ي"}
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
