package insight

// The kinds of insights.
const (
	KindRising  = "rising_topic"
	KindFading  = "fading_topic"
	KindOutlier = "outlier"
)

// MaxPerKind bounds what is reported of each kind: a reader looks at a handful.
const MaxPerKind = 10

// None as a node's domain: it has none.
const None int32 = -1

// Node is a node of the partition.
type Node struct {
	Title  string
	Domain int32 // index into Input.Domains, or None
	AtMS   int64 // when it happened or was written; 0: unknown
	SaidMS int64 // when it was said, as a client tells; 0: that is not known
	Entity bool  // an entity; else something that holds text
	Bytes  int   // of its text
}

// Edge joins two nodes by their index; the weights are those of the graph.
type Edge struct {
	A, B   int32
	Weight float32
}

// Domain is a topic with its label and keywords.
type Domain struct {
	Label    string
	Keywords []string
}

// Input is the shape of a partition.
type Input struct {
	Nodes   []Node
	Edges   []Edge
	Domains []Domain
	NowMS   int64
}

// Insight is a finding.
type Insight struct {
	Kind       string
	Title      string
	Detail     string
	Confidence float64 // 0 to 1
	// Nodes it rests on, the most important first, at most [MaxNodes].
	Nodes []int32
	// Domains it speaks of.
	Domains []int32
}

// MaxNodes bounds [Insight.Nodes].
const MaxNodes = 20

// ByNode tells what makes two findings of one kind the same: for outliers the first node, else the first domain.
func (i *Insight) ByNode() bool { return i.Kind == KindOutlier }
