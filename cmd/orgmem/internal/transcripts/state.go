package transcripts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"orgmem/cmd/orgmem/internal/config"
	"orgmem/cmd/orgmem/internal/durable"
)

// ErrStateBusy means that another push into the same memory is running.
var ErrStateBusy = errors.New("another push into the same memory is running")

// mark is how far a transcript was pushed.
type mark struct {
	Offset int64  `json:"offset"`
	Head   string `json:"head"` // digest of the beginning of what was read
	Scene  scene  `json:"scene,omitzero"`
}

// State is what was pushed into one memory. One goroutine at a time. It is a cache:
// without it everything is sent again, and the service finds that it has it.
type State struct {
	path  string
	lock  io.Closer
	marks map[string]mark // by path
}

// maxStateBytes bounds the state file: about 300 bytes for each of maxFiles.
const maxStateBytes = 64 << 20

// OpenState locks and reads the state of a memory in dir, which is made when missing.
// memory names it: no two memories have one name. One that cannot be read is begun
// anew.
func OpenState(dir, memory string) (*State, error) {
	if err := os.MkdirAll(dir, config.DirMode0700); err != nil {
		return nil, fmt.Errorf("session state: %w", err)
	}
	s := &State{path: filepath.Join(dir, sumOf([]byte(memory))+".json"), marks: map[string]mark{}}
	lock, err := durable.Lock(s.path + ".lock")
	if errors.Is(err, durable.ErrBusy) {
		return nil, ErrStateBusy
	}
	if err != nil {
		return nil, fmt.Errorf("session state: %w", err)
	}
	s.lock = lock
	_ = durable.SweepDrafts(dir, filepath.Base(s.path)) // one that stays does no harm
	if info, err := os.Stat(s.path); err == nil && info.Size() <= maxStateBytes {
		raw, err := os.ReadFile(s.path)
		if err != nil || json.Unmarshal(raw, &s.marks) != nil || s.marks == nil {
			s.marks = map[string]mark{}
		}
	}
	return s, nil
}

// Forget lets everything be read again.
func (s *State) Forget() { clear(s.marks) }

func (s *State) mark(path string) mark {
	if s == nil {
		return mark{}
	}
	return s.marks[path]
}

// set notes how far a file was pushed; the service has said so.
func (s *State) set(path string, m mark) {
	if s != nil {
		s.marks[path] = m
	}
}

// Close saves the state and lets go of the lock. It may be called twice.
func (s *State) Close() error {
	if s == nil || s.lock == nil {
		return nil
	}
	raw, err := json.Marshal(s.marks)
	if err == nil {
		err = durable.WriteFile(s.path, bytes.NewReader(raw))
	}
	err = errors.Join(err, s.lock.Close()) // closing gives up the lock
	s.lock = nil
	return err
}
