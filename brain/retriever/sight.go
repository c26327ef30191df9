package retriever

import pb "orgmem/proto"

// maxLooked bounds the places of a concept that are looked at until one is there.
const maxLooked = 1 << 12

// sight is what of a graph's names somebody who asks can see: what names nothing that
// is there for them, since it is gone or another's, is no name, or the gate would tell
// of it.
type sight struct {
	g *Graph
	// here says whether a passage is there, lives whether an entity is; nil: all are.
	here  func(passage int32) bool
	lives func(entity pb.NodeID) bool
	// known and about are the answers that have been found, by concept.
	known, about map[int32]bool
}

// of looks with the eyes of the person who asks a question.
func (s *sight) of(q *Question) {
	s.here, s.lives = q.Here, q.Lives
	if s.here != nil && s.known == nil {
		s.known, s.about = map[int32]bool{}, map[int32]bool{}
	}
	clear(s.known)
	clear(s.about)
}

// knows says whether anything that is there is, names or is about a concept.
func (s *sight) knows(c int32) bool {
	if s.here == nil {
		return true
	}
	is, looked := s.known[c]
	if !looked {
		is = s.subject(c) || s.g.concept[c] != "" && s.lives(s.g.concept[c]) || s.named(c)
		s.known[c] = is
	}
	return is
}

// subject says whether the title of a document that is there names a concept.
func (s *sight) subject(c int32) bool {
	if s.here == nil {
		return s.g.subject[c]
	}
	is, looked := s.about[c]
	if !looked {
		is = s.g.subject[c] && s.titled(c)
		s.about[c] = is
	}
	return is
}

func (s *sight) titled(c int32) bool {
	all := s.g.aboutOf.of(c)
	for _, a := range all[:min(len(all), maxLooked)] {
		if p := s.g.first[a.other]; a.share == 1 && p < s.g.first[a.other+1] && s.here(p) {
			return true
		}
	}
	return false
}

func (s *sight) named(c int32) bool {
	all := s.g.aboutOf.of(c)
	for _, a := range all[:min(len(all), maxLooked)] { // as a part of a title
		if p := s.g.first[a.other]; p < s.g.first[a.other+1] && s.here(p) {
			return true
		}
	}
	places := s.g.namedIn.of(c)
	for _, p := range places[:min(len(places), maxLooked)] {
		if s.here(p.other) {
			return true
		}
	}
	return false
}

// find is that of the graph, as far as one sees.
func (s *sight) find(words []word, proper bool, yield func(found)) {
	for i := 0; i < len(words); {
		c, n := int32(0), 0
		if !proper || words[i].loud {
			c, n = s.longestName(words[i:])
		}
		if n == 0 {
			i++
			continue
		}
		yield(found{concept: c, words: n, start: words[i].start, end: words[i+n-1].end})
		if !s.subject(c) {
			s.within(words[i:i+n], proper, yield)
		}
		i += n
	}
}

// within gives the subjects that stand inside a name that is no subject itself: "the film
// Rebecca", where a document is about Rebecca.
func (s *sight) within(words []word, proper bool, yield func(found)) {
	for i := 0; i < len(words); i++ {
		if proper && !words[i].loud {
			continue
		}
		for k := min(s.g.longest, len(words)-i); k > 0; k-- {
			if c, ok := s.g.names[nameHash(words[i:i+k])]; ok && s.subject(c) {
				yield(found{concept: c, words: k, start: words[i].start, end: words[i+k-1].end})
				i += k - 1
				break
			}
		}
	}
}

// longestName gives the longest name that words begin with, and how many of them it is.
func (s *sight) longestName(words []word) (concept int32, n int) {
	for k := min(s.g.longest, len(words)); k > 0; k-- {
		if c, ok := s.g.names[nameHash(words[:k])]; ok && s.knows(c) {
			return c, k
		}
	}
	return 0, 0
}
