package actors

import (
	"crypto/sha256"
	"errors"
	"testing"

	"orgmem/actors/backup"
	"orgmem/actors/tenant"
	"orgmem/cluster/wire"
	"orgmem/storage"
)

// Any node copies any organization's store from where it lives, and the directory
// from its own.
func TestCopiesComeFromWhereTheOrganizationLives(t *testing.T) {
	w := startTown(t, "a", "b")
	made := w.org("b", "")
	name := backup.StoreName(storage.StoreID{Org: made.Org, Realm: storage.RealmMain}.String())
	for _, at := range []wire.ServerID{"a", "b"} {
		for _, store := range []backup.StoreName{name, backup.StoreName(storage.MetaStore.String())} {
			from := w.at(at).sys.Copier()
			c, err := from.Open(t.Context(), store)
			if err != nil {
				t.Fatalf("on %s: %s: %v", at, store, err)
			}
			if len(c.Files) == 0 || c.Version == 0 && store == name {
				t.Errorf("on %s: %s: %+v", at, store, c)
			}
			for _, f := range c.Files {
				piece, err := from.Read(t.Context(), store, c.ID, f.Name, 0)
				if err != nil || f.Size <= backup.CopyPiece && sha256.Sum256(piece) != f.Sum {
					t.Errorf("on %s: %s of %s: %d bytes, %v", at, f.Name, store, len(piece), err)
				}
			}
			if _, err := from.Read(t.Context(), store, c.ID, "nothing", 0); !errors.Is(err, tenant.ErrInvalid) {
				t.Errorf("on %s: a file that is not there: %v", at, err)
			}
			if err := from.Release(t.Context(), store, c.ID); err != nil {
				t.Errorf("on %s: %v", at, err)
			}
			if err := from.Release(t.Context(), store, c.ID); !errors.Is(err, tenant.ErrOrgNotFound) {
				t.Errorf("on %s: released twice: %v", at, err)
			}
		}
		sandbox := backup.StoreName(storage.StoreID{Org: made.Org, Realm: storage.RealmSandbox}.String())
		if _, err := w.at(at).sys.Copier().Open(t.Context(), sandbox); !errors.Is(err, tenant.ErrOrgNotFound) {
			t.Errorf("on %s: a sandbox that is not there: %v", at, err)
		}
	}
	if n := w.at("a").sys.backups.OpenCopies() + w.at("b").sys.backups.OpenCopies(); n != 0 {
		t.Errorf("%d copies left", n)
	}
}
