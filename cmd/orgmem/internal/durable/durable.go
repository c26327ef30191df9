// Package durable writes files that are there, whole, after a power failure, and
// locks what two must not write at once. It hides the system calls that this takes,
// and their order.
package durable

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// DraftSuffix ends the names of files that are being written; a crash leaves them.
const DraftSuffix = ".draft"

// fileMode lets only the owner read: what is written holds keys and data.
const fileMode = 0o600

// WriteFile gives a file new content in one step. Nobody ever reads a half, and on
// return it survives a power failure. After an error the file is as it was, or, when
// only the directory failed to sync, new and not known to be durable.
func WriteFile(path string, content io.Reader) error {
	draft := path + DraftSuffix
	err := writeSynced(draft, content)
	if err == nil {
		err = os.Rename(draft, path)
	}
	if err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

func writeSynced(path string, content io.Reader) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileMode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
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
