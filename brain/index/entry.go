package index

import (
	"encoding/json"
	"strings"

	"orgmem/brain/text"
	pb "orgmem/proto"
)

// EntryOf is a stored chunk of a node as a builder takes it.
func EntryOf(chunk *pb.Chunk, node *pb.Node, vec []float32, passage text.Passage) Entry {
	return Entry{
		Seq: chunk.GetSeq(),
		Node: Node{
			ID: pb.NodeID(node.GetId()), Kind: node.GetKind(), CreatedMs: node.GetCreatedMs(),
			Attrs: Attrs(node.GetMetadata()), Turn: node.GetTurn(), OccurredMs: node.GetOccurredMs(),
		},
		Vector:  vec,
		Passage: passage,
	}
}

// TitleLine is what the words of a passage's titles are read from.
func TitleLine(path []string) string { return strings.Join(path, "\n") }

// EmbedText is what is embedded of a chunk: its text under its titles, so that
// a passage which never names its subject is still found by it.
func EmbedText(path []string, body string) string {
	if len(path) == 0 {
		return body
	}
	return strings.Join(path, " > ") + "\n" + body
}

// Attrs gives the metadata pairs that search can filter by, as AttrHash values: the
// scalars of the top level.
func Attrs(metadata []byte) []uint64 {
	if len(metadata) == 0 {
		return nil
	}
	var pairs map[string]json.RawMessage
	if json.Unmarshal(metadata, &pairs) != nil {
		return nil // validated at the edge; what is no object has no pairs
	}
	var attrs []uint64
	for key, raw := range pairs {
		if value, ok := Scalar(raw); ok {
			attrs = append(attrs, AttrHash(key, value))
		}
	}
	return attrs
}

// Scalar gives the canonical spelling of a JSON string, number, boolean or null; false for anything else.
func Scalar(raw []byte) (string, bool) {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return "", false
	}
	switch v.(type) {
	case map[string]any, []any:
		return "", false
	}
	canonical, err := json.Marshal(v)
	return string(canonical), err == nil
}
