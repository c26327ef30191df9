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
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// Three nodes are cut off from each other, killed and paused, and their disks
// hang, while clients write titles, read them, and use and revoke keys through
// every node. What the clients saw must be explained by one order that respects
// real time (linearizability), which porcupine decides.
//
// A machine's clock cannot be set for one process (a time namespace moves the
// monotonic clock only), so clock jumps are left to the simulation (make sim).
//
// It needs root and stands behind a build tag; where it cannot run it fails.
// ORGMEM_HISTORIES says how many, ORGMEM_HISTORIES_FROM the first one's number, which
// decides its faults, ORGMEM_HISTORIES_UNFENCED that the binary is the broken one
// (go build -tags unfenced) and has to be caught.

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
	// judgeWithin bounds porcupine's search; a history of this size takes it
	// milliseconds. What it cannot decide counts as a failure.
	judgeWithin = time.Minute
	// caughtWithin is how many histories a broken build has to get through unnoticed.
	// Every second one, the first among them, has the trap that it walks into always.
	caughtWithin = 4
)

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

// settled returns what the model has to explain. A write whose answer never came
// may take effect late, or never, and porcupine would try all of it: a dozen such
// writes are more than it decides in a minute. Values are written once, so whoever
// saw one says by when it was written; and what nobody saw explains nothing, since
// between it and the next write nobody read.
func settled(ops []porcupine.Operation) []porcupine.Operation {
	seen := map[labOp]int64{} // a write, and when somebody first had its value
	for _, op := range ops {
		if in := op.Input.(labOp); in.kind == "read" {
			w := labOp{in.register, "write", op.Output.(string)}
			if at, ok := seen[w]; !ok || op.Return < at {
				seen[w] = op.Return
			}
		}
	}
	var left []porcupine.Operation
	for _, op := range ops {
		if in := op.Input.(labOp); in.kind == "write" && op.Return == math.MaxInt64 {
			at, ok := seen[in]
			if !ok {
				continue
			}
			op.Return = max(at, op.Call)
		}
		left = append(left, op)
	}
	return left
}

// judge asks porcupine.
func judge(ops []porcupine.Operation) (porcupine.CheckResult, porcupine.LinearizationInfo) {
	return porcupine.CheckOperationsVerbose(labModel, settled(ops), judgeWithin)
}

// labHistory is one history: what is worked on, and what was seen.
type labHistory struct {
	lab       *lab
	seed      uint64
	registers [historyRegisters]string
	keys      [historyKeys]struct{ id, secret string }

	mu  sync.Mutex // guards what follows
	ops []porcupine.Operation
	n   int
}

// newHistory makes registers and keys.
func (l *lab) newHistory(seed uint64) *labHistory {
	h := &labHistory{lab: l, seed: seed}
	for i := range h.registers {
		h.registers[i] = l.document(fmt.Sprintf("h%d-%d", seed, i))
	}
	for i := range h.keys {
		a := l.must(http.StatusCreated, http.MethodPost, "/v1/keys", map[string]any{"label": fmt.Sprint("k", i), "scopes": []string{"read"}})
		h.keys[i].id, h.keys[i].secret = a["id"].(string), a["apiKey"].(string)
	}
	return h
}

// end revokes the keys: there may be so many at once only, and those that are revoked
// make way.
func (h *labHistory) end() {
	for _, k := range h.keys {
		h.lab.must(http.StatusNoContent, http.MethodDelete, "/v1/keys/"+k.id, nil)
	}
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
	return h.try(i, labOp{h.registers[n], "write", value}, h.lab.node(0).APIKey, http.MethodPatch, "/v1/graph/nodes/"+h.registers[n], map[string]any{"title": value},
		func(a answer) (string, bool) { return "", a.Status == http.StatusOK })
}

func (h *labHistory) read(i, n int) bool {
	return h.try(i, labOp{h.registers[n], "read", ""}, h.lab.node(0).APIKey, http.MethodGet, "/v1/recall/graph/node/"+h.registers[n], nil,
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
	return h.try(i, labOp{fmt.Sprint("key", key), "revoke", ""}, h.lab.node(0).APIKey, http.MethodDelete, "/v1/keys/"+h.keys[key].id, nil,
		func(a answer) (string, bool) {
			return "", a.Status == http.StatusNoContent || a.Status == http.StatusNotFound
		})
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
				switch mine.IntN(8) {
				case 0, 1, 2:
					h.write(at, register)
				case 3, 4, 5:
					h.read(at, register)
				case 6:
					h.use(at, key)
				case 7:
					if mine.IntN(6) == 0 {
						h.revoke(at, key)
					}
				}
				time.Sleep(time.Duration(mine.IntN(30)) * time.Millisecond)
			}
		})
	}
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
	broken := os.Getenv("ORGMEM_HISTORIES_UNFENCED") != ""
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
		h := l.newHistory(seed)
		faults, trapped := h.run(leader)
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
		t.Logf("history %d: %d operations; %s", seed, len(h.ops), what)
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

// TestJudge: what a history may hold, and what it must not.
func TestJudge(t *testing.T) {
	const never = math.MaxInt64
	write := func(call, till int64, v string) porcupine.Operation {
		return porcupine.Operation{Input: labOp{"a", "write", v}, Output: "", Call: call, Return: till}
	}
	read := func(call, till int64, v string) porcupine.Operation {
		return porcupine.Operation{Input: labOp{"a", "read", ""}, Output: v, Call: call, Return: till}
	}
	key := func(call, till int64, kind, out string) porcupine.Operation {
		return porcupine.Operation{Input: labOp{"key", kind, ""}, Output: out, Call: call, Return: till}
	}
	var storm []porcupine.Operation // writes that nobody answered, beside others that are read
	for n := range int64(60) {
		storm = append(storm, write(n, never, fmt.Sprint("lost", n)), write(10*n, 10*n+15, fmt.Sprint("v", n)), read(10*n+15, 10*n+19, fmt.Sprint("v", n)))
	}
	for _, c := range []struct {
		name string
		ops  []porcupine.Operation
		want porcupine.CheckResult
	}{
		{"nothing written", []porcupine.Operation{read(1, 2, "first")}, porcupine.Ok},
		{"old value", []porcupine.Operation{write(1, 2, "x"), read(3, 4, "first")}, porcupine.Illegal},
		{"back again", []porcupine.Operation{write(1, 9, "x"), read(2, 3, "x"), read(4, 5, "first")}, porcupine.Illegal},
		{"unanswered, never done", []porcupine.Operation{write(1, never, "x"), read(3, 4, "first")}, porcupine.Ok},
		{"unanswered, done late", []porcupine.Operation{write(1, never, "x"), read(3, 4, "first"), read(5, 6, "x")}, porcupine.Ok},
		{"unanswered, done and undone", []porcupine.Operation{write(1, never, "x"), read(3, 4, "x"), read(5, 6, "first")}, porcupine.Illegal},
		{"unanswered, over what came later", []porcupine.Operation{write(1, never, "x"), read(2, 3, "x"), write(4, 5, "y"), read(6, 7, "x")}, porcupine.Illegal},
		{"seen before it was written", []porcupine.Operation{read(1, 2, "x"), write(3, never, "x")}, porcupine.Illegal},
		{"revoked", []porcupine.Operation{key(1, 2, "use", "works"), key(3, 4, "revoke", ""), key(5, 6, "use", "refused")}, porcupine.Ok},
		{"revoked and used", []porcupine.Operation{key(1, 2, "revoke", ""), key(3, 4, "use", "works")}, porcupine.Illegal},
		{"perhaps revoked", []porcupine.Operation{key(1, never, "revoke", ""), key(3, 4, "use", "works"), key(5, 6, "use", "refused")}, porcupine.Ok},
		{"refused, and works again", []porcupine.Operation{key(1, never, "revoke", ""), key(3, 4, "use", "refused"), key(5, 6, "use", "works")}, porcupine.Illegal},
		{"many unanswered", storm, porcupine.Ok},
	} {
		if got, _ := judge(c.ops); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
