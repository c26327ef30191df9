package unigram

import (
	"math"
	"math/bits"
	"slices"
	"unicode/utf8"

	"orgmem/brain/text"
)

const (
	// firstLook is the length of a word, in bytes, at which its beginning is cut before its end is known, if every
	// path through it agrees there.
	firstLook = 1024
	// maxWord is the length at which the best path so far is taken although others are open. Words of human texts
	// agree after some dozens of bytes; a megabyte of one letter never does.
	maxWord = 1 << 16
	// keptWord is the largest room for a word that a scanner keeps for the next text.
	keptWord = 4 * firstLook
)

// scanner is the state of one pass over a text. A text is cut word by word: since no piece spans two words, and the
// sums of scores are exact (see doc.go), the best path through the text is the best paths through its words.
type scanner struct {
	t *Tokenizer

	ids    []int32
	keep   bool // collect ids, or only count
	left   int  // tokens still wanted
	full   bool // another token was found, and is not wanted
	spans  []text.Span
	locate bool
	last   text.Span // of the token before, in this text

	word  []byte      // normalised, begins with Space unless its beginning was cut before
	from  []text.Span // where each byte of word comes from, if located
	look  int         // length of the word at which to look whether its beginning can be cut
	begun int         // bytes of Space before the word: len(Space), or 0 where its beginning was cut before
	fused bool        // the last token of the word was unknown

	// The lattice: for every place of the word, the best path that ends there.
	solved int       // pieces that begin before this place have been tried
	best   []float64 // its score; -Inf where no piece ends
	id     []int32   // its last piece
	back   []uint8   // and that one's length
	step   []uint8   // on the path taken: length of the piece that begins there
}

// forget makes a scanner ready for another text and drops what belongs to its callers.
func (s *scanner) forget() {
	s.endOfWord()
	s.ids, s.spans, s.keep, s.locate, s.full, s.last = nil, nil, false, false, false, text.Span{}
}

func (s *scanner) scan(of string) {
	var room [utf8.UTFMax]byte
	s.endOfWord()
	for i := 0; i < len(of) && !s.full; {
		if c := of[i]; c < utf8.RuneSelf {
			class := s.t.ascii[c]
			if class == classKeep && (i+1 == len(of) || of[i+1] < utf8.RuneSelf) {
				s.add(c, i, i+1)
				i++
				continue
			}
			if class == classSpace || class == classDrop {
				i++
				if class == classSpace {
					s.endWord()
				}
				continue
			}
		}
		end, out := s.t.next(of, i, room[:0])
		for _, c := range out {
			if c == ' ' {
				s.endWord()
				continue
			}
			s.add(c, i, end)
		}
		i = end
	}
	s.endWord()
}

// add adds a byte that comes from the text's bytes [begin, end) to the word.
func (s *scanner) add(c byte, begin, end int) {
	if len(s.word) == 0 {
		if s.full = s.full || s.left <= 0; s.full {
			return
		}
		s.begun = len(Space)
		s.word = append(s.word, Space...)
		if s.locate {
			at := text.Span{Start: begin, End: begin}
			s.from = append(s.from, at, at, at)
		}
	}
	s.word = append(s.word, c)
	if s.locate {
		s.from = append(s.from, text.Span{Start: begin, End: end})
	}
	if len(s.word) >= s.look {
		s.cutBeginning()
	}
}

// endWord cuts the word that was read.
func (s *scanner) endWord() {
	if s.full || len(s.word) == 0 {
		return
	}
	s.solve(len(s.word))
	s.take(len(s.word))
	s.endOfWord()
}

func (s *scanner) endOfWord() {
	s.word, s.from, s.look, s.begun, s.fused = s.word[:0], s.from[:0], firstLook, 0, false
	s.solved, s.best, s.id, s.back = 0, s.best[:0], s.id[:0], s.back[:0]
}

// cutBeginning takes the pieces of the word's beginning that every open path has. If there are none it waits until
// the word is twice as long, which keeps the whole linear.
func (s *scanner) cutBeginning() {
	s.solve(len(s.word) - MaxPieceBytes)
	end := s.agreed()
	if end == 0 && len(s.word) < maxWord {
		s.look = 2 * len(s.word)
		return
	}
	if end == 0 {
		end = s.solved
		for i := end + 1; i < len(s.best); i++ {
			s.best[i] = math.Inf(-1)
		}
	}
	s.take(end)
	rest := copy(s.word, s.word[end:])
	s.word = s.word[:rest]
	if s.locate {
		s.from = s.from[:copy(s.from, s.from[end:])]
	}
	s.best = s.best[:copy(s.best, s.best[end:])]
	s.id = s.id[:copy(s.id, s.id[end:])]
	s.back = s.back[:copy(s.back, s.back[end:])]
	s.solved -= end
	s.begun = 0
	s.look = max(firstLook, 2*rest)
}

// solve extends the lattice by all pieces that begin before a place of the word.
func (s *scanner) solve(to int) {
	size := len(s.word) + 1
	if len(s.best) == 0 {
		s.best, s.id, s.back = append(s.best, 0), append(s.id, 0), append(s.back, 0)
	}
	grown := len(s.best)
	s.best, s.id = slices.Grow(s.best, size-grown)[:size], slices.Grow(s.id, size-grown)[:size]
	s.back = slices.Grow(s.back, size-grown)[:size]
	for i := grown; i < size; i++ {
		s.best[i] = math.Inf(-1)
	}
	t, word, best, ids, back := s.t, s.word, s.best, s.id, s.back
	i := s.solved
	for i < to {
		_, char := utf8.DecodeRune(word[i:])
		here, known, base := best[i], false, unit(t.trie, 0)>>baseShift
		for j := i; j < len(word) && word[j] != 0; j++ {
			u := unit(t.trie, base^uint32(word[j]))
			if u&unitLabel != uint32(word[j]) {
				break
			}
			base = u >> baseShift
			if u&unitEnds == 0 {
				continue
			}
			id, end := unit(t.trie, base)&^unitValue, j+1
			if id >= uint32(t.count) || end-i > MaxPieceBytes {
				break
			}
			// Of equal paths the first stays: the one whose last piece is longer.
			if score := here + t.score(id); score > best[end] {
				best[end], ids[end], back[end] = score, int32(id), uint8(end-i)
			}
			known = known || end == i+char
		}
		if score := here + t.unknownScore; !known && score > best[i+char] {
			best[i+char], ids[i+char], back[i+char] = score, t.unknown, uint8(char)
		}
		i += char
	}
	s.solved = i
}

// agreed returns the last place that all paths to the open ends of the lattice pass. The places looked at lie within
// MaxPieceBytes of the highest of them, bit k standing for k bytes below it.
func (s *scanner) agreed() int {
	top := len(s.best) - 1
	for math.IsInf(s.best[top], -1) {
		top--
	}
	var open uint64
	for i := s.solved; i <= top; i++ {
		if !math.IsInf(s.best[i], -1) {
			open |= 1 << (top - i)
		}
	}
	for open != 1 {
		open = open&^1 | 1<<s.back[top]
		down := bits.TrailingZeros64(open)
		open >>= down
		top -= down
	}
	return top
}

// take emits the pieces of the best path to a place of the word.
func (s *scanner) take(end int) {
	if len(s.step) < end {
		s.step = make([]uint8, cap(s.best))
	}
	for i := end; i > 0; i -= int(s.back[i]) {
		s.step[i-int(s.back[i])] = s.back[i]
	}
	for i := 0; i < end && !s.full; {
		to := i + int(s.step[i])
		s.emit(s.id[to], i, to)
		i = to
	}
}

// emit adds the token of the word's bytes [from, to). Unknown characters in a row are one token.
func (s *scanner) emit(id int32, from, to int) {
	more := id == s.t.unknown && s.fused
	if s.fused = id == s.t.unknown; !more {
		if s.full = s.left <= 0; s.full {
			return
		}
		s.left--
		if s.keep {
			s.ids = append(s.ids, id)
		}
	}
	if !s.locate {
		return
	}
	if from < s.begun && to > s.begun {
		from = s.begun
	}
	at := text.Span{Start: s.from[from].Start, End: s.from[to-1].End}
	s.last = text.Span{Start: max(at.Start, s.last.Start), End: max(at.End, s.last.End)}
	if more {
		s.spans[len(s.spans)-1].End = s.last.End
		s.last = s.spans[len(s.spans)-1]
		return
	}
	s.spans = append(s.spans, s.last)
}
