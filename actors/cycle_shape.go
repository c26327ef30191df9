package actors

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"orgmem/actors/partition"
	"orgmem/brain/community"
	"orgmem/brain/insight"
	"orgmem/brain/proposal"
	"orgmem/brain/text"
	"orgmem/brain/topic"
	pb "orgmem/proto"
	"orgmem/storage"
)

const (
	// maxTopNodes bounds the nodes that a domain shows.
	maxTopNodes = 10
	// maxPassageBytes bounds what is read of a text to name its domain.
	maxPassageBytes = 2000
	// maxProposalsOpen bounds the open proposals of a partition: nobody decides on
	// more, and those that were not decided on say which are wanted.
	maxProposalsOpen = 200
	// leastProposed is from which score on a link is proposed; events name it.
	leastProposed = 0.5
	// maxProposalNodes bounds the graph around what is new that is looked at.
	maxProposalNodes = 20_000
)

// namedDomain is a domain as a cycle has found it.
type namedDomain struct {
	id       pb.DomainID
	label    string
	keywords []string
	members  []int32
	top      []int32
	refined  bool // a language model has worded the label
	same     bool // it is named by the nodes that named it before
}

// tieOf is what a kind of edge is to the shape of the graph: what is not named is a
// relation.
func tieOf(kind edgeType) community.Tie {
	switch kind {
	case edgeSimilar:
		return community.Similar
	case edgeMentions:
		return community.Mentions
	case edgeFollows:
		return community.Follows
	}
	return community.Related
}

// findDomains cuts the graph into topics and names them.
func (c *cycle) findDomains() error {
	old, number, err := c.domains()
	if err != nil {
		return err
	}
	edges := make([]community.Edge, 0, len(c.edges))
	for _, e := range c.edges {
		if e.weight > 0 {
			edges = append(edges, community.Edge{A: e.a, B: e.b, Tie: tieOf(e.kind), Weight: float32(min(e.weight, 1))})
		}
	}
	earlier := community.Earlier{Of: make([]int32, len(c.nodes)), Settled: int(c.cog.GetSettled())}
	for i := range c.nodes {
		earlier.Of[i] = community.None
		if n, ok := number[c.nodes[i].domain]; ok {
			earlier.Of[i] = n
		}
	}
	if !c.wanes {
		earlier.Fresh = c.touched()
	}
	var found community.Partition
	var named []topic.Label
	var groups []topic.Group
	err = c.compute([]func(int) error{func(int) error {
		found = community.Find(community.NewGraph(len(c.nodes), edges), earlier, community.Options{})
		return nil
	}})
	if err != nil {
		return err
	}
	c.found = make([]namedDomain, len(found.Communities))
	dead := maps.Clone(old)
	for i, x := range found.Communities {
		d := &c.found[i]
		d.top = x.Top
		before := topic.Label{}
		if x.Before != community.None {
			for name, n := range number {
				if n == x.Before {
					was := old[name]
					d.id = pb.DomainID(was.GetId())
					before = topic.Label{Text: was.GetLabel(), Keywords: was.GetKeywords()}
					if was.GetRefined() {
						before.Text = topic.LabelFrom(was.GetKeywords())
					}
					delete(dead, name)
					break
				}
			}
		} else {
			id, err := c.org.sys.newUUID()
			if err != nil {
				return err
			}
			d.id = pb.DomainID(id)
		}
		top := x.Top
		if d.same = c.sameTop(old[d.id.String()], top); d.same {
			top = top[:min(len(top), contrastNodes)]
		}
		group, err := c.groupOf(top)
		if err != nil {
			return err
		}
		group.Before, group.Given = before, d.same
		groups = append(groups, group)
	}
	for i, of := range found.Of {
		if of != community.None {
			c.found[of].members = append(c.found[of].members, int32(i))
		}
	}
	err = c.compute([]func(int) error{func(int) error {
		named = topic.Describe(groups)
		return nil
	}})
	if err != nil {
		return err
	}
	var changes []func(*effect) error
	for i := range named {
		d := &c.found[i]
		d.label, d.keywords = named[i].Text, named[i].Keywords
		if was := old[d.id.String()]; d.same { // it was only there to tell the others apart
			d.label, d.keywords = groups[i].Before.Text, was.GetKeywords()
		}
	}
	c.refineLabels(old)
	for i, x := range found.Communities {
		d := &c.found[i]
		changes = append(changes, func(f *effect) error { return c.putDomain(f, d, x, old[d.id.String()]) })
	}
	for i := range c.nodes {
		want := ""
		if of := found.Of[i]; of != community.None {
			want = c.found[of].id.String()
		}
		if t := &c.nodes[i]; t.domain != want && !t.placed {
			t.domain = want
			id := t.id
			changes = append(changes, func(f *effect) error { return f.settleIn(id, want) })
		}
	}
	for _, was := range dead {
		changes = append(changes, func(f *effect) error { return f.dropDomain(was) })
	}
	if err := c.writeAll(changes); err != nil {
		return err
	}
	c.cog.Settled = uint32(found.Settled)
	return nil
}

// contrastNodes is how many nodes stand for a domain whose name stays, while others
// are told apart from it: a fifth of the work.
const contrastNodes = 8

// sameTop reports whether a domain is named by the nodes that named it before, and
// lost no words meanwhile.
func (c *cycle) sameTop(was *pb.Domain, top []int32) bool {
	if was.GetLabel() == "" || len(was.GetKeywords()) == 0 || len(was.GetNamedBy()) != len(top) || c.wanes {
		return false
	}
	for i, id := range was.GetNamedBy() {
		if c.at[pb.NodeID(id)] != top[i] {
			return false
		}
	}
	return true
}

// domains reads the domains that there are, and numbers them.
func (c *cycle) domains() (old map[string]*pb.Domain, number map[string]int32, err error) {
	old, number = map[string]*pb.Domain{}, map[string]int32{}
	err = c.org.withStore(func(st *storage.Store) error {
		for rec, err := range storage.ScanRecords(st, c.part.Space.Prefix(storage.TableDomain), storage.ScanOptions{}, func() *pb.Domain { return &pb.Domain{} }) {
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

// touched are the nodes whose edges changed since the last cycle; nil where that is not
// known: something else has changed, such as an edge that a person asserted.
func (c *cycle) touched() []int32 {
	fresh := make([]bool, len(c.nodes))
	for _, f := range c.fresh {
		fresh[f.node] = true
	}
	for i := range c.nodes { // also derived ones
		if c.nodes[i].domain == "" {
			fresh[i] = true
		}
	}
	near := slices.Clone(fresh)
	for _, e := range c.edges {
		if fresh[e.a] {
			near[e.b] = true
		}
		if fresh[e.b] {
			near[e.a] = true
		}
	}
	var out []int32
	for i, yes := range near {
		if yes {
			out = append(out, int32(i))
		}
	}
	return out
}

// groupOf is what a domain, or a basin, is named by.
func (c *cycle) groupOf(top []int32) (topic.Group, error) {
	g := topic.Group{}
	texts := 0
	for _, i := range top {
		if len(c.nodes[i].chunks) > 0 {
			texts++
		}
	}
	each := max(1, topic.MaxPassages/max(1, texts))
	var statements []topic.Passage
	err := c.org.withStore(func(st *storage.Store) error {
		for _, i := range top {
			t := &c.nodes[i]
			if t.entity() {
				g.Names = append(g.Names, topic.Name{Title: t.title, Person: t.person})
				continue
			}
			for _, k := range c.people()[i] {
				g.People = append(g.People, c.nodes[k].title)
			}
			// A document speaks by passages from all over it: the first are often a
			// heading, and who was there.
			p := topic.Passage{Title: t.title}
			k := min(each, len(t.chunks))
			for n := range k {
				chunk := &pb.Chunk{}
				if _, err := st.Get(c.part.Space.Key(storage.TableChunk, storage.U64(t.chunks[(2*n+1)*len(t.chunks)/(2*k)])), chunk); err != nil {
					return err
				}
				p.Text = text.Truncate(chunk.GetText(), maxPassageBytes)
				if strings.HasPrefix(p.Text, strings.TrimSuffix(p.Title, "…")) {
					p.Title = "" // it was made from the text
				}
				g.Passages = append(g.Passages, p)
				p.Title = "" // it counts once
			}
			if k == 0 {
				statements = append(statements, p)
			}
		}
		return nil
	})
	// Beliefs and preferences say again, in a line, what stands in their text: beside one
	// transcript, which is a single text, there are dozens.
	if len(g.Passages) == 0 {
		g.Passages = statements
	}
	return g, err
}

// people are for each text the persons that it names: they belong to a topic, and are
// none.
func (c *cycle) people() map[int32][]int32 {
	if c.named == nil {
		c.named = map[int32][]int32{}
		for _, e := range c.edges {
			if e.kind == edgeMentions && c.nodes[e.b].person {
				c.named[e.a] = append(c.named[e.a], e.b)
			}
		}
	}
	return c.named
}

// putDomain writes a domain as a cycle has found it. The nodes that it is named by
// are checked again: one that is gone takes the whole label with it, until the next
// cycle. So does one that is gone of those that named it before, which was is of: the
// new label may go on with the old one's words.
func (c *cycle) putDomain(f *effect, d *namedDomain, x community.Community, was *pb.Domain) error {
	before := &pb.Domain{}
	found, err := f.st.Get(f.part.Space.Key(storage.TableDomain, storage.ID16(d.id)), before)
	if err != nil {
		return err
	}
	after := &pb.Domain{
		Id: d.id[:], Label: d.label, Keywords: d.keywords, Nodes: uint32(x.Nodes), Edges: uint32(x.Edges), Cohesion: x.Cohesion,
		CreatedMs: f.now, UpdatedMs: f.now, Refined: d.refined,
	}
	if was != nil && !sameWords(was, before) {
		after.Label, after.Keywords, after.Refined = "", nil, false
	}
	for _, i := range d.top {
		id := c.nodes[i].id
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
		if sameDomain(before, after) {
			return nil
		}
	}
	f.nameBy(before, after)
	return nil
}

func sameWords(a, b *pb.Domain) bool {
	return a.GetLabel() == b.GetLabel() && slices.Equal(a.GetKeywords(), b.GetKeywords())
}

func sameDomain(a, b *pb.Domain) bool {
	return sameWords(a, b) && a.GetNodes() == b.GetNodes() && a.GetEdges() == b.GetEdges() &&
		math.Abs(a.GetCohesion()-b.GetCohesion()) < 1e-6 && slices.Equal(a.GetTopNodes(), b.GetTopNodes()) && slices.Equal(a.GetNamedBy(), b.GetNamedBy())
}

// nameBy writes a domain, with entries under the nodes that it is named by.
func (f *effect) nameBy(before, after *pb.Domain) {
	id := pb.DerivedID(after.GetId())
	for _, n := range before.GetNamedBy() {
		if !slices.Contains(after.GetNamedBy(), n) {
			f.batch.Delete(f.part.Space.Key(storage.TableDerivedByNode, storage.Str(n), storage.ID16(id)))
		}
	}
	restOn(f.batch.Batch, f.part.Space, id, f.part.Space.Key(storage.TableDomain, storage.ID16(pb.DomainID(after.GetId()))), after.GetNamedBy()...)
	// Its earlier versions may hold a label that is gone.
	f.batch.Erase(f.part.Space.Key(storage.TableDomain, storage.ID16(pb.DomainID(after.GetId()))))
	putDomain(f.batch.Batch, f.part.Space, after)
}

// settleIn puts a node into a domain, or none.
func (f *effect) settleIn(id pb.NodeID, domain string) error {
	if ok, err := f.carries(id, 0); err != nil || !ok {
		return err
	}
	if n := f.nodes[id]; n.GetDomain() != domain && !n.GetPlaced() {
		n.Domain = domain
		f.keep(n)
	}
	return nil
}

// dropDomain removes a domain that nothing continues. A person may have put nodes
// there: then it stays.
func (f *effect) dropDomain(d *pb.Domain) error {
	id := pb.DomainID(d.GetId())
	for _, status := range nodeStatuses {
		for _, kind := range nodeKinds {
			for item, err := range f.st.Scan(domainList(f.part.Space, id.String(), status, kind).Children(), storage.ScanOptions{}) {
				if err != nil {
					return err
				}
				parts := item.Key.PartsAfter(domainList(f.part.Space, id.String(), status, kind))
				parts.U64Desc()
				n, err := f.node(pb.NodeID(parts.Str()))
				if err != nil {
					return err
				}
				if n.GetPlaced() && n.GetDomain() == id.String() {
					return nil
				}
				if n != nil && n.GetDomain() == id.String() { // superseded, or forgotten
					n.Domain = ""
					f.keep(n)
				}
			}
		}
	}
	for _, n := range d.GetNamedBy() {
		f.batch.Delete(f.part.Space.Key(storage.TableDerivedByNode, storage.Str(n), storage.ID16(pb.DerivedID(id))))
	}
	f.batch.Erase(f.part.Space.Key(storage.TableDomain, storage.ID16(id)))
	f.batch.Delete(domainByTime(f.part.Space, d))
	return nil
}

// findProposals proposes links that seem to be missing around what is new.
func (c *cycle) findProposals() error {
	if len(c.fresh) == 0 {
		return nil
	}
	touched := make([]bool, len(c.nodes))
	for _, f := range c.fresh {
		touched[f.node] = true
	}
	named := slices.Clone(touched)
	for _, e := range c.edges { // what the new texts name
		if touched[e.a] && c.nodes[e.b].entity() && e.kind == edgeMentions {
			named[e.b] = true
		}
	}
	open, err := c.openProposals()
	if err != nil || open >= maxProposalsOpen {
		return err
	}
	near := c.around(named, 2)
	place := make([]int32, len(c.nodes)) // in the graph that is looked at, plus one
	g := proposal.Graph{Nodes: make([]proposal.Node, len(near))}
	var ask []int32
	for k, i := range near {
		t := &c.nodes[i]
		g.Nodes[k] = proposal.Node{ID: t.id, Title: t.title, Kind: t.kind, Text: len(t.chunks) > 0}
		if place[i] = int32(k) + 1; named[i] {
			ask = append(ask, int32(k))
		}
	}
	for _, e := range c.edges {
		if a, b := place[e.a], place[e.b]; a > 0 && b > 0 {
			g.Edges = append(g.Edges, proposal.Edge{A: a - 1, B: b - 1, Weight: e.weight})
		}
	}
	var links []proposal.Link
	err = c.compute([]func(int) error{func(int) error {
		finder := proposal.NewFinder(&g)
		err := c.org.withStore(func(st *storage.Store) (err error) {
			for _, k := range finder.Compared(ask) {
				if g.Nodes[k].Vector, err = partition.ReadVector(st, c.part, c.hot.State.GetModel(), c.nodes[near[k]].chunks[0]); err != nil {
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
	return c.write(func(f *effect) error {
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
				l.Rationale, through = unnamed, nil
			}
			ok, err := f.propose(string(g.Nodes[l.A].ID), string(g.Nodes[l.B].ID), l, through)
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
		return f.batch.event(f.org, pb.EventInsightProposed, f.part, map[string]any{"count": made, "threshold": leastProposed})
	})
}

// propose writes a proposal between two nodes that still stand, do not contradict each
// other and were never proposed to each other; through are the nodes that it names
// beside them.
func (f *effect) propose(source, target string, l proposal.Link, through []string) (bool, error) {
	for _, id := range []string{source, target} {
		if ok, err := f.carries(pb.NodeID(id), 0); err != nil || !ok {
			return false, err
		}
	}
	if opposed, err := contradict(f.st, f.part, pb.NodeID(source), pb.NodeID(target)); err != nil || opposed {
		return false, err
	}
	id := f.part.DerivedID("proposal", min(source, target), max(source, target))
	p := &pb.Proposal{
		Id: id[:], Source: source, Target: target, Type: l.Type, Score: min(max(l.Score, 0), 1), Rationale: l.Rationale,
		Status: reviewOpen, CreatedMs: f.now, Through: through,
	}
	if known, err := proposedBefore(f.st, f.part.Space, p); err != nil || known {
		return false, err
	}
	putProposal(f.batch.Batch, f.part.Space, p)
	return true, nil
}

// openProposals counts the proposals that nobody has decided on.
func (c *cycle) openProposals() (open int, err error) {
	err = c.org.withStore(func(st *storage.Store) error {
		for rec, err := range storage.ScanRecords(st, c.part.Space.Prefix(storage.TableProposal), storage.ScanOptions{}, func() *pb.Proposal { return &pb.Proposal{} }) {
			if err != nil {
				return err
			}
			if rec.Value.GetStatus() == reviewOpen {
				open++
			}
		}
		return nil
	})
	return open, err
}

// around are the nodes within some steps of others, these included, as many as a
// cycle looks at.
func (c *cycle) around(from []bool, steps int) (all []int32) {
	in := slices.Clone(from)
	n := 0
	for _, yes := range in {
		if yes {
			n++
		}
	}
	for range steps {
		next := make([]bool, len(in))
		for _, e := range c.edges {
			if in[e.a] != in[e.b] {
				next[e.a], next[e.b] = true, true
			}
		}
		for i := range next {
			if n >= maxProposalNodes {
				break
			}
			if next[i] && !in[i] {
				in[i] = true
				n++
			}
		}
	}
	for i, yes := range in {
		if yes {
			all = append(all, int32(i))
		}
	}
	return all
}

// findInsights replaces what the shape of the graph and the newest texts tell, and tells
// of topics over time.
func (c *cycle) findInsights() error {
	number := map[string]int32{}
	in := insight.Input{NowMS: c.now}
	for i := range c.found {
		number[c.found[i].id.String()] = int32(i)
		in.Domains = append(in.Domains, insight.Domain{Label: c.found[i].label, Keywords: c.found[i].keywords})
	}
	for i := range c.nodes {
		t := &c.nodes[i]
		n := insight.Node{Title: t.title, Domain: insight.None, AtMS: t.at, Entity: t.entity(), Bytes: t.bytes}
		if d, ok := number[t.domain]; ok {
			n.Domain = d
		}
		in.Nodes = append(in.Nodes, n)
	}
	for _, e := range c.edges {
		in.Edges = append(in.Edges, insight.Edge{A: e.a, B: e.b, Weight: float32(e.weight)})
	}
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
	found := append(c.saidInsights(said, of), c.shapeInsights(shape)...)
	view, trends := c.temporalView(c.found)
	return c.write(func(f *effect) error {
		var stand []*pb.Insight
		for _, x := range found {
			ok, err := c.stillSaid(f, x.nodes, x.domains)
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
			ok, err := c.stillSaid(f, t.nodes, t.domains)
			if err != nil {
				return err
			}
			if ok {
				view.Trends = append(view.Trends, t.Trend)
			}
		}
		f.putView(viewTemporal, view)
		return nil
	})
}

// shapeInsights are the insights of the graph's shape, with what each rests on.
func (c *cycle) shapeInsights(shape []insight.Insight) (found []told) {
	for _, x := range shape {
		var of string
		switch {
		case x.ByNode() && len(x.Nodes) > 0:
			of = string(c.nodes[x.Nodes[0]].id)
		case len(x.Domains) > 0:
			of = c.found[x.Domains[0]].id.String()
		default:
			continue
		}
		id := c.part.DerivedID(x.Kind, of)
		one := &pb.Insight{Id: id[:], Kind: x.Kind, Title: x.Title, Detail: x.Detail, Confidence: x.Confidence}
		for _, i := range x.Nodes {
			one.Nodes = append(one.Nodes, string(c.nodes[i].id))
		}
		found = append(found, told{one, x.Nodes, x.Domains})
	}
	return found
}

// saidInsights are the insights of what texts say; of are the nodes of the notes. Each is
// called by what it is about, so that it is the same when it is found again, and dated by
// the text that says it.
func (c *cycle) saidInsights(said []insight.Ranked, of []int32) (found []told) {
	for _, x := range said {
		id := c.part.DerivedID(x.Kind, x.About...)
		one := &pb.Insight{
			Id: id[:], Kind: x.Kind, Title: x.Title, Detail: x.Detail, Confidence: x.Confidence, CreatedMs: max(min(x.AtMS, c.now), 1), UntilMs: x.UntilMS,
		}
		var nodes []int32
		for _, n := range x.Notes {
			if i := of[n]; !slices.Contains(nodes, i) && len(nodes) < insight.MaxNodes {
				nodes = append(nodes, i)
				one.Nodes = append(one.Nodes, string(c.nodes[i].id))
			}
		}
		found = append(found, told{one, nodes, nil})
	}
	return found
}

// told is an insight with what it quotes: nodes, which it rests on, too, and domains.
type told struct {
	*pb.Insight
	nodes, domains []int32
}

// stillSaid reports whether what quotes nodes and domains may be shown: what was
// forgotten since the cycle read it must not be written behind that. What is left out
// the next cycle finds anew, which begins for what was forgotten.
func (c *cycle) stillSaid(f *effect, nodes, domains []int32) (bool, error) {
	for _, i := range domains {
		d, now := &c.found[i], &pb.Domain{}
		if _, err := f.st.Get(f.part.Space.Key(storage.TableDomain, storage.ID16(d.id)), now); err != nil {
			return false, err
		}
		if now.GetLabel() != d.label || !slices.Equal(now.GetKeywords(), d.keywords) {
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
func (c *cycle) replaceInsights(f *effect, found []*pb.Insight, read []int32) error {
	wanted, kinds := map[string]*pb.Insight{}, map[string]int{}
	for _, i := range found {
		wanted[string(i.GetId())] = i
		kinds[i.GetKind()]++
	}
	newest := map[string]bool{}
	for _, n := range read {
		newest[string(c.nodes[n].id)] = true
	}
	kept := func(i *pb.Insight) (bool, error) {
		kind := i.GetKind()
		switch {
		case kind == insightSignal:
			kinds[kind]++
			return kinds[kind] <= maxToldSignals, nil // newest first
		case !insight.Said(kind) || wanted[string(i.GetId())] != nil || kinds[kind] >= insight.MaxPerKind || len(read) < maxReadNotes || i.GetUntilMs() != 0 && i.GetUntilMs() <= c.now:
			return false, nil
		}
		for _, n := range i.GetNodes() {
			ok, err := f.carries(pb.NodeID(n), 0)
			if err != nil || !ok || newest[n] {
				return false, err
			}
		}
		kinds[kind]++
		return true, nil
	}
	for rec, err := range storage.ScanRecords(f.st, f.part.Space.Prefix(storage.TableInsight), storage.ScanOptions{}, func() *pb.Insight { return &pb.Insight{} }) {
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
		f.dropInsight(rec.Key, i)
	}
	for _, i := range found {
		if len(i.GetNodes()) > 0 {
			i.CreatedMs = cmp.Or(i.GetCreatedMs(), f.now)
			putInsight(f.batch.Batch, f.part.Space, i)
		}
	}
	return nil
}

func (f *effect) dropInsight(key storage.Key, i *pb.Insight) {
	for _, n := range i.GetNodes() {
		f.batch.Delete(f.part.Space.Key(storage.TableDerivedByNode, storage.Str(n), storage.ID16(pb.DerivedID(i.GetId()))))
	}
	f.batch.Erase(key)
}
