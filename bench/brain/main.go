// Command brain measures the retriever outside the service: what it gains over
// search on a set of questions, and what each of its parts is worth.
//
//	go run ./bench/brain -set FOLDER [-cache FOLDER] [-only full,no-entities] [-seeds 3]
//
// FOLDER holds corpus.jsonl(.gz) with lines of {id, title, text} and, in a
// conversation, {speaker, timestamp}, queries.jsonl(.gz) with lines of {id, text,
// category} and qrels.tsv (query, document, grade). All documents are one memory, in
// their order; the graph is read out of them as ingestion and a cycle
// do, without a store. Vectors are kept under -cache, since they take most of the
// time. A set of more passages than -passages is cut to so many, a smaller one is
// repeated under other names until it has them.
package main

import (
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"orgmem/brain/retriever"
)

func main() {
	var o options
	flag.StringVar(&o.set, "set", "", "folder of the set")
	flag.StringVar(&o.cache, "cache", "", "folder for vectors; empty: none are kept")
	only := flag.String("only", "", "comma list of variants; empty: all")
	flag.IntVar(&o.seeds, "seeds", 1, "trainings of each variant, each with questions of its own")
	flag.IntVar(&o.passages, "passages", 0, "passages that the memory is brought to; 0: the set's")
	kinds := flag.Bool("kinds", false, "print the figures of each category")
	flag.Parse()
	m, err := load(o)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %d documents, %d passages, %d entities, %d ties, %d domains, %d questions\n", o.set,
		len(m.source.Documents), len(m.vectors), len(m.source.Entities), len(m.source.Ties), len(m.source.Domains),
		len(m.questions))
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer func() { _ = out.Flush() }()
	_, _ = fmt.Fprintln(out, "variant\trecall@5\t±\tMRR@10\tnDCG@10\tjudges: recall@10\tMRR\ttraining\tmedian walk")
	for _, v := range variants {
		if *only != "" && !slices.Contains(strings.Split(*only, ","), v.name) {
			continue
		}
		var r5 []float64
		var sum result
		for seed := range o.seeds {
			r := m.run(v, uint64(seed+1))
			r5 = append(r5, r.recall5)
			sum.add(r, 1/float64(o.seeds))
		}
		_, _ = fmt.Fprintf(out, "%s\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%s\t%s\n", v.name, sum.recall5, spread(r5), sum.mrr,
			sum.ndcg, sum.judges.Recall, sum.judges.Reciprocal,
			sum.training.Round(100*time.Millisecond), sum.walk.Round(100*time.Microsecond))
		_ = out.Flush()
		fmt.Print(sum.paired())
		if v.rank == nil && !v.plain {
			fmt.Print(sum.projection)
		}
		if *kinds {
			for _, k := range sum.kinds {
				fmt.Printf("    %s: %.3f of %d\n", k.name, k.recall/float64(k.n), k.n)
			}
		}
		if sum.calibration != "" {
			fmt.Print(sum.calibration)
		}
	}
}

// options are the command line's.
type options struct {
	set, cache      string
	seeds, passages int
}

// spread is the standard deviation of some figures.
func spread(x []float64) float64 {
	if len(x) < 2 {
		return 0
	}
	mean, sum := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sum += (v - mean) * (v - mean)
	}
	return math.Sqrt(sum / float64(len(x)-1))
}

// variant is the retriever without one of its parts.
type variant struct {
	name string
	// source takes something out of the memory, graph out of the graph made of it.
	source func(*retriever.Source)
	graph  func(*retriever.Graph) *retriever.Graph
	// rank puts something in the place of the walk; nil: a walk with what was learned.
	rank func(q *asked) []int32
	// untrained takes the parameters from before the training.
	untrained bool
	// gate is where the gate stands instead of where it puts itself: far open or shut;
	// 0: there.
	gate float64
	// plain learns no projection of the question.
	plain bool
}

func without(cut ...retriever.Part) func(*retriever.Graph) *retriever.Graph {
	return func(g *retriever.Graph) *retriever.Graph { return g.Without(cut...) }
}

func noTies(kind retriever.TieKind) func(*retriever.Source) {
	return func(s *retriever.Source) {
		s.Ties = slices.DeleteFunc(s.Ties, func(t retriever.Tie) bool { return t.Kind == kind })
	}
}

var variants = []variant{
	{name: "cosine", rank: (*asked).byCosine},
	{name: "search", rank: (*asked).bySearch},
	{name: "full"},
	{name: "untrained", untrained: true},
	{name: "no-gate", gate: 100},
	{name: "shut", gate: -100},
	{name: "no-entities", source: func(s *retriever.Source) { s.Entities = nil }},
	{name: "no-titles", source: func(s *retriever.Source) {
		for i := range s.Documents {
			s.Documents[i].Title = ""
		}
	}},
	{name: "no-names", graph: without(retriever.PartNames)},
	{name: "no-subjects", graph: without(retriever.PartSubjects)},
	{name: "no-projection", plain: true},
	{name: "no-sentences", graph: without(retriever.PartSentences)},
	{name: "no-domains", graph: without(retriever.PartDomains)},
	{name: "no-similar", source: noTies(retriever.TieSimilar)},
	{name: "no-sequence", source: noTies(retriever.TieSequence)},
	{name: "no-stated", source: noTies(retriever.TieStated)},
	{name: "no-graph", graph: without(retriever.PartNames, retriever.PartSubjects), source: func(s *retriever.Source) {
		s.Entities, s.Ties, s.Domains = nil, nil, nil
	}},
}

func exitOn(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
