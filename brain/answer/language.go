package answer

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"orgmem/brain/quality"
	"orgmem/brain/text"
	pb "orgmem/proto"
)

// What answers a question may stand in memory in several languages. Where two passages are as good as each other, who
// asks gets the one in the language of the question.

const (
	// languageMargin is by how much of a search's score a passage in another language must be better than the best in the
	// question's for its sentences to be told beside those, without a reader: the words of a question alone make as much
	// of a difference between two languages (index.Config.KeywordWeight).
	languageMargin = 0.1
	// sameLanguage is what a passage in the question's language must reach, as a share of the best, to come before it
	// where that is in another. A passage that reaches as much is shown beside the best.
	sameLanguage = alsoAnswers
	// sameScore is how much less than that of the best its score in the search may be for that to do instead: of languages
	// that the reader has not learned it is less sure than it should be.
	sameScore = 0.05
	// maxLanguageText bounds what is looked at of a passage for its language.
	maxLanguageText = 2000
)

// latinCodes are those of the languages that are told by their words. Others are told by their script.
var latinCodes = map[text.Lang]string{
	text.English: "en", text.German: "de", text.French: "fr", text.Spanish: "es", text.Portuguese: "pt",
	text.Italian: "it", text.Dutch: "nl", text.Swedish: "sv", text.Norwegian: "no", text.Danish: "da",
	text.Finnish: "fi", text.Hungarian: "hu", text.Romanian: "ro", text.Turkish: "tr", text.Polish: "pl",
	text.Indonesian: "id", text.Vietnamese: "vi",
}

// languages tells the languages of texts. The zero value is ready to use, for one goroutine at a time.
type languages struct{ words text.Analyzer }

// of is the language of a text as an ISO 639-1 code; "" where nothing tells it.
func (l *languages) of(s string) string {
	s = text.Truncate(s, maxLanguageText)
	code := quality.Language(quality.Memory{Texts: []string{s}})
	if code != quality.Undetermined && code != "en" && !latin(code) {
		return code // by its script
	}
	langs := l.words.Passage("", s).Langs
	for x := text.English; x <= text.Vietnamese; x++ { // one at most, as the words tell it
		if c := latinCodes[x]; c != "" && langs.Has(x) {
			return c
		}
	}
	return ""
}

// latin tells whether a language is written in Latin script.
func latin(code string) bool {
	for _, c := range latinCodes {
		if c == code {
			return true
		}
	}
	return false
}

// language is what is known of the language of a passage beside that of the question.
type language uint8

const (
	untold    language = iota // of one of them
	inOwn                     // it is the question's
	inForeign                 // it is another
)

// beside tells of passages how their language stands to that of a question.
func beside(question string, passages []string) []language {
	out := make([]language, len(passages))
	if len(passages) < 2 { // there is nothing to choose
		return out
	}
	var l languages
	asked := l.of(question)
	for i, p := range passages {
		switch is := l.of(p); {
		case asked == "" || is == "":
		case is == asked:
			out[i] = inOwn
		default:
			out[i] = inForeign
		}
	}
	return out
}

// ownFirst puts passages in the question's language before the best where that is in another and they answer about as
// well, by the reader or by search. They are given most probable first.
func ownFirst(question string, answering []Read) {
	if len(answering) < 2 {
		return
	}
	passages := make([]string, len(answering))
	for i := range answering {
		passages[i] = answering[i].Hit.GetChunk()
	}
	for i, is := range beside(question, passages) {
		answering[i].language = is
	}
	best := answering[0]
	if best.language != inForeign {
		return
	}
	behind := func(r *Read) int {
		if r.language == inOwn &&
			(r.Answers >= sameLanguage*best.Answers || r.Hit.GetScore() >= best.Hit.GetScore()-sameScore) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(answering, func(a, b Read) int { return cmp.Compare(behind(&a), behind(&b)) })
}

// repeats tells whether a passage in another language than the question's says nothing beside one that is in it, as far
// as that can be told without a translation: the numbers of what they answer are the same and, where it was written
// later and so may say what has changed since, the words, too.
func (p *Read) repeats(told *Read) bool {
	if p.language != inForeign || told.language != inOwn {
		return false
	}
	if later(p, told) {
		return sameValue(value(p), value(told))
	}
	return numbersOf(value(p)) == numbersOf(value(told))
}

// numbersOf are the digits of a text, those of each number apart.
func numbersOf(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsDigit(r) }), " ")
}

// ownHits leaves out of hits what is in another language than the question and not better, by languageMargin at least,
// than the best that is in it.
func ownHits(question string, hits []*pb.Hit) []*pb.Hit {
	passages := make([]string, len(hits))
	for i, h := range hits {
		passages[i] = h.GetChunk()
	}
	in := beside(question, passages)
	best := -1
	for i := range hits {
		if in[i] == inOwn && (best < 0 || hits[i].GetScore() > hits[best].GetScore()) {
			best = i
		}
	}
	if best < 0 || !isEvidence(hits[best]) {
		return hits
	}
	var kept []*pb.Hit
	for i, h := range hits {
		if in[i] != inForeign || h.GetScore() > hits[best].GetScore()+languageMargin {
			kept = append(kept, h)
		}
	}
	return kept
}
