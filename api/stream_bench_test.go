package api

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// BenchmarkEventStreams sends bursts of 64 events to 100 readers on loopback, the way
// that the stream does it and with a flush per event:
//
//	go test ./api -run xxx -bench EventStreams -benchtime 3x
//
// What the readers cost is in both.
func BenchmarkEventStreams(b *testing.B) {
	const readers, burst = 100, 64
	event := &pb.OutboxEvent{
		Id: testJob.Bytes(), Type: "graph.updated", AtMs: testNow.UnixMilli(),
		Data: []byte(`{"affectedNodes":["6ba7b810-9dad-11d1-80b4-00c04fd430c8"],"changeType":"updated","subject":null}`),
	}
	size := len(appendFrame(nil, event))
	for _, way := range []string{"gathered", "flush per event"} {
		b.Run(way, func(b *testing.B) {
			var feeds []chan *pb.OutboxEvent
			var mu sync.Mutex
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				events := make(chan *pb.OutboxEvent, 2*burst)
				mu.Lock()
				feeds = append(feeds, events)
				mu.Unlock()
				control := http.NewResponseController(w)
				var frames []byte
				_ = control.Flush()
				for e := range events {
					frames = appendFrame(frames[:0], e)
					if way == "gathered" {
						frames = appendWaiting(frames, events)
					}
					if _, err := w.Write(frames); err != nil {
						return
					}
					_ = control.Flush()
				}
			}))
			defer server.Close()
			var got atomic.Int64
			var wg sync.WaitGroup
			for range readers {
				conn, err := net.Dial("tcp", server.Listener.Addr().String())
				if err != nil {
					b.Fatal(err)
				}
				defer func() { _ = conn.Close() }()
				if _, err := fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
					b.Fatal(err)
				}
				wg.Go(func() {
					in := bufio.NewReaderSize(conn, 64<<10)
					for {
						line, err := in.ReadSlice('\n')
						if err != nil {
							return
						}
						if len(line) > 6 && string(line[:6]) == "data: " {
							got.Add(1)
						}
					}
				})
			}
			for open := 0; open < readers; {
				_ = clock.Wait(b.Context(), clock.Real(), time.Millisecond)
				mu.Lock()
				open = len(feeds)
				mu.Unlock()
			}
			var before, after syscall.Rusage
			if err := syscall.Getrusage(syscall.RUSAGE_SELF, &before); err != nil {
				b.Fatal(err)
			}
			b.ResetTimer()
			for i := range b.N {
				for range burst {
					for _, f := range feeds {
						f <- event
					}
				}
				for got.Load() < int64((i+1)*readers*burst) {
					_ = clock.Wait(b.Context(), clock.Real(), 100*time.Microsecond)
				}
			}
			b.StopTimer()
			if err := syscall.Getrusage(syscall.RUSAGE_SELF, &after); err != nil {
				b.Fatal(err)
			}
			spent := time.Duration(after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano())
			b.ReportMetric(float64(b.N*readers*burst)/spent.Seconds(), "deliveries/CPU-s")
			b.SetBytes(int64(readers * burst * size))
			for _, f := range feeds {
				close(f)
			}
			server.CloseClientConnections()
			wg.Wait()
		})
	}
}
