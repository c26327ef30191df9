package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"orgmem/cmd/orgmem/internal/backup"
	"orgmem/cmd/orgmem/internal/config"
	"orgmem/cmd/orgmem/internal/durable"
	"orgmem/storage"
)

const (
	envBackupKey = "ORGMEM_BACKUP_KEY_FILE"
	// restoringFile stands in a data directory that a restore has not finished; it
	// holds the snapshot's name.
	restoringFile = "RESTORING"
	// maxKeyFile bounds a key file; a key is one line.
	maxKeyFile = 64 << 10
)

func newBackup(w world) *cobra.Command {
	c := group("backup", "Keep encrypted copies of everything, and bring them back (operator)",
		newBackupKey(w), newBackupCreate(w), newBackupVerify(w), newBackupRestore(w))
	c.Long = "A vault is a directory, or s3://bucket/prefix with the credentials in AWS_ACCESS_KEY_ID,\n" +
		"AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and AWS_REGION, and the address of a store other\n" +
		"than Amazon's in " + config.EnvS3Endpoint + ". Backups are incremental, and each is complete."
	return c
}

// vaultFlags say how a vault is read or written.
type vaultFlags struct{ keyFile string }

func (f *vaultFlags) register(w world, c *cobra.Command) {
	c.Flags().StringVar(&f.keyFile, "key", w.env(envBackupKey, ""),
		"file with the age key; its public half is enough for create")
}

func (f *vaultFlags) vault(w world, address string) (backup.Vault, error) {
	if !backup.IsS3(address) {
		return backup.OpenDirectory(address)
	}
	return backup.OpenS3(address, s3Options(w))
}

// s3Options are the environment's.
func s3Options(w world) backup.S3Options {
	return backup.S3Options{
		Endpoint: w.env(config.EnvS3Endpoint, ""), Region: w.env("AWS_REGION", ""),
		AccessKey: w.env("AWS_ACCESS_KEY_ID", ""), SecretKey: w.env("AWS_SECRET_ACCESS_KEY", ""),
		SessionToken: w.env("AWS_SESSION_TOKEN", ""),
	}
}

func (f *vaultFlags) key() (backup.Key, error) {
	if f.keyFile == "" {
		return backup.Key{}, fmt.Errorf("%w: --key FILE (or %s) names the key; `orgmem backup keygen FILE` makes one",
			errUsage, envBackupKey)
	}
	raw, err := os.ReadFile(f.keyFile)
	if err != nil {
		return backup.Key{}, fmt.Errorf("backup key: %w", err)
	}
	if len(raw) > maxKeyFile {
		return backup.Key{}, fmt.Errorf("backup key: %s is no key file", f.keyFile)
	}
	key, err := backup.ParseKey(string(raw))
	if err != nil {
		return backup.Key{}, fmt.Errorf("backup key: %s: %w", f.keyFile, err)
	}
	return key, nil
}

func newBackupKey(w world) *cobra.Command {
	return &cobra.Command{
		Use: "keygen FILE", Short: "Draw a key: the secret half into FILE, the public half into FILE.pub", Args: wantArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			_, public, secret, err := backup.NewKey()
			if err != nil {
				return err
			}
			file := args[0]
			if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%s is there already; a key that is overwritten makes its backups unreadable", file)
			}
			if err := errors.Join(writeSecret(file, secret), writeSecret(file+".pub", public)); err != nil {
				return err
			}
			out := struct {
				Secret string `json:"secretFile"`
				Public string `json:"publicFile"`
				Key    string `json:"publicKey"`
			}{file, file + ".pub", public}
			return w.answer(c, out, func(to io.Writer) {
				fmt.Fprintf(to, "Secret key in %s: keep it away from the servers; without it no backup can be read.\nPublic key "+
					"in %s: %s\n", out.Secret, out.Public, public)
			})
		},
	}
}

func newBackupCreate(w world) *cobra.Command {
	var (
		at    operatorFlags
		flags vaultFlags
	)
	c := &cobra.Command{
		Use: "create VAULT", Short: "Copy what is new since the last backup into a vault, while the service runs",
		Args: wantArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			key, err := flags.key()
			if err != nil {
				return err
			}
			operator, err := at.client(w)
			if err != nil {
				return err
			}
			vault, err := flags.vault(w, args[0])
			if err != nil {
				return err
			}
			repository, err := backup.Create(c.Context(), vault, key)
			if err != nil {
				return fmt.Errorf("backup: %w", err)
			}
			made, err := backup.Make(c.Context(), repository, operator.Backup(), backup.Options{
				Clock: w.clock, Random: rand.Reader, Program: version, Progress: w.storeProgress(c, "copied"),
			})
			if err != nil {
				return err
			}
			return w.answer(c, made, func(to io.Writer) {
				fmt.Fprintf(to, "Snapshot %s: %d stores, %d bytes, of which %d are new\n", made.Snapshot, made.Stores, made.Bytes,
					made.NewBytes)
			})
		},
	}
	at.register(w, c)
	flags.register(w, c)
	return c
}

// storeProgress prints a line for a person at every hundredth of the way; for a script
// it prints nothing.
func (w world) storeProgress(c *cobra.Command, done string) backup.Progress {
	if asJSON, err := c.Flags().GetBool("json"); err != nil || asJSON {
		return nil
	}
	shown := -1
	return func(n, total int, bytes int64) {
		if percent := 100 * n / total; percent != shown {
			shown = percent
			fmt.Fprintf(w.err, "%3d %%  %d of %d stores %s, %d bytes\n", percent, n, total, done, bytes)
		}
	}
}

func newBackupVerify(w world) *cobra.Command {
	var (
		flags    vaultFlags
		snapshot string
	)
	c := &cobra.Command{
		Use: "verify VAULT", Short: "Read a whole backup and compare it with its sums", Args: wantArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			repository, err := flags.open(c.Context(), w, args[0])
			if err != nil {
				return err
			}
			verified, err := backup.Verify(c.Context(), repository, snapshot, w.storeProgress(c, "read"))
			if err != nil {
				return err
			}
			return w.answer(c, verified, func(to io.Writer) {
				fmt.Fprintf(to, "Snapshot %s is whole: %d stores, %d files, %d bytes\n", verified.Snapshot, verified.Stores,
					verified.Files, verified.Bytes)
			})
		},
	}
	flags.register(w, c)
	c.Flags().StringVar(&snapshot, "snapshot", "", "its name (default: the newest)")
	return c
}

// open opens a vault that must exist.
func (f *vaultFlags) open(ctx context.Context, w world, address string) (*backup.Repository, error) {
	key, err := f.key()
	if err != nil {
		return nil, err
	}
	if !backup.IsS3(address) {
		if _, err := os.Stat(address); err != nil { // opening would make it
			return nil, fmt.Errorf("backup: %w", err)
		}
	}
	vault, err := f.vault(w, address)
	if err != nil {
		return nil, err
	}
	repository, err := backup.Open(ctx, vault, key)
	if err != nil {
		return nil, fmt.Errorf("backup: %s: %w", address, err)
	}
	return repository, nil
}

func newBackupRestore(w world) *cobra.Command {
	var (
		flags    vaultFlags
		snapshot string
		data     string
	)
	c := &cobra.Command{
		Use: "restore VAULT --data DIR", Short: "Make a data directory from a backup; then start the service on it",
		Args: wantArgs(1),
		Long: "The directory must be empty or missing, or hold an interrupted restore of the same snapshot,\n" +
			"which goes on where it was. The service that is started on it is a cluster of one, which\n" +
			"grows as any other; see docs/operations.md.",
		RunE: func(c *cobra.Command, args []string) error {
			repository, err := flags.open(c.Context(), w, args[0])
			if err != nil {
				return err
			}
			restored, err := restoreInto(c, w, repository, restoration{data: data, snapshot: snapshot})
			if err != nil {
				return err
			}
			return w.answer(c, restored, func(to io.Writer) {
				fmt.Fprintf(to, "Snapshot %s is back: %d stores, %d bytes. Start it: %s serve --data %s\n", restored.Snapshot,
					restored.Stores, restored.Bytes, w.program, data)
			})
		},
	}
	flags.register(w, c)
	c.Flags().StringVar(&data, "data", "", "the data directory to make")
	c.Flags().StringVar(&snapshot, "snapshot", "", "its name (default: the newest)")
	required(c, "data")
	return c
}

// restoration is what is restored to where.
type restoration struct{ data, snapshot string }

func restoreInto(c *cobra.Command, w world, repository *backup.Repository,
	what restoration,
) (restored backup.Restored, err error) {
	ctx := c.Context()
	if what.snapshot, _, err = repository.Snapshot(ctx, what.snapshot); err != nil {
		return restored, fmt.Errorf("restore: %w", err)
	}
	if err := claim(what); err != nil {
		return restored, err
	}
	node, err := storage.Open(storage.Options{Dir: what.data, Clock: w.clock, Logger: newLogger(w, config.Server{})})
	if err != nil {
		return restored, fmt.Errorf("restore: %w", err)
	}
	restored, err = backup.Restore(ctx, repository, what.snapshot, node, w.storeProgress(c, "restored"))
	if err = errors.Join(err, node.Close()); err != nil {
		return restored, err
	}
	if err := os.Remove(filepath.Join(what.data, restoringFile)); err != nil {
		return restored, fmt.Errorf("restore: %w", err)
	}
	return restored, durable.SyncDir(what.data)
}

// claim takes an empty directory, or one that an earlier attempt at the same
// snapshot has left.
func claim(what restoration) error {
	if err := os.MkdirAll(what.data, config.DirMode0700); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	entries, err := os.ReadDir(what.data)
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	mark := filepath.Join(what.data, restoringFile)
	if len(entries) == 0 {
		return writeSecret(mark, what.snapshot)
	}
	raw, err := os.ReadFile(mark)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("restore: %s is not empty; name a directory that is, or does not exist", what.data)
	}
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	if there := strings.TrimSpace(string(raw)); there != what.snapshot {
		return fmt.Errorf("restore: %s holds a part of snapshot %s; finish that with --snapshot, or delete the directory",
			what.data, there)
	}
	return nil
}

// refuseHalfRestored keeps the service from starting on a part of the data.
func refuseHalfRestored(data string) error {
	raw, err := os.ReadFile(filepath.Join(data, restoringFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(fmt.Errorf("%s holds a part of snapshot %s: run `orgmem backup restore` again to finish it", data,
		strings.TrimSpace(string(raw))), err)
}
