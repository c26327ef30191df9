package portrait

import (
	"strings"

	"orgmem/brain/text"
)

const (
	// leastThere is how many people a list must name to say who was there, and leastTurns how many turns of at least two
	// people make a talk.
	leastThere, leastTurns = 3, 3
	// maxRole is how many words may say what somebody on a list is.
	maxRole = 4
	// maxRecord bounds what is read of a text, in bytes: who was there is said at its head.
	maxRecord = 16 << 10
)

// Record tells whether a text that names some people is a record of what they said: it lists who was there, or gives
// their turns. Nobody knows who of them wrote it, and the words are those of all.
func Record(said string, people []string) bool {
	r := roll{whole: map[string]bool{}, part: map[string]string{}}
	for _, p := range people {
		p = strings.ToLower(text.OneLine(p))
		r.whole[p] = true
		for w := range strings.FieldsSeq(p) {
			r.part[w] = p
		}
	}
	turns, speakers, there := 0, map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(text.Truncate(said, maxRecord)) {
		item, listed := text.Item(line)
		if listed && (text.OnRoll(line) || r.named(item)) {
			there[item] = true
		}
		if who := r.turn(item); who != "" {
			turns++
			speakers[who] = true
		}
		if len(there) >= leastThere || turns >= leastTurns && len(speakers) > 1 || r.lists(item) {
			return true
		}
	}
	return false
}

// roll knows people by their names, and by parts of them.
type roll struct {
	whole map[string]bool
	part  map[string]string
}

// named tells whether an item of a list is somebody's name, with no more than what they are.
func (r roll) named(item string) bool {
	end := strings.IndexAny(item, "(,<@[")
	for _, dash := range [...]string{" - ", " – ", " — "} {
		if at := strings.Index(item, dash); at >= 0 && (end < 0 || at < end) {
			end = at
		}
	}
	role := ""
	if end >= 0 {
		item, role = item[:end], item[end:]
	}
	return r.whole[strings.ToLower(text.OneLine(item))] && len(strings.Fields(role)) <= maxRole
}

// turn is who says what a line holds: their name, whole or a part of it, stands before its colon.
func (r roll) turn(item string) string {
	name, said, ok := strings.Cut(item, ":")
	name = strings.ToLower(strings.Trim(text.OneLine(name), "*_ "))
	if !ok || strings.TrimSpace(strings.Trim(said, "*_")) == "" {
		return ""
	}
	if r.whole[name] {
		return name
	}
	return r.part[name]
}

// addressed are heads of a mail: whom it goes to are not those who wrote it.
var addressed = text.Set(`to cc bcc from`)

// lists tells whether a line lists people: "Present: Ilse Brandt, Bruno Vogt and Mina Park".
func (r roll) lists(line string) bool {
	if label, list, ok := strings.Cut(line, ":"); ok {
		if addressed[strings.ToLower(strings.Trim(label, "*_ "))] {
			return false
		}
		line = list
	}
	line = strings.ReplaceAll(strings.ReplaceAll(line, " and ", ", "), ";", ",")
	parts := strings.Split(strings.Trim(line, "*_. \n"), ",")
	there := 0
	for _, p := range parts {
		if r.named(strings.Trim(p, "*_. ")) {
			there++
		}
	}
	return there >= leastThere && 3*there >= 2*len(parts)
}
