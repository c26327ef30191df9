package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// Share is how many of how many, and the 95 % interval of the share.
type Share struct {
	Count uint64  `json:"count"`
	Of    uint64  `json:"of"`
	Share float64 `json:"share"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Recall is how many questions were answered among the first hits.
type Recall struct {
	Questions uint64 `json:"questions"`
	At1       Share  `json:"at1"`
	At5       Share  `json:"at5"`
	At10      Share  `json:"at10"`
}

// Report is what one evaluation of a memory counted.
type Report struct {
	JobID    string `json:"jobId"`
	At       string `json:"at"`
	Scope    string `json:"scope"`
	Memories uint64 `json:"memories"`
	Partial  bool   `json:"partial"`
	Sampled  uint64 `json:"sampled"`
	Recall   Recall `json:"recall"`
	ByKind   []struct {
		Kind   string `json:"kind"`
		Recall Recall `json:"recall"`
	} `json:"byKind"`
	Unfound        Share `json:"unfound"`
	NearDuplicates Share `json:"nearDuplicates"`
	Stale          Share `json:"stale"`
	FormerFirst    Share `json:"formerFirst"`
	Contradicted   Share `json:"contradicted"`
	Languages      []struct {
		Language string `json:"language"`
		Memories Share  `json:"memories"`
	} `json:"languages"`
	Model        string  `json:"model"`
	BrainVersion *uint64 `json:"brainVersion"`
}

// Evaluate has a memory evaluated, and waits until that has ended. progress, where it is not nil, is called with how
// far it is, each time that has changed. Under the same key a repeated call waits for the same evaluation.
func (c *Client) Evaluate(
	ctx context.Context, scope, idempotencyKey string, progress func(done, total uint64),
) (string, error) {
	var accepted struct {
		JobID string `json:"jobId"`
	}
	body := struct {
		Scope string `json:"scope"`
	}{scope}
	err := c.do(ctx, call{
		method: http.MethodPost, path: "/v1/quality", body: body, idempotencyKey: idempotencyKey, out: &accepted,
	})
	var said uint64
	for pause := firstLook; err == nil; pause = min(2*pause, lastLook) {
		var job struct {
			Status   string `json:"status"`
			Progress struct {
				Done  uint64 `json:"done"`
				Total uint64 `json:"total"`
			} `json:"progress"`
			Error *struct {
				Detail string `json:"detail"`
			} `json:"error"`
		}
		if err = c.do(ctx, call{
			method: http.MethodGet, path: "/v1/jobs/" + url.PathEscape(accepted.JobID), out: &job,
		}); err != nil {
			break
		}
		if progress != nil && job.Progress.Done != said {
			said = job.Progress.Done
			progress(said, job.Progress.Total)
		}
		switch job.Status {
		case pb.JobSucceeded:
			return accepted.JobID, nil
		case pb.JobFailed, pb.JobCancelled:
			why := ""
			if job.Error != nil {
				why = ": " + job.Error.Detail
			}
			return "", fmt.Errorf("the evaluation has %s%s; run it again", map[string]string{
				pb.JobFailed: "failed", pb.JobCancelled: "been cancelled",
			}[job.Status], why)
		}
		err = clock.Wait(ctx, c.clock, pause)
	}
	return "", err
}

// Reports lists the newest reports on a memory, newest first, at most most of them; raw is what the service answered.
func (c *Client) Reports(
	ctx context.Context, scope string, most int,
) (reports []Report, raw json.RawMessage, err error) {
	query := url.Values{"scope": {scope}, "pageSize": {strconv.Itoa(most)}}
	if err := c.do(ctx, call{method: http.MethodGet, path: "/v1/quality?" + query.Encode(), out: &raw}); err != nil {
		return nil, nil, err
	}
	var page struct {
		Data []Report `json:"data"`
	}
	if err := json.Unmarshal(raw, &page); err != nil {
		return nil, nil, fmt.Errorf("GET /v1/quality: decode: %w", err)
	}
	return page.Data, raw, nil
}
