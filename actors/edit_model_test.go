package actors

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orgmem/actors/account"
	"orgmem/actors/graph"
	pb "orgmem/proto"
	"orgmem/storage/storagetest"
)

// modelNode is what a node must be, kept naively.
type modelNode struct {
	id, content, status, was, by string
	ext                          []string
	anonymous, edited, byHand    bool
	history                      []string // oldest first
}

func (n *modelNode) empty() bool { return n.content == "" }

// modelEdge is what an edge must be.
type modelEdge struct {
	source, target string
	supersede      bool   // made by superseding a node
	ended          bool   // it holds no longer, and is shown
	with           string // forgotten with this node; "-": for itself
}

func (e *modelEdge) at(id string) bool { return e.source == id || e.target == id }

func (e *modelEdge) other(id string) string {
	if e.source == id {
		return e.target
	}
	return e.source
}

// modelGraph is what a partition must hold under ingestion and edits. A place is
// a content and how often it came back to find its node edited.
type modelGraph struct {
	t      *rapid.T
	nodes  map[string]*modelNode
	refs   map[string]string // external id to node
	held   map[string]string // content to the node that holds it away from its place
	places map[modelPlace]string
	edges  map[string]*modelEdge
}

type modelPlace struct {
	content string
	variant int
}

func newModelGraph(t *rapid.T) *modelGraph {
	return &modelGraph{
		t,
		map[string]*modelNode{},
		map[string]string{},
		map[string]string{},
		map[modelPlace]string{},
		map[string]*modelEdge{},
	}
}

// holder is the node that holds a content or would: perhaps one that has no id yet.
func (m *modelGraph) holder(content string) (n *modelNode, place modelPlace) {
	if id, ok := m.held[content]; ok {
		for p, at := range m.places {
			if at == id && p.content == content {
				return m.nodes[id], p
			}
		}
		return m.nodes[id], modelPlace{content, -1}
	}
	for variant := 0; ; variant++ {
		p := modelPlace{content, variant}
		n := m.nodes[m.places[p]]
		if n == nil || !n.edited {
			return n, p
		}
	}
}

func (n *modelNode) tell(action string) { n.history = append(n.history, action) }

// create makes a node at a place under the id that the service gave it.
func (m *modelGraph) create(place modelPlace, id string) *modelNode {
	if at, known := m.places[place]; known && at != id || !known && m.nodes[id] != nil {
		m.t.Fatalf("content %q of variant %d is %s, was %s", place.content, place.variant, id, at)
	}
	n := m.nodes[id]
	if n == nil {
		n = &modelNode{id: id}
	}
	// of the one that was forgotten
	maps.DeleteFunc(m.edges, func(_ string, e *modelEdge) bool { return e.with != "" && e.at(id) })
	*n = modelNode{id: id, content: place.content, status: pb.StatusLive, history: n.history}
	m.places[place], m.nodes[id] = id, n
	if place.variant > 0 {
		m.held[place.content] = id
	}
	n.tell(graph.ActionCreated)
	return n
}

func (n *modelNode) gone() bool { return n == nil || n.status == pb.StatusTombstoned }

// ingest says what becomes of an item, given the id of its node.
func (m *modelGraph) ingest(ext, content, id string) (outcome string) {
	before := m.nodes[m.refs[ext]]
	if before != nil && (before.status == pb.StatusLive && before.edited &&
		m.places[modelPlace{content, 0}] == before.id ||
		before.status == pb.StatusSuperseded && m.replaced(before) && (m.places[modelPlace{content, 0}] == before.id ||
			m.held[content] == before.id)) {
		m.same(before.id, id)
		return pb.ItemUnchanged
	}
	n, place := m.holder(content)
	switch {
	case n.gone():
		n = m.create(place, id)
		outcome = pb.ItemCreated
	case n.status == pb.StatusSuperseded:
		n.ext = slices.DeleteFunc(n.ext, func(e string) bool { return m.refs[e] != n.id })
		m.revive(n)
		n.content = content
		outcome = pb.ItemRevived
	case n.empty():
		n.content = content
		n.tell(graph.ActionRevived)
		outcome = pb.ItemRevived
	default:
		outcome = pb.ItemUnchanged
	}
	m.same(n.id, id)
	if ext == "" {
		n.anonymous = true
		return outcome
	}
	if before == n {
		return outcome
	}
	if !slices.Contains(n.ext, ext) {
		n.ext = append(n.ext, ext)
	}
	m.refs[ext] = n.id
	if before == nil {
		return outcome
	}
	m.retireDocument(before, n, ext)
	if s := m.successor(before); s != nil && s != n {
		m.retireDocument(s, n, ext)
	}
	if outcome != pb.ItemRevived {
		outcome = pb.ItemSuperseded
	}
	return outcome
}

// replaced reports whether something is in a superseded node's place.
func (m *modelGraph) replaced(n *modelNode) bool {
	for n.status == pb.StatusSuperseded {
		n = m.nodes[n.by]
	}
	return n.status == pb.StatusLive
}

func (m *modelGraph) same(want, got string) {
	if want != got {
		m.t.Fatalf("the node is %s, want %s", got, want)
	}
}

func (m *modelGraph) retireDocument(old, by *modelNode, ext string) {
	if old.status != pb.StatusLive {
		return
	}
	if old.anonymous || slices.ContainsFunc(old.ext, func(e string) bool { return e != ext && m.refs[e] == old.id }) {
		old.ext = slices.DeleteFunc(old.ext, func(e string) bool { return e == ext })
		return
	}
	m.retire(old, by)
}

func (m *modelGraph) retire(old, by *modelNode) {
	old.status, old.by = pb.StatusSuperseded, by.id
	old.tell(graph.ActionSuperseded)
}

func (m *modelGraph) successor(n *modelNode) *modelNode {
	for n != nil && n.status == pb.StatusSuperseded {
		if n = m.nodes[n.by]; n == nil || !n.byHand {
			return nil
		}
		if n.status == pb.StatusLive {
			return n
		}
	}
	return nil
}

func (m *modelGraph) hold(n *modelNode, after string) {
	holder, _ := m.holder(after)
	if m.held[n.content] == n.id {
		delete(m.held, n.content)
	}
	n.edited = m.places[modelPlace{after, 0}] != n.id
	if holder != n && (holder.gone() || holder.empty()) {
		m.held[after] = n.id
	}
}

func (m *modelGraph) edit(id, content string) (code string) {
	n := m.nodes[id]
	switch {
	case n.gone():
		return pb.CodeNodeNotFound
	case n.status == pb.StatusSuperseded:
		return pb.CodeAlreadySuperseded
	case n.content == content:
		return ""
	}
	m.hold(n, content)
	n.content = content
	n.tell(graph.ActionUpdated)
	return ""
}

func (m *modelGraph) forget(id string) (code string) {
	n := m.nodes[id]
	if n.gone() {
		return pb.CodeNodeNotFound
	}
	if m.held[n.content] == id {
		delete(m.held, n.content)
	}
	maps.DeleteFunc(m.refs, func(ext, at string) bool { return at == id && slices.Contains(n.ext, ext) })
	*n = modelNode{id: id, status: pb.StatusTombstoned, was: n.status, by: n.by, byHand: n.byHand, history: n.history}
	n.tell(graph.ActionForgotten)
	for _, e := range m.edges {
		if e.at(id) && e.with == "" {
			e.with = id
		}
	}
	return ""
}

func (m *modelGraph) revive(n *modelNode) {
	if e := m.edges[n.id+"_"+n.by+"_superseded_by"]; e != nil && e.with == "" {
		e.ended = true
	}
	n.status, n.by = pb.StatusLive, ""
	n.tell(graph.ActionRevived)
}

func (m *modelGraph) assert(source, target, id string) (code string) {
	a, b := m.nodes[source], m.nodes[target]
	if a.status != pb.StatusLive || b.status != pb.StatusLive {
		return pb.CodeNodeNotFound
	}
	for at, e := range m.edges {
		if e.source != source || e.target != target || e.supersede {
			continue
		}
		if e.with == "" {
			m.same(at, id)
			e.ended = false
			a.tell(graph.ActionEdgeAsserted)
			b.tell(graph.ActionEdgeAsserted)
			return ""
		}
		delete(m.edges, at) // it comes back as another
	}
	if m.edges[id] != nil {
		m.t.Fatalf("the new edge is %s, which is there", id)
	}
	m.edges[id] = &modelEdge{source: source, target: target}
	a.tell(graph.ActionEdgeAsserted)
	b.tell(graph.ActionEdgeAsserted)
	return ""
}

func (m *modelGraph) forgetEdge(id string) (code string) {
	if m.edges[id].with != "" {
		return pb.CodeEdgeNotFound
	}
	m.edges[id].with = "-"
	for _, end := range []string{m.edges[id].source, m.edges[id].target} {
		m.nodes[end].tell(graph.ActionEdgeForgotten)
	}
	return ""
}

// moveEdges lets a node take another's place.
func (m *modelGraph) moveEdges(old, by *modelNode) {
	for at, e := range m.edges {
		if !e.at(old.id) || e.supersede || e.ended || e.with == "-" {
			continue
		}
		source, target := e.source, e.target
		if source == old.id {
			source = by.id
		}
		if target == old.id {
			target = by.id
		}
		taken := source == target
		for other, same := range m.edges {
			if other == at || same.supersede || same.source != source || same.target != target {
				continue
			}
			if same.with == "" {
				taken = true
			} else if source != target {
				delete(m.edges, other)
			}
		}
		switch {
		case taken && e.with == "":
			e.ended = true
		case !taken:
			e.source, e.target = source, target
		}
	}
}

func (m *modelGraph) undelete(id string) (code string) {
	n := m.nodes[id]
	switch {
	case n == nil:
		return pb.CodeNodeNotFound
	case n.status != pb.StatusTombstoned:
		return pb.CodeNodeNotForgotten
	}
	n.status, n.was = n.was, ""
	n.tell(graph.ActionRestored)
	for _, e := range m.edges {
		if e.with != id {
			continue
		}
		if e.with = ""; m.nodes[e.other(id)].gone() {
			e.with = e.other(id)
		}
	}
	return ""
}

func (m *modelGraph) supersede(id, content string, s *pb.Superseded) (code string) {
	old := m.nodes[id]
	n, place := m.holder(content)
	switch {
	case old.gone():
		return pb.CodeNodeNotFound
	case old.status == pb.StatusSuperseded:
		return pb.CodeAlreadySuperseded
	case old.content == content, n == old:
		return pb.CodeValidation
	case s == nil:
		return "" // it must not have been refused
	}
	created := n.gone()
	switch {
	case created:
		n = m.create(place, s.GetNewNode())
		n.byHand = true
	case n.empty() && n.status == pb.StatusLive:
		n.tell(graph.ActionRevived)
	}
	n.content = content
	if n.status == pb.StatusSuperseded {
		m.revive(n)
	}
	m.same(n.id, s.GetNewNode())
	if s.GetCreated() != created || s.GetEdge() != id+"_"+n.id+"_superseded_by" {
		m.t.Fatalf("the answer is %v, created %v", s, created)
	}
	m.moveEdges(old, n)
	m.retire(old, n)
	m.edges[s.GetEdge()] = &modelEdge{source: old.id, target: n.id, supersede: true}
	return ""
}

// check compares everything that can be read with the model.
func (m *modelGraph) check(c client, contents []string) {
	var live, standing, tombs []string
	for id, n := range m.nodes {
		r := c.ask(getNodeOp(id))
		if n.status == pb.StatusTombstoned {
			tombs = append(tombs, id)
			if r.GetProblem().GetCode() != pb.CodeNodeNotFound {
				m.t.Fatalf("a forgotten node reads %v", r)
			}
		} else {
			standing = append(standing, id)
			got := r.GetNode()
			if got.GetContent() != n.content || got.GetNode().GetStatus() != n.status ||
				got.GetNode().GetSupersededBy() != n.by ||
				!slices.Equal(got.GetNode().GetSource().GetExternalIds(), n.ext) {
				m.t.Fatalf("the node reads %v, want %+v", r, n)
			}
			degree := 0
			for _, e := range m.edges {
				if e.at(id) && e.with == "" {
					degree++
				}
			}
			if int(got.GetNode().GetDegree()) != degree {
				m.t.Fatalf("the degree of %s is %d, want %d", id, got.GetNode().GetDegree(), degree)
			}
		}
		if n.status == pb.StatusLive && !n.empty() {
			live = append(live, id)
		}
		history := c.actions(id)
		slices.Reverse(history)
		if !slices.Equal(history, n.history) {
			m.t.Fatalf("history of %s: %v, want %v", id, history, n.history)
		}
	}
	list := func(what string, got, want []string) {
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			m.t.Fatalf("%s: %v, want %v", what, got, want)
		}
	}
	var shown []string
	for id, e := range m.edges {
		r := c.ask(getEdgeOp(id))
		if e.with != "" {
			if r.GetProblem().GetCode() != pb.CodeEdgeNotFound {
				m.t.Fatalf("a forgotten edge reads %v, want %+v", r, e)
			}
			continue
		}
		shown = append(shown, id)
		got := r.GetGraph().GetEdge().GetEdge()
		if got.GetSource() != e.source || got.GetTarget() != e.target ||
			(got.GetStatus() == pb.StatusSuperseded) != e.ended || (got.GetValidToMs() != 0) != e.ended {
			m.t.Fatalf("the edge reads %v, want %+v", r, e)
		}
	}
	if err := c.driftAddsUp(); err != nil {
		m.t.Fatal(err)
	}
	list("the edges", c.edges(&pb.ListEdges{}, 7), shown)
	list("the list", c.nodes(&pb.ListNodes{}, 7), standing)
	list("the tombstones", c.nodes(&pb.ListNodes{Status: pb.StatusTombstoned}, 7), tombs)
	list("search", c.hits(keyword("common")), live)
	for _, content := range contents {
		var want, all []string
		for id, n := range m.nodes {
			if n.content == content && n.status == pb.StatusLive {
				want = append(want, id)
			}
			if n.content == content {
				all = append(all, id)
			}
		}
		word := strings.Fields(content)[1]
		list("search for "+word, c.hits(keyword(word)), want)
		op := keyword(word)
		op.IncludeSuperseded = true
		list("search for all "+word, c.hits(op), all)
	}
}

// TestEditsAgainstModel lets ingestion and people change a small memory in turn,
// with restarts between, and compares all that can be read with the model.
func TestEditsAgainstModel(t *testing.T) {
	storagetest.FewerUnderRace(t, 10)
	disk := storagetest.NewDisk()
	n := startNode(t, disk, smallSlices)
	owner := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	contents := []string{"common alpha", "common beta", "common gamma", "common delta"}
	memories := 0
	rapid.Check(t, func(rt *rapid.T) {
		memories++
		owner.put(fmt.Sprint(memories))
		c := owner.as(fmt.Sprint(memories))
		m := newModelGraph(rt)
		anyNode := func(rt *rapid.T) string {
			ids := slices.Sorted(maps.Keys(m.nodes))
			if len(ids) == 0 {
				rt.Skip("no node yet")
			}
			return rapid.SampledFrom(ids).Draw(rt, "node")
		}
		anyContent := rapid.SampledFrom(contents)
		outcome := func(rt *rapid.T, r *pb.Reply, want string) {
			if got := r.GetProblem().GetCode(); got != want {
				rt.Fatalf("%q, want %q: %v", got, want, r)
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"ingest": func(rt *rapid.T) {
				ext := rapid.SampledFrom([]string{"", "x", "y"}).Draw(rt, "external id")
				content := anyContent.Draw(rt, "content")
				item := c.ingest(doc(ext, content)).GetItems()[0]
				if want := m.ingest(ext, content, item.GetNode()); item.GetStatus() != want {
					rt.Fatalf("%q as %q: %s, want %s", content, ext, item.GetStatus(), want)
				}
			},
			"edit": func(rt *rapid.T) {
				id, content := anyNode(rt), anyContent.Draw(rt, "content")
				outcome(rt, c.ask(editOp(&pb.EditNode{Id: id, Content: new(content)})), m.edit(id, content))
			},
			"forget": func(rt *rapid.T) {
				id := anyNode(rt)
				outcome(rt, c.ask(forgetOp(id)), m.forget(id))
			},
			"undelete": func(rt *rapid.T) {
				id := anyNode(rt)
				outcome(rt, c.ask(undeleteOp(id)), m.undelete(id))
			},
			"supersede": func(rt *rapid.T) {
				id, content := anyNode(rt), anyContent.Draw(rt, "content")
				r := c.ask(supersedeOp(id, content))
				outcome(rt, r, m.supersede(id, content, r.GetGraph().GetSuperseded()))
			},
			"assert": func(rt *rapid.T) {
				source, target := anyNode(rt), anyNode(rt)
				if source == target {
					rt.Skip("the edge of the interface refuses that")
				}
				r := c.ask(assertOp(&pb.AssertEdge{Source: source, Target: target, Type: "rel"}))
				outcome(rt, r, m.assert(source, target, r.GetGraph().GetEdge().GetEdge().GetId()))
			},
			"forget edge": func(rt *rapid.T) {
				ids := slices.Sorted(maps.Keys(m.edges))
				if len(ids) == 0 {
					rt.Skip("no edge yet")
				}
				id := rapid.SampledFrom(ids).Draw(rt, "edge")
				outcome(rt, c.ask(forgetEdgeOp(id)), m.forgetEdge(id))
			},
			"restart": func(rt *rapid.T) {
				if rapid.IntRange(0, 9).Draw(rt, "now") > 0 {
					rt.Skip("not now")
				}
				n.stop()
				n = startNode(t, disk, smallSlices)
				owner.n, c.n = n, n
			},
			"": func(*rapid.T) { m.check(c, contents) },
		})
	})
}
