package actors

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
	"orgmem/cluster"
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
// A job is given up after maxUncleanEnds of those without progress. From the second on it
// waits before it begins again, up to half a minute: a process that dies while the work
// waits was not killed by it, and does not count.

const (
	// minBackOff and maxBackOff bound the wait after a failed slice; it doubles.
	minBackOff = 100 * time.Millisecond
	maxBackOff = 30 * time.Second
	// maxAttempts is how often a job's work may fail.
	maxAttempts = 5
	// maxUncleanEnds is how many processes in a row may end in the middle of a job's work
	// before the job is given up, if the work gets nowhere. With the waits between them
	// work that kills its process does so for some seven minutes.
	maxUncleanEnds = 20
	// freeUncleanEnds is after how many of them the work still begins at once, and
	// uncleanBackOff the wait after the next one, which doubles up to maxBackOff.
	freeUncleanEnds = 1
	uncleanBackOff  = time.Second
	// askPastTime bounds the question to another process what became of an activation:
	// the work of its organization waits for that, its requests do not.
	askPastTime = time.Second
	// askPastPause is how long work waits before it looks whether that is answered.
	askPastPause = 100 * time.Millisecond
	// maxPanicked bounds the panicked activations that a process remembers, newest first.
	maxPanicked = 1024
)

// errUnclean is the reason of work that is given up because the service ended
// maxUncleanEnds times while it was done.
var errUnclean = fmt.Errorf("the service ended %d times in a row while it worked on this, which got no further", maxUncleanEnds)

// waitError says that work waits before it begins again.
type waitError struct{ wait time.Duration }

func (e waitError) Error() string { return fmt.Sprintf("work waits for %v", e.wait) }

// processOf and serverOf are parts of an activation's name: server/process/activation.
func processOf(activation string) string {
	return activation[:max(strings.LastIndexByte(activation, '/'), 0)]
}

func serverOf(activation string) cluster.ServerID {
	server, _, _ := strings.Cut(activation, "/")
	return cluster.ServerID(server)
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

// lookBack finds out what became of the activations in which the attempts at open jobs
// began. It waits for nobody: other nodes are asked beside the actor.
func (o *orgActor) lookBack(open []*pb.Job) error {
	names := map[string]bool{}
	for _, job := range open {
		for _, name := range append(job.GetUnclean(), job.GetBegun()) {
			if name != "" {
				names[name] = true
			}
		}
	}
	last := &pb.HandedOver{}
	if len(names) > 0 {
		err := o.withStore(func(st *storage.Store) error {
			_, err := st.Get(o.space.Key(storage.TableHandedOver), last)
			return err
		})
		if err != nil {
			return err
		}
	}
	p := o.past
	ask := map[string]bool{}
	for name := range names {
		switch process := processOf(name); {
		case process == processOf(last.GetActivation()):
			p.outlived[name] = true
		case process == o.sys.process:
			p.outlived[name] = o.sys.outlived(name)
		case o.sys.askOutlived != nil && serverOf(name) != o.sys.cfg.Placement.Server():
			ask[name] = true
		}
	}
	if len(ask) == 0 {
		close(p.known)
		return nil
	}
	view := &o.orgView
	o.sys.wg.Go(func() {
		defer close(p.known)
		view.askPast(p, ask)
	})
	return nil
}

// askPast asks the nodes whose processes had some activations.
func (o *orgView) askPast(p *past, names map[string]bool) {
	ctx, cancel := context.WithCancel(o.sys.ctx)
	defer cancel()
	defer o.sys.clock.AfterFunc(askPastTime, cancel).Stop()
	var all sync.WaitGroup
	for name := range names { // at most maxUncleanEnds and one for each open job
		all.Go(func() {
			outlived := o.sys.askOutlived(ctx, name)
			p.mu.Lock()
			defer p.mu.Unlock()
			p.outlived[name] = outlived
		})
	}
	all.Wait()
}

// outlived reports whether an activation was this process's, and did not panic.
func (s *System) outlived(activation string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return processOf(activation) == s.process && !slices.Contains(s.panicked, activation)
}

// notePanic remembers that an activation has panicked.
func (s *System) notePanic(activation string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.panicked = append(s.panicked, activation)
	s.panicked = s.panicked[max(0, len(s.panicked)-maxPanicked):]
}

// handOver notes that this activation is stopped in good order: what its end interrupts
// has not failed.
func (o *orgActor) handOver() {
	if o.committer == nil || o.lost || o.openJobs == 0 {
		return
	}
	b := storage.NewBatch(o.store)
	b.Put(o.space.Key(storage.TableHandedOver), &pb.HandedOver{Activation: o.act.name})
	if err := o.lastly(func(done func(error)) { o.committer.Submit(b, done) }); err != nil {
		o.sys.log.Warn("the jobs that are interrupted are taken for jobs whose process died", "org", o.id.String(), "err", err)
	}
}

// settlePast takes back an attempt that the end of another activation has interrupted.
func (o *orgView) settlePast(job *pb.Job) {
	p := o.past
	p.mu.Lock()
	defer p.mu.Unlock()
	if begun := job.GetBegun(); begun != "" && begun != o.act.name {
		job.Begun, job.Attempts = "", max(job.GetAttempts(), 1)-1
		job.Unclean = append(job.GetUnclean(), begun)
	}
	// One that was not heard of may have been paused, and be heard of now.
	job.Unclean = slices.DeleteFunc(job.GetUnclean(), func(name string) bool { return p.outlived[name] })
}

// beginAttempt notes in a job that an attempt at it begins, or goes on, in this
// activation; the caller writes the job. The error is errGivenUp or errUnclean where there
// is no attempt left, or a waitError: then the job is to be written, and this to be called
// again after that time.
func (o *orgView) beginAttempt(job *pb.Job) error {
	if job.GetBegun() == o.act.name {
		return nil
	}
	select {
	case <-o.past.known:
	default:
		return waitError{askPastPause}
	}
	o.settlePast(job)
	unclean := len(job.GetUnclean())
	switch {
	case unclean >= maxUncleanEnds:
		return errUnclean
	case job.GetAttempts() >= maxAttempts:
		return errGivenUp
	}
	if wait := o.past.left(pb.JobID(job.GetId()), unclean, o.sys.clock.Now(), o.sys.cfg.maxBackOff); wait > 0 {
		return waitError{wait}
	}
	job.Attempts++
	job.Begun = o.act.name
	return nil
}

// left is how long work has to wait yet after so many unclean ends: once in an activation.
func (p *past) left(id pb.JobID, unclean int, now time.Time, most time.Duration) time.Duration {
	if unclean <= freeUncleanEnds {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	until, waits := p.waits[id]
	if !waits {
		until = now.Add(min(most, uncleanBackOff<<min(unclean-freeUncleanEnds-1, 10)))
		p.waits[id] = until // bounded by the open jobs
	}
	return until.Sub(now)
}

// suspect reports whether a job's work may have failed, or ended a process: then it is
// done by itself.
func suspect(job *pb.Job) bool { return job.GetAttempts() > 1 || len(job.GetUnclean()) > 0 }

// attemptsShown is how many attempts a job is said to have had. Former versions counted
// the one that was not made any more.
func attemptsShown(job *pb.Job) uint32 { return min(job.GetAttempts(), maxAttempts) }

// gotOn notes that a job has made progress: what is left of it has all its attempts.
func (o *orgView) gotOn(job *pb.Job) {
	job.Attempts, job.Begun, job.Unclean = 1, o.act.name, nil
}

// failAttempt notes that the attempt at a job that is under way here has failed.
func (o *orgView) failAttempt(r storage.Reader, b *storage.Batch, id pb.JobID) error {
	job := &pb.Job{}
	found, err := r.Get(o.space.Key(storage.TableJob, storage.ID16(id)), job)
	if err != nil || !found || terminal(job.GetStatus()) || job.GetBegun() != o.act.name {
		return err
	}
	job.Begun = ""
	updateJob(b, o.space, job)
	return nil
}

// ownFailure reports whether an error is the work's own. That the activation is over, the
// disk is full, or too much is under way says nothing of the work.
func ownFailure(err error) bool {
	switch {
	case err == nil, superseded(err), errors.Is(err, errCancelled),
		errors.Is(err, storage.ErrNoSpace), errors.Is(err, cluster.ErrBusy), errors.Is(err, commit.ErrQueueFull),
		errors.Is(err, cluster.ErrNotLeader):
		return false
	}
	_, waits := errors.AsType[waitError](err)
	_, degraded := errors.AsType[degradedError](err)
	return !waits && !degraded
}

// givenUp says why a job was given up, to who reads it.
func givenUp(what string, why error) string {
	if errors.Is(why, errUnclean) {
		return fmt.Sprintf("%s was given up: %s", what, errUnclean)
	}
	return fmt.Sprintf("%s failed %d times", what, maxAttempts)
}

// superseded reports whether an error means that this activation is over.
func superseded(err error) bool {
	return errors.Is(err, commit.ErrLost) || errors.Is(err, node.ErrClosing) ||
		errors.Is(err, cluster.ErrFenced) || errors.Is(err, cluster.ErrOutcomeUnknown) || errors.Is(err, cluster.ErrRemoved) ||
		errors.Is(err, storage.ErrNoStore) // the organization was removed, and its store with it
}

// errCancelled ends a slice without effect: a job of it is to be cancelled.
var errCancelled = errors.New("cancelled")

// errGivenUp is the reason of work that failed maxAttempts times.
var errGivenUp = errors.New("given up")

// degradedError wraps one that says nothing of the work: the service could not do it just now.
type degradedError struct{ error }

func (e degradedError) Unwrap() error { return e.error }
