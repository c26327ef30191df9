package retriever

import (
	"errors"
	"fmt"
	"math"
	"slices"

	pb "orgmem/proto"
)

// graphFormat and modelFormat number what the bytes mean.
const (
	graphFormat = 2
	modelFormat = 4
)

// ErrCorrupt says that a stored graph or model is not one of this package's, or of
// a version that it cannot read. It is to be made anew.
var ErrCorrupt = errors.New("retriever: corrupt")

func corrupt(what string) error { return fmt.Errorf("%w: %s", ErrCorrupt, what) }

// Message gives the model as it is stored.
func (p *Parameters) Message() *pb.BrainModel {
	m := &pb.BrainModel{Format: modelFormat}
	for _, x := range p.flat() {
		m.Parameters = append(m.Parameters, *x)
	}
	return m
}

// ParametersFrom reads what Message gave; ErrCorrupt.
func ParametersFrom(m *pb.BrainModel) (Parameters, error) {
	var p Parameters
	to := p.flat()
	if m.GetFormat() != modelFormat || len(m.GetParameters()) != len(to) {
		return p, corrupt("model of another version")
	}
	for i, x := range m.GetParameters() {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return p, corrupt("a parameter is no number")
		}
		*to[i] = x
	}
	return p, nil
}

// Message gives the graph as it is stored. The same graph gives the same message.
func (g *Graph) Message() *pb.BrainGraph {
	m := &pb.BrainGraph{
		Format: graphFormat, Longest: uint32(g.longest), SentenceStems: g.sentences.all, Stems: g.stems, Rarity: g.rarity,
		Places: g.named.sizes(), Subjects: g.about.sizes(), Ties: g.ties.sizes(), Sentences: g.sentences.sizes(),
		Within: g.belongs.sizes(),
	}
	for i, d := range g.docs {
		m.Documents = append(m.Documents, string(d))
		m.Passages = append(m.Passages, uint32(g.first[i+1]-g.first[i]))
	}
	for _, c := range g.concept {
		m.Concepts = append(m.Concepts, string(c))
	}
	for h := range g.names {
		m.Names = append(m.Names, h)
	}
	slices.Sort(m.Names)
	for _, h := range m.Names {
		m.Named = append(m.Named, uint32(g.names[h]))
	}
	for _, p := range g.named.all {
		m.PlaceConcepts, m.PlaceSentences = append(m.PlaceConcepts, uint32(p.other)),
			append(m.PlaceSentences, uint32(p.sentence))
	}
	for _, t := range g.about.all {
		m.SubjectConcepts, m.SubjectShares = append(m.SubjectConcepts, uint32(t.other)), append(m.SubjectShares, t.share)
	}
	for _, t := range g.ties.all {
		m.TieEnds, m.TieKinds, m.TieWeights = append(m.TieEnds, uint32(t.other)), append(m.TieKinds, uint32(t.kind)),
			append(m.TieWeights, t.weight)
	}
	for _, d := range g.belongs.all {
		m.Domains = append(m.Domains, uint32(d))
	}
	return m
}

func (l *lists[T]) sizes() []uint32 {
	var out []uint32
	for i := range len(l.at) - 1 {
		out = append(out, uint32(l.size(int32(i))))
	}
	return out
}

// GraphFrom reads what Message gave; ErrCorrupt. Whatever it accepts can be walked.
// It keeps slices of the message.
func GraphFrom(m *pb.BrainGraph) (*Graph, error) {
	if m.GetFormat() != graphFormat {
		return nil, corrupt("graph of another version")
	}
	g := &Graph{
		byID: make(map[pb.NodeID]int32, len(m.GetDocuments())), names: make(map[uint64]int32, len(m.GetNames())),
		longest: int(m.GetLongest()), stems: m.GetStems(), rarity: m.GetRarity(),
	}
	if g.longest > maxNameWords || len(g.stems) != len(g.rarity) || !slices.IsSorted(g.stems) {
		return nil, corrupt("words")
	}
	if len(m.GetPassages()) != len(m.GetDocuments()) {
		return nil, corrupt("documents")
	}
	for i, d := range m.GetDocuments() {
		g.docs = append(g.docs, pb.NodeID(d))
		g.byID[pb.NodeID(d)] = int32(i)
		g.first = append(g.first, int32(len(g.docOf)))
		if int(m.GetPassages()[i]) > len(m.GetPlaces())-len(g.docOf) { // there is one for each
			return nil, corrupt("passages")
		}
		for range m.GetPassages()[i] {
			g.docOf = append(g.docOf, int32(i))
		}
	}
	g.first = append(g.first, int32(len(g.docOf)))
	for _, c := range m.GetConcepts() {
		g.concept = append(g.concept, pb.NodeID(c))
	}
	if len(m.GetNames()) != len(m.GetNamed()) {
		return nil, corrupt("names")
	}
	for i, h := range m.GetNames() {
		if int(m.GetNamed()[i]) >= len(g.concept) {
			return nil, corrupt("names")
		}
		g.names[h] = int32(m.GetNamed()[i])
	}
	ok := g.sentences.fill(m.GetSentences(), len(m.GetSentences()), len(m.GetSentenceStems()), func(i int) (uint32, bool) {
		return m.GetSentenceStems()[i], true
	}) &&
		len(m.GetPlaceSentences()) == len(m.GetPlaceConcepts()) &&
		g.named.fill(m.GetPlaces(), len(g.docOf), len(m.GetPlaceConcepts()), func(i int) (place, bool) {
			c, s := m.GetPlaceConcepts()[i], m.GetPlaceSentences()[i]
			return place{int32(c), int32(s)}, int(c) < len(g.concept) && int(s) < len(m.GetSentences())
		}) &&
		len(m.GetSubjectShares()) == len(m.GetSubjectConcepts()) &&
		g.about.fill(m.GetSubjects(), len(g.docs), len(m.GetSubjectConcepts()), func(i int) (topic, bool) {
			c := m.GetSubjectConcepts()[i]
			return topic{int32(c), m.GetSubjectShares()[i]}, int(c) < len(g.concept)
		}) &&
		len(m.GetTieEnds()) == len(m.GetTieKinds()) && len(m.GetTieEnds()) == len(m.GetTieWeights()) &&
		g.ties.fill(m.GetTies(), len(g.docs)+len(g.concept), len(m.GetTieEnds()), func(i int) (tie, bool) {
			end, kind := m.GetTieEnds()[i], m.GetTieKinds()[i]
			return tie{int32(end), TieKind(kind), m.GetTieWeights()[i]},
				int(end) < len(g.docs)+len(g.concept) && kind < uint32(tieKinds)
		}) &&
		g.belongs.fill(m.GetWithin(), len(g.docs)+len(g.concept), len(m.GetDomains()), func(i int) (int32, bool) {
			d := m.GetDomains()[i]
			return int32(d), int(d) < len(m.GetDomains())
		})
	if !ok {
		return nil, corrupt("lists")
	}
	g.turn()
	return g, nil
}

// fill makes n lists of the given lengths; false when these do not fit all members
// or a member is refused.
func (l *lists[T]) fill(sizes []uint32, n, members int, member func(i int) (T, bool)) bool {
	if len(sizes) != n {
		return false
	}
	l.at = append(l.at, 0)
	for _, s := range sizes {
		if int(s) > members-len(l.all) {
			return false
		}
		for range s {
			x, ok := member(len(l.all))
			if !ok {
				return false
			}
			l.all = append(l.all, x)
		}
		l.at = append(l.at, int32(len(l.all)))
	}
	return len(l.all) == members
}
