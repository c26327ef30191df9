package raftlog

import (
	"sync"

	"github.com/hashicorp/raft"
)

// pipelineSlack is how many answers may wait for raft to look at them. Two requests
// are under way at a time, and raft looks at once while it looks at all; when it has
// stopped, a handful may still be sent before its sender notices.
const pipelineSlack = 256

// Pipeline stands between raft and its transport's pipeline: its answers are always
// taken.
//
// raft's own can stop for ever (1.8.0, replication.go): pipelineDecode leaves when an
// answer has a newer term, and nobody takes the next answer; then the pipeline's
// decoder does not take the next request, and pipelineSend, which may be in the
// middle of one, waits for that. The replication to this follower never ends, its
// heartbeats go on in the old term, and Shutdown waits for both. A node that had
// just lost a group hung so at its stop.
type Pipeline struct {
	raft.AppendPipeline
	answers chan raft.AppendFuture
	closed  chan struct{}
	once    sync.Once
}

// NewPipeline wraps the pipeline of a transport; Close ends both.
func NewPipeline(inner raft.AppendPipeline) *Pipeline {
	p := &Pipeline{
		AppendPipeline: inner, answers: make(chan raft.AppendFuture, pipelineSlack), closed: make(chan struct{}),
	}
	go p.take() // ends with Close, which raft calls on every way out
	return p
}

// take hands answers on until the pipeline is closed.
func (p *Pipeline) take() {
	for {
		select {
		case f := <-p.AppendPipeline.Consumer():
			select {
			case p.answers <- f:
			case <-p.closed:
				return
			}
		case <-p.closed:
			return
		}
	}
}

// AppendEntries sends a request whose answer comes from Consumer.
func (p *Pipeline) AppendEntries(
	args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse,
) (raft.AppendFuture, error) {
	if err := CheckSeam(args); err != nil {
		return nil, err
	}
	return p.AppendPipeline.AppendEntries(args, resp)
}

// Consumer is where raft takes answers from.
func (p *Pipeline) Consumer() <-chan raft.AppendFuture { return p.answers }

// Close ends the pipeline. It may be called twice.
func (p *Pipeline) Close() error {
	p.once.Do(func() { close(p.closed) })
	return p.AppendPipeline.Close()
}
