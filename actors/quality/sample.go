package quality

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"hash/fnv"
	"slices"

	"orgmem/actors/graph"
	"orgmem/actors/ground"
	"orgmem/actors/partition"
	"orgmem/brain/quality"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const (
	// MaxScanned bounds the nodes that an evaluation looks at, for the shares that need no question: some .5 s. They
	// are the first in the order of their ids, which prefers nothing. An organization's memories share it.
	MaxScanned = 100_000
	// scanSlice is how many of them one CPU task looks at: some 10 ms.
	scanSlice = 2000
	// MaxMemories bounds the memories that are asked about, up to three questions each: the interval of a recall of .8
	// is then .74 to .85.
	MaxMemories = 200
	// MaxFormer bounds the superseded memories that are asked about, beside these.
	MaxFormer = 50
	// maxContradictions bounds the contradictions of a partition that are looked at.
	maxContradictions = 2000
	// maxMemoryText bounds how many bytes of a memory are read, more than brain/quality looks at.
	maxMemoryText = 20 << 10
)

// picked is a memory of the sample.
type picked struct {
	order  uint64
	part   int // of the evaluation's partitions
	node   *pb.Node
	former bool
	memory quality.Memory
}

func (p *picked) id() pb.NodeID { return pb.NodeID(p.node.GetId()) }

// sample is what an evaluation is made of.
type sample struct {
	nowMs                         int64
	memories, stale, contradicted uint64
	partial                       bool
	picked                        []*picked // the memories, then the superseded ones
	former                        []*picked
}

// keep adds a memory to the bounded list of those with the lowest order: the same memories give the same sample, and
// one that comes or goes changes one of it.
func keep(list []*picked, p *picked, most int) []*picked {
	at, _ := slices.BinarySearchFunc(list, p, func(a, b *picked) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.node.GetId(), b.node.GetId()))
	})
	if at >= most {
		return list
	}
	list = slices.Insert(list, at, p)
	return list[:min(len(list), most)]
}

// digest tells a sample from another one: its nodes, and the state in which they were.
func (s *sample) digest() []byte {
	h := sha256.New()
	for _, p := range s.picked {
		h.Write([]byte(p.node.GetId()))
		h.Write(binary.LittleEndian.AppendUint64([]byte{0}, uint64(p.node.GetUpdatedMs())))
		for _, seq := range p.node.GetChunks() {
			h.Write(binary.LittleEndian.AppendUint64(nil, seq))
		}
	}
	return h.Sum(nil)
}

// takeSample looks at the nodes and reads the texts of some of them, all of one moment.
func (e *evaluation) takeSample(store *storage.Store) (_ *sample, err error) {
	st, err := store.Snapshot()
	if err != nil {
		return nil, err
	}
	defer partition.CloseSnapshot(st, &err)
	s := &sample{nowMs: clock.Millis(e.o.System.Clock.Now())}
	left := MaxScanned
	for i, part := range e.parts {
		quota := max(left/(len(e.parts)-i), 1)
		n, err := e.scan(st, s, i, part, quota)
		if err != nil {
			return nil, err
		}
		left = max(left-n, 0)
	}
	s.picked = append(s.picked, s.former...)
	err = e.compute(func(int) error {
		for _, p := range s.picked {
			if p.memory, err = memoryOf(st, e.parts[p.part], p.node); err != nil {
				return err
			}
		}
		return nil
	})
	return s, err
}

// scan looks at up to most nodes of a partition, and returns at how many it has.
func (e *evaluation) scan(st *storage.Snapshot, s *sample, at int, part *partition.Ref, most int) (n int, err error) {
	var disputed map[string]bool
	if err := e.compute(func(int) (err error) {
		disputed, err = disputedIn(st, part)
		return err
	}); err != nil {
		return 0, err
	}
	grounds := ground.New(st, part, 0)
	var after storage.Key
	for more := true; more; {
		more = false
		if n >= most {
			s.partial = true
			return n, nil
		}
		if err := e.compute(func(int) error {
			looked := 0
			for rec, err := range storage.ScanRecords(st, part.Space.Prefix(storage.TableNode),
				storage.ScanOptions{After: after, Limit: min(scanSlice, most-n)}, func() *pb.Node { return &pb.Node{} }) {
				if err != nil {
					return err
				}
				looked++
				after = rec.Key
				if err := s.look(at, rec.Value, grounds, disputed); err != nil {
					return err
				}
			}
			n += looked
			more = looked == scanSlice || n >= most && looked > 0
			return nil
		}); err != nil {
			return n, err
		}
	}
	return n, nil
}

// look counts a node, and picks it where its turn has come.
func (s *sample) look(part int, n *pb.Node, grounds *ground.Reader, disputed map[string]bool) error {
	if n.GetKind() == graph.KindEntity || len(n.GetChunks()) == 0 {
		return nil
	}
	h := fnv.New64a()
	h.Write([]byte(n.GetId()))
	p := &picked{order: h.Sum64(), part: part, node: n}
	switch n.GetStatus() {
	case pb.StatusSuperseded:
		if p.former = true; n.GetSupersededBy() != "" {
			s.former = keep(s.former, p, MaxFormer)
		}
		return nil
	case pb.StatusLive:
	default:
		return nil
	}
	s.memories++
	if disputed[n.GetId()] {
		s.contradicted++
	}
	stale := quality.Ended(n, s.nowMs)
	if !stale && len(n.GetGrounds()) > 0 {
		gone, err := grounds.OfNode(n)
		if err != nil {
			return err
		}
		stale = gone != nil
	}
	if stale {
		s.stale++
	}
	s.picked = keep(s.picked, p, MaxMemories)
	return nil
}

// disputedIn are the nodes of a partition's open contradictions, as far as both sides stand.
func disputedIn(r storage.Reader, part *partition.Ref) (map[string]bool, error) {
	out := map[string]bool{}
	for rec, err := range storage.ScanRecords(r, part.Space.Prefix(storage.TableContradiction),
		storage.ScanOptions{Limit: maxContradictions}, func() *pb.Contradiction { return &pb.Contradiction{} }) {
		if err != nil {
			return nil, err
		}
		pair, err := ground.Claims(r, part.Space, rec.Value)
		if err != nil {
			return nil, err
		}
		if pair != nil {
			out[rec.Value.GetNodeA()], out[rec.Value.GetNodeB()] = true, true
		}
	}
	return out, nil
}

// memoryOf reads the beginning of a node's text.
func memoryOf(r storage.Reader, part *partition.Ref, n *pb.Node) (quality.Memory, error) {
	m, size := quality.Memory{Title: n.GetTitle()}, 0
	for _, seq := range n.GetChunks() {
		chunk := &pb.Chunk{}
		found, err := r.Get(part.Space.Key(storage.TableChunk, storage.U64(seq)), chunk)
		if err != nil {
			return m, err
		}
		if !found {
			continue // it was forgotten since the node was read
		}
		m.Texts = append(m.Texts, chunk.GetText())
		if size += len(chunk.GetText()); size >= maxMemoryText {
			break
		}
	}
	return m, nil
}
