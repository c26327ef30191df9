package unigram

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestEncodeRefuses(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(v *Vocabulary){
		"nothing":                 func(v *Vocabulary) { v.Pieces = nil },
		"unknown out of range":    func(v *Vocabulary) { v.Unknown = int32(len(v.Pieces)) },
		"unknown can be text":     func(v *Vocabulary) { v.Unknown = 3 },
		"no score":                func(v *Vocabulary) { v.Pieces[4].Score = float32(math.NaN()) },
		"empty piece":             func(v *Vocabulary) { v.Pieces[4].Text = "" },
		"long piece":              func(v *Vocabulary) { v.Pieces[4].Text = strings.Repeat("a", MaxPieceBytes+1) },
		"piece that is not UTF-8": func(v *Vocabulary) { v.Pieces[4].Text = "\xff" },
		"two words":               func(v *Vocabulary) { v.Pieces[4].Text = "a▁b" },
		"twice":                   func(v *Vocabulary) { v.Pieces[4].Text = "ab" },
		"no space":                func(v *Vocabulary) { v.Pieces[2].Text = "x" },
		"rule for no character":   func(v *Vocabulary) { v.Rules[0xD800] = nil },
		"long rule":               func(v *Vocabulary) { v.Rules['x'] = make([]rune, maxRuleBytes+1) },
	} {
		v := small()
		change(&v)
		if _, err := Encode(v); !errors.Is(err, ErrVocab) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOpenRefusesDamage(t *testing.T) {
	t.Parallel()
	section, err := Encode(small())
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(section); n += 1 + n/8 {
		if _, err := Open(section[:n]); !errors.Is(err, ErrVocab) {
			t.Errorf("the first %d bytes: %v", n, err)
		}
		broken := slices.Clone(section)
		broken[n] ^= 0x10
		if _, err := Open(broken); !errors.Is(err, ErrVocab) {
			t.Errorf("byte %d: %v", n, err)
		}
	}
	if _, err := Open(sealed(append(slices.Clone(section), 0))); !errors.Is(err, ErrVocab) {
		t.Errorf("a byte behind: %v", err)
	}
}

// sealed corrects the sum of a section.
func sealed(section []byte) []byte {
	if len(section) >= countsAt {
		binary.LittleEndian.PutUint32(section[sumAt:], crc32.ChecksumIEEE(section[countsAt:]))
	}
	return section
}

// A section that was changed with its sum corrected may cut wrongly, but stays within its ids and its text, and ends.
func FuzzSection(f *testing.F) {
	section, err := Encode(small())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint16(bodyAt+1), []byte{1}, "ab aab cafe\u0301")
	f.Add(uint16(countsAt), []byte{0xff, 0xff, 0, 0}, "ab")
	f.Fuzz(func(t *testing.T, at uint16, change []byte, of string) {
		broken := slices.Clone(section)
		// The tables of rules are long and mostly empty: aim at the trie and scores as often as at all the rest.
		copy(broken[countsAt+int(at)%(len(broken)-countsAt):], change)
		tok, err := Open(sealed(broken))
		if err != nil {
			if !errors.Is(err, ErrVocab) {
				t.Fatal(err)
			}
			return
		}
		check(t, tok, of)
	})
}

// Whatever the text: ids are below Len, spans are whole characters in their order, and the first tokens do not depend
// on how many are wanted.
func FuzzText(f *testing.F) {
	for _, s := range []string{
		"", "a b", "e\u0301\u0301", "\u1100\u1161\u11a8", "\xff\xfe", "a\u200db", "☃ ☃☃", "\x00", "¨ﬁÅ",
		strings.Repeat("a", 3*firstLook), strings.Repeat("ab☃", firstLook), strings.Repeat("\u0301", 1000),
	} {
		f.Add(s)
	}
	tok := open(f, small())
	f.Fuzz(func(t *testing.T, of string) { check(t, tok, of) })
}

func check(t *testing.T, tok *Tokenizer, of string) {
	t.Helper()
	ids, spans := tok.AppendSpans(nil, nil, of, math.MaxInt)
	if len(ids) != len(spans) || tok.Count(of) != len(ids) || !slices.Equal(tok.Append(nil, of, math.MaxInt), ids) {
		t.Fatalf("%q: %d ids, %d spans, counted %d", of, len(ids), len(spans), tok.Count(of))
	}
	start, end := 0, 0
	for i, s := range spans {
		if ids[i] < 0 || int(ids[i]) >= tok.Len() {
			t.Fatalf("%q: id %d", of, ids[i])
		}
		if s.Start < start || s.End < end || s.Start > s.End || s.End > len(of) {
			t.Fatalf("%q: %v", of, spans)
		}
		if utf8.ValidString(of) && (!boundary(of, s.Start) || !boundary(of, s.End)) {
			t.Fatalf("%q: %v is inside a character", of, s)
		}
		start, end = s.Start, s.End
	}
	for _, most := range []int{0, 1, len(ids) / 2} {
		most = min(most, len(ids))
		if got := tok.Append(nil, of, most); !slices.Equal(got, ids[:most]) {
			t.Fatalf("%q: the first %d are %v, want %v", of, most, got, ids[:most])
		}
	}
}

func boundary(s string, i int) bool { return i == len(s) || utf8.RuneStart(s[i]) }
