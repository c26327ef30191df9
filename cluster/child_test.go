package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"orgmem/cluster/raftlog"
	"orgmem/cluster/state"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// Some things can only be seen from outside: a process that is killed, and one
// that stops itself. The test binary starts itself again as one of these.
const (
	childEnv    = "ORGMEM_CLUSTER_CHILD"
	childDirEnv = "ORGMEM_CLUSTER_CHILD_DIR"
)

var children = map[string]func(){
	"writer":   writerChild,
	"badsync":  badSyncChild,
	"badentry": badEntryChild,
	"member":   memberChild,
}

func child(t *testing.T, kind, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+kind, childDirEnv+"="+dir)
	cmd.Stderr = os.Stderr
	return cmd
}

// childOrgs is how many organizations the writer writes to at once.
const childOrgs = 6

// childConfig compacts all the time, so that kills meet every part of it.
func childConfig(c *Config, o *storage.Options) {
	c.Clock, c.Shards, c.CompactBytes = clock.Real(), 4, 64<<10
	o.MaxOpenStores = 3
}

func openChild(o storage.Options, configure ...func(*Config, *storage.Options)) (*Host, *storage.Node) {
	logger := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	c := Config{Logger: logger, Clock: clock.Real(), Server: "one"}
	for _, f := range configure {
		f(&c, &o)
	}
	node, err := storage.Open(o)
	if err == nil {
		c.Storage = node
		var host *Host
		if host, err = Start(context.Background(), c); err == nil {
			if err = host.WaitReady(context.Background()); err == nil {
				return host, node
			}
		}
	}
	fmt.Fprintln(os.Stderr, "child:", err)
	os.Exit(1)
	return nil, nil
}

// writerChild writes rows 0, 1, 2 … to each organization, several at a time, and
// prints each that was acknowledged, until it is killed.
func writerChild() {
	host, _ := openChild(storage.Options{
		Dir: os.Getenv(childDirEnv), Clock: clock.Real(), MinFreeBytes: -1, BallastBytes: -1,
	}, childConfig)
	for i := range childOrgs {
		go func() {
			id := mainStore(i)
			ctx := context.Background()
			lease, err := host.OpenStore(ctx, id)
			if err != nil {
				fmt.Println("error", err)
				return
			}
			slots := make(chan struct{}, 8)
			for {
				slots <- struct{}{}
				n := lease.Version
				err := host.ProposeAsync(ctx, id, lease, put(
					id, fmt.Sprintf("%08d", n), strings.Repeat("x", 200),
				), func(_ uint64, err error) {
					if err != nil {
						fmt.Println("error", err)
					} else {
						fmt.Println("ack", i, n)
					}
					<-slots
				})
				if err != nil {
					fmt.Println("error", err)
					return
				}
				lease = lease.Next()
			}
		}()
	}
	select {}
}

// TestKill kills a writing process at random moments, again and again on one
// directory. After each kill every row that was acknowledged is there, once, and
// the rows are a prefix: none is missing before one that is there.
func TestKill(t *testing.T) {
	rounds := 3
	if n, err := strconv.Atoi(os.Getenv("ORGMEM_KILL_ROUNDS")); err == nil {
		rounds = n
	}
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(1, 2))
	total := 0
	for round := range rounds {
		acked := make([]uint64, childOrgs) // rows acknowledged so far
		cmd := child(t, "writer", dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		limit, seen := 50+rng.IntN(2500), 0
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			var o int
			var n uint64
			if _, err := fmt.Sscanf(lines.Text(), "ack %d %d", &o, &n); err != nil {
				t.Fatalf("round %d: child says %q", round, lines.Text())
			}
			acked[o] = max(acked[o], n+1)
			if seen++; seen == limit {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = cmd.Wait() // killed
		if seen < limit {
			t.Fatalf("round %d: child ended by itself", round)
		}
		total += seen

		s := startDisk(t, dir, childConfig)
		for o := range childOrgs {
			id := mainStore(o)
			rows := s.rows(id)
			lease := s.open(id)
			if lease.Version < acked[o] {
				t.Errorf("round %d: organization %d is at version %d, row %d was acknowledged", round, o, lease.Version, acked[o]-1)
			}
			if uint64(len(rows)) != lease.Version {
				t.Errorf("round %d: organization %d has %d rows at version %d", round, o, len(rows), lease.Version)
			}
			for n := range lease.Version {
				if _, ok := rows[fmt.Sprintf("%08d", n)]; !ok {
					t.Errorf("round %d: organization %d lacks row %d of %d", round, o, n, lease.Version)
				}
			}
		}
		s.stop()
	}
	t.Logf("%d rounds, %d acknowledged writes", rounds, total)
}

// badSyncChild has a log whose fsync fails from some moment on.
func badSyncChild() {
	disk := storagetest.NewDisk()
	o, _ := disk.Options()
	o.Fatal = nil // the real one
	host, _ := openChild(o)
	ctx := context.Background()
	id := mainStore(0)
	lease, err := host.OpenStore(ctx, id)
	for n := 0; err == nil; n++ {
		if n == 20 {
			disk.FailSync(func(path string) bool { return strings.Contains(path, "/log/") })
			fmt.Println("armed")
		}
		if _, err = host.Propose(ctx, id, lease, put(id, "a", fmt.Sprint(n))); err == nil {
			fmt.Println("ack", n)
		}
		lease = lease.Next()
	}
	fmt.Println("error", err)
}

// badEntryChild finds something in a log that is no command.
func badEntryChild() {
	disk := storagetest.NewDisk()
	o, _ := disk.Options()
	host, node := openChild(o)
	id := mainStore(0)
	group := host.shard(id).id
	if err := errors.Join(host.Close(), corrupt(node.Log(), group), node.Close()); err != nil {
		fmt.Println("error", err)
		return
	}
	openChild(o)
	fmt.Println("ready") // never
}

// corrupt appends a committed entry that is no command.
func corrupt(log *storage.Log, group uint32) error {
	_, last, err := log.Bounds(group)
	if err != nil {
		return err
	}
	if last == 0 { // compacted when it was closed
		marks, err := raftlog.OpenMarkers(&raftlog.StableStore{Log: log, Group: group})
		if err != nil {
			return err
		}
		last = marks.Index.Load()
	}
	return log.Append(group, []storage.LogEntry{{Index: last + 1, Term: 2, Data: []byte{0xFF, 0xFF}}})
}

// TestLogFailureIsNoAck: a failed fsync stops the process before anybody is
// told that the write is durable. TestCorruptLogStops: so does an entry that
// cannot be read.
func TestProcessStopsRatherThanLie(t *testing.T) {
	for _, kind := range []string{"badsync", "badentry"} {
		t.Run(kind, func(t *testing.T) {
			cmd := child(t, kind, "")
			var log strings.Builder
			cmd.Stderr = &log
			out, err := cmd.Output()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 70 {
				t.Errorf("child ended with %v, want exit status 70; it said %s%s", err, out, log.String())
			}
			acks, armed := 0, kind == "badentry"
			for line := range strings.Lines(string(out)) {
				switch {
				case line == "armed\n":
					armed = true
				case armed:
					t.Errorf("after the failure the child said %q", line)
				default:
					acks++
				}
			}
			if kind == "badsync" && acks != 20 {
				t.Errorf("%d acknowledgements before the failure", acks)
			}
			if kind == "badentry" && !strings.Contains(log.String(), "is not a command") {
				t.Errorf("the last words were %s", log.String())
			}
		})
	}
}

// TestHaltInProcess: with a Fatal that returns, as only a test's may, a halted
// group answers "unknown" and Close still ends.
func TestHaltInProcess(t *testing.T) {
	foreign := storage.NewBatch(mainStore(0)).Changes()
	for name, broken := range map[string]state.Machine{
		"broken invariant": &stepper{before: func([]state.Entry) { panic("broken invariant") }},
		"no such luck":     &stepper{applyErr: errors.New("no such luck")},
		// Commands that no host proposes: they can only mean that the log is not
		// what we think it is.
		"does not know command": rewriter{cmd: &pb.Command{Kind: &pb.Command_PutKey{PutKey: &pb.PutKey{}}}},
		"belongs to group": rewriter{cmd: &pb.Command{Kind: &pb.Command_Write{Write: &pb.WriteStore{
			Store: mainStore(1).Ref(), Changes: foreign,
		}}}},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var last string
			s := start(t, storagetest.NewDisk(), func(c *Config, _ *storage.Options) {
				c.Shards = wire.DefaultShards // so that organizations 0 and 1 are in two
				c.Fatal = func(msg string) {
					mu.Lock()
					defer mu.Unlock()
					last = msg
				}
			})
			id := mainStore(0)
			if s.host.shard(id) == s.host.shard(mainStore(1)) {
				t.Fatal("the test wants two organizations of different shards")
			}
			lease := s.open(id)
			g := s.host.shard(id)
			switch m := broken.(type) {
			case *stepper:
				s.step(id, m)
			case rewriter:
				m.Machine = g.fsm.machine
				g.fsm.machine = m
			}
			if _, err := s.host.Propose(t.Context(), id, lease, put(id, "a", "1")); !errors.Is(err, wire.ErrOutcomeUnknown) {
				t.Errorf("proposal to a group that halted: %v", err)
			}
			mu.Lock()
			defer mu.Unlock()
			if !strings.Contains(last, name) || !strings.Contains(last, fmt.Sprint("group ", g.id)) {
				t.Errorf("the last words were %q", last)
			}
			if err := s.host.Compact(t.Context(), id); !errors.Is(err, errHalted) {
				t.Errorf("compaction of a halted group: %v", err)
			}
			if err := s.host.WaitReady(t.Context()); err != nil && !errors.Is(err, errHalted) {
				t.Errorf("wait for a halted host: %v", err)
			}
			if err := s.host.Close(); !errors.Is(err, errHalted) { // its stores could not be flushed
				t.Errorf("close a halted host: %v", err)
			}
		})
	}
}

// rewriter is a machine that finds another command in each entry.
type rewriter struct {
	state.Machine
	cmd *pb.Command
}

func (r rewriter) Apply(entries []state.Entry) ([]state.Result, error) {
	for i := range entries {
		entries[i].Command = r.cmd
	}
	return r.Machine.Apply(entries)
}
