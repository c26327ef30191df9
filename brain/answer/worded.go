package answer

import (
	"math"
	"slices"
	"strings"

	"orgmem/brain/grounding"
	"orgmem/brain/text"
	"orgmem/brain/voice"
	pb "orgmem/proto"
)

// Worded is a sentence that a language model has written, and the passages that it
// names as its source, as their places among the hits.
type Worded struct {
	Text string
	Hits []int
}

// Wording is what a language model was given, and how its answer is to be told.
type Wording struct {
	Hits     []*pb.Hit // the passages that it was given
	MaxWords int
	Manner   *voice.Profile // of the person who asks; nil: it is not known
	Analyzer *text.Analyzer // the caller's
	// Follows tells whether a sentence follows from passages, which grounding says to have its words; nil: that is enough.
	Follows func(sentence string, passages []string) bool
}

// Reword puts what a language model has said into the place of an answer's words, as far
// as the passages say it, and leaves the answer where they say nothing of it.
func Reword(to *pb.BrainAnswered, said []Worded, how *Wording) {
	hits, manner := how.Hits, how.Manner
	var checker grounding.Checker
	var answer []string
	var cited []int
	left := how.MaxWords
	for _, s := range said {
		var passages, texts []string
		for _, k := range s.Hits {
			passages = append(passages, text.OneLine(hits[k].GetTitle()), hits[k].GetChunk())
			texts = append(texts, hits[k].GetChunk())
		}
		for sp := range text.Sentences(s.Text) { // there may be several, and each is to be said
			sentence := s.Text[sp.Start:sp.End]
			told := manner.Retell(sentence)
			_, n := FirstWords(told, math.MaxInt)
			if n > left || !checker.Holds(sentence, passages...) ||
				how.Follows != nil && !how.Follows(sentence, texts) {
				continue
			}
			left -= n
			answer = append(answer, told)
			for _, k := range s.Hits {
				h := hits[k]
				if !slices.Contains(cited, k) && grounding.Share(how.Analyzer, sentence, h.GetTitle()+"\n"+h.GetChunk()) > 0 {
					cited = append(cited, k)
				}
			}
		}
	}
	if len(answer) == 0 {
		return
	}
	before := to.GetCitations()
	to.Answer, to.Citations = manner.End(strings.Join(answer, " ")), nil
	for _, i := range cited {
		c := Cite(hits[i])
		for _, b := range before { // what was found to answer still is what it rests on
			if b.GetNode() == c.GetNode() && b.GetChunk() == c.GetChunk() {
				c.SpanStart, c.SpanEnd = b.GetSpanStart(), b.GetSpanEnd()
			}
		}
		to.Citations = append(to.Citations, c)
	}
}
