package training

import (
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/brain/index"
	"orgmem/brain/text"
	"orgmem/storage"
)

// Lookup is a query made ready for the indexes of some partitions.
type Lookup struct {
	*index.Query
	Snapshots []*index.Snapshot // of each partition
	Tokens    int               // how many were embedded
}

// NewLookup reads a query's words and meaning, and the indexes of the partitions, cold ones from the store. Before each
// index it asks goOn, whose error it returns. own is the encoder of the worker that it runs on.
func NewLookup(
	o *tenant.View, st *storage.Store, parts []*partition.Ref, query string, mode index.Mode, own *partition.QueryEncoder,
	goOn func() error,
) (*Lookup, error) {
	q := &Lookup{Snapshots: make([]*index.Snapshot, len(parts)), Query: &index.Query{
		Mode:   mode,
		Config: index.DefaultConfig(),
	}}
	langs := text.LangSet(0)
	wanted := map[index.ModelID]bool{}
	for i, part := range parts {
		if err := goOn(); err != nil {
			return nil, err
		}
		now, err := o.Residents.Get(st, part, o.System.Embedders.Dim)
		if err != nil {
			return nil, err
		}
		if len(parts) == 1 && len(now.Stale) > 0 {
			o.AskWake(part)
		}
		q.Snapshots[i] = now.Snapshot
		langs |= now.Snapshot.Langs()
		for _, v := range now.Snapshot.Views {
			wanted[v.Segment.Model()] = true
		}
	}
	q.Terms = own.Analyzer.Query(query, langs)
	if mode == index.KeywordOnly {
		return q, nil
	}
	q.Vectors, q.Lines = map[index.ModelID][]float32{}, map[index.ModelID]index.Line{}
	for model := range wanted {
		// A model that this node does not carry: its chunks are found by words
		// until they are embedded anew.
		if m := o.System.Embedders.ByID(string(model)); m != nil {
			u := own.Encode(parts, m, query)
			q.Vectors[model] = u.Vector
			q.Lines[model] = o.System.Embedders.Line(string(model))
			q.Tokens += u.Tokens
		}
	}
	return q, nil
}
