package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	manySeed    = 9
	manyRounds  = 3                             // over all organizations, of which the first opens them
	manyRest    = 150 * time.Second             // after which a node has closed what nobody asks for
	manyClients = 4                             // of the load that prefers some organizations
	manyFor     = 20 * time.Second              // it lasts
	manySkew    = 1.1                           // exponent of the Zipf distribution
	manyQuery   = "who repaired the old boiler" // the same one: its vector is known after the first
)

// tenants are the organizations of the part many, and what is asked of each.
type tenants struct {
	s    *service
	keys []string
	idle memory // of the service before there was any of them
}

// memory is what a process holds, by where it comes from: made by it, or of its binary and files.
type memory struct{ own, files int64 }

// measureMany tells what it costs to serve many small organizations: the memory of one that was just
// active, and of one that was left alone; the processor's time of a query to one that is in memory,
// and to one that is not; and both under a load that prefers some.
func measureMany(ctx context.Context, b *bench) error {
	s, err := b.fresh(ctx)
	if err != nil {
		return err
	}
	t := &tenants{s: s}
	for _, part := range []func(context.Context, *bench) error{
		t.load, t.warm, t.rest, t.restart, t.zipf,
	} {
		if err := part(ctx, b); err != nil {
			return err
		}
	}
	return s.end()
}

// load takes the notes in. Memory is counted from a service whose model has been used.
func (t *tenants) load(ctx context.Context, b *bench) error {
	s, text := t.s, newCorpus(manySeed)
	if err := t.ready(ctx); err != nil {
		return err
	}
	began, before := time.Now(), t.s.usage()
	var jobs []string
	for i := range b.many {
		key, err := s.organization(ctx, i)
		if err != nil {
			return err
		}
		t.keys, s.key = append(t.keys, key), key
		items := make([]item, b.notes)
		for j := range items {
			items[j] = item{
				Content: "Note " + strconv.Itoa(j) + " of organization " + strconv.Itoa(i) + ": " + text.sentence(),
			}
		}
		job, err := s.ingest(ctx, items)
		if err != nil {
			return err
		}
		if jobs = append(jobs, job); i >= manyClients { // keeps the queues short
			s.key = t.keys[i-manyClients]
			if err := s.await(ctx, jobs[i-manyClients]); err != nil {
				return err
			}
		}
	}
	for i := max(0, len(jobs)-manyClients); i < len(jobs); i++ {
		s.key = t.keys[i]
		if err := s.await(ctx, jobs[i]); err != nil {
			return err
		}
	}
	b.report.note(fmt.Sprintf("%d organizations of %d notes", b.many, b.notes),
		"taken in within %.0f s, %.1f ms CPU a note", time.Since(began).Seconds(),
		ms(s.usage()-before)/float64(b.many*b.notes))
	return t.hold(ctx, b, "just written")
}

// ready uses the model as the organizations will, and notes what the service holds by itself: its encoders keep the
// memory that a batch has needed.
func (t *tenants) ready(ctx context.Context) error {
	text := newCorpus(manySeed + 1)
	for n := range manyClients {
		items := make([]item, 20)
		for i := range items {
			items[i] = item{Content: text.passage(n*len(items) + i)}
		}
		job, err := t.s.ingest(ctx, items)
		if err != nil {
			return err
		}
		if err := t.s.await(ctx, job); err != nil {
			return err
		}
	}
	_, err := t.s.search(ctx, manyQuery, "hybrid")
	if err != nil {
		return err
	}
	if err := pause(ctx, settle); err != nil {
		return err
	}
	t.idle, err = t.s.memory()
	return err
}

// warm asks each organization in turn.
func (t *tenants) warm(ctx context.Context, b *bench) error {
	for round := range manyRounds {
		if err := t.each(ctx, b, fmt.Sprintf("query, round %d", round+1)); err != nil {
			return err
		}
	}
	return t.hold(ctx, b, "just asked")
}

// rest leaves all alone.
func (t *tenants) rest(ctx context.Context, b *bench) error {
	if err := pause(ctx, manyRest); err != nil {
		return err
	}
	return t.hold(ctx, b, fmt.Sprintf("%.0f s later", manyRest.Seconds()))
}

// restart makes all organizations cold, and asks each.
func (t *tenants) restart(ctx context.Context, b *bench) error {
	if err := t.s.Stop(); err != nil {
		return err
	}
	if err := b.start(ctx, t.s); err != nil {
		return err
	}
	m, err := t.s.memory()
	if err != nil {
		return err
	}
	b.report.note("start with them", "%.2f s; %.0f + %.0f MB resident", t.s.ReadyAfter.Seconds(), float64(m.own)/1e6,
		float64(m.files)/1e6)
	t.s.key = t.keys[0]
	if err := t.each(ctx, b, "cold query"); err != nil {
		return err
	}
	return t.hold(ctx, b, "all asked once")
}

// zipf asks with several clients at once, some organizations much more often than others.
func (t *tenants) zipf(ctx context.Context, b *bench) error {
	var (
		took    = make([][]time.Duration, manyClients)
		failure atomic.Pointer[error]
		workers sync.WaitGroup
		until   = time.Now().Add(manyFor)
		before  = t.s.usage()
	)
	for c := range manyClients {
		chosen := rand.NewZipf(rand.New(rand.NewPCG(manySeed, uint64(c))), manySkew, 1, uint64(len(t.keys)-1))
		workers.Go(func() {
			for time.Now().Before(until) && ctx.Err() == nil {
				one := *t.s
				// which ones are preferred has nothing to do with when they were made
				one.key = t.keys[int(chosen.Uint64()*7919)%len(t.keys)]
				began := time.Now()
				if _, err := one.search(ctx, manyQuery, "hybrid"); err != nil {
					failure.Store(&err)
					return
				}
				took[c] = append(took[c], time.Since(began))
			}
		})
	}
	workers.Wait()
	if err := failure.Load(); err != nil {
		return *err
	}
	var all []time.Duration
	for _, some := range took {
		all = append(all, some...)
	}
	t.tell(b, fmt.Sprintf("Zipf %.1f, %d clients", manySkew, manyClients), all, t.s.usage()-before)
	return t.hold(ctx, b, "under the load")
}

// each asks every organization once, one after the other.
func (t *tenants) each(ctx context.Context, b *bench, what string) error {
	var took []time.Duration
	before := t.s.usage()
	for i, key := range t.keys {
		t.s.key = key
		began := time.Now()
		found, err := t.s.search(ctx, manyQuery, "hybrid")
		if err != nil {
			return err
		}
		took = append(took, time.Since(began))
		own := " of organization " + strconv.Itoa(i) + ":"
		for _, h := range found {
			if !strings.Contains(h.Chunk, own) {
				return fmt.Errorf("organization %d found %q", i, h.Chunk)
			}
		}
	}
	t.tell(b, what, took, t.s.usage()-before)
	return nil
}

func (t *tenants) tell(b *bench, what string, took []time.Duration, cpu time.Duration) {
	b.report.note(what, "%.2f ms CPU; p50 %.1f ms, p95 %.1f, worst %.0f (%d)", ms(cpu)/float64(len(took)),
		ms(percentile(took, 50)), ms(percentile(took, 95)), ms(percentile(took, 100)), len(took))
}

// hold tells what the process holds now, and keeps a profile of it where one is asked for.
func (t *tenants) hold(ctx context.Context, b *bench, when string) error {
	m, err := t.s.memory()
	if err != nil {
		return err
	}
	open, _, err := t.s.openStores(ctx)
	if err != nil {
		return err
	}
	b.report.note("memory, "+when, "%.0f MB of its own, %.0f of files; %.0f KB an organization; %.0f stores open",
		float64(m.own)/1e6, float64(m.files)/1e6, float64(m.own-t.idle.own)/1e3/float64(b.many), open)
	if b.profiles == "" {
		return nil
	}
	return t.s.profile(ctx, filepath.Join(b.profiles, strings.ReplaceAll(when, " ", "-")+".pprof"))
}

// profile writes what the heap holds.
func (s *service) profile(ctx context.Context, path string) error {
	authorization, err := s.operatorAuthorization()
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.OperatorURL+"/debug/pprof/heap", nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", authorization)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	return os.WriteFile(path, raw, 0o600)
}

// usage is the processor's time so far; nothing where it cannot be read.
func (s *service) usage() time.Duration {
	u, err := s.Usage()
	if err != nil {
		return 0
	}
	return u.CPU
}

// memory reads what is resident.
func (s *service) memory() (m memory, err error) {
	f, err := os.Open("/proc/" + strconv.Itoa(s.Pid()) + "/status")
	if err != nil {
		return m, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 2 || !strings.HasPrefix(fields[0], "Rss") {
			continue
		}
		kib, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil {
			return m, err
		}
		if fields[0] == "RssAnon:" {
			m.own += kib << 10
		} else {
			m.files += kib << 10
		}
	}
	return m, lines.Err()
}
