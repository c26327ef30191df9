package search

import (
	"slices"

	"orgmem/actors/ground"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
)

// What an answer shows says what does not stand of all that it rests on (ground.Reader). What rests on nothing costs
// nothing: that is in the records that the answer has read anyway.

// grounds reads what the things of one answer rest on, in their partitions, all of one moment.
type grounds struct {
	snap  *storage.Snapshot
	parts []*partition.Ref
	asOf  int64
	of    map[pb.PartitionID]*ground.Reader
}

// withGrounds calls do with a reader of grounds.
func withGrounds(st *storage.Store, parts []*partition.Ref, asOf int64, do func(*grounds) error) (err error) {
	snap, err := st.Snapshot()
	if err != nil {
		return err
	}
	defer partition.CloseSnapshot(snap, &err)
	return do(&grounds{snap: snap, parts: parts, asOf: asOf, of: map[pb.PartitionID]*ground.Reader{}})
}

// in is the reader of a partition.
func (g *grounds) in(part *partition.Ref) *ground.Reader {
	if g.of[part.ID] == nil {
		g.of[part.ID] = ground.New(g.snap, part, g.asOf)
	}
	return g.of[part.ID]
}

// owner is the partition of a node among those that the answer covers; nil when it is none of them.
func (g *grounds) owner(node string) *partition.Ref {
	if len(g.parts) == 1 {
		return g.parts[0]
	}
	return tenant.OwnerOf(g.parts, pb.NodeID(node))
}

// rests reports whether a node was derived from others.
func rests(n *pb.Node) bool { return len(n.GetGrounds()) > 0 }

// markStale says of hits what their nodes, which are given in the same order, rest on and does not stand.
func markStale(st *storage.Store, parts []*partition.Ref, hits []*pb.Hit, nodes []*pb.Node, asOf int64) error {
	if !slices.ContainsFunc(nodes, rests) {
		return nil
	}
	return withGrounds(st, parts, asOf, func(g *grounds) (err error) {
		for i, n := range nodes {
			part := g.owner(n.GetId())
			if !rests(n) || part == nil {
				continue
			}
			if hits[i].Stale, err = g.in(part).OfNode(n); err != nil {
				return err
			}
		}
		return nil
	})
}

// markRetrieved is markStale for what retrieval shows: the nodes that edges led to, and the edges.
func markRetrieved(st *storage.Store, shown []*ReachedNode) error {
	if !slices.ContainsFunc(shown, func(x *ReachedNode) bool { return rests(x.node) || len(x.resting) > 0 }) {
		return nil
	}
	return withGrounds(st, nil, 0, func(g *grounds) (err error) {
		for _, x := range shown {
			in := g.in(x.part)
			if rests(x.node) {
				if x.hit.Stale, err = in.OfNode(x.node); err != nil {
					return err
				}
			}
			for _, e := range x.resting {
				stale, err := in.OfEdge(e)
				if err != nil {
					return err
				}
				x.Path.Stale = joined(x.Path.GetStale(), stale)
			}
		}
		return nil
	})
}

// markStale says of an answer and of each of its citations what does not stand: of the cited nodes, and of what they
// rest on.
func (d *draft) markStale(st *storage.Store) error {
	d.Stale = nil
	if len(d.GetCitations()) == 0 {
		return nil
	}
	return withGrounds(st, d.parts, 0, func(g *grounds) (err error) {
		for _, c := range d.GetCitations() {
			part := g.owner(c.GetNode())
			if part == nil {
				continue
			}
			if c.Stale, err = g.in(part).On(c.GetNode()); err != nil {
				return err
			}
			d.Stale = joined(d.GetStale(), c.GetStale())
		}
		return nil
	})
}

// joined puts together what no longer stands under two things.
func joined(a, b *pb.Staleness) *pb.Staleness {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	out := &pb.Staleness{Entries: slices.Clone(a.GetEntries()), Incomplete: a.GetIncomplete() || b.GetIncomplete()}
	for _, e := range b.GetEntries() {
		if slices.ContainsFunc(out.GetEntries(), func(x *pb.Stale) bool { return x.GetBecause() == e.GetBecause() }) {
			continue
		}
		if len(out.GetEntries()) == ground.MaxStale {
			out.Incomplete = true
			break
		}
		out.Entries = append(out.Entries, e)
	}
	return out
}
