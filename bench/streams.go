package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	streamOrgs   = 200 // with as many streams as each may have
	streamsEach  = 5
	streamRounds = 5 // events to all
	streamMost   = 100 * time.Millisecond
	streamBytes  = 40 << 10
	readsPerLook = 2000 // which make garbage, until it is collected
)

// measureStreams opens 1,000 event streams, and lets something happen in every
// organization: how long it takes to reach each stream, from when the event is made,
// before its commit; and what an open stream costs in memory.
func measureStreams(ctx context.Context, b *bench) error {
	s, err := b.fresh(ctx)
	if err != nil {
		return err
	}
	type tenant struct{ key, node string }
	tenants := make([]tenant, streamOrgs)
	for i := range tenants {
		var made struct{ OrgID, APIKey string }
		name := fmt.Sprintf("Org %d", i)
		if err := s.operator(ctx, http.MethodPost, "/operator/orgs",
			map[string]any{"name": name, "ownerEmail": fmt.Sprintf("o%d@example.com", i), "plan": "unlimited"},
			&made); err != nil {
			return err
		}
		own := &service{Process: s.Process, data: s.data, key: made.APIKey}
		job, err := own.ingest(ctx, []item{{Content: "A note of " + name}})
		if err != nil {
			return err
		}
		if err := own.await(ctx, job); err != nil {
			return err
		}
		var nodes struct{ Data []struct{ ID string } }
		if err := own.call(ctx, http.MethodGet, "/v1/graph/nodes?kind=document&pageSize=1", nil, &nodes); err != nil ||
			len(nodes.Data) == 0 {
			return fmt.Errorf("organization %d has no node: %w", i, err)
		}
		tenants[i] = tenant{made.APIKey, nodes.Data[0].ID}
	}
	if err := pause(ctx, 3*settle); err != nil { // cognition looks at the notes
		return err
	}
	before, err := s.alive(ctx)
	if err != nil {
		return err
	}
	var (
		mu    sync.Mutex
		waits []time.Duration
		wg    sync.WaitGroup
	)
	reading, stop := context.WithCancel(ctx)
	defer wg.Wait()
	defer stop()
	for _, who := range tenants {
		for range streamsEach {
			in, err := s.events(reading, who.key)
			if err != nil {
				return err
			}
			wg.Go(func() {
				in.each(func(at time.Time) {
					took := time.Since(at)
					mu.Lock()
					waits = append(waits, took)
					mu.Unlock()
				})
			})
		}
	}
	if err := pause(ctx, settle); err != nil {
		return err
	}
	open, err := s.alive(ctx)
	if err != nil {
		return err
	}
	each := (open - before) / (streamOrgs * streamsEach)
	b.report.add("memory of an event stream", "< 40 KiB", each < streamBytes, "%.1f KiB alive, stacks included", each/1024)
	for round := range streamRounds {
		for _, who := range tenants {
			own := &service{Process: s.Process, data: s.data, key: who.key}
			body := map[string]any{"metadata": map[string]any{"round": round}}
			if err := own.call(ctx, http.MethodPatch, "/v1/graph/nodes/"+who.node, body, nil); err != nil {
				return err
			}
		}
	}
	if err := pause(ctx, settle); err != nil {
		return err
	}
	mu.Lock()
	defer mu.Unlock()
	want := streamOrgs * streamsEach * streamRounds
	p99 := percentile(waits, 99)
	b.report.add("an event reaches 1,000 streams", "p99 < 100 ms", len(waits) == want && p99 < streamMost,
		"median %.1f ms, p99 %.1f ms of %d (%d sent)", ms(percentile(waits, 50)), ms(p99), len(waits), want)
	stop()
	return s.end()
}

// alive is what a garbage collection finds in use, with the stacks. What is resident
// says little about a thousand streams: the garbage that the collector has not come
// to is some times what they take.
func (s *service) alive(ctx context.Context) (float64, error) {
	collections := func() (float64, error) { return s.gauge(ctx, "go_gc_cycles_total_gc_cycles_total") }
	before, err := collections()
	if err != nil {
		return 0, err
	}
	for {
		for range readsPerLook {
			if err := s.call(ctx, http.MethodGet, "/v1/me", nil, nil); err != nil {
				return 0, err
			}
		}
		now, err := collections()
		if err != nil {
			return 0, err
		}
		if now > before+1 { // the first may have begun before
			break
		}
	}
	heap, err := s.gauge(ctx, "go_gc_heap_live_bytes")
	if err != nil {
		return 0, err
	}
	stacks, err := s.gauge(ctx, "go_memory_classes_heap_stacks_bytes")
	return heap + stacks, err
}

// eventReader is an open event stream.
type eventReader struct {
	body  interface{ Close() error }
	lines *bufio.Scanner
}

func (s *service) events(ctx context.Context, key string) (*eventReader, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.BaseURL+"/v1/events", nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("X-Svc-Api-Key", key)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		_ = answer.Body.Close()
		return nil, fmt.Errorf("GET /v1/events: %d", answer.StatusCode)
	}
	return &eventReader{answer.Body, bufio.NewScanner(answer.Body)}, nil
}

// each calls f with the time of each graph.updated until the stream ends.
func (e *eventReader) each(f func(at time.Time)) {
	defer func() { _ = e.body.Close() }()
	for e.lines.Scan() {
		data, ok := strings.CutPrefix(e.lines.Text(), "data: ")
		if !ok {
			continue
		}
		var event struct {
			Type      string
			Timestamp time.Time
		}
		if json.Unmarshal([]byte(data), &event) == nil && event.Type == "graph.updated" {
			f(event.Timestamp)
		}
	}
}
