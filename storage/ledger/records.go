package ledger

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// Pebble's files of records: blocks of 32 KiB, in each a row of chunks. A chunk has a
// checksum (4 bytes), a size (2) and a type (1); in write-ahead logs also the log's number
// (4), and since sync offsets were invented how much of the log was synced when it was
// written (8). The checksum is over everything from the type on.
const (
	recordBlock    = 32 << 10
	legacyHeader   = 7
	numberedHeader = legacyHeader + 4
	syncHeader     = numberedHeader + 8

	lastLegacyType   = 4  // 1 to 4: manifests
	lastNumberedType = 8  // 5 to 8: logs without sync offsets
	lastSyncType     = 12 // 9 to 12: logs with them

	maskDelta = 0xa282ead8 // see maskedSum
)

// chunk is one that was read.
type chunk struct {
	size   int    // with its header
	kind   byte   // 1 to 12
	synced uint64 // sync offset, 0 without
}

// chunkAt reads the chunk at an offset; false when no whole chunk is there.
func (f appendedFile) chunkAt(content []byte, at int) (chunk, bool) {
	end := min(len(content), at-at%recordBlock+recordBlock)
	b := content[at:end]
	if len(b) < legacyHeader {
		return chunk{}, false
	}
	c := chunk{kind: b[6], size: legacyHeader + int(binary.LittleEndian.Uint16(b[4:]))}
	switch {
	case c.kind == 0 || c.kind > lastSyncType || (c.kind <= lastLegacyType) != (f.kind == kindManifest):
		return c, false
	case c.kind > lastNumberedType:
		c.size += syncHeader - legacyHeader
	case c.kind > lastLegacyType:
		c.size += numberedHeader - legacyHeader
	}
	if c.size > len(b) {
		return c, false
	}
	if c.kind > lastLegacyType {
		if len(b) < numberedHeader || binary.LittleEndian.Uint32(b[legacyHeader:]) != uint32(f.number) {
			return c, false
		}
	}
	if c.kind > lastNumberedType {
		c.synced = binary.LittleEndian.Uint64(b[numberedHeader:])
	}
	return c, maskedSum(b[6:c.size]) == binary.LittleEndian.Uint32(b)
}

// maskedSum is the checksum of a chunk: LevelDB's, since a sum over data that has sums in
// it is a bad one.
func maskedSum(b []byte) uint32 {
	c := crc32.Checksum(b, castagnoli)
	return (c>>15 | c<<17) + maskDelta
}

// endOfRecords reads chunks from an offset on, where one begins, and returns the offset
// of the first one that cannot be read. It is an end, true, when nothing behind it shows
// that something was there: the half-written rest of a crash.
//
// What shows it is a chunk that was written when more was synced than lies before the
// offset. Chunks without a sync offset show it by being there at all: a power failure may
// have written a later block and not an earlier one, so a log of a version that wrote
// none is refused once in a very long while although nothing acknowledged is missing;
// the other way acknowledged writes would go unseen. And a chunk that one flipped bit
// explains was whole once: of what a crash leaves of a chunk of n bytes, one in 2^29/n
// looks like that.
func (f appendedFile) endOfRecords(content []byte, from int) (int, bool) {
	at := from
	for at < len(content) {
		if c, ok := f.chunkAt(content, at); ok {
			at += c.size
			continue
		}
		left := recordBlock - at%recordBlock
		if left >= syncHeader || !zero(content[at:min(at+left, len(content))]) {
			break
		}
		at += left // too little for a chunk: the writer went on in the next block
	}
	if at >= len(content) || f.trailer(content[at:]) {
		return at, true
	}
	if f.flipped(content, at) {
		return at, false
	}
	for behind := at + 1; behind+legacyHeader <= len(content); behind++ {
		if t := content[behind+6]; t == 0 || t > lastSyncType {
			continue
		}
		if c, ok := f.chunkAt(content, behind); ok && (c.kind <= lastNumberedType || c.synced > uint64(at)) {
			return at, false
		}
	}
	return at, true
}

// flipped reports whether there is a bit that makes a chunk of what is at an offset.
func (f appendedFile) flipped(content []byte, at int) bool {
	block := bytes.Clone(content[at:min(len(content), at-at%recordBlock+recordBlock)])
	// chunkAt sees the same block: what lies in front of it is nothing to it.
	lead := at % recordBlock
	padded := append(make([]byte, lead, lead+len(block)), block...)
	for bit := range 8 * min(syncHeader, len(block)) {
		padded[lead+bit/8] ^= 1 << (bit % 8)
		if _, ok := f.chunkAt(padded, lead); ok {
			return true
		}
		padded[lead+bit/8] ^= 1 << (bit % 8)
	}
	c, _ := f.chunkAt(content, at)
	if c.size < legacyHeader || c.size > len(block) {
		return false
	}
	// What a bit changes in the sum depends only on how many bytes follow it.
	want := binary.LittleEndian.Uint32(block) - maskDelta
	difference := (want<<15 | want>>17) ^ crc32.Checksum(block[6:c.size], castagnoli)
	var change [8]uint32
	for bit := range change {
		change[bit] = castagnoli[1<<bit]
	}
	for range c.size - legacyHeader {
		for bit, d := range change {
			if d == difference {
				return true
			}
			change[bit] = castagnoli[byte(d)] ^ d>>8
		}
	}
	return false
}

// trailer reports whether a log ends here by its own word: a chunk without sum and
// content that bears the next log's number. Content of the file that is older may follow.
func (f appendedFile) trailer(b []byte) bool {
	return f.kind == kindWAL && len(b) >= numberedHeader && zero(b[:6]) && b[6] == lastLegacyType+1 &&
		binary.LittleEndian.Uint32(b[legacyHeader:]) == uint32(f.number)+1
}

func zero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}
