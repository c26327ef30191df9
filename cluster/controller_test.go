package cluster

import (
	"slices"
	"testing"

	"orgmem/cluster/plan"
	"orgmem/cluster/wire"
	"orgmem/storage/storagetest"
)

func TestDecisionsCountTries(t *testing.T) {
	s := start(t, storagetest.NewDisk())
	c := &controller{node: s.host.node}
	st := plan.Step{Kind: plan.StepAdd, Group: 1, Node: "b", Reason: "it has the best claim"}
	c.decided(st, wire.ErrNotLeader)
	c.decided(plan.Step{Kind: plan.StepPromote, Group: 2, Node: "b"}, nil)
	c.decided(st, wire.ErrNotLeader)
	c.decided(st, nil)
	c.decided(st, nil) // another time: a decision of its own
	var got []string
	for _, d := range c.decisions {
		got = append(got, d.GetAction()+" "+d.GetOutcome())
	}
	if !slices.Equal(got, []string{"promote done", "add-learner done", "add-learner done"}) ||
		c.decisions[1].GetTimes() != 3 {
		t.Errorf("decisions %v", c.decisions)
	}
	if c.stats.Steps != 3 || c.stats.Moves != 2 || c.stats.Failures != 2 {
		t.Errorf("figures %+v", c.stats)
	}
	for range 2 * maxDecisions {
		c.decided(st, nil)
	}
	if len(c.decisions) != maxDecisions {
		t.Errorf("%d decisions are remembered", len(c.decisions))
	}
}
