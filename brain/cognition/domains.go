package cognition

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"orgmem/brain/community"
	"orgmem/brain/text"
	"orgmem/brain/topic"
	pb "orgmem/proto"
)

const (
	// ContrastNodes is how many nodes stand for a domain whose name stays, while others
	// are distinguished from it: a fifth of the work.
	ContrastNodes = 8
	// maxPassageBytes bounds what is read of a text to name its domain.
	maxPassageBytes = 2000
	// maxShort is how many passages a text has that is about one thing.
	maxShort = 2
	// sameCohesion is by how much cohesions may differ and be written as they are.
	sameCohesion = 1e-6
)

// Domain is a domain as a cycle has found it.
type Domain struct {
	ID       pb.DomainID
	Label    string
	Keywords []string
	Members  []int32
	Top      []int32
	Refined  bool // a language model has worded the label
	Same     bool // it is named by the nodes that named it before
}

// Earlier is the communities that the nodes were in the last time: number gives each
// domain a number, settled is [community.Partition.Settled].
func (g *Graph) Earlier(number map[string]int32, settled int) community.Earlier {
	earlier := community.Earlier{Of: make([]int32, len(g.Nodes)), Settled: settled}
	for i := range g.Nodes {
		earlier.Of[i] = community.None
		if n, ok := number[g.Nodes[i].Domain]; ok {
			earlier.Of[i] = n
		}
	}
	return earlier
}

// SameTop reports whether a domain that is named by the nodes top is named by those that
// named it before.
func (g *Graph) SameTop(was *pb.Domain, top []int32) bool {
	if was.GetLabel() == "" || len(was.GetKeywords()) == 0 || len(was.GetNamedBy()) != len(top) {
		return false
	}
	for i, id := range was.GetNamedBy() {
		if g.At[pb.NodeID(id)] != top[i] {
			return false
		}
	}
	return true
}

// LabelBefore is the label that a domain had, as topic takes it: what a model has worded
// is no label of its keywords.
func LabelBefore(was *pb.Domain) topic.Label {
	before := topic.Label{Text: was.GetLabel(), Keywords: was.GetKeywords()}
	if was.GetRefined() {
		before.Text = topic.LabelFrom(was.GetKeywords())
	}
	return before
}

// Settle puts each node into the domain that it was found in, or none, unless a person
// has placed it: of is an index into domains, or [community.None]. It returns the nodes
// that move.
func (g *Graph) Settle(of []int32, domains []Domain) (moved []int32) {
	for i := range g.Nodes {
		want := ""
		if of[i] != community.None {
			want = domains[of[i]].ID.String()
		}
		if n := &g.Nodes[i]; n.Domain != want && !n.Placed {
			n.Domain = want
			moved = append(moved, int32(i))
		}
	}
	return moved
}

// GroupOf is what a domain, or a basin, is named by: its top nodes, of whose texts chunk
// reads some passages.
func (g *Graph) GroupOf(top []int32, chunk func(seq uint64) (string, error)) (topic.Group, error) {
	group := topic.Group{}
	texts := 0
	for _, i := range top {
		if len(g.Nodes[i].Chunks) > 0 {
			texts++
		}
	}
	each := max(1, topic.MaxPassages/max(1, texts))
	var statements []topic.Passage
	for _, i := range top {
		n := &g.Nodes[i]
		if n.Entity() {
			group.Names = append(group.Names, topic.Name{Title: n.Title, Person: n.Person})
			continue
		}
		for _, k := range g.People()[i] {
			group.People = append(group.People, g.Nodes[k].Title)
		}
		// A document speaks by passages from all over it: the first are often a
		// heading, and who was there.
		p := topic.Passage{Title: n.Title, Of: int(i) + 1, Part: len(n.Chunks) > maxShort}
		k := min(each, len(n.Chunks))
		for place := range k {
			said, err := chunk(n.Chunks[(2*place+1)*len(n.Chunks)/(2*k)])
			if err != nil {
				return group, err
			}
			group.Passages = append(group.Passages, saying(p, said))
			p.Title = "" // it counts once
		}
		if k == 0 {
			statements = append(statements, p)
		}
	}
	// Beliefs and preferences say again, in a line, what stands in their text: beside one
	// transcript, which is a single text, there are dozens.
	if len(group.Passages) == 0 {
		group.Passages = statements
	}
	return group, nil
}

// GroupOfPassages is what a basin is named by, which is a place of passages, and of long texts of few of each.
func (g *Graph) GroupOfPassages(passages []Chunk, chunk func(seq uint64) (string, error)) (topic.Group, error) {
	group := topic.Group{}
	named := map[int32]bool{}
	for _, c := range passages[:min(len(passages), topic.MaxPassages)] {
		n := &g.Nodes[c.Node]
		if !named[c.Node] {
			named[c.Node] = true
			for _, k := range g.People()[c.Node] {
				group.People = append(group.People, g.Nodes[k].Title)
			}
		}
		p := topic.Passage{Of: int(c.Node) + 1, Whole: n.Title}
		if len(n.Chunks) == 1 { // else the title is of more than the passage
			p.Title = n.Title
		}
		said, err := chunk(c.Seq)
		if err != nil {
			return group, err
		}
		group.Passages = append(group.Passages, saying(p, said))
	}
	return group, nil
}

// saying is a passage with its words, and without a title that was made from them.
func saying(p topic.Passage, said string) topic.Passage {
	p.Text = text.Truncate(said, maxPassageBytes)
	if strings.HasPrefix(p.Text, strings.TrimSuffix(p.Title, "…")) {
		p.Title = ""
	}
	return p
}

// maxHomes is how many domains the texts of a basin may lie in, for it to be called after them.
const maxHomes = 3

// Homes finds the domains that have a name and hold more than half of some nodes, the one that holds most first; none
// where that takes too many.
func Homes(domains []Domain) func(nodes []int32) []int32 {
	of := map[int32]int32{}
	for k := range domains {
		if domains[k].Label == "" {
			continue
		}
		for _, i := range domains[k].Members {
			of[i] = int32(k)
		}
	}
	return func(nodes []int32) (homes []int32) {
		in := map[int32]int{}
		for _, i := range nodes {
			if d, ok := of[i]; ok {
				in[d]++
			}
		}
		all := slices.SortedFunc(maps.Keys(in), func(a, b int32) int {
			return cmp.Or(cmp.Compare(in[b], in[a]), cmp.Compare(a, b))
		})
		held := 0
		for _, d := range all[:min(len(all), maxHomes)] {
			homes = append(homes, d)
			if held += in[d]; 2*held > len(nodes) {
				return homes
			}
		}
		return nil
	}
}

// CalledAfter is the label of what lies in some of the domains: that of one, or of several their first words.
func CalledAfter(homes []int32, domains []Domain) string {
	if len(homes) == 1 {
		return domains[homes[0]].Label
	}
	var words []string
	for _, d := range homes {
		w := topic.WordsOf(domains[d].Label)[0]
		if said := domains[d].Keywords; len(said) > 0 {
			w = said[0] // without the capital of a label
		}
		if !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return topic.Called(words)
}

// SameWords reports whether two records of a domain have the same label and keywords.
func SameWords(a, b *pb.Domain) bool {
	return a.GetLabel() == b.GetLabel() && slices.Equal(a.GetKeywords(), b.GetKeywords())
}

// SameDomain reports whether two records of a domain say the same, but for their times.
func SameDomain(a, b *pb.Domain) bool {
	return SameWords(a, b) && a.GetNameless() == b.GetNameless() &&
		a.GetNodes() == b.GetNodes() && a.GetEdges() == b.GetEdges() &&
		math.Abs(a.GetCohesion()-b.GetCohesion()) < sameCohesion &&
		slices.Equal(a.GetTopNodes(), b.GetTopNodes()) && slices.Equal(a.GetNamedBy(), b.GetNamedBy())
}
