package turn

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"orgmem/brain/extract/doubt"
	"orgmem/brain/extract/shape"
	"orgmem/brain/text"
)

const (
	// MaxSpeaker is the longest name of a speaker, in bytes.
	MaxSpeaker = 60
	// minTurnShare is how many of a transcript's lines begin a turn, at least: a
	// text whose lines seldom do has headings, or fields.
	minTurnShare = 0.5
)

// Turn is what one speaker says without a break, in a transcript or chat log.
type Turn struct {
	Speaker string    // as the text writes it, in plain letters; one of the known speakers by the name alone (see called)
	Name    text.Span // the speaker's name
	Span    text.Span // what is said, without the name
}

// Find finds who speaks where, at most most turns: lines of the form "Name: words" of the speakers that are known, who
// are given by what they are called. If known is nil, also "<Name> words" and "[10:30] Name: words", if the text
// is made of such lines. human tells whether a name is known as a person's.
func Find(s string, known map[string]string, most int, human func(name string) bool) []Turn {
	begins := read
	if known != nil {
		begins = of(known)
	}
	lines, repeated, personal := 0, false, true
	seen := map[string]bool{}
	var turns []Turn
	for at := 0; at < len(s) && len(turns) < most; {
		end := len(s)
		if n := strings.IndexByte(s[at:], '\n'); n >= 0 {
			end = at + n
		}
		if strings.TrimSpace(s[at:end]) != "" {
			lines++
			if t, ok := begins(s, at, end); ok {
				repeated = repeated || seen[t.Speaker]
				seen[t.Speaker] = true
				personal = personal && human(t.Speaker)
				turns = append(turns, t)
			} else if len(turns) > 0 && known == nil { // the turn goes on; a transcript's is one line
				turns[len(turns)-1].Span.End = end
			}
		}
		at = end + 1
	}
	if known == nil && (float64(len(turns)) < minTurnShare*float64(lines) || !repeated && !personal) {
		return nil
	}
	return turns
}

// Known maps the labels of speakers to what each is called. It is nil without speakers.
func Known(speakers []string, longest int) map[string]string {
	if len(speakers) == 0 {
		return nil
	}
	names := map[string]string{}
	for _, s := range speakers {
		if len(s) <= longest {
			names[s] = called(s)
		}
	}
	return names
}

// of reads a line that begins a turn of one of the known speakers.
func of(names map[string]string) func(s string, at, end int) (Turn, bool) {
	longest := 0
	for label := range names {
		longest = max(longest, len(label))
	}
	return func(s string, at, end int) (Turn, bool) {
		line := s[at:end]
		for i, c := range line[:min(len(line), longest+1)] { // a name may hold a colon
			if c != ':' || names[line[:i]] == "" {
				continue
			}
			if said := trimSpan(s, text.Span{Start: at + i + 1, End: end}); said.Start > at+i+1 && said.Start < said.End {
				return Turn{Speaker: names[line[:i]], Name: text.Span{Start: at, End: at + i}, Span: said}, true
			}
		}
		return Turn{}, false
	}
}

// called is the name in what a meeting calls a speaker: without what stands in
// brackets behind it, and "Lee, Ann" in the order in which others write it.
func called(label string) string {
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

// Anonymous tells whether a label is nobody's: "Speaker 1".
func Anonymous(label string) bool {
	parts := strings.FieldsFunc(strings.ToLower(label), func(c rune) bool { return !unicode.IsLetter(c) })
	for _, p := range parts {
		if utf8.RuneCountInString(p) > 1 && !doubt.Nobody[p] {
			return false
		}
	}
	return len(parts) > 0 && doubt.Nobody[parts[0]]
}

// read reads a line that begins one.
func read(s string, at, end int) (Turn, bool) {
	at = skipClock(s, at, end)
	line := s[at:end]
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
		stop = strings.IndexByte(line[:min(len(line), MaxSpeaker+1)], ':')
		words = stop + 1
	}
	if stop <= start || stop-start > MaxSpeaker || words > len(line) {
		return Turn{}, false
	}
	name := line[start:stop]
	if strings.TrimSpace(name) != name || !speakable(name) ||
		words < len(line) && line[words] != ' ' && line[words] != '\t' {
		return Turn{}, false
	}
	said := trimSpan(s, text.Span{Start: at + words, End: end})
	if said.Start == said.End {
		return Turn{}, false
	}
	return Turn{Speaker: name, Name: text.Span{Start: at + start, End: at + stop}, Span: said}, true
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

func trimSpan(s string, sp text.Span) text.Span {
	t := strings.TrimLeftFunc(s[sp.Start:sp.End], unicode.IsSpace)
	sp.Start = sp.End - len(t)
	sp.End = sp.Start + len(strings.TrimRightFunc(t, unicode.IsSpace))
	return sp
}
