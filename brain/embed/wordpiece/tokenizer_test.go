package wordpiece

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// A small vocabulary in the form of the real one.
const vocab = `[PAD]
[UNK]
[CLS]
[SEP]
un
##aff
##able
##a
ab
a
b
##b
cafe
##s
.
,
$
#
##
[
]
sep
東
京
か
##き
##く
straße
ss
e
ι
##ος
½
ﬁ
`

func tokenizer(t testing.TB) *Tokenizer {
	t.Helper()
	tok, err := New(vocab)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

func pieces(tok *Tokenizer, text string, limit int) string {
	lines := strings.Split(vocab, "\n")
	var out []string
	for _, id := range tok.Append(nil, text, limit) {
		out = append(out, lines[id])
	}
	return strings.Join(out, " ")
}

func TestPieces(t *testing.T) {
	tok := tokenizer(t)
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{" \t\r\n\u00a0\u2003", ""},
		{"unaffable", "un ##aff ##able"},
		{"UnAffAble", "un ##aff ##able"},
		{"abb", "ab ##b"}, // the longest piece first
		{"ab b", "ab b"},  // a new word starts anew
		{"unzz", "[UNK]"}, // no part of a word without all of it
		{"unzz a", "[UNK] a"},
		{"cafés", "cafe ##s"},       // precomposed
		{"cafe\u0301s", "cafe ##s"}, // decomposed
		{"a.b,$", "a . b , $"},
		{"##a", "# # a"},           // marks of the vocabulary are punctuation in text
		{"[SEP]", "[ sep ]"},       // no control tokens from text
		{"a東京b", "a 東 京 b"},        // ideographs stand alone
		{"かきく", "か ##き ##く"},       // kana does not
		{"a\u200bb", "ab"},         // format characters vanish
		{"a\x00b\x07\ufffd", "ab"}, // control characters, and the error mark
		{"a\xffb", "ab"},           // invalid bytes too
		{"a\u2028b", "a b"},        // line separator is space
		{"STRASSE", "[UNK]"},       // lower case, not folded
		{"straße", "straße"},
		{"ΙΟΣ", "[UNK]"},      // no final sigma: the word is ιοσ
		{"½", "½"},            // canonical decomposition only
		{"e\u00adb", "e ##b"}, // so do soft hyphens
		{strings.Repeat("a", 100), strings.TrimSpace("a " + strings.Repeat("##a ", 99))},
		{strings.Repeat("a", 101), "[UNK]"},
		{strings.Repeat("か", 101) + " a", "[UNK] a"},
	} {
		if got := pieces(tok, c.text, 1000); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

func TestAppendStopsAtTheLimit(t *testing.T) {
	tok := tokenizer(t)
	for limit, want := range []string{"", "un", "un ##aff", "un ##aff ##able", "un ##aff ##able a"} {
		if got := pieces(tok, "unaffable a b.", limit); got != want {
			t.Errorf("limit %d: %q, want %q", limit, got, want)
		}
	}
	ids := tok.Append([]int32{7}, "a b", 1)
	if !slices.Equal(ids, []int32{7, 9}) {
		t.Errorf("the limit counted what was there: %v", ids)
	}
}

func TestCountAddsUp(t *testing.T) {
	tok := tokenizer(t)
	text := rapid.StringOfN(rapid.RuneFrom([]rune("ab. \t,é\u0301東かきſß½ﬁ\u200b#")), 0, 60, -1)
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		if got, want := tok.Count(a+" "+b), tok.Count(a)+tok.Count(b); got != want {
			t.Fatalf("%d tokens together, %d apart", got, want)
		}
	})
}

func TestBadVocabularies(t *testing.T) {
	for _, v := range []string{"", "a\nb\n", "[UNK]\na\na\n", "[UNK]\n\na\n", "[UNK]\n##a\n##a\n"} {
		if _, err := New(v); !errors.Is(err, ErrVocab) {
			t.Errorf("%q: %v", v, err)
		}
	}
	if _, err := New("[UNK]\na\n##a\n"); err != nil {
		t.Errorf("a piece and its continuation are different: %v", err)
	}
}

func FuzzTokenizer(f *testing.F) {
	for _, s := range []string{
		"", "unaffable cafés.", "東京か\u0301", "\xff\xfe\x00", "a\u0301\u0323\u0302", "각하 \u1100\u1161",
		strings.Repeat("か", 300),
	} {
		f.Add(s, 10)
	}
	tok, err := New(vocab)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string, limit int) {
		all := tok.Append(nil, text, 1<<30)
		for _, id := range all {
			if id < 0 || int(id) >= tok.Len() {
				t.Fatalf("id %d of %d", id, tok.Len())
			}
		}
		if n := tok.Count(text); n != len(all) {
			t.Fatalf("%d tokens counted, %d made", n, len(all))
		}
		limit = max(0, min(limit, 1000))
		if cut := tok.Append(nil, text, limit); !slices.Equal(cut, all[:min(limit, len(all))]) {
			t.Fatalf("cut at %d: %v of %v", limit, cut, all)
		}
		if n := utf8.RuneCountInString(text); len(all) > 4*n { // no character decomposes into more
			t.Fatalf("%d tokens from %d characters", len(all), n)
		}
	})
}
