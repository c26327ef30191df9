package operator

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"orgmem/actors/tenant"
	"orgmem/api/wire"
	"orgmem/proto/clock"
)

// Vault is the place for backups that the node's configuration names. What it begins goes on
// when the request has been answered, one thing at a time. Errors wrap tenant.ErrInvalid and
// tenant.ErrConflict where the operator can do something about them.
type Vault interface {
	// State tells what is there. A vault that cannot be read is no error of the request's.
	State(ctx context.Context) VaultState
	// Create begins to make a backup.
	Create() error
	// Verify begins to read a backup again.
	Verify(ctx context.Context, name string) error
}

// VaultState is a vault and what was done with it since the node's start.
type VaultState struct {
	Address   string
	CanVerify bool
	Problem   string // why it cannot be read; empty: it can
	Total     int
	Backups   []Backup // newest first, not all where Total is more
	Running   *BackupRun
	Ended     []BackupRun // newest first
}

// Backup is one that is in a vault.
type Backup struct {
	Name  string
	Begun time.Time // zero: not known
}

// BackupRun is one backup that is or was made (create) or verified (verify).
type BackupRun struct {
	Kind        string
	Backup      string // its name; empty where it has none yet, or failed to get one
	Begun       time.Time
	Ended       time.Time // zero: it is under way
	Done, Total int       // stores
	Bytes       int64
	Problem     string // why it failed; empty: it did not
}

// errNoVault tells an operator how to get one.
var errNoVault = fmt.Errorf("%w: this node's configuration names no backup-vault (docs/backup.md)", tenant.ErrConflict)

// vaultRoutes are the rows about the vault that the configuration names.
var vaultRoutes = []Route{
	{
		Method: http.MethodGet, Path: "/operator/backups", status: http.StatusOK,
		handle: func(ctx context.Context, s *server, _ gin.Params, _ any) (any, error) {
			if s.cfg.Vault == nil {
				return vaultJSONOf(VaultState{}), nil
			}
			return vaultJSONOf(s.cfg.Vault.State(ctx)), nil
		},
	},
	{
		Method: http.MethodPost, Path: "/operator/backups", status: http.StatusAccepted,
		handle: withVault(func(_ context.Context, v Vault, _ gin.Params) error { return v.Create() }),
	},
	{
		Method: http.MethodPost, Path: "/operator/backups/{backup}/verify", status: http.StatusAccepted,
		handle: withVault(func(ctx context.Context, v Vault, path gin.Params) error {
			return v.Verify(ctx, path.ByName("backup"))
		}),
	},
}

// withVault refuses where there is no vault; the answer is what is there right after.
func withVault(do func(ctx context.Context, v Vault, path gin.Params) error) func(
	context.Context, *server, gin.Params, any,
) (any, error) {
	return func(ctx context.Context, s *server, path gin.Params, _ any) (any, error) {
		if s.cfg.Vault == nil {
			return nil, errNoVault
		}
		if err := do(ctx, s.cfg.Vault, path); err != nil {
			return nil, err
		}
		return vaultJSONOf(s.cfg.Vault.State(ctx)), nil
	}
}

type vaultJSON struct {
	Vault     string       `json:"vault"` // empty: none is named
	CanVerify bool         `json:"canVerify"`
	Problem   string       `json:"problem,omitempty"`
	Total     int          `json:"total"`
	Data      []backupJSON `json:"data"`
	Running   *runJSON     `json:"running,omitempty"`
	Ended     []runJSON    `json:"ended"`
}

type backupJSON struct {
	Name    string          `json:"name"`
	BegunAt *wire.Timestamp `json:"begunAt,omitempty"`
}

type runJSON struct {
	Kind    string          `json:"kind"`
	Backup  string          `json:"backup,omitempty"`
	BegunAt wire.Timestamp  `json:"begunAt"`
	EndedAt *wire.Timestamp `json:"endedAt,omitempty"`
	Done    int             `json:"done"`
	Total   int             `json:"total"`
	Bytes   int64           `json:"bytes"`
	Problem string          `json:"problem,omitempty"`
}

func vaultJSONOf(v VaultState) vaultJSON {
	out := vaultJSON{
		Vault: v.Address, CanVerify: v.CanVerify, Problem: v.Problem, Total: v.Total,
		Data: make([]backupJSON, 0, len(v.Backups)), Ended: make([]runJSON, 0, len(v.Ended)),
	}
	for _, b := range v.Backups {
		out.Data = append(out.Data, backupJSON{b.Name, timestampOf(b.Begun)})
	}
	for _, r := range v.Ended {
		out.Ended = append(out.Ended, runJSONOf(r))
	}
	if v.Running != nil {
		r := runJSONOf(*v.Running)
		out.Running = &r
	}
	return out
}

func runJSONOf(r BackupRun) runJSON {
	return runJSON{
		r.Kind, r.Backup, wire.Timestamp(clock.Millis(r.Begun)), timestampOf(r.Ended), r.Done, r.Total, r.Bytes, r.Problem,
	}
}

func timestampOf(at time.Time) *wire.Timestamp {
	if at.IsZero() {
		return nil
	}
	t := wire.Timestamp(clock.Millis(at))
	return &t
}
