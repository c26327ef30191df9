package cognition_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"orgmem/brain/cognition"
	"orgmem/brain/community"
	"orgmem/brain/embed"
	"orgmem/brain/extract"
	"orgmem/brain/text"
	"orgmem/brain/topic"
	pb "orgmem/proto"
)

// memory is a small memory that was written for these tests (testdata/themes): short notes as people write them, of
// some themes. In "plain" a theme says its words again, in "hard" hardly two notes of one theme share a word.
type memory struct {
	name    string
	notes   []string
	theme   []int
	good    [][]string // of each theme the words of which a label should have one
	vectors [][]float32
	words   [][]text.Term
	names   [][]extract.Mention
	factor  float32 // of the cosines of vectors
	offset  float32
}

// encoders are the models that a memory may be embedded with.
var encoders = []struct {
	name string
	load func() *embed.Model
}{
	{"english", model},
	{"multilingual", sync.OnceValue(func() *embed.Model {
		m, err := embed.LoadMultilingual(nil)
		if err != nil {
			panic(err)
		}
		return m
	})},
}

// readMemories reads the memories of a set, and what a cycle knows of their notes when a model has embedded them.
func readMemories(t *testing.T, set string, with *embed.Model) (all []memory) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "themes", set, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no memories of %s: %v", set, err)
	}
	encoder, themes := with.NewEncoder(), with.Themes()
	var analyzer text.Analyzer
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m := memory{name: strings.TrimSuffix(filepath.Base(file), ".txt")}
		m.factor, m.offset = with.CosineLine()
		for line := range strings.Lines(string(raw)) {
			line = strings.TrimSpace(line)
			if heading, ok := strings.CutPrefix(line, "# "); ok {
				_, words, _ := strings.Cut(heading, ": ")
				m.good = append(m.good, strings.Split(strings.ToLower(words), ", "))
				continue
			}
			m.notes, m.theme = append(m.notes, line), append(m.theme, len(m.good)-1)
			m.words = append(m.words, analyzer.Passage("", line).Sequence)
			m.names = append(m.names, extract.Extract(extract.Document{Text: line}).Mentions)
		}
		m.vectors = make([][]float32, len(m.notes))
		encoder.Passages(m.vectors, m.notes)
		if themes != nil {
			m.factor, m.offset = themes.CosineLine()
			for i, v := range m.vectors {
				m.vectors[i] = themes.Of(v)
			}
		}
		all = append(all, m)
	}
	return all
}

var model = sync.OnceValue(func() *embed.Model {
	m, err := embed.Load(nil)
	if err != nil {
		panic(err)
	}
	return m
})

// joined is one memory of several.
func joined(ms []memory) (all memory) {
	all.factor, all.offset = ms[0].factor, ms[0].offset
	for i := range ms {
		m := &ms[i]
		for _, theme := range m.theme {
			all.theme = append(all.theme, len(all.good)+theme)
		}
		all.good, all.notes = append(all.good, m.good...), append(all.notes, m.notes...)
		all.vectors, all.words = append(all.vectors, m.vectors...), append(all.words, m.words...)
		all.names = append(all.names, m.names...)
	}
	return all
}

// graph is the memory's graph when it has only some of its notes, as a cycle gathers it.
func (m *memory) graph(notes []int) (g cognition.Graph, edges []community.Edge) {
	g.At = map[pb.NodeID]int32{}
	vectors, words := make([][]float32, len(notes)), make([][]text.Term, len(notes))
	for k, i := range notes {
		g.Nodes = append(g.Nodes, cognition.Node{Kind: "fact", Title: m.notes[i], Chunks: []uint64{uint64(k)}})
		vectors[k], words[k] = m.vectors[i], m.words[i]
	}
	entities := map[string]int32{}
	for k, i := range notes {
		for _, name := range m.names[i] {
			at, known := entities[name.Name]
			if !known {
				at = int32(len(g.Nodes))
				entities[name.Name] = at
				g.Nodes = append(g.Nodes, cognition.Node{
					Kind: cognition.KindEntity, Title: name.Name, Person: name.Type == extract.Person,
				})
			}
			g.Edges = append(g.Edges, cognition.Edge{A: int32(k), B: at, Kind: cognition.EdgeMentions, Weight: name.Confidence})
		}
	}
	edges = append(g.Ties(), community.Near(cognition.Texts(g.FewPassages(), vectors, words), m.factor, m.offset)...)
	return g, edges
}

// every is the notes of a memory in their order.
func (m *memory) every() []int {
	all := make([]int, len(m.notes))
	for i := range all {
		all[i] = i
	}
	return all
}

// figures are how the domains of a memory stand to its themes, as means over the themes.
type figures struct {
	share   float64 // of a theme's notes that lie in one domain
	purity  float64 // of that domain's notes that are of the theme
	domains float64 // for each theme
	named   float64 // its label has a good word
	blank   float64 // of the domains that have no label
}

func (f *figures) add(g figures, weight float64) {
	f.share += g.share * weight
	f.purity += g.purity * weight
	f.domains += g.domains * weight
	f.named += g.named * weight
	f.blank += g.blank * weight
}

func (f figures) String() string {
	return fmt.Sprintf("share %.3f, purity %.3f, domains %.2f, named %.3f, without label %.3f",
		f.share, f.purity, f.domains, f.named, f.blank)
}

// judge compares the domains that notes are in with their themes.
func (m *memory) judge(notes []int, of []int32, labels []topic.Label) (f figures) {
	size := map[int32]int{}
	for k := range notes {
		if of[k] != community.None {
			size[of[k]]++
		}
	}
	each := 1 / float64(len(m.good))
	for theme := range m.good {
		in, all := map[int32]int{}, 0
		for k, i := range notes {
			if m.theme[i] != theme {
				continue
			}
			all++
			if of[k] != community.None {
				in[of[k]]++
			}
		}
		best, most := community.None, 0
		for domain, n := range in {
			if n > most || n == most && domain < best {
				best, most = domain, n
			}
		}
		if best == community.None {
			continue
		}
		f.share += each * float64(most) / float64(all)
		f.purity += each * float64(most) / float64(size[best])
		if labels != nil && says(labels[best].Text, m.good[theme]) {
			f.named += each
		}
	}
	f.domains = float64(len(size)) * each
	for _, l := range labels {
		if l.Text == "" {
			f.blank += 1 / float64(len(labels))
		}
	}
	return f
}

var word = regexp.MustCompile(`\pL+`)

// says reports whether a label has one of the words, but for an ending.
func says(label string, good []string) bool {
	for _, w := range word.FindAllString(strings.ToLower(label), -1) {
		for _, g := range good {
			if w == g || len(g) >= 4 && len(w)-len(g) <= 3 && strings.HasPrefix(w, g[:max(4, len(g)-2)]) {
				return true
			}
		}
	}
	return false
}

// labels are those of the communities.
func (m *memory) labels(t *testing.T, g *cognition.Graph, p community.Partition, notes []int) []topic.Label {
	t.Helper()
	groups := make([]topic.Group, len(p.Communities))
	for i, c := range p.Communities {
		var err error
		groups[i], err = g.GroupOf(c.Top, func(seq uint64) (string, error) { return m.notes[notes[seq]], nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	return topic.Describe(groups)
}

// cut finds the domains of a memory that came all at once, and names them.
func (m *memory) cut(t *testing.T, seed uint64) figures {
	t.Helper()
	notes := m.every()
	g, edges := m.graph(notes)
	p := community.Find(community.NewGraph(len(g.Nodes), edges), community.Earlier{}, community.Options{Seed: seed})
	return m.judge(notes, p.Of, m.labels(t, &g, p, notes))
}

// seeds is over how many orders of the nodes figures are means.
const seeds = 3

func means(t *testing.T, ms []memory) (f figures) {
	t.Helper()
	for i := range ms {
		for seed := range uint64(seeds) {
			f.add(ms[i].cut(t, seed), 1/float64(len(ms)*seeds))
		}
	}
	return f
}

// alone are memories of one theme each.
func alone(ms []memory) (all []memory) {
	for i := range ms {
		m := &ms[i]
		for theme := range m.good {
			from, to := slices.Index(m.theme, theme), len(m.theme)
			if k := slices.Index(m.theme, theme+1); k >= 0 {
				to = k
			}
			all = append(all, memory{
				name: m.name, notes: m.notes[from:to], theme: make([]int, to-from), good: m.good[theme : theme+1],
				vectors: m.vectors[from:to], words: m.words[from:to], names: m.names[from:to], factor: m.factor, offset: m.offset,
			})
		}
	}
	return all
}

// One theme of a person's notes is one domain, by and large, and its label says what it is about, whichever model
// embeds them.
func TestOneThemeIsOneDomain(t *testing.T) {
	t.Parallel()
	for which, encoder := range encoders {
		t.Run(encoder.name, func(t *testing.T) {
			t.Parallel()
			plain, hard := readMemories(t, "plain", encoder.load()), readMemories(t, "hard", encoder.load())
			other := readMemories(t, "other", encoder.load())
			var two, four []memory
			for i := range plain {
				double := slices.Concat(plain, plain)
				two, four = append(two, joined(double[i:i+2])), append(four, joined(double[i:i+4]))
			}
			for _, x := range []struct {
				name     string
				memories []memory
				least    [2]figures // under each encoder
			}{
				{"40 notes of 4 themes that repeat their words", plain, [2]figures{
					{share: 0.84, purity: 0.84, named: 0.95}, {share: 0.79, purity: 0.74, named: 0.9},
				}},
				{"36 notes of 5 themes that do not", hard, [2]figures{
					{share: 0.62, purity: 0.46, named: 0.25}, {share: 0.68, purity: 0.5, named: 0.2},
				}},
				{"80 notes of 8 themes", two, [2]figures{
					{share: 0.8, purity: 0.75, named: 0.9}, {share: 0.75, purity: 0.63, named: 0.85},
				}},
				{"160 notes of 16 themes", four, [2]figures{
					{share: 0.74, purity: 0.64, named: 0.85}, {share: 0.7, purity: 0.5, named: 0.7},
				}},
				{"320 notes of 32 themes", []memory{joined(plain)}, [2]figures{
					{share: 0.66, purity: 0.52, named: 0.75}, {share: 0.6, purity: 0.36, named: 0.5},
				}},
				{"German, Spanish, French and mixed notes", other, [2]figures{{share: 0.3}, {share: 0.66, purity: 0.58}}},
				{"notes of one theme alone", alone(slices.Concat(plain, hard)), [2]figures{{share: 0.6}, {share: 0.62}}},
			} {
				got, least := means(t, x.memories), x.least[which]
				t.Logf("%s: %v", x.name, got)
				if got.share < least.share || got.purity < least.purity || got.named < least.named {
					t.Errorf("%s: %v; at least %v are wanted", x.name, got, least)
				}
			}
		})
	}
}

// A memory that grows a few notes at a time, its themes in turns, comes to as good domains as one that came at
// once, and what has a domain keeps it, mostly.
func TestThemesGrow(t *testing.T) {
	t.Parallel()
	for which, encoder := range encoders {
		t.Run(encoder.name, func(t *testing.T) {
			t.Parallel()
			purity := []float64{0.78, 0.65}[which]
			grown, stay := grow(t, readMemories(t, "plain", encoder.load()))
			t.Logf("%v; of the second half of its growth %.3f of the notes keep their domain at each step", grown, stay)
			if grown.share < 0.78 || grown.purity < purity || stay < 0.85 {
				t.Errorf("%v, %.3f keep their domain", grown, stay)
			}
		})
	}
}

// grow has memories grow five notes at a time: how their domains stand in the end, as a mean, and the share of the
// notes that keep theirs at a step of the second half.
func grow(t *testing.T, memories []memory) (grown figures, stay float64) {
	t.Helper()
	kept, known := 0, 0
	for i := range memories {
		m := &memories[i]
		order := rand.New(rand.NewPCG(uint64(i), 7)).Perm(len(m.notes))
		domains := map[int]int{} // of each note, by numbers that stay
		next, settled := 0, 0
		for some := 5; ; some = min(some+5, len(order)) {
			notes := order[:some]
			g, edges := m.graph(notes)
			earlier := community.Earlier{Of: make([]int32, len(g.Nodes)), Settled: settled}
			for k := range earlier.Of {
				earlier.Of[k] = community.None
				if k < some {
					if d, ok := domains[notes[k]]; ok {
						earlier.Of[k] = int32(d)
					}
				}
			}
			p := community.Find(community.NewGraph(len(g.Nodes), edges), earlier, community.Options{})
			settled = p.Settled
			number := make([]int, len(p.Communities))
			for c := range number {
				if number[c] = int(p.Communities[c].Before); p.Communities[c].Before == community.None {
					number[c] = next
					next++
				}
			}
			for k, note := range notes {
				was, had := domains[note]
				delete(domains, note)
				if p.Of[k] == community.None {
					continue
				}
				domains[note] = number[p.Of[k]]
				if had && some > len(order)/2 {
					known++
					if domains[note] == was {
						kept++
					}
				}
			}
			if some == len(order) {
				grown.add(m.judge(notes, p.Of, nil), 1/float64(len(memories)))
				break
			}
		}
	}
	return grown, float64(kept) / float64(known)
}
