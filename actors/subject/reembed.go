package subject

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"

	"orgmem/actors/partition"
	"orgmem/brain/index"
	pb "orgmem/proto"
	"orgmem/storage"
)

const (
	// reembedBatch is how many chunks are embedded anew between two looks at the
	// queue.
	reembedBatch = 64
	// rebuildChunks is how many chunks one CPU task analyses and indexes: some 0.1 s,
	// as long as one of embedding.
	rebuildChunks = 4096
)

// reembed embeds some of the partition's chunks with another model, and reports how many it has, and whether there are
// more. The old vectors serve meanwhile, and the new ones are stored beside them. When all are there, one commit makes
// the new ones serve and removes the old. The worker does this between two slices, so that no chunk is missed. It adds
// to spent, in nanoseconds, what it has taken of the CPU workers.
func (x *indexWriter) reembed(now *partition.Index, e partition.Embedder, spent *atomic.Int64) (n int, more bool,
	err error,
) {
	var seqs []uint64
	var texts []string
	err = x.org.WithStore(func(st *storage.Store) error {
		if err := x.anew.begin(st, x.part, now.State, e.ID()); err != nil {
			return err
		}
		from := x.part.Space.Key(storage.TableChunk, storage.U64(x.anew.last))
		opts := storage.ScanOptions{Limit: reembedBatch, After: from}
		for rec, err := range storage.ScanRecords(st, x.part.Space.Prefix(storage.TableChunk), opts,
			func() *pb.Chunk { return &pb.Chunk{} }) {
			if err != nil {
				return err
			}
			seqs = append(seqs, rec.Value.GetSeq())
			if rec.Value.GetSeq() >= now.State.GetNextChunk() {
				break // staged by an attempt that a crash ended
			}
			done, found, err := st.GetRaw(partition.VectorKey(x.part, e.ID(), rec.Value.GetSeq()))
			if err != nil {
				return err
			}
			if found && len(done) > 0 {
				texts = append(texts, "") // embedded before a restart
				continue
			}
			texts = append(texts, index.EmbedText(rec.Value.GetTitlePath(), rec.Value.GetText()))
		}
		return nil
	})
	if err != nil {
		return 0, false, err
	}
	if len(texts) == 0 {
		return 0, false, x.switchModel(now, e, spent)
	}
	vectors, err := x.embedAnew(e, texts, spent)
	if err != nil {
		return 0, false, err
	}
	b := storage.NewBatch(x.org.Store)
	for i, v := range vectors {
		if v != nil {
			partition.PutVector(b, x.part, e.ID(), seqs[i], v)
			n++
		}
	}
	if n > 0 {
		if err := x.org.Committer.Commit(b); err != nil {
			return 0, false, err
		}
		x.org.System.Counters.ChunksMoved.Add(uint64(n))
	}
	x.anew.last = seqs[len(texts)-1]
	return n, true, nil
}

// embedAnew embeds texts, but for empty ones, with nobody waiting for it: in as many lanes as moving may have of the
// workers, so that the others are free for what comes meanwhile.
func (x *indexWriter) embedAnew(e partition.Embedder, texts []string, spent *atomic.Int64) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	sys := x.org.System
	var tasks []func(int) error
	for from := 0; from < len(texts); from += EmbedBatch {
		to := min(from+EmbedBatch, len(texts))
		tasks = append(tasks, func(worker int) error {
			began := sys.Clock.Now()
			defer func() { spent.Add(int64(sys.Clock.Now().Sub(began))) }()
			for i := from; i < to; i++ {
				if texts[i] != "" {
					vectors[i] = sys.Computers[worker].Encoders.Of(e).Passages(texts[i : i+1])[0]
				}
			}
			return nil
		})
	}
	for some := range slices.Chunk(tasks, sys.Config.MovingLanes()) {
		for _, err := range sys.CPU.Background(x.org.ID, some) {
			if err != nil {
				return nil, fmt.Errorf("embed anew: %w", err)
			}
		}
	}
	return vectors, nil
}

// switchModel makes the new vectors serve, and removes all others.
func (x *indexWriter) switchModel(now *partition.Index, e partition.Embedder, spent *atomic.Int64) error {
	next := &partition.Index{Snapshot: &index.Snapshot{}, State: partition.CloneState(now.State)}
	next.State.Model, next.State.LacksVectors = e.ID(), false
	next.State.IndexVersion++
	var seqs []uint64
	for _, v := range now.Snapshot.Views {
		for doc := range v.Segment.Len() {
			seqs = append(seqs, v.Segment.Seq(doc))
		}
	}
	slices.Sort(seqs)
	seqs = slices.Compact(seqs)
	final := storage.NewBatch(x.org.Store)
	for _, v := range now.Snapshot.Views {
		if v.ID != 0 {
			x.deleteSegment(final, now.State, v.ID)
		}
	}
	final.DeleteRange(x.part.Space.Prefix(storage.TableUnsealed))
	for piece := range slices.Chunk(seqs, rebuildChunks) {
		err := x.patiently(spent, func(worker int) error {
			return x.org.WithStore(func(st *storage.Store) (err error) {
				next.Snapshot, err = partition.IndexChunks(next.Snapshot, st, x.part, e.ID(), e.Dim(), piece,
					&x.org.System.Computers[worker].Analyzer)
				return err
			})
		})
		if err != nil {
			return fmt.Errorf("index anew: %w", err)
		}
	}
	for i := range next.Snapshot.Views {
		v := &next.Snapshot.Views[i]
		if v.Segment.Len() < cmp.Or(x.org.System.Config.SegmentChunks, defaultSealChunks) {
			for doc := range v.Segment.Len() {
				final.PutRaw(x.part.Space.Key(storage.TableUnsealed, storage.U64(v.Segment.Seq(doc))), nil)
			}
			continue
		}
		next.State.NextSegment++
		v.ID = next.State.GetNextSegment()
		if err := x.storeView(final, *v); err != nil {
			return err
		}
	}
	if err := x.deleteLeftovers(final, e.ID()); err != nil {
		return err
	}
	final.Put(x.part.Space.Key(storage.TableState), next.State)
	if _, err := x.publish(final, next); err != nil {
		return err
	}
	x.anew = anew{}
	x.org.System.Log.Info("partition serves with a new model", "org", x.org.ID.String(), "partition", x.part.ID.String(),
		"model", e.ID())
	return nil
}

// deleteLeftovers deletes the vectors of all models but the one that serves.
func (x *indexWriter) deleteLeftovers(b *storage.Batch, serves string) error {
	return x.org.WithStore(func(st *storage.Store) error {
		models, err := partition.Leftovers(st, x.part.Space, serves)
		for _, model := range models {
			b.DeleteRange(x.part.Space.Prefix(storage.TableVector, storage.Str(model)))
		}
		return err
	})
}

// patiently runs one task of those that nobody waits for, and adds what it took to spent.
func (x *indexWriter) patiently(spent *atomic.Int64, task func(worker int) error) error {
	return x.org.System.CPU.Background(x.org.ID, []func(int) error{func(worker int) error {
		began := x.org.System.Clock.Now()
		defer func() { spent.Add(int64(x.org.System.Clock.Now().Sub(began))) }()
		return task(worker)
	}})[0]
}
