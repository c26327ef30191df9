package cognition

import (
	"orgmem/actors/graph"
	"orgmem/actors/partition"
	"orgmem/brain/proposal"
	pb "orgmem/proto"
	"orgmem/storage"
)

const (
	// maxProposalsOpen bounds the open proposals of a partition: nobody decides on more, and those that were not
	// decided on say which are wanted.
	maxProposalsOpen = 200
	// leastProposed is from which score on a link is proposed; events name it.
	leastProposed = 0.5
)

// proposalsStage proposes links that seem to be missing around what is new.
type proposalsStage struct{ *cycle }

func (c proposalsStage) run() error {
	if len(c.fresh) == 0 {
		return nil
	}
	open, err := c.countOpen()
	if err != nil || open >= maxProposalsOpen {
		return err
	}
	g, near, ask := c.Around(c.fresh)
	var links []proposal.Link
	err = c.compute([]func(int) error{func(int) error {
		finder := proposal.NewFinder(g)
		err := c.org.WithStore(func(st *storage.Store) (err error) {
			for _, k := range finder.Compared(ask) {
				if g.Nodes[k].Vector, err = partition.ReadVector(st, c.part, c.hot.State.GetModel(),
					c.Nodes[near[k]].Chunks[0]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		links = finder.Missing(ask)
		return nil
	}})
	if err != nil || len(links) == 0 {
		return err
	}
	links = links[:min(len(links), maxProposalsOpen-open)]
	return c.write(func(f *graph.Tx) error {
		made := 0
		for _, l := range links {
			through, quoted := make([]string, len(l.Through)), []int32{near[l.A], near[l.B]}
			for i, k := range l.Through {
				through[i], quoted = string(g.Nodes[k].ID), append(quoted, near[k])
			}
			all, err := c.allUnchanged(f, quoted)
			if err != nil {
				return err
			}
			if !all { // one was forgotten while the cycle looked
				l.Rationale, through = graph.Unnamed, nil
			}
			ok, err := Propose(f, string(g.Nodes[l.A].ID), string(g.Nodes[l.B].ID), l, through)
			if err != nil {
				return err
			}
			if ok {
				made++
			}
		}
		if made == 0 {
			return nil
		}
		return f.Batch.Event(f.Org, pb.EventInsightProposed, f.Part, map[string]any{
			"count":     made,
			"threshold": leastProposed,
		})
	})
}

// Propose writes a proposal between two nodes that still stand, do not contradict each other and were never proposed to
// each other; through are the nodes that it names beside them. It reports whether it wrote one.
func Propose(f *graph.Tx, source, target string, l proposal.Link, through []string) (bool, error) {
	for _, id := range []string{source, target} {
		if ok, err := f.StillHolds(pb.NodeID(id), 0); err != nil || !ok {
			return false, err
		}
	}
	if opposed, err := graph.Contradict(f.Store, f.Part, pb.NodeID(source), pb.NodeID(target)); err != nil || opposed {
		return false, err
	}
	id := f.Part.DerivedID("proposal", min(source, target), max(source, target))
	p := &pb.Proposal{
		Id: id[:], Source: source, Target: target, Type: l.Type, Score: min(max(l.Score, 0), 1), Rationale: l.Rationale,
		Status: pb.ReviewOpen, CreatedMs: f.NowMs, Through: through,
	}
	if known, err := graph.ProposedBefore(f.Store, f.Part.Space, p); err != nil || known {
		return false, err
	}
	graph.PutProposal(f.Batch.Batch, f.Part.Space, p)
	return true, nil
}

// countOpen counts the proposals that nobody has decided on.
func (c proposalsStage) countOpen() (open int, err error) {
	err = c.org.WithStore(func(st *storage.Store) error {
		for rec, err := range storage.ScanRecords(st, c.part.Space.Prefix(storage.TableProposal), storage.ScanOptions{},
			func() *pb.Proposal { return &pb.Proposal{} }) {
			if err != nil {
				return err
			}
			if rec.Value.GetStatus() == pb.ReviewOpen {
				open++
			}
		}
		return nil
	})
	return open, err
}
