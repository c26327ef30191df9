package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	starts        = 5               // of which the median counts
	settle        = 3 * time.Second // after which a node is idle
	acceptRounds  = 3               // each: the bare route, then the service
	acceptFor     = 4 * time.Second
	acceptClients = 64
	bodyBytes     = 300
	freshItems    = 50
	queries       = 400
	warmQueries   = 20
	perOrg        = 100
	batch         = 500
)

func measureStart(ctx context.Context, b *bench) error {
	info, err := os.Stat(b.binary)
	if err != nil {
		return err
	}
	b.report.add("binary", "< 120 MB", info.Size() < 120e6, "%.1f MB", float64(info.Size())/1e6)
	var ready []time.Duration
	for range starts {
		s, err := b.fresh(ctx)
		if err != nil {
			return err
		}
		ready = append(ready, s.ReadyAfter)
		if len(ready) == starts {
			if err := b.idle(ctx, s); err != nil {
				return err
			}
		}
		if err := s.end(); err != nil {
			return err
		}
	}
	m := percentile(ready, 50)
	b.report.add("quickstart to ready", "< 2 s", m < 2*time.Second, "%.2f s (median of %d, slowest %.2f)", m.Seconds(),
		starts, slices.Max(ready).Seconds())
	return nil
}

// idle measures memory after the model has been used once: before, its weights
// are not all resident, which would flatter.
func (b *bench) idle(ctx context.Context, s *service) error {
	job, err := s.ingest(ctx, []item{{Content: newCorpus(1).passage(0)}})
	if err != nil {
		return err
	}
	if err := s.await(ctx, job); err != nil {
		return err
	}
	if _, err := s.search(ctx, "who planned the meeting", "hybrid"); err != nil {
		return err
	}
	if err := pause(ctx, settle); err != nil {
		return err
	}
	usage, err := s.Usage()
	if err != nil {
		return err
	}
	b.report.add("idle memory", "< 250 MB", usage.RSS < 250e6, "%.0f MB resident", float64(usage.RSS)/1e6)
	return nil
}

func measureAccept(ctx context.Context, b *bench) error {
	gin, stop, err := startGin(ctx)
	if err != nil {
		return err
	}
	defer stop()
	s, err := b.fresh(ctx)
	if err != nil {
		return err
	}
	var bare, ours []float64
	var refused, answered int64
	for round := range acceptRounds {
		one := load{
			connections: acceptClients, lasting: acceptFor, base: gin, line: "POST /v1/ingest",
			head: "X-Svc-API-Key: " + s.key + "\r\n",
		}
		one.body = func(n int64) []byte { return acceptBody(round, n) }
		o, err := one.run(ctx)
		if err != nil {
			return fmt.Errorf("bare gin: %w", err)
		}
		bare = append(bare, o.perSecond())
		one.base = s.BaseURL
		if o, err = one.run(ctx); err != nil {
			return fmt.Errorf("orgmem: %w", err)
		}
		ours = append(ours, o.perSecond())
		refused, answered = refused+o.refused, answered+o.answered
	}
	slices.Sort(bare)
	slices.Sort(ours)
	x, y := ours[len(ours)/2], bare[len(bare)/2]
	b.report.add("ingest accepted, 64 connections", ">= 0.25 of bare gin", x/y >= 0.25,
		"%.0f/s of %.0f/s = %.2f (%d taken, %d refused)", x, y, x/y, answered, refused)
	return s.end()
}

// acceptBody is a JSON body of bodyBytes bytes that was never sent before.
func acceptBody(round int, n int64) []byte {
	head := `{"content":"entry ` + strconv.Itoa(round) + "-" + strconv.FormatInt(n, 10) + " "
	const words = "the boiler was serviced in may and the invoice went to the landlord who pays it "
	body := make([]byte, 0, bodyBytes)
	body = append(body, head...)
	for len(body) < bodyBytes-2 {
		body = append(body, words[:min(len(words), bodyBytes-2-len(body))]...)
	}
	return append(body, `"}`...)
}

func measureFresh(ctx context.Context, b *bench) error {
	s, err := b.fresh(ctx)
	if err != nil {
		return err
	}
	var took []time.Duration
	text := newCorpus(2)
	for n := range freshItems {
		word := "zq" + strconv.Itoa(n) + "x"
		if err := s.call(ctx, http.MethodPost, "/v1/ingest", item{Content: text.passage(n) + " It is called " + word + "."},
			nil); err != nil {
			return err
		}
		began := time.Now()
		for {
			found, err := s.search(ctx, word, "keyword")
			if err != nil {
				return err
			}
			if len(found) > 0 && strings.Contains(found[0].Chunk, word) {
				break
			}
			if err := pause(ctx, 2*time.Millisecond); err != nil {
				return err
			}
		}
		took = append(took, time.Since(began))
	}
	p := percentile(took, 95)
	b.report.add("202 to searchable", "p95 < 2 s", p < 2*time.Second, "p95 %.0f ms, median %.0f ms", ms(p),
		ms(percentile(took, 50)))
	return s.end()
}

func measureSearch(ctx context.Context, b *bench) error {
	s, err := b.fresh(ctx)
	if err != nil {
		return err
	}
	text := newCorpus(3)
	began := time.Now()
	before, err := s.Usage()
	if err != nil {
		return err
	}
	n := 0
	if err := s.passages(ctx, text, &n, b.chunks); err != nil {
		return err
	}
	after, err := s.Usage()
	if err != nil {
		return err
	}
	b.report.note(fmt.Sprintf("taking in %d chunks of ~100 tokens", b.chunks), "%.0f s, %.1f ms CPU each",
		time.Since(began).Seconds(), ms(after.CPU-before.CPU)/float64(b.chunks))
	if err := s.rest(ctx); err != nil {
		return err
	}
	rested, err := s.Usage()
	if err != nil {
		return err
	}
	b.report.note("the cycle over them", "%.1f s CPU, merges included", (rested.CPU - after.CPU).Seconds())
	if err := pause(ctx, settle); err != nil { // merges end
		return err
	}
	asked := make([]string, queries)
	for i := range asked {
		asked[i] = text.query()
	}
	hybrid, cpu, err := s.latencies(ctx, asked, "hybrid")
	if err != nil {
		return err
	}
	m := percentile(hybrid, 50)
	b.report.add(fmt.Sprintf("hybrid search at %d chunks", b.chunks), "median < 8 ms", m < 8*time.Millisecond,
		"median %.1f ms, p95 %.1f ms", ms(m), ms(percentile(hybrid, 95)))
	alone, err := embedAlone(asked)
	if err != nil {
		return err
	}
	rest := cpu - alone
	b.report.note("the same less the embedding, which also clears the caches",
		"%.2f ms CPU (%.2f with it, %.2f for it alone)", ms(rest), ms(cpu), ms(alone))
	// Asked again, a query is not embedded: the service remembers its vector.
	again, cpu, err := s.latencies(ctx, asked, "hybrid")
	if err != nil {
		return err
	}
	b.report.add("the same without the embedding", "< 1 ms CPU", cpu < time.Millisecond,
		"%.2f ms CPU, over HTTP, of queries that are asked a second time (median %.1f ms)", ms(cpu),
		ms(percentile(again, 50)))
	keyword, cpu, err := s.latencies(ctx, asked, "keyword")
	if err != nil {
		return err
	}
	b.report.note("keyword search there", "median %.1f ms, %.2f ms CPU", ms(percentile(keyword, 50)), ms(cpu))
	return s.end()
}

// latencies asks one query after the other and returns how long each took, and
// the service's processor time per query, of those behind the first warmQueries.
func (s *service) latencies(ctx context.Context, asked []string, mode string) ([]time.Duration, time.Duration, error) {
	for _, q := range asked[:warmQueries] {
		if _, err := s.search(ctx, q, mode); err != nil {
			return nil, 0, err
		}
	}
	before, err := s.Usage()
	if err != nil {
		return nil, 0, err
	}
	asked = asked[warmQueries:] // the service remembers what it was asked
	took := make([]time.Duration, len(asked))
	for i, q := range asked {
		began := time.Now()
		if _, err := s.search(ctx, q, mode); err != nil {
			return nil, 0, err
		}
		took[i] = time.Since(began)
	}
	after, err := s.Usage()
	if err != nil {
		return nil, 0, err
	}
	return took, (after.CPU - before.CPU) / time.Duration(len(asked)), nil
}

func measureOrgs(ctx context.Context, b *bench) error {
	s, err := b.fresh(ctx)
	if err != nil {
		return err
	}
	text := newCorpus(4)
	keys := make([]string, b.orgs)
	began := time.Now()
	for i := range keys {
		if keys[i], err = s.organization(ctx, i); err != nil {
			return err
		}
		s.key = keys[i]
		items := make([]item, perOrg)
		for j := range items {
			items[j] = item{
				Content:    "Note " + strconv.Itoa(j) + " of organization " + strconv.Itoa(i) + ": " + text.sentence(),
				ExternalID: strconv.Itoa(j),
			}
		}
		job, err := s.ingest(ctx, items)
		if err != nil {
			return err
		}
		if i%20 == 19 || i == len(keys)-1 { // keep the queues short
			if err := s.await(ctx, job); err != nil {
				return err
			}
		}
	}
	b.report.note(fmt.Sprintf("%d organizations with %d items", b.orgs, perOrg), "taken in within %.0f s",
		time.Since(began).Seconds())
	// All queues run dry, then a clean restart makes every organization cold.
	for _, s.key = range keys {
		if err := s.drained(ctx); err != nil {
			return err
		}
	}
	if err := s.Stop(); err != nil {
		return err
	}
	if err := b.start(ctx, s); err != nil {
		return err
	}
	b.report.note("start with them", "%.2f s", s.ReadyAfter.Seconds())
	var cold []time.Duration
	answered := 0
	for i, key := range keys {
		s.key = key
		began := time.Now()
		found, err := s.search(ctx, "who repaired the old boiler", "hybrid")
		if err != nil {
			return err
		}
		cold = append(cold, time.Since(began))
		own := " of organization " + strconv.Itoa(i) + ":"
		if len(found) > 0 && !slices.ContainsFunc(found, func(h hit) bool { return !strings.Contains(h.Chunk, own) }) {
			answered++
		}
	}
	p := percentile(cold, 95)
	b.report.add("all organizations answer, each with its own", "all", answered == len(keys), "%d of %d",
		answered, len(keys))
	b.report.add("cold open and first search", "< 100 ms", p < 100*time.Millisecond,
		"p95 %.0f ms, median %.0f, worst %.0f", ms(p), ms(percentile(cold, 50)), ms(percentile(cold, 100)))
	usage, err := s.Usage()
	if err != nil {
		return err
	}
	open, limit, err := s.openStores(ctx)
	if err != nil {
		return err
	}
	b.report.add("open stores", "within the limit", open <= limit, "%.0f of %.0f; %.0f MB resident", open, limit,
		float64(usage.RSS)/1e6)
	return s.end()
}

// drained waits until no job of the organization is under way.
func (s *service) drained(ctx context.Context) error {
	for _, status := range []string{"queued", "running"} {
		for {
			var jobs struct{ Data []struct{ ID string } }
			if err := s.call(ctx, http.MethodGet, "/v1/jobs?status="+status, nil, &jobs); err != nil {
				return err
			}
			if len(jobs.Data) == 0 {
				break
			}
			if err := s.await(ctx, jobs.Data[0].ID); err != nil {
				return err
			}
		}
	}
	return nil
}

// openStores reads two gauges of /metrics.
func (s *service) openStores(ctx context.Context) (open, limit float64, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.OperatorURL+"/metrics", nil)
	if err != nil {
		return 0, 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, 0, err
	}
	defer response.Body.Close()
	text := new(strings.Builder)
	if _, err := copyText(text, response.Body); err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(text.String()) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch name {
		case "orgmem_storage_open_stores":
			open, err = strconv.ParseFloat(value, 64)
		case "orgmem_storage_open_stores_limit":
			limit, err = strconv.ParseFloat(value, 64)
		}
		if err != nil {
			return 0, 0, err
		}
	}
	return open, limit, nil
}

// maxText bounds the one page that is read as text.
const maxText = 4 << 20

func copyText(into io.Writer, from io.Reader) (int64, error) {
	return io.Copy(into, io.LimitReader(from, maxText))
}

// percentile by nearest rank.
func percentile(all []time.Duration, p int) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min((len(sorted)*p+99)/100, len(sorted))-1]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
