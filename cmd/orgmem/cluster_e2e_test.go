package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"orgmem/cmd/orgmem/process"
)

// trio is three processes that form a cluster on loopback ports.
type trio struct {
	t     *testing.T
	dir   string
	key   string // of the organization that the first node's quickstart made
	nodes [3]*process.Process
	ports [3]string // where they listen for each other, kept over restarts as a machine's are
	// programs are what the nodes run, and commands are given with the first of them;
	// empty is the binary under test.
	programs [3]string
	flags    []string // further ones of each node
}

// startTrio makes a cluster as an operator does: init, serve, and a token for each
// further machine; and waits until everything has three replicas.
func startTrio(t *testing.T, programs ...string) *trio {
	t.Helper()
	c := &trio{t: t, dir: t.TempDir()}
	copy(c.programs[:], programs)
	c.run("cluster", "init", "--data", c.data(0))
	c.serve(0, "")
	c.key = c.nodes[0].APIKey
	for i := 1; i < len(c.nodes); i++ {
		c.serve(i, c.token())
	}
	c.settled(0)
	c.run(slices.Concat([]string{"org", "set-plan", c.nodes[0].OrgID, "unlimited"}, c.operator(0))...)
	return c
}

func (c *trio) data(i int) string { return filepath.Join(c.dir, fmt.Sprintf("n%d", i)) }

// operator are the flags of commands that go to a node.
func (c *trio) operator(i int) []string {
	return []string{"--operator", c.nodes[i].OperatorURL, "--operator-token", filepath.Join(c.data(i), "operator.token")}
}

// run runs a command of the binary and returns its JSON.
func (c *trio) run(args ...string) []byte {
	c.t.Helper()
	bin := cmp.Or(c.programs[0], binary(c.t)) // may have to be built first
	ctx, cancel := context.WithTimeout(c.t.Context(), process.ReadyWithin)
	defer cancel()
	var errs strings.Builder
	cmd := exec.CommandContext(ctx, bin, append(args, "--json")...)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		c.t.Fatalf("orgmem %s: %v\n%s", strings.Join(args, " "), err, &errs)
	}
	return out
}

// serve starts node i, which joins where it has a token.
func (c *trio) serve(i int, token string) {
	c.t.Helper()
	if c.ports[i] == "" {
		c.ports[i] = freePort(c.t)
	}
	o := process.Options{Binary: c.programs[i], Args: slices.Concat([]string{
		"--cluster-listen", "127.0.0.1:" + c.ports[i],
		"--node-name", fmt.Sprintf("n%d", i),
	}, c.flags)}
	if token != "" {
		o.Env = []string{"ORGMEM_JOIN_TOKEN=" + token}
	}
	c.nodes[i] = start(c.t, c.data(i), o)
}

// freePort is a port that was free a moment ago, for TCP at least.
func freePort(t *testing.T) string {
	t.Helper()
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// token asks the first node for a join token.
func (c *trio) token() string {
	c.t.Helper()
	var t struct{ Token string }
	if err := json.Unmarshal(c.run(append([]string{"cluster", "token"}, c.operator(0)...)...), &t); err != nil ||
		t.Token == "" {
		c.t.Fatalf("no token: %v", err)
	}
	return t.Token
}

// settled waits until every node has a vote in every group, as node i is told.
func (c *trio) settled(i int) {
	c.t.Helper()
	eventually(c.t, "three voters of every group", func() bool {
		return everywhere(c.t, c.run(append([]string{"cluster", "status"}, c.operator(i)...)...)) == len(c.nodes)
	})
}

// everywhere is how many nodes have a vote in every group, by the cluster's status.
func everywhere(t *testing.T, status []byte) int {
	t.Helper()
	var s struct {
		Nodes  []struct{ Voters int }
		Groups []json.RawMessage
	}
	if err := json.Unmarshal(status, &s); err != nil {
		t.Fatal(err)
	}
	full := 0
	for _, n := range s.Nodes {
		if len(s.Groups) > 0 && n.Voters == len(s.Groups) {
			full++
		}
	}
	return full
}

func (c *trio) client(i int) caller { return caller{base: c.nodes[i].BaseURL, key: c.key} }

// owner is the node where the organization lives: the only one that has it in
// memory.
func (c *trio) owner() int {
	c.t.Helper()
	owner := -1
	eventually(c.t, "a node that has the organization in memory", func() bool {
		c.client(0).must(c.t, http.StatusOK, http.MethodGet, "/v1/me", nil)
		owner = -1
		for i, n := range c.nodes {
			if strings.Contains(c.metrics(n), "\norgmem_actors_organizations 1\n") {
				if owner >= 0 {
					return false // it has just moved
				}
				owner = i
			}
		}
		return owner >= 0
	})
	return owner
}

func (c *trio) metrics(n *process.Process) string {
	c.t.Helper()
	response := c.open(n.OperatorURL+"/metrics", "")
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return string(body)
}

func (c *trio) open(url, key string) *http.Response {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, url, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("X-Svc-Api-Key", key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	return response
}

// writers provision subjects through some nodes, until stop; each notes what was
// acknowledged and what was refused.
type writers struct {
	stopped chan struct{}
	group   sync.WaitGroup

	mu      sync.Mutex
	acked   []string
	refused []string
}

// write begins writers: two per node. Without a key of idempotency, so that nothing
// may be carried out twice.
func (c *trio) write(tag string, nodes ...int) *writers {
	w := &writers{stopped: make(chan struct{})}
	for _, i := range nodes {
		for k := range 2 {
			w.group.Go(func() {
				for n := 0; ; n++ {
					select {
					case <-w.stopped:
						return
					default:
					}
					name := fmt.Sprintf("%s-%d-%d-%d", tag, i, k, n)
					a := c.client(i).send(context.Background(), http.MethodPost, "/v1/ingest", "",
						map[string]any{"externalId": name, "content": "note " + name})
					w.mu.Lock()
					if a.Status == http.StatusAccepted {
						w.acked = append(w.acked, name)
					} else {
						w.refused = append(w.refused, fmt.Sprintf("%d %s", a.Status, a.Body))
					}
					w.mu.Unlock()
				}
			})
		}
	}
	return w
}

// more waits until so many further writes are acknowledged.
func (w *writers) more(t *testing.T, n int) {
	t.Helper()
	w.mu.Lock()
	want := len(w.acked) + n
	w.mu.Unlock()
	eventually(t, "further writes", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(w.acked) >= want
	})
}

// sofar returns what is acknowledged by now.
func (w *writers) sofar() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.acked)
}

func (w *writers) stop() (acked, refused []string) {
	close(w.stopped)
	w.group.Wait()
	return w.acked, w.refused
}

// known lists the external ids of all that node i knows of.
func (c *trio) known(i int) map[string]bool {
	c.t.Helper()
	all := map[string]bool{}
	for cursor := ""; ; {
		path := "/v1/graph/nodes?pageSize=100"
		if cursor != "" {
			path += "&cursor=" + cursor
		}
		page := c.client(i).must(c.t, http.StatusOK, http.MethodGet, path, nil)
		for _, n := range page["data"].([]any) {
			source := n.(map[string]any)["source"].(map[string]any)
			all[fmt.Sprint(source["externalId"])] = true
		}
		cursor, _ = page["nextCursor"].(string)
		if cursor == "" {
			return all
		}
	}
}

// holds waits until node i shows everything that was acknowledged: taking in is
// asynchronous.
func (c *trio) holds(i int, acked []string) {
	c.t.Helper()
	missing := ""
	eventually(c.t, "everything that was acknowledged", func() bool {
		have := c.known(i)
		missing = ""
		for _, name := range acked {
			if !have[name] {
				missing = name
				return false
			}
		}
		return true
	})
	if c.t.Failed() && missing != "" {
		c.t.Logf("for example %s was missing", missing)
	}
}

// TestThreeProcesses: three processes are one memory. Each answers for all of it;
// a clean stop of one makes no request fail; the death of one costs nothing that
// was acknowledged; and both come back.
func TestThreeProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("starts three processes")
	}
	c := startTrio(t)

	// What is made on one node holds on the others at once.
	for i := range c.nodes {
		next := (i + 1) % len(c.nodes)
		made := c.client(i).must(t, http.StatusCreated, http.MethodPost, "/v1/keys",
			map[string]any{"label": "k", "scopes": []string{"read"}})
		other := caller{base: c.nodes[next].BaseURL, key: made["apiKey"].(string)}
		other.must(t, http.StatusOK, http.MethodGet, "/v1/me", nil)
		c.client(next).must(t, http.StatusNoContent, http.MethodDelete, "/v1/keys/"+made["id"].(string), nil)
		if a := other.send(t.Context(), http.MethodGet, "/v1/me", "", nil); a.Status != http.StatusUnauthorized {
			t.Errorf("a revoked key on node %d: %d", next, a.Status)
		}
		var shown struct{ Plan string }
		out := c.run(slices.Concat([]string{"org", "show", c.nodes[0].OrgID}, c.operator(i))...)
		if err := json.Unmarshal(out, &shown); err != nil || shown.Plan != "unlimited" {
			t.Errorf("node %d shows %s (%v)", i, out, err)
		}
	}

	// Events reach a stream of a node where the organization does not live.
	owner := c.owner()
	away := (owner + 1) % len(c.nodes)
	stream := c.open(c.nodes[away].BaseURL+"/v1/events", c.key)
	if stream.StatusCode != http.StatusOK {
		t.Fatalf("events: %s", stream.Status)
	}
	c.client(owner).must(t, http.StatusAccepted, http.MethodPost, "/v1/ingest",
		map[string]any{"content": "The boiler was serviced in May.", "externalId": "boiler"})
	for lines := bufio.NewScanner(stream.Body); ; {
		if !lines.Scan() {
			t.Fatalf("the stream ended without an event: %v", lines.Err())
		}
		if strings.HasPrefix(lines.Text(), "event: ") {
			break
		}
	}
	_ = stream.Body.Close()

	// A clean stop.
	others := []int{(owner + 1) % 3, (owner + 2) % 3}
	w := c.write("clean", others...)
	w.more(t, 50)
	if err := c.nodes[owner].Stop(); err != nil {
		t.Error(err)
	}
	w.more(t, 50)
	acked, refused := w.stop()
	if len(refused) > 0 {
		t.Errorf("%d requests failed while a node was stopped cleanly, the first: %s", len(refused), refused[0])
	}
	c.serve(owner, "")
	c.settled(owner)
	c.holds(owner, acked)

	// A death.
	owner = c.owner()
	others = []int{(owner + 1) % 3, (owner + 2) % 3}
	w = c.write("death", others...)
	w.more(t, 50)
	c.nodes[owner].Kill()
	w.more(t, 50)
	more, _ := w.stop()
	c.serve(owner, "")
	c.settled(others[0])
	c.holds(owner, append(acked, more...))
}
