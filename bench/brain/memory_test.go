package main

import (
	"strings"
	"testing"

	"orgmem/brain/index"
	"orgmem/brain/text"
	pb "orgmem/proto"
)

// A message is taken in as the service takes it in: with the name of who says it, as a
// turn at its time. What has a title or is long is none.
func TestMessagesAreTurns(t *testing.T) {
	t.Parallel()

	m := &memory{id: map[pb.NodeID]bool{}}
	var in texts
	var analyzer text.Analyzer
	words := func(s string) int { return len(strings.Fields(s)) }
	for _, d := range []document{
		{ID: "a", Text: "See you there!", Speaker: "Ann", Timestamp: "1:56 pm on 8 May, 2023"},
		{ID: "b", Text: "See you there!", Title: "A letter", Timestamp: "2017-12-31T11:38:10.000028"},
		{ID: "c", Text: strings.Repeat("a b c d ", index.MaxTurnTokens), Timestamp: "13-Jun-2000"},
	} {
		if err := m.take(&in, &analyzer, d, words); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []index.Node{
		{ID: "a", Kind: "document", Turn: true, OccurredMs: 1683554160000},
		{ID: "b", Kind: "document", OccurredMs: 1514720290000},
		{ID: "c", Kind: "document", OccurredMs: 960854400000},
	} {
		if got := m.nodes[i]; got.ID != want.ID || got.Turn != want.Turn || got.OccurredMs != want.OccurredMs {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	if got := m.source.Documents[0]; len(got.Passages) != 1 || got.Passages[0] != "Ann: See you there!" {
		t.Errorf("%+v", got)
	}
	if err := m.take(&in, &analyzer, document{ID: "d", Text: "x", Timestamp: "last week"}, words); err == nil {
		t.Error("a time that is none is taken")
	}
}
