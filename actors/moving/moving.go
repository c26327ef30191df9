package moving

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"time"

	"orgmem/actors/partition"
	"orgmem/actors/subject"
	"orgmem/actors/tenant"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/storage"
)

const (
	// look is how often the mover looks for organizations to move, and tries again what it could not move: shards come
	// to this node, and the last node of an older version leaves.
	look = time.Minute
	// turnChunks is how many chunks an organization has embedded before it is another's turn: some 40 s on two
	// processors.
	turnChunks = 1024
	// stepPatience bounds the wait for a step: a partition that takes in content without a break has none to spare. Its
	// step is not taken back.
	stepPatience = 30 * time.Second
)

// errNoTurn means that a partition's worker had other things to do.
var errNoTurn = errors.New("the partition has other work")

// Feature moves the organizations of a node.
type Feature struct {
	tenant.NoFeature

	sys *tenant.System

	mu    sync.Mutex // guards what follows
	model string     // that is moved to
	orgs  map[pb.OrgID]count
	done  count     // of organizations that were moved wholly since the start
	began time.Time // when the first chunk was moved of what is left; zero: none was
	moved uint64    // chunks since then
}

// count is how far some memories are.
type count struct {
	memories, moved  int
	chunks, embedded uint64
	wordsOnly        int    // memories of a model that the node does not have
	missing          string // one such model
}

func (c *count) add(o count) {
	c.memories += o.memories
	c.moved += o.moved
	c.chunks += o.chunks
	c.embedded += o.embedded
	c.wordsOnly += o.wordsOnly
	c.missing = cmp.Or(c.missing, o.missing)
}

// New makes the mover of a node; Run starts it.
func New(s *tenant.System) *Feature { return &Feature{sys: s, orgs: map[pb.OrgID]count{}} }

// Module tells an organization how far it is.
func (f *Feature) Module(o *tenant.Org) tenant.Module { return &Module{view: &o.View} }

// Stats adds how many chunks are left.
func (f *Feature) Stats(st *tenant.Stats) {
	p := f.Progress()
	st.ChunksToMove = p.Chunks - p.Embedded
}

// Left forgets organizations that have moved to another node.
func (f *Feature) Left(which func(pb.OrgID) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for org := range f.orgs {
		if which(org) {
			delete(f.orgs, org)
		}
	}
}

// Progress is how far a node is, with the organizations that it leads and that were not wholly moved when it started.
type Progress struct {
	Model            string // that memories are embedded with
	Organizations    int    // that are left
	Memories, Moved  int
	Chunks, Embedded uint64
	// Left is about how long it takes; 0: not known yet, or nothing is left.
	Left time.Duration
	// WordsOnly are memories whose model, Missing for one of them, the node does not have.
	WordsOnly int
	Missing   string
	Paused    bool // by Config.MovingPercent
}

// Progress tells how far the node is.
func (f *Feature) Progress() Progress {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := f.done
	for _, c := range f.orgs {
		all.add(c)
	}
	p := Progress{
		Model: f.sys.Embedders.Current().ID(), Organizations: len(f.orgs), Memories: all.memories, Moved: all.moved,
		Chunks: all.chunks, Embedded: all.embedded, WordsOnly: all.wordsOnly, Missing: all.missing,
		Paused: f.sys.Config.MovingPercent < 0,
	}
	if f.moved > 0 {
		each := float64(f.sys.Clock.Now().Sub(f.began)) / float64(f.moved)
		p.Left = time.Duration(each * float64(all.chunks-all.embedded))
	}
	return p
}

// Run moves what is to be moved until the node closes.
func (f *Feature) Run() {
	if f.sys.Config.Placement == nil && f.sys.Config.Host.WaitReady(f.sys.Lifetime) != nil {
		return
	}
	for {
		for f.round() {
			continue
		}
		if !f.sys.Sleep(look) {
			return
		}
	}
}

// round gives each organization that is to be moved a turn. It reports whether another round is to follow at once.
func (f *Feature) round() (again bool) {
	model := f.sys.Embedders.Current().ID()
	orgs := f.unmoved(model)
	for _, org := range orgs {
		if !f.known(org) && !f.survey(org, model) {
			return false
		}
	}
	if f.sys.Config.MovingPercent < 0 {
		return false
	}
	for _, org := range orgs {
		t := turn{Feature: f, org: org, model: model}
		more, err := t.take()
		if f.sys.Lifetime.Err() != nil {
			return false
		}
		if err != nil && !errors.Is(err, wire.ErrNotLeader) && !errors.Is(err, wire.ErrRemoved) {
			f.sys.Log.Warn("an organization could not be embedded anew; it is tried again", "org", org.String(), "err", err)
		}
		again = again || more
	}
	return again && model == f.sys.Embedders.Current().ID()
}

// led are the directory's entries of the organizations that this node leads, as far as it knows, shard by shard and
// in each the oldest first. The caller must not change them.
func (f *Feature) led() []*pb.OrgEntry {
	cfg := f.sys.Config
	entries := cfg.Host.Directory().Orgs()
	if cfg.Placement == nil {
		return entries
	}
	byShard := map[uint32][]*pb.OrgEntry{}
	for _, e := range entries {
		if org, err := pb.OrgIDFrom(e.GetOrg()); err == nil {
			shard := cfg.Placement.Shard(org)
			byShard[shard] = append(byShard[shard], e)
		}
	}
	var all []*pb.OrgEntry
	for _, shard := range slices.Sorted(slices.Values(cfg.Placement.Leads())) {
		all = append(all, byShard[shard]...)
	}
	return all
}

// unmoved lists the organizations that this node leads and that are not wholly embedded with a model, and forgets what
// it knew of others.
func (f *Feature) unmoved(model string) (orgs []pb.OrgID) {
	left := map[pb.OrgID]bool{}
	for _, e := range f.led() {
		org, err := pb.OrgIDFrom(e.GetOrg())
		if err == nil && e.GetEmbedded() != model {
			orgs, left[org] = append(orgs, org), true
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.model != model {
		f.model, f.done, f.began, f.moved = model, count{}, time.Time{}, 0
		clear(f.orgs)
	}
	for org := range f.orgs {
		if !left[org] {
			delete(f.orgs, org)
		}
	}
	if len(orgs) == 0 {
		f.began, f.moved = time.Time{}, 0
	}
	return orgs
}

func (f *Feature) known(org pb.OrgID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, known := f.orgs[org]
	return known
}

// survey counts what an organization has, from the store alone, so that progress can be told from the start. It reports
// false when the node closes.
func (f *Feature) survey(org pb.OrgID, model string) bool {
	began := f.sys.Clock.Now()
	st, err := f.sys.Config.Storage.AcquireToRead(tenant.MainStoreOf(org))
	if err == nil {
		var c count
		if c, _, err = countAll(&f.sys.Embedders, st, tenant.MainStoreOf(org), model); err == nil {
			f.note(org, c)
		}
		st.Release()
	}
	if err != nil { // it is counted again when it has its turn
		f.sys.Log.Debug("an organization's vectors were not counted", "org", org.String(), "err", err)
	}
	return f.rest(f.sys.Clock.Now().Sub(began), began)
}

// note says how far an organization is.
func (f *Feature) note(org pb.OrgID, c count) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.orgs[org] = c
}

// countAll counts the memories in a store, and lists those that are to be moved, or have vectors of a move that was
// called off.
func countAll(e *partition.Embedders, r storage.Reader, store storage.StoreID, model string) (c count,
	outdated []pb.PartitionID, err error,
) {
	for rec, err := range storage.ScanRecords(r, storage.OrgSpace(store).Prefix(storage.TablePartition),
		storage.ScanOptions{}, func() *pb.Partition { return &pb.Partition{} }) {
		if err != nil {
			return c, nil, err
		}
		id, err := pb.PartitionIDFrom(rec.Value.GetId())
		if err != nil {
			return c, nil, err
		}
		if rec.Value.GetErasing() {
			continue
		}
		at, err := partition.EmbeddedWith(r, storage.PartitionSpace(store, id), model)
		if err != nil {
			return c, nil, err
		}
		left, err := partition.Leftovers(r, storage.PartitionSpace(store, id), at.Model)
		if err != nil {
			return c, nil, err
		}
		c.memories++
		c.chunks += at.Chunks
		c.embedded += at.Embedded
		if !at.Outdated {
			if c.moved++; len(left) > 0 {
				outdated = append(outdated, id)
			}
			continue
		}
		outdated = append(outdated, id)
		if e.ByID(at.Model) == nil {
			c.wordsOnly++
			c.missing = at.Model
		}
	}
	return c, outdated, nil
}

// rest waits until what was taken of the CPU workers since a time is MovingPercent of them. It reports false when the
// node closes.
func (f *Feature) rest(took time.Duration, since time.Time) bool {
	cfg := &f.sys.Config
	if cfg.MovingPercent <= 0 {
		return f.sys.Lifetime.Err() == nil
	}
	due := time.Duration(float64(took) * 100 / float64(cfg.Workers*cfg.MovingPercent))
	wait := due - f.sys.Clock.Now().Sub(since)
	if wait <= 0 {
		return f.sys.Lifetime.Err() == nil
	}
	return f.sys.Sleep(wait)
}

// turn is an organization's turn.
type turn struct {
	*Feature

	org   pb.OrgID
	model string
	view  *tenant.View
}

// take moves some of the organization. It reports whether there is more that can be moved at once.
func (t *turn) take() (more bool, err error) {
	if err := t.enter(); err != nil {
		return false, err
	}
	outdated, err := t.count()
	if err != nil {
		return false, err
	}
	var failed error
	budget := turnChunks
	for i, part := range outdated {
		var over bool
		if over, err = t.move(part, &budget); err != nil {
			failed = errors.Join(failed, err)
		}
		if budget <= 0 && (!over || i+1 < len(outdated)) {
			more = true
			break
		}
		if t.sys.Lifetime.Err() != nil {
			return false, nil //nolint:nilerr // the node stops: what failed for that is no failure
		}
	}
	if len(outdated) > 0 {
		if outdated, err = t.count(); err != nil {
			return false, err
		}
	}
	if len(outdated) == 0 {
		return false, t.leave(true)
	}
	return more && failed == nil, errors.Join(failed, t.leave(false))
}

// enter opens the organization. Where the directory says that it is wholly embedded with another model, it says so no
// more: from the first partition on it would be wrong.
func (t *turn) enter() error {
	return t.sys.Visit(t.sys.Lifetime, t.org, func(o *tenant.Org, done func(error)) {
		if o.Record() == nil {
			done(wire.ErrRemoved) // or being created: then it is marked
			return
		}
		t.view = &o.View
		if e, ok := t.sys.Config.Host.Directory().Org(t.org); ok && e.GetEmbedded() != "" {
			o.MarkEmbedded("", done)
			return
		}
		done(nil)
	})
}

// leave lets an organization go that nobody uses, and marks it where all of it is moved.
func (t *turn) leave(wholly bool) error {
	return t.sys.Visit(t.sys.Lifetime, t.org, func(o *tenant.Org, done func(error)) {
		if !wholly {
			done(nil)
			return
		}
		o.MarkEmbedded(t.model, func(err error) {
			if err == nil {
				t.over()
			}
			o.LeaveSoon()
			done(err)
		})
	})
}

// over counts the organization among those that are moved.
func (t *turn) over() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done.add(t.orgs[t.org])
	delete(t.orgs, t.org)
}

// count counts the organization, and lists what is to be moved of it.
func (t *turn) count() (outdated []pb.PartitionID, err error) {
	var c count
	err = t.view.WithStore(func(st *storage.Store) (err error) {
		c, outdated, err = countAll(&t.sys.Embedders, st, t.view.Store, t.model)
		return err
	})
	if err == nil {
		t.note(t.org, c)
	}
	return outdated, err
}

// move moves a partition as far as the budget of chunks goes. over reports that nothing is left of it.
func (t *turn) move(part pb.PartitionID, budget *int) (over bool, err error) {
	defer func() { err = errors.Join(err, t.tell(part, subject.Leave{})) }()
	for *budget > 0 {
		began := t.sys.Clock.Now()
		m, err := t.step(part)
		if err != nil {
			return false, err
		}
		t.progress(m.Chunks)
		if *budget -= max(m.Chunks, 1); m.Over {
			over = true
		}
		if !t.rest(m.Took, began) || over {
			break
		}
	}
	return over, nil
}

// progress counts chunks that were embedded.
func (t *turn) progress(chunks int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.began.IsZero() {
		t.began = t.sys.Clock.Now()
	}
	t.moved += uint64(chunks)
	c := t.orgs[t.org]
	c.embedded = min(c.chunks, c.embedded+uint64(chunks))
	t.orgs[t.org] = c
}

// step has a partition's worker carry out one step, and waits for it.
func (t *turn) step(part pb.PartitionID) (subject.Moved, error) {
	type outcome struct {
		moved subject.Moved
		err   error
	}
	answer := make(chan outcome, 1)
	told := t.tell(part, &subject.MoveStep{Answer: func(m subject.Moved, err error) { answer <- outcome{m, err} }})
	if told != nil {
		return subject.Moved{}, told
	}
	late := t.sys.Clock.NewTimer(stepPatience)
	defer late.Stop()
	select {
	case o := <-answer:
		return o.moved, o.err
	case <-late.C():
		return subject.Moved{}, errNoTurn
	case <-t.sys.Lifetime.Done():
		return subject.Moved{}, t.sys.Lifetime.Err()
	}
}

// tell sends the actor of a partition a message.
func (t *turn) tell(part pb.PartitionID, message any) error {
	return t.sys.Visit(t.sys.Lifetime, t.org, func(o *tenant.Org, done func(error)) {
		if !o.Tell(part, message) {
			done(errNoTurn) // it is being purged or erased
			return
		}
		done(nil)
	})
}
