package retriever

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/proto"
)

// Of ten questions, this many check when a training has learned enough, and this
// many judge what it has learned; the others it learns from.
const (
	checkTenths = 1
	judgeTenths = 2
)

// Judges is how many of some questions judge.
func Judges(examples int) int { return examples * judgeTenths / 10 }

// Split cuts n questions into those that are learned from, before learned, those
// that check, before checked, and those that judge.
func Split(n int) (learned, checked int) {
	checked = n - Judges(n)
	return checked - n*checkTenths/10, checked
}

// Content identifies what parameters are learned from: the graph, the questions and
// what search says to them. The error is of encoding the graph.
func (g *Graph) Content(asked []Asked) ([]byte, error) {
	h := sha256.New()
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(g.Message())
	if err != nil {
		return nil, err
	}
	h.Write(raw)
	var b []byte
	for i := range asked {
		a := &asked[i]
		b = append(b[:0], a.Example.Text...)
		for _, p := range a.Answers {
			b = binary.LittleEndian.AppendUint32(b, uint32(p))
		}
		for _, s := range a.Seeds {
			b = binary.LittleEndian.AppendUint32(b, uint32(s.Passage))
			for _, x := range []float32{s.Cosine, s.Keyword, s.Score} {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
			}
		}
		if a.Further != nil {
			for _, hit := range a.Further() {
				b = binary.LittleEndian.AppendUint32(b, uint32(hit.Passage))
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(hit.Likeness))
			}
		}
		h.Write(binary.LittleEndian.AppendUint32(b, uint32(len(b))))
	}
	return h.Sum(nil), nil
}
