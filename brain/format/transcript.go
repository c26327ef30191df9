package format

import (
	"encoding/json"
	"html"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	vttTiming = regexp.MustCompile(`^(\d+:)?\d{2}:\d{2}\.\d{3} +--> +(\d+:)?\d{2}:\d{2}\.\d{3}`)
	srtTiming = regexp.MustCompile(`^\d+:\d{2}:\d{2}[,.]\d{3} +--> +\d+:\d{2}:\d{2}[,.]\d{3}`)
	srtBegin  = regexp.MustCompile(`^\s*\d+ *\n\d+:\d{2}:\d{2}[,.]\d{3} +--> `)
	voice     = regexp.MustCompile(`<v(?:\.[^ \t>]*)?[ \t]+([^>]+)>`)
	markup    = regexp.MustCompile(`<[^>]*>`)
	spoken    = regexp.MustCompile(`^([\p{L}\p{N}][^:\n]{0,79}):[ \t]+(\S.*)$`)
)

func isVTT(s string) bool {
	rest, ok := strings.CutPrefix(s, "WEBVTT")
	return ok && (rest == "" || rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\n')
}

func isSRT(s string) bool { return srtBegin.MatchString(s[:min(len(s), 256)]) }

// turn is what one speaker says without a break. speaker may be empty.
type turn struct{ speaker, text string }

// Transcript reads a transcript: VTT, SRT, JSON of speaker and text, or lines of
// the form "Name: text". It becomes one document of such lines, whose metadata
// names the speakers.
func Transcript(name string, data []byte) (docs []Document, format string, err error) {
	s, err := text(name, data)
	if err != nil {
		return nil, "", err
	}
	var turns []turn
	switch {
	case isVTT(s):
		format, turns = VTT, cues(s, vttTiming)
	case isSRT(s):
		format, turns = SRT, cues(s, srtTiming)
	case looksJSON(s):
		format = JSON
		turns, err = jsonTurns(s)
	default:
		format = Lines
		turns, err = lines(s)
	}
	if err != nil {
		return nil, "", err
	}
	var b strings.Builder
	var speakers []string
	last := ""
	for _, t := range turns {
		words := strings.Join(strings.Fields(t.text), " ")
		switch {
		case words == "":
			continue
		case t.speaker != "" && t.speaker == last: // the same goes on
			b.WriteString(" " + words)
			continue
		case b.Len() > 0:
			b.WriteString("\n")
		}
		if t.speaker != "" {
			if !slices.Contains(speakers, t.speaker) && len(speakers) < maxSpeakers {
				speakers = append(speakers, t.speaker)
			}
			b.WriteString(t.speaker + ": ")
		}
		b.WriteString(words)
		last = t.speaker
	}
	if b.Len() == 0 {
		return nil, "", errorf("is a transcript in which nobody says anything")
	}
	about := map[string]any{"transcript": true}
	if len(speakers) > 0 {
		about["speakers"] = speakers
	}
	metadata, err := json.Marshal(about)
	if err != nil {
		return nil, "", errorf("names speakers that cannot be kept")
	}
	docs, err = cut(Document{Title: strings.TrimSuffix(name, path.Ext(name)), Content: b.String(), Metadata: metadata})
	return docs, format, err
}

// maxSpeakers bounds the speakers that are named beside a transcript.
const maxSpeakers = 200

// cues reads the cues of VTT and SRT: a line with times, and lines of text until
// an empty one. Everything else (numbers, notes, styles) is passed over.
func cues(s string, timing *regexp.Regexp) []turn {
	var turns []turn
	within := false
	var body []string
	end := func() {
		if within {
			turns = append(turns, cue(strings.Join(body, " ")))
		}
		within, body = false, nil
	}
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
			end()
		case timing.MatchString(line):
			end()
			within = true
		case within:
			body = append(body, line)
		}
	}
	end()
	return turns
}

// cue reads the text of one cue: who speaks stands in a voice tag, or before a
// colon.
func cue(body string) turn {
	speaker := ""
	if m := voice.FindStringSubmatch(body); m != nil {
		speaker = strings.TrimSpace(html.UnescapeString(m[1]))
	}
	body = strings.TrimSpace(html.UnescapeString(markup.ReplaceAllString(body, "")))
	if speaker == "" {
		if m := spoken.FindStringSubmatch(body); m != nil {
			speaker, body = m[1], m[2]
		}
	}
	return turn{speaker, body}
}

func lines(s string) ([]turn, error) {
	var turns []turn
	found := false
	for line := range strings.Lines(s) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if m := spoken.FindStringSubmatch(line); m != nil {
			turns, found = append(turns, turn{m[1], m[2]}), true
			continue
		}
		if len(turns) > 0 { // who spoke goes on
			turns[len(turns)-1].text += " " + line
			continue
		}
		turns = append(turns, turn{"", line})
	}
	if !found {
		return nil, errorf("is no transcript: expected VTT, SRT, JSON of speaker and text, or lines of the form Name: text")
	}
	return turns, nil
}

// jsonTurns reads a list of {speaker, text, start?}, or an object that holds it
// as segments.
func jsonTurns(s string) ([]turn, error) {
	type segment struct {
		Speaker string `json:"speaker"`
		Text    string `json:"text"`
		Start   any    `json:"start"`
	}
	var list []segment
	var holder struct {
		Segments *[]segment `json:"segments"`
	}
	raw := []byte(strings.TrimSpace(s))
	if raw[0] == '{' {
		if strict(raw, &holder) != nil || holder.Segments == nil {
			return nil, errorf("is JSON, but no list of speaker and text")
		}
		list = *holder.Segments
	} else if strict(raw, &list) != nil {
		return nil, errorf("is JSON, but no list of speaker and text")
	}
	turns := make([]turn, 0, len(list))
	for i, seg := range list {
		if strings.ContainsAny(seg.Speaker, "\n\x00") || strings.ContainsRune(seg.Text, 0) {
			return nil, errorf("has a control character in segment %d", i)
		}
		turns = append(turns, turn{strings.TrimSpace(seg.Speaker), seg.Text})
	}
	return turns, nil
}
