package actors

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"orgmem/actors/account"
	"orgmem/actors/commit"
	"orgmem/actors/tenant"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

func usageOp(op *pb.GetUsage) *pb.Envelope {
	return dataOp(&pb.DataOp{Op: &pb.DataOp_GetUsage{GetUsage: op}})
}

func (c client) usage(op *pb.GetUsage) []*pb.UsageBucket {
	c.n.t.Helper()
	return c.ok(usageOp(op)).GetData().GetUsage().GetBuckets()
}

// metered is a search as the edge sends it.
func metered(query string) *pb.Envelope {
	op := find(query)
	op.Capability = "search"
	return op
}

// spent adds up a report, by subject.
func spent(buckets []*pb.UsageBucket) map[string][2]uint64 {
	sums := map[string][2]uint64{}
	for _, b := range buckets {
		for _, g := range b.GetGroups() {
			s := sums[g.GetSubject()]
			sums[g.GetSubject()] = [2]uint64{s[0] + g.GetReadUnits(), s[1] + g.GetEmbedTokens()}
		}
	}
	return sums
}

// interface: Endpoints/Usage
func TestUsageIsGrouped(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	made := n.org(account.NewOrg{})
	c := client{n: n, key: made.APIKey}
	_, peer := n.recruit(made.Org, "peer@example.com", pb.RoleMember, pb.ScopeRead, pb.ScopeUsage)
	c.put("ann")
	if got := c.usage(&pb.GetUsage{}); len(got) != 0 {
		t.Fatalf("before anything was used: %v", got)
	}
	c.as("ann").ok(metered("one two"))
	c.as("ann").ok(metered("three"))
	c.ok(metered("one"))
	peer.as("ann").ok(metered("one two three"))
	peer.refused(pb.CodePermissionDenied, dryPurge("ann")) // what is refused costs nothing
	line := func(g *pb.UsageGroup) string {
		key := ""
		switch g.GetKey() {
		case made.Key.String():
			key = "first"
		case pb.HashKey(peer.key).String():
			key = "peer"
		}
		name := g.GetSubject()
		if name == made.Owner.String() {
			name = "owner"
		}
		return fmt.Sprintf("%s/%s/%s %d+%d", name, g.GetCapability(), key, g.GetReadUnits(), g.GetEmbedTokens())
	}
	for by, want := range map[string][]string{
		"":                        {"ann// 3+0", "owner// 1+0"},
		account.GroupBySubject:    {"ann// 3+0", "owner// 1+0"},
		account.GroupByCapability: {"ann/search/ 3+0", "owner/search/ 1+0"},
		account.GroupByKey:        {"ann//first 2+0", "ann//peer 1+0", "owner//first 1+0"},
	} {
		var got []string
		for _, b := range peer.usage(&pb.GetUsage{GroupBy: by}) {
			for _, g := range b.GetGroups() {
				got = append(got, line(g))
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("by %q: %q, want %q", by, got, want)
		}
	}
}

// interface: Resources/Usage bucket
func TestUsageBuckets(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	start := n.clock.Now() // 12:00
	for range 3 {          // 12:00, 12:40, 13:20
		c.ok(metered("one"))
		n.clock.Advance(40 * time.Minute)
	}
	at := func(d time.Duration) int64 { return start.Add(d).UnixMilli() }
	for _, q := range []struct {
		name       string
		start, end time.Duration
		want       string
	}{
		{"an hour is whole", 30 * time.Minute, 45 * time.Minute, "[12-13: 2]"},
		{"its end is not in it", 0, time.Hour, "[12-13: 2]"},
		{"two hours", 0, 61 * time.Minute, "[12-13: 2 13-14: 1]"},
		{"nothing was used", 5 * time.Hour, 6 * time.Hour, "[]"},
		{"seven days are hours", 0, 7 * 24 * time.Hour, "[12-13: 2 13-14: 1]"},
		{"beyond are days", -time.Hour, 7 * 24 * time.Hour, "[00-00: 3]"},
		{"no range", time.Hour, time.Hour, "[]"},
	} {
		var got []string
		for _, b := range c.usage(&pb.GetUsage{StartMs: at(q.start), EndMs: at(q.end)}) {
			hour := func(ms int64) string { return time.UnixMilli(ms).UTC().Format("15") }
			got = append(got, fmt.Sprintf("%s-%s: %d", hour(b.GetStartMs()), hour(b.GetEndMs()),
				b.GetGroups()[0].GetReadUnits()))
		}
		if fmt.Sprint(got) != q.want {
			t.Errorf("%s: %v, want %s", q.name, got, q.want)
		}
	}
	c.refused(pb.CodeValidation, usageOp(&pb.GetUsage{StartMs: at(0), EndMs: at(-1)}))
	c.refused(pb.CodeValidation, usageOp(&pb.GetUsage{
		StartMs: at(0),
		EndMs:   at(account.MaxUsageRange + time.Millisecond),
	}))
	c.ok(usageOp(&pb.GetUsage{StartMs: at(0), EndMs: at(account.MaxUsageRange)}))
	c.inOrg(func(o *tenant.Org) {
		err := o.WithStore(func(st *storage.Store) error {
			for most, want := range map[int]string{1: pb.CodeValidation, 2: ""} { // two lines, of two hours
				r, err := tenant.ModuleOf[*account.Usage](&o.View).Report(st, start, start.Add(2*time.Hour), account.GroupBySubject,
					most)
				if got := r.GetProblem().GetCode(); err != nil || got != want {
					t.Errorf("with at most %d lines: %q, %v", most, got, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// TestGraphListsCostByTheirRecords holds lists to docs/usage.md.
func TestGraphListsCostByTheirRecords(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	var docs []*pb.IngestItem
	for i := range 25 {
		docs = append(docs, doc("", fmt.Sprintf("Common text %d.", i)))
	}
	id := c.ingest(docs...).GetItems()[0].GetNode()
	want := uint64(0)
	for _, read := range []struct {
		op   *pb.Envelope
		cost uint64
	}{
		{graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListNodes{ListNodes: &pb.ListNodes{Page: &pb.Page{Size: 10}}}}), 1},
		{graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListNodes{ListNodes: &pb.ListNodes{Page: &pb.Page{Size: 11}}}}), 2},
		{graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_SearchNodes{SearchNodes: &pb.SearchNodes{Q: "common"}}}), 3},
		{graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListEdges{ListEdges: &pb.ListEdges{}}}), 1},
		{graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListDomains{ListDomains: &pb.ListDomains{}}}), 1},
		{graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_NodeContext{NodeContext: &pb.NodeContext{Id: id}}}), 1},
		{historyOp(id, nil), 1},
		{getNodeOp(id), 1},
	} {
		read.op.Capability = "graph"
		c.ok(read.op)
		want += read.cost
		if got := c.usage(&pb.GetUsage{GroupBy: account.GroupByCapability})[0].GetGroups()[0].GetReadUnits(); got != want {
			t.Fatalf("%s: %d read units in all, want %d", operation(read.op), got, want)
		}
	}
}

func TestUsageOutlivesTheSubjectWithoutItsName(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	made := n.org(account.NewOrg{})
	c := client{n: n, key: made.APIKey}
	c.put("ann")
	c.as("ann").ok(metered("one"))
	if got := spent(c.usage(&pb.GetUsage{})); got["ann"][0] != 1 {
		t.Fatalf("usage %v", got)
	}
	n.wait(jobOf(c.ok(&pb.Envelope{Op: &pb.Envelope_EraseSubject{EraseSubject: &pb.EraseSubject{Id: "ann"}}})))
	got := spent(c.usage(&pb.GetUsage{}))
	if _, there := got["ann"]; there || len(got) != 1 {
		t.Errorf("usage after the erasure %v", got)
	}
}

func TestOldUsageIsSwept(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	made := n.org(account.NewOrg{})
	c := client{n: n, key: made.APIKey}
	c.ok(metered("one"))
	c.usage(&pb.GetUsage{})
	store := storage.StoreID{Org: made.Org, Realm: storage.RealmMain}
	lines := func() int { return len(records(n, store, storage.TableUsage, func() *pb.Usage { return &pb.Usage{} })) }
	if lines() != 1 {
		t.Fatalf("%d lines", lines())
	}
	n.clock.Advance(account.UsageRetention + time.Hour)
	n.waitFor(func() bool {
		c.ok(&pb.Envelope{Op: &pb.Envelope_Me{Me: &pb.Me{}}})
		n.clock.Advance(tenant.SweepInterval)
		return lines() == 0
	})
}

// TestUsageIsWhatAnswersSaid sends searches, content and edits for several
// subjects by several keys, with refusals and
// restarts between them, and compares the report with the sum of what was answered.
func TestUsageIsWhatAnswersSaid(t *testing.T) {
	storagetest.FewerUnderRace(t, 20)
	rapid.Check(t, func(rt *rapid.T) {
		disk := storagetest.NewDisk()
		n := startNode(t, disk, smallSlices)
		made := n.org(account.NewOrg{})
		_, second := n.recruit(made.Org, "second@example.com", pb.RoleMember)
		keys := []client{{n: n, key: made.APIKey}, second}
		keys[0].put("ann")
		owner := func(c client) string {
			return pb.UserID(c.ok(&pb.Envelope{Op: &pb.Envelope_Me{Me: &pb.Me{}}}).GetMe().GetUser()).String()
		}
		names := []string{owner(keys[0]), owner(second)}
		keys[0].as("ann").ingest(doc("", "something to be found"))
		want := map[string][2]uint64{"ann": {0, uint64(wordEmbedder{}.CountTokens("something to be found"))}}
		add := func(who string, units, tokens uint64) {
			if units+tokens > 0 {
				want[who] = [2]uint64{want[who][0] + units, want[who][1] + tokens}
			}
		}
		seen := map[string]bool{}
		// assert writes an edge and says what that costs.
		assert := func(c client) uint64 {
			nodes := c.nodes(&pb.ListNodes{}, 2)
			if len(nodes) < 2 {
				return 0
			}
			op := assertOp(&pb.AssertEdge{Source: nodes[0], Target: nodes[1], Type: "about"})
			op.Capability = "graph"
			c.ok(op)
			return 1
		}
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			k := rapid.IntRange(0, 1).Draw(rt, "key")
			c, who := keys[k], names[k]
			if rapid.Bool().Draw(rt, "as ann") {
				c, who = c.as("ann"), "ann"
			}
			switch rapid.SampledFrom([]string{
				"search", "search", "search", "ingest", "assert", "bad", "hour", "restart",
				"crash", "report",
			}).Draw(rt, "step") {
			case "search":
				r := c.ok(metered("common")).GetSearch()
				add(who, r.GetReadUnits(), r.GetEmbedTokens())
			case "ingest":
				text := fmt.Sprintf("common content %d", rapid.IntRange(0, 5).Draw(rt, "content"))
				op := items(doc("", text))
				op.Capability = pb.CapabilityIngest
				id := jobOf(c.ok(op))
				n.wait(id)
				if !seen[who+text] {
					add(who, 0, uint64(wordEmbedder{}.CountTokens(text)))
				}
				seen[who+text] = true
			case "assert":
				add(who, assert(c), 0)
			case "crash": // behind a report that made reads exact: what was written since is not lost
				if got := spent(keys[0].usage(&pb.GetUsage{})); !maps.Equal(got, want) {
					rt.Fatalf("usage %v before a crash, want %v", got, want)
				}
				add(who, assert(c), 0)
				now := n.clock.Now()
				disk = disk.Crash(0, 1)
				n.stop()
				n = startNode(t, disk, smallSlices)
				n.clock.Set(now)
				keys[0].n, keys[1].n = n, n
			case "bad":
				op := metered("")
				op.Op = &pb.Envelope_Rejected{Rejected: &pb.Rejected{Problem: tenant.NewProblem(pb.CodeValidation, "bad")}}
				c.refused(pb.CodeValidation, op)
			case "hour":
				n.clock.Advance(time.Duration(rapid.IntRange(1, 90).Draw(rt, "minutes")) * time.Minute)
			case "restart":
				now := n.clock.Now()
				n.stop()
				n = startNode(t, disk, smallSlices)
				n.clock.Set(now)
				keys[0].n, keys[1].n = n, n
			case "report":
				if got := spent(keys[0].usage(&pb.GetUsage{})); !maps.Equal(got, want) {
					rt.Fatalf("usage %v, want %v", got, want)
				}
			}
		}
		got := keys[0].usage(&pb.GetUsage{GroupBy: account.GroupByCapability})
		if sums := spent(got); !maps.Equal(sums, want) {
			rt.Fatalf("usage %v, want %v", sums, want)
		}
		if byKey := spent(keys[0].usage(&pb.GetUsage{GroupBy: account.GroupByKey})); !maps.Equal(byKey, want) {
			rt.Fatalf("usage by key %v, want %v", byKey, want)
		}
		for _, b := range got {
			for _, g := range b.GetGroups() {
				if !slices.Contains([]string{"search", "graph", pb.CapabilityIngest}, g.GetCapability()) {
					rt.Fatalf("capability %q", g.GetCapability())
				}
			}
		}
		n.stop()
	})
}

// A metered call that writes has its cost in the commit of its effect: what call.answer
// counts by itself may be refused while the organization moves, and then the call, which is
// told to try again, must only have read. Each operation that a metered route can carry is
// either here or a read.
func TestMeteredWritesCarryTheirCost(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	made := n.org(account.NewOrg{})
	c := client{n: n, key: made.APIKey}
	store := storage.StoreID{Org: made.Org, Realm: storage.RealmMain}
	stored := func() (units uint64) {
		for _, u := range records(n, store, storage.TableUsage, func() *pb.Usage { return &pb.Usage{} }) {
			units += u.GetReadUnits()
		}
		return units
	}
	kept, gone, old, other := c.note("This one is kept."), c.note("This one is forgotten."), c.note("This one is old."),
		c.note("This is another one.")
	c.say(said("one", "rename the parser"))
	c.settled()
	var edge string
	tests := map[string]func() *pb.Envelope{
		"EditNode":      func() *pb.Envelope { return editOp(&pb.EditNode{Id: kept, Content: new("It reads otherwise.")}) },
		"ForgetNode":    func() *pb.Envelope { return forgetOp(gone) },
		"UndeleteNode":  func() *pb.Envelope { return undeleteOp(gone) },
		"SupersedeNode": func() *pb.Envelope { return supersedeOp(old, "This one is new.") },
		"AssertEdge":    func() *pb.Envelope { return assertOp(&pb.AssertEdge{Source: kept, Target: other, Type: "about"}) },
		"ForgetEdge": func() *pb.Envelope {
			return graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ForgetEdge{ForgetEdge: &pb.ForgetEdge{Id: edge}}})
		},
		"DeleteSession": func() *pb.Envelope {
			return link(&pb.LinkOp{Op: &pb.LinkOp_DeleteSession{DeleteSession: &pb.DeleteSession{Id: "one"}}})
		},
	}
	// The clock stands, so nothing writes usage but the commits of effects.
	for _, name := range []string{
		"EditNode", "ForgetNode", "UndeleteNode", "SupersedeNode",
		"AssertEdge", "ForgetEdge", "DeleteSession",
	} {
		before := stored()
		op := tests[name]()
		op.Capability = "graph"
		r := c.ok(op)
		if e := r.GetGraph().GetEdge(); e != nil && edge == "" {
			edge = e.GetEdge().GetId()
		}
		if got := stored(); got != before+1 {
			t.Errorf("%s: %d units are stored when it is answered, %d before it", name, got, before)
		}
	}
	reads := []string{
		"NodeHistory", "ListNodes", "ListEdges", "GetEdge", "ListDomains", "GetDomain", "NodeContext", "SearchNodes",
		"EntityElsewhere",
	}
	ops := (&pb.GraphOp{}).ProtoReflect().Descriptor().Oneofs().ByName("op").Fields()
	for i := range ops.Len() {
		name := string(ops.Get(i).Message().Name())
		if tests[name] == nil && !slices.Contains(reads, name) {
			t.Errorf("%s: does it write?", name)
		}
	}
	before := stored()
	op := graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ListNodes{ListNodes: &pb.ListNodes{Page: &pb.Page{Size: 10}}}})
	op.Capability = "graph"
	c.ok(op)
	if got := stored(); got != before {
		t.Errorf("a read's cost is stored at once: the test would prove nothing (%d, before it %d)", got, before)
	}
}

// TestUsageSurvivesMoves: reads are counted once and only once, wherever the organization
// lives when they are answered, also those that are under way while it moves as planned.
func TestUsageSurvivesMoves(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	slow := func(text string) {
		if text == "slowly" {
			entered <- struct{}{}
			<-release
		}
	}
	w := startTownWith(t, func(cfg *tenant.Config, _ *storage.Options) {
		cfg.Embedder, cfg.Workers = wordEmbedder{id: "words", fail: slow}, 2
		cfg.WithoutDerivation = true
	}, "a", "b")
	made := w.org("a", pb.PlanUnlimited)
	names := []wire.ServerID{"a", "b"}
	first := w.at("a").client(made.APIKey)
	first.ingest(doc("", "something to be found"))
	want := uint64(0)
	for i := range 12 {
		for k := range 3 { // by either node
			want += w.at(names[(i+k)%2]).client(made.APIKey).ok(metered("something")).GetSearch().GetReadUnits()
		}
		w.handOver(names[(i+1)%2])
	}
	// It lives at a again. What is read there when it moves is answered by b.
	answered := make(chan *pb.Reply, 1)
	go func() { answered <- first.ask(metered("slowly")) }()
	<-entered
	w.handOver("b")
	close(release)
	go func() { // it is asked again
		for range entered {
		}
	}()
	r := <-answered
	close(entered)
	if r.GetProblem() != nil {
		t.Fatalf("a read that moved: %v", r.GetProblem())
	}
	want += r.GetSearch().GetReadUnits()
	if got := spent(first.usage(&pb.GetUsage{}))[made.Owner.String()][0]; got != want {
		t.Errorf("%d read units are counted, and %d were answered", got, want)
	}
}

// However often the writing of what reads cost is asked for, as it is by each attempt that a
// full disk refuses, one timer waits to write it.
func TestOneTimerWritesUsage(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	c.ingest(doc("", "something to be found"))
	n.waitFor(func() bool { return n.clock.WaitersIn(commit.UsageDelay) == 0 })
	c.inOrg(func(o *tenant.Org) {
		for range 10 {
			o.FlushUsageSoon()
		}
	})
	if got := n.clock.WaitersIn(commit.UsageDelay); got != 1 {
		t.Errorf("%d timers", got)
	}
	want := c.ok(metered("something")).GetSearch().GetReadUnits()
	n.clock.Advance(commit.UsageDelay)
	n.waitFor(func() bool { // the next read begins a timer of its own
		want += c.ok(metered("something")).GetSearch().GetReadUnits()
		return n.clock.WaitersIn(commit.UsageDelay) == 1
	})
	if got := spent(c.usage(&pb.GetUsage{}))[org.Owner.String()][0]; got != want {
		t.Errorf("%d read units are counted, and %d were answered", got, want)
	}
}
