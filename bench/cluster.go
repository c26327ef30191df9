package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"orgmem/cmd/orgmem/process"
)

const (
	clusterNodes = 3
	sleepers     = 1000             // organizations that sleep
	sleepAfter   = 5 * time.Second  // unused; the default would only take longer
	sleepWithin  = 20 * time.Minute // until the last one sleeps: cognition runs in each of them first
	// quietAfter is how long nobody has asked anything when the cost of idling is
	// measured: within five minutes logs are cut by age, stores are flushed and closed,
	// and what went before is given back.
	quietAfter = 5 * time.Minute
	idleFor    = time.Minute
	hopReads   = 3000 // on each node, alternating
	writeFor   = "5s" // each of the runs of BenchmarkReplicated
)

// trio is three nodes on loopback that have three replicas of everything.
type trio [clusterNodes]*service

// cluster makes one, as an operator does.
func (b *bench) cluster(ctx context.Context, args ...string) (trio, error) {
	var c trio
	for i := range c {
		b.count++
		s := &service{data: filepath.Join(b.dir, fmt.Sprintf("data%d", b.count))}
		var env []string
		if i == 0 {
			if out, err := exec.CommandContext(ctx, b.binary, "cluster", "init", "--data", s.data).CombinedOutput(); err != nil {
				return c, fmt.Errorf("cluster init: %w: %s", err, out)
			}
		} else {
			var made struct{ Token string }
			if err := c[0].operator(ctx, http.MethodPost, "/operator/cluster/tokens", map[string]any{}, &made); err != nil {
				return c, err
			}
			env = []string{"ORGMEM_JOIN_TOKEN=" + made.Token}
		}
		port, err := freePort(ctx)
		if err != nil {
			return c, err
		}
		own := []string{"--cluster-listen", "127.0.0.1:" + port, "--node-name", nodeName(i)}
		s.options = process.Options{Binary: b.binary, Data: s.data, Args: append(own, args...), Env: env}
		if s.Process, err = process.Start(ctx, s.options); err != nil {
			return c, err
		}
		c[i], s.key = s, s.APIKey
	}
	for _, s := range c {
		s.key = c[0].key
	}
	if err := c.wait(ctx, b); err != nil {
		return c, err
	}
	return c, c[0].operator(ctx, http.MethodPut, "/operator/orgs/"+c[0].OrgID+"/plan",
		map[string]string{"plan": "unlimited"}, nil)
}

func nodeName(i int) string { return "n" + strconv.Itoa(i+1) }

// wait waits until every group is as it should be.
func (c trio) wait(ctx context.Context, b *bench) error {
	out, err := exec.CommandContext(ctx, b.binary, "cluster", "wait", "--operator", c[0].OperatorURL, "--data",
		c[0].data).CombinedOutput()
	if err != nil {
		return fmt.Errorf("cluster wait: %w: %s", err, out)
	}
	return nil
}

func (c trio) end() error {
	var errs []error
	for _, s := range c {
		if s != nil {
			errs = append(errs, s.end())
		}
	}
	return errors.Join(errs...)
}

func freePort(ctx context.Context) (string, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}

// measureClusterIdle: what a node costs that nobody asks anything, with 32 shards
// and many organizations that sleep.
func measureClusterIdle(ctx context.Context, b *bench) error {
	c, err := b.cluster(ctx, "--idle-org", sleepAfter.String(), "--idle-subject", sleepAfter.String())
	if err != nil {
		return errors.Join(err, c.end())
	}
	text := newCorpus(5)
	s := c[0]
	for i := range sleepers {
		var made struct{ APIKey string }
		order := map[string]any{
			"name": "Org " + strconv.Itoa(i), "ownerEmail": "o" + strconv.Itoa(i) + "@example.com",
			"plan": "unlimited",
		}
		if err := s.operator(ctx, http.MethodPost, "/operator/orgs", order, &made); err != nil {
			return errors.Join(err, c.end())
		}
		s.key = made.APIKey
		job, err := s.ingest(ctx, []item{{Content: text.passage(i)}})
		if err == nil {
			err = s.await(ctx, job)
		}
		if err != nil {
			return errors.Join(err, c.end())
		}
	}
	if err := c.asleep(ctx); err != nil {
		return errors.Join(err, c.end())
	}
	return errors.Join(b.idleTrio(ctx, c), c.end())
}

// idleTrio reports what the nodes use while nothing happens.
func (b *bench) idleTrio(ctx context.Context, c trio) error {
	if err := pause(ctx, quietAfter); err != nil {
		return err
	}
	var before [clusterNodes]process.Usage
	var err error
	for i, s := range c {
		if before[i], err = s.Usage(); err != nil {
			return err
		}
	}
	began := time.Now()
	if err := pause(ctx, idleFor); err != nil {
		return err
	}
	var cpu, rss []float64
	for i, s := range c {
		u, err := s.Usage()
		if err != nil {
			return err
		}
		cpu = append(cpu, 100*(u.CPU-before[i].CPU).Seconds()/time.Since(began).Seconds())
		rss = append(rss, float64(u.RSS)/1e6)
	}
	what := fmt.Sprintf("idle node, 32 shards, %d sleeping organizations", sleepers)
	b.report.add(what+", CPU", "< 10 % of a core", slices.Max(cpu) < 10, "%.1f, %.1f, %.1f %%", cpu[0], cpu[1], cpu[2])
	b.report.add(what+", memory", "< 200 MB", slices.Max(rss) < 200, "%.0f, %.0f, %.0f MB resident", rss[0],
		rss[1], rss[2])
	return nil
}

// asleep waits until no organization is in any node's memory.
func (c trio) asleep(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, sleepWithin)
	defer cancel()
	for {
		awake := 0.0
		for _, s := range c {
			n, err := s.gauge(ctx, "orgmem_actors_organizations")
			if err != nil {
				return err
			}
			awake += n
		}
		if awake == 0 {
			return nil
		}
		if err := pause(ctx, time.Second); err != nil {
			return fmt.Errorf("%.0f organizations do not sleep: %w", awake, err)
		}
	}
}

// measureClusterReads: what it costs to ask a node where the organization is not.
func measureClusterReads(ctx context.Context, b *bench) error {
	c, err := b.cluster(ctx)
	if err != nil {
		return errors.Join(err, c.end())
	}
	err = b.hop(ctx, c)
	return errors.Join(err, c.end())
}

func (b *bench) hop(ctx context.Context, c trio) error {
	job, err := c[0].ingest(ctx, []item{{Content: "The boiler was serviced in May."}})
	if err != nil {
		return err
	}
	if err := c[0].await(ctx, job); err != nil {
		return err
	}
	var nodes struct{ Data []struct{ ID string } }
	if err := c[0].call(ctx, http.MethodGet, "/v1/graph/nodes", nil, &nodes); err != nil {
		return err
	}
	if len(nodes.Data) == 0 {
		return errors.New("no node to read")
	}
	owner, err := c.owner(ctx)
	if err != nil {
		return err
	}
	path := "/v1/graph/nodes/" + nodes.Data[0].ID
	var took [clusterNodes][]time.Duration
	for n := range hopReads + warmQueries {
		for i, s := range c {
			began := time.Now()
			if err := s.call(ctx, http.MethodGet, path, nil, nil); err != nil {
				return err
			}
			if n >= warmQueries {
				took[i] = append(took[i], time.Since(began))
			}
		}
	}
	here := percentile(took[owner], 50)
	var worst time.Duration
	for i := range took {
		if i != owner {
			worst = max(worst, percentile(took[i], 50))
		}
	}
	b.report.add("read on a node that is not the owner", "< 0.5 ms more (median)", worst-here < 500*time.Microsecond,
		"%.2f ms more (%.2f ms there, %.2f ms on the owner)", ms(worst-here), ms(worst), ms(here))
	return nil
}

// gauge reads one figure of /metrics.
func (s *service) gauge(ctx context.Context, name string) (float64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.OperatorURL+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	text := new(strings.Builder)
	if _, err := copyText(text, response.Body); err != nil {
		return 0, err
	}
	for line := range strings.Lines(text.String()) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+" "); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("%s has no %s", s.OperatorURL, name)
}

// measureClusterWrites compares replicated writes with bare hashicorp/raft on the
// same store, which only package cluster may import: its benchmark does both.
func measureClusterWrites(ctx context.Context, b *bench) error {
	found, err := goBench(ctx, "BenchmarkReplicated", writeFor)
	if err != nil {
		return err
	}
	for _, clients := range []string{"64", "256"} {
		ours, bare := found["BenchmarkReplicated/ours/clients="+clients]["op/s"],
			found["BenchmarkReplicated/bare/clients="+clients]["op/s"]
		if len(ours) == 0 || len(bare) == 0 {
			return fmt.Errorf("no figures for %s clients", clients)
		}
		slices.Sort(ours)
		slices.Sort(bare)
		x, y := ours[len(ours)/2], bare[len(bare)/2]
		b.report.add("durable replicated writes, 16 groups, "+clients+" clients", ">= 0.6 of bare raft", x/y >= 0.6,
			"%.0f/s of %.0f/s = %.2f (medians of %d and %d runs; bare %.0f to %.0f)", x, y, x/y, len(ours), len(bare), bare[0],
			bare[len(bare)-1])
	}
	return nil
}

// measureClusterJoin: how long a node that joins takes to have its share.
func measureClusterJoin(ctx context.Context, b *bench) error {
	found, err := goBench(ctx, "BenchmarkJoin", "1x")
	if err != nil {
		return err
	}
	second, third := found["BenchmarkJoin"]["second-s"], found["BenchmarkJoin"]["third-s"]
	if len(second) == 0 || len(third) == 0 {
		return errors.New("no figures for joining")
	}
	b.report.note("a second node copies 1 GB", "%.0f s", second[0])
	b.report.add("a third node joins with 1 GB of data", "its share within 60 s", third[0] < 60,
		"%.0f s until all vote and lead", third[0])
	return nil
}

// goBench runs a benchmark of package cluster and returns its figures by name and
// unit.
func goBench(ctx context.Context, name, length string) (map[string]map[string][]float64, error) {
	cmd := exec.CommandContext(ctx, "go", "test", "./cluster", "-run", "^$", "-bench", "^"+name+"$", "-benchtime", length,
		"-timeout", "30m")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %s", name, err, out)
	}
	found := map[string]map[string][]float64{}
	for lines := bufio.NewScanner(strings.NewReader(string(out))); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 4 || !strings.HasPrefix(fields[0], name) {
			continue
		}
		// BenchmarkX/a=1#02-2: a run of the same name has a number, and all the processors'.
		key, _, _ := strings.Cut(fields[0], "#")
		if cut := strings.LastIndexByte(key, '-'); cut > 0 {
			if _, err := strconv.Atoi(key[cut+1:]); err == nil {
				key = key[:cut]
			}
		}
		if found[key] == nil {
			found[key] = map[string][]float64{}
		}
		for i := 2; i+1 < len(fields); i += 2 {
			value, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", lines.Text(), err)
			}
			found[key][fields[i+1]] = append(found[key][fields[i+1]], value)
		}
	}
	return found, nil
}
