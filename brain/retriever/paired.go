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
	p := Paired{Mine: mean(mine), Theirs: mean(theirs)}
	for i, m := range mine {
		t := theirs[i]
		switch d := m.Recall - t.Recall; {
		case d > 0, d == 0 && m.Reciprocal > t.Reciprocal:
			p.Won++
		case d < 0, m.Reciprocal < t.Reciprocal:
			p.Lost++
		}
	}
	return p
}

// mean divides once, at the end: of ten questions that are all found the mean is 1, and
// not ten times a tenth.
func mean(marks []Marks) (m Marks) {
	for _, one := range marks {
		m.Recall += one.Recall
		m.Reciprocal += one.Reciprocal
	}
	n := float64(max(1, len(marks)))
	return Marks{m.Recall / n, m.Reciprocal / n}
}

// level is how far two means may lie apart by the order alone in which they were added
// up. What one question changes is a million times as much.
const level = 1e-12

func lower(mine, theirs float64) bool { return mine < theirs-level }

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

// FindsLess says that less was found on average.
func (p Paired) FindsLess() bool { return lower(p.Mine.Recall, p.Theirs.Recall) }

// Worse says that a mean is lower than the other's, which the gate of publication
// forbids (docs/brain.md), or that the ranking loses.
func (p Paired) Worse() bool {
	return p.FindsLess() || lower(p.Mine.Reciprocal, p.Theirs.Reciprocal) || p.Loses()
}
