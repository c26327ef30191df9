package unigram

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"slices"
	"testing"
	"unicode/utf8"
)

// The ids that the references give, over the pieces of the published vocabulary that occur in the texts: no other piece
// can be part of a path, so that the whole vocabulary cuts them the same way.
func TestReference(t *testing.T) {
	t.Parallel()
	file, err := os.Open("testdata/reference.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var data struct {
		Pieces [][3]any
		Rules  map[string]string
		Cases  []struct {
			Text string
			IDs  []int32
		}
	}
	if err := json.NewDecoder(z).Decode(&data); err != nil {
		t.Fatal(err)
	}
	v := Vocabulary{Rules: map[rune][]rune{}}
	var ids []int32
	for _, p := range data.Pieces {
		id, text, score := p[0].(float64), p[1].(string), p[2].(float64)
		if text == "<unk>" {
			v.Unknown = int32(len(v.Pieces))
		}
		v.Pieces = append(v.Pieces, Piece{text, float32(score), score == 0})
		ids = append(ids, int32(id))
	}
	for from, to := range data.Rules {
		r, _ := utf8.DecodeRuneInString(from)
		v.Rules[r] = []rune(to)
	}
	tok := open(t, v)
	for _, c := range data.Cases {
		got := tok.Append(nil, c.Text, 1<<20)
		for i := range got {
			got[i] = ids[got[i]]
		}
		if !slices.Equal(got, c.IDs) {
			t.Errorf("%q: %v, want %v", c.Text, got, c.IDs)
		}
		check(t, tok, c.Text)
	}
	if len(data.Cases) < 60 {
		t.Errorf("%d texts", len(data.Cases))
	}
}

// Memory stays bounded, and text is lost nowhere, in words whose paths never meet.
func TestEndlessWord(t *testing.T) {
	t.Parallel()
	pieces := []Piece{{Text: "<unk>", Special: true}, {"▁", -2, false}}
	for n := 1; n <= 16; n++ {
		pieces = append(pieces, Piece{"aaaaaaaaaaaaaaaa"[:n], -3, false})
	}
	tok := open(t, Vocabulary{Pieces: pieces})
	word := make([]byte, 3*maxWord)
	for i := range word {
		word[i] = 'a'
	}
	ids, spans := tok.AppendSpans(nil, nil, string(word), 1<<20)
	end := 0
	for i, s := range spans {
		if s.Start != end || ids[i] == 0 {
			t.Fatalf("token %d, %d, at %v behind %d", i, ids[i], s, end)
		}
		end = s.End
	}
	if end != len(word) || len(ids) > len(word)/16+8 {
		t.Errorf("%d tokens to %d of %d", len(ids), end, len(word))
	}
}

func BenchmarkAppend(b *testing.B) {
	tok := open(b, small())
	const of = "ab cab tokyo cafe\u0301 abcabfo caffocab ▁ab ab ab cab a b ab"
	ids := make([]int32, 0, 100)
	b.ReportAllocs()
	for b.Loop() {
		ids = tok.Append(ids[:0], of, 100)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(ids)), "ns/token")
}
