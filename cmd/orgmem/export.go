package main

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"orgmem/cmd/orgmem/internal/client"
	"orgmem/cmd/orgmem/internal/config"
	"orgmem/cmd/orgmem/internal/vault"
	pb "orgmem/proto"
)

// The formats of an export.
const (
	formatJSON     = "json"
	formatMarkdown = "markdown"
)

// exportFlags are those of export.
type exportFlags struct {
	memory memoryFlags
	format string
	all    bool
}

// exported is what the command prints with --json.
type exported struct {
	ExportID string         `json:"exportId"`
	Scope    string         `json:"scope"`
	Path     string         `json:"path"`
	Bytes    int64          `json:"bytes"` // of the service's document
	SHA256   string         `json:"sha256"`
	Markdown *vault.Summary `json:"markdown,omitempty"`
}

func newExport(w world) *cobra.Command {
	var f exportFlags
	c := &cobra.Command{
		Use: "export PATH", Short: "Write a memory to a file, or as Markdown to a folder",
		Long: "Writes what is in the key owner's memory, with --subject in a subject's, with --all in all memories of the\n" +
			"organization. As json PATH is a file, the service's document (docs/export.md), which orgmem\n" +
			"import-export brings back whole. As markdown it is a folder, a file for each note, which orgmem import\n" +
			"takes in. Nothing that is there is overwritten.",
		Args: wantArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return runExport(c, w, f, args[0]) },
	}
	f.memory.register(w, c)
	c.Flags().StringVar(&f.format, "format", formatJSON, formatJSON+" or "+formatMarkdown)
	c.Flags().BoolVar(&f.all, "all", false, "all memories of the organization; needs a key with the scope admin")
	return c
}

func runExport(c *cobra.Command, w world, f exportFlags, path string) (err error) {
	scope := pb.ExportScopeUser
	switch {
	case f.format != formatJSON && f.format != formatMarkdown:
		return fmt.Errorf("%w: --format %s: there are %s and %s", errUsage, f.format, formatJSON, formatMarkdown)
	case f.all && f.memory.subject != "":
		return fmt.Errorf("%w: --all and --subject exclude each other", errUsage)
	case f.all:
		scope = pb.ExportScopeOrg
	}
	if err := vacant(path, f.format); err != nil {
		return err
	}
	service, err := f.memory.client(w)
	if err != nil {
		return err
	}
	var key [16]byte
	if _, err := io.ReadFull(rand.Reader, key[:]); err != nil {
		return fmt.Errorf("export: random: %w", err)
	}
	made, err := service.MakeExport(c.Context(), scope, "export-"+hex.EncodeToString(key[:]))
	if err != nil {
		return exportError(err, f.all)
	}
	draft, err := download(c, service, made, filepath.Dir(filepath.Clean(path)))
	if err != nil {
		return err
	}
	defer os.Remove(draft) //nolint:errcheck // it has become the export, or is left over
	answer := exported{ExportID: made.ID, Scope: made.Scope, Path: path, Bytes: made.Bytes, SHA256: made.SHA256}
	if f.format == formatMarkdown {
		sum, err := vault.Write(draft, path)
		if err != nil {
			return err
		}
		answer.Markdown = &sum
	} else if err := place(draft, path); err != nil {
		return err
	}
	return w.answer(c, answer, func(out io.Writer) {
		fmt.Fprintf(out, "%s: export %s, %d bytes\n", path, made.ID, made.Bytes)
		if s := answer.Markdown; s != nil {
			fmt.Fprintln(out, sayMarkdown(*s))
		}
	})
}

// sayMarkdown says what a folder holds.
func sayMarkdown(s vault.Summary) string {
	verb := "are"
	if s.Superseded+s.Forgotten == 1 {
		verb = "is"
	}
	return fmt.Sprintf("%s, %s, %s; %d superseded and %s %s not in it", howMany(s.Memories, "memory", "memories"),
		howMany(s.Notes, "note", "notes"), howMany(s.Entities, "page of an entity", "pages of entities"), s.Superseded,
		howMany(s.Forgotten, "forgotten note", "forgotten notes"), verb)
}

// howMany is a number with the form of the noun that goes with it.
func howMany(n int, one, more string) string {
	if n == 1 {
		more = one
	}
	return fmt.Sprintf("%d %s", n, more)
}

// place gives a file its name. A link replaces nothing that came meanwhile; not every file
// system has them.
func place(draft, path string) error {
	err := os.Link(draft, path)
	if err != nil && !errors.Is(err, os.ErrExist) {
		if err = vacant(path, formatJSON); err == nil {
			err = os.Rename(draft, path)
		}
	}
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// vacant refuses a path that something would be lost at, before the service works.
func vacant(path, format string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("export: %w", err)
	case format == formatMarkdown && info.IsDir():
		return nil // it is looked at whether it is empty
	}
	return fmt.Errorf("export: %s is there already", path)
}

func exportError(err error, all bool) error {
	if p, ok := errors.AsType[*client.Problem](err); ok && p.Status == 403 {
		scope := pb.ScopeWrite
		if all {
			scope = pb.ScopeAdmin
		}
		return fmt.Errorf("export: the key needs the scope %s: %w", scope, err)
	}
	return fmt.Errorf("export: %w", err)
}

// download fetches a document into a file beside where it goes, and compares it with what
// the service says of it.
func download(c *cobra.Command, service *client.Client, made client.Export, dir string) (string, error) {
	if err := os.MkdirAll(dir, config.DirMode0700); err != nil {
		return "", fmt.Errorf("export: %w", err)
	}
	file, err := os.CreateTemp(dir, ".orgmem-export-*") // mode 0600
	if err != nil {
		return "", fmt.Errorf("export: %w", err)
	}
	sum := sha256.New()
	err = service.Download(c.Context(), made, io.MultiWriter(file, sum))
	if err == nil && hex.EncodeToString(sum.Sum(nil)) != made.SHA256 {
		err = errors.New("what was downloaded is not what the service wrote (its SHA-256 differs); run it again")
	}
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err != nil {
		os.Remove(file.Name()) //nolint:errcheck // the first error says what is wrong
		return "", fmt.Errorf("export: %w", err)
	}
	return file.Name(), nil
}
