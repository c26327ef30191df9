package index

import (
	"slices"

	"orgmem/brain/text"
)

// group is a word of the query with all its alternatives.
type group struct {
	alts   []text.Term
	weight float32
	opt    bool
	known  uint64 // the alternatives that some segment holds, a bit each
	df     int
	idf    float32
	ptrs   int // where its pointers begin
	n      int // how many there are
}

// pointer is where a view keeps the postings of a term.
type pointer struct {
	view int32
	ptr  uint32
}

// wording is what of the query's words a search needs.
type wording struct {
	groups  []group
	ptrs    []pointer
	phrases phrases
}

// score fills kw, of all chunks, with BM25norm.
func (w *wording) score(kw []float32, vs views, q *Query) {
	clear(kw)
	w.lookUp(vs, q)

	chunks, words := 0, uint64(0)
	for i := range vs {
		chunks += vs[i].Segment.Len()
		words += vs[i].Segment.words
	}
	average := max(float64(words)/float64(chunks), 1)
	k1, b := q.Config.K1, q.Config.B
	var norm [256]float32
	for c := range norm {
		norm[c] = k1 * (1 - b + b*lengths[c]/float32(average))
	}
	// The greatest score that is possible: each word matched without end.
	var possible float64
	for i := range w.groups {
		g := &w.groups[i]
		g.idf = float32(idf(chunks, g.df))
		if g.df > 0 || !g.opt {
			possible += float64(g.idf) * float64(g.weight) * float64(k1+1)
		}
	}
	if possible == 0 {
		return
	}
	if q.Mode == Hybrid && q.Config.PhraseWeight > 0 {
		w.pairs(q)
	}
	for i := range w.groups {
		g := &w.groups[i]
		weight := g.weight * g.idf * (k1 + 1) / float32(possible)
		for _, p := range w.ptrs[g.ptrs : g.ptrs+g.n] {
			v := &vs[p.view]
			v.Segment.accumulate(kw[v.base:v.base+v.Segment.Len()], p.ptr, weight, q.Config.TitleWeight, &norm)
		}
	}
}

// lookUp gathers the query's words and where their postings are.
func (w *wording) lookUp(vs views, q *Query) {
	w.groups, w.ptrs = w.groups[:0], w.ptrs[:0]
	for _, t := range q.Terms {
		if len(t.Alts) == 0 || !(t.Weight > 0) {
			continue
		}
		if i := slices.IndexFunc(w.groups, func(g group) bool {
			return g.opt == t.Optional && slices.Equal(g.alts, t.Alts)
		}); i >= 0 {
			w.groups[i].weight += t.Weight // query term frequency
			continue
		}
		w.groups = append(w.groups, group{alts: t.Alts, weight: t.Weight, opt: t.Optional})
	}
	for i := range w.groups {
		g := &w.groups[i]
		g.ptrs = len(w.ptrs)
		for v := range vs {
			for k, t := range g.alts {
				if ptr, ok := vs[v].Segment.findTerm(t); ok {
					g.known |= 1 << k
					w.ptrs = append(w.ptrs, pointer{int32(v), ptr})
					g.df += vs[v].Segment.docFreq(ptr)
				}
			}
		}
		g.n = len(w.ptrs) - g.ptrs
	}
}

// accumulate adds weight·tf/(tf+norm) of each posting at ptr to acc. Term at a
// time: to 100,000 chunks the accumulators stay in the second-level cache.
func (s *Segment) accumulate(acc []float32, ptr uint32, weight, titleWeight float32, norm *[256]float32) {
	lens := s.lens[:len(acc)]
	if ptr&inlineFlag != 0 {
		code, doc := inlinePosting(ptr)
		body, title := frequencies(code)
		tf := float32(body) + titleWeight*float32(title)
		acc[doc] += weight * tf / (tf + norm[lens[doc]])
		return
	}
	p := s.postings[ptr:]
	left, at := uvarint(p, 0)
	for left > 0 {
		body, title := frequencies(p[at])
		tf := float32(body) + titleWeight*float32(title)
		w := weight * tf
		var count, doc uint32
		count, at = uvarint(p, at+1)
		left -= count
		for ; count > 0; count-- {
			// The one-byte case written out: it is nearly all of them.
			c := uint32(p[at])
			at++
			if c >= 0x80 {
				c, at = uvarint(p, at-1)
			}
			doc += c
			acc[doc] += w / (tf + norm[lens[doc]])
		}
	}
}

// uvarint reads the number at p[at:] and gives what follows it. Postings were
// checked when the segment was opened.
func uvarint(p []byte, at int) (v uint32, next int) {
	for shift := 0; ; shift += 7 {
		c := p[at]
		at++
		v |= uint32(c&0x7f) << shift
		if c < 0x80 {
			return v, at
		}
	}
}

// pairs takes the phrases out of the query: words that follow each other. Of a word
// under many languages only what the segments hold is looked for: what is kept of a
// word in order is a byte, so that each alternative more is seen by chance.
func (w *wording) pairs(q *Query) {
	last := -1 // index into q.Terms
	var before []text.Term
	for i, t := range q.Terms {
		if t.Optional || len(t.Alts) == 0 || !(t.Weight > 0) {
			continue
		}
		known, idf := w.of(t)
		if last >= 0 && !slices.Equal(q.Terms[last].Alts, t.Alts) {
			_, idfBefore := w.of(q.Terms[last])
			w.phrases.add(before, known, (idfBefore+idf)/2)
		}
		last, before = i, known
	}
}

// of gives the alternatives of a word that the segments hold, and its idf.
func (w *wording) of(t text.QueryTerm) (known []text.Term, idf float32) {
	for i := range w.groups {
		g := &w.groups[i]
		if g.opt != t.Optional || !slices.Equal(g.alts, t.Alts) {
			continue
		}
		if g.known == 1<<len(g.alts)-1 {
			return g.alts, g.idf
		}
		for k, alt := range g.alts {
			if g.known&(1<<k) != 0 {
				known = append(known, alt)
			}
		}
		return known, g.idf
	}
	return nil, 0
}
