package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"orgmem/cmd/orgmem/process"
)

// bench is what the parts share.
type bench struct {
	binary string
	dir    string
	orgs   int
	chunks int
	nodes  int    // of the part lists
	sets   string // of the parts quality and domains
	many   int    // organizations of the part many
	notes  int    // of each of those
	// profiles is where the part many puts profiles of the heap; none where empty.
	profiles string
	report   *report
	count    int
}

// service is a running orgmem with a caller of its first organization.
type service struct {
	*process.Process
	data    string
	key     string
	options process.Options // of a cluster's node, to start it again
}

// fresh starts the service on a new data directory, without rate limits.
func (b *bench) fresh(ctx context.Context) (*service, error) {
	b.count++
	s := &service{data: filepath.Join(b.dir, fmt.Sprintf("data%d", b.count))}
	if err := b.start(ctx, s); err != nil {
		return nil, err
	}
	s.key = s.APIKey
	return s, s.operator(ctx, http.MethodPut, "/operator/orgs/"+s.OrgID+"/plan", map[string]string{"plan": "unlimited"},
		nil)
}

func (b *bench) start(ctx context.Context, s *service) (err error) {
	s.Process, err = process.Start(ctx, process.Options{Binary: b.binary, Data: s.data})
	return err
}

// end stops the service and deletes its data.
func (s *service) end() error {
	s.Kill()
	return os.RemoveAll(s.data)
}

func (s *service) operator(ctx context.Context, method, path string, body, out any) error {
	authorization, err := s.operatorAuthorization()
	if err != nil {
		return err
	}
	return call(ctx, method, s.OperatorURL+path, http.Header{"Authorization": {authorization}}, body, out)
}

func (s *service) operatorAuthorization() (string, error) {
	token, err := os.ReadFile(filepath.Join(s.data, "operator.token"))
	return "Bearer " + strings.TrimSpace(string(token)), err
}

// organization makes one without rate limits, and returns its key.
func (s *service) organization(ctx context.Context, i int) (string, error) {
	var made struct{ APIKey string }
	order := map[string]any{
		"name": "Org " + strconv.Itoa(i), "ownerEmail": "o" + strconv.Itoa(i) + "@example.com", "plan": "unlimited",
	}
	err := s.operator(ctx, http.MethodPost, "/operator/orgs", order, &made)
	return made.APIKey, err
}

// call asks as the key.
func (s *service) call(ctx context.Context, method, path string, body, out any) error {
	return call(ctx, method, s.BaseURL+path, http.Header{"X-Svc-Api-Key": {s.key}}, body, out)
}

func call(ctx context.Context, method, url string, header http.Header, body, out any) error {
	raw, err := json.Marshal(body)
	if err != nil {
		return err
	}
	if body == nil {
		raw = nil
	}
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	request.Header = header
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode > 299 {
		return fmt.Errorf("%s %s: %d %s", method, url, response.StatusCode, got)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(got, out)
}

type item struct {
	Content    string `json:"content"`
	ExternalID string `json:"externalId,omitempty"`
	Title      string `json:"title,omitempty"`
}

// ingest sends items as one job and returns its id.
func (s *service) ingest(ctx context.Context, items []item) (string, error) {
	var accepted struct{ JobID string }
	err := s.call(ctx, http.MethodPost, "/v1/ingest/batch", map[string]any{"items": items}, &accepted)
	return accepted.JobID, err
}

// await waits for a job.
func (s *service) await(ctx context.Context, job string) error {
	for {
		var j struct{ Status string }
		if err := s.call(ctx, http.MethodGet, "/v1/ingest/"+job+"/status", nil, &j); err != nil {
			return err
		}
		switch j.Status {
		case "done":
			return nil
		case "failed", "cancelled":
			return fmt.Errorf("job %s is %s", job, j.Status)
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}

// askEvery is between two looks at whether cognition has come to rest: a look reads its
// jobs, and what that costs is counted with the cycle.
const askEvery = 3 * time.Second

// looked has cognition look at what was taken in and waits until a cycle has that began
// behind it. That no cycle is open does not say it: one begins, and ends, between two
// commits of what was sent where they are three seconds apart, and the next one waits
// for quiet. A finalization stands behind all that was sent, and ends with such a cycle.
func (s *service) looked(ctx context.Context) error {
	if err := s.call(ctx, http.MethodPost, "/v1/ingest/session-finalize", nil, nil); err != nil {
		return err
	}
	for {
		if err := pause(ctx, askEvery); err != nil {
			return err
		}
		var state struct{ FinalizePending bool }
		if err := s.call(ctx, http.MethodGet, "/v1/ingest/session-status", nil, &state); err != nil ||
			!state.FinalizePending {
			return err
		}
	}
}

// rest waits until cognition has looked at all that was taken in: what it costs is
// measured by itself, and has nothing to do with what a request costs.
func (s *service) rest(ctx context.Context) error {
	if err := s.looked(ctx); err != nil {
		return err
	}
	// A cycle compares so many chunks at most. What it leaves is looked at by another, which
	// begins at once; one look may come in between.
	for idle := 0; ; {
		open := false
		for _, status := range []string{"queued", "running"} {
			var list struct{ Data []struct{ ID string } }
			if err := s.call(ctx, http.MethodGet, "/v1/jobs?type=cognition&status="+status, nil, &list); err != nil {
				return err
			}
			open = open || len(list.Data) > 0
		}
		if idle++; open {
			idle = 0
		}
		if idle == 2 {
			return nil
		}
		if err := pause(ctx, askEvery); err != nil {
			return err
		}
	}
}

type hit struct{ ExternalID, Chunk string }

func (s *service) search(ctx context.Context, query, mode string) ([]hit, error) {
	var found struct{ Results []hit }
	err := s.call(ctx, http.MethodPost, "/v1/search", map[string]any{"query": query, "mode": mode}, &found)
	return found.Results, err
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
