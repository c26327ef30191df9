package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// measureCancel takes in documents as long as one may be, one after the other, and cancels
// each a different time after it was accepted: while it is cut, read and embedded.
func measureCancel(ctx context.Context, b *bench) error {
	const (
		runes = 4_900_000
		most  = time.Second
	)
	s, err := b.fresh(ctx)
	if err != nil {
		return err
	}
	worst := time.Duration(0)
	waits := []time.Duration{50 * time.Millisecond, 300 * time.Millisecond, time.Second, 3 * time.Second}
	for round, wait := range waits {
		var long strings.Builder
		for i := 0; long.Len() < runes; i++ {
			fmt.Fprintf(&long, "On %d May 2026 Anselm Vogt of Acme %d-%d repaired the heating, and Priya Nair filed INC-%d "+
				"about it.\n\n", i%28+1, round, i, i)
		}
		var job struct{ JobID string }
		if err := s.call(ctx, http.MethodPost, "/v1/ingest", map[string]any{"content": long.String()}, &job); err != nil {
			return err
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
		began := time.Now()
		if err := s.call(ctx, http.MethodPost, "/v1/jobs/"+job.JobID+"/cancel", nil, nil); err != nil {
			return err
		}
		for {
			var now struct{ Status string }
			if err := s.call(ctx, http.MethodGet, "/v1/jobs/"+job.JobID, nil, &now); err != nil {
				return err
			}
			if now.Status == "cancelled" {
				break
			}
			if now.Status != "running" && now.Status != "queued" || time.Since(began) > time.Minute {
				return fmt.Errorf("a cancelled job is %s after %v", now.Status, time.Since(began))
			}
			if err := pause(ctx, 2*time.Millisecond); err != nil {
				return err
			}
		}
		worst = max(worst, time.Since(began))
	}
	b.report.add(fmt.Sprintf("cancelling a document of %d characters, at %d moments", runes, len(waits)),
		"under "+most.String(), worst < most, "%d ms at worst", worst.Milliseconds())
	return s.end()
}
