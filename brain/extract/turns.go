package extract

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"orgmem/brain/extract/tagger"
)

const (
	// maxSpeaker is the longest name of a speaker, in bytes.
	maxSpeaker = 60
	// minTurnShare is how many of a transcript's lines begin a turn, at least: a
	// text whose lines seldom do has headings, or fields.
	minTurnShare = 0.5
)

// labels stand before a colon without speaking.
var labels = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`note notes warning caution tip info example examples todo fixme subject from to date cc bcc re fwd title
		author authors status type version question answer q a summary abstract http https step figure table input output result results
		error usage args returns return default value name url link links source sources reference references see also ps p.s update edit
		attendees present agenda topic topics action actions decision decisions created updated tags category categories content description
		requires replaces python-version post-history resolution discussions-to pep last-modified sponsor delegate where when what who why how`) {
		m[w] = true
	}
	return m
}()

// turns finds who speaks where: lines of the form "Name: words", "<Name> words"
// and "[10:30] Name: words", if the text is made of such lines.
func (r *reader) turns() {
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
			if t, ok := r.turn(at, end); ok {
				repeated = repeated || seen[t.Speaker]
				seen[t.Speaker] = true
				personal = personal && r.humanName(t.Speaker)
				turns = append(turns, t)
			} else if len(turns) > 0 { // the turn goes on
				turns[len(turns)-1].Span.End = end
			}
		}
		at = end + 1
	}
	if len(turns) == 0 || float64(len(turns)) < minTurnShare*float64(lines) || !repeated && !personal {
		return
	}
	r.out.Turns = turns
	for _, t := range turns {
		r.mark(t.Name, t.Speaker, Person, 0.9)
	}
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
	if strings.TrimSpace(name) != name || !speakable(name) || words < len(line) && line[words] != ' ' && line[words] != '\t' {
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
	if len(words) == 0 || len(words) > 4 || labels[strings.ToLower(words[0])] {
		return false
	}
	first, _ := utf8.DecodeRuneInString(name)
	if !unicode.IsLetter(first) && first != '@' {
		return false
	}
	for _, c := range name {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) && !unicode.Is(unicode.Mn, c) && !strings.ContainsRune(" .-_'’@()", c) {
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
