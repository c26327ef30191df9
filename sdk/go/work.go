package orgmem

import (
	"context"
	"net/http"
	"time"
)

// The pauses between two looks at a job, each half as long again as the one before. A
// short text is taken in within the first.
const (
	firstLook   = 20 * time.Millisecond
	longestLook = 2 * time.Second
)

// nextLook is the pause after a pause.
func nextLook(pause time.Duration) time.Duration { return min(pause*3/2, longestLook) }

// JobsService is work that goes on behind an answer.
type JobsService struct{ c *Client }

// List lists jobs, the newest first.
func (s JobsService) List(filter JobFilter) List[Job] {
	return listOf[Job](s.c, filter, "/v1/jobs")
}

// Get reads a job.
func (s JobsService) Get(ctx context.Context, id string) (*Job, error) {
	r, err := at(http.MethodGet, "/v1/jobs/", id)
	return send[Job](ctx, s.c, r, err)
}

// Cancel ends a job that has not ended. It is sent once.
func (s JobsService) Cancel(ctx context.Context, id string) (*Job, error) {
	r, err := at(http.MethodPost, "/v1/jobs/", id, "/cancel")
	return send[Job](ctx, s.c, r, err)
}

// Wait waits until a job has ended, for as long as the context lasts. One that did
// not succeed is returned, and a JobFailedError with it.
func (s JobsService) Wait(ctx context.Context, id string) (*Job, error) {
	for pause := firstLook; ; pause = nextLook(pause) {
		job, err := s.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		switch job.Status {
		case JobStatusSucceeded:
			return job, nil
		case JobStatusFailed, JobStatusCancelled:
			return job, &JobFailedError{job}
		}
		if err := s.c.pause(ctx, pause, "GET /v1/jobs/"+id); err != nil {
			return nil, err
		}
	}
}

// pause sleeps between two looks at something.
func (c *Client) pause(ctx context.Context, d time.Duration, what string) error {
	if err := c.cfg.Sleep(ctx, d); err != nil {
		return &endedError{what, ctx.Err(), err, nil}
	}
	return nil
}

// PurgeService empties memories, in two steps.
type PurgeService struct{ c *Client }

// Preview counts what a purge would delete, and deletes nothing. subjectID is for
// PurgeScopeSubject alone. The answer's token is good for ten minutes.
func (s PurgeService) Preview(ctx context.Context, scope PurgeScope, subjectID string) (*PurgeReport, error) {
	return send[PurgeReport](ctx, s.c, request{method: http.MethodPost, path: "/v1/purge", reads: true,
		body: purgeRequest{Scope: scope, SubjectID: subjectID, DryRun: true}}, nil)
}

// Confirm deletes what a preview has counted, unless it has changed since, which is a
// conflict with the code purge_impact_changed. It is sent once.
func (s PurgeService) Confirm(ctx context.Context, preview *PurgeReport) (*PurgeReport, error) {
	if preview == nil || preview.ConfirmToken == "" {
		return nil, argument("a purge is confirmed with what Preview answered")
	}
	return send[PurgeReport](ctx, s.c, request{method: http.MethodPost, path: "/v1/purge",
		body: purgeRequest{Scope: preview.Scope, SubjectID: preview.SubjectID, ConfirmToken: preview.ConfirmToken}}, nil)
}

type purgeRequest struct {
	Scope        PurgeScope `json:"scope"`
	SubjectID    string     `json:"subjectId,omitzero"`
	DryRun       bool       `json:"dryRun"`
	ConfirmToken string     `json:"confirmToken,omitzero"`
}

// SessionsService takes in what was said in coding sessions.
type SessionsService struct{ c *Client }

// Push stores events, at most 500, each once: the service knows an event by its
// EventID, or else by its session, role, time and text. One that has neither an id nor
// a time gets an id here, so that a repetition is not stored twice.
func (s SessionsService) Push(ctx context.Context, events ...SessionEvent) ([]SessionResult, error) {
	if len(events) == 0 {
		return nil, argument("there is nothing to push: give at least one event")
	}
	known := make([]SessionEvent, len(events))
	for i, event := range events {
		if event.EventID == "" && event.At.IsZero() {
			event.EventID = newUUID()
		}
		known[i] = event
	}
	if len(known) == 1 {
		one, err := send[SessionResult](ctx, s.c, request{method: http.MethodPost, path: "/v1/ingest/session-event", body: known[0], reads: true}, nil)
		if err != nil {
			return nil, err
		}
		return []SessionResult{*one}, nil
	}
	many, err := send[struct {
		Results []SessionResult `json:"results"`
	}](ctx, s.c, request{method: http.MethodPost, path: "/v1/ingest/session-batch", reads: true,
		body: map[string][]SessionEvent{"events": known}}, nil)
	if err != nil {
		return nil, err
	}
	return many.Results, nil
}

// Finalize builds what is derived from sessions. A second call while it is under way
// answers its state.
func (s SessionsService) Finalize(ctx context.Context) (*SessionState, error) {
	return send[SessionState](ctx, s.c, request{method: http.MethodPost, path: "/v1/ingest/session-finalize", reads: true}, nil)
}

// Status tells how far that is.
func (s SessionsService) Status(ctx context.Context) (*SessionState, error) {
	return send[SessionState](ctx, s.c, request{method: http.MethodGet, path: "/v1/ingest/session-status"}, nil)
}

// BrainService is the organization's trained brain.
type BrainService struct{ c *Client }

// Train begins a training. It is sent once.
func (s BrainService) Train(ctx context.Context) (*TrainAccepted, error) {
	return send[TrainAccepted](ctx, s.c, request{method: http.MethodPost, path: "/v1/brain/train"}, nil)
}

// Info tells of the brain that serves, and of the latest training.
func (s BrainService) Info(ctx context.Context) (*BrainInfo, error) {
	return send[BrainInfo](ctx, s.c, request{method: http.MethodGet, path: "/v1/brain/info"}, nil)
}

// Training tells how the brain was trained, and where it wins and loses.
func (s BrainService) Training(ctx context.Context) (*BrainTraining, error) {
	return send[BrainTraining](ctx, s.c, request{method: http.MethodGet, path: "/v1/brain/training"}, nil)
}

// Query asks the brain what is near a query, and what it sets off.
func (s BrainService) Query(ctx context.Context, query BrainQuery) (*BrainFound, error) {
	return send[BrainFound](ctx, s.c, request{method: http.MethodPost, path: "/v1/brain/query", body: query, reads: true}, nil)
}

// Answer writes an answer, with what it rests on.
func (s BrainService) Answer(ctx context.Context, answer AnswerRequest) (*WrittenAnswer, error) {
	return send[WrittenAnswer](ctx, s.c, request{method: http.MethodPost, path: "/v1/brain/answer", body: answer, reads: true}, nil)
}
