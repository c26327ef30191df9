package manifold

// MinSignals is the least evidence for a manifold.
const MinSignals = 12

// Signal is one thing that the person said, as a vector.
type Signal struct {
	Vector []float32 // of unit length; all of one State have one dimension
	AtMS   int64     // when it was said, Unix milliseconds
	Key    uint64    // its own: by which it is chosen for a [Plot]
}

// State is what a refresh leaves for the next. It is made of the signals' vectors
// and so has to go when they are forgotten: hand in the zero State then, with
// Version and Refreshes kept, and the basins of the last time.
type State struct {
	Version      uint32 // counts how often the axes were laid
	Refreshes    uint32 // counts refreshes, also those that only followed
	DiscoveredMS int64  // when the person's manifold was first found
	Fitted       int    // signals when the axes were laid
	Mean         []float32
	Axes         [][]float32 // principal axes, the strongest first
	Ratios       []float64   // share of the variance of each
	Silhouette   float64
	Basins       []Basin
	NextBasin    uint32 // the number that the next new basin gets
	At           uint32 // the basin that the person is in; 0: none yet
	SinceMS      int64  // the time of the signal by which they came there
}

// Basin is a place of the manifold.
type Basin struct {
	Number   uint32    // from 1
	Centroid []float32 // in the space of the vectors
	Share    float64   // of the signals
}

// Reading is what a refresh found.
type Reading struct {
	State State
	// Of gives each signal's basin as an index into State.Basins.
	Of []int32
	// Central lists for each basin the signals nearest to its middle, at most
	// [CentralSignals]: its evidence, and what package topic names it by.
	Central [][]int32
	// Confidence that the person is in the basin State.At, 0 to 1.
	Confidence float64
	// Shift is set when State.At is another basin than before.
	Shift *Shift
}

// CentralSignals bounds [Reading.Central].
const CentralSignals = 40

// Shift tells that the person moved between basins, by their numbers.
type Shift struct {
	From, To   uint32
	Confidence float64
}

// Dimensions is the number of axes.
func (s *State) Dimensions() int { return len(s.Axes) }

// Cumulative is the share of the variance that the axes explain together.
func (s *State) Cumulative() float64 {
	sum := 0.0
	for _, r := range s.Ratios {
		sum += r
	}
	return min(sum, 1)
}
