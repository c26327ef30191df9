package index

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

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
func (sc *Scratch) order() {
	sc.keys, sc.other = sc.keys[:0], sc.other[:0]
	for i := range sc.top {
		sc.keys = append(sc.keys, rankKey(sc.top[i].score, i))
	}
	slices.Sort(sc.keys)
	for _, key := range slices.Backward(sc.keys) {
		r := sc.top[^uint32(key)]
		sc.other = append(sc.other, r)
		// Of equal scores part and Seq decide.
		for k := len(sc.other) - 1; k > 0 && sc.other[k-1].score == r.score && compareRanked(r, sc.other[k-1]) < 0; k-- {
			sc.other[k], sc.other[k-1] = sc.other[k-1], r
		}
	}
	sc.top, sc.other = sc.other, sc.top
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
	kept := sc.heap
	sc.heap = sc.guess[:0]
	sc.eachRough(q, func(view int, kw, vec []float32, weight float32) { sc.selectHybrid(view, kw, vec, weight, n) })
	slices.SortFunc(sc.heap, func(a, b uint64) int { return cmp.Compare(uint32(b), uint32(a)) }) // by place
	sc.guess, sc.heap = sc.heap, kept
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
		least := sc.least(n) - v.doubt
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

// eachRough calls f for the rough views with their keyword scores, cosines and
// the weight of the former.
func (sc *Scratch) eachRough(q *Query, f func(view int, kw, vec []float32, weight float32)) {
	for i := range sc.views {
		v := &sc.views[i]
		if !v.rough {
			continue
		}
		vec := sc.vec[v.base:][:v.Segment.Len()]
		if q.Mode == VectorOnly {
			f(i, vec, vec, 0)
			continue
		}
		f(i, sc.kw[v.base:][:len(vec)], vec, q.Config.KeywordWeight)
	}
}

// offerSure makes the cosines of sc.docs certain, and offers them to the heap.
func (sc *Scratch) offerSure(view int, kw, vec []float32, weight float32, n int) {
	sc.ascertain(&sc.views[view])
	least := sc.least(n)
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
	least := sc.least(n)
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
	least := sc.least(n)
	for doc, score := range vec {
		if score >= least {
			least = sc.accept(view, doc, score, false, n)
		}
	}
}

func (sc *Scratch) selectKeyword(view int, kw []float32, n int) {
	least := max(sc.least(n), math.SmallestNonzeroFloat32)
	for doc, score := range kw {
		if score >= least {
			least = max(sc.accept(view, doc, score, true, n), math.SmallestNonzeroFloat32)
		}
	}
}

// least is the score below which nothing enters the heap.
func (sc *Scratch) least(n int) float32 {
	if len(sc.heap) < n {
		return float32(math.Inf(-1))
	}
	return keyScore(sc.heap[0])
}

// passes tells whether filters and liveness let a chunk be a candidate.
func (sc *Scratch) passes(v *viewState, doc int) bool {
	return v.allow < 0 || sc.allow[v.allow+doc>>6]>>(doc&63)&1 != 0
}

// accept offers a chunk to the heap if it may be a candidate: the filters let it
// pass, and it has a word of the query or a vector. It gives the new least.
func (sc *Scratch) accept(view, doc int, score float32, word bool, n int) float32 {
	v := &sc.views[view]
	if sc.passes(v, doc) && (word || v.model >= 0 && v.Segment.scales[doc] > 0) {
		sc.offer(rankKey(score, v.base+doc), n)
	}
	return sc.least(n)
}

// rankKey packs a score and the place of a chunk among all into a number that is
// greater for a better chunk: of two with one score, the first. One comparison
// of integers then does for the heap.
func rankKey(score float32, at int) uint64 {
	b := math.Float32bits(score)
	if b>>31 != 0 {
		b = ^b
	} else {
		b |= 1 << 31
	}
	return uint64(b)<<32 | uint64(^uint32(at))
}

// keyScore unpacks the score.
func keyScore(key uint64) float32 {
	b := uint32(key >> 32)
	if b>>31 != 0 {
		b &^= 1 << 31
	} else {
		b = ^b
	}
	return math.Float32frombits(b)
}

// offer puts a key into the heap of at most n.
func (sc *Scratch) offer(key uint64, n int) {
	h := sc.heap
	if len(h) < n {
		h = append(h, key)
		i := len(h) - 1
		for i > 0 && h[(i-1)/2] > key {
			h[i] = h[(i-1)/2]
			i = (i - 1) / 2
		}
		h[i] = key
		sc.heap = h
		return
	}
	if key < h[0] {
		return
	}
	i := 0
	for {
		down := 2*i + 1
		if down >= len(h) {
			break
		}
		if down+1 < len(h) && h[down+1] < h[down] {
			down++
		}
		if h[down] >= key {
			break
		}
		h[i] = h[down]
		i = down
	}
	h[i] = key
}

// rank turns the heap into the best chunks in order, with the phrases that only
// they are looked at for.
func (sc *Scratch) rank(q *Query) {
	slices.Sort(sc.heap)
	// What is read of the chunks lies all over the segments, and an embedding has
	// just emptied the caches: each round asks for what the next one reads.
	for _, key := range slices.Backward(sc.heap) {
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
		if sc.hasPhrases(r) {
			fetch(s.sequence(int(r.doc)))
		}
	}
	for i := range sc.top {
		r := &sc.top[i]
		s := sc.views[r.view].Segment
		s.fetchID(s.nodeOf[r.doc])
		if sc.hasPhrases(r) {
			r.phrase = sc.phrases.share(s.sequence(int(r.doc)))
			r.score += q.Config.PhraseWeight * r.phrase
		}
	}
	sc.order()
}

// hasPhrases tells whether a chunk is looked at for phrases of the query.
func (sc *Scratch) hasPhrases(r *ranked) bool {
	return sc.phrases.n > 0 && sc.kw[sc.views[r.view].base+int(r.doc)] > 0
}
