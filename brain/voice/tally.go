package voice

import "slices"

// tallyVersion stands first in [Tally.Sums]: other counters, other meaning.
const tallyVersion = 2

// Tally sums up messages. The zero value is empty and ready.
type Tally struct {
	scan   scanner
	counts counts
}

// Add counts one message of the person's own writing, as it was written.
func (t *Tally) Add(text string) {
	t.ready()
	t.scan.c = &t.counts
	t.scan.message(text)
}

func (t *Tally) ready() {
	if t.counts.sums == nil {
		t.counts.sums = make([]float64, counters())
	}
}

// Merge adds what other counted.
func (t *Tally) Merge(other *Tally) {
	t.ready()
	for i, v := range other.counts.sums {
		t.counts.sums[i] += v
	}
}

// Sums returns the tally as numbers, to be stored; the slice is the caller's.
func (t *Tally) Sums() []float64 {
	t.ready()
	return slices.Concat([]float64{tallyVersion}, t.counts.sums)
}

// TallyOf reads what [Tally.Sums] gave. It returns false for numbers that another
// version of the measures wrote: then the messages have to be counted again.
func TallyOf(sums []float64) (*Tally, bool) {
	if len(sums) != 1+counters() || sums[0] != tallyVersion {
		return nil, false
	}
	return &Tally{counts: counts{slices.Clone(sums[1:])}}, true
}
