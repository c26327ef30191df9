package extract

import (
	"slices"
	"strings"

	"orgmem/brain/extract/tagger"
	reading "orgmem/brain/reader"
)

const (
	// nameBias is what a name must gain over none, in units of log odds. Negative:
	// the tagger was trained on posts, where few capitals mean a name, and finds too
	// few elsewhere. Chosen on the development data of wnut17 (DESIGN.md).
	nameBias = -1.25
	// minRunProbability is what the tagger must give to a run of capitals in well
	// written prose, where it is a name by the rules of spelling alone.
	minRunProbability = 0.1
	// minCommonProbability is what it must give where all of the run are words of the
	// dictionary: people capitalise for emphasis too.
	minCommonProbability = 0.2
	// minPostProbability is the same for posts, where capitals are used at will.
	minPostProbability = 0.5
)

// span is a name in tokens of a block: [from, to).
type span struct {
	from, to int
	tag      tagger.Tag // the class, Outside for a run of capitals
	p        float64    // that it is a name, by the tagger or the reader

	proposed bool         // by the reader
	said     reading.Type // then, by the reader
}

// recognizer finds the names of a block.
type recognizer struct {
	block
	decoder *tagger.Decoder
	found   []span
}

// recognize finds what may be names, in order, and gives the tags of the tokens.
func (r *recognizer) recognize() []tagger.Tag {
	tags, names := r.decoder.Tag(r.text, r.tokens, nameBias)
	r.spans(tags, names)
	r.runs(tags, names)
	slices.SortFunc(r.found, func(a, b span) int { return a.from - b.from })
	r.merge()
	r.partFeasts()
	r.roster()
	return tags
}

// spans reads the names off the tags of a block.
func (r *recognizer) spans(tags []tagger.Tag, names []float64) {
	r.found = r.found[:0]
	for i := 0; i < len(tags); {
		if !tags[i].Begins() {
			i++
			continue
		}
		end := i + 1
		for end < len(tags) && tags[end] != tagger.Outside && !tags[end].Begins() {
			end++
		}
		for tag := tags[i]; i < end; {
			part := i + 1
			for part < end && !r.parted(part) {
				part++
			}
			stop := r.unbroken(i, part, tag)
			r.found = append(r.found, span{from: i, to: stop, tag: tag, p: mean(names[i:stop])})
			i = part // what stands below a heading is another name
		}
	}
}

// unbroken is where a name ends at the latest: at a mark that no name holds. A
// colon stands in titles, before a capital.
func (r *recognizer) unbroken(from, to int, tag tagger.Tag) int {
	for i := from + 1; i < to; i++ {
		if r.tokens[i].Kind != tagger.Mark {
			continue
		}
		switch w := r.word(i); {
		case w == ":" && tag == tagger.BeginWork && i+1 < to && r.capital(i+1):
		case strings.ContainsAny(w, `:;(){}[]<>|"“”?*=_~`), strings.Contains(w, "..."):
			return i
		}
	}
	return to
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// linking are the small words inside of names.
var linking = map[string]bool{
	"of": true, "the": true, "de": true, "du": true, "la": true, "von": true, "van": true, "der": true, "del": true,
	"al": true, "for": true,
}

// runs adds the runs of capitals that the tagger left out, in prose: it was
// trained on posts, and knows too little of the names of other fields.
func (r *recognizer) runs(tags []tagger.Tag, names []float64) {
	if !r.prose() {
		return
	}
	for i := 0; i < len(tags); {
		if tags[i] != tagger.Outside || !r.capital(i) {
			i++
			continue
		}
		end := i + 1
		for end < len(tags) && !r.tokens[end].First && tags[end] == tagger.Outside {
			if r.capital(end) {
				end++
				continue
			}
			k := end
			for k < len(tags) && k < end+2 && linking[r.word(k)] {
				k++
			}
			if k == end || k == len(tags) || tags[k] != tagger.Outside || !r.capital(k) {
				break
			}
			end = k + 1
		}
		from := i
		for from < end && r.plain(from) {
			from++
		}
		// The first word of a sentence is capitalised whatever it is.
		if from < end && r.tokens[from].First {
			e, _ := r.model.Find(r.word(from))
			if e.Class&tagger.Common != 0 && (end-from == 1 || e.Class.Part() != 0 && !r.capital(from+1)) {
				from++
			}
		}
		to := end
		for to > from && r.plain(to-1) {
			to--
		}
		if from < to {
			r.run(span{from: from, to: to, tag: tagger.Outside, p: mean(names[from:to])})
		}
		i = end
	}
}

// run keeps a run of capitals if the tagger does not rule it out.
func (r *recognizer) run(f span) {
	need := minCommonProbability
	for i := f.from; i < f.to; i++ {
		if e, _ := r.model.Find(r.word(i)); e.Class&tagger.Common == 0 {
			need = minRunProbability
		}
	}
	if r.post() {
		need = minPostProbability
	}
	if f.p >= need {
		r.found = append(r.found, f)
	}
}

// statement tells whether a span is no name but a sentence: it begins one, goes on in
// small letters, and says what something is.
func (r *recognizer) statement(f span) bool {
	if !r.tokens[f.from].First {
		return false
	}
	says := false
	for i := f.from + 1; i < f.to; i++ {
		if r.capital(i) {
			return false
		}
		says = says || copulas[r.lows[i]]
	}
	return says
}

// subject cuts off what is said of a name ("Heron is 4", but not "Life Is Beautiful"),
// and of what is left at the head of a sentence all but the name ("The deadline of
// Heron"). It reports whether there is one.
func (r *recognizer) subject(f *span) bool {
	for i := f.from + 1; i < f.to; i++ {
		if !copulas[r.word(i)] || i+1 < f.to && r.capital(i+1) {
			continue
		}
		f.to = i
		if !r.tokens[f.from].First {
			return true
		}
		for k := f.to - 1; k > f.from; k-- {
			if r.capital(k) || linking[r.word(k)] {
				continue
			}
			for f.from = k + 1; f.from < f.to && !r.capital(f.from); f.from++ {
			}
			break
		}
		return f.from < f.to
	}
	return true
}

var copulas = map[string]bool{
	"is": true, "are": true, "was": true, "were": true, "am": true, "has": true, "have": true, "had": true,
}

// confidence is how sure a name is. Runs of capitals are right more often than the
// tagger believes: it gave them no class.
func (f span) confidence() float64 {
	if f.tag == tagger.Outside && !f.proposed {
		return 0.4 + 0.6*f.p
	}
	return max(f.p, MinConfidence)
}
