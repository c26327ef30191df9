package actors

import (
	"bytes"
	"slices"

	"orgmem/actors/partition"
	"orgmem/brain/index"
	pb "orgmem/proto"
	"orgmem/storage"
)

// segment builds the index of the slice's new chunks.
func (f *effect) segment(dim int) (*index.Segment, error) {
	b := index.NewBuilder(index.ModelID(f.model), dim)
	for _, entry := range f.entries {
		if err := b.Add(entry); err != nil {
			return nil, err
		}
	}
	return b.Build()
}

// markForgotten notes the stored segments that hold something of the nodes that
// the effect forgets: also chunks that were replaced before.
func (f *effect) markForgotten(now *partition.Index) {
	mark := func(id uint64) {
		if !slices.Contains(f.state.GetForgottenSegments(), id) {
			f.state.ForgottenSegments = append(f.state.ForgottenSegments, id)
		}
	}
	for _, v := range now.Snapshot.Views {
		if v.ID == 0 {
			continue
		}
		whole := &index.Snapshot{Views: []index.View{{Segment: v.Segment}}}
		if whole.Forget(f.forgotten...) != whole {
			mark(v.ID)
		}
	}
	for _, old := range now.Stale {
		mark(old.ID)
	}
	if len(f.state.GetForgottenSegments()) > 0 && f.state.GetForgottenMs() == 0 {
		f.state.ForgottenMs = f.now
	}
}

// putLiveness writes the liveness of stored segments in which something was
// hidden or shown.
func putLiveness(b *storage.Batch, part *partition.Ref, before, after *index.Snapshot) {
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

// countDomains keeps the numbers of live nodes that domains have.
func (f *effect) countDomains() error {
	by := map[string]int{}
	for _, id := range f.changed {
		if was := f.places[id]; was.domain != "" && was.status == pb.StatusLive {
			by[was.domain]--
		}
		if n := f.nodes[id]; n.GetDomain() != "" && n.GetStatus() == pb.StatusLive {
			by[n.GetDomain()]++
		}
	}
	if len(by) == 0 {
		return nil
	}
	return f.org.WithStore(func(st *storage.Store) error {
		for name, change := range by {
			id, err := pb.ParseDomainID(name)
			if err != nil || change == 0 {
				continue
			}
			d := f.domains[string(id[:])]
			found := d != nil
			if !found {
				d = &pb.Domain{}
				if found, err = st.Get(f.part.Space.Key(storage.TableDomain, storage.ID16(id)), d); err != nil {
					return err
				}
			}
			if found {
				d.Nodes = uint32(max(0, int(d.GetNodes())+change))
				if !f.restores {
					d.UpdatedMs = f.now
				}
				putDomain(f.batch.Batch, f.part.Space, d)
			}
		}
		return nil
	})
}

// derives reports whether a cognition cycle writes what it has found.
func (f *effect) derives() bool { e := editOf(f.call); return e != nil && e.derived }

// leaveWork notes in an effect that changes the partition that cognition has to
// catch up with it.
func (f *effect) leaveWork() {
	if f.org.System.Config.Plain || f.derives() || len(f.changed)+len(f.entries)+len(f.gone)+len(f.hide)+len(f.show) == 0 {
		return
	}
	f.state.Changes++
	if len(f.gone)+len(f.hide)+len(f.forgotten) > 0 {
		f.state.Removals++
	}
	f.batch.PutRaw(f.org.Space.Key(storage.TableCognitionDue, storage.ID16(f.part.ID)), nil)
}
