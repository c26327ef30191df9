package topic

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"orgmem/brain/text"
)

// token is a word that may name something.
type token struct {
	key     string // lower case, without a plural s
	surface string
	stop    bool // breaks phrases, and is no keyword
	starts  bool // begins a sentence, so its capital says nothing
	code    bool // stands in backticks
}

// capital tells whether a word is written with a capital.
func (t *token) capital() bool {
	r, _ := utf8.DecodeRuneInString(t.surface)
	return unicode.IsUpper(r)
}

const (
	// maxPassageBytes is read of one passage, some 600 words.
	maxPassageBytes = 4000
	// maxWordBytes is the longest word that a reader would take for one.
	maxWordBytes = 40
)

// generic are words that are frequent everywhere, so that they say little even
// where there is nothing to compare with; and what people say while they think.
var generic = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`able actually add added adding agree ago ahead almost already also alright always
answer anybody anyone anything anyway apply area around ask asked bad basically begin best better big bit bring call
called came care case cause certain certainly change clear close come coming common consider could couple course current
day deal decide depend detail different difficult difference doe does doesn doing don done effect either else end enough
especially etc even ever every everybody everyone everything exactly example fact far feel few figure find fine first
following form found full general get getting give given go goe going gonna good got great guess had hand happen hard
has haven having hear hello help here hey high hmm hope how however huh idea important include including instead isn
issue just keep kind know knew large last late later least left less let level like likely line little live long look
looking lot made main make making many matter may maybe mean might mind minute moment more most move much must name need
never new next nice nobody nothing number obviously off often okay old once one only open other otherwise own part
particular people perhaps person place please point possible pretty probably problem provide put question quite rather
read ready real really reason remember right run said same saw say saying second see seem seen sense set several shall
should show side similar simple simply since small somebody someone something sometime sometimes somewhat soon sorry
sort stuff start started still stop such sure take taken talk tell term thank thanks thing think thought three through
time today told tomorrow too took total toward tried true try trying turn two type uhm understand until upon use used
useful user using usually various very via want wanna wasn way well went whatever whether while whole why will wish
within without won wonder word work working would wouldn write wrong yeah year because both without either neither each
during among upon another away back front middle based looked wanted mention mentioned talking zero four five six seven
eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty
sixty seventy eighty ninety hundred thousand million percent half quarter monday tuesday wednesday thursday friday
saturday sunday week month hour january february march april june july august september october november december mm-hmm
mm-mm mmm worked lemme awesome figured confused confusing confuse sounds correct agreed fair interesting interested
needed happy happened happen expected expect ought wanting trying wondering curious implemented beautiful perfect
brilliant aha argh yikes oooh ooh darn indeed certain helpful hope hopefully feeling felt asking asked noticed realized
realised mine yours approach nnn ehm uh-huh uh-uh cuz dunno wow oops cool fun excellent guy ha haha lol yep yes
yesterday yet yup
congrats congratulation uh um mm oh ah hm eh er nah gotta lol ok thx hi http https www com org html`) {
		m[w] = true
	}
	return m
}()

// keyOf folds case and the English plural, by which most doublets differ.
func keyOf(word string) string {
	k := strings.ToLower(word)
	if n := len(k); n > 3 && k[n-1] == 's' && !strings.ContainsRune("suia'", rune(k[n-2])) {
		if strings.HasSuffix(k, "ies") && n > 4 {
			return k[:n-3] + "y"
		}
		return k[:n-1]
	}
	return k
}

// tokens reads the words of a line. langs are the languages whose function words are no keywords.
func tokens(dst []token, line string, langs text.LangSet) []token {
	line = bare(line)
	dst = lineTokens(dst, line[speaker(line):], langs)
	return append(dst, token{stop: true}) // phrases end with the line
}

// speaker is the length of a "Name: " in front of a turn: who speaks is no topic.
func speaker(line string) int {
	i := strings.Index(line, ": ")
	if i <= 0 || i > 30 || strings.Count(line[:i], " ") > 3 {
		return 0
	}
	if r, _ := utf8.DecodeRuneInString(line); !unicode.IsUpper(r) {
		return 0
	}
	return i + 2
}

func lineTokens(dst []token, line string, langs text.LangSet) []token {
	starts, japanese := true, strings.ContainsFunc(line, kana)
	for i := 0; i < len(line); {
		r, n := utf8.DecodeRuneInString(line[i:])
		if text.Spaceless(r) {
			if japanese {
				i, dst = nouns(dst, line, i)
			} else {
				i, dst = pairs(dst, line, i)
			}
			starts = false
			continue
		}
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			if r == '.' || r == '!' || r == '?' || r == ':' {
				starts = true
			}
			if !unicode.IsSpace(r) || strings.HasPrefix(line[i+n:], " ") {
				dst = append(dst, token{surface: line[i : i+n], stop: true})
			}
			i += n
			continue
		}
		from := i
		i = wordEnd(line, i)
		w := line[from:i]
		marked := from > 0 && strings.IndexByte("@<:{#`&", line[from-1]) >= 0 // a mention, markup, an emoji
		if marked && i < len(line) && strings.IndexByte(">:};", line[i]) >= 0 {
			i++
		}
		tok := token{surface: w, starts: starts, code: marked && line[from-1] == '`'}
		starts = false
		switch {
		case marked && line[from-1] != '`' && line[from-1] != '#', strings.Contains(w, "://"), strings.Contains(w, "@"),
			len(w) > maxWordBytes, !hasLetters(w):
			tok.stop = true
		default:
			tok.key = keyOf(w)
			low := strings.ToLower(w)
			short := utf8.RuneCountInString(w) < 3
			tok.stop = text.FunctionWord(low)&langs != 0 || strings.ContainsRune(w, '\'') || strings.ContainsRune(w, '’') ||
				generic[tok.key] || generic[low] || drawn(low) || !langs.Has(text.English) && genericAbroad(low) ||
				short && (w != strings.ToUpper(w) || len(w) < 2)
		}
		dst = append(dst, tok)
	}
	return dst
}

// wordEnd is where the word that begins at i ends: letters and digits, joined by
// single marks.
func wordEnd(s string, i int) int {
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		if unicode.IsLetter(r) && !text.Spaceless(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			i += n
			continue
		}
		if strings.ContainsRune("-_.'’/@+", r) && i+n < len(s) {
			if next, _ := utf8.DecodeRuneInString(s[i+n:]); unicode.IsLetter(next) || unicode.IsDigit(next) {
				i += n
				continue
			}
		}
		if strings.HasPrefix(s[i:], "://") {
			for i < len(s) && s[i] != ' ' && s[i] != '>' && s[i] != ')' {
				i++
			}
		}
		break
	}
	return i
}

// drawn holds for sounds such as hmmm, hehe and hahaha: at most two letters, over
// and over.
func drawn(w string) bool {
	if len(w) < 4 {
		return false
	}
	a, b := w[0], w[1]
	for i := range len(w) {
		if w[i] != a && w[i] != b {
			if a != b {
				return false
			}
			b = w[i]
		}
	}
	return true
}

// hasLetters holds for words that are more letters than digits: dates, versions
// and hashes name nothing.
func hasLetters(w string) bool {
	letters, others := 0, 0
	for _, r := range w {
		if unicode.IsLetter(r) {
			letters++
		} else {
			others++
		}
	}
	return letters > others
}
