package cognition_test

import (
	"slices"
	"strings"
	"testing"

	"orgmem/brain/cognition"
	"orgmem/brain/portrait"
	pb "orgmem/proto"
)

// person is a graph of four texts of a person, of which two state a thing, three name another, and one is a
// preference itself.
func person() *cognition.Graph {
	text := func(id string, day int64) cognition.Node {
		at := day * 24 * 60 * 60 * 1000
		return cognition.Node{
			ID: pb.NodeID(id), Kind: "document", AtMS: at, ValidMS: at, Chunks: []uint64{uint64(day)}, Own: true,
		}
	}
	g := &cognition.Graph{Nodes: []cognition.Node{
		text("t1", 1), text("t2", 2), text("t3", 3), text("kept", 4),
		{ID: "tea", Kind: portrait.Preference},
		{ID: "mara", Kind: cognition.KindEntity, Title: "Mara"},
		{ID: "bo", Kind: cognition.KindEntity, Title: "Bo"},
		{ID: "notes", Kind: "document", AtMS: 9, Chunks: []uint64{9}}, // of nobody
	}}
	g.Nodes[3].Kind, g.Nodes[3].ValidMS = portrait.Preference, 0
	g.Edges = []cognition.Edge{
		{A: 4, B: 0, Kind: cognition.EdgeStatedIn},
		{A: 4, B: 2, Kind: cognition.EdgeStatedIn},
		{A: 4, B: 7, Kind: cognition.EdgeStatedIn},
		{A: 0, B: 5, Kind: cognition.EdgeMentions},
		{A: 1, B: 5, Kind: cognition.EdgeMentions},
		{A: 2, B: 5, Kind: cognition.EdgeMentions},
		{A: 7, B: 6, Kind: cognition.EdgeMentions},
		{A: 1, B: 6, Kind: cognition.EdgeMentions},
		{A: 0, B: 1, Kind: cognition.EdgeSimilar},
	}
	return g
}

func TestWhatThePersonsTextsStateAndName(t *testing.T) {
	g := person()
	for _, x := range []struct {
		got, want []cognition.InTexts
	}{
		{g.Stated(9), []cognition.InTexts{{Node: 4, Texts: []int32{2, 0}}, {Node: 3, Texts: []int32{3}}}},
		{g.Stated(1), []cognition.InTexts{{Node: 4, Texts: []int32{2, 0}}}},
		{g.Named(9), []cognition.InTexts{{Node: 5, Texts: []int32{2, 1, 0}}, {Node: 6, Texts: []int32{1}}}},
	} {
		if !slices.EqualFunc(x.got, x.want, func(a, b cognition.InTexts) bool {
			return a.Node == b.Node && slices.Equal(a.Texts, b.Texts)
		}) {
			t.Errorf("%v, want %v", x.got, x.want)
		}
	}
}

func TestWhatAGraphTellsOfItsPerson(t *testing.T) {
	m := person().Portrait([]cognition.Domain{
		{Label: "tea", Members: []int32{0, 2, 4, 5, 7}}, {Label: "", Members: []int32{1}},
	})
	if m.Texts != 4 || !slices.Equal(m.Latest, []string{"kept", "t3", "t2", "t1"}) {
		t.Errorf("%d texts, %q", m.Texts, m.Latest)
	}
	if !slices.Equal(m.Days, []int64{3, 2, 1}) || !slices.Equal(m.Dated, []string{"t3", "t2", "t1"}) {
		t.Errorf("days %v of %q", m.Days, m.Dated)
	}
	if tea := m.Themes[0]; tea.Texts != 2 || !slices.Equal(tea.Nodes, []string{"t3", "t1"}) ||
		!slices.Equal(tea.Lately, tea.Nodes) {
		t.Errorf("%v", tea)
	}
}

func TestForgettingATextTakesItsWordsFromTheView(t *testing.T) {
	view := func() *pb.IdentityView {
		return &pb.IdentityView{
			Basins: []*pb.Basin{{Label: "tea, cups", Keywords: []string{"tea", "cups"}, Nodes: []string{"t1", "t2"}}},
			Traits: []*pb.Trait{{Name: "formality", Nodes: []string{"t2"}}},
			Portrait: []*pb.PortraitLine{
				{Kind: portrait.Manner, Nodes: []string{"t2", "t3"}},
				{Kind: portrait.Themes, Nodes: []string{"t3"}, Quotes: []string{"tea, cups", "walks"}},
				{Kind: portrait.People, Nodes: []string{"t3"}, Quotes: []string{"Mara Olsen"}},
			},
		}
	}
	for name, x := range map[string]struct {
		id, said string
		gone     []string
		left     []string
		changed  bool
	}{
		"a text that nothing is of": {
			"t9", "rain", nil, []string{portrait.Manner, portrait.Themes, portrait.People}, false,
		},
		"one of the evidence":  {"t2", "rain", nil, []string{portrait.Themes, portrait.People}, true},
		"a word of a label":    {"t9", "more tea", nil, []string{portrait.Manner, portrait.People}, true},
		"a label that is gone": {"t9", "rain", []string{"walks"}, []string{portrait.Manner, portrait.People}, true},
		"a name":               {"t9", "mara olsen came", nil, []string{portrait.Manner, portrait.Themes}, true},
	} {
		v := view()
		his := func(word string) bool { return strings.Contains(x.said, strings.ToLower(word)) }
		changed := cognition.Forget(v, x.id, x.gone, his)
		var left []string
		for _, l := range v.GetPortrait() {
			left = append(left, l.GetKind())
		}
		if changed != x.changed || !slices.Equal(left, x.left) {
			t.Errorf("%s: %q are left, changed: %v", name, left, changed)
		}
		if b := v.GetBasins()[0]; x.said == "more tea" && (b.GetLabel() != "cups" || len(b.GetKeywords()) != 1) {
			t.Errorf("%s: %v", name, b)
		}
		if x.id == "t2" && (len(v.GetTraits()[0].GetNodes()) > 0 || len(v.GetBasins()[0].GetNodes()) != 1) {
			t.Errorf("%s: %v", name, v)
		}
	}
}
