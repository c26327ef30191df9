package search

import (
	"cmp"
	"math"
	"slices"

	"orgmem/actors/graph"
	"orgmem/actors/ground"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
)

const (
	// HopDecay is what is left of a node's score at its neighbour, beside the
	// edge's weight: a neighbour of a good hit is a weaker one.
	HopDecay = 0.5
	// maxHopNodes and maxHopEdges bound the nodes that a hop begins at, the
	// strongest, and the edges of one node, direction and origin that it follows,
	// the newest. Four hops then read at most 20,000 edges.
	maxHopNodes = 50
	maxHopEdges = 10
	// maxPassages bounds the chunks of a node that was reached by an edge among
	// which its passage is chosen.
	maxPassages = 16
	// maxRetrievedContradictions bounds those that are reported with the results.
	maxRetrievedContradictions = 20
	// edgesPerReadUnit is what following edges costs (docs/usage.md).
	edgesPerReadUnit = 100
)

// ReachedNode is a node that retrieval has come to, by its best path.
type ReachedNode struct {
	part  *partition.Ref
	Score float64  // the best that came to it by one path
	Path  *pb.Path // the nodes and edges of that path, from the hit on
	hit   *pb.Hit  // nil: reached by an edge, its passage is not read yet
	text  bool     // it holds text, so it can be a result; an entity only leads on
	ahead bool     // it is in the front

	node    *pb.Node   // its record, once its passage is read
	resting []*pb.Edge // the edges of the path that were derived from something
}

// NodeRef is a node of some partition.
type NodeRef struct {
	Part pb.PartitionID
	Node pb.NodeID
}

// retrieve searches, and follows the edges of what it finds.
func (o *Module) retrieve(c *tenant.Call, op *pb.Retrieve) {
	o.readScope(c, op.GetOrgScope(), func(st *storage.Store, parts []*partition.Ref, rd *searcher) (*pb.Reply, error) {
		topK := int(cmp.Or(op.GetTopK(), DefaultTopK))
		found, err := o.find(c, st, parts, &pb.Search{Query: op.GetQuery(), TopK: uint32(topK)}, rd)
		if err != nil {
			return nil, err
		}
		p := &Propagation{Reader: st, Reached: map[NodeRef]*ReachedNode{}}
		for _, h := range found.GetHits() {
			p.Seed(parts, h)
		}
		for range op.GetMaxHops() {
			if err := p.Hop(); err != nil {
				return nil, err
			}
		}
		words := NewQueryWords(rd.Reader, op.GetQuery())
		out := &pb.Retrieved{EmbedTokens: found.GetEmbedTokens(), BrainVersion: found.GetBrainVersion()}
		shown, err := p.best(rd.page(st), topK, words)
		if err != nil {
			return nil, err
		}
		for _, x := range shown {
			out.Hits, out.Paths = append(out.Hits, x.hit), append(out.Paths, x.Path)
			if err := addContradictions(st, x, out); err != nil {
				return nil, err
			}
		}
		if err := markRetrieved(st, shown); err != nil {
			return nil, err
		}
		c.ReadUnits += uint64(p.edges / edgesPerReadUnit)
		out.ReadUnits = c.ReadUnits
		return graph.DerivedReply(&pb.MindResult{Result: &pb.MindResult_Retrieved{Retrieved: out}}), nil
	})
}

// Propagation spreads the scores of search hits over the graph. A node keeps the
// best score that comes to it by one path: a sum over paths would let a hub
// outshine what was asked for.
type Propagation struct {
	Reader   storage.Reader           // what edges are read from
	Reached  map[NodeRef]*ReachedNode // all that was reached so far
	Frontier []*ReachedNode           // what the last hop improved
	edges    int                      // followed
}

// Seed takes in a hit of the search.
func (p *Propagation) Seed(parts []*partition.Ref, h *pb.Hit) {
	part := parts[0]
	if len(parts) > 1 {
		if part = tenant.OwnerOf(parts, pb.NodeID(h.GetNode())); part == nil {
			return
		}
	}
	x := &ReachedNode{
		part: part, Score: math.Max(h.GetScore(), 0), Path: &pb.Path{Nodes: []string{h.GetNode()}}, hit: h,
		text: true,
	}
	p.Reached[NodeRef{part.ID, pb.NodeID(h.GetNode())}] = x
	p.goOn(x)
}

// goOn lets the next hop begin at a node, too.
func (p *Propagation) goOn(x *ReachedNode) {
	if !x.ahead {
		x.ahead = true
		p.Frontier = append(p.Frontier, x)
	}
}

// Hop goes from the strongest of the front over their edges.
func (p *Propagation) Hop() error {
	slices.SortStableFunc(p.Frontier, func(a, b *ReachedNode) int { return cmp.Compare(b.Score, a.Score) })
	from := p.Frontier
	p.Frontier = nil
	for _, x := range from {
		x.ahead = false
	}
	for _, x := range from[:min(len(from), maxHopNodes)] {
		node := pb.NodeID(x.Path.GetNodes()[len(x.Path.GetNodes())-1])
		for _, origin := range graph.EdgeOrigins {
			for _, end := range []storage.Key{graph.EdgesOfSource(x.part.Space, node, origin), graph.EdgesOfTarget(x.part.Space,
				node, origin)} {
				for item, err := range p.Reader.Scan(end.Children(), storage.ScanOptions{Limit: maxHopEdges}) {
					if err != nil {
						return err
					}
					p.edges++
					if err := p.follow(x, item.Key, graph.DecodeEdgeEnd(item.Value).Other); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

// follow goes over one edge that holds, if that is the best way to the node at its
// end.
func (p *Propagation) follow(from *ReachedNode, entry storage.Key, to pb.NodeID) error {
	at := NodeRef{from.part.ID, to}
	known := p.Reached[at]
	// No edge weighs more than 1: most are decided without being read.
	if best := from.Score * HopDecay; known != nil && known.Score >= best || slices.Contains(from.Path.GetNodes(),
		string(to)) {
		return nil
	}
	e, err := graph.EdgeAt(p.Reader, from.part, entry)
	if err != nil || e == nil || e.GetStatus() != pb.StatusLive {
		return err
	}
	score := from.Score * e.GetWeight() * HopDecay
	if score <= 0 || known != nil && known.Score >= score {
		return nil
	}
	if known == nil {
		n := &pb.Node{}
		found, err := p.Reader.Get(from.part.Space.Key(storage.TableNode, storage.Str(to)), n)
		if err != nil || !found || n.GetStatus() != pb.StatusLive {
			return err
		}
		known = &ReachedNode{part: from.part, text: len(n.GetChunks()) > 0}
		p.Reached[at] = known
	}
	known.Score = score
	known.Path = &pb.Path{
		Nodes: append(slices.Clone(from.Path.GetNodes()), string(to)),
		Edges: append(slices.Clone(from.Path.GetEdges()), e.GetId()),
	}
	if known.resting = slices.Clone(from.resting); len(e.GetGrounds()) > 0 {
		known.resting = append(known.resting, e)
	}
	p.goOn(known)
	return nil
}

// Ranked gives the nodes that hold text, best first. All of them: a passage may have
// been forgotten by the time that it is read, and then the next one takes its place.
func (p *Propagation) Ranked() []*ReachedNode {
	all := make([]*ReachedNode, 0, len(p.Reached))
	for _, x := range p.Reached {
		if x.text {
			all = append(all, x)
		}
	}
	slices.SortFunc(all, func(a, b *ReachedNode) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), slices.Compare(a.Path.GetNodes(), b.Path.GetNodes()))
	})
	return all
}

// best reads the best topK of what was reached, copies behind all others.
func (p *Propagation) best(on *page, topK int, words QueryWords) ([]*ReachedNode, error) {
	defer on.done()
	var read, best []*ReachedNode
	for _, x := range p.Ranked() {
		if on.distinct == topK || len(read) == topK+MaxSpare {
			break
		}
		if x.hit == nil {
			var err error
			if x.hit, err = ReadHit(p.Reader, x, words); err != nil {
				return nil, err
			}
		}
		if x.hit == nil {
			continue // forgotten since
		}
		x.hit.Score, x.hit.DuplicateOf = x.Score, ""
		read = append(read, x)
		if err := on.add(&shown{part: x.part, hit: x.hit}); err != nil {
			return nil, err
		}
	}
	for _, i := range on.arrange(topK) {
		x := read[i]
		x.Path.Activation = x.hit.GetScore()
		best = append(best, x)
	}
	return best, nil
}

// ReadHit reads what a node that was reached by an edge says: of its first
// passages the one with most of the query's words. Nil when it has none.
func ReadHit(r storage.Reader, x *ReachedNode, words QueryWords) (*pb.Hit, error) {
	id := x.Path.GetNodes()[len(x.Path.GetNodes())-1]
	node := &pb.Node{}
	found, err := r.Get(x.part.Space.Key(storage.TableNode, storage.Str(id)), node)
	if err != nil || !found {
		return nil, err
	}
	var best *pb.Chunk
	most := -1.0
	for _, seq := range node.GetChunks()[:min(len(node.GetChunks()), maxPassages)] {
		chunk := &pb.Chunk{}
		found, err := r.Get(x.part.Space.Key(storage.TableChunk, storage.U64(seq)), chunk)
		if err != nil {
			return nil, err
		}
		if share := words.share(chunk.GetText()); found && share > most {
			best, most = chunk, share
		}
	}
	if best == nil {
		return nil, nil
	}
	x.node = node
	return hitOf(x.part, node, best), nil
}

// addContradictions adds the open contradictions of a result.
func addContradictions(r storage.Reader, x *ReachedNode, out *pb.Retrieved) error {
	return eachContradiction(r, x.part, x.hit.GetNode(), func(c *pb.Contradiction) error {
		if len(out.Contradictions) == maxRetrievedContradictions ||
			slices.ContainsFunc(out.GetContradictions(), func(p *pb.ClaimPair) bool {
				return string(p.GetContradiction().GetId()) == string(c.GetId())
			}) {
			return nil
		}
		pair, err := ground.Claims(r, x.part.Space, c)
		if pair != nil {
			out.Contradictions = append(out.Contradictions, pair)
		}
		return err
	})
}

// eachContradiction calls do with what cycles have found that a node's text contradicts.
func eachContradiction(
	r storage.Reader, part *partition.Ref, node string, do func(*pb.Contradiction) error,
) error {
	keys, err := ground.RestingOn(r, part.Space, pb.NodeID(node), ground.MaxDerivedPerScan)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if key.Table() != storage.TableContradiction {
			continue
		}
		c := &pb.Contradiction{}
		found, err := r.Get(key, c)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		if err := do(c); err != nil {
			return err
		}
	}
	return nil
}
