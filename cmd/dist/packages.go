package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // the packagers register themselves
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// Where packages have what a shell completes with.
var completionPaths = map[string]string{
	"bash": "usr/share/bash-completion/completions/orgmem",
	"zsh":  "usr/share/zsh/vendor-completions/_orgmem",
	"fish": "usr/share/fish/vendor_completions.d/orgmem.fish",
}

// zshOfRPM is where distributions with RPM have zsh look.
const zshOfRPM = "usr/share/zsh/site-functions/_orgmem"

// configFile holds the settings; its owner is the administrator.
const configFile = "etc/orgmem/orgmem.toml"

// writePackage makes a package in dir, format deb or rpm, and returns its file. staging is for
// what nfpm wants to find as files.
func writePackage(format, dir, staging string, r release, b built, p payload, entries []entry) (string, error) {
	entries = append(entries, entry{name: "usr/lib/systemd/system/orgmem.service", mode: 0o644, data: p.unit})
	for shell, script := range p.completions {
		name := completionPaths[shell]
		if format == "rpm" && shell == "zsh" {
			name = zshOfRPM
		}
		entries = append(entries, entry{name: name, mode: 0o644, data: script})
	}
	contents, err := stage(staging, entries)
	if err != nil {
		return "", err
	}
	config, err := stage(staging, []entry{{name: configFile, mode: 0o640, data: p.config}})
	if err != nil {
		return "", err
	}
	config[0].Type = files.TypeConfigNoReplace
	contents = append(contents, config[0],
		// The groups are made by the script after the files: it gives these to them.
		folder("/etc/orgmem", 0o750), folder(dataDir, 0o700))
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "orgmem", Arch: b.arch, Platform: "linux", Version: r.packageVersion(), VersionSchema: "none", Release: "1",
		Section: "database", Priority: "optional", Maintainer: "The orgmem authors <orgmem@localhost.localdomain>",
		Description: "memory for an organization: text in, found again by meaning\n" +
			"One static binary with its models inside: an HTTP interface, hybrid search\n" +
			"in a hundred languages, a console, a cluster of several nodes. It needs no\n" +
			"other service.",
		License: "Apache-2.0", MTime: r.time, DisableGlobbing: true,
		Overridables: nfpm.Overridables{
			Contents: contents,
			Scripts: nfpm.Scripts{
				PostInstall: filepath.Join(p.scripts, "postinst"),
				PreRemove:   filepath.Join(p.scripts, "prerm"), PostRemove: filepath.Join(p.scripts, "postrm"),
			},
			// The certificates of authorities: webhooks, connectors and language models are reached
			// by HTTPS.
			Recommends: []string{"ca-certificates"},
		},
	})
	switch format {
	case "deb":
		info.Depends = []string{"passwd"}
		info.Deb.Compression = "zstd"
	case "rpm":
		info.Depends = []string{"shadow-utils"}
		info.RPM.Compression = "zstd"
		info.RPM.BuildHost = "localhost"
		info.RPM.Summary = "Memory for an organization: text in, found again by meaning"
	}
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return "", err
	}
	packager, err := nfpm.Get(format)
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, packager.ConventionalFileName(info))
	f, err := os.Create(file)
	if err != nil {
		return "", err
	}
	err = packager.Package(info, f)
	if err := errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	return file, nil
}

// stage writes entries that are no files yet below dir.
func stage(dir string, entries []entry) (files.Contents, error) {
	var contents files.Contents
	for _, e := range entries {
		source := e.source
		if source == "" {
			source = filepath.Join(dir, e.name)
			if err := os.MkdirAll(filepath.Dir(source), 0o755); err != nil {
				return nil, err
			}
			if err := os.WriteFile(source, e.data, 0o644); err != nil {
				return nil, err
			}
		}
		contents = append(contents, &files.Content{
			Source: source, Destination: "/" + e.name, FileInfo: &files.ContentFileInfo{
				Mode: fs.FileMode(e.mode), Owner: "root", Group: "root",
			},
		})
	}
	return contents, nil
}

func folder(path string, mode fs.FileMode) *files.Content {
	return &files.Content{
		Destination: path, Type: files.TypeDir, FileInfo: &files.ContentFileInfo{Mode: mode, Owner: "root", Group: "root"},
	}
}
