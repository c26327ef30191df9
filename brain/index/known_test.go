package index

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orgmem/brain/text"
	pb "orgmem/proto"
)

// item is a note, and what it is looked for by.
type item struct {
	note    string
	queries []string
}

// knownItems reads a file of the known items: a note, a tab, its queries between semicolons.
func knownItems(t *testing.T, file string) []item {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var items []item
	for line := range strings.Lines(string(data)) {
		note, queries, ok := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		if !ok {
			t.Fatalf("%s: no tab in %q", file, line)
		}
		items = append(items, item{note, strings.Split(queries, ";")})
	}
	return items
}

// byWords gives the mean of the reciprocal rank, by words alone, of each note among all for its queries (0 where it is
// not among the first ten), and how many queries there are.
func byWords(t *testing.T, items []item) (mrr float64, queries int) {
	t.Helper()
	var a text.Analyzer
	b := NewBuilder("none", 8)
	for i, x := range items {
		err := b.Add(Entry{
			Seq: uint64(i), Node: Node{ID: pb.NodeID(fmt.Sprintf("n%06d", i))}, Passage: a.Passage("", x.note),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	seg, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	snap := (&Snapshot{}).With(1, seg)
	var sc Scratch
	for i, x := range items {
		for _, q := range x.queries {
			query := &Query{Terms: a.Query(q, snap.Langs()), Mode: KeywordOnly, Config: DefaultConfig()}
			for r, h := range Fuse(sc.Candidates([]*Snapshot{snap}, query), nil, query, 10) {
				if h.Seq == uint64(i) && h.Score > 0 {
					mrr += 1 / float64(r+1)
				}
			}
			queries++
		}
	}
	return mrr / float64(queries), queries
}

// TestKnownItemsAreFoundByWords holds what words alone find of the notes that were written for this, those of each file
// among themselves and all together: a little less than docs/retrieval.md has.
func TestKnownItemsAreFoundByWords(t *testing.T) {
	t.Parallel()
	var all []item
	for _, tc := range []struct {
		name string
		mrr  float64
	}{
		{"zh", .99}, {"ja", .99}, {"th", .99}, {"ko", .99}, {"lo", .99}, {"km", .99}, {"fi", .80}, {"names", .88},
	} {
		items := knownItems(t, filepath.Join("..", "text", "testdata", "known", tc.name+".tsv"))
		all = append(all, items...)
		if mrr, n := byWords(t, items); mrr < tc.mrr {
			t.Errorf("%s: mean reciprocal rank %.3f of %d queries, want %.2f", tc.name, mrr, n, tc.mrr)
		}
	}
	if mrr, n := byWords(t, all); mrr < .92 {
		t.Errorf("all: mean reciprocal rank %.3f of %d queries, want .92", mrr, n)
	}
}
