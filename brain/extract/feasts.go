package extract

import (
	"slices"
	"strings"

	"orgmem/brain/extract/shape"
	"orgmem/brain/extract/tagger"
	"orgmem/brain/text"
)

// wishesOf stand before a feast without being part of its name.
var wishesOf = text.Set(`happy merry blessed joyful joyous feliz frohe joyeux last next this every before after since
	until
	on at for`)

// feast tells whether a name is that of a holiday, and makes the span its name alone:
// "Happy Easter", "Christmas 2025", and the day of Saint Patrick, who is no guest.
func (r *recognizer) feast(f *span) bool {
	for from := f.from; from < f.to; from++ {
		if r.isFeast(from, f.to) {
			f.from = from
			// Behind the name: Easter Monday, Saint Patrick's Day.
			for to := min(len(r.tokens), f.to+2); to > f.to; to-- {
				if r.isFeast(from, to) {
					f.to = to
				}
			}
			return true
		}
		for to := min(len(r.tokens), f.to+3); to > f.to; to-- {
			if r.isFeast(from, to) {
				f.from, f.to = from, to
				return true
			}
		}
		if !wishesOf[r.lows[from]] {
			break
		}
	}
	last := f.to - 1
	if last > f.from && r.year(last) && r.isFeast(f.from, last) {
		f.to = last
		return true
	}
	return false
}

// partFeasts cuts a name apart at a small word that ties a holiday to something else:
// "Diwali and Eid", "Passover with the Levys".
func (r *recognizer) partFeasts() {
	for n := 0; n < len(r.found); n++ {
		f := r.found[n]
		for k := f.from + 1; k < f.to-1; k++ {
			switch r.lows[k] {
			case "and", "or", "with", "at", "in", "&":
			default:
				continue
			}
			rest := k + 1
			if r.lows[rest] == "the" && rest+1 < f.to {
				rest++
			}
			if !r.isFeast(f.from, f.to) && (r.isFeast(f.from, k) || r.isFeast(rest, f.to)) {
				r.found[n].to = k
				r.found = slices.Insert(r.found, n+1, span{from: rest, to: f.to, tag: f.tag, p: f.p})
				break
			}
		}
	}
}

// guest tells whether a name of a holiday is somebody's here: behind a form of address,
// or as one of two names.
func (r *recognizer) guest(f span) bool {
	return f.from > 0 && !r.tokens[f.from].First && r.title(f.from-1)
}

// heading tells whether a span heads a part of the text, in words that name nothing:
// "Action Items", "Goals:". Of one word only where it stands as a heading does.
func (r *recognizer) heading(f span) bool {
	words := 0
	for i := f.from; i < f.to; i++ {
		if r.tokens[i].Kind == tagger.Mark && r.lows[i] != "&" {
			continue
		}
		if !shape.HeadingWord(r.lows[i]) {
			return false
		}
		words++
	}
	if words > 1 {
		return true
	}
	start, end := r.tokens[f.from].Start, r.tokens[f.to-1].End
	from := strings.LastIndexByte(r.text[max(0, start-maxHeading):start], '\n') + 1
	if from == 0 && start > maxHeading {
		return false
	}
	from += max(0, start-maxHeading)
	line := r.text[from:min(len(r.text), end+maxHeading)]
	if stop := strings.IndexAny(line[end-from:], "\r\n:"); stop >= 0 {
		line = line[:end-from+stop]
	}
	line, _, _ = strings.Cut(line, " - ")
	line, _, _ = strings.Cut(line, " – ")
	line, _, _ = strings.Cut(line, " — ")
	return len(line) > 0 && shape.Heading(line)
}

// maxHeading bounds a heading before and behind a name, in bytes.
const maxHeading = 60
