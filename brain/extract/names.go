package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"orgmem/brain/extract/tagger"
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
	p        float64    // that it is a name, by the tagger
}

// spans reads the names off the tags of a block.
func (r *reader) spans(tags []tagger.Tag, names []float64) {
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
			r.found = append(r.found, span{i, stop, tag, mean(names[i:stop])})
			i = part // what stands below a heading is another name
		}
	}
}

// parted tells whether a token begins a sentence on a line of its own: the tagger was
// trained on posts, which have no headings, and takes a heading and what stands below
// it for one name.
func (r *reader) parted(i int) bool {
	return r.tokens[i].First && strings.Contains(r.text[r.tokens[i-1].End:r.tokens[i].Start], "\n")
}

// unbroken is where a name ends at the latest: at a mark that no name holds. A
// colon stands in titles, before a capital.
func (r *reader) unbroken(from, to int, tag tagger.Tag) int {
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

// prose tells whether capitals mean names in a block: most words have none.
func (r *reader) prose() bool {
	words, capitals := 0, 0
	for _, t := range r.tokens {
		if t.Kind != tagger.Word {
			continue
		}
		words++
		if first, _ := utf8.DecodeRuneInString(r.text[t.Start:]); unicode.IsUpper(first) {
			capitals++
		}
	}
	return words >= 4 && capitals*5 <= words*3
}

// post tells whether a block is of the kind that the tagger was trained on, and so
// knows best: it has accounts and topics.
func (r *reader) post() bool {
	for _, t := range r.tokens {
		if t.Kind == tagger.Handle || t.Kind == tagger.Hashtag {
			return true
		}
	}
	return false
}

// capital tells whether a token can be part of a run of capitals.
func (r *reader) capital(i int) bool {
	t := r.tokens[i]
	if t.Kind != tagger.Word {
		return false
	}
	w := r.text[t.Start:t.End]
	first, _ := utf8.DecodeRuneInString(w)
	return unicode.IsUpper(first) || strings.IndexFunc(w, unicode.IsUpper) > 0 // iPhone
}

// plain are words that are capitalised without being names.
func (r *reader) plain(i int) bool {
	w := r.word(i)
	if w == "I" || months[r.lows[i]] > 0 || weekdays[r.lows[i]] > 0 || interjections[r.lows[i]] {
		return true
	}
	e, _ := r.model.Find(w)
	switch e.Class.Part() {
	case tagger.Function, tagger.Calendar, tagger.Honorific, tagger.Demonym, tagger.Numeral,
		tagger.Expression, tagger.Adverb:
		return true
	default:
		return false
	}
}

func (r *reader) word(i int) string { return r.text[r.tokens[i].Start:r.tokens[i].End] }

// interjections are words of speech that dictionaries leave out.
var interjections = map[string]bool{
	"ok": true, "okay": true, "yeah": true, "yep": true, "yup": true, "nope": true, "mm": true, "mmm": true, "hmm": true,
	"um": true, "uh": true,
	"ah": true, "oh": true, "huh": true, "wow": true, "lol": true, "haha": true, "hey": true, "hi": true, "hello": true,
	"thanks": true, "thx": true,
	"btw": true, "fyi": true, "imo": true, "imho": true, "tl;dr": true, "tbh": true, "idk": true, "omg": true,
	"wtf": true, "lmao": true,
}

// linking are the small words inside of names.
var linking = map[string]bool{
	"of": true, "the": true, "de": true, "du": true, "la": true, "von": true, "van": true, "der": true, "del": true,
	"al": true, "for": true,
}

// runs adds the runs of capitals that the tagger left out, in prose: it was
// trained on posts, and knows too little of the names of other fields.
func (r *reader) runs(tags []tagger.Tag, names []float64) {
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
			r.run(span{from, to, tagger.Outside, mean(names[from:to])})
		}
		i = end
	}
}

// run keeps a run of capitals if the tagger does not rule it out.
func (r *reader) run(f span) {
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
func (r *reader) statement(f span) bool {
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
func (r *reader) subject(f *span) bool {
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
	if f.tag == tagger.Outside {
		return 0.4 + 0.6*f.p
	}
	return max(f.p, MinConfidence)
}
