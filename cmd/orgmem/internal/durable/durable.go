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
)

// DraftSuffix ends the names of files that are being written; a crash leaves them.
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
	draft, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"+DraftSuffix)
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
