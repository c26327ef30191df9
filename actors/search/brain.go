package search

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"orgmem/actors/graph"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/actors/training"
	"orgmem/brain/answer"
	"orgmem/brain/drift"
	"orgmem/brain/grounding"
	"orgmem/brain/index"
	"orgmem/brain/retriever"
	"orgmem/brain/voice"
	pb "orgmem/proto"
	"orgmem/storage"
)

const (
	// AnswerSources is from how many documents an answer may be put together.
	AnswerSources = 5
	// answerScan is how many hits are looked at for them where the first of these must
	// not be learned from.
	answerScan = 100
	// defaultAnswerWords is the length of an answer when the client names none.
	defaultAnswerWords = 150
)

// brainAnswer writes an answer from sentences of the passages that search finds, in
// the manner of the person whose memory asks, and names them; a language model may word
// it (brain_phrase.go).
func (o *Module) brainAnswer(c *tenant.Call, op *pb.BrainAnswer) {
	o.ReadWide(c, func(st *storage.Store, worker int) (*pb.Reply, error) {
		d, err := o.draftAnswer(c, st, op, worker)
		if err != nil {
			return nil, err
		}
		if phrased, err := o.phrase(c, st, op, d); err != nil || phrased {
			return nil, err
		}
		return d.reply(st)
	})
}

// draftAnswer puts an answer together.
func (o *Module) draftAnswer(c *tenant.Call, st *storage.Store, op *pb.BrainAnswer, worker int) (*draft, error) {
	parts, err := c.VisiblePartitions(st)
	if err != nil {
		return nil, err
	}
	rd := &o.Node.Workers[worker]
	d := &draft{query: op.GetQuery(), parts: parts}
	confidence := 0.0
	if d.hits, confidence, err = o.sources(c, st, parts, d.query, rd); err != nil {
		return nil, err
	}
	if d.manner, err = mannerOf(st, c.Part.Space); err != nil {
		return nil, err
	}
	most := defaultAnswerWords
	if d.manner != nil {
		most = d.manner.AnswerWords(most)
	}
	d.words = int(cmp.Or(op.GetMaxWords(), uint32(most)))
	if !o.asks() {
		d.compose(rd)
	} else if err := o.draftRead(c, st, d, rd); err != nil {
		return nil, err
	}
	if d.manner != nil && len(d.GetCitations()) > 0 {
		d.Voice = voice.Hint(*d.manner)
	}
	d.GateConfidence = confidence
	d.ReadUnits, d.EmbedTokens = c.ReadUnits, c.EmbedTokens
	return d, nil
}

// compose puts the answer together of the sentences of the hits that have most of the question's words.
func (d *draft) compose(rd *searcher) {
	d.BrainAnswered = answer.Compose(d.query, d.hits, NewQueryWords(rd.Reader, d.query).share, d.words, d.manner)
}

// sources are the passages that an answer is made of: those that the brain comes to
// or, before one is trained, those that search finds.
func (o *Module) sources(
	c *tenant.Call, st *storage.Store, parts []*partition.Ref, query string, rd *searcher,
) (hits []*pb.Hit, confidence float64, err error) {
	want, near := AnswerSources, answer.Evidence
	if o.asks() {
		want, near = MaxRead, answer.Readable
	}
	n, err := tenant.ModuleOf[*training.Module](c.Org).Brain(st)
	if errors.Is(err, training.ErrNotTrained) || errors.Is(err, training.ErrNotReady) {
		for _, most := range []uint32{uint32(want), answerScan} {
			found, err := o.find(c, st, parts, &pb.Search{Query: query, TopK: most}, rd)
			if err != nil {
				return nil, 0, err
			}
			about := near(found.GetHits())
			if hits, err = learnedFrom(st, parts, about); err != nil {
				return nil, 0, err
			}
			if len(hits) == len(about) || len(hits) >= want {
				break // nothing was left out whose place another could take
			}
		}
		return unlessCopied(hits[:min(len(hits), want)]), 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	w, a, err := o.walkFrom(c, st, parts, n, query, nil, rd)
	if err != nil {
		return nil, 0, err
	}
	p := rd.page(st)
	defer p.done()
	found, err := p.fillByBrain(want, func(most int) ([]walked, error) {
		return foundBy(a, n, w.Passages(most+training.MaxSeeds), most, learned)
	})
	if err != nil {
		return nil, 0, err
	}
	order := p.arrange(want)
	c.ReadUnits += tenant.UnitsOf(len(order))
	c.EmbedTokens += uint64(a.Lookup.Tokens)
	for _, i := range order { // what the walk came to need not sound like the question
		if f := &found[i]; f.Activation > 0 || len(near([]*pb.Hit{f.hit})) > 0 {
			hits = append(hits, f.hit)
		}
	}
	hits = unlessCopied(hits)
	if len(near(hits)) == 0 { // but where nothing does, the walk had nothing to begin at
		return nil, w.Confidence(), nil
	}
	return hits, w.Confidence(), nil
}

// learnedFrom keeps the hits whose nodes may be learned from.
func learnedFrom(r storage.Reader, parts []*partition.Ref, hits []*pb.Hit) (kept []*pb.Hit, err error) {
	for _, h := range hits {
		n, part, err := nodeOf(r, parts, h)
		if err != nil {
			return nil, err
		}
		if part != nil && !n.GetUnlearned() {
			kept = append(kept, h)
		}
	}
	return kept, nil
}

// nodeOf reads the node of a hit, and finds its partition; nil when it is gone.
func nodeOf(r storage.Reader, parts []*partition.Ref, h *pb.Hit) (*pb.Node, *partition.Ref, error) {
	part := tenant.OwnerOf(parts, pb.NodeID(h.GetNode()))
	if part == nil {
		return nil, nil, nil
	}
	n := &pb.Node{}
	found, err := r.Get(part.Space.Key(storage.TableNode, storage.Str(h.GetNode())), n)
	if err != nil || !found {
		return nil, nil, err
	}
	return n, part, nil
}

// QueryWords says how much of a query's words a text holds.
type QueryWords struct {
	rd    *tenant.Reader
	query string
}

// NewQueryWords makes the matcher of a query's words. It uses the worker's analyzer, and so belongs to the read that
// runs on that worker.
func NewQueryWords(rd *tenant.Reader, query string) QueryWords { return QueryWords{rd, query} }

// share is the part of the query's words, by weight, that the text holds: 0 to 1.
func (m QueryWords) share(s string) float64 {
	return grounding.Share(&m.rd.Analyzer, m.query, s)
}

// walkFrom lets the brain walk from a question. The walk and what is returned are
// the worker's until its next call. Quality mode thorough begins at the exact cosines. keep, where
// it is given, sees what search compares, before a search by the projected question takes the memory of that.
func (o *Module) walkFrom(
	c *tenant.Call, st *storage.Store, parts []*partition.Ref, n *training.Brain, query string,
	keep func([]index.Candidate, *index.Query), rd *searcher,
) (*retriever.Walk, *training.BrainQuery, error) {
	e, err := o.effort(c, st)
	if err != nil {
		return nil, nil, err
	}
	q, err := o.lookup(c, st, parts, query, index.Hybrid, rd)
	if err != nil {
		return nil, nil, err
	}
	if err := o.askForTime(st, parts, q, query); err != nil {
		return nil, nil, err
	}
	sharpen := func(candidates []index.Candidate) error {
		var err error
		if e.brain {
			var exact [][]float32
			exact, err = e.exactVectors(st, parts, candidates, q.Query, DefaultTopK, &rd.Vectors)
			index.Sharpen(candidates, exact, q.Query)
		}
		if keep != nil {
			keep(candidates, q.Query)
		}
		return err
	}
	a := training.NewBrainQuery(c.Org, st, parts, query, &rd.Scratch, q, sharpen, func(at training.ChunkID) int32 {
		if p, ok := n.Passages[at]; ok {
			return p
		}
		return retriever.Unknown
	})
	a.ChunkOf = func(p int32) training.ChunkID { return n.Chunks[p] }
	a.DocumentOf = func(p int32) pb.NodeID { return n.Graph.Documents()[n.Graph.Document(p)] }
	began := c.Org.System.Clock.Now()
	a.Budget, a.Over = WalkBudget, func() bool { return c.Org.System.Clock.Now().Sub(began) >= WalkTimeout }
	// What another partition's texts state is not followed: the order of the hits
	// would tell of it.
	a.Within = func(entity pb.NodeID) bool { return tenant.OwnerOf(parts, entity) != nil }
	a.Here, a.Lives = a.IsHere, a.IsAlive
	if n.Params.Projects() {
		a.Further = a.Widen(n.Project, &rd.Scratch)
	}
	w := rd.walker.of(n)
	w.Forward(&n.Params, &a.Question)
	return w, a, a.Err
}

// walked is a passage that a walk ranked, as it is shown.
type walked struct {
	retriever.Ranked
	*shown
}

// learned keeps what a brain may be made of; a search shows the rest, too.
func learned(n *pb.Node) bool { return !n.GetUnlearned() }

// foundBy reads what a walk ranked: the best passages of the nodes that are to be
// kept, at most topK.
func foundBy(
	a *training.BrainQuery, n *training.Brain, ranked []retriever.Ranked, topK int, keep func(*pb.Node) bool,
) (out []walked, err error) {
	taken := map[pb.NodeID]bool{}
	var hits []*pb.Hit
	var nodes []*pb.Node
	for _, r := range ranked {
		at := chunkOf(a, n, &r)
		var id pb.NodeID
		if r.From >= 0 {
			id = a.Candidates[r.From].Node
		} else {
			id = a.DocumentOf(r.Passage)
		}
		i := slices.IndexFunc(a.Parts, func(p *partition.Ref) bool { return p.ID == at.Part })
		if i < 0 || taken[id] {
			continue
		}
		x, err := readHit(a.Store, a.Parts[i], index.Hit{
			Seq: at.Seq, Node: id, Part: int32(i), Score: float32(r.Total), Vector: r.Cosine, Keyword: r.Keyword,
		})
		if err != nil {
			return nil, err
		}
		if x == nil || !keep(x.node) {
			continue
		}
		taken[id] = true
		hits, nodes = append(hits, x.hit), append(nodes, x.node)
		if out = append(out, walked{r, x}); len(out) == topK {
			break
		}
	}
	return out, markStale(a.Store, a.Parts, hits, nodes, 0)
}

// brainQuery is one forward pass, beside what plain likeness of meaning finds.
func (o *Module) brainQuery(c *tenant.Call, op *pb.BrainQuery) {
	o.ReadWide(c, func(st *storage.Store, worker int) (*pb.Reply, error) {
		n, err := tenant.ModuleOf[*training.Module](c.Org).Brain(st)
		switch {
		case errors.Is(err, training.ErrNotTrained):
			return tenant.Refuse(tenant.NewProblem(pb.CodeBrainNotTrained,
				"The organization's brain has not been trained yet.")), nil
		case errors.Is(err, training.ErrNotReady):
			return tenant.Refuse(tenant.NewProblem(pb.CodeBrainNotReady, "The brain that was published is being loaded.")), nil
		case err != nil:
			return nil, err
		}
		parts, err := c.VisiblePartitions(st)
		if err != nil {
			return nil, err
		}
		rd := &o.Node.Workers[worker]
		w, a, err := o.walkFrom(c, st, parts, n, op.GetQuery(), nil, rd)
		if err != nil {
			return nil, err
		}
		topK := int(cmp.Or(op.GetTopK(), DefaultTopK))
		ranked := w.Passages(topK + training.MaxSeeds)
		out := &pb.BrainFound{
			GateConfidence: w.Confidence(), PropagationTier: string(w.Tier(ranked[:min(topK, len(ranked))])),
			Version: n.Artifact.GetVersion(),
		}
		hits, err := foundBy(a, n, ranked, topK, learned)
		if err != nil {
			return nil, err
		}
		for _, f := range hits {
			out.Focal = append(out.Focal, brainNode(f.hit, w.Confidence()*f.Activation))
		}
		if out.Entities, err = entitiesOf(a, w, topK); err != nil {
			return nil, err
		}
		a.Lookup.Mode = index.VectorOnly
		plain, err := o.findWith(c, st, parts, a.Lookup, &pb.Search{TopK: uint32(topK)}, rd)
		if err != nil {
			return nil, err
		}
		for _, h := range plain.GetHits() {
			out.Cosine = append(out.Cosine, brainNode(h, 0))
		}
		if out.DriftRate, err = DriftOf(st, parts, n.Artifact); err != nil {
			return nil, err
		}
		c.ReadUnits += tenant.UnitsOf(len(hits))
		out.ReadUnits, out.EmbedTokens = c.ReadUnits, c.EmbedTokens
		return graph.DerivedReply(&pb.MindResult{Result: &pb.MindResult_Found{Found: out}}), nil
	})
}

func brainNode(h *pb.Hit, activation float64) *pb.BrainNode {
	return &pb.BrainNode{
		Node: h.GetNode(), ExternalId: h.GetExternalId(), Title: h.GetTitle(), Score: h.GetScore(), Activation: activation,
		Stale: h.GetStale(),
	}
}

// entitiesOf are the things that a walk came to.
func entitiesOf(a *training.BrainQuery, w *retriever.Walk, topK int) (out []*pb.BrainNode, err error) {
	for _, x := range w.Entities(2 * topK) { // some may be gone
		part := tenant.OwnerOf(a.Parts, x.Entity)
		if part == nil || len(out) == topK {
			continue
		}
		n := &pb.Node{}
		if _, err := a.Store.Get(part.Space.Key(storage.TableNode, storage.Str(x.Entity)), n); err != nil {
			return nil, err
		}
		if n.GetStatus() == pb.StatusLive {
			out = append(out, &pb.BrainNode{Node: n.GetId(), Title: n.GetTitle(), Activation: x.Activation})
		}
	}
	return out, nil
}

// DriftOf computes how far the graph of some partitions has moved since a brain was trained: 0 means that nothing
// changed, 1 that as much changed as there is.
func DriftOf(r storage.Reader, parts []*partition.Ref, artifact *pb.BrainArtifact) (float64, error) {
	now := make(map[string]*pb.PartitionState, len(parts))
	for _, part := range parts {
		state := &pb.PartitionState{}
		if _, err := r.Get(part.Space.Key(storage.TableState), state); err != nil {
			return 0, err
		}
		now[string(part.ID.Bytes())] = state
	}
	return drift.Rate(artifact.GetSeen(), now), nil
}

// walker is what a read worker keeps for a brain.
type walker struct {
	net  *training.Brain
	walk *retriever.Walk
}

func (w *walker) of(n *training.Brain) *retriever.Walk {
	if w.net != n {
		w.net, w.walk = n, retriever.NewWalk(n.Graph, n.Salt)
	}
	return w.walk
}

// WalkBudget bounds the steps of a walk that somebody waits for: some 10 ms. What
// is linked so densely that it does not suffice is walked less far.
const WalkBudget = 20_000

// WalkTimeout is the time after which a walk takes no further step, where a disk is slow or the processors are busy:
// the caller waits for search as well, and for its answer.
const WalkTimeout = time.Second
