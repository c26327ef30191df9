package tenant

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"orgmem/actors/commit"
	"orgmem/actors/node"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/storage"
)

// An attempt at a job is over when the work succeeds or fails. Where the process stops, is
// killed, or loses its lease in the middle, the work has not failed, and the attempt does
// not count: the next one has the same number. But work that kills its process, because it
// wants more memory than there is, looks like work whose process was killed. So a job
// remembers in which activation its attempt began (Job.begun). Another activation that finds
// such a mark asks what became of that one:
//
//   - it was stopped in good order, and has said so in the store (HandedOver);
//   - its process is still there and says that nothing panicked: it has lost its lease;
//   - nobody knows. Then its end was unclean, and is remembered (Job.unclean).
//
// A job is given up after MaxUncleanEnds of those without progress. From the second on it
// waits before it begins again, up to half a minute: a process that dies while the work
// waits was not killed by it, and does not count.

const (
	// MinBackOff is the wait after the first failed slice. It doubles with each further failure.
	MinBackOff = 100 * time.Millisecond
	// MaxBackOff is the longest such wait.
	MaxBackOff = 30 * time.Second
	// MaxAttempts is how often a job's work may fail.
	MaxAttempts = 5
	// MaxUncleanEnds is how many processes in a row may end in the middle of a job's work
	// before the job is given up, if the work gets nowhere. With the waits between them
	// work that kills its process does so for some seven minutes.
	MaxUncleanEnds = 20
	// FreeUncleanEnds is after how many of them the work still begins at once, and
	// uncleanBackOff the wait after the next one, which doubles up to MaxBackOff.
	FreeUncleanEnds = 1
	uncleanBackOff  = time.Second
	// askPastTime bounds the question to another process what became of an activation:
	// the work of its organization waits for that, its requests do not.
	askPastTime = time.Second
	// askPastPause is how long work waits before it looks whether that is answered.
	askPastPause = 100 * time.Millisecond
	// maxPanicked bounds the panicked activations that a process remembers, newest first.
	maxPanicked = 1024
)

// ErrUnclean is the reason of work that is given up because the service ended
// MaxUncleanEnds times while it was done.
var ErrUnclean = fmt.Errorf("the service ended %d times in a row while it worked on this, which got no further",
	MaxUncleanEnds)

// WaitError says that work waits before it begins again.
type WaitError struct{ Wait time.Duration }

func (e WaitError) Error() string { return fmt.Sprintf("work waits for %v", e.Wait) }

// processOf is the server and the process in an activation's name, which is server/process/number.
func processOf(activation string) string {
	return activation[:max(strings.LastIndexByte(activation, '/'), 0)]
}

// ServerOf is the server in an activation's name: the node that the activation was on. It is empty for a node that was
// alone.
func ServerOf(activation string) wire.ServerID {
	server, _, _ := strings.Cut(activation, "/")
	return wire.ServerID(server)
}

// past is what an activation knows of those before it.
type past struct {
	known chan struct{} // closed when nothing more will be heard

	mu       sync.Mutex // guards what follows
	outlived map[string]bool
	waits    map[pb.JobID]time.Time // until when work waits after an unclean end
}

func newPast() *past {
	return &past{known: make(chan struct{}), outlived: map[string]bool{}, waits: map[pb.JobID]time.Time{}}
}

// askPast asks the nodes whose processes had some activations.
func (o *View) askPast(p *past, names map[string]bool) {
	ctx, cancel := context.WithCancel(o.System.Lifetime)
	defer cancel()
	defer o.System.Clock.AfterFunc(askPastTime, cancel).Stop()
	var all sync.WaitGroup
	for name := range names { // at most MaxUncleanEnds and one for each open job
		all.Go(func() {
			outlived := o.System.AskOutlived(ctx, name)
			p.mu.Lock()
			defer p.mu.Unlock()
			p.outlived[name] = outlived
		})
	}
	all.Wait()
}

// handOver notes that this activation is stopped in good order: what its end interrupts
// has not failed.
func (o *Org) handOver() {
	if o.Committer == nil || o.Retired || o.openCount == 0 {
		return
	}
	b := storage.NewBatch(o.Store)
	b.Put(o.Space.Key(storage.TableHandedOver), &pb.HandedOver{Activation: o.Activation.Name})
	if err := o.commitBeforeStop(func(done func(error)) { o.Committer.Submit(b, done) }); err != nil {
		o.System.Log.Warn("the jobs that are interrupted are taken for jobs whose process died", "org", o.ID.String(),
			"err", err)
	}
}

// settlePast takes back an attempt that the end of another activation has interrupted.
func (o *View) settlePast(job *pb.Job) {
	p := o.outcomesBefore
	p.mu.Lock()
	defer p.mu.Unlock()
	if begun := job.GetBegun(); begun != "" && begun != o.Activation.Name {
		job.Begun, job.Attempts = "", max(job.GetAttempts(), 1)-1
		job.Unclean = append(job.GetUnclean(), begun)
	}
	// One that was not heard of may have been paused, and be heard of now.
	job.Unclean = slices.DeleteFunc(job.GetUnclean(), func(name string) bool { return p.outlived[name] })
}

// BeginAttempt notes in a job that an attempt at it begins, or goes on, in this
// activation; the caller writes the job. The error is ErrGivenUp or ErrUnclean where there
// is no attempt left, or a WaitError: then the job is to be written, and this to be called
// again after that time.
func (o *View) BeginAttempt(job *pb.Job) error {
	if job.GetBegun() == o.Activation.Name {
		return nil
	}
	select {
	case <-o.outcomesBefore.known:
	default:
		return WaitError{askPastPause}
	}
	o.settlePast(job)
	unclean := len(job.GetUnclean())
	switch {
	case unclean >= MaxUncleanEnds:
		return ErrUnclean
	case job.GetAttempts() >= MaxAttempts:
		return ErrGivenUp
	}
	if wait := o.outcomesBefore.left(pb.JobID(job.GetId()), unclean, o.System.Clock.Now(),
		o.System.Config.MaxBackOff); wait > 0 {
		return WaitError{wait}
	}
	job.Attempts++
	job.Begun = o.Activation.Name
	return nil
}

// left is how long work has to wait yet after so many unclean ends: once in an activation.
func (p *past) left(id pb.JobID, unclean int, now time.Time, most time.Duration) time.Duration {
	if unclean <= FreeUncleanEnds {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	until, waits := p.waits[id]
	if !waits {
		until = now.Add(min(most, uncleanBackOff<<min(unclean-FreeUncleanEnds-1, 10)))
		p.waits[id] = until // bounded by the open jobs
	}
	return until.Sub(now)
}

// NeedsIsolation reports whether a job's work may have failed, or ended a process: then it is
// done by itself.
func NeedsIsolation(job *pb.Job) bool { return job.GetAttempts() > 1 || len(job.GetUnclean()) > 0 }

// attemptsShown is how many attempts a job is said to have had. Former versions counted
// the one that was not made any more.
func attemptsShown(job *pb.Job) uint32 { return min(job.GetAttempts(), MaxAttempts) }

// NoteProgress notes that a job has made progress: what is left of it has all its attempts.
func (o *View) NoteProgress(job *pb.Job) {
	job.Attempts, job.Begun, job.Unclean = 1, o.Activation.Name, nil
}

// FailAttempt notes that the attempt at a job that is under way here has failed.
func (o *View) FailAttempt(r storage.Reader, b *storage.Batch, id pb.JobID) error {
	job := &pb.Job{}
	found, err := r.Get(o.Space.Key(storage.TableJob, storage.ID16(id)), job)
	if err != nil || !found || Terminal(job.GetStatus()) || job.GetBegun() != o.Activation.Name {
		return err
	}
	job.Begun = ""
	UpdateJob(b, o.Space, job)
	return nil
}

// IsWorkFailure reports whether an error is the work's own. That the activation is over, the
// disk is full, or too much is under way says nothing of the work.
func IsWorkFailure(err error) bool {
	switch {
	case err == nil, Superseded(err), errors.Is(err, ErrCancelled),
		errors.Is(err, storage.ErrNoSpace), errors.Is(err, wire.ErrBusy), errors.Is(err, commit.ErrQueueFull),
		errors.Is(err, wire.ErrNotLeader):
		return false
	}
	_, waits := errors.AsType[WaitError](err)
	_, degraded := errors.AsType[DegradedError](err)
	return !waits && !degraded
}

// GivenUp says why a job was given up, to the reader of the job.
func GivenUp(what string, why error) string {
	if errors.Is(why, ErrUnclean) {
		return fmt.Sprintf("%s was given up: %s", what, ErrUnclean)
	}
	return fmt.Sprintf("%s failed %d times", what, MaxAttempts)
}

// Superseded reports whether an error means that this activation is over.
func Superseded(err error) bool {
	return errors.Is(err, commit.ErrLost) || errors.Is(err, node.ErrClosing) ||
		errors.Is(err, wire.ErrFenced) || errors.Is(err, wire.ErrOutcomeUnknown) || errors.Is(err, wire.ErrRemoved) ||
		errors.Is(err, storage.ErrNoStore) // the organization was removed, and its store with it
}

// ErrCancelled ends a slice without effect: a job of it is to be cancelled.
var ErrCancelled = errors.New("cancelled")

// ErrGivenUp is the reason of work that failed MaxAttempts times.
var ErrGivenUp = errors.New("given up")

// DegradedError wraps one that says nothing of the work: the service could not do it just now.
type DegradedError struct{ error }

// Degraded wraps an error that says nothing of the work.
func Degraded(err error) error { return DegradedError{err} }

func (e DegradedError) Unwrap() error { return e.error }
