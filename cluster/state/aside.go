package state

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/storage"
)

// AsidePrefix begins the stable keys that hold entries for a store which was damaged when
// they were to be applied, where no other node has a copy that would help. The store's
// name and the entry's index follow. A shard must not stand still for one organization's
// damaged disk block, and must not cut its log while the log alone has what that store
// lacks; so what it lacks is kept beside the log. Nothing new comes while the store is
// out of service, so these are the entries that were under way when the damage was found,
// and those of the log's last stretch after a restart.
const AsidePrefix = "orgmem/aside/"

func asideKey(id storage.StoreID, index uint64) []byte {
	return fmt.Appendf(nil, "%s%v/%016x", AsidePrefix, id, index)
}

// setAside keeps entries of a store that is out of service.
func (m *Stores) setAside(id storage.StoreID, entries []Entry, at []int, results []Result) error {
	for _, i := range at {
		b, err := proto.Marshal(entries[i].Command)
		if err == nil {
			err = m.log.SetStable(m.Group, asideKey(id, entries[i].Index), b)
		}
		if err != nil {
			return fmt.Errorf("set entry %d aside: %w", entries[i].Index, err)
		}
		results[i] = Result{Err: wire.Unknown(m.node.OutOfService(id))}
	}
	return nil
}

// aside is one entry that was set aside.
type aside struct {
	key   []byte
	store storage.StoreID
	Index uint64
}

// Asides returns the entries that were set aside, by store and index.
func (m *Stores) Asides(prefix string) ([]aside, error) {
	keys, err := m.log.StableKeys(m.Group, []byte(prefix))
	if err != nil {
		return nil, err
	}
	all := make([]aside, len(keys))
	for i, key := range keys {
		name, index, _ := strings.Cut(strings.TrimPrefix(string(key), AsidePrefix), "/")
		all[i].key = key
		if all[i].store, err = storage.ParseStoreID(name); err == nil {
			all[i].Index, err = strconv.ParseUint(index, 16, 64)
		}
		if err != nil {
			return nil, fmt.Errorf("entry that was set aside: %q: %w", key, err)
		}
	}
	slices.SortFunc(all, func(a, b aside) int {
		return cmp.Or(cmp.Compare(a.store.String(), b.store.String()), cmp.Compare(a.Index, b.Index))
	})
	return all, nil
}

// AsideCount returns how many entries are set aside, of all stores.
func (m *Stores) AsideCount() (int, error) {
	all, err := m.Asides(AsidePrefix)
	return len(all), err
}

// dropAside forgets what was set aside for a store that is replaced or removed.
func (m *Stores) dropAside(id storage.StoreID) error {
	all, err := m.Asides(fmt.Sprintf("%s%v/", AsidePrefix, id))
	if err != nil || len(all) == 0 {
		return err
	}
	keys := make([][]byte, len(all))
	for i, a := range all {
		keys[i] = a.key
	}
	return m.log.DeleteStable(m.Group, keys...)
}

// ApplyAside applies what was set aside to the stores that can be read again: an operator
// who has put a damaged file right gets all that was acknowledged. It is called before
// the group's log is replayed. The log brings what lies behind the marker. What lies
// before it is here or in the stores' files, so the order holds.
func (m *Stores) ApplyAside(marker uint64) error {
	all, err := m.Asides(AsidePrefix)
	if err != nil {
		return err
	}
	for len(all) > 0 {
		n := slices.IndexFunc(all, func(a aside) bool { return a.store != all[0].store })
		if n < 0 {
			n = len(all)
		}
		if err := m.applyAsideTo(marker, all[:n]); err != nil && !errors.Is(err, storage.ErrOutOfService) {
			return fmt.Errorf("apply what was set aside for store %v: %w", all[0].store, err)
		}
		all = all[n:]
	}
	return nil
}

func (m *Stores) applyAsideTo(marker uint64, all []aside) error {
	var entries []Entry
	var keys [][]byte
	for _, a := range all {
		if a.Index > marker {
			break
		}
		b, _, err := m.log.GetStable(m.Group, a.key)
		if err != nil {
			return err
		}
		e := Entry{Index: a.Index, Command: new(pb.Command)}
		if err := proto.Unmarshal(b, e.Command); err != nil {
			return err
		}
		entries, keys = append(entries, e), append(keys, a.key)
	}
	if len(entries) == 0 {
		return nil
	}
	at := make([]int, len(entries))
	for i := range at {
		at[i] = i
	}
	id := all[0].store
	if err := m.write(id, entries, at, make([]Result, len(entries))); err != nil {
		return err
	}
	store, err := m.node.AcquireForApply(id)
	if err != nil {
		return err
	}
	defer store.Release()
	if err := store.Flush(); err != nil {
		return err
	}
	return m.log.DeleteStable(m.Group, keys...)
}
