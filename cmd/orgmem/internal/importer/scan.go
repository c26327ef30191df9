package importer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
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
	// maxCharacters is the interface's limit for one content.
	maxCharacters = 5_000_000
	// maxFileBytes keeps one item below the body limit of a batch (10 MiB), also
	// when JSON doubles its quotes and line ends.
	maxFileBytes = 4 << 20
	// maxFiles bounds the memory of a scan, about 200 bytes per file.
	maxFiles = 2_000_000
	// headBytes are looked at to tell text from binary before a file is read whole.
	headBytes = 4096
)

// File is one file that can be taken in.
type File struct {
	Path  string        // to open it
	ID    pb.ExternalID // slash path relative to the root it was found under
	bytes int64         // size when it was found
}

// Skipped is a file that is not taken, and why.
type Skipped struct {
	Path   string `json:"path"`
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
			skipped = append(skipped, Skipped{path, "not a regular file"})
		case info.Size() == 0:
			skipped = append(skipped, Skipped{path, "empty"})
		case info.Size() > maxFileBytes:
			skipped = append(skipped, Skipped{path, fmt.Sprintf("larger than %d MiB", maxFileBytes>>20)})
		case !utf8.ValidString(rel):
			skipped = append(skipped, Skipped{path, "name is not UTF-8"})
		case owner[id] == path: // the same file named twice on the command line
		case owner[id] != "":
			skipped = append(skipped, Skipped{path, "same relative path as " + owner[id]})
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
				skipped = append(skipped, Skipped{path, reasonOf(err)})
				if d != nil && d.IsDir() {
					return fs.SkipDir
				}
				return nil
			}
			if path != root && strings.HasPrefix(d.Name(), ".") {
				skipped = append(skipped, Skipped{path, "hidden"})
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
				skipped = append(skipped, Skipped{path, reasonOf(err)})
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

// digest names a content; the state compares by it.
type digest string

// document is a file's text, ready to send.
type document struct {
	text   string
	title  string
	digest digest
}

// read returns the file's text, or the reason why it has none. The reason is
// for people; it is not an error of the import.
func (f File) read() (document, string) {
	file, err := os.Open(f.Path)
	if err != nil {
		return document{}, reasonOf(err)
	}
	defer file.Close() //nolint:errcheck // nothing was written
	raw, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err != nil {
		return document{}, reasonOf(err)
	}
	if reason := notText(raw); reason != "" {
		return document{}, reason
	}
	raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
	sum := sha256.Sum256(raw)
	text := string(raw)
	return document{text: text, title: titleOf(text, f.ID), digest: digest(hex.EncodeToString(sum[:]))}, ""
}

// magics are formats that look like text, or are too common to be called just
// binary.
var magics = []struct{ prefix, reason string }{
	{"%PDF-", "PDF: not taken by this command yet"},
	{"PK\x03\x04", "ZIP or Office document: not taken by this command yet"},
	{"\xd0\xcf\x11\xe0", "old Office document: not taken"},
	{"\x89PNG", "picture"},
	{"\xff\xd8\xff", "picture"},
	{"GIF8", "picture"},
	{"\x1f\x8b", "compressed"},
	{"\xff\xfe", "UTF-16: convert it to UTF-8"},
	{"\xfe\xff", "UTF-16: convert it to UTF-8"},
	{"{\\rtf", "RTF: not taken"},
}

// notText says why raw is not text that can be taken as it is. What a file is
// shows in its bytes; its name says nothing.
func notText(raw []byte) string {
	if len(raw) > maxFileBytes {
		return fmt.Sprintf("larger than %d MiB", maxFileBytes>>20)
	}
	for _, m := range magics {
		if bytes.HasPrefix(raw, []byte(m.prefix)) {
			return m.reason
		}
	}
	head := bytes.ToLower(bytes.TrimSpace(raw[:min(len(raw), headBytes)]))
	if bytes.HasPrefix(head, []byte("<!doctype html")) || bytes.HasPrefix(head, []byte("<html")) {
		return "HTML: not taken by this command yet"
	}
	if bytes.IndexByte(raw, 0) >= 0 {
		return "binary"
	}
	if !utf8.Valid(raw) {
		return "neither binary nor UTF-8: convert it to UTF-8"
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return "blank"
	}
	if utf8.RuneCount(raw) > maxCharacters {
		return fmt.Sprintf("more than %d characters", maxCharacters)
	}
	return ""
}

// titleOf is the first Markdown heading near the top, else the path: a path
// often says more of a file than its first line does.
func titleOf(text string, id pb.ExternalID) string {
	lines := strings.SplitN(text, "\n", 11)
	for _, line := range lines[:min(len(lines), 10)] {
		if heading, ok := strings.CutPrefix(line, "# "); ok {
			if heading = strings.TrimSpace(heading); heading != "" && utf8.RuneCountInString(heading) <= maxTitle {
				return heading
			}
		}
	}
	return string(id)
}

// maxTitle is where a heading is more likely a paragraph.
const maxTitle = 200

// reasonOf shortens an error of the file system to what is wrong with the file.
func reasonOf(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}
