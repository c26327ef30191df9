package cognition

import (
	"orgmem/actors/graph"
	"orgmem/actors/subject"
	pb "orgmem/proto"
	"orgmem/storage"
)

// Two figures that other pages show are counted while a cycle has the graph at hand: the domains that an import's
// documents became part of, and the edges of coding sessions.

// importCounts are the imports whose domains are to be counted.
type importCounts struct {
	*cycle
	uncounted []importMade
}

// gather finds the imports that have ended and are not counted, and the nodes that they have made. r is the snapshot
// that the graph is read from, so that all of these nodes are in the graph.
func (c *importCounts) gather(r storage.Reader) error {
	for rec, err := range storage.ScanRecords(r, c.part.Space.Prefix(storage.TableImport),
		storage.ScanOptions{Limit: graph.MaxImports}, func() *pb.Import { return &pb.Import{} }) {
		if err != nil {
			return err
		}
		if rec.Value.GetFinishedMs() == 0 || rec.Value.GetCounted() {
			continue
		}
		made := importMade{entry: rec.Value}
		items := c.part.Space.Prefix(storage.TableJobItem, storage.ID16(pb.JobID(rec.Value.GetId())))
		for item, err := range storage.ScanRecords(r, items, storage.ScanOptions{},
			func() *pb.JobItem { return &pb.JobItem{} }) {
			if err != nil {
				return err
			}
			if at, ok := c.At[pb.NodeID(item.Value.GetNode())]; ok {
				made.nodes = append(made.nodes, at)
			}
		}
		c.uncounted = append(c.uncounted, made)
	}
	return nil
}

// importMade is an import and the nodes of its documents, without those that are not learned from.
type importMade struct {
	entry *pb.Import
	nodes []int32
}

// count counts both figures. The domains of an import are counted once, by the first cycle that has looked at all of
// it: later cycles change domains, and not what the import brought.
func (c *importCounts) count() error {
	c.cog.SessionEdges = c.Graph.SessionEdges()
	if c.more {
		return nil
	}
	var changes []func(*graph.Tx) error
	for _, made := range c.uncounted {
		domains := c.DomainsOf(made.nodes)
		changes = append(changes, func(f *graph.Tx) error {
			e, key := &pb.Import{}, subject.ImportKey(f.Part, made.entry)
			found, err := f.Store.Get(key, e)
			if err != nil || !found { // the history has moved on
				return err
			}
			e.Domains, e.Counted = uint64(domains), true
			f.Batch.Put(key, e)
			return nil
		})
	}
	return c.writeAll(changes)
}
