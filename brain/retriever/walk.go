package retriever

import (
	"cmp"
	"math"
	"slices"

	pb "orgmem/proto"
)

// The kinds of steps. Passages take turns with concepts and domains, so two steps are
// one hop.
// A concept that some document is about leads somewhere; one that is only named
// may, and is often a word that was taken for a name.
const (
	stepNames      = iota                     // from a passage to a concept that it names, a subject
	stepNamesPlain                            // the same, no subject
	stepNamed                                 // from a subject to a passage that names it
	stepNamedPlain                            // from a concept that is no subject to a passage that names it
	stepSubject                               // from a concept to a document that is about it
	stepAbout                                 // from a passage to what its document is about
	stepTied                                  // along a tie; one kind for each TieKind
	stepWithin     = stepTied + int(tieKinds) // from a passage to its document's domain
	stepTopic      = stepWithin + 1           // from a concept to its domain
	stepHolds      = stepWithin + 2           // from a domain to a passage of it that search found
	stepKinds      = stepWithin + 3
)

// What a step's weight depends on.
const (
	byKind    = iota // always 1
	byWords          // how much of the question's information the sentence holds, 0 to 1
	bySpread         // log of the documents that the concept is named in, or the domain has
	byShare          // how much of the title the concept is; the weight of a tie
	byMeaning        // cosine of question and passage at the end, less the best
	byKeyword        // the keyword score there
	stepFeatures
)

// What a question's seed concepts weigh by.
const (
	seedAlways = iota
	seedSpread
	seedWords // log of the words of the name
	seedPlain // it is no subject
	seedFeatures
)

// What the gate looks at.
const (
	gateAlways    = iota
	gateBest      // the best passage's score
	gateMargin    // the best passage's score less the fifth's
	gateAgreement // how many of the five best by meaning and by word are the same
	gateNames     // how many concepts the question names
	gateDensity   // log of the steps that lead away from the seeds
	gateSubjects  // whether it names a subject
	gateCover     // how much of its words the names of subjects are
	gateFeatures
)

const (
	// steps of a walk: three hops from a concept that the question names.
	steps = 5
	// width bounds the nodes that a step goes on from.
	width = 48
	// domainWidth bounds the domains that it goes on from beside them: there are few,
	// in which much comes together, and they would take the place of what is telling.
	domainWidth = 8
	// seedPassages are where a walk begins, the best by search.
	seedPassages = 10
	// maxFan bounds the steps from one node.
	maxFan = 256
	// maxPassagesOfSubject of a document that is about a concept are stepped to.
	maxPassagesOfSubject = 12
	// shut is a gate behind which nothing that a walk finds is heard.
	shut = 0.01
	// trace is the activation that a passage needs to be noticed.
	trace = 0.02
	// minExponent and maxExponent keep a step's weight within reason.
	minExponent, maxExponent = -12, 3
)

// What hits of the projected question count.
const (
	furtherStart = iota // the activation that the best of them brings, in tenths
	furtherNear         // a point of likeness to the projected question, in the score
	furtherFeatures
)

// Parameters are what is learned beside the projection: 95 numbers.
type Parameters struct {
	Step [stepKinds * stepFeatures]float64
	Seed [seedFeatures]float64
	Gate [gateFeatures]float64
	// Heard is what a passage gains by its activation after each step.
	Heard [steps + 1]float64
	// Sharp is how quickly seeds weaken with their score. Meaning and Words are what
	// the two parts of a passage's score count beyond, as far as the gate is open: with
	// it shut the order is that of search.
	Sharp, Meaning, Words float64
	// Further is what the hits of the projected question count, none below 0. Where
	// all are 0 there is no need to look for these.
	Further [furtherFeatures]float64
}

// Prior are the parameters before any training, and what training holds them near.
func Prior() Parameters {
	var p Parameters
	set := func(kind int, bias, words, spread, share, meaning, keyword float64) {
		copy(p.Step[kind*stepFeatures:], []float64{bias, words, spread, share, meaning, keyword})
	}
	set(stepNames, -0.7, 1, -0.3, 0, 0, 0)
	set(stepNamesPlain, -1.2, 1, -0.3, 0, 0, 0)
	set(stepNamed, -1.5, 1, -0.7, 0, 1, 0.5)
	set(stepNamedPlain, -2, 1, -0.7, 0, 1, 0.5)
	set(stepSubject, -1.5, 0, -0.3, 1, 1, 0.5)
	set(stepAbout, -1.5, 0, -0.3, 1, 0, 0)
	set(stepTied+int(TieSimilar), -3, 0, 0, 1, 1, 0.5)
	set(stepTied+int(TieSequence), -3, 0, 0, 1, 1, 0.5)
	set(stepTied+int(TieStated), -2, 0, 0, 1, 1, 0.5)
	set(stepWithin, -2.5, 0, -0.3, 0, 0, 0)
	set(stepTopic, -2.5, 0, -0.3, 0, 0, 0)
	set(stepHolds, -2.5, 0, -0.3, 0, 1, 0.5)
	p.Seed = [seedFeatures]float64{0.5, -0.5, 0.5, -0.5}
	p.Gate = [gateFeatures]float64{gateAlways: 1}
	p.Heard = [steps + 1]float64{0, 0.1, 0.1, 0.1, 0.1, 0.05}
	p.Sharp = 8
	return p
}

// Unknown is the passage of a seed that the graph does not hold: it is younger.
const Unknown int32 = -1

// Seed is a passage that search found.
type Seed struct {
	Passage         int32 // number in the graph, or Unknown
	Cosine, Keyword float32
	// Score is the one that search ranks by.
	Score float32
}

// Hit is a passage that is near to the projected question.
type Hit struct {
	Passage  int32
	Likeness float32
}

// Question is what is asked. Its seeds are the best of search, best first; Score
// gives passages beyond them the scores that search would give. Those that it
// leaves out are gone since the graph was made: they are not walked over.
type Question struct {
	Text  string
	Seeds []Seed
	Score func(passages []int32) []Seed
	// Further finds what is nearest to the projected question, best first, at most
	// MaxFurther; nil: nothing is projected. It is asked where the gate is open, and what
	// it finds counts for something.
	Further func() []Hit
	// Budget bounds the steps that are taken, all in all: once so many are, the walk
	// goes no further, and it takes no second one where the gate is shut. 0: it goes
	// as far as it can, which is what a training sees.
	Budget int
	// Over says that the time that a question has is spent, which ends the walk behind
	// the step that it is in; nil: it has all the time there is.
	Over func() bool
	// Within says of which entities the ties may be followed; nil: of all.
	Within func(entity pb.NodeID) bool
	// Here says whether a passage is there and may be walked over, and Lives whether an
	// entity is: what names nothing of both is no name in the question, which the gate
	// would tell of. Both or neither are set; nil: all are there.
	Here  func(passage int32) bool
	Lives func(entity pb.NodeID) bool
}

// node of a walk: passages, then concepts, then domains.
type node = int32

// move is a step that was taken.
type move struct {
	from, to int32 // local numbers
	kind     uint8
	step     uint8
	weight   float64
	f        [stepFeatures]float32
}

// Walk is the working memory of one walk and what came of it. Keep it for the
// next question; for one goroutine.
type Walk struct {
	g     *Graph
	p     *Parameters
	lex   lexer
	sight sight

	local []int32 // of nodes of the graph; local[n] is valid where mark[n] is now
	mark  []uint32
	now   uint32

	nodes    []node
	origin   []int32 // the seed that a local node is, or -1
	seed     []Seed  // of local nodes that are passages
	scored   []bool
	start    []float64            // activation before the first step
	act      [steps + 1][]float64 // by step and local node
	further  []further            // of local nodes
	moves    []move
	concepts []found
	stems    []uint32
	words    int // of the question
	info     []float32
	total    float32

	gate    [gateFeatures]float64
	open    float64 // the gate, 0 to 1
	density int
	score   []float64 // of local nodes that are passages
	gain    []float64 // what of it comes through the gate, before it does
	reach   []float64 // what of that the walk brought
	order   []int32
	missing []int32
	looked  int // local nodes that look has seen
	best    float32
	weighs  bool // what the hits of the projected question count is being learned
}

// NewWalk prepares for walks over a graph.
func NewWalk(g *Graph, salt Salt) *Walk {
	n := len(g.docOf) + len(g.concept) + len(g.large)
	return &Walk{g: g, lex: lexer{salt: salt}, sight: sight{g: g}, local: make([]int32, n), mark: make([]uint32, n)}
}

func (w *Walk) at(n node) int32 {
	i := int32(len(w.nodes))
	if n != Unknown {
		if w.mark[n] == w.now {
			return w.local[n]
		}
		w.mark[n], w.local[n] = w.now, i
	}
	w.nodes = append(w.nodes, n)
	w.seed = append(w.seed, Seed{Passage: n})
	w.scored = append(w.scored, false)
	w.origin = append(w.origin, -1)
	w.start = append(w.start, 0)
	w.further = append(w.further, further{})
	for t := range w.act {
		w.act[t] = append(w.act[t], 0)
	}
	return i
}

func (w *Walk) isPassage(i int32) bool { return int(w.nodes[i]) < len(w.g.docOf) }

func (w *Walk) isDomain(i int32) bool { return int(w.nodes[i]) >= len(w.g.docOf)+len(w.g.concept) }

// docOf gives the document of a local node that is a passage, or Unknown.
func (w *Walk) docOf(i int32) int32 {
	if n := w.nodes[i]; n != Unknown {
		return w.g.docOf[n]
	}
	return Unknown
}

// Forward walks from a question. What it finds stays until the next call.
func (w *Walk) Forward(p *Parameters, q *Question) {
	w.p = p
	w.now++
	w.nodes, w.seed, w.scored, w.origin = w.nodes[:0], w.seed[:0], w.scored[:0], w.origin[:0]
	w.start, w.moves, w.concepts, w.further = w.start[:0], w.moves[:0], w.concepts[:0], w.further[:0]
	for t := range w.act {
		w.act[t] = w.act[t][:0]
	}
	w.looked = 0
	w.sight.of(q)
	w.read(q.Text)
	w.begin(q)
	for t := 1; t <= steps; t++ {
		w.step(t, q)
		if t == 1 {
			w.gate = w.gateOf(q)
			w.open = sigmoid(dot(w.p.Gate[:], w.gate[:]))
			w.project(q)
		}
		if q.Budget > 0 && (w.open < shut || len(w.moves) >= q.Budget) || q.Over != nil && q.Over() {
			break
		}
	}
	w.judge()
}

// read finds the names and the words of the question.
func (w *Walk) read(q string) {
	words := w.lex.words(q)
	w.words = len(words)
	w.stems = append(w.stems[:0], stemsOf(words)...)
	w.info, w.total = w.info[:0], 0
	for _, s := range w.stems {
		r := w.g.rarityOf(s)
		w.info = append(w.info, r)
		w.total += r
	}
	w.sight.find(words, false, func(f found) {
		for _, c := range w.concepts {
			if c.concept == f.concept {
				return
			}
		}
		w.concepts = append(w.concepts, f)
	})
}

// overlap is the share of the question's information that a sentence holds.
func (w *Walk) overlap(sentence int32) float32 {
	if w.total == 0 {
		return 0
	}
	s := w.g.sentences.of(sentence)
	var sum float32
	for i, t := range w.stems {
		if _, ok := slices.BinarySearch(s, t); ok {
			sum += w.info[i]
		}
	}
	return sum / w.total
}

func (w *Walk) begin(q *Question) {
	w.best = 0
	top := 0.0
	for i, s := range q.Seeds {
		n := w.at(s.Passage)
		w.seed[n], w.scored[n], w.origin[n] = s, true, int32(i)
		w.best = max(w.best, s.Cosine)
		if i == 0 {
			top = float64(s.Score)
		}
		if i < seedPassages {
			w.start[n] = math.Exp(w.p.Sharp * (float64(s.Score) - top))
		}
	}
	for _, c := range w.concepts {
		n := w.at(node(len(w.g.docOf)) + c.concept)
		w.start[n] = math.Exp(dot(w.p.Seed[:], w.seedFeatures(c)))
	}
	copy(w.act[0], w.start)
}

func (w *Walk) seedFeatures(c found) []float64 {
	plain := 0.0
	if !w.sight.subject(c.concept) {
		plain = 1
	}
	return []float64{1, float64(w.g.spread[c.concept]), math.Log(float64(c.words)), plain}
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i := range a {
		s += a[i] * b[i]
	}
	return s
}

// step goes on from the most active nodes.
func (w *Walk) step(t int, q *Question) {
	from := w.order[:0]
	for i := range w.nodes {
		if w.act[t-1][i] > 1e-4 {
			from = append(from, int32(i))
		}
	}
	a := w.act[t-1]
	slices.SortFunc(from, func(x, y int32) int { return cmp.Or(cmp.Compare(a[y], a[x]), cmp.Compare(x, y)) })
	w.order = from
	from = w.most(from)
	first := len(w.moves)
	for _, i := range from {
		w.leave(i, t, q)
	}
	w.look(q)
	kept := w.moves[:first]
	for k := range w.moves[first:] {
		m := &w.moves[first+k]
		if w.isPassage(m.to) {
			if !w.scored[m.to] {
				continue // it is gone
			}
			m.f[byMeaning] = w.seed[m.to].Cosine - w.best
			m.f[byKeyword] = w.seed[m.to].Keyword
		}
		x := 0.0
		for f, v := range m.f {
			x += w.p.Step[int(m.kind)*stepFeatures+f] * float64(v)
		}
		m.weight = math.Exp(min(max(x, minExponent), maxExponent))
		w.act[t][m.to] += w.act[t-1][m.from] * m.weight
		kept = append(kept, *m)
	}
	w.moves = kept
	if t == 1 {
		w.density = len(w.moves) - first
	}
}

// most keeps the first nodes that a step may go on from.
func (w *Walk) most(from []int32) []int32 {
	kept, others, domains := from[:0], 0, 0
	for _, i := range from {
		n, bound := &others, width
		if w.isDomain(i) {
			n, bound = &domains, domainWidth
		}
		if *n++; *n <= bound {
			kept = append(kept, i)
		}
	}
	return kept
}

// look asks for the scores of the passages that were reached for the first time.
func (w *Walk) look(q *Question) {
	w.missing = w.missing[:0]
	for i := w.looked; i < len(w.nodes); i++ {
		if !w.scored[i] && w.isPassage(int32(i)) {
			w.missing = append(w.missing, w.nodes[i])
		}
	}
	w.looked = len(w.nodes)
	if len(w.missing) == 0 {
		return
	}
	for _, s := range q.Score(w.missing) {
		i := w.local[s.Passage]
		w.seed[i], w.scored[i] = s, true
	}
}

// leave takes the steps from a node.
func (w *Walk) leave(i int32, t int, q *Question) {
	g := w.g
	n := w.nodes[i]
	if n == Unknown {
		return
	}
	begun := len(w.moves)
	add := func(to node, kind int, words, spread, share float32) {
		if len(w.moves)-begun < maxFan {
			w.moves = append(w.moves, move{
				from: i, to: w.at(to), kind: uint8(kind), step: uint8(t), f: [stepFeatures]float32{1, words, spread, share},
			})
		}
	}
	concepts := node(len(g.docOf))
	domains := concepts + node(len(g.concept))
	if n < concepts {
		doc := g.docOf[n]
		places := g.named.of(n)
		for k, p := range places {
			if slices.ContainsFunc(places[:k], func(e place) bool { return e.other == p.other }) {
				continue // the sentence that says most is taken below
			}
			if g.namedIn.size(p.other)+g.aboutOf.size(p.other) > hubPlaces {
				continue
			}
			best := float32(0)
			for _, e := range places[k:] {
				if e.other == p.other {
					best = max(best, w.overlap(e.sentence))
				}
			}
			kind := stepNames
			if !g.subject[p.other] {
				kind = stepNamesPlain
			}
			add(concepts+p.other, kind, best, g.spread[p.other], 0)
		}
		for _, a := range g.about.of(doc) {
			add(concepts+a.other, stepAbout, 0, g.spread[a.other], a.share)
		}
		for _, x := range g.ties.of(doc) {
			w.tied(x, add)
		}
		for _, d := range g.belongs.of(doc) {
			add(domains+d, stepWithin, 0, g.large[d], 0)
		}
		return
	}
	if n >= domains {
		// A domain is too large for all of it to be looked at, and the order in which that
		// would come says nothing: it raises what search has found of it (hub control).
		d := n - domains
		for k := range min(len(q.Seeds), len(w.nodes)) {
			if p := w.nodes[k]; w.origin[k] >= 0 && p != Unknown && slices.Contains(g.belongs.of(g.docOf[p]), d) {
				add(p, stepHolds, 0, g.large[d], 0)
			}
		}
		return
	}
	c := n - concepts
	for _, d := range g.belongs.of(int32(len(g.docs)) + c) {
		if q.Within == nil || q.Within(g.concept[c]) {
			add(domains+d, stepTopic, 0, g.large[d], 0)
		}
	}
	for _, a := range g.aboutOf.of(c) {
		for p := g.first[a.other]; p < min(g.first[a.other+1], g.first[a.other]+maxPassagesOfSubject); p++ {
			add(p, stepSubject, 0, g.spread[c], a.share)
		}
	}
	if g.namedIn.size(c) <= hubPlaces {
		kind := stepNamed
		if !g.subject[c] {
			kind = stepNamedPlain
		}
		for _, p := range g.namedIn.of(c) {
			add(p.other, kind, w.overlap(p.sentence), g.spread[c], 0)
		}
	}
	if q.Within != nil && !q.Within(g.concept[c]) {
		return
	}
	for _, x := range g.ties.of(int32(len(g.docs)) + c) {
		w.tied(x, add)
	}
}

func (w *Walk) tied(x tie, add func(to node, kind int, words, spread, share float32)) {
	g := w.g
	if int(x.other) >= len(g.docs) {
		c := x.other - int32(len(g.docs))
		add(node(len(g.docOf))+c, stepTied+int(x.kind), 0, g.spread[c], x.weight)
		return
	}
	for p := g.first[x.other]; p < min(g.first[x.other+1], g.first[x.other]+maxPassagesOfSubject); p++ {
		add(p, stepTied+int(x.kind), 0, 0, x.weight)
	}
}

// judge scores the passages.
func (w *Walk) judge() {
	w.score, w.gain, w.reach = w.score[:0], w.gain[:0], w.reach[:0]
	for i := range w.nodes {
		z, gain, reach := 0.0, 0.0, 0.0
		if w.isPassage(int32(i)) && w.scored[i] {
			s := &w.seed[i]
			reach = w.heard(int32(i))
			gain = reach + w.p.Meaning*float64(s.Cosine) + w.p.Words*float64(s.Keyword) +
				w.p.Further[furtherNear]*w.further[i].near
			z = float64(s.Score) + w.open*gain
		}
		w.score, w.gain, w.reach = append(w.score, z), append(w.gain, gain), append(w.reach, reach)
	}
}

// heard is what a passage gains by its activation.
func (w *Walk) heard(i int32) float64 {
	s := 0.0
	for t := 1; t <= steps; t++ {
		s += w.p.Heard[t] * math.Log1p(w.act[t][i]/trace)
	}
	return s
}

func (w *Walk) gateOf(q *Question) (f [gateFeatures]float64) {
	f[gateAlways] = 1
	if len(q.Seeds) > 0 {
		f[gateBest] = float64(q.Seeds[0].Score)
		f[gateMargin] = float64(q.Seeds[0].Score - q.Seeds[min(4, len(q.Seeds)-1)].Score)
	}
	f[gateAgreement] = agreement(q.Seeds)
	f[gateNames] = min(float64(len(w.concepts)), 4) / 4
	f[gateDensity] = math.Log1p(float64(w.density)) / 8
	for _, c := range w.concepts {
		if w.sight.subject(c.concept) {
			f[gateSubjects] = 1
			f[gateCover] += float64(c.words) / float64(max(1, w.words))
		}
	}
	return f
}

// agreement is the share of the five best by meaning that are among the five best
// by word.
func agreement(seeds []Seed) float64 {
	const few = 5
	pick := func(key func(Seed) float32) []int32 {
		s := slices.Clone(seeds)
		slices.SortStableFunc(s, func(x, y Seed) int { return cmp.Compare(key(y), key(x)) })
		var out []int32
		for _, x := range s[:min(few, len(s))] {
			out = append(out, x.Passage)
		}
		return out
	}
	words := pick(func(s Seed) float32 { return s.Keyword })
	n := 0
	for _, x := range pick(func(s Seed) float32 { return s.Cosine }) {
		if slices.Contains(words, x) {
			n++
		}
	}
	return float64(n) / few
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// Ranked is a passage that a walk found.
type Ranked struct {
	Seed
	From       int32 // the seed that it is; -1: the walk reached it
	Total      float64
	Activation float64 // 0 where the walk did not come
}

// Passages gives the best passages, one of each document, best first. Those of
// documents that the graph does not hold all come; the caller knows their documents.
func (w *Walk) Passages(topK int) []Ranked {
	best := map[int32]int{}
	var out []Ranked
	for i := range int32(len(w.nodes)) {
		if !w.isPassage(i) || !w.scored[i] {
			continue
		}
		r := Ranked{Seed: w.seed[i], From: w.origin[i], Total: w.score[i], Activation: w.reach[i]}
		doc := w.docOf(i)
		if k, ok := best[doc]; ok && doc != Unknown {
			if r.Total > out[k].Total {
				out[k] = r
			}
			continue
		}
		best[doc] = len(out)
		out = append(out, r)
	}
	slices.SortFunc(out, func(x, y Ranked) int {
		return cmp.Or(cmp.Compare(y.Total, x.Total), cmp.Compare(x.From, y.From), cmp.Compare(x.Passage, y.Passage))
	})
	return out[:min(topK, len(out))]
}

// Active is a concept that a walk came to.
type Active struct {
	Entity     pb.NodeID
	Activation float64
}

// Entities gives the most active concepts that are entities of the graph, best
// first.
func (w *Walk) Entities(topK int) []Active {
	var out []Active
	for i := range int32(len(w.nodes)) {
		if w.isPassage(i) || w.isDomain(i) {
			continue
		}
		if id := w.g.concept[int(w.nodes[i])-len(w.g.docOf)]; id != "" {
			most := 0.0
			for t := range w.act {
				most = max(most, w.act[t][i])
			}
			out = append(out, Active{id, most})
		}
	}
	slices.SortFunc(out, func(x, y Active) int {
		return cmp.Or(cmp.Compare(y.Activation, x.Activation), cmp.Compare(x.Entity, y.Entity))
	})
	return out[:min(topK, len(out))]
}

// Confidence is how far the gate is open, 0 to 1.
func (w *Walk) Confidence() float64 { return w.open }

// Tier says how far the walk went for what it found.
type Tier string

// The tiers.
const (
	TierNone     Tier = "none"     // nothing was gained by walking
	TierLocal    Tier = "local"    // what the question names, and what its finds name
	TierRegional Tier = "regional" // one hop further
	TierGlobal   Tier = "global"   // beyond
)

// leastGain is the part of a passage's score that walking must have brought for it
// to be told.
const leastGain = 0.01

// Tier tells how far the walk went for some of its passages.
func (w *Walk) Tier(found []Ranked) Tier {
	far := 0
	for _, r := range found {
		if r.Passage == Unknown || w.open*r.Activation < leastGain*math.Abs(r.Total) {
			continue
		}
		i, most, at := w.local[r.Passage], 0.0, 0
		for t := 1; t <= steps; t++ {
			if x := w.p.Heard[t] * math.Log1p(w.act[t][i]/trace); x > most {
				most, at = x, t
			}
		}
		far = max(far, at)
	}
	switch {
	case far == 0:
		return TierNone
	case far <= 2:
		return TierLocal
	case far <= 4:
		return TierRegional
	default:
		return TierGlobal
	}
}
