package unigram

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// ErrVocab reports a vocabulary, or a section, that cannot be one.
var ErrVocab = errors.New("unigram: bad vocabulary")

// Space is the character that begins a word in the pieces, U+2581.
const Space = "▁"

// Limits of a vocabulary. XLM-RoBERTa's has 250,037 pieces of at most 48 bytes and 4,837 rules.
const (
	maxPieces = 1 << 20
	// MaxPieceBytes is the longest piece: the paths that are open at one place of a word are a set of 64 bits.
	MaxPieceBytes = 63
	maxRules      = 1<<15 - 2
	maxRuleBytes  = 1 << 16
)

// Vocabulary is what a tokenizer is made of.
type Vocabulary struct {
	Pieces  []Piece // the place is the id
	Unknown int32   // id of the piece that stands for characters without a piece
	// Rules replaces single characters before a text is cut; those without a rule stay. Characters and the marks behind
	// them are composed whatever it says.
	Rules map[rune][]rune
}

// Piece is an entry of a vocabulary.
type Piece struct {
	Text  string
	Score float32 // natural logarithm of its probability
	// Special pieces are the model's marks: no text becomes one.
	Special bool
}

// Layout of a section, little endian: the magic, the CRC-32 (IEEE) of all that follows it, seven counts of four bytes
// each (pieces, id of the unknown, units of the trie, pages, rules, bytes of the rules' results, pairs), and then
//
//	trie     4 bytes a unit, see trie.go
//	scores   4 bytes a piece, float32
//	begins   1 bit a piece, the lowest of a byte first: whether it begins with Space
//	index    2 bytes for each 256 characters of Unicode: 1 + the number of their page, 0 if none has a rule
//	pages    2 bytes for each of 256 characters: 1 + the number of its rule in the lower 15 bits, 0 if it has
//	         none; the highest bit is set if it may be composed with a character before it
//	ends     4 bytes a rule: where its result ends
//	results  of the rules, UTF-8, end to end
//	pairs    12 bytes each, sorted: two characters, and the one that they are composed to
const (
	magic       = "UNIGRAM1"
	sumAt       = len(magic)
	countsAt    = sumAt + 4
	bodyAt      = countsAt + 7*4
	indexLen    = (utf8.MaxRune + 1) / pageRunes
	pageRunes   = 256
	pageBytes   = 2 * pageRunes
	pairBytes   = 12
	entrySecond = 1 << 15
	entryRule   = entrySecond - 1
)

// Encode writes a vocabulary as the section that Open reads, a pure function of it. It fails with ErrVocab.
func Encode(v Vocabulary) ([]byte, error) {
	trie, err := v.trie()
	if err != nil {
		return nil, err
	}
	rules, err := v.sortedRules()
	if err != nil {
		return nil, err
	}
	pairs := compositions()
	index, pages := v.pages(rules, pairs)

	out := append([]byte(magic), 0, 0, 0, 0)
	le := binary.LittleEndian
	results := 0
	for _, r := range rules {
		results += len(string(v.Rules[r]))
	}
	for _, n := range []int{len(v.Pieces), int(v.Unknown), len(trie), len(pages), len(rules), results, len(pairs)} {
		out = le.AppendUint32(out, uint32(n))
	}
	for _, u := range trie {
		out = le.AppendUint32(out, u)
	}
	for _, p := range v.Pieces {
		out = le.AppendUint32(out, math.Float32bits(p.Score))
	}
	begins := make([]byte, (len(v.Pieces)+7)/8)
	for id, p := range v.Pieces {
		if strings.HasPrefix(p.Text, Space) {
			begins[id/8] |= 1 << (id % 8)
		}
	}
	out = append(out, begins...)
	for _, i := range index {
		out = le.AppendUint16(out, i)
	}
	for _, p := range pages {
		for _, e := range p {
			out = le.AppendUint16(out, e)
		}
	}
	var all []byte
	for _, r := range rules {
		all = append(all, string(v.Rules[r])...)
		out = le.AppendUint32(out, uint32(len(all)))
	}
	out = append(out, all...)
	for _, p := range pairs {
		for _, r := range p {
			out = le.AppendUint32(out, uint32(r))
		}
	}
	le.PutUint32(out[sumAt:], crc32.ChecksumIEEE(out[countsAt:]))
	return out, nil
}

// trie checks the pieces and builds their trie.
func (v Vocabulary) trie() ([]uint32, error) {
	if len(v.Pieces) == 0 || len(v.Pieces) > maxPieces {
		return nil, fmt.Errorf("%w: %d pieces", ErrVocab, len(v.Pieces))
	}
	if v.Unknown < 0 || int(v.Unknown) >= len(v.Pieces) || !v.Pieces[v.Unknown].Special {
		return nil, fmt.Errorf("%w: piece %d cannot stand for the unknown", ErrVocab, v.Unknown)
	}
	var ids []int32
	for id, p := range v.Pieces {
		switch {
		case math.IsNaN(float64(p.Score)) || math.IsInf(float64(p.Score), 0):
			return nil, fmt.Errorf("%w: piece %d has the score %g", ErrVocab, id, p.Score)
		case p.Special:
			continue
		case p.Text == "" || len(p.Text) > MaxPieceBytes || !utf8.ValidString(p.Text) || strings.Contains(p.Text, "\x00"):
			return nil, fmt.Errorf("%w: piece %d is %q", ErrVocab, id, p.Text)
		case strings.LastIndex(p.Text, Space) > 0:
			// Words could not be cut one by one.
			return nil, fmt.Errorf("%w: piece %d is two words, %q", ErrVocab, id, p.Text)
		}
		ids = append(ids, int32(id))
	}
	slices.SortFunc(ids, func(a, b int32) int { return strings.Compare(v.Pieces[a].Text, v.Pieces[b].Text) })
	keys := make([]string, len(ids))
	for i, id := range ids {
		keys[i] = v.Pieces[id].Text
		if i > 0 && keys[i] == keys[i-1] {
			return nil, fmt.Errorf("%w: pieces %d and %d are both %q", ErrVocab, ids[i-1], id, keys[i])
		}
	}
	if _, ok := slices.BinarySearch(keys, Space); !ok {
		// Unknown characters of two words would become one token.
		return nil, fmt.Errorf("%w: no piece is %q", ErrVocab, Space)
	}
	return buildTrie(keys, ids)
}

// sortedRules returns the characters that have a rule.
func (v Vocabulary) sortedRules() ([]rune, error) {
	rules := make([]rune, 0, len(v.Rules))
	size := 0
	for r, to := range v.Rules {
		for _, c := range append([]rune{r}, to...) {
			if !utf8.ValidRune(c) {
				return nil, fmt.Errorf("%w: a rule for %U knows %U", ErrVocab, r, c)
			}
		}
		size += len(string(to))
		rules = append(rules, r)
	}
	if len(rules) > maxRules || size > maxRuleBytes {
		return nil, fmt.Errorf("%w: %d rules of %d bytes", ErrVocab, len(rules), size)
	}
	slices.Sort(rules)
	return rules, nil
}

// pages makes the table of rules and of characters that compose with one before them.
func (v Vocabulary) pages(rules []rune, pairs [][3]rune) (index [indexLen]uint16, pages []*[pageRunes]uint16) {
	entry := func(r rune) *uint16 {
		if index[r/pageRunes] == 0 {
			pages = append(pages, new([pageRunes]uint16))
			index[r/pageRunes] = uint16(len(pages))
		}
		return &pages[index[r/pageRunes]-1][r%pageRunes]
	}
	second := map[rune]bool{}
	for r := rune(vowelFirst); r <= tailLast; r++ {
		second[r] = r <= vowelLast || r > tailBase
	}
	for _, p := range pairs {
		second[p[1]] = true
	}
	for _, r := range slices.Sorted(maps.Keys(second)) { // pages are numbered in this order
		if _, replaced := v.Rules[r]; second[r] && !replaced {
			*entry(r) |= entrySecond
		}
	}
	for i, r := range rules {
		e := entry(r)
		*e |= uint16(i + 1)
		if to := v.Rules[r]; len(to) == 1 && second[to[0]] {
			*e |= entrySecond
		}
	}
	return index, pages
}

// compositions are the pairs of characters with a canonical composition, but for Hangul's, which are computed, sorted.
func compositions() (pairs [][3]rune) {
	const planes = 0x30000 // no character of a later plane decomposes
	for r := rune(utf8.RuneSelf); r < planes; r++ {
		if r >= hangulFirst && r <= hangulLast || !norm.NFC.IsNormalString(string(r)) {
			continue
		}
		d := norm.NFD.PropertiesString(string(r)).Decomposition()
		if d == nil {
			continue
		}
		// The whole decomposition is two or more; all but its last composes to the first of the pair.
		parts := []rune(string(d))
		last := len(parts) - 1
		first := []rune(norm.NFC.String(string(parts[:last])))
		if last < 1 || len(first) != 1 || norm.NFC.String(string(parts)) != string(r) {
			continue
		}
		pairs = append(pairs, [3]rune{first[0], parts[last], r})
	}
	slices.SortFunc(pairs, func(a, b [3]rune) int { return slices.Compare(a[:], b[:]) })
	return pairs
}
