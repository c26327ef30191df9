package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"orgmem/cmd/orgmem/process"
)

const (
	deaths        = 16 // of the node that has the organization
	pauses        = 6  // of its process, which closes no connection, as a machine without power
	drains        = 6  // of it, by command; and as many by SIGTERM
	nodeClients   = 2  // per node
	clientPause   = 10 * time.Millisecond
	readyLook     = 50 * time.Millisecond // how often a load balancer asks /readyz: briskly
	beforeAndNext = 100                   // writes before something happens and after it
	takeoverMost  = time.Minute           // until the bench gives up
)

// write is what one client asked once, over as many nodes as it took.
type write struct {
	through    int // the node that answered at last
	sent, done time.Time
	err        error
}

// crowd is clients that write over and over, each one thing after the other.
type crowd struct {
	cancel context.CancelFunc
	group  sync.WaitGroup
	turned atomic.Int64 // requests that a node on its way out sent elsewhere

	mu  sync.Mutex
	all []write
}

// nodes makes one node for each client to write.
func (c trio) nodes(ctx context.Context) ([]string, error) {
	items := make([]item, clusterNodes*nodeClients)
	for i := range items {
		items[i] = item{Content: "The boiler in house " + strconv.Itoa(i) + " was serviced in May."}
	}
	job, err := c[0].ingest(ctx, items)
	if err != nil {
		return nil, err
	}
	if err := c[0].await(ctx, job); err != nil {
		return nil, err
	}
	var list struct{ Data []struct{ ID string } }
	if err := c[0].call(ctx, http.MethodGet, "/v1/graph/nodes", nil, &list); err != nil {
		return nil, err
	}
	var ids []string
	for _, n := range list.Data {
		ids = append(ids, n.ID)
	}
	if len(ids) < len(items) {
		return nil, fmt.Errorf("%d nodes of %d items", len(ids), len(items))
	}
	return ids, nil
}

// write lets clients write through some nodes. Where a load balancer stands before
// them, a client whose node is on its way out, as /readyz or a refusal of a node that
// has done nothing says, goes to the next one.
func (c trio) write(ctx context.Context, nodes []string, balanced bool, through ...int) *crowd {
	w := &crowd{}
	ctx, w.cancel = context.WithCancel(ctx)
	var away [clusterNodes]atomic.Bool
	if balanced {
		for _, i := range through {
			w.group.Go(func() {
				for pause(ctx, readyLook) == nil {
					away[i].Store(leaving(call(ctx, http.MethodGet, c[i].OperatorURL+"/readyz", nil, nil, nil)))
				}
			})
		}
	}
	for at := range through {
		for k := range nodeClients {
			id := nodes[at*nodeClients+k]
			w.group.Go(func() {
				for n := 0; pause(ctx, clientPause) == nil; n++ {
					one := write{sent: time.Now()}
					for hop := range through {
						one.through = through[(at+hop)%len(through)]
						if away[one.through].Load() && hop+1 < len(through) {
							continue
						}
						// Not ended with the crowd: each is waited for.
						one.err = c[one.through].call(context.WithoutCancel(ctx), http.MethodPatch, "/v1/graph/nodes/"+id,
							map[string]any{"title": "round " + strconv.Itoa(n)}, nil)
						if !balanced || !leaving(one.err) {
							break
						}
						w.turned.Add(1)
					}
					one.done = time.Now()
					w.mu.Lock()
					w.all = append(w.all, one)
					w.mu.Unlock()
				}
			})
		}
	}
	return w
}

// leaving reports whether a node has done nothing, since it is going or gone.
func leaving(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || err != nil && strings.Contains(err.Error(), "service_draining")
}

func (w *crowd) stop() []write {
	w.cancel()
	w.group.Wait()
	return w.all
}

// acked returns when the first write of a node's clients was acknowledged of those
// that were sent after a moment.
func (w *crowd) acked(after time.Time, through int) (time.Time, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.all {
		if one.through == through && one.err == nil && one.sent.After(after) {
			return one.done, true
		}
	}
	return time.Time{}, false
}

// more waits for further acknowledged writes.
func (w *crowd) more(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, takeoverMost)
	defer cancel()
	for began := time.Now(); ; {
		w.mu.Lock()
		n := 0
		for _, one := range w.all {
			if one.err == nil && one.sent.After(began) {
				n++
			}
		}
		w.mu.Unlock()
		if n >= beforeAndNext {
			return nil
		}
		if err := pause(ctx, clientPause); err != nil {
			return fmt.Errorf("%d writes of %d: %w", n, beforeAndNext, err)
		}
	}
}

// owner waits until one node alone has the organization in memory.
func (c trio) owner(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, takeoverMost)
	defer cancel()
	for {
		if err := c[0].call(ctx, http.MethodGet, "/v1/me", nil, nil); err != nil {
			return 0, err
		}
		var have []int
		for i, s := range c {
			n, err := s.gauge(ctx, "orgmem_actors_organizations")
			if err != nil {
				return 0, err
			}
			if n == 1 {
				have = append(have, i)
			}
		}
		if len(have) == 1 {
			return have[0], nil
		}
		if err := pause(ctx, readyLook); err != nil {
			return 0, fmt.Errorf("nodes %v have the organization: %w", have, err)
		}
	}
}

// again starts a node that has ended, and waits until all is as it should be.
func (c trio) again(ctx context.Context, b *bench, i int) (err error) {
	c[i].options.Env = nil // its token is used up
	if c[i].Process, err = process.Start(ctx, c[i].options); err != nil {
		return err
	}
	return c.wait(ctx, b)
}

// measureClusterFailover: for how long nothing is written when a node dies.
func measureClusterFailover(ctx context.Context, b *bench) error {
	c, err := b.cluster(ctx)
	if err != nil {
		return errors.Join(err, c.end())
	}
	return errors.Join(b.failover(ctx, c), c.end())
}

func (b *bench) failover(ctx context.Context, c trio) error {
	nodes, err := c.nodes(ctx)
	if err != nil {
		return err
	}
	for _, how := range []struct {
		name  string
		times int
		fail  func(owner int) (mend func() error, err error)
	}{
		{"a node's death", deaths, func(owner int) (func() error, error) {
			c[owner].Kill()
			return func() error { return c.again(ctx, b, owner) }, nil
		}},
		{"a node says nothing any more", pauses, func(owner int) (func() error, error) {
			wake := func() error {
				return errors.Join(syscall.Kill(c[owner].Pid(), syscall.SIGCONT), c.wait(ctx, b))
			}
			return wake, syscall.Kill(c[owner].Pid(), syscall.SIGSTOP)
		}},
	} {
		var took []time.Duration
		for range how.times {
			one, err := c.resumes(ctx, nodes, how.fail)
			if err != nil {
				return err
			}
			took = append(took, one)
		}
		slices.Sort(took)
		least, middle, most := took[0], percentile(took, 50), took[len(took)-1]
		b.report.add(fmt.Sprintf("writes resume after %s, the slowest of %d", how.name, how.times), "within 3 s",
			most < 3*time.Second,
			"%.2f s (the fastest %.2f s)", most.Seconds(), least.Seconds())
		b.report.add("writes resume after "+how.name+", median", "< 2 s", middle < 2*time.Second, "%.2f s", middle.Seconds())
	}
	return nil
}

// resumes measures for how long nothing is written when the node fails that has the
// organization.
func (c trio) resumes(ctx context.Context, nodes []string,
	fail func(owner int) (mend func() error, err error),
) (next time.Duration, err error) {
	owner, err := c.owner(ctx)
	if err != nil {
		return 0, err
	}
	others := []int{(owner + 1) % clusterNodes, (owner + 2) % clusterNodes}
	w := c.write(ctx, nodes, false, others...)
	if err := w.more(ctx); err != nil {
		return 0, w.end(err)
	}
	failed := time.Now()
	mend, err := fail(owner)
	if err != nil {
		return 0, w.end(err)
	}
	// Of the two, the one that hears of it later.
	for _, i := range others {
		at, err := w.next(ctx, failed, i)
		if err != nil {
			return 0, w.end(errors.Join(err, mend()))
		}
		next = max(next, at.Sub(failed))
	}
	w.stop()
	return next, mend()
}

// end stops where nobody looks at what was written any more.
func (w *crowd) end(err error) error {
	w.stop()
	return err
}

// next waits for acked.
func (w *crowd) next(ctx context.Context, after time.Time, through int) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, takeoverMost)
	defer cancel()
	for {
		if at, ok := w.acked(after, through); ok {
			return at, nil
		}
		if err := pause(ctx, clientPause); err != nil {
			w.mu.Lock()
			defer w.mu.Unlock()
			last := w.all[len(w.all)-1]
			return time.Time{}, fmt.Errorf("no write is acknowledged: %w; %d were asked, the last one through node %d: %w", err,
				len(w.all), last.through, last.err)
		}
	}
}

// measureClusterDrain: what a planned stop costs those who write.
func measureClusterDrain(ctx context.Context, b *bench) error {
	c, err := b.cluster(ctx)
	if err != nil {
		return errors.Join(err, c.end())
	}
	return errors.Join(b.drain(ctx, c), c.end())
}

func (b *bench) drain(ctx context.Context, c trio) error {
	nodes, err := c.nodes(ctx)
	if err != nil {
		return err
	}
	byCommand := func(owner int) (func() error, error) {
		undo := func() error {
			if err := b.order(ctx, c, owner, "--undo"); err != nil {
				return err
			}
			return c.wait(ctx, b)
		}
		return undo, b.order(ctx, c, owner)
	}
	bySignal := func(owner int) (func() error, error) {
		return func() error { return c.again(ctx, b, owner) }, c[owner].Stop()
	}
	for _, how := range []struct {
		name     string
		balanced bool
		leave    func(owner int) (undo func() error, err error)
	}{
		{"cluster drain", false, byCommand},
		{"SIGTERM behind a load balancer", true, bySignal},
	} {
		var all []write
		var longest []time.Duration // of each
		var turned int64
		for range drains {
			owner, err := c.owner(ctx)
			if err != nil {
				return err
			}
			w := c.write(ctx, nodes, how.balanced, 0, 1, 2)
			if err := w.more(ctx); err != nil {
				return w.end(err)
			}
			undo, err := how.leave(owner)
			if err == nil {
				err = w.more(ctx)
			}
			some := w.stop()
			if err != nil {
				return err
			}
			if err := undo(); err != nil {
				return err
			}
			most := time.Duration(0)
			for _, one := range some {
				most = max(most, one.done.Sub(one.sent))
			}
			all, longest, turned = append(all, some...), append(longest, most), turned+w.turned.Load()
		}
		var refused []write
		for _, one := range all {
			if one.err != nil {
				refused = append(refused, one)
			}
		}
		what := fmt.Sprintf("%s, %d times, %d clients through three nodes", how.name, drains, clusterNodes*nodeClients)
		first := ""
		if len(refused) > 0 {
			one := refused[0]
			first = fmt.Sprintf(", the first through node %d after %.2f s: %v", one.through, one.done.Sub(one.sent).Seconds(),
				one.err)
		}
		b.report.add(what+", refused", "none", len(refused) == 0, "%d of %d writes%s", len(refused), len(all), first)
		slices.Sort(longest)
		b.report.add(what+", longest wait", "< 1 s", longest[len(longest)-1] < time.Second,
			"%.2f s (the longest of each: %.2f to %.2f s; %d sent to another node)",
			longest[len(longest)-1].Seconds(), longest[0].Seconds(), longest[len(longest)-1].Seconds(), turned)
	}
	return nil
}

// order gives the command that drains a node, to another one.
func (b *bench) order(ctx context.Context, c trio, node int, flags ...string) error {
	by := c[(node+1)%clusterNodes]
	args := append([]string{"cluster", "drain", nodeName(node), "--operator", by.OperatorURL, "--data", by.data}, flags...)
	if out, err := exec.CommandContext(ctx, b.binary, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("cluster drain: %w: %s", err, out)
	}
	return nil
}
