package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orgmem/cluster/wire"
	"orgmem/cmd/orgmem/internal/client"
	"orgmem/cmd/orgmem/process"
	"orgmem/proto/clock"
)

// upgradeVariable is set where versions are upgraded: a run of minutes.
const upgradeVariable = "ORGMEM_UPGRADE"

const (
	// maxAncestors is how far back an ancestor is looked for that can be built: one
	// that cannot was never run by anybody, and there are seldom two in a row.
	maxAncestors = 10
	// upgradeClients ask each of the two nodes that are not being upgraded.
	upgradeClients = 2
	// upgradeRounds are waited for before and after each step: enough that each
	// client has met what the step has changed.
	upgradeRounds = 20
	// upgradePause leaves the machine to the nodes.
	upgradePause = 100 * time.Millisecond
	// notYet is why an old program's job fails that it knows by name only.
	notYet = "not_available"
	// tooLittle is why a training fails that comes before there is enough to learn from.
	tooLittle = "too_little_content"
	// keyEvery round makes a key: a user may have a thousand.
	keyEvery = 6
)

// git asks git about the repository that the test is in.
func git(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", args...).Output()
	if err != nil {
		noHistory(t, fmt.Errorf("git %s: %w", strings.Join(args, " "), err))
	}
	return strings.TrimSpace(string(out))
}

// noHistory fails where there is no previous program: in a shallow clone and in an
// archive. Whoever gets here has asked for it, and must not think that it was done.
func noHistory(t *testing.T, why error) {
	t.Helper()
	t.Fatalf("NO UPGRADE WAS TESTED: the previous program cannot be built without the repository's history, "+
		"which git fetch --unshallow brings: %v", why)
}

func slow(t *testing.T) {
	t.Helper()
	if os.Getenv(upgradeVariable) == "" {
		t.Skip("builds another program and upgrades three processes, which takes a minute: make upgrade")
	}
}

// ancestor builds the newest commit, from a given one back, that can be built.
func ancestor(t *testing.T, from string) (program, commit string) {
	t.Helper()
	if git(t, "rev-parse", "--is-shallow-repository") != "false" {
		noHistory(t, errors.New("this is a shallow clone"))
	}
	top := git(t, "rev-parse", "--show-toplevel")
	var errs []error
	for commit := range strings.FieldsSeq(git(t, "rev-list", "--first-parent", fmt.Sprintf("--max-count=%d", maxAncestors),
		from)) {
		dir := t.TempDir()
		program := filepath.Join(dir, "orgmem")
		tar := exec.CommandContext(t.Context(), "git", "-C", top, "archive", "--format=tar", commit)
		files, err := tar.Output()
		if err != nil {
			t.Fatalf("git archive %s: %v", commit, err)
		}
		untar := exec.CommandContext(t.Context(), "tar", "-x", "-C", dir)
		untar.Stdin = bytes.NewReader(files)
		if out, err := untar.CombinedOutput(); err != nil {
			t.Fatalf("tar: %v\n%s", err, out)
		}
		// In its own tree, with its own go.mod; what has not changed since comes from
		// the build cache.
		build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", program, "./cmd/orgmem")
		build.Dir, build.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
		out, err := build.CombinedOutput()
		if err == nil {
			return program, commit
		}
		errs = append(errs, fmt.Errorf("%s: %w\n%s", commit, err, out))
	}
	t.Fatalf("none of the last %d commits can be built: %v", maxAncestors, errors.Join(errs...))
	return "", ""
}

// TestUpgrade: a cluster of the previous commit's program becomes one of the
// present program, node by node as docs/operations.md says, while clients write and
// read: nothing that was acknowledged is lost, nothing is carried out twice, and no
// request fails. The previous program is the newest commit before the present one
// that can be built.
func TestUpgrade(t *testing.T) {
	slow(t)
	upgrade(t, "HEAD~1")
}

// TestUpgradeOfProtocol does the same from the last commit that spoke an earlier
// version with other nodes: the version stays until the last node has been
// upgraded, rises then by itself, and a machine with the old program is told why it
// may not join.
func TestUpgradeOfProtocol(t *testing.T) {
	slow(t)
	// The commit that first said this version, in whichever file the constant was.
	said := strings.Fields(git(t, "log", "--reverse", "--format=%H",
		fmt.Sprintf("-Sconst ProtocolVersion = %d", wire.ProtocolVersion), "HEAD"))
	if len(said) == 0 {
		t.Fatalf("no commit says version %d of the protocol: it is not committed yet", wire.ProtocolVersion)
	}
	c, old := upgrade(t, said[0]+"~1")

	// It says so and gives up; nothing of it is left.
	if late, err := process.Start(t.Context(), process.Options{
		Binary: old, Data: filepath.Join(c.dir, "late"),
		Env: []string{"ORGMEM_JOIN_TOKEN=" + c.token()}, Args: []string{"--cluster-listen", "127.0.0.1:" + freePort(t)},
	}); err == nil {
		late.Kill()
		t.Error("a machine with the old program joined")
	} else if !regexp.MustCompile(`the cluster is at version \d+, this program speaks \d+`).MatchString(err.Error()) {
		t.Errorf("a machine with the old program is told: %v", err)
	}
}

// upgrade starts a cluster of an old program and upgrades it.
func upgrade(t *testing.T, from string) (c *trio, old string) {
	t.Helper()
	old, commit := ancestor(t, from)
	c = startTrio(t, old, old, old)
	before := c.status(0)
	if before.Version == 0 || before.Version > wire.ProtocolVersion {
		t.Fatalf("the old cluster is at version %d, this program speaks %d", before.Version, wire.ProtocolVersion)
	}
	t.Logf("from %s, which speaks version %d, to the present program, which speaks %d", commit, before.Version,
		wire.ProtocolVersion)

	var all tally
	var far records
	far.leave(c, 0)
	for i := range c.nodes {
		node, others := fmt.Sprintf("n%d", i), []int{(i + 1) % 3, (i + 2) % 3}
		l := c.load(node, others...)
		l.more(t)
		if now := c.status(i); now.Version != before.Version {
			t.Errorf("the version went from %d to %d before %s was upgraded", before.Version, now.Version, node)
		}
		c.drain(node)
		if err := c.nodes[i].Stop(); err != nil {
			t.Error(err)
		}
		c.programs[i] = binary(t)
		c.serve(i, "")
		c.settled(others[0])
		l.more(t)
		if i == 0 {
			// The new one leads everything, and then nothing: what each has written the
			// other goes on with.
			c.drain("n1")
			c.drain("n2")
			l.more(t)
			c.drain("n1", "--undo")
			c.drain("n2", "--undo")
			c.drain("n0")
			l.more(t)
			c.drain("n0", "--undo")
		}
		all.add(l.stop())
		for k := range c.nodes { // of both versions
			far.read(c, k)
		}
		far.leave(c, i)
	}
	if !far.trained {
		t.Error("no brain was trained: the notes are too few")
	}
	for k := range c.nodes { // the last one was trained by the present program
		if info := c.client(k).must(t, http.StatusOK, http.MethodGet, "/v1/brain/info", nil); info["artifact"] == nil {
			t.Errorf("node %d has no brain behind the upgrade: %v", k, info)
		}
	}
	eventually(t, "the new version", func() bool { return c.status(0).Version == wire.ProtocolVersion })
	for _, n := range c.status(0).Nodes {
		if n.Version != wire.ProtocolVersion {
			t.Errorf("%s speaks version %d", n.Name, n.Version)
		}
	}
	if len(all.refused) > 0 {
		t.Errorf("%d requests failed, the first: %s", len(all.refused), all.refused[0])
	}
	for i := range c.nodes {
		c.holds(i, all.acked)
		c.once(i, all.keys)
	}
	t.Logf("%d notes, %d keys; of %d rounds %d requests failed", len(all.acked), len(all.keys), all.rounds,
		len(all.refused))
	return c, old
}

// records are what one version stores and another one reads, beside what the clients
// of the load do: endpoints of webhooks, exports and trained brains.
type records struct {
	hooks   map[string]string // their addresses, by id
	exports map[string]string // the hashes of documents, by id
	trained bool              // whether there is a brain
}

// leave lets node i make some of each. What an old program does not have yet it
// does not make.
func (r *records) leave(c *trio, i int) {
	c.t.Helper()
	node := c.client(i)
	// It has to be public, and is never asked: a test is delivered only when one is
	// ordered.
	address := fmt.Sprintf("https://1.1.1.1/%d", len(r.hooks))
	made := node.send(c.t.Context(), http.MethodPost, "/v1/webhooks", "",
		map[string]any{"url": address, "eventTypes": []string{"webhook.test"}})
	if hook := r.taken(c.t, made, http.StatusCreated); hook != nil {
		if r.hooks == nil {
			r.hooks = map[string]string{}
		}
		r.hooks[fmt.Sprint(hook["id"])] = address
	}
	if job := r.taken(c.t, node.send(c.t.Context(), http.MethodPost, "/v1/brain/train", "", nil),
		http.StatusAccepted); job != nil {
		if j := node.finished(c.t, fmt.Sprint(job["jobId"])); j.Status != "done" &&
			(j.Error == nil || j.Error.Code != notYet && j.Error.Code != tooLittle) {
			c.t.Errorf("a training on node %d: %+v", i, j)
		}
		r.trained = r.trained || node.must(c.t, http.StatusOK, http.MethodGet, "/v1/brain/info", nil)["artifact"] != nil
	}
	if export := r.taken(c.t, node.send(c.t.Context(), http.MethodPost, "/v1/exports", "", map[string]any{"scope": "org"}),
		http.StatusAccepted); export != nil {
		id := fmt.Sprint(export["exportId"])
		var status map[string]any
		eventually(c.t, "export "+id, func() bool {
			status = node.must(c.t, http.StatusOK, http.MethodGet, "/v1/exports/"+id, nil)
			return status["status"] == "succeeded"
		})
		if r.exports == nil {
			r.exports = map[string]string{}
		}
		r.exports[id] = fmt.Sprint(status["sha256"])
	}
}

// taken is the answer's body, nil where a program does not know the route.
func (r *records) taken(t *testing.T, a answer, status int) (body map[string]any) {
	t.Helper()
	if a.Status == http.StatusNotFound {
		return nil
	}
	if a.Status != status {
		t.Fatalf("%d %s, want %d", a.Status, a.Body, status)
	}
	if err := json.Unmarshal(a.Body, &body); err != nil {
		t.Fatal(err)
	}
	return body
}

// read demands that node i knows all of it, and that no cycle has failed.
func (r *records) read(c *trio, i int) {
	c.t.Helper()
	node := c.client(i)
	for id, address := range r.hooks {
		if hook := node.must(c.t, http.StatusOK, http.MethodGet, "/v1/webhooks/"+id, nil); hook["url"] != address ||
			hook["disabled"] != false {
			c.t.Errorf("node %d has a webhook %v, want one for %s", i, hook, address)
		}
	}
	for id, sum := range r.exports {
		doc := node.get(c.t, "/v1/exports/"+id+"/download", "", "")
		if got := sha256.Sum256(doc.Body); doc.Status != http.StatusOK || hex.EncodeToString(got[:]) != sum {
			c.t.Errorf("node %d has another export %s: %d, %d bytes", i, id, doc.Status, len(doc.Body))
		}
	}
	if r.trained {
		// The brain itself may be of a form that this program does not read: then none
		// serves until the next training.
		info := node.must(c.t, http.StatusOK, http.MethodGet, "/v1/brain/info", nil)
		if status := info["training"].(map[string]any)["status"]; info["artifact"] == nil && status != "succeeded" {
			c.t.Errorf("node %d has no brain, and knows of none: %v", i, info)
		}
	}
	for _, kind := range []string{"cognition", "brain_train", "export"} {
		for _, job := range node.must(c.t, http.StatusOK, http.MethodGet, "/v1/jobs?type="+kind, nil)["data"].([]any) {
			j := job.(map[string]any)
			why, _ := j["error"].(map[string]any)
			if j["status"] == "failed" && why["code"] != notYet && why["code"] != tooLittle {
				c.t.Errorf("node %d has a job that failed: %v", i, j)
			}
		}
	}
}

// status is the cluster as node i tells it.
func (c *trio) status(i int) (s client.ClusterStatus) {
	c.t.Helper()
	if err := json.Unmarshal(c.run(append([]string{"cluster", "status"}, c.operator(i)...)...), &s); err != nil {
		c.t.Fatal(err)
	}
	return s
}

// drain lets a node lead nothing, or takes that back.
func (c *trio) drain(node string, flags ...string) {
	c.t.Helper()
	c.run(slices.Concat([]string{"cluster", "drain", node}, flags, c.operator(0))...)
}

// tally is what clients were told.
type tally struct {
	acked, refused []string
	keys           []string // labels of keys that were made
	rounds         int
}

func (a *tally) add(b tally) {
	a.acked, a.refused, a.keys = append(a.acked, b.acked...), append(a.refused, b.refused...), append(a.keys, b.keys...)
	a.rounds += b.rounds
}

// upgradeLoad are clients of some nodes: each takes in a note, makes a key at times, of
// which there would be two if one request were carried out twice, and searches. Writes
// have a key of idempotency, as docs/cluster.md asks for: then an election, of which a
// busy machine has some of its own, is the nodes' business and no client's.
type upgradeLoad struct {
	clients sync.WaitGroup
	end     context.CancelFunc

	mu   sync.Mutex // guards told
	told tally
}

func (c *trio) load(tag string, nodes ...int) *upgradeLoad {
	ctx, cancel := context.WithCancel(context.Background())
	l := &upgradeLoad{end: cancel}
	for _, i := range nodes {
		client := c.client(i)
		for k := range upgradeClients {
			l.clients.Go(func() {
				for n := 0; ctx.Err() == nil; n++ {
					l.round(client, fmt.Sprintf("%s-%d-%d-%d", tag, i, k, n), n%keyEvery == 0)
					_ = clock.Wait(ctx, clock.Real(), upgradePause) // its end is the loop's
				}
			})
		}
	}
	return l
}

// round is one of each; what has begun is brought to its end.
func (l *upgradeLoad) round(client caller, name string, key bool) {
	ctx := context.Background()
	took := client.send(ctx, http.MethodPost, "/v1/ingest", "i-"+name,
		map[string]any{"externalId": name, "content": "note " + name})
	made := answer{Status: http.StatusOK}
	if key {
		made = client.send(ctx, http.MethodPost, "/v1/keys", "k-"+name,
			map[string]any{"label": name, "scopes": []string{"read"}})
	}
	found := client.send(ctx, http.MethodPost, "/v1/search", "", map[string]any{"query": "note " + name})
	l.mu.Lock()
	defer l.mu.Unlock()
	if took.Status == http.StatusAccepted {
		l.told.acked = append(l.told.acked, name)
	}
	if made.Status == http.StatusCreated {
		l.told.keys = append(l.told.keys, name)
	}
	for what, a := range map[string]answer{"ingest": took, "key": made, "search": found} {
		if a.Status < 200 || a.Status > 299 {
			l.told.refused = append(l.told.refused, fmt.Sprintf("%s: %d %s", what, a.Status, a.Body))
		}
	}
	l.told.rounds++
}

// more waits for further rounds.
func (l *upgradeLoad) more(t *testing.T) {
	t.Helper()
	rounds := func() int {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.told.rounds
	}
	want := rounds() + upgradeRounds
	eventually(t, "further requests", func() bool { return rounds() >= want })
}

func (l *upgradeLoad) stop() tally {
	l.end()
	l.clients.Wait()
	return l.told
}

// once demands that node i has each of the keys, and no key twice.
func (c *trio) once(i int, labels []string) {
	c.t.Helper()
	times := map[string]int{}
	for _, key := range c.client(i).must(c.t, http.StatusOK, http.MethodGet, "/v1/keys", nil)["keys"].([]any) {
		times[fmt.Sprint(key.(map[string]any)["label"])]++
	}
	for _, label := range labels {
		if times[label] == 0 {
			c.t.Errorf("key %s was made and is lost on node %d", label, i)
		}
	}
	for label, n := range times {
		if n > 1 {
			c.t.Errorf("key %s was made %d times", label, n)
		}
	}
}
