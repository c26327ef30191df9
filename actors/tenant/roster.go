package tenant

import (
	"orgmem/actors/partition"
	pb "orgmem/proto"
	"orgmem/storage"
)

// roster are the members and subjects of an organization that its actor remembers; it looks up the rest in the store.
type roster struct {
	view     *View
	subjects map[pb.SubjectKey]*partition.Ref
	members  map[pb.UserID]*partition.Ref
	erasing  map[pb.PartitionID]bool // their erasure is being committed: of no use any more
}

// Member returns a human member's own partition.
func (r *roster) Member(user pb.UserID) (*partition.Ref, error) {
	if ref := r.members[user]; ref != nil {
		return ref, nil
	}
	ref, err := r.LoadPartition(pb.PartitionID(user))
	if err != nil || ref == nil || ref.Kind != pb.PartitionMember {
		return nil, err // a subject's partition has an id of the same kind, and is nobody's
	}
	if len(r.members) >= maxCachedSubjects {
		clear(r.members)
	}
	r.members[user] = ref
	return ref, nil
}

// ForgetMember forgets a member that is about to be removed.
func (r *roster) ForgetMember(user pb.UserID) { delete(r.members, user) }

// ErasureCommitted ends what BeginErasure began: from here on the store says that the partition is being erased, or
// that it is not.
func (r *roster) ErasureCommitted(id pb.PartitionID) { delete(r.erasing, id) }

// LookupSubject returns a provisioned subject's partition, nil when there is
// none.
func (r *roster) LookupSubject(name pb.SubjectKey) (*partition.Ref, error) {
	if ref := r.subjects[name]; ref != nil {
		return ref, nil
	}
	var id pb.PartitionID
	found := false
	err := r.view.WithStore(func(st *storage.Store) error {
		raw, ok, err := st.GetRaw(r.view.Space.Key(storage.TableSubject, storage.Str(name)))
		if err != nil || !ok {
			return err
		}
		found = true
		id, err = pb.PartitionIDFrom(raw)
		return err
	})
	if err != nil || !found {
		return nil, err
	}
	ref, err := r.LoadPartition(id)
	if err != nil || ref == nil {
		return nil, err
	}
	r.rememberSubject(ref)
	return ref, nil
}

func (r *roster) rememberSubject(ref *partition.Ref) {
	if len(r.subjects) >= maxCachedSubjects {
		clear(r.subjects)
	}
	r.subjects[ref.Subject] = ref
}

// LoadPartition reads a partition from the store, past what the actor remembers. It returns nil where the organization
// has no partition of that id, and where the partition is being erased.
func (r *roster) LoadPartition(id pb.PartitionID) (*partition.Ref, error) {
	if r.erasing[id] {
		return nil, nil
	}
	rec := &pb.Partition{}
	found := false
	err := r.view.WithStore(func(st *storage.Store) (err error) {
		found, err = st.Get(r.view.Space.Key(storage.TablePartition, storage.ID16(id)), rec)
		return err
	})
	if err != nil || !found || rec.GetErasing() {
		return nil, err
	}
	return partition.NewRef(r.view.Store, r.view, id, rec), nil
}
