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
// (ErrNotFound) or wrong (ErrDamaged), by its name and that of its blob. Parts that are
// as they were stored, and of which no store can be made all the same, are wrong too.
// progress may be nil.
func Verify(ctx context.Context, r *Repository, name string, progress Progress) (Verified, error) {
	name, snapshot, err := r.Snapshot(ctx, name)
	v := Verified{Snapshot: name}
	if err != nil {
		return v, fmt.Errorf("verify: %w", err)
	}
	seen := map[Sum]bool{}
	for i, store := range snapshot.Stores {
		if _, err := storage.ParseStoreID(store.Name); err != nil {
			return v, fmt.Errorf("verify: store %s: %w: %w", store.Name, ErrDamaged, err)
		}
		var parts storage.Parts
		inParts := storage.InParts(store.copied())
		for _, f := range store.Files {
			var err error
			switch {
			case inParts:
				err = readPart(ctx, r, f, &parts)
			case !seen[f.Sum]:
				err = readAll(ctx, r, f)
				seen[f.Sum] = true
			}
			if err != nil {
				return v, fmt.Errorf("verify: store %s: %w", store.Name, err)
			}
			v.Files++
			v.Bytes += f.Size
		}
		v.Stores++
		if progress != nil {
			progress(i+1, len(snapshot.Stores), v.Bytes)
		}
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

// readPart looks at the next part of a store as a restore would.
func readPart(ctx context.Context, r *Repository, f File, parts *storage.Parts) error {
	part, err := r.whole(ctx, f)
	if err != nil {
		return err
	}
	if err := parts.Next(part, nil); err != nil {
		return fmt.Errorf("%s: %s: %w: %w", f.Name, blobName(f.Sum), ErrDamaged, err)
	}
	return nil
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
	files := store.copied()
	if len(files) == 0 || storage.InParts(files) {
		return rebuild(ctx, r, store, node, id)
	}
	return restage(ctx, r, files, node, id)
}

// rebuild makes a store of its parts. Interrupted, it begins again.
func rebuild(ctx context.Context, r *Repository, store Store, node *storage.Node, id storage.StoreID) (err error) {
	var bytes int64
	for _, f := range store.Files {
		bytes += f.Size
	}
	to, err := node.Rebuild(id, bytes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	for _, f := range store.Files {
		part, err := r.whole(ctx, f)
		if err == nil {
			err = to.Add(part)
		}
		if err != nil {
			return err
		}
	}
	return to.Adopt(store.Version)
}

// maxPartBytes bounds a part in memory: one record, which a batch of the service has
// brought, and a part's usual size.
const maxPartBytes = 128 << 20

// whole reads a part.
func (r *Repository) whole(ctx context.Context, f File) ([]byte, error) {
	if f.Size > maxPartBytes {
		return nil, fmt.Errorf("%s has %d bytes, limit %d", f.Name, f.Size, maxPartBytes)
	}
	file, err := r.blob(ctx, f)
	if err != nil {
		return nil, err
	}
	part, err := io.ReadAll(file)
	return part, errors.Join(err, file.Close())
}

// restage brings back the files of a store as they were, which is what programs before
// this one have kept.
func restage(ctx context.Context, r *Repository, files []storage.CopyFile, node *storage.Node,
	id storage.StoreID,
) error {
	stage, err := node.Stage(id)
	if err != nil {
		return err
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
