package graph

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"orgmem/actors/ground"
	"orgmem/actors/listing"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/brain/index"
	"orgmem/brain/temporal"
	pb "orgmem/proto"
	"orgmem/storage"
)

// maxNeighbours bounds what one node's surroundings show. A hub may have a
// hundred thousand edges; GET /v1/graph/edges?node= pages through them.
const maxNeighbours = 100

// getNode answers one node of the effective partition. It answers at once where the node was read before and nothing
// was written since.
func (o *Module) getNode(c *tenant.Call, id pb.NodeID) {
	key, recent := RecentKey{c.Part.ID, id}, &o.Recent
	info, err := recent.Find(&o.View, key)
	switch {
	case err != nil:
		c.Fail(err)
		return
	case info != nil:
		c.Reply(nodeReply(info))
		return
	}
	o.Read(c, func(st *storage.Store) (*pb.Reply, error) {
		applied, settled := st.Settled()
		info, err := readNode(st, c.Part, id)
		if err == nil && len(info.GetNode().GetGrounds()) > 0 {
			info, err = readResting(st, c.Part, id)
		}
		if err != nil {
			return nil, err
		}
		if info == nil {
			return tenant.Refuse(nodeNotFound()), nil
		}
		if settled {
			recent.Keep(applied, key, info)
		}
		return nodeReply(info), nil
	})
}

func nodeReply(info *pb.NodeInfo) *pb.Reply { return &pb.Reply{Result: &pb.Reply_Node{Node: info}} }

func nodeNotFound() *pb.Problem {
	return tenant.NewProblem(pb.CodeNodeNotFound, "There is no such node.")
}

// readNode reads a node with its content, or nil where the node is unknown or
// forgotten.
func readNode(r storage.Reader, part *partition.Ref, id pb.NodeID) (*pb.NodeInfo, error) {
	node, content := &pb.Node{}, &pb.Content{}
	found, err := r.Get(part.Space.Key(storage.TableNode, storage.Str(id)), node)
	if err != nil || !found || node.GetStatus() == pb.StatusTombstoned {
		return nil, err
	}
	if _, err := r.Get(part.Space.Key(storage.TableContent, storage.Str(id)), content); err != nil {
		return nil, err
	}
	info := nodeInfo(part, node)
	info.Content = content.GetText()
	return info, nil
}

// readResting is readNode for a node that rests on others, with what does not stand of them. All of it is of one
// moment.
func readResting(st *storage.Store, part *partition.Ref, id pb.NodeID) (_ *pb.NodeInfo, err error) {
	snap, err := st.Snapshot()
	if err != nil {
		return nil, err
	}
	defer partition.CloseSnapshot(snap, &err)
	info, err := readNode(snap, part, id)
	if err == nil {
		err = ground.New(snap, part, 0).AddTo(info)
	}
	return info, err
}

// nodeInfo is a node as it is answered alone. What has become of its grounds is the caller's.
func nodeInfo(part *partition.Ref, n *pb.Node) *pb.NodeInfo {
	return &pb.NodeInfo{Node: n, Subject: string(part.Subject), Etag: etagOf(n)}
}

// listed is a node among others, without content and version.
func listed(g *ground.Reader, part *partition.Ref, n *pb.Node) (*pb.NodeInfo, error) {
	stale, err := g.OfNode(n)
	return &pb.NodeInfo{Node: n, Subject: string(part.Subject), Stale: stale}, err
}

// listNodes pages through the nodes of a partition, newest first: those that
// live or are superseded, unless another status is asked for.
func listNodes(c *tenant.Call, st *storage.Store, op *pb.ListNodes, rd *tenant.Reader) (_ *pb.Reply, err error) {
	kind := tenant.CursorKind{
		List: "nodes", Partition: c.Part.ID,
		Filters: fmt.Sprintf("%q %v %d %v %d %d", []string{op.GetKind(), op.GetDomain(), op.GetStatus(), op.GetQ()},
			op.CreatedAfterMs != nil, op.GetCreatedAfterMs(), op.CreatedBeforeMs != nil, op.GetCreatedBeforeMs(),
			op.GetAsOfMs()),
	}
	if ext := op.GetExternalId(); ext != "" { // at the end, so that a cursor that the version before made still holds
		kind.Filters += fmt.Sprintf(" %q", ext)
	}
	after, p := listing.PositionOf(c.Org, kind, op.GetPage())
	if p != nil {
		return tenant.Refuse(p), nil
	}
	f := NodeFilter{
		Statuses: Standing, Kinds: NodeKinds, domain: op.GetDomain(), external: pb.ExternalID(op.GetExternalId()),
		created: listing.AllTime, asOf: op.GetAsOfMs(),
	}
	if op.GetStatus() != "" {
		f.Statuses = []string{op.GetStatus()}
	}
	if op.GetKind() != "" {
		f.Kinds = []string{op.GetKind()}
	}
	if op.CreatedAfterMs != nil {
		f.created.From = op.GetCreatedAfterMs()
	}
	if op.CreatedBeforeMs != nil {
		f.created.Until = op.GetCreatedBeforeMs()
	}
	size := tenant.PageSize(op.GetPage())
	if len(op.GetIds()) > 0 {
		f.ids, size = op.GetIds(), len(op.GetIds())
	}
	nodes, next, err := pageOfNodes(c, st, f, op.GetQ(), after, size, rd)
	if err != nil {
		return nil, err
	}
	list := &pb.NodeList{}
	for _, n := range nodes {
		list.Nodes = append(list.Nodes, n.info)
	}
	if next != nil {
		list.NextCursor = tenant.SealCursor(c.Org.Secret, kind, next.Encode())
	}
	c.ReadUnits = tenant.UnitsOf(len(nodes))
	return graphReply(&pb.GraphResult{Result: &pb.GraphResult_Nodes{Nodes: list}}), nil
}

func graphReply(r *pb.GraphResult) *pb.Reply {
	return &pb.Reply{Result: &pb.Reply_Graph{Graph: r}}
}

// NodeFilter says which nodes a list is of.
type NodeFilter struct {
	Statuses, Kinds []string
	domain          string        // empty: any, or none
	external        pb.ExternalID // empty: any, or none
	ids             []string      // these alone, in their order; empty: any
	created         listing.Window
	asOf            int64 // held at that time; 0: any
}

// Above are the beginnings of the list's entries.
func (f *NodeFilter) Above(space storage.Space) []storage.Key {
	var keys []storage.Key
	for _, status := range f.Statuses {
		for _, kind := range f.Kinds {
			if f.domain != "" {
				keys = append(keys, DomainList(space, f.domain, status, kind))
				continue
			}
			keys = append(keys, NodeList(space, status, kind))
		}
	}
	return keys
}

func (f *NodeFilter) passes(n *pb.Node) bool {
	return slices.Contains(f.Statuses, n.GetStatus()) && slices.Contains(f.Kinds, n.GetKind()) &&
		(f.domain == "" || n.GetDomain() == f.domain) && f.created.Holds(n.GetCreatedMs()) && temporal.HeldAt(n, f.asOf)
}

// foundNode is a node of a page. chunk is the chunk that holds the rarest of the words asked for, in a list by words.
type foundNode struct {
	info  *pb.NodeInfo
	chunk uint64
}

// pageOfNodes gathers a page of nodes that hold all words of q; an empty q filters nothing.
func pageOfNodes(
	c *tenant.Call, st *storage.Store, f NodeFilter, q string, after *listing.Position, size int, rd *tenant.Reader,
) (page []foundNode, next *listing.Position, err error) {
	// One moment for all ranges: a node that changes its status between two of
	// them would be in none, or in both.
	snap, err := st.Snapshot()
	if err != nil {
		return nil, nil, err
	}
	defer partition.CloseSnapshot(snap, &err)
	var keep listing.Filter
	chunkOf := func(string) uint64 { return 0 }
	byWord := false // the words' own walk is shorter
	if q != "" {
		defer rd.Matcher.Release()
		rarest, err := lookUpWords(c, st, f, q, rd)
		if err != nil {
			return nil, nil, err
		}
		chunkOf = func(id string) uint64 { seq, _ := rd.Matcher.Holds(pb.NodeID(id)); return seq }
		keep = func(id string, _ []byte) bool { _, ok := rd.Matcher.Holds(pb.NodeID(id)); return ok }
		byWord = f.domain == "" || rarest <= tenant.MaxRecordsPerPage
	}
	walk := listing.NewestFirst(snap, f.Above(c.Part.Space), f.created, after, keep)
	switch {
	case len(f.ids) > 0:
		byWord, walk = true, named(f.ids)
	case f.external != "":
		byWord, walk = true, meant(snap, c.Part.Space, f.external, keep)
	case byWord:
		walk = matching(rd, after)
	}
	grounds := ground.New(snap, c.Part, f.asOf)
	return listing.PageOf(walk, size, tenant.MaxRecordsPerPage, func(e listing.Entry) (foundNode, bool, error) {
		n := &pb.Node{}
		found, err := snap.Get(c.Part.Space.Key(storage.TableNode, storage.Str(e.ID)), n)
		switch {
		case err != nil:
			return foundNode{}, false, err
		case !found && !byWord:
			return foundNode{}, false, fmt.Errorf("node %s: %w", e.ID, tenant.ErrNoRecord)
		}
		if !found || !f.passes(n) { // the index may be a commit behind the records, or ahead of the snapshot
			return foundNode{}, false, nil
		}
		info, err := listed(grounds, c.Part, n)
		return foundNode{info, chunkOf(e.ID)}, true, err
	})
}

// lookUpWords looks for the words of q in the keyword index, and returns how many chunks
// hold the rarest.
func lookUpWords(c *tenant.Call, st *storage.Store, f NodeFilter, q string, rd *tenant.Reader) (rarest int, err error) {
	now, err := c.Org.Residents.Get(st, c.Part, c.Org.System.Embedders.Dim)
	if err != nil {
		return 0, err
	}
	return rd.Matcher.Find(now.Snapshot, &index.WordQuery{
		Terms: rd.Analyzer.Query(q, now.Snapshot.Langs()), Kinds: f.Kinds,
		Created: &index.Window{FromMs: f.created.From, UntilMs: f.created.Until},
		Live:    slices.Contains(f.Statuses, pb.StatusLive), Superseded: slices.Contains(f.Statuses, pb.StatusSuperseded),
	}), nil
}

// meant walks the one node that an external id means, if there is one.
func meant(
	r storage.Reader, space storage.Space, ext pb.ExternalID, keep listing.Filter,
) iter.Seq2[listing.Entry, error] {
	return func(yield func(listing.Entry, error) bool) {
		ref := &pb.ExternalRef{}
		found, err := r.Get(space.Key(storage.TableExternalID, storage.Str(ext)), ref)
		if err != nil || found && (keep == nil || keep(ref.GetNode(), nil)) {
			yield(listing.Entry{Position: listing.Position{ID: ref.GetNode()}}, err)
		}
	}
}

// named walks the nodes of these ids, whether they are there or not.
func named(ids []string) iter.Seq2[listing.Entry, error] {
	return func(yield func(listing.Entry, error) bool) {
		for _, id := range ids {
			if !yield(listing.Entry{Position: listing.Position{ID: id}}, nil) {
				return
			}
		}
	}
}

// matching walks the nodes that lookUpWords has found.
func matching(rd *tenant.Reader, after *listing.Position) iter.Seq2[listing.Entry, error] {
	var from *index.Match
	if after != nil {
		from = &index.Match{CreatedMs: after.Created, Node: pb.NodeID(after.ID)}
	}
	return func(yield func(listing.Entry, error) bool) {
		for m := range rd.Matcher.Matches(from) {
			if !yield(listing.Entry{Position: listing.Position{Created: m.CreatedMs, ID: strings.Clone(string(m.Node))}}, nil) {
				return
			}
		}
	}
}

// searchNodes pages through the nodes whose text holds the words, newest first, each with a passage that holds them. It
// does not rank, as POST /v1/search does: ranks change with every write, and a page in their order would skip and
// repeat nodes.
func searchNodes(c *tenant.Call, st *storage.Store, op *pb.SearchNodes, rd *tenant.Reader) (*pb.Reply, error) {
	kind := tenant.CursorKind{
		List: "node search", Partition: c.Part.ID,
		Filters: fmt.Sprintf("%d %s", op.GetAsOfMs(), op.GetQ()),
	}
	after, p := listing.PositionOf(c.Org, kind, op.GetPage())
	if p != nil {
		return tenant.Refuse(p), nil
	}
	nodes, next, err := pageOfNodes(c, st, NodeFilter{
		Statuses: Standing, Kinds: NodeKinds, created: listing.AllTime,
		asOf: op.GetAsOfMs(),
	}, op.GetQ(), after, tenant.PageSize(op.GetPage()), rd)
	if err != nil {
		return nil, err
	}
	list := &pb.NodeMatches{}
	for _, n := range nodes {
		m := &pb.NodeMatch{Node: n.info, Chunk: &pb.Chunk{}}
		if _, err := st.Get(c.Part.Space.Key(storage.TableChunk, storage.U64(n.chunk)), m.Chunk); err != nil {
			return nil, err
		}
		list.Matches = append(list.Matches, m)
	}
	if next != nil {
		list.NextCursor = tenant.SealCursor(c.Org.Secret, kind, next.Encode())
	}
	c.ReadUnits = tenant.UnitsOf(len(nodes))
	return graphReply(&pb.GraphResult{Result: &pb.GraphResult_Matches{Matches: list}}), nil
}

// nodeContext answers a node with its chunks and its newest neighbours.
func nodeContext(c *tenant.Call, st *storage.Store, op *pb.NodeContext) (_ *pb.Reply, err error) {
	snap, err := st.Snapshot()
	if err != nil {
		return nil, err
	}
	defer partition.CloseSnapshot(snap, &err)
	info, err := readNode(snap, c.Part, pb.NodeID(op.GetId()))
	if err != nil {
		return nil, err
	}
	if info == nil {
		return tenant.Refuse(nodeNotFound()), nil
	}
	grounds := ground.New(snap, c.Part, 0)
	if err := grounds.AddTo(info); err != nil {
		return nil, err
	}
	out := &pb.NodeSurroundings{Node: info}
	for _, seq := range info.GetNode().GetChunks() {
		chunk := &pb.Chunk{}
		found, err := snap.Get(c.Part.Space.Key(storage.TableChunk, storage.U64(seq)), chunk)
		if err != nil {
			return nil, err
		}
		if found {
			out.Chunks = append(out.Chunks, chunk)
		}
	}
	f := edgeFilter{node: pb.NodeID(op.GetId())}
	edges, _, err := pageOfEdges(snap, c.Part, f, nil, maxNeighbours)
	if err != nil {
		return nil, err
	}
	for _, e := range edges {
		n := &pb.Node{}
		other := OtherEnd(e, pb.NodeID(op.GetId()))
		found, err := snap.Get(c.Part.Space.Key(storage.TableNode, storage.Str(other)), n)
		if found && err == nil {
			err = addNeighbour(out, grounds, c.Part, n, e)
		}
		if err != nil {
			return nil, err
		}
	}
	c.ReadUnits = tenant.UnitsOf(1 + len(out.GetChunks()) + len(out.GetNeighbours()))
	return graphReply(&pb.GraphResult{Result: &pb.GraphResult_Surroundings{Surroundings: out}}), nil
}

// addNeighbour adds a node and the edge that leads to it to what surrounds another.
func addNeighbour(out *pb.NodeSurroundings, g *ground.Reader, part *partition.Ref, n *pb.Node, e *pb.Edge) error {
	info, err := listed(g, part, n)
	if err != nil {
		return err
	}
	stale, err := g.OfEdge(e)
	out.Neighbours = append(out.Neighbours, &pb.Neighbour{Node: info, Edge: e, Stale: stale})
	return err
}
