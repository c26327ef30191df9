package retriever

import (
	"slices"
	"strings"
	"testing"
)

// TestToldExamples: what people have decided makes questions of its own, as far as what
// it leads to is in the graph; without it the questions are what they were.
func TestToldExamples(t *testing.T) {
	t.Parallel()

	src := village(60, 4)
	g := NewGraph(src, testSalt)
	plain := g.Examples(src, testSalt, 300, 3)
	old := "The barber kept parrots and a zither"
	src.Former = []Former{
		{Document{ID: "was7", Title: "Former Seven", Passages: []string{old + ", and sold both."}}, "doc7"},
		{Document{ID: "lost", Title: "Lost", Passages: []string{"Xylophones were lost."}}, "gone"},
		{Document{ID: "bare"}, "doc8"},
	}
	src.Accepted = []Tie{{From: "doc11", To: "doc30"}, {From: "doc12", To: "gone"}, {From: "ent", To: "doc13"}}
	got := g.Examples(src, testSalt, 600, 3)
	formers, accepted := 0, 0
	for _, e := range got {
		if e.Kind == KindFormer {
			formers++
			of := slices.ContainsFunc(strings.Fields(e.Text), func(w string) bool {
				return strings.Contains(old+" Former Seven sold both", w)
			})
			if !of || !slices.Equal(e.Answers, []int32{7}) {
				t.Errorf("%q: %v", e.Text, e.Answers)
			}
		}
		if e.Kind == KindAccepted {
			accepted++
			named := strings.HasPrefix(e.Text, src.Documents[11].Title) || strings.HasPrefix(e.Text, src.Documents[30].Title)
			if slices.Sort(e.Answers); !named || !slices.Equal(e.Answers, []int32{11, 30}) {
				t.Errorf("%q: %v", e.Text, e.Answers)
			}
		}
		if strings.Contains(e.Text, "Xylophones") {
			t.Errorf("%q asks for what is not there", e.Text)
		}
	}
	if formers < 10 || accepted < 10 || formers+accepted > 120 {
		t.Errorf("of %d questions %d are of former texts, %d of accepted ties", len(got), formers, accepted)
	}
	src.Former, src.Accepted = src.Former[1:], src.Accepted[1:]
	again := g.Examples(src, testSalt, 300, 3)
	if !slices.EqualFunc(plain, again, func(a, b Example) bool {
		return a.Text == b.Text && slices.Equal(a.Answers, b.Answers)
	}) {
		t.Error("what leads nowhere changed the questions")
	}
}
