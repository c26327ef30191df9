package index

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// ranked is a chunk among the best.
type ranked struct {
	score     float32
	part      int32
	seq       uint64
	view, doc int32 // view: index into Scratch.views
	phrase    float32
}

// ranking puts the best chunks in order.
type ranking struct {
	top   []ranked
	keys  []uint64 // their rank keys
	other []ranked // to put in order into
}

// compareRanked puts the better first.
func compareRanked(a, b ranked) int {
	switch {
	case a.score > b.score:
		return -1
	case a.score < b.score:
		return 1
	case a.part != b.part:
		return cmp.Compare(a.part, b.part)
	}
	return cmp.Compare(a.seq, b.seq)
}

// order puts the top in order, best first, by numbers: sorting whole ones with
// compareRanked takes five times as long.
func (r *ranking) order() {
	r.keys, r.other = r.keys[:0], r.other[:0]
	for i := range r.top {
		r.keys = append(r.keys, rankKey(r.top[i].score, i))
	}
	slices.Sort(r.keys)
	for _, key := range slices.Backward(r.keys) {
		c := r.top[^uint32(key)]
		r.other = append(r.other, c)
		// Of equal scores part and Seq decide.
		for k := len(r.other) - 1; k > 0 && r.other[k-1].score == c.score && compareRanked(c, r.other[k-1]) < 0; k-- {
			r.other[k], r.other[k-1] = r.other[k-1], c
		}
	}
	r.top, r.other = r.other, r.top
}

// selectBest keeps the N best chunks in the heap, the worst of them on top.
func (sc *Scratch) selectBest(q *Query) {
	n := q.candidates()
	rough := false
	for i := range sc.views {
		v := &sc.views[i]
		from, to := v.base, v.base+v.Segment.Len()
		switch {
		case v.rough:
			rough = true
		case q.Mode == VectorOnly:
			sc.selectVector(i, sc.vec[from:to], n)
		case q.Mode == KeywordOnly:
			sc.selectKeyword(i, sc.kw[from:to], n)
		default:
			sc.selectHybrid(i, sc.kw[from:to], sc.vec[from:to], q.Config.KeywordWeight, n)
		}
	}
	if rough {
		sc.selectRough(q, n)
	}
}

// selectRough offers the chunks of rough views. First the N best by their
// estimates become certain: the worst of the N best after that is a bound which
// the others must be able to reach.
func (sc *Scratch) selectRough(q *Query, n int) {
	kept := sc.best
	sc.best = sc.guess[:0]
	sc.eachRough(q, func(view int, kw, vec []float32, weight float32) { sc.selectHybrid(view, kw, vec, weight, n) })
	slices.SortFunc(sc.best, func(a, b uint64) int { return cmp.Compare(uint32(b), uint32(a)) }) // by place
	sc.guess, sc.best = sc.best, kept
	guess := sc.guess
	sc.eachRough(q, func(view int, kw, vec []float32, weight float32) {
		v := &sc.views[view]
		sc.docs = sc.docs[:0]
		for len(guess) > 0 {
			doc := int(^uint32(guess[0])) - v.base
			if doc >= len(vec) {
				break
			}
			sc.docs = append(sc.docs, int32(doc))
			guess = guess[1:]
		}
		sc.offerSure(view, kw, vec, weight, n)
	})
	sc.eachRough(q, func(view int, kw, vec []float32, weight float32) {
		v := &sc.views[view]
		sc.docs = sc.docs[:0]
		least := sc.best.least(n) - v.doubt
		for from := 0; from < len(kw); from += scanBlock {
			to := min(from+scanBlock, len(kw))
			for _, i := range above(sc.above[:], kw[from:to], vec[from:to], weight, least) {
				if doc := from + int(i); !sc.isSure(v, doc) && sc.passes(v, doc) {
					sc.docs = append(sc.docs, int32(doc))
				}
			}
		}
		sc.offerSure(view, kw, vec, weight, n)
	})
}

// offerSure makes the cosines of sc.docs certain, and offers them to the heap.
func (sc *Scratch) offerSure(view int, kw, vec []float32, weight float32, n int) {
	sc.ascertain(&sc.views[view])
	least := sc.best.least(n)
	for _, doc := range sc.docs {
		if score := weight*kw[doc] + vec[doc]; score >= least {
			least = sc.accept(view, int(doc), score, weight > 0 && kw[doc] > 0, n)
		}
	}
}

// The three loops differ in one line, which is most of what runs: nearly every
// chunk is worse than the worst that is kept. Only what is not is looked at
// closer (in accept), also for whether it may be a candidate at all. A block is
// compared with the worst at its beginning, its chunks then with the worst so far.

func (sc *Scratch) selectHybrid(view int, kw, vec []float32, weight float32, n int) {
	least := sc.best.least(n)
	for from := 0; from < len(kw); from += scanBlock {
		to := min(from+scanBlock, len(kw))
		for _, i := range above(sc.above[:], kw[from:to], vec[from:to], weight, least) {
			doc := from + int(i)
			if score := float32(weight*kw[doc]) + vec[doc]; score >= least {
				least = sc.accept(view, doc, score, weight > 0 && kw[doc] > 0, n)
			}
		}
	}
}

func (sc *Scratch) selectVector(view int, vec []float32, n int) {
	if sc.views[view].model < 0 {
		return
	}
	least := sc.best.least(n)
	for doc, score := range vec {
		if score >= least {
			least = sc.accept(view, doc, score, false, n)
		}
	}
}

func (sc *Scratch) selectKeyword(view int, kw []float32, n int) {
	least := max(sc.best.least(n), math.SmallestNonzeroFloat32)
	for doc, score := range kw {
		if score >= least {
			least = max(sc.accept(view, doc, score, true, n), math.SmallestNonzeroFloat32)
		}
	}
}

// accept offers a chunk to the heap if it may be a candidate: the filters let it
// pass, and it has a word of the query or a vector. It gives the new least.
func (sc *Scratch) accept(view, doc int, score float32, word bool, n int) float32 {
	v := &sc.views[view]
	if sc.passes(v, doc) && (word || v.model >= 0 && v.Segment.scales[doc] > 0) {
		sc.best.offer(rankKey(score, v.base+doc), n)
	}
	return sc.best.least(n)
}

// rank turns the heap into the best chunks in order, with the phrases and the
// brevity that only they are looked at for.
func (sc *Scratch) rank(q *Query) {
	slices.Sort(sc.best)
	// What is read of the chunks lies all over the segments, and an embedding has
	// just emptied the caches: each round asks for what the next one reads.
	for _, key := range slices.Backward(sc.best) {
		at := int(^uint32(key))
		view := sort.Search(len(sc.views), func(i int) bool { return sc.views[i].base > at }) - 1
		v := &sc.views[view]
		doc := at - v.base
		v.Segment.fetchChunk(doc)
		sc.top = append(sc.top, ranked{score: keyScore(key), part: v.part, view: int32(view), doc: int32(doc)})
	}
	for i := range sc.top {
		r := &sc.top[i]
		s := sc.views[r.view].Segment
		r.seq = s.seqs[r.doc]
		s.fetchNode(s.nodeOf[r.doc])
		if sc.hasPhrases(r.view, r.doc) {
			fetch(s.sequence(int(r.doc)))
		}
	}
	for i := range sc.top {
		r := &sc.top[i]
		v := &sc.views[r.view]
		s := v.Segment
		s.fetchID(s.nodeOf[r.doc])
		if q.Mode == Hybrid {
			r.score -= q.Config.BrevityWeight * s.brevity(r.doc)
			r.score += q.Config.TimeWeight * q.timely(v, s.nodeOf[r.doc])
		}
		if sc.hasPhrases(r.view, r.doc) {
			r.phrase = sc.words.phrases.share(s.sequence(int(r.doc)))
			r.score += q.Config.PhraseWeight * r.phrase
		}
	}
	sc.order()
}
