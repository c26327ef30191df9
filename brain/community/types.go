package community

// None marks a node that is in no community, and a community without a
// predecessor.
const None int32 = -1

// Tie says what kind of edge joins two nodes. The word is that of the study of social
// networks, and keeps these few kinds apart from the many types of edges of the graph.
type Tie uint8

const (
	// Similar joins two passages of near meaning; its weight is their cosine.
	Similar Tie = iota
	// Mentions joins a passage (A) and an entity that it names (B); its weight is
	// the mention's confidence.
	Mentions
	// Related joins two entities by a relation that a text states, or two nodes
	// that somebody asserted to belong together.
	Related
	// Follows joins neighbours in one sequence, as the turns of a conversation.
	Follows
	// Alike is a tie of [Near]. A graph that has any is one of few texts: Similar
	// ties, which say the same of fewer, do not count then, and entities go with
	// their texts and hardly join them.
	Alike
	tieCount
)

// Edge joins the nodes A and B, which are numbers in [0, nodes). Its weight is in
// (0, 1]. Direction means nothing but for Mentions. Several edges between the
// same two nodes add up.
type Edge struct {
	A, B   int32
	Tie    Tie
	Weight float32
}

// Earlier is what [Find] found the last time. The zero value: nothing yet.
type Earlier struct {
	// Of gives each node's community of the last time as a number from 0, None for
	// new nodes and those that were in none. Nil or as long as the graph has nodes.
	Of []int32
	// Fresh names the nodes whose edges changed since: new ones, and the neighbours
	// of what is gone. Where they are few it saves half of the time. Nil: any may
	// have.
	Fresh []int32
	// Settled is [Partition.Settled] of the last time.
	Settled int
}

// Options are the knobs of [Find]; the zero value is the recommended one.
type Options struct {
	// Resolution γ of the modularity (Reichardt and Bornholdt 2006): above 1 more
	// and smaller communities. 0: by the number of nodes.
	Resolution float64
	// MinNodes is the least size of a community. 0: 3, since two nodes are an edge,
	// not a topic.
	MinNodes int
	// Seed of the order in which nodes are visited.
	Seed uint64
}

// Partition is what [Find] found.
type Partition struct {
	// Of gives each node's community as an index into Communities, or None.
	Of []int32
	// Communities, the largest first.
	Communities []Community
	// Modularity of the whole, in [-0.5, 1].
	Modularity float64
	// Settled is how many nodes the graph had when it was last cut from scratch;
	// to be handed back as [Earlier.Settled].
	Settled int
}

// Community is one topic.
type Community struct {
	// Before is the number in [Earlier.Of] of the community that this one
	// continues, or None: it is new and wants an id.
	Before int32
	Nodes  int
	// Edges with both ends inside.
	Edges int
	// Cohesion is the share of its members' edge weight that stays inside, 0 to 1.
	Cohesion float64
	// Top are its most central members that no passage mentions, so not entities,
	// the best first, at most [TopNodes]; Names its most central entities, at most
	// [TopNames].
	Top   []int32
	Names []int32
}

// TopNodes and TopNames bound [Community]: enough to name a topic by and to show
// it.
const (
	TopNodes = 40
	TopNames = 20
)
