package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// PieceBytes is the size of a large value's pieces. A value in one piece would
// be rewritten whole by every compaction that touches its neighbours and read
// whole to read a part; half a mebibyte keeps both small and still costs only
// 0.01 % in keys.
const PieceBytes = 512 << 10

// MaxPieces bounds a value: 128 GiB would be absurd, and 2,048 pieces (1 GiB)
// are more than any upload or artifact may have.
const MaxPieces = 2048

// ErrTooLarge says that a value does not fit into MaxPieces.
var ErrTooLarge = errors.New("value too large")

// A large value under a key k: the header at k itself, piece i at k.Child(U32(i)).
// The header is written last and in the same batch as the end of the value, so
// a value that was cut short has none and does not exist.
const pieceHeader = 1 + 8 + 4 + 4 // version, length, pieces, CRC-32C

const pieceVersion = 1

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// PieceWriter writes a large value piece by piece, over as many batches as the
// caller likes: each Add goes into the batch that it is given, and Finish makes
// the value exist. A writer that is dropped before Finish leaves pieces that
// the next PieceWriter.Begin or DeletePieces for the key removes.
type PieceWriter struct {
	key    Key
	buf    []byte
	pieces uint32
	length uint64
	sum    uint32
}

// BeginPieces removes what is at k, in batch b, and begins a new value there.
func BeginPieces(b *Batch, k Key) *PieceWriter {
	b.DeleteRange(k.Children())
	return &PieceWriter{key: k}
}

// Add appends data to the value; whole pieces go into b. data is copied.
func (w *PieceWriter) Add(b *Batch, data []byte) error {
	w.length += uint64(len(data))
	w.sum = crc32.Update(w.sum, castagnoli, data)
	for len(data) > 0 {
		n := min(PieceBytes-len(w.buf), len(data))
		w.buf = append(w.buf, data[:n]...)
		data = data[n:]
		if len(w.buf) == PieceBytes {
			if err := w.flush(b); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *PieceWriter) flush(b *Batch) error {
	if w.pieces == MaxPieces {
		return fmt.Errorf("put pieces: %w", ErrTooLarge)
	}
	b.PutRaw(w.key.Child(U32(w.pieces)), w.buf)
	w.pieces++
	w.buf = nil
	return nil
}

// Finish puts the rest and the header into b.
func (w *PieceWriter) Finish(b *Batch) error {
	if len(w.buf) > 0 {
		if err := w.flush(b); err != nil {
			return err
		}
	}
	h := make([]byte, 1, pieceHeader)
	h[0] = pieceVersion
	h = binary.BigEndian.AppendUint64(h, w.length)
	h = binary.BigEndian.AppendUint32(h, w.pieces)
	b.PutRaw(w.key, binary.BigEndian.AppendUint32(h, w.sum))
	return nil
}

// PutPieces writes a large value under k within one batch. ErrTooLarge above
// MaxPieces; a value above MaxBatchBytes needs a PieceWriter.
func PutPieces(b *Batch, k Key, value []byte) error {
	w := BeginPieces(b, k)
	if err := w.Add(b, value); err != nil {
		return err
	}
	return w.Finish(b)
}

// DeletePieces removes a large value.
func DeletePieces(b *Batch, k Key) { b.DeleteRange(k.Children()) }

// ErasePieces removes a large value and orders its bytes to leave the files.
func ErasePieces(b *Batch, k Key) { b.EraseRange(k.Children()) }

// ReadPieces reads a large value whole. The bool says whether there is one;
// ErrCorrupt when a piece is missing or the checksum is wrong.
func ReadPieces(r Reader, k Key) ([]byte, bool, error) {
	h, err := readPieceHeader(r, k)
	if err != nil || h == nil {
		return nil, false, err
	}
	out := make([]byte, 0, h.length)
	sum, err := h.each(r, k, func(p []byte) bool {
		out = append(out, p...)
		return true
	})
	if err != nil {
		return nil, false, err
	}
	if sum != h.sum || uint64(len(out)) != h.length {
		return nil, false, fmt.Errorf("pieces of %v: %w", k, ErrCorrupt)
	}
	return out, true, nil
}

// WalkPieces hands a large value to f piece by piece, in order, without holding
// it whole; a slice is valid until f returns, and false from f ends the walk.
// The bool says whether there is a value. ErrCorrupt may come after f has seen
// pieces.
func WalkPieces(r Reader, k Key, f func(piece []byte) bool) (bool, error) {
	h, err := readPieceHeader(r, k)
	if err != nil || h == nil {
		return false, err
	}
	ended := false
	sum, err := h.each(r, k, func(p []byte) bool {
		ended = !f(p)
		return !ended
	})
	if err == nil && !ended && sum != h.sum {
		err = fmt.Errorf("pieces of %v: %w", k, ErrCorrupt)
	}
	return true, err
}

// PieceLength returns a large value's length without reading its pieces.
func PieceLength(r Reader, k Key) (uint64, bool, error) {
	h, err := readPieceHeader(r, k)
	if err != nil || h == nil {
		return 0, false, err
	}
	return h.length, true, nil
}

type piecesInfo struct {
	length uint64
	pieces uint32
	sum    uint32
}

func readPieceHeader(r Reader, k Key) (*piecesInfo, error) {
	b, ok, err := r.GetRaw(k)
	if err != nil || !ok {
		return nil, err
	}
	if len(b) == 0 || b[0] != pieceVersion {
		return nil, fmt.Errorf("pieces of %v: %w", k, ErrUnknownVersion)
	}
	if len(b) != pieceHeader {
		return nil, fmt.Errorf("pieces of %v: %w", k, ErrCorrupt)
	}
	h := &piecesInfo{
		length: binary.BigEndian.Uint64(b[1:]),
		pieces: binary.BigEndian.Uint32(b[9:]),
		sum:    binary.BigEndian.Uint32(b[13:]),
	}
	// Before anything of that length is allocated.
	if h.pieces > MaxPieces || (h.length+PieceBytes-1)/PieceBytes != uint64(h.pieces) {
		return nil, fmt.Errorf("pieces of %v: %w", k, ErrCorrupt)
	}
	return h, nil
}

// each calls f for every piece in order and returns their checksum.
func (h *piecesInfo) each(r Reader, k Key, f func([]byte) bool) (uint32, error) {
	sum, n := uint32(0), uint32(0)
	for item, err := range r.Scan(k.Children(), ScanOptions{After: k}) {
		if err != nil {
			return 0, err
		}
		if !item.Key.Equal(k.Child(U32(n))) {
			return 0, fmt.Errorf("piece %d of %v: %w", n, k, ErrCorrupt)
		}
		sum = crc32.Update(sum, castagnoli, item.Value)
		n++
		if !f(item.Value) {
			return sum, nil
		}
	}
	if n != h.pieces {
		return 0, fmt.Errorf("piece %d of %v is missing: %w", n, k, ErrCorrupt)
	}
	return sum, nil
}
