// Package restore reads the document of an export (docs/export.md) and sends it,
// in parts, to an organization. It never holds more of it than one part, and of
// each memory its domains, the ids that its nodes had and have, and of those that texts
// name which are forgotten there.
package restore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

const (
	// Format is the format that this package reads.
	Format = "orgmem-export"
	// Version is the version of it.
	Version = 1

	// maxNodes and maxNodeBytes bound the nodes of one part, which are embedded
	// while the server's answer is waited for: a few seconds' work.
	maxNodes     = 32
	maxNodeBytes = 128 << 10
	// maxRecords bounds the other records of one part.
	maxRecords = 400
)

// ErrFormat means that a file is not a document of an export.
var ErrFormat = errors.New("not an export of orgmem")

// Part is what is sent together: some records of one memory.
type Part struct {
	Partition json.RawMessage   `json:"partition"`
	User      string            `json:"user,omitempty"`
	Domains   []json.RawMessage `json:"domains,omitempty"`
	Nodes     []json.RawMessage `json:"nodes,omitempty"`
	Edges     []json.RawMessage `json:"edges,omitempty"`
	External  []json.RawMessage `json:"externalIds,omitempty"`
	Links     []Link            `json:"links,omitempty"`
	Unread    []string          `json:"unread,omitempty"`
	Names     []json.RawMessage `json:"names,omitempty"`
}

// Link says what a node knows of others: what a superseded one was superseded by, which
// one a text follows, and the ids of those that its history names, there and here.
type Link struct {
	NodeID       string            `json:"nodeId"`
	SupersededBy string            `json:"supersededBy,omitempty"`
	Follows      string            `json:"follows,omitempty"`
	History      map[string]string `json:"history,omitempty"`
}

// Answer is what a part is answered with.
type Answer struct {
	NodeIDs   []string
	Created   int
	Unchanged int
	// Unread are ids there, which are sent back when the edges are.
	Unread []string
}

// Summary says what became of a document.
type Summary struct {
	Partitions int `json:"partitions"`
	Created    int `json:"created"`
	Unchanged  int `json:"unchanged"`
	Edges      int `json:"edges"`
}

// Options say where a document goes.
type Options struct {
	// Send delivers one part, however often that takes.
	Send func(ctx context.Context, part Part) (Answer, error)
	// User is the member into whose memory a member's goes; empty: the same person.
	User string
	// Progress is called with what is done so far. It may be nil.
	Progress func(Summary)
}

// Import reads a document to its end.
func Import(ctx context.Context, r io.Reader, o Options) (Summary, error) {
	i := &importer{o: o, ctx: ctx, json: json.NewDecoder(r)}
	i.json.UseNumber()
	if err := i.document(); err != nil {
		return i.sum, err
	}
	return i.sum, nil
}

type importer struct {
	o    Options
	ctx  context.Context // of Import: the importer lives as long
	json *json.Decoder
	sum  Summary
	seen bool // the head says that it is ours

	// Of the memory that is being read.
	head    map[string]json.RawMessage
	ids     map[string]string // of its nodes, there and here
	links   []Link            // in old ids
	domains []json.RawMessage // likewise
	unread  []string          // in the ids there
	part    Part
	bytes   int
	olds    []string // old ids of the part's nodes
}

func (i *importer) document() error {
	return i.object(func(name string) error {
		switch name {
		case "format", "version":
			var v any
			if err := i.json.Decode(&v); err != nil {
				return fmt.Errorf("%w: %w", ErrFormat, err)
			}
			if name == "format" && v != Format || name == "version" && fmt.Sprint(v) != strconv.Itoa(Version) {
				return fmt.Errorf("%w of version %d: its %s is %v", ErrFormat, Version, name, v)
			}
			i.seen = i.seen || name == "version"
			return nil
		case "partitions":
			if !i.seen {
				return fmt.Errorf("%w: it does not begin with format and version", ErrFormat)
			}
			return i.array(i.partition)
		}
		return i.skip()
	})
}

// object reads an object member by member.
func (i *importer) object(member func(name string) error) error {
	if err := i.delim('{'); err != nil {
		return err
	}
	for i.json.More() {
		token, err := i.json.Token()
		if err != nil {
			return fmt.Errorf("%w: %w", ErrFormat, err)
		}
		name, ok := token.(string)
		if !ok {
			return fmt.Errorf("%w: a member has no name", ErrFormat)
		}
		if err := member(name); err != nil {
			return err
		}
	}
	return i.delim('}')
}

func (i *importer) array(element func() error) error {
	if err := i.delim('['); err != nil {
		return err
	}
	for i.json.More() {
		if err := i.ctx.Err(); err != nil {
			return err
		}
		if err := element(); err != nil {
			return err
		}
	}
	return i.delim(']')
}

func (i *importer) delim(want json.Delim) error {
	token, err := i.json.Token()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if token != want {
		return fmt.Errorf("%w: found %v in place of %v", ErrFormat, token, want)
	}
	return nil
}

func (i *importer) raw() (json.RawMessage, error) {
	var raw json.RawMessage
	if err := i.json.Decode(&raw); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return raw, nil
}

func (i *importer) skip() error { _, err := i.raw(); return err }

// partition reads one memory: its head, then its records in the order of the
// document, which has nodes before what connects them.
func (i *importer) partition() error {
	i.head, i.ids, i.links, i.domains, i.unread, i.part = map[string]json.RawMessage{}, map[string]string{}, nil, nil,
		nil, Part{}
	err := i.object(func(name string) error {
		switch name {
		case "domains":
			return i.each(func(raw json.RawMessage) error {
				i.domains, i.part.Domains = append(i.domains, raw), append(i.part.Domains, raw)
				return nil
			}, false)
		case "nodes":
			if err := i.each(i.node, true); err != nil {
				return err
			}
			return i.link()
		case "edges":
			return i.each(i.edge, false)
		case "externalIds":
			return i.each(i.external, false)
		case "sessions":
			return i.skip() // their texts are nodes, and came with them
		}
		raw, err := i.raw()
		i.head[name] = raw
		return err
	})
	if err == nil {
		err = i.recount()
	}
	if err == nil {
		err = i.names()
	}
	i.sum.Partitions++
	return err
}

// each reads an array of records into parts.
func (i *importer) each(add func(json.RawMessage) error, nodes bool) error {
	if err := i.begin(); err != nil {
		return err
	}
	n := 0
	err := i.array(func() error {
		raw, err := i.raw()
		if err != nil {
			return err
		}
		full := n >= maxRecords || nodes && n > 0 && (n >= maxNodes || i.bytes+len(raw) > maxNodeBytes)
		if full {
			if err := i.send(); err != nil {
				return err
			}
			n = 0
		}
		n++
		i.bytes += len(raw)
		return add(raw)
	})
	if err != nil {
		return err
	}
	return i.send()
}

func (i *importer) begin() error {
	head, err := json.Marshal(i.head)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	i.part, i.bytes, i.olds = Part{Partition: head, User: i.o.User}, 0, nil
	return nil
}

// send delivers the part and learns the ids that its nodes have there.
func (i *importer) send() error {
	answer, err := i.o.Send(i.ctx, i.part)
	if err != nil {
		return err
	}
	if len(answer.NodeIDs) != len(i.olds) {
		return fmt.Errorf("the server answered %d nodes with %d ids", len(i.olds), len(answer.NodeIDs))
	}
	for k, old := range i.olds {
		i.ids[old] = answer.NodeIDs[k]
	}
	i.unread = append(i.unread, answer.Unread...)
	i.sum.Created += answer.Created
	i.sum.Unchanged += answer.Unchanged
	i.sum.Edges += len(i.part.Edges)
	if i.o.Progress != nil {
		i.o.Progress(i.sum)
	}
	return i.begin()
}

// node sends a node as it stands, but for what it was superseded by and what it
// follows: that may come behind it.
func (i *importer) node(raw json.RawMessage) error {
	var n struct {
		ID           string `json:"id"`
		SupersededBy string `json:"supersededBy"`
		Trace        struct {
			Follows string `json:"follows"`
		} `json:"trace"`
		History []struct {
			Changes []struct {
				Field  string `json:"field"`
				Before string `json:"before"`
				After  string `json:"after"`
			} `json:"changes"`
		} `json:"history"`
	}
	if err := json.Unmarshal(raw, &n); err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	named := map[string]string{}
	for _, h := range n.History {
		for _, c := range h.Changes {
			if c.Field == "supersededBy" {
				named[c.Before], named[c.After] = "", ""
			}
		}
	}
	delete(named, "")
	if n.SupersededBy != "" || n.Trace.Follows != "" || len(named) > 0 {
		i.links = append(i.links, Link{n.ID, n.SupersededBy, n.Trace.Follows, named})
	}
	i.olds = append(i.olds, n.ID)
	i.part.Nodes = append(i.part.Nodes, raw)
	return nil
}

// link sends what the nodes of a memory know of each other.
func (i *importer) link() error {
	for len(i.links) > 0 {
		k := min(len(i.links), maxRecords)
		for _, l := range i.links[:k] {
			for old := range l.History {
				if l.History[old] = i.ids[old]; l.History[old] == "" {
					delete(l.History, old)
				}
			}
			i.part.Links = append(i.part.Links, Link{i.ids[l.NodeID], i.ids[l.SupersededBy], i.ids[l.Follows], l.History})
		}
		i.links = i.links[k:]
		if err := i.send(); err != nil {
			return err
		}
	}
	return nil
}

// edge sends an edge with the ids that its nodes have there. An edge that is
// named after its nodes is named anew.
func (i *importer) edge(raw json.RawMessage) error {
	e := map[string]any{}
	if err := unmarshal(raw, &e); err != nil {
		return err
	}
	source, target := i.ids[text(e["source"])], i.ids[text(e["target"])]
	if source == "" || target == "" {
		return nil // its node is not in the document
	}
	id := strings.Replace(text(e["id"]), text(e["source"]), source, 1)
	e["id"] = strings.Replace(id, text(e["target"]), target, 1)
	e["source"], e["target"] = source, target
	if with := i.ids[text(e["tombstonedWith"])]; with != "" {
		e["tombstonedWith"] = with
	}
	if chunks, ok := e["evidence"].([]any); ok { // each is the id of a node and a number
		for n, chunk := range chunks {
			if at := strings.LastIndexByte(text(chunk), ':'); at >= 0 && i.ids[text(chunk)[:at]] != "" {
				chunks[n] = i.ids[text(chunk)[:at]] + text(chunk)[at:]
			}
		}
	}
	if grounds, ok := e["grounds"].([]any); ok {
		for _, ground := range grounds {
			if g, ok := ground.(map[string]any); ok && i.ids[text(g["nodeId"])] != "" {
				g["nodeId"] = i.ids[text(g["nodeId"])]
			}
		}
	}
	out, err := json.Marshal(e)
	i.part.Edges = append(i.part.Edges, out)
	return err
}

// recount sends back the nodes that texts name which are forgotten there: those that no
// other names go, now that it can be known.
func (i *importer) recount() error {
	slices.Sort(i.unread)
	for ids := range slices.Chunk(slices.Compact(i.unread), maxRecords) {
		if err := i.begin(); err != nil {
			return err
		}
		i.part.Unread = ids
		if err := i.send(); err != nil {
			return err
		}
	}
	return nil
}

// names sends the domains of a memory once more, with the ids that the nodes have
// which they are named by. One that is not in the document keeps its old id, which
// nothing has there: what a domain says comes only with all that it was read out of.
func (i *importer) names() error {
	for len(i.domains) > 0 {
		k := min(len(i.domains), maxRecords)
		if err := i.begin(); err != nil {
			return err
		}
		for _, raw := range i.domains[:k] {
			d := map[string]any{}
			if err := unmarshal(raw, &d); err != nil {
				return err
			}
			for _, field := range []string{"topNodes", "namedBy"} {
				nodes, _ := d[field].([]any)
				for n, id := range nodes {
					if here := i.ids[text(id)]; here != "" {
						nodes[n] = here
					}
				}
			}
			out, err := json.Marshal(d)
			if err != nil {
				return err
			}
			i.part.Names = append(i.part.Names, out)
		}
		i.domains = i.domains[k:]
		if err := i.send(); err != nil {
			return err
		}
	}
	return nil
}

func (i *importer) external(raw json.RawMessage) error {
	x := map[string]any{}
	if err := unmarshal(raw, &x); err != nil {
		return err
	}
	node := i.ids[text(x["nodeId"])]
	if node == "" {
		return nil
	}
	x["nodeId"] = node
	out, err := json.Marshal(x)
	i.part.External = append(i.part.External, out)
	return err
}

// unmarshal reads an object, and keeps numbers as they are written.
func unmarshal(raw json.RawMessage, into *map[string]any) error {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if *into == nil { // a null
		return fmt.Errorf("%w: a record is missing", ErrFormat)
	}
	return nil
}

func text(v any) string { s, _ := v.(string); return s }
