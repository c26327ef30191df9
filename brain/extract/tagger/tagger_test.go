package tagger

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orgmem/brain/text"
)

func tokensOf(s string) (tokens []Token) {
	for sp := range text.Sentences(s) {
		tokens = Tokens(tokens, s, sp)
	}
	return tokens
}

func TestTokens(t *testing.T) {
	for s, want := range map[string]string{
		"Dr. Lee's e-mail isn't here.":                 "Dr.|Lee|'s|e-mail|is|n't|here|.",
		"The U.S. and J. R. Lee use C++, C# and AT&T.": "The|U.S.|and|J.|R.|Lee|use|C++|,|C#|and|AT&T|.",
		"See https://a.example/b(c).":                  "See|https://a.example/b(c)|.",
		"Mail jane@acme.example!!!":                    "Mail|jane@acme.example|!!!",
		"@jane likes #tea at 10:30, 1,000 times":       "@jane|likes|#tea|at|10:30|,|1,000|times",
		"node.js 3.11 world.Then":                      "node.js|3.11|world|.|Then",
		"naïve “Zoë”…":                                 "naïve|“|Zoë|”|…",
	} {
		var got []string
		for _, token := range tokensOf(s) {
			got = append(got, s[token.Start:token.End])
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q: %s, want %s", s, strings.Join(got, "|"), want)
		}
	}
}

// TestTokensHoldAll that is no space, in order, each once.
func TestTokensHoldAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		end := 0
		for _, token := range tokensOf(s) {
			if token.Start < end || token.End <= token.Start || token.End > len(s) ||
				strings.TrimSpace(s[end:token.Start]) != "" {
				t.Fatalf("%q has a token at [%d, %d) behind %d", s, token.Start, token.End, end)
			}
			end = token.End
		}
		if strings.TrimSpace(s[end:]) != "" {
			t.Fatalf("%q has no token behind %d", s, end)
		}
	})
}

// toy is a model of two words: jane is a first name, lee a last one.
func toy() Contents {
	c := Contents{Lexicon: map[uint32]Entry{
		PhraseKey("jane"): {Class: FirstName, Cluster: 1}, PhraseKey("lee"): {Class: LastName, Cluster: 2},
		PhraseKey("new"): {Class: Prefix}, PhraseKey("new york"): {Class: PlaceName},
	}, Coarse: []uint8{1, 1}, Weights: map[uint32]*[Tags]int8{}, Scale: 0.1}
	c.Weights[feature(tBias, 0, 0)] = &[Tags]int8{Outside: 20}
	c.Weights[feature(tWord+2, hashLower(fnvOffset, "jane"), 0)] = &[Tags]int8{BeginPerson: 60}
	c.Weights[feature(tWord+2, hashLower(fnvOffset, "lee"), 0)] = &[Tags]int8{InPerson: 60, BeginPlace: 10}
	c.Moves[BeginPerson][InPerson] = 10
	return c
}

func TestTag(t *testing.T) {
	m, err := Open(Pack(toy()))
	if err != nil {
		t.Fatal(err)
	}
	d := NewDecoder(m)
	const s = "then Jane LEE left"
	tags, names := d.Tag(s, tokensOf(s), 0)
	if want := []Tag{Outside, BeginPerson, InPerson, Outside}; !slices.Equal(tags, want) {
		t.Fatalf("%v, want %v", tags, want)
	}
	for i, p := range names {
		if inside := tags[i] != Outside; inside && p < 0.9 || !inside && p > 0.6 {
			t.Errorf("token %d is part of a name with probability %v", i, p)
		}
	}
	// What must gain more is not found.
	if tags, _ = d.Tag(s, tokensOf(s), 20); slices.Contains(tags, BeginPerson) {
		t.Errorf("%v", tags)
	}
	// "Lee" alone cannot be inside of a name: nothing began one.
	const alone = "lee left"
	if tags, _ = d.Tag(alone, tokensOf(alone), -20); tags[0] == InPerson {
		t.Errorf("%v", tags)
	}
	if tags, names = d.Tag("", nil, 0); len(tags)+len(names) > 0 {
		t.Error("nothing has tags")
	}
}

func TestPhrases(t *testing.T) {
	m, err := Open(Pack(toy()))
	if err != nil {
		t.Fatal(err)
	}
	var c scratch
	const s = "In New York"
	c.describe(m, s, tokensOf(s))
	if c.about[0].phrase != 0 || c.about[1].phrase != 1|uint16(PlaceName) || c.about[2].phrase != 2|uint16(PlaceName) {
		t.Errorf("%d %d %d", c.about[0].phrase, c.about[1].phrase, c.about[2].phrase)
	}
}

// TestTheBuiltInModel opens, is what Pack makes of its contents, and knows words.
func TestTheBuiltInModel(t *testing.T) {
	m, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	if e, ok := m.Find("Berlin"); !ok || e.Class&PlaceName == 0 {
		t.Errorf("Berlin: %v", e)
	}
	if e, ok := m.Find("because"); !ok || e.Class.Part() != Function {
		t.Errorf("because: %v", e)
	}
	if e, ok := m.Find("qzxv unknown"); ok {
		t.Errorf("nothing: %v", e)
	}
	const tooMuch = 3 << 20
	if len(packed) > tooMuch {
		t.Errorf("%d bytes", len(packed))
	}
}

func TestPackAndOpen(t *testing.T) {
	data := Pack(toy())
	m, err := Open(data)
	if err != nil {
		t.Fatal(err)
	}
	again := toy()
	c := m.Contents()
	c.Weights, c.Moves = again.Weights, again.Moves
	if !bytes.Equal(Pack(c), data) {
		t.Error("the lexicon does not survive")
	}
	for name, bad := range map[string][]byte{
		"nothing": nil, "other": []byte("orgmem other 1\n\n........................"), "short": data[:len(data)-1],
		"long":    append(slices.Clone(data), 0),
		"a count": append(slices.Clone(data[:len(magic)]), bytes.Repeat([]byte{255}, 40)...), "a head": data[:len(magic)+4],
	} {
		if _, err := Open(bad); !errors.Is(err, ErrModel) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(Pack(toy()))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Open(data)
		if err != nil {
			if !errors.Is(err, ErrModel) {
				t.Fatal(err)
			}
			return
		}
		const s = "then Jane Lee left New York"
		if tags, _ := NewDecoder(m).Tag(s, tokensOf(s), 0); len(tags) != 6 {
			t.Fatalf("%d tags", len(tags))
		}
	})
}
