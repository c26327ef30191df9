package record

import (
	"bytes"
	"cmp"
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"orgmem/brain/format/reading"
	"orgmem/proto/canon"
)

var (
	vttTiming = regexp.MustCompile(`^(\d+:)?\d{2}:\d{2}\.\d{3} +--> +(\d+:)?\d{2}:\d{2}\.\d{3}`)
	srtTiming = regexp.MustCompile(`^\d+:\d{2}:\d{2}[,.]\d{3} +--> +\d+:\d{2}:\d{2}[,.]\d{3}`)
	srtBegin  = regexp.MustCompile(`^\s*\d+ *\n\d+:\d{2}:\d{2}[,.]\d{3} +--> `)
	voice     = regexp.MustCompile(`<v(?:\.[^ \t>]*)?[ \t]+([^>]+)>`)
)

// IsVTT reports whether a text is WebVTT captions.
func IsVTT(raw []byte) bool {
	rest, ok := bytes.CutPrefix(raw, []byte("WEBVTT"))
	return ok && (len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\n')
}

// IsSRT reports whether a text is SubRip captions.
func IsSRT(raw []byte) bool { return srtBegin.Match(raw[:min(len(raw), maxTiming)]) }

// The bounds of what is looked at at a time. maxTiming is far more than the times
// of a cue take; MaxCue than is ever shown at once; and people who talk day and
// night say a million turns in a month.
const (
	maxTiming = 256
	MaxCue    = 1 << 20
	MaxTurns  = 1_000_000
)

// Transcript reads captions, JSON of speakers and texts, or lines of "Name: text". It makes one document of such lines,
// whose metadata names the speakers; format says which of them it was.
func Transcript(r *reading.Reader, name string, raw []byte) (docs []reading.Document, format string, err error) {
	t := &talk{Reader: r, known: map[string]bool{}}
	switch {
	case IsVTT(raw):
		format, err = reading.VTT, t.cues(raw, vttTiming)
	case IsSRT(raw):
		format, err = reading.SRT, t.cues(raw, srtTiming)
	case LooksJSON(raw):
		format, err = reading.JSON, t.json(raw)
	default:
		format, err = reading.Lines, t.lines(raw)
	}
	if err != nil {
		return nil, "", err
	}
	if canon.Blank(t.text.String()) {
		return nil, "", reading.Errorf("is a transcript in which nobody says anything")
	}
	metadata, err := json.Marshal(map[string]any{"transcript": true, "speakers": t.speakers}, json.Deterministic(true))
	if len(t.speakers) == 0 {
		metadata, err = []byte(`{"transcript":true}`), nil
	}
	if err != nil {
		return nil, "", reading.Errorf("names speakers that cannot be kept")
	}
	docs, err = r.Cut(reading.Document{
		Title: reading.BaseTitle(name), Content: t.text.String(), Metadata: metadata, Noted: true,
	})
	return docs, format, err
}

// readTalk reads JSON that is a transcript by its names, though nobody has said so; what is
// none after all is what other JSON is.
func readTalk(r *reading.Reader, name string, raw []byte) ([]reading.Document, error) {
	docs, _, err := Items(r, name, reading.JSON, raw, func(r *reading.Reader, raw []byte) ([]reading.Document, error) {
		docs, _, err := Transcript(r, name, raw)
		return docs, err
	})
	return docs, err
}

// MaxSpeakers bounds the speakers that are named beside a transcript, and maxNamed
// their names as JSON: what metadata may hold, less its other words.
const (
	MaxSpeakers = 200
	maxNamed    = canon.MaxBytes - 64
)

// talk is a transcript in the making: lines of "Name: text", one for each time
// that somebody speaks without a break. It is written as it is read, since a file
// of single letters holds more turns than there is room for.
type talk struct {
	*reading.Reader
	text     strings.Builder
	last     string // who spoke, if known
	speakers []string
	known    map[string]bool // of speakers
	named    int             // bytes of speakers
}

// say adds what a speaker says; speaker may be empty.
func (t *talk) say(speaker, words string) error {
	words = strings.Join(strings.Fields(words), " ")
	if words == "" {
		return nil
	}
	if speaker != "" && speaker == t.last {
		return t.write(" ", words)
	}
	if t.last = speaker; speaker == "" {
		return t.write(t.border(), words)
	}
	t.meet(speaker)
	return t.write(t.border(), speaker, ": ", words)
}

// meet notes a speaker, while there is room in the metadata.
func (t *talk) meet(speaker string) {
	if t.known[speaker] || len(t.speakers) == MaxSpeakers || len(speaker) > canon.MaxBytes {
		return
	}
	quoted, err := jsontext.AppendQuote(nil, speaker)
	if err != nil || t.named+len(quoted) > maxNamed {
		return
	}
	t.known[speaker] = true
	t.named += len(quoted) + 1
	t.speakers = append(t.speakers, speaker)
}

// border stands between two turns.
func (t *talk) border() string {
	if t.text.Len() == 0 {
		return ""
	}
	return "\n"
}

func (t *talk) write(parts ...string) error {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	if err := t.Keep(n); err != nil {
		return err
	}
	if err := t.Room(&t.text, n); err != nil {
		return err
	}
	for _, p := range parts {
		t.text.WriteString(p)
	}
	return nil
}

// cues reads the cues of VTT and SRT: a line with times, and lines of text until
// an empty one. Everything else (numbers, notes, styles) is passed over.
func (t *talk) cues(raw []byte, timing *regexp.Regexp) error {
	within := false
	var body, before []string // of this cue and of the one before it
	var from, until, ended int
	end := func() error {
		lines := body
		body = nil
		if !within {
			return nil
		}
		within = false
		if from > ended {
			before = nil
		}
		shown, fresh := rolled(before, lines)
		before, ended = lines, until
		return t.cue(shown, fresh)
	}
	size := 0 // of body
	for full := range bytes.Lines(raw) {
		if err := t.Step(reading.MarkupWork * len(full)); err != nil {
			return err
		}
		line := strings.TrimSpace(string(full))
		timed := timing.MatchString(line[:min(len(line), maxTiming)])
		if line == "" || timed {
			if err := end(); err != nil {
				return err
			}
		}
		switch {
		case timed:
			within, size = true, 0
			from, until = cueTimes(line)
		case within && line != "":
			if size += len(line); size > MaxCue {
				return reading.Errorf("holds a cue of more than %d bytes", MaxCue)
			}
			body = append(body, line)
		}
	}
	return end()
}

// maxRolled bounds the lines of a cue that are looked for in the next one: more
// than any screen shows.
const maxRolled = 16

// rolled divides a cue's text, its lines joined by newlines, into what the cue before
// it has shown and what is fresh. Captions that roll up show a line again until it
// leaves the screen, with what is new below it; captions that grow, with what is new
// behind it. Whole lines alone are looked for, as words, since a line that grows is
// wrapped anew; and only where the cues touch, since people say things twice, and two
// people the same.
func rolled(before, lines []string) (shown, fresh string) {
	all := strings.Join(lines, "\n")
	if len(before) == 0 {
		return "", all
	}
	words := strings.Fields(withoutTags(all))
	for i := max(0, len(before)-maxRolled); i < len(before); i++ {
		old := strings.Join(before[i:], "\n")
		n := begun(strings.Fields(withoutTags(old)), words)
		if n == 0 || !agree(cmp.Or(leading(old), lastVoice(strings.Join(before[:i], "\n"))), leading(all)) {
			continue
		}
		at := behindWords(all, n)
		return all[:at], all[at:]
	}
	return "", all
}

// begun is the number of old words if the new ones begin with them, else 0. What ended
// a sentence may end it no longer when the sentence goes on.
func begun(old, words []string) int {
	n := len(old)
	if n == 0 || n > len(words) || !slices.Equal(old[:n-1], words[:n-1]) {
		return 0
	}
	a, b := old[n-1], words[n-1]
	bare := strings.TrimRightFunc(a, unicode.IsPunct)
	if a == b || n < len(words) && bare != "" && bare == strings.TrimRightFunc(b, unicode.IsPunct) {
		return n
	}
	return 0
}

func agree(one, other string) bool { return one == "" || other == "" || one == other }

// leading is the voice that a text begins with, if it does.
func leading(s string) string {
	if m := voice.FindStringSubmatchIndex(s); m != nil && strings.TrimSpace(withoutTags(s[:m[0]])) == "" {
		return voiceName(s[m[2]:m[3]])
	}
	return ""
}

func lastVoice(s string) string {
	name := ""
	for _, m := range voice.FindAllStringSubmatch(s, -1) {
		name = voiceName(m[1])
	}
	return name
}

// voiceName reads a name in a tag; an escape in it may stand for a line's end.
func voiceName(s string) string { return strings.Join(strings.Fields(html.UnescapeString(s)), " ") }

// behindWords is the offset behind the first n words of a text with tags, which has as
// many.
func behindWords(s string, n int) int {
	last := strings.LastIndexByte(s, '>')
	within, tag := false, false
	for i, c := range s {
		switch {
		case tag:
			tag = c != '>'
		case c == '<' && i < last:
			tag = true
		case !unicode.IsSpace(c):
			within = true
		case within:
			if n--; n == 0 {
				return i
			}
			within = false
		}
	}
	return len(s)
}

// cueTimes are the begin and the end of a cue, in milliseconds; the line is one of
// times.
func cueTimes(line string) (from, until int) {
	begin, rest, _ := strings.Cut(line[:min(len(line), maxTiming)], "-->")
	end, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	return milliseconds(strings.TrimSpace(begin)), milliseconds(end)
}

func milliseconds(s string) int {
	n, unit := 0, 0
	for _, c := range s {
		switch {
		case c == ':':
			n, unit = n*60+unit, 0
		case c == '.' || c == ',':
			n, unit = (n*60+unit)*1000, 0
		case c >= '0' && c <= '9' && unit < 1e6:
			unit = unit*10 + int(c-'0')
		}
	}
	return n + unit
}

// cue says what is fresh in a cue, behind what was shown of it already.
func (t *talk) cue(shown, fresh string) error {
	var who teller
	if err := t.tell(&who, shown, func(string, string) error { return nil }); err != nil {
		return err
	}
	// a line has grown: its speaker is still speaking
	if shown != "" && t.text.Len() > 0 && !strings.HasPrefix(fresh, "\n") {
		end := len(fresh)
		if at := strings.IndexByte(fresh, '\n'); at >= 0 {
			end = at
		}
		if m := voice.FindStringIndex(fresh[:end]); m != nil {
			end = m[0]
		}
		if words := strings.Fields(html.UnescapeString(withoutTags(fresh[:end]))); len(words) > 0 {
			if err := t.write(" ", strings.Join(words, " ")); err != nil {
				return err
			}
		}
		fresh = fresh[end:]
	}
	return t.tell(&who, fresh, t.say)
}

// teller is who speaks at a place in a cue: a voice of its tags, or a name before a
// colon.
type teller struct {
	name   string
	voiced bool
	begun  bool // the cue has words already
}

// dashes stand before what each of two says in one cue.
const dashes = "-\u2013\u2014 "

// tell divides the text of a cue, or the rest of one, between those who speak in it.
func (t *talk) tell(who *teller, body string, say func(speaker, words string) error) error {
	for {
		m := voice.FindStringSubmatchIndex(body)
		if m == nil {
			return t.labelled(who, html.UnescapeString(withoutTags(body)), say)
		}
		words := html.UnescapeString(withoutTags(body[:m[0]]))
		if at := strings.LastIndexByte(words, '\n') + 1; strings.Trim(words[at:], dashes) == "" {
			words = words[:at] // the dash is the voice's
		}
		if err := t.labelled(who, words, say); err != nil {
			return err
		}
		name := voiceName(body[m[2]:m[3]])
		*who = teller{name: name, voiced: name != ""}
		body = body[m[1]:]
	}
}

// labelled divides lines before which may stand who speaks them. The first line of a
// cue may begin with any name. In the middle of what is said a colon is mostly one of
// the sentence: there a name is one that was met, or has no small words.
func (t *talk) labelled(who *teller, body string, say func(speaker, words string) error) error {
	if who.voiced {
		return say(who.name, body)
	}
	var words []string
	for line := range strings.Lines(body) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, said, ok := spoken(strings.TrimLeft(line, dashes))
		if ok && (!who.begun || t.known[name] || capital(name)) {
			if err := say(who.name, strings.Join(words, " ")); err != nil {
				return err
			}
			who.name, words, line = name, nil, said
		}
		who.begun = true
		words = append(words, line)
	}
	return say(who.name, strings.Join(words, " "))
}

func capital(name string) bool {
	for word := range strings.FieldsSeq(name) {
		if c, _ := utf8.DecodeRuneInString(word); unicode.IsLower(c) {
			return false
		}
	}
	return true
}

// withoutTags cuts what stands in angle brackets.
func withoutTags(s string) string {
	var b strings.Builder
	for {
		open := strings.IndexByte(s, '<')
		if open < 0 {
			break
		}
		shut := strings.IndexByte(s[open:], '>')
		if shut < 0 {
			break
		}
		b.WriteString(s[:open])
		s = s[open+shut+1:]
	}
	b.WriteString(s)
	return b.String()
}

// maxSpeaker bounds the characters of a name before a colon; what is longer is a
// sentence.
const maxSpeaker = 80

// spoken divides "Name: text". A name begins with a letter or a digit.
func spoken(line string) (speaker, words string, ok bool) {
	speaker, _, found := strings.Cut(line[:reading.RuneOffset(line, maxSpeaker+1)], ":")
	first, _ := utf8.DecodeRuneInString(speaker)
	if !found || speaker == "" || strings.Contains(speaker, "\n") || !unicode.IsLetter(first) && !unicode.IsNumber(first) {
		return "", "", false
	}
	rest := line[len(speaker)+1:]
	words = strings.TrimLeft(rest, " \t")
	return speaker, words, len(words) < len(rest) && words != ""
}

func (t *talk) lines(raw []byte) error {
	found := false
	for full := range bytes.Lines(raw) {
		if err := t.Step(reading.TableWork * len(full)); err != nil {
			return err
		}
		line := strings.TrimSpace(string(full))
		speaker, words, ok := spoken(line)
		var err error
		switch {
		case ok:
			found = true
			err = t.say(speaker, words)
		case t.text.Len() > 0 && line != "": // who spoke goes on
			err = t.write(" ", strings.Join(strings.Fields(line), " "))
		default:
			err = t.say("", line)
		}
		if err != nil {
			return err
		}
	}
	if !found {
		return reading.Errorf("is no transcript: expected VTT, SRT, JSON of speaker and text, or lines of the form " +
			"Name: text")
	}
	return nil
}

// segment is one turn of a transcript in JSON. When it was said, and what else a
// program says of it, is not kept.
type segment struct {
	Speaker string  `json:"speaker"`
	Text    *string `json:"text"`
}

// json reads a list of {speaker, text}, or an object that holds it as segments, beside
// whatever else.
func (t *talk) json(raw []byte) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), lenient)
	refused := reading.Errorf("is JSON, but no list of speaker and text")
	spoke := false
	read := func() error {
		return readList(t.Reader, d, "", func(i int) error {
			if i == MaxTurns {
				return reading.Errorf("holds more than %d turns", MaxTurns)
			}
			var one segment
			if json.UnmarshalDecode(d, &one) != nil {
				return refused
			}
			if one.Text == nil {
				return nil
			}
			spoke = true
			if strings.ContainsAny(one.Speaker, "\n\x00") || strings.ContainsRune(*one.Text, 0) {
				return reading.Errorf("has a control character in segment %d", i)
			}
			return t.say(strings.TrimSpace(one.Speaker), *one.Text)
		})
	}
	var err error
	if d.PeekKind() == '[' {
		err = read()
	} else {
		namesOf(d, func(name string) bool {
			if name != "segments" || d.PeekKind() != '[' {
				return d.SkipValue() == nil
			}
			err = read()
			return false
		})
	}
	if err == nil && !spoke {
		return refused
	}
	return err
}
