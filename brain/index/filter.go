package index

import (
	"math/bits"
	"slices"
)

// passing says which chunks of a search may be candidates.
type passing struct {
	allow []uint64 // as many words per view as its chunks need
	nodes []uint64 // nodes of the segment at hand that pass the filter
}

// allowed writes which chunks of a view may be candidates; nothing when all may.
func (p *passing) allowed(v *viewState, q *Query) {
	s := v.Segment
	hidden := v.hidden
	if q.IncludeSuperseded {
		hidden = nil
	}
	if q.Filter.empty() && v.gone == nil && hidden == nil {
		return
	}
	v.allow = len(p.allow)
	words := (s.Len() + 63) / 64
	p.allow = slices.Grow(p.allow, words)[:v.allow+words]
	allow := p.allow[v.allow:]
	for i := range allow {
		allow[i] = ^(v.gone.word(i) | hidden.word(i))
	}
	if q.Filter.empty() {
		return
	}
	p.filterNodes(s, int(v.part), &q.Filter)
	for i := range allow {
		from := i * 64
		var pass uint64
		for k, d := range s.nodeOf[from:min(from+64, s.Len())] {
			pass |= (p.nodes[d>>6] >> (d & 63) & 1) << k
		}
		allow[i] &= pass
	}
}

// filterNodes marks the nodes of a segment that pass the filter.
func (p *passing) filterNodes(s *Segment, part int, f *Filter) {
	p.nodes = slices.Grow(p.nodes[:0], (s.Nodes()+63)/64)[:(s.Nodes()+63)/64]
	clear(p.nodes)
	var kinds [MaxKinds]bool
	for k := range int(s.kinds) {
		kinds[k] = len(f.Kinds) == 0 || slices.Contains(f.Kinds, s.kind(k))
	}
	for d := range uint32(s.Nodes()) {
		if !kinds[s.kindOf[d]] {
			continue
		}
		if t := s.created[d]; f.Created != nil && (t < f.Created.FromMs || t >= f.Created.UntilMs) {
			continue
		}
		if len(f.Attrs) > 0 && !hasAll(s.nodeAttrs(d), f.Attrs) {
			continue
		}
		if f.Node != nil && !f.Node(part, s.nodeID(d)) {
			continue
		}
		p.nodes[d>>6] |= 1 << (d & 63)
	}
}

// count is the number of chunks of a view that may be candidates.
func (p *passing) count(v *viewState) int {
	n := 0
	for _, word := range p.allow[v.allow:][:(v.Segment.Len()+63)/64] {
		n += bits.OnesCount64(word)
	}
	return n
}

// passes tells whether filters and liveness let a chunk be a candidate.
func (p *passing) passes(v *viewState, doc int) bool {
	return v.allow < 0 || p.allow[v.allow+doc>>6]>>(doc&63)&1 != 0
}

// hasAll tells whether the ascending attrs hold all wanted.
func hasAll(attrs, wanted []uint64) bool {
	for _, w := range wanted {
		if _, ok := slices.BinarySearch(attrs, w); !ok {
			return false
		}
	}
	return true
}
