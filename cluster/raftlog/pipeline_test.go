package raftlog

import (
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

// tightPipeline is raft's pipeline at the setting that is advised: a request is
// taken when the one before it has been answered, and its answer taken.
type tightPipeline struct {
	requests chan *raft.AppendEntriesRequest
	answers  chan raft.AppendFuture
	closed   chan struct{}
}

func (p *tightPipeline) AppendEntries(
	req *raft.AppendEntriesRequest, _ *raft.AppendEntriesResponse,
) (raft.AppendFuture, error) {
	select {
	case p.requests <- req:
		return nil, nil
	case <-p.closed:
		return nil, raft.ErrPipelineShutdown
	}
}

func (p *tightPipeline) decode() {
	for {
		select {
		case <-p.requests:
		case <-p.closed:
			return
		}
		select {
		case p.answers <- nil:
		case <-p.closed:
			return
		}
	}
}

func (p *tightPipeline) Consumer() <-chan raft.AppendFuture { return p.answers }
func (p *tightPipeline) Close() error                       { close(p.closed); return nil }

// TestPipelineWithoutReader: raft stops taking answers before it stops sending. A
// request that it is in the middle of must end all the same.
func TestPipelineWithoutReader(t *testing.T) {
	inner := &tightPipeline{make(chan *raft.AppendEntriesRequest), make(chan raft.AppendFuture), make(chan struct{})}
	go inner.decode()
	p := NewPipeline(inner)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		for range 10 {
			if _, err := p.AppendEntries(&raft.AppendEntriesRequest{}, &raft.AppendEntriesResponse{}); err != nil {
				t.Error(err)
			}
		}
	}()
	select {
	case <-sent:
	case <-time.After(time.Minute):
		t.Fatal("a request was never taken")
	}
	for range 10 {
		<-p.Consumer() // none is lost
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}
