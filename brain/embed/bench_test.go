package embed

import (
	"strconv"
	"strings"
	"testing"
)

// words returns a text of n tokens.
func words(m *Model, n int) string {
	text := strings.TrimSpace(strings.Repeat("budget meeting water tea ", (n+3)/4))
	for m.CountTokens(text) > n {
		text = text[:strings.LastIndexByte(text, ' ')]
	}
	return text
}

// BenchmarkPassages reports texts per second on one core, for texts of that
// many tokens with [CLS] and [SEP], in calls of sixteen.
func BenchmarkPassages(b *testing.B) {
	m := loaded(b)
	for _, n := range []int{16, 100, 200, 256} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			texts := make([]string, 16)
			for i := range texts {
				texts[i] = words(m, n-2)
			}
			e, dst := m.NewEncoder(), make([][]float32, len(texts))
			e.Passages(dst, texts)
			for b.Loop() {
				e.Passages(dst, texts)
			}
			b.ReportMetric(float64(len(texts)*b.N)/b.Elapsed().Seconds(), "texts/s")
		})
	}
}

func BenchmarkQuery16(b *testing.B) {
	m := loaded(b)
	e, text := m.NewEncoder(), words(m, 14)
	b.ReportAllocs()
	for b.Loop() {
		e.Query(text)
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		loaded(b)
	}
}

func BenchmarkCountTokens(b *testing.B) {
	m := loaded(b)
	text := strings.Repeat("The release manager noticed that the infrastructure budget does not add up. ", 20)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		m.CountTokens(text)
	}
}

// BenchmarkBlocks reports a model in blocks with the shape of multilingual-e5-small and weights of chance: texts of
// 100 tokens per second on one core, and a question of 16.
func BenchmarkBlocks(b *testing.B) {
	h := tinyHeader()
	h.Layers, h.Dim, h.Heads, h.FFN, h.MaxTokens = 12, 384, 12, 1536, 512
	m := inBlocks(b, h)
	e, texts := m.NewEncoder(), make([]string, 16)
	for i := range texts {
		texts[i] = words(m, 98)
	}
	dst := make([][]float32, len(texts))
	b.Run("100", func(b *testing.B) {
		for b.Loop() {
			e.Passages(dst, texts)
		}
		b.ReportMetric(float64(len(texts)*b.N)/b.Elapsed().Seconds(), "texts/s")
	})
	b.Run("query16", func(b *testing.B) {
		for text := words(m, 14); b.Loop(); {
			e.Query(text)
		}
	})
}
