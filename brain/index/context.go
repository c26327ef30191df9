package index

// Messages that were ingested one after the other explain each other: the answer
// "on Thursday at nine" shares no word with the question it answers, which
// stands two turns before. So a turn gets a part of what its neighbours score.
//
// Chunks of one node that follow each other in Seq, with nothing alive between,
// are a run; runs are linked when both are turns and near in time. Titled
// documents are no turns and are not touched.

// contextReach is how many linked neighbours count on each side.
const contextReach = 3

// maxRunChunks bounds a run. A turn has at most MaxTurnTokens, a handful of
// chunks; what is longer is cut and loses nothing but reach.
const maxRunChunks = 16

// place is a chunk in the course of a search.
type place struct{ view, doc int32 }

const (
	noRun      = -1
	unknownRun = -2
)

// run is a turn with its score, of the best of its chunks.
type run struct {
	first, last, best place
	score             float32
	occurred          int64
	prev, next        int32 // index into Scratch.runs, noRun or unknownRun
	context           float32
	target            bool // context is wanted
	found             bool // one of its chunks is in the top
}

// alive tells whether the chunk is part of the conversation. Filters do not
// matter: what they keep from being a hit still explains its neighbours.
func (sc *Scratch) alive(p place, q *Query) bool {
	v := &sc.views[p.view]
	return !v.gone.has(int(p.doc)) && (q.IncludeSuperseded || !v.hidden.has(int(p.doc)))
}

func (sc *Scratch) nodeAt(p place) (*Segment, uint32) {
	s := sc.views[p.view].Segment
	return s, s.nodeOf[p.doc]
}

func (sc *Scratch) sameNode(a, b place) bool {
	sa, na := sc.nodeAt(a)
	sb, nb := sc.nodeAt(b)
	if sa == sb {
		return na == nb
	}
	return sa.nodeID(na) == sb.nodeID(nb)
}

// step gives the next living chunk of the partition in the direction of dir, by
// Seq. In a view that shares its range with no other that is its neighbour.
func (sc *Scratch) step(p place, dir int32, q *Query) (place, bool) {
	for {
		v := &sc.views[p.view]
		next := place{p.view, p.doc + dir}
		if !v.alone || next.doc < 0 || int(next.doc) >= v.Segment.Len() {
			var ok bool
			if next, ok = sc.stepOver(p, dir); !ok {
				return place{}, false
			}
		}
		if sc.alive(next, q) {
			return next, true
		}
		p = next
	}
}

// stepOver looks for the next chunk in all views of the partition.
func (sc *Scratch) stepOver(p place, dir int32) (best place, ok bool) {
	from := &sc.views[p.view]
	seq := from.Segment.seqs[p.doc]
	var bestSeq uint64
	for i := from.firstView; i < from.lastView; i++ {
		s := sc.views[i].Segment
		first, last := s.SeqRange()
		if dir > 0 && (last <= seq || ok && first > bestSeq) || dir < 0 && (first >= seq || ok && last < bestSeq) {
			continue
		}
		doc, found := s.Find(seq)
		if dir < 0 {
			doc--
		} else if found {
			doc++
		}
		// A Seq in two views is gone in the older one; either place leads on.
		if got := s.seqs[doc]; !ok || dir > 0 && got < bestSeq || dir < 0 && got > bestSeq {
			best, bestSeq, ok = place{i, int32(doc)}, got, true
		} else if got == bestSeq && sc.views[best.view].gone.has(int(best.doc)) {
			best = place{i, int32(doc)}
		}
	}
	return best, ok
}

// findViews notes for each view which others belong to its partition, and
// whether it shares its range of Seq with any of them.
func (sc *Scratch) findViews() {
	for i := 0; i < len(sc.views); {
		k := i + 1
		for k < len(sc.views) && sc.views[k].part == sc.views[i].part {
			k++
		}
		for a := i; a < k; a++ {
			v := &sc.views[a]
			v.firstView, v.lastView, v.alone = int32(i), int32(k), true
			first, last := v.Segment.SeqRange()
			for b := i; b < k; b++ {
				if f, l := sc.views[b].Segment.SeqRange(); b != a && f <= last && l >= first {
					v.alone = false
				}
			}
		}
		i = k
	}
}

// runAt gives the run that holds a chunk, noRun when it is no turn.
func (sc *Scratch) runAt(p place, q *Query) int32 {
	s, d := sc.nodeAt(p)
	if s.turns[d] == 0 {
		return noRun
	}
	if id := sc.runOf[sc.at(p)]; id != 0 {
		return id - 1
	}
	id := int32(len(sc.runs))
	r := run{
		first: p, last: p, best: p, score: sc.chunkScore(p, q), occurred: s.occurred[d], prev: unknownRun, next: unknownRun,
	}
	sc.enter(p, id)
	n := 1
	grow := func(end *place, dir int32) {
		for n < maxRunChunks {
			to, ok := sc.step(*end, dir, q)
			if !ok || !sc.sameNode(to, p) {
				return
			}
			n++
			*end = to
			sc.enter(to, id)
			// Of equal chunks the first in Seq, from wherever the run was entered.
			if score := sc.chunkScore(to, q); score > r.score || score == r.score && dir < 0 {
				r.score, r.best = score, to
			}
		}
	}
	grow(&r.first, -1)
	grow(&r.last, 1)
	sc.runs = append(sc.runs, r)
	return id
}

// at is the place of a chunk among all.
func (sc *Scratch) at(p place) int { return sc.views[p.view].base + int(p.doc) }

// enter notes which run a chunk belongs to.
func (sc *Scratch) enter(p place, id int32) {
	at := sc.at(p)
	sc.runOf[at] = id + 1
	sc.entered = append(sc.entered, at)
}

// neighbour gives the run linked to r in the direction of dir, or noRun.
func (sc *Scratch) neighbour(r, dir int32, q *Query) int32 {
	known, end := &sc.runs[r].next, sc.runs[r].last
	if dir < 0 {
		known, end = &sc.runs[r].prev, sc.runs[r].first
	}
	if *known != unknownRun {
		return *known
	}
	to := int32(noRun)
	if p, ok := sc.step(end, dir, q); ok {
		to = sc.runAt(p, q)
	}
	if to != noRun {
		a, b := sc.runs[r].occurred, sc.runs[to].occurred
		apart := a - b
		if apart < 0 {
			apart = -apart
		}
		if (a == 0) != (b == 0) || apart > q.Config.ContextGapMs || apart < 0 {
			to = noRun
		}
	}
	// runAt may have moved sc.runs.
	if dir < 0 {
		sc.runs[r].prev = to
	} else {
		sc.runs[r].next = to
	}
	return to
}

// contextOf gives what the neighbours of a run add to it.
func (sc *Scratch) contextOf(r int32, q *Query) (sum float32) {
	for _, dir := range [2]int32{-1, 1} {
		at := r
		for k := range contextReach {
			if at = sc.neighbour(at, dir, q); at == noRun {
				break
			}
			sum += q.Config.Context[k] * max(0, sc.runs[at].score-sc.floor)
		}
	}
	return sum
}

// chunkScore is the fused score of a chunk without context.
func (sc *Scratch) chunkScore(p place, q *Query) float32 {
	c := sc.scores(p)
	return q.fuse(c.Keyword, c.Vector) + q.Config.PhraseWeight*c.Phrase
}

// scores computes the three parts of a chunk's score.
func (sc *Scratch) scores(p place) Candidate {
	v := &sc.views[p.view]
	s, doc := v.Segment, int(p.doc)
	var c Candidate
	if len(sc.kw) > 0 {
		if c.Keyword = sc.kw[v.base+doc]; c.Keyword > 0 {
			c.Phrase = sc.phrases.share(s.sequence(doc))
		}
	}
	switch {
	case v.model < 0:
	case v.rough:
		if !sc.isSure(v, doc) {
			sc.docs = append(sc.docs[:0], p.doc)
			sc.ascertain(v)
		}
		c.Vector = sc.vec[v.base+doc]
	case v.allow < 0: // the scan had them all
		c.Vector = sc.vec[v.base+doc]
	default:
		m := &sc.models[v.model]
		w := len(m.ints)
		dotRows(m.ints, s.vectors[doc*w:(doc+1)*w], sc.dots[:1])
		c.Vector = m.cosine(sc.dots[0], s.scales[doc])
	}
	return c
}

// addContext works out what the best turns of the top add
// to their neighbours. Only what scores beyond the floor adds anything, so the
// turns that can gain are those, and the turns linked to them.
func (sc *Scratch) addContext(q *Query) {
	sc.runs, sc.targets = sc.runs[:0], sc.targets[:0]
	if q.Mode != Hybrid || len(sc.top) == 0 {
		return
	}
	for _, at := range sc.entered { // by the search before
		sc.runOf[at] = 0
	}
	sc.entered = sc.entered[:0]
	if n := len(sc.vec); n > len(sc.runOf) {
		sc.runOf = make([]int32, n)
	}
	sc.floor = max(0, q.Config.ContextFloor*sc.top[0].score)
	best := sc.top[:min(len(sc.top), q.Config.ContextDocs)]
	sc.fetchContext(best)
	for _, h := range best {
		if h.score <= sc.floor {
			break
		}
		s := sc.views[h.view].Segment
		if s.turns[s.nodeOf[h.doc]] == 0 {
			continue
		}
		if len(sc.runs) == 0 {
			sc.findViews()
		}
		sc.target(sc.runAt(place{h.view, h.doc}, q))
	}
	for _, r := range sc.targets { // ranges over the turns found so far only
		for _, dir := range [2]int32{-1, 1} {
			at := r
			for range contextReach {
				if at = sc.neighbour(at, dir, q); at == noRun {
					break
				}
				sc.target(at)
			}
		}
	}
	for _, r := range sc.targets {
		sc.runs[r].context = sc.contextOf(r, q)
	}
}

// target notes that the context of a run is wanted.
func (sc *Scratch) target(r int32) {
	if !sc.runs[r].target {
		sc.runs[r].target = true
		sc.targets = append(sc.targets, r)
	}
}

// fetchContext asks for what addContext reads around the best chunks: of their
// neighbours, and of those that these may have for neighbours.
func (sc *Scratch) fetchContext(best []ranked) {
	for _, h := range best {
		if h.score <= sc.floor {
			return
		}
		v := &sc.views[h.view]
		s, doc := v.Segment, int(h.doc)
		if s.turns[s.nodeOf[doc]] == 0 {
			continue
		}
		from, to := max(doc-2*contextReach, 0), min(doc+2*contextReach+1, s.Len())
		fetch(raw(s.nodeOf[from:to]))
		fetch(raw(s.seqOff[from : to+1]))
		if v.model >= 0 {
			w := stride(s.Dim())
			fetch(raw(s.vectors[from*w : to*w]))
		}
	}
	for _, h := range best {
		if h.score <= sc.floor {
			return
		}
		s, doc := sc.views[h.view].Segment, int(h.doc)
		if s.turns[s.nodeOf[doc]] == 0 {
			continue
		}
		from, to := max(doc-2*contextReach, 0), min(doc+2*contextReach+1, s.Len())
		fetch(s.wordSeqs[s.seqOff[from]:s.seqOff[to]])
		for _, d := range s.nodeOf[from:to] {
			fetch(s.turns[d : d+1])
		}
	}
}
