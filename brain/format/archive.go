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
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"orgmem/brain/format/meter"
)

const (
	// maxPart bounds one file of an archive, unpacked: what may be uploaded by itself.
	maxPart = 64 << 20
	// maxUnpacked bounds what is unpacked of one upload, nested archives included: a
	// few seconds of a processor. A bomb of any making ends here.
	maxUnpacked = 512 << 20
	// maxEntries bounds the files of an archive, with those that are not read: its
	// directory is held in memory, at some 300 bytes for each.
	maxEntries = 100_000
	// directoryEntry is what a file of an archive takes in the archive's directory.
	directoryEntry = 512
	// maxNesting bounds archives in archives: an export in an export in a mail.
	maxNesting = 4
)

// pack is an archive's content, one file after the other.
type pack struct {
	*reader
	docs []Document
}

// part reads a part of a file. What is wrong with the part is said in its place,
// and the others go on; an error is about the whole.
func (r *reader) part(where string, read func() ([]Document, error)) ([]Document, error) {
	kept, held := r.kept, r.Held()
	docs, err := read()
	if err == nil { // a few words of an archive may stand for much that is said of each file
		said := 0
		for _, d := range docs {
			said += len(d.Metadata) + len(d.Title) + len(d.ExternalID)
		}
		err = r.keep(said)
	}
	if err != nil && errors.Is(err, ErrFile) {
		r.kept = kept // nothing of it stays
		r.Settle(held)
		return []Document{{Where: where, Refused: Reason(err), tooLarge: errors.Is(err, ErrTooLarge)}}, nil
	}
	r.Settle(held + r.kept - kept)
	for i := range docs {
		docs[i].Where = where + within(docs[i].Where)
	}
	return docs, err
}

func within(where string) string {
	if where == "" {
		return ""
	}
	return ", " + where
}

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

func (p *pack) add(docs ...Document) error {
	if p.docs = append(p.docs, docs...); len(p.docs) > MaxDocuments {
		return errorf("holds more than %d documents; split it", MaxDocuments)
	}
	return nil
}

func (p *pack) refuse(name, reason string) error {
	return p.add(Document{Where: showPath(name), Refused: reason})
}

// showPath is an archive's path, fit to be shown.
func showPath(name string) string { return clipTitle(name) }

// restUnread stands for what is not read of an archive or a mailbox that has cost what
// one file may.
var restUnread = Document{Where: "the rest", Refused: "is not read: it " + strings.TrimSuffix(Reason(errWork), "; split it"), tooLarge: true}

var errPart = errorf("is damaged or cut short in its archive")

// unpack reads a file of an archive whole, within the bounds.
func (r *reader) unpack(in io.Reader, size uint64) ([]byte, error) {
	raw, cut, err := r.unpackCut(in, size)
	if cut && err == nil {
		return nil, errPart
	}
	return raw, err
}

// unpackCut reads a file of an archive within the bounds, and says whether it ends
// before its end. size is what the archive says of it, 0 where it does not: what was
// wrongly said counts as unpacked, since the memory for it was made.
func (r *reader) unpackCut(in io.Reader, size uint64) (raw []byte, cut bool, err error) {
	limit := min(maxPart, maxUnpacked-r.unpacked)
	if limit <= 0 {
		return nil, false, errorf("is not read: its archive unpacks to more than %d MiB", maxUnpacked>>20)
	}
	out := meter.Buffer{Meter: &r.Meter}
	said := 0
	defer func() {
		r.unpacked += max(0, said-out.Len())
		if raw == nil {
			r.drop(out.Bytes())
		}
	}()
	for {
		step := min(stepBytes, limit-out.Len()+1)
		room := out.Len() + step
		if out.Len() == 0 { // most files are small
			room = min(step, int(min(size, stepBytes))+bytes.MinRead)
		}
		if held := out.GrowTo(room, limit+1); held != nil {
			return nil, false, held
		}
		n, err, held := out.Fill(in, step)
		if held != nil {
			return nil, false, held
		}
		r.unpacked += n
		if err := r.step(n / lightWork); err != nil {
			return nil, false, err
		}
		if err == nil && out.Len() == stepBytes { // the first of several
			head := out.Bytes()
			if name := foreignOf(head); name != "" && !isTar(head) && !bytes.Contains(head[:1024], []byte("%PDF-")) {
				return nil, false, foreignError(name) // the rest would be unpacked for nothing
			}
			if size > uint64(out.Len()) { // so that it need not grow
				said = int(min(size, uint64(limit)))
				if err := out.Resize(said + bytes.MinRead); err != nil {
					return nil, false, err
				}
			}
		}
		switch {
		case out.Len() > limit && limit == maxPart:
			return nil, false, errorf("unpacks to more than %d MiB", maxPart>>20)
		case out.Len() > limit:
			return nil, false, errorf("is not read: its archive unpacks to more than %d MiB", maxUnpacked>>20)
		case errors.Is(err, io.EOF):
			return nonNil(out.Bytes()), false, nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return nonNil(out.Bytes()), true, nil
		case err != nil:
			return nil, false, errPart
		}
	}
}

// entryWork is what a file of an archive costs beside its bytes.
const entryWork = 2048

// nonNil is a file that may be empty.
func nonNil(raw []byte) []byte {
	if raw == nil {
		return []byte{}
	}
	return raw
}

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

// zipEncrypted is the bit of a ZIP entry's flags (APPNOTE.TXT, 4.4.4).
const zipEncrypted = 1

// entry unpacks a file of a ZIP archive.
func (r *reader) entry(f *zip.File) ([]byte, error) {
	if f.Flags&zipEncrypted != 0 {
		return nil, errorf("is encrypted")
	}
	if f.UncompressedSize64 > maxPart {
		return nil, errorf("unpacks to more than %d MiB", maxPart>>20)
	}
	in, err := f.Open()
	if errors.Is(err, zip.ErrAlgorithm) {
		return nil, errorf("is packed in a way that cannot be read")
	}
	if err != nil {
		return nil, errPart
	}
	out, err := r.unpack(in, f.UncompressedSize64)
	if cerr := in.Close(); err == nil && cerr != nil {
		err = errPart
	}
	return out, err
}

// zipName is a file's name in an archive: where it is not in UTF-8 it is in the
// code page of the first PCs, as the format has it.
func zipName(f *zip.File) string {
	if utf8.ValidString(f.Name) {
		return f.Name
	}
	name, err := charmap.CodePage437.NewDecoder().String(f.Name)
	if err != nil {
		return strings.ToValidUTF8(f.Name, "\ufffd")
	}
	return name
}

// zip reads a ZIP archive: an office document, or a folder of files.
func (r *reader) zip(name string, raw []byte) ([]Document, string, error) {
	z, left, err := r.openZip(raw)
	if err != nil {
		return nil, "", err
	}
	if read, format := officeOf(r, z); read != nil {
		return r.single(name, format, func() (Document, error) { return read(z) })
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
		if err := r.step(entryWork + len(f.Name)); err != nil {
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

// nothing is the error of an archive of which nothing can be read: the reason of
// its first file, or that there is none.
func (p *pack) nothing() error { return allRefused(p.docs) }

func allRefused(docs []Document) error {
	if len(docs) == 0 {
		return errorf("is an archive without a file to read")
	}
	for _, d := range docs {
		if d.Refused == "" {
			return nil
		}
	}
	first := docs[0]
	if first.tooLarge {
		return tooLargef("holds nothing that can be taken in: %s %s", first.Where, first.Refused)
	}
	if first.Where == "" {
		return errorf("%s", first.Refused)
	}
	return errorf("holds nothing that can be taken in: %s %s", first.Where, first.Refused)
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

// isTar looks for the mark of POSIX tar, and of GNU's.
func isTar(raw []byte) bool {
	const at = 257
	return len(raw) >= tarBlock && bytes.HasPrefix(raw[at:], []byte("ustar"))
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
		if err := r.step(entryWork + tarBlock); err != nil {
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

// tarBlock is what a tar archive is made of; one of zeros ends it.
const tarBlock = 512

func tarEnded(raw []byte) bool {
	return len(raw) >= tarBlock && len(bytes.Trim(raw[len(raw)-tarBlock:], "\x00")) == 0
}
