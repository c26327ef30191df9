package main

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"orgmem/bench/internal/data"
	"orgmem/brain/community"
	"orgmem/brain/conflict"
	"orgmem/brain/embed"
	"orgmem/brain/extract"
	"orgmem/brain/extract/resolve"
	"orgmem/brain/index"
	"orgmem/brain/retriever"
	"orgmem/brain/text"
	pb "orgmem/proto"
)

const (
	// Those of a cycle (actors/cognition/compare.go).
	maxSimilar   = 5
	leastSimilar = 0.42
	// titleRunes is how much of an untitled text is its title.
	titleRunes = 80
	// brainCandidates, training.MaxSeeds and search.WalkBudget are those of the service.
	brainCandidates = 400
	brainSeeds      = 100
	walkBudget      = 20_000
	workers         = 2
)

// salt keys the hashes: any will do.
var salt = retriever.Salt{1}

// memory is a set taken in.
type memory struct {
	source    retriever.Source
	mentions  []mention
	nodes     []index.Node // of each document
	vectors   [][]float32  // of each passage
	docOf     []int32
	id        map[pb.NodeID]bool
	snapshot  *index.Snapshot
	encoder   *embed.Model
	line      index.Line
	questions []question
	cache     string
}

// mention says that a document names an entity, both by their place in the source.
type mention struct {
	document, entity int32
	confidence       float32
}

type question struct {
	id, text, kind string
	grades         map[pb.NodeID]float64
}

// texts are what is embedded of a memory's passages.
type texts struct {
	all   []string
	terms []text.Passage
}

func load(o options) (*memory, error) {
	model, err := embed.Load(nil)
	if err != nil {
		return nil, err
	}
	m := &memory{encoder: model, cache: o.cache, id: map[pb.NodeID]bool{}}
	m.line.Factor, m.line.Offset = model.CosineLine()
	var in texts
	var analyzer text.Analyzer
	grow := func(round int) error {
		return data.Lines(filepath.Join(o.set, "corpus.jsonl"), func(line []byte) error {
			var d document
			if err := json.Unmarshal(line, &d); err != nil || o.passages > 0 && len(m.docOf) >= o.passages {
				return err
			}
			if round > 0 { // the same again, under names of its own
				d.ID = fmt.Sprintf("%s again %d", d.ID, round)
			}
			return m.take(&in, &analyzer, d, model.CountTokens)
		})
	}
	for round := 0; round == 0 || len(m.docOf) < o.passages; round++ {
		if err := grow(round); err != nil {
			return nil, err
		}
	}
	if m.vectors, err = m.embed(in.all, false); err != nil {
		return nil, err
	}
	if err := m.indexed(in.terms); err != nil {
		return nil, err
	}
	m.read()
	m.similar()
	m.domains()
	return m, m.readQuestions(o.set)
}

// document is one of a set.
type document struct {
	ID, Title, Text string
	// Speaker says the text, Timestamp when, in a conversation: as spokenTime,
	// headerTime, or in the form of RFC 3339 with or without a zone.
	Speaker, Timestamp string
}

const (
	// spokenTime is how locomo dates the sessions of its conversations.
	spokenTime = "3:04 pm on 2 January, 2006"
	// headerTime is how org_peps dates its proposals.
	headerTime = "02-Jan-2006"
)

// occurred gives when a document happened, in milliseconds since 1970; 0: that is not
// known.
func (d *document) occurred() (int64, error) {
	if d.Timestamp == "" {
		return 0, nil
	}
	for _, form := range []string{spokenTime, headerTime, time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
		if at, err := time.Parse(form, d.Timestamp); err == nil {
			return at.UnixMilli(), nil
		}
	}
	return 0, fmt.Errorf("document %s: no time is %q", d.ID, d.Timestamp)
}

// take takes a document in as ingestion does: what somebody says begins with their
// name, and what has no title and is not long is a turn, which those before and behind
// it explain.
func (m *memory) take(in *texts, analyzer *text.Analyzer, from document, count func(string) int) error {
	d := retriever.Document{ID: pb.NodeID(from.ID), Title: from.Title}
	at, err := from.occurred()
	if err != nil {
		return err
	}
	body := from.Text
	if from.Speaker != "" {
		body = from.Speaker + ": " + body
	}
	tokens := 0
	for _, c := range text.Chunks(text.Document{Title: d.Title, Body: body}, text.ChunkOptions{Count: count}) {
		d.Passages = append(d.Passages, c.Text)
		whole := c.Text
		if len(c.TitlePath) > 0 {
			whole = strings.Join(c.TitlePath, " > ") + "\n" + c.Text
		}
		in.all = append(in.all, whole)
		in.terms = append(in.terms, analyzer.Passage(strings.Join(c.TitlePath, "\n"), c.Text))
		m.docOf = append(m.docOf, int32(len(m.source.Documents)))
		tokens += c.Tokens
	}
	m.nodes = append(m.nodes,
		index.Node{
			ID: d.ID, Kind: "document", Turn: strings.TrimSpace(d.Title) == "" && tokens <= index.MaxTurnTokens,
			OccurredMs: at,
		})
	if d.Title == "" {
		d.Title = text.TruncateRunes(strings.TrimSpace(body), titleRunes)
	}
	m.id[d.ID] = true
	m.source.Documents = append(m.source.Documents, d)
	return nil
}

// embed gives the vectors of texts, from the cache where they were made before.
func (m *memory) embed(all []string, asked bool) ([][]float32, error) {
	h := sha256.New()
	for _, s := range all {
		_, _ = fmt.Fprintf(h, "%t %d %s", asked, len(s), s)
	}
	dim := m.encoder.Dim()
	out := make([][]float32, len(all))
	for i := range out {
		out[i] = make([]float32, dim)
	}
	file := filepath.Join(m.cache, fmt.Sprintf("%x.vectors", h.Sum(nil)[:8]))
	if m.cache != "" {
		raw, err := os.ReadFile(file)
		if err == nil && len(raw) == len(all)*dim*4 {
			for i := range len(all) * dim {
				out[i/dim][i%dim] = math.Float32frombits(binary.LittleEndian.Uint32(raw[i*4:]))
			}
			return out, nil
		}
	}
	inParallel(len(all), 32, func() func(int, int) {
		e := m.encoder.NewEncoder()
		return func(from, to int) {
			if !asked {
				e.Passages(out[from:to], all[from:to])
				return
			}
			for i := from; i < to; i++ {
				copy(out[i], e.Query(all[i]))
			}
		}
	})
	if m.cache == "" {
		return out, nil
	}
	var raw []byte
	for _, v := range out {
		for _, x := range v {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
		}
	}
	return out, errors.Join(os.MkdirAll(m.cache, 0o750), os.WriteFile(file, raw, 0o600))
}

// inParallel shares n things out to workers, some at a time.
func inParallel(n, some int, worker func() func(from, to int)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range workers {
		wg.Go(func() {
			do := worker()
			for from := range next {
				do(from, min(from+some, n))
			}
		})
	}
	for from := 0; from < n; from += some {
		next <- from
	}
	close(next)
	wg.Wait()
}

func (m *memory) indexed(terms []text.Passage) error {
	b := index.NewBuilder(index.ModelID(m.encoder.ID()), m.encoder.Dim())
	for p, v := range m.vectors {
		if err := b.Add(index.Entry{
			Seq: uint64(p + 1), Node: m.nodes[m.docOf[p]], Vector: v,
			Passage: terms[p],
		}); err != nil {
			return err
		}
	}
	seg, err := b.Build()
	if err != nil {
		return err
	}
	m.snapshot = (&index.Snapshot{}).With(0, seg)
	return nil
}

// read finds the entities that the texts name, and what they say of each other.
func (m *memory) read() {
	readings := make([]extract.Extraction, len(m.source.Documents))
	inParallel(len(readings), 8, func() func(int, int) {
		return func(from, to int) {
			for i := from; i < to; i++ {
				d := m.source.Documents[i]
				readings[i] = extract.Extract(extract.Document{Text: strings.Join(d.Passages, "\n\n"), Title: d.Title})
			}
		}
	})
	var known []resolve.Known
	under := map[string][]int{}
	for d, x := range readings {
		at := map[resolve.Name]int{}
		var names []resolve.Name
		which := make([]int, len(x.Mentions))
		for i, mention := range x.Mentions {
			n := resolve.Name{Name: mention.Name, Type: mention.Type}
			k, ok := at[n]
			if !ok {
				k = len(names)
				at[n], names = k, append(names, n)
			}
			which[i] = k
		}
		var near []resolve.Known
		seen := map[int]bool{}
		for _, n := range names {
			for _, key := range resolve.Keys(n.Name, n.Type) {
				for _, k := range under[key] {
					if !seen[k] {
						seen[k], near = true, append(near, known[k])
					}
				}
			}
		}
		means := make([]pb.NodeID, len(names))
		number := func(id pb.NodeID) int {
			var k int
			_, _ = fmt.Sscanf(string(id), "entity:%d", &k)
			return k
		}
		for i, d := range resolve.Resolve(near, names) {
			switch {
			case d.Entity != "":
				means[i] = pb.NodeID(d.Entity)
			case d.Leader != i:
				means[i] = means[d.Leader]
				continue
			default:
				means[i] = pb.NodeID(fmt.Sprintf("entity:%d", len(known)))
				known = append(known, resolve.Known{ID: resolve.EntityID(means[i]), Type: names[i].Type, Title: names[i].Name})
			}
			k := number(means[i])
			if d.Alias {
				known[k].Aliases = append(known[k].Aliases, names[i].Name)
			}
			if d.Type != "" {
				known[k].Type = d.Type
			}
			for _, key := range resolve.Keys(names[i].Name, names[i].Type) {
				if !slices.Contains(under[key], k) {
					under[key] = append(under[key], k)
				}
			}
		}
		for i, mentioned := range x.Mentions {
			if id := means[which[i]]; id != "" {
				m.mentions = append(m.mentions, mention{int32(d), int32(number(id)), float32(mentioned.Confidence)})
			}
		}
		for _, r := range x.Relations {
			if from, to := means[which[r.From]], means[which[r.To]]; from != to && from != "" && to != "" {
				m.source.Ties = append(m.source.Ties, retriever.Tie{
					From: from, To: to, Kind: retriever.TieStated,
					Weight: float32(r.Confidence),
				})
			}
		}
	}
	for _, k := range known {
		m.source.Entities = append(m.source.Entities,
			retriever.Entity{ID: pb.NodeID(k.ID), Names: append([]string{k.Title}, k.Aliases...)})
	}
}

// similar ties each document to the nearest others.
func (m *memory) similar() {
	found := make([][]index.Candidate, len(m.vectors))
	inParallel(len(m.vectors), 64, func() func(int, int) {
		var scratch index.Scratch
		return func(from, to int) {
			for p := from; p < to; p++ {
				model := index.ModelID(m.encoder.ID())
				q := &index.Query{
					Mode: index.VectorOnly, Config: index.DefaultConfig(), N: conflict.Neighbours,
					Vectors: map[index.ModelID][]float32{model: m.vectors[p]}, Lines: map[index.ModelID]index.Line{model: m.line},
				}
				for _, c := range scratch.Candidates([]*index.Snapshot{m.snapshot}, q) {
					if m.docOf[c.Seq-1] != m.docOf[p] && c.Vector >= leastSimilar {
						c.Node = ""
						found[p] = append(found[p], c)
					}
				}
				scratch.Reset()
			}
		}
	})
	best := map[[2]int32]float32{}
	for p := 0; p < len(m.docOf); {
		doc := m.docOf[p]
		near := map[int32]float32{}
		for ; p < len(m.docOf) && m.docOf[p] == doc; p++ {
			for _, c := range found[p] {
				other := m.docOf[c.Seq-1]
				near[other] = max(near[other], c.Vector)
			}
		}
		order := make([]int32, 0, len(near))
		for d := range near {
			order = append(order, d)
		}
		slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(near[b], near[a]), cmp.Compare(a, b)) })
		for _, d := range order[:min(len(order), maxSimilar)] {
			best[[2]int32{min(d, doc), max(d, doc)}] = near[d]
		}
	}
	pairs := make([][2]int32, 0, len(best))
	for k := range best {
		pairs = append(pairs, k)
	}
	slices.SortFunc(pairs, func(a, b [2]int32) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	for _, k := range pairs {
		m.source.Ties = append(m.source.Ties,
			retriever.Tie{
				From: m.source.Documents[k[0]].ID, To: m.source.Documents[k[1]].ID, Kind: retriever.TieSimilar,
				Weight: best[k],
			})
	}
}

// domains cuts the memory into topics, as a cycle does.
func (m *memory) domains() {
	number := map[pb.NodeID]int32{}
	for i, d := range m.source.Documents {
		number[d.ID] = int32(i)
	}
	ids := make([]pb.NodeID, len(m.source.Documents), len(m.source.Documents)+len(m.source.Entities))
	for i, d := range m.source.Documents {
		ids[i] = d.ID
	}
	for _, e := range m.source.Entities {
		number[e.ID] = int32(len(ids))
		ids = append(ids, e.ID)
	}
	var edges []community.Edge
	for _, t := range m.source.Ties {
		kind := community.Related
		if t.Kind == retriever.TieSimilar {
			kind = community.Similar
		}
		edges = append(edges, community.Edge{A: number[t.From], B: number[t.To], Tie: kind, Weight: t.Weight})
	}
	type pair struct{ document, entity int32 }
	strongest := map[pair]float32{}
	for _, x := range m.mentions {
		p := pair{x.document, x.entity}
		strongest[p] = max(strongest[p], x.confidence)
	}
	named := make([]pair, 0, len(strongest))
	for p := range strongest {
		named = append(named, p)
	}
	slices.SortFunc(named, func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.document, b.document), cmp.Compare(a.entity, b.entity))
	})
	for _, p := range named {
		edges = append(edges, community.Edge{
			A: p.document, B: int32(len(m.source.Documents)) + p.entity,
			Tie: community.Mentions, Weight: strongest[p],
		})
	}
	found := community.Find(community.NewGraph(len(ids), edges), community.Earlier{}, community.Options{})
	m.source.Domains = make([]retriever.Domain, len(found.Communities))
	for i, d := range found.Of {
		if d != community.None {
			m.source.Domains[d] = append(m.source.Domains[d], ids[i])
		}
	}
}

func (m *memory) readQuestions(set string) error {
	grades := map[string]map[pb.NodeID]float64{}
	f, err := os.Open(filepath.Join(set, "qrels.tsv"))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	for s := bufio.NewScanner(f); s.Scan(); {
		cols := strings.Split(s.Text(), "\t")
		var grade float64
		if len(cols) != 3 {
			continue
		}
		if _, err := fmt.Sscanf(cols[2], "%g", &grade); err != nil || grade <= 0 || !m.id[pb.NodeID(cols[1])] {
			continue
		}
		if grades[cols[0]] == nil {
			grades[cols[0]] = map[pb.NodeID]float64{}
		}
		grades[cols[0]][pb.NodeID(cols[1])] = grade
	}
	return data.Lines(filepath.Join(set, "queries.jsonl"), func(line []byte) error {
		var q struct{ ID, Text, Category string }
		if err := json.Unmarshal(line, &q); err != nil {
			return err
		}
		if g := grades[q.ID]; g != nil {
			m.questions = append(m.questions, question{q.ID, q.Text, q.Category, g})
		}
		return nil
	})
}
