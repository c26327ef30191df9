package graph

import (
	"bytes"
	"slices"

	"orgmem/actors/partition"
	"orgmem/brain/index"
	pb "orgmem/proto"
	"orgmem/storage"
)

// Segment builds the index of the slice's new chunks.
func (f *Tx) Segment(dim int) (*index.Segment, error) {
	b := index.NewBuilder(index.ModelID(f.model), dim)
	for _, entry := range f.IndexEntries {
		if err := b.Add(entry); err != nil {
			return nil, err
		}
	}
	return b.Build()
}

// MarkForgotten notes the stored segments that hold something of the nodes that
// the transaction forgets: also chunks that were replaced before.
func (f *Tx) MarkForgotten(now *partition.Index) {
	mark := func(id uint64) {
		if !slices.Contains(f.State.GetForgottenSegments(), id) {
			f.State.ForgottenSegments = append(f.State.ForgottenSegments, id)
		}
	}
	for _, v := range now.Snapshot.Views {
		if v.ID == 0 {
			continue
		}
		whole := &index.Snapshot{Views: []index.View{{Segment: v.Segment}}}
		if whole.Forget(f.Forgotten...) != whole {
			mark(v.ID)
		}
	}
	for _, old := range now.Stale {
		mark(old.ID)
	}
	if len(f.State.GetForgottenSegments()) > 0 && f.State.GetForgottenMs() == 0 {
		f.State.ForgottenMs = f.NowMs
	}
}

// PutLiveness writes the liveness of stored segments in which something was
// hidden or shown.
func PutLiveness(b *storage.Batch, part *partition.Ref, before, after *index.Snapshot) {
	old := map[uint64][]byte{}
	for _, v := range before.Views {
		if v.ID != 0 {
			old[v.ID] = v.AppendLiveness(nil)
		}
	}
	for _, v := range after.Views {
		if v.ID == 0 {
			continue
		}
		if l := v.AppendLiveness(nil); !bytes.Equal(l, old[v.ID]) {
			b.PutRaw(part.Space.Key(storage.TableSegmentLiveness, storage.U64(v.ID)), l)
		}
	}
}

// CountDomains keeps the numbers of live nodes that domains have.
func (f *Tx) CountDomains() error {
	by := map[string]int{}
	for _, id := range f.Changed {
		if was := f.StoredPlaces[id]; was.domain != "" && was.status == pb.StatusLive {
			by[was.domain]--
		}
		if n := f.Nodes[id]; n.GetDomain() != "" && n.GetStatus() == pb.StatusLive {
			by[n.GetDomain()]++
		}
	}
	if len(by) == 0 {
		return nil
	}
	return f.Org.WithStore(func(st *storage.Store) error {
		for name, change := range by {
			id, err := pb.ParseDomainID(name)
			if err != nil || change == 0 {
				continue
			}
			d := f.domains[string(id[:])]
			found := d != nil
			if !found {
				d = &pb.Domain{}
				if found, err = st.Get(f.Part.Space.Key(storage.TableDomain, storage.ID16(id)), d); err != nil {
					return err
				}
			}
			if found {
				d.Nodes = uint32(max(0, int(d.GetNodes())+change))
				if !f.IsRestore {
					d.UpdatedMs = f.NowMs
				}
				PutDomain(f.Batch.Batch, f.Part.Space, d)
			}
		}
		return nil
	})
}

// Derives reports whether a cognition cycle writes what it has found.
func (f *Tx) Derives() bool { e := EditOf(f.Call); return e != nil && e.Derived }

// MarkForCognition notes, in a transaction that changes the partition, that cognition has to
// catch up with it.
func (f *Tx) MarkForCognition() {
	if f.Org.System.Config.WithoutDerivation || f.Derives() ||
		len(f.Changed)+len(f.IndexEntries)+len(f.RemovedChunks)+len(f.HiddenNodes)+len(f.ShownNodes) == 0 {
		return
	}
	f.State.Changes++
	if len(f.RemovedChunks)+len(f.HiddenNodes)+len(f.Forgotten) > 0 {
		f.State.Removals++
	}
	f.Batch.PutRaw(f.Org.Space.Key(storage.TableCognitionDue, storage.ID16(f.Part.ID)), nil)
}
