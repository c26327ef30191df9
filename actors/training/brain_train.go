package training

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/proto"

	"orgmem/actors/commit"
	"orgmem/actors/graph"
	"orgmem/actors/node"
	"orgmem/actors/partition"
	"orgmem/actors/subject"
	"orgmem/actors/tenant"
	"orgmem/brain/index"
	"orgmem/brain/retriever"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const (
	// MinPassages is the number of passages below which there is nothing to learn from.
	MinPassages = 20
	// leastJudges is how many questions must judge a brain: fewer than five that are lost
	// are never told from chance, and most questions are neither won nor lost.
	leastJudges = 10
	// maxExamples bounds the questions of a training: each is a search, and some ten
	// walks.
	maxExamples = 2000
	// examplesPerPassage keeps small memories from being asked the same over and over.
	examplesPerPassage = 8
	// brainSeed makes trainings repeatable: the same content gives the same brain.
	brainSeed = 1
	// askBatch is how many examples one CPU task searches for: some 50 ms.
	askBatch = 16
	// maxScores bounds the scores that a training keeps of what the walks of its
	// questions come to, beside those of search: some 700 MB. At 6,000 passages they are
	// 1.6 million. Walks go further in a large memory, and read again what finds no room.
	maxScores = 8_000_000
	// trainRetry is the wait after a failed attempt.
	trainRetry = 10 * time.Second
)

type (
	// trainingDone is the end of an attempt, from its goroutine.
	trainingDone struct{ err error }
)

var (
	// errRejected wraps why a brain is not published.
	errRejected = errors.New("rejected")
	// errTooLittle wraps why none could be made.
	errTooLittle = errors.New("too little to learn from")
	// errVoid: the training was cancelled, or what it learns from was purged. The
	// cancellation or the purge has ended its job.
	errVoid = errors.New("the training is void")
)

// Trainer is an organization's training child: it trains one brain, tries again
// where that failed, and is poisoned when the job has ended. After a crash it goes on
// at the epoch that it was in, which gives the same brain.
type Trainer struct {
	module  *Module
	Org     *tenant.View // whose brain it trains
	id      pb.JobID
	ctx     actor.Context
	ended   chan struct{}
	stopped atomic.Bool
	wait    clock.Timer
	permit  uint64 // to write
	dead    bool
}

// Receive implements actor.Actor.
func (t *Trainer) Receive(ctx actor.Context) {
	defer func() {
		if r := recover(); r != nil {
			t.dead = true
			t.stopped.Store(true)
			t.Org.Panicked("brain training", r)
		}
	}()
	if t.dead {
		return
	}
	switch msg := ctx.Message().(type) {
	case *actor.Started:
		t.ctx = ctx
		t.start()
	case *actor.Stopping:
		t.stopped.Store(true)
		if t.wait != nil {
			t.wait.Stop()
		}
		if t.ended != nil {
			<-t.ended
		}
	case subject.BackOffEnded:
		t.wait = nil
		t.start()
	case trainingDone:
		t.done(msg.err)
	}
}

func (t *Trainer) start() {
	t.ended = make(chan struct{})
	ended, self, root := t.ended, t.ctx.Self(), t.Org.System.ActorRoot
	t.Org.System.BackgroundTasks.Go(func() {
		defer close(ended)
		err := t.guardedAttempt()
		if tenant.IsWorkFailure(err) && !errors.Is(err, errVoid) {
			t.noteFailure()
		}
		root.Send(self, trainingDone{err})
	})
}

// guardedAttempt is attempt; a panic is an error.
func (t *Trainer) guardedAttempt() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = node.PanicError("brain training", r)
		}
	}()
	return t.attempt()
}

// noteFailure notes that the attempt that ran has failed.
func (t *Trainer) noteFailure() {
	ch := commit.New(t.Org.Store)
	err := t.Org.WithStore(func(st *storage.Store) error { return t.Org.FailAttempt(st, ch.Batch, t.id) })
	if err == nil && ch.Len() > 0 {
		err = t.commit(ch, false)
	}
	if err != nil && !tenant.Superseded(err) && !errors.Is(err, errVoid) {
		t.Org.System.Log.Warn("a failed attempt is not counted", "org", t.Org.ID.String(), "job", t.id.String(), "err", err)
	}
}

// done decides what follows an attempt: nil means that the job has ended.
func (t *Trainer) done(err error) {
	self, root := t.ctx.Self(), t.Org.System.ActorRoot
	var pause tenant.WaitError
	switch {
	case err == nil, errors.Is(err, errVoid):
		id := t.id
		t.module.InMailbox(func() { t.module.trained(self, id) })
	case t.stopped.Load(), tenant.Superseded(err), errors.Is(err, node.ErrClosing): // another activation goes on
	case errors.As(err, &pause):
		t.wait = t.Org.System.Clock.AfterFunc(pause.Wait, func() { root.Send(self, subject.BackOffEnded{}) })
	default:
		t.Org.System.Log.Error("a brain training failed; it is tried again", "org", t.Org.ID.String(), "job", t.id.String(),
			"err", err)
		t.wait = t.Org.System.Clock.AfterFunc(trainRetry, func() { root.Send(self, subject.BackOffEnded{}) })
	}
}

func (t *Trainer) goOn() error {
	if t.stopped.Load() {
		return node.ErrClosing
	}
	return nil
}

// attempt trains once. It returns nil when the job has ended, one way or another.
func (t *Trainer) attempt() error {
	job, state := &pb.Job{}, &pb.Training{}
	found := false
	err := t.Org.WithStore(func(st *storage.Store) (err error) {
		if found, err = st.Get(t.Org.Space.Key(storage.TableJob, storage.ID16(t.id)), job); err != nil {
			return err
		}
		_, err = st.Get(t.Org.Space.Key(storage.TableTraining), state)
		return err
	})
	if err != nil || !found || tenant.Terminal(job.GetStatus()) {
		return err
	}
	why := t.Org.BeginAttempt(job)
	if wait, waits := errors.AsType[tenant.WaitError](why); waits {
		return errors.Join(t.note(job, state), wait)
	}
	if why != nil {
		return t.end(job, state, nil, nil, errors.New(tenant.GivenUp("the training", why)))
	}
	now := clock.Millis(t.Org.System.Clock.Now())
	job.Status, job.StartedMs = pb.JobRunning, cmp.Or(job.GetStartedMs(), now)
	state.Status, state.StartedMs = pb.JobRunning, job.GetStartedMs()
	if err := t.note(job, state); err != nil {
		return err
	}
	t.Org.System.Config.JobWorkBegan(pb.JobBrainTrain, t.stopped.Load)
	r := &Run{Trainer: t, job: job, state: state}
	made, err := r.train()
	switch {
	case errors.Is(err, errRejected):
		state.Report = r.report
		return t.end(job, state, nil, r.metrics, err)
	case errors.Is(err, errTooLittle):
		return t.end(job, state, nil, r.metrics, err)
	case err != nil:
		return err
	}
	return t.end(job, state, made, r.metrics, nil)
}

// note writes how far a training has come.
func (t *Trainer) note(job *pb.Job, state *pb.Training) error {
	ch := commit.New(t.Org.Store)
	tenant.UpdateJob(ch.Batch, t.Org.Space, job)
	ch.Put(t.Org.Space.Key(storage.TableTraining), state)
	return t.commit(ch, false)
}

// end ends the job, and with a brain publishes it.
func (t *Trainer) end(job *pb.Job, state *pb.Training, made *trainedBrain, metrics map[string]float64,
	why error,
) error {
	o := t.Org
	now := clock.Millis(o.System.Clock.Now())
	job.FinishedMs, state.FinishedMs, state.Metrics, state.Checkpoint = now, now, metrics, nil
	ch := commit.New(o.Store)
	switch {
	case made != nil:
		job.Status, state.Status = pb.JobSucceeded, pb.JobSucceeded
		job.Done, state.Progress = job.GetTotal(), 1
		if err := t.publish(ch, made, now); err != nil {
			return err
		}
	case errors.Is(why, errRejected):
		job.Status, state.Status, state.Reason = pb.JobSucceeded, pb.TrainingRejected, why.Error()
		job.Done, state.Progress = job.GetTotal(), 1
	default:
		job.Status, state.Status, state.Reason = pb.JobFailed, pb.TrainingFailed, why.Error()
		job.ErrorCode, job.ErrorDetail = pb.ErrorTraining, why.Error()
		if errors.Is(why, errTooLittle) {
			job.ErrorCode = pb.ErrorTooLittle
		}
	}
	ch.Put(o.Space.Key(storage.TableTraining), state)
	if err := tenant.EndJob(ch, o, job); err != nil {
		return err
	}
	if err := t.commit(ch, true); err != nil {
		return err
	}
	o.JobsEnded(t.id)
	return nil
}

// commit is the committer's, unless the training is void.
func (t *Trainer) commit(ch *commit.Change, last bool) error {
	seat := &t.module.Serving
	result := make(chan error, 1)
	seat.mu.Lock()
	if seat.voided != t.permit {
		seat.mu.Unlock()
		return errVoid
	}
	seat.ending = last
	t.Org.Committer.SubmitChange(ch, func(err error) { result <- err })
	seat.mu.Unlock()
	err := <-result
	if err != nil && last {
		seat.goOn()
	}
	return err
}

// publish writes a brain behind the one that serves, and takes that one away.
func (t *Trainer) publish(ch *commit.Change, made *trainedBrain, now int64) error {
	o := t.Org
	version := uint64(1)
	err := o.WithStore(func(st *storage.Store) error {
		last, err := t.module.newestBrain(st)
		if err == nil && last != nil {
			version = last.GetVersion() + 1
			ch.Delete(o.Space.Key(storage.TableBrain, storage.U64(last.GetVersion())))
			storage.ErasePieces(ch.Batch, t.module.PiecesKey(last.GetVersion()))
		}
		return err
	})
	if err != nil {
		return err
	}
	key := t.module.PiecesKey(version)
	first := commit.New(o.Store)
	w := storage.BeginPieces(first.Batch, key)
	for rest := made.raw; len(rest) > 0; {
		n := min(len(rest), graph.StageBytes)
		if err := w.Add(first.Batch, rest[:n]); err != nil {
			return err
		}
		if err := t.commit(first, false); err != nil {
			return err
		}
		first, rest = commit.New(o.Store), rest[n:]
	}
	if err := w.Finish(ch.Batch); err != nil {
		return err
	}
	sum := sha256.Sum256(made.raw)
	ch.Put(o.Space.Key(storage.TableBrain, storage.U64(version)), &pb.BrainArtifact{
		Version: version, TrainedMs: now, Nodes: uint64(made.size.Documents + made.size.Concepts + made.size.Domains),
		Edges:      uint64(made.size.Edges),
		Parameters: uint64(made.parameters), Sha256: sum[:], Metrics: made.metrics, Seen: made.seen,
		Report: made.report,
	})
	return nil
}

// trainedBrain is a brain that passed.
type trainedBrain struct {
	raw        []byte
	size       retriever.Size
	parameters int
	metrics    map[string]float64
	seen       []*pb.BrainSeen
	report     *pb.BrainReport
}

// Run is one attempt at a training.
type Run struct {
	*Trainer
	job     *pb.Job
	state   *pb.Training
	metrics map[string]float64
	curve   []*pb.BrainPoint
	report  *pb.BrainReport // once it is judged
}

// train makes a brain out of what the organization's memory holds now.
func (r *Run) train() (*trainedBrain, error) {
	o := r.Org
	var made *trainedBrain
	err := o.WithStore(func(st *storage.Store) error {
		parts, err := o.AllPartitions(st)
		if err != nil {
			return err
		}
		src, err := ReadSource(st, parts, r.goOn)
		if err != nil {
			return err
		}
		if len(src.Places) < MinPassages {
			return fmt.Errorf("%w: there are %d passages, and %d are needed", errTooLittle, len(src.Places), MinPassages)
		}
		snapshots, err := r.LiveSnapshots(st, parts)
		if err != nil {
			return err
		}
		if err := r.JoinSimilar(st, parts, src, snapshots); err != nil {
			return err
		}
		salt := r.module.BrainSalt()
		var graph *retriever.Graph
		var examples []retriever.Example
		err = r.compute(func(int) error {
			for _, s := range src.shapes {
				src.Domains = append(src.Domains, s.Domains()...)
			}
			graph = retriever.NewGraph(&src.Source, salt)
			examples = graph.Examples(&src.Source, salt, min(maxExamples, examplesPerPassage*len(src.Places)), brainSeed)
			return nil
		})
		if err != nil {
			return err
		}
		if n := retriever.Judges(len(examples)); n < leastJudges {
			return fmt.Errorf("%w: the memory gives %d questions to judge a brain by, and %d are needed", errTooLittle, n,
				leastJudges)
		}
		asked, asking, cosine, err := r.ask(st, parts, src, graph, snapshots, examples)
		if err != nil {
			return err
		}
		projection, err := r.project(st, parts, src, graph, asked, asking)
		if err != nil {
			return err
		}
		if err := r.further(projection, asked, asking); err != nil {
			return err
		}
		content, err := graph.Content(asked)
		if err != nil {
			return err
		}
		best, err := r.learn(graph, salt, asked, content)
		if err != nil {
			return err
		}
		if err := r.judge(st, graph, salt, best, asked, asking, cosine); err != nil {
			return err
		}
		model := modelOf(&best, projection)
		raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(&pb.Brain{Model: model, Graph: graph.Message()})
		if err != nil {
			return err
		}
		made = &trainedBrain{raw: raw, size: graph.Size(), parameters: len(model.GetParameters()) + len(model.GetProjection().
			GetNumbers()), metrics: r.metrics, seen: src.Seen, report: r.report}
		return nil
	})
	return made, err
}

// compute runs tasks on the CPU workers, behind all ingestion.
func (r *Run) compute(tasks ...func(worker int) error) error {
	for i, task := range tasks {
		tasks[i] = func(worker int) error {
			if err := r.goOn(); err != nil {
				return err
			}
			return task(worker)
		}
	}
	return errors.Join(r.Org.System.CPU.Background(r.Org.ID, tasks)...)
}

// ask searches for the questions' seeds. cosine are the passages that plain vector
// search finds for each, all what search says.
func (r *Run) ask(
	st *storage.Store, parts []*partition.Ref, src *Source, graph *retriever.Graph, snapshots []*index.Snapshot,
	examples []retriever.Example,
) (asked []retriever.Asked, all []*BrainQuery, cosine [][]int32, err error) {
	passages := make(map[ChunkID]int32, len(src.Places))
	for p, at := range src.Places {
		passages[ChunkID{parts[at.Part].ID, at.Seq}] = int32(p)
	}
	room := &atomic.Int64{}
	room.Store(maxScores)
	asked, all, cosine = make([]retriever.Asked, len(examples)), make([]*BrainQuery, len(examples)),
		make([][]int32, len(examples))
	var tasks []func(int) error
	for from := 0; from < len(examples); from += askBatch {
		tasks = append(tasks, func(worker int) error {
			own := &r.Org.System.Computers[worker]
			for i := from; i < min(from+askBatch, len(examples)); i++ {
				q, err := NewLookup(r.Org, st, parts, examples[i].Text, index.Hybrid, &own.QueryEncoder,
					func() error { return nil })
				if err != nil {
					return err
				}
				q.Snapshots = snapshots
				a := NewBrainQuery(r.Org, st, parts, examples[i].Text, &own.Comparer.Scratch, q, nil, func(at ChunkID) int32 {
					if p, ok := passages[at]; ok {
						return p
					}
					return retriever.Unknown
				})
				a.ChunkOf = func(p int32) ChunkID { return ChunkID{parts[src.Places[p].Part].ID, src.Places[p].Seq} }
				a.DocumentOf = func(p int32) pb.NodeID { return graph.Documents()[graph.Document(p)] }
				a.ScoresLeft = room
				a.Candidates = nil // they name what is found, and a training finds nothing
				asked[i], all[i] = retriever.Asked{Example: examples[i], Question: a.Question}, a
				cosine[i] = a.byCosine()
			}
			return nil
		})
	}
	return asked, all, cosine, r.compute(tasks...)
}

// LiveSnapshots gives the indexes of some partitions without what was forgotten: until a merge takes it out it counts
// in their statistics, and a brain must not be made of that. The snapshots that it changes are copies.
func (r *Run) LiveSnapshots(st *storage.Store, parts []*partition.Ref) ([]*index.Snapshot, error) {
	out := make([]*index.Snapshot, len(parts))
	for i, part := range parts {
		now, err := r.Org.Residents.Get(st, part, r.Org.System.Embedders.Dim)
		if err != nil {
			return nil, err
		}
		out[i] = now.Snapshot
		for _, v := range now.Snapshot.Views {
			if v.Gone() == 0 {
				continue
			}
			err := r.compute(func(int) error {
				plan := index.Plan{Views: []index.View{v}}
				merged, err := index.Merge(plan.Views)
				if err != nil {
					return err
				}
				// The snapshot is this training's own: the segment's number is of no use.
				out[i], _ = out[i].Replace(plan, v.ID, merged)
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// byCosine gives the passages that search found by their likeness alone.
func (a *BrainQuery) byCosine() []int32 {
	all := make([]retriever.Seed, 0, len(a.KnownScores))
	for _, s := range a.KnownScores {
		if s.Passage != retriever.Unknown {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(x, y retriever.Seed) int {
		return cmp.Or(cmp.Compare(y.Cosine, x.Cosine), cmp.Compare(x.Passage, y.Passage))
	})
	var out []int32
	for _, s := range all[:min(len(all), MaxSeeds)] {
		out = append(out, s.Passage)
	}
	return out
}

// learn trains on the first part of the questions.
func (r *Run) learn(
	graph *retriever.Graph, salt retriever.Salt, asked []retriever.Asked, content []byte,
) (retriever.Parameters, error) {
	learned, checked := retriever.Split(len(asked))
	t := retriever.NewTrainer(graph, salt, asked[:learned], asked[learned:checked])
	// The memory is not held still between two attempts: what was learned of other
	// content would make another brain than this content does.
	if c := r.state.GetCheckpoint(); c != nil && bytes.Equal(c.GetContent(), content) {
		if err := t.Resume(c); err != nil {
			r.Org.System.Log.Warn("a training begins anew", "org", r.Org.ID.String(), "job", r.id.String(), "err", err)
		}
	}
	r.state.Progress = t.Progress()
	told := t.Progress()
	for done := false; !done; {
		if err := r.compute(func(int) error { done = t.Step(); return nil }); err != nil {
			return retriever.Parameters{}, err
		}
		if p := t.Progress(); p > told {
			told = p
			r.state.Progress = p
			if p > r.state.GetReached() { // further than any process before has come
				r.state.Reached, r.job.Unclean = p, nil
			}
			if c := t.Checkpoint(); c != nil { // else it goes on from the last one
				c.Content = content
				r.state.Checkpoint = c
			}
			if err := r.note(r.job, r.state); err != nil {
				return retriever.Parameters{}, err
			}
			r.Org.System.Config.EpochCommitted()
		}
	}
	r.curve = t.Curve()
	best := t.Best()
	gained, spread := t.Gained()
	r.metrics["projectionGain"], r.metrics["projectionGainError"] = gained, spread
	r.metrics["projectionStart"], r.metrics["projectionNear"] = best.Further[0], best.Further[1]
	return best, nil
}

// judge compares the new brain with plain likeness, with search and with the brain
// that serves, on questions that it has not learned from (docs/brain.md).
func (r *Run) judge(
	st *storage.Store, graph *retriever.Graph, salt retriever.Salt, made retriever.Parameters, asked []retriever.Asked,
	asking []*BrainQuery, cosine [][]int32,
) error {
	_, from := retriever.Split(len(asked))
	serving, projection, err := r.module.servingParameters(st)
	if err != nil {
		return fmt.Errorf("read the serving brain: %w", err)
	}
	judged := asked[from:]
	theirs := slices.Clone(judged) // by its own projection
	if serving != nil {
		if err := r.further(projection, theirs, asking[from:]); err != nil {
			return err
		}
	}
	type marks = []retriever.Marks
	mine, plain, search, other := make(marks, len(judged)), make(marks, len(judged)), make(marks, len(judged)),
		make(marks, len(judged))
	told := make([]retriever.Judged, len(judged))
	w := retriever.NewWalk(graph, salt)
	for i := 0; i < len(judged); i += askBatch {
		err := r.compute(func(int) error {
			for k := i; k < min(i+askBatch, len(judged)); k++ {
				to := retriever.Judged{Kind: judged[k].Kind, Text: judged[k].Example.Text}
				to.Brain, to.Open, to.Gate = w.Judge(&made, &judged[k])
				plain[k] = graph.MarkRanking(cosine[from+k], &judged[k])
				search[k] = graph.MarkRanking(judged[k].Found(), &judged[k])
				to.Search, to.Cosine = search[k], plain[k]
				mine[k], told[k] = to.Brain, to
				if serving != nil {
					other[k] = w.Mark(serving, &theirs[k])
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	r.report = retriever.Report(told)
	r.report.Curve = r.curve
	beside := retriever.Pair(mine, plain)
	maps.Copy(r.metrics, map[string]float64{
		"questions": float64(len(asked)), "judged": float64(len(judged)),
		"recall10": beside.Mine.Recall, "mrr": beside.Mine.Reciprocal,
		"cosineRecall10": beside.Theirs.Recall, "cosineMrr": beside.Theirs.Reciprocal,
		"cosineWon": float64(beside.Won), "cosineLost": float64(beside.Lost),
	})
	if beside.Worse() {
		return lost("plain cosine", beside)
	}
	// Searches are going to be ranked by it, too.
	beside = retriever.Pair(mine, search)
	r.metrics["searchRecall10"], r.metrics["searchMrr"] = beside.Theirs.Recall, beside.Theirs.Reciprocal
	r.metrics["searchWon"], r.metrics["searchLost"] = float64(beside.Won), float64(beside.Lost)
	if beside.FindsLess() || beside.Loses() {
		return lost("search", beside)
	}
	if serving == nil {
		return nil
	}
	beside = retriever.Pair(mine, other)
	r.metrics["servingRecall10"], r.metrics["servingMrr"] = beside.Theirs.Recall, beside.Theirs.Reciprocal
	r.metrics["servingWon"], r.metrics["servingLost"] = float64(beside.Won), float64(beside.Lost)
	if beside.Worse() {
		return lost("the serving brain", beside)
	}
	return nil
}

// lost says to what a brain has lost, and how.
func lost(rival string, p retriever.Paired) error {
	return fmt.Errorf("%w: recall@10 %.3f and MRR %.3f on held-out questions, against %.3f and %.3f of %s; of them %d "+
		"were won and %d lost, the chance of which is %.3f between equals",
		errRejected, p.Mine.Recall, p.Mine.Reciprocal, p.Theirs.Recall, p.Theirs.Reciprocal, rival, p.Won, p.Lost, p.Chance())
}
