package reader_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"orgmem/brain/embed"
	"orgmem/brain/embed/packfile"
	"orgmem/brain/reader"
	"orgmem/brain/reader/readertest"
	"orgmem/brain/text"
)

// readings are what a worker makes of a question and passages.
func readings(w *reader.Worker, question string, passages []reader.Passage) []reader.Reading {
	return w.Asking(question, passages).Ask(nil, passages)
}

func cost(w *reader.Worker, question string, p reader.Passage) int {
	return w.Asking(question, nil).Cost(p)
}

func windowsOf(w *reader.Worker, p reader.Passage) []text.Span {
	return w.Asking("", nil).Windows(p)
}

// TestAsk: each passage has a reading, with a span of whole tokens of its own text, which is the same alone and among
// others; what the passage is called is read and is never the answer.
func TestAsk(t *testing.T) {
	t.Parallel()
	r := small(t)
	var passages []reader.Passage
	for i, p := range drawnPairs(60) {
		passages = append(passages, reader.Passage{Label: []string{"", p.B}[i%2], Text: p.A})
	}
	const question = "is the office open"
	together := readings(r.NewWorker(), question, passages)
	if len(together) != len(passages) {
		t.Fatalf("%d readings of %d passages", len(together), len(passages))
	}
	w, different := r.NewWorker(), map[float64]bool{}
	for i, p := range passages {
		x := together[i]
		if x.Answers <= 0 || x.Answers >= 1 || x.Score <= 0 || x.Score > 1 ||
			x.Within < x.Score-1e-6 || x.Within > 1+1e-6 {
			t.Errorf("%+v", x)
		}
		if alone := readings(w, question, passages[i:i+1]); alone[0] != x {
			t.Errorf("%v: %+v alone, %+v among others", p, alone[0], x)
		}
		words := strings.Fields(p.Text)
		for said := range strings.FieldsSeq(p.Text[x.Span.Start:x.Span.End]) {
			if !slices.Contains(words, said) {
				t.Errorf("%q is no word of %q", said, p.Text)
			}
		}
		if x.Span.Start == x.Span.End {
			t.Errorf("no span in %q", p.Text)
		}
		different[x.Answers] = true
	}
	if len(different) < len(passages)/2 {
		t.Errorf("%d different readings of %d passages", len(different), len(passages))
	}
	before := []reader.Reading{{Answers: 1}}
	got := w.Asking(question, passages).Ask(before, passages[:1])
	if len(got) != 2 || got[0] != before[0] || got[1] != together[0] {
		t.Errorf("%v appended to %v", got, before)
	}
}

// TestAskDisturbed: what a text is dressed up with changes nothing in how it is read, and the span is the words as they
// are written.
func TestAskDisturbed(t *testing.T) {
	t.Parallel()
	r, err := readertest.Ruled(readertest.Rules{Answers: map[string]float64{"berlin": 4, "cafe": 2}})
	if err != nil {
		t.Fatal(err)
	}
	w := r.NewWorker()
	ask := func(s string) reader.Reading {
		return readings(w, "Where?", []reader.Passage{{Label: "Anna", Text: s}})[0]
	}
	want := ask("We moved to Berlin today.")
	for _, x := range []struct{ text, span string }{
		{"We moved to Berlin🎉🎉 today.", "Berlin"},
		{"We moved to 👩🏽\u200d💻Berlin❤\ufe0f today. 🇩🇪1\ufe0f\u20e3", "Berlin"},
		{"We moved to Веrlіn today.", "Веrlіn"}, // Cyrillic В, е and і
		{"We moved to Βerlin today.", "Βerlin"}, // Greek Β
		{"We moved to Ｂｅｒｌｉｎ today．", "Ｂｅｒｌｉｎ"},
		{"We moved to 𝐁𝐞𝐫𝐥𝐢𝐧 today.", "𝐁𝐞𝐫𝐥𝐢𝐧"},
		{"We moved to 𝔅er\u200bℓin today.", "𝔅er\u200bℓin"},
		{"We moved to B\u0336e\u0336r\u0336l\u0336i\u0336n\u0336 today.", "B\u0336e\u0336r\u0336l\u0336i\u0336n\u0336"},
	} {
		got := ask(x.text)
		if math.Abs(got.Answers-want.Answers) > .02 || x.text[got.Span.Start:got.Span.End] != x.span {
			t.Errorf("%q: %.3f, want %.3f; %q", x.text, got.Answers, want.Answers, x.text[got.Span.Start:got.Span.End])
		}
	}
}

// TestAskReadsSoMuch: what is beyond the bounds of a question, a label or a passage is not read, and a span is no
// longer than the longest.
func TestAskReadsSoMuch(t *testing.T) {
	t.Parallel()
	r := small(t)
	w, long := r.NewWorker(), strings.Repeat("open ", reader.MaxPassage)
	both := []reader.Passage{{Label: long, Text: long}, {Label: long + "monday", Text: long + "monday"}}
	read := readings(w, long, both)
	if read[0] != read[1] {
		t.Errorf("%+v and %+v", read[0], read[1])
	}
	if said := strings.Fields(long[read[0].Span.Start:read[0].Span.End]); len(said) > reader.MaxSpan {
		t.Errorf("a span of %d words", len(said))
	}
	if a := readings(w, long+"monday", []reader.Passage{{Label: long, Text: long}}); a[0] != read[0] {
		t.Errorf("%+v of a longer question, %+v", a[0], read[0])
	}
	most := reader.MaxQuestion + reader.MaxPassage + 3
	if got := cost(w, long, reader.Passage{Label: long, Text: long}); got != most {
		t.Errorf("%d tokens of at most %d", got, most)
	}
	if x := readings(w, "", []reader.Passage{{Text: " \n"}})[0]; x.Span != (text.Span{}) || x.Score != 0 {
		t.Errorf("%+v in a text without words", x)
	}
}

// TestAskByRules: the small reader that other packages test with answers by the words that they name, in whatever case
// they are written, and its spans are those words.
func TestAskByRules(t *testing.T) {
	t.Parallel()
	r, err := readertest.Ruled(readertest.Rules{
		Answers: map[string]float64{"berlin": 4, "cafe": 1}, Pairs: [3]float32{0, 20, 0},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := r.NewWorker()
	const long = "Nobody was told. "
	for _, x := range []struct {
		text, span string
		least      float64
		most       float64
	}{
		{"Our office is in BERLIN, they say.", "BERLIN", .95, 1},
		{strings.Repeat(long, 30) + "Berlin " + long, "Berlin", .95, 1},
		{"We met in the Café Öhl", "Café", .6, .9},
		{"Cafe\u0301s are closed, the cafe\u0301 is not", "cafe\u0301", .6, .9},
		{"Our office is in Munich.", "", 0, .01},
		{strings.Repeat(long, 60) + "Berlin", "", 0, .01}, // beyond what is read
	} {
		got := readings(w, "Where is the office?", []reader.Passage{{Label: "Maria, 2025-10-03", Text: x.text}})[0]
		if got.Answers < x.least || got.Answers > x.most || x.span != "" && x.text[got.Span.Start:got.Span.End] != x.span {
			t.Errorf("%q: %+v, %q", x.text, got, x.text[got.Span.Start:got.Span.End])
		}
	}
	if v := w.Read(nil, []reader.Pair{{A: "a", B: "b"}})[0]; v.Entail < .99 {
		t.Errorf("%+v", v)
	}
}

// TestPacksOfOneTask: a pack with the heads of one task loads and says so, one with a part of them is damaged, and two
// joined read as each does alone.
func TestPacksOfOneTask(t *testing.T) {
	t.Parallel()
	base, hash, err := readertest.Base()
	if err != nil {
		t.Fatal(err)
	}
	load := func(seed uint64, without ...string) (*reader.Reader, error) {
		w := readertest.Weights(seed)
		w.Heads = slices.DeleteFunc(w.Heads, func(h packfile.Head) bool { return slices.Contains(without, h.Name) })
		pack, err := readertest.Pack(hash, w)
		if err != nil {
			t.Fatal(err)
		}
		return reader.LoadPack(pack, base, nil)
	}
	if r, err := load(2); err != nil || !r.Asks() || !r.Tells() {
		t.Errorf("with all heads: %v", err)
	}
	asking := []string{reader.AskHidden, reader.AskOut, reader.AskSpan}
	telling := []string{reader.HeadHidden, reader.HeadOut}
	pairs, err := load(2, asking...)
	if err != nil || pairs.Asks() || !pairs.Tells() {
		t.Fatalf("without those of questions: %v", err)
	}
	answers, err := load(3, telling...)
	if err != nil || !answers.Asks() || answers.Tells() {
		t.Fatalf("without those of pairs: %v", err)
	}
	both := reader.Join(pairs, answers)
	if !slices.Equal(both.IDs(), slices.Concat(pairs.IDs(), answers.IDs())) {
		t.Errorf("joined they are %v", both.IDs())
	}
	w, some := both.NewWorker(), drawnPairs(5)
	if got, want := w.Read(nil, some), pairs.NewWorker().Read(nil, some); !slices.Equal(got, want) {
		t.Errorf("joined %v, alone %v", got, want)
	}
	passages := []reader.Passage{{Text: "The office is in Berlin."}, {Text: "Open on Monday."}}
	asked, alone := readings(w, "Where?", passages), readings(answers.NewWorker(), "Where?", passages)
	if !slices.Equal(asked, alone) {
		t.Errorf("joined %v, alone %v", asked, alone)
	}
	for _, head := range append(asking, telling...) {
		if _, err := load(2, head); !errors.Is(err, embed.ErrPack) {
			t.Errorf("without %s: %v", head, err)
		}
	}
	if _, err := load(2, append(asking, telling...)...); !errors.Is(err, embed.ErrPack) {
		t.Errorf("without any: %v", err)
	}
}

// TestWindows: a long passage is cut between sentences, into stretches that are read whole, and nothing of it is left
// out.
func TestWindows(t *testing.T) {
	t.Parallel()
	w := small(t).NewWorker()
	p := reader.Passage{Label: "monday", Text: strings.Repeat("The office is in Berlin. It is open on Monday.\n", 40)}
	windows := windowsOf(w, p)
	if len(windows) < 2 || len(windows) > 4 {
		t.Fatalf("%d windows", len(windows))
	}
	at := 0
	for _, x := range windows {
		if strings.TrimSpace(p.Text[at:x.Start]) != "" || p.Text[x.End-1] != '.' {
			t.Errorf("%v behind %d", x, at)
		}
		at = x.End
		part := reader.Passage{Label: p.Label, Text: p.Text[x.Start:x.End]}
		if n := cost(w, "", part); n > reader.MaxPassage+3 || n != cost(w, "", reader.Passage{Text: part.Text})+2 {
			t.Errorf("%d tokens", n)
		}
	}
	if strings.TrimSpace(p.Text[at:]) != "" {
		t.Errorf("%q is in no window", p.Text[at:])
	}
	for _, mark := range []string{"", ","} {
		long := reader.Passage{Label: "monday", Text: strings.Repeat("the office is in berlin"+mark+" ", 100) + "on monday"}
		windows, at := windowsOf(w, long), 0
		if len(windows) < 3 || len(windows) > 5 {
			t.Errorf("%d windows of a sentence with %q", len(windows), mark)
		}
		for _, x := range windows {
			part := reader.Passage{Label: long.Label, Text: long.Text[x.Start:x.End]}
			if n := cost(w, "", part); n > reader.MaxPassage+3 || strings.TrimSpace(long.Text[at:x.Start]) != "" ||
				mark != "" && x.End < len(long.Text) && !strings.HasSuffix(part.Text, mark) {
				t.Errorf("%d tokens at %v behind %d: …%s", n, x, at, part.Text[max(0, len(part.Text)-20):])
			}
			at = x.End
		}
		if at != len(long.Text) {
			t.Errorf("%q is in no window", long.Text[at:])
		}
	}
	if got := windowsOf(w, reader.Passage{Text: strings.Repeat("東", 1000)}); len(got) < 2 {
		t.Errorf("%v of a text without spaces", got)
	}
	if got := windowsOf(w, reader.Passage{Text: " "}); len(got) != 0 {
		t.Errorf("%v of nothing", got)
	}
	if got := windowsOf(w, reader.Passage{Text: "The office is open."}); len(got) != 1 || got[0].End != 19 {
		t.Errorf("%v of a short text", got)
	}
}

// TestAskAbroad: what is in English is read by the reader of English, and a question in another language, or one of
// whose passages most are, by that of all languages, all of its passages. Without the latter the former reads all.
func TestAskAbroad(t *testing.T) {
	t.Parallel()
	by := func(word string) *reader.Reader {
		r, err := readertest.Ruled(readertest.Rules{Answers: map[string]float64{word: 6}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	english, all := by("berlin"), by("munich")
	if english.AsksAbroad() || !reader.Join(english, all.Abroad()).AsksAbroad() || all.Abroad().Asks() {
		t.Error("what they can do")
	}
	both := reader.Join(english, all.Abroad()).NewWorker()
	const german = "Das Mittagessen ist am Montag, wie es im Kalender steht."
	const inEnglish = "We moved the office from Berlin to Munich last spring."
	for _, x := range []struct {
		question string
		others   [2]string
		abroad   bool
	}{
		{"Where is the office?", [2]string{"The lunch is on Monday.", "The lunch is on Monday."}, false},
		{"Where is the office?", [2]string{"12.3 %", "12.3 %"}, false},
		{"Where is the office?", [2]string{"The lunch is on Monday.", "昼食は月曜日です。"}, false},
		{"Gdzie jest nasze biuro i kto ma do niego klucz?", [2]string{"The lunch is on Monday.", "12.3 %"}, true},
		{"Wo ist das Büro?", [2]string{"The lunch is on Monday.", "The lunch is on Monday."}, true},
		{"オフィスはどこ?", [2]string{"The lunch is on Monday.", "The lunch is on Monday."}, true},
		{"Where is the office?", [2]string{german, german}, true},
		{"Where is the office?", [2]string{"昼食は月曜日です。", "昼食は月曜日です。"}, true},
		{"Where is the office?", [2]string{"Обед в понедельник.", "Обед в понедельник."}, true},
	} {
		passages := []reader.Passage{{Text: inEnglish}, {Text: x.others[0]}, {Text: x.others[1]}}
		asking := both.Asking(x.question, passages)
		got := asking.Ask(nil, passages)
		want, span := readings(english.NewWorker(), x.question, passages), "Berlin"
		if x.abroad {
			want, span = readings(all.NewWorker(), x.question, passages), "Munich"
		}
		if asking.Abroad() != x.abroad || !slices.Equal(got, want) ||
			inEnglish[got[0].Span.Start:got[0].Span.End] != span {
			t.Errorf("%q beside %q: abroad %t, %+v", x.question, x.others, asking.Abroad(), got)
		}
		if english.NewWorker().Asking(x.question, passages).Abroad() {
			t.Errorf("%q is read abroad by a reader that cannot", x.question)
		}
	}
}
