package storage_test

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// Benchmarks run on the real disk, in the test's own directory.
func diskNode(b *testing.B, maxOpen int) *storage.Node {
	b.Helper()
	return diskNodeIn(b, b.TempDir(), maxOpen)
}

func diskNodeIn(b *testing.B, dir string, maxOpen int) *storage.Node {
	b.Helper()
	n, err := storage.Open(storage.Options{
		Dir: dir, Clock: clock.Real(), MaxOpenStores: maxOpen, MinFreeBytes: -1, BallastBytes: -1,
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := n.Close(); err != nil {
			b.Error(err)
		}
	})
	return n
}

func BenchmarkGet(b *testing.B) {
	n := diskNode(b, 8)
	id := store(1)
	h := acquire(b, n, id)
	defer h.Release()
	s := storage.PartitionSpace(id, pb.PartitionID{1})
	const records = 10_000
	batch := storage.NewBatch(id)
	keys := make([]storage.Key, records)
	for i := range keys {
		keys[i] = s.Key(storage.TableNode, storage.Str(fmt.Sprintf("node-%d", i)))
		batch.Put(keys[i], &pb.Node{Id: "n", Title: "a title of ordinary length", Kind: "document"})
	}
	applyBatch(b, h, batch)
	for _, where := range []string{"memtable", "table"} {
		if where == "table" {
			if err := h.Flush(); err != nil {
				b.Fatal(err)
			}
		}
		b.Run("raw/"+where, func(b *testing.B) {
			b.ReportAllocs()
			reportCPU(b)
			for i := 0; b.Loop(); i++ {
				if _, ok, err := h.GetRaw(keys[i%records]); !ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
		b.Run("absent/"+where, func(b *testing.B) {
			k := s.Key(storage.TableNode, storage.Str("no such node"))
			reportCPU(b)
			for b.Loop() {
				if _, ok, err := h.GetRaw(k); ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
	}
	b.Run("record", func(b *testing.B) {
		m := &pb.Node{}
		reportCPU(b)
		for i := 0; b.Loop(); i++ {
			if ok, err := h.Get(keys[i%records], m); !ok || err != nil {
				b.Fatal(ok, err)
			}
		}
	})
	b.Run("scan", func(b *testing.B) {
		b.ReportAllocs()
		reportCPU(b)
		for i := 0; i < b.N; i += records {
			for _, err := range h.Scan(s.All(), storage.ScanOptions{Limit: b.N}) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("key", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s.Key(storage.TableNode, storage.Str("node-1234567"))
		}
	})
}

// BenchmarkApply writes commits of four records; per operation is one commit.
func BenchmarkApply(b *testing.B) {
	for _, together := range []int{1, 100} {
		b.Run(strconv.Itoa(together), func(b *testing.B) {
			n := diskNode(b, 8)
			id := store(1)
			h := acquire(b, n, id)
			defer h.Release()
			s := storage.OrgSpace(id)
			index := uint64(0)
			reportCPU(b)
			entries := make([]storage.Entry, 0, together)
			for i := 0; i < b.N; i += together {
				entries = entries[:0]
				for range together {
					index++
					batch := storage.NewBatch(id)
					batch.Put(s.Key(storage.TableJob, storage.ID16(pb.JobID{byte(index), byte(index >> 8)})),
						&pb.Job{Type: "ingest", Status: "queued"})
					batch.PutRaw(s.Key(storage.TableJobByTime, storage.U64Desc(index), storage.ID16(pb.JobID{1})), nil)
					batch.Put(s.Key(storage.TableAudit, storage.U64(index)), &pb.Audit{Action: "ingest", Target: "job"})
					batch.Put(s.Key(storage.TableUsage, storage.U64(7), storage.Str("ingest")), &pb.Usage{ReadUnits: index})
					entries = append(entries, storage.Entry{Index: index, Kind: storage.EntryPlain, Changes: batch.Changes()})
				}
				if _, err := h.ApplyBatch(entries); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkAppend appends 256-byte entries, each durable on return; per
// operation is one append. Beyond the rate it tells how many fsyncs an append
// took: group commit.
func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 8, 64} {
		b.Run(strconv.Itoa(writers), func(b *testing.B) {
			n := diskNode(b, 8)
			data := make([]byte, 256)
			var left atomic.Int64
			left.Store(int64(b.N))
			before := n.Stats().Syncs
			b.ResetTimer()
			reportCPU(b)
			var wg sync.WaitGroup
			for g := range uint32(writers) {
				wg.Go(func() {
					for i := uint64(1); left.Add(-1) >= 0; i++ {
						if err := n.Log().Append(g, []storage.LogEntry{{Index: i, Term: 1, Data: data}}); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "appends/s")
			b.ReportMetric(float64(n.Stats().Syncs-before)/float64(b.N), "fsyncs/append")
		})
	}
}

// BenchmarkLogTruncation appends with a truncation every 4,000 entries, as a
// host with snapshots does, and tells what the log then occupies.
func BenchmarkLogTruncation(b *testing.B) {
	n := diskNode(b, 8)
	data := make([]byte, 4096)
	entries := make([]storage.LogEntry, 64)
	next := uint64(1)
	peak := uint64(0)
	for i := 0; i < b.N; i += len(entries) {
		for j := range entries {
			entries[j] = storage.LogEntry{Index: next, Data: data}
			next++
		}
		if err := n.Log().Append(1, entries); err != nil {
			b.Fatal(err)
		}
		if next%4032 == 1 {
			if err := n.Log().DeleteRange(1, 1, next-500); err != nil {
				b.Fatal(err)
			}
			peak = max(peak, n.Log().DiskBytes())
		}
	}
	b.ReportMetric(float64(next)*4096/(1<<20), "MiB-appended")
	b.ReportMetric(float64(peak)/(1<<20), "MiB-on-disk-at-most")
}

// BenchmarkStores creates, reopens and closes stores of 200 records each, with
// more stores than may be open; per operation is one cold open with a read, or
// the eviction it causes. It tells the memory of an open store.
func BenchmarkStores(b *testing.B) {
	const orgs, open = 1000, 256
	n := diskNode(b, open)
	for i := range orgs {
		h := acquire(b, n, store(i))
		batch := storage.NewBatch(store(i))
		for r := range 200 {
			batch.PutRaw(setting(store(i), fmt.Sprint(r)), make([]byte, 100))
		}
		applyBatch(b, h, batch)
		h.Release()
	}
	b.Run("cold", func(b *testing.B) {
		i := 0
		reportCPU(b)
		for b.Loop() {
			i = (i + 1) % orgs // 256 open of 1,000 in turn: always cold
			h := acquire(b, n, store(i))
			if get(b, h, setting(store(i), "7")) == "-" {
				b.Fatal("lost")
			}
			h.Release()
		}
	})
	b.Run("coldwrite", func(b *testing.B) {
		i := 0
		reportCPU(b)
		for b.Loop() {
			i = (i + 1) % orgs
			h := acquire(b, n, store(i))
			put(b, h, h.Applied()+1, "7", "x") // its eviction must flush
			h.Release()
		}
	})
	b.Run("warm", func(b *testing.B) {
		reportCPU(b)
		for b.Loop() {
			acquire(b, n, store(3)).Release()
		}
	})
}

// BenchmarkOpenStoreMemory tells what an open, flushed, read store costs: the
// difference of the resident set before and after 256 are opened.
func BenchmarkOpenStoreMemory(b *testing.B) {
	const open = 256
	dir := b.TempDir()
	n := diskNodeIn(b, dir, open)
	for i := range open {
		h := acquire(b, n, store(i))
		batch := storage.NewBatch(store(i))
		for r := range 200 {
			batch.PutRaw(setting(store(i), fmt.Sprint(r)), make([]byte, 100))
		}
		applyBatch(b, h, batch)
		h.Release()
	}
	for b.Loop() {
		if err := n.Close(); err != nil {
			b.Fatal(err)
		}
		n = diskNodeIn(b, dir, open)
		debug.FreeOSMemory()
		before, goroutines := rssKiB(), runtime.NumGoroutine()
		for i := range open {
			h := acquire(b, n, store(i))
			if get(b, h, setting(store(i), "7")) == "-" {
				b.Fatal("lost")
			}
			h.Release()
		}
		b.ReportMetric(float64(rssKiB()-before)/open, "RSS-KiB/store")
		debug.FreeOSMemory()
		b.ReportMetric(float64(rssKiB()-before)/open, "settled-KiB/store")
		b.ReportMetric(float64(runtime.NumGoroutine()-goroutines)/open, "goroutines/store")
	}
}

// reportCPU adds the processor time per operation to a benchmark: on a busy
// machine it is the figure that means something.
func reportCPU(b *testing.B) {
	start := cpuTime(b)
	b.Cleanup(func() {
		b.ReportMetric(float64(cpuTime(b)-start)/float64(b.N), "cpu-ns/op")
	})
}

func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func rssKiB() int {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(data), "VmRSS:")
	var kib int
	_, _ = fmt.Sscan(rest, &kib)
	return kib
}
