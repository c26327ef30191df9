package importer

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	pb "orgmem/proto"
)

// Bounds of a scan.
const (
	// maxFileBytes is what the service takes as one upload. A file is held in memory
	// while it is read.
	maxFileBytes = 64 << 20
	// maxFiles bounds the memory of a scan, about 200 bytes per file.
	maxFiles = 2_000_000
)

// File is one file that can be taken in.
type File struct {
	Path  string        // to open it
	whole string        // the same from the file system's root, which tells it from all others
	below string        // slash path below the root it was found under
	ID    pb.ExternalID // given by the state, which knows the files of earlier imports
	bytes int64         // size when it was found
}

// Skipped is a file, or a part of one, that is not taken, and why.
type Skipped struct {
	Path   string `json:"path"`
	Part   string `json:"part,omitempty"` // where in an archive, a mailbox, ...
	Reason string `json:"reason"`
}

// Scan finds the regular files at and below the paths, sorted by their path below them.
// A path that does not exist is an error: a misspelt argument must not look
// like an empty folder. Hidden files, links and special files are skipped.
func Scan(paths []string) ([]File, []Skipped, error) {
	var (
		files   []File
		skipped []Skipped
		found   = make(map[string]bool)
	)
	add := func(path, rel string, info fs.FileInfo) error {
		whole, err := filepath.Abs(path)
		switch {
		case err != nil:
			skipped = append(skipped, Skipped{Path: path, Reason: reasonOf(err)})
		case !info.Mode().IsRegular():
			skipped = append(skipped, Skipped{Path: path, Reason: "not a regular file"})
		case info.Size() == 0:
			skipped = append(skipped, Skipped{Path: path, Reason: "empty"})
		case info.Size() > maxFileBytes && !(File{Path: path, bytes: info.Size()}).isMailbox():
			skipped = append(skipped, Skipped{Path: path, Reason: tooLarge})
		case !utf8.ValidString(rel):
			skipped = append(skipped, Skipped{Path: path, Reason: "name is not UTF-8"})
		case found[whole]: // the same file named twice on the command line
		case len(files) == maxFiles:
			return fmt.Errorf("more than %d files: import folder by folder", maxFiles)
		default:
			found[whole] = true
			files = append(files, File{Path: path, whole: whole, below: filepath.ToSlash(rel), bytes: info.Size()})
		}
		return nil
	}
	for _, root := range paths {
		info, err := os.Stat(root) // a link that is named outright is followed
		if err != nil {
			return nil, nil, fmt.Errorf("import: %w", err)
		}
		if !info.IsDir() {
			if err := add(filepath.Clean(root), filepath.Base(root), info); err != nil {
				return nil, nil, err
			}
			continue
		}
		err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				skipped = append(skipped, Skipped{Path: path, Reason: reasonOf(err)})
				if d != nil && d.IsDir() {
					return fs.SkipDir
				}
				return nil
			}
			if path != root && strings.HasPrefix(d.Name(), ".") {
				skipped = append(skipped, Skipped{Path: path, Reason: "hidden"})
				if d.IsDir() {
					return fs.SkipDir
				}
				return nil
			}
			if d.IsDir() {
				return nil
			}
			info, err := d.Info()
			if err != nil {
				skipped = append(skipped, Skipped{Path: path, Reason: reasonOf(err)})
				return nil
			}
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			return add(path, rel, info)
		})
		if err != nil {
			return nil, nil, fmt.Errorf("import: %w", err)
		}
	}
	slices.SortFunc(files, func(a, b File) int {
		return cmp.Or(strings.Compare(a.below, b.below), strings.Compare(a.whole, b.whole))
	})
	return files, skipped, nil
}

// reasonOf shortens an error of the file system to what is wrong with the file.
func reasonOf(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}
