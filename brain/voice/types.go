package voice

// MinMessages and MinWords are the least evidence for a profile.
const (
	MinMessages = 8
	MinWords    = 80
)

// Profile is how a person writes.
type Profile struct {
	MessageWords   float64 // the mean of a message
	Formality      float64 // 0 (chat) to 1 (a legal text)
	TechnicalDepth float64 // 0 to 1
	Evidence       uint64  // how many messages were measured
	// Style holds all other measures, in a fixed order of groups and names.
	Style []Measure
}

// Measure is one named number of a profile's style; the pair of Group and Name
// is unique, both are camelCase identifiers fit for JSON.
type Measure struct {
	Group, Name string
	Value       float64
}
