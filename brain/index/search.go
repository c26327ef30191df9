package index

import "math"

// Scratch holds the memory a search works in, for one search at a time. The
// zero value is ready; keep it for the next search.
type Scratch struct {
	scores
	best  heap // of all scores
	guess heap // of what the estimates come to
	above [scanBlock]int32
	ranking
	turns conversation
	out   []Candidate
	spare []Candidate // to sort out into
}

// Candidates gives the best N chunks over all snapshots by the int8 fused score,
// best first. Both scores are known for each. nil snapshots are skipped. The
// slice belongs to the scratch until its next use.
//
// Every chunk gets both scores in dense arrays, and the N best sums are kept. So
// no chunk is lost because it is good in both lists and at the head of neither,
// which is what merging two top-N lists does. In a large segment the cosines are
// estimates first, and certain for the chunks that these let come into question.
func (sc *Scratch) Candidates(snapshots []*Snapshot, q *Query) []Candidate {
	defer sc.release()
	total := sc.prepare(snapshots, q)
	sc.best, sc.top = sc.best[:0], sc.top[:0]
	if total == 0 {
		return nil
	}
	sc.fill(total, q)
	sc.selectBest(q)
	return sc.collect(q)
}

// Reset lets go of the last candidates too. Call it before putting a scratch
// back into a pool.
func (sc *Scratch) Reset() {
	clear(sc.out[:cap(sc.out)])
	clear(sc.spare[:cap(sc.spare)])
	sc.out, sc.spare = sc.out[:0], sc.spare[:0]
}

// collect turns the heap into candidates, best first.
func (sc *Scratch) collect(q *Query) []Candidate {
	sc.rank(q)
	sc.turns.find(&sc.scores, sc.top, q)
	sc.out = sc.out[:0]
	for _, r := range sc.top {
		v := &sc.views[r.view]
		c := sc.candidate(place{r.view, r.doc}, q)
		if len(sc.vec) > 0 {
			c.Vector = sc.vec[v.base+int(r.doc)]
		}
		if len(sc.kw) > 0 {
			c.Keyword = sc.kw[v.base+int(r.doc)]
		}
		c.Phrase = r.phrase
		c.Context = sc.turns.give(v.base + int(r.doc))
		c.Score = q.score(&c)
		sc.out = append(sc.out, c)
	}
	// Turns that only their neighbours bring in. Those that stay below all that are
	// here in full number come as little into question as any other chunk.
	least := float32(math.Inf(-1))
	if len(sc.top) == q.candidates() {
		least = sc.top[len(sc.top)-1].score
	}
	for _, id := range sc.turns.targets {
		r := &sc.turns.runs[id]
		v := &sc.views[r.best.view]
		if r.found || !sc.passes(v, int(r.best.doc)) ||
			r.score+r.context+q.Config.TimeWeight*q.timely(v, v.Segment.nodeOf[r.best.doc]) < least {
			continue
		}
		c := sc.candidate(r.best, q)
		p := sc.at(r.best)
		c.Vector, c.Keyword, c.Phrase, c.Context = p.Vector, p.Keyword, p.Phrase, r.context
		c.Score = q.score(&c)
		sc.out = append(sc.out, c)
	}
	if len(sc.turns.targets) > 0 {
		sc.top = sc.top[:0]
		for i := range sc.out {
			c := &sc.out[i]
			sc.top = append(sc.top, ranked{score: c.Score, part: c.Part, seq: c.Seq, doc: int32(i)})
		}
		sc.order()
		sc.spare = sc.spare[:0]
		for _, r := range sc.top {
			sc.spare = append(sc.spare, sc.out[r.doc])
		}
		sc.out, sc.spare = sc.spare, sc.out
	}
	return sc.out
}
