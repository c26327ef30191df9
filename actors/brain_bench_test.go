package actors

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"orgmem/actors/account"
	"orgmem/actors/commit"
	"orgmem/actors/graph"
	"orgmem/actors/partition"
	"orgmem/actors/search"
	"orgmem/actors/tenant"
	"orgmem/actors/training"
	"orgmem/brain/index"
	"orgmem/brain/retriever"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// BenchmarkWalks walks as a query to the brain does, with the service's budget, over
// memories of 6,000 and 100,000 passages, and reads what it needs to score a passage,
// its node and its vector, from a store of which the cache holds a part, and as one
// whose projected questions count looks for what is near to these. What comes before,
// the search for the seeds, is not in it. Each question is asked once. Run it with
// -benchtime 1x.
func BenchmarkWalks(b *testing.B) {
	for _, passages := range []int{6_000, 100_000} {
		for _, projected := range []bool{false, true} {
			walks(b, passages, projected)
		}
	}
}

func walks(b *testing.B, passages int, projected bool) {
	name := fmt.Sprint(passages)
	if projected {
		name += "-projected"
	}
	b.Run(name, func(b *testing.B) {
		// the service's own
		n := startNode(b, storagetest.NewDisk(), func(_ *tenant.Config, o *storage.Options) { o.CacheBytes = 64 << 20 })
		c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
		c.ok(find("nothing")) // the member is known
		c.inOrg(func(o *tenant.Org) { walksFrom(b, o, memberOf(b, o, onlyMember(b, o)), passages, projected) })
	})
}

const (
	walkQuestions = 300
	walkDim       = 384
)

func walksFrom(b *testing.B, o *tenant.Org, part *partition.Ref, passages int, projected bool) {
	rnd := rand.New(rand.NewPCG(uint64(passages), 2))
	vector := func() []float32 {
		v, length := make([]float32, walkDim), 0.0
		for i := range v {
			x := rnd.NormFloat64()
			v[i], length = float32(x), length+x*x
		}
		for i := range v {
			v[i] /= float32(math.Sqrt(length))
		}
		return v
	}
	src := named(rnd, part, passages)
	ch := commit.New(o.Store)
	built := index.NewBuilder("words", walkDim)
	for i, d := range src.Documents {
		seq := uint64(i + 1)
		graph.PutNode(ch.Batch, part.Space, graph.NodePlace{}, &pb.Node{
			Id: string(d.ID), Kind: "document", Title: d.Title,
			Status: pb.StatusLive, Source: &pb.Source{Type: "ingest", ExternalIds: []string{fmt.Sprint(i)}},
			CreatedMs: int64(seq), Chunks: []uint64{seq},
		})
		v := vector()
		partition.PutVector(ch.Batch, part, "words", seq, v)
		if err := built.Add(index.Entry{Seq: seq, Node: index.Node{ID: d.ID, Kind: "document"}, Vector: v}); err != nil {
			b.Fatal(err)
		}
		if ch.Bytes() > 4<<20 || i == passages-1 {
			if err := o.Committer.CommitChange(ch); err != nil {
				b.Fatal(err)
			}
			ch = commit.New(o.Store)
		}
	}
	salt := tenant.ModuleOf[*training.Module](&o.View).BrainSalt()
	net := &training.Brain{Params: retriever.Prior(), Graph: retriever.NewGraph(src, salt)}
	for i := range passages {
		net.Chunks = append(net.Chunks, training.ChunkID{Part: part.ID, Seq: uint64(i + 1)})
	}
	seg, err := built.Build()
	if err != nil {
		b.Fatal(err)
	}
	snapshots := []*index.Snapshot{(&index.Snapshot{}).With(0, seg)}
	if projected {
		numbers := make([]float32, 16*walkDim)
		for i := range numbers {
			numbers[i] = float32(rnd.NormFloat64()) / 20
		}
		net.Params.Further = [2]float64{1, 1}
		if net.Project, err = retriever.ProjectionFrom(&pb.BrainProjection{
			Model: "words", Dim: walkDim,
			Numbers: numbers,
		}); err != nil {
			b.Fatal(err)
		}
	}
	examples := net.Graph.Examples(src, salt, walkQuestions, 1)
	var scratch index.Scratch
	err = o.WithStore(func(st *storage.Store) error {
		for range b.N {
			w := retriever.NewWalk(net.Graph, salt)
			took, scored := make([]time.Duration, 0, len(examples)), 0
			spent := time.Duration(0)
			for _, e := range examples {
				a := &training.BrainQuery{
					Org: &o.View, Store: st, Parts: []*partition.Ref{part}, KnownScores: map[training.ChunkID]retriever.Seed{},
					Chunks: map[pb.NodeID][]uint64{}, Live: map[pb.NodeID]bool{},
					Lookup: &training.Lookup{Query: &index.Query{
						Vectors: map[index.ModelID][]float32{"words": vector()},
						Config:  index.DefaultConfig(),
					}, Snapshots: snapshots},
				}
				a.PassageOf = func(at training.ChunkID) int32 { return int32(at.Seq - 1) }
				a.Further = a.Widen(net.Project, &scratch)
				a.ChunkOf = func(p int32) training.ChunkID { return net.Chunks[p] }
				a.DocumentOf = func(p int32) pb.NodeID { return net.Graph.Documents()[net.Graph.Document(p)] }
				a.Text, a.Budget, a.Score, a.Here, a.Lives = e.Text, search.WalkBudget, a.ScoreAll, a.IsHere, a.IsAlive
				for i := range training.MaxSeeds {
					s := retriever.Seed{
						Passage: int32(rnd.IntN(passages)), Cosine: 0.6 - 0.004*float32(i),
						Score: 0.9 - 0.006*float32(i),
					}
					if i == 0 {
						s.Passage = e.Answers[0]
					}
					if at := a.ChunkOf(s.Passage); a.KnownScores[at] == (retriever.Seed{}) {
						a.KnownScores[at] = s
						a.Seeds = append(a.Seeds, s)
					}
				}
				before := len(a.KnownScores)
				began, used := time.Now(), cpu(b)
				w.Forward(&net.Params, &a.Question)
				w.Passages(search.DefaultTopK + training.MaxSeeds)
				took, spent = append(took, time.Since(began)), spent+cpu(b)-used
				if a.Err != nil {
					return a.Err
				}
				scored += len(a.KnownScores) - before
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "median-ms")
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
			b.ReportMetric(float64(spent.Microseconds())/1000/float64(len(took)), "mean-CPU-ms")
			b.ReportMetric(float64(scored)/float64(len(took)), "read/walk")
			b.ReportMetric(0, "ns/op")
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

// named is made-up text in which names are as common as in an encyclopedia, a titled
// document for each passage: half of the names stand in one passage, some in hundreds;
// one in three that a passage holds is the title of another. Each document is tied to
// five others, and every fiftieth is of one domain.
func named(rnd *rand.Rand, part *partition.Ref, passages int) *retriever.Source {
	syllables := []string{"ka", "lo", "mi", "ne", "ru", "ta", "vo", "shi", "dor", "bel", "gan", "wick"}
	coin := func(n int) string { // a name for each number
		var s strings.Builder
		for range 5 {
			s.WriteString(syllables[n%len(syllables)])
			n /= len(syllables)
		}
		return strings.ToUpper(s.String()[:1]) + s.String()[1:]
	}
	titles, others := rand.NewZipf(rnd, 1.2, 8, uint64(passages-1)), rand.NewZipf(rnd, 1.2, 8, uint64(4*passages-1))
	src := &retriever.Source{Domains: make([]retriever.Domain, passages/50)}
	for i := range passages {
		var s strings.Builder
		for range 5 {
			name := coin(passages + int(others.Uint64()))
			if rnd.IntN(3) == 0 {
				name = coin(int(titles.Uint64()))
			}
			fmt.Fprintf(&s, "It was near %s that word%d came upon word%d and word%d. ", name, rnd.IntN(5000), rnd.IntN(5000),
				rnd.IntN(50))
		}
		d := retriever.Document{ID: part.NodeFor(s.String()), Title: coin(i), Passages: []string{s.String()}}
		src.Documents = append(src.Documents, d)
		src.Domains[i%len(src.Domains)] = append(src.Domains[i%len(src.Domains)], d.ID)
	}
	for i := range passages {
		for range 5 {
			src.Ties = append(src.Ties, retriever.Tie{
				From: src.Documents[i].ID, To: src.Documents[rnd.IntN(passages)].ID,
				Kind: retriever.TieSimilar, Weight: 0.5,
			})
		}
	}
	for i := range 4 * passages {
		src.Entities = append(src.Entities, retriever.Entity{
			ID:    part.NodeFor(fmt.Sprint("entity", i)),
			Names: []string{coin(passages + i)},
		})
	}
	return src
}
