package actors

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/brain/index"
	"orgmem/brain/retriever"
	pb "orgmem/proto"
	"orgmem/storage"
)

const (
	// brainCandidates are what search gives a walk, best first; brainSeeds of them it
	// may begin at and ranks, the others are scores at hand.
	brainCandidates = 400
	brainSeeds      = 100
)

// brainNet is a brain that serves. It does not change.
type brainNet struct {
	artifact *pb.BrainArtifact
	params   retriever.Parameters
	project  *retriever.Projection // of questions; nil: none counts for anything
	graph    *retriever.Graph
	salt     retriever.Salt
	chunks   []chunkAt         // of each passage; the zero value: it is gone
	passages map[chunkAt]int32 // the other way
}

// chunkAt names a chunk of an organization.
type chunkAt struct {
	part pb.PartitionID
	seq  uint64
}

// servingModel is where an organization's brain sits while its actor lives.
type servingModel struct {
	now     atomic.Pointer[brainNet]
	broken  atomic.Pointer[pb.BrainArtifact] // the one that could not be read; it is not tried again
	loading sync.Mutex
	// mu is held while what a training writes enters the commit, and while something
	// voids the training: nothing of it enters behind that.
	mu     sync.Mutex
	voided uint64
	ending bool // its last commit has entered
}

// void refuses whatever a training that is under way would still write; false: it
// has written all.
func (s *servingModel) void() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ending {
		return false
	}
	s.voided++
	return true
}

// permit lets a training begin to write.
func (s *servingModel) permit() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ending = false
	return s.voided
}

// goOn says that a training's last commit has failed.
func (s *servingModel) goOn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ending = false
}

var (
	// errBrainNotTrained: there is no brain; errBrainNotReady: there is, and it is
	// being loaded.
	errBrainNotTrained = errors.New("no brain is trained")
	errBrainNotReady   = errors.New("the brain is being loaded")
)

// brainSalt keys what a brain's graph knows of names and words.
func (o *trainingModule) brainSalt() (s retriever.Salt) {
	mac := hmac.New(sha256.New, o.Secret)
	mac.Write([]byte("brain"))
	copy(s[:], mac.Sum(nil))
	return s
}

// newestBrain reads the description of the brain that is published; nil: none is.
func (o *trainingModule) newestBrain(r storage.Reader) (*pb.BrainArtifact, error) {
	for rec, err := range storage.ScanRecords(r, o.Space.Prefix(storage.TableBrain), storage.ScanOptions{Reverse: true, Limit: 1}, func() *pb.BrainArtifact { return &pb.BrainArtifact{} }) {
		return rec.Value, err
	}
	return nil, nil
}

func (o *trainingModule) brainPieces(version uint64) storage.Key {
	return o.Space.Key(storage.TableBrainPiece, storage.U64(version))
}

// brain returns the brain that is published, which it loads where that is not the
// one that serves: some 10 ms for each thousand documents.
func (o *trainingModule) brain(st *storage.Store) (*brainNet, error) {
	artifact, err := o.newestBrain(st)
	if err != nil {
		return nil, err
	}
	if artifact == nil || sameBrain(o.serving.broken.Load(), artifact) {
		return nil, errBrainNotTrained
	}
	if n := o.serving.now.Load(); n != nil && sameBrain(n.artifact, artifact) {
		return n, nil
	}
	if !o.serving.loading.TryLock() {
		return nil, errBrainNotReady
	}
	defer o.serving.loading.Unlock()
	if n := o.serving.now.Load(); n != nil && sameBrain(n.artifact, artifact) {
		return n, nil
	}
	n, err := o.loadBrain(st, artifact)
	if errors.Is(err, retriever.ErrCorrupt) {
		now, failed := o.newestBrain(st)
		switch { // it may have been replaced, or purged, while it was read
		case failed != nil:
			return nil, failed
		case now == nil:
			return nil, errBrainNotTrained
		case !sameBrain(now, artifact):
			return nil, errBrainNotReady
		}
		// Of a version of this program that reads other brains, or damaged: nothing but
		// a training mends that, and searches go on without.
		o.System.Log.Warn("the brain cannot be read; it is to be trained again", "org", o.ID.String(), "version", artifact.GetVersion(), "err", err)
		o.serving.broken.Store(artifact)
		return nil, errBrainNotTrained
	}
	if err != nil {
		return nil, fmt.Errorf("load brain %d: %w", artifact.GetVersion(), err)
	}
	o.serving.now.Store(n)
	return n, nil
}

// sameBrain tells one publication from another; nil is none. Versions alone do not:
// they begin anew behind a purge.
func sameBrain(a, b *pb.BrainArtifact) bool {
	return a.GetVersion() == b.GetVersion() && a.GetTrainedMs() == b.GetTrainedMs() && bytes.Equal(a.GetSha256(), b.GetSha256())
}

// readBrain reads a brain that is published; retriever.ErrCorrupt.
func (o *trainingModule) readBrain(st *storage.Store, artifact *pb.BrainArtifact) (*brainNet, error) {
	raw, found, err := storage.ReadPieces(st, o.brainPieces(artifact.GetVersion()))
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(raw); !found || !bytes.Equal(sum[:], artifact.GetSha256()) {
		return nil, retriever.ErrCorrupt
	}
	stored := &pb.Brain{}
	if err := proto.Unmarshal(raw, stored); err != nil {
		return nil, fmt.Errorf("%w: %w", retriever.ErrCorrupt, err)
	}
	n := &brainNet{artifact: artifact, salt: o.brainSalt(), passages: map[chunkAt]int32{}}
	if n.params, err = retriever.ParametersFrom(stored.GetModel()); err != nil {
		return nil, err
	}
	if n.project, err = retriever.ProjectionFrom(stored.GetModel().GetProjection()); err != nil {
		return nil, err
	}
	if n.graph, err = retriever.GraphFrom(stored.GetGraph()); err != nil {
		return nil, err
	}
	return n, nil
}

// servingParameters are what the brain that is published has learned, and its
// projection; nil: there is none, or none that can be read. Nobody waits for it, and it waits for nobody.
func (o *trainingModule) servingParameters(st *storage.Store) (*retriever.Parameters, *retriever.Projection, error) {
	artifact, err := o.newestBrain(st)
	if err != nil || artifact == nil {
		return nil, nil, err
	}
	n, err := o.readBrain(st, artifact)
	if errors.Is(err, retriever.ErrCorrupt) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	p := n.params // without its graph
	return &p, n.project, nil
}

func (o *trainingModule) loadBrain(st *storage.Store, artifact *pb.BrainArtifact) (*brainNet, error) {
	n, err := o.readBrain(st, artifact)
	if err != nil {
		return nil, err
	}
	next := map[string]uint64{}
	for _, s := range artifact.GetSeen() {
		next[string(s.GetPartition())] = s.GetNextChunk()
	}
	for doc, id := range n.graph.Documents() {
		first, end := n.graph.PassagesOf(doc)
		n.chunks = append(n.chunks, make([]chunkAt, end-first)...)
		// Not one of all partitions: there may have come more than are searched together, and
		// a search of one asks for the brain, too.
		part, err := tenant.PartitionIn(id)
		if err != nil {
			continue
		}
		node := &pb.Node{}
		if _, err := st.Get(storage.PartitionSpace(o.Store, part).Key(storage.TableNode, storage.Str(id)), node); err != nil {
			return nil, err
		}
		if node.GetStatus() != pb.StatusLive || node.GetUnlearned() || len(node.GetChunks()) != int(end-first) {
			continue
		}
		// What an edit has put into the place of a passage is not what the brain knows of it.
		if until := next[string(part.Bytes())]; until > 0 && slices.ContainsFunc(node.GetChunks(), func(seq uint64) bool { return seq >= until }) {
			continue
		}
		for i, seq := range node.GetChunks() {
			at := chunkAt{part, seq}
			n.chunks[int(first)+i] = at
			n.passages[at] = first + int32(i)
		}
	}
	return n, nil
}

// candidate is what search found, and the seed that it makes.
type candidate struct {
	index.Candidate
	retriever.Seed
}

// asking is a question to a brain: what search says to it.
type asking struct {
	retriever.Question
	org   *tenant.View
	st    *storage.Store
	parts []*partition.Ref
	at    func(passage int32) chunkAt
	// passage is the other way, retriever.Unknown what the brain does not know.
	passage func(chunkAt) int32
	// seeds are the candidates that Question.Seeds stand for.
	seeds []candidate
	more  bool // there were others
	near  map[chunkAt]retriever.Seed
	// room is for how many scores more there is memory, that many questions share; nil:
	// for all. What is not kept is read again.
	room *atomic.Int64
	// chunks are those of the documents that were looked at; none: it is gone. lives are
	// the entities that were.
	chunks map[pb.NodeID][]uint64
	lives  map[pb.NodeID]bool
	docs   func(passage int32) pb.NodeID
	look   *lookup
	err    error
}

// newAsking searches for a question's seeds. sharpen gives the candidates better scores;
// nil leaves them as they are. passage gives a chunk's passage, or retriever.Unknown.
func newAsking(o *tenant.View, st *storage.Store, parts []*partition.Ref, query string, own *index.Scratch, q *lookup, sharpen func([]index.Candidate) error, passage func(chunkAt) int32) *asking {
	q.N = brainCandidates
	a := &asking{org: o, st: st, parts: parts, near: map[chunkAt]retriever.Seed{}, chunks: map[pb.NodeID][]uint64{}, lives: map[pb.NodeID]bool{}, look: q, passage: passage}
	a.Text, a.Score = query, a.score
	defer own.Reset()
	candidates := own.Candidates(q.snapshots, q.Query)
	if sharpen != nil {
		a.err = sharpen(candidates)
	}
	for _, c := range candidates {
		at := chunkAt{parts[c.Part].ID, c.Seq}
		s := retriever.Seed{Passage: passage(at), Cosine: c.Vector, Keyword: c.Keyword, Score: c.Score}
		a.near[at] = s
		a.seeds = append(a.seeds, candidate{c, s})
	}
	// The index breaks ties by how its segments came about; a brain must not learn
	// from that.
	slices.SortStableFunc(a.seeds, func(x, y candidate) int {
		return cmp.Or(cmp.Compare(y.Seed.Score, x.Seed.Score), cmp.Compare(x.Passage, y.Passage))
	})
	a.more = len(a.seeds) > brainSeeds
	a.seeds = a.seeds[:min(len(a.seeds), brainSeeds)]
	for i := range a.seeds {
		c := &a.seeds[i]
		c.Candidate.Node = pb.NodeID(strings.Clone(string(c.Candidate.Node)))
		a.Seeds = append(a.Seeds, c.Seed)
	}
	return a
}

// score gives passages that search did not find their likeness to the question, and
// leaves out what is gone.
func (a *asking) score(passages []int32) []retriever.Seed {
	var out []retriever.Seed
	for _, p := range passages {
		s, ok, err := a.scoreOf(p)
		if err != nil {
			a.err = errors.Join(a.err, err)
			return out
		}
		if ok {
			out = append(out, s)
		}
	}
	return out
}

func (a *asking) scoreOf(p int32) (s retriever.Seed, ok bool, err error) {
	at := a.at(p)
	if s, ok = a.near[at]; ok {
		return s, true, nil
	}
	part, err := a.holds(p, at)
	if part == nil {
		return s, false, err
	}
	s.Passage = p
	for model, want := range a.look.Vectors {
		v, err := partition.ReadVector(a.st, part, string(model), at.seq)
		if err != nil {
			return s, false, err
		}
		if v == nil {
			continue
		}
		line := index.Line{Factor: 1}
		if l, ok := a.look.Lines[model]; ok {
			line = l
		}
		s.Cosine = line.Factor*index.CosineOfUnit(want, v) + line.Offset
	}
	s.Score = s.Cosine
	if a.room == nil || a.room.Add(-1) >= 0 {
		a.near[at] = s
	}
	return s, true, nil
}

// holds gives the partition of a passage that is still there, may be learned from and is
// among what is asked; nil: it is not.
func (a *asking) holds(p int32, at chunkAt) (*partition.Ref, error) {
	i := slices.IndexFunc(a.parts, func(x *partition.Ref) bool { return x.ID == at.part })
	if i < 0 {
		return nil, nil
	}
	part, doc := a.parts[i], a.docs(p)
	chunks, known := a.chunks[doc]
	if !known {
		n := &pb.Node{}
		if _, err := a.st.Get(part.Space.Key(storage.TableNode, storage.Str(doc)), n); err != nil {
			return nil, err
		}
		if n.GetStatus() == pb.StatusLive && !n.GetUnlearned() {
			chunks = n.GetChunks()
		}
		if a.room == nil || a.room.Load() > 0 {
			a.chunks[doc] = chunks
		}
	}
	if !slices.Contains(chunks, at.seq) { // an edit puts others in its place
		return nil, nil
	}
	return part, nil
}

// here says whether a passage is there for who asks.
func (a *asking) here(p int32) bool {
	at := a.at(p)
	if _, ok := a.near[at]; ok {
		return true
	}
	part, err := a.holds(p, at)
	a.err = errors.Join(a.err, err)
	return part != nil
}

// alive says whether an entity is.
func (a *asking) alive(entity pb.NodeID) bool {
	is, known := a.lives[entity]
	if !known {
		if part := tenant.OwnerOf(a.parts, entity); part != nil {
			n := &pb.Node{}
			_, err := a.st.Get(part.Space.Key(storage.TableNode, storage.Str(entity)), n)
			a.err = errors.Join(a.err, err)
			is = n.GetStatus() == pb.StatusLive
		}
		a.lives[entity] = is
	}
	return is
}
