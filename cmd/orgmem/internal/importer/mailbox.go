package importer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"strconv"
	"strings"

	"orgmem/brain/format"
	pb "orgmem/proto"
)

// A mailbox may be larger than any other file, and hold more documents: it is read in parts, each of some whole
// mails, and each is remembered by itself. So an import that was interrupted goes on
// behind the parts that were taken in, and of a mailbox to which mails were added only
// its end is sent.

const (
	// wholeBytes is what a mailbox may have that is read like any other file: with the
	// fourteen bytes of the shortest line that begins a mail, so many hold no more
	// mails than a file may hold documents.
	wholeBytes = 128 << 10
	// partBytes is where a part ends, at the next mail: little of it is in memory, and
	// little is sent again.
	partBytes = 8 << 20
	// partMails bound the mails of a part, so that it is far from reading.MaxDocuments
	// with what is attached to them.
	partMails = 2000
	// lookBytes of a file say whether it is a mailbox, and whether a mail begins.
	lookBytes = 16 << 10
)

// isMailbox reports whether a file is one that is read in parts.
func (f File) isMailbox() bool {
	if f.bytes <= wholeBytes {
		return false
	}
	file, err := os.Open(f.Path)
	if err != nil {
		return false // the reader of the file says why it cannot be read
	}
	defer file.Close() //nolint:errcheck // nothing was written
	head := make([]byte, lookBytes)
	n, err := io.ReadFull(file, head)
	return (err == nil || errors.Is(err, io.ErrUnexpectedEOF)) && format.IsMailbox(head[:n])
}

// mailbox reads a file in parts.
type mailbox struct {
	in    io.Reader
	sum   hash.Hash // of what was read
	rest  []byte    // read, and in no part yet
	ended bool
	mails int // in the parts so far
}

// errLongMail says that one mail is larger than a file may be.
var errLongMail = errors.New("holds a mail that is " + tooLarge)

// more reads as much again as is held, and something always.
func (m *mailbox) more() error {
	at := len(m.rest)
	m.rest = append(m.rest, make([]byte, max(partBytes/4, at))...)
	n, err := io.ReadFull(m.in, m.rest[at:])
	m.rest = m.rest[:at+n]
	m.sum.Write(m.rest[at:])
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		m.ended, err = true, nil
	}
	return err
}

// next is the next part, and how many mails stand before it. It is empty at the end.
func (m *mailbox) next() (part []byte, before int, err error) {
	at, mails := 0, 0
	for {
		length, whole := format.FirstMail(m.rest[at:])
		if long := length > maxFileBytes; long && at > 0 { // what stands before it is whole
			part, before = m.take(at, mails)
			return part, before, nil
		} else if long || len(m.rest) > 3*maxFileBytes {
			return nil, 0, errLongMail
		}
		if end := at + length; !m.ended && (!whole || len(m.rest)-end < lookBytes) {
			if err := m.more(); err != nil {
				return nil, 0, err
			}
			continue
		}
		if at += length; length > 0 {
			mails++
		}
		if !whole || (at >= partBytes || mails >= partMails) && format.IsMailbox(m.rest[at:min(len(m.rest), at+lookBytes)]) {
			part, before = m.take(at, mails)
			return part, before, nil
		}
	}
}

// take cuts a part off what was read.
func (m *mailbox) take(n, mails int) (part []byte, before int) {
	part, before = m.rest[:n:n], m.mails
	m.rest, m.mails = bytes.Clone(m.rest[n:]), before+mails
	return part, before
}

// prepareMailbox reads a mailbox and hands out the documents of its parts.
func (r *run) prepareMailbox(ctx context.Context, file File, give func([]entry)) {
	all := &taking{file: file, open: 1, taken: map[string]int{}}
	left, sum, err := r.readMailbox(ctx, all, give)
	switch {
	case ctx.Err() != nil:
		return
	case errors.Is(err, errStands):
		r.settle(Progress{Files: 1, Bytes: file.bytes}, func(s *Summary) { s.Unchanged++ })
		return
	}
	r.settle(Progress{Bytes: left}, func(s *Summary) {
		if all.digest = sum; err != nil {
			all.cut = true
			s.Skipped = append(s.Skipped, Skipped{Path: file.Path, Part: "the rest of it", Reason: reasonOf(err)})
		}
		r.partEnded(s, all)
	})
}

// errStands says that a mailbox is as it was.
var errStands = errors.New("it has not changed")

// readMailbox reads the parts of a mailbox. It returns how many bytes are in none, and the
// digest of all.
func (r *run) readMailbox(ctx context.Context, all *taking, give func([]entry)) (left int64, sum digest, err error) {
	left, sum = all.file.bytes, "unread"
	in, err := os.Open(all.file.Path)
	if err != nil {
		return left, sum, err
	}
	defer in.Close() //nolint:errcheck // nothing was written
	before := sha256.New()
	if _, err := io.Copy(before, in); err != nil {
		return left, sum, err
	}
	if r.stands(all.file, digest(hex.EncodeToString(before.Sum(nil)))) {
		return left, sum, errStands
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return left, sum, err
	}
	box := &mailbox{in: in, sum: sha256.New()}
	for n := 1; ctx.Err() == nil; n++ {
		raw, mails, err := box.next()
		if err != nil || len(raw) == 0 {
			return left, digest(hex.EncodeToString(box.sum.Sum(nil))), err
		}
		part := all.file
		part.bytes = min(int64(len(raw)), left)
		left -= part.bytes
		key := all.file.ID + pb.ExternalID(fmt.Sprintf("#part %d", n))
		if r.partStands(all, key, digestOf(raw)) {
			r.settle(Progress{Bytes: part.bytes}, func(*Summary) {})
			continue
		}
		give(r.prepareBytes(ctx, &intake{taking: all, key: key, digest: digestOf(raw)}, part, raw, mails))
	}
	return left, sum, nil
}

// partStands reports whether a part of a mailbox is as it was when it was taken in.
func (r *run) partStands(all *taking, key pb.ExternalID, sum digest) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	was, known := r.State.body.Files[key]
	if !known || was.Digest != sum || r.Again {
		return false
	}
	all.stood, all.node = true, was.Node
	return true
}

func digestOf(raw []byte) digest {
	sum := sha256.Sum256(raw)
	return digest(hex.EncodeToString(sum[:]))
}

// behind says of a place in a part of a mailbox where it is in the whole.
func behind(where string, mails int) string {
	rest, ok := strings.CutPrefix(where, "mail ")
	if !ok || mails == 0 {
		return where
	}
	number, rest, more := strings.Cut(rest, ",")
	n, err := strconv.Atoi(number)
	if err != nil {
		return where
	}
	if more {
		rest = "," + rest
	}
	return fmt.Sprintf("mail %d%s", n+mails, rest)
}
