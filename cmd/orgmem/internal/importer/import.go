package importer

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"orgmem/cmd/orgmem/internal/client"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// Bounds of an import.
const (
	// batchItems is a fifth of what the interface allows: progress is seen sooner
	// and an interruption repeats less, at no measurable cost in speed.
	batchItems = 200
	// batchBytes is the encoded size at which a batch is sent; one item more must
	// still fit the interface's 10 MiB.
	batchBytes = 4 << 20
	// maxItemBytes is the encoded size of one item that still fits.
	maxItemBytes = 9 << 20
	// inFlight is how many jobs are under way. The service works them off one
	// after the other for one subject; two more keep its queue from running dry.
	inFlight = 3
	// firstPoll doubles up to lastPoll between two questions for a job.
	firstPoll = 50 * time.Millisecond
	lastPoll  = 2 * time.Second
	// maxStill is how long a job may make no progress before the import gives up.
	maxStill = 15 * time.Minute
	// saveEvery bounds what a kill -9 makes the next import send again.
	saveEvery = 5 * time.Second
	// probes is how many recorded nodes are asked for before the state is believed.
	probes = 5
)

// Service is what an import needs of the service; *client.Client has it.
type Service interface {
	IngestBatch(ctx context.Context, items []client.Item, idempotencyKey string) (string, error)
	IngestStatus(ctx context.Context, job string) (client.Job, error)
	NodeStatus(ctx context.Context, node string) (string, error)
}

// Options say what an import works with. Progress may be nil; it is called with
// a lock held, must return soon, and must not call back.
type Options struct {
	Service  Service
	State    *State
	Clock    clock.Clock
	Random   io.Reader // nil: crypto/rand
	Progress func(Progress)
}

// Progress counts files whose fate is known.
type Progress struct{ Done, Total int }

// Summary is what became of the files.
type Summary struct {
	Taken     int       `json:"taken"`
	Unchanged int       `json:"unchanged"`
	Skipped   []Skipped `json:"skipped"`
	Failed    []Skipped `json:"failed"`
}

// Import sends the files that are new or changed and waits until the service
// has taken them in. When it returns an error the summary tells how far it came,
// and a later Import with the same state goes on from there.
func Import(ctx context.Context, o Options, files []File, skipped []Skipped) (Summary, error) {
	if o.Random == nil {
		o.Random = rand.Reader
	}
	r := &run{
		Options: o, saved: o.Clock.Now(),
		summary: Summary{Skipped: slices.Clone(skipped), Failed: []Skipped{}},
		total:   len(files),
		partial: make(map[string]int),
	}
	if r.summary.Skipped == nil {
		r.summary.Skipped = []Skipped{}
	}
	if err := r.verify(ctx); err != nil {
		return r.summary, err
	}
	if err := r.resume(ctx); err != nil {
		return r.summary, err
	}
	ctx, r.stop = context.WithCancelCause(ctx)
	defer r.stop(nil)
	batches := make(chan []entry)
	var workers sync.WaitGroup
	for range inFlight {
		workers.Go(func() {
			for batch := range batches {
				if err := r.send(ctx, batch); err != nil {
					r.stop(err) // the producer sees it and closes batches
				}
			}
		})
	}
	r.produce(ctx, files, batches)
	close(batches)
	workers.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() != nil {
		return r.summary, context.Cause(ctx)
	}
	return r.summary, r.State.save()
}

// entry is one document on its way.
type entry struct {
	file   File
	digest digest
	item   client.Item
	bytes  int
}

type run struct {
	Options
	total int
	stop  context.CancelCauseFunc

	mu      sync.Mutex // guards State and what follows
	summary Summary
	done    int            // files whose fate is known
	partial map[string]int // by job under way: what the service has worked off of it
	saved   time.Time
}

// verify asks for some of the nodes that the state names. Only when all of them
// are unknown is the state given up: that is a service set up anew, or an erased
// subject. A single missing node was forgotten on purpose, and an import must
// not bring it back.
func (r *run) verify(ctx context.Context) error {
	ids := make([]pb.ExternalID, 0, len(r.State.body.Files))
	for id := range r.State.body.Files {
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	for i := range min(probes, len(ids)) {
		node := r.State.body.Files[ids[i*len(ids)/probes%len(ids)]].Node
		_, err := r.Service.NodeStatus(ctx, string(node))
		if err == nil {
			return nil
		}
		if !client.IsCode(err, "node_not_found") {
			return fmt.Errorf("verify what was imported before: %w", err)
		}
	}
	r.State.forget("the service does not know what it says was imported")
	return nil
}

// resume waits for the jobs whose end an earlier import did not see.
func (r *run) resume(ctx context.Context) error {
	for job, files := range r.State.body.Jobs {
		done, err := r.wait(ctx, job, func(int) {}) // its files are counted when they are met
		if client.IsCode(err, "job_not_found") {
			delete(r.State.body.Jobs, job)
			continue
		}
		if err != nil {
			return err
		}
		if done.Result != nil {
			for _, item := range done.Result.Items {
				id := pb.ExternalID(item.ExternalID)
				if d, ok := files[id]; ok && item.Status != "failed" {
					r.State.body.Files[id] = taken{d, pb.NodeID(item.NodeID)}
				}
			}
		}
		delete(r.State.body.Jobs, job)
	}
	return nil
}

// produce reads the files and hands out batches until ctx ends.
func (r *run) produce(ctx context.Context, files []File, batches chan<- []entry) {
	var (
		batch []entry
		bytes int
	)
	flush := func() {
		if len(batch) == 0 {
			return
		}
		select {
		case batches <- batch:
		case <-ctx.Done():
		}
		batch, bytes = nil, 0
	}
	for _, file := range files {
		if ctx.Err() != nil {
			return
		}
		e, ok := r.prepare(file)
		if !ok {
			continue
		}
		batch, bytes = append(batch, e), bytes+e.bytes
		if len(batch) == batchItems || bytes >= batchBytes {
			flush()
		}
	}
	flush()
}

// prepare reads a file and says whether it has to be sent.
func (r *run) prepare(file File) (entry, bool) {
	doc, reason := file.read()
	if reason != "" {
		r.settle(1, func(s *Summary) { s.Skipped = append(s.Skipped, Skipped{file.Path, reason}) })
		return entry{}, false
	}
	r.mu.Lock()
	known := r.State.body.Files[file.ID].Digest == doc.digest
	r.mu.Unlock()
	if known {
		r.settle(1, func(s *Summary) { s.Unchanged++ })
		return entry{}, false
	}
	meta, err := json.Marshal(map[string]string{"path": string(file.ID)})
	if err == nil {
		item := client.Item{Content: doc.text, Title: doc.title, ExternalID: string(file.ID), Metadata: meta}
		var raw []byte
		if raw, err = json.Marshal(item); err == nil && len(raw) <= maxItemBytes {
			return entry{file, doc.digest, item, len(raw)}, true
		}
	}
	reason = "too large once encoded"
	if err != nil {
		reason = err.Error()
	}
	r.settle(1, func(s *Summary) { s.Skipped = append(s.Skipped, Skipped{file.Path, reason}) })
	return entry{}, false
}

// send queues a batch, waits for its job and records the outcome. A batch that
// the service refuses for its content is halved until the file at fault is
// alone; the error that is returned ends the import.
func (r *run) send(ctx context.Context, batch []entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	items := make([]client.Item, len(batch))
	files := make(pending, len(batch))
	for i, e := range batch {
		items[i] = e.item
		files[e.file.ID] = e.digest
	}
	key, err := r.newKey()
	if err != nil {
		return err
	}
	job, err := r.Service.IngestBatch(ctx, items, key)
	if p, ok := errors.AsType[*client.Problem](err); ok && (p.Status == 422 || p.Status == 413 || p.Status == 400) {
		if len(batch) == 1 {
			r.settle(1, func(s *Summary) { s.Failed = append(s.Failed, Skipped{batch[0].file.Path, p.Error()}) })
			return nil
		}
		half := len(batch) / 2
		if err := r.send(ctx, batch[:half]); err != nil {
			return err
		}
		return r.send(ctx, batch[half:])
	}
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.State.body.Jobs[job] = files
	r.mu.Unlock()
	done, err := r.wait(ctx, job, func(n int) { r.underway(job, n) })
	if err != nil {
		return err
	}
	return r.record(job, batch, done)
}

// newKey makes a fresh idempotency key for each intent. A key made from the
// content would replay an old job after its document was forgotten.
func (r *run) newKey() (string, error) {
	var raw [16]byte
	if _, err := io.ReadFull(r.Random, raw[:]); err != nil {
		return "", fmt.Errorf("import: random: %w", err)
	}
	return "import-" + hex.EncodeToString(raw[:]), nil
}

// wait asks for a job until it has finished, and notes how far it has come.
func (r *run) wait(ctx context.Context, job string, note func(done int)) (client.Job, error) {
	pause, seen, since := firstPoll, -1, r.Clock.Now()
	for {
		j, err := r.Service.IngestStatus(ctx, job)
		if err != nil || j.Finished() {
			return j, err
		}
		now := r.Clock.Now()
		if j.Progress.Done != seen {
			seen, since = j.Progress.Done, now
			note(seen)
		}
		if now.Sub(since) > maxStill {
			return j, fmt.Errorf("job %s has made no progress for %v; run the import again to go on waiting", job, maxStill)
		}
		if err := clock.Wait(ctx, r.Clock, pause); err != nil {
			return j, err
		}
		pause = min(2*pause, lastPoll)
	}
}

// record takes over what became of a batch.
func (r *run) record(id string, batch []entry, job client.Job) error {
	outcome := make(map[int]client.JobItem, len(batch))
	if job.Result != nil {
		for _, item := range job.Result.Items {
			outcome[item.Index] = item
		}
	}
	fallback := "the job ended as " + job.Status
	if job.Error != nil {
		fallback += ": " + job.Error.Detail
	}
	var save error
	r.settle(len(batch), func(s *Summary) {
		delete(r.State.body.Jobs, id)
		delete(r.partial, id)
		for i, e := range batch {
			item, ok := outcome[i]
			switch {
			case !ok:
				s.Failed = append(s.Failed, Skipped{e.file.Path, fallback})
				continue
			case item.Status == "failed":
				s.Failed = append(s.Failed, Skipped{e.file.Path, itemError(item.Error)})
				continue
			case item.Status == "unchanged":
				s.Unchanged++
			default:
				s.Taken++
			}
			r.State.body.Files[e.file.ID] = taken{e.digest, pb.NodeID(item.NodeID)}
		}
		if now := r.Clock.Now(); now.Sub(r.saved) >= saveEvery {
			r.saved = now
			save = r.State.save()
		}
	})
	return save
}

// itemError reads an item's error, a text or an object with a detail.
func itemError(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil && text != "" {
		return text
	}
	var object struct{ Code, Detail string }
	if json.Unmarshal(raw, &object) == nil && object.Detail != "" {
		return object.Detail
	}
	return "failed"
}

// settle changes the summary and reports n more files as done.
func (r *run) settle(n int, change func(*Summary)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.summary)
	r.done += n
	r.report()
}

// underway notes how far a job has come.
func (r *run) underway(job string, done int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.partial[job] = done
	r.report()
}

// report tells the sum of what is done; mu is held.
func (r *run) report() {
	if r.Progress == nil {
		return
	}
	done := r.done
	for _, n := range r.partial {
		done += n
	}
	r.Progress(Progress{Done: min(done, r.total), Total: r.total})
}
