package embed

import (
	_ "embed" // what sees themes
	"fmt"
	"math"
	"strings"
	"sync"
)

// Themes sees of a model's vectors what their texts are about. Vectors for searching tell a question's answer from all
// else: under multilingual-e5-small, two notes on one theme are hardly nearer than two on different ones, and half of
// a note's nearest belong to another theme. The same vectors hold the theme, too, in directions that count little
// there; a linear map brings them out. cmd/modelpack learns it (package theming). It is safe for concurrent use.
type Themes struct {
	of             ModelID
	dim            int
	rows           []float32 // [len(off)][dim]
	off            []float32
	factor, offset float32
}

//go:embed weights/multilingual-e5-small.themes
var multilingualThemes []byte

// themes are those of the models in the binary that need them. The English model tells themes apart by itself: it is
// what the other one learned them from.
var themes = sync.OnceValue(func() *Themes {
	t, err := OpenThemes(multilingualThemes)
	if err != nil {
		panic(err) //nolint:forbidigo // the file is part of the program, and a test opens it
	}
	return t
})

// Themes returns what sees the themes of the model's vectors; nil: the vectors do, as they are.
func (m *Model) Themes() *Themes {
	if t := themes(); t.of == m.id {
		return t
	}
	return nil
}

// themesHead is the first line of a file of themes: the model, the length of its vectors and of what is seen, and the
// line of the cosines. Behind it stand the rows and what is taken off, as half floats.
const themesHead = "themes %s %d %d %g %g\n"

// maxThemes bounds how long a vector, and what is seen of it, may be.
const maxThemes = 4096

// FileOfThemes is the file of a map that package theming learned for a model.
func FileOfThemes(of ModelID, rows, off []float32, factor, offset float32) []byte {
	file := fmt.Appendf(nil, themesHead, of, len(rows)/len(off), len(off), factor, offset)
	return EncodeF16(EncodeF16(file, rows), off)
}

// OpenThemes reads what FileOfThemes made. An error wraps ErrPack.
func OpenThemes(file []byte) (*Themes, error) {
	head, body, ok := strings.Cut(string(file), "\n")
	t := &Themes{}
	rows := 0
	_, err := fmt.Sscanf(head+"\n", themesHead, &t.of, &t.dim, &rows, &t.factor, &t.offset)
	if !ok || err != nil || t.dim < 1 || t.dim > maxThemes || rows < 1 || rows > maxThemes ||
		len(body) != 2*rows*(t.dim+1) {
		return nil, fmt.Errorf("%w: no themes", ErrPack)
	}
	values := DecodeF16(nil, []byte(body))
	t.rows, t.off = values[:rows*t.dim], values[rows*t.dim:]
	return t, nil
}

// Of returns what is seen of a vector of the model, of length 1, all zeros where that is nothing; nil for a vector that
// is none of the model's. No step is fused, so that the bits are the same on every machine: a product of two float32 is
// exact in float64.
func (t *Themes) Of(v []float32) []float32 {
	if len(v) != t.dim {
		return nil
	}
	seen := make([]float32, len(t.off))
	length := 0.0
	for r := range seen {
		along := 0.0
		for i, x := range t.rows[r*t.dim : (r+1)*t.dim] {
			along += float64(x) * float64(v[i])
		}
		seen[r] = float32(along) - t.off[r]
		length += float64(seen[r]) * float64(seen[r])
	}
	if length > 0 {
		by := 1 / math.Sqrt(length)
		for r, x := range seen {
			seen[r] = float32(float64(x) * by)
		}
	}
	return seen
}

// CosineLine is as that of a model: the line that brings the cosines of what is seen to the range of RangeModel's.
func (t *Themes) CosineLine() (factor, offset float32) { return t.factor, t.offset }
