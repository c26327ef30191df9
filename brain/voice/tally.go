package voice

// Tally sums up messages. The zero value is empty and ready.
type Tally struct {
	sums []float64
}

// Add counts one message of the person's own writing, as it was written.
func (t *Tally) Add(text string) {}

// Merge adds what other counted.
func (t *Tally) Merge(other *Tally) {}

// Profile returns the profile, or false while there is too little evidence.
func (t *Tally) Profile() (Profile, bool) { return Profile{}, false }

// Sums returns the tally as numbers, to be stored; the slice is the caller's.
func (t *Tally) Sums() []float64 { return append([]float64(nil), t.sums...) }

// TallyOf reads what [Tally.Sums] gave. It returns false for numbers that another
// version of the measures wrote: then the messages have to be counted again.
func TallyOf(sums []float64) (*Tally, bool) { return nil, false }

// Hint is a sentence or two that tell a writer how to sound like p's person.
func Hint(p Profile) string { return "" }
