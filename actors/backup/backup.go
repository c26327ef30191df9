package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"orgmem/actors/tenant"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const (
	// maxCopies bounds the copies that backups hold at once. A copy keeps the files
	// of its moment on the disk, also those that a compaction has replaced, and a part
	// of the store in memory.
	maxCopies = 4
	// copyLife is how long a copy is kept that nobody reads: longer than a backup
	// needs to store what it has read.
	copyLife = 5 * time.Minute
	// CopyPiece is how much of a copied file one call returns.
	CopyPiece = 1 << 20
)

// StoreName names a store as backups do: "meta", or an organization's id with
// "-main" or "-sandbox".
type StoreName string

// CopyID names a copy on the node that holds it.
type CopyID uuid.UUID

func (id CopyID) String() string { return uuid.UUID(id).String() }

// ParseCopyID reads what String wrote.
func ParseCopyID(text string) (CopyID, error) {
	id, err := uuid.Parse(text)
	return CopyID(id), err
}

// CopiedFile is one file of a copy: a part of the store's records.
type CopiedFile = storage.CopyFile

// StoreCopy is a store held still.
type StoreCopy struct {
	ID      CopyID
	Version uint64 // how many batches the store holds
	Files   []CopiedFile
}

// Copier hands out the stores that there are, for backups.
type Copier interface {
	// Open makes a copy of a store; tenant.ErrOrgNotFound when there is none, tenant.ErrConflict
	// when too many copies are open.
	Open(ctx context.Context, store StoreName) (StoreCopy, error)
	// Read returns at most CopyPiece bytes of a file from an offset on, none at its
	// end. tenant.ErrOrgNotFound: there is no such copy (any more).
	Read(ctx context.Context, store StoreName, id CopyID, file string, offset int64) ([]byte, error)
	// Release ends a copy; tenant.ErrOrgNotFound when it has ended.
	Release(ctx context.Context, store StoreName, id CopyID) error
}

// LocalCopier is the Copier of one node's stores. It holds each still until it is released, or
// nobody has read it for a while.
type LocalCopier struct {
	storage *storage.Node
	clock   clock.Clock
	random  io.Reader
	log     *slog.Logger

	mu   sync.Mutex
	open map[CopyID]*heldCopy
}

var _ Copier = (*LocalCopier)(nil)

var (
	// ErrCopyGone means that there is no such copy, or none any more.
	ErrCopyGone = fmt.Errorf("copy of a store: %w", tenant.ErrOrgNotFound)
	// ErrNoStore means that there is no such store.
	ErrNoStore = fmt.Errorf("store: %w", tenant.ErrOrgNotFound)
)

// NewLocalCopier copies the stores of a node. Random names the copies.
func NewLocalCopier(node *storage.Node, clk clock.Clock, random io.Reader, log *slog.Logger) *LocalCopier {
	return &LocalCopier{storage: node, clock: clk, random: random, log: log, open: map[CopyID]*heldCopy{}}
}

// heldCopy is an open copy.
type heldCopy struct {
	id    CopyID
	store storage.StoreID

	mu    sync.Mutex // held while the copy is made, read or ended
	copy  *storage.Extract
	timer clock.Timer
	ended bool
}

// Open implements Copier.
func (b *LocalCopier) Open(ctx context.Context, name StoreName) (StoreCopy, error) {
	store, err := storage.ParseStoreID(string(name))
	if err != nil {
		return StoreCopy{}, ErrNoStore
	}
	id, err := uuid.NewRandomFromReader(b.random)
	if err != nil {
		return StoreCopy{}, fmt.Errorf("copy of a store: %w", err)
	}
	held := &heldCopy{id: CopyID(id), store: store}
	held.mu.Lock()
	defer held.mu.Unlock()
	if err := b.admit(held); err != nil {
		return StoreCopy{}, err
	}
	// What was forgotten is in no part, also while its bytes are still in the files: parts
	// are made of the records that there are.
	if held.copy, err = b.storage.Extract(ctx, store); err != nil {
		held.ended = true
		b.drop(held)
		if errors.Is(err, storage.ErrNoStore) {
			err = ErrNoStore
		}
		return StoreCopy{}, err
	}
	b.keep(held)
	return StoreCopy{ID: held.id, Version: held.copy.State().Version, Files: held.copy.Files()}, nil
}

// admit takes a place for a copy that is about to be made.
func (b *LocalCopier) admit(held *heldCopy) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.open) >= maxCopies {
		return fmt.Errorf("%w: %d copies are open; release one, or wait %s", tenant.ErrConflict, maxCopies, copyLife)
	}
	b.open[held.id] = held
	return nil
}

func (b *LocalCopier) drop(held *heldCopy) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.open, held.id)
}

// keep begins a copy's life anew. Its caller holds mu.
func (b *LocalCopier) keep(held *heldCopy) {
	if held.timer != nil {
		held.timer.Stop()
	}
	held.timer = b.clock.AfterFunc(copyLife, func() { b.end(held) })
}

// take finds a copy and locks it.
func (b *LocalCopier) take(name StoreName, id CopyID) (*heldCopy, error) {
	b.mu.Lock()
	held := b.open[id]
	b.mu.Unlock()
	if held == nil || held.store.String() != string(name) {
		return nil, ErrCopyGone
	}
	held.mu.Lock()
	if held.ended {
		held.mu.Unlock()
		return nil, ErrCopyGone
	}
	return held, nil
}

// Read implements Copier.
func (b *LocalCopier) Read(_ context.Context, name StoreName, id CopyID, file string, offset int64) (piece []byte,
	err error,
) {
	held, err := b.take(name, id)
	if err != nil {
		return nil, err
	}
	defer held.mu.Unlock()
	b.keep(held)
	r, err := held.copy.Open(file, offset)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", tenant.ErrInvalid, err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return io.ReadAll(io.LimitReader(r, CopyPiece))
}

// Release implements Copier.
func (b *LocalCopier) Release(_ context.Context, name StoreName, id CopyID) error {
	held, err := b.take(name, id)
	if err != nil {
		return err
	}
	held.mu.Unlock()
	b.end(held)
	return nil
}

// end deletes a copy once nobody reads it.
func (b *LocalCopier) end(held *heldCopy) {
	b.drop(held)
	held.mu.Lock()
	defer held.mu.Unlock()
	if held.ended {
		return
	}
	held.ended = true
	held.timer.Stop()
	if err := held.copy.Close(); err != nil {
		b.log.Warn("a backup's copy was not deleted; the next start does it", "store", held.store.String(), "error", err)
	}
}

// OpenCopies is how many copies are open.
func (b *LocalCopier) OpenCopies() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.open)
}

// Close ends all copies.
func (b *LocalCopier) Close() {
	b.mu.Lock()
	open := slices.Collect(maps.Values(b.open))
	b.mu.Unlock()
	for _, held := range open {
		b.end(held)
	}
}
