package cognition

import (
	"context"
	"maps"
	"slices"

	"orgmem/actors/graph"
	"orgmem/actors/llm"
	"orgmem/brain/cognition"
	"orgmem/brain/community"
	"orgmem/brain/text"
	"orgmem/brain/topic"
	pb "orgmem/proto"
	"orgmem/storage"
)

const (
	// maxTopNodes bounds the nodes that a domain shows.
	maxTopNodes = 10
	// maxRefined bounds the domains whose labels a language model words in one cycle, the largest.
	maxRefined = 40
	// maxTopicTitles bounds the titles by which the model learns of one.
	maxTopicTitles = 8
)

// domainsStage cuts the graph into topics and names them.
type domainsStage struct{ *cycle }

func (c domainsStage) run() error {
	old, number, err := c.stored()
	if err != nil {
		return err
	}
	near, err := c.near()
	if err != nil {
		return err
	}
	edges, earlier := append(c.Ties(), near...), c.Earlier(number, int(c.cog.GetSettled()))
	if !c.removed && len(near) == 0 { // a new text may be nearer to any other than what was the nearest
		earlier.Fresh = c.Touched(c.fresh)
	}
	var g *community.Graph
	var found community.Partition
	err = c.compute([]func(int) error{func(int) error {
		g = community.NewGraph(len(c.Nodes), edges)
		found = community.Find(g, earlier, community.Options{})
		return nil
	}})
	if err != nil {
		return err
	}
	groups, named, err := c.named(&found, old, number)
	if err != nil {
		return err
	}
	if into, some := united(named); some {
		found.Unite(g, earlier.Of, into)
		if groups, named, err = c.named(&found, old, number); err != nil {
			return err
		}
	}
	dead := maps.Clone(old)
	for i := range c.found {
		if d := &c.found[i]; d.ID == (pb.DomainID{}) {
			id, err := c.org.System.NewUUID()
			if err != nil {
				return err
			}
			d.ID = pb.DomainID(id)
		} else {
			delete(dead, d.ID.String())
		}
	}
	for i, of := range found.Of {
		if of != community.None {
			c.found[of].Members = append(c.found[of].Members, int32(i))
		}
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

// named names the communities, of which those that continue a domain have its id: groups are what they are named by.
func (c domainsStage) named(found *community.Partition, old map[string]*pb.Domain, number map[string]int32) (
	groups []topic.Group, labels []topic.Label, err error,
) {
	was := map[int32]*pb.Domain{}
	for name, n := range number {
		was[n] = old[name]
	}
	c.found = make([]cognition.Domain, len(found.Communities))
	for i, x := range found.Communities {
		d := &c.found[i]
		d.Top = x.Top
		before := topic.Label{}
		if b := was[x.Before]; b != nil {
			d.ID = pb.DomainID(b.GetId())
			before = cognition.LabelBefore(b)
		}
		top := x.Top
		if d.Same = !c.removed && c.SameTop(was[x.Before], top); d.Same {
			top = top[:min(len(top), cognition.ContrastNodes)]
		}
		group, err := c.groupOf(top)
		if err != nil {
			return nil, nil, err
		}
		group.Before, group.Given = before, d.Same
		groups = append(groups, group)
	}
	err = c.compute([]func(int) error{func(int) error {
		labels = topic.Describe(groups)
		return nil
	}})
	return groups, labels, err
}

// united tells which communities are named alike, so that nobody could tell which of them to look into, and
// whether there are any.
func united(labels []topic.Label) (into []int32, some bool) {
	for i, first := range topic.OneTheme(labels) {
		into, some = append(into, int32(first)), some || first != i
	}
	return into, some
}

// stored reads the domains of the cycle before, and numbers them.
func (c domainsStage) stored() (old map[string]*pb.Domain, number map[string]int32, err error) {
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

// putDomain writes a domain as a cycle has found it. The nodes that it is named by are checked again: one that is gone
// takes the whole label with it, until the next cycle. So does one that is gone of those that named it before, which
// was is of: the new label may keep words of the old one.
func (c domainsStage) putDomain(f *graph.Tx, d *cognition.Domain, x community.Community, was *pb.Domain) error {
	before := &pb.Domain{}
	found, err := f.Store.Get(f.Part.Space.Key(storage.TableDomain, storage.ID16(d.ID)), before)
	if err != nil {
		return err
	}
	after := &pb.Domain{
		Id: d.ID[:], Label: d.Label, Keywords: d.Keywords, Nodes: uint32(x.Nodes), Edges: uint32(x.Edges),
		Cohesion:  x.Cohesion,
		CreatedMs: f.NowMs, UpdatedMs: f.NowMs, Refined: d.Refined, Nameless: d.Label == "",
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
	f.Derived.PutDomain(before, after)
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

// dropDomain removes a domain that nothing continues. A person may have put nodes there: then it stays.
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

// refineLabels has the language model word the labels of domains whose keywords are new.
func (c domainsStage) refineLabels(old map[string]*pb.Domain) {
	if c.org.System.Config.LLM == nil {
		return
	}
	var topics []llm.Topic
	var of []*cognition.Domain
	for i := range c.found {
		d := &c.found[i]
		if was := old[d.ID.String()]; was.GetRefined() && slices.Equal(was.GetKeywords(), d.Keywords) {
			d.Label, d.Refined = was.GetLabel(), true
			continue
		}
		if len(d.Keywords) == 0 || len(topics) == maxRefined {
			continue
		}
		t := llm.Topic{Keywords: d.Keywords}
		for _, i := range d.Top[:min(len(d.Top), maxTopicTitles)] {
			t.Titles = append(t.Titles, text.OneLine(c.Nodes[i].Title))
		}
		topics, of = append(topics, t), append(of, d)
	}
	if len(topics) == 0 {
		return
	}
	var labels []string
	err := c.ask(func(ctx context.Context, model *llm.Client) (err error) {
		labels, err = model.Labels(ctx, c.org.ID, topics)
		return err
	})
	if err != nil {
		c.unanswered("labels", err)
		return
	}
	for i, label := range labels {
		of[i].Label, of[i].Refined = label, true
	}
}
