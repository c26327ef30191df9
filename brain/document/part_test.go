package document_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"orgmem/brain/document"
)

// FuzzReadPart: a part that is taken is written and read again as the same.
func FuzzReadPart(f *testing.F) {
	for _, part := range []string{
		`{"partition":{"kind":"subject","subject":"anna"}}`, `{}`, `{} {}`, `[]`, `{"colour":1}`,
		`{"partition":{"kind":"member"},"user":"u",
			"nodes":[{"id":"n","kind":"document","createdAt":"2026-03-01T12:00:00.000Z","metadata":{"a":[1]}}],
			"edges":[{"id":"e","source":"a","target":"b","type":"near","weight":0.1}],
			"links":[{"nodeId":"n","supersededBy":"m"}]}`,
		`{"nodes":[{"createdAt":"0000-01-01T00:00:00+23:59"}]}`, `{"nodes":[{"validTo":null}]}`,
	} {
		f.Add([]byte(part))
	}
	const most = 500
	f.Fuzz(func(t *testing.T, raw []byte) {
		in, err := document.ReadPart(raw, most)
		if err != nil {
			return
		}
		said, err := json.Marshal(in)
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		again, err := document.ReadPart(said, most)
		if err != nil {
			t.Fatalf("%s is written as %s: %v", raw, said, err)
		}
		twice, err := json.Marshal(again)
		if err != nil || string(twice) != string(said) || len(again.Nodes) != len(in.Nodes) ||
			!reflect.DeepEqual(again.Links, in.Links) && len(in.Links) > 0 {
			t.Fatalf("%s, then %s: %v", said, twice, err)
		}
	})
}
