package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"orgmem/cmd/orgmem/internal/durable"
)

// ErrNotFound says that a vault has no object of a name.
var ErrNotFound = errors.New("not in the vault")

// Vault is where objects lie. Names are slash-separated and made by this package.
type Vault interface {
	// Put stores an object whole or not at all: after a failure, or a crash, nothing
	// has the name. It is durable on return.
	Put(ctx context.Context, name string, content io.Reader) error
	// Get opens an object; ErrNotFound. The caller closes it.
	Get(ctx context.Context, name string) (io.ReadCloser, error)
	// Has reports whether there is an object.
	Has(ctx context.Context, name string) (bool, error)
	// List returns the names that begin with a prefix that ends in a slash, sorted.
	List(ctx context.Context, prefix string) ([]string, error)
}

const vaultDirMode = 0o700

// directory is a vault on a file system.
type directory struct{ root string }

// OpenDirectory returns the vault in a directory, which is made if it is missing. What a crash
// has left half written in it is deleted.
func OpenDirectory(root string) (Vault, error) {
	if err := os.MkdirAll(root, vaultDirMode); err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		return durable.SweepDrafts(path, "")
	})
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	return directory{root}, nil
}

func (d directory) path(name string) string { return filepath.Join(d.root, filepath.FromSlash(name)) }

func (d directory) Put(_ context.Context, name string, content io.Reader) error {
	path := d.path(name)
	if err := os.MkdirAll(filepath.Dir(path), vaultDirMode); err != nil {
		return fmt.Errorf("vault: %w", err)
	}
	if err := durable.WriteFile(path, content); err != nil {
		return fmt.Errorf("vault: write %s: %w", name, err)
	}
	return nil
}

func (d directory) Get(_ context.Context, name string) (io.ReadCloser, error) {
	f, err := os.Open(d.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", name, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	return f, nil
}

func (d directory) Has(_ context.Context, name string) (bool, error) {
	_, err := os.Stat(d.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("vault: %w", err)
	}
	return true, nil
}

func (d directory) List(_ context.Context, prefix string) ([]string, error) {
	entries, err := os.ReadDir(d.path(prefix))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("vault: %w", err)
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && !strings.HasSuffix(e.Name(), durable.DraftSuffix) {
			names = append(names, prefix+e.Name())
		}
	}
	sort.Strings(names)
	return names, nil
}
