package main

import (
	"fmt"

	"orgmem/brain/embed/packfile"
	"orgmem/brain/embed/trellis"
)

// codeWords takes word vectors out of their blocks and codes them, where the header has tiers that are coded. It takes
// minutes for a hundred thousand.
func codeWords(h *packfile.Header, w *packfile.Weights) error {
	size := packfile.BlocksLen(h.Dim)
	all := w.Blocks
	var kept []byte
	for _, t := range h.Tiers {
		if len(all) < t.Pieces*size {
			return fmt.Errorf("%w: %d bytes of word vectors for a tier of %d", errWeights, len(all), t.Pieces)
		}
		blocks := all[:t.Pieces*size]
		all = all[t.Pieces*size:]
		if t.PairBits == 0 {
			kept = append(kept, blocks...)
			continue
		}
		rows := trellis.Rows{N: t.Pieces, Row: func(x []float32, i int) { packfile.FillFromBlocks(x, blocks[i*size:]) }}
		code, err := trellis.Learn(rows, h.Dim, t.PairBits)
		if err != nil {
			return fmt.Errorf("code words: %w", err)
		}
		coded := packfile.Coded{Code: code}
		coded.Rows, _ = code.Encode(rows)
		w.Coded = append(w.Coded, coded)
	}
	if len(h.Tiers) > 0 {
		w.Blocks = append(kept, all...)
	}
	return nil
}
