package subject

import (
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/graph"
	"orgmem/actors/node"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/brain/index"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/proto/tracing"
	"orgmem/storage"
)

const (
	// EmbedBatch is how many chunks one CPU task embeds: some 0.1 to 0.2 s, which is how
	// long another organization, or a cancellation, waits for a worker.
	EmbedBatch = 8
)

// itemError is a failure of the item itself: trying again will not help, and after some attempts the item is given up.
// A full disk, a busy shard or a store that cannot be read are no such failures.
type itemError struct{ error }

func (e itemError) Unwrap() error { return e.error }

// ingest computes and commits a slice. It returns how many of its entries are done, and the partition's index after it.
func (w *worker) ingest(
	now *partition.Index, e partition.Embedder, entries []graph.Queued,
) (n int, next *partition.Index, err error) {
	entries, jobs, why, err := w.begin(entries)
	if err != nil {
		return 0, nil, err
	}
	w.attempt.spans = w.traced(entries, jobs)
	defer func() {
		if r := recover(); r != nil {
			n, next, err = 0, nil, itemError{node.PanicError("slice", r)}
		}
		w.attempt.spans.FailedIf(err)
		w.attempt.spans.End()
		w.attempt.spans = nil
	}()
	if why == nil {
		w.org.System.Config.JobWorkBegan(pb.JobIngest, w.life.ended.Load)
	} else {
		head := pb.JobID(entries[0].GetJob())
		w.org.System.Log.Error("an item is given up", "org", w.org.ID.String(), "job", head.String(),
			"index", entries[0].GetIndex(), "err", why)
		return w.apply(now, e, []graph.Prepared{{Queued: entries[0], Err: why}}, jobs)
	}
	items, err := w.prepare(entries, jobs, e)
	if errors.Is(err, tenant.ErrCancelled) {
		return 0, now, nil
	}
	if err != nil {
		return 0, nil, err
	}
	if err := w.life.goOn(); err != nil {
		return 0, nil, err
	}
	if bad := slices.IndexFunc(items, func(it graph.Prepared) bool { return it.Err != nil }); bad == 0 {
		return 0, nil, itemError{items[0].Err}
	} else if bad > 0 {
		items = items[:bad] // what stands before it goes on now
	}
	return w.apply(now, e, items, jobs)
}

// begin notes that the slice's jobs are running and that an attempt at each begins. It does not wait for that commit,
// since the commit of the slice comes after it in the same log. It returns the entries to do now: after a failure, or
// after a crash of the process, the entries of a job are done one by one, so that an item that fails does not take its
// neighbours along. why says that the first entry is given up without another try, or, as a tenant.WaitError, that it
// has to wait.
func (w *worker) begin(entries []graph.Queued) (now []graph.Queued, jobs map[pb.JobID]*pb.Job, why, err error) {
	jobs = map[pb.JobID]*pb.Job{}
	b := storage.NewBatch(w.org.Store)
	at := clock.Millis(w.org.System.Clock.Now())
	now = entries
	err = w.org.WithStore(func(st *storage.Store) error {
		for i, e := range entries {
			id, err := pb.JobIDFrom(e.GetJob())
			if err != nil {
				return err
			}
			if jobs[id] != nil {
				continue
			}
			job := &pb.Job{}
			found, err := st.Get(w.org.Space.Key(storage.TableJob, storage.ID16(id)), job)
			if err != nil {
				return err
			}
			if !found {
				return fmt.Errorf("queue entry %d of job %s without a job", e.Seq, id)
			}
			before := proto.CloneOf(job)
			refused := w.org.BeginAttempt(job)
			if i > 0 && (refused != nil || tenant.NeedsIsolation(job)) {
				now = entries[:i]
				return nil //nolint:nilerr // its turn comes, as the head
			}
			jobs[id] = job
			if refused == nil && job.GetStatus() == pb.JobQueued {
				job.Status, job.StartedMs = pb.JobRunning, at
			}
			if !proto.Equal(before, job) {
				tenant.UpdateJob(b, w.org.Space, job)
			}
			if i > 0 {
				continue
			}
			w.attempt.job, why = id, refused
			if why != nil || tenant.NeedsIsolation(job) {
				now = entries[:1]
				return nil //nolint:nilerr // why says it
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, nil, err
	}
	w.attempt.note(w.org, b)
	if wait, waits := errors.AsType[tenant.WaitError](why); waits {
		return nil, nil, nil, wait
	}
	return now, jobs, why, nil
}

// prepare cuts and embeds what is not stored yet, on the CPU workers. An item
// that cannot be processed carries its error; tenant.ErrCancelled ends the slice.
func (w *worker) prepare(
	entries []graph.Queued, jobs map[pb.JobID]*pb.Job, e partition.Embedder,
) ([]graph.Prepared, error) {
	items := make([]graph.Prepared, len(entries))
	err := w.org.WithStore(func(st *storage.Store) error {
		inSlice := map[pb.NodeID]bool{}
		for i, entry := range entries {
			items[i] = graph.Prepared{Queued: entry}
			if entry.GetForgotten() || entry.GetItem().GetRefused() != "" {
				items[i].Known = true
				continue
			}
			if err := w.place(st, &items[i]); err != nil {
				return err
			}
			node := &pb.Node{}
			found, err := st.Get(w.part.Space.Key(storage.TableNode, storage.Str(items[i].Node)), node)
			if err != nil {
				return err
			}
			items[i].Known = found && node.GetStatus() != pb.StatusTombstoned && !node.GetErased() &&
				!graph.Redescribes(node, entry.GetItem()) ||
				inSlice[items[i].Node] || items[i].Stands
			items[i].Relearn = found && node.GetUnlearned()
			items[i].Unread = jobs[pb.JobID(entry.GetJob())].GetUnlearned() && !(found && learnable(node))
			inSlice[items[i].Node] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = w.embed(items, e, w.attempt.spans.Contexts(), func() error {
		if err := w.life.goOn(); err != nil {
			return err
		}
		if w.cancels.concern(items) {
			return tenant.ErrCancelled
		}
		return nil
	})
	return items, err
}

// learnable reports whether a node exists that is learned from. Its text is read again when it is sent again, also for
// a job that is not learned from.
func learnable(n *pb.Node) bool { return n.GetStatus() != pb.StatusTombstoned && !n.GetUnlearned() }

// place finds the node that an item is about.
func (w *worker) place(r storage.Reader, it *graph.Prepared) error {
	content := it.GetItem().GetContent()
	if scope := it.GetItem().GetScope(); scope != "" {
		it.Node = w.part.NodeIn(scope, content)
		return nil
	}
	if ext := it.GetItem().GetExternalId(); ext != "" {
		ref := &pb.ExternalRef{}
		if _, err := r.Get(w.part.Space.Key(storage.TableExternalID, storage.Str(ext)), ref); err != nil {
			return err
		}
		node := func(id pb.NodeID) (*pb.Node, error) {
			n := &pb.Node{}
			_, err := r.Get(w.part.Space.Key(storage.TableNode, storage.Str(id)), n)
			return n, err
		}
		document, err := node(pb.NodeID(ref.GetNode()))
		if err != nil {
			return err
		}
		stands, err := graph.StandsByHand(r, node, w.part, document, content)
		if err != nil {
			return err
		}
		if it.Stands = stands; stands {
			it.Node = pb.NodeID(ref.GetNode())
			return nil
		}
	}
	id, err := graph.NodeOfContent(r, w.part, content)
	it.Node, it.Variant = id, id != w.part.NodeFor(content)
	return err
}

// embed reads, cuts and embeds items on the CPU workers, in the traces that they belong to. It calls goOn before each
// item and each batch of chunks, and ends with its error.
func (w *worker) embed(
	items []graph.Prepared, e partition.Embedder, in tracing.Contexts, goOn func() error,
) (err error) {
	begin, end := w.embedding(in)
	defer func() { end(items, err) }()
	if err := w.tag(items, goOn); err != nil {
		return err
	}
	now := clock.Millis(w.org.System.Clock.Now())
	cuts := make([]func(int) error, len(items)) // by themselves cheap, but a document may be long
	for i := range items {
		cuts[i] = func(worker int) error {
			begin()
			if err := goOn(); err != nil {
				return err
			}
			if !items[i].Known {
				items[i].Cut(e)
			}
			if w.reads(&items[i]) {
				err := items[i].Read(&w.org.System.Computers[worker].Comparer.Reader, now, goOn)
				if errors.Is(err, tenant.ErrCancelled) || errors.Is(err, node.ErrClosing) {
					return err
				}
				if err != nil {
					w.org.System.Log.Error("a text is stored without what it speaks of", "org", w.org.ID.String(),
						"job", pb.JobID(items[i].GetJob()).String(), "err", err)
				}
			}
			return nil
		}
	}
	for i, err := range w.org.System.CPU.Foreground(w.org.ID, cuts) {
		if errors.Is(err, tenant.ErrCancelled) || errors.Is(err, node.ErrClosing) {
			return err
		}
		items[i].Err = err
	}
	type place struct{ item, chunk int }
	var places []place
	for i := range items {
		for n := range items[i].Chunks {
			places = append(places, place{i, n})
		}
	}
	var tasks []func(int) error
	var batches [][]place
	for batch := range slices.Chunk(places, EmbedBatch) {
		batches = append(batches, batch)
		tasks = append(tasks, func(worker int) error {
			if err := goOn(); err != nil {
				return err
			}
			texts := make([]string, len(batch))
			for i, p := range batch {
				c := &items[p.item].Chunks[p.chunk]
				texts[i] = index.EmbedText(c.TitlePath, c.Text)
			}
			own := &w.org.System.Computers[worker]
			for i, v := range own.Encoders.Of(e).Passages(texts) {
				it, n := &items[batch[i].item], batch[i].chunk
				it.Vectors[n] = partition.AsStored(v)
				it.Passages[n] = own.Analyzer.Passage(index.TitleLine(it.Chunks[n].TitlePath), it.Chunks[n].Text)
			}
			return nil
		})
	}
	for t, err := range w.org.System.CPU.Foreground(w.org.ID, tasks) {
		switch {
		case errors.Is(err, tenant.ErrCancelled), errors.Is(err, node.ErrClosing):
			return err
		case err != nil:
			for _, p := range batches[t] {
				items[p.item].Err = err
			}
		}
	}
	return nil
}
