package cluster

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"orgmem/cluster/clustertest"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const (
	childListenEnv  = "ORGMEM_CLUSTER_CHILD_LISTEN"
	childCompactEnv = "ORGMEM_CLUSTER_CHILD_COMPACT"
	// roundPatience bounds a round, which takes some five seconds: an election and the
	// writes. The machine may have other things to do.
	roundPatience = 5 * time.Minute
	// killAllEnv is how often TestKillAll kills; `make crash-all` says 100.
	killAllEnv = "ORGMEM_KILL_ALL_ROUNDS"
)

// compacting makes a node cut its logs all the time, or never.
func compacting(always bool) func(*Config, *storage.Options) {
	return func(c *Config, o *storage.Options) {
		c.CompactBytes, o.MaxOpenStores = 16<<10, 3
		if !always {
			c.CompactBytes, c.CompactTotalBytes, c.CompactAge = 1<<40, 1<<40, 24*time.Hour
		}
	}
}

// memberChild is a node of a cluster that writes to those organizations whose
// shards it leads, each several rows at a time. It says what it finds in a store
// that it opens, and every row that was acknowledged, until it is killed.
func memberChild() {
	ctx := context.Background()
	s, err := openStation(
		ctx, os.Getenv(childDirEnv), os.Getenv(childListenEnv), compacting(os.Getenv(childCompactEnv) == "always"),
	)
	if err != nil {
		fmt.Println("error", err)
		return
	}
	for i := range childOrgs {
		go func() {
			for {
				if s.host.Lead(mainStore(i).Org) == nil {
					if err := s.fill(ctx, i); err != nil {
						fmt.Println("error", err)
					}
				}
				_ = clock.Wait(ctx, clock.Real(), 5*time.Millisecond)
			}
		}()
	}
	select {}
}

// fill writes rows behind those that are there until one fails, which is what
// happens when somebody else leads. An error is something that must not be.
func (s *station) fill(ctx context.Context, i int) error {
	id := mainStore(i)
	lease, err := s.host.OpenStore(ctx, id)
	if err != nil {
		return nil //nolint:nilerr // not the leader any more
	}
	rows, err := s.count(id, lease.Version)
	if err != nil {
		return fmt.Errorf("organization %d: %w", i, err)
	}
	fmt.Println("open", i, lease.Version, rows)
	slots := make(chan struct{}, 8)
	var mu sync.Mutex
	failed := false
	for {
		slots <- struct{}{}
		mu.Lock()
		over := failed
		mu.Unlock()
		if over {
			return nil
		}
		n := lease.Version
		err := s.host.ProposeAsync(ctx, id, lease, put(
			id, fmt.Sprintf("%08d", n), strings.Repeat("x", 200),
		), func(_ uint64, err error) {
			if err == nil {
				fmt.Println("ack", i, n)
			} else {
				mu.Lock()
				failed = true
				mu.Unlock()
			}
			<-slots
		})
		if err != nil {
			return nil //nolint:nilerr // as above
		}
		lease = lease.Next()
	}
}

// count counts the rows of a store, of which so many have to be the first ones, in
// order.
func (s *station) count(id storage.StoreID, inOrder uint64) (rows uint64, err error) {
	store, err := s.node.AcquireForApply(id)
	if err != nil {
		return 0, err
	}
	defer store.Release()
	for item, err := range store.Scan(storage.OrgSpace(id).Prefix(storage.TableOrgCounter), storage.ScanOptions{}) {
		if err != nil {
			return rows, err
		}
		if name := item.Key.Parts().Str(); rows < inOrder && name != fmt.Sprintf("%08d", rows) {
			return rows, fmt.Errorf("row %s is in place %d", name, rows)
		}
		rows++
	}
	return rows, nil
}

// TestKillAll kills all three processes of a cluster at once, under load, again and
// again on the same disks, with logs that are cut all the time and with logs that
// are never cut. After each kill, the last one too, every row that was acknowledged
// is there, and none twice: a store has as many rows as it has taken writes, and none
// is missing before one that is there.
func TestKillAll(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	// A round of make test makes a quarter of the writes of make crash-all before it kills. Logs are cut early
	// (compacting), so that the kill still meets cuts.
	rounds, most := 2, 600
	if text := os.Getenv(killAllEnv); text != "" {
		var err error
		if rounds, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
		most = 2500
	}
	t.Parallel() // it waits for elections, mostly
	d := newDistrict(t, 4, compacting(true))
	d.close()
	k := &killing{t: t, d: d, acked: make([]uint64, childOrgs)}
	rng := seeded(t)
	for _, k.compact = range []string{"never", "always"} {
		before := k.total
		for round := range rounds {
			k.round(round, 50+rng.IntN(most))
		}
		k.look()
		t.Logf(
			"compaction %s: %d rounds, %d acknowledged writes, none lost, none taken twice", k.compact, rounds, k.total-before,
		)
	}
}

// killing is one history of rounds.
type killing struct {
	t       *testing.T
	d       *district
	compact string
	acked   []uint64 // rows of each organization acknowledged in the rounds before
	total   int
}

// round starts all three, waits for so many acknowledgements, and kills all three.
func (k *killing) round(round, limit int) {
	k.t.Helper()
	var (
		mu    sync.Mutex
		seen  int
		once  sync.Once
		group sync.WaitGroup
		cmds  [3]*exec.Cmd
		acked = append([]uint64{}, k.acked...)
	)
	full := make(chan struct{})
	hear := func(line string) {
		mu.Lock()
		defer mu.Unlock()
		var o int
		var n, rows uint64
		if _, err := fmt.Sscanf(line, "ack %d %d", &o, &n); err == nil {
			acked[o] = max(acked[o], n+1)
			if seen++; seen >= limit {
				once.Do(func() { close(full) })
			}
			return
		}
		if _, err := fmt.Sscanf(line, "open %d %d %d", &o, &n, &rows); err != nil {
			k.t.Errorf("round %d: a child says %q", round, line)
			return
		}
		if n < k.acked[o] {
			k.t.Errorf("round %d: organization %d is at version %d, row %d was acknowledged", round, o, n, k.acked[o]-1)
		}
		if rows != n {
			k.t.Errorf("round %d: organization %d has %d rows at version %d", round, o, rows, n)
		}
	}
	for i := range cmds {
		cmds[i] = child(k.t, "member", k.d.dirs[i])
		cmds[i].Env = append(cmds[i].Env, childListenEnv+"="+k.d.ports[i], childCompactEnv+"="+k.compact)
		out, err := cmds[i].StdoutPipe()
		if err == nil {
			err = cmds[i].Start()
		}
		if err != nil {
			k.t.Fatal(err)
		}
		group.Go(func() {
			for lines := bufio.NewScanner(out); lines.Scan(); {
				hear(lines.Text())
			}
		})
	}
	limits, cancel := context.WithTimeout(k.t.Context(), roundPatience)
	defer cancel()
	select {
	case <-full:
	case <-limits.Done():
		k.t.Errorf("round %d: no %d acknowledgements", round, limit)
	}
	for _, cmd := range cmds {
		_ = cmd.Process.Kill() // at once: nobody has the time to notice the others' end
	}
	group.Wait()
	for _, cmd := range cmds {
		_ = cmd.Wait() // killed
	}
	k.acked, k.total = acked, k.total+seen
	if k.t.Failed() {
		k.t.FailNow()
	}
}

// look starts all three in this process and looks at what each has: behind the last
// kill no child says what it finds.
func (k *killing) look() {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), roundPatience)
	defer cancel()
	for i := range k.d.stations {
		var err error
		if k.d.stations[i], err = openStation(ctx, k.d.dirs[i], k.d.ports[i], compacting(k.compact == "always")); err != nil {
			k.t.Fatal(err)
		}
	}
	defer k.d.close()
	for o := range childOrgs {
		id := mainStore(o)
		var lease Lease
		clustertest.WaitFor(k.t, func() bool {
			for _, s := range k.d.stations {
				if s.host.Lead(id.Org) != nil {
					continue
				}
				var err error
				if lease, err = s.host.OpenStore(ctx, id); err == nil {
					return true
				}
			}
			return false
		})
		if lease.Version < k.acked[o] {
			k.t.Errorf("organization %d is at version %d, row %d was acknowledged", o, lease.Version, k.acked[o]-1)
		}
		for i, s := range k.d.stations {
			clustertest.WaitFor(k.t, func() bool { return k.versionOf(s, id) == lease.Version })
			rows, err := s.count(id, lease.Version)
			if err != nil {
				k.t.Errorf("node %d: organization %d: %v", i, o, err)
			}
			if rows != lease.Version {
				k.t.Errorf("node %d: organization %d has %d rows at version %d", i, o, rows, lease.Version)
			}
		}
	}
	if k.t.Failed() {
		k.t.FailNow()
	}
}

// versionOf is how many writes a node's copy of a store has taken.
func (k *killing) versionOf(s *station, id storage.StoreID) uint64 {
	k.t.Helper()
	st, err := s.node.AcquireForApply(id)
	if err != nil {
		k.t.Fatal(err)
	}
	defer st.Release()
	return st.State().Version
}
