package portrait

import (
	"strings"
	"unicode"

	"orgmem/brain/text"
)

const (
	// FramedTexts is of how many of the latest texts it is found what frames them.
	FramedTexts = 60
	// leastFramed is how many of them must have a line in common, and framedShare which share of those of several lines.
	leastFramed = 3
	framedShare = 0.2
	// framedLines is how many lines a text has that has a frame, and framedWords how many words a line of it: how
	// somebody greets and takes leave is theirs.
	framedLines, framedWords = 4, 4
)

// Frame is what a form, a header or a footer says in each text that is written into it: nobody's words, and no mention.
type Frame map[string]bool

// FrameOf finds what texts have in common.
func FrameOf(texts []string) Frame {
	times, long := map[string]int{}, 0
	for _, t := range texts {
		lines := map[string]bool{}
		n := 0
		for line := range strings.Lines(text.Truncate(t, maxRecord)) {
			if strings.TrimSpace(line) == "" {
				continue
			}
			n++
			if key := lineKey(line); key != "" {
				lines[key] = true
			}
		}
		if n < framedLines {
			continue
		}
		long++
		for key := range lines {
			times[key]++
		}
	}
	f := Frame{}
	for key, n := range times {
		if n >= leastFramed && float64(n) >= framedShare*float64(long) {
			f[key] = true
		}
	}
	return f
}

// lineKey are the words of a line, but for numbers and addresses, which differ; empty where the line may be somebody's
// own: of few words, and no heading or link.
func lineKey(line string) string {
	line = strings.TrimSpace(line)
	form := strings.HasPrefix(line, "#") || strings.Contains(line, "://") || strings.HasSuffix(line, ":")
	var b strings.Builder
	words := 0
	for w := range strings.FieldsSeq(strings.ToLower(line)) {
		if w, _, _ = strings.Cut(w, "]("); strings.Contains(w, "://") {
			continue
		}
		kept := strings.TrimFunc(w, func(r rune) bool { return !unicode.IsLetter(r) })
		if kept == "" || strings.ContainsFunc(w, unicode.IsDigit) {
			continue
		}
		words++
		b.WriteString(kept)
		b.WriteByte(' ')
	}
	if words == 0 || !form && words < framedWords {
		return ""
	}
	return b.String()
}

// Own is a text without its frame.
func (f Frame) Own(t string) string {
	if len(f) == 0 {
		return t
	}
	var b strings.Builder
	for line := range strings.Lines(t) {
		if key := lineKey(line); key == "" || !f[key] {
			b.WriteString(line)
		}
	}
	return b.String()
}

// Holds tells whether a name stands in the frame, so that the texts that hold it need not mention it.
func (f Frame) Holds(name string) bool {
	key := lineKey("# " + name)
	for line := range f {
		if key != "" && strings.Contains(" "+line, " "+key) {
			return true
		}
	}
	return false
}
