package text

import (
	"cmp"
	"math"
	"slices"

	"github.com/cespare/xxhash/v2"
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
	// unigramWeight: of a single Han character, which a word in other words shares more often than two.
	unigramWeight = 0.5
	// soundWeight: of the spellings that a name has in another script, some are of other names.
	soundWeight = 0.5
)

// Analyzer turns text into terms. The zero value is ready to use. It caches
// words, so it is for one goroutine at a time; keep one per worker.
type Analyzer struct {
	scan  scanner
	occ   []occurrence
	cache [langCount]map[string]lexeme
	n     int
	key   []byte
	// sounds are the keys of words in soundLatin and soundOther. They count with the words.
	sounds [2]map[string]Term
	// queryLang is the language of the query that is being analysed.
	queryLang Lang
}

// lexeme is what a word in a language is looked for by.
type lexeme struct {
	term Term
	// bare is the term of a word whose ending shows by its diacritics only, typed without them; 0 if it is the same.
	bare Term
	// parts are the terms of the words that a compound is made of, once it was looked at for any.
	parts    []Term
	lookedAt bool
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

	latin := a.identify(englishFirst)
	var p Passage
	occ, seq := a.occ[:0], make([]Term, 0, len(sc.tokens))
	for k, t := range sc.tokens {
		w := sc.buf[t.start:t.end]
		l := languageOf(t, latin)
		if in, ok := soundSpace(t, w); ok && (t.role == roleSound || !isStop(w, l)) && !a.germanNoun(l, k) {
			if sound := a.sound(in, w); sound != 0 {
				p.Langs = p.Langs.With(in)
				occ = append(occ, occurrence{sound, k < titleTokens})
			}
		}
		if t.role == roleSound {
			continue
		}
		x := a.lexeme(l, w, true)
		term := x.term
		p.Langs = p.Langs.With(l)
		occ = append(occ, occurrence{term, k < titleTokens})
		if x.bare != 0 {
			occ = append(occ, occurrence{x.bare, k < titleTokens})
		}
		for _, part := range x.parts {
			occ = append(occ, occurrence{part, k < titleTokens})
		}
		if t.role != roleWord || isStop(w, l) {
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

// languageOf gives the name space of a token, where words in Latin script
// belong to the given language.
func languageOf(t token, latin Lang) Lang {
	if t.kind != tokWord {
		return Neutral
	}
	switch t.script {
	case scriptLatin:
		return latin
	case scriptCyrl:
		return Russian
	case scriptArab:
		return Arabic
	default:
		return Neutral
	}
}

// isStop tells whether a word says nothing about its passage.
func isStop(w []byte, l Lang) bool {
	if l == Neutral {
		return !isASCII(w) && scriptStops[string(w)]
	}
	return stopTable[string(w)].Has(l)
}

// term gives the term of a lower-case word in a language.
func (a *Analyzer) term(l Lang, w []byte) Term { return a.lexeme(l, w, false).term }

// lexeme gives the terms of a lower-case word in a language, and those of its parts if they are asked for.
func (a *Analyzer) lexeme(l Lang, w []byte, parts bool) lexeme {
	if l == Neutral && isASCII(w) {
		return lexeme{term: a.hash(l, w)}
	}
	x, ok := a.cache[l][string(w)]
	if ok && (x.lookedAt || !parts) {
		return x
	}
	word := string(w)
	if !ok {
		x.term = a.hash(l, []byte(stem(l, word)))
		if latinLangs.Has(l) && l != English && !isASCII(w) {
			if t := a.hash(l, []byte(stem(l, stripAccents(word)))); t != x.term {
				x.bare = t
			}
		}
	}
	if parts {
		x.lookedAt = true
		for _, part := range split(l, word) {
			x.parts = append(x.parts, a.hash(l, []byte(part)))
		}
	}
	keep(a, &a.cache[l], word, x)
	return x
}

// keep has an analyzer remember what it made of a word. Once it knows maxCached it begins anew.
func keep[V any](a *Analyzer, in *map[string]V, word string, v V) {
	if len(word) > maxCachedWord {
		return
	}
	if a.n >= maxCached {
		a.n = 0
		clear(a.cache[:])
		clear(a.sounds[:])
	}
	if *in == nil {
		*in = make(map[string]V)
	}
	(*in)[word] = v
	a.n++
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
// Each word is looked up under every language that the passages are in, stemmed
// by its rules: three words are too few to tell the query's own language, and a
// wrong guess at indexing does not lose a passage either. The query's language
// is guessed only to know its function words.
func (a *Analyzer) Query(query string, langs LangSet) []QueryTerm {
	sc := &a.scan
	sc.reset()
	sc.asked = true
	sc.scan(normalize(query))
	sc.asked = false
	// The query leaves out the function words of its own language, for the passages
	// of all languages: "of" would be a rare and telling word among French passages.
	// Without evidence the query counts as English.
	a.queryLang = a.identify(englishAsked)
	terms := a.queryTerms(langs, false)
	if !slices.ContainsFunc(terms, func(t QueryTerm) bool { return !t.Optional }) {
		terms = a.queryTerms(langs, true)
	}
	return terms
}

func (a *Analyzer) queryTerms(langs LangSet, keepStops bool) []QueryTerm {
	sc := &a.scan
	var out []QueryTerm
	sounded := 0
	// A word that stands twice in the query counts twice, as in BM25's query
	// term frequency; the index joins equal terms.
	for _, t := range sc.tokens {
		if len(out) == maxQueryTerms {
			break
		}
		if t.role == roleStop && !keepStops {
			continue
		}
		w := sc.buf[t.start:t.end]
		if sounded < maxSounded {
			if q := a.asSounds(t, w, langs, keepStops); len(q.Alts) > 0 {
				sounded++
				out = append(out, q)
			}
		}
		if t.role == roleSound {
			continue
		}
		var alts, bare, parts []Term
		if t.kind == tokWord && t.script == scriptLatin {
			alts, bare, parts = a.latinAlts(w, langs, keepStops)
		} else if l := languageOf(t, English); keepStops || !isStop(w, l) {
			alts = []Term{a.term(l, w)}
		}
		if len(alts) == 0 {
			continue
		}
		q := QueryTerm{Alts: alts, Weight: 1}
		switch t.role {
		case roleWhole:
			q.Weight, q.Optional = wholeWeight, true
		case rolePart:
			q.Weight, q.Optional = partWeight, true
		case roleUnigram:
			q.Weight, q.Optional = unigramWeight, true
		case roleEdge:
			q.Weight = partWeight
		default: // an ordinary word
		}
		out = append(out, q)
		if len(bare) > 0 {
			out = append(out, QueryTerm{Alts: bare, Weight: partWeight, Optional: true})
		}
		for _, part := range parts {
			out = append(out, QueryTerm{Alts: []Term{part}, Weight: partWeight, Optional: true})
		}
	}
	return out[:min(len(out), maxQueryTerms)]
}

// latinAlts gives the word's terms in the Latin-script languages that are
// searched and in which it is not a function word (English if no language fits),
// those that texts without diacritics have, and those of the words that it is
// made of.
func (a *Analyzer) latinAlts(w []byte, langs LangSet, keepStops bool) (alts, bare, parts []Term) {
	langs &= latinLangs
	if langs == 0 {
		langs = 1 << English
	}
	if !keepStops {
		stops := stopTable[string(w)]
		if stops.Has(a.queryLang) {
			return nil, nil, nil
		}
		langs &^= stops
	}
	for l := English; l < langCount; l++ {
		if !langs.Has(l) {
			continue
		}
		x := a.lexeme(l, w, l == a.queryLang)
		alts = append(alts, x.term)
		if x.bare != 0 {
			bare = append(bare, x.bare)
		}
		if l == a.queryLang {
			parts = x.parts
		}
	}
	return alts, bare, parts
}
