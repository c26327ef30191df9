package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"orgmem/brain/text"
	"orgmem/brain/text/language"
)

// line is a text as words, folded as the index folds them.
type line []string

// wordsOf cuts a text into words without digits.
func wordsOf(s string) line {
	var words line
	for w := range strings.FieldsFuncSeq(text.Fold(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
	}) {
		if !strings.ContainsFunc(w, unicode.IsDigit) {
			words = append(words, strings.Clone(w))
		}
	}
	return words
}

const (
	seed = 24
	rate = 0.15
	// bareShare are the samples without their diacritics: much of what is typed on phones has none.
	bareShare = 0.15
	// spokenShare are the samples that get function words in front: catalogues and descriptions hardly ask or say "I".
	spokenShare = 0.3
	// longestSample is in words. Most samples are shorter, since long ones are easy.
	longestSample = 12
	// decay pulls weights that few samples speak for to nothing.
	decay = 1e-6
	// balance makes languages with many texts more frequent, but less than in proportion.
	balance = 0.3
)

// model is multinomial logistic regression, learned sample by sample with a step for each weight that shrinks with the
// gradients so far (AdaGrad: Duchi, Hazan and Singer 2011).
type model struct {
	group   language.Group
	width   int
	weights []float32
	squares []float32
	spoken  [][]string // function words by language
}

func newModel(g language.Group) *model {
	n := g.Rows() * len(g.Codes())
	m := &model{group: g, width: len(g.Codes()), weights: make([]float32, n), squares: make([]float32, n)}
	for _, code := range g.Codes() {
		var own []string
		if l, ok := text.LanguageOfCode(code); ok {
			own = text.FunctionWords(l)
		}
		m.spoken = append(m.spoken, own)
	}
	return m
}

// train takes runs of words from the texts of each language in turn.
func (m *model) train(texts [][]line, steps int) {
	r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // repeatable by design
	bound := make([]float64, m.width)
	total := 0.0
	for k, lines := range texts {
		total += math.Pow(float64(len(lines)), balance)
		bound[k] = total
	}
	var rows []uint32
	scores := make([]float64, m.width)
	for range steps {
		u, of := r.Float64()*total, 0
		for bound[of] < u {
			of++
		}
		words := texts[of][r.IntN(len(texts[of]))]
		n := 1 + min(r.IntN(longestSample), r.IntN(longestSample))
		if len(words) > n {
			from := r.IntN(len(words) - n + 1)
			words = words[from : from+n]
		}
		rows = rows[:0]
		bare := r.Float64() < bareShare
		if own := m.spoken[of]; len(own) > 0 && r.Float64() < spokenShare {
			for range 1 + r.IntN(2) {
				rows = m.group.Features(rows, []byte(own[r.IntN(len(own))]))
			}
		}
		for _, w := range words {
			if bare {
				w = withoutMarks(w)
			}
			rows = m.group.Features(rows, []byte(w))
		}
		m.step(rows, of, scores)
	}
}

// step moves the weights of some rows towards the language of the sample.
func (m *model) step(rows []uint32, of int, scores []float64) {
	clear(scores)
	for _, row := range rows {
		at := int(row) * m.width
		for k, w := range m.weights[at : at+m.width] {
			scores[k] += float64(w)
		}
	}
	softmax(scores)
	scores[of]--
	for _, row := range rows {
		at := int(row) * m.width
		w, s := m.weights[at:at+m.width], m.squares[at:at+m.width]
		for k := range w {
			g := float32(scores[k]) + decay*w[k]
			if g > -1e-4 && g < 1e-4 {
				continue
			}
			s[k] += g * g
			w[k] -= rate * g / float32(math.Sqrt(float64(s[k])+1e-2))
		}
	}
}

func softmax(x []float64) {
	top := x[0]
	for _, v := range x {
		top = max(top, v)
	}
	sum := 0.0
	for k, v := range x {
		x[k] = math.Exp(v - top)
		sum += x[k]
	}
	for k := range x {
		x[k] /= sum
	}
}

// quantized gives the weights in steps of 1/language.Unit. What all languages of a row have in common decides nothing,
// so each row's middle is taken off first.
func (m *model) quantized() []byte {
	out := make([]byte, len(m.weights))
	for at := 0; at < len(out); at += m.width {
		var mean float32
		for _, w := range m.weights[at : at+m.width] {
			mean += w
		}
		mean /= float32(m.width)
		for k, w := range m.weights[at : at+m.width] {
			v := math.Round(float64(w-mean) * language.Unit)
			out[at+k] = byte(int8(max(-127, min(127, v))))
		}
	}
	return out
}

// measure prints how often runs of 5, 10 and 20 words are taken for their own language, and for what else.
func measure(report io.Writer, g language.Group, weights []byte, held [][]line) {
	codes := g.Codes()
	for of, lines := range held {
		if len(lines) == 0 {
			continue
		}
		fmt.Fprintf(report, "%s", codes[of])
		wrong := make([]int, len(codes))
		for _, n := range []int{5, 10, 20} {
			right, all := 0, 0
			for _, words := range lines {
				for from := 0; from+n <= len(words) && all < 20_000; from += n {
					best := classify(g, weights, words[from:from+n])
					all++
					if best == of {
						right++
					} else if n == 5 {
						wrong[best]++
					}
				}
			}
			fmt.Fprintf(report, "  %d words %.3f (%d)", n, float64(right)/float64(max(1, all)), all)
		}
		for k, n := range wrong {
			if n > 0 && n*20 >= sum(wrong) {
				fmt.Fprintf(report, " %s:%d", codes[k], n)
			}
		}
		fmt.Fprintln(report)
	}
}

func sum(x []int) (n int) {
	for _, v := range x {
		n += v
	}
	return n
}

func classify(g language.Group, weights []byte, words line) int {
	width := len(g.Codes())
	scores := make([]int32, width)
	var rows []uint32
	for _, w := range words {
		rows = g.Features(rows[:0], []byte(w))
		for _, row := range rows {
			for k := range scores {
				scores[k] += int32(int8(weights[int(row)*width+k]))
			}
		}
	}
	best := 0
	for k, s := range scores {
		if s > scores[best] {
			best = k
		}
	}
	return best
}

// withoutMarks takes the diacritics off.
func withoutMarks(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(s))
}
