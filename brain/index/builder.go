package index

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/cespare/xxhash/v2"

	"orgmem/brain/text"
	pb "orgmem/proto"
)

// ErrInput is returned for an entry that cannot be indexed: a vector of another
// dimension or with a non-finite component, a Seq out of order, too much of
// something that has a bound.
var ErrInput = errors.New("index: bad input")

// ModelID names the embedding model that made a vector.
type ModelID string

// Node is what filters and collapsing need to know of a chunk's node.
type Node struct {
	ID        pb.NodeID
	Kind      string
	CreatedMs int64 // record time, milliseconds since 1970
	// Attrs are AttrHash values of its metadata, in any order.
	Attrs []uint64
	// Turn marks a message: a short text (MaxTurnTokens) without a title. Turns
	// that were ingested one after the other explain each other, see Config.
	Turn bool
	// OccurredMs is when the content happened, milliseconds since 1970; 0 when
	// that is unknown. Turns are linked only within Config.ContextGapMs.
	OccurredMs int64
}

// MaxTurnTokens is the length in tokens up to which an untitled document is a
// turn (Node.Turn): longer ones explain themselves.
const MaxTurnTokens = 1200

// Entry is one chunk to be indexed.
type Entry struct {
	// Seq is the chunk's key in the store, unique in the partition.
	Seq  uint64
	Node Node
	// Vector is the embedding, not necessarily of length 1; nil when the chunk
	// has none (it is then found by its words only).
	Vector  []float32
	Passage text.Passage
}

// AttrHash is the identity of a metadata pair for filters: xxHash64 of the
// key's length, the key and the value, so that no two pairs run together.
func AttrHash(key, value string) uint64 {
	var buf [128]byte
	b := binary.AppendUvarint(buf[:0], uint64(len(key)))
	b = append(append(b, key...), value...)
	return xxhash.Sum64(b)
}

// triple is a posting with its term, before they are brought together.
type triple struct {
	term text.Term
	post posting
}

// Builder collects entries for one segment.
type Builder struct {
	model ModelID
	dim   int

	langs   text.LangSet
	words   uint64
	seqs    []uint64
	scales  []float32
	nodeOf  []uint32
	lens    []uint8
	seqOff  []uint32
	words8  []byte
	vectors []int8
	triples []triple

	nodes []Node
	byID  map[pb.NodeID]uint32
}

// NewBuilder starts a segment whose vectors come from the given model.
func NewBuilder(model ModelID, dim int) *Builder {
	return &Builder{model: model, dim: dim, seqOff: []uint32{0}, byID: make(map[pb.NodeID]uint32)}
}

// Len is the number of entries added.
func (b *Builder) Len() int { return len(b.seqs) }

// Add takes the next entry; Seq must ascend. The entry's slices are copied. Of
// several entries of one node the last one's Node counts.
func (b *Builder) Add(e Entry) error {
	switch {
	case b.dim < 0 || b.dim > MaxDim:
		return fmt.Errorf("add: dimension %d: %w", b.dim, ErrInput)
	case len(b.seqs) == MaxChunks:
		return fmt.Errorf("add: more than %d chunks: %w", MaxChunks, ErrInput)
	case len(b.seqs) > 0 && e.Seq <= b.seqs[len(b.seqs)-1]:
		return fmt.Errorf("add: chunk %d after %d: %w", e.Seq, b.seqs[len(b.seqs)-1], ErrInput)
	case e.Vector != nil && len(e.Vector) != b.dim:
		return fmt.Errorf("add: vector of %d, not %d components: %w", len(e.Vector), b.dim, ErrInput)
	}
	for _, x := range e.Vector {
		if f := float64(x); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("add: vector component %v: %w", x, ErrInput)
		}
	}
	for i, f := range e.Passage.Terms {
		if i > 0 && f.Term <= e.Passage.Terms[i-1].Term {
			return fmt.Errorf("add: terms not ascending: %w", ErrInput)
		}
	}
	doc := uint32(len(b.seqs))
	ord, ok := b.byID[e.Node.ID]
	if !ok {
		ord = uint32(len(b.nodes))
		b.nodes = append(b.nodes, Node{})
		b.byID[e.Node.ID] = ord
	}
	e.Node.Attrs = slices.Clone(e.Node.Attrs)
	b.nodes[ord] = e.Node

	w := stride(b.dim)
	b.vectors = append(b.vectors, make([]int8, w)...)
	scale := quantizeRow(b.vectors[len(b.vectors)-w:], e.Vector)
	words := e.Passage.Words + e.Passage.TitleWords
	b.seqs = append(b.seqs, e.Seq)
	b.scales = append(b.scales, scale)
	b.nodeOf = append(b.nodeOf, ord)
	b.lens = append(b.lens, lengthCode(words))
	b.words8 = appendSequence(b.words8, e.Passage.Sequence)
	b.seqOff = append(b.seqOff, uint32(len(b.words8)))
	b.words += uint64(words)
	b.langs |= e.Passage.Langs
	for _, f := range e.Passage.Terms {
		b.triples = append(b.triples, triple{f.Term, newPosting(impactCode(f), doc)})
	}
	return nil
}

// Build makes the segment. The builder is empty afterwards.
func (b *Builder) Build() (*Segment, error) {
	slices.SortFunc(b.triples, func(x, y triple) int {
		if x.term != y.term {
			return cmp.Compare(x.term, y.term)
		}
		return cmp.Compare(x.post, y.post)
	})
	p := parts{
		model: b.model, dim: b.dim, langs: b.langs, words: b.words, analysis: text.AnalysisVersion,
		seqs: b.seqs, scales: b.scales, nodeOf: b.nodeOf, lens: b.lens, nodes: b.nodes,
		seqOff: b.seqOff, wordSeqs: b.words8,
	}
	var ps []posting
	for i := 0; i < len(b.triples); {
		t := b.triples[i].term
		ps = ps[:0]
		for ; i < len(b.triples) && b.triples[i].term == t; i++ {
			ps = append(ps, b.triples[i].post)
		}
		if err := p.addTerm(t, ps); err != nil {
			return nil, fmt.Errorf("build: %w", err)
		}
	}
	s, err := p.assemble(func(dst []int8) { copy(dst, b.vectors) })
	*b = *NewBuilder(b.model, b.dim)
	if err != nil {
		return nil, fmt.Errorf("build: %w", err)
	}
	return s, nil
}

// parts is a segment in the making.
type parts struct {
	model    ModelID
	dim      int
	langs    text.LangSet
	words    uint64
	analysis uint32
	seqs     []uint64
	scales   []float32
	nodeOf   []uint32
	lens     []uint8
	seqOff   []uint32
	wordSeqs []byte
	nodes    []Node
	dict     []uint64
	pointers []uint32
	postings []byte
}

// addTerm appends the sorted postings of the next term.
func (p *parts) addTerm(t text.Term, ps []posting) error {
	var ptr uint32
	p.postings, ptr = appendPostings(p.postings, ps)
	if len(p.postings) >= maxPostings {
		return fmt.Errorf("postings of %d bytes: %w", len(p.postings), ErrInput)
	}
	p.dict = append(p.dict, uint64(t))
	p.pointers = append(p.pointers, ptr)
	return nil
}

// assemble writes everything into one buffer; vectors fills in the rows.
func (p *parts) assemble(vectors func([]int8)) (*Segment, error) {
	h := header{
		analysis: p.analysis, langs: uint32(p.langs), chunks: uint32(len(p.seqs)), nodes: uint32(len(p.nodes)),
		terms: uint32(len(p.dict)), dim: uint32(p.dim), words: p.words, postingBytes: uint32(len(p.postings)),
		modelBytes: uint32(len(p.model)), wordBytes: uint32(len(p.wordSeqs)),
	}
	kinds := make(map[string]int)
	var kindList []string
	var idBytes, attrs uint64
	for _, n := range p.nodes {
		idBytes += uint64(len(n.ID))
		attrs += uint64(len(n.Attrs))
		if _, ok := kinds[n.Kind]; !ok {
			kinds[n.Kind] = len(kindList)
			kindList = append(kindList, n.Kind)
			h.kindBytes += uint32(len(n.Kind))
		}
	}
	if len(kindList) > MaxKinds || idBytes > math.MaxUint32 || attrs > math.MaxUint32 || !littleEndian {
		return nil, fmt.Errorf("%d kinds, %d bytes of ids, %d attributes: %w", len(kindList), idBytes, attrs, ErrInput)
	}
	h.kinds, h.idBytes, h.attrs = uint32(len(kindList)), uint32(idBytes), uint32(attrs)

	data := alignedBytes(int(h.size()))
	h.put(data)
	s := lay(data, h)
	copy(s.seqs, p.seqs)
	copy(s.scales, p.scales)
	copy(s.nodeOf, p.nodeOf)
	copy(s.lens, p.lens)
	copy(s.seqOff, p.seqOff)
	copy(s.wordSeqs, p.wordSeqs)
	copy(s.dict, p.dict)
	copy(s.pointers, p.pointers)
	copy(s.postings, p.postings)
	vectors(s.vectors)
	for k, name := range kindList {
		s.kindOff[k+1] = s.kindOff[k] + uint32(copy(s.kindStr[s.kindOff[k]:], name))
	}
	for d, n := range p.nodes {
		s.idOff[d+1] = s.idOff[d] + uint32(copy(s.ids[s.idOff[d]:], n.ID))
		s.attrOff[d+1] = s.attrOff[d] + uint32(copy(s.attrs[s.attrOff[d]:], n.Attrs))
		slices.Sort(s.attrs[s.attrOff[d]:s.attrOff[d+1]])
		s.kindOf[d] = uint8(kinds[n.Kind])
		s.created[d], s.occurred[d] = n.CreatedMs, n.OccurredMs
		if n.Turn {
			s.turns[d] = 1
		}
		s.idNode[d] = uint32(d)
	}
	hash := func(d uint32) uint64 { return xxhash.Sum64String(string(s.nodeID(d))) }
	slices.SortFunc(s.idNode, func(x, y uint32) int { return cmp.Or(cmp.Compare(hash(x), hash(y)), cmp.Compare(x, y)) })
	for i, d := range s.idNode {
		s.idHash[i] = hash(d)
	}
	model := data[len(data)-int(align8(uint64(h.kindBytes)+uint64(h.modelBytes))):]
	copy(model[h.kindBytes:], p.model)
	seal(data)
	s = lay(data, h)
	s.sketch = newSketch(s)
	return s, nil
}
