package migrate

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"orgmem/cmd/orgmem/internal/config"
	"orgmem/cmd/orgmem/internal/durable"
)

// maxJournal bounds the journal's file: some 150 bytes for each note, and those of many
// exports.
const maxJournal = 2 << 30

// probes is how many nodes of a memory are asked for before the journal is believed.
const probes = 3

// Journal knows what was taken into the memories that one key reaches: of each note a mark
// of its subject, its id and all that it says. It is a file of lines that only grows; a line
// that was torn by a crash is passed over, which costs sending its note again.
type Journal struct {
	path string
	lock io.Closer
	file *os.File
	out  *bufio.Writer
	done map[id]bool
	// nodes of each subject, to ask the service for; gone are the subjects of which it knows
	// none of them.
	nodes map[string][]string
	gone  map[string]bool
	// Distrusted says why a journal that was found is not used.
	Distrusted string
}

// journalLine is one note of the journal.
type journalLine struct {
	Subject string `json:"s,omitempty"`
	Mark    string `json:"m"`
	Node    string `json:"n"`
}

// OpenJournal locks and reads the journal of what target names: the service's address, the
// organization and the member.
func OpenJournal(dir string, target ...string) (*Journal, error) {
	if err := os.MkdirAll(dir, config.DirMode0700); err != nil {
		return nil, fmt.Errorf("import journal: %w", err)
	}
	j := &Journal{
		path: filepath.Join(dir, mark(target...)+".jsonl"), done: map[id]bool{}, nodes: map[string][]string{},
		gone: map[string]bool{},
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
	j.file, err = os.OpenFile(j.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("import journal: %w", err), lock.Close())
	}
	j.out = bufio.NewWriter(j.file)
	// Ends a line that a crash has torn; otherwise it is an empty one.
	if _, err := j.out.WriteString("\n"); err != nil { // it is buffered
		return nil, errors.Join(err, j.Close())
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
	for lines.Scan() {
		var l journalLine
		if json.Unmarshal(lines.Bytes(), &l) == nil {
			j.know(l)
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		j.Distrusted = "it is damaged"
		clear(j.done)
		clear(j.nodes)
		return os.Remove(j.path)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("import journal: %w", err)
	}
	return nil
}

func (j *Journal) know(l journalLine) {
	raw, err := hex.DecodeString(l.Mark)
	var i id
	if err != nil || copy(i[:], raw) != len(i) {
		return
	}
	j.done[i] = true
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

// forget drops what is known of a memory: the service has it no more.
func (j *Journal) forget(subject string) {
	delete(j.nodes, subject)
	j.gone[subject] = true
	j.Distrusted = "the service does not know what was taken in before"
	if subject != "" {
		j.Distrusted += " for " + subject
	}
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

// has reports whether a note was taken in, as far as the service still knows its memory.
func (j *Journal) has(subject string, m id) bool { return j.done[m] && !j.gone[subject] }

// took notes that a note was taken in.
func (j *Journal) took(subject string, m id, node string) error {
	l := journalLine{subject, hex.EncodeToString(m[:]), node}
	raw, err := json.Marshal(l)
	if err != nil { // texts become JSON
		return err
	}
	j.know(l)
	if _, err := j.out.WriteString(strings.TrimSpace(string(raw)) + "\n"); err != nil {
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
