package unigram

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"orgmem/brain/text"
)

// small is a vocabulary whose cuts can be made by hand.
func small() Vocabulary {
	pieces := []Piece{{Text: "<s>", Special: true}, {Text: "<unk>", Special: true}}
	for i, p := range strings.Fields("▁ ▁a a b ab ▁ab é ▁caf c f 각 ▁tokyo t o") {
		pieces = append(pieces, Piece{Text: p, Score: -3 - float32(i)/8})
	}
	return Vocabulary{Pieces: pieces, Unknown: 1, Rules: map[rune][]rune{
		'\t': []rune(" "), 0x3000: []rune(" "), 1: nil, 'ﬁ': []rune("fi"), 'Ａ': []rune("a"), '¨': []rune(" \u0308"),
		0xFFFD: []rune(" "), 0x212B: []rune("Å"),
	}}
}

func open(t testing.TB, v Vocabulary) *Tokenizer {
	t.Helper()
	section, err := Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	tok, err := Open(section)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func TestCuts(t *testing.T) {
	t.Parallel()
	v := small()
	tok := open(t, v)
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{" \t\u3000 ", ""},
		{"ab", "▁ab(0,2)"},
		{"  ab\ta ", "▁ab(2,4) ▁a(5,6)"},
		{"aab", "▁a(0,1) ab(1,3)"},
		{"a\x01b", "▁ab(0,3)"},
		{"Ａb", "▁ab(0,4)"},
		{"cafe\u0301", "▁caf(0,3) é(3,6)"},
		{"\u1100\u1161\u11a8a", "▁(0,0) 각(0,9) a(9,10)"},
		{"\uac00\u11a8", "▁(0,0) 각(0,6)"},
		{"ﬁ", "▁(0,0) f(0,3) <unk>(0,3)"},
		{"☃☃ ☃b", "▁(0,0) <unk>(0,6) ▁(7,7) <unk>(7,10) b(10,11)"},
		{"<s>", "▁(0,0) <unk>(0,3)"},
		{"a\xffb", "▁a(0,1) ▁(2,2) b(2,3)"},
		{"a¨", "▁a(0,1) ▁(1,1) <unk>(1,3)"},
		{"a\x00b", "▁a(0,1) <unk>(1,2) b(2,3)"},
	} {
		ids, spans := tok.AppendSpans(nil, nil, c.text, 100)
		var got []string
		for i, id := range ids {
			got = append(got, v.Pieces[id].Text+at(spans[i]))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%q: %s, want %s", c.text, s, c.want)
		}
		if n := tok.Count(c.text); n != len(ids) {
			t.Errorf("%q: counted %d of %d", c.text, n, len(ids))
		}
		for most := range len(ids) + 1 {
			if got := tok.Append([]int32{7}, c.text, most); !slices.Equal(got[1:], ids[:most]) || got[0] != 7 {
				t.Errorf("%q: the first %d are %v of %v", c.text, most, got, ids)
			}
		}
	}
	if tok.Len() != len(v.Pieces) || tok.Inner(3) || !tok.Inner(4) {
		t.Errorf("%d pieces, inner %v %v", tok.Len(), tok.Inner(3), tok.Inner(4))
	}
}

func at(s text.Span) string { return fmt.Sprintf("(%d,%d)", s.Start, s.End) }
