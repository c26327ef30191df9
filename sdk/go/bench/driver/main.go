//go:build unix

// Command driver is the load that `bench -only clients` puts on the service through
// this client. The drivers of the other languages take the same arguments:
//
//	driver search N
//	driver adds N CONCURRENCY
//	driver events FILE
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	orgmem "orgmem/sdk/go"
)

const (
	rounds = 20 // of each kind, of which the median is taken
	query  = "who looked after the heating"
	// patience is for a server that is killed and starts again.
	patience = 10 * time.Minute
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "driver:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	usage := errors.New("driver search N | adds N CONCURRENCY | events FILE")
	if len(args) < 2 {
		return usage
	}
	if args[0] == "events" {
		return events(ctx, args[1])
	}
	n, err := strconv.Atoi(args[1])
	switch {
	case err != nil || n < 1:
		return usage
	case args[0] == "search":
		return search(ctx, n)
	case args[0] == "adds" && len(args) == 3:
		concurrency, err := strconv.Atoi(args[2])
		if err != nil || concurrency < 1 {
			return usage
		}
		return adds(ctx, n, concurrency)
	}
	return usage
}

func say(what any) error { return json.NewEncoder(os.Stdout).Encode(what) }

// search compares searches through the client with the same calls by hand, which do
// not look at the answer, by the processor time that they take in this process.
func search(ctx context.Context, n int) error {
	client, err := orgmem.New(orgmem.Config{})
	if err != nil {
		return err
	}
	through := func() error {
		_, err := client.Search(ctx, orgmem.SearchRequest{Query: query})
		return err
	}
	body, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		return err
	}
	bare := func() error {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, os.Getenv(orgmem.EnvBaseURL)+"/v1/search", bytes.NewReader(body))
		if err != nil {
			return err
		}
		r.Header.Set("X-Svc-API-Key", os.Getenv(orgmem.EnvAPIKey))
		r.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return errors.New(answer.Status)
		}
		_, err = io.ReadAll(answer.Body)
		return err
	}
	var ours, bares []float64
	for round := -1; round < rounds; round++ { // the first warms up
		for _, kind := range []struct {
			call func() error
			into *[]float64
		}{{through, &ours}, {bare, &bares}} {
			runtime.GC() // each pays for its own garbage
			before := cpu()
			for range n {
				if err := kind.call(); err != nil {
					return err
				}
			}
			if round >= 0 {
				*kind.into = append(*kind.into, float64(cpu()-before)/float64(time.Millisecond)/float64(n))
			}
		}
	}
	// The difference within a round: what slows the machine slows both halves of it.
	added := make([]float64, len(ours))
	for i := range added {
		added[i] = ours[i] - bares[i]
	}
	return say(map[string]float64{"client_cpu_ms": median(ours), "bare_cpu_ms": median(bares), "added_ms": median(added)})
}

// cpu is the processor time of this process, user and system.
func cpu() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err) // it has no way to fail
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func median(of []float64) float64 {
	return slices.Sorted(slices.Values(of))[len(of)/2]
}

// adds adds different texts, whatever happens to the server meanwhile.
func adds(ctx context.Context, n, concurrency int) error {
	client, err := orgmem.New(orgmem.Config{MaxRetries: int(patience / time.Millisecond), RetryBudget: patience})
	if err != nil {
		return err
	}
	var (
		mu     sync.Mutex
		wg     sync.WaitGroup
		acked  int
		failed = []string{}
		turn   = make(chan int)
	)
	for range concurrency {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range turn {
				_, err := client.Add(ctx, orgmem.Item{
					Content:    fmt.Sprintf("Note %d of the bench: the boiler of house %d was serviced.", i, i),
					ExternalID: fmt.Sprintf("bench-%d", i),
				})
				mu.Lock()
				if err == nil {
					acked++
				} else {
					failed = append(failed, err.Error())
				}
				mu.Unlock()
			}
		}()
	}
	for i := range n {
		turn <- i
	}
	close(turn)
	wg.Wait()
	return say(map[string]any{"acknowledged": acked, "failed": len(failed), "errors": failed[:min(len(failed), 10)]})
}

type gap struct {
	Since time.Time `json:"since"`
	Why   string    `json:"why"`
}

// events writes the ids of events to a file until standard input ends.
func events(ctx context.Context, path string) error {
	client, err := orgmem.New(orgmem.Config{})
	if err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(file)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	var (
		ready sync.Once
		count int
		gaps  = []gap{}
		said  error
	)
	watch := orgmem.EventsRequest{OnOpen: func() {
		ready.Do(func() { said = say(map[string]bool{"ready": true}) })
	}}
	for notice, err := range client.Events(ctx, watch) {
		if errors.Is(err, context.Canceled) {
			break
		} else if err != nil {
			return err
		}
		switch n := notice.(type) {
		case orgmem.Event:
			count++
			fmt.Fprintln(out, n.ID)
		case orgmem.Gap:
			gaps = append(gaps, gap{n.Since, n.Why})
		}
	}
	if err := errors.Join(said, out.Flush(), file.Close()); err != nil {
		return err
	}
	return say(map[string]any{"events": count, "gaps": gaps})
}
