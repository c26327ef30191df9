package plugin

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"orgmem/cmd/orgmem/internal/config"
	"orgmem/cmd/orgmem/internal/durable"
)

// maxSettings bounds a settings file; Claude Code keeps its history of projects in one.
const maxSettings = 64 << 20

// Store is the folder where the files are kept as they were before.
type Store string

// Change is what became of a settings file.
type Change struct {
	Path    string `json:"path"`
	Holds   string `json:"holds"`
	Changed bool   `json:"changed"`
	// Backup is the file as it was before, where there was one.
	Backup string `json:"backup,omitempty"`
}

// plan is a change that was thought through, and not yet made.
type plan struct {
	path   string // where the file lies, behind links
	mode   fs.FileMode
	old    []byte // nil: the file does not exist
	new    []byte // nil: delete it
	record *record
	last   bool // nothing of ours is left in it
	change Change
}

// record is what a store knows of a file: as it was without us, and what we made of it.
type record struct {
	Path      string `json:"path"`
	Existed   bool   `json:"existed"`
	Installed string `json:"installed"` // the digest of the file as we left it
	before    []byte
}

// Install puts everything of a target in. If one of its files cannot be changed,
// all stay as they are.
func Install(t Target, o Options, s Store) ([]Change, error) {
	return s.change(t, func(f File, p *plan) error { return p.install(f, o) })
}

// Remove takes everything of a target out. If one of its files cannot be changed,
// all stay as they are.
func Remove(t Target, s Store) ([]Change, error) {
	return s.change(t, func(f File, p *plan) error {
		if p.old == nil {
			return nil
		}
		return p.remove(f)
	})
}

// change thinks every change through before it makes the first.
func (s Store) change(t Target, think func(File, *plan) error) ([]Change, error) {
	var plans []plan
	for _, f := range t.Files {
		p, err := s.read(f)
		if err != nil {
			return nil, err
		}
		if err := think(f, &p); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
		plans = append(plans, p)
	}
	return s.carryOut(plans)
}

func (p *plan) install(f File, o Options) error {
	text := p.old
	if text == nil {
		text = f.format.blank()
	}
	entries, err := f.format.find(text)
	if err != nil {
		return err
	}
	if p.new, err = f.format.with(text, o); err != nil {
		return err
	}
	switch {
	case len(entries) == 0:
		p.record.Existed, p.record.before = p.old != nil, p.old
	case p.record.Installed == digest(p.old): // nobody has touched it since
	default:
		p.record.Existed = true
		p.record.before, err = f.format.without(text, nil)
	}
	return err
}

func (p *plan) remove(f File) error {
	entries, err := f.format.find(p.old)
	if err != nil {
		return err
	}
	if p.new, err = f.format.without(p.old, p.record.before); err != nil {
		return err
	}
	r := p.record
	switch {
	case len(entries) == 0:
	case r.Installed != "" && !r.Existed && f.format.same(p.new, f.format.blank()):
		p.new = nil // it was not there before us
		return nil
	case r.Existed && r.Installed == digest(p.old) && f.format.same(p.new, r.before):
		p.new = r.before
	}
	left, err := f.whole.find(p.new)
	p.last = len(left) == 0
	return err
}

// Status lists what is ours in a file. A file that is not there holds nothing.
func (f File) Status() ([]Entry, error) {
	p, err := Store("").read(f)
	if err != nil || p.old == nil {
		return nil, err
	}
	entries, err := f.format.find(p.old)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	return entries, nil
}

// read reads a settings file, and what the store knows of it.
func (s Store) read(f File) (plan, error) {
	p := plan{path: f.Path, mode: config.FileMode0600, change: Change{Path: f.Path, Holds: f.Holds}, record: &record{}}
	if err := f.staysInside(); err != nil {
		return p, err
	}
	real, err := filepath.EvalSymlinks(f.Path)
	switch {
	case err == nil:
		p.path = real // a link stays one
	case !errors.Is(err, fs.ErrNotExist):
		return p, err
	default:
		if info, lerr := os.Lstat(f.Path); lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
			return p, fmt.Errorf("%w: %s is a link to nowhere", ErrSettings, f.Path)
		}
	}
	info, err := os.Stat(p.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return p, err
	case !info.Mode().IsRegular():
		return p, fmt.Errorf("%w: %s is no file", ErrSettings, p.path)
	case info.Size() > maxSettings:
		return p, fmt.Errorf("%w: %s is larger than %d MiB", ErrSettings, p.path, maxSettings>>20)
	default:
		p.mode = info.Mode().Perm()
		if p.old, err = os.ReadFile(p.path); err != nil {
			return p, err
		}
		if p.old == nil {
			p.old = []byte{}
		}
	}
	if s != "" {
		p.record = s.recall(p.path)
	}
	return p, nil
}

// staysInside refuses a file of a project that links lead out of it: the authors of the
// project could have any file of the user's changed, or deleted.
func (f File) staysInside() error {
	if f.project == "" {
		return nil
	}
	root, err := filepath.EvalSymlinks(f.project)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // then there is no link in it, either
	}
	if err != nil {
		return err
	}
	// What is not there yet goes where the folder above it leads.
	for path := f.Path; ; path = filepath.Dir(path) {
		real, err := filepath.EvalSymlinks(path)
		if errors.Is(err, fs.ErrNotExist) {
			if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
				return fmt.Errorf("%w: %s is a link to nowhere", ErrSettings, path)
			}
			continue
		}
		if err != nil {
			return err
		}
		if rel, err := filepath.Rel(root, real); err != nil || !filepath.IsLocal(rel) {
			return fmt.Errorf("%w: %s leads out of the project, to %s: the settings of a project are files in it; "+
				"take the link away", ErrSettings, path, real)
		}
		return nil
	}
}

// carryOut makes the changes.
func (s Store) carryOut(plans []plan) ([]Change, error) {
	changes := make([]Change, 0, len(plans))
	for _, p := range plans {
		if !bytes.Equal(p.old, p.new) || (p.old == nil) != (p.new == nil) {
			p.change.Changed = true
			if err := s.carryOutOne(&p); err != nil {
				return changes, fmt.Errorf("%s: %w", p.change.Path, err)
			}
		}
		changes = append(changes, p.change)
	}
	return changes, nil
}

func (s Store) carryOutOne(p *plan) error {
	// The assistant may be running, and write its settings too.
	now, err := os.ReadFile(p.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !bytes.Equal(now, p.old) {
		return errors.New("somebody else has changed the file this moment: run the command again")
	}
	if p.new == nil {
		if err := os.Remove(p.path); err != nil {
			return err
		}
		return s.forget(p.path)
	}
	p.record.Path, p.record.Installed = p.path, digest(p.new)
	if !p.last {
		if p.change.Backup, err = s.remember(p.record); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(p.path), config.DirMode0700); err != nil {
		return err
	}
	err = errors.Join(durable.SweepDrafts(filepath.Dir(p.path), filepath.Base(p.path)), durable.SweepDrafts(string(s), ""))
	if err != nil {
		return err
	}
	if err := durable.WriteFileMode(p.path, bytes.NewReader(p.new), p.mode); err != nil || !p.last {
		return err
	}
	return s.forget(p.path)
}

// digest tells contents from each other; of no file it is empty.
func digest(text []byte) string {
	if text == nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// name is where the store keeps what belongs to a file.
func (s Store) name(path string) string {
	const shown = 16 // digits: enough to tell a person's settings from each other
	return filepath.Join(string(s), digest([]byte(path))[:shown]+"-"+filepath.Base(path))
}

// recall is what the store knows of a file: nothing, where it knows nothing for sure.
func (s Store) recall(path string) *record {
	raw, err := os.ReadFile(s.name(path) + ".record")
	r := &record{}
	if err != nil || json.Unmarshal(raw, r) != nil || r.Path != path {
		return &record{}
	}
	if r.Existed {
		if r.before, err = os.ReadFile(s.name(path)); err != nil {
			return &record{}
		}
	}
	return r
}

// remember keeps what a file was without us, and says where.
func (s Store) remember(r *record) (backup string, err error) {
	if err := os.MkdirAll(string(s), config.DirMode0700); err != nil {
		return "", err
	}
	if r.Existed {
		backup = s.name(r.Path)
		if err := durable.WriteFile(backup, bytes.NewReader(r.before)); err != nil {
			return "", err
		}
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	return backup, durable.WriteFile(s.name(r.Path)+".record", bytes.NewReader(raw))
}

// forget deletes what the store knows of a file.
func (s Store) forget(path string) error {
	var errs []error
	for _, name := range []string{s.name(path), s.name(path) + ".record"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
