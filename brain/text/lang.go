package text

// Lang is a language that has a name space of terms of its own.
type Lang uint8

// The languages with a stemmer. Latin script that is recognised as none of them
// is treated as English; Cyrillic as Russian; other scripts are Neutral.
const (
	Neutral Lang = iota // numbers, identifiers, scripts that are not stemmed
	English
	German
	French
	Spanish
	Portuguese
	Italian
	Dutch
	Swedish
	Norwegian
	Danish
	Finnish
	Hungarian
	Romanian
	Turkish
	Russian
	Arabic
	langCount
)

// LangSet is a set of languages.
type LangSet uint32

// AllLangs holds every language.
const AllLangs LangSet = 1<<langCount - 1

// Has tells whether l is in the set.
func (s LangSet) Has(l Lang) bool { return s&(1<<l) != 0 }

// With returns the set with l.
func (s LangSet) With(l Lang) LangSet { return s | 1<<l }
