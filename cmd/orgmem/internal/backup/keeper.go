package backup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// MaxListed bounds the backups that a Keeper lists: three years of daily ones.
	MaxListed = 1000
	// maxEnded bounds the runs that it remembers.
	maxEnded = 32
	// snapshotTime is how a snapshot's name begins.
	snapshotTime = "20060102T150405.000000000Z"
)

var (
	// ErrRunning says that a Keeper does one thing at a time.
	ErrRunning = errors.New("a backup is being made or verified already")
	// ErrNoBackup says that a vault has no backup of a name.
	ErrNoBackup = errors.New("no such backup")
)

// Kind is what a run of a Keeper does.
type Kind string

// The kinds of runs.
const (
	KindCreate Kind = "create"
	KindVerify Kind = "verify"
)

// Run is one backup that is or was made or verified.
type Run struct {
	Kind     Kind
	Snapshot string // empty: being made, or it failed
	Begun    time.Time
	Ended    time.Time // zero: it is under way
	Done     int       // stores
	Total    int       // 0: not known yet
	Bytes    int64     // new in the vault, or read of it
	Err      error     // it failed
}

// Listed is a backup in a vault.
type Listed struct {
	Name  string
	Begun time.Time // zero: its name does not say
}

// Held is what a vault holds, newest first: MaxListed of Total.
type Held struct {
	Backups []Listed
	Total   int
}

// KeeperConfig is what a Keeper works with. All but S3 is required.
type KeeperConfig struct {
	Address string // a directory's, or s3://bucket/prefix
	S3      S3Options
	Key     Key
	Source  Source
	Options Options // its Progress is the Keeper's own
}

// Keeper makes and verifies backups in one vault for a service that runs, one at a time.
// What it was doing when it is closed fails, and costs what that had not stored.
type Keeper struct {
	cfg    KeeperConfig
	ctx    context.Context //nolint:containedctx // runs outlast the request that begins them, and end with Close
	cancel context.CancelFunc
	runs   sync.WaitGroup

	mu      sync.Mutex
	running *Run  // guarded by mu, also what it points to
	ended   []Run // guarded by mu; newest first
	closed  bool  // guarded by mu
}

// NewKeeper looks at nothing yet: a vault that is not there now may be later.
func NewKeeper(cfg KeeperConfig) *Keeper {
	ctx, cancel := context.WithCancel(context.Background())
	return &Keeper{cfg: cfg, ctx: ctx, cancel: cancel}
}

// Address is the vault's.
func (k *Keeper) Address() string { return k.cfg.Address }

// CanVerify reports whether the key has its secret half.
func (k *Keeper) CanVerify() bool { return k.cfg.Key.identity != nil }

// Runs returns what is under way, if anything is, and what has ended, newest first.
func (k *Keeper) Runs() (running *Run, ended []Run) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.running != nil {
		r := *k.running
		running = &r
	}
	return running, slices.Clone(k.ended)
}

// List tells which backups the vault holds. One that nobody has written to holds none.
func (k *Keeper) List(ctx context.Context) (Held, error) {
	r, err := k.look(ctx)
	if errors.Is(err, ErrNoVault) {
		return Held{}, nil
	}
	if err != nil {
		return Held{}, err
	}
	names, err := r.Snapshots(ctx)
	if err != nil {
		return Held{}, err
	}
	held := Held{Total: len(names)}
	for _, name := range names[max(0, len(names)-MaxListed):] {
		listed := Listed{Name: name}
		if begun, _, ok := strings.Cut(name, "-"); ok {
			if at, err := time.Parse(snapshotTime, begun); err == nil {
				listed.Begun = at
			}
		}
		held.Backups = append(held.Backups, listed)
	}
	slices.Reverse(held.Backups)
	return held, nil
}

// look opens the vault to read it, and makes nothing. ErrNoVault.
func (k *Keeper) look(ctx context.Context) (*Repository, error) {
	vault := Vault(directory{k.cfg.Address})
	if IsS3(k.cfg.Address) {
		var err error
		if vault, err = OpenS3(k.cfg.Address, k.cfg.S3); err != nil {
			return nil, err
		}
	} else if _, err := os.Stat(k.cfg.Address); errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoVault
	}
	return Open(ctx, vault, k.cfg.Key)
}

// Create begins to make a backup: ErrRunning.
func (k *Keeper) Create() error {
	return k.begin(Run{Kind: KindCreate}, func(ctx context.Context, progress Progress) (string, int64, error) {
		vault, err := k.open()
		if err != nil {
			return "", 0, err
		}
		r, err := Create(ctx, vault, k.cfg.Key)
		if err != nil {
			return "", 0, err
		}
		o := k.cfg.Options
		o.Progress = progress
		made, err := Make(ctx, r, k.cfg.Source, o)
		return made.Snapshot, made.NewBytes, err
	})
}

// open opens the vault to write to it.
func (k *Keeper) open() (Vault, error) {
	if IsS3(k.cfg.Address) {
		return OpenS3(k.cfg.Address, k.cfg.S3)
	}
	return OpenDirectory(k.cfg.Address)
}

// Verify begins to verify a backup: ErrNeedsSecret, ErrNoBackup, ErrRunning.
func (k *Keeper) Verify(ctx context.Context, name string) error {
	if !k.CanVerify() {
		return ErrNeedsSecret
	}
	r, err := k.look(ctx)
	if errors.Is(err, ErrNoVault) {
		return ErrNoBackup
	}
	if err != nil {
		return err
	}
	names, err := r.Snapshots(ctx)
	if err != nil {
		return err
	}
	if !slices.Contains(names, name) {
		return ErrNoBackup
	}
	return k.begin(Run{Kind: KindVerify, Snapshot: name},
		func(ctx context.Context, progress Progress) (string, int64, error) {
			v, err := Verify(ctx, r, name, progress)
			return name, v.Bytes, err
		})
}

// begin begins a run, unless one is under way.
func (k *Keeper) begin(run Run, do func(context.Context, Progress) (name string, bytes int64, err error)) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.closed:
		return fmt.Errorf("backup: %w", context.Canceled)
	case k.running != nil:
		return ErrRunning
	}
	run.Begun = k.cfg.Options.Clock.Now()
	k.running = &run
	k.runs.Go(func() {
		name, bytes, err := do(k.ctx, k.progress)
		k.mu.Lock()
		defer k.mu.Unlock()
		run.Snapshot, run.Bytes, run.Err, run.Ended = name, bytes, err, k.cfg.Options.Clock.Now()
		k.ended = slices.Insert(k.ended, 0, run)
		k.ended = k.ended[:min(len(k.ended), maxEnded)]
		k.running = nil
	})
	return nil
}

func (k *Keeper) progress(done, total int, bytes int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.running.Done, k.running.Total, k.running.Bytes = done, total, bytes
}

// Close ends what is under way, and waits. It may be called more than once.
func (k *Keeper) Close() error {
	k.mu.Lock()
	k.closed = true
	k.mu.Unlock()
	k.cancel()
	k.runs.Wait()
	return nil
}
