package training

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
	// brainCandidates is the number of candidates, best first, that search gives a walk.
	brainCandidates = 400
	// MaxSeeds is how many of them a walk may begin at and ranks; the others are scores at hand.
	MaxSeeds = 100
)

// Brain is a brain that serves. It does not change.
type Brain struct {
	Artifact *pb.BrainArtifact // its description as it was published
	Params   retriever.Parameters
	Project  *retriever.Projection // of questions; nil: none counts for anything
	Graph    *retriever.Graph
	Salt     retriever.Salt    // keys the names and words of the graph
	Chunks   []ChunkID         // of each passage; the zero value: it is gone
	Passages map[ChunkID]int32 // the other way
}

// ChunkID names a chunk of an organization.
type ChunkID struct {
	Part pb.PartitionID
	Seq  uint64
}

// ServingModel is where an organization's brain sits while its actor lives.
type ServingModel struct {
	Now     atomic.Pointer[Brain]            // the brain that serves; nil: none is loaded
	broken  atomic.Pointer[pb.BrainArtifact] // the one that could not be read; it is not tried again
	Loading sync.Mutex                       // held while a brain is loaded
	// mu is held while what a training writes enters the commit, and while something
	// voids the training: nothing of it enters behind that.
	mu     sync.Mutex
	voided uint64
	ending bool // its last commit has entered
}

// Void refuses whatever a training that is under way would still write. It returns false if the training has written
// all already.
func (s *ServingModel) Void() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ending {
		return false
	}
	s.voided++
	return true
}

// permit lets a training begin to write.
func (s *ServingModel) permit() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ending = false
	return s.voided
}

// goOn says that a training's last commit has failed.
func (s *ServingModel) goOn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ending = false
}

var (
	// ErrNotTrained is the answer of Module.Brain when no brain is published, or the published one cannot be read.
	ErrNotTrained = errors.New("no brain is trained")
	// ErrNotReady is its answer while another caller loads the published brain.
	ErrNotReady = errors.New("the brain is being loaded")
)

// BrainSalt returns the key of what a brain's graph knows of names and words. It is made of the organization's secret,
// and is the same for all of its brains.
func (o *Module) BrainSalt() (s retriever.Salt) {
	mac := hmac.New(sha256.New, o.Secret)
	mac.Write([]byte("brain"))
	copy(s[:], mac.Sum(nil))
	return s
}

// newestBrain reads the description of the brain that is published; nil: none is.
func (o *Module) newestBrain(r storage.Reader) (*pb.BrainArtifact, error) {
	for rec, err := range storage.ScanRecords(r, o.Space.Prefix(storage.TableBrain), storage.ScanOptions{
		Reverse: true,
		Limit:   1,
	}, func() *pb.BrainArtifact { return &pb.BrainArtifact{} }) {
		return rec.Value, err
	}
	return nil, nil
}

// PiecesKey is the key under which the pieces of a brain of some version are stored.
func (o *Module) PiecesKey(version uint64) storage.Key {
	return o.Space.Key(storage.TableBrainPiece, storage.U64(version))
}

// Brain returns the brain that is published, and loads it if another one, or none, serves: some 10 ms for each thousand
// documents. It does not wait while somebody else loads the brain. Its errors are ErrNotTrained, ErrNotReady, and those
// of the store.
func (o *Module) Brain(st *storage.Store) (*Brain, error) {
	artifact, err := o.newestBrain(st)
	if err != nil {
		return nil, err
	}
	if artifact == nil || sameBrain(o.Serving.broken.Load(), artifact) {
		return nil, ErrNotTrained
	}
	if n := o.Serving.Now.Load(); n != nil && sameBrain(n.Artifact, artifact) {
		return n, nil
	}
	if !o.Serving.Loading.TryLock() {
		return nil, ErrNotReady
	}
	defer o.Serving.Loading.Unlock()
	if n := o.Serving.Now.Load(); n != nil && sameBrain(n.Artifact, artifact) {
		return n, nil
	}
	n, err := o.loadBrain(st, artifact)
	if errors.Is(err, retriever.ErrCorrupt) {
		now, failed := o.newestBrain(st)
		switch { // it may have been replaced, or purged, while it was read
		case failed != nil:
			return nil, failed
		case now == nil:
			return nil, ErrNotTrained
		case !sameBrain(now, artifact):
			return nil, ErrNotReady
		}
		// Of a version of this program that reads other brains, or damaged: nothing but
		// a training mends that, and searches go on without.
		o.System.Log.Warn("the brain cannot be read; it is to be trained again", "org", o.ID.String(), "version",
			artifact.GetVersion(), "err", err)
		o.Serving.broken.Store(artifact)
		return nil, ErrNotTrained
	}
	if err != nil {
		return nil, fmt.Errorf("load brain %d: %w", artifact.GetVersion(), err)
	}
	o.Serving.Now.Store(n)
	return n, nil
}

// sameBrain tells one publication from another; nil means no publication. Versions alone do not:
// they begin anew behind a purge.
func sameBrain(a, b *pb.BrainArtifact) bool {
	return a.GetVersion() == b.GetVersion() && a.GetTrainedMs() == b.GetTrainedMs() && bytes.Equal(a.GetSha256(),
		b.GetSha256())
}

// readBrain reads a brain that is published; retriever.ErrCorrupt.
func (o *Module) readBrain(st *storage.Store, artifact *pb.BrainArtifact) (*Brain, error) {
	raw, found, err := storage.ReadPieces(st, o.PiecesKey(artifact.GetVersion()))
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
	n := &Brain{Artifact: artifact, Salt: o.BrainSalt(), Passages: map[ChunkID]int32{}}
	if n.Params, err = retriever.ParametersFrom(stored.GetModel()); err != nil {
		return nil, err
	}
	if n.Project, err = retriever.ProjectionFrom(stored.GetModel().GetProjection()); err != nil {
		return nil, err
	}
	if n.Graph, err = retriever.GraphFrom(stored.GetGraph()); err != nil {
		return nil, err
	}
	return n, nil
}

// servingParameters are what the brain that is published has learned, and its
// projection. Both are nil where no brain is published or it cannot be read. It takes no lock.
func (o *Module) servingParameters(st *storage.Store) (*retriever.Parameters, *retriever.Projection, error) {
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
	p := n.Params // without its graph
	return &p, n.Project, nil
}

func (o *Module) loadBrain(st *storage.Store, artifact *pb.BrainArtifact) (*Brain, error) {
	n, err := o.readBrain(st, artifact)
	if err != nil {
		return nil, err
	}
	next := map[string]uint64{}
	for _, s := range artifact.GetSeen() {
		next[string(s.GetPartition())] = s.GetNextChunk()
	}
	for doc, id := range n.Graph.Documents() {
		first, end := n.Graph.PassagesOf(doc)
		n.Chunks = append(n.Chunks, make([]ChunkID, end-first)...)
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
		if until := next[string(part.Bytes())]; until > 0 && slices.ContainsFunc(node.GetChunks(),
			func(seq uint64) bool { return seq >= until }) {
			continue
		}
		for i, seq := range node.GetChunks() {
			at := ChunkID{part, seq}
			n.Chunks[int(first)+i] = at
			n.Passages[at] = first + int32(i)
		}
	}
	return n, nil
}

// candidate is what search found, and the seed that it makes.
type candidate struct {
	index.Candidate
	retriever.Seed
}

// BrainQuery is a question to a brain: what search says to it.
type BrainQuery struct {
	retriever.Question
	Org   *tenant.View
	Store *storage.Store
	Parts []*partition.Ref // what the question is put to
	// ChunkOf gives the chunk of a passage.
	ChunkOf func(passage int32) ChunkID
	// PassageOf gives the passage of a chunk, or retriever.Unknown for one that the brain does not know.
	PassageOf func(ChunkID) int32
	// Candidates are the candidates that Question.Seeds stand for, at most MaxSeeds.
	Candidates []candidate
	// More says that search found other candidates as well.
	More bool
	// KnownScores are the scores that are known, of what search found and of what ScoreAll has read.
	KnownScores map[ChunkID]retriever.Seed
	// ScoresLeft counts down the scores that there is still memory for. Many questions share it; nil means that all
	// scores are kept. What is not kept is read again.
	ScoresLeft *atomic.Int64
	// Chunks are the chunks of the documents that were looked at; a document without any is gone.
	Chunks map[pb.NodeID][]uint64
	// Live says of the entities that were looked at whether they are live.
	Live map[pb.NodeID]bool
	// DocumentOf gives the document of a passage.
	DocumentOf func(passage int32) pb.NodeID
	// Lookup is the question as it was put to the indexes.
	Lookup *Lookup
	// Err is what failed while a walk asked ScoreAll, IsHere and IsAlive, which return no errors.
	Err error
}

// NewBrainQuery searches for a question's seeds. sharpen gives the candidates better scores; nil leaves them as they
// are, and its error is in Err. passage gives a chunk's passage, or retriever.Unknown. The caller sets At and Docs
// before a walk.
func NewBrainQuery(
	o *tenant.View, st *storage.Store, parts []*partition.Ref, query string, own *index.Scratch, q *Lookup,
	sharpen func([]index.Candidate) error, passage func(ChunkID) int32,
) *BrainQuery {
	q.N = brainCandidates
	a := &BrainQuery{
		Org: o, Store: st, Parts: parts, Lookup: q, PassageOf: passage,
		KnownScores: map[ChunkID]retriever.Seed{}, Chunks: map[pb.NodeID][]uint64{}, Live: map[pb.NodeID]bool{},
	}
	a.Text, a.Score = query, a.ScoreAll
	defer own.Reset()
	candidates := own.Candidates(q.Snapshots, q.Query)
	if sharpen != nil {
		a.Err = sharpen(candidates)
	}
	for _, c := range candidates {
		at := ChunkID{parts[c.Part].ID, c.Seq}
		s := retriever.Seed{Passage: passage(at), Cosine: c.Vector, Keyword: c.Keyword, Score: c.Score}
		a.KnownScores[at] = s
		a.Candidates = append(a.Candidates, candidate{c, s})
	}
	// The index breaks ties by how its segments came about; a brain must not learn
	// from that.
	slices.SortStableFunc(a.Candidates, func(x, y candidate) int {
		return cmp.Or(cmp.Compare(y.Seed.Score, x.Seed.Score), cmp.Compare(x.Passage, y.Passage))
	})
	a.More = len(a.Candidates) > MaxSeeds
	a.Candidates = a.Candidates[:min(len(a.Candidates), MaxSeeds)]
	for i := range a.Candidates {
		c := &a.Candidates[i]
		c.Candidate.Node = pb.NodeID(strings.Clone(string(c.Candidate.Node)))
		a.Seeds = append(a.Seeds, c.Seed)
	}
	return a
}

// ScoreAll gives the scores of some passages: what search said of them, or their likeness to the question where search
// did not find them. It leaves out what is gone, and ends early at an error, which is in Err.
func (a *BrainQuery) ScoreAll(passages []int32) []retriever.Seed {
	var out []retriever.Seed
	for _, p := range passages {
		s, ok, err := a.scoreOf(p)
		if err != nil {
			a.Err = errors.Join(a.Err, err)
			return out
		}
		if ok {
			out = append(out, s)
		}
	}
	return out
}

func (a *BrainQuery) scoreOf(p int32) (s retriever.Seed, ok bool, err error) {
	at := a.ChunkOf(p)
	if s, ok = a.KnownScores[at]; ok {
		return s, true, nil
	}
	part, err := a.holds(p, at)
	if part == nil {
		return s, false, err
	}
	s.Passage = p
	for model, want := range a.Lookup.Vectors {
		v, err := partition.ReadVector(a.Store, part, string(model), at.Seq)
		if err != nil {
			return s, false, err
		}
		if v == nil {
			continue
		}
		line := index.Line{Factor: 1}
		if l, ok := a.Lookup.Lines[model]; ok {
			line = l
		}
		s.Cosine = line.Factor*index.CosineOfUnit(want, v) + line.Offset
	}
	s.Score = s.Cosine
	if a.ScoresLeft == nil || a.ScoresLeft.Add(-1) >= 0 {
		a.KnownScores[at] = s
	}
	return s, true, nil
}

// holds gives the partition of a passage that is still there, may be learned from and is
// among what is asked; nil: it is not.
func (a *BrainQuery) holds(p int32, at ChunkID) (*partition.Ref, error) {
	i := slices.IndexFunc(a.Parts, func(x *partition.Ref) bool { return x.ID == at.Part })
	if i < 0 {
		return nil, nil
	}
	part, doc := a.Parts[i], a.DocumentOf(p)
	chunks, known := a.Chunks[doc]
	if !known {
		n := &pb.Node{}
		if _, err := a.Store.Get(part.Space.Key(storage.TableNode, storage.Str(doc)), n); err != nil {
			return nil, err
		}
		if n.GetStatus() == pb.StatusLive && !n.GetUnlearned() {
			chunks = n.GetChunks()
		}
		if a.ScoresLeft == nil || a.ScoresLeft.Load() > 0 {
			a.Chunks[doc] = chunks
		}
	}
	if !slices.Contains(chunks, at.Seq) { // an edit puts others in its place
		return nil, nil
	}
	return part, nil
}

// IsHere reports whether a passage still exists, may be learned from, and is among what the question is put to. An
// error is in Err.
func (a *BrainQuery) IsHere(p int32) bool {
	at := a.ChunkOf(p)
	if _, ok := a.KnownScores[at]; ok {
		return true
	}
	part, err := a.holds(p, at)
	a.Err = errors.Join(a.Err, err)
	return part != nil
}

// IsAlive reports whether an entity is live, in one of the partitions that the question is put to. An error is in Err.
func (a *BrainQuery) IsAlive(entity pb.NodeID) bool {
	is, known := a.Live[entity]
	if !known {
		if part := tenant.OwnerOf(a.Parts, entity); part != nil {
			n := &pb.Node{}
			_, err := a.Store.Get(part.Space.Key(storage.TableNode, storage.Str(entity)), n)
			a.Err = errors.Join(a.Err, err)
			is = n.GetStatus() == pb.StatusLive
		}
		a.Live[entity] = is
	}
	return is
}
