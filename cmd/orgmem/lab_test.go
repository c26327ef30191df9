//go:build histories

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"orgmem/cmd/orgmem/internal/client"
	"orgmem/cmd/orgmem/process"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

const (
	historyNodes = 3
	// labDisk is the size of a node's disk: sparse, and far more than thousands of
	// histories write.
	labDisk = 2 << 30
)

// lab is three processes of the built binary, each in a network namespace of its
// own and with its data on a disk of its own.
//
// A cut has a direction: what a node sends to another one is lost without a word,
// what it is sent arrives. A disk is a file that is mounted; frozen, it takes no
// write and no sync until it is thawed, as one does that hangs. Clients stand
// beside the nodes, in their namespaces, and reach each node always.
type lab struct {
	t     *testing.T
	dir   string
	name  string
	nodes [historyNodes]*labNode
	began time.Time
	mu    sync.Mutex // guards the nodes' processes while clients work

	limited string  // a key of an organization whose plan has limits, and which only draws on them
	past    float64 // what processes that were killed had opened
}

type labNode struct {
	ns     string
	ip     string
	handle int // of the namespace
	home   int // of the test's own
	disk   *os.File
	clock  *os.File // by how many seconds its time of day is off
	p      *process.Process
	http   *http.Client
}

func ip(t *testing.T, args ...string) {
	t.Helper()
	command(t, "ip", args...)
}

// command runs one of the machine's own.
func command(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(context.WithoutCancel(t.Context()), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("NOT RUN: %s %s: %v\n%s(root, iproute2 and e2fsprogs are needed)", name, strings.Join(args, " "), err, out)
	}
}

func newLab(t *testing.T) *lab {
	l := &lab{t: t, dir: t.TempDir(), name: fmt.Sprintf("orgmem%d", os.Getpid()), began: time.Now()}
	home, err := unix.Open("/proc/self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(home) })
	hub := l.name + "-hub"
	ip(t, "netns", "add", hub)
	t.Cleanup(func() { ip(t, "netns", "del", hub) })
	ip(t, "-n", hub, "link", "add", "br0", "type", "bridge")
	ip(t, "-n", hub, "link", "set", "br0", "up")
	for i := range l.nodes {
		n := &labNode{ns: fmt.Sprintf("%s-%d", l.name, i), ip: fmt.Sprintf("10.77.0.%d", i+1)}
		l.nodes[i] = n
		ip(t, "netns", "add", n.ns)
		t.Cleanup(func() { ip(t, "netns", "del", n.ns) })
		port := fmt.Sprintf("p%d", i)
		ip(t, "link", "add", "name", "eth0", "netns", n.ns, "type", "veth", "peer", "name", port, "netns", hub)
		ip(t, "-n", hub, "link", "set", port, "master", "br0", "up")
		ip(t, "-n", n.ns, "addr", "add", n.ip+"/24", "dev", "eth0")
		ip(t, "-n", n.ns, "link", "set", "eth0", "address", hardware(i))
		ip(t, "-n", n.ns, "link", "set", "eth0", "up")
		ip(t, "-n", n.ns, "link", "set", "lo", "up")
		handle, err := unix.Open("/run/netns/"+n.ns, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		n.handle, n.home = handle, home
		t.Cleanup(func() { unix.Close(handle) })
		n.disk = l.mount(i)
		if n.clock, err = os.Create(filepath.Join(l.dir, fmt.Sprintf("n%d.clock", i))); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { n.clock.Close() })
		l.setClock(i, 0)
		n.http = &http.Client{Transport: &http.Transport{DialContext: n.dial, MaxIdleConnsPerHost: historyClients}}
	}
	for _, x := range labLinks {
		l.neighbour(x[0], x[1], hardware(x[1])) // a cut is what changes it
	}
	l.run(0, "cluster", "init", "--data", l.data(0))
	l.serve(0, "")
	for i := 1; i < historyNodes; i++ {
		var token struct{ Token string }
		if err := json.Unmarshal(l.run(0, append([]string{"cluster", "token"}, l.operator(0)...)...), &token); err != nil {
			t.Fatal(err)
		}
		l.serve(i, token.Token)
	}
	l.silent()
	l.settle()
	l.jumps()
	l.run(0, append([]string{"org", "set-plan", l.nodes[0].p.OrgID, "unlimited"}, l.operator(0)...)...)
	var limited struct{ APIKey string }
	if err := json.Unmarshal(l.run(0,
		append([]string{"org", "create", "--name", "Limited", "--owner-email", "l@example.com", "--plan", "free"},
			l.operator(0)...)...), &limited); err != nil {
		t.Fatal(err)
	}
	l.limited = limited.APIKey
	return l
}

// mount makes node i's disk and returns its root. It has no journal: nobody pulls
// its plug, and a freeze waits for one.
func (l *lab) mount(i int) *os.File {
	image := filepath.Join(l.dir, fmt.Sprintf("n%d.disk", i))
	f, err := os.Create(image)
	if err != nil {
		l.t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(labDisk); err != nil {
		l.t.Fatal(err)
	}
	at := filepath.Dir(l.data(i))
	if err := os.Mkdir(at, 0o700); err != nil {
		l.t.Fatal(err)
	}
	command(l.t, "mkfs.ext4", "-q", "-O", "^has_journal", image)
	command(l.t, "mount", "-o", "loop,noatime", image, at)
	l.t.Cleanup(func() { command(l.t, "umount", at) })
	root, err := os.Open(at)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { root.Close() })
	return root
}

// freeze makes a node's disk hang until it is thawed.
func (l *lab) freeze(i int) { l.disk(i, fiFreeze) }
func (l *lab) thaw(i int)   { l.disk(i, fiThaw) }

const (
	fiFreeze = 0xc0045877 // FIFREEZE and FITHAW of linux/fs.h
	fiThaw   = 0xc0045878
)

func (l *lab) disk(i int, order uint) {
	if err := unix.IoctlSetInt(int(l.nodes[i].disk.Fd()), order, 0); err != nil {
		l.t.Errorf("disk of node %d: %v", i, err)
	}
}

// dial opens a connection inside the node's namespace: a socket stays where it was
// made.
func (n *labNode) dial(ctx context.Context, network, address string) (net.Conn, error) {
	type result struct {
		c   net.Conn
		err error
	}
	done := make(chan result, 1)
	go func() {
		// The thread goes back home and lives on: threads that end would take the
		// children with them that they started (Pdeathsig).
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := unix.Setns(n.handle, unix.CLONE_NEWNET); err != nil {
			done <- result{nil, err}
			return
		}
		c, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if back := unix.Setns(n.home, unix.CLONE_NEWNET); back != nil {
			panic(back) // every goroutine that runs here next would be in the wrong place
		}
		done <- result{c, err}
	}()
	r := <-done
	return r.c, r.err
}

func (l *lab) data(i int) string { return filepath.Join(l.dir, fmt.Sprintf("n%d", i), "data") }

func (l *lab) operator(i int) []string {
	return []string{"--operator", l.nodes[i].p.OperatorURL, "--operator-token", filepath.Join(l.data(i), "operator.token")}
}

// run runs a command of the binary beside node i.
func (l *lab) run(i int, args ...string) []byte {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), process.ReadyWithin)
	defer cancel()
	var errs strings.Builder
	cmd := exec.CommandContext(ctx, "ip", append([]string{"netns", "exec", l.nodes[i].ns, binary(l.t)},
		append(args, "--json")...)...)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		l.t.Fatalf("orgmem %s: %v\n%s", strings.Join(args, " "), err, &errs)
	}
	return out
}

func (l *lab) serve(i int, token string) {
	l.t.Helper()
	n := l.nodes[i]
	o := process.Options{
		Binary: binary(l.t), Data: l.data(i), Prefix: []string{"ip", "netns", "exec", n.ns},
		Args: []string{"--cluster-listen", n.ip + ":7946", "--node-name", fmt.Sprintf("n%d", i)},
		Env:  []string{"ORGMEM_CLOCK_SHIFT_FILE=" + n.clock.Name()},
	}
	if token != "" {
		o.Env = append(o.Env, "ORGMEM_JOIN_TOKEN="+token)
	}
	p, err := process.Start(context.WithoutCancel(l.t.Context()), o)
	if p != nil {
		l.t.Cleanup(p.Kill)
	}
	if err != nil {
		l.t.Fatal(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if n.p != nil {
		p.OrgID, p.APIKey = n.p.OrgID, n.p.APIKey // told once
	}
	n.p = p
}

// status is what node i says of the cluster.
func (l *lab) status(i int) (client.ClusterStatus, error) {
	operator, err := l.atOperator(i)
	if err != nil {
		return client.ClusterStatus{}, err
	}
	return operator.ClusterStatus(l.t.Context())
}

// atOperator asks node i's operator interface.
func (l *lab) atOperator(i int) (*client.Client, error) {
	raw, err := os.ReadFile(filepath.Join(l.data(i), "operator.token"))
	if err != nil {
		return nil, err
	}
	return client.New(client.Options{
		Base: l.node(i).OperatorURL, Token: strings.TrimSpace(string(raw)),
		Clock: clock.Real(), Transport: l.nodes[i].http.Transport,
	})
}

// settle waits until every group has a leader and three voters who are up, and
// returns which node leads the organization's shard.
func (l *lab) settle() (leader int) {
	l.t.Helper()
	org, err := pb.ParseOrgID(l.node(0).OrgID)
	if err != nil {
		l.t.Fatal(err)
	}
	until := time.Now().Add(process.ReadyWithin)
	last := ""
	for time.Now().Before(until) {
		s, err := l.status(0)
		well := err == nil && s.Controller != "" && len(s.Groups) > 0
		for _, g := range s.Groups {
			up := 0
			for _, r := range g.Replicas {
				if r.Voter && r.CaughtUp {
					up++
				}
			}
			well = well && g.Leader != "" && up == historyNodes
			if n, known := s.Node(g.Leader); known && g.Group == labShard(org, len(s.Groups)-1) {
				if _, err := fmt.Sscanf(n.Name, "n%d", &leader); err != nil {
					l.t.Fatalf("node %q: %v", n.Name, err)
				}
			}
		}
		if well {
			return leader
		}
		last = fmt.Sprintf("%v %s", err, s.Raw)
		time.Sleep(100 * time.Millisecond)
	}
	l.t.Fatalf("the cluster is not well: %s\n%s", last, l.node(0).Log())
	return 0
}

// labShard is where the disk format puts an organization (cluster/shard.go).
func labShard(org pb.OrgID, shards int) uint32 {
	sum := sha256.Sum256(org[:])
	first := new(big.Int).SetBytes(sum[:8])
	return 1 + uint32(first.Mod(first, big.NewInt(int64(shards))).Uint64())
}

// opened is how often the nodes have brought an organization into memory.
func (l *lab) opened() float64 {
	l.t.Helper()
	sum := l.past
	for i := range l.nodes {
		sum += l.openedAt(i)
	}
	return sum
}

func (l *lab) openedAt(i int) (n float64) {
	l.t.Helper()
	request, err := http.NewRequestWithContext(l.t.Context(), http.MethodGet, l.node(i).OperatorURL+"/metrics",
		http.NoBody)
	if err != nil {
		l.t.Fatal(err)
	}
	response, err := l.nodes[i].http.Do(request)
	if err != nil {
		l.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(body), "\norgmem_actors_activations_total ")
	if _, err := fmt.Sscan(rest, &n); !found || err != nil {
		l.t.Fatalf("metrics of node %d: %v", i, err)
	}
	return n
}

func (l *lab) send(ctx context.Context, i int, key, method, path string, body any) answer {
	return l.sendKeyed(ctx, i, key, "", method, path, body)
}

// sendKeyed is send with an Idempotency-Key.
func (l *lab) sendKeyed(ctx context.Context, i int, key, once, method, path string, body any) answer {
	raw, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	if body == nil {
		raw = nil
	}
	request, err := http.NewRequestWithContext(ctx, method, l.node(i).BaseURL+path, bytes.NewReader(raw))
	if err != nil {
		panic(err)
	}
	request.Header.Set("X-Svc-Api-Key", key)
	if once != "" {
		request.Header.Set("Idempotency-Key", once)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := l.nodes[i].http.Do(request)
	if err != nil {
		return answer{}
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}
	}
	return answer{response.StatusCode, response.Header, got}
}

// node is the process of node i, which a kill replaces.
func (l *lab) node(i int) *process.Process {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.nodes[i].p
}

func (l *lab) must(status int, method, path string, body any) (out map[string]any) {
	l.t.Helper()
	var a answer
	l.eventually(&a, func() bool {
		a = l.send(l.t.Context(), 0, l.nodes[0].p.APIKey, method, path, body)
		if a.Status != status && a.Status != 0 && a.Status < http.StatusInternalServerError {
			l.t.Fatalf("%s %s: %d %s", method, path, a.Status, a.Body)
		}
		return a.Status == status && (len(a.Body) == 0 || json.Unmarshal(a.Body, &out) == nil)
	})
	return out
}

func (l *lab) eventually(last *answer, done func() bool) {
	l.t.Helper()
	for until := time.Now().Add(process.ReadyWithin); !done(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(until) {
			l.t.Fatalf("waited too long: %d %s", last.Status, last.Body)
		}
	}
}

func (l *lab) now() int64 { return int64(time.Since(l.began)) }
