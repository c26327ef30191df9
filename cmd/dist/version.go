package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// release is what is built.
type release struct {
	version string // as git describes it, and as `orgmem version` tells it
	commit  string
	time    time.Time // of the commit: the time of everything that is made
}

// hashLength is fixed, since git lengthens its short hashes as a repository grows.
const hashLength = 12

// newRelease asks git. SOURCE_DATE_EPOCH, where it is set, is stronger than the commit's time.
func newRelease(ctx context.Context, root, version string) (release, error) {
	git := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git", args...) //nolint:gosec // the three calls below
		cmd.Dir = root
		out, err := cmd.Output()
		if err != nil {
			return "", fmt.Errorf("git %s: %w", args[0], err)
		}
		return strings.TrimSpace(string(out)), nil
	}
	commit, errCommit := git("rev-parse", "HEAD")
	seconds, errTime := git("log", "-1", "--format=%ct")
	described, errVersion := git("describe", "--tags", "--always", "--dirty", fmt.Sprintf("--abbrev=%d", hashLength))
	if err := errors.Join(errCommit, errTime, errVersion); err != nil {
		return release{}, err
	}
	if epoch := os.Getenv("SOURCE_DATE_EPOCH"); epoch != "" {
		seconds = epoch
	}
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return release{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	if version == "" {
		version = described
	}
	return release{version: version, commit: commit, time: time.Unix(unix, 0).UTC()}, nil
}

var numbered = regexp.MustCompile(`^v?(\d+\.\d+\.\d+)(?:-(.+))?$`)

// packageVersion is the version as dpkg and rpm order it: a number first, no hyphen, and what
// is no release yet before every release. Without a number it begins with the commit's day.
func (r release) packageVersion() string {
	clean := func(s string) string { return strings.NewReplacer("-", ".", "_", ".").Replace(s) }
	if m := numbered.FindStringSubmatch(r.version); m != nil {
		switch {
		case m[2] == "":
			return m[1]
		case commitsAfter.MatchString(m[2]): // 3-gabc: three commits after the release
			return m[1] + "+" + clean(m[2])
		}
		return m[1] + "~" + clean(m[2]) // rc.1
	}
	return "0.0.0~" + r.time.Format("20060102150405") + ".git" + clean(r.version)
}

var commitsAfter = regexp.MustCompile(`^(\d+-g[0-9a-f]+(-dirty)?|dirty)$`)

// fileVersion is the version in names of files.
func (r release) fileVersion() string { return strings.TrimPrefix(r.version, "v") }
