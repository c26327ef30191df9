package actors

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/account"
	"orgmem/actors/cognition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// mindTexts give every stage of a cycle something to write.
var mindTexts = []string{
	"The deadline of the Atlas project is 3 May 2027.",
	"The deadline of the Atlas project is 9 June 2027.",
	"Jane Lee of Initech will send the report by 4 April 2027.",
	"Who can review the importer before the release?",
	"The importer reads old files slowly.",
	"Old files break the importer on Mondays.",
	"The importer of old files is slow and breaks.",
	"Jane Lee of Initech wrote the importer of old files.",
	"The boiler in the cellar is old and loud.",
	"The old boiler in the cellar leaks water.",
	"A plumber looked at the loud boiler in the cellar.",
	"The boiler of the cellar was repaired by a plumber.",
}

// findings is what cycles have found in the only memory of a node's organization, and
// the events that told of it, in an order of its own: what stands twice is there twice.
func (c client) findings(org account.CreatedOrg) (all []string) {
	c.n.t.Helper()
	id := storage.StoreID{Org: org.Org, Realm: storage.RealmMain}
	titles := map[string]string{}
	for _, n := range ofPartition(c, org, storage.TableNode, func() *pb.Node { return &pb.Node{} }) {
		titles[n.GetId()] = n.GetTitle()
	}
	for _, d := range ofPartition(c, org, storage.TableDomain, func() *pb.Domain { return &pb.Domain{} }) {
		all = append(all, fmt.Sprint("domain ", d.GetLabel(), " of ", d.GetNodes()))
	}
	for _, e := range ofPartition(c, org, storage.TableEdge, func() *pb.Edge { return &pb.Edge{} }) {
		ends := []string{titles[e.GetSource()], titles[e.GetTarget()]}
		if e.GetOrigin() == pb.OriginCognition { // which of two began it is chance
			slices.Sort(ends)
		}
		all = append(all, fmt.Sprint("edge ", e.GetType(), ends))
	}
	for _, x := range ofPartition(c, org, storage.TableContradiction,
		func() *pb.Contradiction { return &pb.Contradiction{} }) {
		all = append(all, "contradiction "+x.GetKind())
	}
	for _, x := range ofPartition(c, org, storage.TableMoment, func() *pb.Moment { return &pb.Moment{} }) {
		all = append(all, fmt.Sprint("moment ", x.GetAtMs(), x.GetTitle(), x.GetKind()))
	}
	for _, x := range ofPartition(c, org, storage.TableRecurrence, func() *pb.Recurrence { return &pb.Recurrence{} }) {
		all = append(all, fmt.Sprint("recurrence ", x.GetTitle(), x.GetText()))
	}
	for _, x := range ofPartition(c, org, storage.TableInsight, func() *pb.Insight { return &pb.Insight{} }) {
		all = append(all, "insight "+x.GetKind()+x.GetTitle())
	}
	for _, x := range ofPartition(c, org, storage.TableProposal, func() *pb.Proposal { return &pb.Proposal{} }) {
		ends := []string{titles[x.GetSource()], titles[x.GetTarget()]} // as of edges
		slices.Sort(ends)
		all = append(all, fmt.Sprint("proposal ", ends))
	}
	for _, e := range records(c.n, id, storage.TableOutbox, func() *pb.OutboxEvent { return &pb.OutboxEvent{} }) {
		if slices.Contains([]string{
			pb.EventContradictionFound, pb.EventInsightProposed, pb.EventIdentityUpdated,
			pb.EventBasinShifted,
		}, e.GetType()) {
			all = append(all, "event "+e.GetType())
		}
	}
	slices.Sort(all)
	return all
}

// ofPartition reads a table of the organization owner's memory.
func ofPartition[M proto.Message](c client, org account.CreatedOrg, table storage.Table, empty func() M) (all []M) {
	c.n.t.Helper()
	c.inOrg(func(o *tenant.Org) {
		err := o.WithStore(func(st *storage.Store) error {
			for rec, err := range storage.ScanRecords(st, memberOf(c.n.t, o, org.Owner).Space.Prefix(table),
				storage.ScanOptions{},
				empty) {
				if err != nil {
					return err
				}
				all = append(all, rec.Value)
			}
			return nil
		})
		if err != nil {
			c.n.t.Error(err)
		}
	})
	return all
}

// cognitionJobs are the cycles' jobs by their status.
func (c client) cognitionJobs() map[string]int {
	c.n.t.Helper()
	by := map[string]int{}
	for _, j := range c.ok(&pb.Envelope{Op: &pb.Envelope_ListJobs{ListJobs: &pb.ListJobs{Type: pb.JobCognition}}}).
		GetJobs().GetJobs() {
		by[j.GetStatus()]++
	}
	return by
}

// Behind whichever commit of a cycle the process ends, the next one does the rest,
// under the same job: what is found then is what had been found without the crash,
// and is told once.
func TestACrashBehindAnyCommitOfACycle(t *testing.T) {
	disk := storagetest.NewDisk()
	var images []*storagetest.Disk
	n := startNode(t, disk, thinking, func(cfg *tenant.Config, _ *storage.Options) {
		cfg.CycleWrote = func(func()) { images = append(images, disk.Crash(0, 1)) }
	})
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	for _, text := range mindTexts {
		c.note(text)
	}
	c.think()
	want := c.findings(org)
	n.stop()
	for _, kind := range []string{
		"domain ", "edge similar_to", "contradiction", "moment", "insight due",
		"event contradiction",
	} {
		if !slices.ContainsFunc(want, func(s string) bool { return strings.HasPrefix(s, kind) }) {
			t.Errorf("the cycle finds no %s: %q", kind, want)
		}
	}
	if len(images) < cognition.Stages {
		t.Fatalf("%d commits in a cycle of %d stages", len(images), cognition.Stages)
	}
	for i, image := range images {
		t.Run(fmt.Sprint("commit ", i+1), func(t *testing.T) {
			n := startNode(t, image, thinking)
			defer n.stop()
			c := client{n: n, key: org.APIKey}
			n.waitFor(func() bool { return c.cognitionJobs()[pb.JobSucceeded] == 1 }) // nobody asked anything
			if got := c.findings(org); !slices.Equal(got, want) {
				t.Errorf("got %q\nwant %q", got, want)
			}
			if jobs := c.cognitionJobs(); len(jobs) != 1 {
				t.Errorf("jobs %v", jobs)
			}
		})
	}
}

// A cycle is cancelled between any two of its commits: what it has found stays, and
// the next one finds the rest, nothing twice.
func TestCancellingACycleAnywhere(t *testing.T) {
	var want []string
	for at, open := 0, true; open; at++ {
		t.Run(fmt.Sprint("behind commit ", at), func(t *testing.T) {
			writes := 0
			n := startNode(t, storagetest.NewDisk(), thinking, func(cfg *tenant.Config, _ *storage.Options) {
				cfg.CycleWrote = func(cancelCycle func()) {
					if writes++; writes == at {
						cancelCycle()
					}
				}
			})
			defer n.stop()
			org := n.org(account.NewOrg{})
			c := client{n: n, key: org.APIKey}
			for _, text := range mindTexts {
				c.note(text)
			}
			ended := func(all int) func() bool {
				return func() bool {
					jobs := c.cognitionJobs()
					if jobs[pb.JobRunning] == 0 {
						n.clock.Advance(time.Second)
					}
					return jobs[pb.JobSucceeded]+jobs[pb.JobCancelled] == all && jobs[pb.JobRunning] == 0
				}
			}
			n.waitFor(ended(1))
			open = at == 0 || c.cognitionJobs()[pb.JobCancelled] == 1 // else it was behind the last
			c.note("Something else altogether.")
			n.waitFor(ended(2))
			// The identity of the texts without the last was told of, or not yet.
			got := slices.DeleteFunc(c.findings(org), func(s string) bool { return s == "event "+pb.EventIdentityUpdated })
			if at == 0 {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("got %q\nwant %q", got, want)
			}
		})
	}
}

// What is forgotten leaves the voice and the manifold also where the cycle behind it was
// cancelled before it could tell: the next one takes it for removed, too.
func TestWhatIsForgottenLeavesTheIdentityBehindACancelledCycle(t *testing.T) {
	var cancel atomic.Bool
	n := startNode(t, storagetest.NewDisk(), thinking, func(cfg *tenant.Config, _ *storage.Options) {
		cfg.CycleWrote = func(cancelCycle func()) {
			if cancel.CompareAndSwap(true, false) {
				cancelCycle()
			}
		}
	})
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	gone := c.note("The lift of the warehouse is slow and loud.")
	for _, text := range mindTexts {
		c.note(text)
	}
	c.think()
	view := func() *pb.IdentityView {
		return c.ok(recallOp(&pb.Recall{Type: pb.RecallIdentity})).GetMind().GetIdentity().GetView()
	}
	all := uint64(len(mindTexts) + 1)
	if v := view(); v.GetVoice().GetEvidence() != all || v.GetManifold().GetNSignals() != uint32(all) {
		t.Fatalf("of %d texts: %v", all, v)
	}
	laid := view().GetManifold().GetVersion()
	cancel.Store(true)
	c.forget(gone)
	n.waitFor(func() bool {
		jobs := c.cognitionJobs()
		if jobs[pb.JobRunning] == 0 && jobs[pb.JobCancelled] == 0 {
			n.clock.Advance(time.Second)
		}
		return jobs[pb.JobRunning] == 0 && jobs[pb.JobCancelled] == 1
	})
	c.note("Something else altogether.")
	c.think()
	if v := view(); v.GetVoice().GetEvidence() != all || v.GetManifold().GetVersion() == laid {
		t.Errorf("of %d texts: %v", all, v)
	}
}

// What one cycle does not take on is left to the next, which begins at once; behind a
// restart, too, it is known that there is more.
func TestCyclesGoOnUntilAllIsCompared(t *testing.T) {
	disk := storagetest.NewDisk()
	few := func(cfg *tenant.Config, _ *storage.Options) { cfg.FreshChunks = 5 }
	var n *testNode
	var first, last *storagetest.Disk // behind the end of the first cycle; behind any commit
	n = startNode(t, disk, thinking, few, func(cfg *tenant.Config, _ *storage.Options) {
		cfg.CycleWrote = func(func()) {
			if first == nil && n.sys.Counters.Cycles.Load() == 1 {
				first = last
			}
			last = disk.Crash(0, 1)
		}
	})
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	var items []*pb.IngestItem
	for _, text := range mindTexts {
		items = append(items, doc("", text))
	}
	c.ingest(items...)
	all := func(n *testNode) {
		t.Helper()
		n.waitFor(func() bool {
			n.clock.Advance(time.Second)
			return c.cognitionJobs()[pb.JobSucceeded] == 3
		})
		var compared []string
		for _, s := range c.findings(org) {
			if strings.HasPrefix(s, "edge similar_to") && strings.Contains(s, "was repaired by a plumber") { // the last text
				compared = append(compared, s)
			}
		}
		if len(compared) == 0 {
			t.Error("the last text is like no other")
		}
		cog := ofPartition(c, org, storage.TableCognition, func() *pb.Cognition { return &pb.Cognition{} })[0]
		state := ofPartition(c, org, storage.TableState, func() *pb.PartitionState { return &pb.PartitionState{} })[0]
		if cog.GetChanges() != state.GetChanges() || cog.GetNextChunk() != state.GetNextChunk() {
			t.Errorf("%v of %v", cog, state)
		}
	}
	all(n)
	n.stop()
	n = startNode(t, first, thinking, few)
	c = client{n: n, key: org.APIKey}
	all(n)
}
