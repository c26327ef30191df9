package actors

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"orgmem/actors/account"
	"orgmem/actors/export"
	"orgmem/actors/graph"
	"orgmem/actors/partition"
	"orgmem/actors/subject"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// slow is a node on which a write into a memory lasts until the test lets it.
type slow struct {
	*testNode
	logs                  *logs
	began, stopping, goOn chan struct{}
}

func startSlow(t *testing.T) *slow {
	s := &slow{began: make(chan struct{}), stopping: make(chan struct{}), goOn: make(chan struct{})}
	var once sync.Once
	s.testNode, s.logs = erasing(t, storagetest.NewDisk(), func(cfg *tenant.Config, _ *storage.Options) {
		cfg.StopRequested = func() { once.Do(func() { close(s.stopping) }) }
	})
	return s
}

// write begins a write of one record, and returns once the worker is at it.
func (s *slow) write(c client, part *partition.Ref, name string) {
	s.t.Helper()
	c.inOrg(func(o *tenant.Org) {
		w := tenant.NewCall(&pb.Envelope{})
		w.Org, w.Part = &o.View, part
		graph.SubmitEdit(o, w, func(f *graph.Tx) (*pb.Reply, error) {
			close(s.began)
			<-s.goOn
			e := &pb.Import{Id: make([]byte, 16), CreatedMs: 1, Filename: name}
			f.Batch.Put(subject.ImportKey(part, e), e)
			return &pb.Reply{}, nil
		})
	})
	<-s.began
}

func eraseOp(subject string) *pb.Envelope {
	return &pb.Envelope{Op: &pb.Envelope_EraseSubject{EraseSubject: &pb.EraseSubject{Id: subject}}}
}

// waits reports whether something waits for an entity.
func (c client) waits(of tenant.LockKey) (waits bool) {
	c.n.t.Helper()
	c.inOrg(func(o *tenant.Org) { waits = o.Waiting(of) > 0 })
	return waits
}

// A purge waits for what is being written; an erasure that begins meanwhile must
// not be through before that.
func TestErasureWaitsForAPurge(t *testing.T) {
	s := startSlow(t)
	c := client{n: s.testNode, key: s.org(account.NewOrg{}).APIKey}
	p := &planter{seed: "beside"}
	name := p.next()
	c.put(name)
	s.write(c, c.as(name).partition(), p.next())
	token := c.ok(dryPurge("")).GetData().GetPurge().GetConfirmToken()
	var wg sync.WaitGroup
	wg.Go(func() { c.refused(pb.CodePurgeImpactChanged, confirmPurge("", token)) })
	<-s.stopping
	job := jobOf(c.ok(eraseOp(name)))
	s.waitFor(func() bool { return c.waits("purge") || s.ended(job) })
	close(s.goOn)
	wg.Wait()
	s.wait(job)
	c.inOrg(func(o *tenant.Org) {
		if len(o.InMemory()) > 0 {
			t.Errorf("%d actors of an erased partition", len(o.InMemory()))
		}
	})
	if err := s.host.Erase(t.Context(), storage.StoreID{Org: c.orgID(), Realm: storage.RealmMain}); err != nil {
		t.Fatal(err)
	}
	p.gone(t, s.testNode, s.logs)
}

// A purge of a subject waits for one of the organization, and requests that wait
// for either are answered.
func TestPurgesGoOneAfterTheOther(t *testing.T) {
	s := startSlow(t)
	c := client{n: s.testNode, key: s.org(account.NewOrg{}).APIKey}
	c.put("ann")
	ann := c.as("ann")
	part := ann.partition()
	s.write(c, part, "a file")
	whole, anns := c.ok(dryPurge("")).GetData().GetPurge(), c.ok(dryPurge("ann")).GetData().GetPurge()
	held := func(calls int) func() bool {
		return func() (is bool) {
			c.inOrg(func(o *tenant.Org) {
				n, _ := o.CallsHeld(part.ID)
				is = n == calls
			})
			return is
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() { c.refused(pb.CodePurgeImpactChanged, confirmPurge("", whole.GetConfirmToken())) })
	<-s.stopping
	wg.Go(func() { ann.ok(items(doc("b", "a text"))) })
	s.waitFor(held(1))
	wg.Go(func() { c.refused(pb.CodePurgeImpactChanged, confirmPurge("ann", anns.GetConfirmToken())) })
	s.waitFor(func() bool { return c.waits("purge") || held(0)() })
	close(s.goOn)
	wg.Wait()
}

// partition is the partition that the client acts in.
func (c client) partition() (part *partition.Ref) {
	c.n.t.Helper()
	var err error
	c.inOrg(func(o *tenant.Org) { part, err = o.LookupSubject(pb.SubjectKey(c.subject)) })
	if err != nil || part == nil {
		c.n.t.Fatalf("the partition of %s: %v", c.subject, err)
	}
	return part
}

// Nobody looks after a memory while it is purged, and a purge that deletes nothing
// leaves those asleep who were.
func TestAPurgeWakesNobody(t *testing.T) {
	s := startSlow(t)
	c := client{n: s.testNode, key: s.org(account.NewOrg{}).APIKey}
	for _, name := range []string{"ann", "bob"} {
		c.put(name)
	}
	ann, bob := c.as("ann").partition(), c.as("bob").partition()
	s.write(c, ann, "a file")
	token := c.ok(dryPurge("")).GetData().GetPurge().GetConfirmToken()
	var wg sync.WaitGroup
	wg.Go(func() { c.refused(pb.CodePurgeImpactChanged, confirmPurge("", token)) })
	<-s.stopping
	c.inOrg(func(o *tenant.Org) {
		for _, part := range []*partition.Ref{ann, bob} {
			if o.WakePartition(part.ID); o.InMemory()[part.ID] != nil {
				t.Errorf("%s is looked after in the middle of a purge", part.Subject)
			}
		}
	})
	close(s.goOn)
	wg.Wait()
	c.inOrg(func(o *tenant.Org) {
		if awake := o.InMemory(); awake[ann.ID] == nil || awake[bob.ID] != nil {
			t.Errorf("ann is awake: %v, bob: %v", awake[ann.ID] != nil, awake[bob.ID] != nil)
		}
	})
}

// Settings are no memory: what is changed while a purge is under way stays.
func TestSettingsChangedBesideAPurgeStay(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.ingest(doc("a", "a text"))
	patch := func(mode string) {
		c.ok(accountOp(&pb.AccountOp{
			Op: &pb.AccountOp_PatchSettings{PatchSettings: &pb.PatchSettings{Settings: &pb.Settings{QualityMode: &mode}}},
		}))
	}
	patch("fast")
	token := c.ok(dryPurge("")).GetData().GetPurge().GetConfirmToken()
	var exports *export.Module
	c.inOrg(func(o *tenant.Org) { exports = tenant.ModuleOf[*export.Module](&o.View) })
	exports.Mu.Lock() // the purge stops before its commit
	var wg sync.WaitGroup
	wg.Go(func() { c.ok(confirmPurge("", token)) })
	n.waitFor(func() (held bool) {
		c.inOrg(func(o *tenant.Org) { _, held = o.CallsHeld(memberOf(t, o, onlyMember(t, o)).ID) })
		return held
	})
	for range 20 {
		patch("balanced")
	}
	patch("thorough")
	exports.Mu.Unlock()
	wg.Wait()
	settings := c.ok(accountOp(&pb.AccountOp{Op: &pb.AccountOp_GetSettings{GetSettings: &pb.GetSettings{}}})).GetAccount().
		GetSettings()
	if got := settings.GetQualityMode(); got != "thorough" {
		t.Errorf("the mode is %q", got)
	}
	if got := c.chunks("text"); len(got) != 0 {
		t.Errorf("the purge left %q", got)
	}
}

// What a cycle finds between the two calls of a purge is no change of what was looked
// at, and goes with it.
func TestACycleBesideAPurge(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	for _, text := range mindTexts {
		c.note(text)
	}
	dry := c.ok(dryPurge("")).GetData().GetPurge()
	c.think()
	found := c.findings(org)
	for _, kind := range []string{"domain ", "edge similar_to", "contradiction", "moment", "insight due"} {
		if !slices.ContainsFunc(found, func(s string) bool { return strings.HasPrefix(s, kind) }) {
			t.Errorf("the cycle finds no %s: %q", kind, found)
		}
	}
	done := c.ok(confirmPurge("", dry.GetConfirmToken())).GetData().GetPurge()
	if !maps.Equal(done.GetCounts(), dry.GetCounts()) {
		t.Errorf("purged is %v, and shown was %v", done.GetCounts(), dry.GetCounts())
	}
	// they say no word of it
	left := slices.DeleteFunc(c.findings(org), func(s string) bool { return strings.HasPrefix(s, "event ") })
	if nodes := c.nodes(&pb.ListNodes{}, 10); len(left) != 0 || len(nodes) != 0 {
		t.Errorf("left are %q of %q", left, nodes)
	}
}
