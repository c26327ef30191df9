package text

// AnalysisVersion numbers the rules by which words become terms. A stored
// segment carries it; a segment of another version must be built again from the
// chunk texts, since its terms are not those that queries look for.
const AnalysisVersion = 3

// Term identifies an index term: a 64-bit hash of the folded, stemmed form and
// of its name space (a language, or none for numbers and identifiers).
//
// Hashes instead of strings keep the dictionary at eight fixed bytes per term,
// sorted, mergeable and searchable in place, and keep words out of the index.
// Two of ten million distinct terms collide with probability 3e-6; a collision
// adds a wrong posting to a ranking and nothing else.
type Term uint64

// TermFreq is a term of a passage and how often it stands in its body and in
// its title path; both saturate.
type TermFreq struct {
	Term        Term
	Body, Title uint16
}

// Passage is what the index stores of a chunk's words.
type Passage struct {
	// Terms are in ascending order of Term, each once.
	Terms []TermFreq
	// Words and TitleWords are the lengths for BM25: words that are not stop
	// words, in body and title path.
	Words, TitleWords uint32
	// Langs are the name spaces that Terms come from.
	Langs LangSet
	// Sequence are the words that Words and TitleWords count, in the order of
	// the text: the title path, Break if there is one, the body. Phrases are
	// found in it.
	Sequence []Term
}

// Break stands in a Sequence where no phrase crosses.
const Break Term = 0

// QueryTerm is one word of a query, in the order of the query, as the set of terms under which passages of
// different languages hold it. A passage holds a word under one of them only,
// so the set counts as a single term whose postings are the union.
type QueryTerm struct {
	Alts []Term
	// Weight scales the word's contribution; 1 for an ordinary word.
	Weight float32
	// Optional words (a compound as a whole, beside its parts) count in the
	// normaliser of the score only when the corpus holds them.
	Optional bool
}
