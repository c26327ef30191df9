package state

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// Directory is the meta group's state: which organization a key hash belongs to,
// and which organizations there are.
//
// All of it is in memory beside the meta store. A bounded cache of key hashes
// would have to go to the disk for every key it does not hold, and keys that do
// not exist are the attacker's choice; with the whole map a miss is final and
// costs 50 ns. 100,000 organizations with 5 keys each are 30 MB.
type Directory struct {
	cfg   DirectoryConfig
	store *storage.Store // held open while the host runs; written by apply only

	mu    sync.RWMutex // guards what follows; apply writes, everybody reads
	orgs  map[pb.OrgID]*dirOrg
	slugs map[string]*dirOrg // of organizations that are not removed
	keys  map[pb.KeyHash]*dirOrg
	meta  *Meta // the rest of the meta group's state
}

// DirectoryConfig says what a Directory is made of. All fields are required.
type DirectoryConfig struct {
	// Storage has the meta store.
	Storage *storage.Node
	// Clock says which join tokens have expired.
	Clock  clock.Clock
	Logger *slog.Logger
	// Halt stops the process; it is called where the directory has lost its store, or
	// holds what this program does not understand.
	Halt func(msg string)
	// Shards is the cluster's number of shards, and Speaks the newest version whose
	// commands this program understands.
	Shards int
	Speaks uint32
	// MaxKeys and MaxKeysPerOrg bound the key hashes; the constants of these names,
	// less in tests.
	MaxKeys, MaxKeysPerOrg int

	// Propose enters a command into the meta group's log, wherever that is led, and
	// returns when it is applied here. Errors are the proposal's and the refusals of
	// Apply.
	Propose func(ctx context.Context, cmd *pb.Command) error
	// RemoveStores removes all stores of an organization from its shard.
	RemoveStores func(ctx context.Context, org pb.OrgID) error
	// Fresh waits until this node has applied what any node had acknowledged before
	// the call; ErrNotReady.
	Fresh func(ctx context.Context) error
}

// dirOrg is one organization; entry is replaced, never changed.
type dirOrg struct {
	id    pb.OrgID
	entry *pb.OrgEntry
	keys  int // of Directory.keys lead to it; guarded by Directory.mu
}

var dirSpace = storage.OrgSpace(storage.MetaStore)

func keyRow(k pb.KeyHash) storage.Key {
	return dirSpace.Key(storage.TableDirectoryKey, storage.Hash32(k))
}

func orgRow(id pb.OrgID) storage.Key {
	return dirSpace.Key(storage.TableDirectoryOrg, storage.ID16(id))
}

// Lookup returns the organization a key hash belongs to; false when there is
// none or it was removed. It never touches the disk.
func (d *Directory) Lookup(key pb.KeyHash) (pb.OrgID, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	o := d.keys[key]
	if o == nil || o.entry.GetRemoved() {
		return pb.OrgID{}, false
	}
	return o.id, true
}

// Org returns an entry; false when it is unknown. Of a removed organization
// only the id and Removed are left. The caller must not change it.
func (d *Directory) Org(id pb.OrgID) (*pb.OrgEntry, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	o := d.orgs[id]
	if o == nil {
		return nil, false
	}
	return o.entry, true
}

// OrgBySlug returns the organization that has a slug and is not removed. The
// caller must not change it.
func (d *Directory) OrgBySlug(slug string) (*pb.OrgEntry, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	o := d.slugs[slug]
	if o == nil {
		return nil, false
	}
	return o.entry, true
}

// Orgs returns the entries that are not removed, by creation time and then id.
// The caller must not change them.
func (d *Directory) Orgs() []*pb.OrgEntry {
	d.mu.RLock()
	entries := make([]*pb.OrgEntry, 0, len(d.orgs))
	for _, o := range d.orgs {
		if !o.entry.GetRemoved() {
			entries = append(entries, o.entry)
		}
	}
	d.mu.RUnlock()
	slices.SortFunc(entries, func(a, b *pb.OrgEntry) int {
		return cmp.Or(cmp.Compare(a.GetCreatedMs(), b.GetCreatedMs()), slices.Compare(a.GetOrg(), b.GetOrg()))
	})
	return entries
}

// PutOrg creates or updates an organization's entry. A slug that is not empty
// is unique among the organizations that are not removed (ErrSlugTaken). A
// removed organization stays removed (ErrOrgRemoved).
func (d *Directory) PutOrg(ctx context.Context, entry *pb.OrgEntry) error {
	if _, err := pb.OrgIDFrom(entry.GetOrg()); err != nil {
		return wire.NotApplied(err)
	}
	if entry.GetRemoved() {
		return wire.NotApplied(fmt.Errorf("put org: %w", wire.ErrOrgRemoved))
	}
	if err := d.cfg.Storage.Writable(); err != nil {
		return wire.NotApplied(err)
	}
	return d.propose(ctx, "put org", &pb.Command{Kind: &pb.Command_PutOrg{
		PutOrg: &pb.PutOrg{Entry: entry},
	}})
}

// RemoveOrg marks an organization as removed, erases its name and slug, and then removes
// both its stores and drops its keys. From its return on no key of it resolves and no
// proposal to its stores is applied (ErrRemoved). After an error call it again; the next
// start finishes what a crash leaves half done. It works on a full disk, since it is what
// makes room.
func (d *Directory) RemoveOrg(ctx context.Context, org pb.OrgID) error {
	err := d.propose(ctx, "remove org", &pb.Command{Kind: &pb.Command_RemoveOrg{
		RemoveOrg: &pb.RemoveOrg{Org: org.Bytes()},
	}})
	if err != nil {
		return err
	}
	if err := d.cfg.RemoveStores(ctx, org); err != nil {
		return err
	}
	if err := d.DropKeysOfRemoved(ctx, org); err != nil {
		d.cfg.Logger.Warn("keys of a removed organization not dropped; a later sweep does it", "org", org, "error", err)
	}
	return nil
}

func (d *Directory) propose(ctx context.Context, what string, cmd *pb.Command) error {
	if err := d.cfg.Propose(ctx, cmd); err != nil {
		return fmt.Errorf("directory: %s: %w", what, err)
	}
	return nil
}

// OpenDirectory loads the meta store. What the meta group's log holds beyond it
// is applied when the group has elected itself.
func OpenDirectory(cfg DirectoryConfig) (*Directory, error) {
	store, err := cfg.Storage.Acquire(storage.MetaStore)
	if err != nil {
		return nil, fmt.Errorf("cluster: open directory: %w", err)
	}
	d := &Directory{
		cfg:   cfg,
		store: store,
		orgs:  map[pb.OrgID]*dirOrg{},
		slugs: map[string]*dirOrg{},
		keys:  map[pb.KeyHash]*dirOrg{},
	}
	d.meta = newMeta(d)
	if err := d.load(); err != nil {
		store.Release()
		return nil, fmt.Errorf("cluster: load directory: %w", err)
	}
	return d, nil
}

// Meta returns the rest of the meta group's state.
func (d *Directory) Meta() *Meta { return d.meta }

// Close lets go of the meta store.
func (d *Directory) Close() { d.store.Release() }

// Apply is machine's. Entries are applied one by one, each in its own Pebble
// batch: they are few (one per new key or organization), and each is judged by
// the state that the one before it left.
func (d *Directory) Apply(entries []Entry) ([]Result, error) {
	results := make([]Result, len(entries))
	for i, e := range entries {
		if e.Index <= d.store.Applied() {
			continue // replay of what is flushed
		}
		batch := storage.NewBatch(storage.MetaStore)
		publish, err := d.judge(e.Command, batch)
		if errors.Is(err, ErrBadCommand) {
			return nil, fmt.Errorf("log entry %d: %w", e.Index, err)
		}
		if err != nil {
			results[i] = Result{Err: err}
			continue
		}
		// Only here: until now the raise might have been refused, for this node's sake.
		if v, speaks := e.Command.GetSetClusterVersion().GetVersion(), d.cfg.Speaks; v > speaks {
			return nil, fmt.Errorf("log entry %d: %w", e.Index, wire.Outdated(v, speaks))
		}
		if err := d.write(e.Index, batch); err != nil {
			return nil, err
		}
		d.mu.Lock()
		publish()
		d.mu.Unlock()
	}
	return results, nil
}

// ErrBadCommand marks an entry that no Directory has proposed.
var ErrBadCommand = errors.New("not a directory command")

// judge decides one command by the present state. It fills the batch and
// returns how memory changes, or the refusal. It runs in the only goroutine that
// changes the maps, so it reads them without the lock.
func (d *Directory) judge(cmd *pb.Command, batch *storage.Batch) (publish func(), err error) {
	switch k := cmd.GetKind().(type) {
	case *pb.Command_PutKey:
		key, err1 := pb.KeyHashFrom(k.PutKey.GetKeyHash())
		org, err2 := pb.OrgIDFrom(k.PutKey.GetOrg())
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrBadCommand, err)
		}
		return d.judgeKey(key, org, batch)
	case *pb.Command_DropKeys:
		return d.judgeDrop(k.DropKeys, batch)
	case *pb.Command_PutOrg:
		org, err := pb.OrgIDFrom(k.PutOrg.GetEntry().GetOrg())
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrBadCommand, err)
		}
		return d.judgeOrg(org, k.PutOrg.GetEntry(), batch)
	case *pb.Command_RemoveOrg:
		org, err := pb.OrgIDFrom(k.RemoveOrg.GetOrg())
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrBadCommand, err)
		}
		if d.orgs[org] == nil {
			return nil, wire.ErrOrgUnknown
		}
		entry := &pb.OrgEntry{Org: org.Bytes(), Removed: true}
		batch.Erase(orgRow(org)) // its name leaves the files, and the group's log
		batch.Put(orgRow(org), entry)
		return func() { d.publishOrg(org, entry) }, nil
	}
	return d.meta.judge(cmd, batch)
}

func (d *Directory) judgeKey(key pb.KeyHash, org pb.OrgID, batch *storage.Batch) (func(), error) {
	o := d.orgs[org]
	if o == nil {
		return nil, wire.ErrOrgUnknown
	}
	if o.entry.GetRemoved() {
		return nil, wire.ErrOrgRemoved
	}
	switch d.keys[key] {
	case nil:
		batch.PutRaw(keyRow(key), org.Bytes())
		return func() { d.keys[key] = o; o.keys++ }, nil
	case o:
		return func() {}, nil
	default: // also when that organization was removed, until its keys are dropped
		return nil, wire.ErrKeyTaken
	}
}

func (d *Directory) judgeOrg(org pb.OrgID, entry *pb.OrgEntry, batch *storage.Batch) (func(), error) {
	if o := d.orgs[org]; o != nil && o.entry.GetRemoved() {
		return nil, wire.ErrOrgRemoved
	}
	if o := d.slugs[entry.GetSlug()]; o != nil && o.id != org {
		return nil, wire.ErrSlugTaken
	}
	if o := d.orgs[org]; o != nil && (o.entry.GetName() != entry.GetName() || o.entry.GetSlug() != entry.GetSlug()) {
		batch.Erase(orgRow(org)) // so does what it was called
	}
	batch.Put(orgRow(org), entry)
	return func() { d.publishOrg(org, entry) }, nil
}

// publishOrg makes an entry the one that readers see. Its caller holds mu, or is
// load.
func (d *Directory) publishOrg(org pb.OrgID, entry *pb.OrgEntry) {
	o := d.orgs[org]
	if o == nil {
		o = &dirOrg{id: org}
		d.orgs[org] = o
	} else if slug := o.entry.GetSlug(); d.slugs[slug] == o {
		delete(d.slugs, slug)
	}
	o.entry = entry
	if slug := entry.GetSlug(); slug != "" && !entry.GetRemoved() {
		d.slugs[slug] = o
	}
}

// load reads the meta store into memory.
func (d *Directory) load() error {
	orgs := dirSpace.Prefix(storage.TableDirectoryOrg)
	for rec, err := range storage.ScanRecords(
		d.store, orgs, storage.ScanOptions{}, func() *pb.OrgEntry { return new(pb.OrgEntry) },
	) {
		if err != nil {
			return err
		}
		org, err := pb.OrgIDFrom(rec.Value.GetOrg())
		if err != nil {
			return err
		}
		d.publishOrg(org, rec.Value)
	}
	for k, err := range scanKeys(d.store) {
		if err != nil {
			return err
		}
		o := d.orgs[k.org]
		if o == nil {
			return fmt.Errorf("key of organization %v: %w", k.org, wire.ErrOrgUnknown)
		}
		d.keys[k.hash] = o
		o.keys++
	}
	return d.meta.load()
}

// write puts a judged command's rows into the meta store. Its conditions were
// checked above, so the store takes it as it is.
func (d *Directory) write(index uint64, batch *storage.Batch) error {
	r, err := d.store.Apply(storage.Entry{Index: index, Kind: storage.EntryPlain, Changes: batch.Changes()})
	if err != nil {
		return fmt.Errorf("log entry %d: %w", index, err)
	}
	if r.Outcome != storage.OutcomeApplied {
		return fmt.Errorf("log entry %d: outcome %v of a directory command", index, r.Outcome)
	}
	return nil
}

// Flush is machine's. It has a hold of its own: replace exchanges the
// directory's.
func (d *Directory) Flush() error {
	store, err := d.cfg.Storage.Acquire(storage.MetaStore)
	if err != nil {
		return err
	}
	defer store.Release()
	return store.Flush()
}

// Mark is machine's. The directory has one store; what it holds is asked of it.
func (d *Directory) Mark() {}

// Stores is machine's.
func (d *Directory) Stores() (map[storage.StoreID]uint64, []storage.StoreID, error) {
	store, err := d.cfg.Storage.Acquire(storage.MetaStore)
	if err != nil {
		return nil, nil, err
	}
	defer store.Release()
	return map[storage.StoreID]uint64{storage.MetaStore: store.Applied()}, nil, nil
}

// Holds is machine's.
func (d *Directory) Holds(id storage.StoreID) (uint64, error) {
	if id != storage.MetaStore {
		return 0, fmt.Errorf("store %v is none of the meta group", id)
	}
	return d.store.Applied(), nil
}

// Replace is machine's. Readers go on with what is in memory until the new store
// is loaded.
func (d *Directory) Replace(_ storage.StoreID, stage *storage.Stage, atLeast uint64) error {
	d.store.Release()
	err := stage.Adopt(atLeast)
	var err2 error
	if d.store, err2 = d.cfg.Storage.Acquire(storage.MetaStore); err2 != nil {
		// Without its store the directory cannot go on; closing it would meet a nil.
		d.cfg.Halt(fmt.Sprintf("cluster: the directory's store cannot be opened: %v", err2))
	}
	if err = errors.Join(err, err2); err != nil {
		return err
	}
	fresh := &Directory{
		cfg: d.cfg, store: d.store,
		orgs: map[pb.OrgID]*dirOrg{}, slugs: map[string]*dirOrg{}, keys: map[pb.KeyHash]*dirOrg{},
	}
	fresh.meta = newMeta(fresh)
	if err := fresh.load(); err != nil {
		return fmt.Errorf("load directory: %w", err)
	}
	if v := fresh.meta.version; v > d.cfg.Speaks {
		d.cfg.Halt(fmt.Sprintf("cluster: the directory: %v", wire.Outdated(v, d.cfg.Speaks)))
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.orgs, d.slugs, d.keys = fresh.orgs, fresh.slugs, fresh.keys
	d.meta.adopt(fresh.meta)
	return nil
}

// RemoveAll is machine's. The directory's store is never removed.
func (d *Directory) RemoveAll(ids []storage.StoreID) error {
	if len(ids) > 0 {
		return fmt.Errorf("removal of %v from the meta group", ids)
	}
	return nil
}

// Fresh waits until this node's copy of the directory holds everything that was
// acknowledged, on any node, before the call. The error is ErrNotReady when the
// meta group has no leader that answers, or is not here for the moment, or the
// context's.
func (d *Directory) Fresh(ctx context.Context) error { return d.cfg.Fresh(ctx) }

// Find is Lookup that believes in a miss only after it asked the meta group's
// leader, so that a key works on every node as soon as it was acknowledged on one.
// However many keys are missed, one question is under way at a time. The error is
// Fresh's.
func (d *Directory) Find(ctx context.Context, key pb.KeyHash) (pb.OrgID, bool, error) {
	if org, ok := d.Lookup(key); ok {
		return org, true, nil
	}
	if err := d.Fresh(ctx); err != nil {
		return pb.OrgID{}, false, err
	}
	org, ok := d.Lookup(key)
	return org, ok, nil
}

// RemovedOrgs returns the organizations that are marked as removed.
func (d *Directory) RemovedOrgs() []pb.OrgID {
	d.mu.RLock()
	defer d.mu.RUnlock()
	var ids []pb.OrgID
	for id, o := range d.orgs {
		if o.entry.GetRemoved() {
			ids = append(ids, id)
		}
	}
	return ids
}
