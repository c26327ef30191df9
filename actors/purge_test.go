package actors

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

func purgeOp(op *pb.Purge) *pb.Envelope {
	return dataOp(&pb.DataOp{Op: &pb.DataOp_Purge{Purge: op}})
}

// dryPurge is the first call, confirmPurge the second.
func dryPurge(subject string) *pb.Envelope { return purgeOp(purgeOf(subject)) }

func purgeOf(subject string) *pb.Purge {
	if subject == "" {
		return &pb.Purge{Scope: purgeScopeOrg}
	}
	return &pb.Purge{Scope: purgeScopeSubject, Subject: subject}
}

func confirmPurge(subject, token string) *pb.Envelope {
	op := purgeOf(subject)
	op.Confirm, op.Token = true, token
	return purgeOp(op)
}

// interface: Resources/Purge report
func TestPurgeOfASubject(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	made := n.org(NewOrg{})
	c := client{n: n, key: made.APIKey}
	c.put("ann")
	c.put("bob")
	ann := c.as("ann")
	nodes := ann.ingest(doc("a", "a text of ann"), doc("b", "another text of ann")).GetItems()
	ann.assertEdge(&pb.AssertEdge{Source: nodes[0].GetNode(), Target: nodes[1].GetNode(), Type: "about"})
	c.as("bob").ingest(doc("b", "a text of bob"))
	mode := "fast"
	ann.ok(account(&pb.AccountOp{Op: &pb.AccountOp_PatchSettings{PatchSettings: &pb.PatchSettings{Settings: &pb.Settings{QualityMode: &mode}}}}))
	anns, whole, bobs := ann.export(false), c.export(true), c.as("bob").export(false)

	dry := c.ok(dryPurge("ann")).GetData().GetPurge()
	for name, want := range map[string]uint64{"vault_nodes": 2, "memory_chunks": 2, "graph_edges": 1, "external_ids": 2, "exports": 2, "sessions": 0} {
		if got, there := dry.GetCounts()[name]; got != want || !there {
			t.Errorf("%s: %d (%v), want %d", name, got, there, want)
		}
	}
	total := uint64(0)
	for _, n := range dry.GetCounts() {
		total += n
	}
	if !dry.GetDryRun() || dry.GetTotal() != total || dry.GetConfirmToken() == "" || dry.GetPurgedMs() != 0 ||
		dry.GetExpiresMs() != n.clock.Now().Add(confirmLife).UnixMilli() || dry.GetSubject() != "ann" {
		t.Errorf("dry run: %v", dry)
	}
	if got := ann.chunks("text"); len(got) != 2 {
		t.Fatalf("a dry run left %q", got)
	}
	done := c.ok(confirmPurge("ann", dry.GetConfirmToken())).GetData().GetPurge()
	if done.GetDryRun() || done.GetPurgedMs() == 0 || done.GetConfirmToken() != "" || !maps.Equal(done.GetCounts(), dry.GetCounts()) {
		t.Errorf("purge: %v", done)
	}
	if got := ann.chunks("text"); len(got) != 0 {
		t.Errorf("ann still finds %q", got)
	}
	if got := ann.nodes(&pb.ListNodes{}, 10); len(got) != 0 {
		t.Errorf("ann still has %q", got)
	}
	ann.refused(codeNodeNotFound, &pb.Envelope{Op: &pb.Envelope_GetNode{GetNode: &pb.GetNode{Id: nodes[0].GetNode()}}})
	if got := c.as("bob").chunks("text"); len(got) != 1 {
		t.Errorf("bob finds %q", got)
	}
	for id, want := range map[string]string{anns: exportExpired, whole: exportExpired, bobs: exportSucceeded} {
		who := map[string]client{anns: ann, whole: c, bobs: c.as("bob")}[id]
		if got := who.exportStatus(id); got != want {
			t.Errorf("export is %s, want %s", got, want)
		}
	}
	settings := ann.ok(account(&pb.AccountOp{Op: &pb.AccountOp_GetSettings{GetSettings: &pb.GetSettings{}}})).GetAccount().GetSettings()
	if settings.GetQualityMode() != mode {
		t.Errorf("settings after the purge: %v", settings)
	}
	if !slices.Contains(n.audits(made.Org), "purge") {
		t.Error("no audit")
	}
	// The subject goes on, empty.
	if job := ann.ingest(doc("a", "a text of ann")); job.GetItems()[0].GetStatus() != itemCreated {
		t.Errorf("after the purge: %v", job.GetItems())
	}
	if got := ann.chunks("text"); len(got) != 1 {
		t.Errorf("after the purge ann finds %q", got)
	}
	// Also for another activation.
	n.clock.Advance(n.sys.cfg.IdleOrg)
	if got := ann.chunks("text"); len(got) != 1 {
		t.Errorf("an activation later ann finds %q", got)
	}
}

// interface: States/Purge
// interface: Endpoints/Purge
func TestPurgeOfTheOrganization(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	made := n.org(NewOrg{})
	c := client{n: n, key: made.APIKey}
	_, peer := n.recruit(made.Org, "peer@example.com", RoleMember, scopeRead, scopeWrite)
	c.put("ann")
	for _, who := range []client{c, peer, c.as("ann")} {
		who.ingest(doc("a", "some text"))
	}
	sandboxKey := c.ok(account(&pb.AccountOp{Op: &pb.AccountOp_CreateSandboxKey{CreateSandboxKey: &pb.CreateSandboxKey{}}})).GetAccount().GetNewSandboxKey().GetApiKey()
	sandbox := client{n: n, key: sandboxKey}
	sandbox.ingest(doc("a", "some text"))
	dry := c.ok(dryPurge("")).GetData().GetPurge()
	if got := dry.GetCounts()["vault_nodes"]; got != 3 {
		t.Errorf("%d nodes", got)
	}
	if _, there := dry.GetCounts()["brain_artifacts"]; !there {
		t.Errorf("counts %v", dry.GetCounts())
	}
	c.ok(confirmPurge("", dry.GetConfirmToken()))
	for name, who := range map[string]client{"owner": c, "peer": peer, "ann": c.as("ann")} {
		if got := who.chunks("text"); len(got) != 0 {
			t.Errorf("%s still finds %q", name, got)
		}
	}
	if got := sandbox.chunks("text"); len(got) != 1 {
		t.Errorf("the sandbox finds %q", got)
	}
	c.ok(getTeam())
	if again := c.ok(dryPurge("")).GetData().GetPurge(); again.GetTotal() != 0 {
		t.Errorf("left behind: %v", again.GetCounts())
	}
}

// interface: States/Purge
func TestConfirmTokenIsForOnePurge(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	made := n.org(NewOrg{})
	c := client{n: n, key: made.APIKey}
	_, admin := n.recruit(made.Org, "admin@example.com", RoleAdmin)
	c.put("ann")
	c.put("bob")
	for _, s := range []string{"ann", "bob"} {
		c.as(s).ingest(doc("a", "some text"))
	}
	token := func() string { return c.ok(dryPurge("ann")).GetData().GetPurge().GetConfirmToken() }
	c.refused(codeConfirmTokenInvalid, confirmPurge("ann", "nonsense"))
	c.refused(codeConfirmTokenInvalid, confirmPurge("bob", token()))
	c.refused(codeConfirmTokenInvalid, confirmPurge("", token()))
	admin.refused(codeConfirmTokenInvalid, confirmPurge("ann", token()))
	old := token()
	n.clock.Advance(confirmLife)
	c.refused(codeConfirmTokenInvalid, confirmPurge("ann", old))
	c.refused(codeSubjectNotFound, dryPurge("nobody"))

	// What was shown is not what would be deleted.
	changed := token()
	c.as("ann").ingest(doc("b", "more text"))
	c.refused(codePurgeImpactChanged, confirmPurge("ann", changed))
	if got := c.as("ann").chunks("text"); len(got) != 2 {
		t.Errorf("ann finds %q", got)
	}
	c.refused(codeConfirmTokenInvalid, confirmPurge("ann", changed)) // spent
	used := token()
	c.ok(confirmPurge("ann", used))
	c.refused(codeConfirmTokenInvalid, confirmPurge("ann", used))
	if got := c.as("bob").chunks("text"); len(got) != 1 {
		t.Errorf("bob finds %q", got)
	}
}

// A purge ends what is queued, and what comes behind it stays.
func TestPurgeEndsWhatIsQueued(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), smallSlices)
	made := n.org(NewOrg{})
	c := client{n: n, key: made.APIKey}
	c.put("ann")
	var its []*pb.IngestItem
	for i := range 300 {
		its = append(its, doc(fmt.Sprint(i), fmt.Sprintf("text number %d", i)))
	}
	for range 20 {
		job := jobOf(c.as("ann").ok(items(its...)))
		r := c.ask(dryPurge("ann"))
		r = c.ask(confirmPurge("ann", r.GetData().GetPurge().GetConfirmToken()))
		if code := r.GetProblem().GetCode(); code != "" && code != codePurgeImpactChanged {
			t.Fatalf("purge: %s", code)
		} else if code != "" {
			n.wait(job)
			continue
		}
		n.wait(job)
		if status := c.job(job).GetStatus(); !terminal(status) {
			t.Errorf("the job is %s", status)
		}
		if got := c.as("ann").chunks("text"); len(got) != 0 {
			t.Fatalf("behind the purge there is %q", got)
		}
	}
	store := storage.StoreID{Org: made.Org, Realm: storage.RealmMain}
	n.settle(store)
	c.as("ann").ingest(doc("x", "a last text"))
	if got := c.as("ann").chunks("last"); len(got) == 0 {
		t.Error("the subject takes nothing in after its purges")
	}
}

func TestPurgeSurvivesACrash(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	c := client{n: n, key: n.org(NewOrg{}).APIKey}
	c.put("ann")
	c.as("ann").ingest(doc("a", "some text"))
	c.ok(confirmPurge("ann", c.ok(dryPurge("ann")).GetData().GetPurge().GetConfirmToken()))
	crashed := disk.Crash(0, 3)
	n.stop()
	c.n = startNode(t, crashed)
	if got := c.as("ann").chunks("text"); len(got) != 0 {
		t.Errorf("after a crash ann finds %q", got)
	}
}
