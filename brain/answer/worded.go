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

// Reword puts what a language model has said into the place of an answer's words, as far
// as the passages say it, and leaves the answer where they say nothing of it. hits are the
// passages that the model was given, maxWords bounds the answer, and manner is how the
// person who asks writes; nil: it is not known. The analyzer is the caller's.
func Reword(
	to *pb.BrainAnswered, said []Worded, hits []*pb.Hit, maxWords int, manner *voice.Profile, analyzer *text.Analyzer,
) {
	var checker grounding.Checker
	var answer []string
	var cited []int
	left := maxWords
	for _, s := range said {
		var passages []string
		for _, k := range s.Hits {
			passages = append(passages, text.OneLine(hits[k].GetTitle()), hits[k].GetChunk())
		}
		for sp := range text.Sentences(s.Text) { // there may be several, and each is to be said
			sentence := s.Text[sp.Start:sp.End]
			told := manner.Retell(sentence)
			_, n := FirstWords(told, math.MaxInt)
			if n > left || !checker.Holds(sentence, passages...) {
				continue
			}
			left -= n
			answer = append(answer, told)
			for _, k := range s.Hits {
				h := hits[k]
				if !slices.Contains(cited, k) && grounding.Share(analyzer, sentence, h.GetTitle()+"\n"+h.GetChunk()) > 0 {
					cited = append(cited, k)
				}
			}
		}
	}
	if len(answer) == 0 {
		return
	}
	to.Answer, to.Citations = manner.End(strings.Join(answer, " ")), nil
	for _, i := range cited {
		to.Citations = append(to.Citations, Cite(hits[i]))
	}
}
