package conflict

import (
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"orgmem/brain/claim"
	"orgmem/brain/extract/locale"
)

// maxTokens bounds the words of a sentence that are compared.
const maxTokens = 64

// leastWords is how many words with a meaning a statement needs: "it does not
// work" could be about anything.
const leastWords = 2

// profile is a claim as two are compared.
type profile struct {
	claim *claim.Claim
	words []token
	// bloom has a bit for each stem: two sentences that share few bits share few
	// words.
	bloom uint64
	nots  int // negations
	// firstVerb and lastVerb are where the first and the last word of verbs begin; without
	// a verb, behind all words and before them.
	firstVerb, lastVerb int32
	// definite: it speaks of a thing that is the same wherever it is spoken of.
	definite bool
	// general: it says of every thing of a kind how much it is.
	general bool
	// left: of what it speaks stands elsewhere in its passage.
	left reliance
	// values are those that it gives, meant is how it is meant, and holder says that it speaks of a single thing ("the
	// treasurer"). valued: readValues has filled these three.
	values         []claim.Value
	meant          uint8
	holder, valued bool
	// bare is the statement without what does not count when two are compared as texts, in lower case, and heading: it
	// is a heading, which says nothing.
	bare    string
	heading bool
	// langs are the languages other than English that it is in.
	langs locale.Languages
}

// token is a word that carries meaning.
type token struct {
	id   uint64 // of the stem, or of that of the first of its synonyms
	word *claim.Word
	sign int8 // 1 more, −1 less
	// weak words mean little by themselves: know, thing, get; and who speaks is not
	// what is spoken of.
	weak bool
	// opposable words have an antonym at all.
	opposable bool
	// value is the place of the value that it belongs to, −1 where it belongs to none.
	value int8
}

// prepare makes the profiles of a passage's claims, once. Questions state
// nothing, code is shown and not said, and an address behind a label says something only of what the passage stands
// under.
func (p *Passage) prepare() []profile {
	if p.prepared {
		return p.profiles
	}
	p.prepared = true
	p.subject, p.replies = subjectOf(p.Title)
	whole := locale.Surely(p.Text)
	for i := range p.Claims {
		c := &p.Claims[i]
		if c.Asks || c.Shows || c.Points && c.Fact.Key == 0 {
			continue
		}
		pr, said := profileOf(c), p.Text[c.Span.Start:c.Span.End]
		pr.bare, pr.heading = bare(said), heads(said)
		if pr.langs = locale.Of(said); pr.langs.None() && !english(c) {
			pr.langs = whole
		}
		switch {
		case p.topic.names != nil:
			pr.left = p.topic.leaves(&pr)
		case i < topicClaims:
			p.topic.define(&pr)
		}
		if len(pr.words)-addressed(c.Words, p.Text) >= leastWords {
			p.profiles = append(p.profiles, pr)
		}
	}
	return p.profiles
}

// english tells whether a claim has a word that holds English sentences together, so that it is in no other language
// though it stands among sentences of one.
func english(c *claim.Claim) bool {
	return slices.ContainsFunc(c.Words, func(w claim.Word) bool {
		return verbs[w.Form] || articles[w.Form] && w.Form != "a"
	})
}

func profileOf(c *claim.Claim) profile {
	p := profile{claim: c, words: make([]token, 0, len(c.Words)/2+1), firstVerb: math.MaxInt32, lastVerb: -1}
	var owned, some, scene bool // the door; a door; is opening a door
	for k := range c.Words {
		w := &c.Words[k]
		if w.Link != 0 {
			p.address(k)
			continue
		}
		switch w.Kind {
		case claim.Negation:
			if !p.answers(k) {
				p.nots++
			}
			continue
		case claim.Function:
			if len(p.words) == 0 {
				owned = owned || owners[w.Form]
				some = some || indefinites[w.Form]
			}
			continue
		case claim.Number:
			some = some || len(p.words) == 0
		case claim.Content, claim.Time:
		}
		if len(p.words) > 0 && k > 0 && beings[c.Words[k-1].Form] && strings.HasSuffix(w.Form, "ing") {
			scene = true
		}
		if len(p.words) == maxTokens {
			break
		}
		stem := w.Stem
		if first, ok := sameAs()[stem]; ok {
			stem = first
		}
		t := token{
			id: xxhash.Sum64String(stem), word: w, sign: signs()[w.Stem], weak: weak[w.Form] || w.Label,
			opposable: opposable()[w.Stem],
		}
		if w.Code {
			t.sign = 0 // it is what something is called
		}
		owned = owned || w.Name
		p.add(t)
	}
	p.definite = owned || !some && !scene // "coffee keeps people awake" is about all coffee
	for k := range c.Words {
		if w := &c.Words[k]; verbs[w.Form] && w.Link == 0 {
			p.firstVerb, p.lastVerb = min(p.firstVerb, w.Start), w.Start
		}
	}
	p.general = !scene && slices.ContainsFunc(c.Words, func(w claim.Word) bool { return measures[w.Form] })
	return p
}

func (p *profile) add(t token) {
	p.words = append(p.words, t)
	p.bloom |= 1 << (t.id & 63)
}

// address adds the address that begins with the k-th word of the claim, as one word that means little: it is the same
// or another, whatever its letters spell.
func (p *profile) address(k int) {
	words := p.claim.Words
	if k > 0 && words[k-1].Link == words[k].Link || len(p.words) == maxTokens {
		return
	}
	var all xxhash.Digest
	all.Reset()
	for i := k; i < len(words) && words[i].Link == words[k].Link; i++ {
		_, _ = all.WriteString(words[i].Stem + " ")
	}
	p.add(token{id: all.Sum64(), word: &words[k], weak: true})
}

// answers tells whether the k-th word of the claim is the no of an answer, which denies what somebody else has said,
// and nothing here: "No, the key is with Ann".
func (p *profile) answers(k int) bool {
	words := p.claim.Words
	return words[k].Form == "no" && k+1 < len(words) && !words[k+1].Not
}

// strangers tells at once that two claims share next to nothing.
func strangers(x, y *profile) bool { return bits.OnesCount64(x.bloom&y.bloom) < leastWords }
