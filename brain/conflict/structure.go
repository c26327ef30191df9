package conflict

import (
	"strings"

	"orgmem/brain/claim"
	"orgmem/brain/text"
)

// maxValues bounds the values of a statement that are set against another's.
const maxValues = 12

// structure is how two statements look to who knows no more of them than which words they share and which are values.
type structure struct {
	// apart, same and within count the pairs of values that differ, that agree, and of which one is more precise; lone
	// counts the values without a counterpart.
	apart, same, within, lone int
	// restated: one value is given in two wordings.
	restated bool
	// x and y are the values that differ, by their places, the last where they are several.
	x, y int
	// swapped is how many words of the one have been replaced by words of the other, beside the values in which they
	// differ.
	swapped int
}

// clash is the one value in which two statements differ that otherwise say the same attribute of the same thing.
type clash struct {
	kind claim.ValueKind
	// a and b are the two values as they are written.
	a, b string
}

// structureOf sets the values of two aligned statements against each other, and the words beside them.
func structureOf(x, y *profile, al *alignment) (s structure) {
	var inX, inY [maxValues]bool
	vx, vy := x.values[:min(len(x.values), maxValues)], y.values[:min(len(y.values), maxValues)]
	for _, want := range []claim.Relation{claim.Same, claim.Within, claim.Apart} {
		for i := range vx {
			for k := range vy {
				if inX[i] || inY[k] || vx[i].Against(&vy[k]) != want {
					continue
				}
				inX[i], inY[k] = true, true
				switch want {
				case claim.Same:
					s.same++
					s.restated = s.restated || vx[i].Kind != claim.Named && !spelledAlike(x, y, &vx[i], &vy[k])
				case claim.Within:
					s.within++
				case claim.Apart, claim.Incomparable:
					s.apart++
					s.x, s.y = i, k
				}
			}
		}
	}
	s.lone = x.unpaired(inX[:], al.to[:]) + y.unpaired(inY[:], al.back[:])
	s.swapped = min(x.unsaid(s.x, s.apart, al.to[:]), y.unsaid(s.y, s.apart, al.back[:]))
	return s
}

// spelledAlike tells whether two values have the same words.
func spelledAlike(x, y *profile, v, w *claim.Value) bool {
	if v.Last-v.First != w.Last-w.First {
		return false
	}
	for i := range v.Last - v.First + 1 {
		if x.claim.Words[v.First+i].Form != y.claim.Words[w.First+i].Form {
			return false
		}
	}
	return true
}

// unpaired counts the values that have no counterpart, by whether they have one. A name has one also in words that the
// other side does not write as a name.
func (p *profile) unpaired(paired []bool, to []int8) (n int) {
	for i := range p.values[:min(len(p.values), maxValues)] {
		if !paired[i] && (p.values[i].Kind != claim.Named || p.lacks(i, to)) {
			n++
		}
	}
	return n
}

// lacks tells whether the other side does not have a word of a value.
func (p *profile) lacks(value int, to []int8) bool {
	for k := range p.words {
		if int(p.words[k].value) == value && to[k] < 0 {
			return true
		}
	}
	return false
}

// unsaid counts the words that mean something and that the other side does not have: those of no value, and those of
// names but of the one in which they differ.
func (p *profile) unsaid(slot, apart int, to []int8) (n int) {
	for i := range p.words {
		v := int(p.words[i].value)
		if to[i] < 0 && !p.words[i].weak && (v < 0 || (v != slot || apart == 0) && p.values[v].Kind == claim.Named) {
			n++
		}
	}
	return n
}

// clashOf finds the value in which two statements differ and nothing else: no word is replaced but perhaps one where a
// quantity or a time differs, no value is without a counterpart, and neither is meant otherwise than the other. The
// zero value: they do not.
func clashOf(a, b string, x, y *profile, al *alignment, s *structure) (c clash) {
	if s.apart != 1 || s.lone > 0 || al.strong == 0 && al.same < leastWords || (x.nots > 0) != (y.nots > 0) ||
		x.meant != y.meant {
		return c
	}
	kind, most := x.values[s.x].Kind, mostSwapped
	if kind == claim.Named || kind == claim.Count {
		most = 0 // of anything
	}
	if s.swapped > most || kind == claim.Named && !x.holder && !y.holder {
		return c
	}
	return clash{kind, x.valueText(a, s.x), y.valueText(b, s.y)}
}

// mostSwapped is how many words may be others, a paraphrase, where quantities with a unit or times differ. A bare
// number or a name may be of anything.
const mostSwapped = 1

// of is the kind of a contradiction in such values; "" without a clash.
func (c *clash) of() Kind {
	switch c.kind {
	case claim.NoValue:
		return ""
	case claim.Clock, claim.Weekday, claim.Date:
		return Temporal
	case claim.Count, claim.Money, claim.Percent, claim.Measure, claim.Duration, claim.Frequency, claim.Named:
	}
	return Value
}

// doubtful tells whether the structure of two statements that do not clash speaks against a contradiction: another
// subject or attribute has another value, one value is given in two wordings, only one of them is planned, asked for or
// told by others, or one speaks of what may be another thing each time.
func (s *structure) doubtful(x, y *profile) bool {
	return s.apart > 0 && (s.swapped > 0 || x.speaksOf(s.x) && y.speaksOf(s.y)) || s.restated ||
		(x.meant^y.meant)&meantPlanned != 0 || x.anyone() || y.anyone()
}

// speaksOf tells whether a value is a name in front of the verb: what is spoken of.
func (p *profile) speaksOf(i int) bool {
	return p.values[i].Kind == claim.Named && p.verbBehind(&p.claim.Words[p.values[i].Last])
}

// anyone tells whether a statement begins with a thing that may be another each time: a man, two dogs, some people.
func (p *profile) anyone() bool {
	w := &p.claim.Words[0]
	return w.Kind == claim.Number || anyones[w.Form]
}

var anyones = text.Set(`a an some several many few another one someone somebody people there`)

// How a statement is meant, as bits.
const (
	meantPlanned = 1 << iota // or asked for, supposed, told by others
	meantPast
	meantSeveral // said of one among several
)

var manners = func() map[string]uint8 {
	m := map[string]uint8{}
	for bit, words := range map[uint8]string{
		meantPlanned: `will would should could may might plan plans planned planning want wants wish hope hopes propose
proposes proposed suggest suggests suggested consider considering considers maybe perhaps probably possibly if unless
whether said says asked asks wonders rumour rumours draft`,
		meantPast:    `was were had did formerly previously former once earlier until ago`,
		meantSeveral: `also too another several deputy vice assistant`,
	} {
		for w := range text.Set(words) {
			m[w] |= bit
		}
	}
	return m
}()

// definites are words in front of a single thing: the treasurer, our supplier.
var definites = text.Set(`the my your his her its our their`)

// readValues reads the values of a statement of s, and how it is meant, once.
func (p *profile) readValues(s string) {
	if p.valued {
		return
	}
	p.valued = true
	words := p.claim.Words
	p.values = claim.Values(words, s)
	k := 0
	for i := range p.words {
		w := &p.words[i]
		w.value = -1
		for k < len(p.values) && words[p.values[k].Last].Start < w.word.Start {
			k++
		}
		if k < len(p.values) && words[p.values[k].First].Start <= w.word.Start {
			w.value = int8(k)
		}
	}
	some := false
	for i := range words {
		w := &words[i]
		if w.Link != 0 {
			continue
		}
		p.meant |= manners[w.Form]
		some = some || w.Form == "a" || w.Form == "an" || w.Form == "one"
		p.holder = p.holder || definites[w.Form] || w.Label ||
			w.Kind != claim.Function && (strings.HasPrefix(s[w.End:], "'s ") || strings.HasPrefix(s[w.End:], "’s "))
	}
	p.holder = p.holder && !some
}

// valueText is a value as it stands in its text, with its sign: "€300", "5%".
func (p *profile) valueText(s string, i int) string {
	v := &p.values[i]
	from, to := int(p.claim.Words[v.First].Start), int(p.claim.Words[v.Last].End)
	for _, sign := range []string{"€", "$", "£", "¥"} {
		if strings.HasSuffix(s[:from], sign) {
			from -= len(sign)
		}
	}
	for _, sign := range []string{"%", " %", "€", " €", "°"} {
		if strings.HasPrefix(s[to:], sign) {
			to += len(sign)
		}
	}
	return s[from:to]
}
