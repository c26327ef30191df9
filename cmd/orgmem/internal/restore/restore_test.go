package restore

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"testing"
)

// whole is a document with all that this package looks at.
const whole = `{"format":"orgmem-export","version":1,"exportedAt":"2026-01-01T00:00:00Z",
"partitions":[{"id":"p","kind":"member","email":"a@example.com",
"domains":[{"id":"d","label":"Boats","topNodes":["p.1","p.9"],"namedBy":["p.2"]}],
"nodes":[{"id":"p.1","supersededBy":"p.2","content":"old",
"history":[{"changes":[{"field":"supersededBy","before":"p.9","after":"p.2"}]}]},
{"id":"p.2","trace":{"follows":"p.1"},"content":"new"}],
"edges":[{"id":"p.1>p.2","source":"p.1","target":"p.2","weight":0.30000000000000004,"tombstonedWith":"p.1",
"evidence":["p.1:0","x"]},{"id":"e","source":"p.1","target":"p.9"}],
"externalIds":[{"externalId":"x","nodeId":"p.1"},{"externalId":"y","nodeId":"p.9"}],"sessions":[{"id":"s"}]}]}`

// server stands for the operator interface: it gives each node an id of its own.
type server struct {
	t     testing.TB
	nodes int
	parts int
	known map[string]bool // the ids that it has given
}

func (s *server) send(_ context.Context, part Part) (Answer, error) {
	s.parts++
	if part.User != "someone" {
		s.t.Errorf("a part goes to %q", part.User)
	}
	raw, err := json.Marshal(part)
	if err != nil {
		s.t.Fatalf("a part that cannot be sent: %v", err)
	}
	var head map[string]json.RawMessage
	if json.Unmarshal(part.Partition, &head) != nil {
		s.t.Errorf("the head of a memory is no object: %s", raw)
	}
	if n := len(part.Domains) + len(part.Edges) + len(part.External) + len(part.Links) + len(part.Unread) +
		len(part.Names); n > maxRecords || len(part.Nodes) > maxNodes {
		s.t.Errorf("a part of %d nodes and %d other records", len(part.Nodes), n)
	}
	bytes := 0
	for _, n := range part.Nodes {
		bytes += len(n)
	}
	if len(part.Nodes) > 1 && bytes > maxNodeBytes {
		s.t.Errorf("%d nodes of %d bytes go together", len(part.Nodes), bytes)
	}
	for _, e := range part.Edges {
		var of struct{ Source, Target string }
		if json.Unmarshal(e, &of) != nil || !s.known[of.Source] || !s.known[of.Target] {
			s.t.Errorf("an edge between what the server has not got: %s", e)
		}
	}
	for _, x := range part.External {
		var of struct{ NodeID string }
		if json.Unmarshal(x, &of) != nil || !s.known[of.NodeID] {
			s.t.Errorf("an external id of what the server has not got: %s", x)
		}
	}
	var a Answer
	for range part.Nodes {
		s.nodes++
		id := "here." + strconv.Itoa(s.nodes)
		s.known[id] = true
		a.NodeIDs = append(a.NodeIDs, id)
		a.Unread = append(a.Unread, id)
	}
	a.Created = len(part.Nodes)
	return a, nil
}

func read(t testing.TB, document string) (Summary, *server, error) {
	s := &server{t: t, known: map[string]bool{}}
	sum, err := Import(context.Background(), strings.NewReader(document), Options{Send: s.send, User: "someone"})
	return sum, s, err
}

func TestADocumentIsReadToItsEnd(t *testing.T) {
	sum, s, err := read(t, whole)
	if want := (Summary{Partitions: 1, Created: 2, Edges: 1}); err != nil || sum != want {
		t.Errorf("%+v, %v", sum, err)
	}
	if s.nodes != 2 {
		t.Errorf("%d nodes", s.nodes)
	}
	for name, document := range map[string]string{
		"nothing":          ``,
		"no object":        `[]`,
		"another format":   `{"format":"other","version":1,"partitions":[]}`,
		"another version":  `{"format":"orgmem-export","version":2,"partitions":[]}`,
		"no version":       `{"format":"orgmem-export","partitions":[]}`,
		"cut off":          whole[:len(whole)-5],
		"a node no object": `{"format":"orgmem-export","version":1,"partitions":[{"nodes":[1]}]}`,
	} {
		if _, _, err := read(t, document); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzDocument reads what an operator names: whatever it is, the parts that come of it keep
// their bounds and name only nodes that the server has, and what is no document is ErrFormat.
func FuzzDocument(f *testing.F) {
	for _, document := range []string{
		whole, ``, `{}`, `[]`, `{"version":1,"format":"orgmem-export","partitions":[{"nodes":[]},{}]}`,
		`{"format":"orgmem-export","version":1,"partitions":[{"nodes":[{"id":"a"},{"id":"a"}],"edges":[{"source":"a",` +
			`"target":"a","evidence":[1,":"]}],"domains":[{"topNodes":"a"}],"externalIds":[null]}]}`,
		`{"format":"orgmem-export","version":1,"partitions":[{"domains":[null,{"namedBy":[{}]}],"nodes":[null],` +
			`"edges":[null],"id":1e999}]}`,
	} {
		f.Add(document)
	}
	f.Fuzz(func(t *testing.T, document string) {
		sum, s, err := read(t, document)
		if err != nil && !errors.Is(err, ErrFormat) {
			t.Errorf("%v", err)
		}
		if sum.Created != s.nodes || sum.Unchanged != 0 {
			t.Errorf("%+v of %d nodes", sum, s.nodes)
		}
	})
}
