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
	// After begins behind this position of the order; nil: at the newest.
	After *Match
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

// Matcher holds the memory that matching works in, for one query at a time. The
// zero value is ready; keep it for the next query.
type Matcher struct {
	views  []matchView
	words  []matchWord
	masks  []uint64 // of all nodes of all views, one after the other: the words that they hold
	docs   []uint32 // of the same: a chunk with the first word
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

// Matches walks the nodes of a snapshot that hold all words, newest first.
//
// It costs a pass over the postings of the words and over the nodes that hold
// the rarest; the others are looked at only as far as the walk goes. A node
// whose chunks lie in several segments is put together from all of them.
func (m *Matcher) Matches(s *Snapshot, q *WordQuery) iter.Seq[Match] {
	return func(yield func(Match) bool) {
		defer m.release()
		if !m.lookUp(s, q.Terms) {
			return
		}
		for i, w := range m.words {
			m.mark(i, w.alts, q)
		}
		m.gather(q)
		all := uint64(1)<<len(m.words) - 1
		for i := range m.found {
			f := &m.found[i]
			if i > 0 && f.Compare(m.found[i-1].Match) == 0 {
				continue // the same node in another segment
			}
			v := &m.views[f.view]
			if m.masks[v.base+int(f.node)] != all && !m.elsewhere(f, all) {
				continue
			}
			f.Seq = v.Segment.seqs[m.docs[v.base+int(f.node)]]
			if !yield(f.Match) {
				return
			}
		}
	}
}

// release lets go of the segments, which may leave the cache before the next
// query.
func (m *Matcher) release() {
	clear(m.views)
	clear(m.found)
	clear(m.words)
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

// gather lists the nodes that hold the rarest word and pass the filters.
func (m *Matcher) gather(q *WordQuery) {
	for i, v := range m.views {
		var kinds [MaxKinds]bool
		for k := range int(v.Segment.kinds) {
			kinds[k] = len(q.Kinds) == 0 || slices.Contains(q.Kinds, v.Segment.kind(k))
		}
		// Downwards: newer nodes have the higher ordinals, mostly, so that there is
		// little left to sort.
		for d := v.Segment.Nodes() - 1; d >= 0; d-- {
			if m.masks[v.base+d]&1 == 0 || !kinds[v.Segment.kindOf[d]] {
				continue
			}
			t := v.Segment.created[d]
			if q.Created != nil && (t < q.Created.FromMs || t >= q.Created.UntilMs) || q.After != nil && t > q.After.CreatedMs {
				continue
			}
			f := matched{Match: Match{Node: v.Segment.nodeID(uint32(d)), CreatedMs: t}, view: int32(i), node: uint32(d)}
			if q.After == nil || f.Compare(*q.After) > 0 {
				m.found = append(m.found, f)
			}
		}
	}
	slices.SortFunc(m.found, func(a, b matched) int { return a.Compare(b.Match) })
}

// elsewhere tells whether a node holds all words when its chunks in the other
// segments count too.
func (m *Matcher) elsewhere(f *matched, all uint64) bool {
	mask := m.masks[m.views[f.view].base+int(f.node)]
	for i := range m.views {
		v := &m.views[i]
		if i == int(f.view) {
			continue
		}
		if d, ok := v.Segment.findNode(f.Node); ok {
			mask |= m.masks[v.base+int(d)]
		}
	}
	return mask == all
}
