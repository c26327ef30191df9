package actors

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/account"
	"orgmem/actors/export"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/prototest"
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
		return &pb.Purge{Scope: pb.PurgeScopeOrg}
	}
	return &pb.Purge{Scope: pb.PurgeScopeSubject, Subject: subject}
}

func confirmPurge(subject, token string) *pb.Envelope {
	op := purgeOf(subject)
	op.Confirm, op.Token = true, token
	return purgeOp(op)
}

// interface: Resources/Purge report
func TestPurgeOfASubject(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	made := n.org(account.NewOrg{})
	c := client{n: n, key: made.APIKey}
	c.put("ann")
	c.put("bob")
	ann := c.as("ann")
	nodes := ann.ingest(doc("a", "a text of ann"), doc("b", "another text of ann")).GetItems()
	ann.assertEdge(&pb.AssertEdge{Source: nodes[0].GetNode(), Target: nodes[1].GetNode(), Type: "about"})
	c.as("bob").ingest(doc("b", "a text of bob"))
	mode := "fast"
	ann.ok(accountOp(&pb.AccountOp{
		Op: &pb.AccountOp_PatchSettings{PatchSettings: &pb.PatchSettings{Settings: &pb.Settings{QualityMode: &mode}}},
	}))
	anns, whole, bobs := ann.export(false), c.export(true), c.as("bob").export(false)

	dry := c.ok(dryPurge("ann")).GetData().GetPurge()
	for name, want := range map[string]uint64{
		"vault_nodes": 2, "memory_chunks": 2, "graph_edges": 1, "external_ids": 2,
		"exports": 2, "sessions": 0,
	} {
		if got, there := dry.GetCounts()[name]; got != want || !there {
			t.Errorf("%s: %d (%v), want %d", name, got, there, want)
		}
	}
	total := uint64(0)
	for _, n := range dry.GetCounts() {
		total += n
	}
	if diff := prototest.Diff(&pb.PurgeReport{
		DryRun: true, Total: total, ExpiresMs: n.clock.Now().Add(account.ConfirmLife).UnixMilli(), Subject: "ann",
	}, dry, "purged_ms"); diff != "" || dry.GetConfirmToken() == "" {
		t.Errorf("dry run: %v (-want +got):\n%s", dry, diff)
	}
	if got := ann.chunks("text"); len(got) != 2 {
		t.Fatalf("a dry run left %q", got)
	}
	done := c.ok(confirmPurge("ann", dry.GetConfirmToken())).GetData().GetPurge()
	if done.GetDryRun() || done.GetPurgedMs() == 0 || done.GetConfirmToken() != "" || !maps.Equal(done.GetCounts(),
		dry.GetCounts()) {
		t.Errorf("purge: %v", done)
	}
	if got := ann.chunks("text"); len(got) != 0 {
		t.Errorf("ann still finds %q", got)
	}
	if got := ann.nodes(&pb.ListNodes{}, 10); len(got) != 0 {
		t.Errorf("ann still has %q", got)
	}
	ann.refused(pb.CodeNodeNotFound, &pb.Envelope{Op: &pb.Envelope_GetNode{GetNode: &pb.GetNode{Id: nodes[0].GetNode()}}})
	if got := c.as("bob").chunks("text"); len(got) != 1 {
		t.Errorf("bob finds %q", got)
	}
	for id, want := range map[string]string{anns: pb.ExportExpired, whole: pb.ExportExpired, bobs: pb.ExportSucceeded} {
		who := map[string]client{anns: ann, whole: c, bobs: c.as("bob")}[id]
		if got := who.exportStatus(id); got != want {
			t.Errorf("export is %s, want %s", got, want)
		}
	}
	settings := ann.ok(accountOp(&pb.AccountOp{Op: &pb.AccountOp_GetSettings{GetSettings: &pb.GetSettings{}}})).
		GetAccount().
		GetSettings()
	if settings.GetQualityMode() != mode {
		t.Errorf("settings after the purge: %v", settings)
	}
	if !slices.Contains(n.audits(made.Org), "purge") {
		t.Error("no audit")
	}
	// The subject goes on, empty.
	if job := ann.ingest(doc("a", "a text of ann")); job.GetItems()[0].GetStatus() != pb.ItemCreated {
		t.Errorf("after the purge: %v", job.GetItems())
	}
	if got := ann.chunks("text"); len(got) != 1 {
		t.Errorf("after the purge ann finds %q", got)
	}
	// Also for another activation.
	n.clock.Advance(n.sys.Config.IdleOrg)
	if got := ann.chunks("text"); len(got) != 1 {
		t.Errorf("an activation later ann finds %q", got)
	}
}

// interface: States/Purge
// interface: Endpoints/Purge
func TestPurgeOfTheOrganization(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	made := n.org(account.NewOrg{})
	c := client{n: n, key: made.APIKey}
	_, peer := n.recruit(made.Org, "peer@example.com", pb.RoleMember, pb.ScopeRead, pb.ScopeWrite)
	c.put("ann")
	for _, who := range []client{c, peer, c.as("ann")} {
		who.ingest(doc("a", "some text"))
	}
	sandboxKey := c.ok(accountOp(&pb.AccountOp{
		Op: &pb.AccountOp_CreateSandboxKey{CreateSandboxKey: &pb.CreateSandboxKey{}},
	})).GetAccount().GetNewSandboxKey().GetApiKey()
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
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	made := n.org(account.NewOrg{})
	c := client{n: n, key: made.APIKey}
	_, admin := n.recruit(made.Org, "admin@example.com", pb.RoleAdmin)
	c.put("ann")
	c.put("bob")
	for _, s := range []string{"ann", "bob"} {
		c.as(s).ingest(doc("a", "some text"))
	}
	token := func() string { return c.ok(dryPurge("ann")).GetData().GetPurge().GetConfirmToken() }
	c.refused(pb.CodeConfirmTokenInvalid, confirmPurge("ann", "nonsense"))
	c.refused(pb.CodeConfirmTokenInvalid, confirmPurge("bob", token()))
	c.refused(pb.CodeConfirmTokenInvalid, confirmPurge("", token()))
	admin.refused(pb.CodeConfirmTokenInvalid, confirmPurge("ann", token()))
	old := token()
	n.clock.Advance(account.ConfirmLife)
	c.refused(pb.CodeConfirmTokenInvalid, confirmPurge("ann", old))
	c.refused(pb.CodeSubjectNotFound, dryPurge("nobody"))

	// What was shown is not what would be deleted.
	changed := token()
	c.as("ann").ingest(doc("b", "more text"))
	c.refused(pb.CodePurgeImpactChanged, confirmPurge("ann", changed))
	if got := c.as("ann").chunks("text"); len(got) != 2 {
		t.Errorf("ann finds %q", got)
	}
	c.refused(pb.CodeConfirmTokenInvalid, confirmPurge("ann", changed)) // spent
	used := token()
	done := c.ok(confirmPurge("ann", used)).GetData().GetPurge()
	// Spent is spent: the refusal says what came of it.
	if detail := c.refused(pb.CodeConfirmTokenInvalid, confirmPurge("ann", used)).GetDetail(); !strings.Contains(detail,
		"was done at") {
		t.Errorf("a spent token is refused with %q", detail)
	}
	// Behind a restart the first answer may have been lost, and the outcome is told again.
	now := n.clock.Now()
	n.stop()
	n = startNode(t, disk)
	n.clock.Advance(now.Sub(n.clock.Now()))
	c.n, admin.n = n, n
	c.as("ann").ingest(doc("c", "a text that came later"))
	n.clock.Advance(account.ConfirmLife)
	if again := c.ok(confirmPurge("ann", used)).GetData().GetPurge(); !proto.Equal(again, done) {
		t.Errorf("confirmed once more: %v, and before %v", again, done)
	}
	if got := c.as("ann").chunks("later"); len(got) != 1 {
		t.Errorf("ann finds %q", got)
	}
	c.refused(pb.CodeConfirmTokenInvalid, confirmPurge("bob", used))
	c.refused(pb.CodeConfirmTokenInvalid, confirmPurge("", used))
	admin.refused(pb.CodeConfirmTokenInvalid, confirmPurge("ann", used))
	n.clock.Advance(account.PurgeOutcomeLife)
	n.waitFor(func() bool {
		n.clock.Advance(tenant.SweepInterval)
		return c.count(storage.OrgSpace(storage.StoreID{Org: made.Org, Realm: storage.RealmMain}).
			Prefix(storage.TablePurgeRun)) == 0
	})
	c.refused(pb.CodeConfirmTokenInvalid, confirmPurge("ann", used))
	if got := c.as("bob").chunks("text"); len(got) != 1 {
		t.Errorf("bob finds %q", got)
	}
}

// A purge ends what is queued, and what comes behind it stays.
func TestPurgeEndsWhatIsQueued(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), smallSlices)
	made := n.org(account.NewOrg{})
	c := client{n: n, key: made.APIKey}
	c.put("ann")
	var its []*pb.IngestItem
	for i := range 300 {
		its = append(its, doc(fmt.Sprint(i), fmt.Sprintf("text number %d", i)))
	}
	for range 20 {
		job := jobOf(c.as("ann").inTurn(items(its...)))
		r := c.ask(dryPurge("ann"))
		r = c.ask(confirmPurge("ann", r.GetData().GetPurge().GetConfirmToken()))
		if code := r.GetProblem().GetCode(); code != "" && code != pb.CodePurgeImpactChanged {
			t.Fatalf("purge: %s", code)
		} else if code != "" {
			n.wait(job)
			continue
		}
		n.wait(job)
		if status := c.job(job).GetStatus(); !tenant.Terminal(status) {
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
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
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

// Wherever a crash comes, a purge has either not begun, and its token is good, or it
// is done, and a repeated confirmation says so.
func TestAConfirmedPurgeIsOneStep(t *testing.T) {
	for _, subject := range []string{"", "ann"} {
		for pieces := range 2 {
			t.Run(fmt.Sprintf("scope %q, %d bytes a commit", subject, pieces), func(t *testing.T) {
				t.Parallel()
				purgedOrNot(t, subject, pieces == 1)
			})
		}
	}
}

func purgedOrNot(t *testing.T, subject string, inPieces bool) {
	disk := storagetest.NewDisk()
	small := func(cfg *tenant.Config, _ *storage.Options) {
		if inPieces {
			cfg.PieceBytes = 1
		}
	}
	n := startNode(t, disk, small)
	made := n.org(account.NewOrg{})
	c := client{n: n, key: made.APIKey}
	c.put("ann")
	ann := c.as("ann")
	ann.ingest(doc("a", "some text of ann"), doc("b", "more text of ann"))
	texts := len(ann.chunks("text"))
	dry := c.ok(dryPurge(subject)).GetData().GetPurge()
	st, err := n.store.AcquireToRead(storage.StoreID{Org: made.Org, Realm: storage.RealmMain})
	if err != nil {
		t.Fatal(err)
	}
	first := st.State().Version
	done := make(chan *pb.Reply, 1)
	go func() { done <- c.ask(confirmPurge(subject, dry.GetConfirmToken())) }()
	var crashed []*storagetest.Disk
	for last := first - 1; ; runtime.Gosched() {
		now := st.State().Version
		over := len(done) > 0
		if now != last || over {
			last = now
			crashed = append(crashed, disk.Crash(0, uint64(len(crashed))), disk.Crash(100, uint64(len(crashed))))
		}
		if over {
			break
		}
	}
	if r := <-done; r.GetProblem() != nil {
		t.Fatalf("purge: %v", r.GetProblem())
	}
	st.Release()
	n.stop()
	for i, disk := range crashed {
		after := client{n: startNode(t, disk, small), key: made.APIKey}
		left := len(after.as("ann").chunks("text"))
		outcomes := after.count(storage.OrgSpace(storage.StoreID{Org: made.Org, Realm: storage.RealmMain}).
			Prefix(storage.TablePurgeRun))
		r := after.ok(confirmPurge(subject, dry.GetConfirmToken())).GetData().GetPurge()
		if r.GetPurgedMs() == 0 || r.GetDryRun() || !maps.Equal(r.GetCounts(), dry.GetCounts()) {
			t.Errorf("crash %d: confirmed once more: %v", i, r)
		}
		if want := texts * (1 - outcomes); left != want {
			t.Errorf("crash %d: before that %d passages are found, and %d outcomes", i, left, outcomes)
		}
		if left := after.as("ann").chunks("text"); len(left) != 0 {
			t.Errorf("crash %d: after it there is %q", i, left)
		}
		after.n.stop()
	}
}

// Where the organization's shard gets another leader in the middle of a purge, that one
// carries it to its end before it answers anything.
func TestAPurgeIsCarriedOnByTheNextLeader(t *testing.T) {
	w := startTownWith(t, func(cfg *tenant.Config, _ *storage.Options) { cfg.PieceBytes = 1 }, "a", "b")
	made := w.org("a", pb.PlanUnlimited)
	c, d := w.at("a").client(made.APIKey), w.at("b").client(made.APIKey)
	c.put("ann")
	c.as("ann").ingest(doc("a", "some text of ann"))
	dry := c.ok(dryPurge("ann")).GetData().GetPurge()
	var exports *export.Module
	c.inOrg(func(o *tenant.Org) { exports = tenant.ModuleOf[*export.Module](&o.View) })
	exports.Mu.Lock() // the purge stops before its last commit
	first := make(chan *pb.Reply, 1)
	go func() { first <- c.ask(confirmPurge("ann", dry.GetConfirmToken())) }()
	runs := storage.OrgSpace(storage.StoreID{Org: made.Org, Realm: storage.RealmMain}).Prefix(storage.TablePurgeRun)
	w.at("a").waitFor(func() bool { return c.count(runs) == 1 })
	w.lead("b")
	if got := d.as("ann").chunks("text"); len(got) != 0 {
		t.Errorf("the next leader finds %q", got)
	}
	r := d.ok(confirmPurge("ann", dry.GetConfirmToken())).GetData().GetPurge()
	if r.GetPurgedMs() == 0 || !maps.Equal(r.GetCounts(), dry.GetCounts()) {
		t.Errorf("the next leader answers %v", r)
	}
	d.as("ann").ingest(doc("b", "a later text of ann"))
	exports.Mu.Unlock()
	if r := <-first; r.GetProblem() != nil && r.GetProblem().GetCode() != pb.CodeServiceDegraded {
		t.Errorf("the first confirmation is answered %v", r.GetProblem())
	}
	if got := d.as("ann").chunks("text"); len(got) != 1 {
		t.Errorf("behind it ann finds %q", got)
	}
}
