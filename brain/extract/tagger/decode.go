package tagger

import "math"

// Decoder tags blocks with a model. It reuses its memory and is not shared.
type Decoder struct {
	m       *Model
	scratch scratch
	scores  [][Tags]int32
	back    [][Tags]Tag
	alpha   [][Tags]float64
	beta    [][Tags]float64
	names   []float64
	tags    []Tag
}

// NewDecoder returns a decoder for one goroutine.
func NewDecoder(m *Model) *Decoder { return &Decoder{m: m} }

// Features computes the features of the tokens of a block of text: a tweet, or
// some sentences of a document. The slices are valid until the next call.
func (d *Decoder) Features(s string, tokens []Token) (features [][]uint32) {
	d.scratch.extract(d.m, s, tokens)
	begin := 0
	for _, end := range d.scratch.ends {
		features = append(features, d.scratch.features[begin:end])
		begin = end
	}
	return features
}

// Tag gives each token its tag on the best path, where each name must gain bias
// more than its tokens outside of names (negative: names are found more easily);
// and the probability that the token is part of a name. Both are valid until the
// next call.
func (d *Decoder) Tag(s string, tokens []Token, bias float64) (tags []Tag, names []float64) {
	if len(tokens) == 0 {
		return nil, nil
	}
	d.scratch.extract(d.m, s, tokens)
	d.score(int32(bias / d.m.scale))
	d.viterbi()
	d.marginals()
	return d.tags, d.names
}

func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// score sums the weights of each token's features.
func (d *Decoder) score(outside int32) {
	n := len(d.scratch.ends)
	d.scores = grow(d.scores, n)
	begin := 0
	for i, end := range d.scratch.ends {
		var sum [Tags]int32
		for _, f := range d.scratch.features[begin:end] {
			at, ok := d.m.features.find(f)
			if !ok {
				continue
			}
			row := (*[Tags]int8)(d.m.weights[at*Tags:])
			for t, w := range row {
				sum[t] += int32(w)
			}
		}
		sum[Outside] += outside
		d.scores[i] = sum
		begin = end
	}
}

const never = math.MinInt32 / 2

// viterbi finds the best path (Viterbi 1967); ties go to the lower tag.
func (d *Decoder) viterbi() {
	n := len(d.scores)
	d.back, d.tags = grow(d.back, n), grow(d.tags, n)
	var best [Tags]int32
	for t := range Tags {
		best[t] = d.scores[0][t]
		if !Allowed(Outside, Tag(t)) {
			best[t] = never
		}
	}
	for i := 1; i < n; i++ {
		var next [Tags]int32
		for t := range Tags {
			top, from := int32(math.MinInt32), Outside
			for p := range Tags {
				if v := best[p] + d.m.moves[p][t]; v > top && Allowed(Tag(p), Tag(t)) {
					top, from = v, Tag(p)
				}
			}
			next[t] = max(top+d.scores[i][t], never)
			d.back[i][t] = from
		}
		best = next
	}
	last := Outside
	for t := range Tags {
		if best[t] > best[last] {
			last = Tag(t)
		}
	}
	for i := n - 1; i >= 0; i-- {
		d.tags[i] = last
		last = d.back[i][last]
	}
}

// marginals computes, by forward and backward sums, how probable it is that each
// token is part of a name (Lafferty, McCallum, Pereira 2001).
func (d *Decoder) marginals() {
	n := len(d.scores)
	d.alpha, d.beta, d.names = grow(d.alpha, n), grow(d.beta, n), grow(d.names, n)
	var moves [Tags][Tags]float64
	for p := range Tags {
		for t := range Tags {
			if Allowed(Tag(p), Tag(t)) {
				moves[p][t] = math.Exp(float64(d.m.moves[p][t]) * d.m.scale)
			}
		}
	}
	for i := range n {
		// Emissions relative to the best: only ratios count.
		var e [Tags]float64
		top := d.scores[i][0]
		for _, v := range d.scores[i] {
			top = max(top, v)
		}
		sum := 0.0
		for t := range Tags {
			e[t] = math.Exp(float64(d.scores[i][t]-top) * d.m.scale)
			from := 0.0
			if i == 0 {
				if Allowed(Outside, Tag(t)) {
					from = 1
				}
			} else {
				for p := range Tags {
					from += d.alpha[i-1][p] * moves[p][t]
				}
			}
			d.alpha[i][t] = from * e[t]
			sum += d.alpha[i][t]
			d.beta[i][t] = e[t] // kept for the way back
		}
		for t := range Tags {
			d.alpha[i][t] /= sum
		}
	}
	var after [Tags]float64 // beta of the token behind, times its emission
	for i := n - 1; i >= 0; i-- {
		var b [Tags]float64
		sum := 0.0
		for p := range Tags {
			if i == n-1 {
				b[p] = 1
			} else {
				for t := range Tags {
					b[p] += moves[p][t] * after[t]
				}
			}
			sum += b[p]
		}
		all, name := 0.0, 0.0
		for t := range Tags {
			b[t] /= sum
			v := d.alpha[i][t] * b[t]
			all += v
			if Tag(t) != Outside {
				name += v
			}
			after[t] = b[t] * d.beta[i][t]
		}
		d.names[i] = name / all
	}
}
