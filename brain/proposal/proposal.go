package proposal

import pb "orgmem/proto"

// Node is an end that a link may be proposed for.
type Node struct {
	ID    pb.NodeID
	Title string
	// Kind is the node's: an entity and a document are linked as a mention, two
	// entities as related.
	Kind string
	// Text tells that the node has one, and Vector is its, of length 1; nil where it
	// is not known.
	Text   bool
	Vector []float32
}

// Edge links two nodes by their places in Graph.Nodes. Its direction does not
// matter here.
type Edge struct {
	A, B   int32
	Weight float64 // 0 to 1
}

// Graph is a partition's graph, or the part of it around the nodes that changed:
// their neighbours and the neighbours of these.
type Graph struct {
	Nodes []Node
	Edges []Edge
}

// Link is a missing link.
type Link struct {
	A, B  int32 // places in Graph.Nodes
	Type  string
	Score float64 // 0 to 1
	// Rationale names what speaks for it, for a person. It quotes titles: those of the
	// two ends and of the nodes at the places Through.
	Rationale string
	Through   []int32
}
