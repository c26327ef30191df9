package actors

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orgmem/actors/account"
	"orgmem/actors/node"
	"orgmem/actors/search"
	"orgmem/actors/tenant"
	"orgmem/brain/reader"
	"orgmem/brain/reader/readertest"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

const (
	howMuchRent = "How much is the rent of the flat in Elm Street?"
	rentIs      = "The rent of the flat is nine okafor."
)

// nearRent are notes that are nearer to howMuchRent than what answers it.
func nearRent(n int) (notes []string) {
	for i := range n {
		notes = append(notes, fmt.Sprintf("How the flat in Elm Street is, the rent of the flat, number %d.", i))
	}
	return notes
}

// daily takes in notes of a day each, so that none is in a conversation with another.
func (c client) daily(notes ...string) {
	c.n.t.Helper()
	var items []*pb.IngestItem
	for i, note := range notes {
		at := day("2025-01-01") + int64(i)*24*time.Hour.Milliseconds()
		items = append(items, &pb.IngestItem{Content: note, OccurredMs: at})
	}
	c.ingest(items...)
}

// readFor finds the hit that says rentIs: its place from 1 on, and its reading; both are 0 where it is not found.
func readFor(hits []*pb.Hit) (place int, reading float64) {
	for i, h := range hits {
		if h.GetChunk() == rentIs {
			return i + 1, h.GetExplained().GetReading()
		}
	}
	return 0, 0
}

// TestThoroughPutsWhatAnswersFirst: in quality mode thorough what the reader finds to answer stands before what shares
// more words with the question, also in retrieval, and the explanations add up to scores that fall. Other modes do not
// read, and neither are questions read that the reader does not know the words of or would see a part of, nor one arm
// alone.
//
// interface: Endpoints/Search
func TestThoroughPutsWhatAnswersFirst(t *testing.T) {
	t.Parallel()
	n := startNode(t, storagetest.NewDisk(), answering(t, readertest.Rules{Answers: map[string]float64{"okafor": 4}}))
	org := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	modes := map[string]client{}
	for _, mode := range []string{"fast", "balanced", "thorough"} {
		org.put(mode)
		c := org.as(mode)
		c.ok(patchSettings(mode, nil))
		c.daily(append(nearRent(12), rentIs)...)
		modes[mode] = c
	}
	for _, x := range []struct {
		name, mode, arm, query string
		read                   bool
	}{
		{"a question", "thorough", "", howMuchRent, true},
		{"a question, balanced", "balanced", "", howMuchRent, false},
		{"a question, fast", "fast", "", howMuchRent, false},
		{"likeness alone", "thorough", "vector", howMuchRent, false},
		{"words alone", "thorough", "keyword", howMuchRent, false},
		{"in German", "thorough", "", "Wie hoch ist die rent für die flat in der Elm Street?", false},
		{"a long text", "thorough", "", howMuchRent + strings.Repeat(" It is a flat.", reader.MaxQuestion), false},
	} {
		c := modes[x.mode]
		op := &pb.Search{Query: x.query, Mode: x.arm, TopK: 20, Explain: true}
		hits := c.search(op)
		place, reading := readFor(hits)
		if (reading > 0) != x.read || (place == 1) != x.read {
			t.Errorf("%s: what answers has place %d by a reading of %v", x.name, place, reading)
		}
		for i, h := range hits {
			e := h.GetExplained()
			if !sums(e) || e.GetTotal()-h.GetScore() > 1e-5 || h.GetScore()-e.GetTotal() > 1e-5 ||
				e.GetRank() != uint32(i+1) || i > 0 && h.GetScore() > hits[i-1].GetScore() ||
				h.GetChunk() != rentIs && e.GetReading() != 0 {
				t.Errorf("%s: hit %d of score %v: %v", x.name, i+1, h.GetScore(), e)
			}
		}
		op.Explain = false
		op.TopK = 3 // what answers is not among the first three but for the reading
		if place, _ := readFor(c.search(op)); (place == 1) != x.read || len(c.search(op)) != 3 {
			t.Errorf("%s: what answers has place %d of three", x.name, place)
		}
		if x.arm != "" {
			continue
		}
		found := c.ok(&pb.Envelope{Op: &pb.Envelope_Mind{Mind: &pb.MindOp{Op: &pb.MindOp_Retrieve{
			Retrieve: &pb.Retrieve{Query: x.query, TopK: 3, MaxHops: 1},
		}}}}).GetMind().GetRetrieved()
		if place, _ := readFor(found.GetHits()); (place == 1) != x.read {
			t.Errorf("%s: retrieval has what answers at place %d", x.name, place)
		}
	}
}

// TestRereadingIsBounded: the first of a search are read whatever the time, the others as long as there is some, and
// none behind MaxReread; and so is what they are to the model together.
func TestRereadingIsBounded(t *testing.T) {
	t.Parallel()
	if most := reader.MaxQuestion + reader.MaxPassage + 3; search.MinRead*most > search.MaxRereadTokens {
		t.Errorf("%d passages of %d tokens are too many to be read in any case", search.MinRead, most)
	}
	busy := &laggingClock{}
	n := startNode(t, storagetest.NewDisk(), busy.of, answering(t, readertest.Rules{
		Answers: map[string]float64{"okafor": 4},
	}))
	org := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	long := nearRent(search.MaxReread - 1)
	for i := range long {
		long[i] += strings.Repeat(" The rent of the flat in Elm Street is much.", 14)
	}
	for i, x := range []struct {
		name       string
		before     []string
		slow, fast bool // what answers is read, where time goes by quickly and where it does not
	}{
		{"among the first", nearRent(search.MinRead - 1), true, true},
		{"among the others", nearRent(search.MinRead), false, true},
		{"the last that is read", nearRent(search.MaxReread - 1), false, true},
		{"behind", nearRent(search.MaxReread), false, false},
		{"behind long ones", long, false, false},
	} {
		c := org.as(fmt.Sprintf("s%d", i))
		org.put(c.subject)
		c.ok(patchSettings("thorough", nil))
		c.daily(append(x.before, rentIs)...)
		for step, want := range map[time.Duration]bool{search.RereadTimeout: x.slow, time.Millisecond: x.fast} {
			busy.step.Store(int64(step))
			hits := c.search(&pb.Search{Query: howMuchRent, TopK: 50, Explain: true})
			busy.step.Store(0)
			place, reading := readFor(hits)
			if (reading > 0) != want || place == 0 || len(hits) != len(x.before)+1 {
				t.Errorf("%s, after %v: place %d of %d by a reading of %v", x.name, step, place, len(hits), reading)
			}
		}
	}
}

// TestRereadingLeavesOthersTheirTurns: a search whose hits are read waits for a wide turn, and keeps none of those that
// the other searches take.
func TestRereadingLeavesOthersTheirTurns(t *testing.T) {
	t.Parallel()
	n := startNode(t, storagetest.NewDisk(), answering(t, readertest.Rules{Answers: map[string]float64{"okafor": 4}}))
	org := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	org.put("anna")
	c := org.as("anna")
	c.ok(patchSettings("thorough", nil))
	c.note(rentIs)
	org.note(rentIs)
	hold := make(chan struct{})
	for range n.sys.Readers {
		if err := n.sys.Reads.Do(pb.OrgID{9}, node.Wide, func(int) { <-hold }); err != nil {
			t.Fatal(err)
		}
	}
	waiting := len(n.sys.Readers) - max(1, len(n.sys.Readers)/2)
	n.waitFor(func() bool { return n.sys.Reads.Length() == waiting })
	found := make(chan *pb.Reply)
	go func() {
		r, err := n.sys.Ask(t.Context(), c.envelope(find(howMuchRent)))
		if err != nil {
			t.Error(err)
		}
		found <- r
	}()
	n.waitFor(func() bool { return n.sys.Reads.Length() == waiting+1 })
	if len(org.search(&pb.Search{Query: howMuchRent})) != 1 {
		t.Error("a search of a balanced memory finds nothing beside it")
	}
	select {
	case r := <-found:
		t.Errorf("it did not wait: %v", r)
	default:
	}
	close(hold)
	if r := <-found; len(r.GetSearch().GetHits()) != 1 {
		t.Errorf("answered %v", r)
	}
}

// TestThoroughReadsAbroad: a question in another language is read by the reader of all languages, if there is one, and
// what it surely holds for an answer stands first; what it hardly does stays where it is. Where a question in English
// finds notes in another language nothing is read.
func TestThoroughReadsAbroad(t *testing.T) {
	t.Parallel()
	const inGerman = "Wie hoch ist die rent für die flat in der Elm Street?"
	var german []string
	for i := range 12 {
		const note = "How the flat in der Elm Street ist, die rent der flat, und das ist die Nummer %d."
		german = append(german, fmt.Sprintf(note, i))
	}
	germanRent := "Die rent der flat ist neun okafor, und das ist nicht viel."
	by := func(weight float64) *reader.Reader {
		r, err := readertest.Ruled(readertest.Rules{Answers: map[string]float64{"okafor": weight}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	hardly := -1.8
	asking := by(hardly).NewWorker().Asking(inGerman, nil)
	if p := asking.Ask(nil, []reader.Passage{{Text: rentIs}})[0].Answers; p < 0.02 || p > 0.19 {
		t.Fatalf("it answers with probability %v", p)
	}
	for _, x := range []struct {
		name, query string
		notes       []string
		right       string
		english     float64
		abroad      *reader.Reader
		read        bool
	}{
		{"in German, without a reader of it", inGerman, nearRent(12), rentIs, 4, nil, false},
		{"in German", inGerman, nearRent(12), rentIs, hardly, by(4), true},
		{"in German, hardly", inGerman, nearRent(12), rentIs, 4, by(hardly), false},
		{"in English, of German notes", howMuchRent, german, germanRent, 4, by(4), false},
		{"in English", howMuchRent, nearRent(12), rentIs, 4, by(hardly), true},
	} {
		both := by(x.english)
		if x.abroad != nil {
			both = reader.Join(both, x.abroad.Abroad())
		}
		n := startNode(t, storagetest.NewDisk(), func(c *tenant.Config, _ *storage.Options) { c.Reader = both })
		c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
		c.ok(patchSettings("thorough", nil))
		c.daily(append(slices.Clone(x.notes), x.right)...)
		hits := c.search(&pb.Search{Query: x.query, TopK: 20, Explain: true})
		place, reading := 0, 0.0
		for i, h := range hits {
			if h.GetChunk() == x.right {
				place, reading = i+1, h.GetExplained().GetReading()
			}
		}
		if (reading > 0) != x.read || (place == 1) != x.read || len(hits) != len(x.notes)+1 {
			t.Errorf("%s: what answers has place %d of %d by a reading of %v", x.name, place, len(hits), reading)
		}
	}
}
