package answer

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"orgmem/brain/text"
	"orgmem/brain/voice"
	pb "orgmem/proto"
)

const (
	// minEvidenceCosine and minEvidenceKeyword are what a passage must reach, one
	// or the other, to be taken for being about the question at all: search ranks
	// whatever there is. The model's cosine of a question and a passage that have
	// nothing to do with each other stays below 0.25, and a third of the query's
	// information is more than a common word in common.
	minEvidenceCosine  = 0.3
	minEvidenceKeyword = 0.34
	// minReadCosine and minReadKeyword are what it must reach to be read, where a reader says whether it answers: as
	// much as one word of several.
	minReadCosine  = 0.1
	minReadKeyword = 0.1
)

// Evidence keeps the hits that are about the query.
func Evidence(hits []*pb.Hit) []*pb.Hit { return near(hits, minEvidenceCosine, minEvidenceKeyword) }

func isEvidence(h *pb.Hit) bool { return isNear(h, minEvidenceCosine, minEvidenceKeyword) }

// Readable keeps the hits that are worth reading for an answer to the query.
func Readable(hits []*pb.Hit) []*pb.Hit { return near(hits, minReadCosine, minReadKeyword) }

func near(hits []*pb.Hit, cosine, keyword float64) []*pb.Hit {
	return slices.DeleteFunc(slices.Clone(hits), func(h *pb.Hit) bool { return !isNear(h, cosine, keyword) })
}

// isNear tells whether a hit is about its query by meaning or by its words.
func isNear(h *pb.Hit, cosine, keyword float64) bool {
	return h.GetVector() >= cosine || h.GetKeyword() >= keyword
}

// sentence is a sentence that may become part of an answer.
type sentence struct {
	text     string
	said     string // in the manner of the asker
	at       text.Span
	hit      int // its hit
	worth    float64
	selected bool
}

// Compose puts an answer together: the sentences that hold most of the query's
// words, each worth more the better its passage ranks, in the order in which
// they were written. share says what part of the question's words a sentence holds, 0 to
// 1. The answer has at most maxWords words. The sentences say what they said, in a
// person's manner; nil: word for word. Courtesies are no sentences: where there is nothing
// else, nothing answers, in the question's language.
func Compose(
	question string, hits []*pb.Hit, share func(string) float64, maxWords int, manner *voice.Profile,
) *pb.BrainAnswered {
	hits = ownHits(question, hits)
	var all []*sentence
	take := func(i int, sp text.Span) *sentence {
		s := &sentence{text: strings.Join(strings.Fields(hits[i].GetChunk()[sp.Start:sp.End]), " "), at: sp, hit: i}
		s.said = manner.Retell(s.text)
		return s
	}
	for i, h := range hits {
		first := len(all)
		var begin *sentence
		for sp := range text.Sentences(h.GetChunk()) {
			s := take(i, sp)
			if spoken(h.GetChunk(), sp, text.Span{}) == "" { // nothing but a courtesy
				continue
			}
			if begin == nil {
				begin = s
			}
			if s.worth = share(s.text) * h.GetScore(); s.worth > 0 {
				all = append(all, s)
			}
		}
		if len(all) == first && begin != nil { // found by its meaning: none of its words is the query's
			all = append(all, begin)
		}
	}
	best := slices.Clone(all)
	slices.SortStableFunc(best, func(a, b *sentence) int { return cmp.Compare(b.worth, a.worth) })
	left := maxWords
	said := map[string]bool{}
	for _, s := range best {
		_, n := FirstWords(s.said, math.MaxInt)
		if said[s.said] || n > left {
			continue
		}
		s.selected, said[s.said] = true, true
		left -= n
	}
	out := &pb.BrainAnswered{}
	var answer []string
	cited := -1
	for _, s := range all {
		if !s.selected {
			continue
		}
		answer = append(answer, s.said)
		if s.hit != cited {
			cited = s.hit
			out.Citations = append(out.Citations, citeAt(hits[cited], s.at))
		}
		out.Citations[len(out.Citations)-1].SpanEnd = uint32(s.at.End)
	}
	if len(answer) == 0 {
		out.Answer = Nothing(question)
		if len(best) > 0 { // one sentence, too long for the answer: its beginning
			out.Answer, _ = FirstWords(best[0].said, maxWords)
			out.Citations = []*pb.Citation{citeAt(hits[best[0].hit], best[0].at)}
		}
		return out
	}
	out.Answer = manner.End(strings.Join(answer, " "))
	return out
}

// FirstWords gives the beginning of a text that has at most so many words, and
// their number. In scripts that put no space between words each letter is one.
func FirstWords(s string, most int) (beginning string, n int) {
	words := wordSpans(s)
	if 0 <= most && most < len(words) {
		return strings.TrimSpace(s[:words[most].Start]), most
	}
	return s, len(words)
}

// Cite names the passage that a hit shows, with its score.
func Cite(h *pb.Hit) *pb.Citation {
	return &pb.Citation{Node: h.GetNode(), Chunk: h.GetChunk(), Score: h.GetScore(), Subject: h.GetSubject()}
}

// citeAt names what of a passage an answer rests on, too.
func citeAt(h *pb.Hit, at text.Span) *pb.Citation {
	c := Cite(h)
	c.SpanStart, c.SpanEnd = uint32(at.Start), uint32(at.End)
	return c
}
