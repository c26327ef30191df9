package disk

import (
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
)

// exitCode is EX_SOFTWARE of sysexits: a supervisor restarts on it, and an
// operator can tell it from a crash.
const exitCode = 70

// A Stopper ends the process when going on would tell somebody a lie: after a
// failed fsync, or when Pebble says its state is beyond repair.
//
// Stop NEVER returns. Pebble's commit calls Logger.Fatalf after a failed WAL
// write and then returns nil, so a Fatalf that returns acknowledges a write that
// is not on disk (measured: 300 of 300 acknowledged, 206 of them unsynced). It
// is os.Exit and not panic, because supervision and HTTP servers recover panics.
// A test's double may return or block; then the goroutine is parked for ever,
// which for everybody who waits for an answer is the same as a dead process.
type Stopper struct {
	exit   func(msg string)
	logger *slog.Logger
	failed atomic.Bool
	once   sync.Once
	first  string
}

// NewStopper returns one that ends the process with exit; nil logs and exits with code 70.
func NewStopper(exit func(string), logger *slog.Logger) *Stopper {
	if exit == nil {
		exit = func(string) { os.Exit(exitCode) }
	}
	return &Stopper{exit: exit, logger: logger}
}

// Stop logs the cause and ends the process. It does not return.
func (s *Stopper) Stop(format string, args ...any) {
	s.failed.Store(true)
	msg := fmt.Sprintf(format, args...)
	s.once.Do(func() {
		s.first = msg
		s.logger.Error("storage: stopping the process", "cause", msg)
		// slog's handlers write through; standard error is flushed in case it
		// is a file. An error here has nowhere to go: the process ends.
		_ = os.Stderr.Sync()
		s.exit(msg)
	})
	select {}
}

// Guard parks the caller when the process is already stopping. It stands before
// every return that acknowledges something durable.
func (s *Stopper) Guard() {
	if s.failed.Load() {
		select {}
	}
}

// Stopping reports whether Stop was called.
func (s *Stopper) Stopping() bool { return s.failed.Load() }
