package migrate

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Bounds of what is looked for.
const (
	// maxInputs bounds the files and those in archives.
	maxInputs = 1_000_000
	// maxArchives are open at a time.
	maxArchives = 256
	// maxUnpacked bounds what one packed file unpacks to. It is read in pieces, so this
	// bounds the time and not the memory.
	maxUnpacked = 64 << 30
)

// Input is a file, or a file of an archive.
type Input struct {
	Name string // for people
	user string // whose it is, where what holds it says so
	base string // the last part of its name, without .gz
	open func() (io.ReadCloser, error)
}

// Fault is a file or a part of it that is not taken, and why.
type Fault struct {
	Path   string `json:"path"`
	Part   string `json:"part,omitempty"`
	Reason string `json:"reason"`
}

// Found is what there is to read. Close it when it was read.
type Found struct {
	Inputs []Input
	Faults []Fault
	// archives stay open between two of their files: to open one means to read the list
	// of all of them.
	archives []io.Closer
}

// Close closes what is open.
func (f *Found) Close() error {
	var err error
	for _, a := range f.archives {
		err = errors.Join(err, a.Close())
	}
	f.archives = nil
	return err
}

// Find lists the files at and below the paths. Hidden files and links are passed over. A
// path that does not exist is an error.
func Find(paths []string) (*Found, error) {
	f := &Found{}
	if err := f.find(paths); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (f *Found) find(paths []string) error {
	for _, root := range paths {
		info, err := os.Stat(root)
		if err != nil {
			return fmt.Errorf("import: %w", err)
		}
		if !info.IsDir() {
			if err := f.add(root); err != nil {
				return err
			}
			continue
		}
		err = filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				f.fault(at, err)
				return nil
			case at != root && strings.HasPrefix(d.Name(), "."):
				if d.IsDir() {
					return fs.SkipDir
				}
				return nil
			case d.IsDir() || !d.Type().IsRegular():
				return nil
			}
			return f.add(at)
		})
		if err != nil {
			return fmt.Errorf("import: %w", err)
		}
	}
	// A manifest says what the other files are, and whose.
	slices.SortStableFunc(f.Inputs, func(a, b Input) int {
		return cmp.Or(cmp.Compare(path.Dir(a.Name), path.Dir(b.Name)), cmp.Compare(rank(a), rank(b)),
			cmp.Compare(a.Name, b.Name))
	})
	return nil
}

func rank(i Input) int {
	if i.base == manifestFile {
		return 0
	}
	return 1
}

// manifestFile is what several products call the description of their export.
const manifestFile = "manifest.json"

func (f *Found) fault(at string, err error) {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	f.Faults = append(f.Faults, Fault{Path: at, Reason: err.Error()})
}

func (f *Found) add(at string) error {
	if len(f.Inputs) >= maxInputs {
		return fmt.Errorf("import: more than %d files: import folder by folder", maxInputs)
	}
	file, err := os.Open(at)
	if err != nil {
		f.fault(at, err)
		return nil
	}
	defer file.Close() //nolint:errcheck // nothing was written
	begin := make([]byte, 4)
	n, err := io.ReadFull(file, begin)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		f.fault(at, err)
		return nil
	}
	switch begin = begin[:n]; {
	case n == 0:
		f.Faults = append(f.Faults, Fault{Path: at, Reason: "is empty"})
	case bytes.HasPrefix(begin, []byte("PK\x03\x04")):
		return f.archive(at)
	case bytes.HasPrefix(begin, []byte{0x1f, 0x8b}):
		f.Inputs = append(f.Inputs, Input{
			Name: at, base: strings.TrimSuffix(filepath.Base(at), ".gz"), open: unpacker(opener(at)),
		})
	default:
		f.Inputs = append(f.Inputs, Input{Name: at, base: filepath.Base(at), open: opener(at)})
	}
	return nil
}

// archive adds the files of a ZIP archive.
func (f *Found) archive(at string) error {
	if len(f.archives) == maxArchives {
		return fmt.Errorf("import: more than %d archives: import folder by folder", maxArchives)
	}
	z, err := zip.OpenReader(at)
	if err != nil {
		f.Faults = append(f.Faults, Fault{Path: at, Reason: "is a ZIP archive that cannot be read"})
		return nil //nolint:nilerr // it becomes a fault of this file
	}
	f.archives = append(f.archives, z)
	for _, entry := range z.File {
		base := path.Base(entry.Name)
		if entry.FileInfo().IsDir() || strings.HasPrefix(base, ".") || strings.HasPrefix(entry.Name, "__MACOSX/") {
			continue
		}
		if len(f.Inputs) >= maxInputs {
			return fmt.Errorf("import: more than %d files: import archive by archive", maxInputs)
		}
		open := func() (io.ReadCloser, error) {
			r, err := entry.Open()
			if err != nil {
				return nil, err
			}
			return closing{bounded(r), r, io.NopCloser(nil)}, nil
		}
		if strings.HasSuffix(base, ".gz") {
			open = unpacker(open)
		}
		f.Inputs = append(f.Inputs, Input{
			Name: at + "/" + path.Clean("/" + entry.Name)[1:], base: strings.TrimSuffix(base, ".gz"), open: open,
		})
	}
	return nil
}

func opener(at string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return os.Open(at) }
}

func unpacker(open func() (io.ReadCloser, error)) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) {
		packed, err := open()
		if err != nil {
			return nil, err
		}
		r, err := gzip.NewReader(packed)
		if err != nil {
			return nil, errors.Join(errors.New("is a gzip file that cannot be read"), packed.Close())
		}
		return closing{bounded(r), r, packed}, nil
	}
}

func bounded(r io.Reader) io.Reader { return io.LimitReader(r, maxUnpacked) }

// closing closes what was opened to read.
type closing struct {
	io.Reader
	inner, outer io.Closer
}

func (c closing) Close() error { return errors.Join(c.inner.Close(), c.outer.Close()) }
