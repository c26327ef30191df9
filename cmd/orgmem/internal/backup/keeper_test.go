package backup_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"orgmem/cmd/orgmem/internal/backup"
)

// keeper keeps backups of a service in a folder that is not there yet.
func keeper(t *testing.T, source backup.Source, key backup.Key) (*backup.Keeper, string) {
	t.Helper()
	root := filepath.Join(t.TempDir(), "vault")
	k := backup.NewKeeper(backup.KeeperConfig{Address: root, Key: key, Source: source, Options: options()})
	t.Cleanup(func() { _ = k.Close() })
	return k, root
}

// ended waits until nothing is under way, and returns what ended last.
func ended(k *backup.Keeper) backup.Run {
	for {
		if running, runs := k.Runs(); running == nil {
			return runs[0]
		}
		runtime.Gosched()
	}
}

func listed(t *testing.T, k *backup.Keeper) backup.Held {
	t.Helper()
	held, err := k.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return held
}

func TestAKeeperMakesAndVerifiesBackups(t *testing.T) {
	t.Parallel()
	s := newService(t)
	secret, _ := newKey(t)
	k, root := keeper(t, s, secret)
	if held := listed(t, k); held.Total != 0 {
		t.Errorf("a vault that is not there holds %+v", held)
	}
	if _, err := os.Stat(root); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("looking made the vault: %v", err)
	}
	if err := k.Create(); err != nil {
		t.Fatal(err)
	}
	made := ended(k)
	if made.Err != nil || made.Kind != backup.KindCreate || made.Bytes == 0 || made.Ended.IsZero() ||
		made.Done != made.Total || made.Done < 3 {
		t.Fatalf("%+v", made)
	}
	held := listed(t, k)
	if held.Total != 1 || held.Backups[0].Name != made.Snapshot || !held.Backups[0].Begun.Equal(options().Clock.Now()) {
		t.Errorf("%+v, made %s", held, made.Snapshot)
	}
	if err := k.Verify(t.Context(), made.Snapshot); err != nil {
		t.Fatal(err)
	}
	v := ended(k)
	if v.Err != nil || v.Kind != backup.KindVerify || v.Snapshot != made.Snapshot || v.Bytes == 0 || v.Done != 3 {
		t.Errorf("%+v", v)
	}
	if err := k.Verify(t.Context(), "../orgmem-vault"); !errors.Is(err, backup.ErrNoBackup) {
		t.Errorf("%v", err)
	}

	damageABlob(t, root)
	if err := k.Verify(t.Context(), made.Snapshot); err != nil {
		t.Fatal(err)
	}
	if v := ended(k); !errors.Is(v.Err, backup.ErrDamaged) || !strings.Contains(v.Err.Error(), "blobs/") {
		t.Errorf("a damaged blob: %+v", v)
	}
	if _, runs := k.Runs(); len(runs) != 3 {
		t.Errorf("%d runs are remembered", len(runs))
	}
}

func damageABlob(t *testing.T, root string) {
	t.Helper()
	blobs, err := filepath.Glob(filepath.Join(root, "blobs", "*", "*"))
	if err != nil || len(blobs) == 0 {
		t.Fatal(blobs, err)
	}
	if err := os.WriteFile(blobs[0], []byte("something else"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAKeeperNeedsTheRightKey(t *testing.T) {
	t.Parallel()
	s := newService(t)
	_, public := newKey(t)
	k, root := keeper(t, s, public)
	if err := k.Create(); err != nil {
		t.Fatal(err)
	}
	made := ended(k)
	if err := k.Verify(t.Context(), made.Snapshot); k.CanVerify() || !errors.Is(err, backup.ErrNeedsSecret) {
		t.Errorf("verified with the public half: %v", err)
	}
	other, _ := newKey(t)
	stranger := backup.NewKeeper(backup.KeeperConfig{Address: root, Key: other, Source: s, Options: options()})
	if _, err := stranger.List(t.Context()); !errors.Is(err, backup.ErrForeignKey) {
		t.Errorf("another key: %v", err)
	}
	if err := stranger.Create(); err != nil {
		t.Fatal(err)
	}
	if r := ended(stranger); !errors.Is(r.Err, backup.ErrForeignKey) || r.Snapshot != "" {
		t.Errorf("%+v", r)
	}
}

// stuck is a service that does not answer until it is given up.
type stuck struct{ backup.Source }

func (stuck) Stores(ctx context.Context) ([]string, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestAKeeperDoesOneThingAtATimeAndEnds(t *testing.T) {
	t.Parallel()
	secret, _ := newKey(t)
	k, _ := keeper(t, stuck{}, secret)
	if err := k.Create(); err != nil {
		t.Fatal(err)
	}
	if running, _ := k.Runs(); running == nil || running.Kind != backup.KindCreate || !running.Ended.IsZero() {
		t.Errorf("under way is %+v", running)
	}
	if err := k.Create(); !errors.Is(err, backup.ErrRunning) {
		t.Errorf("a second one: %v", err)
	}
	for range 2 {
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if r := ended(k); !errors.Is(r.Err, context.Canceled) {
		t.Errorf("%+v", r)
	}
	if err := k.Create(); err == nil {
		t.Error("it begins a backup after it was closed")
	}
}

func TestAKeeperForgetsOldRuns(t *testing.T) {
	t.Parallel()
	secret, _ := newKey(t)
	s := newService(t)
	s.fail = errors.New("no answer")
	k, _ := keeper(t, s, secret)
	const many = 100
	for range many {
		if err := k.Create(); err != nil {
			t.Fatal(err)
		}
		ended(k)
	}
	if _, runs := k.Runs(); len(runs) >= many || len(runs) == 0 {
		t.Errorf("%d runs are remembered", len(runs))
	}
}
