package retriever

// Part is a part of a graph that can be taken out of it, to see what it is worth.
type Part uint8

// The parts. Entities, titles and ties are taken out of the Source instead.
const (
	PartNames     Part = iota // which passages name a concept
	PartSubjects              // what documents are about
	PartSentences             // what else stands in the sentences that name
	PartDomains               // what belongs together
)

// Without gives the graph without some of its parts.
func (g *Graph) Without(cut ...Part) *Graph {
	out := *g
	for _, p := range cut {
		switch p {
		case PartNames:
			out.named = lists[place]{at: make([]int32, len(g.named.at))}
		case PartSubjects:
			out.about = lists[topic]{at: make([]int32, len(g.about.at))}
		case PartSentences:
			out.sentences = lists[uint32]{at: make([]int32, len(g.sentences.at))}
		case PartDomains:
			out.belongs = lists[int32]{at: make([]int32, len(g.belongs.at))}
		}
	}
	out.turn()
	return &out
}
