package cognition

import (
	"cmp"
	"slices"

	"orgmem/brain/portrait"
	"orgmem/brain/topic"
	pb "orgmem/proto"
)

// What a portrait (package portrait) is drawn from, and what becomes of the view that it stands in when a text goes.

const (
	// MaxPortraitTexts bounds the latest texts by whose writers it is told whose memory it is.
	MaxPortraitTexts = 400
	// MaxPortraitStatements bounds the statements that are read for a portrait: those that most texts say.
	MaxPortraitStatements = 200
	// MaxPortraitNames bounds the entities: those that most texts name.
	MaxPortraitNames = 100

	dayMs = 24 * 60 * 60 * 1000
)

// InTexts is a node that texts of the person state or name, by their places, the latest first.
type InTexts struct {
	Node  int32
	Texts []int32
	last  int64 // when it was stated or named last
}

// Stated are the preferences and beliefs that the person's texts state, those of most texts first and of these the
// latest, at most so many. A text that was taken in as one states itself.
func (g *Graph) Stated(most int) []InTexts {
	of := g.texts(EdgeStatedIn, func(e *Edge) (node, text int32) { return e.A, e.B }, func(n *Node) bool {
		return n.Kind == portrait.Preference || n.Kind == portrait.Belief
	})
	for i := range g.Nodes {
		if n := &g.Nodes[i]; n.Own && (n.Kind == portrait.Preference || n.Kind == portrait.Belief) {
			of = append(of, InTexts{int32(i), []int32{int32(i)}, n.AtMS})
		}
	}
	return g.most(of, most)
}

// Named are the entities that the person's texts name, in the order of [Graph.Stated].
func (g *Graph) Named(most int) []InTexts {
	return g.most(g.texts(EdgeMentions, func(e *Edge) (node, text int32) { return e.B, e.A }, (*Node).Entity), most)
}

// texts gathers the texts of the person that a kind of edge joins with each node of some.
func (g *Graph) texts(kind string, ends func(*Edge) (node, text int32), keep func(*Node) bool) (all []InTexts) {
	at := map[int32]int{}
	for i := range g.Edges {
		e := &g.Edges[i]
		if e.Kind != kind {
			continue
		}
		node, text := ends(e)
		if !g.Nodes[text].Own || node == text || !keep(&g.Nodes[node]) {
			continue
		}
		place, known := at[node]
		if !known {
			place = len(all)
			at[node], all = place, append(all, InTexts{Node: node})
		}
		x := &all[place]
		x.Texts, x.last = append(x.Texts, text), max(x.last, g.Nodes[text].AtMS)
	}
	return all
}

// most are those of most texts, of these the latest.
func (g *Graph) most(all []InTexts, most int) []InTexts {
	slices.SortFunc(all, func(a, b InTexts) int {
		return cmp.Or(cmp.Compare(len(b.Texts), len(a.Texts)), cmp.Compare(b.last, a.last), cmp.Compare(a.Node, b.Node))
	})
	all = all[:min(len(all), most)]
	for _, x := range all {
		g.latestFirst(x.Texts)
	}
	return all
}

// Portrait is what the graph alone tells of the person: themes, days, and the latest texts.
func (g *Graph) Portrait(domains []Domain) portrait.Memory {
	own := g.Written()
	m := portrait.Memory{
		Texts: len(own), Latest: g.ids(own[:min(len(own), portrait.MaxLineNodes)]), Themes: g.themes(domains, own),
	}
	for _, i := range own {
		if at := g.Nodes[i].ValidMS; at != 0 {
			day := at / dayMs
			if at%dayMs < 0 {
				day--
			}
			m.Days = append(m.Days, day)
			if len(m.Dated) < portrait.MaxLineNodes {
				m.Dated = append(m.Dated, string(g.Nodes[i].ID))
			}
		}
	}
	return m
}

// themes counts the texts, own, of each domain.
func (g *Graph) themes(domains []Domain, own []int32) (themes []portrait.Theme) {
	of := map[int32]int{}
	for k, d := range domains {
		themes = append(themes, portrait.Theme{Label: d.Label, Place: int32(k)})
		for _, i := range d.Members {
			of[i] = k
		}
	}
	for at, i := range own {
		k, ok := of[i]
		if !ok {
			continue
		}
		t := &themes[k]
		t.Texts++
		if len(t.Nodes) < portrait.MaxLineNodes {
			t.Nodes = append(t.Nodes, string(g.Nodes[i].ID))
		}
		if at < portrait.Lately {
			t.Lately = append(t.Lately, string(g.Nodes[i].ID))
		}
	}
	return themes
}

// Forget takes a text out of the view of a person: out of what it is evidence of, and its words out of labels. Lines of
// the portrait that rest on it, or quote a word that may be its own, go. his tells whether a word is the text's, gone
// are labels that domains have lost. It reports whether the view has changed.
func Forget(view *pb.IdentityView, id string, gone []string, his func(string) bool) (changed bool) {
	mine := func(other string) bool { return other == id }
	for _, b := range view.GetBasins() {
		label, keywords := topic.Without(b.GetLabel(), b.GetKeywords(), his)
		changed = changed || label != b.GetLabel() || len(keywords) < len(b.GetKeywords()) ||
			slices.Contains(b.GetNodes(), id)
		b.Label, b.Keywords, b.Nodes = label, keywords, slices.DeleteFunc(b.GetNodes(), mine)
	}
	for _, t := range view.GetTraits() {
		changed = changed || slices.Contains(t.GetNodes(), id)
		t.Nodes = slices.DeleteFunc(t.GetNodes(), mine)
	}
	lines := len(view.GetPortrait())
	view.Portrait = slices.DeleteFunc(view.GetPortrait(), func(l *pb.PortraitLine) bool {
		return slices.Contains(l.GetNodes(), id) || slices.ContainsFunc(l.GetQuotes(), func(quote string) bool {
			return slices.Contains(gone, quote) || slices.ContainsFunc(topic.WordsOf(quote), his)
		})
	})
	return changed || len(view.GetPortrait()) < lines
}
