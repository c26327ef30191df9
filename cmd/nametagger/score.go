package main

import (
	"fmt"
	"io"

	"orgmem/brain/extract/tagger"
)

// score counts the names that a model finds, exactly and in part.
func score(stdout io.Writer, path string, sentences []labelled, bias float64) error {
	raw, err := readFile(path)
	if err != nil {
		return err
	}
	model, err := tagger.Open(raw)
	if err != nil {
		return err
	}
	d := tagger.NewDecoder(model)
	var gold, found, exact, typed, part, covered int
	for _, s := range sentences {
		tokens, _ := s.tokens()
		tags, _ := d.Tag(s.text, tokens, bias)
		gold += len(s.names)
		hit := make([]bool, len(s.names))
		for i := range tags {
			if !tags[i].Begins() {
				continue
			}
			end := i + 1
			for end < len(tags) && tags[end] == tags[i].Inside() && !tags[end].Begins() && tags[end] != tagger.Outside {
				end++
			}
			start, stop := tokens[i].Start, tokens[end-1].End
			found++
			overlap := false
			for k, n := range s.names {
				if n.start < stop && n.end > start {
					overlap, hit[k] = true, true
				}
				if n.start == start && n.end == stop {
					exact++
					if n.tag == tags[i] {
						typed++
					}
				}
			}
			if overlap {
				part++
			}
		}
		for _, h := range hit {
			if h {
				covered++
			}
		}
	}
	f := func(right, all, gold int) float64 { return 2 * float64(right) / float64(all+gold) }
	p, r := float64(part)/float64(max(found, 1)), float64(covered)/float64(max(gold, 1))
	_, err = fmt.Fprintf(stdout, "names %d, found %d; F1 exact %.3f, with class %.3f; in part P %.3f R %.3f F1 %.3f\n",
		gold, found, f(exact, found, gold), f(typed, found, gold), p, r, 2*p*r/(p+r))
	return err
}
