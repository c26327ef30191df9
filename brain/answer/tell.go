package answer

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"orgmem/brain/reader"
	"orgmem/brain/text"
	"orgmem/brain/voice"
	pb "orgmem/proto"
)

// Bars of the reader's probabilities, chosen on the held-out questions of train/data with bench/asked.
const (
	// leastAnswers is what one passage at least must reach for there to be an answer. The reader learns to doubt, since
	// four of five passages that it is shown do not answer: with these bars one in eight of the held-out questions is
	// refused that has an answer, and half of those that have none.
	leastAnswers = 0.05
	// sureAnswers is from where on that is enough. What answers with less must also be evidence by what search sees, since
	// the reader holds passages that have nothing to do with a question for an answer now and then, with little certainty.
	sureAnswers = 0.15
	// sureUnnamed is what a passage must reach that does not speak of what the question names, unless it has sharedUnnamed
	// of the question's words otherwise: a note need not say of what house the key is.
	sureUnnamed   = 0.9
	sharedUnnamed = 0.34
	// alsoAnswers is what others must reach, as a share of the best, to be told beside it, and laterAnswers where they are
	// later, to be told in its place.
	alsoAnswers, laterAnswers = 0.9, 0.3
	// maxTold is how many passages an answer tells of.
	maxTold = 2
)

// apartMs is how far two texts are apart, at least, for the later to say what is and the other what was.
const apartMs = 3_600_000

// Read is a passage with what the reader makes of it.
type Read struct {
	reader.Reading

	Hit   *pb.Hit
	Who   string // who says it where the answer has to say so: its writer, or the one whose memory it is in
	Asker bool   // it is in the asker's own memory
	AtMs  int64  // when it was written; 0: it is not known

	Window text.Span // the stretch of the passage that was read
	Before string    // what stands before the passage in its text, as far as it is known, with the space between

	language language // beside the question's; set by Answering
}

// Question is what is asked, and how the answer is to be told.
type Question struct {
	Text     string
	AtMs     int64 // when it is asked
	MaxWords int
	Manner   *voice.Profile // of the asker; nil: it is not known
}

// Chosen is a passage that an answer tells of.
type Chosen struct {
	*Read

	Former bool // a later one gives another answer
}

// Answering keeps the passages that answer a question, most probable first, by their score in the search where they are
// equally so. Where the best is in another language than the question, those that are in it and answer about as well
// come before it. None: nothing answers.
func Answering(question string, read []Read) (kept []Read) {
	writers := writersAsked(question, read)
	for _, p := range read {
		if p.answers() && mayAnswer(question, &p, writers) {
			kept = append(kept, p)
		}
	}
	slices.SortStableFunc(kept, func(a, b Read) int {
		return cmp.Or(cmp.Compare(b.Answers, a.Answers), cmp.Compare(b.Hit.GetScore(), a.Hit.GetScore()))
	})
	ownFirst(question, kept)
	return kept
}

// answers tells whether a passage answers, whatever the question is about.
func (p *Read) answers() bool {
	return p.Answers >= sureAnswers ||
		p.Answers >= leastAnswers && isEvidence(p.Hit)
}

// Choose chooses of the passages that answer, which [Answering] gives, those that are told. Where two give different
// answers and were written apart, the later says what is; the other is told only where the question asks what was.
// Where it is not known which is the later, both are told. What says in another language what one in the question's
// says is not told beside it.
func Choose(question string, answering []Read) []Chosen {
	var told []*Read
	for i := range answering {
		p, best := &answering[i], answering[0].Answers
		if p.Answers < laterAnswers*best {
			break
		}
		if slices.ContainsFunc(told, p.repeats) {
			continue
		}
		laterThan := func(t *Read) bool { return later(p, t) }
		if len(told) < maxTold && p.Answers >= alsoAnswers*best || slices.ContainsFunc(told, laterThan) {
			told = append(told, p)
		}
	}
	newest := int64(0)
	for _, p := range told {
		newest = max(newest, p.AtMs)
	}
	slices.SortStableFunc(told, func(a, b *Read) int { // what stands, as it is; then what was, the latest first
		x, y := newest-a.AtMs >= apartMs && a.AtMs > 0, newest-b.AtMs >= apartMs && b.AtMs > 0
		switch {
		case x && y:
			return cmp.Compare(b.AtMs, a.AtMs)
		case x:
			return 1
		case y:
			return -1
		}
		return 0
	})
	var out []Chosen
	for _, p := range told {
		same := func(c Chosen) bool { return sameValue(value(c.Read), value(p)) }
		if len(out) == maxTold || slices.ContainsFunc(out, same) {
			continue
		}
		former := len(out) > 0 && p.AtMs > 0 && newest-p.AtMs >= apartMs
		if former && !past.MatchString(question) {
			continue
		}
		out = append(out, Chosen{p, former})
	}
	return out
}

// later tells whether a was written after b.
func later(a, b *Read) bool { return a.AtMs > 0 && b.AtMs > 0 && a.AtMs-b.AtMs >= apartMs }

// value is what a passage answers.
func value(p *Read) string { return p.Hit.GetChunk()[p.Span.Start:p.Span.End] }

// sameValue tells whether two answers are one, which the longer may say in more words.
func sameValue(a, b string) bool {
	x, y := valueWords(a), valueWords(b)
	if len(x) > len(y) {
		x, y = y, x
	}
	return len(x) > 0 && !slices.ContainsFunc(x, func(w string) bool { return !slices.Contains(y, w) })
}

func valueWords(s string) (words []string) {
	for w := range strings.FieldsSeq(strings.ToLower(s)) {
		w = strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsNumber(r) {
				return r
			}
			return -1
		}, w)
		if w != "" && text.FunctionWord(w) == 0 {
			words = append(words, w)
		}
	}
	return words
}

// Tell puts an answer together of what was chosen: whole sentences in the manner of the asker, who says it and when
// where that was another, and that the texts contradict each other (disputed) where they do.
func Tell(q Question, chosen []Chosen, disputed bool) *pb.BrainAnswered {
	words, out := wordsFor(q.Text), &pb.BrainAnswered{}
	left := q.MaxWords
	var told []string
	take := func(s string) bool {
		_, n := FirstWords(s, math.MaxInt)
		if s == "" || n > left || slices.Contains(told, s) {
			return false
		}
		left -= n
		told = append(told, s)
		return true
	}
	for _, c := range chosen {
		whole, alone := c.said()
		whole, alone = q.Manner.Retell(whole), q.Manner.Retell(alone)
		by := attribution(&words, &c, q.AtMs)
		switch {
		case alone == "":
			continue
		case take(by + whole), take(by + alone):
		case len(told) > 0:
			continue
		default: // one sentence, too long for the answer: what stands around the answer
			told, left = append(told, shortened(by, alone, &c, q.Manner, q.MaxWords)), 0
		}
		out.Citations = append(out.Citations, citeAt(c.Hit, c.Span))
	}
	if len(told) == 0 {
		out.Answer = words.nothing
		return out
	}
	if disputed && len(out.GetCitations()) > 1 {
		take(words.disputed)
	}
	out.Answer = q.Manner.End(strings.Join(told, " "))
	return out
}

// attribution is what stands before the words of a passage.
func attribution(words *phrases, c *Chosen, askedMs int64) string {
	day, who := "", c.Who
	if who == "" && !c.Asker {
		who = words.other
	}
	if c.AtMs > 0 {
		day = words.date(c.AtMs, askedMs)
	}
	switch {
	case c.Former && who != "":
		return strings.TrimRight(strings.Replace(words.before, "%s", day, 1), ": ") + ", " + who + ": "
	case c.Former:
		return strings.Replace(words.before, "%s", day, 1)
	case who != "" && day != "":
		return who + ", " + day + ": "
	case who != "":
		return who + ": "
	}
	return ""
}
