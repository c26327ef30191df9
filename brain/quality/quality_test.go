package quality_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"orgmem/brain/quality"
	pb "orgmem/proto"
)

func TestQuestionsAreSeededByTheText(t *testing.T) {
	t.Parallel()
	m := quality.Memory{Title: "Flour of the mill", Texts: []string{
		"Wendelin Oster keeps his flour in the northern cellar of the old mill. It rains there in March.",
	}}
	r := &quality.Rarity{}
	for range 3 {
		r.Add(quality.Memory{Texts: []string{"It is kept in the cellar of his house."}})
	}
	r.Add(m)
	all := quality.Questions(m, r)
	if len(all) != 3 || !slices.Equal(all, quality.Questions(m, r)) {
		t.Fatalf("%v, then %v", all, quality.Questions(m, r))
	}
	for i, kind := range []quality.Kind{quality.KindWords, quality.KindParaphrase, quality.KindTitle} {
		if all[i].Kind != kind || all[i].Text == "" || strings.Contains(m.Texts[0], all[i].Text) {
			t.Errorf("%v", all[i])
		}
	}
	if got := len(strings.Fields(all[1].Text)); got < 3 || got > 12 {
		t.Errorf("a paraphrase of %d words", got)
	}
}

func TestWhatHasNoWordsGivesNoQuestion(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "🍞🥐🥖", "Bread", "\u200b\u0301\u202e", strings.Repeat("a", 1<<20), "\xff\xfe"} {
		m := quality.Memory{Title: s, Texts: []string{s}}
		r := &quality.Rarity{}
		r.Add(m)
		if all := quality.Questions(m, r); len(all) != 0 {
			t.Errorf("%.20q gives %v", s, all)
		}
	}
	spaceless := quality.Memory{Texts: []string{"面包在北方的磨坊里慢慢地发酵，面粉放在旧地窖里。"}}
	if all := quality.Questions(spaceless, &quality.Rarity{}); len(all) != 2 {
		t.Errorf("without spaces: %v", all)
	}
}

func FuzzQuestions(f *testing.F) {
	f.Add("Flour", "It is kept in the cellar of his house. Nobody has seen it there.")
	f.Add("\xff", "👩‍👩‍👧 und ًشيء 123 \x00\u202e")
	f.Fuzz(func(t *testing.T, title, body string) {
		m := quality.Memory{Title: title, Texts: []string{body}}
		r := &quality.Rarity{}
		r.Add(m)
		all := quality.Questions(m, r)
		if !slices.Equal(all, quality.Questions(m, r)) {
			t.Error("the same memory gives other questions")
		}
		for _, q := range all {
			if strings.TrimSpace(q.Text) == "" || len(strings.Fields(q.Text)) > 15 {
				t.Errorf("%q", q.Text)
			}
		}
		if s := quality.ShinglesOf(m); s.Near(s) != (strings.TrimSpace(body) != "" && s.Near(s)) {
			t.Error("it is not near itself")
		}
		if quality.Language(m) == "" {
			t.Error("it has no language")
		}
	})
}

func TestNearDuplicates(t *testing.T) {
	t.Parallel()
	const text = "The bread of the northern mill rises slowly, and the flour is kept in the old cellar."
	for other, near := range map[string]bool{
		text:                  true,
		strings.ToUpper(text): true,
		"  The bread — of the northern mill rises slowly and the flour is kept in the old cellar": true,
		text + " So it is.": true,
		"The cake of the southern house sinks quickly, and the sugar is sold on the new market.": false,
		text + " Batch 7.": false, // a number of its own
		"":                 false,
	} {
		a := quality.ShinglesOf(quality.Memory{Texts: []string{text}})
		b := quality.ShinglesOf(quality.Memory{Texts: []string{other}})
		if a.Near(b) != near || b.Near(a) != near {
			t.Errorf("%q: %v and %v", other, a.Near(b), b.Near(a))
		}
	}
	emoji := func(s string) quality.Shingles { return quality.ShinglesOf(quality.Memory{Texts: []string{s}}) }
	if !emoji("🍞🥐").Near(emoji("🍞🥐")) || emoji("🍞🥐").Near(emoji("🥨🥖")) {
		t.Error("emoji are not told apart")
	}
}

func TestLanguages(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"The flour is kept in the old cellar of the mill.":        "en",
		"Das Mehl ist in dem alten Keller und nicht in der Mühle": "de",
		"小麦粉は古い地下室にあります":                                          "ja", "面粉放在旧地窖里": "zh", "밀가루는 지하실에 있다": "ko",
		"Мука лежит в старом подвале": "ru", "الطحين في القبو القديم": "ar", "आटा तहखाने में है": "hi",
		"🍞🥐": "und", "": "und",
	} {
		if got := quality.Language(quality.Memory{Texts: []string{text}}); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

// The values are those of R's binom::binom.wilson.
func TestWilson(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		found, n  uint64
		low, high float64
	}{{0, 0, 0, 1}, {0, 10, 0, 0.277533}, {8, 10, 0.490162, 0.943318}, {10, 10, 0.722467, 1}} {
		low, high := quality.Wilson(x.found, x.n)
		if math.Abs(low-x.low) > 1e-5 || math.Abs(high-x.high) > 1e-5 {
			t.Errorf("%d of %d: %f to %f", x.found, x.n, low, high)
		}
	}
}

func TestFormerFirst(t *testing.T) {
	t.Parallel()
	fact := func(value uint64) []*pb.StatedFact { return []*pb.StatedFact{{Key: 1, Value: value}} }
	old := &pb.Node{Id: "old", Status: pb.StatusLive, ValidFromMs: 1, Facts: fact(1)}
	now := &pb.Node{Id: "new", Status: pb.StatusLive, ValidFromMs: 2, Facts: fact(2)}
	ended := &pb.Node{Id: "ended", Status: pb.StatusLive, ValidFromMs: 3, ValidToMs: 4, Facts: fact(3)}
	replaced := &pb.Node{Id: "replaced", Status: pb.StatusSuperseded, SupersededBy: "new"}
	other := &pb.Node{Id: "other", Status: pb.StatusLive, ValidFromMs: 9}
	for name, x := range map[string]struct {
		hits []*pb.Node
		want bool
	}{
		"none": {nil, false}, "the later first": {[]*pb.Node{now, old, ended}, false},
		"the former first": {[]*pb.Node{old, other, now}, true}, "the ended first": {[]*pb.Node{ended, now}, true},
		"the superseded first": {[]*pb.Node{replaced, now}, true}, "of other things": {[]*pb.Node{old, other}, false},
	} {
		if got := quality.FormerFirst(x.hits, 5); got != x.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
