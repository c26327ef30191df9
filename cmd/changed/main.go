// Command changed names the packages whose files differ from a commit, for make check:
//
//	go run ./cmd/changed [-base REVISION] [-importers]
//
// It prints one line with the folders, as the go command takes them. A file that is no Go
// file belongs to the package of its folder, or to the nearest above it: a test's data and
// an embedded model count for who reads them. When go.mod or go.sum differs, every package
// does. With -importers the packages follow that import one of these directly, in tests too.
//
// Without -base the commit is where this branch left main (origin/main in a clone without
// a main of its own). Where nothing was committed
// since, what differs is what is not committed yet; and if that is nothing either, what
// the last commit changed.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "changed:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, stdout io.Writer, args []string) error {
	flags := flag.NewFlagSet("changed", flag.ContinueOnError)
	base := flags.String("base", "", "the commit to compare with")
	importers := flags.Bool("importers", false, "name the packages that import them, too")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *base == "" {
		found, err := since(ctx)
		if err != nil {
			return err
		}
		*base = found
	}
	files, err := differing(ctx, *base)
	if err != nil {
		return err
	}
	all, err := packages(ctx)
	if err != nil {
		return err
	}
	names := changed(all, files)
	if *importers {
		names = withImporters(all, names)
	}
	_, err = fmt.Fprintln(stdout, strings.Join(names, " "))
	return err
}

// since is the commit to compare with when none is named.
func since(ctx context.Context) (string, error) {
	head, err := output(ctx, "git", "rev-parse", "HEAD")
	if err != nil {
		return "", err
	}
	head = strings.TrimSpace(head)
	for _, trunk := range []string{"main", "origin/main"} {
		left, err := output(ctx, "git", "merge-base", trunk, "HEAD")
		if err != nil {
			continue
		}
		if left = strings.TrimSpace(left); left != head {
			return left, nil
		}
		break
	}
	files, err := differing(ctx, head)
	if err != nil || len(files) > 0 {
		return head, err
	}
	return head + "~1", nil
}

// differing are the files that differ from a commit: changed, new or removed, committed
// or not. Files that git ignores are left out.
func differing(ctx context.Context, base string) (files []string, err error) {
	for _, args := range [][]string{
		{"diff", "--name-only", "--no-renames", "--no-relative", base, "--"},
		{"ls-files", "--others", "--exclude-standard", "--full-name"},
	} {
		out, err := output(ctx, "git", args...)
		if err != nil {
			return nil, err
		}
		files = append(files, strings.Fields(out)...)
	}
	return files, nil
}

// pkg is what changed needs to know of a package.
type pkg struct {
	ImportPath, Dir                    string
	Imports, TestImports, XTestImports []string
}

// packages lists the packages of the repository, with Dir from its root.
func packages(ctx context.Context) (all []pkg, err error) {
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	out, err := output(ctx, "go", "list", "-e", "-json=ImportPath,Dir,Imports,TestImports,XTestImports", "./...")
	if err != nil {
		return nil, err
	}
	for decoder := json.NewDecoder(strings.NewReader(out)); ; {
		var p pkg
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("what go list printed: %w", err)
		}
		if p.Dir, err = filepath.Rel(root, p.Dir); err != nil {
			return nil, err
		}
		p.Dir = filepath.ToSlash(p.Dir)
		all = append(all, p)
	}
}

// changed names the packages that files belong to, sorted.
func changed(all []pkg, files []string) (names []string) {
	known := map[string]bool{}
	for _, p := range all {
		known[p.Dir] = true
	}
	for _, file := range files {
		if file == "go.mod" || file == "go.sum" {
			return []string{"./..."}
		}
		dir := path.Dir(file)
		for !known[dir] && dir != "." {
			dir = path.Dir(dir)
		}
		if known[dir] {
			names = append(names, argument(dir))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// withImporters adds to packages those that import one of them.
func withImporters(all []pkg, names []string) []string {
	wanted := map[string]bool{}
	for _, p := range all {
		if slices.Contains(names, argument(p.Dir)) {
			wanted[p.ImportPath] = true
		}
	}
	for _, p := range all {
		imports := slices.Concat(p.Imports, p.TestImports, p.XTestImports)
		if slices.ContainsFunc(imports, func(to string) bool { return wanted[to] }) {
			names = append(names, argument(p.Dir))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// argument is a folder as the go command takes it.
func argument(dir string) string {
	if dir == "." {
		return "."
	}
	return "./" + dir
}

// output runs a command and returns what it prints; what it complains of is in the error.
func output(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // git and go, with arguments from here
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", name, args[0], err, bytes.TrimSpace(complaint.Bytes()))
	}
	return string(out), nil
}
