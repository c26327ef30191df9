package wordpiece

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"orgmem/brain/text"
)

// TestSpans: where in the text each token stands.
func TestSpans(t *testing.T) {
	tok := tokenizer(t)
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"unaffable", "un|aff|able"},
		{"  UnAffAble\n", "Un|Aff|Able"},
		{"unzz a", "unzz|a"},
		{"cafés a", "café|s|a"},             // precomposed
		{"CAFE\u0301S a", "CAFE\u0301|S|a"}, // an accent belongs to what it stands upon
		{"a.b,$", "a|.|b|,|$"},
		{"a東京b", "a|東|京|b"},
		{"かきく", "か|き|く"},
		{"が", "が"}, // か with a mark
		{"a\u200bb", "a\u200bb"},
		{"\u200ba b", "a|b"},
		{"a\xffb a", "a\xffb|a"},
		{"ab\u00ada", "ab|a"},
		{"Σ Ι\u0301ος", "Σ|Ι\u0301|ος"},
		{strings.Repeat("a", 101) + " b", strings.Repeat("a", 101) + "|b"},
		{strings.Repeat("か", 101) + " a", strings.Repeat("か", 101) + "|a"},
	} {
		_, spans := tok.AppendSpans(nil, nil, c.text, 1000)
		var got []string
		for _, s := range spans {
			got = append(got, c.text[s.Start:s.End])
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
	ids, spans := tok.AppendSpans([]int32{7}, []text.Span{{Start: 3, End: 9}}, "a b", 1)
	if !slices.Equal(ids, []int32{7, 9}) || !slices.Equal(spans, []text.Span{{Start: 3, End: 9}, {Start: 0, End: 1}}) {
		t.Errorf("appended: %v %v", ids, spans)
	}
}

// folded is what the tokenizer makes of a stretch of text, in the plainest way.
func folded(s string) string {
	var kept []rune
	for _, r := range s {
		if r != utf8.RuneError && !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co) {
			kept = append(kept, r)
		}
	}
	var out strings.Builder
	for _, r := range norm.NFD.String(string(kept)) {
		if !unicode.Is(unicode.Mn, r) {
			out.WriteRune(unicode.ToLower(r))
		}
	}
	return out.String()
}

// FuzzSpans: asking where tokens stand changes none, they stand in the order of the text, and where one stands, there
// is its piece.
func FuzzSpans(f *testing.F) {
	for _, s := range []string{
		"", "unaffable cafés.", "東京か\u0301", "\xff\xfe\x00", "a\u0301\u0323\u0302", "각하 \u1100\u1161", "İK ﬁ½ ß",
		strings.Repeat("か", 300), strings.Repeat("a", 99) + "\u0301\u0301b", "か\u3099が", "a\u302e\u1d165\u0323b",
		"e" + strings.Repeat("\u0301", 40) + "ab",
	} {
		f.Add(s, 100)
	}
	tok, err := New(vocab)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		limit = max(0, min(limit, 1000))
		ids, spans := tok.AppendSpans(nil, nil, s, limit)
		if want := tok.Append(nil, s, limit); !slices.Equal(ids, want) || len(spans) != len(ids) {
			t.Fatalf("%q: %v at %v, want %v", s, ids, spans, want)
		}
		var last text.Span
		for i, at := range spans {
			if at.Start < last.Start || at.End < last.End || at.Start >= at.End || at.End > len(s) ||
				utf8.ValidString(s) && !utf8.ValidString(s[at.Start:at.End]) {
				t.Fatalf("%q: token %d at %v behind %v", s, i, at, last)
			}
			shared := i > 0 && at.Start < last.End || i+1 < len(spans) && spans[i+1].Start < at.End
			piece := tok.text[tok.pieces[ids[i]].begin:tok.pieces[ids[i]].end]
			if got := folded(s[at.Start:at.End]); ids[i] != tok.unk && got != piece &&
				!(shared && strings.Contains(got, piece)) {
				t.Fatalf("%q: token %d at %v is %q, want %q", s, i, at, got, piece)
			}
			last = at
		}
	})
}
