package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// entry is one file or folder of a tar archive, an image or a package.
type entry struct {
	name     string // without a slash at its begin
	mode     int64
	data     []byte
	source   string // a file to read in place of data
	dir      bool
	uid, gid int
}

// writeTar writes entries with the folders that they lie in, sorted, all of one time and by
// default of root.
func writeTar(w io.Writer, entries []entry, at time.Time) error {
	out := tar.NewWriter(w)
	for _, e := range withFolders(entries) {
		if err := e.writeTo(out, at); err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
	}
	return out.Close()
}

func (e entry) writeTo(out *tar.Writer, at time.Time) (err error) {
	header := &tar.Header{
		Name: e.name, Mode: e.mode, ModTime: at, Uid: e.uid, Gid: e.gid, Typeflag: tar.TypeReg, Size: int64(len(e.data)),
		Format: tar.FormatUSTAR,
	}
	if e.dir {
		header.Typeflag, header.Name, header.Size = tar.TypeDir, e.name+"/", 0
		return out.WriteHeader(header)
	}
	var content io.Reader = bytes.NewReader(e.data)
	if e.source != "" {
		f, err := os.Open(e.source)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		header.Size, content = info.Size(), f
	}
	if err := out.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(out, content)
	return err
}

// withFolders adds the folders that nobody has named, and sorts.
func withFolders(entries []entry) []entry {
	all := map[string]entry{}
	for _, e := range entries {
		for dir := path.Dir(e.name); dir != "."; dir = path.Dir(dir) {
			if _, ok := all[dir]; !ok {
				all[dir] = entry{name: dir, mode: 0o755, dir: true}
			}
		}
		all[e.name] = e
	}
	sorted := make([]entry, 0, len(all))
	for _, e := range all {
		sorted = append(sorted, e)
	}
	slices.SortFunc(sorted, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return sorted
}

// zipped is data as `gzip -9n` has it: no name and no time.
func zipped(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(data)
	err = errors.Join(err, w.Close()) // what was held back comes with the end
	return b.Bytes(), err
}

// writeArchive writes a .tar.gz whose entries lie in one folder of the archive's name.
func writeArchive(file, folder string, entries []entry, at time.Time) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := gzip.NewWriter(f)
	inside := slices.Clone(entries)
	for i := range inside {
		inside[i].name = path.Join(folder, inside[i].name)
	}
	err = writeTar(w, inside, at)
	return errors.Join(err, w.Close())
}
