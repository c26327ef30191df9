package search

import (
	"fmt"

	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/actors/training"
	"orgmem/brain/index"
	"orgmem/brain/temporal"
	pb "orgmem/proto"
	"orgmem/proto/tracing"
	"orgmem/storage"
)

const (
	// DefaultTopK is the number of hits when the client names none.
	DefaultTopK = 10
	// widening is by how much more candidates are looked at when there are too few
	// documents among them.
	widening = 4
)

// Effort is what a search spends, by the quality mode of the partition that asks.
type Effort struct {
	// perHit and least: chunks of one document collapse into one hit, so more
	// candidates than hits are needed; least keeps small pages as good as large
	// ones.
	perHit, least int
	// exact is up to how many of the leading candidates, for each hit and at least
	// for ten, are ranked by their stored vectors. Beyond it the int8 cosine
	// decides; it differs by at most 0.0032 (docs/retrieval.md), and reading a
	// vector costs as much as scanning a thousand.
	exact int
	// open reads only the vectors that can still change the hits or their order.
	open bool
	// brain: where a brain ranks, what it begins at is ranked by stored vectors, too.
	brain bool
	// reads: where there is a reader that answers questions, it reads what leads (reread.go).
	reads bool
}

// Efforts are what a search spends in each quality mode.
var Efforts = map[partition.Quality]Effort{
	partition.QualityFast:     {perHit: 8, least: 100},
	partition.QualityBalanced: {perHit: 8, least: 100, exact: 2, open: true},
	partition.QualityThorough: {perHit: 32, least: 400, exact: 8, brain: true, reads: true},
}

// effort is what the effective partition wants spent on the call.
func (o *Module) effort(c *tenant.Call, st *storage.Store) (Effort, error) {
	s, err := c.Org.Residents.Settings(st, c.Part)
	return Efforts[s.Quality], err
}

// search answers from snapshots, in the read pool.
func (o *Module) search(c *tenant.Call, op *pb.Search) {
	o.readScope(c, op.GetOrgScope(), func(st *storage.Store, parts []*partition.Ref, rd *searcher) (*pb.Reply, error) {
		found, err := o.find(c, st, parts, op, rd)
		if err != nil {
			return nil, err
		}
		return &pb.Reply{Result: &pb.Reply_Search{Search: found}}, nil
	})
}

// readScope reads, in the read pool, from what an answer covers: the caller's
// partition or, with scope org, all of the organization's.
func (o *Module) readScope(
	c *tenant.Call, orgScope bool,
	read func(st *storage.Store, parts []*partition.Ref, rd *searcher) (*pb.Reply, error),
) {
	if orgScope && c.Env.GetHasSubject() {
		c.Refuse(tenant.NewProblem(pb.CodePermissionDenied,
			"A subject searches its own memory only; scope org needs a request without X-Svc-Subject."))
		return
	}
	turn := o.readAround
	if orgScope {
		turn = o.ReadWide
	}
	turn(c, func(st *storage.Store, worker int) (*pb.Reply, error) {
		parts := []*partition.Ref{c.Part}
		if orgScope {
			var err error
			if parts, err = c.VisiblePartitions(st); err != nil {
				return nil, err
			}
		}
		return read(st, parts, &o.Node.Workers[worker])
	})
}

// readAround is ReadWith for a search of the caller's partition. Where the mode has hits read it is as much as what
// covers all of an organization, and waits for a turn of that width: others' searches do not wait for it.
func (o *Module) readAround(c *tenant.Call, f func(st *storage.Store, worker int) (*pb.Reply, error)) {
	o.ReadWith(c, func(st *storage.Store, worker int) (*pb.Reply, error) {
		e, err := o.effort(c, st)
		switch {
		case err != nil:
			return nil, err
		case e.reads && o.asks():
			o.ReadWide(c, f)
			return nil, nil
		default:
			return f(st, worker)
		}
	})
}

// find searches and counts what that costs. It searches by a trained brain where that may
// be used.
func (o *Module) find(
	c *tenant.Call, st *storage.Store, parts []*partition.Ref, op *pb.Search, rd *searcher,
) (*pb.SearchResult, error) {
	if found, err := o.findByBrain(c, st, parts, op, rd); found != nil || err != nil {
		return found, err
	}
	q, err := o.lookup(c, st, parts, op.GetQuery(), searchModes[op.GetMode()], rd)
	if err != nil {
		return nil, err
	}
	if err := o.askForTime(st, parts, q, op.GetQuery()); err != nil {
		return nil, err
	}
	return o.findWith(c, st, parts, q, op, rd)
}

// lookup makes a query ready.
func (o *Module) lookup(
	c *tenant.Call, st *storage.Store, parts []*partition.Ref, query string, mode index.Mode, rd *searcher,
) (*training.Lookup, error) {
	span := o.System.Config.Tracer.Start(c.Trace(), tracing.StepQuery)
	defer span.End()
	q, err := training.NewLookup(c.Org, st, parts, query, mode, &rd.QueryEncoder, c.Awaited)
	span.FailedIf(err)
	return q, err
}

// findWith is find for a query that is ready.
func (o *Module) findWith(
	c *tenant.Call, st *storage.Store, parts []*partition.Ref, q *training.Lookup, op *pb.Search, rd *searcher,
) (*pb.SearchResult, error) {
	e, err := o.effort(c, st)
	if err != nil {
		return nil, err
	}
	found, err := o.SearchIn(c, st, parts, q, op, e, rd)
	if err != nil {
		return nil, err
	}
	c.ReadUnits += found.GetReadUnits()
	c.EmbedTokens += found.GetEmbedTokens()
	return found, nil
}

var searchModes = map[string]index.Mode{
	"": index.Hybrid, "hybrid": index.Hybrid, "vector": index.VectorOnly, "keyword": index.KeywordOnly,
}

// SearchIn ranks the chunks of some partitions as one index, and reads what the best of them show. It sets the number
// of candidates and the filter of q.
func (o *Module) SearchIn(
	c *tenant.Call, st *storage.Store, parts []*partition.Ref, q *training.Lookup, op *pb.Search, e Effort, rd *searcher,
) (*pb.SearchResult, error) {
	span := o.System.Config.Tracer.Start(c.Trace(), tracing.StepSearch)
	defer span.End()
	span.Int(tracing.AttributeMemories, len(parts))
	topK := int(op.GetTopK())
	if topK == 0 {
		topK = DefaultTopK
	}
	q.N = min(max(topK*e.perHit, e.least), index.MaxCandidates)
	if len(q.When.Windows) > 0 {
		q.N = max(q.N, timelyCandidates)
	}
	q.IncludeSuperseded = op.GetIncludeSuperseded() || op.GetFilters().GetAsOfMs() != 0
	q.Filter = o.filterOf(st, parts, op.GetFilters())
	defer rd.Scratch.Reset()
	best, err := o.rank(c, st, parts, q, op, topK, e, rd)
	if err != nil {
		return nil, err
	}
	result := &pb.SearchResult{EmbedTokens: uint64(q.Tokens)}
	if best.all != nil {
		result.Explained = best.all.result()
	}
	p := rd.page(st)
	// A request for replaced versions wants them side by side; one for words or vectors alone wants that ranking as it is.
	p.plain = op.GetIncludeSuperseded() || q.Mode != index.Hybrid
	defer p.done()
	if err := p.fill(parts, best, topK, q.Query); err != nil {
		return nil, err
	}
	asOf := op.GetFilters().GetAsOfMs()
	if err := p.markStale(st, parts, asOf); err != nil {
		return nil, err
	}
	if err := p.currentFirst(asOf); err != nil {
		return nil, err
	}
	for _, i := range p.arrange(topK) {
		result.Hits = append(result.Hits, p.found[i].hit)
	}
	result.ReadUnits = tenant.UnitsOf(len(result.Hits))
	span.Int(tracing.AttributeHits, len(result.Hits))
	return result, nil
}

// ranking is what a search has ranked. It is the worker's until its next search.
type ranking struct {
	hits       []index.Hit // the best topK
	candidates []index.Candidate
	exact      [][]float32 // vectors of the first candidates
	all        *compared   // nil: nobody asked for why
}

// rank gives the best topK nodes. The best candidates may all be chunks of a few
// long documents; then more of them are looked at, until there are topK nodes or
// no more chunks. Where the best are read, more than topK are, and it is decided then.
func (o *Module) rank(
	c *tenant.Call, st *storage.Store, parts []*partition.Ref, q *training.Lookup, op *pb.Search, topK int, e Effort,
	rd *searcher,
) (*ranking, error) {
	leading, reads := topK, o.rereads(e, q, op.GetQuery(), rd)
	if reads {
		leading = max(topK, MaxReread)
	}
	for {
		candidates := rd.Scratch.Candidates(q.Snapshots, q.Query)
		exact, err := e.exactVectors(st, parts, candidates, q.Query, topK, &rd.Vectors)
		if err != nil {
			return nil, err
		}
		hits := index.Fuse(candidates, exact, q.Query, leading)
		if len(hits) < topK && len(candidates) >= q.N && q.N < index.MaxCandidates {
			q.N = min(q.N*widening, index.MaxCandidates)
			continue
		}
		if reads {
			leads := hits[:min(len(hits), MaxReread)]
			if err := o.reread(c, st, parts, op.GetQuery(), leads, candidates, q.Query, rd); err != nil {
				return nil, err
			}
			hits = index.Fuse(candidates, exact, q.Query, topK)
		}
		best := &ranking{hits: hits, candidates: candidates, exact: exact}
		if op.GetExplain() {
			index.Sharpen(candidates, exact, q.Query) // to the scores of the hits
			best.all = compare(parts, candidates, q.Query)
		}
		return best, nil
	}
}

// exactVectors reads the stored vectors of the candidates that are to be ranked by
// them, each at its candidate's place. They are valid until from reads the next.
func (e Effort) exactVectors(
	st *storage.Store, parts []*partition.Ref, candidates []index.Candidate, q *index.Query, topK int,
	from *partition.VectorReader,
) ([][]float32, error) {
	most := min(e.exact*max(topK, DefaultTopK), len(candidates))
	if q.Mode == index.KeywordOnly || most == 0 {
		return nil, nil
	}
	exact := from.Reset(most)
	read := func(i int) (err error) {
		c := &candidates[i]
		exact[i], err = from.Read(st, parts[c.Part], string(c.Model), c.Seq)
		return err
	}
	if e.open {
		for _, i := range index.Open(candidates, q, topK) {
			if i >= most {
				break
			}
			if err := read(i); err != nil {
				return nil, err
			}
		}
		return exact, nil
	}
	for i := range exact {
		if err := read(i); err != nil {
			return nil, err
		}
	}
	return exact, nil
}

// filterOf turns a request's filters into the index's.
func (o *Module) filterOf(st *storage.Store, parts []*partition.Ref, f *pb.Filters) index.Filter {
	var out index.Filter
	if f == nil {
		return out
	}
	if f.GetKind() != "" {
		out.Kinds = []string{f.GetKind()}
	}
	if f.GetCreatedAfterMs() != 0 || f.GetCreatedBeforeMs() != 0 {
		out.Created = &index.Window{FromMs: f.GetCreatedAfterMs(), UntilMs: f.GetCreatedBeforeMs()}
		if out.Created.UntilMs == 0 {
			out.Created.UntilMs = 1<<63 - 1
		}
	}
	for key, value := range f.GetMetadata() {
		if canonical, ok := index.Scalar([]byte(value)); ok {
			out.Attrs = append(out.Attrs, index.AttrHash(key, canonical))
		}
	}
	if f.GetDomain() != "" || f.GetAsOfMs() != 0 {
		// A node's domain changes without the node, and so does until when it held; the
		// record knows it.
		out.Node = func(part int, id pb.NodeID) bool {
			n := &pb.Node{}
			found, err := st.Get(parts[part].Space.Key(storage.TableNode, storage.Str(id)), n)
			return err == nil && found && (f.GetDomain() == "" || n.GetDomain() == f.GetDomain()) &&
				temporal.HeldAt(n, f.GetAsOfMs())
		}
	}
	return out
}

// readHit reads what a hit shows, with its node and chunk; nil when it was erased since
// the snapshot.
func readHit(r storage.Reader, part *partition.Ref, h index.Hit) (*shown, error) {
	x := &shown{part: part, chunk: &pb.Chunk{}, node: &pb.Node{}}
	found, err := r.Get(part.Space.Key(storage.TableChunk, storage.U64(h.Seq)), x.chunk)
	if err != nil || !found {
		return nil, err
	}
	found, err = r.Get(part.Space.Key(storage.TableNode, storage.Str(h.Node)), x.node)
	if err != nil || !found {
		return nil, err
	}
	x.hit = hitOf(part, x.node, x.chunk)
	x.hit.Score, x.hit.Vector, x.hit.Keyword = float64(h.Score), float64(h.Vector), float64(h.Keyword)
	return x, nil
}

// hitOf is what a hit shows of a passage, but its scores.
func hitOf(part *partition.Ref, node *pb.Node, chunk *pb.Chunk) *pb.Hit {
	hit := &pb.Hit{
		Chunk: chunk.GetText(), Node: node.GetId(), Title: node.GetTitle(),
		ChunkId: fmt.Sprintf("%s:%d", node.GetId(), chunk.GetOrdinal()), Subject: string(part.Subject),
		CreatedMs: node.GetCreatedMs(),
	}
	if ids := node.GetSource().GetExternalIds(); len(ids) > 0 {
		hit.ExternalId = ids[0]
	}
	return hit
}
