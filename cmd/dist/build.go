package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// target is a system that is built for.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "_" + t.arch }

// targets are what is released.
var targets = []target{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "arm64"}}

// built is a binary on disk.
type built struct {
	target

	path, sha256 string
	size         int64
}

// buildSettings are fixed, so that nobody's environment changes what is built: the oldest
// processor of each kind, no C, no experiments.
var buildSettings = map[string]string{
	"CGO_ENABLED": "0", "GOAMD64": "v1", "GOARM64": "v8.0", "GOFLAGS": "", "GOEXPERIMENT": "", "GOWORK": "off",
	"GOTOOLCHAIN": "local",
}

// build compiles the service for a target into dir. The tag and the flags of the linker are
// those of `make build`.
func build(ctx context.Context, root, dir string, r release, t target) (built, error) {
	b := built{target: t, path: filepath.Join(dir, t.String(), "orgmem")}
	ldflags := fmt.Sprintf("-s -w -buildid= -X main.version=%s -X main.commit=%s", r.version, r.commit)
	//nolint:gosec // our own source, and a version that git has told
	cmd := exec.CommandContext(ctx, "go", "build", "-tags", "nomsgpack", "-trimpath", "-buildvcs=false",
		"-ldflags", ldflags, "-o", b.path, "./cmd/orgmem")
	cmd.Dir = root
	cmd.Env = os.Environ()
	for name, value := range buildSettings {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Env = append(cmd.Env, "GOOS="+t.os, "GOARCH="+t.arch)
	if out, err := cmd.CombinedOutput(); err != nil {
		return b, fmt.Errorf("build for %s: %w\n%s", t, err, out)
	}
	return b, b.measure()
}

// measure notes size and sum of the binary.
func (b *built) measure() (err error) {
	b.sha256, b.size, err = sumFile(b.path)
	return err
}

func sumFile(path string) (string, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	h := sha256.New()
	n, err := io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), n, errors.Join(err, f.Close())
}

// print is what a command of the binary writes to standard output.
func (b built) print(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, b.path, args...) //nolint:gosec // the binary that was just built
	cmd.Env = []string{"HOME=" + os.TempDir()}
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("orgmem %s: %w: %s", strings.Join(args, " "), err, said.String())
	}
	return out, nil
}
