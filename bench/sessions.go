package main

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

const (
	sessionEvents = 10_000
	sessionBatch  = 500
	sessionCount  = 5
)

// measureSessions pushes the events of coding sessions in batches, and pushes them
// again. Both end with the last answer: what is accepted is on disk, and taken in
// behind it.
func measureSessions(ctx context.Context, b *bench) error {
	s, err := b.fresh(ctx)
	if err != nil {
		return err
	}
	push := func(want string) (time.Duration, error) {
		began := time.Now()
		for from := 0; from < sessionEvents; from += sessionBatch {
			events := make([]map[string]any, sessionBatch)
			for i := range events {
				n := from + i
				events[i] = map[string]any{
					"sessionId": fmt.Sprint("session-", n%sessionCount), "eventId": fmt.Sprint("event-", n),
					"role": []string{"user", "assistant", "tool"}[n%3],
					"at":   "2026-01-02T03:04:05Z",
					"text": fmt.Sprintf("Step %d: the build of module %d ends with %d warnings about unused parameters and one "+
						"failed test.", n, n%97, n%13),
				}
			}
			var answer struct{ Results []struct{ Status string } }
			if err := s.call(ctx, http.MethodPost, "/v1/ingest/session-batch", map[string]any{"events": events},
				&answer); err != nil {
				return 0, err
			}
			if len(answer.Results) != len(events) {
				return 0, fmt.Errorf("%d results for %d events", len(answer.Results), len(events))
			}
			for _, r := range answer.Results {
				if r.Status != want {
					return 0, fmt.Errorf("an event is %s, not %s", r.Status, want)
				}
			}
		}
		return time.Since(began), nil
	}
	for _, pass := range []struct {
		status string
		most   time.Duration
	}{{"stored", 10 * time.Second}, {"deduped", 3 * time.Second}} {
		took, err := push(pass.status)
		if err != nil {
			return err
		}
		b.report.add(fmt.Sprintf("%d session events in batches of %d, all %s", sessionEvents, sessionBatch, pass.status),
			"under "+pass.most.String(), took < pass.most, "%.2f s", took.Seconds())
	}
	return s.end()
}
