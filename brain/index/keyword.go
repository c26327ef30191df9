package index

import (
	"slices"

	"orgmem/brain/text"
)

// keywords fills kw with BM25norm.
func (sc *Scratch) keywords(total int, q *Query) {
	sc.kw = resize(sc.kw, total)
	clear(sc.kw)
	sc.lookUp(q)

	chunks, words := 0, uint64(0)
	for i := range sc.views {
		chunks += sc.views[i].Segment.Len()
		words += sc.views[i].Segment.words
	}
	average := max(float64(words)/float64(chunks), 1)
	k1, b := q.Config.K1, q.Config.B
	var norm [256]float32
	for c := range norm {
		norm[c] = k1 * (1 - b + b*lengths[c]/float32(average))
	}
	// The greatest score that is possible: each word matched without end.
	var possible float64
	for i := range sc.groups {
		g := &sc.groups[i]
		g.idf = float32(idf(chunks, g.df))
		if g.df > 0 || !g.opt {
			possible += float64(g.idf) * float64(g.weight) * float64(k1+1)
		}
	}
	if possible == 0 {
		return
	}
	if q.Mode == Hybrid && q.Config.PhraseWeight > 0 {
		sc.pairs(q)
	}
	for i := range sc.groups {
		g := &sc.groups[i]
		weight := g.weight * g.idf * (k1 + 1) / float32(possible)
		for _, p := range sc.ptrs[g.ptrs : g.ptrs+g.n] {
			v := &sc.views[p.view]
			v.Segment.accumulate(sc.kw[v.base:v.base+v.Segment.Len()], p.ptr, weight, q.Config.TitleWeight, &norm)
		}
	}
}

// lookUp gathers the query's words and where their postings are.
func (sc *Scratch) lookUp(q *Query) {
	sc.groups, sc.ptrs = sc.groups[:0], sc.ptrs[:0]
	for _, t := range q.Terms {
		if len(t.Alts) == 0 || !(t.Weight > 0) {
			continue
		}
		if i := slices.IndexFunc(sc.groups, func(g group) bool {
			return g.opt == t.Optional && slices.Equal(g.alts, t.Alts)
		}); i >= 0 {
			sc.groups[i].weight += t.Weight // query term frequency
			continue
		}
		sc.groups = append(sc.groups, group{alts: t.Alts, weight: t.Weight, opt: t.Optional})
	}
	for i := range sc.groups {
		g := &sc.groups[i]
		g.ptrs = len(sc.ptrs)
		for v := range sc.views {
			for _, t := range g.alts {
				if ptr, ok := sc.views[v].Segment.findTerm(t); ok {
					sc.ptrs = append(sc.ptrs, pointer{int32(v), ptr})
					g.df += sc.views[v].Segment.docFreq(ptr)
				}
			}
		}
		g.n = len(sc.ptrs) - g.ptrs
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

// pairs takes the phrases out of the query: words that follow each other.
func (sc *Scratch) pairs(q *Query) {
	last := -1 // index into q.Terms
	for i, t := range q.Terms {
		if t.Optional || len(t.Alts) == 0 || !(t.Weight > 0) {
			continue
		}
		if last >= 0 && !slices.Equal(q.Terms[last].Alts, t.Alts) {
			sc.phrases.add(q.Terms[last].Alts, t.Alts, (sc.idfOf(q.Terms[last])+sc.idfOf(t))/2)
		}
		last = i
	}
}

func (sc *Scratch) idfOf(t text.QueryTerm) float32 {
	for i := range sc.groups {
		if sc.groups[i].opt == t.Optional && slices.Equal(sc.groups[i].alts, t.Alts) {
			return sc.groups[i].idf
		}
	}
	return 0
}
