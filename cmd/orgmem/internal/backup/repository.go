package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"filippo.io/age"
	"github.com/klauspost/compress/zstd"

	"orgmem/storage"
)

const (
	markName       = "orgmem-vault"
	markFormat     = 1
	blobPrefix     = "blobs/"
	snapshotPrefix = "snapshots/"
	maxMarkBytes   = 64 << 10
	// packedSuffix is behind the names of compressed blobs.
	packedSuffix = ".zst"
	// maxUnpackMemory bounds what decompressing takes; the window is some 8 MB at most.
	maxUnpackMemory = 64 << 20
)

// maxSnapshotBytes bounds a snapshot's list in memory, and so what one backup can hold: a
// part takes some 120 bytes of it and a store 90 more, so it has room for 4 million parts,
// 2 TiB of records, or for 2.5 million stores of one part. Tests lower it.
var maxSnapshotBytes = 512 << 20

var (
	// ErrNoVault says that a place holds no vault.
	ErrNoVault = errors.New("no backup vault")
	// ErrForeignKey says that a vault is encrypted for another key.
	ErrForeignKey = errors.New("the vault is encrypted for another key")
	// ErrDamaged says that a file in the vault is not what was stored.
	ErrDamaged = errors.New("damaged")
	// ErrNeedsSecret says that reading needs the secret half of the key.
	ErrNeedsSecret = errors.New("reading a vault needs the secret key")
)

// Key is the operator's: the public half encrypts, the secret half, where there is
// one, decrypts.
type Key struct {
	recipient *age.X25519Recipient
	identity  *age.X25519Identity
}

// NewKey draws a key and returns it with its two spellings.
func NewKey() (key Key, public, secret string, err error) {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return Key{}, "", "", fmt.Errorf("draw a key: %w", err)
	}
	return Key{recipient: id.Recipient(), identity: id}, id.Recipient().String(), id.String(), nil
}

// ParseKey reads a key file as age writes it: a line with a secret key, or one
// with a public key. Empty lines and comments are skipped.
func ParseKey(text string) (Key, error) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if id, err := age.ParseX25519Identity(line); err == nil {
			return Key{recipient: id.Recipient(), identity: id}, nil
		}
		r, err := age.ParseX25519Recipient(line)
		if err != nil { // its message would quote the line
			return Key{}, errors.New("neither a secret nor a public age key")
		}
		return Key{recipient: r}, nil
	}
	return Key{}, errors.New("no key in it")
}

// mark is the content of markName.
type mark struct {
	Format int    `json:"format"`
	Public string `json:"public"`
}

// Repository is a vault whose key is known.
type Repository struct {
	vault Vault
	key   Key
}

// Create opens a vault to write to, and makes it one if it is new.
func Create(ctx context.Context, vault Vault, key Key) (*Repository, error) {
	r, err := Open(ctx, vault, key)
	if !errors.Is(err, ErrNoVault) {
		return r, err
	}
	text, err := json.Marshal(mark{Format: markFormat, Public: key.recipient.String()})
	if err != nil {
		return nil, fmt.Errorf("create vault: %w", err)
	}
	if err := vault.Put(ctx, markName, strings.NewReader(string(text))); err != nil {
		return nil, err
	}
	return &Repository{vault, key}, nil
}

// Open opens a vault that exists: ErrNoVault, ErrForeignKey.
func Open(ctx context.Context, vault Vault, key Key) (*Repository, error) {
	file, err := vault.Get(ctx, markName)
	if errors.Is(err, ErrNotFound) {
		return nil, ErrNoVault
	}
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxMarkBytes))
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, fmt.Errorf("open vault: %w", err)
	}
	var m mark
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("open vault: %s: %w", markName, err)
	}
	if m.Format != markFormat {
		return nil, fmt.Errorf("open vault: it has format %d, this program knows %d", m.Format, markFormat)
	}
	if m.Public != key.recipient.String() {
		return nil, fmt.Errorf("%w: %s", ErrForeignKey, m.Public)
	}
	return &Repository{vault, key}, nil
}

// Sum is a file's SHA-256.
type Sum [sha256.Size]byte

// MarshalText writes it in hexadecimal.
func (s Sum) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(s[:])), nil }

// UnmarshalText reads it.
func (s *Sum) UnmarshalText(text []byte) error {
	raw, err := hex.DecodeString(string(text))
	if err != nil || len(raw) != len(s) {
		return errors.New("not a SHA-256 sum")
	}
	*s = Sum(raw)
	return nil
}

func blobName(s Sum) string {
	h := hex.EncodeToString(s[:])
	return blobPrefix + h[:2] + "/" + h
}

// File is one file of a store.
type File struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
	Sum  Sum    `json:"sha256"`
}

// Store is one store as it was copied; its name is package storage's.
type Store struct {
	Name    string `json:"store"`
	Version uint64 `json:"version"` // how many batches it holds
	Files   []File `json:"files"`
}

// copied returns the files as package storage has them.
func (s Store) copied() []storage.CopyFile {
	files := make([]storage.CopyFile, len(s.Files))
	for i, f := range s.Files {
		files[i] = storage.CopyFile{Name: f.Name, Size: f.Size, Sum: f.Sum}
	}
	return files
}

// Snapshot is one backup.
type Snapshot struct {
	Program string    `json:"program"` // the version that served
	Begun   time.Time `json:"begun"`
	Ended   time.Time `json:"ended"`
	Stores  []Store   `json:"stores"`
}

// packing writes what is to be encrypted.
type packing func(to io.Writer, content io.Reader) error

func asItIs(to io.Writer, content io.Reader) error {
	_, err := io.Copy(to, content)
	return err
}

// packed compresses it: records are not compressed as the files of stores are.
func packed(to io.Writer, content io.Reader) error {
	w, err := zstd.NewWriter(to, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	return errors.Join(asItIs(w, content), w.Close())
}

// put encrypts an object into the vault.
func (r *Repository) put(ctx context.Context, name string, content io.Reader, pack packing) error {
	reader, writer := io.Pipe()
	go func() {
		w, err := age.Encrypt(writer, r.key.recipient)
		if err == nil {
			if err = pack(w, content); err == nil {
				err = w.Close()
			}
		}
		writer.CloseWithError(err) // nil is the end
	}()
	err := r.vault.Put(ctx, name, reader)
	// The encrypting goroutine ends with the pipe, also when the vault gave up.
	return errors.Join(err, reader.Close())
}

// get opens an object and decrypts it.
func (r *Repository) get(ctx context.Context, name string) (io.ReadCloser, error) {
	if r.key.identity == nil {
		return nil, ErrNeedsSecret
	}
	file, err := r.vault.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	plain, err := age.Decrypt(file, r.key.identity)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w: %w", name, ErrDamaged, err), file.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{plain, file}, nil
}

// blob opens a file of a store. The reader reports at the end whether it is what was
// stored.
func (r *Repository) blob(ctx context.Context, f File) (io.ReadCloser, error) {
	if f.Size == 0 {
		return io.NopCloser(strings.NewReader("")), nil
	}
	file, name, err := r.unpacked(ctx, blobName(f.Sum))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	return &proven{ReadCloser: file, hash: sha256.New(), file: f, blob: name}, nil
}

// unpacked opens a blob that is compressed, or is from a program that did not, and
// returns its name.
func (r *Repository) unpacked(ctx context.Context, name string) (io.ReadCloser, string, error) {
	file, err := r.get(ctx, name+packedSuffix)
	if errors.Is(err, ErrNotFound) {
		file, err = r.get(ctx, name)
		return file, name, err
	}
	name += packedSuffix
	if err != nil {
		return nil, name, err
	}
	plain, err := zstd.NewReader(file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxUnpackMemory))
	if err != nil {
		return nil, name, errors.Join(fmt.Errorf("%s: %w", name, err), file.Close())
	}
	return unpacking{plain, file}, name, nil
}

// unpacking is a blob that is being decompressed.
type unpacking struct {
	*zstd.Decoder
	from io.Closer
}

// Close ends it.
func (u unpacking) Close() error {
	u.Decoder.Close()
	return u.from.Close()
}

// Snapshots lists the names of the backups, oldest first.
func (r *Repository) Snapshots(ctx context.Context) ([]string, error) {
	names, err := r.vault.List(ctx, snapshotPrefix)
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		names[i] = path.Base(name)
	}
	return names, nil
}

// Snapshot reads one; an empty name is the newest.
func (r *Repository) Snapshot(ctx context.Context, name string) (string, Snapshot, error) {
	var s Snapshot
	if name == "" {
		names, err := r.Snapshots(ctx)
		if err != nil {
			return "", s, err
		}
		if len(names) == 0 {
			return "", s, fmt.Errorf("no backup was ever finished here: %w", ErrNotFound)
		}
		name = names[len(names)-1]
	}
	if name != path.Base(name) {
		return "", s, fmt.Errorf("%q: %w", name, ErrNotFound)
	}
	file, err := r.get(ctx, snapshotPrefix+name)
	if err != nil {
		return "", s, err
	}
	text, err := io.ReadAll(io.LimitReader(file, int64(maxSnapshotBytes)+1))
	if err = errors.Join(err, file.Close()); err != nil {
		return "", s, fmt.Errorf("snapshot %s: %w: %w", name, ErrDamaged, err)
	}
	if len(text) > maxSnapshotBytes {
		return "", s, fmt.Errorf("snapshot %s has more than %d bytes", name, maxSnapshotBytes)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return "", s, fmt.Errorf("snapshot %s: %w: %w", name, ErrDamaged, err)
	}
	return name, s, nil
}
