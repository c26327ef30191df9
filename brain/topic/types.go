package topic

// Passage is a text of a group.
type Passage struct {
	Title string
	Text  string
}

// Name is an entity that a group's passages mention.
type Name struct {
	Title  string
	Person bool // a person belongs to a group, but does not name it
}

// Group is what is to be described: some passages that stand for it, the most
// central first; 20 to 40 suffice, and no more than [MaxPassages] are read.
type Group struct {
	Passages []Passage
	Names    []Name
	People   []string // whom its passages name: they belong to groups, and name none
	Before   Label    // its label of the last time; zero: none
	// Given: it keeps the label of before, and is there to tell the others apart.
	Given bool
}

// Label describes a group.
type Label struct {
	Text     string   // two or three keywords, joined by ", " ; at most [MaxLabel] bytes
	Keywords []string // the most telling first, at most [MaxKeywords]
}

const (
	// MaxPassages bounds what is read of a group, and maxPassageBytes of a passage:
	// 100 domains of 40 passages are some 50 ms.
	MaxPassages = 40
	// MaxKeywords is what a reader takes in at a glance.
	MaxKeywords = 10
	// MaxLabel is a line in a list.
	MaxLabel = 80
)
