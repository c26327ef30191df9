// Command fuzzcorpus keeps what fuzzing found: of the inputs in the fuzzer's cache, the
// few that run what neither a target's own seeds nor the inputs already kept do, in
// testdata/fuzz beside the target, where every test runs them.
//
//	go run ./cmd/fuzzcorpus [-files 20] [-bytes 2048] [-only REGEXP] PACKAGE…
//
// Run it after `make fuzz`, when you have changed a parser or its target; `make
// fuzz-keep` does it for all. What is kept already stays: nothing tells the inputs
// that once failed from the others. An input that fails now is named and not kept:
// `go test -fuzz` has written it beside its target already.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fuzzcorpus:", err)
		os.Exit(1)
	}
}

// limits bound what one target keeps.
type limits struct {
	files int
	bytes int64 // of each file
}

func run(ctx context.Context, stdout io.Writer, args []string) error {
	flags := flag.NewFlagSet("fuzzcorpus", flag.ContinueOnError)
	var most limits
	flags.IntVar(&most.files, "files", 20, "inputs that a target keeps at most")
	flags.Int64Var(&most.bytes, "bytes", 2048, "how large an input may be")
	only := flags.String("only", "", "the targets whose name matches")
	if err := flags.Parse(args); err != nil {
		return err
	}
	wanted, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return errors.New("name packages: ./... are all")
	}
	cache, err := output(ctx, "env", "GOCACHE")
	if err != nil {
		return err
	}
	list, err := output(ctx,
		append([]string{"list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}"},
			flags.Args()...)...)
	if err != nil {
		return err
	}
	for line := range strings.Lines(list) {
		path, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
		p := pkg{path: path, dir: dir, cache: filepath.Join(strings.TrimSpace(cache), "fuzz", filepath.FromSlash(path))}
		names, err := p.targets(wanted)
		if err != nil {
			return err
		}
		if len(names) == 0 {
			continue
		}
		if err := p.keep(ctx, stdout, names, most); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// pkg is a package with fuzz targets.
type pkg struct {
	path  string
	dir   string
	cache string // what the fuzzer found, a folder for each target
}

var targetForm = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(\w+ \*testing\.F\)`)

func (p pkg) targets(wanted *regexp.Regexp) (names []string, err error) {
	files, err := filepath.Glob(filepath.Join(p.dir, "*_test.go"))
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for _, m := range targetForm.FindAllSubmatch(text, -1) {
			if name := string(m[1]); wanted.MatchString(name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names, nil
}

// keep does the targets of one package, whose test is built once, with counters in
// every package of this module that it reaches.
func (p pkg) keep(ctx context.Context, stdout io.Writer, names []string, most limits) (err error) {
	scratch, err := os.MkdirTemp("", "fuzzcorpus")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	module, _, _ := strings.Cut(p.path, "/")
	deps, err := output(ctx, "list", "-deps", "-test", "-f", "{{if not .ForTest}}{{.ImportPath}}{{end}}", p.path)
	if err != nil {
		return err
	}
	var ours []string
	for path := range strings.FieldsSeq(deps) {
		if strings.HasPrefix(path, module+"/") && !strings.HasSuffix(path, ".test") {
			ours = append(ours, path)
		}
	}
	binary := filepath.Join(scratch, "test")
	if _, err := output(ctx, "test", "-c", "-covermode=set", "-coverpkg="+strings.Join(ours, ","), "-o", binary,
		p.path); err != nil {
		return err
	}
	for _, name := range names {
		t := target{pkg: p, name: name, binary: binary, blocks: map[string]int{}, place: filepath.Join(scratch, name)}
		if err := t.keep(ctx, stdout, most); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// target is one fuzz target, with a place of its own in which its test runs: what
// the package has in testdata, and the inputs that are to be judged.
type target struct {
	pkg
	name   string
	binary string
	place  string
	blocks map[string]int // the statements that ran, by where they stand
}

func (t *target) keep(ctx context.Context, stdout io.Writer, most limits) error {
	home := filepath.Join(t.dir, "testdata", "fuzz", t.name)
	kept, err := inputsIn(home)
	if err != nil {
		return err
	}
	found, err := inputsIn(filepath.Join(t.cache, t.name))
	if err != nil {
		return err
	}
	if err := t.furnish(); err != nil {
		return err
	}
	baseline, err := t.ran(ctx, "seed#[0-9]+")
	if err != nil {
		return err
	}
	seeds := baseline.count()
	for _, in := range kept {
		if in.ran, err = t.judge(ctx, in); err != nil {
			return err
		}
		baseline.add(in.ran)
	}
	var candidates []input
	for _, in := range found {
		if in.size() > most.bytes || slices.ContainsFunc(kept, func(k input) bool { return k.name == in.name }) {
			continue
		}
		if in.ran, err = t.judge(ctx, in); err != nil {
			fmt.Fprintf(stdout, "%s %s: %s fails: %v\n", t.path, t.name, in.name, err)
			continue
		}
		candidates = append(candidates, in)
	}
	chosen := choose(baseline, candidates, most.files-len(kept))
	if len(kept)+len(chosen) == 0 && len(candidates) > 0 {
		// Nothing runs what the seeds do not. The smallest input that the fuzzer found new,
		// by how often something ran, is kept all the same.
		chosen = candidates[:1]
	}
	var size int64
	for _, in := range chosen {
		if err := os.MkdirAll(home, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(home, in.name), in.text, 0o644); err != nil {
			return err
		}
		size += in.size()
	}
	for _, in := range kept {
		size += in.size()
	}
	fmt.Fprintf(stdout, "%s %s: %d of %d found are new here, and %d were kept: %d bytes; %d statements beyond the "+
		"seeds' %d\n",
		t.path, t.name, len(chosen), len(found), len(kept), size, union(baseline, chosen).count()-seeds, seeds)
	return nil
}

// furnish makes the place look like the package's folder, without its corpora.
func (t *target) furnish() error {
	if err := os.MkdirAll(filepath.Join(t.place, "testdata", "fuzz", t.name), 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(filepath.Join(t.dir, "testdata"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if e.Name() == "fuzz" {
			continue
		}
		if err := os.Symlink(filepath.Join(t.dir, "testdata", e.Name()),
			filepath.Join(t.place, "testdata", e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// judge says what an input runs.
func (t *target) judge(ctx context.Context, in input) (set, error) {
	path := filepath.Join(t.place, "testdata", "fuzz", t.name, in.name)
	if err := os.WriteFile(path, in.text, 0o600); err != nil {
		return nil, err
	}
	ran, err := t.ran(ctx, regexp.QuoteMeta(in.name))
	return ran, errors.Join(err, os.Remove(path))
}

// ran runs the inputs whose name matches and reads which statements ran.
func (t *target) ran(ctx context.Context, names string) (set, error) {
	profile := filepath.Join(t.place, "profile")
	run := "-test.run=^" + t.name + "$/^" + names + "$"
	//nolint:gosec // a test that was just built
	cmd := exec.CommandContext(ctx, t.binary, run, "-test.coverprofile="+profile)
	cmd.Dir = t.place
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %.2000s", err, out)
	}
	text, err := os.ReadFile(profile)
	if err != nil {
		return nil, err
	}
	return t.read(text), nil
}

// read takes the statements that ran from a coverage profile: lines of a place, a
// number of statements, and whether they ran.
func (t *target) read(profile []byte) (ran set) {
	for line := range bytes.Lines(profile) {
		place, yes := bytes.CutSuffix(bytes.TrimSpace(line), []byte(" 1"))
		if !yes {
			continue
		}
		at, known := t.blocks[string(place)]
		if !known {
			at = len(t.blocks)
			t.blocks[string(place)] = at
		}
		ran.put(at)
	}
	return ran
}

// output runs the go command and returns what it prints.
func output(ctx context.Context, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", args...) //nolint:gosec // packages and flags of our own command line
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("go %s: %w: %s", args[0], err, stderr.Bytes())
	}
	return stdout.String(), nil
}
