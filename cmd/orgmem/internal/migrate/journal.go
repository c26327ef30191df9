package migrate

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"orgmem/cmd/orgmem/internal/client"
	"orgmem/cmd/orgmem/internal/config"
	"orgmem/cmd/orgmem/internal/durable"
)

const (
	// maxJournal bounds the journal's file: some 200 bytes for each note, and those of many
	// exports.
	maxJournal = 2 << 30
	// maxLine bounds a line of it: the longest name of a subject, escaped, is the most.
	maxLine = 4 << 10
	// probes is how many nodes of a memory are asked for, to say when nothing is there.
	probes = 3
)

// Journal knows what was taken into the memories that one key reaches: of each note its
// subject, its id, a mark of all that it says, and its node. It is a file of lines that only
// grows; a line that was torn by a crash is passed over, which costs sending its note again.
//
// Its name has the organization's id, which no other data directory has: what it names and
// the service does not know was forgotten there, or erased, and is not sent again.
type Journal struct {
	path string
	lock io.Closer
	file *os.File
	out  *bufio.Writer
	size int64 // of the file, with what out holds
	old  int64 // how much of it earlier imports have written
	// notes by their key, the newest line of each.
	notes    map[id]taken
	subjects map[string]bool     // that were provisioned, or have notes
	nodes    map[string][]string // some of each subject
	// Distrusted says why a journal that was found is not used.
	Distrusted string
}

// taken is a note of the journal.
type taken struct {
	mark id
	line int64 // where its line stands in the file
}

// journalLine is one note of the journal, or a subject that was provisioned.
type journalLine struct {
	Subject string `json:"s,omitempty"`
	Key     string `json:"k,omitempty"`
	Mark    string `json:"m,omitempty"`
	Node    string `json:"n,omitempty"`
}

// OpenJournal locks and reads the journal of what target names: the service's address, the
// organization and the member.
func OpenJournal(dir string, target ...string) (*Journal, error) {
	if err := os.MkdirAll(dir, config.DirMode0700); err != nil {
		return nil, fmt.Errorf("import journal: %w", err)
	}
	j := &Journal{
		path: filepath.Join(dir, mark(target...)+".jsonl"), notes: map[id]taken{}, subjects: map[string]bool{},
		nodes: map[string][]string{},
	}
	lock, err := durable.Lock(j.path + ".lock")
	if errors.Is(err, durable.ErrBusy) {
		return nil, errors.New("another import with the same key is running")
	}
	if err != nil {
		return nil, fmt.Errorf("import journal: %w", err)
	}
	j.lock = lock
	if err := j.read(); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	j.file, err = os.OpenFile(j.path, os.O_RDWR|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("import journal: %w", err), lock.Close())
	}
	j.out = bufio.NewWriter(j.file)
	info, err := j.file.Stat()
	if err == nil {
		j.size, j.old = info.Size(), info.Size()
		err = j.write("\n") // ends a line that a crash has torn; otherwise it is an empty one
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("import journal: %w", err), j.Close())
	}
	return j, nil
}

// read believes a file that only its owner can have written.
func (j *Journal) read() error {
	file, err := os.OpenFile(j.path, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("import journal: %w", err)
	}
	defer file.Close() //nolint:errcheck // nothing was written
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("import journal: %w", err)
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); !ok || int(owner.Uid) != os.Getuid() || info.Mode().Perm()&0o022 != 0 {
		j.Distrusted = "others can write it"
		return os.Remove(j.path)
	}
	lines := bufio.NewScanner(io.LimitReader(file, maxJournal))
	lines.Split(wholeLines)
	for at := int64(0); lines.Scan(); at += int64(len(lines.Bytes())) {
		var l journalLine
		if json.Unmarshal(lines.Bytes(), &l) == nil {
			j.know(l, at)
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		j.Distrusted = "it is damaged"
		clear(j.notes)
		clear(j.subjects)
		clear(j.nodes)
		return os.Remove(j.path)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("import journal: %w", err)
	}
	return nil
}

// wholeLines splits at the ends of lines, which stay: the lengths are those in the file.
func wholeLines(data []byte, end bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i+1], nil
	}
	if end && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

// know takes over a line that stands at a place of the file.
func (j *Journal) know(l journalLine, at int64) {
	if l.Subject != "" {
		j.subjects[l.Subject] = true
	}
	key, ok := idFrom(l.Key)
	m, sound := idFrom(l.Mark)
	if !ok || !sound {
		return
	}
	j.notes[key] = taken{m, at}
	if l.Node == "" {
		return
	}
	// The first and the newest: what was forgotten since is rarely both.
	if nodes := j.nodes[l.Subject]; len(nodes) < probes {
		j.nodes[l.Subject] = append(nodes, l.Node)
	} else {
		nodes[probes-1] = l.Node
	}
}

func idFrom(text string) (i id, ok bool) {
	raw, err := hex.DecodeString(text)
	return i, err == nil && copy(i[:], raw) == len(i)
}

// keyOf is what a note is the same by, whatever it says now. One without an id is known by
// its text.
func keyOf(subject string, item client.Item) id {
	return idOf(subject, cmp.Or(item.ExternalID, "\x00"+mark(item.Title, item.Content)))
}

// markOf is what the journal knows a note by.
func markOf(subject string, n note) id {
	var i id
	raw, err := json.Marshal(n.item)
	if err != nil { // what was read from JSON becomes JSON
		return i
	}
	sum, err := hex.DecodeString(mark(subject, string(raw)))
	if err == nil { // it is hexadecimal
		copy(i[:], sum)
	}
	return i
}

// has reports whether a note was taken in as it stands now.
func (j *Journal) has(key, m id) bool {
	was, known := j.notes[key]
	return known && was.mark == m
}

// node is the node that a note was at an earlier import, with whatever text; empty if no
// import has sent it before this one. It is read from the file: the nodes of all notes would
// take a lot of memory.
func (j *Journal) node(key id) (string, error) {
	was, known := j.notes[key]
	if !known || was.line >= j.old {
		return "", nil
	}
	raw := make([]byte, maxLine)
	n, err := j.file.ReadAt(raw, was.line)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("import journal: %w", err)
	}
	first, _, _ := bytes.Cut(raw[:n], []byte("\n"))
	var l journalLine
	if err := json.Unmarshal(first, &l); err != nil || l.Key != hex.EncodeToString(key[:]) {
		return "", errors.New("import journal: something else has written to " + j.path)
	}
	return l.Node, nil
}

// took notes that a note was taken in.
func (j *Journal) took(subject string, key, m id, node string) error {
	return j.add(journalLine{subject, hex.EncodeToString(key[:]), hex.EncodeToString(m[:]), node})
}

// provisioned notes that a subject was.
func (j *Journal) provisioned(subject string) error { return j.add(journalLine{Subject: subject}) }

func (j *Journal) add(l journalLine) error {
	raw, err := json.Marshal(l)
	if err != nil { // texts become JSON
		return err
	}
	j.know(l, j.size)
	return j.write(string(raw) + "\n")
}

func (j *Journal) write(text string) error {
	n, err := j.out.WriteString(text)
	j.size += int64(n)
	if err != nil {
		return fmt.Errorf("import journal: %w", err)
	}
	return nil
}

// flush gives what was noted to the system: it is there when this process is killed.
func (j *Journal) flush() error {
	if err := j.out.Flush(); err != nil {
		return fmt.Errorf("import journal: %w", err)
	}
	return nil
}

// Close writes what is left and lets go of the lock. It may be called twice.
func (j *Journal) Close() error {
	if j.lock == nil {
		return nil
	}
	err := errors.Join(j.flush(), j.file.Close(), j.lock.Close())
	j.lock = nil
	return err
}
