package backup_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"orgmem/cmd/orgmem/internal/backup"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

var (
	main1 = storage.StoreID{Org: pb.OrgID{1}, Realm: storage.RealmMain}
	main2 = storage.StoreID{Org: pb.OrgID{2}, Realm: storage.RealmMain}
)

// service is a backup.Source over a node's stores.
type service struct {
	node *storage.Node
	open map[string]*storage.Copy
	made int
	// lose makes the next so many reads say that the copy is gone.
	lose int
	// fail is what every read of a file fails with.
	fail error
}

func (s *service) Stores(context.Context) ([]string, error) {
	return []string{main1.String(), main2.String(), storage.StoreID{Org: pb.OrgID{1}, Realm: storage.RealmSandbox}.String()}, nil
}

func (s *service) Open(ctx context.Context, name string) (backup.Copy, error) {
	id, err := storage.ParseStoreID(name)
	if err != nil {
		return backup.Copy{}, err
	}
	c, err := s.node.Copy(ctx, id)
	if errors.Is(err, storage.ErrNoStore) {
		return backup.Copy{}, backup.ErrNoStore
	}
	if err != nil {
		return backup.Copy{}, err
	}
	s.made++
	out := backup.Copy{ID: fmt.Sprint(s.made), Store: backup.Store{Name: name, Version: c.State().Version}}
	for _, f := range c.Files() {
		out.Store.Files = append(out.Store.Files, backup.File{Name: f.Name, Size: f.Size, Sum: f.Sum})
	}
	s.open[out.ID] = c
	return out, nil
}

func (s *service) Read(_ context.Context, c backup.Copy, file string, offset int64) ([]byte, error) {
	if s.lose > 0 {
		s.lose--
		return nil, backup.ErrCopyGone
	}
	if s.fail != nil {
		return nil, s.fail
	}
	r, err := s.open[c.ID].Open(file, offset)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, 1000))
}

func (s *service) Release(_ context.Context, c backup.Copy) error {
	held := s.open[c.ID]
	if held == nil {
		return backup.ErrCopyGone
	}
	delete(s.open, c.ID)
	return held.Close()
}

// newService holds two organizations and a directory.
func newService(t *testing.T) *service {
	t.Helper()
	s := &service{node: storagetest.NewDisk().Node(t), open: map[string]*storage.Copy{}}
	s.put(t, main1, 1, "first of one")
	s.put(t, main2, 1, "first of two")
	s.put(t, storage.MetaStore, 1, "directory")
	return s
}

func row(id storage.StoreID, n uint64) storage.Key {
	if id == storage.MetaStore {
		return storage.OrgSpace(id).Key(storage.TableDirectoryOrg, storage.ID16(pb.OrgID{byte(n)}))
	}
	return storage.PartitionSpace(id, pb.PartitionID{1}).Key(storage.TableView, storage.U64(n))
}

// put applies entry n of a store's log.
func (s *service) put(t *testing.T, id storage.StoreID, n uint64, value string) {
	t.Helper()
	h, err := s.node.Acquire(id)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Release()
	b := storage.NewBatch(id)
	b.PutRaw(row(id, n), []byte(value))
	if _, err := h.Apply(storage.Entry{Index: n, Kind: storage.EntryPlain, Changes: b.Changes()}); err != nil {
		t.Fatal(err)
	}
}

// want checks a restored record.
func want(t *testing.T, node *storage.Node, id storage.StoreID, n uint64, value string) {
	t.Helper()
	h, err := node.AcquireToRead(id)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Release()
	got, _, err := h.GetRaw(row(id, n))
	if err != nil || string(got) != value {
		t.Errorf("record %d of %v is %q, want %q: %v", n, id, got, value, err)
	}
}

func options() backup.Options {
	return backup.Options{Clock: clock.NewFake(time.Unix(1_800_000_000, 0)), Random: rand.Reader, Program: "v1"}
}

// vaults are the kinds of vaults there are, empty.
func vaults(t *testing.T) map[string]backup.Vault {
	t.Helper()
	dir, err := backup.OpenDirectory(filepath.Join(t.TempDir(), "vault"))
	if err != nil {
		t.Fatal(err)
	}
	memory := s3mem.New()
	if err := memory.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewTLSServer(gofakes3.New(memory).Server())
	t.Cleanup(server.Close)
	bucket, err := backup.OpenS3("s3://bucket/some/where", backup.S3Options{Endpoint: server.URL, Transport: server.Client().Transport, Region: "us-east-1", AccessKey: "a", SecretKey: "b"})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]backup.Vault{"directory": dir, "s3": bucket}
}

func newKey(t *testing.T) (secret, public backup.Key) {
	t.Helper()
	secret, spelled, _, err := backup.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	if public, err = backup.ParseKey("# a comment\n\n" + spelled + "\n"); err != nil {
		t.Fatal(err)
	}
	return secret, public
}

func create(t *testing.T, vault backup.Vault, key backup.Key) *backup.Repository {
	t.Helper()
	r, err := backup.Create(t.Context(), vault, key)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestBackupsComeBack(t *testing.T) {
	for kind, vault := range vaults(t) {
		t.Run(kind, func(t *testing.T) {
			s := newService(t)
			secret, public := newKey(t)
			r := create(t, vault, public)
			first, err := backup.Make(t.Context(), r, s, options())
			if err != nil {
				t.Fatal(err)
			}
			if first.Stores != 3 || first.NewBytes == 0 || len(s.open) != 0 {
				t.Fatalf("made %+v, %d copies left", first, len(s.open))
			}
			// Nothing changed: nothing new, but a snapshot of its own.
			again, err := backup.Make(t.Context(), r, s, options())
			if err != nil || again.NewFiles >= first.NewFiles || again.Bytes != first.Bytes || again.Snapshot == first.Snapshot {
				t.Fatalf("made again %+v after %+v: %v", again, first, err)
			}
			s.put(t, main1, 2, "second of one")
			later := options()
			later.Clock.(*clock.Fake).Advance(time.Millisecond) // a small service is copied that quickly
			if _, err := backup.Make(t.Context(), r, s, later); err != nil {
				t.Fatal(err)
			}

			if _, err := backup.Verify(t.Context(), r, ""); !errors.Is(err, backup.ErrNeedsSecret) {
				t.Errorf("verified with the public key alone: %v", err)
			}
			r, err = backup.Open(t.Context(), vault, secret)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := backup.Verify(t.Context(), r, ""); err != nil || v.Stores != 3 {
				t.Errorf("verified %+v: %v", v, err)
			}
			for name, second := range map[string]string{first.Snapshot: "", "": "second of one"} {
				node := storagetest.NewDisk().Node(t)
				if _, err := backup.Restore(t.Context(), r, name, node, nil); err != nil {
					t.Fatal(err)
				}
				want(t, node, main1, 1, "first of one")
				want(t, node, main1, 2, second)
				want(t, node, main2, 1, "first of two")
				want(t, node, storage.MetaStore, 1, "directory")
			}
			if _, err := backup.Restore(t.Context(), r, "20000101T000000Z-00000000", storagetest.NewDisk().Node(t), nil); !errors.Is(err, backup.ErrNotFound) {
				t.Errorf("a snapshot that is not there: %v", err)
			}
		})
	}
}

func TestAnInterruptedBackupLeavesNoSnapshot(t *testing.T) {
	s := newService(t)
	secret, _ := newKey(t)
	vault := vaults(t)["directory"]
	r := create(t, vault, secret)
	s.fail = io.ErrClosedPipe
	if _, err := backup.Make(t.Context(), r, s, options()); !errors.Is(err, io.ErrClosedPipe) {
		t.Fatalf("made with a broken connection: %v", err)
	}
	if names, err := r.Snapshots(t.Context()); err != nil || len(names) != 0 {
		t.Errorf("snapshots %v: %v", names, err)
	}
	s.fail, s.lose = nil, 2 // the organization moves twice while it is copied
	if _, err := backup.Make(t.Context(), r, s, options()); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Verify(t.Context(), r, ""); err != nil {
		t.Error(err)
	}
	s.put(t, main1, 2, "new, so that something is read")
	s.lose = 1000
	if _, err := backup.Make(t.Context(), r, s, options()); !errors.Is(err, backup.ErrCopyGone) {
		t.Errorf("an organization that never stands still: %v", err)
	}
}

// A restore that was interrupted goes on; damage and other people's keys are told.
func TestDamageIsFound(t *testing.T) {
	s := newService(t)
	secret, _ := newKey(t)
	root := filepath.Join(t.TempDir(), "vault")
	vault, err := backup.OpenDirectory(root)
	if err != nil {
		t.Fatal(err)
	}
	r := create(t, vault, secret)
	if _, err := backup.Make(t.Context(), r, s, options()); err != nil {
		t.Fatal(err)
	}
	blobs, err := filepath.Glob(filepath.Join(root, "blobs", "*", "*"))
	if err != nil || len(blobs) == 0 {
		t.Fatalf("blobs %v: %v", blobs, err)
	}
	for _, blob := range blobs {
		whole, err := os.ReadFile(blob)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(whole), "first of") {
			t.Errorf("%s is not encrypted", blob)
		}
		for what, damaged := range map[string][]byte{
			"flipped": append(append([]byte{}, whole[:len(whole)-1]...), whole[len(whole)-1]^1),
			"cut off": whole[:len(whole)/2],
			"empty":   {},
		} {
			if err := os.WriteFile(blob, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := backup.Verify(t.Context(), r, ""); !errors.Is(err, backup.ErrDamaged) {
				t.Errorf("%s %s: %v", blob, what, err)
			}
			node := storagetest.NewDisk().Node(t)
			if _, err := backup.Restore(t.Context(), r, "", node, nil); err == nil {
				t.Errorf("restored although %s is %s", blob, what)
			}
			if err := os.WriteFile(blob, whole, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := backup.Restore(t.Context(), r, "", node, nil); err != nil {
				t.Errorf("the restore does not go on: %v", err)
			}
			want(t, node, main1, 1, "first of one")
		}
		if err := os.Remove(blob); err != nil {
			t.Fatal(err)
		}
		if _, err := backup.Verify(t.Context(), r, ""); !errors.Is(err, backup.ErrNotFound) {
			t.Errorf("%s is missing: %v", blob, err)
		}
		if err := os.WriteFile(blob, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	other, _ := newKey(t)
	if _, err := backup.Create(t.Context(), vault, other); !errors.Is(err, backup.ErrForeignKey) {
		t.Errorf("another key: %v", err)
	}
}

func TestKeysAreRead(t *testing.T) {
	for _, text := range []string{"", "# only a comment\n", "AGE-SECRET-KEY-1NONSENSE", "age1nonsense", "ssh-ed25519 AAAA"} {
		if _, err := backup.ParseKey(text); err == nil || strings.Contains(err.Error(), "NONSENSE") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := backup.OpenS3("s3://", backup.S3Options{}); err == nil {
		t.Error("an address without a bucket was taken")
	}
}
