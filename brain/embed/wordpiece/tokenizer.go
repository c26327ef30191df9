package wordpiece

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"orgmem/brain/text"
)

// MaxWordChars is the longest word that is cut into pieces; the models were
// trained with this limit, and longer ones are one [UNK].
const MaxWordChars = 100

// maxVocab bounds the vocabulary New accepts: ids fit 20 bits in every BERT
// vocabulary in use, and the limit keeps a damaged file from claiming memory.
const maxVocab = 1 << 20

// ErrVocab reports a vocabulary that cannot be one.
var ErrVocab = errors.New("wordpiece: bad vocabulary")

// Tokenizer holds a vocabulary as one string and a hash table over it.
type Tokenizer struct {
	pieces []piece
	text   string // all pieces, without "##", end to end
	table  []slot // open addressing, a power of two, at most half full
	unk    int32
	// Longest piece in bytes, at the start of a word and inside it: no longer
	// prefix needs a look-up.
	maxStart, maxInner int
	ascii              [128]byteClass
}

type piece struct {
	begin, end uint32
	inner      bool // a later piece of a word
}

// slot is 1 + the id of a piece, 0 when empty, and the upper half of its hash.
type slot struct {
	tag uint32
	id1 uint32
}

type byteClass uint8

const (
	classWord byteClass = iota
	classSpace
	classPunct
	classDrop
)

// A rolling FNV-1a: the hashes of all prefixes of a word cost one pass. Pieces
// inside a word start from another basis, so that "##ing" and "ing" differ.
const (
	fnvPrime   = 1099511628211
	startBasis = 14695981039346656037
	innerBasis = 0x9ae16a3b2f90404f
)

// New builds a tokenizer from a vocabulary, one piece per line, where the line
// number is the id. It fails with ErrVocab if a line is empty or repeated or
// if [UNK] is missing.
func New(vocab string) (*Tokenizer, error) {
	lines := strings.Split(strings.TrimSuffix(vocab, "\n"), "\n")
	if len(lines) > maxVocab {
		return nil, fmt.Errorf("%w: %d lines", ErrVocab, len(lines))
	}
	size := 1024
	for size < 2*len(lines) {
		size *= 2
	}
	t := &Tokenizer{pieces: make([]piece, len(lines)), table: make([]slot, size), unk: -1}
	var all strings.Builder
	all.Grow(len(vocab))
	for id, line := range lines {
		body, inner := strings.CutPrefix(line, "##")
		if body == "" {
			// A bare "##" is the text of two hashes, which are punctuation and
			// never reach the table as one word.
			body, inner = line, false
		}
		if body == "" {
			return nil, fmt.Errorf("%w: line %d is empty", ErrVocab, id+1)
		}
		h := uint64(startBasis)
		if inner {
			h = innerBasis
			t.maxInner = max(t.maxInner, len(body))
		} else {
			t.maxStart = max(t.maxStart, len(body))
		}
		for i := range len(body) {
			h = (h ^ uint64(body[i])) * fnvPrime
		}
		t.text = all.String()
		if t.find(h, body) >= 0 {
			return nil, fmt.Errorf("%w: line %d repeats %q", ErrVocab, id+1, line)
		}
		begin := uint32(all.Len())
		all.WriteString(body)
		t.pieces[id] = piece{begin, uint32(all.Len()), inner}
		i := h & uint64(size-1)
		for t.table[i].id1 != 0 {
			i = (i + 1) & uint64(size-1)
		}
		t.table[i] = slot{uint32(h >> 32), uint32(id) + 1}
		if line == "[UNK]" {
			t.unk = int32(id)
		}
	}
	t.text = all.String()
	if t.unk < 0 {
		return nil, fmt.Errorf("%w: no [UNK]", ErrVocab)
	}
	for b := range t.ascii {
		switch c := byte(b); {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			t.ascii[b] = classSpace
		case c < ' ' || c == 0x7f:
			t.ascii[b] = classDrop
		case c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z':
			t.ascii[b] = classWord
		default: // BERT counts every other ASCII sign as punctuation, "$" too
			t.ascii[b] = classPunct
		}
	}
	return t, nil
}

// Len returns the number of pieces; every id is below it.
func (t *Tokenizer) Len() int { return len(t.pieces) }

// Inner tells whether a piece is a later piece of a word.
func (t *Tokenizer) Inner(id int32) bool { return t.pieces[id].inner }

// Append adds the ids of a text to ids and returns the result, reading no
// further than the first max tokens need.
func (t *Tokenizer) Append(ids []int32, of string, max int) []int32 {
	s := scanner{t: t, ids: ids, keep: true, left: max}
	s.scan(of)
	return s.ids
}

// AppendSpans is Append, and adds to spans where in the text each token stands. A character that
// decomposes into several may belong to two tokens; a mark that was dropped belongs to the token
// of the character that bears it.
func (t *Tokenizer) AppendSpans(ids []int32, spans []text.Span, of string, max int) ([]int32, []text.Span) {
	s := scanner{t: t, ids: ids, keep: true, left: max, places: &places{spans: spans}}
	s.scan(of)
	return s.ids, s.places.spans
}

// Count returns the number of tokens of the whole text. Texts joined by white
// space have the sum of their counts.
func (t *Tokenizer) Count(of string) int {
	s := scanner{t: t, left: math.MaxInt}
	s.scan(of)
	return math.MaxInt - s.left
}

// find returns the id of the piece with this hash and text, or -1.
func (t *Tokenizer) find(h uint64, word string) int32 {
	mask := uint64(len(t.table) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		e := t.table[i]
		if e.id1 == 0 {
			return -1
		}
		if e.tag == uint32(h>>32) {
			p := t.pieces[e.id1-1]
			if t.text[p.begin:p.end] == word {
				return int32(e.id1 - 1)
			}
		}
	}
}

// maxWordBytes holds MaxWordChars characters of UTF-8.
const maxWordBytes = MaxWordChars * utf8.UTFMax

// scanner is the state of one pass over a text.
type scanner struct {
	t    *Tokenizer
	ids  []int32
	keep bool // collect ids, or only count
	left int  // tokens still wanted

	places *places // nil: nobody asks where tokens stand

	word  [maxWordBytes]byte // the current word, normalised
	size  int
	chars int // may exceed MaxWordChars; word then holds only the beginning

	// Room for endWord: clearing it for each word would cost more than the
	// word's look-ups.
	hashes [maxWordBytes]uint64
	pieces [maxWordBytes]int32
	ends   [maxWordBytes]int // of the pieces, in the word
}

func (s *scanner) scan(of string) {
	for i := 0; i < len(of) && s.left > 0; {
		c := of[i]
		if c < utf8.RuneSelf {
			i++
			switch s.t.ascii[c] {
			case classWord:
				if c >= 'A' && c <= 'Z' {
					c += 'a' - 'A'
				}
				if s.places != nil {
					s.places.char(s.size, 1, text.Span{Start: i - 1, End: i})
				}
				if s.chars < MaxWordChars {
					s.word[s.size] = c
					s.size++
				}
				s.chars++
			case classSpace:
				s.endWord()
			case classPunct:
				s.alone(rune(c), text.Span{Start: i - 1, End: i})
			default: // classDrop: as if it were not there
			}
			continue
		}
		i = s.scanUnicode(of, i)
	}
	s.endWord()
}

// scanUnicode handles the run of characters outside ASCII that begins at i and
// returns its end. Canonical decomposition may reorder marks, so a run is
// normalised as a whole; ASCII on either side cannot take part in that.
func (s *scanner) scanUnicode(of string, i int) int {
	var room [256]byte
	run := room[:0]
	for i < len(of) && of[i] >= utf8.RuneSelf && s.left > 0 {
		r, n := utf8.DecodeRuneInString(of[i:])
		at := text.Span{Start: i, End: i + n}
		i += n
		switch {
		case r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co):
			// Dropped. Invalid bytes decode to the error character as well.
		case isIdeograph(r):
			s.fold(run)
			run = run[:0]
			s.endWord()
			s.source(r, at)
			s.fold(utf8.AppendRune(run, r))
			s.endWord()
		case unicode.IsSpace(r):
			s.fold(run)
			run = run[:0]
			s.endWord()
		default:
			s.source(r, at)
			run = utf8.AppendRune(run, r)
		}
	}
	s.fold(run)
	return i
}

// source notes where a character of the run stands that is folded next.
func (s *scanner) source(r rune, at text.Span) {
	if s.places != nil {
		s.places.source(s.size, r, at)
	}
}

// fold decomposes a run, drops marks, lowers the rest and adds it to the word.
func (s *scanner) fold(run []byte) {
	if len(run) == 0 {
		return
	}
	var room [512]byte
	if !norm.NFD.IsNormal(run) {
		run = norm.NFD.Append(room[:0], run...)
	}
	for len(run) > 0 {
		r, n := utf8.DecodeRune(run)
		run = run[n:]
		if unicode.Is(unicode.Mn, r) {
			continue
		}
		var at text.Span
		if s.places != nil {
			at = s.places.taken(r)
		}
		r = unicode.ToLower(r)
		switch {
		case r < utf8.RuneSelf && s.t.ascii[r] == classPunct, unicode.IsPunct(r):
			s.alone(r, at)
		case unicode.IsSpace(r):
			s.endWord()
		default:
			if s.places != nil {
				s.places.char(s.size, utf8.RuneLen(r), at)
			}
			if s.chars < MaxWordChars {
				s.size += utf8.EncodeRune(s.word[s.size:], r)
			}
			s.chars++
		}
	}
}

// isIdeograph is BERT's notion of a CJK character: ideographs only, neither
// kana nor hangul. The gap at U+2B820 is the reference's own.
func isIdeograph(r rune) bool {
	switch {
	case r < 0x3400:
		return false
	case r <= 0x4DBF, r >= 0x4E00 && r <= 0x9FFF, r >= 0xF900 && r <= 0xFAFF:
		return true
	case r < 0x20000:
		return false
	default:
		return r <= 0x2A6DF || r >= 0x2A700 && r <= 0x2B73F || r >= 0x2B740 && r <= 0x2B81F ||
			r >= 0x2B920 && r <= 0x2CEAF || r >= 0x2F800 && r <= 0x2FA1F
	}
}

// alone ends the current word and adds r as a word of its own.
func (s *scanner) alone(r rune, at text.Span) {
	s.endWord()
	if s.places != nil {
		s.places.char(0, utf8.RuneLen(r), at)
	}
	s.size = utf8.EncodeRune(s.word[:], r)
	s.chars = 1
	s.endWord()
}

// emit adds the token of the word's bytes [from, to), or of the whole word where to is 0.
func (s *scanner) emit(id int32, from, to int) {
	s.left--
	if s.places != nil {
		s.places.emit(from, to)
	}
	if s.keep {
		s.ids = append(s.ids, id)
	}
}

// endWord cuts the current word into the longest pieces from the left. A word
// of which any part has no piece is one [UNK], so pieces are held back until
// the end is reached.
func (s *scanner) endWord() {
	word, chars := s.word[:s.size], s.chars
	s.size, s.chars = 0, 0
	if chars == 0 || s.left <= 0 {
		return
	}
	if chars > MaxWordChars {
		s.emit(s.t.unk, 0, 0)
		return
	}
	n, at := 0, 0
	h, longest := uint64(startBasis), s.t.maxStart
	for len(word) > 0 {
		end := min(len(word), longest)
		for i := range end {
			h = (h ^ uint64(word[i])) * fnvPrime
			s.hashes[i] = h
		}
		id := int32(-1)
		for ; end > 0; end-- {
			if id = s.t.find(s.hashes[end-1], string(word[:end])); id >= 0 {
				break
			}
		}
		if id < 0 {
			s.emit(s.t.unk, 0, 0)
			return
		}
		at += end
		s.pieces[n], s.ends[n] = id, at
		n++
		word = word[end:]
		h, longest = innerBasis, s.t.maxInner
	}
	from := 0
	for i, id := range s.pieces[:min(n, s.left)] {
		s.emit(id, from, s.ends[i])
		from = s.ends[i]
	}
}
