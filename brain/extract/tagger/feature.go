package tagger

import (
	"unicode"
	"unicode/utf8"
)

// templates number the features. Their order is part of the weights: a change
// asks for training anew.
const (
	tWord uint32 = iota * 8 // + offset
	tWordPair
	tShape
	tShapeShort
	tShapeTriple
	tClass
	tClassPair
	tCluster
	tCoarse
	tClusterPair
	tPrefix
	tSuffix
	tCase
	tPhrase
	tKind
	tBias
	tRun
	tWordCase
)

// about is what the features of a token and its neighbours are made of.
type about struct {
	word, shape, short uint64
	low                string // the token; only read through hashLower
	entry              Entry
	coarse             uint8
	phrase             uint16 // place in a phrase of the lexicon and its class
	kind               Kind
	initial            uint8 // how it is capitalised
	first              bool
}

// How a token is capitalised.
const (
	noCase   uint8 = iota
	lowCase        // word
	titled         // Word
	allCaps        // WORD
	oneCap         // W
	mixed          // iPhone, McDonald
	withNums       // abc123
)

func lower(r rune) rune { return unicode.ToLower(r) }

// shapeOf classifies the capitals of w and hashes its shape: Xx for letters, d
// for digits, other characters as they are; short without repetitions.
func shapeOf(w string) (shape, short uint64, initial uint8) {
	shape, short = fnvOffset, fnvOffset
	var last byte
	var n, upper, lowers, digits, run int
	firstUpper := false
	for _, r := range w {
		c := byte('-')
		switch {
		case r < utf8.RuneSelf && r >= '0' && r <= '9':
			c = 'd'
			digits++
		case unicode.IsUpper(r):
			c = 'X'
			upper++
			firstUpper = firstUpper || n == 0
		case unicode.IsLetter(r) || unicode.Is(unicode.Mn, r):
			c = 'x'
			lowers++
		case r < utf8.RuneSelf:
			c = byte(r)
		}
		n++
		if c == last {
			run++
		} else {
			run = 1
			short = (short ^ uint64(c)) * fnvPrime
		}
		if run <= 4 {
			shape = (shape ^ uint64(c)) * fnvPrime
		}
		last = c
	}
	switch {
	case upper+lowers == 0:
		initial = noCase
	case digits > 0:
		initial = withNums
	case upper == 0:
		initial = lowCase
	case lowers == 0 && upper == 1:
		initial = oneCap
	case lowers == 0:
		initial = allCaps
	case firstUpper && upper == 1:
		initial = titled
	default:
		initial = mixed
	}
	return shape, short, initial
}

// scratch holds what is computed of one block; it is reused.
type scratch struct {
	about    []about
	features []uint32
	ends     []int // features of token i are features[ends[i-1]:ends[i]]
}

// feature mixes a template with two values.
func feature(template uint32, a, b uint64) uint32 {
	h := (uint64(template)+1)*0x9e3779b97f4a7c15 ^ a
	h *= 0xff51afd7ed558ccd
	h ^= h >> 32
	h = (h ^ b) * 0xc4ceb9fe1a85ec53
	return uint32(h >> 32)
}

// describe fills c.about for the tokens.
func (c *scratch) describe(m *Model, s string, tokens []Token) (caps uint64) {
	c.about = c.about[:0]
	for _, t := range tokens {
		w := s[t.Start:t.End]
		a := about{low: w, kind: t.Kind, first: t.First}
		a.shape, a.short, a.initial = shapeOf(w)
		switch t.Kind {
		case Handle, Link, Number:
			a.word = uint64(t.Kind) // any of them is as good as another
		case Hashtag:
			a.word = hashLower(fnvOffset, w[1:])
		default:
			a.word = hashLower(fnvOffset, w)
		}
		if t.Kind == Word || t.Kind == Hashtag || t.Kind == Suffix || t.Kind == Mark {
			a.entry, _ = m.find(fold32(a.word))
			a.coarse = m.coarse(a.entry.Cluster)
		}
		c.about = append(c.about, a)
	}
	c.phrases(m)
	return c.caps()
}

// phrases marks the longest phrases of the lexicon.
func (c *scratch) phrases(m *Model) {
	for i := 0; i < len(c.about); i++ {
		a := &c.about[i]
		if a.kind != Word || a.entry.Class&Prefix == 0 {
			continue
		}
		h, best, what := a.word, 0, Class(0)
		for n := 1; n < maxPhrase && i+n < len(c.about); n++ {
			next := &c.about[i+n]
			if next.kind == Link || next.kind == Handle {
				break
			}
			h = hashLower((h^' ')*fnvPrime, next.low)
			e, ok := m.find(fold32(h))
			if !ok {
				break
			}
			if kinds := e.Class & (FirstName | LastName | PlaceName | OrgName | BrandName); kinds != 0 {
				best, what = n, kinds
			}
			if e.Class&Prefix == 0 {
				break
			}
		}
		if best == 0 {
			continue
		}
		for n := 0; n <= best; n++ {
			at := 2
			if n == 0 {
				at = 1
			}
			c.about[i+n].phrase = uint16(at) | uint16(what)
		}
		i += best
	}
}

// caps tells how a block uses capitals: in text without any, or of nothing else,
// a capital says little.
func (c *scratch) caps() uint64 {
	var words, up, shout int
	for i := range c.about {
		a := &c.about[i]
		if a.kind != Word || a.initial == noCase || a.initial == withNums {
			continue
		}
		words++
		switch a.initial {
		case titled, mixed, oneCap:
			up++
		case allCaps:
			up++
			shout++
		}
	}
	switch {
	case words == 0:
		return 0
	case shout*2 > words:
		return 1
	case up == 0:
		return 2
	case up*4 <= words:
		return 3
	case up*2 <= words:
		return 4
	case up*5 <= words*4:
		return 5
	}
	return 6
}

// extract computes the features of the tokens of one block.
func (c *scratch) extract(m *Model, s string, tokens []Token) {
	caps := c.describe(m, s, tokens)
	c.features, c.ends = c.features[:0], c.ends[:0]
	for i := range c.about {
		c.token(i, caps)
		c.ends = append(c.ends, len(c.features))
	}
}

// border stands for what is before the first and behind the last token.
var border = about{word: 1 << 63, kind: 15}

func (c *scratch) at(i int) *about {
	if i < 0 || i >= len(c.about) {
		return &border
	}
	return &c.about[i]
}

func (c *scratch) token(i int, caps uint64) {
	add := func(template uint32, a, b uint64) { c.features = append(c.features, feature(template, a, b)) }
	l2, l, a, r, r2 := c.at(i-2), c.at(i-1), c.at(i), c.at(i+1), c.at(i+2)
	add(tBias, 0, 0)
	for o, x := range [...]*about{l2, l, a, r, r2} {
		n := uint32(o)
		add(tWord+n, x.word, 0)
		add(tCoarse+n, uint64(x.coarse), uint64(x.kind))
		add(tClass+n, uint64(x.entry.Class&^Prefix), uint64(x.initial))
		if o == 0 || o == 4 {
			continue
		}
		add(tShapeShort+n, x.short, 0)
		add(tCluster+n, uint64(x.entry.Cluster), uint64(x.kind))
		add(tPhrase+n, uint64(x.phrase), uint64(x.initial))
	}
	add(tShape, a.shape, 0)
	add(tWordPair, l.word, a.word)
	add(tWordPair+1, a.word, r.word)
	add(tShapeTriple, l.short^uint64(l.initial), a.short*3^r.short)
	add(tClassPair, uint64(l.entry.Class&^Prefix), uint64(a.entry.Class&^Prefix)<<8|uint64(a.initial))
	add(tClassPair+1, uint64(r.entry.Class&^Prefix), uint64(a.entry.Class&^Prefix)<<8|uint64(a.initial))
	add(tClusterPair, uint64(l.coarse)<<8|uint64(l.initial), uint64(a.coarse)<<8|uint64(a.initial))
	add(tClusterPair+1, uint64(a.coarse)<<8|uint64(a.initial), uint64(r.coarse)<<8|uint64(r.initial))
	first, common := uint64(0), uint64(a.entry.Class&(Common|Proper|FirstName|LastName|PlaceName|OrgName|BrandName))
	if a.first {
		first = 1
	}
	add(tCase, caps<<4|uint64(a.initial), first<<16|common)
	add(tCase+1, caps<<4|uint64(a.initial), first)
	add(tCase+2, uint64(a.initial)<<4|uint64(r.initial), uint64(l.initial)<<8|caps)
	add(tCase+3, uint64(a.initial)<<4|first, uint64(a.entry.Class&^Prefix))
	add(tWordCase, a.word, uint64(a.initial))
	add(tKind, uint64(l.kind)<<8|uint64(a.kind), uint64(r.kind))
	c.affixes(a)
	if l.kind != 15 {
		c.affix(tSuffix+6, l.low, 3, true)
	}
	if r.kind != 15 {
		c.affix(tSuffix+7, r.low, 3, true)
	}
}

func (c *scratch) affixes(a *about) {
	if a.kind != Word && a.kind != Hashtag {
		return
	}
	for n := 1; n <= 4; n++ {
		c.affix(tPrefix+uint32(n), a.low, n, false)
		c.affix(tSuffix+uint32(n), a.low, n, true)
	}
}

// affix adds the first or last n characters of w.
func (c *scratch) affix(template uint32, w string, n int, tail bool) {
	i := 0
	if tail {
		i = len(w)
		for ; n > 0 && i > 0; n-- {
			_, k := utf8.DecodeLastRuneInString(w[:i])
			i -= k
		}
		w = w[i:]
	} else {
		for ; n > 0 && i < len(w); n-- {
			_, k := utf8.DecodeRuneInString(w[i:])
			i += k
		}
		w = w[:i]
	}
	if n == 0 {
		c.features = append(c.features, feature(template, hashLower(fnvOffset, w), 0))
	}
}
