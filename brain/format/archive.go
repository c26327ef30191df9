package format

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"orgmem/brain/format/office"
	"orgmem/brain/format/reading"
	"orgmem/brain/format/record"
)

// readInner reads a file within a file.
func readInner(r *reading.Reader, name string, raw []byte) ([]reading.Document, error) {
	if r.Nested >= reading.MaxNesting {
		return []reading.Document{
			{Where: name, Refused: fmt.Sprintf("lies in more than %d archives in each other", reading.MaxNesting)},
		}, nil
	}
	r.Nested++
	defer func() { r.Nested-- }()
	return r.Part(name, func() ([]reading.Document, error) {
		title, id := record.Notion(path.Base(name))
		docs, _, err := readFile(r, title, raw)
		if id != "" && len(docs) == 1 && docs[0].ExternalID == "" && docs[0].Refused == "" {
			docs[0].ExternalID = reading.ExternalID("notion", id)
		}
		for i := range docs {
			if docs[i].Path == "" && docs[i].Refused == "" {
				docs[i].Path = name
			}
		}
		return docs, err
	})
}

// clutter are the names of files and folders that systems leave in archives.
var clutter = []string{"__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini", ".git", ".obsidian", ".trash", ".svn"}

// entryName says what to do with a file of an archive: pass over it in silence, or
// why it is refused.
func entryName(name string) (silent bool, refused string) {
	slashed := strings.ReplaceAll(name, `\`, "/")
	for element := range strings.SplitSeq(slashed, "/") {
		switch {
		case element == "..":
			return false, "has a path that leads out of its archive"
		case slices.Contains(clutter, element):
			return true, ""
		}
	}
	switch {
	case strings.HasPrefix(slashed, "/"), len(slashed) > 1 && slashed[1] == ':':
		return false, "has a path that leads out of its archive"
	case strings.ContainsRune(name, 0):
		return false, "has a path that no file can have"
	}
	return false, ""
}

// take adds a file of an archive.
func take(p *reading.Parts, name string, raw []byte) error {
	docs, err := readInner(p.Reader, name, raw)
	if err != nil {
		return err
	}
	return p.Add(docs...)
}

// entryWork is what a file of an archive costs beside its bytes.
const entryWork = 2048

// openZip reads the directory of a ZIP archive. left is what there is of one that has
// lost it, else nil.
func openZip(r *reading.Reader, raw []byte) (z *zip.Reader, left *salvaged, err error) {
	if bytes.Count(raw, []byte(zipDirectory)) > reading.MaxEntries {
		return nil, nil, reading.Errorf("is an archive of more than %d files", reading.MaxEntries)
	}
	if err := r.Hold(reading.DirectoryEntry * bytes.Count(raw, []byte(zipDirectory))); err != nil {
		return nil, nil, err
	}
	z, err = zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	switch {
	case errors.Is(err, zip.ErrInsecurePath): // each path is looked at
	case err != nil:
		if left, err = salvage(r, raw); err != nil {
			return nil, nil, err
		}
		return left.Reader, left, left.half(r)
	}
	if len(z.File) == 0 {
		return nil, nil, reading.Errorf("is an empty archive")
	}
	return z, nil, nil
}

// readZip reads a ZIP archive: an office document, or a folder of files.
func readZip(r *reading.Reader, name string, raw []byte) ([]reading.Document, string, error) {
	z, left, err := openZip(r, raw)
	if err != nil {
		return nil, "", err
	}
	if read, format := office.Recognize(r, z); read != nil {
		return r.Single(name, format, func() (reading.Document, error) { return read(r, z) })
	}
	p := &reading.Parts{Reader: r}
	if root, users := record.SlackRoot(z); users != nil {
		if err := record.ReadSlack(p, z, root, users); err != nil {
			return nil, "", err
		}
		return p.Docs, reading.Slack, ended(p, left)
	}
	views := record.NotionViews(z)
	for _, f := range z.File {
		if err := r.Step(entryWork + len(f.Name)); err != nil {
			if errors.Is(err, reading.ErrWork) { // what was read stands
				err = p.Add(reading.RestUnread)
				if err == nil {
					break
				}
			}
			return nil, "", err
		}
		name := reading.ZipName(f)
		silent, refused := entryName(name)
		switch {
		case silent, views[f.Name], strings.HasSuffix(name, "/"):
			continue
		case refused != "":
			err = p.Refuse(name, refused)
		case !f.Mode().IsRegular():
			err = p.Refuse(name, "is no file but a link or a device")
		default:
			err = takeUnpacked(p, name, func() ([]byte, error) { return r.Entry(f) })
		}
		if err != nil {
			return nil, "", err
		}
	}
	return p.Docs, reading.ZIP, ended(p, left)
}

// takeUnpacked unpacks a file of an archive and takes it.
func takeUnpacked(p *reading.Parts, name string, open func() ([]byte, error)) error {
	raw, err := open()
	switch {
	case errors.Is(err, reading.ErrFile):
		return p.Refuse(name, reading.Reason(err))
	case err != nil:
		return err
	}
	defer p.Drop(raw)
	if len(raw) == 0 {
		return nil
	}
	return take(p, name, raw)
}

// readPacked reads what one stream was packed to: a tar archive, or a file. Of a stream
// that ends too early the files of an archive are read that stand before; where one is
// damaged it cannot be known which of them are.
func readPacked(r *reading.Reader, name string, in io.Reader) ([]reading.Document, string, error) {
	raw, cut, err := r.UnpackCut(in, 0)
	if err != nil {
		return nil, "", err
	}
	if reading.IsTar(raw) {
		docs, err := readTar(r, raw, cut)
		return docs, reading.TAR, err
	}
	if cut {
		return nil, "", reading.ErrDamagedPart
	}
	base := strings.TrimSuffix(strings.TrimSuffix(name, path.Ext(name)), ".tar")
	if r.Nested >= reading.MaxNesting {
		return nil, "", reading.Errorf("lies in more than %d archives in each other", reading.MaxNesting)
	}
	r.Nested++
	defer func() { r.Nested-- }()
	return readFile(r, base, raw)
}

func readGzip(r *reading.Reader, name string, raw []byte) ([]reading.Document, string, error) {
	in, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, "", reading.Errorf("is a gzip archive that is damaged or cut short")
	}
	return readPacked(r, name, in)
}

func readBzip2(r *reading.Reader, name string, raw []byte) ([]reading.Document, string, error) {
	return readPacked(r, name, bzip2.NewReader(bytes.NewReader(raw)))
}

var errTar = reading.Errorf("is a tar archive that is damaged or cut short")

// readTar reads a tar archive; cut says that it is known to end before its end.
func readTar(r *reading.Reader, raw []byte, cut bool) ([]reading.Document, error) {
	p := &reading.Parts{Reader: r}
	in := bytes.NewReader(raw)
	t := tar.NewReader(in)
	for n := 0; ; n++ {
		if n == reading.MaxEntries {
			return nil, reading.Errorf("is an archive of more than %d files", reading.MaxEntries)
		}
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			cut = cut || !tarEnded(raw[:len(raw)-in.Len()])
			break
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) {
			cut = true
			break
		}
		if err := r.Step(entryWork + reading.TarBlock); err != nil {
			if errors.Is(err, reading.ErrWork) {
				err = p.Add(reading.RestUnread)
				if err == nil {
					return p.Docs, p.Nothing()
				}
			}
			return nil, err
		}
		silent, refused := entryName(h.Name)
		switch {
		case silent, h.Typeflag == tar.TypeDir, h.Typeflag == tar.TypeXGlobalHeader:
			continue
		case refused != "":
			err = p.Refuse(h.Name, refused)
		case h.Typeflag != tar.TypeReg:
			err = p.Refuse(h.Name, "is no file but a link or a device")
		default:
			err = takeUnpacked(p, strings.ToValidUTF8(h.Name, "\ufffd"), func() ([]byte, error) {
				return r.Unpack(t, uint64(min(max(h.Size, 0), int64(len(raw)))))
			})
		}
		if err != nil {
			return nil, err
		}
	}
	err := p.Nothing()
	if cut && err == nil {
		err = p.Refuse(restOfArchive, "is missing or damaged: the archive has no end")
	} else if cut {
		err = errTar
	}
	return p.Docs, err
}

func tarEnded(raw []byte) bool {
	return len(raw) >= reading.TarBlock && len(bytes.Trim(raw[len(raw)-reading.TarBlock:], "\x00")) == 0
}
