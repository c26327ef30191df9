package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"orgmem/bench/internal/data"
)

const (
	learnRounds  = 3    // of each way, in turns
	learnChunks  = 1500 // of a round
	freshChunks  = 50   // of an incremental cycle
	freshCycles  = 5    // so many: what the store compacts meanwhile falls into one of them or the other
	domainsBatch = 100  // documents of one request
	maxNodePages = 2000 // of 100 nodes
	// erased is when what a cycle has replaced is erased from the disk, which begins ten
	// seconds behind it.
	erased = 20 * time.Second
)

// measureCognition compares what taking a text in costs with and without reading what
// it says, by the setting learnModeDefault, and says what a cycle over few new chunks
// costs in a memory of many.
func measureCognition(ctx context.Context, b *bench) error {
	s, err := b.fresh(ctx)
	if err != nil {
		return err
	}
	text, n := newCorpus(5), 0
	spend := map[bool]time.Duration{}
	for range learnRounds {
		for _, learn := range []bool{false, true} {
			if err := s.call(ctx, http.MethodPatch, "/v1/settings", map[string]any{"learnModeDefault": learn}, nil); err != nil {
				return err
			}
			used, err := s.used(ctx, func() error { return s.passages(ctx, text, &n, learnChunks) })
			if err != nil {
				return err
			}
			spend[learn] += used
		}
	}
	each := func(learn bool) float64 { return ms(spend[learn]) / (learnRounds * learnChunks) }
	b.report.add("ingest with extraction, rate by CPU", ">= 0.60 of that without", each(false) >= 0.60*each(true),
		"%.2f (%.2f ms a chunk, %.2f without)", each(false)/each(true), each(true), each(false))
	if err := s.rest(ctx); err != nil {
		return err
	}
	if rest := b.chunks - learnRounds*learnChunks; rest > 0 { // of those that a cycle looks at
		if err := s.passages(ctx, text, &n, rest); err != nil {
			return err
		}
		if err := s.rest(ctx); err != nil {
			return err
		}
	}
	if err := pause(ctx, erased); err != nil { // what the cycle before has left to do is not this one's
		return err
	}
	var cycles, erasing []time.Duration
	for range freshCycles {
		if err := s.passages(ctx, text, &n, freshChunks); err != nil {
			return err
		}
		used, err := s.used(ctx, func() error { return s.looked(ctx) }) // few enough for one cycle
		if err != nil {
			return err
		}
		behind, err := s.used(ctx, func() error { return pause(ctx, erased) })
		if err != nil {
			return err
		}
		cycles, erasing = append(cycles, used), append(erasing, behind)
	}
	median := percentile(cycles, 50)
	b.report.add(fmt.Sprintf("cycle over %d new of %d chunks, median of %d", freshChunks,
		max(b.chunks, learnRounds*learnChunks), freshCycles),
		"< 1 s CPU", median < time.Second,
		"%.2f s CPU (%.2f to %.2f), and %.2f s in the %.0f s behind it to erase what it replaced", median.Seconds(),
		slices.Min(cycles).Seconds(), slices.Max(cycles).Seconds(), percentile(erasing, 50).Seconds(), erased.Seconds())
	return s.end()
}

// used is the processor time that the service needs while f runs.
func (s *service) used(ctx context.Context, f func() error) (time.Duration, error) {
	before, err := s.Usage()
	if err != nil {
		return 0, err
	}
	if err := f(); err != nil {
		return 0, err
	}
	after, err := s.Usage()
	return after.CPU - before.CPU, cmp.Or(err, ctx.Err())
}

// passages takes in count passages that were never sent before, and waits for that.
func (s *service) passages(ctx context.Context, text *corpus, n *int, count int) error {
	var jobs []string
	for count > 0 {
		items := make([]item, min(batch, count))
		for i := range items {
			items[i] = item{Content: text.passage(*n), ExternalID: strconv.Itoa(*n)}
			*n++
		}
		count -= len(items)
		job, err := s.ingest(ctx, items)
		if err != nil {
			return err
		}
		jobs = append(jobs, job)
	}
	for _, job := range jobs {
		if err := s.await(ctx, job); err != nil {
			return err
		}
	}
	return nil
}

// domainSets are corpora whose documents form topics.
var domainSets = []string{"org_tsc_minutes", "qmsum_val", "org_peps"}

// measureDomains takes in a corpus but for every twentieth document, and then those: the
// nodes that there were keep their domains.
func measureDomains(ctx context.Context, b *bench) error {
	folder := cmp.Or(os.Getenv(evalVariable), evalFolder)
	for _, set := range domainSets {
		if b.sets != "" && !slices.Contains(strings.Split(b.sets, ","), set) {
			continue
		}
		docs, err := documentsOf(filepath.Join(folder, "data", set, "corpus.jsonl"))
		if err != nil {
			return fmt.Errorf("domains: %s names the folder of the evaluation harness: %w", evalVariable, err)
		}
		var first, more []item
		for i, d := range docs {
			if i%20 == 10 {
				more = append(more, d)
			} else {
				first = append(first, d)
			}
		}
		s, err := b.fresh(ctx)
		if err != nil {
			return err
		}
		var domains [2]map[string]string
		for i, docs := range [][]item{first, more} {
			if err := s.documents(ctx, docs); err != nil {
				return err
			}
			if err := s.rest(ctx); err != nil {
				return err
			}
			if domains[i], err = s.domainsOf(ctx); err != nil {
				return err
			}
		}
		kept, all := 0, 0
		for node, domain := range domains[0] {
			if domain == "" {
				continue
			}
			all++
			if domains[1][node] == domain {
				kept++
			}
		}
		share := float64(kept) / float64(max(all, 1))
		b.report.add("domains of "+set+" with 5 % more", ">= 90 % of nodes keep theirs", share >= 0.9, "%.1f %% of %d",
			100*share, all)
		if err := s.end(); err != nil {
			return err
		}
	}
	return nil
}

func documentsOf(file string) (docs []item, err error) {
	err = data.Lines(file, func(line []byte) error {
		var doc struct{ ID, Title, Text string }
		if err := json.Unmarshal(line, &doc); err != nil {
			return err
		}
		docs = append(docs, item{Content: doc.Text, ExternalID: doc.ID, Title: doc.Title})
		return nil
	})
	return docs, err
}

func (s *service) documents(ctx context.Context, docs []item) error {
	for len(docs) > 0 {
		part := docs[:min(domainsBatch, len(docs))]
		docs = docs[len(part):]
		job, err := s.ingest(ctx, part)
		if err != nil {
			return err
		}
		if err := s.await(ctx, job); err != nil {
			return err
		}
	}
	return nil
}

// domainsOf gives for each node its domain.
func (s *service) domainsOf(ctx context.Context) (map[string]string, error) {
	of, query := map[string]string{}, url.Values{"status": {"live"}, "pageSize": {"100"}}
	for range maxNodePages {
		var page struct {
			Data       []struct{ ID, DomainID string }
			NextCursor string
		}
		if err := s.call(ctx, http.MethodGet, "/v1/graph/nodes?"+query.Encode(), nil, &page); err != nil {
			return nil, err
		}
		for _, n := range page.Data {
			of[n.ID] = n.DomainID
		}
		if page.NextCursor == "" {
			return of, nil
		}
		query.Set("cursor", page.NextCursor)
	}
	return nil, fmt.Errorf("the memory has more than %d pages of nodes", maxNodePages)
}
