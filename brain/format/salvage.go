package format

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"strings"

	"orgmem/brain/format/office"
	"orgmem/brain/format/reading"
	"orgmem/brain/format/record"
)

// A ZIP archive lists its files at its end, which is what is missing of one that was
// cut short. Each file has a header of its own before it, too: those are gone through
// from the front, and of the files that are whole a new list is made. The bytes of the
// archive stay where they are, and each file is checked when it is read, like any other.

// The signatures and lengths of a ZIP archive (APPNOTE.TXT, 4.3).
const (
	zipLocal      = "PK\x03\x04"
	zipDirectory  = "PK\x01\x02"
	zipDescriptor = "PK\x07\x08"
	zipEnd        = "PK\x05\x06"
	zipLocalBytes = 30
	// zipStreamed is the bit of the flags that says that the sizes stand behind the file.
	zipStreamed = 8
	// zip64 is the kind of the extra field with sizes of 8 bytes.
	zip64 = 1
)

// restOfArchive names in messages what an archive has lost.
const restOfArchive = "the rest of the archive"

var errBroken = reading.Errorf("is a ZIP archive that is damaged or cut short")

// member is a file of an archive without a list.
type member struct {
	at, body       int // of its header, and behind that
	method, flags  uint16
	sum            uint32
	packed, length uint64
	name           []byte
	told           bool // its sizes stand in its header
}

// memberAt reads the header of a file; ok is false where it is cut short.
func memberAt(raw []byte, at int) (m member, ok bool) {
	head := raw[at:]
	if len(head) < zipLocalBytes {
		return m, false
	}
	le := binary.LittleEndian
	named, extra := int(le.Uint16(head[26:])), int(le.Uint16(head[28:]))
	if len(head) < zipLocalBytes+named+extra {
		return m, false
	}
	m = member{
		at: at, body: at + zipLocalBytes + named + extra, flags: le.Uint16(head[6:]), method: le.Uint16(head[8:]),
		sum:    le.Uint32(head[14:]),
		packed: uint64(le.Uint32(head[18:])), length: uint64(le.Uint32(head[22:])),
		name: head[zipLocalBytes : zipLocalBytes+named],
	}
	m.told = m.flags&zipStreamed == 0 || m.packed > 0
	for field := head[zipLocalBytes+named : zipLocalBytes+named+extra]; len(field) >= 4; {
		kind, n := le.Uint16(field), int(le.Uint16(field[2:]))
		if field = field[4:]; n > len(field) {
			break
		}
		if kind == zip64 && n >= 16 && m.packed == math.MaxUint32 {
			m.length, m.packed = le.Uint64(field), le.Uint64(field[8:])
			m.told = m.flags&zipStreamed == 0 || m.packed > 0
		}
		field = field[n:]
	}
	return m, true
}

// finish finds the end of a file whose sizes stand behind it, and what they are: there,
// the packed size is that of what lies before.
func (m *member) finish(raw []byte) (end int, ok bool) {
	le := binary.LittleEndian
	for from := m.body; ; {
		at := bytes.Index(raw[from:], []byte("PK"))
		if at < 0 {
			return len(raw), false
		}
		at += from
		from = at + 2
		rest := raw[at:]
		switch {
		case bytes.HasPrefix(rest, []byte(zipDescriptor)) && len(rest) >= 16:
			said := rest[4:]
			if size := uint64(at - m.body); uint64(le.Uint32(said[4:])) == size { // before the others: the more usual
				m.sum, m.packed, m.length = le.Uint32(said), size, uint64(le.Uint32(said[8:]))
				if len(said) >= 20 && le.Uint64(said[4:]) == size && !bytes.HasPrefix(said[12:], []byte("PK")) {
					m.length = le.Uint64(said[12:])
				}
				return at + 16, true
			}
		case bytes.HasPrefix(rest, []byte(zipLocal)), bytes.HasPrefix(rest, []byte(zipDirectory)):
			// Some leave out the signature.
			for _, said := range [][]byte{raw[max(m.body, at-12):at], raw[max(m.body, at-20):at]} {
				size := uint64(at - len(said) - m.body)
				switch {
				case len(said) == 12 && uint64(le.Uint32(said[4:])) == size:
					m.sum, m.packed, m.length = le.Uint32(said), size, uint64(le.Uint32(said[8:]))
					return at, true
				case len(said) == 20 && le.Uint64(said[4:]) == size:
					m.sum, m.packed, m.length = le.Uint32(said), size, le.Uint64(said[12:])
					return at, true
				}
			}
		}
	}
}

// salvaged is what is left of an archive without a list.
type salvaged struct {
	*zip.Reader
	cut   string // the name of a file that is cut short, if one is
	names bool   // all files are there: only their list is damaged
}

// salvage lists the files that are whole in an archive that lacks its list. Each byte
// is gone over once.
func salvage(r *reading.Reader, raw []byte) (*salvaged, error) {
	s := &salvaged{}
	var list []byte
	n, at := 0, 0
	for at < len(raw) {
		next := bytes.Index(raw[at:], []byte("PK"))
		if next < 0 {
			break
		}
		at += next
		if rest := raw[at:]; bytes.HasPrefix(rest, []byte(zipDirectory)) || bytes.HasPrefix(rest, []byte(zipEnd)) {
			s.names = true
			break
		} else if !bytes.HasPrefix(rest, []byte(zipLocal)) {
			at += 2
			continue
		}
		m, ok := memberAt(raw, at)
		if !ok {
			break
		}
		var end int
		if m.told {
			end, ok = len(raw), m.packed <= uint64(len(raw)-m.body)
			if ok {
				end = m.body + int(m.packed)
			}
		} else {
			end, ok = m.finish(raw)
		}
		if !ok {
			s.cut = string(m.name)
			break
		}
		if n++; n > reading.MaxEntries {
			return nil, reading.Errorf("is an archive of more than %d files", reading.MaxEntries)
		}
		if err := r.Step(end - at); err != nil {
			return nil, err
		}
		list, at = m.list(list), end
	}
	if n == 0 {
		return nil, errBroken
	}
	z, err := zip.NewReader(endless{raw[:at], listed(list, n, at)}, int64(at+len(list)+22))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, errBroken
	}
	s.Reader = z
	return s, nil
}

// list appends a file to an archive's list.
func (m *member) list(to []byte) []byte {
	le := binary.LittleEndian
	to = append(to, zipDirectory...)
	for _, v := range []uint16{20, 20, m.flags &^ zipStreamed, m.method, 0, 0} {
		to = le.AppendUint16(to, v)
	}
	to = le.AppendUint32(to, m.sum)
	for _, v := range []uint64{m.packed, m.length} {
		to = le.AppendUint32(to, uint32(min(v, math.MaxUint32-1)))
	}
	to = le.AppendUint16(to, uint16(len(m.name)))
	to = append(to, make([]byte, 12)...)
	to = le.AppendUint32(to, uint32(m.at))
	return append(to, m.name...)
}

// listed ends an archive's list of n files, which begins at a place in the archive.
func listed(list []byte, n, at int) []byte {
	le := binary.LittleEndian
	end := append(slices.Clip(list), zipEnd...)
	for _, v := range []uint16{0, 0, uint16(n), uint16(n)} {
		end = le.AppendUint16(end, v)
	}
	end = le.AppendUint32(end, uint32(len(list)))
	end = le.AppendUint32(end, uint32(at))
	return le.AppendUint16(end, 0)
}

// endless is an archive with a new end; nothing of it is copied.
type endless struct{ files, list []byte }

// ReadAt implements io.ReaderAt.
func (e endless) ReadAt(p []byte, off int64) (n int, err error) {
	if off < int64(len(e.files)) {
		n = copy(p, e.files[off:])
	}
	if rest := off + int64(n) - int64(len(e.files)); n < len(p) && rest < int64(len(e.list)) {
		n += copy(p[n:], e.list[rest:])
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

// packages are the files that office documents and books begin with, and no folder of
// files has.
var packages = []string{"[Content_Types].xml", "mimetype", "META-INF/container.xml"}

// half says why an archive that was cut short is refused with all that is left of it:
// what it holds is one document, or cannot be understood without what is missing.
func (s *salvaged) half(r *reading.Reader) error {
	for _, f := range s.File {
		if slices.Contains(packages, f.Name) {
			return reading.Errorf("is an office document or a book that is damaged or cut short")
		}
	}
	if read, _ := office.Recognize(r, s.Reader); read != nil {
		return reading.Errorf("is an office document or a book that is damaged or cut short")
	}
	if _, users := record.SlackRoot(s.Reader); users != nil {
		return nil
	}
	for _, f := range s.File {
		if record.SlackDay.MatchString(f.Name) {
			raw, err := r.Entry(f)
			if err != nil && !errors.Is(err, reading.ErrFile) {
				return err
			}
			r.Drop(raw)
			if kind := record.ShapeOf(raw); err == nil && kind.List && kind.Has("type", "ts") {
				return reading.Errorf("is a Slack export that is damaged or cut short, and has lost who is who")
			}
			break
		}
	}
	return nil
}

// ended ends an archive: it says what of one that was cut short is not read, or why
// nothing of it can be.
func ended(p *reading.Parts, s *salvaged) error {
	err := p.Nothing()
	switch {
	case s == nil:
		return err
	case err != nil:
		return errBroken
	case s.cut != "":
		if err := p.Refuse(strings.ToValidUTF8(s.cut, "\ufffd"), "is cut short with its archive"); err != nil {
			return err
		}
	case s.names:
		return p.Refuse(restOfArchive, "is damaged or cut short: of the list of its files; the files before that were read")
	}
	return p.Refuse(restOfArchive, "is missing or damaged: the archive has no list of its files at its end")
}
