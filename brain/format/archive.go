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
)

// inner reads a file within a file.
func (r *reader) inner(name string, raw []byte) ([]Document, error) {
	if r.nested >= maxNesting {
		return []Document{{Where: name, Refused: fmt.Sprintf("lies in more than %d archives in each other", maxNesting)}}, nil
	}
	r.nested++
	defer func() { r.nested-- }()
	return r.part(name, func() ([]Document, error) {
		title, id := notion(path.Base(name))
		docs, _, err := r.file(title, raw)
		if id != "" && len(docs) == 1 && docs[0].ExternalID == "" && docs[0].Refused == "" {
			docs[0].ExternalID = externalID("notion", id)
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
func (p *pack) take(name string, raw []byte) error {
	docs, err := p.inner(name, raw)
	if err != nil {
		return err
	}
	return p.add(docs...)
}

// entryWork is what a file of an archive costs beside its bytes.
const entryWork = 2048

// openZip reads the directory of a ZIP archive. left is what there is of one that has
// lost it, else nil.
func (r *reader) openZip(raw []byte) (z *zip.Reader, left *salvaged, err error) {
	if bytes.Count(raw, []byte(zipDirectory)) > maxEntries {
		return nil, nil, errorf("is an archive of more than %d files", maxEntries)
	}
	if err := r.Hold(directoryEntry * bytes.Count(raw, []byte(zipDirectory))); err != nil {
		return nil, nil, err
	}
	z, err = zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	switch {
	case errors.Is(err, zip.ErrInsecurePath): // each path is looked at
	case err != nil:
		if left, err = r.salvage(raw); err != nil {
			return nil, nil, err
		}
		return left.Reader, left, left.half(r)
	}
	if len(z.File) == 0 {
		return nil, nil, errorf("is an empty archive")
	}
	return z, nil, nil
}

// zip reads a ZIP archive: an office document, or a folder of files.
func (r *reader) zip(name string, raw []byte) ([]Document, string, error) {
	z, left, err := r.openZip(raw)
	if err != nil {
		return nil, "", err
	}
	if read, format := officeOf(r, z); read != nil {
		return r.single(name, format, func() (Document, error) { return read(r, z) })
	}
	p := &pack{reader: r}
	if root, users := slackRoot(z); users != nil {
		if err := p.slack(z, root, users); err != nil {
			return nil, "", err
		}
		return p.docs, Slack, p.ended(left)
	}
	views := notionViews(z)
	for _, f := range z.File {
		if err := r.Step(entryWork + len(f.Name)); err != nil {
			if errors.Is(err, errWork) { // what was read stands
				err = p.add(restUnread)
				if err == nil {
					break
				}
			}
			return nil, "", err
		}
		name := zipName(f)
		silent, refused := entryName(name)
		switch {
		case silent, views[f.Name], strings.HasSuffix(name, "/"):
			continue
		case refused != "":
			err = p.refuse(name, refused)
		case !f.Mode().IsRegular():
			err = p.refuse(name, "is no file but a link or a device")
		default:
			err = p.unpacked(name, func() ([]byte, error) { return r.entry(f) })
		}
		if err != nil {
			return nil, "", err
		}
	}
	return p.docs, ZIP, p.ended(left)
}

// unpacked unpacks a file of an archive and takes it.
func (p *pack) unpacked(name string, open func() ([]byte, error)) error {
	raw, err := open()
	switch {
	case errors.Is(err, ErrFile):
		return p.refuse(name, Reason(err))
	case err != nil:
		return err
	}
	defer p.drop(raw)
	if len(raw) == 0 {
		return nil
	}
	return p.take(name, raw)
}

// packed reads what one stream was packed to: a tar archive, or a file. Of a stream
// that ends too early the files of an archive are read that stand before; where one is
// damaged it cannot be known which of them are.
func (r *reader) packed(name string, in io.Reader) ([]Document, string, error) {
	raw, cut, err := r.unpackCut(in, 0)
	if err != nil {
		return nil, "", err
	}
	if isTar(raw) {
		docs, err := r.tar(raw, cut)
		return docs, TAR, err
	}
	if cut {
		return nil, "", errPart
	}
	base := strings.TrimSuffix(strings.TrimSuffix(name, path.Ext(name)), ".tar")
	if r.nested >= maxNesting {
		return nil, "", errorf("lies in more than %d archives in each other", maxNesting)
	}
	r.nested++
	defer func() { r.nested-- }()
	return r.file(base, raw)
}

func (r *reader) gzip(name string, raw []byte) ([]Document, string, error) {
	in, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, "", errorf("is a gzip archive that is damaged or cut short")
	}
	return r.packed(name, in)
}

func (r *reader) bzip2(name string, raw []byte) ([]Document, string, error) {
	return r.packed(name, bzip2.NewReader(bytes.NewReader(raw)))
}

var errTar = errorf("is a tar archive that is damaged or cut short")

// tar reads a tar archive; cut says that it is known to end before its end.
func (r *reader) tar(raw []byte, cut bool) ([]Document, error) {
	p := &pack{reader: r}
	in := bytes.NewReader(raw)
	t := tar.NewReader(in)
	for n := 0; ; n++ {
		if n == maxEntries {
			return nil, errorf("is an archive of more than %d files", maxEntries)
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
		if err := r.Step(entryWork + tarBlock); err != nil {
			if errors.Is(err, errWork) {
				err = p.add(restUnread)
				if err == nil {
					return p.docs, p.nothing()
				}
			}
			return nil, err
		}
		silent, refused := entryName(h.Name)
		switch {
		case silent, h.Typeflag == tar.TypeDir, h.Typeflag == tar.TypeXGlobalHeader:
			continue
		case refused != "":
			err = p.refuse(h.Name, refused)
		case h.Typeflag != tar.TypeReg:
			err = p.refuse(h.Name, "is no file but a link or a device")
		default:
			err = p.unpacked(strings.ToValidUTF8(h.Name, "\ufffd"), func() ([]byte, error) { return r.unpack(t, uint64(min(max(h.Size, 0), int64(len(raw))))) })
		}
		if err != nil {
			return nil, err
		}
	}
	err := p.nothing()
	if cut && err == nil {
		err = p.refuse(restOfArchive, "is missing or damaged: the archive has no end")
	} else if cut {
		err = errTar
	}
	return p.docs, err
}

func tarEnded(raw []byte) bool {
	return len(raw) >= tarBlock && len(bytes.Trim(raw[len(raw)-tarBlock:], "\x00")) == 0
}
