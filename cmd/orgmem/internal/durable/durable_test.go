package durable_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orgmem/cmd/orgmem/internal/durable"
)

func TestAFailedWriteLeavesTheFileAsItWas(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "key")
	if err := durable.WriteFile(path, strings.NewReader("first")); err != nil {
		t.Fatal(err)
	}
	torn := errors.New("torn")
	err := durable.WriteFile(path, io.MultiReader(strings.NewReader("sec"), failing{torn}))
	if !errors.Is(err, torn) {
		t.Errorf("write of content that fails: %v, want %v", err, torn)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "first" {
		t.Errorf("the file holds %q (%v), want what it held before", got, err)
	}

	if err := durable.WriteFile(path, strings.NewReader("second")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "second" {
		t.Errorf("the file holds %q (%v), want the new content", got, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v (%v), want the owner's only", info.Mode(), err)
	}
}

// A name beside the file is nobody's to take: neither a person's draft nor a link that was
// put there to have another file written over.
func TestADraftIsAFileOfItsOwn(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	path, victim := filepath.Join(dir, "settings"), filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := path + durable.DraftSuffix
	if err := os.Symlink(victim, link); err != nil {
		t.Fatal(err)
	}
	if err := durable.WriteFileMode(path, strings.NewReader("new"), 0o640); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(victim); err != nil || string(got) != "mine" {
		t.Errorf("behind the link is %q (%v), want what was there", got, err)
	}
	if to, err := os.Readlink(link); err != nil || to != victim {
		t.Errorf("the link leads to %q: %v", to, err)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode() != 0o640 {
		t.Errorf("the file's mode is %v: %v", info, err)
	}
	torn := errors.New("torn")
	if err := durable.WriteFile(path, failing{torn}); !errors.Is(err, torn) {
		t.Errorf("write of content that fails: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("beside the link and the file there is more: %v, %v", left, err)
	}
}

// What a crash has left is deleted; what somebody writes, and what only looks like a draft, is not.
func TestDraftsOfTheDeadAreSwept(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	stay := []string{"key", "key.draft", "key.x1.draft", ".12.draft", "link.7.draft", "other.3.draft", "folder.9.draft"}
	for _, name := range append([]string{"key.12.draft", "key.9.draft"}, stay[:4]...) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(
		os.Symlink(filepath.Join(dir, "key"), filepath.Join(dir, "link.7.draft")),
		os.WriteFile(filepath.Join(dir, "other.3.draft"), nil, 0o600), os.Mkdir(filepath.Join(dir, "folder.9.draft"), 0o700),
	); err != nil {
		t.Fatal(err)
	}
	// A sweep in the middle of a write.
	err := durable.WriteFile(filepath.Join(dir, "key"), io.MultiReader(strings.NewReader("wh"), doing(func() {
		if err := durable.SweepDrafts(dir, "key"); err != nil {
			t.Error(err)
		}
	}), strings.NewReader("ole")))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "key")); err != nil || string(got) != "whole" {
		t.Errorf("the file holds %q: %v", got, err)
	}
	left := func() (names []string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	slices.Sort(stay)
	if names := left(); !slices.Equal(names, stay) {
		t.Errorf("left are %q, want %q", names, stay)
	}
	if err := durable.SweepDrafts(dir, ""); err != nil {
		t.Error(err)
	}
	if names := left(); slices.Contains(names, "other.3.draft") || len(names) != len(stay)-1 {
		t.Errorf("of all files: left are %q", names)
	}
	if err := durable.SweepDrafts(filepath.Join(dir, "none"), ""); err != nil {
		t.Errorf("a directory that is not there: %v", err)
	}
}

// doing is an empty reader at which something happens.
type doing func()

func (d doing) Read([]byte) (int, error) { d(); return 0, io.EOF }

// A lock has one holder, and is free when that has gone.
func TestALockHasOneHolder(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "lock")
	first, err := durable.Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := durable.Lock(path); !errors.Is(err, durable.ErrBusy) {
		t.Errorf("taken twice: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := durable.Lock(path)
	if err != nil {
		t.Fatalf("given up and not free: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := durable.Lock(link); err == nil || errors.Is(err, durable.ErrBusy) {
		t.Errorf("a link is followed: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
