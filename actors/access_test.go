package actors

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"orgmem/actors/account"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

func me() *pb.Envelope { return &pb.Envelope{Op: &pb.Envelope_Me{Me: &pb.Me{}}} }

func createKey(label string, scopes ...string) *pb.Envelope {
	return &pb.Envelope{Op: &pb.Envelope_CreateKey{CreateKey: &pb.CreateKey{Label: label, Scopes: scopes}}}
}

func revoke(id string) *pb.Envelope {
	return &pb.Envelope{Op: &pb.Envelope_RevokeKey{RevokeKey: &pb.RevokeKey{Id: id}}}
}

// interface: Resources/API key
// interface: States/API key revoked
// interface: Endpoints/Keys
// interface: Authentication/2 form of a key
// interface: Limits/Key token
func TestKeysAreMintedListedAndRevoked(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	if !strings.HasPrefix(org.APIKey, "svc_prod_") || len(org.APIKey) != len("svc_prod_")+43 {
		t.Fatalf("key %q", org.APIKey)
	}
	n.clock.Advance(time.Second)
	made := c.ok(createKey("reader", pb.ScopeRead)).GetNewKey()
	if made.GetId() != pb.HashKey(made.GetApiKey()).String() || made.GetLabel() != "reader" {
		t.Fatalf("made %v", made)
	}
	n.clock.Advance(time.Second)
	inherited := c.ok(createKey("all")).GetNewKey()
	r := client{n: n, key: made.GetApiKey()}
	if got := r.ok(me()).GetMe().GetScopes(); !slices.Equal(got, []string{pb.ScopeRead}) {
		t.Errorf("scopes %v", got)
	}
	if got := (client{n: n, key: inherited.GetApiKey()}).ok(me()).GetMe().GetScopes(); len(got) != 3 {
		t.Errorf("omitted scopes inherit the caller's, got %v", got)
	}
	r.refused(pb.CodePermissionDenied, createKey("more", pb.ScopeRead)) // needs admin

	c.put("any") // its commit comes behind the note of the use
	list := c.ok(&pb.Envelope{Op: &pb.Envelope_ListKeys{ListKeys: &pb.ListKeys{}}}).GetKeys().GetKeys()
	var labels []string
	for _, k := range list {
		labels = append(labels, k.GetLabel())
	}
	if !slices.Equal(labels, []string{"all", "reader", "first key"}) {
		t.Errorf("keys %v, want newest first", labels)
	}
	if list[1].GetLastUsedMs() == 0 {
		t.Error("lastUsedAt of a used key is missing")
	}

	c.ok(revoke(made.GetId()))
	r.refused(pb.CodeAuthentication, me())
	c.ok(revoke(made.GetId())) // idempotent
	c.refused(pb.CodeKeyNotFound, revoke(strings.Repeat("0", 64)))
	c.refused(pb.CodeKeyNotFound, revoke("nonsense"))
	after := disk.Crash(0, 1)
	n2 := startNode(t, after)
	(client{n: n2, key: made.GetApiKey()}).refused(pb.CodeAuthentication, me())
	(client{n: n2, key: inherited.GetApiKey()}).ok(me())
}

// interface: Authentication/4 minting
func TestMintingCannotEscalate(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	org := n.org(account.NewOrg{})
	k, err := n.sys.CreateKey(t.Context(), account.NewKey{
		Org: org.Org, User: org.Owner, Scopes: []string{pb.ScopeAdmin},
		Label: "admin only",
	})
	if err != nil {
		t.Fatal(err)
	}
	c := client{n: n, key: k.APIKey}
	for _, s := range tenant.AllScopes {
		if tenant.Grants([]string{pb.ScopeAdmin}, s) {
			c.ok(createKey("x", s))
		} else {
			c.refused(pb.CodePermissionDenied, createKey("x", s))
		}
	}
	p := c.refused(pb.CodeValidation, createKey("x", "root"))
	if p.GetErrors()[0].GetField() != "scopes[0]" {
		t.Errorf("field %q", p.GetErrors()[0].GetField())
	}
}

func TestUnknownRevokedAndForeignKeysReadAlike(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	made := c.ok(createKey("x", pb.ScopeRead)).GetNewKey()
	c.ok(revoke(made.GetId()))
	revoked := client{n: n, key: made.GetApiKey()}.ask(me())
	unknown := client{n: n, key: "svc_prod_" + strings.Repeat("x", 43)}.ask(me())
	if fmt.Sprint(revoked) != fmt.Sprint(unknown) {
		t.Errorf("revoked %v, unknown %v", revoked, unknown)
	}
	if unknown.GetRate() != nil {
		t.Error("a refused credential sees rate-limit figures")
	}
}

func TestChecksComeInTheirOrder(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	org := n.org(account.NewOrg{Name: "S", OwnerEmail: "s@example.com"})
	mk := func(scopes ...string) client {
		k, err := n.sys.CreateKey(t.Context(), account.NewKey{Org: org.Org, User: org.Owner, Scopes: scopes, Label: "k"})
		if err != nil {
			t.Fatal(err)
		}
		return client{n: n, key: k.APIKey}
	}
	bad := func() *pb.Envelope {
		return &pb.Envelope{Op: &pb.Envelope_Rejected{Rejected: &pb.Rejected{Problem: tenant.Invalid("content", "is blank")}}}
	}
	reader, writer := mk(pb.ScopeRead), mk(pb.ScopeWrite)
	client{n: n, key: "svc_prod_nope"}.refused(pb.CodeAuthentication, bad())
	reader.as("nobody").refused(pb.CodeSubjectNotProvisioned, bad()) // before the scope
	reader.refused(pb.CodePermissionDenied, bad())                   // before the body
	writer.refused(pb.CodeValidation, bad())
	for range 27 {
		writer.refused(pb.CodeValidation, bad())
	}
	// 28 refused requests paid; the burst of ingest is 30.
	writer.refused(pb.CodeValidation, bad())
	writer.refused(pb.CodeValidation, bad())
	p := writer.as("nobody").refused(pb.CodeRateLimit, bad()) // before the subject
	if p.GetRetryAfterS() != 1 {
		t.Errorf("Retry-After %d", p.GetRetryAfterS())
	}
	n.clock.Advance(time.Second)
	writer.refused(pb.CodeValidation, bad())

	refusing := reader.envelope(find("x"))
	refusing.SubjectMode, refusing.HasSubject, refusing.Subject = pb.SubjectMode_SUBJECT_REFUSED, true, "nobody"
	r, err := n.sys.Ask(t.Context(), refusing)
	if err != nil || r.GetProblem().GetCode() != pb.CodeSubjectNotSupported {
		t.Errorf("a key-owner route with a subject: %v %v", r, err)
	}
	reader.as("nobody").refused(pb.CodeSubjectNotProvisioned, me()) // ignored, but refused when unprovisioned
}

// interface: Endpoints/Conventions Idempotency-Key
// interface: Authentication/5 shown once
func TestRequestsWithAKeyAreDoneOnce(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.put("anna")
	with := func(key string, op *pb.Envelope) *pb.Envelope { op.IdempotencyKey = key; return op }

	first := c.ok(with("k1", items(doc("a", "Once only."))))
	again := c.ok(with("k1", items(doc("a", "Once only."))))
	if jobOf(first) != jobOf(again) || first.GetReplayed() || !again.GetReplayed() {
		t.Errorf("first %v, again %v", first, again)
	}
	c.refused(pb.CodeIdempotencyKeyReused, with("k1", items(doc("a", "Something else."))))
	// Another subject, another credential: another scope.
	if r := c.as("anna").ok(with("k1", items(doc("a", "Once only.")))); jobOf(r) == jobOf(first) {
		t.Error("a key of one subject replayed for another")
	}
	other := client{n: n, key: c.ok(with("k1", createKey("second"))).GetNewKey().GetApiKey()}
	if r := other.ok(with("k1", items(doc("a", "Once only.")))); jobOf(r) == jobOf(first) {
		t.Error("a key of one credential replayed for another")
	}
	replay := c.ok(with("k1", createKey("second")))
	if replay.GetNewKey().GetApiKey() != tenant.SecretMarker || !replay.GetReplayed() {
		t.Errorf("a replayed creation shows %v", replay)
	}

	// After a power failure too: the outcome was committed with its effect.
	n2 := startNode(t, disk.Crash(0, 3))
	c2 := client{n: n2, key: c.key}
	if r := c2.ok(with("k1", items(doc("a", "Once only.")))); jobOf(r) != jobOf(first) || !r.GetReplayed() {
		t.Errorf("after a crash: %v", r)
	}
	n2.clock.Advance(tenant.IdempotencyRetention + time.Minute)
	if r := c2.ok(with("k1", items(doc("a", "Once only.")))); jobOf(r) == jobOf(first) {
		t.Error("replayed after the retention")
	}
}

func TestConcurrentDuplicatesMakeOneJob(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	var mu sync.Mutex
	jobs := map[string]int{}
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			op := items(doc("a", "Told many times."))
			op.IdempotencyKey = "same"
			r := c.ask(op)
			mu.Lock()
			defer mu.Unlock()
			if p := r.GetProblem(); p != nil {
				jobs[p.GetCode()]++
			} else {
				jobs[jobOf(r)]++
			}
		})
	}
	wg.Wait()
	delete(jobs, pb.CodeIdempotencyInProgress)
	if len(jobs) != 1 {
		t.Errorf("outcomes %v, want one job and refusals to wait", jobs)
	}
}

// interface: Endpoints/Jobs
func TestJobsAreListedInPagesThatWritesDoNotShift(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	org := n.org(account.NewOrg{Name: "T", OwnerEmail: "t@example.com", Plan: pb.PlanUnlimited})
	c := client{n: n, key: org.APIKey}
	var want []string
	for i := range 7 {
		n.clock.Advance(time.Millisecond)
		want = append(want, jobOf(c.ok(items(doc("", fmt.Sprintf("Text %d.", i))))))
	}
	slices.Reverse(want)
	var got []string
	page := &pb.Page{Size: 3}
	for {
		r := c.ok(&pb.Envelope{Op: &pb.Envelope_ListJobs{ListJobs: &pb.ListJobs{Page: page}}}).GetJobs()
		for _, j := range r.GetJobs() {
			got = append(got, pb.JobID(j.GetId()).String())
		}
		if r.GetNextCursor() == "" {
			break
		}
		page = &pb.Page{Size: 3, Cursor: r.GetNextCursor()}
		n.clock.Advance(time.Millisecond)
		c.ok(items(doc("", "Written while paging."+page.GetCursor())))
	}
	if !slices.Equal(got, want) {
		t.Errorf("pages hold %v, want %v", got, want)
	}
	c.refused(pb.CodeInvalidCursor, &pb.Envelope{Op: &pb.Envelope_ListJobs{ListJobs: &pb.ListJobs{
		Page:   page,
		Status: pb.JobFailed,
	}}})
	c.refused(pb.CodeInvalidCursor,
		&pb.Envelope{Op: &pb.Envelope_ListSubjects{ListSubjects: &pb.ListSubjects{Page: page}}})

	// Another member sees jobs of provisioned subjects, and no others.
	mem, err := n.sys.AddMember(t.Context(), org.Org, "two@example.com", pb.RoleAdmin)
	if err != nil {
		t.Fatal(err)
	}
	k, err := n.sys.CreateKey(t.Context(), account.NewKey{Org: org.Org, User: mem.User, Scopes: []string{
		pb.ScopeRead,
		pb.ScopeAdmin,
	}, Label: "k"})
	if err != nil {
		t.Fatal(err)
	}
	two := client{n: n, key: k.APIKey}
	two.put("shared")
	shared := jobOf(c.as("shared").ok(items(doc("", "For the team."))))
	list := two.ok(&pb.Envelope{Op: &pb.Envelope_ListJobs{ListJobs: &pb.ListJobs{}}}).GetJobs().GetJobs()
	if len(list) != 1 || pb.JobID(list[0].GetId()).String() != shared {
		t.Errorf("the other member sees %v", list)
	}
	two.refused(pb.CodeJobNotFound, &pb.Envelope{Op: &pb.Envelope_GetJob{GetJob: &pb.GetJob{Id: want[0]}}})
}

// interface: Resources/Subject
// interface: Endpoints/Subjects
func TestSubjectsAreProvisionedAndListed(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	put := func(id string) *pb.Envelope {
		return &pb.Envelope{Op: &pb.Envelope_PutSubject{PutSubject: &pb.PutSubject{Id: id}}}
	}
	get := func(id string) *pb.Envelope {
		return &pb.Envelope{Op: &pb.Envelope_GetSubject_{GetSubject_: &pb.GetSubject{Id: id}}}
	}
	names := []string{"a", "A", "ä", "名前", "with/slash and space", strings.Repeat("x", 256)}
	for _, s := range names {
		if r := c.ok(put(s)); r.GetStatus() != 201 {
			t.Errorf("first PUT of %q: %d", s, r.GetStatus())
		}
		if r := c.ok(put(s)); r.GetStatus() != 200 || r.GetSubject().GetId() != s {
			t.Errorf("second PUT of %q: %v", s, r)
		}
		c.ok(get(s))
	}
	for _, s := range []string{"", strings.Repeat("x", 257), "new\nline", "\x00", "bad\xff"} {
		if s != "bad\xff" { // protobuf strings are UTF-8; the edge refuses it
			c.refused(pb.CodeValidation, put(s))
			c.refused(pb.CodeSubjectNotFound, get(s))
		}
		if tenant.ValidSubject(s) {
			t.Errorf("%q passes as a subject", s)
		}
	}
	list := c.ok(&pb.Envelope{Op: &pb.Envelope_ListSubjects{ListSubjects: &pb.ListSubjects{}}}).GetSubjects().GetSubjects()
	var got []string
	for _, s := range list {
		got = append(got, s.GetId())
	}
	slices.Sort(names)
	if !slices.Equal(got, names) {
		t.Errorf("list %q, want %q", got, names)
	}
	var statuses []uint32
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			r := c.ok(put("raced"))
			mu.Lock()
			statuses = append(statuses, r.GetStatus())
			mu.Unlock()
		})
	}
	wg.Wait()
	slices.Sort(statuses)
	if statuses[14] != 200 || statuses[15] != 201 {
		t.Errorf("16 PUTs at once answered %v, want one 201", statuses)
	}
}

func TestOperatorKeepsOrganizationsInOrder(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	ctx := t.Context()
	for _, bad := range []account.NewOrg{
		{OwnerEmail: "a@b.c"},
		{Name: "x", OwnerEmail: "nobody"},
		{
			Name: "x", OwnerEmail: "a@b.c",
			Plan: "gold",
		},
		{Name: "a\x00b", OwnerEmail: "a@b.c"},
	} {
		if _, err := n.sys.CreateOrg(ctx, bad); !errors.Is(err, tenant.ErrInvalid) {
			t.Errorf("CreateOrg(%+v) = %v", bad, err)
		}
	}
	a, b := n.org(account.NewOrg{Name: "Müller & Söhne", OwnerEmail: "A@Example.com"}),
		n.org(account.NewOrg{Name: "Müller & Söhne", OwnerEmail: "a@example.com", Personal: true})
	if a.Slug == b.Slug || a.Slug == "" {
		t.Errorf("slugs %q and %q", a.Slug, b.Slug)
	}
	if info, err := n.sys.Org(ctx, a.Org); err != nil || info.Members != 1 {
		t.Errorf("organization %+v, %v", info, err)
	}
	if _, err := n.sys.AddMember(ctx, b.Org, "two@example.com", pb.RoleMember); !errors.Is(err, tenant.ErrConflict) {
		t.Errorf("a personal organization took a second member: %v", err)
	}
	if _, err := n.sys.AddMember(ctx, a.Org, "a@example.com", pb.RoleMember); !errors.Is(err, tenant.ErrConflict) {
		t.Errorf("an e-mail address was taken twice: %v", err)
	}
	if err := n.sys.RemoveMember(ctx, a.Org, a.Owner); !errors.Is(err, tenant.ErrConflict) {
		t.Errorf("the only owner was removed: %v", err)
	}
	two, err := n.sys.AddMember(ctx, a.Org, "two@example.com", pb.RoleOwner)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.sys.RemoveMember(ctx, a.Org, a.Owner); err != nil {
		t.Fatal(err)
	}
	client{n: n, key: a.APIKey}.refused(pb.CodeAuthentication, me())
	if members, err := n.sys.Members(ctx, a.Org); err != nil || len(members) != 1 || members[0].User != two.User {
		t.Errorf("members %+v, %v", members, err)
	}
	if err := n.sys.RemoveMember(ctx, a.Org, a.Owner); !errors.Is(err, tenant.ErrUserNotFound) {
		t.Errorf("removed twice: %v", err)
	}
	if err := n.sys.SetPlan(ctx, b.Org, pb.PlanFree); err != nil {
		t.Fatal(err)
	}
	if r := (client{n: n, key: b.APIKey}).ok(me()); r.GetMe().GetPlan() != pb.PlanFree || r.GetRate().GetQuota() != 150 {
		t.Errorf("after SetPlan: %v", r)
	}
	if err := n.sys.DeleteOrg(ctx, b.Org); err != nil {
		t.Fatal(err)
	}
	client{n: n, key: b.APIKey}.refused(pb.CodeAuthentication, me())
	if _, err := n.sys.Org(ctx, b.Org); !errors.Is(err, tenant.ErrOrgNotFound) {
		t.Errorf("a deleted organization: %v", err)
	}
	if err := n.sys.DeleteOrg(ctx, b.Org); !errors.Is(err, tenant.ErrOrgNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
}

func TestFencedOrganizationOpensAgain(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	c.ingest(doc("a", "Before the fence."))
	// Somebody else opens the store, as a node does that believes to lead it.
	if _, err := n.host.OpenStore(t.Context(), storage.StoreID{Org: org.Org, Realm: storage.RealmMain}); err != nil {
		t.Fatal(err)
	}
	refusals := 0
	for { // the fenced activation answers 503 until it notices; its write has no effect
		op := items(doc("b", "After the fence."))
		op.IdempotencyKey = "retry"
		r := c.ask(op)
		if p := r.GetProblem(); p == nil {
			n.wait(jobOf(r))
			break
		} else if p.GetCode() != pb.CodeServiceDegraded || p.GetRetryAfterS() == 0 {
			t.Fatalf("refused with %v", p)
		}
		if refusals++; refusals > 100 {
			t.Fatal("the organization does not open again")
		}
	}
	if refusals == 0 {
		t.Error("a write under a lost lease was acknowledged")
	}
	if got := c.chunks("fence"); len(got) != 2 {
		t.Errorf("found %q", got)
	}
}

func TestFullDiskRefusesWritesAndServesReads(t *testing.T) {
	var full bool
	var mu sync.Mutex
	n := startNode(t, storagetest.NewDisk(), func(_ *tenant.Config, o *storage.Options) {
		o.MinFreeBytes = 1 << 20
		o.FreeSpace = func(string) (uint64, error) {
			mu.Lock()
			defer mu.Unlock()
			if full {
				return 1, nil
			}
			return 1 << 30, nil
		}
		o.Clock = steppingClock()
	})
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.ingest(doc("a", "Written in time."))
	set := func(v bool) { mu.Lock(); full = v; mu.Unlock() }
	set(true)
	p := c.refused(pb.CodeServiceDegraded, items(doc("b", "Too late.")))
	if p.GetRetryAfterS() == 0 || !strings.Contains(p.GetDetail(), "disk") {
		t.Errorf("refused with %v", p)
	}
	if got := c.chunks("Written"); len(got) != 1 {
		t.Errorf("reading on a full disk finds %q", got)
	}
	set(false)
	c.ingest(doc("b", "In time again."))
}

// stepping is a clock that goes on by two seconds whenever it is read, so that
// nothing of age one second is still fresh.
type stepping struct {
	clock.Clock
	reads atomic.Int64
}

func (s *stepping) Now() time.Time {
	return time.Unix(1_700_000_000, 0).Add(time.Duration(s.reads.Add(1)) * 2 * time.Second)
}

func steppingClock() clock.Clock { return &stepping{Clock: clock.Real()} }

// TestOrganizationsAreListedWithoutOpeningThem, in pages that a removal between
// two of them does not disturb.
func TestOrganizationsAreListedWithoutOpeningThem(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), func(_ *tenant.Config, o *storage.Options) { o.MaxOpenStores = 2 })
	ctx := t.Context()
	var want []pb.OrgID
	for range 5 {
		want = append(want, n.org(account.NewOrg{}).Org)
		n.clock.Advance(time.Second)
	}
	opens := n.store.Stats().Opens
	var got []pb.OrgID
	for from := ""; ; {
		page, err := n.sys.Orgs(ctx, from, 2)
		if err != nil || len(page.Orgs) > 2 || len(page.Orgs) == 0 {
			t.Fatalf("page %+v, %v", page, err)
		}
		for _, o := range page.Orgs {
			got = append(got, o.Org)
		}
		if from = page.Next; from == "" {
			break
		}
		if len(got) == 2 {
			if n.store.Stats().Opens != opens {
				t.Error("listing opened a store")
			}
			if err := n.sys.DeleteOrg(ctx, want[2]); err != nil { // with which the next page begins
				t.Fatal(err)
			}
		}
	}
	if want = slices.Delete(want, 2, 3); !slices.Equal(got, want) {
		t.Errorf("listed %v, want %v", got, want)
	}
	for _, bad := range []string{"x", "1.x", ".", "1." + want[0].String() + "x"} {
		if _, err := n.sys.Orgs(ctx, bad, 2); !errors.Is(err, tenant.ErrInvalid) {
			t.Errorf("cursor %q: %v", bad, err)
		}
	}
	if _, err := n.sys.Orgs(ctx, "", account.MaxOrgPage+1); !errors.Is(err, tenant.ErrInvalid) {
		t.Errorf("too large a page: %v", err)
	}
}

// Who rotates keys for years does not run out of them: of those that are revoked the
// oldest makes way, and is as unknown from then on as one that never was.
func TestRevokedKeysMakeRoom(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey} // its first key
	var made []string
	for range account.MaxKeysPerUser - 1 {
		n.clock.Advance(time.Millisecond) // lists are in order of creation
		made = append(made, c.ok(createKey("")).GetNewKey().GetId())
	}
	c.refused("key_limit_reached", createKey(""))
	c.ok(revoke(made[3]))
	c.ok(revoke(made[1]))
	c.ok(createKey(""))
	c.refused(pb.CodeKeyNotFound, revoke(made[1]))
	c.ok(revoke(made[3]))
	c.ok(createKey(""))
	c.refused(pb.CodeKeyNotFound, revoke(made[3]))
	c.refused("key_limit_reached", createKey(""))
	// Of several that ask at once for the one place, one has it.
	c.ok(revoke(made[5]))
	var placed atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if c.ask(createKey("")).GetProblem() == nil {
				placed.Add(1)
			}
		})
	}
	all.Wait()
	if got := placed.Load(); got != 1 {
		t.Errorf("%d keys have the place of one", got)
	}
	if got := len(c.ok(listKeys()).GetKeys().GetKeys()); got != account.MaxKeysPerUser {
		t.Errorf("%d keys are listed", got)
	}
	// Nor does the directory of all keep those that went.
	n.waitFor(func() bool { return n.host.Directory().KeyCount(org.Org) == account.MaxKeysPerUser })
}
