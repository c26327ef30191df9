package conflict

import "math"

// What a pair of claims looks like to the model of opposite meaning. All are the
// same for (a, b) and (b, a).
const (
	fBias        = iota
	fCosine      // of the passages
	fCoverage    // share of the shorter claim's words that both have
	fOpposed     // share of the shared words of which one side says more, the other less
	fAgreed      // share of those of which both say the same
	fBalance     // log of the one to the other
	fParity      // the product of all directions of both differs
	fOneDenies   // one side has a negation
	fBothDeny    //
	fAntonyms    // each side has a word that is the opposite of one of the other's
	fKept        // shared words of direction, negated on both sides or on neither
	fNames       // both speak of one name
	fShortDenies // the shorter claim has a negation, the longer none
	fLongDenies  //
	fSigns       // more "more" than "less" here, the other way round there
	fAlike       // words of one direction in both, though not the same words
	fFlat        // neither side goes anywhere
	fShared      // how many words both have
	fLength      // how much longer the longer one is
	fSlope       // difference of the directions per word
	featureCount
)

// Features describes two claims, for the training in bench/contradictions.
type Features [featureCount]float64

// weights were fitted by bench/contradictions: logistic regression on claims and
// the sentences that support or contradict them (SciFact: Wadden et al. 2020,
// CC BY 4.0), with near but unrelated sentences as further negatives. On held-out
// pairs, half of them opposed, precision and recall are 0.72 and 0.57 from a logit
// of 0 on, 0.82 and 0.32 from 1 on.
var weights = Features{
	-1.785, 0.847, -0.335, 2.271, 2.188, 0.590, 0.267, 0.464, 0.600, 1.022,
	-0.384, -0.804, 1.564, -0.422, 0.343, 0.280, -1.312, 0.062, 0.453, -0.582,
}

const (
	// governs is how many words behind it a word of direction is taken to govern;
	// follows is how many in front ("levels of X were reduced").
	governs, follows = 6, 3
	// leastSemantic is how many words both claims must have: of a short one every
	// word counts, and the other rules know it better.
	leastSemantic = 5
	// leastLogit is from which value on the model's word is taken in a partition of
	// smallPartition passages. In a larger one more passages are near each other by
	// chance, so the evidence must be stronger, by growth times the logarithm of how
	// many more: a prior that falls as the candidates grow. With 1 it still took
	// forty of ten thousand unrelated sentences for opposed, with 1.6 two.
	leastLogit     = 0.0
	smallPartition = 500
	growth         = 1.6
	// leastClear is from which clearance on the size of the partition does not matter.
	leastClear = 0.45
	// fewPairs is how many pairs of statements two passages may have as they come.
	fewPairs = 4
	// leastLike is how near two passages must be in meaning that share but one
	// strong word.
	leastLike = 0.5
	// maxRank is how far down a passage may stand among the nearest of the other.
	maxRank = 2
)

// opposed is how sure the model is that two claims oppose each other in other
// words, 0 where it is not.
func opposed(x, y *profile, al *alignment, near Near) float64 {
	if near.Rank == 0 || near.Rank > maxRank || len(x.words) < leastSemantic || len(y.words) < leastSemantic {
		return 0
	}
	if al.strong < 1 || al.strong < leastStrong && near.Cosine < leastLike {
		return 0
	}
	f := featuresOf(x, y, al, near.Cosine)
	z := 0.0
	for i := range f {
		z += f[i] * weights[i]
	}
	if z < near.leastLogit(leastLogit) {
		return 0
	}
	return 1 / (1 + math.Exp(-z))
}

// FeaturesOf describes each pair of claims of two passages that share words, the
// one that shares most first.
func (j *Judge) FeaturesOf(a, b *Passage, cosine float64) (best Features, ok bool) {
	for x := range a.prepare() {
		for y := range b.prepare() {
			align(&j.al, &a.profiles[x], &b.profiles[y])
			if j.al.strong < leastStrong {
				continue
			}
			if f := featuresOf(&a.profiles[x], &b.profiles[y], &j.al, cosine); f[fShared] > best[fShared] {
				best, ok = f, true
			}
		}
	}
	return best, ok
}

func featuresOf(x, y *profile, al *alignment, cosine float64) (f Features) {
	short, long := x, y
	if len(y.words) < len(x.words) {
		short, long = y, x
	}
	f[fBias] = 1
	f[fCosine] = cosine
	f[fCoverage] = float64(al.same) / float64(len(short.words))
	f[fShared] = math.Log1p(float64(al.same))
	f[fLength] = math.Log(float64(len(long.words)) / float64(len(short.words)))
	against, along := 0.0, 0.0
	for i := range x.words {
		k := al.to[i]
		if k < 0 {
			continue
		}
		a, b := &x.words[i], &y.words[k]
		switch p := x.direction(i) * y.direction(int(k)); {
		case p < 0:
			against++
		case p > 0:
			along++
		}
		if a.word.Name && b.word.Name {
			f[fNames] = 1
		}
		if a.sign != 0 && a.word.Not == b.word.Not {
			f[fKept]++
		}
	}
	f[fOpposed] = against / (against + along + 1)
	f[fAgreed] = along / (against + along + 1)
	f[fBalance] = math.Log1p(against) - math.Log1p(along)
	sumX, productX := x.directions()
	sumY, productY := y.directions()
	f[fParity] = -float64(productX * productY)
	f[fOneDenies] = one((x.nots > 0) != (y.nots > 0))
	f[fBothDeny] = one(x.nots > 0 && y.nots > 0)
	// Of two claims of one length each is the shorter.
	f[fShortDenies] = one(short.nots > 0 && long.nots == 0 || len(x.words) == len(y.words) && f[fOneDenies] > 0)
	f[fLongDenies] = one(long.nots > 0 && short.nots == 0 && len(x.words) != len(y.words))
	f[fSigns] = one(sumX*sumY < 0) - one(sumX*sumY > 0)
	f[fFlat] = one(sumX == 0 && sumY == 0)
	f[fSlope] = math.Abs(float64(sumX)/float64(len(x.words)) - float64(sumY)/float64(len(y.words)))
	for i := range x.words {
		if al.to[i] >= 0 {
			continue
		}
		for k := range y.words {
			a, b := &x.words[i], &y.words[k]
			if al.back[k] >= 0 || a.word.Not != b.word.Not {
				continue
			}
			if a.sign != 0 && a.sign == b.sign {
				f[fAlike]++
			}
			if f[fAntonyms] == 0 && (a.opposable && b.opposable) && antonyms()[pairOf(a.word.Stem, b.word.Stem)] {
				f[fAntonyms] = 1
			}
		}
	}
	f[fAlike] = math.Log1p(f[fAlike])
	return f
}

// direction is where what is said of the i-th word goes: 1 more, −1 less, 0
// nowhere. The nearest word of direction governs it, one in front rather than
// one behind.
func (p *profile) direction(i int) int {
	if p.words[i].sign != 0 {
		return p.turned(i)
	}
	for k := i - 1; k >= max(0, i-governs); k-- {
		if p.words[k].sign != 0 {
			return p.turned(k)
		}
	}
	for k := i + 1; k < min(len(p.words), i+1+follows); k++ {
		if p.words[k].sign != 0 {
			return p.turned(k)
		}
	}
	if p.words[i].word.Not {
		return -1
	}
	return 0
}

// turned is the sign of a word, turned round where it is negated.
func (p *profile) turned(k int) int {
	if p.words[k].word.Not {
		return -int(p.words[k].sign)
	}
	return int(p.words[k].sign)
}

// directions are the sum and the product of all directions of a claim.
func (p *profile) directions() (sum, product int) {
	product = 1
	for k := range p.words {
		if s := p.turned(k); s != 0 {
			sum += s
			product *= s
		}
	}
	if p.nots > 0 && sum == 0 {
		product = -1
	}
	return sum, product
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
