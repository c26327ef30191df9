package search

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"orgmem/actors/graph"
	"orgmem/actors/ground"
	"orgmem/actors/listing"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/brain/insight"
	"orgmem/brain/temporal"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const (
	// maxRecallItems bounds a view that is answered whole: more are on its pages.
	maxRecallItems = 200
	// maxRecurrences bounds what the temporal view shows that comes again and again, the latest told: they have no pages.
	maxRecurrences = 200
	// MaxRecallNodes and maxRecallEdges bound the graph view.
	MaxRecallNodes = 200
	maxRecallEdges = 2000
	// MaxRecallScan bounds the nodes among which the strongest are looked for, the
	// newest of them: some 10 ms of reading.
	MaxRecallScan = 4000
	// maxRecallEnds bounds the edges of one node and origin that are looked
	// through for those to another of the strongest: a hub has many others.
	maxRecallEnds = 500
	// MaxRecallCount is where the counting of nodes stops, of edges and of domains:
	// 100,000 index entries are some 30 ms of reading.
	MaxRecallCount = 100_000
)

// recall answers a derived view of the effective partition.
func (o *Module) recall(c *tenant.Call, op *pb.Recall) {
	switch op.GetType() {
	case pb.RecallIdentity:
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) { return readIdentity(st, c.Part) })
	case pb.RecallGraph:
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) { return readStrongest(st, c.Part, op.GetAsOfMs()) })
	case pb.RecallInsights:
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) { return o.readInsights(st, c.Part, op) })
	case pb.RecallTemporal:
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) { return o.readTemporal(st, c.Part, op) })
	default:
		c.Refuse(tenant.NewProblem(pb.CodeRecallTypeNotFound,
			"There are the recall views identity, graph, insights and temporal."))
	}
}

// readIdentity reads who a partition's person is; empty before the first cycle.
func readIdentity(r storage.Reader, part *partition.Ref) (*pb.Reply, error) {
	view := &pb.IdentityView{}
	if _, err := r.Get(part.Space.Key(storage.TableView, storage.Str(graph.ViewIdentity)), view); err != nil {
		return nil, err
	}
	var err error
	if view.Portrait, err = standing(r, part, view.GetPortrait()); err != nil {
		return nil, err
	}
	return graph.DerivedReply(&pb.MindResult{
		Result: &pb.MindResult_Identity{Identity: &pb.IdentityInfo{User: part.ID.Bytes(), View: view}},
	}), nil
}

// standing are the lines of a portrait that rest on nothing that was forgotten or superseded since the last cycle.
func standing(r storage.Reader, part *partition.Ref, lines []*pb.PortraitLine) (left []*pb.PortraitLine, err error) {
	known := map[string]bool{}
	for _, l := range lines {
		all := true
		for _, id := range l.GetNodes() {
			ok, seen := known[id]
			if !seen {
				if ok, err = ground.Stands(r, part.Space, pb.NodeID(id)); err != nil {
					return nil, err
				}
				known[id] = ok
			}
			all = all && ok
		}
		if all {
			left = append(left, l)
		}
	}
	return left, nil
}

// identity answers a member's view to that member, and to callers that may read
// and administrate. Everybody else is refused before it is looked whether there
// is such a member.
func (o *Module) identity(c *tenant.Call, op *pb.GetIdentity) {
	user, err := pb.ParseUserID(op.GetUser())
	own := err == nil && user == c.Principal.User
	if !own && !(tenant.Grants(c.Principal.Scopes, pb.ScopeRead) && tenant.Grants(c.Principal.Scopes, pb.ScopeAdmin)) {
		c.Refuse(tenant.NewProblem(pb.CodePermissionDenied, "Another person's identity needs the scopes read and admin."))
		return
	}
	if own { // in the sandbox this is the sandbox's
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) {
			r, err := readIdentity(st, c.Part)
			if err != nil {
				return nil, err
			}
			r.GetMind().GetIdentity().User = user.Bytes()
			return r, nil
		})
		return
	}
	var part *partition.Ref
	if err == nil {
		part, err = o.Member(user)
		if err != nil {
			c.Fail(err)
			return
		}
	}
	if part == nil || part.Kind != pb.PartitionMember { // a provisioned subject is no member
		c.Refuse(tenant.NewProblem(pb.CodeUserNotFound, "The organization has no member with this id."))
		return
	}
	o.Read(c, func(st *storage.Store) (*pb.Reply, error) { return readIdentity(st, part) })
}

// readInsights reads the insights of which what they rest on stands, all of one moment.
func (o *Module) readInsights(st *storage.Store, part *partition.Ref, op *pb.Recall) (_ *pb.Reply, err error) {
	r, err := st.Snapshot()
	if err != nil {
		return nil, err
	}
	defer partition.CloseSnapshot(r, &err)
	now := clock.Millis(o.System.Clock.Now())
	entries, next, p, err := tenant.PageOfKeys(&o.View, r, part.Space.Prefix(storage.TableInsight), recallCursor(op, part),
		recallPage(op), ground.MaxDerivedPerScan, func(item storage.Item) (*pb.Insight, bool, error) {
			i := &pb.Insight{}
			if err := item.Decode(i); err != nil || op.GetAsOfMs() != 0 && i.GetCreatedMs() > op.GetAsOfMs() {
				return nil, false, err
			}
			if at := cmp.Or(op.GetAsOfMs(), now); i.GetUntilMs() != 0 && i.GetUntilMs() <= at {
				return nil, false, nil // it is over
			}
			// What texts say stands with all of them, and what the graph's shape tells with any.
			all := insight.Said(i.GetKind())
			for _, id := range i.GetNodes() {
				if ok, err := ground.StoodAt(r, part.Space, pb.NodeID(id), op.GetAsOfMs()); err != nil || ok != all {
					return i, ok, err
				}
			}
			return i, all, nil
		})
	if p != nil || err != nil {
		return tenant.Refuse(p), err
	}
	list := &pb.InsightList{Paged: op.GetPaged(), Insights: entries, NextCursor: next}
	grounds := ground.New(r, part, op.GetAsOfMs())
	for _, i := range entries {
		stale, err := grounds.On(i.GetNodes()...)
		if err != nil {
			return nil, err
		}
		if stale == nil {
			stale = &pb.Staleness{}
		}
		list.Stale = append(list.Stale, stale)
	}
	return graph.DerivedReply(&pb.MindResult{Result: &pb.MindResult_Insights{Insights: list}}), nil
}

func (o *Module) readTemporal(r storage.Reader, part *partition.Ref, op *pb.Recall) (*pb.Reply, error) {
	entries, next, p, err := tenant.PageOfKeys(&o.View, r, part.Space.Prefix(storage.TableMoment), recallCursor(op, part),
		recallPage(op), ground.MaxDerivedPerScan, func(item storage.Item) (*pb.Moment, bool, error) {
			m := &pb.Moment{}
			if err := item.Decode(m); err != nil || op.GetAsOfMs() != 0 && m.GetAtMs() > op.GetAsOfMs() {
				return nil, false, err
			}
			ok, err := ground.StoodAt(r, part.Space, pb.NodeID(m.GetNode()), op.GetAsOfMs())
			return m, ok, err
		})
	if p != nil {
		return tenant.Refuse(p), nil
	}
	if err != nil {
		return nil, err
	}
	list := &pb.TemporalList{Paged: op.GetPaged(), Moments: entries, NextCursor: next}
	whole := &pb.TemporalView{}
	if _, err := r.Get(part.Space.Key(storage.TableView, storage.Str(graph.ViewTemporal)), whole); err != nil {
		return nil, err
	}
	if op.GetAsOfMs() == 0 { // both are of all that there is now
		list.Trends, list.Cadence = whole.GetTrends(), whole.GetCadence()
	}
	if !op.GetPaged() {
		list.Recurrences, err = readRecurrences(r, part, op.GetAsOfMs())
	}
	return graph.DerivedReply(&pb.MindResult{Result: &pb.MindResult_Temporal{Temporal: list}}), err
}

// readRecurrences gives what comes again and again, the latest told first, as far as it was told by a time; 0 is now.
func readRecurrences(r storage.Reader, part *partition.Ref, asOf int64) (all []*pb.Recurrence, err error) {
	looked := 0
	for rec, err := range storage.ScanRecords(r, part.Space.Prefix(storage.TableRecurrence), storage.ScanOptions{},
		func() *pb.Recurrence { return &pb.Recurrence{} }) {
		if err != nil {
			return nil, err
		}
		if looked++; len(all) == maxRecurrences || looked > ground.MaxDerivedPerScan {
			break
		}
		if x := rec.Value; asOf == 0 || x.GetToldMs() <= asOf {
			if ok, err := ground.SaidAt(r, part.Space, pb.NodeID(x.GetNode()), x.GetChunk(), asOf); err != nil {
				return nil, err
			} else if ok {
				all = append(all, x)
			}
		}
	}
	return all, nil
}

func recallCursor(op *pb.Recall, part *partition.Ref) tenant.CursorKind {
	return tenant.CursorKind{List: "recall " + op.GetType(), Partition: part.ID, Filters: strconv.FormatInt(op.GetAsOfMs(),
		10)}
}

// recallPage is the page that was asked for, or all that an unpaginated view
// shows.
func recallPage(op *pb.Recall) *pb.Page {
	if op.GetPaged() {
		return op.GetPage()
	}
	return &pb.Page{Size: maxRecallItems}
}

// Strength orders the nodes of the graph view: what is believed and trusted, and holds much together, comes first. The
// logarithm keeps a hub from drowning what is said.
func Strength(n *pb.Node) float64 {
	return n.GetAuthority() * n.GetConfidence() * (1 + math.Log1p(float64(n.GetDegree())))
}

// readStrongest gives the strongest live nodes, the edges among them and their
// domains, all of one moment.
func readStrongest(st *storage.Store, part *partition.Ref, asOf int64) (_ *pb.Reply, err error) {
	r, err := st.Snapshot()
	if err != nil {
		return nil, err
	}
	defer partition.CloseSnapshot(r, &err)
	view := &pb.GraphView{Subject: string(part.Subject)}
	if err := addStrongest(r, part.Space, view, asOf); err != nil {
		return nil, err
	}
	cutStrongest(view)
	chosen := make(map[pb.NodeID]bool, len(view.Nodes))
	for _, n := range view.GetNodes() {
		chosen[pb.NodeID(n.GetId())] = true
	}
	for _, n := range view.GetNodes() {
		if err := addEdges(r, part, pb.NodeID(n.GetId()), chosen, view, asOf); err != nil {
			return nil, err
		}
	}
	if err := addDomains(r, part.Space, view); err != nil {
		return nil, err
	}
	if err := addStale(ground.New(r, part, asOf), view); err != nil {
		return nil, err
	}
	if err := countEdges(r, part.Space, view); err != nil {
		return nil, err
	}
	return graph.DerivedReply(&pb.MindResult{Result: &pb.MindResult_Graph{Graph: view}}), nil
}

// addStale says of the nodes and edges of the view what they rest on and does not stand.
func addStale(g *ground.Reader, view *pb.GraphView) (err error) {
	if view.Stale, err = g.OfEdges(view.GetEdges()); err != nil {
		return err
	}
	for _, n := range view.GetNodes() {
		stale, err := g.OfNode(n)
		if err != nil {
			return err
		}
		if stale == nil {
			continue
		}
		if view.Stale == nil {
			view.Stale = map[string]*pb.Staleness{}
		}
		view.Stale[n.GetId()] = stale
	}
	return nil
}

// addStrongest looks through the live nodes that may be learned from, and counts
// all that live.
func addStrongest(r storage.Reader, space storage.Space, view *pb.GraphView, asOf int64) error {
	f := graph.NodeFilter{Statuses: []string{pb.StatusLive}, Kinds: graph.NodeKinds}
	if asOf != 0 {
		f.Statuses = graph.Standing // what is superseded now held once
	}
	for e, err := range listing.NewestFirst(r, f.Above(space), listing.AllTime, nil, nil) {
		if err != nil {
			return err
		}
		if view.TotalNodes == MaxRecallCount {
			return nil
		}
		if view.TotalNodes++; view.TotalNodes > MaxRecallScan {
			continue
		}
		n := &pb.Node{}
		found, err := r.Get(space.Key(storage.TableNode, storage.Str(e.ID)), n)
		switch {
		case err != nil:
			return err
		case !found:
			return fmt.Errorf("node %s: %w", e.ID, tenant.ErrNoRecord)
		case n.GetUnlearned(), !temporal.HeldAt(n, asOf):
			continue
		}
		if view.Nodes = append(view.Nodes, n); len(view.Nodes) >= 4*MaxRecallNodes {
			cutStrongest(view)
		}
	}
	return nil
}

func countEdges(r storage.Reader, space storage.Space, view *pb.GraphView) error {
	for _, origin := range graph.EdgeOrigins {
		for _, err := range r.Scan(graph.EdgesOf(space, origin).Children(), storage.ScanOptions{}) {
			if err != nil {
				return err
			}
			if view.TotalEdges == MaxRecallCount {
				return nil
			}
			view.TotalEdges++
		}
	}
	return nil
}

// cutStrongest keeps the strongest nodes, the stronger first.
func cutStrongest(view *pb.GraphView) {
	slices.SortFunc(view.Nodes, func(a, b *pb.Node) int {
		return cmp.Or(cmp.Compare(Strength(b), Strength(a)), cmp.Compare(b.GetCreatedMs(), a.GetCreatedMs()),
			cmp.Compare(a.GetId(), b.GetId()))
	})
	view.Nodes = view.Nodes[:min(len(view.Nodes), MaxRecallNodes)]
}

// addEdges adds a node's edges to others of the chosen, as far as they held at a time;
// 0 is any.
func addEdges(r storage.Reader, part *partition.Ref, node pb.NodeID, chosen map[pb.NodeID]bool, view *pb.GraphView,
	asOf int64,
) error {
	for _, origin := range graph.EdgeOrigins {
		for item, err := range r.Scan(graph.EdgesOfSource(part.Space, node, origin).Children(),
			storage.ScanOptions{Limit: maxRecallEnds}) {
			if err != nil {
				return err
			}
			if !chosen[graph.DecodeEdgeEnd(item.Value).Other] {
				continue
			}
			if len(view.Edges) == maxRecallEdges {
				return nil
			}
			e, err := graph.EdgeAt(r, part, item.Key)
			if err != nil {
				return err
			}
			if e != nil && temporal.HeldBetween(e.GetValidFromMs(), e.GetValidToMs(), asOf) {
				view.Edges = append(view.Edges, e)
			}
		}
	}
	return nil
}

// addDomains adds the domains that the nodes of the view are in, as far as they are shown.
func addDomains(r storage.Reader, space storage.Space, view *pb.GraphView) error {
	wanted := map[string]bool{}
	for _, n := range view.GetNodes() {
		wanted[n.GetDomain()] = true
	}
	for rec, err := range storage.ScanRecords(r, space.Prefix(storage.TableDomain),
		storage.ScanOptions{Limit: MaxRecallCount}, func() *pb.Domain { return &pb.Domain{} }) {
		if err != nil {
			return err
		}
		if rec.Value.GetNameless() {
			continue
		}
		view.TotalDomains++
		if id, err := pb.DomainIDFrom(rec.Value.GetId()); err == nil && wanted[id.String()] {
			view.Domains = append(view.Domains, rec.Value)
		}
	}
	return nil
}
