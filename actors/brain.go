package actors

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"orgmem/brain/text"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const jobBrainTrain = "brain_train"

// The states of a training (decisions.md, section 10).
const (
	trainingNone   = "none"
	trainingFailed = "failed"
)

const (
	// answerSources is from how many documents an answer may be put together.
	answerSources = 5
	// defaultAnswerWords is the length of an answer when the client names none.
	defaultAnswerWords = 150
	// minEvidenceCosine and minEvidenceKeyword are what a passage must reach, one
	// or the other, to be taken for being about the question at all: search ranks
	// whatever there is. The model's cosine of a question and a passage that have
	// nothing to do with each other stays below 0.25, and a third of the query's
	// information is more than a common word in common.
	minEvidenceCosine  = 0.3
	minEvidenceKeyword = 0.34
)

// nothingKnown is the answer when memory says nothing: no other is invented.
const nothingKnown = "Nothing in memory answers this."

// brainInfo reads what is loaded and the latest training.
func (o *orgView) brainInfo(r storage.Reader) (*pb.Reply, error) {
	state := &pb.BrainState{Training: &pb.Training{}}
	if _, err := r.Get(o.space.Key(storage.TableTraining), state.Training); err != nil {
		return nil, err
	}
	if state.Training.GetStatus() == "" {
		state.Training.Status = trainingNone
	}
	for rec, err := range storage.ScanRecords(r, o.space.Prefix(storage.TableBrain), storage.ScanOptions{Reverse: true, Limit: 1}, func() *pb.BrainArtifact { return &pb.BrainArtifact{} }) {
		if err != nil {
			return nil, err
		}
		state.Artifact = rec.Value
	}
	return mindReply(&pb.MindResult{Result: &pb.MindResult_Brain{Brain: state}}), nil
}

// brainTrain accepts a training. There is no trainer yet, and the job says so:
// it ends in the commit that accepts it, so there is nothing to wait for, and
// nothing that a crash could leave half done.
func (o *orgActor) brainTrain(c *call) {
	job, err := o.newJob(jobBrainTrain, c.who, c.part, 1)
	if err != nil {
		c.fail(err)
		return
	}
	id := pb.JobID(job.GetId())
	const why = "This version of the service cannot train a brain yet."
	job.Status, job.Attempts, job.ErrorCode, job.ErrorDetail = jobFailed, 1, "not_available", why
	job.StartedMs, job.FinishedMs = job.GetCreatedMs(), clock.Millis(o.sys.clock.Now())
	ch := newChange(o.store)
	putJob(ch.Batch, o.space, job)
	ch.Put(o.space.Key(storage.TableTraining), &pb.Training{
		Status: trainingFailed, Job: job.GetId(), StartedMs: job.GetStartedMs(), FinishedMs: job.GetFinishedMs(), Reason: why,
	})
	ch.audit(c.auditOf("brain.train", id.String()))
	if err := ch.endJob(&o.orgView, job); err != nil {
		c.fail(err)
		return
	}
	c.settle(ch, &pb.Reply{Status: 202, Result: &pb.Reply_Accepted{Accepted: &pb.Accepted{Job: job.GetId(), Status: jobQueued}}}, nil)
}

// brainAnswer writes an answer from sentences of the passages that search finds,
// word for word, and names them.
func (o *orgActor) brainAnswer(c *call, op *pb.BrainAnswer) {
	o.readWith(c, func(st *storage.Store, worker int) (*pb.Reply, error) {
		parts, err := c.everywhere(st)
		if err != nil {
			return nil, err
		}
		rd := &c.org.sys.readers[worker]
		found, err := c.find(st, parts, &pb.Search{Query: op.GetQuery(), TopK: answerSources}, rd)
		if err != nil {
			return nil, err
		}
		hits, err := learnedFrom(st, parts, evidence(found.GetHits()))
		if err != nil {
			return nil, err
		}
		words := int(cmp.Or(op.GetMaxWords(), defaultAnswerWords))
		answer := answerFrom(hits, wordsOf(rd, op.GetQuery()), words)
		answer.ReadUnits, answer.EmbedTokens = found.GetReadUnits(), found.GetEmbedTokens()
		return mindReply(&pb.MindResult{Result: &pb.MindResult_Answered{Answered: answer}}), nil
	})
}

// evidence keeps the hits that are about the query.
func evidence(hits []*pb.Hit) []*pb.Hit {
	return slices.DeleteFunc(slices.Clone(hits), func(h *pb.Hit) bool {
		return h.GetVector() < minEvidenceCosine && h.GetKeyword() < minEvidenceKeyword
	})
}

// learnedFrom keeps the hits whose nodes may be learned from.
func learnedFrom(r storage.Reader, parts []*partitionRef, hits []*pb.Hit) (kept []*pb.Hit, err error) {
	for _, h := range hits {
		part := ownerOf(parts, pb.NodeID(h.GetNode()))
		if part == nil {
			continue
		}
		n := &pb.Node{}
		found, err := r.Get(part.space.Key(storage.TableNode, storage.Str(h.GetNode())), n)
		if err != nil {
			return nil, err
		}
		if found && !n.GetUnlearned() {
			kept = append(kept, h)
		}
	}
	return kept, nil
}

// wordMatcher says how much of a query's words a text holds.
type wordMatcher struct {
	rd    *reader
	query string
}

func wordsOf(rd *reader, query string) wordMatcher { return wordMatcher{rd, query} }

// share is the part of the query's words, by weight, that the text holds: 0 to 1.
func (m wordMatcher) share(s string) float64 {
	p := m.rd.analyzer.Passage("", s)
	var all, held float64
	for _, q := range m.rd.analyzer.Query(m.query, p.Langs) {
		all += float64(q.Weight)
		if slices.ContainsFunc(q.Alts, func(t text.Term) bool {
			_, ok := slices.BinarySearchFunc(p.Terms, t, func(f text.TermFreq, t text.Term) int { return cmp.Compare(f.Term, t) })
			return ok
		}) {
			held += float64(q.Weight)
		}
	}
	if all == 0 {
		return 0
	}
	return held / all
}

// sentence is a sentence that may become part of an answer.
type sentence struct {
	text     string
	hit      int // its hit
	worth    float64
	selected bool
}

// answerFrom puts an answer together: the sentences that hold most of the query's
// words, each worth more the better its passage ranks, in the order in which
// they were written.
func answerFrom(hits []*pb.Hit, words wordMatcher, maxWords int) *pb.BrainAnswered {
	var all []*sentence
	for i, h := range hits {
		first := len(all)
		for sp := range text.Sentences(h.GetChunk()) {
			s := &sentence{text: strings.Join(strings.Fields(h.GetChunk()[sp.Start:sp.End]), " "), hit: i}
			if s.worth = words.share(s.text) * h.GetScore(); s.worth > 0 {
				all = append(all, s)
			}
		}
		if len(all) == first { // found by its meaning: none of its words is the query's
			for sp := range text.Sentences(h.GetChunk()) {
				all = append(all, &sentence{text: strings.Join(strings.Fields(h.GetChunk()[sp.Start:sp.End]), " "), hit: i})
				break
			}
		}
	}
	best := slices.Clone(all)
	slices.SortStableFunc(best, func(a, b *sentence) int { return cmp.Compare(b.worth, a.worth) })
	left := maxWords
	said := map[string]bool{}
	for _, s := range best {
		_, n := firstWords(s.text, math.MaxInt)
		if said[s.text] || n > left {
			continue
		}
		s.selected, said[s.text] = true, true
		left -= n
	}
	out := &pb.BrainAnswered{}
	var answer []string
	cited := -1
	for _, s := range all {
		if !s.selected {
			continue
		}
		answer = append(answer, s.text)
		if s.hit != cited {
			cited = s.hit
			out.Citations = append(out.Citations, &pb.Citation{Node: hits[cited].GetNode(), Chunk: hits[cited].GetChunk(), Score: hits[cited].GetScore()})
		}
	}
	if len(answer) == 0 {
		out.Answer = nothingKnown
		if len(best) > 0 { // one sentence, too long for the answer: its beginning
			h := hits[best[0].hit]
			out.Answer, _ = firstWords(best[0].text, maxWords)
			out.Citations = []*pb.Citation{{Node: h.GetNode(), Chunk: h.GetChunk(), Score: h.GetScore()}}
		}
		return out
	}
	out.Answer = strings.Join(answer, " ")
	return out
}

// firstWords gives the beginning of a text that has at most so many words, and
// their number. In scripts that put no space between words each letter is one.
func firstWords(s string, most int) (beginning string, n int) {
	inside := false
	for i, r := range s {
		begins := false
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
			begins, inside = true, false
		case unicode.IsSpace(r):
			inside = false
		default:
			begins, inside = !inside, true
		}
		if begins && n == most {
			return strings.TrimSpace(s[:i]), n
		}
		if begins {
			n++
		}
	}
	return s, n
}
