package index

import (
	"slices"

	"github.com/cespare/xxhash/v2"

	"orgmem/brain/text"
	pb "orgmem/proto"
)

// Find gives the position of the chunk seq.
func (s *Segment) Find(seq uint64) (doc int, ok bool) { return slices.BinarySearch(s.seqs, seq) }

// findNode gives the ordinal of a node.
func (s *Segment) findNode(id pb.NodeID) (uint32, bool) {
	h := xxhash.Sum64String(string(id))
	i, _ := slices.BinarySearch(s.idHash, h)
	for ; i < len(s.idHash) && s.idHash[i] == h; i++ {
		if s.nodeID(s.idNode[i]) == id {
			return s.idNode[i], true
		}
	}
	return 0, false
}

// findTerm gives the pointer to a term's postings.
//
// Hashes are uniform, so the place is guessed by proportion and a few steps
// away: three cache misses where a binary search in 300,000 terms has ten.
func (s *Segment) findTerm(t text.Term) (uint32, bool) {
	d := s.dict
	lo, hi := 0, len(d) // the term is in d[lo:hi]
	if hi == 0 {
		return 0, false
	}
	x := uint64(t)
	at := int((x >> 32) * uint64(hi) >> 32)
	if at >= hi {
		at = hi - 1
	}
	// Gallop from the guess until the term is enclosed.
	if d[at] <= x {
		lo = at
		for step := 8; lo+step < hi; step *= 2 {
			if d[lo+step] > x {
				hi = lo + step
				break
			}
			lo += step
		}
	} else {
		hi = at
		for step := 8; hi-step > lo; step *= 2 {
			if d[hi-step] <= x {
				lo = hi - step
				break
			}
			hi -= step
		}
	}
	i, ok := slices.BinarySearch(d[lo:hi], x)
	if !ok {
		return 0, false
	}
	return s.pointers[lo+i], true
}
