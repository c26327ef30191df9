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

const (
	noRun      = -1
	unknownRun = -2
)

// run is a turn with its score, of the best of its chunks.
type run struct {
	first, last, best place
	score             float32
	occurred          int64
	prev, next        int32 // index into conversation.runs, noRun or unknownRun
	context           float32
	target            bool // context is wanted
	found             bool // one of its chunks is in the top
}

// conversation is the turns around the best chunks of a search, and what their context adds
// to them.
type conversation struct {
	runs    []run
	runOf   []int32 // of each of all chunks, plus one; 0 of one that was not looked at
	entered []int   // those that are not 0
	targets []int32
	floor   float32 // what a turn must score to add to its neighbours
}

// find works out what the best turns of the top add to their neighbours. Only what
// scores beyond the floor adds anything, so the turns that can gain are those, and
// the turns linked to them.
func (t *conversation) find(sc *scores, top []ranked, q *Query) {
	t.runs, t.targets = t.runs[:0], t.targets[:0]
	if q.Mode != Hybrid || len(top) == 0 {
		return
	}
	for _, at := range t.entered { // by the search before
		t.runOf[at] = 0
	}
	t.entered = t.entered[:0]
	if n := len(sc.vec); n > len(t.runOf) {
		t.runOf = make([]int32, n)
	}
	t.floor = max(0, q.Config.ContextFloor*top[0].score)
	best := top[:min(len(top), q.Config.ContextDocs)]
	t.fetch(sc.views, best)
	for _, h := range best {
		if h.score <= t.floor {
			break
		}
		s := sc.views[h.view].Segment
		if s.turns[s.nodeOf[h.doc]] == 0 {
			continue
		}
		if len(t.runs) == 0 {
			sc.views.relate()
		}
		t.target(t.runAt(sc, place{h.view, h.doc}, q))
	}
	for _, r := range t.targets { // ranges over the turns found so far only
		for _, dir := range [2]int32{-1, 1} {
			at := r
			for range contextReach {
				if at = t.neighbour(sc, at, dir, q); at == noRun {
					break
				}
				t.target(at)
			}
		}
	}
	for _, r := range t.targets {
		t.runs[r].context = t.contextOf(sc, r, q)
	}
}

// give tells what the context adds to a chunk that was found, by its place among all.
func (t *conversation) give(at int) float32 {
	if len(t.runs) == 0 || t.runOf[at] == 0 {
		return 0
	}
	r := &t.runs[t.runOf[at]-1]
	r.found = true
	return r.context
}

// runAt gives the run that holds a chunk, noRun when it is no turn.
func (t *conversation) runAt(sc *scores, p place, q *Query) int32 {
	s, d := sc.views.nodeAt(p)
	if s.turns[d] == 0 {
		return noRun
	}
	if id := t.runOf[sc.views.at(p)]; id != 0 {
		return id - 1
	}
	id := int32(len(t.runs))
	r := run{
		first: p, last: p, best: p, score: sc.chunkScore(p, q), occurred: s.occurred[d], prev: unknownRun, next: unknownRun,
	}
	t.enter(sc.views, p, id)
	n := 1
	grow := func(end *place, dir int32) {
		for n < maxRunChunks {
			to, ok := sc.views.step(*end, dir, q)
			if !ok || !sc.views.sameNode(to, p) {
				return
			}
			n++
			*end = to
			t.enter(sc.views, to, id)
			// Of equal chunks the first in Seq, from wherever the run was entered.
			if score := sc.chunkScore(to, q); score > r.score || score == r.score && dir < 0 {
				r.score, r.best = score, to
			}
		}
	}
	grow(&r.first, -1)
	grow(&r.last, 1)
	t.runs = append(t.runs, r)
	return id
}

// enter notes which run a chunk belongs to.
func (t *conversation) enter(vs views, p place, id int32) {
	at := vs.at(p)
	t.runOf[at] = id + 1
	t.entered = append(t.entered, at)
}

// neighbour gives the run linked to r in the direction of dir, or noRun.
func (t *conversation) neighbour(sc *scores, r, dir int32, q *Query) int32 {
	known, end := &t.runs[r].next, t.runs[r].last
	if dir < 0 {
		known, end = &t.runs[r].prev, t.runs[r].first
	}
	if *known != unknownRun {
		return *known
	}
	to := int32(noRun)
	if p, ok := sc.views.step(end, dir, q); ok {
		to = t.runAt(sc, p, q)
	}
	if to != noRun {
		a, b := t.runs[r].occurred, t.runs[to].occurred
		apart := a - b
		if apart < 0 {
			apart = -apart
		}
		if (a == 0) != (b == 0) || apart > q.Config.ContextGapMs || apart < 0 {
			to = noRun
		}
	}
	// runAt may have moved t.runs.
	if dir < 0 {
		t.runs[r].prev = to
	} else {
		t.runs[r].next = to
	}
	return to
}

// contextOf gives what the neighbours of a run add to it.
func (t *conversation) contextOf(sc *scores, r int32, q *Query) (sum float32) {
	for _, dir := range [2]int32{-1, 1} {
		at := r
		for k := range contextReach {
			if at = t.neighbour(sc, at, dir, q); at == noRun {
				break
			}
			sum += q.Config.Context[k] * max(0, t.runs[at].score-t.floor)
		}
	}
	return sum
}

// target notes that the context of a run is wanted.
func (t *conversation) target(r int32) {
	if !t.runs[r].target {
		t.runs[r].target = true
		t.targets = append(t.targets, r)
	}
}

// fetch asks for what find reads around the best chunks: of their
// neighbours, and of those that these may have for neighbours.
func (t *conversation) fetch(vs views, best []ranked) {
	for _, h := range best {
		if h.score <= t.floor {
			return
		}
		v := &vs[h.view]
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
		if h.score <= t.floor {
			return
		}
		s, doc := vs[h.view].Segment, int(h.doc)
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
