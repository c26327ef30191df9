package embed

import (
	"errors"
	"math"
	"testing"
)

func TestThemesAreSeen(t *testing.T) {
	t.Parallel()
	// The first axis less one, and twice the second.
	file := FileOfThemes("tiny@1", []float32{1, 0, 0, 0, 2, 0}, []float32{1, 0}, 0.5, 0.25)
	themes, err := OpenThemes(file)
	if err != nil {
		t.Fatal(err)
	}
	got := themes.Of([]float32{4, 2, 9})
	if len(got) != 2 || math.Abs(float64(got[0])-0.6) > 1e-6 || math.Abs(float64(got[1])-0.8) > 1e-6 {
		t.Errorf("seen %v, want .6 and .8", got)
	}
	if got := themes.Of([]float32{1, 0, 9}); len(got) != 2 || got[0] != 0 || got[1] != 0 {
		t.Errorf("of what holds nothing %v", got)
	}
	if got := themes.Of([]float32{1, 0}); got != nil {
		t.Errorf("of a vector of another model %v", got)
	}
	if factor, offset := themes.CosineLine(); factor != 0.5 || offset != 0.25 {
		t.Errorf("cosine line %g, %g", factor, offset)
	}
	for name, damaged := range map[string][]byte{
		"nothing": nil, "no head": []byte("rows"), "cut off": file[:len(file)-1], "longer": append(file, 0, 0),
		"no rows": []byte("themes tiny@1 3 0 1 0\n"), "too many": []byte("themes tiny@1 3 999999 1 0\n"),
	} {
		if _, err := OpenThemes(damaged); !errors.Is(err, ErrPack) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The multilingual model in the binary has its themes: a change of it makes another model, from which they have to be
// learned anew (brain/embed/weights/README.md). The English one, and one that no themes were learned of, have none.
func TestModelsHaveTheirThemes(t *testing.T) {
	t.Parallel()
	for name, pack := range map[string][]byte{"multilingual": MultilingualPack(), "english": Pack()} {
		m, err := Outline(pack)
		if err != nil {
			t.Fatal(err)
		}
		if has := m.Themes() != nil; has != (name == "multilingual") {
			t.Errorf("%s: it has themes: %t", name, has)
		}
	}
	if tinyModel(t, tinyHeader()).Themes() != nil {
		t.Error("a model that nothing was learned of has themes")
	}
}
