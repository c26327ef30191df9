package cognition

import (
	"cmp"
	"slices"
	"sync"

	"orgmem/actors/tenant"
	"orgmem/brain/cognition"
	"orgmem/brain/conflict"
	"orgmem/brain/reader"
)

// readBatch is how many candidates a CPU worker reads at a time: a tenth of a second or two, so that a cycle can be
// stopped.
const readBatch = 16

// candidate is two statements of two chunks that the reader is asked about.
type candidate struct {
	conflict.Candidate

	a, b cognition.Chunk
}

// sides puts the side of the earlier chunk first.
func (x *candidate) sides() {
	if x.b.Seq < x.a.Seq {
		x.a, x.b = x.b, x.a
		x.Turn()
	}
}

// order is by chunks and statements: 0 for the same question.
func (x *candidate) order(y *candidate) int {
	return cmp.Or(cmp.Compare(x.a.Seq, y.a.Seq), cmp.Compare(x.b.Seq, y.b.Seq), cmp.Compare(x.TextA, y.TextA),
		cmp.Compare(x.TextB, y.TextB))
}

// shortlist keeps the candidates of a cycle that promise most, of all that its workers find.
type shortlist struct {
	most int

	mu   sync.Mutex
	best []candidate
	// unread is what rules say of candidates that promise too little to be read.
	unread []cognition.Contradiction
}

// add offers candidates.
func (s *shortlist) add(all []candidate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.best = append(s.best, all...)
	if len(s.best) > 2*s.most { // now and then, since it sorts
		s.cut()
	}
}

// cut keeps the best, once each: where both chunks are new each is compared with the other. Which they are does not
// depend on who came first.
func (s *shortlist) cut() {
	for i := range s.best {
		s.best[i].sides()
	}
	slices.SortFunc(s.best, func(x, y candidate) int { return cmp.Or(x.order(&y), cmp.Compare(y.Promise, x.Promise)) })
	s.best = slices.CompactFunc(s.best, func(x, y candidate) bool { return x.order(&y) == 0 })
	slices.SortFunc(s.best, func(x, y candidate) int { return cmp.Or(cmp.Compare(y.Promise, x.Promise), x.order(&y)) })
	if len(s.best) <= s.most {
		return
	}
	for _, x := range s.best[s.most:] {
		if finding, ok := x.Unread(); ok {
			s.unread = append(s.unread, cognition.Contradiction{A: x.a, B: x.b, Finding: finding})
		}
	}
	clear(s.best[s.most:])
	s.best = s.best[:s.most]
}

// readCandidates puts the candidates that promise most to the reader, as many as a cycle may read.
func (c *compareStage) readCandidates() ([]cognition.Contradiction, error) {
	c.candidates.cut()
	read := c.candidates.best
	found := make([][]cognition.Contradiction, (len(read)+readBatch-1)/readBatch)
	var tasks []func(int) error
	for i := range found {
		batch := read[i*readBatch : min((i+1)*readBatch, len(read))]
		tasks = append(tasks, func(worker int) error {
			found[i] = c.readBatch(c.comparer(worker), batch)
			return nil
		})
	}
	if err := c.compute(tasks); err != nil {
		return nil, err
	}
	return append(slices.Concat(found...), c.candidates.unread...), nil
}

func (c *compareStage) readBatch(own *tenant.Comparer, batch []candidate) (found []cognition.Contradiction) {
	if own.Pairs == nil {
		own.Pairs = c.org.System.Config.Reader.NewWorker()
	}
	pairs := make([]reader.Pair, len(batch))
	for i := range batch {
		x := &batch[i]
		pairs[i] = reader.Pair{A: reader.InNote(x.LeadA, x.TextA), B: reader.InNote(x.LeadB, x.TextB)}
	}
	for i, v := range own.Pairs.Read(nil, pairs) {
		if finding, ok := batch[i].Decide(v.Contradict); ok {
			found = append(found, cognition.Contradiction{A: batch[i].a, B: batch[i].b, Finding: finding})
		}
	}
	return found
}
