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

	"orgmem/cluster/mesh"
)

// gossip is what a test says of the nodes.
type gossip struct{ tell func([]mesh.Member) }

func (g *gossip) Watch(f func([]mesh.Member)) func() {
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
	p := &Provider{members: g, kinds: []string{KindOrganization, KindSubject}, began: func() { began++ }}
	config := remote.Configure(loopback, 0)
	c := protocluster.New(system, protocluster.Configure("test", p, &Lookup{town{}}, config))
	c.Remote = remote.NewRemote(system, config) // not started: it keeps who has left
	if err := p.StartMember(c); err != nil || began != 1 {
		t.Fatalf("%v; it began %d times", err, began)
	}

	at := time.Unix(1_700_000_000, 0)
	a := mesh.Member{Server: "a", Instance: "a1", Since: at}
	b := mesh.Member{Server: "b", Instance: "b1", Since: at}
	never := mesh.Member{Server: "never", State: mesh.MemberFailed, Since: at}
	gone := func(m mesh.Member, state mesh.MemberState, after time.Duration) mesh.Member {
		m.State, m.Since = state, at.Add(after)
		return m
	}
	for _, step := range []struct {
		all          []mesh.Member
		members      string
		left, joined string
	}{
		{[]mesh.Member{a, never}, "a", "", "a"},
		{[]mesh.Member{a, b, never}, "a b", "", "b"},
		{[]mesh.Member{a, b}, "a b", "", ""}, // nothing that concerns members
		{[]mesh.Member{a, gone(b, mesh.MemberFailed, 1)}, "a", "b", ""},
		{[]mesh.Member{a, gone(b, mesh.MemberAlive, 2)}, "a b", "", "b"},
		{[]mesh.Member{a, gone(b, mesh.MemberFailed, 3)}, "a", "b", ""},
		{[]mesh.Member{a, gone(b, mesh.MemberAlive, 4)}, "a b", "", "b"},
		{[]mesh.Member{a, gone(b, mesh.MemberLeft, 5)}, "a", "b", ""},
		{[]mesh.Member{a, {Server: "b", Instance: "b2", Since: at.Add(6)}}, "a b", "", "b"},
	} {
		left, joined = nil, nil
		g.tell(step.all)
		var members []string
		for _, m := range c.MemberList.Members().Members() {
			members = append(members, m.GetHost())
			if !slices.Equal(m.GetKinds(), p.kinds) {
				t.Errorf("%s has the kinds %v", m.GetHost(), m.GetKinds())
			}
		}
		slices.Sort(members)
		if got := strings.Join(members, " "); got != step.members || strings.Join(left, " ") != step.left ||
			strings.Join(joined, " ") != step.joined {
			t.Errorf("of %v: members %q, left %q, joined %q", step.all, got, left, joined)
		}
	}

	for range 2 {
		if err := p.Shutdown(true); err != nil || g.tell != nil {
			t.Errorf("still told: %v", err)
		}
	}
}
