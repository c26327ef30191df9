package storage

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// verifyTable compares every block of a table with its checksum; ErrCorrupt.
func verifyTable(ctx context.Context, fs vfs.FS, path string, o *pebble.Options) error {
	f, err := fs.Open(path)
	if err != nil {
		return fmt.Errorf("verify %s: %w", path, err)
	}
	readable, err := sstable.NewSimpleReadable(f)
	if err != nil {
		return errors.Join(fmt.Errorf("verify %s: %w", path, err), f.Close())
	}
	r, err := sstable.NewReader(ctx, readable, o.MakeReaderOptions())
	if err != nil {
		return errors.Join(wrapPebble("verify "+path, err), readable.Close())
	}
	return errors.Join(wrapPebble("verify "+path, r.ValidateBlockChecksums()), r.Close())
}

// verifyTables reads all tables of an open instance. It is for the log, which every start
// reads and which is small: the tables of stores are verified as they are read.
func (i *instance) verifyTables(ctx context.Context, fs vfs.FS, dir string, o *pebble.Options) error {
	levels, err := i.SSTables()
	if err != nil {
		return wrapPebble("list tables", err)
	}
	o.EnsureDefaults()
	for _, level := range levels {
		for _, table := range level {
			path := fs.PathJoin(dir, fmt.Sprintf("%06d.sst", uint64(table.BackingSSTNum)))
			err := verifyTable(ctx, fs, path, o)
			if err != nil && !errors.Is(err, os.ErrNotExist) { // else a compaction has replaced it meanwhile
				return err
			}
		}
	}
	return nil
}
