package actors

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orgmem/actors/account"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/prototest"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

func accountOp(op *pb.AccountOp) *pb.Envelope {
	return &pb.Envelope{Op: &pb.Envelope_Account{Account: op}}
}

func deleteMe() *pb.Envelope {
	return accountOp(&pb.AccountOp{Op: &pb.AccountOp_DeleteMe{DeleteMe: &pb.DeleteMe{}}})
}

func getTeam() *pb.Envelope {
	return accountOp(&pb.AccountOp{Op: &pb.AccountOp_GetTeam{GetTeam: &pb.GetTeam{}}})
}

func listMembers(page *pb.Page) *pb.Envelope {
	return accountOp(&pb.AccountOp{Op: &pb.AccountOp_ListMembers{ListMembers: &pb.ListMembers{Page: page}}})
}

// recruit adds a person and makes them a key.
func (n *testNode) recruit(org pb.OrgID, email string, role account.Role, scopes ...string) (tenant.MemberInfo,
	client,
) {
	n.t.Helper()
	m, err := n.sys.AddMember(n.t.Context(), org, email, role)
	if err != nil {
		n.t.Fatal(err)
	}
	return m, n.keyOf(org, m.User, scopes...)
}

func (n *testNode) keyOf(org pb.OrgID, user pb.UserID, scopes ...string) client {
	n.t.Helper()
	if len(scopes) == 0 {
		scopes = []string{pb.ScopeRead, pb.ScopeWrite, pb.ScopeAdmin}
	}
	k, err := n.sys.CreateKey(n.t.Context(), account.NewKey{Org: org, User: user, Scopes: scopes, Label: "k"})
	if err != nil {
		n.t.Fatal(err)
	}
	return client{n: n, key: k.APIKey}
}

// interface: Resources/Organization
// interface: Endpoints/Team
func TestTheTeamIsItsPeople(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	n.recruit(org.Org, "zoe@example.com", pb.RoleMember)
	n.recruit(org.Org, "ann@example.com", pb.RoleAdmin)
	c.put("subject")
	n.sandboxKey(c)
	team := c.ok(getTeam()).GetAccount().GetTeam()
	want := &pb.TeamInfo{Members: 3, Name: "Acme", Slug: org.Slug, Org: org.Org.Bytes()}
	if diff := prototest.Diff(want, team); diff != "" || team.GetCreatedMs() == 0 {
		t.Errorf("team %v (-want +got):\n%s", team, diff)
	}
	var got []string
	page := &pb.Page{Size: 2}
	for {
		list := c.ok(listMembers(page)).GetAccount().GetMembers()
		for _, m := range list.GetMembers() {
			got = append(got, m.GetEmail()+" "+m.GetRole())
		}
		if list.GetNextCursor() == "" {
			break
		}
		page = &pb.Page{Size: 2, Cursor: list.GetNextCursor()}
		n.recruit(org.Org, "bob@example.com", pb.RoleMember) // before the cursor
	}
	if want := []string{"ann@example.com admin", "owner@example.com owner", "zoe@example.com member"}; !slices.Equal(got,
		want) {
		t.Errorf("members %v, want %v", got, want)
	}
	c.refused(pb.CodeInvalidCursor,
		&pb.Envelope{Op: &pb.Envelope_ListSubjects{ListSubjects: &pb.ListSubjects{Page: page}}})
	other := client{n: n, key: n.org(account.NewOrg{Name: "Other", OwnerEmail: "o@example.com"}).APIKey}
	other.refused(pb.CodeInvalidCursor, listMembers(page))
}

// TestAnAdminSeesWhoseKeysThereAre: those of all members, a page at a time or by name, and neither the sandbox's nor
// those of somebody who has left.
func TestAnAdminSeesWhoseKeysThereAre(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	ann, annKey := n.recruit(org.Org, "ann@example.com", pb.RoleAdmin)
	zoe, zoeKey := n.recruit(org.Org, "zoe@example.com", pb.RoleMember)
	keys := map[string]string{
		pb.HashKey(org.APIKey).String(): org.Owner.String(), pb.HashKey(annKey.key).String(): ann.User.String(),
		pb.HashKey(zoeKey.key).String(): zoe.User.String(),
	}
	sandbox := pb.HashKey(n.sandboxKey(c).key).String()
	list := func(c client, op *pb.ListTeamKeys) *pb.TeamKeyList {
		reply := c.ok(accountOp(&pb.AccountOp{Op: &pb.AccountOp_ListTeamKeys{ListTeamKeys: op}}))
		return reply.GetAccount().GetTeamKeys()
	}
	found := func(l *pb.TeamKeyList, into map[string]string) map[string]string {
		for _, k := range l.GetKeys() {
			into[pb.KeyHash(k.GetHash()).String()] = pb.UserID(k.GetUser()).String()
		}
		return into
	}
	got := map[string]string{}
	page := &pb.Page{Size: 1}
	for range keys {
		l := list(c, &pb.ListTeamKeys{Page: page})
		if len(l.GetKeys()) != 1 {
			t.Fatalf("a page of %d keys", len(l.GetKeys()))
		}
		found(l, got)
		page = &pb.Page{Size: 1, Cursor: l.GetNextCursor()}
	}
	if page.GetCursor() != "" || !maps.Equal(got, keys) {
		t.Errorf("keys of members %v, want %v, then the cursor %q", got, keys, page.GetCursor())
	}
	named := append(slices.Collect(maps.Keys(keys)), sandbox, strings.Repeat("0", 64), "no key")
	if got := found(list(c, &pb.ListTeamKeys{Ids: named}), map[string]string{}); !maps.Equal(got, keys) {
		t.Errorf("keys that are named %v, want %v", got, keys)
	}
	if err := n.sys.RemoveMember(t.Context(), org.Org, zoe.User); err != nil {
		t.Fatal(err)
	}
	if got := list(c, &pb.ListTeamKeys{Ids: named}).GetKeys(); len(got) != len(keys)-1 {
		t.Errorf("%d keys once a member has left", len(got))
	}
	other := client{n: n, key: n.org(account.NewOrg{Name: "Other", OwnerEmail: "o@example.com"}).APIKey}
	if got := list(other, &pb.ListTeamKeys{Ids: named}).GetKeys(); len(got) > 0 {
		t.Errorf("another organization's keys: %v", got)
	}
}

// interface: Endpoints/DELETE /v1/me
func TestAPersonalOrganizationGoesAsAWhole(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	org := n.org(account.NewOrg{Name: "Solo", OwnerEmail: "solo@example.com", Personal: true, Plan: pb.PlanUnlimited})
	c := client{n: n, key: org.APIKey}
	second := n.keyOf(org.Org, org.Owner)
	sandbox := n.sandboxKey(c)
	c.ingest(doc("a", "A page of the diary, quizzaciously kept."))
	sandbox.ingest(doc("a", "An absquatulating trial."))
	bystander := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	bystander.ingest(doc("a", "Somebody else's text."))

	sandbox.refused(pb.CodePermissionDenied, deleteMe())
	n.keyOf(org.Org, org.Owner, pb.ScopeRead, pb.ScopeAdmin).refused(pb.CodePermissionDenied, deleteMe())
	if r := c.ok(deleteMe()); r.GetStatus() != 204 {
		t.Errorf("status %d", r.GetStatus())
	}
	for _, gone := range []client{c, second, sandbox} {
		gone.refused(pb.CodeAuthentication, me())
	}
	if got := bystander.chunks("text"); len(got) != 1 {
		t.Errorf("a bystander finds %q", got)
	}
	n = startNode(t, disk.Crash(0, 1))
	for _, realm := range []storage.Realm{storage.RealmMain, storage.RealmSandbox} {
		n.waitFor(func() bool { // what somebody still read when it was removed, the start removes
			there, err := n.store.Exists(storage.StoreID{Org: org.Org, Realm: realm})
			return err == nil && !there
		})
	}
	for _, gone := range []client{c, second, sandbox} {
		gone.n = n
		gone.refused(pb.CodeAuthentication, me())
	}
	if _, err := n.sys.Org(t.Context(), org.Org); !errors.Is(err, tenant.ErrOrgNotFound) {
		t.Errorf("the operator still sees it: %v", err)
	}
}

// interface: Endpoints/DELETE /v1/me
func TestAMemberLeavesATeamAlone(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	org := n.org(account.NewOrg{})
	owner := client{n: n, key: org.APIKey}
	info, leaver := n.recruit(org.Org, "two@example.com", pb.RoleAdmin)
	second := n.keyOf(org.Org, info.User)
	sandbox, kept := n.sandboxKey(leaver), n.sandboxKey(owner)
	owner.ingest(doc("a", "The owner keeps this text."))
	owner.put("shared")
	leaver.as("shared").ingest(doc("a", "A text of the shared subject."))
	leaver.ingest(doc("a", "A quizzacious text of the leaver."))
	kept.ingest(doc("a", "The sandbox keeps this text."))

	owner.refused(pb.CodeLastOwner, deleteMe())
	owner.ok(me())
	if r := leaver.ok(deleteMe()); r.GetStatus() != 204 {
		t.Errorf("status %d", r.GetStatus())
	}
	for _, gone := range []client{leaver, second, sandbox} {
		gone.refused(pb.CodeAuthentication, me())
	}
	if got := owner.chunks("text"); !slices.Equal(got, []string{"The owner keeps this text."}) {
		t.Errorf("the owner finds %q", got)
	}
	var all []string
	for _, h := range owner.search(&pb.Search{Query: "text", OrgScope: true, TopK: 100}) {
		all = append(all, h.GetChunk())
	}
	slices.Sort(all)
	if want := []string{"A text of the shared subject.", "The owner keeps this text."}; !slices.Equal(all, want) {
		t.Errorf("the organization finds %q, want %q", all, want)
	}
	if got := kept.chunks("text"); len(got) != 1 {
		t.Errorf("the sandbox finds %q", got)
	}
	if got := owner.ok(getTeam()).GetAccount().GetTeam().GetMembers(); got != 1 {
		t.Errorf("%d members", got)
	}
	if !slices.Contains(n.audits(org.Org), "account.delete") {
		t.Error("the deletion is not in the trail")
	}
	n.settle(storage.StoreID{Org: org.Org, Realm: storage.RealmMain})
	for _, path := range disk.Find(t, "quizzacious") {
		t.Errorf("%s holds the leaver's text", path)
	}
	n = startNode(t, disk.Crash(0, 1))
	leaver.n, owner.n = n, n
	leaver.refused(pb.CodeAuthentication, me())
	owner.ok(me())
	n.recruit(org.Org, "two@example.com", pb.RoleMember) // the address is free again
}

// TestMembersAgainstModel adds, removes and lets go random people, with power
// failures between: there is always an owner, and a key works exactly as long as
// its owner is a member.
func TestMembersAgainstModel(t *testing.T) {
	storagetest.FewerUnderRace(t, 20)
	rapid.Check(t, func(rt *rapid.T) {
		disk := storagetest.NewDisk()
		n := startNode(t, disk)
		org := n.org(account.NewOrg{})
		roles := map[string]account.Role{"owner@example.com": pb.RoleOwner}
		users := map[string]pb.UserID{"owner@example.com": org.Owner}
		keys := map[string]client{"owner@example.com": {n: n, key: org.APIKey}}
		var gone []client
		added := 0
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			who := rapid.SampledFrom(slices.Sorted(maps.Keys(roles))).Draw(rt, "who")
			owners := 0
			for _, r := range roles {
				if r == pb.RoleOwner {
					owners++
				}
			}
			last := roles[who] == pb.RoleOwner && owners == 1
			switch rapid.SampledFrom([]string{"add", "add", "leave", "remove", "crash"}).Draw(rt, "step") {
			case "add":
				added++
				email := fmt.Sprintf("p%d@example.com", added)
				roles[email] = rapid.SampledFrom([]account.Role{pb.RoleOwner, pb.RoleAdmin, pb.RoleMember}).Draw(rt,
					"role")
				var m tenant.MemberInfo
				m, keys[email] = n.recruit(org.Org, email, roles[email])
				users[email] = m.User
				continue
			case "leave":
				if last {
					keys[who].refused(pb.CodeLastOwner, deleteMe())
					continue
				}
				keys[who].ok(deleteMe())
			case "remove":
				if err := n.sys.RemoveMember(t.Context(), org.Org, users[who]); last != errors.Is(err, tenant.ErrConflict) ||
					!last && err != nil {
					rt.Fatalf("removing %s, the last owner: %v: %v", who, last, err)
				}
				if last {
					continue
				}
			case "crash":
				disk = disk.Crash(rapid.SampledFrom([]int{0, 50, 100}).Draw(rt, "kept"), 1)
				n.stop()
				n = startNode(t, disk)
				for email, c := range keys {
					c.n = n
					keys[email] = c
				}
				for i := range gone {
					gone[i].n = n
				}
				continue
			}
			gone = append(gone, keys[who])
			delete(roles, who)
			delete(keys, who)
		}
		for _, c := range gone {
			c.refused(pb.CodeAuthentication, me())
		}
		members, err := n.sys.Members(t.Context(), org.Org)
		if err != nil {
			rt.Fatal(err)
		}
		got := map[string]account.Role{}
		for _, m := range members {
			got[m.Email] = account.Role(m.Role)
			keys[m.Email].ok(me())
		}
		if !maps.Equal(got, roles) {
			rt.Fatalf("members %v, want %v", got, roles)
		}
		n.stop()
	})
}
