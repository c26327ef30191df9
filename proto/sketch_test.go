package pb

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// fill sets some fields of a message, chosen by chance, to values of its own.
func fill(m protoreflect.Message, random *rand.Rand) {
	list := m.Descriptor().Fields()
	for i := range list.Len() {
		f := list.Get(i)
		if random.IntN(4) == 0 {
			continue
		}
		if !f.IsList() {
			if f.Message() != nil {
				fill(m.Mutable(f).Message(), random)
			} else {
				m.Set(f, some(f, random))
			}
			continue
		}
		values := m.Mutable(f).List()
		for range random.IntN(4) {
			if f.Message() != nil {
				fill(values.AppendMutable().Message(), random)
			} else {
				values.Append(some(f, random))
			}
		}
	}
}

func some(f protoreflect.FieldDescriptor, random *rand.Rand) protoreflect.Value {
	n := random.Int64() >> random.IntN(63)
	switch f.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString("é" + strconv.FormatInt(n, 36))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte(strconv.FormatInt(n, 36)))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(random.NormFloat64())
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(n - 1000)
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(uint32(n))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(uint64(n))
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true)
	default:
		panic("a field of a kind that this test does not know: " + f.Kind().String())
	}
}

// TestASketchSaysWhatTheRecordSays compares the fields of a sketch with those of the
// message, with any of the other fields set.
func TestASketchSaysWhatTheRecordSays(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var gotNode NodeSketch // reused, as it is in use
	var gotEdge EdgeSketch
	for range 2000 {
		node := &Node{}
		fill(node.ProtoReflect(), random)
		record, err := proto.Marshal(node)
		if err != nil {
			t.Fatal(err)
		}
		if err := gotNode.Read(record); err != nil {
			t.Fatal(err)
		}
		for name, same := range map[string]bool{
			"id": string(gotNode.ID) == node.GetId(), "kind": string(gotNode.Kind) == node.GetKind(),
			"title":  string(gotNode.Title) == node.GetTitle(),
			"domain": string(gotNode.Domain) == node.GetDomain(), "status": string(gotNode.Status) == node.GetStatus(),
			"metadata": bytes.Equal(gotNode.Metadata, node.GetMetadata()),
			"chunks":   slices.Equal(gotNode.Chunks, node.GetChunks()),
			"created":  gotNode.CreatedMs == node.GetCreatedMs(), "occurred": gotNode.OccurredMs == node.GetOccurredMs(),
			"content bytes": gotNode.ContentBytes == node.GetContentBytes(),
			"unlearned":     gotNode.Unlearned == node.GetUnlearned(),
			"placed":        gotNode.Placed == node.GetPlaced(),
		} {
			if !same {
				t.Fatalf("%s of %+v, read from %v", name, gotNode, node)
			}
		}
		edge := &Edge{}
		fill(edge.ProtoReflect(), random)
		if record, err = proto.Marshal(edge); err != nil {
			t.Fatal(err)
		}
		if err := gotEdge.Read(record); err != nil {
			t.Fatal(err)
		}
		wantEdge := EdgeSketch{
			Source: []byte(edge.GetSource()), Target: []byte(edge.GetTarget()), Type: []byte(edge.GetType()),
			Status: []byte(edge.GetStatus()), Weight: edge.GetWeight(),
		}
		if diff := cmp.Diff(wantEdge, gotEdge, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("read from %v (-want +got):\n%s", edge, diff)
		}
	}
}

// TestASketchOfDamagedBytes: what is no record is an error, wherever it is cut, and what
// is no field of a message is passed over as protobuf does.
func TestASketchOfDamagedBytes(t *testing.T) {
	node := &Node{Id: "n", Title: "a title", Chunks: []uint64{1, 300}, OccurredMs: 1 << 40}
	record, err := proto.Marshal(node)
	if err != nil {
		t.Fatal(err)
	}
	for cut := range record {
		var s NodeSketch
		want := proto.Unmarshal(record[:cut], &Node{})
		if err := s.Read(record[:cut]); (err == nil) != (want == nil) {
			t.Errorf("%d bytes: %v, protobuf says %v", cut, err, want)
		}
	}
	odd := protowire.AppendTag(bytes.Clone(record), 2, protowire.Fixed32Type) // a kind that is a number
	odd = protowire.AppendFixed32(odd, 7)
	for _, seq := range []uint64{5, 6} { // not packed
		odd = protowire.AppendVarint(protowire.AppendTag(odd, 17, protowire.VarintType), seq)
	}
	var s NodeSketch
	if err := s.Read(odd); err != nil || len(s.Kind) > 0 || !slices.Equal(s.Chunks, []uint64{1, 300, 5, 6}) {
		t.Errorf("%+v, %v", s, err)
	}
}
