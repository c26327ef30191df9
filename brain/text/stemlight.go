package text

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// suffixes is one step of a light stemmer: the longest of its endings that leaves enough of the word is taken off.
type suffixes struct {
	// least is how many characters must be left.
	least   int
	endings []string
}

// ending makes a step from a list that spaces part.
func ending(least int, list string) suffixes {
	e := strings.Fields(list)
	slices.SortStableFunc(e, func(x, y string) int { return cmp.Compare(len(y), len(x)) })
	return suffixes{least, e}
}

func (s *suffixes) cut(w string) string {
	for _, e := range s.endings {
		if t, ok := strings.CutSuffix(w, e); ok && utf8.RuneCountInString(t) >= s.least {
			return t
		}
	}
	return w
}

// lightSteps are the stemmers for which Snowball has no rules here. They take the inflections off and leave the
// derivations, which for search is as good (Savoy, "Light Stemming Approaches for the French, Portuguese, German and
// Hungarian Languages", 2006), in one step or several.
var lightSteps = [langCount][]suffixes{
	// After the rules of the University of Neuchâtel for Slavic languages, on words without diacritics.
	Polish: {
		ending(4, `iejszych ejszych iejszego ejszego iejszym ejszym iejsza iejsze iejszy`),
		ending(3, `iami ami iach ach iowi owi iowie owie iom om iem em iow ow ego iego emu iemu ymi imi ych ich ym im iej ej
ia ie io iu a e i o u y ala alo ali aly al la lo li ly uje uja ujemy ano ana any owac owal owala owali owano`),
	},
	// Dolamic and Savoy, "Indexing and stemming approaches for the Czech language" (2009), in the light form that Lucene's
	// CzechStemmer has, on words without diacritics.
	Czech: {
		ending(3, `atech etem atum ech ich emi ete eti ich iho imi imu ach ata aty ych ama ami ove ovi ymi em es im um at am
os us ym mi ou eho emu a e i o u y`),
		ending(4, `ov in uv`),
	},
	Ukrainian: {
		ending(3, `ями ами ям ам ях ах ові еві єві ою ею єю ів їв ей ого ього ому ьому ими іми их іх ій ою ої єї им ім
ати ити іти ати яти ала ила али или ало ило ав ив ють уть ить ять єш еш имо емо ємо ння нню нням ття
а е и і о у ю я є ї й ь`),
		ending(3, `ість ост ськ`),
	},
	Greek: {
		ending(3, `ματων ματα ματοσ ουσ ων εσ εισ εωσ εων οσ ου ον ησ ασ η α ο ι ε υ αι οι ω ιουν ουν ουμε ετε ει
ησε ησα ησαν ηκε ηκα ηκαν εται ονται ιου ιων ια ιεσ ιοσ ιο`),
	},
	// Ramanathan and Rao, "A Lightweight Stemmer for Hindi" (2003).
	Hindi: {
		ending(2, `ाएंगी ाएंगे ाऊंगी ाऊंगा ाइयाँ ाइयों ाइयां ाएगी ाएगा ाओगी ाओगे एंगी ेंगी एंगे ेंगे ूंगी ूंगा ातीं नाओं नाएं ताओं
ताएं ियाँ ियों ियां ाकर ाइए ाईं ाया ेगी ेगा ोगी ोगे ाने ाना ाते ाती ाता तीं ाओं ाएं ुओं ुएं ुआं कर ाओ िए ाई ाए ने
नी ना ते ीं ती ता ाँ ां ों ें ो े ू ु ी ि ा`),
	},
	Bengali: {
		ending(2, `গুলোকে গুলোর গুলোতে গুলো গুলিকে গুলির গুলি দেরকে দের টিকে টির টাকে টার টিতে টি টা কে রা ের তে র`),
		ending(2, `িয়েছে েছে িয়েছেন েছেন িয়েছিল েছিল ছেন ছে লেন লাম বেন বে ে য় ি া ী`),
	},
	Persian: {
		ending(2, `هايي هاي ها ات ان ترين تر ي`),
	},
	Urdu: {
		ending(2, `يان ون ين ان اتين ات وے يے ے ي ا ه يون`),
	},
	Hebrew: {
		ending(3, `ויות יות ות ימ יימ ית ה`),
	},
}

// lightStem takes the inflections off a word of a language that has light rules.
func lightStem(l Lang, w string) string {
	switch l {
	case Polish, Czech, Greek, Vietnamese:
		w = stripAccents(w)
	case Persian, Urdu:
		w = strings.ReplaceAll(w, "ں", "ن")
	case Hebrew:
		w = lightHebrew(w)
	case Indonesian:
		return lightIndonesian(w)
	default:
	}
	for k := range lightSteps[l] {
		w = lightSteps[l][k].cut(w)
	}
	if l == Czech { // as before some endings: "schůzka", "schůzce"; "kniha", "knize"
		if t, ok := strings.CutSuffix(w, "c"); ok {
			return t + "k"
		}
		if t, ok := strings.CutSuffix(w, "z"); ok {
			return t + "h"
		}
	}
	return w
}

// lightHebrew takes off "and" and the article. The other letters that cling to a word are parts of it as often as not:
// see hebrewParts.
func lightHebrew(w string) string {
	for _, p := range [...]string{"ו", "ה"} {
		if t, ok := strings.CutPrefix(w, p); ok && utf8.RuneCountInString(t) >= 3 {
			w = t
		}
	}
	return w
}

// Steps of the Indonesian stemmer.
var (
	indonesianParticles = ending(3, `kah lah pun`)
	indonesianOwners    = ending(3, `nya ku mu`)
	indonesianSuffixes  = ending(4, `kan an i`)
	indonesianPrefixes  = []string{
		"meng", "meny", "men", "mem", "me", "peng", "peny", "pen", "pem", "di", "ter", "ke",
		"ber", "per", "be", "pe",
	}
)

// lightIndonesian is the stemmer of Tala, "A Study of Stemming Effects on Information Retrieval in Bahasa Indonesia"
// (2003), with one prefix: particles, possessives, prefix, suffix.
func lightIndonesian(w string) string {
	w = indonesianOwners.cut(indonesianParticles.cut(w))
	for _, p := range indonesianPrefixes {
		t, ok := strings.CutPrefix(w, p)
		if !ok || len(t) < 4 {
			continue
		}
		switch {
		case p == "meny" || p == "peny":
			t = "s" + t
		case (p == "mem" || p == "pem") && strings.ContainsRune("aiueo", rune(t[0])):
			t = "p" + t
		case (p == "men" || p == "pen") && strings.ContainsRune("aiueo", rune(t[0])):
			t = "t" + t
		}
		w = t
		break
	}
	return indonesianSuffixes.cut(w)
}

// germanUmlauts writes the umlauts as people without them do ("Mueller", "Müller") in one way: without their dots, as
// Snowball's german2 variant does. After q an u is no umlaut.
func germanUmlauts(w string) string {
	if !strings.Contains(w, "ae") && !strings.Contains(w, "oe") && !strings.Contains(w, "ue") {
		return w
	}
	b := make([]byte, 0, len(w))
	for i := 0; i < len(w); i++ {
		b = append(b, w[i])
		if i+1 < len(w) && w[i+1] == 'e' && (w[i] == 'a' || w[i] == 'o' || w[i] == 'u' && (i == 0 || w[i-1] != 'q')) {
			i++
		}
	}
	return string(b)
}
