package index

import (
	"encoding/binary"
	"slices"

	"orgmem/brain/text"
)

// A term's postings are ordered by impact (Anh & Moffat; frequency-sorted as in
// Persin, Zobel & Sacks-Davis 1996): runs of descending impact code, and within
// a run the chunks ascend and are stored as differences.
//
//	uvarint df, then per run: code u8, uvarint count, count × uvarint difference
//
// The code is the term's frequency in title (3 bits) and body (5 bits), so
// nothing that is tuned or that changes with the collection (k1, b, the weight
// of titles, the average length) is frozen in the bytes: a posting costs little
// more than one byte, and merging never requantises.
//
// A term that stands in one chunk only, as half of all terms do, has its posting
// in the pointer itself.
const (
	maxBodyTF  = 31
	maxTitleTF = 7

	inlineFlag = 1 << 31
	// An inline posting has 4 bits of body and 3 of title frequency, and the
	// chunk in 24.
	maxInlineBody = 15
)

// impactCode packs the frequencies; both saturate, which BM25 does anyway: from
// 31 to infinity its weight grows by less than four per cent.
func impactCode(f text.TermFreq) uint8 {
	return uint8(min(f.Title, maxTitleTF)<<5 | min(f.Body, maxBodyTF))
}

// frequencies unpacks a code.
func frequencies(code uint8) (body, title int) { return int(code & 31), int(code >> 5) }

// posting is a chunk and its impact, in one number that sorts in the order of
// storage: descending code, ascending chunk.
type posting uint32

func newPosting(code uint8, doc uint32) posting { return posting(uint32(^code)<<24 | doc) }

func (p posting) code() uint8 { return ^uint8(p >> 24) }
func (p posting) doc() uint32 { return uint32(p) & (MaxChunks - 1) }

// appendPostings appends the sorted postings of a term to the section and gives
// the pointer to them.
func appendPostings(dst []byte, ps []posting) ([]byte, uint32) {
	if len(ps) == 1 {
		if body, title := frequencies(ps[0].code()); body <= maxInlineBody {
			return dst, inlineFlag | uint32(title<<4|body)<<24 | ps[0].doc()
		}
	}
	at := uint32(len(dst))
	dst = binary.AppendUvarint(dst, uint64(len(ps)))
	for i := 0; i < len(ps); {
		k := i + 1
		for k < len(ps) && ps[k].code() == ps[i].code() {
			k++
		}
		dst = append(dst, ps[i].code())
		dst = binary.AppendUvarint(dst, uint64(k-i))
		before := uint32(0)
		for ; i < k; i++ {
			dst = binary.AppendUvarint(dst, uint64(ps[i].doc()-before))
			before = ps[i].doc()
		}
	}
	return dst, at
}

// inlinePosting unpacks a pointer that has inlineFlag.
func inlinePosting(ptr uint32) (code uint8, doc uint32) {
	f := ptr >> 24 & 127
	return uint8(f>>4<<5 | f&15), ptr & (MaxChunks - 1)
}

// docFreq is the number of chunks in the postings at ptr.
func (s *Segment) docFreq(ptr uint32) int {
	if ptr&inlineFlag != 0 {
		return 1
	}
	n, _ := binary.Uvarint(s.postings[ptr:])
	return int(n)
}

// decode appends the postings at ptr, in the order of storage.
func (s *Segment) decode(dst []posting, ptr uint32) []posting {
	if ptr&inlineFlag != 0 {
		return append(dst, newPosting(inlinePosting(ptr)))
	}
	p := s.postings[ptr:]
	left, at := uvarint(p, 0)
	dst = slices.Grow(dst, int(left))
	for left > 0 {
		code := p[at]
		var count, doc uint32
		count, at = uvarint(p, at+1)
		left -= count
		for ; count > 0; count-- {
			// The one-byte case written out, as in accumulate.
			d := uint32(p[at])
			at++
			if d >= 0x80 {
				d, at = uvarint(p, at-1)
			}
			doc += d
			dst = append(dst, newPosting(code, doc))
		}
	}
	return dst
}

// checkPostings walks the postings at ptr and tells whether they are sound: runs
// of descending code, chunks ascending and in range, counts that add up.
func (s *Segment) checkPostings(ptr uint32) bool {
	if ptr&inlineFlag != 0 {
		_, doc := inlinePosting(ptr)
		return doc < s.chunks
	}
	if uint64(ptr) >= uint64(len(s.postings)) {
		return false
	}
	b := s.postings[ptr:]
	next := func() (uint64, bool) {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return 0, false
		}
		b = b[n:]
		return v, true
	}
	left, ok := next()
	if !ok || left == 0 || left > uint64(s.chunks) {
		return false
	}
	last := 256
	for left > 0 {
		if len(b) == 0 || int(b[0]) >= last {
			return false
		}
		last = int(b[0])
		b = b[1:]
		count, ok := next()
		if !ok || count == 0 || count > left {
			return false
		}
		left -= count
		doc := uint64(0)
		for i := range count {
			d, ok := next()
			if !ok || d == 0 && i > 0 || d >= uint64(s.chunks) {
				return false
			}
			if doc += d; doc >= uint64(s.chunks) {
				return false
			}
		}
	}
	return true
}
