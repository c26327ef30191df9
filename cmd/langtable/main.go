// Command langtable makes the table of brain/text/language.
//
//	langtable [-steps N] [-out FILE] TEXTS
//
// TEXTS is a folder with a file CODE.txt for each language, one text a line, as texts.py beside this file writes it. One
// line in twenty is held out, and the table is measured on it: on runs of 5, 10 and 20 words. A folder CODE.txt below
// TEXTS/held is measured as well, and never trained on.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"

	"orgmem/brain/text/language"
)

// maxLine bounds a line of the texts.
const maxLine = 1 << 20

func main() {
	steps := flag.Int("steps", 3_000_000, "samples that are learned from, of each group of languages")
	out := flag.String("out", "brain/text/language/table.bin", "the file to write")
	flag.Parse()
	debug.SetGCPercent(400)
	if err := run(flag.Arg(0), *out, *steps, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "langtable:", err)
		os.Exit(1)
	}
}

func run(folder, out string, steps int, report io.Writer) error {
	var all []byte
	for _, g := range []language.Group{language.Latin, language.Cyrillic} {
		learn, held, err := readAll(folder, g)
		if err != nil {
			return err
		}
		m := newModel(g)
		m.train(learn, steps)
		weights := m.quantized()
		all = append(all, weights...)
		measure(report, g, weights, held)
		other, err := readHeld(filepath.Join(folder, "held"), g)
		if err != nil {
			return err
		}
		fmt.Fprintln(report, "texts of other kinds:")
		measure(report, g, weights, other)
	}
	return os.WriteFile(out, all, 0o644)
}

// readAll reads the texts of a group, as words, by language: those to learn from and those held out.
func readAll(folder string, g language.Group) (learn, held [][]line, err error) {
	for _, code := range g.Codes() {
		lines, err := readLines(filepath.Join(folder, code+".txt"))
		if err != nil {
			return nil, nil, err
		}
		var a, b []line
		for k, l := range lines {
			if k%20 == 7 {
				b = append(b, l)
			} else {
				a = append(a, l)
			}
		}
		learn, held = append(learn, a), append(held, b)
	}
	return learn, held, nil
}

// readHeld reads the texts that are only measured, where there are any.
func readHeld(folder string, g language.Group) (held [][]line, err error) {
	for _, code := range g.Codes() {
		lines, err := readLines(filepath.Join(folder, code+".txt"))
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
		held = append(held, lines)
	}
	return held, nil
}

func readLines(path string) ([]line, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	var lines []line
	scanner := bufio.NewScanner(f)
	scanner.Buffer(nil, maxLine)
	for scanner.Scan() {
		if l := wordsOf(scanner.Text()); len(l) > 0 {
			lines = append(lines, l)
		}
	}
	return lines, scanner.Err()
}
