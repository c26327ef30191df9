package cluster

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/hashicorp/go-hclog"
)

// newRaftLogger turns raft's log into ours. Only what an operator can act upon
// comes through at its own level: raft's warnings tell of every election, which
// are many and normal, so they become debug lines.
func newRaftLogger(to *slog.Logger, group uint32) hclog.Logger {
	l := hclog.NewInterceptLogger(&hclog.LoggerOptions{
		Name:   "raft",
		Output: io.Discard,
		Level:  hclog.Off,
	})
	l.RegisterSink(&raftSink{to: to.With("group", group)})
	return l
}

type raftSink struct{ to *slog.Logger }

// Accept is hclog.SinkAdapter's.
func (s *raftSink) Accept(_ string, level hclog.Level, msg string, args ...any) {
	say := s.to.Debug
	switch level {
	case hclog.Error:
		say = s.to.Error
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
