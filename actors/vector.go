package actors

import (
	"fmt"
	"slices"

	"orgmem/brain/embed"
	"orgmem/storage"
)

// putVector stores a chunk's vector as half floats: half the bytes, and a
// cosine that differs by less than 1e-5 from that of the original.
func putVector(b *storage.Batch, part *partitionRef, model string, seq uint64, v []float32) {
	b.PutRaw(vectorKey(part, model, seq), embed.EncodeF16(make([]byte, 0, 2*len(v)), v))
}

// asStored gives a vector as it will be read again: an index, and a brain, that is
// made of what was just embedded is the one that is made of it after a restart.
func asStored(v []float32) []float32 {
	return embed.DecodeF16(make([]float32, 0, len(v)), embed.EncodeF16(make([]byte, 0, 2*len(v)), v))
}

func vectorKey(part *partitionRef, model string, seq uint64) storage.Key {
	return part.space.Key(storage.TableVector, storage.Str(model), storage.U64(seq))
}

// readVector returns a chunk's vector under a model, nil when it has none.
func readVector(r storage.Reader, part *partitionRef, model string, seq uint64) ([]float32, error) {
	return new(vectorReader).read(r, part, model, seq)
}

// vectorReader reads stored vectors into memory that it keeps for the next ones. The
// zero value is ready; not for concurrent use.
type vectorReader struct {
	raw    []byte
	floats []float32   // of all that were read since the last reset
	list   [][]float32 // what reset gave
}

// reset gives a list of n places for vectors, all nil. What was read before is no
// longer valid.
func (v *vectorReader) reset(n int) [][]float32 {
	v.floats = v.floats[:0]
	v.list = slices.Grow(v.list[:0], n)[:n]
	clear(v.list)
	return v.list
}

// read is readVector; the vector is valid until the next reset.
func (v *vectorReader) read(r storage.Reader, part *partitionRef, model string, seq uint64) ([]float32, error) {
	raw, found, err := r.AppendRaw(v.raw[:0], vectorKey(part, model, seq))
	if err != nil || !found {
		return nil, err
	}
	v.raw = raw
	return v.decode(raw, seq)
}

// decode gives the vector that a record holds, valid until the next reset.
func (v *vectorReader) decode(raw []byte, seq uint64) ([]float32, error) {
	if len(raw)%2 != 0 {
		return nil, fmt.Errorf("vector of chunk %d: %d bytes: %w", seq, len(raw), storage.ErrCorrupt)
	}
	from := len(v.floats)
	v.floats = embed.DecodeF16(v.floats, raw)
	return v.floats[from:len(v.floats):len(v.floats)], nil
}

// vectorsPerSought is up to how many vectors for each one that is wanted it is cheaper to
// walk over all of them: to look one up costs several times what the next one does.
const vectorsPerSought = 3

// readAll reads the vectors of many chunks, whose numbers ascend: nil for one that has
// none. They are valid until the next reset.
func (v *vectorReader) readAll(r storage.Reader, part *partitionRef, model string, seqs []uint64) ([][]float32, error) {
	list := make([][]float32, len(seqs))
	if len(seqs) == 0 {
		return list, nil
	}
	first, last := seqs[0], seqs[len(seqs)-1]
	if last-first >= vectorsPerSought*uint64(len(seqs)) {
		for i, seq := range seqs {
			var err error
			if list[i], err = v.read(r, part, model, seq); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	above := part.space.Key(storage.TableVector, storage.Str(model))
	next := 0
	for item, err := range r.Scan(storage.Between(vectorKey(part, model, first), vectorKey(part, model, last+1)), storage.ScanOptions{}) {
		if err != nil {
			return nil, err
		}
		parts := item.Key.PartsAfter(above)
		seq := parts.U64()
		if err := parts.Done(); err != nil {
			return nil, err
		}
		for next < len(seqs) && seqs[next] < seq {
			next++
		}
		if next < len(seqs) && seqs[next] == seq {
			if list[next], err = v.decode(item.Value, seq); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}
