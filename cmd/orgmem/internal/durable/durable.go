// Package durable writes files that are there, whole, after a power failure, and
// locks what two must not write at once. It hides the system calls that this takes,
// and their order.
package durable

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// DraftSuffix ends the names of files that are being written; a crash leaves them, until
// SweepDrafts.
const DraftSuffix = ".draft"

// fileMode lets only the owner read: what is written holds keys and data.
const fileMode = 0o600

// WriteFile gives a file new content in one step, which only the owner may read. Nobody
// ever reads a half, and on return it survives a power failure. After an error the file
// is as it was, or, when only the directory failed to sync, new and not known to be
// durable.
func WriteFile(path string, content io.Reader) error {
	return WriteFileMode(path, content, fileMode)
}

// WriteFileMode is WriteFile of a file that others may read, or write, as mode says.
func WriteFileMode(path string, content io.Reader, mode fs.FileMode) error {
	// The draft is a file that was not there before: under a name that is known
	// beforehand somebody may have put a link to another file, or may keep one of theirs.
	draft, err := newDraft(path)
	if err != nil {
		return err
	}
	if err = writeSynced(draft, content, mode); err == nil {
		err = os.Rename(draft.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(draft.Name()))
	}
	return SyncDir(filepath.Dir(path))
}

// draftTries bounds how often a draft is made anew because a sweep took it for a dead one in
// the moment before it was locked.
const draftTries = 10

// newDraft makes a draft, locked: so a sweep knows that somebody writes it.
func newDraft(path string) (*os.File, error) {
	for range draftTries {
		draft, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+DraftSuffix)
		if err != nil {
			return nil, err
		}
		if alive(draft) {
			return draft, nil
		}
		if err := draft.Close(); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("somebody deletes the drafts of " + path)
}

// alive locks a draft, and reports whether it could and the file is still there.
func alive(draft *os.File) bool {
	if syscall.Flock(int(draft.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return false
	}
	held, err := draft.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(draft.Name())
	return err == nil && os.SameFile(held, there)
}

// SweepDrafts deletes the drafts in a directory that a crash has left, of the file with this
// name or, where it is empty, of all. One that somebody is writing stays, as does what is no
// draft of WriteFile. A directory that is not there has none.
func SweepDrafts(dir, name string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var failed error
	for _, e := range entries {
		of, number, ours := cutDraft(e.Name())
		if !ours || number == "" || name != "" && of != name || !e.Type().IsRegular() {
			continue
		}
		failed = errors.Join(failed, sweep(filepath.Join(dir, e.Name())))
	}
	return failed
}

// cutDraft takes the name of a draft apart: of which file it is, and the number that chance
// gave it.
func cutDraft(draft string) (of, number string, ours bool) {
	rest, ours := strings.CutSuffix(draft, DraftSuffix)
	dot := strings.LastIndexByte(rest, '.')
	if !ours || dot <= 0 || strings.Trim(rest[dot+1:], "0123456789") != "" {
		return "", "", false
	}
	return rest[:dot], rest[dot+1:], true
}

// sweep deletes a draft that nobody writes.
func sweep(path string) error {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it was finished in the meantime
	}
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	if !alive(f) {
		return nil
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func writeSynced(f *os.File, content io.Reader, mode fs.FileMode) error {
	_, err := io.Copy(f, content)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// SyncDir makes a directory's entries durable.
func SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
