package export

import (
	"slices"
	"strings"

	"orgmem/actors/graph"
	"orgmem/brain/document"
	pb "orgmem/proto"
)

// What was forgotten here stays forgotten when a document says it once more: the
// tombstone stays, no edge leads to it, and nothing comes back that only its text said.

// namedIn are the ids that the nodes have here which were read out of a text.
func (r *restorer) namedIn(in *document.Node) (ids []string) {
	if in.Trace == nil {
		return nil
	}
	for _, x := range in.Trace.Entities {
		ids = append(ids, strings.Replace(x.NodeID, r.from, r.part.ID.String(), 1))
	}
	return ids
}

// buryEdge makes a tombstone of an edge that comes to a node which is one here, as if it
// had been forgotten with it. Otherwise it takes out of the edge what rests on texts that
// are forgotten here, and says whether nothing is left to rest on.
func buryEdge(f *graph.Tx, e *pb.Edge, ends ...*pb.Node) (baseless bool, err error) {
	if e.GetStatus() == pb.StatusTombstoned {
		return false, nil
	}
	for _, n := range ends {
		if n.GetStatus() == pb.StatusTombstoned {
			e.Status, e.TombstonedMs, e.TombstonedWith, e.UpdatedMs = pb.StatusTombstoned, f.NowMs, n.GetId(), f.NowMs
			e.Note, e.Evidence = "", nil
			return false, nil
		}
	}
	var kept []string
	for _, chunk := range e.GetEvidence() { // the id of a node and a number
		n, err := f.Node(pb.NodeID(chunk[:max(strings.LastIndexByte(chunk, ':'), 0)]))
		if err != nil {
			return false, err
		}
		if n == nil || n.GetStatus() != pb.StatusTombstoned {
			kept = append(kept, chunk)
		}
	}
	baseless = len(kept) == 0 && len(e.GetEvidence()) > 0
	e.Evidence = kept
	return baseless, nil
}

// recount counts anew the texts that name an entity, and those that write it in each of its
// ways: a document counts those too that are forgotten here. An entity that no text
// names goes, as it does when the last one is forgotten. To do it twice changes
// nothing.
func recount(f *graph.Tx, id pb.NodeID) error {
	rec, err := f.Entities.Get(id)
	if err != nil || rec == nil {
		return err
	}
	n, err := f.Node(id)
	if err != nil || n == nil || n.GetStatus() == pb.StatusTombstoned {
		return err
	}
	mentions, forms, err := namings(f, id)
	if err != nil {
		return err
	}
	if mentions == 0 {
		f.TouchesExports = true // what exports hold of it meanwhile
		return f.DropDerived(id, "", pb.StaleForgotten)
	}
	changed := rec.GetMentions() != mentions
	rec.Mentions = mentions
	var gone []string
	rec.Forms = slices.DeleteFunc(rec.GetForms(), func(form *pb.EntityForm) bool {
		count := forms[form.GetName()]
		changed = changed || form.GetCount() != count
		if form.Count = count; count == 0 {
			gone = append(gone, form.GetName())
		}
		return count == 0
	})
	if !changed {
		return nil
	}
	f.TouchesExports = f.TouchesExports || len(gone) > 0
	return f.PutRenamed(rec, gone, rec.GetType())
}

// namings counts the texts that name an entity, and by name those that write it so. A
// text that names one has an edge with it, be it a forgotten one.
func namings(f *graph.Tx, id pb.NodeID) (mentions uint32, forms map[string]uint32, err error) {
	edges, err := f.EdgesOfNode(id, pb.OriginIngest, pb.StatusTombstoned)
	if err != nil {
		return 0, nil, err
	}
	seen, forms := map[pb.NodeID]bool{}, map[string]uint32{}
	for _, e := range edges {
		text := graph.OtherEnd(e, id)
		if seen[text] {
			continue
		}
		seen[text] = true
		trace, err := f.Traces.Stored(text)
		if err != nil {
			return 0, nil, err
		}
		for _, x := range trace.GetEntities() {
			if x.GetNode() != string(id) {
				continue
			}
			mentions++
			for _, name := range x.GetNames() {
				forms[name]++
			}
		}
	}
	return mentions, forms, nil
}
