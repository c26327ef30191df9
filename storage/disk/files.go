package disk

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// dirMode is of every directory: what is in them is customers' text.
const dirMode = 0o700

// MakeDir creates a directory and its parents and makes each new entry durable:
// without a sync of the parent a directory that was written to and synced can
// still be missing after a power failure.
func MakeDir(fs vfs.FS, dir string) error {
	if _, err := fs.Stat(dir); err == nil {
		return nil
	} else if !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("make directory: %w", err)
	}
	parent := fs.PathDir(dir)
	if parent != dir && parent != "" {
		if err := MakeDir(fs, parent); err != nil {
			return err
		}
	}
	if err := fs.MkdirAll(dir, dirMode); err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	return SyncDir(fs, parent)
}

// SyncDir makes the entries of a directory durable.
func SyncDir(fs vfs.FS, dir string) error {
	if dir == "" {
		dir = "."
	}
	d, err := fs.OpenDir(dir)
	if err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	return errors.Join(d.Sync(), d.Close())
}

// WriteFile writes a small file so that after a crash it is either absent, or
// the old one, or the new one.
func WriteFile(fs vfs.FS, dir, name string, data []byte) error {
	tmp, final := fs.PathJoin(dir, name+".tmp"), fs.PathJoin(dir, name)
	f, err := fs.Create(tmp, vfs.WriteCategoryUnspecified)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := fs.Rename(tmp, final); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return SyncDir(fs, dir)
}

// smallFileMax bounds ReadFile: VERSION and PID have some tens of bytes.
const smallFileMax = 4096

// ReadFile reads a small file: the first 4 KiB of it.
func ReadFile(fs vfs.FS, path string) ([]byte, error) {
	f, err := fs.Open(path)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, smallFileMax))
	return data, errors.Join(err, f.Close())
}

// WriteUnsynced writes a small file that a power failure may take.
func WriteUnsynced(fs vfs.FS, path, text string) error {
	f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return fmt.Errorf("write %s: %w", fs.PathBase(path), err)
	}
	_, err = f.Write([]byte(text))
	return errors.Join(err, f.Close())
}
