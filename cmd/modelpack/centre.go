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

	"orgmem/brain/embed"
	"orgmem/brain/embed/centring"
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

// centreOf measures what a model's vectors of these texts share, as passages and as questions.
func centreOf(m *embed.Model, texts map[string][]string) ([]float32, error) {
	encoder := m.NewEncoder()
	var passages, questions [][][]float32 // of each language
	for _, language := range slices.Sorted(maps.Keys(texts)) {
		of := texts[language]
		told, asked := make([][]float32, len(of)), make([][]float32, len(of))
		encoder.Passages(told, of)
		for i, text := range of {
			asked[i] = encoder.Query(text)
		}
		passages, questions = append(passages, told), append(questions, asked)
	}
	return centring.Measure(centreDirections, passages, questions)
}

// centreBytes is the form in which a centre is kept, which floats reads.
func centreBytes(rows []float32) []byte {
	file := make([]byte, 0, 4*len(rows))
	for _, x := range rows {
		file = binary.LittleEndian.AppendUint32(file, math.Float32bits(x))
	}
	return file
}
