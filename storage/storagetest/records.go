package storagetest

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// EachRecord reads every key and value of a table's file, also those that a later table
// hides, and returns how many there are. What it passes on is valid until f returns.
func EachRecord(ctx context.Context, path string, f func(key, value []byte)) (n int, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}()
	file, err := vfs.Default.Open(path)
	if err != nil {
		return 0, err
	}
	readable, err := sstable.NewSimpleReadable(file)
	if err != nil {
		return 0, errors.Join(err, file.Close())
	}
	r, err := sstable.NewReader(ctx, readable, sstable.ReaderOptions{})
	if err != nil {
		return 0, errors.Join(err, readable.Close())
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	it, err := r.NewIter(block.NoTransforms, nil, nil, sstable.AssertNoBlobHandles)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	for kv := it.First(); kv != nil; kv = it.Next() {
		value, _, err := kv.V.Value(nil)
		if err != nil {
			return n, err
		}
		f(kv.K.UserKey, value)
		n++
	}
	return n, it.Error()
}
