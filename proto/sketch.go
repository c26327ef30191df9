package pb

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Who looks at a whole memory reads each of its nodes and edges, and of each a few
// fields. Decoding all of them costs ten times that: each text becomes a string of its
// own. A sketch reads what is wanted and points at the rest, by the numbers that the
// messages give their fields.

// NodeSketch is what a look at the whole graph takes of a [Node]. The zero value is ready
// for Read; the bytes are the record's, so valid as long as that.
type NodeSketch struct {
	ID, Kind, Title, Domain, Status, Metadata []byte
	Chunks                                    []uint64 // valid until the next Read
	CreatedMs, OccurredMs                     int64
	ContentBytes                              uint32
	Unlearned, Placed                         bool
}

// Read takes the fields from an encoded Node, in place of those that were read before.
func (s *NodeSketch) Read(record []byte) error {
	*s = NodeSketch{Chunks: s.Chunks[:0]}
	return fields(record, func(num protowire.Number, typ protowire.Type, v uint64, b []byte) error {
		switch typ {
		case protowire.BytesType:
			switch int32(num) {
			case 1:
				s.ID = b
			case 2:
				s.Kind = b
			case 3:
				s.Title = b
			case 4:
				s.Domain = b
			case 7:
				s.Status = b
			case 15:
				s.Metadata = b
			case 17: // packed
				for len(b) > 0 {
					seq, n := protowire.ConsumeVarint(b)
					if n < 0 {
						return protowire.ParseError(n)
					}
					s.Chunks, b = append(s.Chunks, seq), b[n:]
				}
			}
		case protowire.VarintType:
			switch int32(num) {
			case 12:
				s.CreatedMs = int64(v)
			case 17:
				s.Chunks = append(s.Chunks, v)
			case 18:
				s.OccurredMs = int64(v)
			case 19:
				s.ContentBytes = uint32(v)
			case 21:
				s.Unlearned = v != 0
			case 28:
				s.Placed = v != 0
			}
		default: // none of the fields that are wanted
		}
		return nil
	})
}

// EdgeSketch is what a look at the whole graph takes of an [Edge], as [NodeSketch] is of a
// node.
type EdgeSketch struct {
	Source, Target, Type, Status []byte
	Weight                       float64
}

// Read takes the fields from an encoded Edge, in place of those that were read before.
func (s *EdgeSketch) Read(record []byte) error {
	*s = EdgeSketch{}
	return fields(record, func(num protowire.Number, typ protowire.Type, v uint64, b []byte) error {
		switch typ {
		case protowire.BytesType:
			switch int32(num) {
			case 2:
				s.Source = b
			case 3:
				s.Target = b
			case 4:
				s.Type = b
			case 9:
				s.Status = b
			}
		case protowire.Fixed64Type:
			if num == 5 {
				s.Weight = math.Float64frombits(v)
			}
		default: // as above
		}
		return nil
	})
}

// fields calls f for each field of an encoded message: v is the value of a number, b that
// of a text or of bytes.
func fields(msg []byte, f func(num protowire.Number, typ protowire.Type, v uint64, b []byte) error) error {
	for len(msg) > 0 {
		num, typ, n := protowire.ConsumeTag(msg)
		if n < 0 {
			return protowire.ParseError(n)
		}
		msg = msg[n:]
		var v uint64
		var b []byte
		switch typ {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(msg)
		case protowire.Fixed64Type:
			v, n = protowire.ConsumeFixed64(msg)
		case protowire.BytesType:
			b, n = protowire.ConsumeBytes(msg)
		default:
			n = protowire.ConsumeFieldValue(num, typ, msg)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		if err := f(num, typ, v, b); err != nil {
			return err
		}
		msg = msg[n:]
	}
	return nil
}
