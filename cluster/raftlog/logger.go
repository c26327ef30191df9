package raftlog

import (
	"fmt"
	"io"
	"log/slog"
	"slices"

	"github.com/hashicorp/go-hclog"
)

// NewLogger turns raft's log into ours. Only what an operator can act upon
// comes through at its own level: raft's warnings tell of every election, which
// are many and normal, so they become debug lines.
func NewLogger(to *slog.Logger, group uint32) hclog.Logger {
	l := hclog.NewInterceptLogger(&hclog.LoggerOptions{
		Name:   "raft",
		Output: io.Discard,
		Level:  hclog.Off,
	})
	l.RegisterSink(&sink{to: to.With("group", group)})
	return l
}

// expected are errors of raft's that every death, start and move of a node brings, for
// each group, until it is over. Which node is missing is said by the members, and which
// group is behind by the status.
var expected = []string{
	"failed to appendEntries to", "failed to heartbeat to", "failed to pipeline appendEntries",
	"failed to make requestVote RPC", "failed to get log", "peer has newer term, stopping replication",
	"failed to send snapshot to", "failed to install snapshot",
}

type sink struct{ to *slog.Logger }

// Accept is hclog.SinkAdapter's.
func (s *sink) Accept(_ string, level hclog.Level, msg string, args ...any) {
	say := s.to.Debug
	switch level {
	case hclog.Error:
		if !slices.Contains(expected, msg) {
			say = s.to.Error
		}
	case hclog.Warn:
	default: // info and below narrate every step
		return
	}
	for i, a := range args { // hclog's Fmt and Hex are lazily printed values
		if f, ok := a.(hclog.Format); ok && len(f) > 0 {
			args[i] = fmt.Sprintf(fmt.Sprint(f[0]), f[1:]...)
		}
	}
	say("raft: "+msg, args...)
}

// NewTransportLogger makes debug lines of all that raft's transports say: each
// death of a peer would be an error for each of its connections.
func NewTransportLogger(to *slog.Logger, group uint32) hclog.Logger {
	l := NewLogger(slog.New(slog.DiscardHandler), group)
	sinks, ok := l.(hclog.InterceptLogger)
	if ok {
		sinks.RegisterSink(quietSink{&sink{to: to.With("group", group)}})
	}
	return l
}

type quietSink struct{ to *sink }

// Accept is hclog.SinkAdapter's.
func (s quietSink) Accept(name string, level hclog.Level, msg string, args ...any) {
	s.to.Accept(name, min(level, hclog.Warn), msg, args...)
}
