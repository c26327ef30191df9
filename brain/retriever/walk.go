package retriever

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

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
	p *Parameters
	wording
	reached
	moves []move
	order []int32
	gate  gate
	best  float32   // cosine of a seed
	score []float64 // of local nodes that are passages
	gain  []float64 // what of it comes through the gate, before it does
	reach []float64 // what of that the walk brought

	weighs bool // what the hits of the projected question count is being learned
}

// NewWalk prepares for walks over a graph.
func NewWalk(g *Graph, salt Salt) *Walk {
	return &Walk{wording: wording{lex: lexer{salt: salt}, sight: sight{g: g}}, reached: newReached(g)}
}

// Forward walks from a question. What it finds stays until the next call.
func (w *Walk) Forward(p *Parameters, q *Question) {
	w.p = p
	w.moves = w.moves[:0]
	w.clear()
	w.sight.of(q)
	w.read(q.Text)
	w.begin(q)
	for t := 1; t <= steps; t++ {
		w.step(t, q)
		if t == 1 {
			w.gate.look(q, &w.wording, len(w.moves), p)
			w.project(q)
		}
		if q.Budget > 0 && (w.gate.open < shut || len(w.moves) >= q.Budget) || q.Over != nil && q.Over() {
			break
		}
	}
	w.judge()
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
		w.start[n] = math.Exp(floats.Dot(w.p.Seed[:], w.seedFeatures(c)))
	}
	copy(w.act[0], w.start)
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
			z = float64(s.Score) + w.gate.open*gain
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
