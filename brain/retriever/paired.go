package retriever

import "gonum.org/v1/gonum/stat/distuv"

// Paired is what two rankings of the same questions say of each other.
type Paired struct {
	// Mine and Theirs are the means.
	Mine, Theirs Marks
	// Won and Lost count the questions of which one ranking found more, or as much
	// and higher.
	Won, Lost int
}

// Pair compares two rankings, question by question; both are as long.
func Pair(mine, theirs []Marks) Paired {
	var p Paired
	n := float64(max(1, len(mine)))
	for i, m := range mine {
		t := theirs[i]
		p.Mine.Recall += m.Recall / n
		p.Mine.Reciprocal += m.Reciprocal / n
		p.Theirs.Recall += t.Recall / n
		p.Theirs.Reciprocal += t.Reciprocal / n
		switch d := m.Recall - t.Recall; {
		case d > 0, d == 0 && m.Reciprocal > t.Reciprocal:
			p.Won++
		case d < 0, m.Reciprocal < t.Reciprocal:
			p.Lost++
		}
	}
	return p
}

// Chance is the probability that a ranking which is as good as the other loses as
// many questions as this one did, or more: the one-sided sign test (Dixon and Mood
// 1946).
func (p Paired) Chance() float64 {
	n := float64(p.Won + p.Lost)
	if n == 0 {
		return 1
	}
	return distuv.Binomial{N: n, P: 0.5}.CDF(float64(p.Won))
}

// leastChance is below what a loss is no accident.
const leastChance = 0.05

// Loses says that more questions were lost than chance explains.
func (p Paired) Loses() bool { return p.Lost > p.Won && p.Chance() < leastChance }

// Worse says that a mean is lower than the other's (decisions.md, section 10), or
// that the ranking loses.
func (p Paired) Worse() bool {
	return p.Mine.Recall < p.Theirs.Recall || p.Mine.Reciprocal < p.Theirs.Reciprocal || p.Loses()
}
