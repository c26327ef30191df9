package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// payload is what goes along with the binary, made once for all targets.
type payload struct {
	readme, licence, notice, changelog []byte
	manual                             map[string][]byte // by file: orgmem.1
	completions                        map[string][]byte // by shell
	config                             []byte            // with the data directory of the packages
	unit                               []byte
	scripts                            string // the folder of the packages' scripts
}

// dataDir is where packages and the image keep what lasts.
const dataDir = "/var/lib/orgmem"

func newPayload(ctx context.Context, root string, own built) (payload, error) {
	p := payload{manual: map[string][]byte{}, completions: map[string][]byte{}}
	var problems []error
	read := func(into *[]byte, name string) {
		raw, err := os.ReadFile(filepath.Join(root, name))
		*into = raw
		problems = append(problems, err)
	}
	read(&p.readme, "README.md")
	read(&p.licence, "LICENSE")
	read(&p.notice, "NOTICE")
	read(&p.changelog, "CHANGELOG.md")
	read(&p.unit, "deploy/package/orgmem.service")
	p.scripts = filepath.Join(root, "deploy", "package")
	printed := func(args ...string) []byte {
		out, err := own.print(ctx, args...)
		problems = append(problems, err)
		return out
	}
	p.manual["orgmem.1"] = printed("man")
	p.manual["orgmem.toml.5"] = printed("man", "orgmem.toml")
	for _, shell := range []string{"bash", "zsh", "fish"} {
		p.completions[shell] = printed("completion", shell)
	}
	p.config = printed("config", "print", "--data", dataDir)
	return p, errors.Join(problems...)
}

// archive is what a .tar.gz of a target holds.
func (p payload) archive(b built, licences, bom []byte) []entry {
	entries := []entry{
		{name: "orgmem", mode: 0o755, source: b.path},
		{name: "README.md", mode: 0o644, data: p.readme},
		{name: "LICENSE", mode: 0o644, data: p.licence},
		{name: "NOTICE", mode: 0o644, data: p.notice},
		{name: "LICENSES-THIRD-PARTY", mode: 0o644, data: licences},
		{name: "CHANGELOG.md", mode: 0o644, data: p.changelog},
		{name: "sbom.cdx.json", mode: 0o644, data: bom},
		{name: "orgmem.toml", mode: 0o644, data: p.config},
	}
	if b.os == "linux" {
		entries = append(entries, entry{name: "systemd/orgmem.service", mode: 0o644, data: p.unit})
	}
	for name, page := range p.manual {
		entries = append(entries, entry{name: "man/" + name, mode: 0o644, data: page})
	}
	for shell, script := range p.completions {
		entries = append(entries, entry{name: "completions/orgmem." + shell, mode: 0o644, data: script})
	}
	return entries
}

// system is what a package or the image puts into the file system, but settings and state.
func (p payload) system(b built, licences, bom []byte) ([]entry, error) {
	changelog, err := zipped(p.changelog)
	if err != nil {
		return nil, err
	}
	const docs = "usr/share/doc/orgmem/"
	entries := []entry{
		{name: "usr/bin/orgmem", mode: 0o755, source: b.path},
		{name: docs + "copyright", mode: 0o644, data: []byte(copyrightFile)},
		{name: docs + "LICENSE", mode: 0o644, data: p.licence},
		{name: docs + "NOTICE", mode: 0o644, data: p.notice},
		{name: docs + "LICENSES-THIRD-PARTY", mode: 0o644, data: licences},
		{name: docs + "changelog.gz", mode: 0o644, data: changelog},
		{name: docs + "sbom.cdx.json", mode: 0o644, data: bom},
	}
	for name, page := range p.manual {
		packed, err := zipped(page)
		if err != nil {
			return nil, err
		}
		section := name[strings.LastIndexByte(name, '.')+1:]
		entries = append(entries, entry{name: "usr/share/man/man" + section + "/" + name + ".gz", mode: 0o644, data: packed})
	}
	return entries, nil
}

// copyrightFile is what Debian wants to find at one place.
const copyrightFile = `orgmem is Copyright 2026 The orgmem authors.

Licensed under the Apache License, Version 2.0: LICENSE beside this file, which Debian also has at
/usr/share/common-licenses/Apache-2.0. What is shipped inside, and whose it is, is in NOTICE; the
licences of it are in LICENSES-THIRD-PARTY.
`

var licenceFile = regexp.MustCompile(`(?i)^(.*licen[cs]e.*|copying.*|notice.*)$`)

// licencesOf is one text with the licences of all modules that are linked for a target, of Go
// itself, and of the models and lists inside.
func licencesOf(ctx context.Context, root string, t target) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-tags", "nomsgpack", "-deps", "-json=Module", "./cmd/orgmem")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch)
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list for %s: %w", t, err)
	}
	folders := map[string]string{} // by what they are the licences of
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		var p struct {
			Module *struct {
				Path, Version, Dir string
				Main               bool
			}
		}
		if err := decoder.Decode(&p); err != nil {
			return nil, err
		}
		if m := p.Module; m != nil && !m.Main {
			folders[m.Path+" "+m.Version] = m.Dir
		}
	}
	goroot, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	folders["Go, its runtime and standard library"] = strings.TrimSpace(string(goroot))
	for _, m := range models {
		dir := filepath.Dir(m.path)
		folders[dir] = filepath.Join(root, dir)
	}
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		if err := addLicences(&b, name, folders[name]); err != nil {
			return nil, err
		}
	}
	console, err := os.ReadFile(filepath.Join(root, "console/dist/licences.txt"))
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(&b, "%s\nconsole\n\n%s\n", rule, console)
	return b.Bytes(), nil
}

var rule = strings.Repeat("=", 80)

// addLicences appends the texts of one folder. A model's folder may have none: its licence is
// then told by NOTICE alone.
func addLicences(b *bytes.Buffer, name, dir string) error {
	files, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	found := 0
	for _, f := range files {
		if f.IsDir() || !licenceFile.MatchString(f.Name()) || strings.HasSuffix(f.Name(), ".go") {
			continue
		}
		raw, err := fs.ReadFile(os.DirFS(dir), f.Name())
		if err != nil {
			return err
		}
		found++
		fmt.Fprintf(b, "%s\n%s: %s\n\n%s\n", rule, name, f.Name(), bytes.TrimSpace(raw))
	}
	if found == 0 && strings.Contains(name, " v") {
		return fmt.Errorf("no licence found of %s", name)
	}
	return nil
}
