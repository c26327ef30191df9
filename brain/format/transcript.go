package format

import (
	"bytes"
	"errors"
	"html"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"orgmem/proto/canon"
)

var (
	vttTiming = regexp.MustCompile(`^(\d+:)?\d{2}:\d{2}\.\d{3} +--> +(\d+:)?\d{2}:\d{2}\.\d{3}`)
	srtTiming = regexp.MustCompile(`^\d+:\d{2}:\d{2}[,.]\d{3} +--> +\d+:\d{2}:\d{2}[,.]\d{3}`)
	srtBegin  = regexp.MustCompile(`^\s*\d+ *\n\d+:\d{2}:\d{2}[,.]\d{3} +--> `)
	voice     = regexp.MustCompile(`<v(?:\.[^ \t>]*)?[ \t]+([^>]+)>`)
)

func isVTT(raw []byte) bool {
	rest, ok := bytes.CutPrefix(raw, []byte("WEBVTT"))
	return ok && (len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\n')
}

func isSRT(raw []byte) bool { return srtBegin.Match(raw[:min(len(raw), maxTiming)]) }

// The bounds of what is looked at at a time. maxTiming is far more than the times
// of a cue take; maxCue than is ever shown at once; and people who talk day and
// night say a million turns in a month.
const (
	maxTiming = 256
	maxCue    = 1 << 20
	maxTurns  = 1_000_000
)

// Transcript reads a transcript: VTT, SRT, JSON of speaker and text, or lines of
// the form "Name: text". It becomes one document of such lines, whose metadata
// names the speakers.
func Transcript(name string, data []byte, limits Limits) (docs []Document, format string, err error) {
	raw, err := text(data, "")
	if err != nil {
		return nil, "", err
	}
	return newReader(limits).transcript(name, raw)
}

func (r *reader) transcript(name string, raw []byte) (docs []Document, format string, err error) {
	t := &talk{reader: r, known: map[string]bool{}}
	switch {
	case isVTT(raw):
		format, err = VTT, t.cues(raw, vttTiming)
	case isSRT(raw):
		format, err = SRT, t.cues(raw, srtTiming)
	case looksJSON(raw):
		format, err = JSON, t.json(raw)
	default:
		format, err = Lines, t.lines(raw)
	}
	if err != nil {
		return nil, "", err
	}
	if canon.Blank(t.text.String()) {
		return nil, "", errorf("is a transcript in which nobody says anything")
	}
	metadata, err := json.Marshal(map[string]any{"transcript": true, "speakers": t.speakers}, json.Deterministic(true))
	if len(t.speakers) == 0 {
		metadata, err = []byte(`{"transcript":true}`), nil
	}
	if err != nil {
		return nil, "", errorf("names speakers that cannot be kept")
	}
	docs, err = r.cut(Document{Title: baseTitle(name), Content: t.text.String(), Metadata: metadata, Noted: true})
	return docs, format, err
}

// maxSpeakers bounds the speakers that are named beside a transcript, and maxNamed
// their names as JSON: what metadata may hold, less its other words.
const (
	maxSpeakers = 200
	maxNamed    = canon.MaxBytes - 64
)

// talk is a transcript in the making: lines of "Name: text", one for each time
// that somebody speaks without a break. It is written as it is read, since a file
// of single letters holds more turns than there is room for.
type talk struct {
	*reader
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
	if t.known[speaker] || len(t.speakers) == maxSpeakers || len(speaker) > canon.MaxBytes {
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
		t.text.WriteString(p)
		n += len(p)
	}
	return t.keep(n)
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
		fresh := rolled(before, lines)
		before, ended = lines, until
		speaker, words := cue(strings.Join(fresh, " "))
		if speaker == "" && len(fresh) < len(lines) { // the line that names who speaks was said already
			speaker, _ = cue(strings.Join(lines, " "))
		}
		return t.say(speaker, words)
	}
	size := 0 // of body
	for full := range bytes.Lines(raw) {
		if err := t.step(len(full)); err != nil {
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
			if size += len(line); size > maxCue {
				return errorf("holds a cue of more than %d bytes", maxCue)
			}
			body = append(body, line)
		}
	}
	return end()
}

// rolled cuts what a cue repeats of the one before it: captions that roll up show
// a line again until it leaves the screen, each time with what is new below it.
// Whole lines alone are cut, and only where the cues touch: people say things twice.
func rolled(before, lines []string) []string {
	for k := min(len(before), len(lines)); k > 0; k-- {
		same := true
		for i := range k {
			same = same && withoutTags(before[len(before)-k+i]) == withoutTags(lines[i])
		}
		if same {
			return lines[k:]
		}
	}
	return lines
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

// cue reads the text of one cue: who speaks stands in a voice tag, or before a
// colon.
func cue(body string) (speaker, words string) {
	if m := voice.FindStringSubmatch(body); m != nil {
		speaker = strings.Join(strings.Fields(html.UnescapeString(m[1])), " ") // an escape may stand for a line's end
	}
	words = strings.TrimSpace(html.UnescapeString(withoutTags(body)))
	if speaker == "" {
		if name, said, ok := spoken(words); ok {
			return name, said
		}
	}
	return speaker, words
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
	speaker, _, found := strings.Cut(line[:runeOffset(line, maxSpeaker+1)], ":")
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
		if err := t.step(len(full)); err != nil {
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
		return errorf("is no transcript: expected VTT, SRT, JSON of speaker and text, or lines of the form Name: text")
	}
	return nil
}

// segment is one turn of a transcript in JSON. When it was said is not kept.
type segment struct {
	Speaker string   `json:"speaker"`
	Text    string   `json:"text"`
	Start   anything `json:"start"`
}

// anything is a value that is read over.
type anything struct{}

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (anything) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	_, err := canon.Next(d)
	return err
}

// json reads a list of {speaker, text, start?}, or an object that holds it as
// segments.
func (t *talk) json(raw []byte) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw))
	refused := errorf("is JSON, but no list of speaker and text")
	err := t.list(d, "segments", func(i int) error {
		if i == maxTurns {
			return errorf("holds more than %d turns", maxTurns)
		}
		var one segment
		if json.UnmarshalDecode(d, &one, json.RejectUnknownMembers(true)) != nil {
			return refused
		}
		if strings.ContainsAny(one.Speaker, "\n\x00") || strings.ContainsRune(one.Text, 0) {
			return errorf("has a control character in segment %d", i)
		}
		return t.say(strings.TrimSpace(one.Speaker), one.Text)
	})
	if errors.Is(err, errNoList) {
		return refused
	}
	return err
}
