package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"orgmem/proto/clock"
	"orgmem/storage"
)

// Copy is one store, held still by the service until it is released.
type Copy struct {
	ID    string // the service's name of the copy
	Store Store
}

var (
	// ErrNoStore says that the service has no store of a name: an organization that
	// never used its sandbox, or was removed meanwhile.
	ErrNoStore = errors.New("no such store")
	// ErrCopyGone says that the service does not have a copy any more: it was
	// restarted, or the organization moved to another node.
	ErrCopyGone = errors.New("copy is gone")
	// ErrTooLarge says that a snapshot would be larger than one that can be read.
	ErrTooLarge = errors.New("the snapshot is too large")
)

// Source is a running service.
type Source interface {
	// Stores lists the stores that the organizations may have, by name.
	Stores(ctx context.Context) ([]string, error)
	// Open makes a copy of a store; ErrNoStore.
	Open(ctx context.Context, store string) (Copy, error)
	// Read returns a piece of a file from an offset on: at least a byte unless the
	// file ends there. ErrCopyGone.
	Read(ctx context.Context, c Copy, file string, offset int64) ([]byte, error)
	// Release lets the service forget a copy.
	Release(ctx context.Context, c Copy) error
}

// copyAttempts is how often one store is begun again: an organization moves once,
// perhaps twice, while it is copied.
const copyAttempts = 5

// Progress is called after each store that was copied.
type Progress func(done, total int, bytes int64)

// Made says what a backup has written.
type Made struct {
	Snapshot string `json:"snapshot"`
	Stores   int    `json:"stores"`
	Files    int    `json:"files"`
	Bytes    int64  `json:"bytes"`    // of all files that it stands for
	NewFiles int    `json:"newFiles"` // that were not in the vault before
	NewBytes int64  `json:"newBytes"`
}

// Options are what Make needs beside a repository and a source.
type Options struct {
	Clock    clock.Clock
	Random   io.Reader // for the snapshot's name
	Program  string    // the service's version
	Progress Progress  // may be nil
}

// Make makes a backup of everything. Whatever it has stored when it fails, the
// next one finds.
func Make(ctx context.Context, r *Repository, from Source, o Options) (Made, error) {
	var made Made
	snapshot := Snapshot{Program: o.Program, Begun: o.Clock.Now().UTC()}
	names, err := from.Stores(ctx)
	if err != nil {
		return made, fmt.Errorf("backup: list organizations: %w", err)
	}
	names = append(names, directoryStore) // last: see the package comment
	for i, name := range names {
		store, err := copyStore(ctx, r, from, name, &made)
		if errors.Is(err, ErrNoStore) && name != directoryStore {
			continue
		}
		if err != nil {
			return made, fmt.Errorf("backup: store %s: %w", name, err)
		}
		snapshot.Stores = append(snapshot.Stores, store)
		made.Stores++
		if o.Progress != nil {
			o.Progress(i+1, len(names), made.NewBytes)
		}
	}
	snapshot.Ended = o.Clock.Now().UTC()
	var id [4]byte
	if _, err := io.ReadFull(o.Random, id[:]); err != nil {
		return made, fmt.Errorf("backup: %w", err)
	}
	name := snapshot.Begun.Format(snapshotTime) + "-" + hex.EncodeToString(id[:])
	text, err := json.Marshal(snapshot)
	if err != nil {
		return made, fmt.Errorf("backup: %w", err)
	}
	if len(text) > maxSnapshotBytes {
		return made, fmt.Errorf("backup: %w: its list of %d stores and %d parts takes %d bytes, and %d can be read",
			ErrTooLarge, made.Stores, made.Files, len(text), maxSnapshotBytes)
	}
	if err := r.put(ctx, snapshotPrefix+name, bytes.NewReader(text), asItIs); err != nil {
		return made, fmt.Errorf("backup: %w", err)
	}
	made.Snapshot = name
	return made, nil
}

// directoryStore is the store that holds the directory.
var directoryStore = storage.MetaStore.String()

// copyStore brings one store into the vault, beginning again where its copy was
// lost.
func copyStore(ctx context.Context, r *Repository, from Source, name string, made *Made) (Store, error) {
	for attempt := 1; ; attempt++ {
		c, err := from.Open(ctx, name)
		if err != nil {
			return Store{}, err
		}
		before := *made
		err = copyFiles(ctx, r, from, c, made)
		// The source forgets copies by itself after a while, so this is a courtesy.
		releaseErr := from.Release(context.WithoutCancel(ctx), c)
		switch {
		case err == nil && (releaseErr == nil || errors.Is(releaseErr, ErrCopyGone)):
			return c.Store, nil
		case err == nil:
			return Store{}, releaseErr
		case !errors.Is(err, ErrCopyGone) || attempt == copyAttempts:
			return Store{}, err
		}
		before.NewFiles, before.NewBytes = made.NewFiles, made.NewBytes
		*made = before
	}
}

func copyFiles(ctx context.Context, r *Repository, from Source, c Copy, made *Made) error {
	for _, f := range c.Store.Files {
		there := f.Size == 0
		if !there {
			var err error
			if there, err = r.vault.Has(ctx, blobName(f.Sum)+packedSuffix); err != nil {
				return err
			}
		}
		if !there {
			content := &proven{
				ReadCloser: io.NopCloser(&pieces{ctx: ctx, from: from, copy: c, file: f}),
				hash:       sha256.New(), file: f,
			}
			if err := r.put(ctx, blobName(f.Sum)+packedSuffix, content, packed); err != nil {
				return err
			}
			made.NewFiles++
			made.NewBytes += f.Size
		}
		made.Files++
		made.Bytes += f.Size
	}
	return nil
}

// pieces reads a file of a copy.
type pieces struct {
	ctx  context.Context //nolint:containedctx // an io.Reader has no other way to it
	from Source
	copy Copy
	file File
	at   int64
	rest []byte
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.rest) == 0 {
		if p.at >= p.file.Size {
			return 0, io.EOF
		}
		piece, err := p.from.Read(p.ctx, p.copy, p.file.Name, p.at)
		if err != nil {
			return 0, err
		}
		if len(piece) == 0 {
			return 0, io.ErrUnexpectedEOF
		}
		p.rest, p.at = piece, p.at+int64(len(piece))
	}
	n := copy(b, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}
