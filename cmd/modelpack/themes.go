package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"orgmem/brain/embed"
	"orgmem/brain/embed/theming"
)

const (
	// themesRows are kept of what is learned: of 384 they hold nearly all that tells themes apart (64 lose a hundredth of
	// the pairs of notes that are told right, 192 gain nothing).
	themesRows = 128
	// themesBatch is how many texts are embedded at once.
	themesBatch = 256
	// english is the language that the model learned from reads.
	english = "en"
)

// writeThemes learns, from lines of a language, a domain and a text between tabs, to see themes in the vectors of the
// multilingual model in the binary.
func writeThemes(stdout io.Writer, o options) error {
	if o.out == "" {
		return errors.New("-out is required")
	}
	file, err := os.ReadFile(o.themes)
	if err != nil {
		return fmt.Errorf("read texts: %w", err)
	}
	texts, said, err := themesTexts(file)
	if err != nil {
		return err
	}
	m, err := embed.LoadMultilingual(nil)
	if err != nil {
		return err
	}
	teacher, err := embed.Load(nil)
	if err != nil {
		return err
	}
	learned, err := learnThemes(m, teacher, texts, said)
	if err != nil {
		return err
	}
	made := embed.FileOfThemes(m.ID(), learned.Rows, learned.Off, learned.Factor, learned.Offset)
	if err := os.WriteFile(o.out, made, 0o644); err != nil {
		return fmt.Errorf("write themes: %w", err)
	}
	fmt.Fprintf(stdout, "%s: %d bytes, learned from %d texts, cosine line %g %g\n",
		filepath.Base(o.out), len(made), len(texts), learned.Factor, learned.Offset)
	return nil
}

// themesText is a line of the file, without its text.
type themesText struct{ language, domain string }

func themesTexts(file []byte) (texts []themesText, said []string, err error) {
	lines := bufio.NewScanner(bytes.NewReader(file))
	lines.Buffer(nil, maxCentreLine)
	for n := 1; lines.Scan(); n++ {
		parts := strings.Split(lines.Text(), "\t")
		if len(parts) != 3 || parts[0] == "" || parts[2] == "" {
			return nil, nil, fmt.Errorf("texts: line %d is not a language, a domain and a text", n)
		}
		texts, said = append(texts, themesText{parts[0], parts[1]}), append(said, parts[2])
	}
	if err := lines.Err(); err != nil {
		return nil, nil, fmt.Errorf("texts: %w", err)
	}
	return texts, said, nil
}

// learnThemes embeds the texts with both models, the teacher those that it reads, and learns.
func learnThemes(m, teacher *embed.Model, texts []themesText, said []string) (*theming.Map, error) {
	mine, its := m.NewEncoder(), teacher.NewEncoder()
	all := make([]theming.Text, len(texts))
	for from := 0; from < len(texts); from += themesBatch {
		batch := said[from:min(from+themesBatch, len(said))]
		vectors, targets := make([][]float32, len(batch)), make([][]float32, len(batch))
		mine.Passages(vectors, batch)
		its.Passages(targets, batch)
		for i := range batch {
			t := &all[from+i]
			t.Vector, t.Group = vectors[i], texts[from+i].domain
			if texts[from+i].language == english {
				t.Target = targets[i]
			}
		}
	}
	return theming.Learn(all, min(themesRows, m.Dim()))
}
