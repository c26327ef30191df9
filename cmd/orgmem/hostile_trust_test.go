//go:build trust

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"orgmem/brain/format/hostile"
	"orgmem/cmd/orgmem/process"
	"orgmem/proto/clock"
)

const (
	// hostileMemory is what the service may use while hostile files are read at once, and
	// hostileInTurn what it may have resident while they come one after the other.
	hostileMemory = 1 << 30
	hostileInTurn = 512 << 20
	// hostileParallel uploads run at a time, of hostileKeys keys of one organization.
	hostileParallel, hostileKeys = 90, 3
	// hostileUploads is how many are sent by default: each file some times.
	hostileUploads = 1000
	// hostileAtMost is how long uploads are sent, at most, until enough of them were looked at.
	hostileAtMost = 20 * time.Minute
	// hostileSmall is how large a file is that is sent more often than others, of which one in
	// largeShare is any: of those the edge holds few at a time, and the others refuses.
	hostileSmall, largeShare = 1 << 20, 8
)

// lookedAt says of a plan that one upload in so many must have been looked at, and taken or
// refused for what it is: without limits of the rate there is only the memory to wait for.
var lookedAt = map[string]int{"standard": 20, "unlimited": 5}

// memoryGroup is a control group that bounds the memory of what runs in it.
type memoryGroup struct{ dir, peak string }

// newMemoryGroup makes one of either version; the test is skipped where this process may
// not.
func newMemoryGroup(t *testing.T, limit int64) *memoryGroup {
	t.Helper()
	name := fmt.Sprintf("orgmem-trust-%d-%d", os.Getpid(), rand.Uint32())
	var limits []string
	g := &memoryGroup{}
	switch {
	case exists("/sys/fs/cgroup/memory/memory.limit_in_bytes"):
		g.dir, g.peak = filepath.Join("/sys/fs/cgroup/memory", name), "memory.max_usage_in_bytes"
		limits = []string{"memory.limit_in_bytes", "memory.memsw.limit_in_bytes"}
	case exists("/sys/fs/cgroup/cgroup.controllers"):
		g.dir, g.peak = filepath.Join("/sys/fs/cgroup", name), "memory.peak"
		limits = []string{"memory.max"}
	default:
		t.Skip("no memory control group can be made here")
	}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		t.Skipf("no memory control group can be made here: %v", err)
	}
	t.Cleanup(func() {
		for range 100 { // what ran in it may still be ending
			if os.Remove(g.dir) == nil {
				return
			}
			clock.Wait(context.Background(), clock.Real(), 50*time.Millisecond)
		}
	})
	for i, file := range limits {
		if err := os.WriteFile(filepath.Join(g.dir, file), []byte(strconv.FormatInt(limit, 10)), 0o600); err != nil &&
			i == 0 {
			t.Skipf("the memory control group cannot be bounded: %v", err)
		}
	}
	return g
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// run is a prefix that runs a command in the group.
func (g *memoryGroup) run() []string {
	return []string{"/bin/sh", "-c", `echo $$ > "$0/cgroup.procs" && exec "$@"`, g.dir}
}

// most is the most that the group ever used, its share of the page cache included.
func (g *memoryGroup) most(t *testing.T) int64 {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(g.dir, g.peak))
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// upload sends a file as it lies on the disk, so that ninety of them take no memory here.
func (c caller) upload(ctx context.Context, path string) answer {
	const head = "--sample\r\nContent-Disposition: form-data; name=\"file\"; filename=\"%s\"\r\n\r\n"
	const tail = "\r\n--sample--\r\n"
	file, err := os.Open(path)
	if err != nil {
		return answer{}
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return answer{}
	}
	begin := fmt.Sprintf(head, hostileName(path))
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/v1/import",
		io.MultiReader(strings.NewReader(begin), file, strings.NewReader(tail)))
	if err != nil {
		return answer{}
	}
	request.ContentLength = int64(len(begin)) + info.Size() + int64(len(tail))
	request.Header.Set("X-Svc-Api-Key", c.key)
	request.Header.Set("Content-Type", "multipart/form-data; boundary=sample")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return answer{Body: []byte(err.Error())}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{Body: []byte(err.Error())}
	}
	return answer{response.StatusCode, response.Header, body}
}

// sent is a form with a file.
func sent(name string, data []byte) form {
	var b bytes.Buffer
	fmt.Fprintf(&b, "--sample\r\nContent-Disposition: form-data; name=\"file\"; filename=\"%s\"\r\n\r\n", name)
	b.Write(data)
	b.WriteString("\r\n--sample--\r\n")
	return form(b.String())
}

// documentedUpload are the answers that an upload may get; of some the client must be
// told when to come again.
var documentedUpload = map[int]bool{
	http.StatusAccepted: false, http.StatusRequestEntityTooLarge: false, http.StatusUnprocessableEntity: false,
	http.StatusTooManyRequests: true, http.StatusServiceUnavailable: true,
}

// TestTrustHostileFiles: a service in 1 GiB survives any mix of files that cost much more
// to read than to send, at any parallelism, and goes on; one after the other they leave
// it small. The log tells the counts.
func TestTrustHostileFiles(t *testing.T) {
	uploads := trustRounds(t, "ORGMEM_TEST_HOSTILE_UPLOADS", hostileUploads)
	newMemoryGroup(t, hostileMemory) // where none can be made, the whole test is skipped, and says so
	dir := t.TempDir()               // on disk: they are 2 GiB together
	var files []string
	for i, f := range hostile.Files() {
		path := filepath.Join(dir, fmt.Sprintf("%03d %s", i, f.Name))
		if err := os.WriteFile(path, f.Make(), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
	}
	t.Run("in turn", func(t *testing.T) { hostileOneByOne(t, files) })
	t.Run("at once", func(t *testing.T) { hostileAtOnce(t, files, uploads, "standard") })
	t.Run("at once without limits", func(t *testing.T) { hostileAtOnce(t, files, uploads, "unlimited") })
}

// hostileName is the name that a file is sent under.
func hostileName(path string) string { return filepath.Base(path)[len("000 "):] }

func hostileOneByOne(t *testing.T, files []string) {
	g := newMemoryGroup(t, hostileMemory)
	data := t.TempDir()
	p := start(t, data, process.Options{Prefix: g.run()})
	unlimited(t, p, data, p.OrgID)
	c := caller{base: p.BaseURL, key: p.APIKey}
	statuses := map[int]int{}
	peak, worst, slowest, slow := int64(0), "", time.Duration(0), ""
	for _, path := range files {
		began := time.Now()
		a := c.upload(t.Context(), path)
		took := time.Since(began)
		statuses[a.Status]++
		if _, documented := documentedUpload[a.Status]; !documented {
			t.Fatalf("%s: answered %d: %s\n%s", path, a.Status, a.Body, p.Log())
		}
		u, err := p.Usage()
		if err != nil {
			t.Fatal(err)
		}
		if u.Peak > peak {
			peak, worst = u.Peak, hostileName(path)
		}
		if took > slowest {
			slowest, slow = took, hostileName(path)
		}
		t.Logf("%s: answered %d after %d ms, resident %d MiB, at most %d MiB: %.200s", hostileName(path), a.Status,
			took.Milliseconds(), u.RSS>>20, u.Peak>>20, a.Body)
	}
	t.Logf("trust: hostile files: %d files in turn: %s, peak %d MiB resident at %q of %d MiB, the slowest %q after %.1f s",
		len(files), counted(statuses), peak>>20, worst, hostileInTurn>>20, slow, slowest.Seconds())
	if peak >= hostileInTurn {
		t.Errorf("%d MiB were resident at %q, %d may be", peak>>20, worst, hostileInTurn>>20)
	}
	ordinaryUpload(t, c)
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
}

func counted(statuses map[int]int) string {
	var parts []string
	for _, status := range slices.Sorted(maps.Keys(statuses)) {
		parts = append(parts, fmt.Sprintf("%d of %d", statuses[status], status))
	}
	return strings.Join(parts, ", ")
}

// ordinaryUpload: a file that people have gets in within some tries.
func ordinaryUpload(t *testing.T, c caller) {
	t.Helper()
	var last answer
	eventually(t, "an ordinary file", func() bool {
		last = c.send(t.Context(), http.MethodPost, "/v1/import", "",
			sent("notes.md", []byte("# Harvest\n\nFigs ripen late behind the greenhouse.\n")))
		return last.Status == http.StatusAccepted
	})
}

func hostileAtOnce(t *testing.T, files []string, uploads int, plan string) {
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("ORGMEM_TEST_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("ORGMEM_TEST_SEED=%d", seed) // chooses the files; how they meet is the machine's choice
	g := newMemoryGroup(t, hostileMemory)
	data := t.TempDir()
	p := start(t, data, process.Options{Prefix: g.run()})
	admin := caller{base: p.BaseURL, key: p.APIKey}
	keys := []string{p.APIKey}
	for len(keys) < hostileKeys {
		made := admin.must(t, http.StatusCreated, http.MethodPost, "/v1/keys",
			map[string]any{"label": "k", "scopes": []string{"read", "write"}})
		secret, _ := made["apiKey"].(string)
		if secret == "" {
			t.Fatalf("no key in %v", made)
		}
		keys = append(keys, secret)
	}
	other := otherOrganization(t, p, data)
	if plan != "standard" {
		unlimited(t, p, data, p.OrgID)
	}

	var (
		wg       sync.WaitGroup
		mu       sync.Mutex // guards what follows
		next     int
		statuses = map[int]int{}
		unknown  []string
		peak     int64
		live     = map[string]int{}
		longest  time.Duration
	)
	running, stop := context.WithCancel(t.Context())
	defer stop()
	order := rand.New(rand.NewPCG(seed, 0))
	var small []string
	for _, path := range files {
		if info, err := os.Stat(path); err == nil && info.Size() < hostileSmall {
			small = append(small, path)
		}
	}
	least := max(uploads/lookedAt[plan], 1)
	looked := func() int { // mu is held
		return statuses[http.StatusAccepted] + statuses[http.StatusRequestEntityTooLarge] +
			statuses[http.StatusUnprocessableEntity]
	}
	began := time.Now()
	take := func() (string, bool) {
		mu.Lock()
		defer mu.Unlock()
		if next >= uploads && looked() >= least || time.Since(began) > hostileAtMost {
			return "", false
		}
		next++
		if order.IntN(largeShare) > 0 {
			return small[order.IntN(len(small))], true
		}
		return files[order.IntN(len(files))], true
	}
	for worker := range hostileParallel {
		c := caller{base: p.BaseURL, key: keys[worker%len(keys)]}
		wg.Go(func() {
			for {
				path, more := take()
				if !more || running.Err() != nil {
					return
				}
				a := c.upload(running, path)
				again, documented := documentedUpload[a.Status]
				after := 0
				if documented && again {
					var err error
					after, err = strconv.Atoi(a.Header.Get("Retry-After"))
					documented = err == nil && after > 0
				}
				mu.Lock()
				statuses[a.Status]++
				// A connection that ends without an answer, status 0, is not documented either:
				// also who sends a body that is too large is told so.
				if !documented && len(unknown) < 20 {
					unknown = append(unknown, fmt.Sprintf("%s: %d %.300s", hostileName(path), a.Status, a.Body))
				}
				mu.Unlock()
				if again {
					clock.Wait(running, clock.Real(), time.Duration(min(after, 5))*time.Second)
				}
			}
		})
	}
	watched := make(chan struct{})
	go func() { // whoever else uses the service meanwhile
		defer close(watched)
		for running.Err() == nil {
			began := time.Now()
			health, err := http.Get(p.OperatorURL + "/healthz")
			status := 0
			if err == nil {
				status = health.StatusCode
				health.Body.Close()
			}
			took := time.Since(began)
			note := other.send(running, http.MethodPost, "/v1/import", "",
				sent("notes.md", []byte("# Harvest\n\nFigs ripen late, "+strconv.FormatInt(time.Now().UnixNano(), 10)+".\n")))
			u, _ := p.Usage()
			mu.Lock()
			live[fmt.Sprintf("health %d", status)]++
			live[fmt.Sprintf("another organization's note %d", note.Status)]++
			longest = max(longest, took)
			peak = max(peak, u.Peak)
			mu.Unlock()
			clock.Wait(running, clock.Real(), 2*time.Second)
		}
	}()
	ended := make(chan struct{})
	go func() { wg.Wait(); close(ended) }()
	deaths := 0
	select {
	case <-ended:
	case <-p.Done():
		deaths++
		t.Errorf("the process ended: %v", p.Wait())
	}
	stop()
	wg.Wait()
	<-watched
	t.Logf("trust: hostile files: %d files, parallelism %d, %d keys of plan %s, 1 GiB: %d uploads (%s), %d of them "+
		"looked at of at least %d, %d deaths, peak %d MiB resident, %d MiB in the group; meanwhile %v, the slowest "+
		"health check %d ms",
		len(files), hostileParallel, len(keys), plan, next, counted(statuses), looked(), least, deaths, peak>>20,
		g.most(t)>>20, live, longest.Milliseconds())
	if len(unknown) > 0 {
		t.Errorf("answers that are not documented:\n%s", strings.Join(unknown, "\n"))
	}
	if deaths > 0 {
		return
	}
	if looked() < least {
		t.Errorf("%d of %d files were looked at, %d have to be: this says little about reading them", looked(), next, least)
	}
	if live["another organization's note 202"] == 0 {
		t.Errorf("another organization's note never got in")
	}
	ordinaryUpload(t, other)
	clock.Wait(t.Context(), clock.Real(), 65*time.Second)
	ordinaryUpload(t, admin)
	if err := p.Stop(); err != nil {
		t.Error(err)
	}
}

// otherOrganization is a member's key of an organization that sends nothing hostile.
func otherOrganization(t *testing.T, p *process.Process, data string) caller {
	t.Helper()
	m := newMachine(t)
	m.env["ORGMEM_OPERATOR"], m.env["ORGMEM_DATA"] = p.OperatorURL, data
	made := m.ok("org", "create", "--name", "Other", "--owner-email", "bob@other.example")
	secret, _ := made["apiKey"].(string)
	if secret == "" {
		t.Fatalf("no key in %v", made)
	}
	return caller{base: p.BaseURL, key: secret}
}
