package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"orgmem/brain/extract/calendar"
	"orgmem/brain/extract/doubt"
	"orgmem/brain/extract/tagger"
)

// block is the stretch of a text that is tagged at once: whole sentences, or a part of a
// very long one.
type block struct {
	model  *tagger.Model
	text   string // of the document
	tokens []tagger.Token
	lows   []string // the tokens in lower case; of times as they are meant
}

// lower fills lows.
func (b *block) lower() {
	b.lows = b.lows[:0]
	for i := range b.tokens {
		b.lows = append(b.lows, strings.ToLower(b.word(i)))
	}
}

// word is a token as it stands in the text.
func (b *block) word(i int) string { return b.text[b.tokens[i].Start:b.tokens[i].End] }

// capital tells whether a token can be part of a run of capitals.
func (b *block) capital(i int) bool {
	t := b.tokens[i]
	if t.Kind != tagger.Word {
		return false
	}
	w := b.text[t.Start:t.End]
	first, _ := utf8.DecodeRuneInString(w)
	return unicode.IsUpper(first) || strings.IndexFunc(w, unicode.IsUpper) > 0 // iPhone
}

// plain are words that are capitalised without being names.
func (b *block) plain(i int) bool {
	w := b.word(i)
	if w == "I" || months[b.lows[i]] > 0 || weekdays[b.lows[i]] > 0 || doubt.Interjections[b.lows[i]] {
		return true
	}
	e, _ := b.model.Find(w)
	switch e.Class.Part() {
	case tagger.Function, tagger.Calendar, tagger.Honorific, tagger.Demonym, tagger.Numeral,
		tagger.Expression, tagger.Adverb:
		return true
	default:
		return false
	}
}

// nameable tells whether a name may begin or end with a token.
func (b *block) nameable(i int) bool {
	k := b.tokens[i].Kind
	return k != tagger.Mark && k != tagger.Suffix && k != tagger.Link
}

// title tells whether a word is a form of address or an office.
func (b *block) title(i int) bool {
	w := strings.ToLower(strings.TrimSuffix(b.word(i), "."))
	if w == "president" || w == "minister" || w == "colonel" || w == "secretary" || w == "chancellor" || w == "premier" {
		return true
	}
	e, _ := b.model.Find(w)
	return e.Class.Part() == tagger.Honorific
}

// year tells whether a token is a year, as part of a name.
func (b *block) year(i int) bool {
	w := b.word(i)
	return b.tokens[i].Kind == tagger.Number && len(w) == 4 && (w[0] == '1' || w[0] == '2')
}

// parted tells whether a token begins a sentence on a line of its own: the tagger was
// trained on posts, which have no headings, and takes a heading and what stands below
// it for one name.
func (b *block) parted(i int) bool {
	return b.tokens[i].First && strings.Contains(b.text[b.tokens[i-1].End:b.tokens[i].Start], "\n")
}

// prose tells whether capitals mean names in a block: most words have none.
func (b *block) prose() bool {
	words, capitals := 0, 0
	for _, t := range b.tokens {
		if t.Kind != tagger.Word {
			continue
		}
		words++
		if first, _ := utf8.DecodeRuneInString(b.text[t.Start:]); unicode.IsUpper(first) {
			capitals++
		}
	}
	return words >= 4 && capitals*5 <= words*3
}

// post tells whether a block is of the kind that the tagger was trained on, and so
// knows best: it has accounts and topics.
func (b *block) post() bool {
	for _, t := range b.tokens {
		if t.Kind == tagger.Handle || t.Kind == tagger.Hashtag {
			return true
		}
	}
	return false
}

// isFeast tells whether the tokens [from, to) of one sentence are a holiday's name.
func (b *block) isFeast(from, to int) bool {
	for i := from + 1; i < to; i++ {
		if b.tokens[i].First {
			return false
		}
	}
	name := b.text[b.tokens[from].Start:b.tokens[to-1].End]
	return len(name) <= calendar.MaxFeast && calendar.Feast(strings.ToLower(
		strings.ReplaceAll(strings.Join(strings.Fields(name), " "), "’", "'")))
}
