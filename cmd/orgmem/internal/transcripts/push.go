package transcripts

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"orgmem/cmd/orgmem/internal/client"
	"orgmem/cmd/orgmem/internal/plugin"
	"orgmem/cmd/orgmem/internal/secrets"
	"orgmem/proto/canon"
)

// Bounds of a push.
const (
	// batchEvents is the interface's bound of a batch.
	batchEvents = 500
	// batchBytes is the text at which a batch is sent; JSON may double it, and the
	// interface takes 10 MiB.
	batchBytes = 4 << 20
	// maxText bounds the text of one event: a person reads no more of a tool's output,
	// and its parts are hard to tell apart by then. What is cut says so.
	maxText = 256 << 10
	// maxRecord bounds a line, or a file that is one record. Pictures make them long.
	maxRecord = 64 << 20
	// signalBatch is the interface's bound of one call's signals.
	signalBatch = 100
	// maxDetail is below the interface's bound of a signal's detail.
	maxDetail = 2000
	// maxEventID is the interface's.
	maxEventID = 256
	// headBytes of a file tell whether it is still the one that was read.
	headBytes = 1024
)

// Service is what a push needs of the service; *client.Client has it.
type Service interface {
	PushSession(ctx context.Context, events []client.SessionEvent) ([]client.SessionResult, error)
	PushSignals(ctx context.Context, session string, signals []client.AgentSignal) error
	FinalizeSessions(ctx context.Context) error
}

// Options say what a push works with. State is nil for a dry run, which only reads.
type Options struct {
	Service Service
	State   *State
}

// Summary is what became of the transcripts.
type Summary struct {
	Files     int       `json:"files"`     // that had something new
	Unchanged int       `json:"unchanged"` // that had not
	Stored    int       `json:"stored"`
	Deduped   int       `json:"deduped"`
	Signals   int       `json:"signals"`
	Redacted  int       `json:"redacted"` // secrets
	DryRun    bool      `json:"dryRun"`
	Skipped   []Skipped `json:"skipped"`
}

// Skipped is what was not taken, and why.
type Skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Push sends what is new in the transcripts, and asks for what is derived from
// sessions to be built when there was something. When it returns an error the summary
// tells how far it came, and a later Push with the same state goes on from there.
func Push(ctx context.Context, o Options, files []File) (Summary, error) {
	p := &push{Options: o, summary: Summary{Skipped: []Skipped{}, DryRun: o.State == nil}}
	for _, file := range files {
		if err := p.file(ctx, file); err != nil {
			return p.summary, err
		}
	}
	if p.summary.Stored+p.summary.Signals == 0 || o.State == nil {
		return p.summary, nil
	}
	return p.summary, o.Service.FinalizeSessions(ctx)
}

type push struct {
	Options
	summary Summary

	path    string // of the file being read
	events  []client.SessionEvent
	signals []signal
	bytes   int
}

// file pushes one transcript.
func (p *push) file(ctx context.Context, file File) error {
	p.path = file.Path
	f, err := os.Open(file.Path)
	if err != nil {
		return p.leave(err.Error())
	}
	defer f.Close() //nolint:errcheck // nothing was written
	before := p.news()
	if file.assistant.whole {
		err = p.whole(ctx, file, f)
	} else {
		err = p.lines(ctx, file, f)
	}
	if p.news() != before {
		p.summary.Files++
	} else if err == nil {
		p.summary.Unchanged++
	}
	return err
}

// news counts what was new so far.
func (p *push) news() int { return p.summary.Stored + p.summary.Deduped + p.summary.Signals }

func (p *push) skip(reason string) {
	p.summary.Skipped = append(p.summary.Skipped, Skipped{p.path, reason})
}

// leave leaves the rest of the file out: the summary tells it, and the other files
// go on.
func (p *push) leave(reason string) error {
	p.skip(reason)
	return nil
}

// whole pushes a file that is one record, when it is not the one that was pushed.
func (p *push) whole(ctx context.Context, file File, f *os.File) error {
	raw, err := io.ReadAll(io.LimitReader(f, maxRecord+1))
	if err != nil {
		return p.leave(err.Error())
	}
	if len(raw) > maxRecord {
		return p.leave(fmt.Sprintf("larger than %d MiB", maxRecord>>20))
	}
	digest := sumOf(raw)
	if p.State.mark(file.Path).Head == digest {
		return nil
	}
	c := scene{}
	p.take(file.assistant.record(&c, raw))
	if err := p.flush(ctx); err != nil {
		return err
	}
	p.State.set(file.Path, mark{Offset: int64(len(raw)), Head: digest})
	return nil
}

// lines pushes the lines of a file behind those that were pushed. A last line that is
// not ended is still being written, and is left to the next push.
func (p *push) lines(ctx context.Context, file File, f *os.File) error {
	m := p.State.mark(file.Path)
	head, err := headOf(f, min(m.Offset, headBytes))
	if err != nil {
		return p.leave(err.Error())
	}
	if head != m.Head { // another file, or the same written anew
		m = mark{}
	}
	if _, err := f.Seek(m.Offset, io.SeekStart); err != nil {
		return p.leave(err.Error())
	}
	done := func() error {
		if err := p.flush(ctx); err != nil {
			return err
		}
		if m.Head, err = headOf(f, min(m.Offset, headBytes)); err != nil {
			return err
		}
		p.State.set(file.Path, m)
		return nil
	}
	r := bufio.NewReaderSize(f, 1<<20)
	from := m.Offset
	for {
		line, n, err := readLine(r)
		if errors.Is(err, io.EOF) {
			if m.Offset == from {
				return nil
			}
			return done()
		}
		if err != nil {
			p.skip(err.Error())
			return done()
		}
		if line == nil {
			p.skip(fmt.Sprintf("the line at byte %d is longer than %d MiB", m.Offset, maxRecord>>20))
		}
		m.Scene.at = m.Offset
		p.take(file.assistant.record(&m.Scene, line))
		m.Offset += n
		if len(p.events) >= batchEvents || p.bytes >= batchBytes {
			if err := done(); err != nil {
				return err
			}
		}
	}
}

// readLine returns the next line that is ended, without its end, and its length with
// it; nil for one that is longer than maxRecord. io.EOF says that there is none.
func readLine(r *bufio.Reader) (line []byte, n int64, err error) {
	tooLong := false
	for {
		part, err := r.ReadSlice('\n')
		n += int64(len(part))
		if tooLong = tooLong || len(line)+len(part) > maxRecord; !tooLong {
			line = append(line, part...)
		} else {
			line = nil
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return nil, 0, err
		case tooLong:
			return nil, n, nil
		}
		return bytes.TrimRight(line, "\r\n"), n, nil
	}
}

// headOf is the digest of a file's beginning; empty for none of it.
func headOf(f io.ReaderAt, n int64) (string, error) {
	if n == 0 {
		return "", nil
	}
	raw := make([]byte, n)
	if _, err := f.ReadAt(raw, 0); err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	return sumOf(raw), nil
}

func sumOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:16])
}

// take makes what a record held ready to be sent: without secrets, within bounds.
func (p *push) take(f found) {
	for _, e := range f.events {
		redacted := 0
		e.Text = plugin.WithoutMemory(e.Text) // what came from the memory is in it
		if len(e.Arguments) > 0 {
			e.Text, redacted = secrets.JSON(e.Arguments)
		} else {
			e.Text, redacted = secrets.Text(e.Text)
		}
		if strings.TrimSpace(e.Text) == "" {
			continue
		}
		p.summary.Redacted += redacted
		e.Arguments, e.Text = nil, cut(e.Text, maxText)
		for _, said := range []*string{&e.Cwd, &e.Tool, &e.Model} {
			*said, redacted = secrets.Text(*said)
			p.summary.Redacted += redacted
		}
		if _, err := time.Parse(time.RFC3339, e.At); err != nil {
			e.At = ""
		}
		if len(e.EventID) > maxEventID {
			e.EventID = sumOf([]byte(e.EventID))
		}
		p.events = append(p.events, e)
		p.bytes += len(e.Text)
	}
	for _, s := range f.signals {
		s.Detail, _ = secrets.Text(s.Detail) // counted with the event that it repeats
		s.Detail = cut(strings.TrimSpace(s.Detail), maxDetail)
		if _, err := time.Parse(time.RFC3339, s.At); err != nil {
			s.At = ""
		}
		p.signals = append(p.signals, s)
	}
}

// cut shortens a text to so many bytes, and says so.
func cut(text string, most int) string {
	kept := canon.Prefix(text, most)
	if len(kept) == len(text) {
		return text
	}
	return fmt.Sprintf("%s\n[cut: %d bytes more]", kept, len(text)-len(kept))
}

// flush sends what was taken.
func (p *push) flush(ctx context.Context) error {
	events, signals := p.events, p.signals
	p.events, p.signals, p.bytes = nil, nil, 0
	if p.State == nil {
		p.summary.Stored += len(events)
		p.summary.Signals += len(signals)
		return nil
	}
	for len(events) > 0 {
		n, size := 0, 0
		for n < len(events) && n < batchEvents && (n == 0 || size+len(events[n].Text) <= batchBytes) {
			size += len(events[n].Text)
			n++
		}
		results, err := p.Service.PushSession(ctx, events[:n])
		if err != nil {
			return err
		}
		for _, r := range results {
			switch r.Status {
			case "stored":
				p.summary.Stored++
			case "deduped":
				p.summary.Deduped++
			default:
				p.skip("an event was rejected: " + r.Error)
			}
		}
		events = events[n:]
	}
	for len(signals) > 0 {
		session := signals[0].session
		var batch []client.AgentSignal
		for len(signals) > 0 && signals[0].session == session && len(batch) < signalBatch {
			batch = append(batch, signals[0].AgentSignal)
			signals = signals[1:]
		}
		if err := p.Service.PushSignals(ctx, session, batch); err != nil {
			return err
		}
		p.summary.Signals += len(batch)
	}
	return nil
}
