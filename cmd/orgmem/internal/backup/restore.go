package backup

import (
	"context"
	"errors"
	"fmt"
	"io"

	"orgmem/storage"
)

// Verified says what Verify has read.
type Verified struct {
	Snapshot string `json:"snapshot"`
	Stores   int    `json:"stores"`
	Files    int    `json:"files"`
	Bytes    int64  `json:"bytes"`
}

// Verify reads every file of a snapshot (the newest where name is empty),
// decrypts it and compares it with its sum. It reports the first that is missing
// (ErrNotFound) or wrong (ErrDamaged).
func Verify(ctx context.Context, r *Repository, name string) (Verified, error) {
	name, snapshot, err := r.Snapshot(ctx, name)
	v := Verified{Snapshot: name}
	if err != nil {
		return v, fmt.Errorf("verify: %w", err)
	}
	seen := map[Sum]bool{}
	for _, store := range snapshot.Stores {
		for _, f := range store.Files {
			if !seen[f.Sum] {
				if err := readAll(ctx, r, f); err != nil {
					return v, fmt.Errorf("verify: store %s: %w", store.Name, err)
				}
				seen[f.Sum] = true
			}
			v.Files++
			v.Bytes += f.Size
		}
		v.Stores++
	}
	return v, nil
}

func readAll(ctx context.Context, r *Repository, f File) error {
	file, err := r.blob(ctx, f)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, file)
	return errors.Join(err, file.Close())
}

// Restored says what Restore has brought back.
type Restored struct {
	Snapshot string `json:"snapshot"`
	Stores   int    `json:"stores"`
	Bytes    int64  `json:"bytes"`
}

// Restore brings a snapshot (the newest where name is empty) into a node's stores,
// which must be empty but for an earlier attempt at the same snapshot. The node
// then begins a cluster of its own, of any number of shards: the stores forget the
// logs that they were written from.
func Restore(ctx context.Context, r *Repository, name string, node *storage.Node, progress Progress) (Restored, error) {
	name, snapshot, err := r.Snapshot(ctx, name)
	done := Restored{Snapshot: name}
	if err != nil {
		return done, fmt.Errorf("restore: %w", err)
	}
	for i, store := range snapshot.Stores {
		if err := restoreStore(ctx, r, store, node); err != nil {
			return done, fmt.Errorf("restore: store %s: %w", store.Name, err)
		}
		done.Stores++
		for _, f := range store.Files {
			done.Bytes += f.Size
		}
		if progress != nil {
			progress(i+1, len(snapshot.Stores), done.Bytes)
		}
	}
	return done, nil
}

func restoreStore(ctx context.Context, r *Repository, store Store, node *storage.Node) error {
	id, err := storage.ParseStoreID(store.Name)
	if err != nil {
		return err
	}
	there, err := node.Exists(id)
	if err != nil || there { // of the earlier attempt
		return err
	}
	stage, err := node.Stage(id)
	if err != nil {
		return err
	}
	files := make([]storage.CopyFile, len(store.Files))
	for i, f := range store.Files {
		files[i] = storage.CopyFile{Name: f.Name, Size: f.Size, Sum: f.Sum}
	}
	missing, err := stage.Want(files)
	if err != nil {
		return err
	}
	for _, m := range missing {
		if err := receive(ctx, r, stage, m); err != nil {
			return err
		}
	}
	if err := stage.BeginAnew(); err != nil {
		return err
	}
	return stage.Adopt(0)
}

func receive(ctx context.Context, r *Repository, stage *storage.Stage, m storage.Missing) error {
	file, err := r.blob(ctx, File{Name: m.Name, Size: m.Size, Sum: m.Sum})
	if err != nil {
		return err
	}
	// Only the beginning of a file can be there already; blobs are small enough to
	// read that much again.
	_, err = io.CopyN(io.Discard, file, m.Offset)
	if err == nil {
		err = stage.Receive(m, file)
	}
	return errors.Join(err, file.Close())
}
