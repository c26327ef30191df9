package topic

// Passage is a text of a group, or a part of one.
type Passage struct {
	// Title is what a client called the text. One that several texts have, such as the subject of a thread, counts
	// once.
	Title string
	// Whole is the title of the text that it is a part of, which is of more than the passage. What a series is called
	// is no keyword of any part.
	Whole string
	Text  string
	// Of numbers the texts: what one of them says in several passages it says once. All 0: nobody knows.
	Of int
	// Part says that the passage is one of several of a long text.
	Part bool
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
	// Writers are who wrote them, as clients tell: they address each other in every text, and are no topic at all.
	Writers []string
	Before  Label // its label of the last time; zero: none
	// Mixed: its texts are of several themes that have names of their own. More of them must hold a word of its label.
	Mixed bool
	// Given: it keeps the label of before, and is there to tell the others apart.
	Given bool
}

// Label describes a group.
type Label struct {
	// Text is up to three keywords that a few of the passages hold, joined by ", "; at most [MaxLabel] bytes. It is
	// empty where nothing is said often enough to name the group, or what is by too few of its texts.
	Text     string
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
