package peer

import (
	"errors"
	"testing"
	"time"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// TestQuestionsAreBounded: what is on its way to one node has an end.
func TestQuestionsAreBounded(t *testing.T) {
	var o questions
	o.init(clock.Real(), func(wire.ServerID) string { return "" })
	big := &pb.NodeAsk{What: &pb.NodeAsk_Operator{Operator: &pb.OperatorOp{Op: &pb.OperatorOp_RestorePart{
		RestorePart: &pb.RestorePart{Part: make([]byte, maxOutstandingBytes-100)},
	}}}}
	id, _, err := o.add("a", big)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := o.add("a", &pb.NodeAsk{Org: make([]byte, 200)}); !errors.Is(err, errNodeBusy) {
		t.Errorf("beyond the bytes: %v", err)
	}
	o.drop(id)
	for range maxOutstanding {
		if _, _, err := o.add("a", &pb.NodeAsk{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := o.add("a", &pb.NodeAsk{}); !errors.Is(err, errNodeBusy) {
		t.Errorf("beyond the calls: %v", err)
	}
	o.connectionLost("a", nil)
	if len(o.waiting) != 0 || len(o.load) != 0 {
		t.Errorf("%d questions and %d loads are left", len(o.waiting), len(o.load))
	}
}

// TestAFarewellHoldsForAWhile: who has said farewell is asked again once it is heard to have been started again, or
// farewellHold is over.
func TestAFarewellHoldsForAWhile(t *testing.T) {
	now := clock.NewFake(time.Unix(1_700_000_000, 0))
	start := "first"
	var o questions
	o.init(now, func(wire.ServerID) string { return start })
	asks := func() error {
		id, _, err := o.add("a", &pb.NodeAsk{})
		o.drop(id)
		return err
	}
	for name, then := range map[string]func(){
		"its time is over":          func() { now.Advance(1) },
		"it has been started again": func() { start += " and again" },
		"it asks":                   func() { o.resumed("a") },
	} {
		o.hearFarewell("a", func() {})
		now.Advance(farewellHold - 1)
		if err := asks(); !errors.Is(err, errParting) {
			t.Errorf("%s: before, %v", name, err)
		}
		if then(); asks() != nil {
			t.Errorf("%s: it is not asked again", name)
		}
	}
}
