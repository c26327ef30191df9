package remoting

import (
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	protocluster "github.com/asynkron/protoactor-go/cluster"
	"github.com/asynkron/protoactor-go/remote"

	"orgmem/cluster"
)

// gossip is what a test says of the nodes.
type gossip struct{ tell func([]cluster.Member) }

func (g *gossip) Watch(f func([]cluster.Member)) func() {
	g.tell = f
	return func() { g.tell = nil }
}

// TestTopologyFollowsGossip: protoactor's members are the nodes that are alive; one
// that was lost is one again when it is back, as often as that happens, although
// it is the same process; and nothing is told after the end.
func TestTopologyFollowsGossip(t *testing.T) {
	quiet := slog.New(slog.DiscardHandler)
	system := actor.NewActorSystem(
		actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return quiet }),
		actor.WithDeadLetterThrottleInterval(time.Millisecond),
	)
	defer system.Shutdown()
	var left, joined []string
	system.EventStream.Subscribe(func(event any) {
		if e, ok := event.(*protocluster.ClusterTopology); ok {
			for _, m := range e.GetLeft() {
				left = append(left, m.GetHost())
			}
			for _, m := range e.GetJoined() {
				joined = append(joined, m.GetHost())
			}
		}
	})
	g, began := &gossip{}, 0
	p := &Provider{members: g, began: func() { began++ }}
	config := remote.Configure(loopback, 0)
	c := protocluster.New(system, protocluster.Configure("test", p, &Lookup{town{}}, config))
	c.Remote = remote.NewRemote(system, config) // not started: it keeps who has left
	if err := p.StartMember(c); err != nil || began != 1 {
		t.Fatalf("%v; it began %d times", err, began)
	}

	at := time.Unix(1_700_000_000, 0)
	a := cluster.Member{Server: "a", Instance: "a1", Since: at}
	b := cluster.Member{Server: "b", Instance: "b1", Since: at}
	never := cluster.Member{Server: "never", State: cluster.MemberFailed, Since: at}
	gone := func(m cluster.Member, state cluster.MemberState, after time.Duration) cluster.Member {
		m.State, m.Since = state, at.Add(after)
		return m
	}
	for _, step := range []struct {
		all          []cluster.Member
		members      string
		left, joined string
	}{
		{[]cluster.Member{a, never}, "a", "", "a"},
		{[]cluster.Member{a, b, never}, "a b", "", "b"},
		{[]cluster.Member{a, b}, "a b", "", ""}, // nothing that concerns members
		{[]cluster.Member{a, gone(b, cluster.MemberFailed, 1)}, "a", "b", ""},
		{[]cluster.Member{a, gone(b, cluster.MemberAlive, 2)}, "a b", "", "b"},
		{[]cluster.Member{a, gone(b, cluster.MemberFailed, 3)}, "a", "b", ""},
		{[]cluster.Member{a, gone(b, cluster.MemberAlive, 4)}, "a b", "", "b"},
		{[]cluster.Member{a, gone(b, cluster.MemberLeft, 5)}, "a", "b", ""},
		{[]cluster.Member{a, {Server: "b", Instance: "b2", Since: at.Add(6)}}, "a b", "", "b"},
	} {
		left, joined = nil, nil
		g.tell(step.all)
		var members []string
		for _, m := range c.MemberList.Members().Members() {
			members = append(members, m.GetHost())
		}
		slices.Sort(members)
		if got := strings.Join(members, " "); got != step.members || strings.Join(left, " ") != step.left || strings.Join(joined, " ") != step.joined {
			t.Errorf("of %v: members %q, left %q, joined %q", step.all, got, left, joined)
		}
	}

	for range 2 {
		if err := p.Shutdown(true); err != nil || g.tell != nil {
			t.Errorf("still told: %v", err)
		}
	}
}
