package cluster

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// modelOrgs is few, so that stores share shards, evict each other and are
// removed and replayed together.
const modelOrgs = 5

// unsynced are the percentages of unsynced writes that a crash may keep: none, as
// after a power failure at the worst moment, or all, as after a kill. Parts of
// them would also lose an older entry of a directory and keep a newer one
// (Pebble's marker without the manifest it names), which journaling file systems
// do not do and Pebble cannot open.
var unsynced = []int{0, 100}

// modelStore is what a store must hold: the fold of the first acked to len(ops)
// writes, in order. After OPEN the number is exact.
type modelStore struct {
	ops   []map[string]string // each write's rows; an empty value deletes
	acked int                 // so many are certain
	lease Lease
	open  bool
	old   []Lease // leases that were replaced
}

func (m *modelStore) fold(n int) map[string]string {
	rows := map[string]string{}
	for _, op := range m.ops[:n] {
		for name, value := range op {
			if value == "" {
				delete(rows, name)
			} else {
				rows[name] = value
			}
		}
	}
	return rows
}

// model is a server and what is known of it.
type model struct {
	t      *testing.T
	s      *server
	stores [modelOrgs]modelStore
	seq    int
}

func (m *model) id(i int) storage.StoreID { return mainStore(i) }

func modelConfig(c *Config, o *storage.Options) {
	c.Shards = 2
	o.MaxOpenStores = 2
}

// draw makes a random write: a few rows set or deleted.
func (m *model) draw(t *rapid.T, i int) (map[string]string, *storage.Batch) {
	op := map[string]string{}
	b := storage.NewBatch(m.id(i))
	for range rapid.IntRange(1, 3).Draw(t, "rows") {
		name := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "name")
		if _, twice := op[name]; twice {
			continue
		}
		m.seq++
		op[name] = fmt.Sprint(m.seq)
		if rapid.IntRange(0, 4).Draw(t, "delete") == 0 {
			op[name] = ""
			b.Delete(row(m.id(i), name))
		} else {
			b.PutRaw(row(m.id(i), name), []byte(op[name]))
		}
	}
	return op, b
}

// ensureOpen opens a store if needed, and checks what OPEN says.
func (m *model) ensureOpen(t *rapid.T, i int) {
	st := &m.stores[i]
	if st.open {
		return
	}
	lease, err := m.s.host.OpenStore(m.t.Context(), m.id(i))
	if err != nil {
		t.Fatal(err)
	}
	v := int(lease.Version)
	if v < st.acked || v > len(st.ops) {
		t.Fatalf("store %d is at version %d; %d writes were acknowledged, %d proposed", i, v, st.acked, len(st.ops))
	}
	if len(st.old) > 0 && lease.Epoch <= st.old[len(st.old)-1].Epoch {
		t.Fatalf("store %d: epoch %d after %d", i, lease.Epoch, st.old[len(st.old)-1].Epoch)
	}
	st.ops, st.acked = st.ops[:v], v // what OPEN did not find can never come
	st.lease, st.open = lease, true
}

func (m *model) check(t *rapid.T) {
	for i := range m.stores {
		st := &m.stores[i]
		if !st.open {
			continue // not known exactly
		}
		if got, want := m.s.rows(m.id(i)), st.fold(st.acked); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("store %d holds %v, want %v", i, got, want)
		}
	}
}

// write proposes one write and waits.
func (m *model) write(t *rapid.T) {
	i := rapid.IntRange(0, modelOrgs-1).Draw(t, "org")
	m.ensureOpen(t, i)
	st := &m.stores[i]
	op, b := m.draw(t, i)
	v, err := m.s.host.Propose(m.t.Context(), m.id(i), st.lease, b)
	if err != nil || v != st.lease.Version+1 {
		t.Fatal(v, err)
	}
	st.ops, st.acked, st.lease = append(st.ops, op), st.acked+1, st.lease.Next()
}

// reopen is a second activation; the first one's lease goes stale.
func (m *model) reopen(t *rapid.T) {
	i := rapid.IntRange(0, modelOrgs-1).Draw(t, "org")
	st := &m.stores[i]
	if st.open {
		st.old = append(st.old, st.lease)
		st.open = false
	}
	m.ensureOpen(t, i)
}

// writeStale uses a lease that was replaced.
func (m *model) writeStale(t *rapid.T) {
	i := rapid.IntRange(0, modelOrgs-1).Draw(t, "org")
	st := &m.stores[i]
	if len(st.old) == 0 || !st.open {
		t.Skip("no lease that another OPEN has replaced")
	}
	lease := rapid.SampledFrom(st.old).Draw(t, "lease")
	if rapid.Bool().Draw(t, "guess version") {
		lease.Version = uint64(st.acked)
	}
	_, b := m.draw(t, i)
	if v, err := m.s.host.Propose(m.t.Context(), m.id(i), lease, b); err == nil {
		t.Fatalf("store %d took a write under a stale lease: version %d", i, v)
	}
}

func (m *model) flush(t *rapid.T) {
	m.s.flush(m.id(rapid.IntRange(0, modelOrgs-1).Draw(t, "org")))
}

func (m *model) compact(t *rapid.T) {
	m.s.compact(m.id(rapid.IntRange(0, modelOrgs-1).Draw(t, "org")))
}

// restart goes on with another server on a disk.
func (m *model) restart(disk *storagetest.Disk) {
	m.s.stop()
	m.s = start(m.t, disk, modelConfig)
	for i := range m.stores {
		st := &m.stores[i]
		if st.open {
			st.old = append(st.old, st.lease)
			st.open = false
		}
	}
}

func (m *model) stopAndStart(*rapid.T) { m.restart(m.s.fs) }

// crash loses power while nothing is under way.
func (m *model) crash(t *rapid.T) {
	m.restart(m.s.fs.Crash(rapid.SampledFrom(unsynced).Draw(t, "unsynced"), rapid.Uint64().Draw(t, "seed")))
}

// crashDuring loses power at some sync while several organizations have
// pipelines of writes under way, and perhaps a compaction. What was acknowledged
// by then must be there; of the rest, a prefix of each pipeline.
func (m *model) crashDuring(t *rapid.T) {
	type chain struct {
		org   int
		batch []*storage.Batch
	}
	var chains []chain
	for i := range m.stores {
		if rapid.Bool().Draw(t, "busy") {
			m.ensureOpen(t, i)
			c := chain{org: i}
			for range rapid.IntRange(1, 6).Draw(t, "writes") {
				op, b := m.draw(t, i)
				m.stores[i].ops = append(m.stores[i].ops, op)
				c.batch = append(c.batch, b)
			}
			chains = append(chains, c)
		}
	}
	percent := rapid.SampledFrom(unsynced).Draw(t, "unsynced")
	seed := rapid.Uint64().Draw(t, "seed")
	at := rapid.IntRange(0, 12).Draw(t, "sync")
	compact := rapid.Bool().Draw(t, "compact")

	var mu sync.Mutex // guards acked and crashed
	acked := map[int]int{}
	var crashed *storagetest.Disk
	var atCrash map[int]int
	disk := m.s.fs
	lose := func() {
		if crashed == nil {
			atCrash = maps.Clone(acked)
			crashed = disk.Crash(percent, seed)
		}
	}
	disk.FailSync(func(path string) bool {
		if !strings.Contains(path, storagetest.Dir) {
			return false
		}
		mu.Lock()
		defer mu.Unlock()
		if at == 0 {
			lose()
		}
		at--
		return false
	})
	var wg sync.WaitGroup
	for _, c := range chains {
		lease := m.stores[c.org].lease
		for _, b := range c.batch {
			wg.Add(1)
			err := m.s.host.ProposeAsync(m.t.Context(), m.id(c.org), lease, b, func(_ uint64, err error) {
				defer wg.Done()
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					m.t.Error(err)
				}
				acked[c.org]++
			})
			if err != nil {
				t.Fatal(err)
			}
			lease = lease.Next()
		}
		m.stores[c.org].lease = lease
	}
	if compact && len(chains) > 0 {
		m.s.compact(m.id(chains[0].org))
	}
	wg.Wait()
	disk.FailSync(nil)
	mu.Lock()
	lose() // if there were not so many syncs
	mu.Unlock()
	for i, n := range atCrash {
		m.stores[i].acked += n
	}
	m.restart(crashed)
}

// TestModel lets random histories of OPENs, writes, stale writes, flushes,
// compactions, evictions, restarts and power failures run against the model:
// what was acknowledged is in the state, the state has nothing that was not
// proposed, nothing is there twice, and nothing is out of order.
func TestModel(t *testing.T) {
	storagetest.FewerChecks(t, storagetest.LessUnderRace(t, 15, 6)) // each starts and crashes several servers
	rapid.Check(t, func(rt *rapid.T) {
		m := &model{t: t, s: start(t, storagetest.NewDisk(), modelConfig)}
		defer func() { m.s.stop() }()
		rt.Repeat(map[string]func(*rapid.T){
			"":             m.check,
			"write":        m.write,
			"write again":  m.write, // twice as likely
			"reopen":       m.reopen,
			"write stale":  m.writeStale,
			"flush":        m.flush,
			"compact":      m.compact,
			"restart":      m.stopAndStart,
			"crash":        m.crash,
			"crash during": m.crashDuring,
		})
		for i := range m.stores {
			m.ensureOpen(rt, i)
		}
		m.check(rt)
	})
}
