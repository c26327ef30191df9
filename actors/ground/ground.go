package ground

import (
	"slices"

	"orgmem/actors/partition"
	pb "orgmem/proto"
	"orgmem/storage"
)

const (
	// MaxGrounds bounds the nodes that one node or edge says it was derived from.
	MaxGrounds = 64
	// MaxGroundDepth bounds the steps from something to what it rests on.
	MaxGroundDepth = 32
	// MaxClosure bounds the nodes that are looked at for one thing.
	MaxClosure = 256
	// MaxStale bounds the entries about one thing, the nearest first.
	MaxStale = MaxGrounds
	// MaxGroundsRead bounds the nodes that are read for all that one answer shows: some 10 ms.
	MaxGroundsRead = 2000
)

// Reader tells what no longer stands of all that something rests on, by any number of steps, as its reader has it:
// a snapshot, so that all of it is of one moment. Beyond a bound it says that there is more (Staleness.incomplete). It
// remembers what it has read, since many things of one answer rest on the same, and it reads nothing for what rests on
// nothing. It belongs to one goroutine, and stays within one partition, as derivations do.
type Reader struct {
	reader storage.Reader
	space  storage.Space
	asOf   int64 // what became of nodes later than that is not told; 0: all is

	known    map[pb.NodeID]*standing
	read     int  // nodes that were read
	looked   bool // whether there are contradictions at all
	disputed bool
}

// standing is what has become of a node, and what it rests on.
type standing struct {
	stale   *pb.Stale // nil: it stands
	grounds []*pb.Ground
	partial bool // there are more records that rest on the node than were looked through for contradictions
}

// New returns a reader of grounds. asOf is the time that the answer is about, 0 for now.
func New(r storage.Reader, part *partition.Ref, asOf int64) *Reader {
	return &Reader{reader: r, space: part.Space, asOf: asOf}
}

// OfNode tells what a node was derived from and does not stand; nil where all of it does. What became of the node
// itself its record says.
func (g *Reader) OfNode(n *pb.Node) (*pb.Staleness, error) {
	if n.GetStatus() == pb.StatusTombstoned {
		return nil, nil //nolint:nilnil // it says nothing that could be stale
	}
	return g.closure(n.GetId(), n.GetGrounds(), false)
}

// AddTo puts into what is answered of a node what OfNode tells.
func (g *Reader) AddTo(info *pb.NodeInfo) (err error) {
	if info != nil {
		info.Stale, err = g.OfNode(info.GetNode())
	}
	return err
}

// OfEdge is OfNode for an edge.
func (g *Reader) OfEdge(e *pb.Edge) (*pb.Staleness, error) {
	if e.GetStatus() == pb.StatusTombstoned {
		return nil, nil //nolint:nilnil // it says nothing that could be stale
	}
	return g.closure("", e.GetGrounds(), false)
}

// OfEdges is OfEdge for a list, by the ids of those of which something does not stand; nil where all does.
func (g *Reader) OfEdges(edges []*pb.Edge) (map[string]*pb.Staleness, error) {
	var out map[string]*pb.Staleness
	for _, e := range edges {
		stale, err := g.OfEdge(e)
		if err != nil {
			return nil, err
		}
		if stale == nil {
			continue
		}
		if out == nil {
			out = map[string]*pb.Staleness{}
		}
		out[e.GetId()] = stale
	}
	return out, nil
}

// On tells what does not stand of what rests on some nodes: of these, and of what they rest on.
func (g *Reader) On(nodes ...string) (*pb.Staleness, error) {
	grounds := make([]*pb.Ground, 0, len(nodes))
	for _, id := range nodes {
		grounds = append(grounds, &pb.Ground{Node: id})
	}
	return g.closure("", grounds, true)
}

// closure looks at what something rests on level by level, each node once. shown says that the nodes of the first level
// are what is shown, which does not count against what may be read beside it.
func (g *Reader) closure(self string, level []*pb.Ground, shown bool) (*pb.Staleness, error) {
	if len(level) == 0 {
		return nil, nil //nolint:nilnil // as documented
	}
	out := &pb.Staleness{}
	seen, told := map[string]bool{self: true}, map[string]bool{}
	for depth := 0; len(level) > 0 && !out.GetIncomplete(); depth++ {
		if depth == MaxGroundDepth {
			out.Incomplete = slices.ContainsFunc(level, func(at *pb.Ground) bool { return !seen[at.GetNode()] })
			break
		}
		var next []*pb.Ground
		for _, at := range level {
			if seen[at.GetNode()] {
				continue
			}
			if len(seen) > MaxClosure {
				out.Incomplete = true
				break
			}
			s, err := g.standingOf(at, shown && depth == 0)
			if err != nil {
				return nil, err
			}
			if s == nil {
				out.Incomplete = true
				break
			}
			if at.GetGone() == "" { // else another may rest on the node that has come in its place
				seen[at.GetNode()] = true
			}
			out.Incomplete = out.GetIncomplete() || s.partial
			if s.stale != nil && !told[at.GetNode()] {
				if len(out.GetEntries()) == MaxStale {
					out.Incomplete = true
					break
				}
				told[at.GetNode()] = true
				out.Entries = append(out.Entries, s.stale)
			}
			next = append(next, s.grounds...)
		}
		level = next
	}
	if len(out.GetEntries()) == 0 && !out.GetIncomplete() {
		return nil, nil //nolint:nilnil // as documented
	}
	return out, nil
}

// standingOf is what has become of a ground; nil where no more may be read, which does not concern what is shown.
func (g *Reader) standingOf(at *pb.Ground, shown bool) (*standing, error) {
	if at.GetGone() != "" {
		return &standing{stale: g.told(at.GetNode(), at.GetGone(), at.GetGoneMs())}, nil
	}
	id := pb.NodeID(at.GetNode())
	if s, ok := g.known[id]; ok {
		return s, nil
	}
	if !shown {
		if g.read == MaxGroundsRead {
			return nil, nil //nolint:nilnil // as documented
		}
		g.read++
	}
	n := &pb.Node{}
	found, err := g.reader.Get(g.space.Key(storage.TableNode, storage.Str(id)), n)
	if err != nil {
		return nil, err
	}
	s := &standing{}
	switch {
	case !found:
		s.stale = g.told(at.GetNode(), pb.StaleForgotten, 0) // and removed since
	case n.GetStatus() == pb.StatusTombstoned:
		s.stale = g.told(at.GetNode(), pb.StaleForgotten, n.GetTombstonedMs())
	case n.GetStatus() == pb.StatusSuperseded:
		s.stale, s.grounds = g.told(at.GetNode(), pb.StaleSuperseded, n.GetValidToMs()), n.GetGrounds()
	case n.GetValidToMs() != 0:
		s.stale, s.grounds = g.told(at.GetNode(), pb.StaleEnded, n.GetValidToMs()), n.GetGrounds()
	default:
		s.grounds = n.GetGrounds()
	}
	if s.stale == nil && found && n.GetStatus() != pb.StatusTombstoned {
		if err := g.dispute(id, s); err != nil {
			return nil, err
		}
	}
	if g.known == nil {
		g.known = map[pb.NodeID]*standing{}
	}
	g.known[id] = s
	return s, nil
}

// told is what has become of a node, nil where that was after the time that is asked about.
func (g *Reader) told(node, reason string, since int64) *pb.Stale {
	if g.asOf != 0 && since > g.asOf {
		return nil
	}
	return &pb.Stale{Because: node, Reason: reason, SinceMs: since}
}

// dispute says of a node that stands that something contradicts it, since the first of what does.
func (g *Reader) dispute(id pb.NodeID, s *standing) error {
	if !g.looked {
		g.looked = true
		for _, err := range g.reader.Scan(g.space.Prefix(storage.TableContradiction), storage.ScanOptions{Limit: 1}) {
			if err != nil {
				return err
			}
			g.disputed = true
		}
	}
	if !g.disputed {
		return nil
	}
	keys, err := RestingOn(g.reader, g.space, id, MaxDerivedPerScan)
	if err != nil {
		return err
	}
	s.partial = len(keys) == MaxDerivedPerScan
	for _, key := range keys {
		if key.Table() != storage.TableContradiction {
			continue
		}
		x := &pb.Contradiction{}
		found, err := g.reader.Get(key, x)
		if err != nil {
			return err
		}
		if !found || s.stale != nil && s.stale.GetSinceMs() <= x.GetDetectedMs() {
			continue
		}
		open, err := Claims(g.reader, g.space, x)
		if err != nil {
			return err
		}
		if open != nil {
			if at := g.told(string(id), pb.StaleContradicted, x.GetDetectedMs()); at != nil {
				s.stale = at
			}
		}
	}
	return nil
}
