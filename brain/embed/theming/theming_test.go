package theming_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"

	"orgmem/brain/embed/theming"
)

// texts are of four themes, which their vectors hold weakly in four axes of twelve, below what else is in them; the
// target is the theme alone, and every third text has none.
func texts(r *rand.Rand, n int) (all []theming.Text, theme []int) {
	for i := range n {
		v := make([]float32, 12)
		for d := range v {
			v[d] = 3 + float32(r.NormFloat64())
		}
		for d := range 4 {
			v[d] = 0.1 * float32(r.NormFloat64())
		}
		v[i%4] += 0.5
		t := theming.Text{Vector: v, Group: string(rune('a' + i%4))}
		if i%3 > 0 {
			t.Target = make([]float32, 4)
			t.Target[i%4] = 1
		}
		all, theme = append(all, t), append(theme, i%4)
	}
	return all, theme
}

// seen is what a map shows of a vector, of length 1.
func seen(m *theming.Map, v []float32) []float64 {
	out := make([]float64, len(m.Off))
	length := 0.0
	for r := range out {
		for d, x := range v {
			out[r] += float64(m.Rows[r*len(v)+d]) * float64(x)
		}
		out[r] -= float64(m.Off[r])
		length += out[r] * out[r]
	}
	for r := range out {
		out[r] /= math.Sqrt(length)
	}
	return out
}

// What is learned shows the theme of texts that it has not seen, and its cosines have the range of the targets'.
func TestLearnSeesThemes(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	all, _ := texts(r, 400)
	m, err := theming.Learn(all, 3)
	if err != nil {
		t.Fatal(err)
	}
	fresh, theme := texts(r, 80)
	right := 0
	var shown, wanted []float64
	for i := range fresh {
		best, at := -2.0, 0
		for k := range fresh {
			if i == k {
				continue
			}
			cosine := 0.0
			a, b := seen(m, fresh[i].Vector), seen(m, fresh[k].Vector)
			for d := range a {
				cosine += a[d] * b[d]
			}
			if cosine > best {
				best, at = cosine, k
			}
			want := 0.0
			if theme[i] == theme[k] {
				want = 1
			}
			shown, wanted = append(shown, float64(m.Factor)*cosine+float64(m.Offset)), append(wanted, want)
		}
		if theme[at] == theme[i] {
			right++
		}
	}
	if right < 78 {
		t.Errorf("the nearest of %d of 80 is of its theme", right)
	}
	mean, spread := stat.MeanStdDev(shown, nil)
	if aim, wide := stat.MeanStdDev(wanted, nil); math.Abs(mean-aim) > 0.05 || math.Abs(spread-wide) > 0.05 {
		t.Errorf("cosines of mean %g and spread %g, the targets' have %g and %g", mean, spread, aim, wide)
	}
}

func TestLearnOfTooLittle(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	few, _ := texts(r, 40) // ten of a group
	if _, err := theming.Learn(few, 3); !errors.Is(err, theming.ErrTooFew) {
		t.Errorf("groups of ten: %v", err)
	}
	many, _ := texts(r, 200)
	if _, err := theming.Learn(many, 13); !errors.Is(err, theming.ErrTooFew) {
		t.Errorf("more rows than a vector has: %v", err)
	}
	if _, err := theming.Learn(nil, 1); !errors.Is(err, theming.ErrTooFew) {
		t.Errorf("no texts: %v", err)
	}
}
