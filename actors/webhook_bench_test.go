package actors

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"orgmem/actors/account"
	"orgmem/actors/tenant"
	"orgmem/actors/webhook"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// These are measured on demand (docs/webhooks.md names the figures):
//
//	go test ./actors -run xxx -bench 'Webhook' -benchtime 1x -timeout 30m

// cpu is what the process has used so far, receivers included.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// counting is a receiver that counts what comes by event and path.
type counting struct {
	mu  sync.Mutex
	got map[string]int
	all atomic.Int64
}

func (r *counting) take(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		return
	}
	_, id, _ := strings.Cut(string(body), `"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	r.mu.Lock()
	if r.got[q.URL.Path+id]++; r.got[q.URL.Path+id] == 1 {
		r.all.Add(1)
	}
	r.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

// seen is what came so far, and unsee forgets what came since.
func (r *counting) seen() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.got)
}

func (r *counting) unsee(seen map[string]int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = seen
	r.all.Store(int64(len(seen)))
}

// BenchmarkWebhookCrash delivers 100,000 events to one endpoint, with a power
// failure in the middle.
func BenchmarkWebhookCrash(b *testing.B) {
	const events, perCommit = 100_000, 500
	for range b.N {
		in := &counting{got: map[string]int{}}
		url, allow := receiver(b, in.take)
		disk := storagetest.NewDisk()
		n := startNode(b, disk, allow)
		org := n.org(account.NewOrg{})
		c := client{n: n, key: org.APIKey}
		c.ok(newWebhook(url, "*"))
		used := cpu(b)
		began := time.Now()
		for i := 0; i < events/2; i += perCommit {
			n.happen(org.Org, pb.EventInsightProposed, i, perCommit)
		}
		for in.all.Load() < events/4 {
			_ = clock.Wait(b.Context(), clock.Real(), time.Millisecond)
		}
		after, seen := disk.Crash(0, 0), in.seen()
		n.stop()
		in.unsee(seen) // what the dead node still sent, of which its disk knows nothing
		n = startNode(b, after, allow)
		for i := events / 2; i < events; i += perCommit {
			n.happen(org.Org, pb.EventInsightProposed, i, perCommit)
		}
		for in.all.Load() < events {
			_ = clock.Wait(b.Context(), clock.Real(), time.Millisecond)
		}
		n.quiet(org.Org)
		twice := 0
		for _, times := range in.got {
			twice += times - 1
		}
		took, used := time.Since(began), cpu(b)-used
		b.ReportMetric(float64(len(in.got)), "events")
		b.ReportMetric(float64(events-len(in.got)), "lost")
		b.ReportMetric(float64(twice), "twice")
		b.ReportMetric(float64(events)/took.Seconds(), "deliveries/s")
		b.ReportMetric(float64(events)/used.Seconds(), "deliveries/CPU-s")
		n.stop()
	}
}

// BenchmarkWebhookCommits compares rounds with a commit for each delivery: the same
// events, of which each is delivered and recorded before the next one happens.
func BenchmarkWebhookCommits(b *testing.B) {
	for _, each := range []bool{false, true} {
		b.Run(fmt.Sprintf("each=%v", each), func(b *testing.B) {
			in := &counting{got: map[string]int{}}
			url, allow := receiver(b, in.take)
			disk := storagetest.NewDisk()
			n := startNode(b, disk, allow)
			org := n.org(account.NewOrg{})
			c := client{n: n, key: org.APIKey}
			c.ok(newWebhook(url, "*"))
			b.ResetTimer()
			used, synced := cpu(b), disk.Syncs()
			if each {
				for i := range b.N {
					n.happen(org.Org, pb.EventInsightProposed, i, 1)
					n.quiet(org.Org)
				}
			} else {
				n.happen(org.Org, pb.EventInsightProposed, 0, b.N)
				n.waitFor(func() bool { return in.all.Load() == int64(b.N) })
				n.quiet(org.Org)
			}
			b.ReportMetric(float64(b.N)/(cpu(b)-used).Seconds(), "deliveries/CPU-s")
			b.ReportMetric(float64(disk.Syncs()-synced)/float64(b.N), "syncs/delivery")
		})
	}
}

// BenchmarkWebhookHanging has 200 endpoints of ten organizations, half of which
// hang, and measures how long an event takes to reach each of the others.
func BenchmarkWebhookHanging(b *testing.B) {
	const orgs, events = 10, 20
	for range b.N {
		hang := make(chan struct{})
		var mu sync.Mutex
		var worst time.Duration
		var reached atomic.Int64
		url, allow := receiver(b, func(w http.ResponseWriter, q *http.Request) {
			body, err := io.ReadAll(q.Body)
			if err != nil {
				return
			}
			if strings.Contains(q.URL.Path, "hang") {
				<-hang
				return
			}
			_, at, _ := strings.Cut(string(body), `"n":`)
			ms, err := strconv.ParseInt(strings.TrimRight(at, "}"), 10, 64)
			if err != nil {
				b.Errorf("%s: %v", body, err)
			}
			mu.Lock()
			worst = max(worst, time.Since(time.UnixMilli(ms)))
			mu.Unlock()
			reached.Add(1)
			w.WriteHeader(http.StatusNoContent)
		})
		n := startNode(b, storagetest.NewDisk(), allow, func(c *tenant.Config, _ *storage.Options) { c.Clock = clock.Real() })
		var all []account.CreatedOrg
		for i := range orgs {
			org := n.org(account.NewOrg{
				Name: fmt.Sprint("Org ", i), OwnerEmail: fmt.Sprintf("o%d@example.com", i),
				Plan: pb.PlanUnlimited,
			})
			c := client{n: n, key: org.APIKey}
			for k := range webhook.MaxWebhooks {
				path := "/hang"
				if k%2 == 0 {
					path = "/healthy" + strconv.Itoa(k)
				}
				c.ok(newWebhook(url+path, "*"))
			}
			all = append(all, org)
		}
		for i := range events {
			for _, org := range all {
				n.happen(org.Org, pb.EventInsightProposed, int(time.Now().UnixMilli()), 1)
			}
			for reached.Load() < int64((i+1)*orgs*webhook.MaxWebhooks/2) {
				_ = clock.Wait(b.Context(), clock.Real(), time.Millisecond)
			}
		}
		b.ReportMetric(float64(worst.Milliseconds()), "ms-worst")
		b.ReportMetric(float64(reached.Load()), "deliveries")
		close(hang)
		n.stop()
	}
}
