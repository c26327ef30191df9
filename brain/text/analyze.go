package text

import (
	"cmp"
	"math"
	"slices"

	"github.com/cespare/xxhash/v2"

	"orgmem/brain/text/compound"
	"orgmem/brain/text/language"
)

// maxCached bounds an analyzer's memory of words: 1<<15 words with their terms
// are about 3 MB, and hold all but a few per cent of the words of running text.
const maxCached = 1 << 15

// maxCachedWord keeps blobs out of that memory.
const maxCachedWord = 24

// maxQueryTerms bounds the words of a query that count. Nobody types more, and
// a pasted page must not cost a thousand posting lists.
const maxQueryTerms = 256

// Weights of what a query looks for beside its words.
const (
	// wholeWeight: an identifier found as a whole is worth as much as a word
	// (and its rarity makes it worth more).
	wholeWeight = 1
	// partWeight: pieces of a camel-case word are what the writer may have
	// meant; the word itself is what was written.
	partWeight = 0.25
	// otherWeight: another spelling of a name is most likely that name, but may
	// be another word.
	otherWeight = 0.5
)

// Analyzer turns text into terms. The zero value is ready to use. It caches
// words, so it is for one goroutine at a time; keep one per worker.
type Analyzer struct {
	scan  scanner
	occ   []occurrence
	cache [langCount]map[string]Term
	n     int
	key   []byte
	// What the identifier works with.
	sentences []sentence
	all, work language.Scores
	splitter  compound.Splitter
	rest      [1][]byte
}

type occurrence struct {
	term  Term
	title bool
}

// Passage analyses a chunk: its title path (joined by newlines) and its body.
func (a *Analyzer) Passage(title, body string) Passage {
	sc := &a.scan
	sc.reset()
	sc.scan(normalize(title))
	titleTokens := len(sc.tokens)
	sc.scan(normalize(body))

	a.identify()
	var p Passage
	occ, seq := a.occ[:0], make([]Term, 0, len(sc.tokens))
	for k := range sc.tokens {
		t := &sc.tokens[k]
		w := sc.buf[t.start:t.end]
		term := a.term(t.lang, w)
		p.Langs = p.Langs.With(t.lang)
		occ = append(occ, occurrence{term, k < titleTokens})
		if t.kind == tokWord && t.role == roleWord {
			for _, part := range a.partsOf(t.lang, w) {
				occ = append(occ, occurrence{a.term(t.lang, part), k < titleTokens})
			}
		}
		if t.role != roleWord || t.stop() {
			continue
		}
		if k >= titleTokens && p.Words == 0 && p.TitleWords > 0 {
			seq = append(seq, Break)
		}
		seq = append(seq, term)
		if k < titleTokens {
			p.TitleWords++
		} else {
			p.Words++
		}
	}
	a.occ, p.Sequence = occ, seq
	slices.SortFunc(occ, func(x, y occurrence) int { return cmp.Compare(x.term, y.term) })
	distinct := 0
	for k := range occ {
		if k == 0 || occ[k].term != occ[k-1].term {
			distinct++
		}
	}
	p.Terms = make([]TermFreq, 0, distinct)
	for k, o := range occ {
		if k == 0 || o.term != occ[k-1].term {
			p.Terms = append(p.Terms, TermFreq{Term: o.term})
		}
		f := &p.Terms[len(p.Terms)-1]
		if o.title {
			f.Title = increment(f.Title)
		} else {
			f.Body = increment(f.Body)
		}
	}
	return p
}

func increment(n uint16) uint16 {
	if n < math.MaxUint16 {
		n++
	}
	return n
}

// stop tells whether a token says nothing about its passage.
func (t *token) stop() bool { return t.covered || t.lang != Neutral && t.stops.Has(t.lang) }

// term gives the term of a lower-case word in a language.
func (a *Analyzer) term(l Lang, w []byte) Term {
	if l == Neutral && isASCII(w) {
		return a.hash(l, w)
	}
	if t, ok := a.cache[l][string(w)]; ok {
		return t
	}
	word := string(w)
	t := a.hash(l, []byte(stem(l, word)))
	if len(word) <= maxCachedWord {
		if a.n >= maxCached {
			a.n = 0
			clear(a.cache[:])
		}
		if a.cache[l] == nil {
			a.cache[l] = make(map[string]Term)
		}
		a.cache[l][word] = t
		a.n++
	}
	return t
}

// hash is xxHash64 (Collet) of the language's number and the form. It has no
// seed: terms are stored, and are the same in every process.
func (a *Analyzer) hash(l Lang, form []byte) Term {
	a.key = append(append(a.key[:0], byte(l)), form...)
	return Term(xxhash.Sum64(a.key))
}

// Query analyses a query for passages in the given languages (those of the
// snapshots to be searched). Stop words are left out unless there is nothing
// else. A query without any word gives an empty slice.
//
// Each word is looked up under every language of its script that the passages
// are in, stemmed by its rules: a name or a quotation shows no language, and a
// wrong guess at indexing does not lose a passage either. The query's language
// is guessed only to know its function words.
func (a *Analyzer) Query(query string, langs LangSet) []QueryTerm {
	sc := &a.scan
	sc.reset()
	sc.scan(normalize(query))
	// The query leaves out the function words of its own language, for the passages
	// of all languages: "of" would be a rare and telling word among French passages.
	// Without evidence the query counts as English.
	a.identify()
	terms := a.queryTerms(langs, false)
	if len(terms) == 0 {
		terms = a.queryTerms(langs, true)
	}
	return terms
}

func (a *Analyzer) queryTerms(langs LangSet, keepStops bool) []QueryTerm {
	sc := &a.scan
	var out []QueryTerm
	// A word that stands twice in the query counts twice, as in BM25's query
	// term frequency; the index joins equal terms.
	for k := range sc.tokens {
		t := &sc.tokens[k]
		if len(out) >= maxQueryTerms {
			break
		}
		if t.role == roleUnigram || t.covered && !keepStops {
			continue // the bigrams say it better
		}
		w := sc.buf[t.start:t.end]
		alts := a.alternatives(t, w, langs, keepStops)
		if len(alts) == 0 {
			continue
		}
		q := QueryTerm{Alts: alts, Weight: 1}
		switch t.role {
		case roleWhole:
			q.Weight, q.Optional = wholeWeight, true
		case rolePart:
			q.Weight, q.Optional = partWeight, true
		default: // an ordinary word
		}
		out = append(out, q)
		if t.kind == tokWord && t.role == roleWord {
			out = a.besides(out, t, w, langs)
		}
	}
	return out
}

// alternatives gives the word's terms in the languages of its script that are
// searched and in which it is not a function word; in its own language if no
// language fits.
func (a *Analyzer) alternatives(t *token, w []byte, langs LangSet, keepStops bool) []Term {
	family := familyOf(t)
	if family == 0 {
		if !keepStops && t.stop() {
			return nil
		}
		return []Term{a.term(t.lang, w)}
	}
	langs &= family
	if langs == 0 {
		langs = 1 << t.lang
	}
	if !keepStops {
		if t.stop() {
			return nil
		}
		langs &^= t.stops
	}
	var other []byte
	if t.script == scriptLatin {
		other = umlauts(w)
	}
	var alts []Term
	for l := range langCount {
		if !langs.Has(l) {
			continue
		}
		alts = appendTerm(alts, a.term(l, w))
		if other != nil && l != German { // whose stemmer knows
			alts = appendTerm(alts, a.term(l, other))
		}
	}
	return alts
}

// appendTerm appends a term that is not there yet.
func appendTerm(terms []Term, t Term) []Term {
	if slices.Contains(terms, t) {
		return terms
	}
	return append(terms, t)
}

// familyOf gives the languages that a word of the token's script may be in, if they are several.
func familyOf(t *token) LangSet {
	if t.kind != tokWord {
		return 0
	}
	switch t.script {
	case scriptLatin:
		return latinLangs
	case scriptCyrl:
		return cyrilLangs
	case scriptArab:
		return arabLangs
	default:
		return 0
	}
}
