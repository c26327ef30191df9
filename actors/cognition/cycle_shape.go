package cognition

import (
	"cmp"
	"maps"
	"slices"

	"orgmem/actors/graph"
	"orgmem/actors/partition"
	"orgmem/brain/cognition"
	"orgmem/brain/community"
	"orgmem/brain/insight"
	"orgmem/brain/proposal"
	"orgmem/brain/topic"
	pb "orgmem/proto"
	"orgmem/storage"
)

const (
	// maxTopNodes bounds the nodes that a domain shows.
	maxTopNodes = 10
	// maxProposalsOpen bounds the open proposals of a partition: nobody decides on
	// more, and those that were not decided on say which are wanted.
	maxProposalsOpen = 200
	// leastProposed is from which score on a link is proposed; events name it.
	leastProposed = 0.5
)

// findDomains cuts the graph into topics and names them.
func (c *cycle) findDomains() error {
	old, number, err := c.domains()
	if err != nil {
		return err
	}
	edges, earlier := c.Ties(), c.Earlier(number, int(c.cog.GetSettled()))
	if !c.wanes {
		earlier.Fresh = c.Touched(c.fresh)
	}
	var found community.Partition
	var named []topic.Label
	var groups []topic.Group
	err = c.compute([]func(int) error{func(int) error {
		found = community.Find(community.NewGraph(len(c.Nodes), edges), earlier, community.Options{})
		return nil
	}})
	if err != nil {
		return err
	}
	c.found = make([]cognition.Domain, len(found.Communities))
	dead := maps.Clone(old)
	for i, x := range found.Communities {
		d := &c.found[i]
		d.Top = x.Top
		before := topic.Label{}
		if x.Before != community.None {
			for name, n := range number {
				if n == x.Before {
					was := old[name]
					d.ID = pb.DomainID(was.GetId())
					before = cognition.LabelBefore(was)
					delete(dead, name)
					break
				}
			}
		} else {
			id, err := c.org.System.NewUUID()
			if err != nil {
				return err
			}
			d.ID = pb.DomainID(id)
		}
		top := x.Top
		if d.Same = !c.wanes && c.SameTop(old[d.ID.String()], top); d.Same {
			top = top[:min(len(top), cognition.ContrastNodes)]
		}
		group, err := c.groupOf(top)
		if err != nil {
			return err
		}
		group.Before, group.Given = before, d.Same
		groups = append(groups, group)
	}
	for i, of := range found.Of {
		if of != community.None {
			c.found[of].Members = append(c.found[of].Members, int32(i))
		}
	}
	err = c.compute([]func(int) error{func(int) error {
		named = topic.Describe(groups)
		return nil
	}})
	if err != nil {
		return err
	}
	var changes []func(*graph.Tx) error
	for i := range named {
		d := &c.found[i]
		d.Label, d.Keywords = named[i].Text, named[i].Keywords
		if was := old[d.ID.String()]; d.Same { // it was only there to tell the others apart
			d.Label, d.Keywords = groups[i].Before.Text, was.GetKeywords()
		}
	}
	c.refineLabels(old)
	for i, x := range found.Communities {
		d := &c.found[i]
		changes = append(changes, func(f *graph.Tx) error { return c.putDomain(f, d, x, old[d.ID.String()]) })
	}
	for _, i := range c.Settle(found.Of, c.found) {
		id, domain := c.Nodes[i].ID, c.Nodes[i].Domain
		changes = append(changes, func(f *graph.Tx) error { return settleIn(f, id, domain) })
	}
	for _, was := range dead {
		changes = append(changes, func(f *graph.Tx) error { return dropDomain(f, was) })
	}
	if err := c.writeAll(changes); err != nil {
		return err
	}
	c.cog.Settled = uint32(found.Settled)
	return nil
}

// domains reads the domains that there are, and numbers them.
func (c *cycle) domains() (old map[string]*pb.Domain, number map[string]int32, err error) {
	old, number = map[string]*pb.Domain{}, map[string]int32{}
	err = c.org.WithStore(func(st *storage.Store) error {
		for rec, err := range storage.ScanRecords(st, c.part.Space.Prefix(storage.TableDomain), storage.ScanOptions{},
			func() *pb.Domain { return &pb.Domain{} }) {
			if err != nil {
				return err
			}
			id, err := pb.DomainIDFrom(rec.Value.GetId())
			if err != nil {
				return err
			}
			number[id.String()] = int32(len(old))
			old[id.String()] = rec.Value
		}
		return nil
	})
	return old, number, err
}

// groupOf is what a domain, or a basin, is named by.
func (c *cycle) groupOf(top []int32) (g topic.Group, err error) {
	err = c.org.WithStore(func(st *storage.Store) error {
		g, err = c.GroupOf(top, func(seq uint64) (string, error) {
			chunk := &pb.Chunk{}
			_, err := st.Get(c.part.Space.Key(storage.TableChunk, storage.U64(seq)), chunk)
			return chunk.GetText(), err
		})
		return err
	})
	return g, err
}

// graph.PutDomain writes a domain as a cycle has found it. The nodes that it is named by
// are checked again: one that is gone takes the whole label with it, until the next
// cycle. So does one that is gone of those that named it before, which was is of: the
// new label may go on with the old one's words.
func (c *cycle) putDomain(f *graph.Tx, d *cognition.Domain, x community.Community, was *pb.Domain) error {
	before := &pb.Domain{}
	found, err := f.Store.Get(f.Part.Space.Key(storage.TableDomain, storage.ID16(d.ID)), before)
	if err != nil {
		return err
	}
	after := &pb.Domain{
		Id: d.ID[:], Label: d.Label, Keywords: d.Keywords, Nodes: uint32(x.Nodes), Edges: uint32(x.Edges),
		Cohesion:  x.Cohesion,
		CreatedMs: f.NowMs, UpdatedMs: f.NowMs, Refined: d.Refined,
	}
	if was != nil && !cognition.SameWords(was, before) {
		after.Label, after.Keywords, after.Refined = "", nil, false
	}
	for _, i := range d.Top {
		id := c.Nodes[i].ID
		ok, err := c.unchanged(f, i)
		if err != nil {
			return err
		}
		if !ok {
			after.Label, after.Keywords, after.Refined = "", nil, false
			continue
		}
		after.NamedBy = append(after.NamedBy, string(id))
		if len(after.GetTopNodes()) < maxTopNodes {
			after.TopNodes = append(after.TopNodes, string(id))
		}
	}
	if found {
		after.CreatedMs = before.GetCreatedMs()
		if cognition.SameDomain(before, after) {
			return nil
		}
	}
	f.NameBy(before, after)
	return nil
}

// settleIn puts a node into a domain, or none.
func settleIn(f *graph.Tx, id pb.NodeID, domain string) error {
	if ok, err := f.StillHolds(id, 0); err != nil || !ok {
		return err
	}
	if n := f.Nodes[id]; n.GetDomain() != domain && !n.GetPlaced() {
		n.Domain = domain
		f.PutNodeRecord(n)
	}
	return nil
}

// dropDomain removes a domain that nothing continues. A person may have put nodes
// there: then it stays.
func dropDomain(f *graph.Tx, d *pb.Domain) error {
	id := pb.DomainID(d.GetId())
	for _, status := range graph.NodeStatuses {
		for _, kind := range graph.NodeKinds {
			for item, err := range f.Store.Scan(graph.DomainList(f.Part.Space, id.String(), status, kind).Children(),
				storage.ScanOptions{}) {
				if err != nil {
					return err
				}
				parts := item.Key.PartsAfter(graph.DomainList(f.Part.Space, id.String(), status, kind))
				parts.U64Desc()
				n, err := f.Node(pb.NodeID(parts.Str()))
				if err != nil {
					return err
				}
				if n.GetPlaced() && n.GetDomain() == id.String() {
					return nil
				}
				if n != nil && n.GetDomain() == id.String() { // superseded, or forgotten
					n.Domain = ""
					f.PutNodeRecord(n)
				}
			}
		}
	}
	for _, n := range d.GetNamedBy() {
		f.Batch.Delete(f.Part.Space.Key(storage.TableDerivedByNode, storage.Str(n), storage.ID16(pb.DerivedID(id))))
	}
	f.Batch.Erase(f.Part.Space.Key(storage.TableDomain, storage.ID16(id)))
	f.Batch.Delete(graph.DomainByTime(f.Part.Space, d))
	return nil
}

// findProposals proposes links that seem to be missing around what is new.
func (c *cycle) findProposals() error {
	if len(c.fresh) == 0 {
		return nil
	}
	open, err := c.openProposals()
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
		return f.Batch.Event(f.Org, pb.EventInsightProposed, f.Part, map[string]any{"count": made,
			"threshold": leastProposed})
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
		Status: graph.ReviewOpen, CreatedMs: f.NowMs, Through: through,
	}
	if known, err := graph.ProposedBefore(f.Store, f.Part.Space, p); err != nil || known {
		return false, err
	}
	graph.PutProposal(f.Batch.Batch, f.Part.Space, p)
	return true, nil
}

// openProposals counts the proposals that nobody has decided on.
func (c *cycle) openProposals() (open int, err error) {
	err = c.org.WithStore(func(st *storage.Store) error {
		for rec, err := range storage.ScanRecords(st, c.part.Space.Prefix(storage.TableProposal), storage.ScanOptions{},
			func() *pb.Proposal { return &pb.Proposal{} }) {
			if err != nil {
				return err
			}
			if rec.Value.GetStatus() == graph.ReviewOpen {
				open++
			}
		}
		return nil
	})
	return open, err
}

// findInsights replaces what the shape of the graph and the newest texts tell, and tells
// of topics over time.
func (c *cycle) findInsights() error {
	in := c.InsightInput(c.found, c.now)
	notes, of, err := c.newestNotes()
	if err != nil {
		return err
	}
	var shape []insight.Insight
	var said []insight.Ranked
	err = c.compute([]func(int) error{func(int) error {
		shape = insight.Find(in)
		said = insight.Rank(insight.Gather(notes), insight.ByRules, c.now)
		return nil
	}})
	if err != nil {
		return err
	}
	found := append(c.SaidInsights(said, of, c.now, c.part.DerivedID), c.ShapeInsights(shape, c.found,
		c.part.DerivedID)...)
	view, trends := c.TemporalView(c.found)
	return c.write(func(f *graph.Tx) error {
		var stand []*pb.Insight
		for _, x := range found {
			ok, err := c.stillSaid(f, x.OfNodes, x.OfDomains)
			if err != nil {
				return err
			}
			if ok {
				stand = append(stand, x.Insight)
			}
		}
		if err := c.replaceInsights(f, stand, of); err != nil {
			return err
		}
		view.Trends = nil
		for _, t := range trends {
			ok, err := c.stillSaid(f, t.OfNodes, t.OfDomains)
			if err != nil {
				return err
			}
			if ok {
				view.Trends = append(view.Trends, t.Trend)
			}
		}
		f.PutView(graph.ViewTemporal, view)
		return nil
	})
}

// stillSaid reports whether what quotes nodes and domains may be shown: what was
// forgotten since the cycle read it must not be written behind that. What is left out
// the next cycle finds anew, which begins for what was forgotten.
func (c *cycle) stillSaid(f *graph.Tx, nodes, domains []int32) (bool, error) {
	for _, i := range domains {
		d, now := &c.found[i], &pb.Domain{}
		if _, err := f.Store.Get(f.Part.Space.Key(storage.TableDomain, storage.ID16(d.ID)), now); err != nil {
			return false, err
		}
		if now.GetLabel() != d.Label || !slices.Equal(now.GetKeywords(), d.Keywords) {
			return false, nil
		}
	}
	return c.allUnchanged(f, nodes)
}

// replaceInsights writes the insights that a cycle has found in place of the ones
// before. What the shape of the graph tells again keeps its time. What a text says that is
// no more among the newest, of which the nodes are given, stays as long as the text does
// and there are not more of its kind; and what a signal told stays, but for the oldest of
// many.
func (c *cycle) replaceInsights(f *graph.Tx, found []*pb.Insight, read []int32) error {
	wanted, kinds := map[string]*pb.Insight{}, map[string]int{}
	for _, i := range found {
		wanted[string(i.GetId())] = i
		kinds[i.GetKind()]++
	}
	newest := map[string]bool{}
	for _, n := range read {
		newest[string(c.Nodes[n].ID)] = true
	}
	kept := func(i *pb.Insight) (bool, error) {
		kind := i.GetKind()
		switch {
		case kind == graph.InsightSignal:
			kinds[kind]++
			return kinds[kind] <= maxToldSignals, nil // newest first
		case !insight.Said(kind) || wanted[string(i.GetId())] != nil || kinds[kind] >= insight.MaxPerKind ||
			len(read) < MaxReadNotes || i.GetUntilMs() != 0 && i.GetUntilMs() <= c.now:
			return false, nil
		}
		for _, n := range i.GetNodes() {
			ok, err := f.StillHolds(pb.NodeID(n), 0)
			if err != nil || !ok || newest[n] {
				return false, err
			}
		}
		kinds[kind]++
		return true, nil
	}
	for rec, err := range storage.ScanRecords(f.Store, f.Part.Space.Prefix(storage.TableInsight), storage.ScanOptions{},
		func() *pb.Insight { return &pb.Insight{} }) {
		if err != nil {
			return err
		}
		i := rec.Value
		if stays, err := kept(i); err != nil {
			return err
		} else if stays {
			continue
		}
		if again := wanted[string(i.GetId())]; again != nil && again.GetCreatedMs() == 0 {
			again.CreatedMs = i.GetCreatedMs()
		}
		f.DropInsight(rec.Key, i)
	}
	for _, i := range found {
		if len(i.GetNodes()) > 0 {
			i.CreatedMs = cmp.Or(i.GetCreatedMs(), f.NowMs)
			graph.PutInsight(f.Batch.Batch, f.Part.Space, i)
		}
	}
	return nil
}
