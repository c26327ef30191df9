package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"orgmem/cmd/orgmem/process"
)

const (
	clientNotes    = 300    // that a search looks through
	clientSearches = 40     // of each kind in a round
	clientAdds     = 10_000 // while the server is killed
	clientKills    = 2
	clientCrowd    = 16 // adds at a time
	driverLines    = 16 // that are kept until they are read
	addedMost      = 0.5
)

// driver is a client's own program that puts the load on the service: it prints what
// it found as a line of JSON.
type driver struct {
	language string
	command  []string
}

// drivers finds those that can run here; of the others the report says that they were
// missed. Each client's README says how it is built.
func (b *bench) drivers(ctx context.Context) ([]driver, error) {
	binary := filepath.Join(b.dir, "driver")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./bench/driver")
	build.Dir = filepath.Join("sdk", "go")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("the Go client: %w\n%s", err, out)
	}
	python := os.Getenv("PYTHON")
	if python == "" {
		python = filepath.Join("sdk", "python", ".venv", "bin", "python")
	}
	return b.able(ctx, []driver{
		{"Go", []string{binary}},
		{"Python", []string{python, filepath.Join("sdk", "python", "bench", "driver.py")}},
		{"TypeScript", []string{"node", filepath.Join("sdk", "typescript", "bench", "driver.mjs")}},
	}), nil
}

func (b *bench) able(ctx context.Context, all []driver) []driver {
	var found []driver
	for _, d := range all {
		// Without arguments it says how it is called; what cannot run at all has other words.
		try := exec.CommandContext(ctx, d.command[0], d.command[1:]...)
		try.Env = append(os.Environ(), "ORGMEM_API_KEY=none")
		out, err := try.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "adds N CONCURRENCY") {
			b.report.add(d.language+" client", "measured", false, "not measured: it is not installed (%v)", errors.Join(err, firstLine(out)))
			continue
		}
		found = append(found, d)
	}
	return found
}

func firstLine(out []byte) error {
	line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return errors.New(line)
}

// start starts a driver that speaks to an address. The caller kills it.
func (d driver) start(ctx context.Context, base, key string, args ...string) (*driven, error) {
	p := &driven{
		cmd:   exec.CommandContext(ctx, d.command[0], append(d.command[1:len(d.command):len(d.command)], args...)...),
		lines: make(chan []byte, driverLines), done: make(chan struct{}),
	}
	p.cmd.Env = append(os.Environ(), "ORGMEM_BASE_URL="+base, "ORGMEM_API_KEY="+key)
	p.cmd.Stderr = &p.said
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { // ends with the driver
		for scan := bufio.NewScanner(out); scan.Scan(); {
			select {
			case p.lines <- slices.Clone(scan.Bytes()):
			default: // nobody asks for so many
			}
		}
		_, _ = io.Copy(io.Discard, out) // of a line that was too long: only keeps the pipe from filling
		p.err = p.cmd.Wait()
		close(p.lines)
		close(p.done)
	}()
	return p, nil
}

// driven is a driver that runs.
type driven struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines chan []byte // that it prints
	done  chan struct{}
	// What it said besides, and how it ended, once done is closed.
	said strings.Builder
	err  error
}

// line reads the next line that it prints.
func (p *driven) line(into any) error {
	line, ok := <-p.lines
	if !ok {
		return p.dead()
	}
	if err := json.Unmarshal(line, into); err != nil {
		return fmt.Errorf("%s printed %q: %w", p.cmd, line, err)
	}
	return nil
}

// dead waits for its end, which came too early.
func (p *driven) dead() error {
	<-p.done
	return fmt.Errorf("%s has ended: %w\n%s", p.cmd, errors.Join(errEarly, p.err), p.said.String())
}

var errEarly = errors.New("too early")

// ended says whether it has.
func (p *driven) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// wait waits for its end.
func (p *driven) wait() error {
	if <-p.done; p.err != nil {
		return fmt.Errorf("%s: %w\n%s", p.cmd, p.err, p.said.String())
	}
	return nil
}

// ask asks for its end, which may have come by itself.
func (p *driven) ask() error {
	if err := p.in.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// end asks for its end and waits.
func (p *driven) end() error { return errors.Join(p.ask(), p.wait()) }

// kill ends it, if it has not ended, and waits.
func (p *driven) kill() {
	_ = p.cmd.Process.Kill() // one that has ended says so
	<-p.done
}

// measureClients: what each client costs beside the bare call, whether an add is lost
// or comes twice while the server is killed, and whether a stream tells its gaps.
func measureClients(ctx context.Context, b *bench) error {
	drivers, err := b.drivers(ctx)
	if err != nil {
		return err
	}
	if err := b.clientSearch(ctx, drivers); err != nil {
		return err
	}
	if err := b.clientEvents(ctx, drivers); err != nil {
		return err
	}
	for _, d := range drivers {
		if err := b.clientAdds(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) clientSearch(ctx context.Context, drivers []driver) error {
	s, err := b.fresh(ctx)
	if err != nil {
		return err
	}
	text := newCorpus(25)
	items := make([]item, clientNotes)
	for i := range items {
		items[i] = item{Content: text.passage(i)}
	}
	job, err := s.ingest(ctx, items)
	if err == nil {
		err = s.await(ctx, job)
	}
	if err == nil {
		err = s.rest(ctx)
	}
	if err != nil {
		return errors.Join(err, s.end())
	}
	for _, d := range drivers {
		var got struct {
			Client float64 `json:"client_cpu_ms"`
			Bare   float64 `json:"bare_cpu_ms"`
			Added  float64 `json:"added_ms"`
		}
		p, err := d.start(ctx, s.BaseURL, s.key, "search", strconv.Itoa(clientSearches))
		if err == nil {
			err = p.line(&got)
			if err == nil {
				err = p.end()
			}
			p.kill()
		}
		if err != nil {
			return errors.Join(err, s.end())
		}
		b.report.add(d.language+" client, CPU that it adds to a search", "< 0.5 ms", got.Added < addedMost,
			"%.3f ms at the median (%.3f through it, %.3f by hand)", got.Added, got.Client, got.Bare)
	}
	return s.end()
}

// accepted counts the ingests that a process has answered since it began.
const acceptedMetric = `orgmem_http_request_duration_seconds_count{method="POST",route="/v1/ingest"}`

// clientAdds kills the server in the middle of a client's adds, and counts what there
// is afterwards, by the external ids that the driver gives.
func (b *bench) clientAdds(ctx context.Context, d driver) error {
	s, err := b.fresh(ctx)
	if err != nil {
		return err
	}
	address := strings.TrimPrefix(s.BaseURL, "http://")
	p, err := d.start(ctx, s.BaseURL, s.key, "adds", strconv.Itoa(clientAdds), strconv.Itoa(clientCrowd))
	if err != nil {
		return errors.Join(err, s.end())
	}
	defer p.kill()
	began := time.Now()
	for range clientKills {
		if err := s.accepts(ctx, clientAdds/(clientKills+1), p); err != nil {
			return errors.Join(err, s.end())
		}
		s.Kill()
		if s.Process, err = process.Start(ctx, process.Options{Binary: b.binary, Data: s.data, Args: []string{"--listen", address}}); err != nil {
			return err
		}
	}
	var got struct {
		Acknowledged, Failed int
		Errors               json.RawMessage
	}
	if err := p.line(&got); err != nil {
		return errors.Join(err, s.end())
	}
	if err := p.end(); err != nil {
		return errors.Join(err, s.end())
	}
	took := time.Since(began)
	jobs, nodes, err := s.counted(ctx)
	if err != nil {
		return errors.Join(err, s.end())
	}
	lost, twice := 0, 0
	for i := range clientAdds {
		id := "bench-" + strconv.Itoa(i)
		if jobs[id] == 0 || nodes[id] == 0 {
			lost++
		}
		if jobs[id] > 1 || nodes[id] > 1 {
			twice++
		}
	}
	ok := lost == 0 && twice == 0 && got.Failed == 0 && got.Acknowledged == clientAdds
	failures := ""
	if got.Failed > 0 {
		failures = ", the failed: " + string(got.Errors)
	}
	b.report.add(fmt.Sprintf("%s client, %d adds, the server killed %d times", d.language, clientAdds, clientKills), "0 lost, 0 twice", ok,
		"%d lost, %d twice, %d acknowledged, %d failed in %.0f s%s", lost, twice, got.Acknowledged, got.Failed, took.Seconds(), failures)
	return s.end()
}

// accepts waits until the process has accepted so many ingests, while the driver that
// sends them runs.
func (s *service) accepts(ctx context.Context, n int, from *driven) error {
	for {
		last := from.ended()
		have, err := s.gauge(ctx, acceptedMetric)
		if err != nil || int(have) >= n {
			return err
		}
		if last {
			return from.dead()
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}

// counted waits until all ingests have ended, and counts jobs and nodes of each
// external id.
func (s *service) counted(ctx context.Context) (jobs, nodes map[string]int, err error) {
	for _, status := range []string{"queued", "running"} {
		for {
			var open struct{ Data []struct{} }
			if err := s.call(ctx, http.MethodGet, "/v1/jobs?type=ingest&pageSize=1&status="+status, nil, &open); err != nil {
				return nil, nil, err
			}
			if len(open.Data) == 0 {
				break
			}
			if err := pause(ctx, 100*time.Millisecond); err != nil {
				return nil, nil, err
			}
		}
	}
	var ids []string
	jobs, nodes = map[string]int{}, map[string]int{}
	err = everyPage(ctx, s, "/v1/jobs?type=ingest", func(j struct{ ID string }) { ids = append(ids, j.ID) })
	if err != nil {
		return nil, nil, err
	}
	// A list does not say what a job was about.
	var mu sync.Mutex
	var group sync.WaitGroup
	var failed error
	for part := range slices.Chunk(ids, len(ids)/4+1) {
		group.Go(func() {
			for _, id := range part {
				var job struct {
					Result struct{ Items []struct{ ExternalID string } }
				}
				err := s.call(ctx, http.MethodGet, "/v1/jobs/"+id, nil, &job)
				mu.Lock()
				for _, one := range job.Result.Items {
					jobs[one.ExternalID]++
				}
				failed = errors.Join(failed, err)
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	group.Wait()
	if failed != nil {
		return nil, nil, failed
	}
	err = everyPage(ctx, s, "/v1/graph/nodes?kind=document", func(n struct {
		Source struct{ ExternalIDs []string }
	},
	) {
		for _, id := range n.Source.ExternalIDs {
			nodes[id]++
		}
	})
	return jobs, nodes, err
}

// everyPage reads all of a list.
func everyPage[T any](ctx context.Context, s *service, path string, each func(T)) error {
	for cursor := ""; ; {
		var page struct {
			Data       []T
			NextCursor string
		}
		if err := s.call(ctx, http.MethodGet, path+"&pageSize=100"+cursor, nil, &page); err != nil {
			return err
		}
		for _, one := range page.Data {
			each(one)
		}
		if page.NextCursor == "" {
			return nil
		}
		cursor = "&cursor=" + page.NextCursor
	}
}
