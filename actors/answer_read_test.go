package actors

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"orgmem/actors/account"
	"orgmem/actors/llm"
	"orgmem/actors/search"
	"orgmem/actors/tenant"
	"orgmem/brain/answer"
	"orgmem/brain/reader/readertest"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// answering has answers come of a reader that goes by rules.
func answering(t *testing.T, rules readertest.Rules) func(*tenant.Config, *storage.Options) {
	t.Helper()
	r, err := readertest.Ruled(rules)
	if err != nil {
		t.Fatal(err)
	}
	return func(c *tenant.Config, _ *storage.Options) { c.Reader = r }
}

func day(s string) int64 {
	at, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err)
	}
	return at.UnixMilli()
}

// TestAnswersOfWhatIsRead: an answer is the sentence that the reader finds, with who says it and when where that is
// another; what was and is no more is left out; where nothing answers memory says so in the question's language.
//
// interface: Endpoints/Brain
func TestAnswersOfWhatIsRead(t *testing.T) {
	t.Parallel()
	n := startNode(t, storagetest.NewDisk(), answering(t, readertest.Rules{
		Answers: map[string]float64{"okafor": 4, "brown": 4, "seven": 4, "nine": 4, "attic": 4},
	}))
	theirs := func(text, on, by string) func(client) {
		return func(c client) {
			c.put("anna")
			it := &pb.IngestItem{Content: text, OccurredMs: day(on)}
			if by != "" {
				it.Metadata = []byte(`{"author":"` + by + `"}`)
			}
			c.as("anna").ingest(it)
		}
	}
	own := func(text string) func(client) { return func(c client) { c.note(text) } }
	boiler := own("# Boiler\n\nThe garden is large. The boiler was serviced by **Mrs Okafor** in May. " +
		"Nobody painted the fence.")
	shed := own("The boiler of the garden is blue, and so is its shed.")
	seven := theirs("The pool opens at seven.", "2026-01-03", "Maria")
	nine := theirs("From now on the pool opens at nine.", "2026-02-09", "Ben")
	served := own("The boiler was serviced by Mrs Okafor in May.")
	gewartet := own("Die Heizung (boiler) wurde im Mai von Frau Okafor gewartet.")
	for i, x := range []struct {
		question, want string
		spans          []string
		subject        string
		notes          []func(client)
	}{
		{
			"Who serviced the boiler?", "The boiler was serviced by Mrs Okafor in May.",
			[]string{"Okafor"},
			"",
			[]func(client){boiler, shed},
		},
		{
			"Where is the ladder kept?", "anna, 3 October 2025: The ladder is kept in the attic.",
			[]string{"attic"},
			"anna",
			[]func(client){shed, theirs("The ladder is kept in the attic.", "2025-10-03", "")},
		},
		{
			"When does the pool open?", "Ben, 9 February: From now on the pool opens at nine.",
			[]string{"nine"},
			"anna",
			[]func(client){seven, nine},
		},
		{
			"When did the pool open previously?", "Ben, 9 February: From now on the pool opens at nine. " +
				"Before, on 3 January, Maria: The pool opens at seven.",
			[]string{"nine", "seven"},
			"anna",
			[]func(client){seven, nine},
		},
		{
			"Wer hat im Mai die Heizung (boiler) gewartet?", "Die Heizung (boiler) wurde im Mai von Frau Okafor gewartet.",
			[]string{"Okafor"},
			"",
			[]func(client){served, gewartet},
		},
		{
			"Who serviced the boiler?", "The boiler was serviced by Mrs Okafor in May.",
			[]string{"Okafor"},
			"",
			[]func(client){gewartet, served},
		},
		{"What colour is the door of the garden?", answer.NothingKnown, nil, "", []func(client){shed}},
		{
			"Wo ist die Farbe für den garden shed?", answer.Nothing("Wo ist die Farbe?"), nil, "", []func(client){shed},
		},
		{"What is in my attic?", answer.NothingKnown, nil, "", []func(client){
			theirs("I keep my ladder in my attic.", "2025-10-03", ""),
		}},
	} {
		c := client{n: n, key: n.org(account.NewOrg{OwnerEmail: fmt.Sprintf("x%d@example.com", i)}).APIKey}
		for _, take := range x.notes {
			take(c)
		}
		a := c.answer(x.question)
		if a.GetAnswer() != x.want {
			t.Errorf("%s: %q, want %q", x.question, a.GetAnswer(), x.want)
		}
		var spans []string
		for _, k := range a.GetCitations() {
			spans = append(spans, k.GetChunk()[k.GetSpanStart():k.GetSpanEnd()])
			if k.GetSubject() != x.subject {
				t.Errorf("%s: from the memory of %q", x.question, k.GetSubject())
			}
		}
		if !slices.Equal(spans, x.spans) {
			t.Errorf("%s: rests on %q", x.question, spans)
		}
	}
}

// TestABrainsPassagesAreRead: where a brain has been trained, what its walk comes to is read, and what does not answer
// is refused as without one.
func TestABrainsPassagesAreRead(t *testing.T) {
	t.Parallel()
	n := startNode(t, storagetest.NewDisk(), drawn, answering(t, readertest.Rules{
		Answers: map[string]float64{"okafor": 4},
	}))
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	docs, _, _ := parish(40)
	c.ingest(docs...)
	c.note("The garden is large. The boiler was serviced by Mrs Okafor in May.")
	if s := c.train(); s.GetArtifact() == nil {
		t.Fatalf("%v", s)
	}
	a := c.answer("Who serviced the boiler?")
	if a.GetAnswer() != "The boiler was serviced by Mrs Okafor in May." || len(a.GetCitations()) != 1 {
		t.Errorf("%v", a)
	}
	if a := c.answer("Who came by balloon?"); a.GetAnswer() != answer.NothingKnown || len(a.GetCitations()) > 0 {
		t.Errorf("%v", a)
	}
}

// TestReportedContradictionsAreNamed: where the texts of an answer are known to contradict each other it says so.
func TestReportedContradictionsAreNamed(t *testing.T) {
	t.Parallel()
	const first, second = "The choir meets in the old chapel.", "The choir meets in the town hall."
	n := startNode(t, storagetest.NewDisk(), thinking, answering(t, readertest.Rules{
		Answers: map[string]float64{"chapel": 4, "hall": 3}, Pairs: [3]float32{9, 0, 0},
	}))
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.note(first)
	c.note(second)
	const question = "Where does the choir meet?"
	if a := c.answer(question); strings.Contains(a.GetAnswer(), "contradict") {
		t.Errorf("before it is known: %q", a.GetAnswer())
	}
	c.think()
	if a, want := c.answer(question), first+" "+second+" These notes contradict each other."; a.GetAnswer() != want ||
		len(a.GetCitations()) != 2 {
		t.Errorf("%v, want %q", a, want)
	}
}

// TestSoManyPassagesAreRead: of a long text the stretch that the question is about is read, wherever it stands, and of
// many texts as many as may be.
func TestSoManyPassagesAreRead(t *testing.T) {
	t.Parallel()
	n := startNode(t, storagetest.NewDisk(), answering(t, readertest.Rules{Answers: map[string]float64{"okafor": 4}}))
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	filler := strings.Repeat("The shed has a roof and it has a floor and so on. ", 15)
	c.note(filler + "The boiler was serviced by Mrs Okafor. " + strings.Repeat("It rains. ", 3))
	for i := range search.MaxRead + 2 {
		c.note(fmt.Sprintf("The shed number %d has a roof and a floor.", i))
	}
	a := c.answer("Who serviced the boiler?")
	if want := "The boiler was serviced by Mrs Okafor."; a.GetAnswer() != want {
		t.Errorf("%q, want %q", a.GetAnswer(), want)
	}
}

// laggingClock goes on by a step with each look at it, as time does for a read that gets little of the processors.
type laggingClock struct {
	*clock.Fake

	step, gone atomic.Int64
}

func (c *laggingClock) Now() time.Time {
	return c.Fake.Now().Add(time.Duration(c.gone.Add(c.step.Load())))
}

// of makes it the clock of a node.
func (c *laggingClock) of(cfg *tenant.Config, _ *storage.Options) {
	c.Fake, _ = cfg.Clock.(*clock.Fake)
	cfg.Clock = c
}

// TestAnswersOfABusyMachine: where there is no time to read all passages, the first MinRead that search found are, and
// what these say is the answer, or that nothing answers: never a passage that has the question's words only, or one
// that was read and does not answer. Without a reader courtesies answer nothing, too.
func TestAnswersOfABusyMachine(t *testing.T) {
	t.Parallel()
	busy := &laggingClock{}
	reads := startNode(t, storagetest.NewDisk(), busy.of, answering(t, readertest.Rules{
		Answers: map[string]float64{"okafor": 4},
	}))
	absent := startNode(t, storagetest.NewDisk())
	for i, x := range []struct {
		name       string
		question   string
		notes      []string
		slow, fast string // how much of it is read, where the reader reads
		without    string // a reader; empty: it does not matter
	}{
		{"among the first", howMuchRent, append(nearRent(search.MinRead-1), rentIs), rentIs, rentIs, ""},
		{"among the others", howMuchRent, append(nearRent(search.MinRead), rentIs), answer.NothingKnown, rentIs, ""},
		{"that has none", howMuchRent, nearRent(search.MaxRead), answer.NothingKnown, answer.NothingKnown, ""},
		{
			"of courtesies", howMuchRent,
			[]string{"Hey Joanna! How much fun in Elm Street!"},
			answer.NothingKnown,
			answer.NothingKnown, "How much fun in Elm Street!",
		},
		{
			"of nothing but courtesies", "How much, Joanna?",
			[]string{"Thanks so much, Joanna!", "Hey Joanna!"},
			answer.NothingKnown, answer.NothingKnown, answer.NothingKnown,
		},
	} {
		org := account.NewOrg{OwnerEmail: fmt.Sprintf("x%d@example.com", i)}
		c, d := client{n: reads, key: reads.org(org).APIKey}, client{n: absent, key: absent.org(org).APIKey}
		for _, note := range x.notes {
			c.note(note)
			d.note(note)
		}
		for step, want := range map[time.Duration]string{search.ReadTimeout: x.slow, time.Millisecond: x.fast} {
			busy.step.Store(int64(step))
			a := c.answer(x.question)
			busy.step.Store(0)
			if a.GetAnswer() != want || (want == answer.NothingKnown) != (len(a.GetCitations()) == 0) {
				t.Errorf("%s, after %v: %v, want %q", x.name, step, a, want)
			}
		}
		if a := d.answer(x.question); x.without != "" && a.GetAnswer() != x.without {
			t.Errorf("%s, without a reader: %v, want %q", x.name, a, x.without)
		}
	}
}

// TestWordedAnswersMustFollow: what a language model words with the passages' own words, but so that the reader does
// not find it to follow, is not said.
func TestWordedAnswersMustFollow(t *testing.T) {
	t.Parallel()
	const worded = "Mrs Okafor serviced the boiler in May."
	for name, x := range map[string]struct {
		pairs [3]float32
		want  string
	}{
		"follows":     {[3]float32{0, 9, 0}, worded},
		"does not":    {[3]float32{0, 0, 9}, "The boiler was serviced by Mrs Okafor in May."},
		"contradicts": {[3]float32{9, 0, 0}, "The boiler was serviced by Mrs Okafor in May."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, c := phrased(t, 100, answering(t, readertest.Rules{
				Answers: map[string]float64{"okafor": 4, "kern": 1}, Pairs: x.pairs,
			}))
			p.answer = func(_ *http.Request, q llm.Question) (int, string) {
				if len(q.Passages) != 1 {
					t.Errorf("is given %v", q.Passages)
				}
				return p.sentences(llm.Sentence{Text: worded, Passages: []int{1}})
			}
			c.note(okafor)
			c.note("The boiler is in the cellar.")
			a := c.answer(whoServiced)
			if a.GetAnswer() != x.want || len(a.GetCitations()) != 1 || p.calls.Load() != 1 {
				t.Errorf("%v after %d calls", a, p.calls.Load())
			}
			if k := a.GetCitations()[0]; k.GetChunk()[k.GetSpanStart():k.GetSpanEnd()] != "Okafor" {
				t.Errorf("%v", k)
			}
		})
	}
}
