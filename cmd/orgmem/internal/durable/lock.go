package durable

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// ErrBusy means that another process, or another part of this one, holds the lock.
var ErrBusy = errors.New("locked by another")

// Lock takes the lock at path, whose file is made when missing, and does not wait
// for it: ErrBusy. Closing gives it up, and so does the end of the process. A file
// that WriteFile replaces cannot be its own lock, so a lock is a file of its own.
func Lock(path string) (io.Closer, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, fileMode)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close() //nolint:errcheck // nothing was written
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, ErrBusy
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return f, nil
}
