//go:build histories

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// Three nodes are cut off from each other, killed, paused and drained, their disks hang or are
// slow, and their clocks are set, while clients write titles, read them, use and revoke keys, and
// make things under an Idempotency-Key that they send again to the next node, through
// every node. What the clients saw must be explained by one order that respects
// real time (linearizability), which porcupine decides. One more client draws on a
// rate limit at all nodes: it is never shown more than one bucket holds, but for one
// full bucket each time that an organization was opened (docs/cluster.md).
//
// A machine's clock cannot be set for one process, so the binary is of a build that
// lets it be (go build -tags shifted; proto/clock).
//
// It needs root and stands behind a build tag; where it cannot run it fails.
// ORGMEM_HISTORIES says how many, ORGMEM_HISTORIES_FROM the first one's number, which
// decides its faults, ORGMEM_HISTORIES_UNLEASED that the binary is the broken one
// (go build -tags unleased,shifted) and has to be caught.

const (
	historyClients = 9 // three beside each node
	// historyLength is the time of one history: a trap and one or two faults.
	historyLength = 6 * time.Second
	// historyRegisters are few, so that clients meet.
	historyRegisters = 2
	historyKeys      = 5 // the last one is the trap's
	// clientPatience is shorter than a pause, so that somebody always asks a paused
	// node late enough for an old answer to be wrong.
	clientPatience = 1500 * time.Millisecond
	// lastTries is how often the last count is tried, each for clientPatience.
	lastTries = 5
	// countedAtOnce is of how many of the last appended things a list says something
	// while clients work.
	countedAtOnce = 4
	// appendTries is at how many nodes a client asks for the same thing, each after
	// clientPatience.
	appendTries = historyNodes
	// drawPatience is short: whoever draws asks one node after the other, and a hung one
	// must not be all that it sees.
	drawPatience = 300 * time.Millisecond
	// drawPause makes them some 30 a second: the bucket is empty in two seconds.
	drawPause = 30 * time.Millisecond
	// caughtWithin is how many histories a broken build has to get through unnoticed.
	// Every second one, the first among them, has the trap that it walks into always.
	caughtWithin = 4
)

// labHistory is one history: what is worked on, and what was seen.
type labHistory struct {
	lab       *lab
	seed      uint64
	registers [historyRegisters]string
	keys      [historyKeys]struct{ id, secret string }
	limited   string // a key of the organization whose plan has limits

	draws []labDraw // of one client

	mu   sync.Mutex // guards what follows
	ops  []porcupine.Operation
	made []string // the labels of what was appended, or perhaps was
	n    int
}

// newHistory makes registers and keys.
func (l *lab) newHistory(seed uint64) *labHistory {
	h := &labHistory{lab: l, seed: seed}
	for i := range h.registers {
		h.registers[i] = l.document(fmt.Sprintf("h%d-%d", seed, i))
	}
	for i := range h.keys {
		a := l.must(http.StatusCreated, http.MethodPost, "/v1/keys",
			map[string]any{"label": fmt.Sprint("k", i), "scopes": []string{"read"}})
		h.keys[i].id, h.keys[i].secret = a["id"].(string), a["apiKey"].(string)
	}
	l.eventually(&answer{}, func() bool {
		a := l.sendKeyed(l.t.Context(), 0, l.limited, fmt.Sprint("limited", seed), http.MethodPost, "/v1/keys",
			map[string]any{"label": "limited", "scopes": []string{"read"}})
		var made struct{ APIKey string }
		if a.Status == http.StatusCreated && json.Unmarshal(a.Body, &made) == nil {
			h.limited = made.APIKey
		}
		return h.limited != ""
	})
	return h
}

// end revokes the keys: there may be so many at once only, and those that are revoked
// make way.
func (h *labHistory) end() {
	for _, k := range h.keys {
		h.gone(k.id)
	}
	listed, _ := h.list(0)
	for _, k := range listed {
		if slices.Contains(h.made, k.Label) {
			h.gone(k.ID)
		}
	}
}

// gone revokes a key. One that was revoked in the history may have made way since:
// the key that was made first goes first, and of one that was made while a clock was
// put back that is said soon.
func (h *labHistory) gone(id string) {
	var a answer
	h.lab.eventually(&a, func() bool {
		a = h.lab.send(h.lab.t.Context(), 0, h.lab.node(0).APIKey, http.MethodDelete, "/v1/keys/"+id, nil)
		return a.Status == http.StatusNoContent || a.Status == http.StatusNotFound
	})
}

// spare is the key that only a trap uses.
func (h *labHistory) spare() int { return historyKeys - 1 }

// write gives register n a value never used before, through node i. It reports
// whether that was acknowledged.
func (h *labHistory) write(i, n int) bool {
	h.mu.Lock()
	h.n++
	value := fmt.Sprintf("v%d-%d", h.seed, h.n)
	h.mu.Unlock()
	return h.try(i, labOp{h.registers[n], "write", value}, h.lab.node(0).APIKey, http.MethodPatch,
		"/v1/graph/nodes/"+h.registers[n], map[string]any{"title": value},
		func(a answer) (string, bool) { return "", a.Status == http.StatusOK })
}

func (h *labHistory) read(i, n int) bool {
	return h.try(i, labOp{h.registers[n], "read", ""}, h.lab.node(0).APIKey, http.MethodGet,
		"/v1/recall/graph/node/"+h.registers[n], nil,
		func(a answer) (string, bool) {
			var node struct{ Title string }
			known := a.Status == http.StatusOK && json.Unmarshal(a.Body, &node) == nil
			return node.Title, known
		})
}

func (h *labHistory) use(i, key int) bool {
	return h.try(i, labOp{fmt.Sprint("key", key), "use", ""}, h.keys[key].secret, http.MethodGet, "/v1/me", nil,
		func(a answer) (string, bool) {
			return map[int]string{http.StatusOK: "works", http.StatusUnauthorized: "refused"}[a.Status],
				a.Status == http.StatusOK || a.Status == http.StatusUnauthorized
		})
}

// revoke counts a key that is not there any more as revoked.
func (h *labHistory) revoke(i, key int) bool {
	return h.try(i, labOp{fmt.Sprint("key", key), "revoke", ""}, h.lab.node(0).APIKey, http.MethodDelete,
		"/v1/keys/"+h.keys[key].id, nil,
		func(a answer) (string, bool) {
			return "", a.Status == http.StatusNoContent || a.Status == http.StatusNotFound
		})
}

// append makes a key under a label and an Idempotency-Key that were never used
// before. Where no answer comes from node i it does what a client does, and asks for
// the same thing at the next one.
func (h *labHistory) append(i int) bool {
	h.mu.Lock()
	h.n++
	label := fmt.Sprintf("a%d-%d", h.seed, h.n)
	h.made = append(h.made, label)
	h.mu.Unlock()
	op := porcupine.Operation{
		ClientId: i, Input: labOp{label, "append", ""}, Output: "", Call: h.lab.now(),
		Return: math.MaxInt64,
	}
	for try := range appendTries {
		ctx, cancel := context.WithTimeout(h.lab.t.Context(), clientPatience)
		a := h.lab.sendKeyed(ctx, (i+try)%historyNodes, h.lab.node(0).APIKey, label, http.MethodPost, "/v1/keys",
			map[string]any{"label": label, "scopes": []string{"read"}})
		cancel()
		if a.Status == http.StatusCreated {
			op.Return = h.lab.now()
			break
		}
		// under way, or not decided
		if a.Status != 0 && a.Status != http.StatusConflict && a.Status < http.StatusInternalServerError {
			h.lab.t.Errorf("append %s: %d %s", label, a.Status, a.Body)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, op)
	return op.Return != math.MaxInt64
}

// labKey is a key in a list.
type labKey struct{ ID, Label, Status string }

// list returns all keys, as node i lists them.
func (h *labHistory) list(i int) ([]labKey, bool) {
	ctx, cancel := context.WithTimeout(h.lab.t.Context(), clientPatience)
	defer cancel()
	a := h.lab.send(ctx, i, h.lab.node(0).APIKey, http.MethodGet, "/v1/keys", nil)
	var list struct{ Keys []labKey }
	known := a.Status == http.StatusOK && json.Unmarshal(a.Body, &list) == nil
	return list.Keys, known
}

// count notes how many there are of some things that were appended; they are the
// last ones at first, and with all of them everything.
func (h *labHistory) count(i int, all bool) bool {
	h.mu.Lock()
	labels := slices.Clone(h.made)
	h.mu.Unlock()
	if !all {
		labels = labels[max(0, len(labels)-countedAtOnce):]
	}
	call := h.lab.now()
	listed, known := h.list(i)
	till := h.lab.now()
	if !known {
		return false
	}
	found := map[string]int{}
	for _, k := range listed {
		found[k.Label]++
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, label := range labels {
		h.ops = append(h.ops, porcupine.Operation{
			ClientId: i, Input: labOp{label, "count", ""},
			Output: strconv.Itoa(found[label]), Call: call, Return: till,
		})
	}
	return true
}

// countAtLast counts everything once all faults are over, and returns how often it
// tried: a node that was cut off may wait for two seconds before it connects again. 0:
// it is in vain.
func (h *labHistory) countAtLast(i int) (tries int) {
	for tries = 1; tries <= lastTries; tries++ {
		if h.count(i, true) {
			return tries
		}
	}
	return 0
}

// draw asks at node i for something that has a limit.
func (h *labHistory) draw(i int) {
	ctx, cancel := context.WithTimeout(h.lab.t.Context(), drawPatience)
	defer cancel()
	d := labDraw{call: h.lab.now()}
	a := h.lab.send(ctx, i, h.limited, http.MethodGet, "/v1/me", nil)
	d.till, d.granted = h.lab.now(), a.Status == http.StatusOK
	if a.Status != http.StatusOK && a.Status != http.StatusTooManyRequests {
		return
	}
	var full int
	if _, err := fmt.Sscanf(a.Header.Get("RateLimit"), "default;r=%d;t=%d", &d.left, &full); err != nil {
		h.lab.t.Errorf("RateLimit: %q: %v", a.Header.Get("RateLimit"), err)
	}
	h.draws = append(h.draws, d)
}

// try does one operation at node i and notes what was seen. An answer that never
// came leaves open whether a write or a revocation was done, and when; a read
// without an answer saw nothing.
func (h *labHistory) try(i int, op labOp, key, method, path string, body any, seen func(answer) (string, bool)) bool {
	call := h.lab.now()
	ctx, cancel := context.WithTimeout(h.lab.t.Context(), clientPatience)
	a := h.lab.send(ctx, i, key, method, path, body)
	cancel()
	out, known := seen(a)
	till := h.lab.now()
	if !known {
		if op.kind == "read" || op.kind == "use" {
			return false
		}
		till = math.MaxInt64
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, porcupine.Operation{ClientId: i, Input: op, Call: call, Output: out, Return: till})
	return known
}

// run lets clients work while faults happen, and returns what happened. leader is
// who leads the organization's shard.
func (h *labHistory) run(leader int) (faults []string, trapped bool) {
	l := h.lab
	ctx, cancel := context.WithTimeout(l.t.Context(), historyLength)
	defer cancel()
	var wg sync.WaitGroup
	for c := range historyClients {
		mine := rand.New(rand.NewPCG(h.seed, uint64(c)+2))
		wg.Go(func() {
			for ctx.Err() == nil {
				at, register, key := c%historyNodes, mine.IntN(historyRegisters), mine.IntN(h.spare())
				switch mine.IntN(10) {
				case 0, 1, 2:
					h.write(at, register)
				case 3, 4, 5:
					h.read(at, register)
				case 6:
					h.use(at, key)
				case 7:
					h.append(at)
				case 8:
					h.count(at, false)
				case 9:
					if mine.IntN(6) == 0 {
						h.revoke(at, key)
					}
				}
				time.Sleep(time.Duration(mine.IntN(30)) * time.Millisecond)
			}
		})
	}
	wg.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			h.draw(n % historyNodes)
			time.Sleep(drawPause)
		}
	})
	defer wg.Wait()
	rng := rand.New(rand.NewPCG(h.seed, 1))
	some := func(most int) time.Duration { return time.Duration(300+rng.IntN(most)) * time.Millisecond }
	trap := labTraps[(h.seed-1)%uint64(len(labTraps))]
	b := (leader + 1 + rng.IntN(historyNodes-1)) % historyNodes
	time.Sleep(some(300))
	if trapped = trap.do(h, leader, b, historyNodes-leader-b); trapped {
		faults = append(faults, fmt.Sprintf("n%d %s, n%d asked", leader, trap.name, b))
	}
	for time.Sleep(some(300)); ctx.Err() == nil; time.Sleep(some(300)) {
		f, v, d := labFaults[rng.IntN(len(labFaults))], rng.Perm(historyNodes), some(2500)
		faults = append(faults, fmt.Sprintf("%s %v for %v", f.name, v, d))
		f.do(l, v[0], v[1], v[2], d)
	}
	return faults, trapped
}

// document makes a node whose title is "first".
func (l *lab) document(name string) string {
	l.must(http.StatusAccepted, http.MethodPost, "/v1/ingest", map[string]any{
		"externalId": name, "title": "first",
		"content": "The register " + name + " is kept here.",
	})
	var id string
	var a answer
	l.eventually(&a, func() bool {
		a = l.send(l.t.Context(), 0, l.nodes[0].p.APIKey, http.MethodPost, "/v1/search",
			map[string]any{"query": "register " + name, "topK": 20})
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

// setNumber is what a variable says, or else.
func setNumber(t *testing.T, name string, otherwise int) int {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q, and should be a number", name, text)
	}
	return n
}

// TestHistories checks as many histories as ORGMEM_HISTORIES says.
func TestHistories(t *testing.T) {
	n, from := setNumber(t, "ORGMEM_HISTORIES", 10), setNumber(t, "ORGMEM_HISTORIES_FROM", 1)
	broken := os.Getenv("ORGMEM_HISTORIES_UNLEASED") != ""
	if broken {
		n = caughtWithin
	}
	l := newLab(t)
	total, traps := 0, 0
	var last *labHistory
	for seed := uint64(from); seed < uint64(from+n); seed++ {
		leader := l.settle() // what hung or was cut off before is back
		if last != nil {
			last.end()
		}
		opened := l.opened()
		h := l.newHistory(seed)
		faults, trapped := h.run(leader)
		l.settle()
		if tries := h.countAtLast(int(seed % historyNodes)); tries == 0 {
			t.Fatalf("history %d: the keys could not be listed", seed)
		} else if tries > 1 {
			t.Logf("history %d: the keys were listed at try %d", seed, tries)
		}
		if more := overdrawn(h.draws); float64(more) > l.opened()-opened {
			t.Errorf("history %d: a bucket was overdrawn %d times, and organizations were opened %v times; %s\n%+v", seed, more,
				l.opened()-opened, strings.Join(faults, "; "), h.draws)
		}
		total += len(h.ops)
		if trapped {
			traps++
		}
		what := strings.Join(faults, "; ")
		switch result, info := judge(h.ops); {
		case result == porcupine.Ok:
		case result == porcupine.Illegal && broken:
			t.Logf("history %d catches the broken build, after %s", seed, what)
			return
		default:
			picture := filepath.Join(os.TempDir(), fmt.Sprintf("orgmem-history-%d.html", seed))
			_ = porcupine.VisualizePath(labModel, info, picture)
			t.Fatalf("history %d of %d operations is %s: see %s\n%s", seed, len(h.ops), result, picture, what)
		}
		t.Logf("history %d: %d operations, %d appended, %d draws of which %d found a new bucket; %s", seed, len(h.ops),
			len(h.made), len(h.draws), overdrawn(h.draws), what)
		last = h
	}
	if broken {
		t.Fatalf("%d histories of the broken build, and nothing was noticed", n)
	}
	if traps < n/2 {
		t.Errorf("in %d of %d histories a successor came to acknowledge a write: the others show little", traps, n)
	}
	t.Logf("%d histories, %d operations, %d leaders overtaken and asked, none refused", n, total, traps)
}
