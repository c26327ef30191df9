//go:build histories

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"golang.org/x/sys/unix"

	"orgmem/cmd/orgmem/internal/client"
	"orgmem/cmd/orgmem/process"
	"orgmem/proto/clock"
)

// Three processes of the built binary, each in a network namespace of its own, are
// cut off from each other, killed and paused while clients write titles, read
// them, and make, use and revoke keys through every node. What the clients saw
// must be explained by one order that respects real time (linearizability), which
// porcupine decides.
//
// A cut is a blackhole route, so it has a direction: what a node sends is lost,
// what it is sent arrives. The clients stand beside the nodes, in their
// namespaces, and reach each node always. A machine's clock cannot be set for one
// process (a time namespace moves the monotonic clock only), so clock jumps are
// left to the simulation (make sim).
//
// It needs root and stands behind a build tag; where it cannot run it fails.
// ORGMEM_HISTORIES says how many, ORGMEM_HISTORIES_UNFENCED that the binary is the
// broken one (go build -tags unfenced) and has to be caught.

const (
	historyNodes   = 3
	historyClients = 9 // three beside each node
	// historyLength is the time of one history, in which three faults find room.
	historyLength = 12 * time.Second
	// historyRegisters are few, so that clients meet.
	historyRegisters = 2
	// clientPatience is shorter than a pause, so that somebody always asks a paused
	// node late enough for an old answer to be wrong.
	clientPatience = 1500 * time.Millisecond
	// judgeWithin bounds porcupine's search; a history of this size takes it
	// milliseconds. What it cannot decide counts as a failure.
	judgeWithin = time.Minute
)

// lab is the nodes in their namespaces.
type lab struct {
	t     *testing.T
	dir   string
	name  string
	nodes [historyNodes]*labNode
	began time.Time
	mu    sync.Mutex // guards the nodes' processes while clients work
}

type labNode struct {
	ns     string
	ip     string
	handle int // of the namespace
	home   int // of the test's own
	p      *process.Process
	http   *http.Client
}

func ip(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(context.WithoutCancel(t.Context()), "ip", args...).CombinedOutput(); err != nil {
		t.Fatalf("NOT RUN: ip %s: %v\n%s(root and iproute2 are needed)", strings.Join(args, " "), err, out)
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
		ip(t, "-n", n.ns, "link", "set", "eth0", "up")
		ip(t, "-n", n.ns, "link", "set", "lo", "up")
		handle, err := unix.Open("/run/netns/"+n.ns, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		n.handle, n.home = handle, home
		t.Cleanup(func() { unix.Close(handle) })
		n.http = &http.Client{Transport: &http.Transport{DialContext: n.dial, MaxIdleConnsPerHost: historyClients}}
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
	l.settle()
	l.run(0, append([]string{"org", "set-plan", l.nodes[0].p.OrgID, "unlimited"}, l.operator(0)...)...)
	return l
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

func (l *lab) data(i int) string { return filepath.Join(l.dir, fmt.Sprintf("n%d", i)) }

func (l *lab) operator(i int) []string {
	return []string{"--operator", l.nodes[i].p.OperatorURL, "--operator-token", filepath.Join(l.data(i), "operator.token")}
}

// run runs a command of the binary beside node i.
func (l *lab) run(i int, args ...string) []byte {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), process.ReadyWithin)
	defer cancel()
	var errs strings.Builder
	cmd := exec.CommandContext(ctx, "ip", append([]string{"netns", "exec", l.nodes[i].ns, binary(l.t)}, append(args, "--json")...)...)
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
	}
	if token != "" {
		o.Env = []string{"ORGMEM_JOIN_TOKEN=" + token}
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

// settle waits until every group has a leader and three voters who are up.
func (l *lab) settle() {
	l.t.Helper()
	until := time.Now().Add(process.ReadyWithin)
	last := ""
	for time.Now().Before(until) {
		raw, err := os.ReadFile(filepath.Join(l.data(0), "operator.token"))
		if err != nil {
			l.t.Fatal(err)
		}
		operator, err := client.New(client.Options{Base: l.nodes[0].p.OperatorURL, Token: strings.TrimSpace(string(raw)), Clock: clock.Real(), Transport: l.nodes[0].http.Transport})
		if err != nil {
			l.t.Fatal(err)
		}
		s, err := operator.ClusterStatus(l.t.Context())
		well := err == nil && s.Controller != "" && len(s.Groups) > 0
		for _, g := range s.Groups {
			up := 0
			for _, r := range g.Replicas {
				if r.Voter && r.CaughtUp {
					up++
				}
			}
			well = well && g.Leader != "" && up == historyNodes
		}
		if well {
			return
		}
		last = fmt.Sprintf("%v %s", err, s.Raw)
		time.Sleep(200 * time.Millisecond)
	}
	l.t.Fatalf("the cluster is not well: %s\n%s", last, l.nodes[0].p.Log())
}

// block loses what node a sends to node b.
func (l *lab) block(a, b int)   { l.route("add", a, b) }
func (l *lab) unblock(a, b int) { l.route("del", a, b) }

func (l *lab) route(do string, a, b int) {
	ip(l.t, "-n", l.nodes[a].ns, "route", do, "blackhole", l.nodes[b].ip+"/32")
}

// cut loses what goes over links, for a while.
func (l *lab) cut(d time.Duration, links ...[2]int) {
	for _, x := range links {
		l.block(x[0], x[1])
	}
	time.Sleep(d)
	for _, x := range links {
		l.unblock(x[0], x[1])
	}
}

// labFaults are what goes wrong, with a victim a and the two others.
var labFaults = []struct {
	name string
	do   func(l *lab, a, b, c int, d time.Duration)
}{
	{"minority", func(l *lab, a, b, c int, d time.Duration) {
		l.cut(d, [2]int{a, b}, [2]int{b, a}, [2]int{a, c}, [2]int{c, a})
	}},
	{"one way out", func(l *lab, a, b, c int, d time.Duration) { l.cut(d, [2]int{a, b}, [2]int{a, c}) }},
	{"one way in", func(l *lab, a, b, c int, d time.Duration) { l.cut(d, [2]int{b, a}, [2]int{c, a}) }},
	{"bridge", func(l *lab, _, b, c int, d time.Duration) { l.cut(d, [2]int{b, c}, [2]int{c, b}) }},
	{"all apart", func(l *lab, a, b, c int, d time.Duration) {
		l.cut(d, [2]int{a, b}, [2]int{b, a}, [2]int{a, c}, [2]int{c, a}, [2]int{b, c}, [2]int{c, b})
	}},
	{"kill", func(l *lab, a, _, _ int, d time.Duration) {
		l.nodes[a].p.Kill()
		time.Sleep(d)
		l.serve(a, "")
	}},
	{"pause", func(l *lab, a, _, _ int, d time.Duration) {
		pid := l.nodes[a].p.Pid()
		syscall.Kill(pid, syscall.SIGSTOP)
		time.Sleep(d)
		syscall.Kill(pid, syscall.SIGCONT)
	}},
}

// labOp is an operation on one register: a title, or a key's life.
type labOp struct {
	register string
	kind     string // write, read; revoke, use
	value    string // written
}

// labModel says what operations on a register may see. A title holds the last
// value; a key works until it is revoked, and never again.
var labModel = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		of := map[string][]porcupine.Operation{}
		for _, op := range history {
			r := op.Input.(labOp).register
			of[r] = append(of[r], op)
		}
		var parts [][]porcupine.Operation
		for _, part := range of {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() any { return "first" },
	Step: func(state, input, output any) (bool, any) {
		switch op := input.(labOp); op.kind {
		case "write":
			return true, op.value
		case "revoke":
			return true, "revoked"
		case "use":
			return (output.(string) == "works") == (state.(string) != "revoked"), state
		default:
			return output.(string) == state.(string), state
		}
	},
	DescribeOperation: func(input, output any) string { return fmt.Sprintf("%+v → %v", input, output) },
}

// record is one history.
type record struct {
	mu  sync.Mutex
	ops []porcupine.Operation
}

func (l *lab) now() int64 { return int64(time.Since(l.began)) }

// try does one operation at node i and notes what was seen. An answer that never
// came leaves open whether a write or a revocation was done, and when; a read
// without an answer saw nothing.
func (l *lab) try(r *record, client, i int, op labOp, key, method, path string, body any, seen func(answer) (string, bool)) {
	call := l.now()
	ctx, cancel := context.WithTimeout(l.t.Context(), clientPatience)
	a := l.send(ctx, i, key, method, path, body)
	cancel()
	out, known := seen(a)
	till := l.now()
	if !known {
		if op.kind == "read" || op.kind == "use" {
			return
		}
		till = math.MaxInt64
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ops = append(r.ops, porcupine.Operation{ClientId: client, Input: op, Call: call, Output: out, Return: till})
}

func (l *lab) send(ctx context.Context, i int, key, method, path string, body any) answer {
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

// history lets clients work while faults happen, and returns what they saw.
func (l *lab) history(seed uint64) ([]porcupine.Operation, []string) {
	t := l.t
	rng := rand.New(rand.NewPCG(seed, 1))
	admin := l.nodes[0].p.APIKey
	registers, keys := make([]string, historyRegisters), map[string][2]string{}
	for i := range registers {
		registers[i] = l.document(fmt.Sprintf("h%d-%d", seed, i))
	}
	for i := range historyRegisters * 2 {
		a := l.must(http.StatusCreated, http.MethodPost, "/v1/keys", map[string]any{"label": fmt.Sprint("k", i), "scopes": []string{"read"}})
		keys[fmt.Sprint("key", i)] = [2]string{a["id"].(string), a["apiKey"].(string)}
	}
	r := &record{}
	ctx, cancel := context.WithTimeout(t.Context(), historyLength)
	defer cancel()
	var wg sync.WaitGroup
	for c := range historyClients {
		mine := rand.New(rand.NewPCG(seed, uint64(c)+2))
		wg.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				at := c % historyNodes
				register := registers[mine.IntN(len(registers))]
				name := fmt.Sprint("key", mine.IntN(len(keys)))
				switch mine.IntN(8) {
				case 0, 1, 2:
					value := fmt.Sprintf("v%d-%d-%d", seed, c, n)
					l.try(r, c, at, labOp{register, "write", value}, admin, http.MethodPatch, "/v1/graph/nodes/"+register, map[string]any{"title": value},
						func(a answer) (string, bool) { return "", a.Status == http.StatusOK })
				case 3, 4, 5:
					l.try(r, c, at, labOp{register, "read", ""}, admin, http.MethodGet, "/v1/recall/graph/node/"+register, nil,
						func(a answer) (string, bool) {
							var node struct{ Title string }
							known := a.Status == http.StatusOK && json.Unmarshal(a.Body, &node) == nil
							return node.Title, known
						})
				case 6:
					l.try(r, c, at, labOp{name, "use", ""}, keys[name][1], http.MethodGet, "/v1/me", nil,
						func(a answer) (string, bool) {
							return map[int]string{http.StatusOK: "works", http.StatusUnauthorized: "refused"}[a.Status],
								a.Status == http.StatusOK || a.Status == http.StatusUnauthorized
						})
				case 7:
					if mine.IntN(6) == 0 {
						l.try(r, c, at, labOp{name, "revoke", ""}, admin, http.MethodDelete, "/v1/keys/"+keys[name][0], nil,
							func(a answer) (string, bool) { return "", a.Status == http.StatusNoContent })
					}
				}
				time.Sleep(time.Duration(mine.IntN(30)) * time.Millisecond)
			}
		})
	}
	var faults []string
	for ctx.Err() == nil {
		time.Sleep(time.Duration(300+rng.IntN(900)) * time.Millisecond)
		f := labFaults[rng.IntN(len(labFaults))]
		v := rng.Perm(historyNodes)
		d := time.Duration(300+rng.IntN(3500)) * time.Millisecond
		faults = append(faults, fmt.Sprintf("%s %v for %v", f.name, v, d))
		f.do(l, v[0], v[1], v[2], d)
	}
	wg.Wait()
	return r.ops, faults
}

// document makes a node whose title is "first".
func (l *lab) document(name string) string {
	l.must(http.StatusAccepted, http.MethodPost, "/v1/ingest", map[string]any{"externalId": name, "title": "first", "content": "The register " + name + " is kept here."})
	var id string
	var a answer
	l.eventually(&a, func() bool {
		a = l.send(l.t.Context(), 0, l.nodes[0].p.APIKey, http.MethodPost, "/v1/search", map[string]any{"query": "register " + name, "topK": 20})
		var found struct {
			Results []struct{ NodeID, ExternalID string }
		}
		if a.Status != http.StatusOK || json.Unmarshal(a.Body, &found) != nil {
			return false
		}
		for _, hit := range found.Results {
			if hit.ExternalID == name {
				id = hit.NodeID
			}
		}
		return id != ""
	})
	return id
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

// TestHistories checks as many histories as ORGMEM_HISTORIES says.
func TestHistories(t *testing.T) {
	n := 10
	if text := os.Getenv("ORGMEM_HISTORIES"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	broken := os.Getenv("ORGMEM_HISTORIES_UNFENCED") != ""
	l := newLab(t)
	total := 0
	for seed := range uint64(n) {
		ops, faults := l.history(seed + 1)
		total += len(ops)
		switch result, info := porcupine.CheckOperationsVerbose(labModel, ops, judgeWithin); {
		case result == porcupine.Ok:
		case broken:
			t.Logf("history %d catches the broken build, after %s", seed+1, strings.Join(faults, "; "))
			return
		default:
			picture := filepath.Join(os.TempDir(), fmt.Sprintf("orgmem-history-%d.html", seed+1))
			_ = porcupine.VisualizePath(labModel, info, picture)
			t.Fatalf("history %d of %d operations is %s: see %s\n%s", seed+1, len(ops), result, picture, strings.Join(faults, "\n"))
		}
		t.Logf("history %d: %d operations; %s", seed+1, len(ops), strings.Join(faults, "; "))
		l.settle()
	}
	if broken {
		t.Fatalf("%d histories of the broken build, and nothing was noticed", n)
	}
	t.Logf("%d histories, %d operations, none refused", n, total)
}
