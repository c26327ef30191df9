package tenant

import (
	"fmt"

	pb "orgmem/proto"
	"orgmem/storage"
)

// openJobs are an organization's jobs that have not ended.
type openJobs struct {
	org       *Org
	openCount int                // jobs accepted or found, not finished
	kinds     map[string]JobKind // what the modules say of kinds of job
}

// JobOpened counts a job whose commit has just been answered.
func (j *openJobs) JobOpened() { j.openCount++ }

// OpenJobs is how many jobs have not ended.
func (j *openJobs) OpenJobs() int { return j.openCount }

// resumeJobs wakes the subjects whose jobs a stop or a crash interrupted.
func (j *openJobs) resumeJobs() error {
	if j.org.record == nil {
		return j.lookBack(nil)
	}
	var open []*pb.Job
	err := j.org.WithStore(func(st *storage.Store) error {
		for item, err := range st.Scan(j.org.Space.Prefix(storage.TableJobOpen), storage.ScanOptions{}) {
			if err != nil {
				return err
			}
			parts := item.Key.Parts()
			id := pb.JobID(parts.ID16())
			if err := parts.Done(); err != nil {
				return err
			}
			job := &pb.Job{}
			found, err := st.Get(j.org.Space.Key(storage.TableJob, storage.ID16(id)), job)
			if err != nil {
				return err
			}
			if !found {
				return fmt.Errorf("open job %s: %w", id, ErrNoRecord)
			}
			open = append(open, job)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("resume jobs: %w", err)
	}
	j.openCount = len(open)
	if err := j.lookBack(open); err != nil {
		return fmt.Errorf("resume jobs: %w", err)
	}
	for _, job := range open {
		id, err := pb.PartitionIDFrom(job.GetPartition())
		if err != nil {
			return fmt.Errorf("resume jobs: %w", err)
		}
		if resume := j.kindOfJob(job).Resume; resume != nil {
			mine, err := resume(job)
			if err != nil {
				return fmt.Errorf("resume jobs: %w", err)
			}
			if mine {
				continue
			}
		}
		part, err := j.org.LoadPartition(id)
		if err != nil {
			return fmt.Errorf("resume jobs: %w", err)
		}
		if part != nil { // nil: it is being erased, and its jobs with it
			j.org.Child(part)
		}
	}
	return nil
}

// kindOfJob returns how jobs of a kind are dealt with, the zero JobKind where the partitions' workers do it.
func (j *openJobs) kindOfJob(job *pb.Job) JobKind { return j.kinds[job.GetType()] }

// lookBack finds out what became of the activations in which the attempts at open jobs
// began. It waits for nobody: other nodes are asked beside the actor.
func (j *openJobs) lookBack(open []*pb.Job) error {
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
		err := j.org.WithStore(func(st *storage.Store) error {
			_, err := st.Get(j.org.Space.Key(storage.TableHandedOver), last)
			return err
		})
		if err != nil {
			return err
		}
	}
	p := j.org.outcomesBefore
	ask := map[string]bool{}
	for name := range names {
		switch process := processOf(name); {
		case process == processOf(last.GetActivation()):
			p.outlived[name] = true
		case process == j.org.System.process:
			p.outlived[name] = j.org.System.Outlived(name)
		case j.org.System.AskOutlived != nil && ServerOf(name) != j.org.System.Config.Placement.Server():
			ask[name] = true
		}
	}
	if len(ask) == 0 {
		close(p.known)
		return nil
	}
	view := &j.org.View
	j.org.System.BackgroundTasks.Go(func() {
		defer close(p.known)
		view.askPast(p, ask)
	})
	return nil
}
