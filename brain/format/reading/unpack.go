package reading

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"orgmem/brain/format/meter"
)

const (
	// MaxPart bounds one file of an archive, unpacked: what may be uploaded by itself.
	MaxPart = 64 << 20
	// maxUnpacked bounds what is unpacked of one upload, nested archives included: a
	// few seconds of a processor. A bomb of any making ends here.
	maxUnpacked = 512 << 20
	// MaxEntries bounds the files of an archive, with those that are not read: its
	// directory is held in memory, at some 300 bytes for each.
	MaxEntries = 100_000
	// DirectoryEntry is what a file of an archive takes in the archive's directory.
	DirectoryEntry = 512
	// MaxNesting bounds archives in archives: an export in an export in a mail.
	MaxNesting = 4
)

// ErrDamagedPart is about a file of an archive that cannot be unpacked.
var ErrDamagedPart = Errorf("is damaged or cut short in its archive")

// Unpack reads a file of an archive whole, within the bounds.
func (r *Reader) Unpack(in io.Reader, size uint64) ([]byte, error) {
	raw, cut, err := r.UnpackCut(in, size)
	if cut && err == nil {
		return nil, ErrDamagedPart
	}
	return raw, err
}

// UnpackCut reads a file of an archive within the bounds, and says whether it ends
// before its end. size is what the archive says of it, 0 where it does not: what was
// wrongly said counts as unpacked, since the memory for it was made.
func (r *Reader) UnpackCut(in io.Reader, size uint64) (raw []byte, cut bool, err error) {
	limit := min(MaxPart, maxUnpacked-r.unpacked)
	if limit <= 0 {
		return nil, false, Errorf("is not read: its archive unpacks to more than %d MiB", maxUnpacked>>20)
	}
	out := meter.Buffer{Meter: &r.Meter}
	said := 0
	defer func() {
		r.unpacked += max(0, said-out.Len())
		if raw == nil {
			r.Drop(out.Bytes())
		}
	}()
	for {
		step := min(StepBytes, limit-out.Len()+1)
		room := out.Len() + step
		if out.Len() == 0 { // most files are small
			room = min(step, int(min(size, StepBytes))+bytes.MinRead)
		}
		if held := out.GrowTo(room, limit+1); held != nil {
			return nil, false, held
		}
		n, err, held := out.Fill(in, step)
		if held != nil {
			return nil, false, held
		}
		r.unpacked += n
		if err := r.Step(n / lightWork); err != nil {
			return nil, false, err
		}
		if err == nil && out.Len() == StepBytes { // the first of several
			head := out.Bytes()
			if name := ForeignOf(head); name != "" && !IsTar(head) && !bytes.Contains(head[:1024], []byte("%PDF-")) {
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
		case out.Len() > limit && limit == MaxPart:
			return nil, false, Errorf("unpacks to more than %d MiB", MaxPart>>20)
		case out.Len() > limit:
			return nil, false, Errorf("is not read: its archive unpacks to more than %d MiB", maxUnpacked>>20)
		case errors.Is(err, io.EOF):
			return nonNil(out.Bytes()), false, nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return nonNil(out.Bytes()), true, nil
		case err != nil:
			return nil, false, ErrDamagedPart
		}
	}
}

// nonNil is a file that may be empty.
func nonNil(raw []byte) []byte {
	if raw == nil {
		return []byte{}
	}
	return raw
}

// ZipEncrypted is the bit of a ZIP entry's flags (APPNOTE.TXT, 4.4.4).
const ZipEncrypted = 1

// Entry unpacks a file of a ZIP archive.
func (r *Reader) Entry(f *zip.File) ([]byte, error) {
	if f.Flags&ZipEncrypted != 0 {
		return nil, Errorf("is encrypted")
	}
	if f.UncompressedSize64 > MaxPart {
		return nil, Errorf("unpacks to more than %d MiB", MaxPart>>20)
	}
	in, err := f.Open()
	if errors.Is(err, zip.ErrAlgorithm) {
		return nil, Errorf("is packed in a way that cannot be read")
	}
	if err != nil {
		return nil, ErrDamagedPart
	}
	out, err := r.Unpack(in, f.UncompressedSize64)
	if cerr := in.Close(); err == nil && cerr != nil {
		err = ErrDamagedPart
	}
	return out, err
}

// ZipName is a file's name in an archive: where it is not in UTF-8 it is in the
// code page of the first PCs, as the format has it.
func ZipName(f *zip.File) string {
	if utf8.ValidString(f.Name) {
		return f.Name
	}
	name, err := charmap.CodePage437.NewDecoder().String(f.Name)
	if err != nil {
		return strings.ToValidUTF8(f.Name, "\ufffd")
	}
	return name
}

// IsTar looks for the mark of POSIX tar, and of GNU's.
func IsTar(raw []byte) bool {
	const at = 257
	return len(raw) >= TarBlock && bytes.HasPrefix(raw[at:], []byte("ustar"))
}

// TarBlock is what a tar archive is made of; one of zeros ends it.
const TarBlock = 512

// Named opens one file of a ZIP archive by its name; nil if it has no such file.
func (r *Reader) Named(z *zip.Reader, name string) ([]byte, error) {
	if err := r.Step(len(z.File)); err != nil {
		return nil, err
	}
	for _, f := range z.File {
		if f.Name == name {
			return r.Entry(f)
		}
	}
	return nil, nil
}
