package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"orgmem/actors"
	"orgmem/actors/account"
	copies "orgmem/actors/backup"
	"orgmem/actors/tenant"
	"orgmem/api/operator"
	"orgmem/cmd/orgmem/internal/backup"
	"orgmem/cmd/orgmem/internal/config"
	"orgmem/storage"
)

// newKeeper makes and verifies backups in the vault that the configuration names; nil: it
// names none.
func newKeeper(w world, server config.Server, system *actors.Service) (*backup.Keeper, error) {
	if server.BackupVault == "" {
		return nil, nil
	}
	flags := vaultFlags{keyFile: server.BackupKeyFile}
	key, err := flags.key()
	if err != nil {
		return nil, fmt.Errorf("backup-key-file: %w", err)
	}
	return backup.NewKeeper(backup.KeeperConfig{
		Address: server.BackupVault, S3: s3Options(w), Key: key, Source: ownStores{system.Operator(), system.Copier()},
		Options: backup.Options{Clock: w.clock, Random: rand.Reader, Program: version},
	}), nil
}

// ownStores is the service itself as a backup's source: what `orgmem backup create` asks
// over the operator interface, without the way.
type ownStores struct {
	operator account.Operator
	copier   copies.Copier
}

// Stores implements backup.Source.
func (s ownStores) Stores(ctx context.Context) ([]string, error) {
	var names []string
	for from := ""; ; {
		page, err := s.operator.Orgs(ctx, from, account.MaxOrgPage)
		if err != nil {
			return nil, err
		}
		for _, o := range page.Orgs {
			for _, realm := range storage.OrgRealms {
				names = append(names, storage.StoreID{Org: o.Org, Realm: realm}.String())
			}
		}
		if from = page.Next; from == "" {
			return names, nil
		}
	}
}

// Open implements backup.Source.
func (s ownStores) Open(ctx context.Context, store string) (backup.Copy, error) {
	c, err := s.copier.Open(ctx, copies.StoreName(store))
	if errors.Is(err, tenant.ErrOrgNotFound) {
		err = errors.Join(backup.ErrNoStore, err)
	}
	out := backup.Copy{ID: c.ID.String(), Store: backup.Store{Name: store, Version: c.Version}}
	for _, f := range c.Files {
		out.Store.Files = append(out.Store.Files, backup.File{Name: f.Name, Size: f.Size, Sum: f.Sum})
	}
	return out, err
}

// Read implements backup.Source.
func (s ownStores) Read(ctx context.Context, c backup.Copy, file string, offset int64) ([]byte, error) {
	id, err := copies.ParseCopyID(c.ID)
	if err != nil {
		return nil, err
	}
	piece, err := s.copier.Read(ctx, copies.StoreName(c.Store.Name), id, file, offset)
	return piece, copyGone(err)
}

// Release implements backup.Source.
func (s ownStores) Release(ctx context.Context, c backup.Copy) error {
	id, err := copies.ParseCopyID(c.ID)
	if err != nil {
		return err
	}
	return copyGone(s.copier.Release(ctx, copies.StoreName(c.Store.Name), id))
}

func copyGone(err error) error {
	if errors.Is(err, tenant.ErrOrgNotFound) {
		return errors.Join(backup.ErrCopyGone, err)
	}
	return err
}

// operatorVault shows a keeper to the operator interface.
type operatorVault struct{ *backup.Keeper }

// vaultOf is nil where there is no keeper.
func vaultOf(k *backup.Keeper) operator.Vault {
	if k == nil {
		return nil
	}
	return operatorVault{k}
}

// State implements operator.Vault.
func (v operatorVault) State(ctx context.Context) operator.VaultState {
	out := operator.VaultState{Address: v.Address(), CanVerify: v.CanVerify()}
	held, err := v.List(ctx)
	if err != nil {
		out.Problem = err.Error()
	}
	out.Total = held.Total
	for _, b := range held.Backups {
		out.Backups = append(out.Backups, operator.Backup(b))
	}
	running, ended := v.Runs()
	if running != nil {
		r := runOf(*running)
		out.Running = &r
	}
	for _, r := range ended {
		out.Ended = append(out.Ended, runOf(r))
	}
	return out
}

func runOf(r backup.Run) operator.BackupRun {
	out := operator.BackupRun{
		Kind: string(r.Kind), Backup: r.Snapshot, Begun: r.Begun, Ended: r.Ended, Done: r.Done, Total: r.Total,
		Bytes: r.Bytes,
	}
	if r.Err != nil {
		out.Problem = r.Err.Error()
	}
	return out
}

// Create implements operator.Vault.
func (v operatorVault) Create() error { return asRefusal(v.Keeper.Create()) }

// Verify implements operator.Vault.
func (v operatorVault) Verify(ctx context.Context, name string) error {
	return asRefusal(v.Keeper.Verify(ctx, name))
}

// asRefusal is what the operator is told of what could not be begun.
func asRefusal(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, backup.ErrNoBackup):
		return fmt.Errorf("%w: backup: the vault has none of this name", tenant.ErrInvalid)
	case errors.Is(err, backup.ErrNeedsSecret):
		return fmt.Errorf("%w: %w; backup-key-file has its public half alone", tenant.ErrConflict, err)
	}
	return fmt.Errorf("%w: %w", tenant.ErrConflict, err)
}
