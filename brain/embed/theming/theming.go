// Package theming learns to see in the vectors of one model what their texts are about (package embed, themes.go): a
// linear map to the vectors that a model of another training has of the same texts, and to what they are known to be
// about.
//
// Where the other model reads one language only, its vectors are asked for in that language alone. What is learned
// holds for others as far as the first model's vectors mean the same in them.
package theming

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

const (
	// ridge keeps directions in which texts hardly differ from being stretched: this share of the mean variance is
	// added to that of each (Hoerl and Kennard 1970). From .0003 to .1 nothing changes.
	ridge = 0.01
	// groupShare is what a text's group counts for beside its target. At 1 and 2 the themes of notes are told apart
	// nearly as well.
	groupShare = 1.4
	// leastGroup is how many texts make a group: of fewer it is what one writer had in mind.
	leastGroup = 20
)

// ErrTooFew reports texts from which nothing can be learned.
var ErrTooFew = errors.New("theming: too few texts")

// Text is one that is learned from.
type Text struct {
	Vector []float32 // of the model whose vectors are to be seen through; all are of one length
	Target []float32 // of the other model, as long for all that have one; nil: it does not read the text
	Group  string    // what it is about, or ""
}

// Map is what was learned. A vector v is seen as Rows·v - Off, and factor*cosine + offset brings the cosines of what is
// seen to the mean and the spread of those of the targets.
type Map struct {
	Rows           []float32 // [len(Off)][len(v)]
	Off            []float32
	Factor, Offset float32
}

// Learn returns the map of so many rows, its strongest directions.
func Learn(texts []Text, rows int) (*Map, error) {
	vectors, middle := centred(texts, func(t *Text) []float32 { return t.Vector })
	targets, _ := centred(texts, func(t *Text) []float32 { return t.Target })
	groups, _ := centred(texts, groupsOf(texts))
	if vectors == nil || targets == nil || groups == nil {
		return nil, ErrTooFew
	}
	_, dim := vectors.Dims()
	_, wide := targets.Dims()
	_, many := groups.Dims()
	if rows > dim {
		return nil, ErrTooFew
	}
	ahead := mat.NewDense(dim, wide+many, nil) // a vector to its target and its group
	aimed := func(t *Text) bool { return t.Target != nil }
	if err := regress(ahead.Slice(0, dim, 0, wide).(*mat.Dense), vectors, targets, texts, aimed); err != nil {
		return nil, err
	}
	held := ahead.Slice(0, dim, wide, wide+many).(*mat.Dense)
	of := groupsOf(texts)
	if err := regress(held, vectors, groups, texts, func(t *Text) bool { return of(t) != nil }); err != nil {
		return nil, err
	}
	length := 0.0 // of a group's row, squared, in the mean
	n, _ := groups.Dims()
	for _, x := range groups.RawMatrix().Data {
		length += x * x / float64(n)
	}
	held.Scale(groupShare/math.Sqrt(length), held)
	strongest, err := reduced(vectors, ahead, rows)
	if err != nil {
		return nil, err
	}
	m := &Map{Off: make([]float32, rows)}
	for r := range rows {
		off := 0.0
		for d := range dim {
			off += strongest.At(d, r) * middle[d]
			m.Rows = append(m.Rows, float32(strongest.At(d, r)))
		}
		m.Off[r] = float32(off)
	}
	m.measure(texts)
	return m, nil
}

// centred are the rows of those texts that have one, less their mean; nil where fewer than two have.
func centred(texts []Text, row func(*Text) []float32) (*mat.Dense, []float64) {
	var data []float64
	n, dim := 0, 0
	for i := range texts {
		if r := row(&texts[i]); r != nil {
			n, dim = n+1, len(r)
			for _, x := range r {
				data = append(data, float64(x))
			}
		}
	}
	if n < 2 || dim == 0 {
		return nil, nil
	}
	middle := make([]float64, dim)
	for i, x := range data {
		middle[i%dim] += x / float64(n)
	}
	for i := range data {
		data[i] -= middle[i%dim]
	}
	return mat.NewDense(n, dim, data), middle
}

// groupsOf gives the group of a text as a row of zeros and, in its place, one over the root of its texts, so that large
// groups count no more than small ones.
func groupsOf(texts []Text) func(*Text) []float32 {
	size := map[string]int{}
	for i := range texts {
		size[texts[i].Group]++
	}
	delete(size, "")
	var names []string
	for name, n := range size {
		if n >= leastGroup {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	rows := map[string][]float32{}
	for i, name := range names {
		rows[name] = make([]float32, len(names))
		rows[name][i] = float32(1 / math.Sqrt(float64(size[name])))
	}
	return func(t *Text) []float32 { return rows[t.Group] }
}

// regress sets b so that vectors·b is as near to wanted as it gets, over the texts that have what is wanted.
func regress(b, vectors, wanted *mat.Dense, texts []Text, has func(*Text) bool) error {
	_, dim := vectors.Dims()
	n, _ := wanted.Dims()
	some := mat.NewDense(n, dim, nil)
	k := 0
	for i := range texts {
		if has(&texts[i]) {
			some.SetRow(k, vectors.RawRowView(i))
			k++
		}
	}
	var both mat.SymDense
	both.SymOuterK(1, some.T())
	add := ridge * mat.Trace(&both) / float64(dim)
	for d := range dim {
		both.SetSym(d, d, both.At(d, d)+add)
	}
	var cholesky mat.Cholesky
	if !cholesky.Factorize(&both) {
		return ErrTooFew
	}
	var right mat.Dense
	right.Mul(some.T(), wanted)
	return cholesky.SolveTo(b, &right)
}

// reduced turns what is predicted of the vectors to its principal axes and keeps the first rows of them: the columns of
// the result. They are scaled so that what they give has a mean squared length of 1.
func reduced(vectors, ahead *mat.Dense, rows int) (*mat.Dense, error) {
	n, dim := vectors.Dims()
	var both mat.SymDense
	both.SymOuterK(1/float64(n), vectors.T())
	for d := range dim {
		both.SetSym(d, d, both.At(d, d)*(1+1e-9)+1e-12)
	}
	var cholesky mat.Cholesky
	if !cholesky.Factorize(&both) {
		return nil, ErrTooFew
	}
	var upper mat.TriDense
	cholesky.UTo(&upper)
	var predicted mat.Dense
	predicted.Mul(&upper, ahead)
	var svd mat.SVD
	if !svd.Factorize(&predicted, mat.SVDThinV) {
		return nil, ErrTooFew
	}
	var axes, out mat.Dense
	svd.VTo(&axes)
	wide, _ := axes.Dims()
	out.Mul(ahead, axes.Slice(0, wide, 0, rows))
	length := 0.0
	for _, s := range svd.Values(nil)[:rows] {
		length += s * s
	}
	if length == 0 {
		return nil, ErrTooFew
	}
	out.Scale(1/math.Sqrt(length), &out)
	return &out, nil
}

// steps are between the places of two texts whose cosine is measured; they are in no order by what they are about.
var steps = []int{1, 7, 61}

// measure sets the line of the cosines.
func (m *Map) measure(texts []Text) {
	var seen, wanted []float64
	var some []*Text
	for i := range texts {
		if texts[i].Target != nil {
			some = append(some, &texts[i])
		}
	}
	views := make([][]float32, len(some))
	for i, t := range some {
		views[i] = make([]float32, len(m.Off))
		for r := range views[i] {
			views[i][r] = float32(dot(m.Rows[r*len(t.Vector):(r+1)*len(t.Vector)], t.Vector)) - m.Off[r]
		}
	}
	for _, step := range steps {
		for i := 0; i+step < len(some); i++ {
			seen = append(seen, cosine(views[i], views[i+step]))
			wanted = append(wanted, cosine(some[i].Target, some[i+step].Target))
		}
	}
	mean, spread := stat.MeanStdDev(seen, nil)
	aim, wide := stat.MeanStdDev(wanted, nil)
	m.Factor = float32(wide / spread)
	m.Offset = float32(aim - wide/spread*mean)
}

func dot(a, b []float32) float64 {
	sum := 0.0
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}

func cosine(a, b []float32) float64 {
	if length := math.Sqrt(dot(a, a) * dot(b, b)); length > 0 {
		return dot(a, b) / length
	}
	return 0
}
