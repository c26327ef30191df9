package index

import "slices"

// allowed writes which chunks of a view may be candidates; nothing when all may.
func (sc *Scratch) allowed(v *viewState, q *Query) {
	s := v.Segment
	hidden := v.hidden
	if q.IncludeSuperseded {
		hidden = nil
	}
	if q.Filter.empty() && v.gone == nil && hidden == nil {
		return
	}
	v.allow = len(sc.allow)
	words := (s.Len() + 63) / 64
	sc.allow = slices.Grow(sc.allow, words)[:v.allow+words]
	allow := sc.allow[v.allow:]
	for i := range allow {
		allow[i] = ^(v.gone.word(i) | hidden.word(i))
	}
	if q.Filter.empty() {
		return
	}
	sc.filterNodes(s, int(v.part), &q.Filter)
	for i := range allow {
		from := i * 64
		var pass uint64
		for k, d := range s.nodeOf[from:min(from+64, s.Len())] {
			pass |= (sc.nodes[d>>6] >> (d & 63) & 1) << k
		}
		allow[i] &= pass
	}
}

// filterNodes marks the nodes of a segment that pass the filter.
func (sc *Scratch) filterNodes(s *Segment, part int, f *Filter) {
	sc.nodes = slices.Grow(sc.nodes[:0], (s.Nodes()+63)/64)[:(s.Nodes()+63)/64]
	clear(sc.nodes)
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
		sc.nodes[d>>6] |= 1 << (d & 63)
	}
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
