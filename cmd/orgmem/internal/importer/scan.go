package importer

import (
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
	ID    pb.ExternalID // slash path relative to the root it was found under
	bytes int64         // size when it was found
}

// Skipped is a file, or a part of one, that is not taken, and why.
type Skipped struct {
	Path   string `json:"path"`
	Part   string `json:"part,omitempty"` // where in an archive, a mailbox, ...
	Reason string `json:"reason"`
}

// Scan finds the regular files at and below the paths, sorted by external id.
// A path that does not exist is an error: a misspelt argument must not look
// like an empty folder. Hidden files, links and special files are skipped.
func Scan(paths []string) ([]File, []Skipped, error) {
	var (
		files   []File
		skipped []Skipped
		owner   = make(map[pb.ExternalID]string)
	)
	add := func(path, rel string, info fs.FileInfo) error {
		id := pb.ExternalID(filepath.ToSlash(rel))
		switch {
		case !info.Mode().IsRegular():
			skipped = append(skipped, Skipped{Path: path, Reason: "not a regular file"})
		case info.Size() == 0:
			skipped = append(skipped, Skipped{Path: path, Reason: "empty"})
		case info.Size() > maxFileBytes:
			skipped = append(skipped, Skipped{Path: path, Reason: tooLarge})
		case !utf8.ValidString(rel):
			skipped = append(skipped, Skipped{Path: path, Reason: "name is not UTF-8"})
		case owner[id] == path: // the same file named twice on the command line
		case owner[id] != "":
			skipped = append(skipped, Skipped{Path: path, Reason: "same relative path as " + owner[id]})
		case len(files) == maxFiles:
			return fmt.Errorf("more than %d files: import folder by folder", maxFiles)
		default:
			owner[id] = path
			files = append(files, File{Path: path, ID: id, bytes: info.Size()})
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
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return files, skipped, nil
}

// reasonOf shortens an error of the file system to what is wrong with the file.
func reasonOf(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}
