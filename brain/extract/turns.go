package extract

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"orgmem/brain/extract/doubt"
	"orgmem/brain/extract/shape"
	"orgmem/brain/extract/tagger"
)

const (
	// maxSpeaker is the longest name of a speaker, in bytes.
	maxSpeaker = 60
	// minTurnShare is how many of a transcript's lines begin a turn, at least: a
	// text whose lines seldom do has headings, or fields.
	minTurnShare = 0.5
)

// turns finds who speaks where: lines of the form "Name: words" of the speakers that
// are known. Where none are, also "<Name> words" and "[10:30] Name: words", if the text
// is made of such lines.
func (r *reader) turns(speakers []string) {
	begins, sure := r.turn, 0.9
	if len(speakers) > 0 {
		begins, sure = r.known(speakers), 0.95
	}
	lines, repeated, personal := 0, false, true
	seen := map[string]bool{}
	var turns []Turn
	for at := 0; at < len(r.text) && len(turns) < MaxTurns; {
		end := len(r.text)
		if n := strings.IndexByte(r.text[at:], '\n'); n >= 0 {
			end = at + n
		}
		if strings.TrimSpace(r.text[at:end]) != "" {
			lines++
			if t, ok := begins(at, end); ok {
				repeated = repeated || seen[t.Speaker]
				seen[t.Speaker] = true
				personal = personal && r.humanName(t.Speaker)
				turns = append(turns, t)
			} else if len(turns) > 0 && len(speakers) == 0 { // the turn goes on; a transcript's is one line
				turns[len(turns)-1].Span.End = end
			}
		}
		at = end + 1
	}
	if len(turns) == 0 || len(speakers) == 0 &&
		(float64(len(turns)) < minTurnShare*float64(lines) || !repeated && !personal) {
		return
	}
	r.out.Turns = turns
	for _, t := range turns {
		if anonymous(t.Speaker) {
			r.mark(t.Name, t.Speaker, "", 0)
			continue
		}
		if len(speakers) == 0 && !r.tagged.somebody(t.Name.Start, t.Name.End) {
			continue // what heads a line is nobody, the reader says
		}
		r.keep(Mention{
			Span: t.Name, Name: t.Speaker, Type: Person, Confidence: sure,
			Certainty: r.tagged.personal(t.Name.Start, t.Name.End),
		})
	}
}

// known reads a line that begins a turn of one of the known speakers.
func (r *reader) known(speakers []string) func(at, end int) (Turn, bool) {
	names, longest := map[string]string{}, 0
	r.people = map[string]bool{}
	for _, s := range speakers {
		if len(s) > MaxName {
			continue
		}
		name := spokenName(s)
		names[s], longest = name, max(longest, len(s))
		if !anonymous(name) {
			r.people[name] = true
		}
	}
	return func(at, end int) (Turn, bool) {
		line := r.text[at:end]
		for i, c := range line[:min(len(line), longest+1)] { // a name may hold a colon
			if c != ':' || names[line[:i]] == "" {
				continue
			}
			if said := trimSpan(r.text, Span{Start: at + i + 1, End: end}); said.Start > at+i+1 && said.Start < said.End {
				return Turn{Speaker: names[line[:i]], Name: Span{Start: at, End: at + i}, Span: said}, true
			}
		}
		return Turn{}, false
	}
}

// spokenName is the name in what a meeting calls a speaker: without what stands in
// brackets behind it, and "Lee, Ann" in the order in which others write it.
func spokenName(label string) string {
	name := strings.TrimSpace(label)
	for _, brackets := range []string{"()", "[]"} {
		if at := strings.IndexByte(name, brackets[0]); at > 0 && name[len(name)-1] == brackets[1] {
			name = strings.TrimSpace(name[:at])
		}
	}
	last, first, found := strings.Cut(name, ", ")
	if n := len(strings.Fields(first)); !found || n == 0 || n > 2 || strings.Contains(first, ",") ||
		len(strings.Fields(last)) != 1 || doubt.Degrees[strings.ToLower(strings.ReplaceAll(first, ".", ""))] {
		return name
	}
	return strings.TrimSpace(first) + " " + last
}

func anonymous(label string) bool {
	parts := strings.FieldsFunc(strings.ToLower(label), func(c rune) bool { return !unicode.IsLetter(c) })
	for _, p := range parts {
		if utf8.RuneCountInString(p) > 1 && !doubt.Nobody[p] {
			return false
		}
	}
	return len(parts) > 0 && doubt.Nobody[parts[0]]
}

// turn reads a line that begins one.
func (r *reader) turn(at, end int) (Turn, bool) {
	at = skipClock(r.text, at, end)
	line := r.text[at:end]
	start, stop, words := 0, 0, 0
	switch {
	case strings.HasPrefix(line, "<"):
		start, stop = 1, strings.IndexByte(line, '>')
		words = stop + 1
	case strings.HasPrefix(line, "**"):
		start, stop = 2, strings.Index(line[2:], "**")+2
		rest := line[min(len(line), stop+2):]
		if stop < 3 || !strings.HasPrefix(rest, ":") && !strings.HasSuffix(line[:stop], ":") {
			return Turn{}, false
		}
		words = len(line) - len(strings.TrimPrefix(rest, ":"))
		if line[stop-1] == ':' {
			stop--
		}
	default:
		stop = strings.IndexByte(line[:min(len(line), maxSpeaker+1)], ':')
		words = stop + 1
	}
	if stop <= start || stop-start > maxSpeaker || words > len(line) {
		return Turn{}, false
	}
	name := line[start:stop]
	if strings.TrimSpace(name) != name || !speakable(name) ||
		words < len(line) && line[words] != ' ' && line[words] != '\t' {
		return Turn{}, false
	}
	said := trimSpan(r.text, Span{Start: at + words, End: end})
	if said.Start == said.End {
		return Turn{}, false
	}
	return Turn{Speaker: name, Name: Span{Start: at + start, End: at + stop}, Span: said}, true
}

// skipClock is where a line begins behind a time such as "[10:30]" or "10:30:12".
func skipClock(s string, at, end int) int {
	i := at
	for i < end && strings.IndexByte("[(0123456789:.-/TZ)] \t", s[i]) >= 0 {
		i++
	}
	if i == at || i == end || strings.IndexByte(s[at:i], ':') < 0 && s[at] != '[' {
		return at
	}
	return i
}

// speakable tells whether a label can be a speaker's name.
func speakable(name string) bool {
	words := strings.Fields(name)
	if len(words) == 0 || len(words) > 4 || doubt.Labels[strings.ToLower(words[0])] || shape.Heading(name) {
		return false
	}
	first, _ := utf8.DecodeRuneInString(name)
	if !unicode.IsLetter(first) && first != '@' {
		return false
	}
	for _, c := range name {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) && !unicode.Is(unicode.Mn, c) &&
			!strings.ContainsRune(" .-_'’@()", c) {
			return false
		}
	}
	// A sentence before a colon has small words.
	small := 0
	for _, w := range words {
		if c, _ := utf8.DecodeRuneInString(w); unicode.IsLower(c) {
			small++
		}
	}
	return small == 0 || len(words) == 1
}

// humanName tells whether a speaker's name is known as one.
func (r *reader) humanName(name string) bool {
	for w := range strings.FieldsSeq(name) {
		if e, _ := r.model.Find(w); e.Class&(tagger.FirstName|tagger.LastName) != 0 && e.Class.Part() != tagger.Function {
			return true
		}
	}
	return false
}

func trimSpan(s string, sp Span) Span {
	t := strings.TrimLeftFunc(s[sp.Start:sp.End], unicode.IsSpace)
	sp.Start = sp.End - len(t)
	sp.End = sp.Start + len(strings.TrimRightFunc(t, unicode.IsSpace))
	return sp
}

// turnAt is the index of the last turn whose line begins at or before an offset, or -1.
func (r *reader) turnAt(at int) int {
	i, found := slices.BinarySearchFunc(r.out.Turns, at, func(t Turn, at int) int { return t.Name.Start - at })
	if !found {
		i--
	}
	return i
}

// speakerAt is who says what stands at an offset.
func (r *reader) speakerAt(at int) string {
	if i := r.turnAt(at); i >= 0 && at < r.out.Turns[i].Span.End {
		return r.out.Turns[i].Speaker
	}
	return r.speaker
}
