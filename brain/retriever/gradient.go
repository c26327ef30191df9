package retriever

import "math"

// sharpness is how many nats a point of score is worth in the loss: hits whose
// scores differ by a tenth are nearly told apart.
const sharpness = 12

// gradient adds up the derivatives of losses.
type gradient struct {
	Parameters
	act [steps + 1][]float64
}

// loss gives, after Forward, how badly the walk ranks what answers the question,
// in nats; ok is false where none of it was reached. Passages of the same documents
// that are not the answer itself do not count.
//
//	loss = mean over answers g of -log( e^z(g) / (e^z(g) + N) ) - log( G / (G + N) )
//
// where G and N are the sums of e^z over the answers and over the others. The first
// part wants all answers high, the second one of them at the top.
func (w *Walk) loss(answers map[int32]bool, into *gradient) (loss float64, ok bool) {
	most := math.Inf(-1)
	var right []int32
	for i := range w.nodes {
		if w.isPassage(int32(i)) && w.scored[i] {
			most = max(most, w.score[i])
			if answers[w.nodes[i]] {
				right = append(right, int32(i))
			}
		}
	}
	if len(right) == 0 {
		return 0, false
	}
	docs := map[int32]bool{}
	for a := range answers {
		docs[w.g.docOf[a]] = true
	}
	others := 0.0
	other := func(i int) bool { return w.isPassage(int32(i)) && w.scored[i] && !docs[w.docOf(int32(i))] }
	for i := range w.nodes {
		if other(i) {
			others += math.Exp(sharpness * (w.score[i] - most))
		}
	}
	share := 1 / float64(len(right))
	all := 0.0
	for _, i := range right {
		all += math.Exp(sharpness * (w.score[i] - most))
	}
	loss = -math.Log(all / (all + others))
	spill := sharpness / (all + others) // what each unit of e^z of the others takes
	dz := make([]float64, len(w.nodes))
	for _, i := range right {
		e := math.Exp(sharpness * (w.score[i] - most))
		loss -= share * math.Log(e/(e+others))
		dz[i] = share*sharpness*(e/(e+others)-1) + sharpness*e*(1/(all+others)-1/all)
		spill += share * sharpness / (e + others)
	}
	if into == nil {
		return loss, true
	}
	for i := range w.nodes {
		if other(i) {
			dz[i] = spill * math.Exp(sharpness*(w.score[i]-most))
		}
	}
	w.backward(dz, into)
	return loss, true
}

// backward follows the derivative of the scores back to the parameters.
func (w *Walk) backward(dz []float64, into *gradient) {
	for t := range into.act {
		into.act[t] = append(into.act[t][:0], make([]float64, len(w.nodes))...)
	}
	open := 0.0
	for i, d := range dz {
		if d == 0 {
			continue
		}
		into.Meaning += d * w.gate.open * float64(w.seed[i].Cosine)
		into.Words += d * w.gate.open * float64(w.seed[i].Keyword)
		into.Further[furtherNear] += d * w.gate.open * w.further[i].near
		open += d * w.gain[i]
		for t := 1; t <= steps; t++ {
			a := w.act[t][i]
			into.Heard[t] += d * w.gate.open * math.Log1p(a/trace)
			into.act[t][i] += d * w.gate.open * w.p.Heard[t] / (trace + a)
		}
	}
	for f, v := range w.gate.seen {
		into.Gate[f] += open * w.gate.open * (1 - w.gate.open) * v
	}
	for k := len(w.moves) - 1; k >= 0; k-- {
		m := &w.moves[k]
		d := into.act[m.step][m.to]
		if d == 0 {
			continue
		}
		into.act[m.step-1][m.from] += d * m.weight
		x := math.Log(m.weight)
		if x <= minExponent || x >= maxExponent {
			continue
		}
		d *= w.act[m.step-1][m.from] * m.weight
		for f, v := range m.f {
			into.Step[int(m.kind)*stepFeatures+f] += d * float64(v)
		}
	}
	for i, d := range into.act[1] {
		f := &w.further[i]
		into.Further[furtherStart] += d * brings * f.pull
		into.Sharp += d * brings * w.p.Further[furtherStart] * f.pull * f.behind
	}
	top := 0.0
	if len(w.seed) > 0 {
		top = float64(w.seed[0].Score)
	}
	for i, d := range into.act[0] {
		if d != 0 && w.start[i] != 0 && w.isPassage(int32(i)) {
			into.Sharp += d * w.start[i] * (float64(w.seed[i].Score) - top)
		}
	}
	for _, c := range w.concepts {
		i := w.at(node(len(w.g.docOf)) + c.concept)
		for f, v := range w.seedFeatures(c) {
			into.Seed[f] += into.act[0][i] * w.start[i] * v
		}
	}
}
