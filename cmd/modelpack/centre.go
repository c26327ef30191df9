package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	sums "gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"orgmem/brain/embed"
)

const (
	// centreDirections are taken out of vectors because they tell languages apart. Of 24 languages' texts the eight
	// strongest hold most of what differs; sixteen lose something within a language (docs/retrieval.md).
	centreDirections = 8
	// centreTexts are read of each language, so that each counts alike.
	centreTexts = 150
	// leastCentreTexts are needed of a language; of fewer the mean would be that of their subjects.
	leastCentreTexts = 100
	// maxCentreLine bounds a line of the file of texts.
	maxCentreLine = 1 << 16
)

// textsByLanguage reads lines of a language, a tab and a text.
func textsByLanguage(file []byte) (map[string][]string, error) {
	texts := map[string][]string{}
	lines := bufio.NewScanner(bytes.NewReader(file))
	lines.Buffer(nil, maxCentreLine)
	for n := 1; lines.Scan(); n++ {
		language, text, ok := strings.Cut(lines.Text(), "\t")
		if !ok || language == "" || text == "" {
			return nil, fmt.Errorf("texts: line %d is not a language, a tab and a text", n)
		}
		if len(texts[language]) < centreTexts {
			texts[language] = append(texts[language], text)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("texts: %w", err)
	}
	if 2*len(texts) <= centreDirections {
		return nil, fmt.Errorf("texts: %d languages are too few for %d directions", len(texts), centreDirections)
	}
	for language, of := range texts {
		if len(of) < leastCentreTexts {
			return nil, fmt.Errorf("texts: %d in %q, want %d", len(of), language, leastCentreTexts)
		}
	}
	return texts, nil
}

// centreOf measures what a model's vectors of these texts share: rows of [Dim], the mean over languages of their
// texts as passages and as questions, then the directions in which the means of languages lie apart, strongest first.
func centreOf(m *embed.Model, texts map[string][]string) ([]float32, error) {
	dim := m.Dim()
	encoder := m.NewEncoder()
	var means [2][][]float64 // of languages, as passages and as questions
	for _, language := range slices.Sorted(maps.Keys(texts)) {
		of := texts[language]
		passages := make([][]float32, len(of))
		encoder.Passages(passages, of)
		questions := make([][]float32, len(of))
		for i, text := range of {
			questions[i] = encoder.Query(text)
		}
		for kind, vectors := range [][][]float32{passages, questions} {
			means[kind] = append(means[kind], meanOf(vectors, dim))
		}
	}
	whole, apart := make([]float64, dim), mat.NewDense(2*len(texts), dim, nil)
	for kind, of := range means {
		middle := make([]float64, dim)
		for _, mean := range of {
			sums.AddScaled(middle, 1/float64(len(of)), mean)
		}
		for i, mean := range of {
			sums.SubTo(apart.RawRowView(kind*len(of)+i), mean, middle)
		}
		sums.AddScaled(whole, 0.5, middle)
	}
	var svd mat.SVD
	if !svd.Factorize(apart, mat.SVDThinV) {
		return nil, fmt.Errorf("the means of %d languages have no directions", len(texts))
	}
	var directions mat.Dense
	svd.VTo(&directions)
	rows := make([]float32, 0, (1+centreDirections)*dim)
	for _, x := range whole {
		rows = append(rows, float32(x))
	}
	for d := range centreDirections {
		for i := range dim {
			rows = append(rows, float32(directions.At(i, d)))
		}
	}
	return rows, nil
}

func meanOf(vectors [][]float32, dim int) []float64 {
	mean := make([]float64, dim)
	for _, v := range vectors {
		for i, x := range v {
			mean[i] += float64(x) / float64(len(vectors))
		}
	}
	return mean
}

// centreBytes and centreRows are the form in which a centre is kept: float32, little endian.
func centreBytes(rows []float32) []byte {
	file := make([]byte, 0, 4*len(rows))
	for _, x := range rows {
		file = binary.LittleEndian.AppendUint32(file, math.Float32bits(x))
	}
	return file
}

func centreRows(file []byte) []float32 {
	rows := make([]float32, len(file)/4)
	for i := range rows {
		rows[i] = math.Float32frombits(binary.LittleEndian.Uint32(file[4*i:]))
	}
	return rows
}
