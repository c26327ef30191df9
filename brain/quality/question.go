package quality

import (
	"cmp"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"

	"orgmem/brain/text"
)

// Kind says how a question was made.
type Kind string

// The kinds of questions, in the order in which they are told of. They are on the wire.
const (
	KindWords      Kind = "words"      // a sentence without its most telling words
	KindParaphrase Kind = "paraphrase" // a sentence without some of its words, the others in another order
	KindTitle      Kind = "title"      // a title, with some words of the text
	KindFormer     Kind = "former"     // words of what the memory said before; what says it now answers
)

// Kinds are all kinds.
var Kinds = [...]Kind{KindWords, KindParaphrase, KindTitle, KindFormer}

const (
	// minWords is how many words a sentence has that a question is made of: with fewer, leaving out any leaves nothing
	// that could be found by.
	minWords = 4
	// tellingTenths of a sentence's words, the rarest, are left out of a question of KindWords. The brain's training
	// leaves out four tenths; of a memory of short notes that left only words that all of them have.
	tellingTenths = 2
	// rareTenth is the share of the memories, in tenths, that have a rare word at most, and minRare how many of them a
	// sentence has that something can be asked about: nobody looks for "yes, I think so too".
	rareTenth = 1
	minRare   = 2
	// keptTenths of a sentence's words stay in a question of KindParaphrase.
	keptTenths = 6
	// maxWords bounds a question: people ask no longer ones, and the encoder reads no more.
	maxWords = 12
	// maxText bounds how many bytes of a text are looked at for questions and language: a memory may hold one of 1 MB.
	maxText = 16 << 10
	// pieceRunes is how long the pieces are into which text without spaces is cut.
	pieceRunes = 2
)

// Memory is what questions are made of.
type Memory struct {
	Title string
	Texts []string // the passages, in their order
}

// Question is what somebody might ask who knows a memory.
type Question struct {
	Kind Kind
	Text string
}

// Rarity tells how many of a sample of memories have a word. The zero value is of none.
type Rarity struct {
	memories int
	having   map[string]int
}

// of is how many memories have a word.
func (r *Rarity) of(word string) int { return r.having[strings.ToLower(word)] }

// rare reports whether few memories have a word.
func (r *Rarity) rare(word string) bool { return r.of(word) <= max(1, r.memories*rareTenth/10) }

// Add counts the words of a memory, each once.
func (r *Rarity) Add(m Memory) {
	r.memories++
	if r.having == nil {
		r.having = map[string]int{}
	}
	seen := map[string]bool{}
	for _, w := range words(m.body()) {
		if l := strings.ToLower(w); !seen[l] {
			seen[l] = true
			r.having[l]++
		}
	}
}

// body is as much of the text as is looked at.
func (m Memory) body() string {
	var b strings.Builder
	for _, t := range m.Texts {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(text.Truncate(t, maxText-b.Len()))
		if b.Len() >= maxText-1 {
			break
		}
	}
	return b.String()
}

// Questions makes the questions of a memory, at most one of each kind but KindFormer.
func Questions(m Memory, r *Rarity) []Question {
	d := newDrawer(m, r)
	var out []Question
	for _, k := range [...]Kind{KindWords, KindParaphrase, KindTitle} {
		if q := d.question(k); q != "" {
			out = append(out, Question{k, q})
		}
	}
	return out
}

// FormerQuestion makes the question that what a memory said before gives; false: its text has too few words.
func FormerQuestion(m Memory, r *Rarity) (Question, bool) {
	q := newDrawer(m, r).question(KindWords)
	return Question{KindFormer, q}, q != ""
}

// drawer draws the questions of one memory.
type drawer struct {
	title     string
	sentences [][]string // those with enough words, each its words
	rarity    *Rarity
	rand      *rand.Rand
}

func newDrawer(m Memory, r *Rarity) *drawer {
	body := m.body()
	h := fnv.New64a()
	h.Write([]byte(m.Title))
	h.Write([]byte{0})
	h.Write([]byte(body))
	d := &drawer{
		title: text.OneLine(m.Title), rarity: r,
		rand: rand.New(rand.NewPCG(h.Sum64(), 0x7175_616c)), //nolint:gosec // to be repeatable is the point
	}
	for s := range text.Sentences(body) {
		if ws := words(body[s.Start:s.End]); len(ws) >= minWords {
			d.sentences = append(d.sentences, ws)
		}
	}
	telling := slices.DeleteFunc(slices.Clone(d.sentences), func(ws []string) bool {
		rare := 0
		for _, w := range ws {
			if r.rare(w) {
				rare++
			}
		}
		return rare < minRare
	})
	if len(telling) > 0 {
		d.sentences = telling
	}
	return d
}

func (d *drawer) question(k Kind) string {
	if len(d.sentences) == 0 {
		return ""
	}
	s := d.sentences[d.rand.IntN(len(d.sentences))]
	switch k {
	case KindParaphrase:
		return d.paraphrase(s)
	case KindTitle:
		return d.titled(s)
	default:
		return d.common(s)
	}
}

// common leaves out the words that fewest memories have. Of a long sentence the least telling go as well.
func (d *drawer) common(s []string) string {
	// Chance decides among equals: in a small memory most words are as rare as each other.
	order := indices(len(s))
	d.rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(d.rarity.of(s[b]), d.rarity.of(s[a])) })
	order = order[:len(s)-max(len(s)*tellingTenths/10, 1)]
	return join(s, order[max(len(order)-maxWords, 0):], true)
}

// paraphrase drops some words, the most telling one among them, and turns the order of the halves round.
func (d *drawer) paraphrase(s []string) string {
	rarest := 0
	for i, w := range s {
		if d.rarity.of(w) < d.rarity.of(s[rarest]) {
			rarest = i
		}
	}
	order := slices.DeleteFunc(indices(len(s)), func(i int) bool { return i == rarest })
	d.rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	order = order[:min(max(len(s)*keptTenths/10, minWords-1), maxWords, len(order))]
	slices.Sort(order)
	half := len(order) / 2
	return join(s, slices.Concat(order[half:], order[:half]), false)
}

// titled is the title, and two words of the text. A memory that is called by its own text has no title of its own.
func (d *drawer) titled(s []string) string {
	const few = 2
	title := words(d.title)
	if len(title) == 0 || len(title) > maxWords || slices.ContainsFunc(d.sentences, func(x []string) bool {
		return len(x) >= len(title) && slices.Equal(x[:len(title)], title)
	}) {
		return ""
	}
	order := indices(len(s))
	d.rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return join(title, indices(len(title)), true) + " " + join(s, order[:few], true)
}

func indices(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// join puts some words together, in the order of the text or in the one given.
func join(s []string, at []int, ordered bool) string {
	if ordered {
		at = slices.Clone(at)
		slices.Sort(at)
	}
	var b strings.Builder
	for i, k := range at {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(s[k])
	}
	return b.String()
}

// words cuts a text at what is neither letter, digit nor mark. Runs of a script that puts no spaces between words
// are cut into pieces of pieceRunes.
func words(s string) []string {
	var out []string
	for run := range strings.FieldsFuncSeq(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	}) {
		if !strings.ContainsFunc(run, text.Spaceless) {
			out = append(out, run)
			continue
		}
		for piece := range slices.Chunk([]rune(run), pieceRunes) {
			out = append(out, string(piece))
		}
	}
	return out
}
