package index

// scores are what each chunk of a search scores, by word and by meaning.
type scores struct {
	views views
	passing
	words wording
	kw    []float32 // of all chunks of all views, one after the other
	cosines
}

// prepare lists the views and what may pass in each, and gives the number of
// chunks in all.
func (sc *scores) prepare(snapshots []*Snapshot, q *Query) (total int) {
	sc.allow, sc.models = sc.allow[:0], sc.models[:0]
	sc.kw, sc.vec = sc.kw[:0], sc.vec[:0]
	sc.words.phrases.reset()
	sc.views, total = sc.views[:0].list(snapshots)
	for i := range sc.views {
		v := &sc.views[i]
		sc.allowed(v, q)
		if q.Mode != KeywordOnly {
			v.model = sc.model(v.Segment, q)
		}
	}
	return total
}

// fill computes what the query's mode asks for.
func (sc *scores) fill(total int, q *Query) {
	if q.Mode != VectorOnly {
		sc.kw = resize(sc.kw, total)
		sc.words.score(sc.kw, sc.views, q)
	}
	if q.Mode != KeywordOnly {
		sc.scan(sc.views, &sc.passing, total)
	}
}

// release lets go of the segments, which may leave the cache while the scratch
// waits for its next search. The candidates hold what they need.
func (sc *scores) release() {
	clear(sc.views)
	clear(sc.words.groups)
}

// eachRough calls f for the rough views with their keyword scores, cosines and
// the weight of the former.
func (sc *scores) eachRough(q *Query, f func(view int, kw, vec []float32, weight float32)) {
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

// chunkScore is the fused score of a chunk without context.
func (sc *scores) chunkScore(p place, q *Query) float32 {
	c := sc.at(p)
	return q.score(&c)
}

// at computes the parts of a chunk's score but its context.
func (sc *scores) at(p place) Candidate {
	v := &sc.views[p.view]
	doc := int(p.doc)
	var c Candidate
	if len(sc.kw) > 0 {
		if c.Keyword = sc.kw[v.base+doc]; c.Keyword > 0 {
			c.Phrase = sc.words.phrases.share(v.Segment.sequence(doc))
		}
	}
	c.Vector, c.Brevity = sc.cosineOf(v, doc), v.Segment.brevity(p.doc)
	return c
}

// hasPhrases tells whether a chunk is looked at for phrases of the query.
func (sc *scores) hasPhrases(view, doc int32) bool {
	return sc.words.phrases.n > 0 && sc.kw[sc.views[view].base+int(doc)] > 0
}

// candidate fills in what is known of a chunk without its scores.
func (sc *scores) candidate(p place, q *Query) Candidate {
	v := &sc.views[p.view]
	s := v.Segment
	c := Candidate{
		Seq: s.seqs[p.doc], Node: s.nodeID(s.nodeOf[p.doc]), Part: v.part, View: v.view, Doc: p.doc, Model: s.model,
		Brevity: s.brevity(p.doc), Timely: q.timely(v, s.nodeOf[p.doc]),
	}
	if v.model >= 0 {
		c.Doubt = sc.models[v.model].line.Factor * roundingDoubt * s.scales[p.doc]
	}
	return c
}
