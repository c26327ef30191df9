package migrate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"orgmem/cmd/orgmem/internal/client"
	"orgmem/cmd/orgmem/internal/importer"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// Bounds of sending.
const (
	// maxWaiting bounds the notes that wait for their batch to fill, of all users.
	maxWaiting = 16 << 20
	// maxNamed users are named in a message.
	maxNamed = 5
)

// Service is what a migration needs of the service.
type Service interface {
	PutSubject(ctx context.Context, subject string) error
	HasSubject(ctx context.Context, subject string) (bool, error)
	// As is the service acting as a subject.
	As(subject string) importer.Service
}

// Target is where a plan goes.
type Target struct {
	Service  Service
	Journal  *Journal
	Clock    clock.Clock
	Random   io.Reader // nil: crypto/rand
	Progress func(done, total int)
	// Again sends what was taken in before, too, also what was forgotten since, and
	// provisions subjects that were erased.
	Again bool
}

// Summary is what became of the notes.
type Summary struct {
	Created    int `json:"created"`
	Superseded int `json:"superseded"` // an older text of the same id
	Unchanged  int `json:"unchanged"`
	// Forgotten notes were taken in before, and were forgotten in the service since. They are
	// left out, as are those of Erased.
	Forgotten int `json:"forgotten"`
	// Erased are subjects that were there at an earlier import, and are not any more.
	Erased []string `json:"erased"`
	// Emptied are memories (empty: the key owner's own) of which nothing that was asked for
	// is there any more; what did not change since is not sent to them.
	Emptied    []string `json:"emptied"`
	Failed     []Fault  `json:"failed"`
	MoreFailed int      `json:"moreFailed"`
}

// Send provisions the subjects of a plan, sends its notes, and waits until they are taken
// in. After an error a later Send of the same export goes on from there.
func (p *Plan) Send(ctx context.Context, t Target) (Summary, error) {
	s := &sender{
		Target: t, plan: p, waiting: map[string]*batch{}, erased: map[string]bool{}, lives: map[id]bool{},
		sum: Summary{Failed: []Fault{}, Erased: []string{}, Emptied: []string{}},
	}
	if err := s.provision(ctx); err != nil {
		return s.sum, err
	}
	if err := s.verify(ctx); err != nil {
		return s.sum, err
	}
	for level := range p.highest + 1 { // what rests on others is sent when they are there
		if err := s.level(ctx, level); err != nil {
			return s.sum, errors.Join(err, s.Journal.flush())
		}
	}
	return s.sum, s.Journal.flush()
}

type sender struct {
	Target
	plan    *Plan
	waiting map[string]*batch // by subject
	bytes   int               // of what waits
	batches chan *batch
	erased  map[string]bool // subjects

	mu    sync.Mutex  // guards the journal and what follows
	lives map[id]bool // what was asked for: whether it is there
	sum   Summary
	done  int
}

// batch are notes of one subject.
type batch struct {
	subject string
	notes   []note
	keys    []id
	marks   []id
	bytes   int
}

// provision makes sure that each user has a subject, before anything is sent. One that an
// earlier import had, and that is not there any more, was erased, and stays it.
func (s *sender) provision(ctx context.Context) error {
	var missing []string
	for _, u := range s.plan.Users {
		if u.Subject == "" || u.Subject == s.plan.options.Subject {
			continue // the one that the command names has to be there
		}
		if s.Journal.subjects[u.Subject] && !s.Again {
			there, err := s.Service.HasSubject(ctx, u.Subject)
			if err != nil {
				return fmt.Errorf("subject %q: %w", u.Subject, err)
			}
			if !there {
				s.erased[u.Subject] = true
				s.sum.Erased = append(s.sum.Erased, u.Subject)
			}
			continue
		}
		err := s.Service.PutSubject(ctx, u.Subject)
		if p, ok := errors.AsType[*client.Problem](err); ok && p.Status == 403 {
			there, err := s.Service.HasSubject(ctx, u.Subject)
			if err != nil {
				return fmt.Errorf("subject %q: %w", u.Subject, err)
			}
			if !there {
				missing = append(missing, u.Subject)
			}
			continue
		}
		if err != nil {
			return fmt.Errorf("subject %q: %w", u.Subject, err)
		}
		if err := s.Journal.provisioned(u.Subject); err != nil {
			return err
		}
	}
	if len(missing) == 0 {
		return s.Journal.flush()
	}
	named := strings.Join(missing[:min(len(missing), maxNamed)], ", ")
	if more := len(missing) - maxNamed; more > 0 {
		named += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Errorf("the key may not provision subjects, and these users have none yet: %s; use a key with the "+
		"scope %s, or take all of it into one memory with --merge-users; nothing was sent", named, pb.ScopeProvision)
}

// verify asks for some of the nodes that the journal names, to tell of memories that know
// none of them. What is not there was forgotten or erased, or the service was set back, which
// nothing tells apart; so it does not come back unless it is asked for.
func (s *sender) verify(ctx context.Context) error {
	if s.Again {
		return nil
	}
	asked := map[string]bool{}
	for _, u := range s.plan.Users {
		nodes := s.Journal.nodes[u.Subject]
		if s.erased[u.Subject] || asked[u.Subject] || len(nodes) == 0 {
			continue
		}
		asked[u.Subject] = true
		known := false
		for _, node := range nodes {
			there, err := s.there(ctx, u.Subject, node)
			if err != nil {
				return err
			}
			if known = there; known {
				break
			}
		}
		if !known {
			s.sum.Emptied = append(s.sum.Emptied, u.Subject)
		}
	}
	return nil
}

// there reports whether a node stands, or was superseded; else it was forgotten.
func (s *sender) there(ctx context.Context, subject, node string) (bool, error) {
	status, err := s.Service.As(subject).NodeStatus(ctx, node)
	if client.IsCode(err, pb.CodeNodeNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("verify what was imported before: %w", err)
	}
	return status != pb.StatusTombstoned, nil
}

// forgotten reports whether a note was taken in before and is not there any more.
func (s *sender) forgotten(ctx context.Context, subject string, key id) (bool, error) {
	if s.Again {
		return false, nil
	}
	s.mu.Lock()
	lives, asked := s.lives[key]
	node, err := "", error(nil)
	if !asked {
		node, err = s.Journal.node(key)
	}
	s.mu.Unlock()
	if asked || err != nil || node == "" {
		return asked && !lives, err
	}
	if lives, err = s.there(ctx, subject, node); err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lives[key] = lives
	return !lives, nil
}

// level sends the notes of one level and waits for them.
func (s *sender) level(ctx context.Context, level int) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s.batches = make(chan *batch)
	var workers sync.WaitGroup
	for range importer.InFlight {
		workers.Go(func() {
			for b := range s.batches {
				if err := s.deliver(ctx, b); err != nil {
					stop(err)
				}
			}
		})
	}
	err := s.plan.notes(ctx, level, func(n note) error { return s.add(ctx, n) })
	for subject := range s.waiting {
		s.flush(ctx, subject)
	}
	close(s.batches)
	workers.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// add puts a note that is new into the batch of its subject.
func (s *sender) add(ctx context.Context, n note) error {
	subject := s.plan.subject(n.user)
	key, m := keyOf(subject, n.item), markOf(subject, n)
	s.mu.Lock()
	known := !s.Again && s.Journal.has(key, m)
	switch {
	case s.erased[subject]:
		s.sum.Forgotten++
		s.advance(1)
	case known:
		s.sum.Unchanged++
		s.advance(1)
	}
	s.mu.Unlock()
	if known || s.erased[subject] {
		return nil
	}
	raw, err := json.Marshal(n.item)
	if err != nil {
		return fmt.Errorf("%s: %w", n.where, err)
	}
	if len(raw) > importer.MaxItem {
		s.fail(n, "is too large once encoded")
		return nil
	}
	b := s.waiting[subject]
	if b != nil && (len(b.notes) == importer.BatchItems || b.bytes+len(raw) > importer.BatchBytes) {
		s.flush(ctx, subject)
		b = nil
	}
	if b == nil {
		b = &batch{subject: subject}
		s.waiting[subject] = b
	}
	b.notes, b.keys, b.marks, b.bytes = append(b.notes, n), append(b.keys, key), append(b.marks, m), b.bytes+len(raw)
	for s.bytes += len(raw); s.bytes > maxWaiting; {
		s.flush(ctx, s.fullest())
	}
	return ctx.Err()
}

func (s *sender) fullest() string {
	var name string
	most := -1
	for subject, b := range s.waiting {
		if b.bytes > most {
			name, most = subject, b.bytes
		}
	}
	return name
}

// flush gives a subject's batch to who sends it.
func (s *sender) flush(ctx context.Context, subject string) {
	b := s.waiting[subject]
	delete(s.waiting, subject)
	s.bytes -= b.bytes
	select {
	case s.batches <- b:
	case <-ctx.Done():
	}
}

// sift takes out of a batch what was forgotten in the service since it was taken in, though
// the product says something else of it now, and the names of forgotten notes out of what
// rests on them: the service takes nothing that names what is not there.
func (s *sender) sift(ctx context.Context, b *batch) error {
	left := &batch{subject: b.subject}
	for i, n := range b.notes {
		gone, err := s.forgotten(ctx, b.subject, b.keys[i])
		if err != nil {
			return err
		}
		if gone {
			s.mu.Lock()
			s.sum.Forgotten++
			s.advance(1)
			s.mu.Unlock()
			continue
		}
		var grounds []string
		for _, g := range n.item.DerivedFrom {
			gone, err := s.forgotten(ctx, b.subject, idOf(b.subject, g))
			if err != nil {
				return err
			}
			if !gone {
				grounds = append(grounds, g)
			}
		}
		n.item.DerivedFrom = grounds
		left.notes, left.keys = append(left.notes, n), append(left.keys, b.keys[i])
		left.marks = append(left.marks, b.marks[i])
	}
	*b = *left
	return nil
}

// deliver sends a batch and takes over what became of it.
func (s *sender) deliver(ctx context.Context, b *batch) error {
	if err := s.sift(ctx, b); err != nil || len(b.notes) == 0 {
		return err
	}
	items := make([]client.Item, len(b.notes))
	for i, n := range b.notes {
		items[i] = n.item
	}
	outcomes, err := importer.Deliver(ctx, importer.Options{
		Service: s.Service.As(b.subject), Clock: s.Clock, Random: s.Random,
	}, items)
	if err != nil {
		if b.subject != "" {
			return fmt.Errorf("subject %q: %w", b.subject, err)
		}
		return err
	}
	for i, o := range outcomes {
		if o.Reason != "" {
			s.fail(b.notes[i], o.Reason)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, o := range outcomes {
		switch {
		case o.Reason != "":
			continue
		case o.Status == pb.ItemCreated:
			s.sum.Created++
		case o.Status == pb.ItemUnchanged:
			s.sum.Unchanged++
		default:
			s.sum.Superseded++
		}
		if err := s.Journal.took(b.subject, b.keys[i], b.marks[i], o.Node); err != nil {
			return err
		}
	}
	s.advance(len(outcomes) - failed(outcomes))
	return s.Journal.flush()
}

func failed(outcomes []importer.Outcome) int {
	n := 0
	for _, o := range outcomes {
		if o.Reason != "" {
			n++
		}
	}
	return n
}

// fail notes that the service did not take a note.
func (s *sender) fail(n note, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.advance(1)
	if len(s.sum.Failed) >= maxFaults {
		s.sum.MoreFailed++
		return
	}
	s.sum.Failed = append(s.sum.Failed, Fault{Path: n.where, Part: n.item.ExternalID, Reason: reason})
}

// advance tells how far it has come; mu is held.
func (s *sender) advance(n int) {
	s.done += n
	if s.Progress != nil {
		s.Progress(s.done, s.plan.Notes)
	}
}
