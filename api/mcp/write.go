package mcp

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"

	pb "orgmem/proto"
	"orgmem/proto/clock"
)

type addInput struct {
	Content    string `json:"content"`
	Title      string `json:"title,omitempty"`
	ExternalID string `json:"externalId,omitempty"`
	Kind       string `json:"kind,omitempty"`
	OccurredAt string `json:"occurredAt,omitempty"`
}

type added struct {
	// Status is that of the item, or pending while the job is at it.
	Status string `json:"status"`
	NodeID string `json:"nodeId,omitempty"`
	JobID  string `json:"jobId,omitempty"`
	// Next is there where there is something to do.
	Next string `json:"next,omitempty"`
}

// addMemory takes a text in and waits for it, for so long. A key that may write but not
// read cannot ask how far the job is: then it is accepted, and that is all one can say. Nor
// is a large message waited for over HTTP: it is held in memory until it is answered, and a
// dozen of them would keep all other bodies from their node.
func addMemory(ctx context.Context, s *session, in addInput) (any, error) {
	key, err := s.idempotencyKey()
	if err != nil {
		return nil, err
	}
	var accepted struct {
		JobID string `json:"jobId"`
	}
	if err := post(ctx, s, "/v1/ingest", in, key, &accepted); err != nil {
		return nil, err
	}
	if s.brief {
		return pendingAt(accepted.JobID), nil
	}
	progress(ctx, 1, 2, "It is stored safely, and will be found soon.")
	until := s.Clock.Now().Add(addWait)
	for pause := firstPoll; pause > 0; pause = min(2*pause, until.Sub(s.Clock.Now())) {
		if clock.Wait(ctx, s.Clock, pause) != nil {
			break // the client has left; the text is on disk all the same
		}
		done, err := s.outcome(ctx, accepted.JobID)
		if done != nil || err != nil {
			return done, err
		}
	}
	return pendingAt(accepted.JobID), nil //nolint:nilerr // the text is on disk, whether the client has left or not
}

func pendingAt(job string) *added {
	return &added{
		Status: pb.JobPending, JobID: job,
		Next: "It is stored safely and will be found soon; there is no need to add it again.",
	}
}

// outcome asks for a job once; nil while it is not over.
func (s *session) outcome(ctx context.Context, job string) (*added, error) {
	var status struct {
		Status string
		Error  *struct{ Code, Detail string }
		Result *struct {
			Items []struct{ NodeID, Status, Error string }
		}
	}
	if err := get(ctx, s, "/v1/ingest/"+url.PathEscape(job)+"/status", &status); err != nil {
		// It was accepted: whatever is wrong with asking, adding it again would be wrong.
		return pendingAt(job), nil //nolint:nilerr // as above
	}
	switch {
	case status.Error != nil:
		return nil, notStored(status.Error.Code + ": " + status.Error.Detail)
	case status.Status == pb.JobCancelled:
		return nil, notStored("its job was cancelled")
	case status.Result == nil || len(status.Result.Items) == 0:
		return nil, nil
	}
	item := status.Result.Items[0]
	if item.Error != "" {
		return nil, notStored(item.Error)
	}
	return &added{Status: item.Status, NodeID: item.NodeID, JobID: job}, nil
}

func notStored(why string) *refusal {
	return &refusal{
		Code: codeFailed, Detail: "The text was not stored: " + why + ".", Next: "Tell the user; do not repeat the call.",
	}
}

// keyBytes of randomness make a key of idempotency: the same in all tries of one call, and
// new with the next, since what was forgotten may be added again.
const keyBytes = 16

func (s *session) idempotencyKey() (string, error) {
	var key [keyBytes]byte
	if _, err := io.ReadFull(s.Random, key[:]); err != nil {
		return "", fmt.Errorf("make an idempotency key: %w", err)
	}
	return "mcp-" + hex.EncodeToString(key[:]), nil
}

type nodeInput struct {
	NodeID string `json:"nodeId"`
	Offset int    `json:"offset"`
}

// path of the node; an id is one segment, whatever it holds.
func (n nodeInput) path() string { return "/v1/graph/nodes/" + url.PathEscape(n.NodeID) }

type forgetInput struct {
	NodeID string `json:"nodeId"`
}

type forgotten struct {
	NodeID string `json:"nodeId"`
	Status string `json:"status"`
}

func forgetMemory(ctx context.Context, s *session, in forgetInput) (any, error) {
	if in.NodeID == "" {
		return nil, badArguments(errNoID)
	}
	key, err := s.idempotencyKey()
	if err != nil {
		return nil, err
	}
	var node struct{ ID, Status string }
	call := Call{Method: http.MethodDelete, Path: nodeInput{NodeID: in.NodeID}.path(), IdempotencyKey: key}
	if err := ask(ctx, s, call, &node); err != nil {
		return nil, err
	}
	return forgotten{node.ID, node.Status}, nil
}
