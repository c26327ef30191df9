package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
)

const (
	readRounds  = 3 // each: the bare route, then each of the small reads
	readFor     = 3 * time.Second
	readClients = 16
)

// measureReads compares small reads (with authentication, limits, access log and
// metering) with a bare gin route. The processor time is that of the whole
// process per answered request.
func measureReads(ctx context.Context, b *bench) error {
	gin, stop, err := startGin(ctx)
	if err != nil {
		return err
	}
	defer stop()
	s, err := b.fresh(ctx)
	if err != nil {
		return err
	}
	job, err := s.ingest(ctx, []item{{Content: "The boiler was serviced in May."}})
	if err != nil {
		return err
	}
	if err := s.await(ctx, job); err != nil {
		return err
	}
	var nodes struct{ Data []struct{ ID string } }
	if err := s.call(ctx, http.MethodGet, "/v1/graph/nodes", nil, &nodes); err != nil {
		return err
	}
	if len(nodes.Data) == 0 {
		return errors.New("no node to read")
	}
	paths := []string{"/v1/me", "/v1/graph/nodes/" + nodes.Data[0].ID, "/v1/settings"}
	names := []string{"/v1/me", "a node", "the settings"}
	var bare []float64
	rates, costs := make([][]float64, len(paths)), make([][]float64, len(paths))
	for range readRounds {
		one := load{
			connections: readClients, lasting: readFor, base: gin, line: "GET /v1/me",
			head: "X-Svc-API-Key: " + s.key + "\r\n",
		}
		o, err := one.run(ctx)
		if err != nil {
			return fmt.Errorf("bare gin: %w", err)
		}
		bare = append(bare, o.perSecond())
		one.base = s.BaseURL
		for i, path := range paths {
			one.line = "GET " + path
			before, err := s.Usage()
			if err != nil {
				return err
			}
			if o, err = one.run(ctx); err != nil {
				return fmt.Errorf("orgmem: %w", err)
			}
			after, err := s.Usage()
			if err != nil {
				return err
			}
			if o.answered == 0 || o.refused > 0 {
				return fmt.Errorf("%s: %d answered, %d refused", path, o.answered, o.refused)
			}
			rates[i] = append(rates[i], o.perSecond())
			costs[i] = append(costs[i], ms(after.CPU-before.CPU)/float64(o.answered))
		}
	}
	middle := func(all []float64) float64 { slices.Sort(all); return all[len(all)/2] }
	y := middle(bare)
	for i, name := range names {
		cost, x := middle(costs[i]), middle(rates[i])
		b.report.add("reading "+name+", CPU", "< 1 ms", cost < 1, "%.3f ms a request", cost)
		b.report.add("reading "+name+", throughput", ">= 0.5 of bare gin", x/y >= 0.5, "%.0f/s of %.0f/s = %.2f", x, y, x/y)
	}
	return s.end()
}
