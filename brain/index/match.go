package index

import (
	"cmp"
	"iter"
	"slices"

	"orgmem/brain/text"
	pb "orgmem/proto"
)

// MaxWords bounds the words of a WordQuery: one bit each.
const MaxWords = 64

// WordQuery asks for the nodes that hold some words, in no order of merit.
type WordQuery struct {
	// Terms are the words, each of which the node must hold, in any of its chunks
	// or titles. Optional ones are passed over unless there are no others; those
	// after the first MaxWords too.
	Terms []text.QueryTerm
	// Kinds: the node's kind is one of them; empty: any.
	Kinds []string
	// Created: the node's record time lies in it; nil: any.
	Created *Window
	// Live and Superseded say which nodes may match.
	Live, Superseded bool
}

// Match is a node that holds the words. Node shares the segment's memory: clone
// it to keep it.
type Match struct {
	Node      pb.NodeID
	CreatedMs int64
	// Seq is a chunk of it that holds the rarest of the words.
	Seq uint64
}

// Compare orders matches newest first; of one time, ascending by id.
func (m Match) Compare(o Match) int {
	return cmp.Or(cmp.Compare(o.CreatedMs, m.CreatedMs), cmp.Compare(m.Node, o.Node))
}

// Matcher finds the nodes that hold some words, in memory of its own, for one
// query at a time: Find, then Matches or Holds, then Release. The zero value is
// ready; keep it for the next query.
type Matcher struct {
	query  *WordQuery
	views  []matchView
	words  []matchWord
	masks  []uint64 // of all nodes of all views, one after the other: the words that they hold
	docs   []uint32 // of the same: a chunk with the rarest word
	found  []matched
	decode []posting
}

type matchView struct {
	View
	base int // where its nodes begin in masks
}

type matchWord struct {
	alts []text.Term
	df   int
}

// matched is a node that holds the rarest word.
type matched struct {
	Match
	view int32
	node uint32 // ordinal in its view
}

// gathered is how many nodes are put in order at a time: few pages need more,
// and ordering all that hold a common word would cost more than finding them.
const gathered = 256

// Find looks the words up, which costs a pass over their postings, and returns
// how many chunks hold the rarest of them; 0: nothing matches.
func (m *Matcher) Find(s *Snapshot, q *WordQuery) (rarest int) {
	m.query = q
	if !m.lookUp(s, q.Terms) {
		m.words = m.words[:0]
		return 0
	}
	for i, w := range m.words {
		m.mark(i, w.alts, q)
	}
	return m.words[0].df
}

// Matches walks the nodes found that pass the query's filters, newest first, from
// behind a position; nil: from the newest.
func (m *Matcher) Matches(after *Match) iter.Seq[Match] {
	return func(yield func(Match) bool) {
		if len(m.words) == 0 {
			return
		}
		for {
			m.gather(after)
			for i := range m.found {
				f := &m.found[i]
				if i > 0 && f.Compare(m.found[i-1].Match) == 0 {
					continue // the same node in another segment
				}
				if m.complete(f) && !yield(f.Match) {
					return
				}
			}
			if len(m.found) < gathered {
				return
			}
			last := m.found[len(m.found)-1].Match
			after = &last
		}
	}
}

// Holds reports whether a node holds all words, and a chunk of it that holds the
// rarest. It asks nothing of the node's kind and time.
func (m *Matcher) Holds(id pb.NodeID) (seq uint64, ok bool) {
	if len(m.words) == 0 {
		return 0, false
	}
	for i := range m.views {
		if d, found := m.views[i].Segment.findNode(id); found && m.masks[m.views[i].base+int(d)]&1 != 0 {
			f := &matched{Match: Match{Node: id}, view: int32(i), node: d}
			ok = m.complete(f)
			return f.Seq, ok
		}
	}
	return 0, false
}

// complete reports whether a node that holds the rarest word holds the others
// too, here or in its chunks in other segments, and sets its Seq.
func (m *Matcher) complete(f *matched) bool {
	all := uint64(1)<<len(m.words) - 1
	v := &m.views[f.view]
	f.Seq = v.Segment.seqs[m.docs[v.base+int(f.node)]]
	mask := m.masks[v.base+int(f.node)]
	for i := range m.views {
		if mask == all {
			break
		}
		if d, ok := m.views[i].Segment.findNode(f.Node); ok {
			mask |= m.masks[m.views[i].base+int(d)]
		}
	}
	return mask == all
}

// Release lets go of the segments, which may leave the cache before the next
// query.
func (m *Matcher) Release() {
	clear(m.views)
	clear(m.found)
	clear(m.words)
	m.query, m.words = nil, m.words[:0]
}

// lookUp prepares views and words, the rarest first; false when nothing can
// match.
func (m *Matcher) lookUp(s *Snapshot, terms []text.QueryTerm) bool {
	m.views, m.words, m.found = m.views[:0], m.words[:0], m.found[:0]
	nodes := 0
	for _, v := range s.Views {
		m.views = append(m.views, matchView{v, nodes})
		nodes += v.Segment.Nodes()
	}
	optional := !slices.ContainsFunc(terms, func(t text.QueryTerm) bool { return !t.Optional && len(t.Alts) > 0 })
	for _, t := range terms {
		if t.Optional != optional || len(t.Alts) == 0 || len(m.words) == MaxWords ||
			slices.ContainsFunc(m.words, func(w matchWord) bool { return slices.Equal(w.alts, t.Alts) }) {
			continue
		}
		w := matchWord{alts: t.Alts}
		for _, v := range m.views {
			for _, alt := range t.Alts {
				if ptr, ok := v.Segment.findTerm(alt); ok {
					w.df += v.Segment.docFreq(ptr)
				}
			}
		}
		if w.df == 0 {
			return false
		}
		m.words = append(m.words, w)
	}
	slices.SortFunc(m.words, func(a, b matchWord) int { return cmp.Compare(a.df, b.df) })
	m.masks, m.docs = slices.Grow(m.masks[:0], nodes)[:nodes], slices.Grow(m.docs[:0], nodes)[:nodes]
	clear(m.masks)
	return len(m.words) > 0
}

// mark sets the i-th word's bit of all nodes that hold it.
func (m *Matcher) mark(i int, alts []text.Term, q *WordQuery) {
	bit := uint64(1) << i
	for _, v := range m.views {
		for _, alt := range alts {
			ptr, ok := v.Segment.findTerm(alt)
			if !ok {
				continue
			}
			m.decode = v.Segment.decode(m.decode[:0], ptr)
			for _, p := range m.decode {
				doc := int(p.doc())
				if v.gone.has(doc) || v.hidden.has(doc) && !q.Superseded || !v.hidden.has(doc) && !q.Live {
					continue
				}
				at := v.base + int(v.Segment.nodeOf[doc])
				if i == 0 && m.masks[at] == 0 {
					m.docs[at] = uint32(doc)
				}
				m.masks[at] |= bit
			}
		}
	}
}

// gather puts the newest nodes that hold the rarest word and pass the filters in
// order, as many as are gathered at a time.
func (m *Matcher) gather(after *Match) {
	q := m.query
	m.found = m.found[:0]
	for i, v := range m.views {
		var kinds [MaxKinds]bool
		for k := range int(v.Segment.kinds) {
			kinds[k] = len(q.Kinds) == 0 || slices.Contains(q.Kinds, v.Segment.kind(k))
		}
		// Downwards: newer nodes have the higher ordinals, mostly, so that most of
		// the older ones find the heap full of newer ones.
		for d := v.Segment.Nodes() - 1; d >= 0; d-- {
			if m.masks[v.base+d]&1 == 0 || !kinds[v.Segment.kindOf[d]] {
				continue
			}
			t := v.Segment.created[d]
			if q.Created != nil && (t < q.Created.FromMs || t >= q.Created.UntilMs) || after != nil && t > after.CreatedMs ||
				len(m.found) == gathered && t < m.found[0].CreatedMs {
				continue
			}
			f := matched{Match: Match{Node: v.Segment.nodeID(uint32(d)), CreatedMs: t}, view: int32(i), node: uint32(d)}
			if after == nil || f.Compare(*after) > 0 {
				m.keep(f)
			}
		}
	}
	slices.SortFunc(m.found, func(a, b matched) int { return a.Compare(b.Match) })
}

// keep adds to the nodes found, a heap with the oldest first once it is full.
func (m *Matcher) keep(f matched) {
	h := m.found
	switch {
	case len(h) < gathered:
		if m.found = append(h, f); len(m.found) == gathered {
			slices.SortFunc(m.found, func(a, b matched) int { return b.Compare(a.Match) }) // a sorted slice is a heap
		}
		return
	case f.Compare(h[0].Match) >= 0:
		return
	}
	h[0] = f
	for at := 0; ; {
		child := 2*at + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && h[child+1].Compare(h[child].Match) > 0 {
			child++
		}
		if h[child].Compare(h[at].Match) <= 0 {
			return
		}
		h[at], h[child] = h[child], h[at]
		at = child
	}
}
