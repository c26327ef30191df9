package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

const (
	listBatch    = 1000 // items of a job, as many as a batch may have
	listsAhead   = 20   // jobs that wait at most: a subject's queue is bounded
	listEdges    = 2000 // asserted between a hub and others
	listPages    = 40   // of each list, from its first
	listReadings = 3    // of each page, of which the least counts: the machine may be busy with other things
	listPageMost = 5 * time.Millisecond
)

// measureLists reads pages of 50 of the lists of a large partition that grow with
// it, over HTTP.
// The texts are short, so that embedding them takes minutes and not hours; how
// far a list must look depends on their number alone. Lists of edges and domains
// at that size are measured by BenchmarkLists in actors, which writes them
// directly.
func measureLists(ctx context.Context, b *bench) error {
	s, err := b.fresh(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	var waiting []string
	for from := 0; from < b.nodes; from += listBatch {
		items := make([]map[string]any, listBatch)
		for i := range items {
			n := from + i
			items[i] = map[string]any{
				"content": "Note " + strconv.Itoa(n) + " on matter" + strconv.Itoa(n%50),
				"kind":    "document",
			}
			if n%1000 == 7 {
				items[i]["kind"] = "preference"
			}
		}
		var accepted struct{ JobID string }
		if err := s.call(ctx, http.MethodPost, "/v1/ingest/batch", map[string]any{"items": items}, &accepted); err != nil {
			return err
		}
		if waiting = append(waiting, accepted.JobID); len(waiting) > listsAhead {
			if err := s.await(ctx, waiting[0]); err != nil {
				return err
			}
			waiting = waiting[1:]
		}
	}
	for _, job := range waiting {
		if err := s.await(ctx, job); err != nil {
			return err
		}
	}
	b.report.note(fmt.Sprintf("taking in %d short notes", b.nodes), "%.0f s", time.Since(began).Seconds())
	hub, err := s.hub(ctx)
	if err != nil {
		return err
	}
	if err := s.rest(ctx); err != nil { // the cycle over all of it takes both processors
		return err
	}
	if err := pause(ctx, settle); err != nil { // merges end
		return err
	}
	middle := began.Add(time.Since(began) / 2).UTC().Format(time.RFC3339)
	for _, l := range []struct{ name, path string }{
		{"nodes", "/v1/graph/nodes?"},
		{"nodes, from the middle", "/v1/graph/nodes?createdBefore=" + middle},
		{"nodes of a rare kind", "/v1/graph/nodes?kind=preference"},
		{"nodes of an empty kind", "/v1/graph/nodes?kind=session"},
		{"nodes by a word of all", "/v1/graph/nodes?q=note"},
		{"nodes by a rare word", "/v1/graph/nodes?q=77777"},
		{"nodes by two words", "/v1/graph/nodes?q=note+matter7"},
		{"nodes by word and rare kind", "/v1/graph/nodes?q=note&kind=preference"},
		{"search of nodes", "/v1/recall/graph/search?q=note"},
		{"edges", "/v1/graph/edges?"},
		{"edges of a hub", "/v1/graph/edges?node=" + url.QueryEscape(hub)},
		{"edges of a hub, empty type", "/v1/graph/edges?type=nothing&node=" + url.QueryEscape(hub)},
		{"jobs", "/v1/jobs?"},
		{"history of a node", "/v1/graph/nodes/" + url.PathEscape(hub) + "/history?"},
	} {
		before, err := s.Usage()
		if err != nil {
			return err
		}
		costs, err := s.pages(ctx, l.path)
		if err != nil {
			return err
		}
		after, err := s.Usage()
		if err != nil {
			return err
		}
		worst := slices.Max(costs)
		cpu := (after.CPU - before.CPU) / time.Duration(listReadings*len(costs))
		b.report.add(l.name, "any page < 5 ms", worst < listPageMost,
			"median %.2f ms, worst %.2f ms of %d pages; %.2f ms CPU each",
			ms(percentile(costs, 50)), ms(worst), len(costs), ms(cpu))
	}
	return s.end()
}

// hub asserts edges from one node to many, and returns its id.
func (s *service) hub(ctx context.Context) (string, error) {
	type nodes struct {
		Data       []struct{ ID string }
		NextCursor string
	}
	hub, cursor, made := "", "", 0
	for made < listEdges {
		var page nodes
		if err := s.call(ctx, http.MethodGet, "/v1/graph/nodes?pageSize=100&"+cursor, nil, &page); err != nil {
			return "", err
		}
		for _, n := range page.Data {
			if hub == "" {
				hub = n.ID
				continue
			}
			edge := map[string]any{"source": hub, "target": n.ID, "type": "leads_to"}
			if err := s.call(ctx, http.MethodPost, "/v1/graph/edges", edge, nil); err != nil {
				return "", err
			}
			made++
		}
		if page.NextCursor == "" {
			return "", fmt.Errorf("only %d nodes for %d edges", made, listEdges)
		}
		cursor = "cursor=" + url.QueryEscape(page.NextCursor)
	}
	return hub, nil
}

// pages reads a list and returns what its pages cost.
func (s *service) pages(ctx context.Context, path string) (costs []time.Duration, err error) {
	cursor := ""
	for range listPages {
		next := ""
		least := time.Duration(1 << 62)
		for range listReadings {
			var page struct{ NextCursor string }
			began := time.Now()
			if err := s.call(ctx, http.MethodGet, path+cursor, nil, &page); err != nil {
				return nil, err
			}
			least = min(least, time.Since(began))
			next = page.NextCursor
		}
		costs = append(costs, least)
		if next == "" {
			break
		}
		cursor = "&cursor=" + url.QueryEscape(next)
	}
	return costs, nil
}
