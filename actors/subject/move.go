package subject

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"orgmem/actors/partition"
	pb "orgmem/proto"
	"orgmem/storage"
)

// A partition is embedded anew in steps, which package moving asks for one by one: it knows how much of the processors
// that may take. The worker carries a step out where it has nothing else to do.

// errUpkeepFails is why a step was not carried out: upkeep has failed, and waits before it is tried again.
var errUpkeepFails = errors.New("upkeep of the partition fails; it is tried again later")

// MoveStep asks a partition's worker to embed some of its chunks with the model of today, which serves once the last of
// them is embedded. Where it serves already, what is left of other models is deleted. Answer is called once, from any
// goroutine, and must not block.
type MoveStep struct {
	Answer func(Moved, error)
	once   sync.Once // it may be given up while it is carried out
}

func (s *MoveStep) answer(m Moved, err error) { s.once.Do(func() { s.Answer(m, err) }) }

// Moved is what a step has done.
type Moved struct {
	Chunks int           // that were embedded
	Took   time.Duration // of all CPU workers together
	Over   bool          // nothing is left to be embedded anew in the partition
}

// Leave lets the actor of a subject leave memory as soon as it has nothing to do: what it was made for is done.
type Leave struct{}

// moveSteps are the steps that the worker was asked for. It is the worker's, in its mailbox.
type moveSteps struct{ next *MoveStep }

// add takes a step in, in place of one that its caller has given up. It reports whether the step is to be carried out:
// with refuse it is not.
func (q *moveSteps) add(step *MoveStep, refuse bool) bool {
	q.end(errUpkeepFails)
	q.next = step
	if refuse {
		q.end(errUpkeepFails)
	}
	return !refuse
}

// done forgets a step that was carried out, unless another has taken its place.
func (q *moveSteps) done(step *MoveStep) {
	if step != nil && q.next == step {
		q.next = nil
	}
}

// end answers the step that waits.
func (q *moveSteps) end(why error) {
	if q.next != nil {
		q.next.answer(Moved{}, why)
		q.next = nil
	}
}

// move carries out a step and answers it.
func (w *worker) move(step *MoveStep) error {
	now, _, err := w.current()
	if err != nil {
		step.answer(Moved{}, err)
		return err
	}
	want := w.org.System.Embedders.Current()
	if !partition.Outdated(now.State, want.ID()) {
		b := storage.NewBatch(w.org.Store)
		if err = w.index.deleteLeftovers(b, now.State.GetModel()); err == nil && b.Len() > 0 {
			err = w.org.Committer.Commit(b)
		}
		step.answer(Moved{Over: err == nil}, err)
		return err
	}
	var spent atomic.Int64
	n, more, err := w.index.reembed(now, want, &spent)
	step.answer(Moved{Chunks: n, Took: time.Duration(spent.Load()), Over: err == nil && !more}, err)
	return err
}

// anew is how far a partition is embedded with another model.
type anew struct {
	model string // empty: nobody has looked
	last  uint64 // the last chunk that is dealt with
}

// begin finds out how far it is, after a restart too: chunks are embedded in their order, so the last vector of the
// model tells. Where the model serves already, and some chunks have no vector, all are looked at.
func (a *anew) begin(r storage.Reader, part *partition.Ref, state *pb.PartitionState, model string) (err error) {
	if a.model == model {
		return nil
	}
	a.last = 0
	if state.GetModel() != model {
		a.last, err = partition.LastVector(r, part.Space, model)
	}
	if err != nil {
		return fmt.Errorf("how far a partition is embedded anew: %w", err)
	}
	a.model = model
	return nil
}
