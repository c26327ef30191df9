package topic

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"orgmem/brain/text"
)

const (
	// maxNameWords is the longest name or phrase that is taken as one.
	maxNameWords = 4
	// labelWords is how many keywords make a label.
	labelWords = 3
	// few is how many texts must hold a keyword that is to stand in a label, if they are no more than an eighth of the
	// group's: what two of thirty messages say names none.
	few     = 3
	inSmall = 8
	// inLong is it of long texts, which share many a word by chance.
	inLong = 3
	// inFirst is of the texts that hold the first word of a label the share that must hold another of its words.
	inFirst = 3
	// inLabel is it of the texts that hold a word of the label: one that a quarter or fewer are about names no theme.
	// Of texts that are of several themes it is inMixed.
	inLabel, inMixed = 4, 3
	// leastOfSeries is how many texts make a series.
	leastOfSeries = 3
	// enoughWords is from how many words on the language of a group is known by its
	// function words; below, all languages' count.
	enoughWords = 30
)

// term is a candidate in one group.
type term struct {
	key      string
	texts    int    // that hold it
	in       uint64 // which: a bit each
	words    int
	named    bool // it is the name of something
	capital  bool // it has a capital that is not a sentence's, or none
	surfaces map[string]int
}

// holds tells whether a term may be a keyword: words that stand beside each other
// once say nothing together ("button again"), unless they are a name.
func (t *term) holds() bool { return t.words == 1 || t.named || t.texts > 1 }

// counted is a group's candidates.
type counted struct {
	terms   map[string]*term
	texts   int
	at      int // the text that is read
	uses    map[string]*use
	english bool // what its words are the lexicon knows
	series  string
	mixed   bool              // they are of several themes
	long    bool              // its texts are of several passages: half of them share many a word by chance
	often   map[string]bool   // the keywords that may stand in a label
	holding map[string]uint64 // the texts that hold a keyword
	// wanted are the only terms that count, and these only by their texts; nil: all.
	wanted map[string]float64
	key    []byte // working memory
}

// Describe labels the groups, each by what sets it apart from the others. Groups
// without passages, and those whose label is given, keep their label of before.
func Describe(groups []Group) []Label {
	all := make([]counted, len(groups))
	spread := map[string]float64{} // the sum of a term's shares over the groups
	filled := 0
	// Of a group that keeps its label only the words matter that others may be named by.
	for _, given := range []bool{false, true} {
		for i := range groups {
			if groups[i].Given != given {
				continue
			}
			if given {
				all[i].wanted = spread
			}
			all[i].count(&groups[i])
			if all[i].texts > 0 {
				filled++
			}
			for k, t := range all[i].terms {
				spread[k] += float64(t.texts) / float64(all[i].texts)
			}
		}
	}
	people, writers := peopleOf(groups)
	shared := map[string]int{}
	for i := range all {
		shared[all[i].series]++
	}
	labels := make([]Label, len(groups))
	taken := map[string]bool{}
	for i := range groups {
		if groups[i].Given && groups[i].Before.Text != "" {
			taken[strings.ToLower(groups[i].Before.Text)] = true
		}
	}
	for i := range groups {
		if all[i].texts == 0 || groups[i].Given {
			labels[i] = groups[i].Before
			continue
		}
		words := keywords(&all[i], spread, filled, people, writers)
		about, before := topics(words, people, groups[i].Before)
		words, about = all[i].underSeries(words, about, shared)
		labels[i] = Label{Text: all[i].label(about, before, taken), Keywords: words}
		if labels[i].Text != "" {
			taken[strings.ToLower(labels[i].Text)] = true
		}
	}
	return labels
}

// underSeries puts the name of a group's series first. Where its texts are long that is all its label has: what a few
// of them say in passing names no part of it. Where others of the series are a group, too, it tells them not apart.
func (c *counted) underSeries(words, about []string, shared map[string]int) (keywords, label []string) {
	if c.series == "" || !c.long && shared[c.series] > 1 && c.label(about, Label{}, nil) != "" {
		return words, about
	}
	c.often[c.series], c.holding[c.series] = true, math.MaxUint64
	words = append([]string{c.series}, words[:min(len(words), MaxKeywords-1)]...)
	if c.long {
		return words, []string{c.series}
	}
	return words, append([]string{c.series}, about...)
}

// count collects the candidates of a group: words, pairs of neighbouring words,
// and the names that it is said to mention.
func (c *counted) count(g *Group) {
	passages := g.Passages[:min(len(g.Passages), MaxPassages)]
	langs := languages(passages)
	names := map[string]string{} // by their keys, joined by spaces
	for _, n := range g.Names {
		var keys []string
		for _, tok := range tokens(nil, n.Title, 0) {
			if tok.key != "" {
				keys = append(keys, tok.key)
			}
		}
		if len(keys) > 1 && len(keys) <= maxNameWords {
			names[strings.Join(keys, " ")] = n.Title
		}
	}
	c.terms, c.uses = map[string]*term{}, map[string]*use{}
	c.english, c.mixed = langs.Has(text.English), g.Mixed
	var toks []token
	number, several := numbered(passages)
	lines, counted := said{}, map[int]bool{}
	if !several { // one text frames nothing: what it says again and again it is about
		lines = nil
	}
	for i, p := range passages {
		var speaks bool
		if toks, speaks = c.own(toks[:0], &p, lines, langs); !speaks {
			continue
		}
		c.at = number[i]
		if !counted[c.at] {
			counted[c.at] = true
			c.texts++
		}
		if c.wanted == nil {
			seen(c.uses, toks)
		}
		for i := range toks {
			if toks[i].stop || toks[i].key == "" {
				continue
			}
			c.add(toks[i:i+1], "")
			if i+1 < len(toks) && !toks[i+1].stop && toks[i+1].key != "" {
				c.add(toks[i:i+2], "")
			}
		}
		if len(names) > 0 {
			c.addNames(toks, names)
		}
	}
	c.inSeries(passages)
}

// inSeries finds the series that the group's texts are of, whose name says nothing of any of them, and whether they are
// long.
func (c *counted) inSeries(passages []Passage) {
	parts := 0
	for _, p := range passages {
		if p.Part {
			parts++
		}
	}
	c.long = 2*parts > len(passages)
	c.series = seriesOf(passages, c.texts, func(p *Passage) string { return p.Title })
	name := seriesOf(passages, c.texts, func(p *Passage) string { return p.Whole })
	if c.long {
		name = c.series
	}
	for _, tok := range tokens(nil, name, 0) {
		delete(c.terms, tok.key)
	}
}

// numbered gives the texts that passages are of, from 0. Of one text, or two, each passage counts as one, and they are
// not several.
func numbered(passages []Passage) (number []int, several bool) {
	number = make([]int, len(passages))
	of := map[int]int{}
	for i, p := range passages {
		if _, ok := of[p.Of]; !ok {
			of[p.Of] = len(of)
		}
		number[i] = of[p.Of]
	}
	if len(of) >= 3 {
		return number, true
	}
	for i := range number {
		number[i] = i
	}
	return number, false
}

// own are the words of a passage, and of its title, but for lines that texts of the group had before, and whether it
// has any words at all. What is a single line is no frame of anything: it may be the whole note.
func (c *counted) own(toks []token, p *Passage, lines said, langs text.LangSet) (own []token, speaks bool) {
	read := func(line string, framing bool) {
		from := len(toks)
		toks = tokens(toks, line, langs)
		speaks = speaks || slices.ContainsFunc(toks[from:], func(t token) bool { return t.key != "" })
		if framing && lines != nil && lines.again(toks[from:]) {
			toks = toks[:from]
		}
	}
	if title := Subject(p.Title); title != "" {
		read(title, true)
	}
	whole := ownLines(p.Text)
	for _, line := range whole {
		read(line, len(whole) > 1)
	}
	return toks, speaks
}

// addNames counts names of more than two words, or with a function word inside:
// pairs are counted anyway, and by a name only get their spelling.
func (c *counted) addNames(toks []token, names map[string]string) {
	for i := range toks {
		key := toks[i].key
		for k := i + 1; k < len(toks) && k < i+maxNameWords && key != "" && toks[k].key != ""; k++ {
			key += " " + toks[k].key
			if title, ok := names[key]; ok {
				c.add(toks[i:k+1], title)
			}
		}
	}
}

// add counts a word or phrase in the present passage; an empty surface: it is
// written as it stands there.
func (c *counted) add(toks []token, surface string) {
	c.key = c.key[:0]
	for i := range toks {
		if i > 0 {
			c.key = append(c.key, ' ')
		}
		c.key = append(c.key, toks[i].key...)
	}
	t := c.terms[string(c.key)]
	if t == nil {
		if _, ok := c.wanted[string(c.key)]; c.wanted != nil && !ok {
			return
		}
		key := string(c.key)
		t = &term{key: key, words: len(toks)}
		if c.wanted == nil {
			t.surfaces = map[string]int{}
		}
		c.terms[key] = t
	}
	if bit := uint64(1) << c.at; t.in&bit == 0 {
		t.in |= bit
		t.texts++
	}
	if c.wanted != nil {
		return
	}
	weight := 3 // a name knows how it is written
	if t.named = t.named || surface != ""; surface == "" {
		surface = joined(toks, func(t *token) string { return t.surface })
		weight = 2
		if toks[0].starts {
			weight = 1 // its capital is the sentence's
		}
		t.capital = t.capital || !toks[0].starts || !toks[0].capital() || toks[0].code
	}
	t.surfaces[surface] += weight
}

// joined puts spaces between what part takes of the tokens.
func joined(toks []token, part func(*token) string) string {
	if len(toks) == 1 {
		return part(&toks[0])
	}
	parts := make([]string, len(toks))
	for i := range toks {
		parts[i] = part(&toks[i])
	}
	return strings.Join(parts, " ")
}

// surface is how the term is mostly written.
func (t *term) surface() string {
	best, n := "", -1
	for s, k := range t.surfaces {
		if k > n || k == n && s < best {
			best, n = s, k
		}
	}
	return best
}

// written is how the term is written behind others: an English word that has only been at the begin of sentences has
// no capital of its own. People have, also where they begin each.
func (c *counted) written(t *term, people map[string]bool) string {
	surface := t.surface()
	first, _, _ := strings.Cut(surface, " ")
	low := strings.ToLower(first)
	if !c.english || t.named || t.capital || people[low] || strings.ToUpper(first) == first || !ordinary(low, low) ||
		t.words == 1 && !nameless(low) { // behind a name there is no word in small letters that belongs to it
		return surface
	}
	return low + surface[len(first):]
}

// languages tells whose function words the passages use: of those that have any,
// all that have at least half as many as the first. So "die" and "war" are
// keywords of an English text.
func languages(passages []Passage) text.LangSet {
	var hits [32]int
	words := 0
	for _, p := range passages {
		for w := range strings.FieldsSeq(p.Text[:min(len(p.Text), maxPassageBytes)]) {
			words++
			set := text.FunctionWord(strings.ToLower(strings.Trim(w, ".,;:!?()\"")))
			for l := range hits {
				if set.Has(text.Lang(l)) {
					hits[l]++
				}
			}
		}
	}
	most := slices.Max(hits[:])
	var set text.LangSet
	for l, n := range hits {
		if words < enoughWords || n*2 >= most && n > 0 {
			set = set.With(text.Lang(l))
		}
	}
	if 2*hits[text.English] < most { // a few words of another language
		set &^= 1 << text.English
	}
	return set
}

// scored is a candidate with its weight.
type scored struct {
	*term
	score float64
}

// keywords chooses the terms that are frequent in the group and rare in the
// others: the share of its passages that hold a term, times the logarithm of how
// many times more than the average of the other groups that is.
func keywords(c *counted, spread map[string]float64, groups int, people, writers map[string]bool) []string {
	least := 1
	if c.texts > 2 {
		least = 2
	}
	ranked := make([]scored, 0, len(c.terms))
	for k, t := range c.terms {
		if t.texts < least || !t.holds() || !c.names(t) || holdsName(t.surface(), writers) {
			continue
		}
		share := float64(t.texts) / float64(c.texts)
		others := 0.0
		if groups > 1 {
			others = (spread[k] - share) / float64(groups-1)
		}
		// Words unseen elsewhere are not infinitely telling: a hundredth is taken as
		// seen.
		s := share * math.Log((share+0.01)/(others+0.01))
		if t.words > 1 {
			s *= 1.25 // a phrase says more than its words, and comes less often
		}
		if s > 0 {
			ranked = append(ranked, scored{t, s})
		}
	}
	slices.SortFunc(ranked, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.key, b.key))
	})
	words := choose(c, ranked)
	c.often, c.holding = map[string]bool{}, map[string]uint64{}
	often := func(t *term) bool {
		return (t.texts >= min(few, c.texts) || inSmall*t.texts > c.texts) && (!c.long || inLong*t.texts >= c.texts)
	}
	// Those that may stand in a label are the first.
	slices.SortStableFunc(words, func(a, b *term) int { return rank(often(b)) - rank(often(a)) })
	if len(words) > 0 && 2*words[0].texts >= c.texts && !c.long {
		c.series = "" // the group has a theme of its own
	}
	out := make([]string, len(words))
	for i, t := range words {
		out[i] = c.written(t, people)
		c.often[out[i]], c.holding[out[i]] = often(t), t.in
	}
	return out
}

func rank(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// names tells whether a term may name something: a noun, or a phrase that ends with one and begins with none that is
// a verb.
func (c *counted) names(t *term) bool {
	if t.named || !c.english {
		return true
	}
	parts := strings.Fields(t.key)
	surfaces := strings.Fields(t.surface())
	last := len(parts) - 1
	if len(surfaces) != len(parts) || !nominal(parts[last], surfaces[last], c.uses[parts[last]]) {
		return false
	}
	return last == 0 || attributive(parts[0], surfaces[0], c.uses[parts[0]])
}

// choose takes the best terms and leaves out what another one says already.
func choose(c *counted, ranked []scored) []*term {
	var out []*term
	chosen := map[string]bool{} // words that are said
	for _, s := range ranked {
		if len(out) == MaxKeywords {
			break
		}
		parts := strings.Fields(s.key)
		fresh := 0
		for _, p := range parts {
			if !chosen[p] {
				fresh++
			}
		}
		if fresh == 0 || len(parts) > 1 && fresh < len(parts) || c.english && len(parts) == 1 && kin(parts[0], chosen) {
			continue
		}
		best := s.term
		if len(parts) == 1 {
			best = widest(c, s.term, chosen)
		}
		for p := range strings.FieldsSeq(best.key) {
			chosen[p] = true
		}
		out = append(out, best)
	}
	return out
}

// widest is the phrase that a word nearly always comes in, or the word itself: of
// "remote" that is "remote control".
func widest(c *counted, word *term, chosen map[string]bool) *term {
	best := word
	for _, t := range c.terms {
		if t.words < 2 || !t.holds() || t.texts*3 < word.texts*2 {
			continue
		}
		parts := strings.Fields(t.key)
		if !slices.Contains(parts, word.key) || slices.ContainsFunc(parts, func(p string) bool { return chosen[p] }) {
			continue
		}
		if best == word || t.texts > best.texts || t.texts == best.texts && t.key < best.key {
			best = t
		}
	}
	return best
}

// peopleOf are the parts of the names of people, in lower case: who belongs to one group names no other one. Those who
// write are among them, and by themselves.
func peopleOf(groups []Group) (people, writers map[string]bool) {
	people, writers = map[string]bool{}, map[string]bool{}
	add := func(name string) {
		for part := range strings.FieldsSeq(strings.ToLower(name)) {
			people[part] = true
		}
	}
	for i := range groups {
		for _, n := range groups[i].Names {
			if n.Person {
				add(n.Title)
			}
		}
		for _, name := range groups[i].People {
			add(name)
		}
		for _, name := range groups[i].Writers {
			name, _, _ = strings.Cut(name, "@") // of an address what stands before the provider
			for part := range strings.FieldsFuncSeq(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) }) {
				people[part], writers[part] = true, true
			}
		}
	}
	return people, writers
}

// holdsName tells whether a phrase has one of the names in it; a park is not Mina Park.
func holdsName(phrase string, names map[string]bool) bool {
	return slices.ContainsFunc(strings.Fields(phrase), func(part string) bool {
		first, _ := utf8.DecodeRuneInString(part)
		return unicode.IsUpper(first) && names[strings.ToLower(part)]
	})
}

// topics are the keywords that hold no part of a person's name ("Ruiz believes"); if
// there are none, all of them. A label of before that holds one is given up for them.
func topics(words []string, people map[string]bool, before Label) ([]string, Label) {
	named := func(w string) bool { return holdsName(w, people) }
	out := slices.DeleteFunc(slices.Clone(words), named)
	if len(out) == 0 {
		return words, before
	}
	if slices.ContainsFunc(strings.Split(before.Text, ", "), named) {
		before.Text = ""
	}
	return out, before
}

// says reports whether the group's passages hold a part of a label.
func (c *counted) says(part string) bool {
	part = unnumbered(part)
	for _, t := range c.terms {
		for s := range t.surfaces {
			if strings.EqualFold(s, part) {
				return true
			}
		}
	}
	return false
}

// told tells whether enough of the texts are about the words of a label.
func (c *counted) told(parts []string) bool {
	in := uint64(0)
	for _, p := range parts {
		p = unnumbered(p)
		if strings.EqualFold(p, c.series) {
			return true
		}
		for _, t := range c.terms {
			if strings.EqualFold(t.surface(), p) {
				in |= t.in
			}
		}
	}
	return c.enough(in)
}

// enough tells whether some of the texts are so many that a label is of all.
func (c *counted) enough(in uint64) bool {
	share := inLabel
	if c.mixed {
		share = inMixed
	}
	return share*bits.OnesCount64(in) > c.texts
}

// label joins the first keywords, unless the label of before still holds: at least
// two thirds of its words are keywords still, and the passages hold the others: of a
// text that has left the group no word stays that only it holds, since nobody would
// look for it here when the text is forgotten. A label that another group has takes
// another word in, or a number.
func (c *counted) label(words []string, before Label, taken map[string]bool) string {
	if before.Text != "" && !taken[strings.ToLower(before.Text)] {
		parts := strings.Split(before.Text, ", ")
		held, kept := 0, true
		for _, p := range parts {
			if slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, p) }) {
				held++
			} else {
				kept = kept && c.says(p)
			}
		}
		if kept && 3*held >= 2*len(parts) && c.told(parts) {
			return before.Text
		}
	}
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !c.often[w] })
	out, in, most := "", uint64(0), 0
	for i, w := range words {
		if i >= labelWords && !taken[strings.ToLower(out)] {
			break
		}
		if held := bits.OnesCount64(c.holding[w]); w != c.series {
			if most = cmp.Or(most, held); inFirst*held < most {
				continue // the first says it better alone
			}
		}
		next := w
		if out != "" {
			next = out + ", " + w
		}
		if len(next) > MaxLabel-len(" (100)") {
			break
		}
		out, in = next, in|c.holding[w]
	}
	if !c.enough(in) {
		return ""
	}
	out = upperFirst(out)
	whole := out
	for n := 2; taken[strings.ToLower(out)]; n++ {
		out = whole + " (" + strconv.Itoa(n) + ")"
	}
	return out
}

// upperFirst begins a label with a capital, unless its first word is spelled in
// a way of its own, such as "npm install" or "eBPF".
func upperFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	word, _, _ := strings.Cut(s, " ")
	if !unicode.IsLower(r) || strings.ToLower(word) != word {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}
