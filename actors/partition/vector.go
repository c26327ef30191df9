package partition

import (
	"fmt"
	"slices"

	"orgmem/brain/embed"
	"orgmem/storage"
)

// PutVector stores a chunk's vector as half floats: half the bytes, and a
// cosine that differs by less than 1e-5 from that of the original.
func PutVector(b *storage.Batch, part *Ref, model string, seq uint64, v []float32) {
	b.PutRaw(VectorKey(part, model, seq), embed.EncodeF16(make([]byte, 0, 2*len(v)), v))
}

// AsStored gives a vector as it will be read again: an index, and a brain, that is
// made of what was just embedded is the one that is made of it after a restart. Of no vector it makes none.
func AsStored(v []float32) []float32 {
	if v == nil {
		return nil
	}
	return embed.DecodeF16(make([]float32, 0, len(v)), embed.EncodeF16(make([]byte, 0, 2*len(v)), v))
}

// VectorKey is where a chunk's vector of a model lies.
func VectorKey(part *Ref, model string, seq uint64) storage.Key {
	return part.Space.Key(storage.TableVector, storage.Str(model), storage.U64(seq))
}

// ReadVector returns a chunk's vector under a model, nil when it has none.
func ReadVector(r storage.Reader, part *Ref, model string, seq uint64) ([]float32, error) {
	return new(VectorReader).Read(r, part, model, seq)
}

// VectorReader reads stored vectors into memory that it keeps for the next ones. The
// zero value is ready; not for concurrent use.
type VectorReader struct {
	raw    []byte
	Floats []float32   // of all that were read since the last reset
	list   [][]float32 // what reset gave
}

// Reset gives a list of n places for vectors, all nil. What was read before is no
// longer valid.
func (v *VectorReader) Reset(n int) [][]float32 {
	v.Floats = v.Floats[:0]
	v.list = slices.Grow(v.list[:0], n)[:n]
	clear(v.list)
	return v.list
}

// Read is ReadVector; the vector is valid until the next reset.
func (v *VectorReader) Read(r storage.Reader, part *Ref, model string, seq uint64) ([]float32, error) {
	raw, found, err := r.AppendRaw(v.raw[:0], VectorKey(part, model, seq))
	if err != nil || !found {
		return nil, err
	}
	v.raw = raw
	return v.decode(raw, seq)
}

// decode gives the vector that a record holds, valid until the next reset.
func (v *VectorReader) decode(raw []byte, seq uint64) ([]float32, error) {
	if len(raw)%2 != 0 {
		return nil, fmt.Errorf("vector of chunk %d: %d bytes: %w", seq, len(raw), storage.ErrCorrupt)
	}
	from := len(v.Floats)
	v.Floats = embed.DecodeF16(v.Floats, raw)
	return v.Floats[from:len(v.Floats):len(v.Floats)], nil
}

// vectorsPerSought is up to how many vectors for each one that is wanted it is cheaper to
// walk over all of them: to look one up costs several times what the next one does.
const vectorsPerSought = 3

// ReadAll reads the vectors of many chunks, whose numbers ascend: nil for one that has
// none. They are valid until the next reset.
func (v *VectorReader) ReadAll(r storage.Reader, part *Ref, model string, seqs []uint64) ([][]float32, error) {
	list := make([][]float32, len(seqs))
	if len(seqs) == 0 {
		return list, nil
	}
	first, last := seqs[0], seqs[len(seqs)-1]
	if last-first >= vectorsPerSought*uint64(len(seqs)) {
		for i, seq := range seqs {
			var err error
			if list[i], err = v.Read(r, part, model, seq); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	above := part.Space.Key(storage.TableVector, storage.Str(model))
	next := 0
	for item, err := range r.Scan(
		storage.Between(VectorKey(part, model, first), VectorKey(part, model, last+1)), storage.ScanOptions{},
	) {
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
