package backup_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
	open map[string]held
	// whole makes it hand out stores as their files, as older programs do.
	whole bool
	made  int
	// lose makes the next so many reads say that the copy is gone.
	lose int
	// fail is what every read of a file fails with.
	fail error
	// instead is handed out for the first organization, where it is set.
	instead held
}

// held is what a service holds still for a backup.
type held interface {
	State() storage.State
	Files() []storage.CopyFile
	Open(name string, offset int64) (io.ReadCloser, error)
	Close() error
}

func (s *service) hold(ctx context.Context, id storage.StoreID) (held, error) {
	if s.instead != nil && id == main1 {
		return s.instead, nil
	}
	if s.whole {
		return s.node.Copy(ctx, id)
	}
	return s.node.Extract(ctx, id)
}

func (s *service) Stores(context.Context) ([]string, error) {
	return []string{
		main1.String(), main2.String(),
		storage.StoreID{Org: pb.OrgID{1}, Realm: storage.RealmSandbox}.String(),
	}, nil
}

func (s *service) Open(ctx context.Context, name string) (backup.Copy, error) {
	id, err := storage.ParseStoreID(name)
	if err != nil {
		return backup.Copy{}, err
	}
	c, err := s.hold(ctx, id)
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
	s := &service{node: storagetest.NewDisk().Node(t), open: map[string]held{}}
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

// folder is an empty vault in a folder, and where that is.
func folder(t *testing.T) (vault backup.Vault, root string) {
	t.Helper()
	root = filepath.Join(t.TempDir(), "vault")
	vault, err := backup.OpenDirectory(root)
	if err != nil {
		t.Fatal(err)
	}
	return vault, root
}

// vaults are the kinds of vaults there are, empty.
func vaults(t *testing.T) map[string]backup.Vault {
	t.Helper()
	dir, _ := folder(t)
	memory := s3mem.New()
	if err := memory.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewTLSServer(gofakes3.New(memory).Server())
	t.Cleanup(server.Close)
	bucket, err := backup.OpenS3("s3://bucket/some/where",
		backup.S3Options{
			Endpoint: server.URL, Transport: server.Client().Transport, Region: "us-east-1", AccessKey: "a",
			SecretKey: "b",
		})
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

			if _, err := backup.Verify(t.Context(), r, "", nil); !errors.Is(err, backup.ErrNeedsSecret) {
				t.Errorf("verified with the public key alone: %v", err)
			}
			r, err = backup.Open(t.Context(), vault, secret)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := backup.Verify(t.Context(), r, "", nil); err != nil || v.Stores != 3 {
				t.Errorf("verified %+v: %v", v, err)
			}
			for name, second := range map[string]string{first.Snapshot: "", "": "second of one"} {
				comesBack(t, r, name, second)
			}
			if _, err := backup.Restore(t.Context(), r, "20000101T000000Z-00000000", storagetest.NewDisk().Node(t),
				nil); !errors.Is(err, backup.ErrNotFound) {
				t.Errorf("a snapshot that is not there: %v", err)
			}
		})
	}
}

// A vault that an older program has filled is gone on with: what it holds comes back,
// and so does what is added.
func TestAVaultOfFilesGoesOn(t *testing.T) {
	s := newService(t)
	secret, _ := newKey(t)
	r := create(t, vaults(t)["directory"], secret)
	s.whole = true
	old, err := backup.Make(t.Context(), r, s, options())
	if err != nil {
		t.Fatal(err)
	}
	s.whole = false
	s.put(t, main1, 2, "second of one")
	later := options()
	later.Clock.(*clock.Fake).Advance(time.Second)
	if _, err := backup.Make(t.Context(), r, s, later); err != nil {
		t.Fatal(err)
	}
	for name, second := range map[string]string{old.Snapshot: "", "": "second of one"} {
		if _, err := backup.Verify(t.Context(), r, name, nil); err != nil {
			t.Error(err)
		}
		comesBack(t, r, name, second)
	}
}

// comesBack restores a snapshot of newService's stores, in which the second record of
// the first organization is as it says.
func comesBack(t *testing.T, r *backup.Repository, name, second string) {
	t.Helper()
	node := storagetest.NewDisk().Node(t)
	if _, err := backup.Restore(t.Context(), r, name, node, nil); err != nil {
		t.Fatal(err)
	}
	want(t, node, main1, 1, "first of one")
	want(t, node, main1, 2, second)
	want(t, node, main2, 1, "first of two")
	want(t, node, storage.MetaStore, 1, "directory")
}

// Another node leads, and nothing was written: a backup of its records adds nothing to
// the vault. One record later it adds a small part of them.
func TestABackupFromAnotherNodeIsIncremental(t *testing.T) {
	one, two := newService(t), newService(t)
	for n := range uint64(400) {
		value := make([]byte, 8<<10)
		if _, err := rand.Read(value); err != nil {
			t.Fatal(err)
		}
		for i, s := range []*service{one, two} {
			s.put(t, main1, n+2, string(value))
			if n%uint64(50+20*i) == 0 { // so that their files differ
				flush(t, s.node, main1)
			}
		}
	}
	secret, _ := newKey(t)
	r := create(t, vaults(t)["directory"], secret)
	first, err := backup.Make(t.Context(), r, one, options())
	if err != nil {
		t.Fatal(err)
	}
	again, err := backup.Make(t.Context(), r, two, options())
	if err != nil || again.NewBytes != 0 || again.NewFiles != 0 || again.Bytes != first.Bytes {
		t.Errorf("made %+v of another replica after %+v: %v", again, first, err)
	}
	two.put(t, main1, 402, "one record")
	later := options()
	later.Clock.(*clock.Fake).Advance(time.Second)
	third, err := backup.Make(t.Context(), r, two, later)
	if err != nil || third.NewBytes == 0 || third.NewBytes > third.Bytes/2 {
		t.Errorf("made %+v after one record more: %v", third, err)
	}
	node := storagetest.NewDisk().Node(t)
	if _, err := backup.Restore(t.Context(), r, "", node, nil); err != nil {
		t.Fatal(err)
	}
	want(t, node, main1, 402, "one record")
}

func flush(t *testing.T, node *storage.Node, id storage.StoreID) {
	t.Helper()
	h, err := node.Acquire(id)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Release()
	if err := h.Flush(); err != nil {
		t.Fatal(err)
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
	if _, err := backup.Verify(t.Context(), r, "", nil); err != nil {
		t.Error(err)
	}
	s.put(t, main1, 2, "new, so that something is read")
	s.lose = 1000
	if _, err := backup.Make(t.Context(), r, s, options()); !errors.Is(err, backup.ErrCopyGone) {
		t.Errorf("an organization that never stands still: %v", err)
	}
}

// A blob that has rotten is named, and what docs/backup.md says mends it: to delete it, and
// to create and verify again. To create alone does not, as the blob is there.
func TestADamagedBlobIsReplaced(t *testing.T) {
	s := newService(t)
	secret, _ := newKey(t)
	vault, root := folder(t)
	r := create(t, vault, secret)
	o := options()
	now := o.Clock.(*clock.Fake)
	first, err := backup.Make(t.Context(), r, s, o)
	if err != nil {
		t.Fatal(err)
	}
	blobs, err := filepath.Glob(filepath.Join(root, "blobs", "*", "*"))
	if err != nil || len(blobs) != 3 {
		t.Fatalf("blobs %v: %v", blobs, err)
	}
	for _, blob := range blobs {
		for what, damage := range map[string]func(whole []byte) []byte{
			"flipped at its end":  func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
			"flipped at its head": func(b []byte) []byte { b[30] ^= 1; return b },
			"emptied":             func([]byte) []byte { return nil },
		} {
			whole, err := os.ReadFile(blob)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(blob, damage(whole), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err = backup.Verify(t.Context(), r, "", nil)
			if !errors.Is(err, backup.ErrDamaged) {
				t.Fatalf("%s, %s: %v", blob, what, err)
			}
			named := blobNames.FindAllString(err.Error(), -1)
			if len(named) == 0 || filepath.Join(root, filepath.FromSlash(named[0])) != blob {
				t.Fatalf("%s is damaged, and it says: %v", blob, err)
			}
			now.Advance(time.Second)
			if made, err := backup.Make(t.Context(), r, s, o); err != nil || made.NewFiles != 0 {
				t.Fatalf("made %+v: %v", made, err)
			}
			if _, err := backup.Verify(t.Context(), r, "", nil); !errors.Is(err, backup.ErrDamaged) {
				t.Errorf("%s, %s, mends itself: %v", blob, what, err)
			}

			if err := os.Remove(filepath.Join(root, filepath.FromSlash(named[0]))); err != nil {
				t.Fatal(err)
			}
			now.Advance(time.Second)
			if made, err := backup.Make(t.Context(), r, s, o); err != nil || made.NewFiles != 1 {
				t.Fatalf("made %+v: %v", made, err)
			}
			for _, name := range []string{"", first.Snapshot} {
				if _, err := backup.Verify(t.Context(), r, name, nil); err != nil {
					t.Errorf("%s, %s, was replaced: %v", blob, what, err)
				}
			}
		}
	}
}

// blobNames finds what an operator deletes.
var blobNames = regexp.MustCompile(`blobs/[0-9a-f]{2}/[0-9a-f]{64}(\.zst)?`)

// given is what a service says are the parts of a store.
type given [][]byte

func (g given) State() storage.State { return storage.State{Version: 1} }
func (g given) Close() error         { return nil }

func (g given) Files() (files []storage.CopyFile) {
	for i, part := range g {
		files = append(files, storage.CopyFile{
			Name: fmt.Sprintf("~%06d", i), Size: int64(len(part)),
			Sum: sha256.Sum256(part),
		})
	}
	return files
}

func (g given) Open(name string, offset int64) (io.ReadCloser, error) {
	i := slices.IndexFunc(g.Files(), func(f storage.CopyFile) bool { return f.Name == name })
	return io.NopCloser(bytes.NewReader(g[i][offset:])), nil
}

// Parts that are what the service gave, and that are no store's, are found before the day
// that they are needed: verify and restore refuse the same ones.
func TestPartsThatMakeNoStoreAreFound(t *testing.T) {
	a, b := []byte("\x02\x01\x02av"), []byte("\x02\x01\x02bv")
	for what, c := range map[string]struct {
		parts given
		good  bool
	}{
		"in order":      {given{a, b}, true},
		"out of order":  {given{b, a}, false},
		"twice":         {given{a, a}, false},
		"cut off":       {given{a, b[:4]}, false},
		"storage's own": {given{[]byte("\x02\x01\x01sv")}, false},
	} {
		s := newService(t)
		s.instead = c.parts
		secret, _ := newKey(t)
		r := create(t, vaults(t)["directory"], secret)
		if _, err := backup.Make(t.Context(), r, s, options()); err != nil {
			t.Fatal(err)
		}
		if _, err := backup.Verify(t.Context(), r, "", nil); (err == nil) != c.good ||
			!c.good && !errors.Is(err, backup.ErrDamaged) {
			t.Errorf("%s: verified: %v", what, err)
		}
		if _, err := backup.Restore(t.Context(), r, "", storagetest.NewDisk().Node(t), nil); (err == nil) != c.good {
			t.Errorf("%s: restored: %v", what, err)
		}
	}
}

// A backup that could not be read is not made.
func TestASnapshotThatIsTooLargeIsNotMade(t *testing.T) {
	s := newService(t)
	secret, _ := newKey(t)
	r := create(t, vaults(t)["directory"], secret)
	was := backup.BoundSnapshots(100)
	defer backup.BoundSnapshots(was)
	made, err := backup.Make(t.Context(), r, s, options())
	if !errors.Is(err, backup.ErrTooLarge) || made.Snapshot != "" {
		t.Errorf("made %+v: %v", made, err)
	}
	if names, err := r.Snapshots(t.Context()); err != nil || len(names) != 0 {
		t.Errorf("snapshots %v: %v", names, err)
	}
	backup.BoundSnapshots(was)
	if _, err := backup.Make(t.Context(), r, s, options()); err != nil {
		t.Error(err)
	}
	if _, err := backup.Verify(t.Context(), r, "", nil); err != nil {
		t.Error(err)
	}
	// The reader's bound is the same.
	backup.BoundSnapshots(100)
	if _, err := backup.Verify(t.Context(), r, "", nil); err == nil {
		t.Error("a snapshot above the bound was read")
	}
}

// A restore that was interrupted goes on; damage and other people's keys are told.
func TestDamageIsFound(t *testing.T) {
	s := newService(t)
	secret, _ := newKey(t)
	vault, root := folder(t)
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
		if strings.Contains(string(whole), "first of") || !strings.HasPrefix(string(whole), "age-encryption.org/v1\n") {
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
			if _, err := backup.Verify(t.Context(), r, "", nil); !errors.Is(err, backup.ErrDamaged) {
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
		if _, err := backup.Verify(t.Context(), r, "", nil); !errors.Is(err, backup.ErrNotFound) {
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
	for _, text := range []string{
		"", "# only a comment\n", "AGE-SECRET-KEY-1NONSENSE", "age1nonsense",
		"ssh-ed25519 AAAA",
	} {
		if _, err := backup.ParseKey(text); err == nil || strings.Contains(err.Error(), "NONSENSE") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := backup.OpenS3("s3://", backup.S3Options{}); err == nil {
		t.Error("an address without a bucket was taken")
	}
}
