//go:build histories

package main

import (
	"context"
	order "encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"orgmem/cmd/orgmem/internal/client"
	"orgmem/cmd/orgmem/process"
)

const (
	// overtakenWithin is how long a successor may take to acknowledge a write:
	// elections of two seconds, and some that fail.
	overtakenWithin = 10 * time.Second
	// pinnedReads are at once at the old leader, of each register and key.
	pinnedReads = 4
	// slowest is how long a slow disk takes for a sync, or a half, a quarter or an eighth
	// of it; slowGap is when it takes some. It is a disk that is frozen and thawed: the
	// device mapper's delay and throttling by control group are not in every kernel.
	slowest = 240 * time.Millisecond
	slowGap = 5 * time.Millisecond
	// farthest is how far a clock is set from the right time. Two of them are less than a
	// day apart then: what an Idempotency-Key is known for, and what certificates allow.
	farthest = 11 * time.Hour
	// arrival is time for a request to get as far as the old leader's socket.
	arrival = 20 * time.Millisecond
)

// labTraps make a leader, a, believe that it leads while another one does, and ask
// it what it cannot know, since b has acknowledged that; each reports whether it
// came to that. A build that relies on being told of the end of its leadership
// walked into the first 8 times of 8, and into the second 2 of 8: so the first
// shows that the histories notice (make histories begins with it).
var labTraps = []struct {
	name string
	do   func(h *labHistory, a, b, c int) bool
}{
	// The disk of a leader hangs while it is cut off. raft's loop waits for the disk,
	// and so does not notice for as long as that takes that nobody follows any more;
	// nothing but the lease for reads does.
	{"hung and cut off", func(h *labHistory, a, b, c int) bool {
		l := h.lab
		l.freeze(a)
		defer l.thaw(a)
		links := [][2]int{{a, b}, {b, a}, {a, c}, {c, a}}
		l.sever(links)
		defer l.mend(links)
		var wg sync.WaitGroup
		defer wg.Wait()
		wg.Go(func() { h.write(a, 0) }) // for the loop to wait
		wg.Go(func() { h.append(a) })   // is asked for again, of the successor
		if !h.overtake(b) {
			return false
		}
		h.ask(a, func() {})
		return true
	}},
	// A process sleeps while another one is elected, and wakes up to questions that
	// have waited.
	{"asleep", func(h *labHistory, a, b, _ int) bool {
		wake := h.lab.pause(a)
		defer wake()
		if !h.overtake(b) {
			return false
		}
		h.ask(a, wake)
		return true
	}},
}

// overtake lets node i acknowledge a write of each register and a revocation.
func (h *labHistory) overtake(i int) bool {
	until := time.Now().Add(overtakenWithin)
	for n := range historyRegisters {
		for !h.write(i, n) {
			if time.Now().After(until) {
				return false
			}
			time.Sleep(arrival)
		}
	}
	for !h.revoke(i, h.spare()) {
		if time.Now().After(until) {
			return false
		}
		time.Sleep(arrival)
	}
	return true
}

// ask puts all questions to node i at once, and then does what lets them be
// answered.
func (h *labHistory) ask(i int, then func()) {
	var wg sync.WaitGroup
	for range pinnedReads {
		for n := range historyRegisters {
			wg.Go(func() { h.read(i, n) })
		}
		wg.Go(func() { h.use(i, h.spare()) })
	}
	time.Sleep(arrival)
	then()
	wg.Wait()
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
		l.past += l.openedAt(a) + 1 // and one for what it opens until it is dead
		l.node(a).Kill()
		time.Sleep(d)
		l.serve(a, "")
	}},
	{"pause", func(l *lab, a, _, _ int, d time.Duration) {
		defer l.pause(a)()
		time.Sleep(d)
	}},
	// Every sync waits; the disk is thawed so shortly that few get through without.
	{"slow disk", func(l *lab, a, _, _ int, d time.Duration) {
		for until, n := time.Now().Add(d), 0; time.Now().Before(until); n++ {
			l.freeze(a)
			time.Sleep(slowest >> (n % 4))
			l.thaw(a)
			time.Sleep(slowGap)
		}
	}},
	{"hung disk", func(l *lab, a, _, _ int, d time.Duration) {
		l.freeze(a)
		defer l.thaw(a)
		time.Sleep(d)
	}},
	// Planned moves: whatever the victim leads goes to the others, and its share comes back.
	{"drain and undo", func(l *lab, a, b, _ int, d time.Duration) {
		l.drain(a, b, true)
		time.Sleep(d)
		l.drain(a, b, false)
	}},
	// By hours, there and past where it was; it stays so until the next one.
	{"clock", func(l *lab, a, _, _ int, d time.Duration) {
		off := (d%(100*time.Millisecond)).Milliseconds()*2 - 100 // d is random
		l.setClock(a, time.Duration(off)*farthest/100)
		time.Sleep(d)
		l.setClock(a, -time.Duration(off)*farthest/100)
	}},
}

// drain has node a drained, or takes that back, by an order to node b. It asks until the
// order is taken: an election that an earlier fault has caused may go on.
func (l *lab) drain(a, b int, drain bool) {
	var err error
	for until := time.Now().Add(process.ReadyWithin); time.Now().Before(until); time.Sleep(arrival) {
		var operator *client.Client
		if operator, err = l.atOperator(b); err == nil {
			_, err = operator.DrainNode(l.t.Context(), fmt.Sprintf("n%d", a), drain)
		}
		if err == nil {
			return
		}
	}
	l.t.Errorf("drain of node %d, %t: %v", a, drain, err)
}

// setClock sets a node's time of day.
func (l *lab) setClock(i int, off time.Duration) {
	raw := order.NativeEndian.AppendUint64(nil, uint64(off/time.Second))
	if _, err := l.nodes[i].clock.WriteAt(raw, 0); err != nil {
		l.t.Errorf("clock of node %d: %v", i, err)
	}
}

// jumps looks at what setting clocks does before histories rely on it: a key is made
// at that time of day.
func (l *lab) jumps() {
	for _, off := range []time.Duration{farthest, -farthest, 0} {
		for i := range l.nodes {
			l.setClock(i, off)
		}
		id := l.must(http.StatusCreated, http.MethodPost, "/v1/keys",
			map[string]any{"label": "clock", "scopes": []string{"read"}})["id"]
		for _, k := range l.must(http.StatusOK, http.MethodGet, "/v1/keys", nil)["keys"].([]any) {
			k := k.(map[string]any)
			made, err := time.Parse(time.RFC3339, k["createdAt"].(string))
			if err != nil {
				l.t.Fatal(err)
			}
			if late := time.Since(made.Add(-off)); k["id"] == id && (late < 0 || late > process.ReadyWithin) {
				l.t.Fatalf("NOT RUN: a key is made at %v with clocks that are set %v off (a binary built with -tags shifted is "+
					"needed: make histories)", made, off)
			}
		}
		l.must(http.StatusNoContent, http.MethodDelete, "/v1/keys/"+id.(string), nil)
	}
}

// pause stops a node's process. What it returns lets it go on, once.
func (l *lab) pause(i int) func() {
	pid := l.node(i).Pid()
	l.signal(pid, syscall.SIGSTOP)
	return sync.OnceFunc(func() { l.signal(pid, syscall.SIGCONT) })
}

func (l *lab) signal(pid int, s syscall.Signal) {
	if err := syscall.Kill(pid, s); err != nil {
		l.t.Errorf("%v for %d: %v", s, pid, err)
	}
}

// labLinks are all, in both directions.
var labLinks = [][2]int{{0, 1}, {1, 0}, {0, 2}, {2, 0}, {1, 2}, {2, 1}}

// cut loses what goes over links, for a while.
func (l *lab) cut(d time.Duration, links ...[2]int) {
	l.sever(links)
	defer l.mend(links)
	time.Sleep(d)
}

// nobody's hardware address: what is sent to it leaves the sender's card, crosses the
// hub and is taken by no card.
const nobody = "02:00:00:00:00:ff"

// sever loses what the first of each pair sends to the second. The sender is not
// told, as it is by a route that is not there: a connection that is dialled hangs,
// one that is open waits for acknowledgements that do not come, and a datagram was
// sent. So it is by the neighbour's address, which every kernel has; filters that
// drop are not in all.
func (l *lab) sever(links [][2]int) {
	for _, x := range links {
		l.neighbour(x[0], x[1], nobody)
	}
}

func (l *lab) mend(links [][2]int) {
	for _, x := range links {
		l.neighbour(x[0], x[1], hardware(x[1]))
	}
}

// neighbour says where a finds b.
func (l *lab) neighbour(a, b int, address string) {
	ip(l.t, "-n", l.nodes[a].ns, "neigh", "replace", l.nodes[b].ip, "lladdr", address, "nud", "permanent", "dev", "eth0")
}

// silent looks at what a cut does before histories rely on it: whoever dials over
// it waits and is told nothing, and what was cut is there again.
func (l *lab) silent() {
	for _, x := range labLinks {
		l.sever([][2]int{x})
		ctx, cancel := context.WithTimeout(l.t.Context(), 10*arrival)
		c, err := l.nodes[x[0]].dial(ctx, "tcp", l.nodes[x[1]].ip+":7946")
		cancel()
		l.mend([][2]int{x})
		if late := net.Error(nil); err == nil || !errors.As(err, &late) || !late.Timeout() {
			l.t.Fatalf("node %d dials node %d over a cut: %v, %v", x[0], x[1], c, err)
		}
		if c, err = l.nodes[x[0]].dial(l.t.Context(), "tcp", l.nodes[x[1]].ip+":7946"); err != nil {
			l.t.Fatalf("node %d dials node %d: %v", x[0], x[1], err)
		}
		c.Close()
	}
}

// hardware is the address of node i's card.
func hardware(i int) string { return fmt.Sprintf("02:00:00:00:00:%02x", i+1) }
