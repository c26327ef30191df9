package graph

import (
	"orgmem/actors/ground"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
)

// review handles the requests about contradictions and proposals, and reports whether the call is one.
func (o *Module) review(c *tenant.Call) bool {
	view := c.Org
	switch op := c.Env.GetMind().GetOp().(type) {
	case *pb.MindOp_ListContradictions:
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) {
			return listContradictions(view, st, c.Part, op.ListContradictions)
		})
	case *pb.MindOp_ListProposals:
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) { return listProposals(view, st, c.Part, op.ListProposals) })
	case *pb.MindOp_DecideProposal:
		o.decideProposal(c, op.DecideProposal)
	default:
		return false
	}
	return true
}

// listContradictions pages through the open contradictions of a partition, newest first. It leaves out those with a
// superseded or forgotten side, also before a cycle has removed them.
func listContradictions(
	o *tenant.View, r storage.Reader, part *partition.Ref, op *pb.ListContradictions,
) (*pb.Reply, error) {
	kind := tenant.CursorKind{List: "contradictions", Filters: op.GetStatus(), Partition: part.ID}
	all := part.Space.Prefix(storage.TableContradiction)
	if op.GetStatus() != "" && op.GetStatus() != pb.ReviewOpen { // there are none, however long one looks
		if _, p := o.ScanFrom(all, kind, op.GetPage()); p != nil {
			return tenant.Refuse(p), nil
		}
		none := &pb.MindResult_Contradictions{Contradictions: &pb.ContradictionList{}}
		return DerivedReply(&pb.MindResult{Result: none}), nil
	}
	entries, next, p, err := tenant.PageOfKeys(o, r, all, kind, op.GetPage(), ground.MaxDerivedPerScan,
		func(item storage.Item) (*pb.ClaimPair, bool, error) {
			x := &pb.Contradiction{}
			if err := item.Decode(x); err != nil {
				return nil, false, err
			}
			pair, err := ground.Claims(r, part.Space, x)
			return pair, pair != nil, err
		})
	if p != nil {
		return tenant.Refuse(p), nil
	}
	list := &pb.ContradictionList{Pairs: entries, NextCursor: next}
	return DerivedReply(&pb.MindResult{Result: &pb.MindResult_Contradictions{Contradictions: list}}), err
}

// listProposals pages through a partition's proposals, newest first. It leaves out open ones with a superseded or
// forgotten end.
func listProposals(o *tenant.View, r storage.Reader, part *partition.Ref, op *pb.ListProposals) (*pb.Reply, error) {
	kind := tenant.CursorKind{List: "proposals", Filters: op.GetStatus(), Partition: part.ID}
	entries, next, p, err := tenant.PageOfKeys(o, r, part.Space.Prefix(storage.TableProposalByTime), kind, op.GetPage(),
		ground.MaxDerivedPerScan, func(item storage.Item) (*pb.Proposal, bool, error) {
			parts := item.Key.Parts()
			parts.U64Desc()
			id := pb.DerivedID(parts.ID16())
			if err := parts.Done(); err != nil {
				return nil, false, err
			}
			x, err := readProposal(r, part, id)
			return x, x != nil && (op.GetStatus() == "" || op.GetStatus() == x.GetStatus()), err
		})
	if p != nil {
		return tenant.Refuse(p), nil
	}
	list := &pb.ProposalList{Proposals: entries, NextCursor: next}
	return DerivedReply(&pb.MindResult{Result: &pb.MindResult_Proposals{Proposals: list}}), err
}

// readProposal returns a proposal. It returns nil where the proposal is unknown, or open and no longer worth a
// decision: an end is gone, or the two contradict each other, which a link would cover up.
func readProposal(r storage.Reader, part *partition.Ref, id pb.DerivedID) (*pb.Proposal, error) {
	x := &pb.Proposal{}
	found, err := r.Get(tenant.ProposalKey(part.Space, id), x)
	if err != nil || !found || x.GetStatus() != pb.ReviewOpen {
		if !found {
			x = nil
		}
		return x, err
	}
	for _, end := range []string{x.GetSource(), x.GetTarget()} {
		if ok, err := ground.Stands(r, part.Space, pb.NodeID(end)); err != nil || !ok {
			return nil, err
		}
	}
	if opposed, err := Contradict(r, part, pb.NodeID(x.GetSource()), pb.NodeID(x.GetTarget())); err != nil || opposed {
		return nil, err
	}
	return x, nil
}

// Contradict reports whether there is an open contradiction between two nodes.
func Contradict(r storage.Reader, part *partition.Ref, a, b pb.NodeID) (bool, error) {
	raw, found, err := r.GetRaw(part.Space.Key(storage.TableDerivedByNode, storage.Str(a),
		storage.ID16(part.ContradictionID(a, b))))
	if err != nil || !found {
		return false, err
	}
	key, err := part.Space.All().ParseKey(raw)
	if err != nil {
		return false, err
	}
	x := &pb.Contradiction{}
	if found, err = r.Get(key, x); err != nil || !found {
		return false, err
	}
	pair, err := ground.Claims(r, part.Space, x)
	return pair != nil, err
}

// decideProposal accepts or rejects a proposal. Repeating a decision changes nothing. The opposite decision is refused,
// since others may have built on an accepted edge; that edge can be forgotten like any other.
func (o *Module) decideProposal(c *tenant.Call, op *pb.DecideProposal) {
	SubmitEdit(o.Org, c, func(f *Tx) (*pb.Reply, error) {
		notFound := tenant.Refuse(tenant.NewProblem(pb.CodeProposalNotFound, "There is no such proposal."))
		id, err := pb.ParseDerivedID(op.GetId())
		if err != nil {
			return notFound, nil //nolint:nilerr // what is no id names no proposal
		}
		x, err := readProposal(f.Store, f.Part, id)
		if err != nil || x == nil {
			return notFound, err
		}
		status, action := pb.ProposalRejected, "proposal.reject"
		if op.GetAccept() {
			status, action = pb.ProposalAccepted, "proposal.accept"
		}
		switch x.GetStatus() {
		case pb.ReviewOpen:
		case status:
			return proposalReply(x), nil
		default:
			return tenant.Refuse(tenant.NewProblem(pb.CodeProposalDecided, "The proposal was %s before.", x.GetStatus())), nil
		}
		if op.GetAccept() {
			if x.Edge, err = f.putProposed(x); err != nil {
				return nil, err
			}
		}
		x.Status, x.DecidedMs = status, f.NowMs
		f.Batch.Put(tenant.ProposalKey(f.Part.Space, id), x)
		changeType, affected := changeProposalRejected, 0
		if op.GetAccept() {
			changeType, affected = changeProposalAccepted, 2
		}
		return proposalReply(x), f.announce(action, changeType, id.String(), affected)
	})
}

func proposalReply(x *pb.Proposal) *pb.Reply {
	return DerivedReply(&pb.MindResult{Result: &pb.MindResult_Proposal{Proposal: x}})
}

// putProposed writes the edge of a proposal and returns its id. The edge has the score of the proposal as its weight:
// unlike an assertion, it was computed from the content.
func (f *Tx) putProposed(x *pb.Proposal) (string, error) {
	after := &pb.Edge{
		Source: x.GetSource(), Target: x.GetTarget(), Type: x.GetType(), Weight: x.GetScore(), Confidence: x.GetScore(),
		Origin: pb.OriginProposal, Status: pb.StatusLive, ValidFromMs: f.NowMs, CreatedMs: f.NowMs, UpdatedMs: f.NowMs,
	}
	before, err := f.EdgeByIdentity(EdgeIdentityOf(after))
	if err != nil {
		return "", err
	}
	if before != nil && before.GetStatus() != pb.StatusTombstoned {
		return before.GetId(), nil
	}
	id, err := f.Org.NewID()
	if err != nil {
		return "", err
	}
	after.Id = id.String() // a forgotten edge is not the one that comes in its place
	f.History.noteEdge(ActionEdgeAsserted, "a proposal was accepted", nil, after)
	return after.Id, f.PutEdge(nil, after)
}
