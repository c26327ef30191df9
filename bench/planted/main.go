// Command planted plants contradictions among sentences that have nothing to do with
// them and says, by kind, how many are found, and what is reported beside them.
//
//	go run ./bench/planted -background CORPUS.jsonl.gz,CORPUS2.jsonl.gz [-pairs FILE:60,FILE2:60] [-missed]
//
// Background files hold lines of {text} (or {tokens}); their sentences are drawn in
// equal parts. Planted are the pairs of pairs.jsonl in this folder, which were written
// for it, sixteen of each kind of contradiction and thirty that look like one and are
// none; and where files are named, the first so many pairs of each, lines of {a, b,
// label}, that are labelled a contradiction. Of pairs.jsonl every other pair is of half
// "a", which the rules may be fitted to, and of half "b", which they may not.
//
// Each sentence is a passage of its own. It is compared with its nearest neighbours by
// vector, as a cycle of the service does; what the cycle finds by the words of a fact
// it misses. With -reader, what the rules leave open is put to that model. The result depends on the files and -seed
// only.
package main

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"log"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"orgmem/bench/internal/data"
	"orgmem/brain/claim"
	"orgmem/brain/conflict"
	"orgmem/brain/embed"
	"orgmem/brain/reader"
	"orgmem/brain/text"
)

// leastBytes and mostBytes are what a sentence of the background may have: shorter
// ones state nothing, longer ones are tables.
const leastBytes, mostBytes = 30, 400

//go:embed pairs.jsonl
var written string

// plant is a pair of sentences, by their places.
type plant struct {
	kind string // of contradiction; "none"; or the file that it comes from
	half string
	a, b int
}

// field is what is planted, and what it stands in.
type field struct {
	sentences []string
	known     map[string]bool
	plants    []plant
	grown     int // sentences of the background, which come first
}

func main() {
	background := flag.String("background", "", "comma list of files of texts that contradict nothing")
	pairs := flag.String("pairs", "", "comma list of FILE:COUNT of labelled pairs")
	count := flag.Int("n", 10_000, "sentences of the background")
	seed := flag.String("seed", "1", "which sentences and pairs are drawn")
	missed := flag.Bool("missed", false, "print what is missed and what is reported beside")
	pack := flag.String("reader", "", "pack of a reader that is asked, too")
	read := flag.Int("read", 0, "how many candidates it is asked about; 0: as many as a cycle does")
	flag.Parse()
	f := &field{known: map[string]bool{}}
	if err := f.grow(strings.Split(*background, ","), *count, *seed); err != nil {
		log.Fatal(err)
	}
	if err := f.plant(*pairs, *seed); err != nil {
		log.Fatal(err)
	}
	model, err := embed.Load(nil)
	if err != nil {
		log.Fatal(err)
	}
	near := f.neighbours(model)
	found, candidates := f.compare(near)
	if *pack != "" {
		if err := f.read(model, *pack, *read, candidates, found); err != nil {
			log.Fatal(err)
		}
	}
	f.report(near, found, *missed)
}

// grow draws sentences of the background.
func (f *field) grow(files []string, count int, seed string) error {
	for _, file := range files {
		var all []string
		err := data.Lines(file, func(line []byte) error {
			var doc struct {
				Text   string
				Tokens []string
			}
			if err := json.Unmarshal(line, &doc); err != nil {
				return err
			}
			t := cmp.Or(doc.Text, strings.Join(doc.Tokens, " "))
			for sp := range text.Sentences(t) {
				s := strings.TrimSpace(t[sp.Start:sp.End])
				if len(s) > leastBytes && len(s) < mostBytes && !f.known[s] {
					f.known[s] = true
					all = append(all, s)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		shuffle(all, seed, func(s string) string { return s })
		f.sentences = append(f.sentences, all[:min(len(all), count/len(files))]...)
	}
	f.grown = len(f.sentences)
	return nil
}

// plant adds the written pairs, and some of each file.
func (f *field) plant(files, seed string) error {
	for line := range strings.Lines(written) {
		var p struct{ Kind, Half, A, B string }
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			return err
		}
		f.add(p.Kind, p.Half, p.A, p.B)
	}
	for one := range strings.SplitSeq(files, ",") {
		if one == "" {
			continue
		}
		file, number, _ := strings.Cut(one, ":")
		left, err := strconv.Atoi(number)
		if err != nil {
			return fmt.Errorf("%s: %w", one, err)
		}
		type pair struct{ A, B, Label string }
		var all []pair
		err = data.Lines(file, func(line []byte) error {
			var p pair
			if err := json.Unmarshal(line, &p); err != nil {
				return err
			}
			if strings.EqualFold(p.Label, "contradiction") {
				all = append(all, p)
			}
			return nil
		})
		if err != nil {
			return err
		}
		shuffle(all, seed, func(p pair) string { return p.A + p.B })
		for _, p := range all {
			if left > 0 && !f.known[p.A] && !f.known[p.B] {
				f.add(filepath.Base(filepath.Dir(file)), "", p.A, p.B)
				left--
			}
		}
	}
	return nil
}

// add plants a pair. One sentence may stand in two.
func (f *field) add(kind, half, a, b string) {
	place := func(s string) int {
		if f.known[s] {
			return slices.Index(f.sentences, s)
		}
		f.known[s] = true
		f.sentences = append(f.sentences, s)
		return len(f.sentences) - 1
	}
	f.plants = append(f.plants, plant{kind, half, place(a), place(b)})
}

func shuffle[T any](all []T, seed string, of func(T) string) {
	slices.SortFunc(all, func(a, b T) int { return cmp.Compare(hash(of(a)+seed), hash(of(b)+seed)) })
}

// hash is FNV-1a with the finalizer of MurmurHash3: FNV alone keeps the order of
// strings that differ in their last byte only.
func hash(s string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, s)
	x := h.Sum64()
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	return x ^ x>>33
}

// neighbour is a sentence by its place.
type neighbour struct {
	at     int32
	cosine float32
}

// neighbours gives for each sentence the nearest others, the nearest first.
func (f *field) neighbours(model *embed.Model) [][]neighbour {
	encoder, vectors := model.NewEncoder(), make([][]float32, len(f.sentences))
	order := make([]int, len(f.sentences)) // by length: a batch costs what its longest does
	for i := range order {
		order[i] = i
		vectors[i] = make([]float32, model.Dim())
	}
	slices.SortFunc(order, func(a, b int) int { return len(f.sentences[a]) - len(f.sentences[b]) })
	for batch := range slices.Chunk(order, 32) {
		var texts []string
		var into [][]float32
		for _, i := range batch {
			texts, into = append(texts, f.sentences[i]), append(into, vectors[i])
		}
		encoder.Passages(into, texts)
	}
	near := make([][]neighbour, len(vectors))
	for i, a := range vectors {
		var best []neighbour
		for k, b := range vectors {
			c := data.Dot(a, b)
			if k == i || len(best) == conflict.Neighbours && c <= best[len(best)-1].cosine {
				continue
			}
			at, _ := slices.BinarySearchFunc(best, c, func(n neighbour, c float32) int { return cmp.Compare(c, n.cosine) })
			best = slices.Insert(best, at, neighbour{int32(k), c})
			best = best[:min(len(best), conflict.Neighbours)]
		}
		near[i] = best
	}
	return near
}

// candidate is a pair of sentences for a reader.
type candidate struct {
	conflict.Candidate

	pair [2]int
}

// read asks a reader about the candidates that promise most, and adds what it finds.
func (f *field) read(
	model *embed.Model, file string, most int, candidates []candidate, found map[[2]int]conflict.Finding,
) error {
	r, err := data.Reader(file, model)
	if err != nil {
		return err
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return cmp.Compare(b.Promise, a.Promise) })
	if most == 0 {
		most = conflict.MostRead(len(f.sentences))
	}
	clear(found) // what the rules find is among the candidates
	read := candidates[:min(len(candidates), most)]
	var pairs []reader.Pair
	for _, c := range read {
		pairs = append(pairs, reader.Pair{A: reader.InNote(c.LeadA, c.TextA), B: reader.InNote(c.LeadB, c.TextB)})
	}
	for i, v := range r.NewWorker().Read(nil, pairs) {
		if g, ok := read[i].Decide(v.Contradict); ok {
			found[read[i].pair] = g
		}
	}
	for _, c := range candidates[len(read):] {
		if g, ok := c.Unread(); ok {
			found[c.pair] = g
		}
	}
	fmt.Printf("read %d candidates\n", len(pairs))
	return nil
}

// compare sets each sentence against its neighbours: what the rules find, and what is left for a reader.
func (f *field) compare(near [][]neighbour) (found map[[2]int]conflict.Finding, candidates []candidate) {
	var claims claim.Reader
	passages := make([]*conflict.Passage, len(f.sentences))
	for i, s := range f.sentences {
		passages[i] = &conflict.Passage{Text: s, Claims: claim.Stated(claims.Read(claim.Source{Text: s}))}
	}
	var judge conflict.Judge
	found = map[[2]int]conflict.Finding{}
	seen, several := map[[2]int]bool{}, []conflict.Candidate{}
	for i := range near {
		var cosines []float64
		for _, n := range near[i] {
			cosines = append(cosines, float64(n.cosine))
		}
		clear := conflict.Clearance(cosines)
		for k, n := range near[i] {
			at := conflict.Near{Cosine: cosines[k], Rank: k + 1, Of: len(f.sentences), Clear: clear[k]}
			pair := [2]int{min(i, int(n.at)), max(i, int(n.at))}
			if g, ok := judge.Compare(passages[i], passages[n.at], at); ok && g.Severity > found[pair].Severity {
				found[pair] = g
			}
			if !seen[pair] {
				several = judge.Candidates(several[:0], passages[i], passages[n.at], at)
				for _, c := range several {
					candidates = append(candidates, candidate{c, pair})
				}
			}
			seen[pair] = true
		}
	}
	return found, candidates
}

// report prints what was found of each kind, and how much of all that is reported is
// right.
func (f *field) report(near [][]neighbour, found map[[2]int]conflict.Finding, missed bool) {
	type tally struct{ planted, compared, found, a, b, ofA, ofB int }
	tallies, planted := map[string]*tally{}, map[[2]int]bool{}
	var kinds []string
	right := 0
	for _, p := range f.plants {
		t := tallies[p.kind]
		if t == nil {
			t = &tally{}
			tallies[p.kind] = t
			kinds = append(kinds, p.kind)
		}
		pair := [2]int{min(p.a, p.b), max(p.a, p.b)}
		g, hit := found[pair]
		planted[pair] = planted[pair] || p.kind != "none"
		t.planted++
		if slices.ContainsFunc(near[p.a], func(n neighbour) bool { return int(n.at) == p.b }) ||
			slices.ContainsFunc(near[p.b], func(n neighbour) bool { return int(n.at) == p.a }) {
			t.compared++
		}
		switch p.half {
		case "a":
			t.ofA++
		case "b":
			t.ofB++
		}
		if hit {
			t.found++
			switch p.half {
			case "a":
				t.a++
			case "b":
				t.b++
			}
			if p.kind != "none" {
				right++
			}
		}
		if missed && hit == (p.kind == "none") {
			fmt.Printf("%s %s %s\n\t%s\n\t%s\n", map[bool]string{true: "wrong", false: "missed"}[hit], p.kind, g.Kind,
				f.sentences[p.a], f.sentences[p.b])
		}
	}
	beside, among := 0, 0
	for pair, g := range found {
		switch {
		case planted[pair]:
		case pair[1] < f.grown:
			beside++
		default:
			among++ // of what was planted with another pair or with the background
		}
		if missed && !planted[pair] {
			fmt.Printf("beside %s %.2f\n\t%s\n\t%s\n", g.Kind, g.Severity, f.sentences[pair[0]], f.sentences[pair[1]])
		}
	}
	for _, kind := range kinds {
		t := tallies[kind]
		fmt.Printf("%-14s planted %3d, compared %3d, reported %3d", kind, t.planted, t.compared, t.found)
		if t.ofA > 0 {
			fmt.Printf(" (half a %d of %d, half b %d of %d)", t.a, t.ofA, t.b, t.ofB)
		}
		fmt.Println()
	}
	positives := len(f.plants) - tallies["none"].planted
	fmt.Printf("in %d sentences: recall %.3f of %d, precision %.3f; wrong are %d of the background, %d of pairs that "+
		"only look like one\n",
		f.grown, float64(right)/float64(positives), positives, float64(right)/float64(max(1, right+beside+among)),
		beside, among)
}
