package actors

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"orgmem/actors/account"
	"orgmem/actors/commit"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

func listAudit(op *pb.ListAudit) *pb.Envelope {
	return accountOp(&pb.AccountOp{Op: &pb.AccountOp_ListAudit{ListAudit: op}})
}

// trail reads all pages of the organization's trail.
func (c client) trail(op *pb.ListAudit, size uint32) (all []*pb.AuditEntry) {
	c.n.t.Helper()
	op.Page = &pb.Page{Size: size}
	for {
		list := c.ok(listAudit(op)).GetAccount().GetAudit()
		all = append(all, list.GetEntries()...)
		if list.GetNextCursor() == "" {
			return all
		}
		op.Page = &pb.Page{Size: size, Cursor: list.GetNextCursor()}
	}
}

func acts(entries []*pb.AuditEntry) (out []string) {
	for _, e := range entries {
		out = append(out, e.GetAudit().GetAction())
	}
	return out
}

// TestTrailTellsEveryAct does everything that matters once, and reads who did it, for
// which subject, to what and with which request id.
func TestTrailTellsEveryAct(t *testing.T) {
	url, allow := receiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	n := startNode(t, storagetest.NewDisk(), allow)
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	keyID, anna := pb.HashKey(c.key).String(), c.as("anna")
	type act struct{ action, target, subject string }
	var want []act
	did := func(action, target, subject string) { want = append(want, act{action, target, subject}) }
	with := func(op *pb.Envelope) *pb.Envelope { op.RequestId = fmt.Sprintf("request-%d", len(want)); return op }

	did("organization.create", org.Org.String(), "")
	did("key.create", keyID, "")
	if err := n.sys.SetPlan(t.Context(), org.Org, pb.PlanUnlimited); err != nil {
		t.Fatal(err)
	}
	did("organization.plan", pb.PlanUnlimited, "")
	ann, err := n.sys.AddMember(t.Context(), org.Org, "quizzacious@example.com", pb.RoleAdmin)
	if err != nil {
		t.Fatal(err)
	}
	did("member.add", ann.User.String(), "")

	made := c.ok(with(&pb.Envelope{Op: &pb.Envelope_CreateKey{CreateKey: &pb.CreateKey{
		Label:  "quizzacious",
		Scopes: []string{pb.ScopeRead},
	}}})).GetNewKey()
	did("key.create", made.GetId(), "")
	c.ok(with(&pb.Envelope{Op: &pb.Envelope_RevokeKey{RevokeKey: &pb.RevokeKey{Id: made.GetId()}}}))
	did("key.revoke", made.GetId(), "")
	c.ok(with(&pb.Envelope{Op: &pb.Envelope_PutSubject{PutSubject: &pb.PutSubject{Id: "anna"}}}))
	did("subject.provision", "anna", "anna")

	job := anna.ingest(doc("m", "One quizzacious secret."), doc("o", "Another quizzacious secret."))
	one, other := job.GetItems()[0].GetNode(), job.GetItems()[1].GetNode()
	anna.ok(with(editOp(&pb.EditNode{Id: one, Content: new("Two quizzacious secrets."), Reason: "quizzacious"})))
	did("node.update", one, "anna")
	edge := anna.ok(with(graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_AssertEdge{AssertEdge: &pb.AssertEdge{
		Source: one, Target: other, Type: "quizzacious", Note: new("quizzacious"),
	}}}))).GetGraph().GetEdge().GetEdge().GetId()
	did("edge.assert", edge, "anna")
	anna.ok(with(graphEnvelope(&pb.GraphOp{Op: &pb.GraphOp_ForgetEdge{ForgetEdge: &pb.ForgetEdge{Id: edge}}})))
	did("edge.forget", edge, "anna")
	anna.ok(with(supersedeOp(one, "Three quizzacious secrets.")))
	did("node.supersede", one, "anna")
	anna.ok(with(forgetOp(other)))
	did("node.forget", other, "anna")
	anna.ok(with(undeleteOp(other)))
	did("node.undelete", other, "anna")

	anna.ok(with(patchSettings("fast", nil)))
	did("settings.update", "", "anna")
	anna.ok(with(resetSettings()))
	did("settings.reset", "", "anna")
	hook := c.ok(with(newWebhook(url, "*"))).GetLink().GetWebhook().GetId()
	did("webhook.create", pb.WebhookID(hook).String(), "")
	c.ok(with(patchWebhook(hook, &pb.PatchWebhook{Disabled: new(true)})))
	did("webhook.update", pb.WebhookID(hook).String(), "")
	c.ok(with(link(&pb.LinkOp{Op: &pb.LinkOp_DeleteWebhook{DeleteWebhook: &pb.DeleteWebhook{Id: pb.WebhookID(hook).
		String()}}})))
	did("webhook.delete", pb.WebhookID(hook).String(), "")
	feed := pb.ConnectorID(c.ok(with(feedOp(url + "/quizzacious"))).GetLink().GetConnector().GetId()).String()
	did("connector.create", feed, "")
	c.ok(with(link(&pb.LinkOp{Op: &pb.LinkOp_DeleteConnector{DeleteConnector: &pb.DeleteConnector{Id: feed}}})))
	did("connector.delete", feed, "")

	export := pb.ExportID(anna.ok(with(createExport(false))).GetData().GetExport().GetId()).String()
	did("export.create", export, "anna")
	n.wait(export)
	anna.ok(with(downloadExport(export)))
	did("export.download", export, "anna")
	anna.refused(pb.CodeExportNotFound, with(downloadExport("none")))

	sandbox := n.sandboxKey(c)
	sandboxID := pb.HashKey(sandbox.key).String()
	did("sandbox_key.create", sandboxID, "")
	sandbox.ok(patchSettings("thorough", nil)) // what happens in the sandbox is not in it
	c.ok(with(resetSandbox()))
	did("sandbox.reset", "sandbox", "")
	c.ok(with(revokeSandboxKey(sandboxID)))
	did("sandbox_key.revoke", sandboxID, "")

	c.say(said("quizzacious session", "A quizzacious line."))
	c.settled()
	c.ok(with(link(&pb.LinkOp{Op: &pb.LinkOp_DeleteSession{DeleteSession: &pb.DeleteSession{Id: "quizzacious session"}}})))
	did("session.delete", "", "")
	train := jobOf(c.ok(with(trainOp())))
	did("brain.train", train, "")
	n.wait(train)

	dry := c.ok(with(dryPurge("anna"))).GetData().GetPurge()
	did("purge.dry_run", "anna", "anna")
	c.ok(with(confirmPurge("anna", dry.GetConfirmToken())))
	did("purge", "anna", "anna")
	c.ok(with(&pb.Envelope{Op: &pb.Envelope_PutSubject{PutSubject: &pb.PutSubject{Id: "bob"}}}))
	did("subject.provision", "bob", "bob")
	c.ok(with(&pb.Envelope{Op: &pb.Envelope_PutSubject{PutSubject: &pb.PutSubject{Id: "bob"}}})) // nothing is done again
	if err := n.sys.RemoveMember(t.Context(), org.Org, ann.User); err != nil {
		t.Fatal(err)
	}
	did("member.remove", ann.User.String(), "")

	entries := c.trail(&pb.ListAudit{}, 3)
	slices.Reverse(entries)
	var got []act
	for i, e := range entries {
		got = append(got, act{e.GetAudit().GetAction(), e.GetTarget(), e.GetSubject()})
		a := e.GetAudit()
		byOperator := strings.HasPrefix(a.GetAction(), "organization.") || strings.HasPrefix(a.GetAction(), "member.") ||
			i == 1
		key, user, request := pb.HashKey(c.key), org.Owner, fmt.Sprintf("request-%d", i)
		if a.GetAction() == "sandbox_key.create" { // by the harness
			request = ""
		}
		switch {
		case byOperator && (e.GetActor() != account.ActorOperator || len(a.GetKeyHash()) > 0 || len(a.GetUser()) > 0):
			t.Errorf("%v is not the operator's", e)
		case !byOperator && (e.GetActor() != account.ActorKey || string(a.GetKeyHash()) != string(key[:]) ||
			string(a.GetUser()) != string(user[:]) || a.GetRequestId() != request):
			t.Errorf("%v, want %s of key %s", e, request, keyID)
		}
		if a.GetAtMs() != n.clock.Now().UnixMilli() || strings.Contains(e.String(), "quizz") {
			t.Errorf("entry %v", e)
		}
	}
	if !slices.Equal(got, want) {
		for i := range max(len(got), len(want)) {
			t.Errorf("%d: got %v, want %v", i, slices.Concat(got, make([]act, len(want)))[i],
				slices.Concat(want, make([]act, len(got)))[i])
		}
	}

	// A filter finds what it says and no more.
	hasPart := func(target string) int { return len(c.trail(&pb.ListAudit{Target: target}, 2)) }
	for _, f := range []struct {
		name string
		op   *pb.ListAudit
		want int
	}{
		{"action", &pb.ListAudit{Action: "key.create"}, 2},
		{"operator", &pb.ListAudit{Actor: account.ActorOperator}, 5},
		{"service", &pb.ListAudit{Actor: account.ActorService}, 0},
		{"key", &pb.ListAudit{Actor: keyID}, len(want) - 5},
		{"user", &pb.ListAudit{Actor: org.Owner.String()}, len(want) - 5},
		{"another user", &pb.ListAudit{Actor: ann.User.String()}, 0},
		{"target", &pb.ListAudit{Target: one}, 2},
		{"subject", &pb.ListAudit{Target: "anna"}, 3},
		{"both", &pb.ListAudit{Target: "anna", Action: "purge"}, 1},
		{"before", &pb.ListAudit{BeforeMs: n.clock.Now().UnixMilli()}, 0},
		{"after", &pb.ListAudit{AfterMs: n.clock.Now().UnixMilli()}, len(want)},
	} {
		if got := c.trail(f.op, 2); len(got) != f.want {
			t.Errorf("%s: %v, want %d", f.name, acts(got), f.want)
		}
	}

	// An erased subject has no name any more, here as anywhere; its acts stay, by its
	// memory's id.
	id := c.trail(&pb.ListAudit{Target: "anna"}, 9)[0].GetAudit().GetPartition()
	n.wait(jobOf(c.ok(&pb.Envelope{Op: &pb.Envelope_EraseSubject{EraseSubject: &pb.EraseSubject{Id: "anna"}}})))
	for _, e := range c.trail(&pb.ListAudit{}, 50) {
		if strings.Contains(e.String(), "anna") {
			t.Errorf("behind the erasure: %v", e)
		}
	}
	if got := hasPart("anna"); got != 0 {
		t.Errorf("%d acts are found by an erased name", got)
	}
	if got := acts(c.trail(&pb.ListAudit{Target: pb.PartitionID(id).String()}, 2)); !slices.Equal(got,
		[]string{"subject.erase", "purge", "purge.dry_run", "subject.provision"}) {
		t.Errorf("by the memory's id: %v", got)
	}

	// In a team somebody who leaves stays in the trail by id.
	_, zoe := n.recruit(org.Org, "zoe@example.com", pb.RoleOwner)
	zoe.ok(accountOp(&pb.AccountOp{Op: &pb.AccountOp_DeleteMe{DeleteMe: &pb.DeleteMe{}}}))
	if got := acts(c.trail(&pb.ListAudit{}, 50))[0]; got != "account.delete" {
		t.Errorf("the newest act is %s", got)
	}
}

// TestTrailIsOfOneOrganizationsAdmins.
func TestTrailIsOfOneOrganizationsAdmins(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	c.put("anna")
	other := client{n: n, key: n.org(account.NewOrg{Name: "Other", OwnerEmail: "o@example.com", Plan: pb.PlanUnlimited}).
		APIKey}
	other.put("zoe")
	_, ann := n.recruit(org.Org, "ann@example.com", pb.RoleAdmin) // an admin sees all of it
	if got, want := acts(ann.trail(&pb.ListAudit{}, 50)), acts(c.trail(&pb.ListAudit{}, 50)); !slices.Equal(got, want) ||
		len(got) < 4 {
		t.Errorf("ann sees %v, the owner %v", got, want)
	}
	for _, e := range c.trail(&pb.ListAudit{}, 50) {
		if strings.Contains(e.String(), "zoe") {
			t.Errorf("of another organization: %v", e)
		}
	}
	made := c.ok(&pb.Envelope{Op: &pb.Envelope_CreateKey{CreateKey: &pb.CreateKey{Scopes: []string{
		pb.ScopeRead,
		pb.ScopeWrite,
	}}}}).GetNewKey()
	client{n: n, key: made.GetApiKey()}.refused(pb.CodePermissionDenied, listAudit(&pb.ListAudit{}))
	n.sandboxKey(c).refused(pb.CodePermissionDenied, listAudit(&pb.ListAudit{}))
	c.as("anna").ok(listAudit(&pb.ListAudit{}))
	c.as("nobody").refused(pb.CodeSubjectNotProvisioned, listAudit(&pb.ListAudit{}))

	cursor := c.ok(listAudit(&pb.ListAudit{Page: &pb.Page{Size: 1}})).GetAccount().GetAudit().GetNextCursor()
	page := &pb.Page{Size: 1, Cursor: cursor}
	c.ok(listAudit(&pb.ListAudit{Page: page}))
	for _, op := range []*pb.ListAudit{
		{Actor: "operator"},
		{Action: "key.create"},
		{Target: "anna"},
		{AfterMs: 1},
		{BeforeMs: 1},
	} {
		op.Page = page
		c.refused(pb.CodeInvalidCursor, listAudit(op))
	}
	other.refused(pb.CodeInvalidCursor, listAudit(&pb.ListAudit{Page: page}))
	c.refused(pb.CodeInvalidCursor,
		&pb.Envelope{Op: &pb.Envelope_ListSubjects{ListSubjects: &pb.ListSubjects{Page: page}}})
}

// TestTrailPagesWhileItGrows: what was there when the first page was read comes once,
// newest first, whatever is done meanwhile; a node that opens the store again goes on
// with the same cursor.
func TestTrailPagesWhileItGrows(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	for i := range 10 {
		c.put(fmt.Sprintf("s%02d", i))
	}
	var got []string
	page := &pb.Page{Size: 3}
	for i := 0; ; i++ {
		list := c.ok(listAudit(&pb.ListAudit{Page: page, Action: pb.ActionSubjectProvision})).GetAccount().GetAudit()
		for _, e := range list.GetEntries() {
			got = append(got, e.GetTarget())
		}
		if list.GetNextCursor() == "" {
			break
		}
		page = &pb.Page{Size: 3, Cursor: list.GetNextCursor()}
		c.put(fmt.Sprintf("later%d", i))
		if i == 1 {
			n.stop()
			n = startNode(t, disk.Crash(0, 1))
			c.n = n
		}
	}
	want := []string{"s09", "s08", "s07", "s06", "s05", "s04", "s03", "s02", "s01", "s00"}
	if !slices.Equal(got, want) {
		t.Errorf("pages hold %v, want %v", got, want)
	}
}

// TestTrailReadsWhatEarlierVersionsWrote: records that lack a field, and those of a
// restore, with a key of zeros.
func TestTrailReadsWhatEarlierVersionsWrote(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	var o *tenant.Org
	c.inOrg(func(org *tenant.Org) { o = org })
	ch := commit.New(o.Store)
	ch.Audit(&pb.Audit{AtMs: 1, Action: "member.remove", Target: "x", Partition: org.Owner.Bytes()})
	ch.Audit(&pb.Audit{AtMs: 2, Action: "export.import", Target: "x", KeyHash: make([]byte, 32), User: make([]byte, 16)})
	ch.Audit(&pb.Audit{AtMs: 3, Action: "webhook.disable", Target: "x"})
	ch.Audit(&pb.Audit{})
	if err := o.Committer.CommitChange(ch); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range c.trail(&pb.ListAudit{}, 2)[:4] {
		got = append(got, fmt.Sprintf("%s by %s %x", e.GetAudit().GetAction(), e.GetActor(), e.GetAudit().GetKeyHash()))
	}
	if want := []string{
		" by operator ", "webhook.disable by service ", "export.import by operator ",
		"member.remove by operator ",
	}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestTrailIsBounded in time and in number. The newest act stays, so that numbers are
// not given twice.
func TestTrailIsBounded(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	var o *tenant.Org
	awake := func() { c.inOrg(func(org *tenant.Org) { o = org }) }
	last := c.trail(&pb.ListAudit{}, 50)[0].GetSeq()
	put := func(seq uint64, age time.Duration) {
		t.Helper()
		awake()
		b := storage.NewBatch(o.Store)
		b.Put(o.Space.Key(storage.TableAudit, storage.U64(seq)), &pb.Audit{
			AtMs:   n.clock.Now().Add(-age).UnixMilli(),
			Action: fmt.Sprint(seq),
		})
		if err := o.Committer.Commit(b); err != nil {
			t.Fatal(err)
		}
	}
	swept := func() (seqs []uint64) {
		t.Helper()
		awake()
		err := o.WithStore(func(st *storage.Store) error {
			b := storage.NewBatch(o.Store)
			if _, err := tenant.ModuleOf[*account.Trail](&o.View).Sweep(st, b, n.clock.Now()); err != nil {
				return err
			}
			return o.Committer.Commit(b)
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range c.trail(&pb.ListAudit{}, 50) {
			seqs = append(seqs, e.GetSeq())
		}
		slices.Reverse(seqs)
		return seqs
	}
	put(last+1, account.AuditRetention-time.Hour)
	put(last+2, 0)
	if got := swept(); got[0] != 1 || len(got) != int(last)+2 {
		t.Errorf("what is young went: %v", got)
	}
	n.clock.Advance(2 * time.Hour)
	for seq := range last {
		put(seq+1, account.AuditRetention+time.Hour)
	}
	if got := swept(); !slices.Equal(got, []uint64{last + 2}) {
		t.Errorf("what is old stays: %v", got)
	}
	put(last+3, 0)
	put(last+account.MaxAudits+2, 0)
	if got := swept(); !slices.Equal(got, []uint64{last + 3, last + account.MaxAudits + 2}) {
		t.Errorf("of too many these stay: %v", got)
	}
	n.clock.Advance(2 * account.AuditRetention)
	if got := swept(); !slices.Equal(got, []uint64{last + account.MaxAudits + 2}) {
		t.Errorf("the newest went: %v", got)
	}
}
