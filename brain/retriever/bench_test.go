package retriever

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	pb "orgmem/proto"
)

// library is made-up text in which names are as common as in an encyclopedia: half of
// them stand in one passage, some in hundreds. Of each passage one document; one name
// in three that it holds is the title of another, each is tied to five others.
func library(passages int) *Source {
	r := rand.New(rand.NewPCG(7, 8))
	syllables := []string{"ka", "lo", "mi", "ne", "ru", "ta", "vo", "shi", "dor", "bel", "gan", "wick"}
	coin := func(n int) string { // a name for each number
		var b strings.Builder
		for range 5 {
			b.WriteString(syllables[n%len(syllables)])
			n /= len(syllables)
		}
		return strings.ToUpper(b.String()[:1]) + b.String()[1:]
	}
	titles := rand.NewZipf(r, 1.2, 8, uint64(passages-1))
	others := rand.NewZipf(r, 1.2, 8, uint64(4*passages-1))
	src := &Source{}
	for i := range passages {
		var b strings.Builder
		for range 5 {
			name := coin(passages + int(others.Uint64()))
			if r.IntN(3) == 0 {
				name = coin(int(titles.Uint64()))
			}
			fmt.Fprintf(&b, "It was near %s that word%d came upon word%d and word%d. ", name, r.IntN(5000), r.IntN(5000), r.IntN(50))
		}
		src.Documents = append(src.Documents, Document{ID: pb.NodeID(fmt.Sprint("d", i)), Title: coin(i), Passages: []string{b.String()}})
		for range 5 {
			src.Ties = append(src.Ties, Tie{From: pb.NodeID(fmt.Sprint("d", i)), To: pb.NodeID(fmt.Sprint("d", r.IntN(passages))), Kind: TieSimilar, Weight: 0.5})
		}
	}
	for i := range 4 * passages {
		src.Entities = append(src.Entities, Entity{ID: pb.NodeID(fmt.Sprint("e", i)), Names: []string{coin(passages + i)}})
	}
	return src
}

// BenchmarkForward walks from questions that name two concepts and a hundred seeds,
// with the budget of the service (actors/brain_net.go). What scores cost is not in it.
func BenchmarkForward(b *testing.B) {
	for _, passages := range []int{6_000, 100_000} {
		src := library(passages)
		g := NewGraph(src, testSalt)
		examples := g.Examples(src, testSalt, 256, 1)
		r := rand.New(rand.NewPCG(3, 4))
		var all []Question
		scored := 0
		for _, e := range examples {
			q := Question{Text: e.Text, Budget: 20_000, Score: func(ps []int32) []Seed {
				scored += len(ps)
				out := make([]Seed, len(ps))
				for i, p := range ps {
					out[i] = Seed{Passage: p, Cosine: 0.2, Score: 0.2}
				}
				return out
			}}
			for i := range 100 {
				q.Seeds = append(q.Seeds, Seed{Passage: int32(r.IntN(passages)), Cosine: 0.6 - 0.004*float32(i), Score: 0.9 - 0.006*float32(i)})
			}
			q.Seeds[0].Passage = e.Answers[0]
			seen := map[int32]bool{}
			q.Seeds = slices.DeleteFunc(q.Seeds, func(s Seed) bool { was := seen[s.Passage]; seen[s.Passage] = true; return was })
			all = append(all, q)
		}
		b.Run(fmt.Sprint(passages), func(b *testing.B) {
			w, p := NewWalk(g, testSalt), Prior()
			steps, n := 0, 0
			scored = 0
			for b.Loop() {
				w.Forward(&p, &all[n%len(all)])
				w.Passages(110)
				steps += len(w.moves)
				n++
			}
			b.ReportMetric(float64(steps)/float64(n), "steps/op")
			b.ReportMetric(float64(scored)/float64(n), "scored/op")
			b.ReportMetric(float64(g.Size().Edges), "edges")
		})
	}
}
