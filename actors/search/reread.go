package search

import (
	"math"
	"slices"
	"time"

	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/actors/training"
	"orgmem/brain/index"
	"orgmem/brain/reader"
	"orgmem/storage"
)

// In quality mode thorough the reader reads what a search has found beside the question, and what answers it is lifted.
// Likeness and shared words tell what a passage is about; that it says what was asked only who reads both can tell.

const (
	// MaxReread bounds the leading hits of a search that are read: of twenty and of thirty the first ten are as good on
	// locomo and on questions that the reader has not learned from (docs/retrieval.md), and ten lose.
	MaxReread = 20
	// MaxRereadTokens bounds what they are to the model together, the question with each of them: some 0.15 s of one
	// processor's time. Twenty messages are three quarters of it, and ten passages of full length all.
	MaxRereadTokens = 2000
	// RereadTimeout is the time after which no more are read than the first MinRead, which are in any case: the caller
	// waits, and what stands in front by all else is read first.
	RereadTimeout = time.Second
	// readingWeight is what a logit of answering adds to a score, from that of leastReading on. What has a lesser
	// probability does not answer, and is left where it is.
	readingWeight = 0.05
	leastReading  = 0.01
	// leastAbroad is that of the reader of all languages, which is less sure of what does not answer.
	leastAbroad = 0.2
	// longReading is from how many tokens on a reading counts less, the question included: by the square of how much
	// longer it is. The reader has learned of notes and messages, of which one in ten is longer; a page of a meeting
	// answers a little of everything.
	longReading = 120
)

// lift is what a reading of so many tokens adds to the score of a hit, from least on: nothing or more, so that what was
// not read loses nothing by it against what was and does not answer.
func lift(answers, least float64, tokens int) float32 {
	logit := func(p float64) float64 { return math.Log(p / (1 - p)) }
	over := max(1, float64(tokens)/longReading)
	answers = min(max(answers, least), 1-leastReading)
	return float32(readingWeight * (logit(answers) - logit(least)) / (over * over))
}

// rereads tells whether what is found for a query is read: in another language than English only where a reader knows
// it, and nothing that is too long for a question, of which it would see the begin only.
func (o *Module) rereads(e Effort, q *training.Lookup, query string, rd *searcher) bool {
	if !e.reads || q.Mode != index.Hybrid || !o.asks() {
		return false
	}
	r := o.System.Config.Reader
	asking := rd.reading(r).Asking(query, nil)
	return (r.AsksAbroad() || !asking.Foreign()) && asking.Whole()
}

// reread has the leading hits of a search read, the best first, and notes with the candidates that they come of what
// that adds to their scores.
func (o *Module) reread(
	c *tenant.Call, st *storage.Store, parts []*partition.Ref, query string, hits []index.Hit,
	candidates []index.Candidate, q *index.Query, rd *searcher,
) error {
	left, least := MaxRereadTokens, leastReading
	var asking *reader.Asking // by the languages of the leading hits
	began := o.System.Clock.Now()
	met, lifts := rd.page(st), make([]float32, len(hits)) // in the order of the hits that are still there
	defer met.done()
	at := make([]int, 0, len(hits)) // their places among the candidates
	for n := 0; n < len(hits); {
		if n >= MinRead && o.System.Clock.Now().Sub(began) >= RereadTimeout {
			break
		}
		batch := hits[n:min(len(hits), n+MinRead)]
		n += len(batch)
		var read []int
		var passages []reader.Passage
		for _, h := range batch {
			x, err := readHit(st, parts[h.Part], h)
			if err != nil {
				return err
			}
			if x == nil {
				continue // forgotten since
			}
			i := len(at)
			if err := met.add(x); err != nil {
				return err
			}
			at = append(at, slices.IndexFunc(candidates, func(x index.Candidate) bool {
				return x.Part == h.Part && x.Seq == h.Seq
			}))
			if met.first[i] != i {
				continue // it answers as much as what it copies
			}
			of := passageOf(parts[h.Part], x.node, x.hit)
			read = append(read, i)
			passages = append(passages, reader.Passage{Label: labelOf(&of), Text: x.hit.GetChunk()})
		}
		if asking == nil {
			asking = rd.reading(o.System.Config.Reader).Asking(query, passages)
			if asking.Abroad() && !asking.Foreign() {
				return nil // across languages what is near is right more often than what is read (docs/retrieval.md)
			}
			if asking.Abroad() {
				least = leastAbroad
			}
		}
		var tokens []int
		for _, p := range passages {
			cost := asking.Cost(p)
			if left -= cost; left < 0 {
				n = len(hits)
				break
			}
			tokens = append(tokens, cost)
		}
		for i, found := range asking.Ask(nil, passages[:len(tokens)]) {
			lifts[read[i]] = lift(found.Answers, least, tokens[i])
		}
		if err := c.Awaited(); err != nil {
			return err
		}
	}
	for i, k := range at {
		q.Read(&candidates[k], lifts[met.first[i]])
	}
	return nil
}
