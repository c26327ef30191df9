package cluster

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"orgmem/cluster/wire"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// startDisk starts a server on the real disk, in the test's own directory.
func startDisk(t testing.TB, dir string, configure ...func(*Config, *storage.Options)) *server {
	t.Helper()
	s := begin(t, nil, append([]func(*Config, *storage.Options){func(c *Config, o *storage.Options) {
		c.Clock, c.Shards = clock.Real(), wire.DefaultShards
		o.Dir, o.FS = dir, nil
	}}, configure...)...)
	s.ready()
	return s
}

// body is a batch like that of one accepted item: the 300 bytes, a job, a queue
// entry, usage and an idempotency record.
func body(id storage.StoreID, n int) *storage.Batch {
	b := storage.NewBatch(id)
	for i, size := range []int{340, 120, 60, 40, 80} {
		b.PutRaw(row(id, fmt.Sprintf("%010d-%d", n, i)), make([]byte, size))
	}
	return b
}

// BenchmarkPipeline keeps 64 proposals of each of several organizations in
// flight: what 64 clients per organization would do if nothing else cost time.
func BenchmarkPipeline(b *testing.B) {
	for _, orgs := range []int{1, 16} {
		b.Run(fmt.Sprintf("orgs=%d", orgs), func(b *testing.B) {
			s := startDisk(b, b.TempDir())
			leases := make([]Lease, orgs)
			for i := range leases {
				leases[i] = s.open(mainStore(i))
			}
			b.ReportAllocs()
			before := cpuTime()
			b.ResetTimer()
			var wg sync.WaitGroup
			for i := range orgs {
				wg.Go(func() {
					id, lease := mainStore(i), leases[i]
					slots := make(chan struct{}, 64)
					for n := i; n < b.N; n += orgs {
						slots <- struct{}{}
						err := s.host.ProposeAsync(b.Context(), id, lease, body(id, n), func(_ uint64, err error) {
							if err != nil {
								b.Error(err)
							}
							<-slots
						})
						if err != nil {
							b.Error(err)
							return
						}
						lease = lease.Next()
					}
					for range cap(slots) {
						slots <- struct{}{}
					}
				})
			}
			wg.Wait()
			b.StopTimer()
			b.ReportMetric(float64((cpuTime()-before).Microseconds())/float64(b.N), "cpu-µs/op")
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "op/s")
		})
	}
}

// BenchmarkPropose is one writer that waits for each answer: the latency of a
// durable write.
func BenchmarkPropose(b *testing.B) {
	s := startDisk(b, b.TempDir())
	id := mainStore(0)
	lease := s.open(id)
	n := 0
	for b.Loop() {
		if _, err := s.host.Propose(b.Context(), id, lease, body(id, n)); err != nil {
			b.Fatal(err)
		}
		lease = lease.Next()
		n++
	}
}

// BenchmarkStart opens a data directory with 32 shards until all are ready.
func BenchmarkStart(b *testing.B) {
	dir := b.TempDir()
	startDisk(b, dir).stop()
	b.ResetTimer()
	for b.Loop() {
		startDisk(b, dir).stop()
	}
}

// BenchmarkCreate makes a new data directory until all groups are ready.
func BenchmarkCreate(b *testing.B) {
	for b.Loop() {
		s := startDisk(b, b.TempDir())
		b.StopTimer()
		s.stop()
		b.StartTimer()
	}
}

// BenchmarkIdle reports what 33 groups cost when nobody asks anything.
func BenchmarkIdle(b *testing.B) {
	s := startDisk(b, b.TempDir())
	defer s.stop()
	before, began := cpuTime(), time.Now()
	for b.Loop() {
		<-time.After(time.Second)
	}
	b.ReportMetric(100*float64(cpuTime()-before)/float64(time.Since(began)), "%core")
}
