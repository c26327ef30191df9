package readertest

import (
	"maps"
	"slices"

	"orgmem/brain/embed/packfile"
	"orgmem/brain/embed/packfile/packtest"
	"orgmem/brain/reader"
)

// Tag is what a reader takes a word for.
type Tag struct {
	Type   reader.Type
	Inside bool // it belongs to the span of the word before it
	Tense  reader.Tense
}

// TagHeads are heads of chance for what a reader does with one text.
func TagHeads(seed uint64) []packfile.Head {
	dim, chance := shape().Dim, packtest.New(seed)
	var heads []packfile.Head
	for _, h := range []packfile.Head{
		{Name: reader.HeadTags, In: dim, Out: 1 + 2*reader.Types},
		{Name: reader.HeadTense, In: dim, Out: 5},
	} {
		h.Linear = chance.Linear(h.In, h.Out)
		heads = append(heads, h)
	}
	return heads
}

// ClassHeads are heads of chance for the classes of sentences.
func ClassHeads(seed uint64) []packfile.Head {
	const looks, hidden = 4, 48
	dim, chance := shape().Dim, packtest.New(seed)
	return []packfile.Head{
		{Name: reader.HeadClassLook, In: dim, Out: looks, Linear: chance.Linear(dim, looks)},
		{Name: reader.HeadClassHidden, In: looks * dim, Out: hidden, Linear: chance.Linear(looks*dim, hidden)},
		{Name: reader.HeadClassOut, In: hidden, Out: reader.Classes, Linear: chance.Linear(hidden, reader.Classes)},
	}
}

// TaggingOfChance is a small reader with heads of chance.
func TaggingOfChance() (*reader.Reader, error) {
	w := Weights(2)
	w.Heads = append(append(w.Heads, TagHeads(3)...), ClassHeads(4)...)
	return over(w)
}

// Classing is a small reader that takes a sentence with one of the given words, in small letters, for what it is said
// to be, all others for plain, and tags the words of people; at most 30 words in all.
func Classing(classes map[string]reader.Class, people ...string) (*reader.Reader, error) {
	words := slices.Sorted(maps.Keys(classes))
	sentences := len(words)
	words = append(words, people...)
	base, tower := knowing(words)
	heads := append(TagHeads(3), ClassHeads(4)...)
	for i := range heads {
		clear(heads[i].W)
		clear(heads[i].B)
	}
	heads[0].B[0] = 8
	hidden, out := &heads[3], &heads[4]
	out.B[reader.Plain] = 8
	const steep = 1000 // times a component of about 4, among the tokens of a sentence
	for i := range people {
		heads[0].W[(1+2*int(reader.Person))*heads[0].In+sentences+i] = steep
	}
	for i, word := range words[:sentences] {
		hidden.W[i*hidden.In+i] = steep
		out.W[int(classes[word])*out.In+i] = 16
	}
	tower.Heads = append(tower.Heads, heads...)
	return overBase(base, tower)
}

// Tagging is a small reader that takes the given words, at most 30 in small letters, for what they are said to be, all
// others for nothing, and finds no contradictions. Its layers change nothing, so that the state of a token is its word.
func Tagging(tags map[string]Tag) (*reader.Reader, error) {
	h := shape()
	words := slices.Sorted(maps.Keys(tags))
	base, tower := knowing(words)
	for i := range tower.Heads { // no contradictions
		if tower.Heads[i].Name == reader.HeadOut {
			tower.Heads[i].B[2] = 9
		}
	}
	heads := TagHeads(3)
	for i := range heads {
		clear(heads[i].W)
		clear(heads[i].B)
		heads[i].B[0] = 8
	}
	const sure = 4 // times a component of about 4
	for i, word := range words {
		label := 1 + 2*int(tags[word].Type)
		if tags[word].Inside {
			label++
		}
		heads[0].W[label*h.Dim+i] = sure
		if tense := int(tags[word].Tense); tense > 0 {
			heads[1].W[tense*h.Dim+i] = sure
		}
	}
	tower.Heads = append(tower.Heads, heads...)
	return overBase(base, tower)
}
