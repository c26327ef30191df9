package retriever

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	pb "orgmem/proto"
)

var testSalt = Salt{1, 2, 3}

// village is made-up text about people who have parents, trades and homes. A
// document is about each.
func village(people int, seed uint64) *Source {
	r := rand.New(rand.NewPCG(seed, 2))
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	name := func() string {
		return pick("Al", "Ber", "Car", "Dor", "El", "Fa", "Gun", "Hel") + pick("mar", "nix", "tor", "wen", "zul") + " " +
			pick("Os", "Pra", "Quin", "Ros", "Sta") + pick("berg", "dale", "fort", "grim") + pick("a", "e", "i", "o", "u")
	}
	var names []string
	for len(names) < people {
		if n := name(); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	src := &Source{}
	for i, n := range names {
		other := names[r.IntN(people)]
		body := fmt.Sprintf("%s was born in %d in a house by the %s. The mother of this child was %s, who kept %s.",
			strings.Fields(n)[0], 1700+r.IntN(200), pick("river", "mill", "church"), other,
			pick("bees", "sheep", "an inn", "goats"))
		src.Documents = append(src.Documents, Document{
			ID: pb.NodeID(fmt.Sprint("doc", i)), Title: n, Passages: []string{body},
		})
		if i > 0 && r.IntN(3) == 0 {
			src.Ties = append(src.Ties, Tie{
				From: src.Documents[i].ID, To: src.Documents[r.IntN(i)].ID, Kind: TieKind(r.IntN(int(tieKinds))),
				Weight: r.Float32(),
			})
		}
	}
	src.Entities = append(src.Entities, Entity{ID: "ent", Names: []string{names[0], "the Old Mill"}})
	src.Domains = make([]Domain, 4)
	for i, d := range src.Documents {
		src.Domains[i%len(src.Domains)] = append(src.Domains[i%len(src.Domains)], d.ID)
	}
	src.Domains[1] = append(src.Domains[1], "ent")
	return src
}

// asked searches a source by the words of a text, with some noise for meaning.
func asked(g *Graph, src *Source, text string) Question {
	x := lexer{salt: testSalt}
	want := stemsOf(x.words(text))
	r := rand.New(rand.NewPCG(uint64(len(text)), 3))
	all := make([]Seed, len(g.docOf))
	for p := range all {
		d := &src.Documents[g.docOf[p]]
		have := stemsOf(x.words(d.Title + " " + d.Passages[int32(p)-g.first[g.docOf[p]]]))
		n := 0
		for _, t := range want {
			if slices.Contains(have, t) {
				n++
			}
		}
		kw := float32(n) / float32(max(1, len(want)))
		cos := r.Float32() * 0.5
		all[p] = Seed{Passage: int32(p), Cosine: cos, Keyword: kw, Score: cos + kw}
	}
	seeds := slices.Clone(all)
	slices.SortStableFunc(seeds, func(a, b Seed) int { return int(math.Copysign(1, float64(b.Score-a.Score))) })
	return Question{Text: text, Seeds: seeds[:min(len(seeds), 20)], Score: func(ps []int32) (out []Seed) {
		for _, p := range ps {
			out = append(out, all[p])
		}
		return out
	}}
}

// TestGradient compares the derivatives with differences of the loss.
func TestGradient(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		src := village(40, seed)
		g := NewGraph(src, testSalt)
		examples := g.Examples(src, testSalt, 4, seed)
		if len(examples) == 0 {
			t.Skip("no example in this village")
		}
		e := examples[0]
		q := asked(g, src, e.Text)
		p := Prior()
		r := rand.New(rand.NewPCG(seed, 9))
		for _, x := range p.flat() {
			*x += r.NormFloat64() * 0.1
		}
		for i, x := range p.Further {
			p.Further[i] = 0.2 + math.Abs(x)
		}
		var near []Hit
		for i, x := range r.Perm(len(g.docOf))[:15] {
			near = append(near, Hit{Passage: int32(x), Likeness: 0.7 - 0.01*float32(i)})
		}
		q.Further = func() []Hit { return near }
		w := NewWalk(g, testSalt)
		w.Forward(&p, &q)
		var d gradient
		if _, ok := w.loss(answersOf(&e), &d); !ok {
			t.Skip("no answer was reached")
		}
		// Which nodes a step goes on from is a choice, not a function with a
		// derivative; where the small difference changes it, nothing is compared.
		taken := len(w.moves)
		for range 6 {
			k := r.IntN(len(p.flat()))
			x := p.flat()[k]
			const h = 1e-5
			at := *x
			*x = at + h
			w.Forward(&p, &q)
			up, _ := w.loss(answersOf(&e), nil)
			same := len(w.moves) == taken
			*x = at - h
			w.Forward(&p, &q)
			down, _ := w.loss(answersOf(&e), nil)
			same = same && len(w.moves) == taken
			*x = at
			want, got := (up-down)/(2*h), *d.flat()[k]
			if same && math.Abs(got-want) > 1e-3*(1+math.Abs(want)) {
				t.Fatalf("parameter %d of %q: derivative %v, by differences %v", k, e.Text, got, want)
			}
		}
	})
}

// TestTrainingFindsTheWay holds what a brain is for: questions whose answer lies a
// name away are answered better after training, and the same twice.
func TestTrainingFindsTheWay(t *testing.T) {
	t.Parallel()

	src := village(80, 1)
	g := NewGraph(src, testSalt)
	var all []Asked
	for _, e := range g.Examples(src, testSalt, 200, 5) {
		all = append(all, Asked{Example: e, Question: asked(g, src, e.Text)})
	}
	cut := len(all) * 2 / 3
	train := func() Parameters {
		tr := NewTrainer(g, testSalt, all[:cut], all[cut:])
		for !tr.Step() {
		}
		return tr.Best()
	}
	p := train()
	if q := train(); p != q {
		t.Error("the same data and seed gave other parameters")
	}

	w, prior := NewWalk(g, testSalt), Prior()
	var trained, untrained, search Marks
	for i := range all[cut:] {
		a := &all[cut+i]
		var plain []int32
		for _, s := range a.Seeds {
			plain = append(plain, s.Passage)
		}
		for _, x := range []struct {
			sum *Marks
			m   Marks
		}{{&trained, w.Mark(&p, a)}, {&untrained, w.Mark(&prior, a)}, {&search, g.MarkRanking(plain, a)}} {
			x.sum.Recall += x.m.Recall / float64(len(all)-cut)
			x.sum.Reciprocal += x.m.Reciprocal / float64(len(all)-cut)
		}
	}
	if trained.Recall < search.Recall+0.05 || trained.Recall < untrained.Recall {
		t.Errorf("recall of questions held out: trained %+v, untrained %+v, search %+v", trained, untrained, search)
	}
}

// TestCaution: what a training gives trusts its walk as far as it has learned to where
// a question names what a document is about, and less where it does not.
func TestCaution(t *testing.T) {
	t.Parallel()

	src := village(40, 2)
	g := NewGraph(src, testSalt)
	trained, cautious := Prior(), NewTrainer(g, testSalt, nil, nil).Best()
	w := NewWalk(g, testSalt)
	confidence := func(p *Parameters, text string) float64 {
		q := asked(g, src, text)
		w.Forward(p, &q)
		return w.Confidence()
	}
	named, unnamed := src.Documents[3].Title+" mother", "who kept bees"
	if a, b := confidence(&trained, named), confidence(&cautious, named); math.Abs(a-b) > 1e-9 {
		t.Errorf("a subject is named: %g as trained, %g with caution", a, b)
	}
	if a, b := confidence(&trained, unnamed), confidence(&cautious, unnamed); b >= a || b <= 0 {
		t.Errorf("no subject is named: %g as trained, %g with caution", a, b)
	}

	// Where nothing leads anywhere only likeness and words can be believed, and less yet.
	for i := range src.Documents {
		src.Documents[i].Title = ""
	}
	src.Entities, src.Ties, src.Domains = nil, nil, nil
	g = NewGraph(src, testSalt)
	if n := g.Size().Edges; n != 0 {
		t.Fatalf("%d edges of texts alone", n)
	}
	bare := NewTrainer(g, testSalt, nil, nil).Best()
	if a, b := confidence(&cautious, unnamed), confidence(&bare, unnamed); b >= a || b <= 0 {
		t.Errorf("no edges: %g with caution, %g with more", a, b)
	}
}

// TestForgottenDocumentsAreNotReached: whatever is asked, nothing leads to them or
// over them.
func TestForgottenDocumentsAreNotReached(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		src := village(40, rapid.Uint64().Draw(t, "seed"))
		g := NewGraph(src, testSalt)
		gone := rapid.SliceOfN(rapid.Bool(), 40, 40).Draw(t, "gone")
		w := NewWalk(g, testSalt)
		p := Prior()
		q := asked(g, src, src.Documents[0].Title+" mother bees")
		q.Seeds = slices.DeleteFunc(q.Seeds, func(s Seed) bool { return gone[g.docOf[s.Passage]] })
		score := q.Score
		q.Score = func(ps []int32) []Seed {
			return slices.DeleteFunc(score(ps), func(s Seed) bool { return gone[g.docOf[s.Passage]] })
		}
		w.Forward(&p, &q)
		for _, r := range w.Passages(40) {
			if gone[g.docOf[r.Passage]] {
				t.Fatalf("document %d was found", g.docOf[r.Passage])
			}
		}
		for _, m := range w.moves {
			for _, end := range []int32{m.from, m.to} {
				if w.isPassage(end) && gone[w.docOf(end)] {
					t.Fatalf("the walk came over document %d", w.docOf(end))
				}
			}
		}
	})
}

// TestYoungPassagesKeepTheirScore: what the graph does not know ranks by search.
func TestYoungPassagesKeepTheirScore(t *testing.T) {
	t.Parallel()

	src := village(20, 4)
	g := NewGraph(src, testSalt)
	q := asked(g, src, "bees by the river")
	q.Seeds = append([]Seed{
		{Passage: Unknown, Cosine: 0.9, Keyword: 1, Score: 1.9}, {Passage: Unknown, Cosine: 0.8, Keyword: 1, Score: 1.8},
	}, q.Seeds...)
	w, p := NewWalk(g, testSalt), Prior()
	w.Forward(&p, &q)
	got := w.Passages(2)
	if len(got) != 2 || got[0].From != 0 || got[1].From != 1 {
		t.Errorf("best: %+v, want the two young seeds", got)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()

	src := &Source{
		Documents: []Document{
			{ID: "1", Title: "Renée O'Brien (painter)", Passages: []string{"x"}},
			{ID: "2", Title: "夏目漱石", Passages: []string{"x"}},
			{ID: "3", Title: "Home", Passages: []string{"x"}},
		},
		Entities: []Entity{{ID: "e", Names: []string{"INC-4521", "Bank of England"}}},
	}
	g := NewGraph(src, testSalt)
	x := lexer{salt: testSalt}
	for _, c := range []struct {
		text   string
		proper bool
		want   int
	}{
		{"a portrait by Renee O’Brien's hand", true, 1},
		{"who was renée o'brien", false, 1},
		{"それは夏目漱石の本です", true, 1},
		{"on our way home", true, 0},
		{"on our way home", false, 1},
		{"inc-4521 at the bank of england", false, 2},
		{"Bank of Ireland", true, 0},
	} {
		n := 0
		g.find(x.words(c.text), c.proper, func(found) { n++ })
		if n != c.want {
			t.Errorf("%q: %d names, want %d", c.text, n, c.want)
		}
	}
	other := NewGraph(src, Salt{9})
	for name := range g.names {
		if _, same := other.names[name]; same {
			t.Error("another salt gave the same name")
		}
	}
}

func TestFoldedLetters(t *testing.T) {
	t.Parallel()

	if len(plainLatin) != 0x180-firstMarked {
		t.Fatalf("%d letters, want %d", len(plainLatin), 0x180-firstMarked)
	}
	for r := rune(firstMarked); r < 0x180; r++ {
		base := []rune(norm.NFD.String(string(unicode.ToLower(r))))[0]
		if got := foldRune(r); base < 0x80 && got != base {
			t.Errorf("%c folds to %c, want %c", r, got, base)
		}
	}
}

// TestStoredGraph: what is stored is the same graph, holds no word of the text, and
// gives the same bytes each time.
func TestStoredGraph(t *testing.T) {
	t.Parallel()

	src := village(60, 3)
	g := NewGraph(src, testSalt)
	opts := proto.MarshalOptions{Deterministic: true}
	raw, err := opts.Marshal(g.Message())
	if err != nil {
		t.Fatal(err)
	}
	again, err := opts.Marshal(NewGraph(src, testSalt).Message())
	if err != nil || !bytes.Equal(raw, again) {
		t.Errorf("the same source gave other bytes (%v)", err)
	}
	for _, d := range src.Documents {
		for word := range strings.FieldsSeq(d.Title) {
			if bytes.Contains(raw, []byte(word)) {
				t.Fatalf("%q stands in the stored graph", word)
			}
		}
	}
	var m pb.BrainGraph
	if err := proto.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	read, err := GraphFrom(&m)
	if err != nil {
		t.Fatal(err)
	}
	p := Prior()
	one, two := NewWalk(g, testSalt), NewWalk(read, testSalt)
	for _, e := range g.Examples(src, testSalt, 20, 1) {
		q := asked(g, src, e.Text)
		one.Forward(&p, &q)
		two.Forward(&p, &q)
		if !slices.Equal(one.Passages(10), two.Passages(10)) {
			t.Fatalf("%q: the stored graph ranks otherwise", e.Text)
		}
	}
	stored, err := ParametersFrom(p.Message())
	if err != nil || stored != p {
		t.Errorf("stored parameters: %v, %v", stored, err)
	}
}

// FuzzGraph: what is damaged is refused, or walked to passages that it has, each of
// which has a number for its rank, the best first.
func FuzzGraph(f *testing.F) {
	raw, err := proto.Marshal(NewGraph(village(8, 3), testSalt).Message())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Fuzz(func(t *testing.T, data []byte) {
		var m pb.BrainGraph
		if proto.Unmarshal(data, &m) != nil {
			return
		}
		g, err := GraphFrom(&m)
		if err != nil || len(g.docOf) == 0 || len(g.docOf) > 1000 {
			return
		}
		p := Prior()
		w := NewWalk(g, testSalt)
		w.Forward(&p, &Question{
			Text: "Almar Osberga mother", Seeds: []Seed{{Passage: 0, Score: 1}},
			Score: func(ps []int32) (out []Seed) {
				for _, x := range ps {
					out = append(out, Seed{Passage: x})
				}
				return out
			},
		})
		ranked := w.Passages(10)
		for i, r := range ranked {
			if r.Passage < 0 || int(r.Passage) >= len(g.docOf) || math.IsNaN(r.Total) || math.IsInf(r.Total, 0) ||
				i > 0 && r.Total > ranked[i-1].Total {
				t.Fatalf("place %d of %d passages: %+v", i, len(g.docOf), ranked)
			}
		}
	})
}

// TestExamplesHideWhatTheyAskFor: the name that leads on is not in the question.
func TestExamplesHideWhatTheyAskFor(t *testing.T) {
	t.Parallel()

	src := village(100, 8)
	g := NewGraph(src, testSalt)
	got := g.Examples(src, testSalt, 200, 3)
	if len(got) < 150 {
		t.Fatalf("%d examples", len(got))
	}
	hops := 0
	for _, e := range got {
		for _, a := range e.Answers {
			if a < 0 || int(a) >= len(g.docOf) {
				t.Fatalf("%q: answer %d", e.Text, a)
			}
		}
		if e.Kind == KindTwoHop {
			hops++
			if strings.Contains(e.Text, src.Documents[g.docOf[e.Answers[1]]].Title) {
				t.Errorf("%q names its answer %q", e.Text, src.Documents[g.docOf[e.Answers[1]]].Title)
			}
		}
	}
	if hops < 40 {
		t.Errorf("%d questions of two hops", hops)
	}
	if again := g.Examples(src, testSalt, 200, 3); !slices.EqualFunc(got, again, func(a, b Example) bool {
		return a.Text == b.Text && slices.Equal(a.Answers, b.Answers)
	}) {
		t.Error("the same seed gave other examples")
	}
}

// TestComparisonsAreOfDocuments: a tie that leads to an entity, or to a document
// without a passage, compares nothing.
func TestComparisonsAreOfDocuments(t *testing.T) {
	t.Parallel()

	src := village(30, 6)
	src.Documents = append(src.Documents, Document{ID: "bare", Title: "Bare Document"})
	src.Ties = nil
	for i, d := range src.Documents[:30] {
		src.Ties = append(src.Ties, Tie{From: d.ID, To: "ent", Weight: 1}, Tie{From: d.ID, To: "bare", Weight: 1})
		if i%2 == 0 {
			src.Ties = append(src.Ties, Tie{From: d.ID, To: src.Documents[i+1].ID, Weight: 1})
		}
	}
	g := NewGraph(src, testSalt)
	n := 0
	for _, e := range g.Examples(src, testSalt, 300, 2) {
		if e.Kind != KindComparison {
			continue
		}
		n++
		if one, two := e.Answers[0], e.Answers[1]; one/2 != two/2 {
			t.Errorf("%q compares %d with %d, which no tie joins", e.Text, one, two)
		}
	}
	if n < 10 {
		t.Errorf("%d comparisons", n)
	}
}

// TestSubjectsWithinNames: an entity's longer name hides no document that a part of
// it names; a name that is a subject is taken whole.
func TestSubjectsWithinNames(t *testing.T) {
	t.Parallel()

	src := &Source{
		Documents: []Document{
			{ID: "rebecca", Title: "Rebecca", Passages: []string{"A novel."}},
			{ID: "york", Title: "New York", Passages: []string{"A city."}},
			{ID: "new", Title: "York", Passages: []string{"A town."}},
		},
		Entities: []Entity{{ID: "film", Names: []string{"Director Rebecca Young"}}},
	}
	g := NewGraph(src, testSalt)
	x := lexer{salt: testSalt}
	for text, want := range map[string][]pb.NodeID{
		"It is by Director Rebecca Young.": {"rebecca"}, "He moved to New York.": {"york"},
	} {
		var got []pb.NodeID
		g.find(x.words(text), true, func(f found) {
			for _, a := range g.aboutOf.of(f.concept) {
				if a.share == 1 {
					got = append(got, g.docs[a.other])
				}
			}
		})
		if !slices.Equal(got, want) {
			t.Errorf("%q leads to %v, want %v", text, got, want)
		}
	}
}

// TestDomains: what search found of a domain gains by what else was found of it, and
// by an entity of it; nothing that search did not find is reached by a domain, however
// large, and one that holds a single document leads nowhere.
func TestDomains(t *testing.T) {
	t.Parallel()

	src := &Source{
		Entities: []Entity{{ID: "guild", Names: []string{"Bakers' Guild"}}}, Domains: []Domain{{"guild"}, {"d1", "nobody"}},
	}
	for i := range 400 {
		d := Document{ID: pb.NodeID(fmt.Sprint("d", i)), Passages: []string{"nothing is named here"}}
		src.Documents = append(src.Documents, d)
		if i != 1 {
			src.Domains[0] = append(src.Domains[0], d.ID)
		}
	}
	g := NewGraph(src, testSalt)
	if n := g.Size().Domains; n != 1 {
		t.Fatalf("%d domains", n)
	}
	q := Question{
		Text:  "what else is there",
		Score: func([]int32) []Seed { t.Error("a domain led to what search did not find"); return nil },
	}
	for i, score := range []float32{0.9, 0.5, 0.49} {
		q.Seeds = append(q.Seeds, Seed{Passage: int32(i), Score: score, Cosine: score})
	}
	p := Prior()
	for _, kind := range []int{stepWithin, stepTopic, stepHolds} {
		p.Step[kind*stepFeatures+byKind] = 1
	}
	second := func(g *Graph) int32 {
		w := NewWalk(g, testSalt)
		w.Forward(&p, &q)
		if len(w.Entities(10)) > 1 {
			t.Error("a domain is no entity")
		}
		return w.Passages(2)[1].Passage
	}
	if got, without := second(g), second(g.Without(PartDomains)); got != 2 || without != 1 {
		t.Errorf("second is %d, and without domains %d", got, without)
	}
	q.Text = "of the bakers' guild"
	q.Seeds = q.Seeds[1:]
	w := NewWalk(g, testSalt)
	w.Forward(&p, &q)
	if best := w.Passages(1)[0]; best.Passage != 2 || best.Activation <= 0 {
		t.Errorf("an entity of the domain is named: %+v", best)
	}
	q.Within = func(pb.NodeID) bool { return false }
	for _, m := range func() []move { w.Forward(&p, &q); return w.moves }() {
		if int(m.kind) == stepTopic {
			t.Error("the domain of somebody else's entity was gone to")
		}
	}
}

// TestBudgets: a walk whose budget or time is spent goes no further and still ranks; one
// behind a shut gate ranks as search does.
func TestBudgets(t *testing.T) {
	t.Parallel()

	src := village(60, 3)
	g := NewGraph(src, testSalt)
	w := NewWalk(g, testSalt)
	p := Prior()
	q := &Question{Text: src.Documents[7].Title}
	q.Score = func(passages []int32) (out []Seed) {
		for _, x := range passages {
			out = append(out, Seed{Passage: x})
		}
		return out
	}
	for i := range int32(12) {
		q.Seeds = append(q.Seeds, Seed{Passage: 2*i + 14, Cosine: 0.9 - 0.01*float32(i), Score: 0.9 - 0.01*float32(i)})
	}
	far := func() (step uint8) {
		w.Forward(&p, q)
		for _, m := range w.moves {
			step = max(step, m.step)
		}
		return step
	}
	if all := far(); all != steps {
		t.Fatalf("%d steps without a budget", all)
	}
	q.Budget = 1
	if n := far(); n != 1 || len(w.Passages(10)) == 0 {
		t.Errorf("%d steps with a budget of one", n)
	}
	q.Budget = 0
	for left := range steps {
		asked := 0
		q.Over = func() bool {
			asked++
			return asked > left
		}
		if n := far(); int(n) != left+1 || len(w.Passages(10)) == 0 {
			t.Errorf("%d steps where the time is spent behind %d", n, left+1)
		}
		if tier := w.Tier(w.Passages(10)); left < 2 && tier != TierNone && tier != TierLocal {
			t.Errorf("tier %s of %d steps", tier, left+1)
		}
	}
	q.Over = nil
	q.Budget, p.Gate[gateAlways] = 1_000_000, -20
	if n := far(); n != 1 {
		t.Errorf("%d steps behind a shut gate", n)
	}
	found := w.Passages(10)
	if tier := w.Tier(found); tier != TierNone {
		t.Errorf("tier %s behind a shut gate", tier)
	}
	for i, r := range found {
		if r.Passage != q.Seeds[i].Passage {
			t.Errorf("rank %d is %d, not the one of search", i, r.Passage)
		}
	}
}
