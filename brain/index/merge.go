package index

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"orgmem/brain/text"
	pb "orgmem/proto"
)

// dropped marks a chunk that a merge leaves out.
const dropped = math.MaxUint32

// Merge makes one segment of views of one model, without what is gone, in
// ascending order of Seq. When nothing is left, the segment is empty. What is
// hidden is kept; Snapshot.Replace carries the mark over.
//
// Nothing is decoded but the postings: rows and scales are copied as they are,
// so merging a hundred times loses nothing.
func Merge(views []View) (*Segment, error) {
	if len(views) == 0 {
		return nil, fmt.Errorf("merge of nothing: %w", ErrInput)
	}
	first := views[0].Segment
	p := parts{model: first.model, dim: first.Dim(), analysis: first.analysis}
	for _, v := range views {
		if s := v.Segment; s.model != p.model || s.Dim() != p.dim || s.analysis != p.analysis {
			return nil, fmt.Errorf("merge of %s/%d/%d and %s/%d/%d: %w", p.model, p.dim, p.analysis, s.model, s.Dim(),
				s.analysis, ErrInput)
		}
		p.langs |= v.Segment.Langs()
	}
	m := merger{views: views, parts: &p}
	if err := m.order(); err != nil {
		return nil, fmt.Errorf("merge: %w", err)
	}
	m.columns()
	if err := m.terms(); err != nil {
		return nil, fmt.Errorf("merge: %w", err)
	}
	s, err := p.assemble(m.vectors)
	if err != nil {
		return nil, fmt.Errorf("merge: %w", err)
	}
	return s, nil
}

// source is where a chunk of the result comes from.
type source struct{ view, doc uint32 }

type merger struct {
	*parts
	views   []View
	sources []source   // of each chunk of the result
	remap   [][]uint32 // per view: chunk → chunk of the result, or dropped
	sorted  bool       // the views follow each other in Seq
}

// order decides where each chunk goes.
func (m *merger) order() error {
	at := make([]int, len(m.views))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int {
		fa, _ := m.views[a].Segment.SeqRange()
		fb, _ := m.views[b].Segment.SeqRange()
		return cmp.Compare(fa, fb)
	})
	seq := func(s source) uint64 { return m.views[s.view].Segment.seqs[s.doc] }
	m.sorted = true
	for _, i := range at {
		v := m.views[i]
		for doc := range v.Segment.Len() {
			if v.gone.has(doc) {
				continue
			}
			s := source{uint32(i), uint32(doc)}
			if n := len(m.sources); n > 0 && seq(m.sources[n-1]) >= seq(s) {
				m.sorted = false
			}
			m.sources = append(m.sources, s)
		}
	}
	if !m.sorted {
		slices.SortFunc(m.sources, func(a, b source) int { return cmp.Compare(seq(a), seq(b)) })
	}
	if len(m.sources) > MaxChunks {
		return fmt.Errorf("%d chunks: %w", len(m.sources), ErrInput)
	}
	m.remap = make([][]uint32, len(m.views))
	for i, v := range m.views {
		m.remap[i] = slices.Repeat([]uint32{dropped}, v.Segment.Len())
	}
	for to, s := range m.sources {
		if to > 0 && seq(m.sources[to-1]) == seq(s) {
			return fmt.Errorf("chunk %d is live twice: %w", seq(s), ErrInput)
		}
		m.remap[s.view][s.doc] = uint32(to)
	}
	if m.sorted { // terms() visits the views in this order
		views, remap := make([]View, len(at)), make([][]uint32, len(at))
		back := make([]uint32, len(at))
		for k, i := range at {
			views[k], remap[k] = m.views[i], m.remap[i]
			back[i] = uint32(k)
		}
		m.views, m.remap = views, remap
		for k := range m.sources {
			m.sources[k].view = back[m.sources[k].view]
		}
	}
	return nil
}

// columns fills in what there is one of per chunk and per node.
func (m *merger) columns() {
	n := len(m.sources)
	m.seqs, m.scales = make([]uint64, n), make([]float32, n)
	m.nodeOf, m.lens = make([]uint32, n), make([]uint8, n)
	m.seqOff = make([]uint32, 1, n+1)
	byID := make(map[pb.NodeID]uint32)
	ords := make([][]uint32, len(m.views)) // per view: node → node of the result, plus one
	for i, v := range m.views {
		ords[i] = make([]uint32, v.Segment.Nodes())
	}
	var words float64
	for to, src := range m.sources {
		s := m.views[src.view].Segment
		m.seqs[to], m.scales[to], m.lens[to] = s.seqs[src.doc], s.scales[src.doc], s.lens[src.doc]
		words += float64(lengths[m.lens[to]])
		m.wordSeqs = append(m.wordSeqs, s.sequence(int(src.doc))...)
		m.seqOff = append(m.seqOff, uint32(len(m.wordSeqs)))
		d := s.nodeOf[src.doc]
		ord := &ords[src.view][d]
		if *ord == 0 {
			id := s.nodeID(d)
			at, ok := byID[id]
			if !ok {
				at = uint32(len(m.nodes))
				byID[id] = at
				m.nodes = append(m.nodes, Node{})
			}
			*ord = at + 1
			// Of a node in several views the newest chunk's word counts, and
			// chunks come in ascending order.
			m.nodes[at] = s.node(d)
		}
		m.nodeOf[to] = *ord - 1
	}
	m.words = uint64(words + 0.5)
}

// vectors copies the rows, in stretches as long as they come.
func (m *merger) vectors(dst []int8) {
	w := stride(m.dim)
	for i := 0; i < len(m.sources); {
		k := i + 1
		for k < len(m.sources) && m.sources[k].view == m.sources[i].view && m.sources[k].doc == m.sources[k-1].doc+1 {
			k++
		}
		from := int(m.sources[i].doc) * w
		copy(dst[i*w:k*w], m.views[m.sources[i].view].Segment.vectors[from:])
		i = k
	}
}

// terms joins the dictionaries, which ascend, and the postings of equal terms.
func (m *merger) terms() error {
	heads := make([]int, len(m.views))
	var ps, scratch []posting
	for {
		least, found := uint64(math.MaxUint64), false
		for i, v := range m.views {
			if heads[i] < len(v.Segment.dict) && (!found || v.Segment.dict[heads[i]] < least) {
				least, found = v.Segment.dict[heads[i]], true
			}
		}
		if !found {
			return nil
		}
		ps = ps[:0]
		runs := 0
		for i, v := range m.views {
			if heads[i] == len(v.Segment.dict) || v.Segment.dict[heads[i]] != least {
				continue
			}
			scratch = v.Segment.decode(scratch[:0], v.Segment.pointers[heads[i]])
			heads[i]++
			runs++
			for _, p := range scratch {
				if to := m.remap[i][p.doc()]; to != dropped {
					ps = append(ps, newPosting(p.code(), to))
				}
			}
		}
		if len(ps) == 0 {
			continue
		}
		// Within one view the order survives a monotonous renumbering.
		if runs > 1 || !m.sorted {
			slices.Sort(ps)
		}
		if err := m.addTerm(text.Term(least), ps); err != nil {
			return err
		}
	}
}
