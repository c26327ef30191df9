package actors

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"orgmem/actors/account"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// modelPartition is what a partition must hold, kept naively: the content that
// each external id means, and the contents that were sent without one.
type modelPartition struct {
	byID  map[string]string
	plain map[string]bool
}

// live lists the contents that search must find.
func (m *modelPartition) live() []string {
	var out []string
	for _, c := range m.byID {
		out = append(out, c)
	}
	for c := range m.plain {
		out = append(out, c)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestMemoryAgainstModel sends random upserts of a few documents by several
// subjects, with erasures, restarts and power failures between them, and after
// each step compares what search finds with the model.
func TestMemoryAgainstModel(t *testing.T) {
	storagetest.FewerUnderRace(t, 20)
	rapid.Check(t, func(rt *rapid.T) {
		disk := storagetest.NewDisk()
		n := startNode(t, disk, smallSlices)
		c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
		subjects := []string{"a", "b"}
		model := map[string]*modelPartition{}
		reset := func(s string) { model[s] = &modelPartition{map[string]string{}, map[string]bool{}} }
		for _, s := range subjects {
			c.put(s)
			reset(s)
		}
		check := func() {
			for _, s := range subjects {
				got := c.as(s).chunks("common")
				slices.Sort(got)
				if want := model[s].live(); !slices.Equal(got, want) {
					rt.Fatalf("subject %s finds %q, want %q", s, got, want)
				}
			}
		}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			s := rapid.SampledFrom(subjects).Draw(rt, "subject")
			switch rapid.SampledFrom([]string{"ingest", "ingest", "ingest", "ingest", "erase", "restart", "crash", "idle"}).
				Draw(rt, "step") {
			case "ingest":
				var its []*pb.IngestItem
				for range rapid.IntRange(1, 5).Draw(rt, "items") {
					ext := rapid.SampledFrom([]string{"", "x", "y", "z"}).Draw(rt, "external id")
					content := fmt.Sprintf("common content %d", rapid.IntRange(0, 4).Draw(rt, "content"))
					its = append(its, doc(ext, content))
					m := model[s]
					if ext == "" {
						m.plain[content] = true // nothing that a document does ends it
					} else if before, ok := m.byID[ext]; !ok || before != content {
						m.byID[ext] = content
					}
				}
				c.as(s).ingest(its...)
			case "erase":
				n.wait(jobOf(c.ok(&pb.Envelope{Op: &pb.Envelope_EraseSubject{EraseSubject: &pb.EraseSubject{Id: s}}})))
				c.put(s)
				reset(s)
			case "restart":
				n.stop()
				n = startNode(t, disk, smallSlices)
				c.n = n
			case "crash":
				disk = disk.Crash(rapid.SampledFrom([]int{0, 50, 100}).Draw(rt, "kept"), 1)
				n.stop()
				n = startNode(t, disk, smallSlices)
				c.n = n
			case "idle":
				n.clock.Advance(20 * time.Minute)
			}
			check()
		}
		n.stop()
	})
}

// smallSlices makes every write's path through merging and sealing short.
func smallSlices(c *tenant.Config, o *storage.Options) {
	c.SegmentChunks = 3
	o.MaxOpenStores = 2
}

func TestIdleOrganizationsLeaveMemoryAndComeBack(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.ingest(doc("a", "Sleeping text."))
	for range 8 { // the subject leaves first, then the mark in the directory, then the organization
		n.clock.Advance(11 * time.Minute)
		_ = c.n.sys.Visit(t.Context(), c.orgID(), func(_ *tenant.Org, done func(error)) { done(nil) })
	}
	n.waitFor(func() bool {
		n.clock.Advance(11 * time.Minute)
		return n.sys.Stats().ActiveOrgs == 0
	})
	if e, ok := n.host.Directory().Org(c.orgID()); !ok || e.GetBusy() {
		t.Error("a sleeping organization without jobs is marked busy")
	}
	if got := c.chunks("Sleeping"); len(got) != 1 {
		t.Errorf("after waking: %q", got)
	}
}

func (c client) orgID() pb.OrgID {
	org, _ := c.n.host.Directory().Lookup(pb.HashKey(c.key))
	return org
}
