package text

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// spaceless emits the bigrams of a run of characters of scripts without spaces
// (of Han and kana mixed, as Japanese mixes them), and single characters where
// queries may consist of one. Pairs that touch a function word are marked: they
// are found, but say nothing. It returns where the run ends.
func (s *scanner) spaceless(t string, i int) int {
	s.starts, s.dropped = s.starts[:0], s.dropped[:0]
	var family script
	from, first := len(s.tokens), i
	for i < len(t) {
		r, n := utf8.DecodeRuneInString(t[i:])
		sc := scriptNone
		if r >= utf8.RuneSelf {
			sc = scriptOf(r)
		}
		if r == longMark && endsKatakana(t, i, i+n, first) {
			s.dropped = append(s.dropped, i+n)
			i += n
			continue
		}
		if sc == scriptMark {
			i += n
			continue
		}
		if !sc.spaceless() {
			break
		}
		f := sc
		if f == scriptKana {
			f = scriptHan
		}
		if family != scriptNone && f != family {
			break
		}
		family = f
		s.starts = append(s.starts, i)
		i += n
	}
	s.starts = append(s.starts, i)
	s.coverWords(t, family)
	s.emitRun(t)
	if len(s.tokens) == from {
		return i
	}
	if r, _ := utf8.DecodeRuneInString(t[i:]); r == '。' || r == '！' || r == '？' {
		s.first = true
	}
	return i
}

// longMark lengthens the vowel before it in katakana. At the end of a word of four characters or more it is written or
// not ("サーバー", "サーバ"), so there it does not count (as in Lucene's JapaneseKatakanaStemFilter).
const longMark = 'ー'

// minKatakana is the length from which a final long mark is left out, with it.
const minKatakana = 4

// endsKatakana tells whether the long mark at i, which ends at end, is the last character of a word in katakana of
// minKatakana characters or more. The word does not begin before first.
func endsKatakana(t string, i, end, first int) bool {
	if r, _ := utf8.DecodeRuneInString(t[end:]); isKatakana(r) {
		return false
	}
	n := 1
	for n < minKatakana && i > first {
		r, size := utf8.DecodeLastRuneInString(t[:i])
		if !isKatakana(r) {
			break
		}
		i -= size
		n++
	}
	return n >= minKatakana
}

func isKatakana(r rune) bool { return r >= 0x30A1 && r <= 0x30FA || r == longMark }

// emitRun emits the tokens of the clusters that begin at s.starts, whose last entry is the end of the run.
func (s *scanner) emitRun(t string) {
	n := len(s.starts) - 1
	for k := range n {
		cluster := t[s.starts[k]:s.starts[k+1]]
		r, size := utf8.DecodeRuneInString(cluster)
		sc := scriptOf(r)
		// A character between function words is a word of its own.
		alone := !s.cover[k] && (k == 0 || s.cover[k-1]) && (k+1 == n || s.cover[k+1])
		switch single := sc == scriptHan || sc == scriptHangul && k == 0; {
		case n == 1 || alone && single:
			s.emit(cluster[:size], tokUnigram, roleWord, sc)
		case single:
			s.emit(cluster[:size], tokUnigram, roleUnigram, sc)
		}
		if k+1 == n {
			break
		}
		before := len(s.tokens)
		end := s.starts[k+2]
		if _, ok := slices.BinarySearch(s.dropped, end); ok {
			end -= len(string(longMark))
		}
		s.emit(t[s.starts[k]:end], tokBigram, roleWord, sc)
		if len(s.tokens) == before {
			continue
		}
		s.tokens[before].covered = s.cover[k] && s.cover[k+1] ||
			s.cover[k] != s.cover[k+1] && !s.only(k, n, t)
	}
}

// only tells whether one of the clusters k and k+1 is a word of one character that no other token shows.
func (s *scanner) only(k, n int, t string) bool {
	if s.cover[k] {
		k++
	}
	if k > 0 && !s.cover[k-1] || k+1 < n && !s.cover[k+1] {
		return false
	}
	r, _ := utf8.DecodeRuneInString(t[s.starts[k]:])
	sc := scriptOf(r)
	return sc != scriptHan && !(sc == scriptHangul && k == 0)
}

// coverWords marks the clusters that belong to function words: from left to right the longest word that fits, as in
// maximum matching. In Korean only the end of a word is one, the particle.
func (s *scanner) coverWords(t string, family script) {
	n := len(s.starts) - 1
	s.cover = s.cover[:0]
	for range n {
		s.cover = append(s.cover, false)
	}
	if family == scriptHangul {
		s.coverParticle(t, n)
		return
	}
	for k := 0; k < n; {
		took := 1
		for m := min(maxCovered, n-k); m > 0; m-- {
			drop, ok := coverTable[t[s.starts[k]:s.starts[k+m]]]
			if !ok {
				continue
			}
			took = m
			if drop {
				for j := range m {
					s.cover[k+j] = true
				}
			}
			break
		}
		k += took
	}
}

// coverParticle marks what ends a Korean word, or all of it if it is a function word.
func (s *scanner) coverParticle(t string, n int) {
	word := t[s.starts[0]:s.starts[n]]
	from := n
	if koreanWords[word] {
		from = 0
	} else {
		for m := min(maxParticle, n-1); m > 0; m-- {
			if koreanEnds[t[s.starts[n-m]:s.starts[n]]] {
				from = n - m
				break
			}
		}
	}
	for k := from; k < n; k++ {
		s.cover[k] = true
	}
}

const (
	// maxCovered and maxParticle are the longest function words in clusters.
	maxCovered  = 6
	maxParticle = 4
)

// coverTable are the function words of Chinese, Japanese and Thai, as they are written. Those with false are none: they
// are words that begin with one, or hold one.
var coverTable = func() map[string]bool {
	m := map[string]bool{}
	for _, l := range [...]Lang{Chinese, Japanese, Thai} {
		for w := range strings.FieldsSeq(stopLists[l]) {
			m[w] = true
		}
	}
	for w := range strings.FieldsSeq(notCovered) {
		m[w] = false
	}
	return m
}()

var (
	koreanWords = Set(stopLists[Korean])
	koreanEnds  = Set(koreanParticles)
)

// koreanParticles follow a noun or end a question (Sohn, The Korean Language, 1999).
const koreanParticles = `은 는 이 가 을 를 의 에 도 와 과 로 으로 에서 에게 한테 까지 부터 보다 처럼 만 이나 나 에는 에도
에서는 으로는 입니까 입니다 인가요 인가 습니까 습니다 나요 어요 아요 예요 이에요 였습니다 했습니다 했나요 합니까 합니다 하나요 되나요 됩니까`

// notCovered are words in which a character of one of the lists is no function word.
const notCovered = `目的 目的地 的确 的士 了解 为了 除了 存在 现在 現在 实在 實在 正在 是否 可是 于是 但是 还是 还有 在线 在線 内在 所在
不是 就是 不在 有的 有人 有效 没有 沒有 为止 认为 認為 行为 行為 作为 作為 因为 因為 和平 和谐 和諧 总和 總和
と言 もの もり とり にく とも はし はな かさ がん のり かに たに のど`
