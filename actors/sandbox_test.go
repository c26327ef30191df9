package actors

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"orgmem/actors/account"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/prototest"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

func createSandboxKey(ttl time.Duration) *pb.Envelope {
	return accountOp(&pb.AccountOp{Op: &pb.AccountOp_CreateSandboxKey{CreateSandboxKey: &pb.CreateSandboxKey{
		Label: "try",
		TtlS:  int64(ttl.Seconds()),
	}}})
}

func revokeSandboxKey(id string) *pb.Envelope {
	return accountOp(&pb.AccountOp{Op: &pb.AccountOp_RevokeSandboxKey{RevokeSandboxKey: &pb.RevokeSandboxKey{Id: id}}})
}

func listSandboxKeys(page *pb.Page) *pb.Envelope {
	return accountOp(&pb.AccountOp{Op: &pb.AccountOp_ListSandboxKeys{ListSandboxKeys: &pb.ListSandboxKeys{Page: page}}})
}

func resetSandbox() *pb.Envelope {
	return accountOp(&pb.AccountOp{Op: &pb.AccountOp_ResetSandbox{ResetSandbox: &pb.ResetSandbox{}}})
}

func listKeys() *pb.Envelope {
	return &pb.Envelope{Op: &pb.Envelope_ListKeys{ListKeys: &pb.ListKeys{}}}
}

func listJobs() *pb.Envelope {
	return &pb.Envelope{Op: &pb.Envelope_ListJobs{ListJobs: &pb.ListJobs{}}}
}

func getNodeOp(id string) *pb.Envelope {
	return &pb.Envelope{Op: &pb.Envelope_GetNode{GetNode: &pb.GetNode{Id: id}}}
}

// sandboxKey makes a sandbox key with an admin's.
func (n *testNode) sandboxKey(admin client) client {
	n.t.Helper()
	return client{n: n, key: admin.ok(createSandboxKey(0)).GetAccount().GetNewSandboxKey().GetApiKey()}
}

// interface: What the service does/9 sandbox keys
// interface: Resources/API key
// interface: Endpoints/Sandbox
func TestSandboxKeys(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	made := c.ok(createSandboxKey(0)).GetAccount().GetNewSandboxKey()
	if !strings.HasPrefix(made.GetApiKey(), "svc_sandbox_") || len(made.GetApiKey()) != len("svc_sandbox_")+43 {
		t.Errorf("made %v", made)
	}
	if diff := prototest.Diff(&pb.NewSandboxKey{
		Id: pb.HashKey(made.GetApiKey()).String(), Label: "try", Subject: "sandbox", Scopes: []string{"read", "write"},
		ExpiresMs: n.clock.Now().Add(7 * 24 * time.Hour).UnixMilli(),
	}, made); diff != "" {
		t.Errorf("made (-want +got):\n%s", diff)
	}
	n.clock.Advance(time.Second)
	short := c.ok(createSandboxKey(time.Hour)).GetAccount().GetNewSandboxKey()
	sandbox, brief := client{n: n, key: made.GetApiKey()}, client{n: n, key: short.GetApiKey()}
	who := sandbox.ok(me()).GetMe()
	if pb.OrgID(who.GetOrg()) != org.Org || pb.UserID(who.GetUser()) != org.Owner || !slices.Equal(who.GetScopes(),
		[]string{"read", "write"}) {
		t.Errorf("the key stands for %v", who)
	}
	if got := sandbox.ok(getTeam()).GetAccount().GetTeam().GetMembers(); got != 1 {
		t.Errorf("%d members", got)
	}

	// It is in its own list, and in no person's; and sees none.
	if got := c.ok(listKeys()).GetKeys().GetKeys(); len(got) != 1 {
		t.Errorf("the owner's keys: %v", got)
	}
	if got := sandbox.ok(listKeys()).GetKeys().GetKeys(); len(got) != 0 {
		t.Errorf("a sandbox key lists %v", got)
	}
	ids := func() (ids []string) {
		page := &pb.Page{Size: 1}
		for {
			list := c.ok(listSandboxKeys(page)).GetAccount().GetSandboxKeys()
			for _, k := range list.GetKeys() {
				ids = append(ids, pb.KeyHash(k.GetHash()).String())
			}
			if list.GetNextCursor() == "" {
				return ids
			}
			page.Cursor = list.GetNextCursor()
		}
	}
	if got := ids(); !slices.Equal(got, []string{short.GetId(), made.GetId()}) {
		t.Errorf("listed %v, want newest first", got)
	}
	sandbox.refused(pb.CodeKeyNotFound, revoke(org.Key.String()))
	sandbox.refused(pb.CodeKeyNotFound, revoke(made.GetId()))
	c.refused(pb.CodeKeyNotFound, revoke(made.GetId()))
	c.refused(pb.CodeKeyNotFound, revokeSandboxKey(org.Key.String()))
	c.refused(pb.CodeKeyNotFound, revokeSandboxKey("nonsense"))

	// What needs more than read and write, and another subject.
	c.put("anna")
	for _, op := range []*pb.Envelope{
		createKey("x"), createSandboxKey(0), listSandboxKeys(nil), resetSandbox(), listMembers(nil), deleteMe(),
		{Op: &pb.Envelope_PutSubject{PutSubject: &pb.PutSubject{Id: "x"}}},
		{Op: &pb.Envelope_EraseSubject{EraseSubject: &pb.EraseSubject{Id: "anna"}}},
	} {
		sandbox.refused(pb.CodePermissionDenied, op)
	}
	for _, op := range []func() *pb.Envelope{func() *pb.Envelope { return find("x") }, me, getTeam} {
		sandbox.as("anna").refused(pb.CodePermissionDenied, op())
		sandbox.as("nobody").refused(pb.CodePermissionDenied, op())
		sandbox.as("sandbox").ok(op())
		c.as("sandbox").refused(pb.CodeSubjectNotProvisioned, op())
	}

	// Expiry, at the instant, and revocation.
	n.clock.Advance(time.Hour - time.Millisecond)
	brief.ok(me())
	n.clock.Advance(time.Millisecond)
	brief.refused(pb.CodeAuthentication, me())
	sandbox.ok(me())
	if got := ids(); !slices.Equal(got, []string{made.GetId()}) {
		t.Errorf("listed %v after one has expired", got)
	}
	third := n.sandboxKey(c)
	c.ok(revokeSandboxKey(pb.HashKey(third.key).String()))
	c.ok(revokeSandboxKey(pb.HashKey(third.key).String()))
	third.refused(pb.CodeAuthentication, me())
	n = startNode(t, disk.Crash(0, 1))
	n.clock.Advance(2 * time.Hour) // a node's clock begins anew
	for _, k := range []client{brief, third} {
		k.n = n
		k.refused(pb.CodeAuthentication, me())
	}
	sandbox.n = n
	sandbox.ok(me())
	n.clock.Advance(7 * 24 * time.Hour)
	sandbox.refused(pb.CodeAuthentication, me())
}

func TestUselessSandboxKeysMakeRoom(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	for range account.MaxSandboxKeys {
		c.ok(createSandboxKey(time.Hour))
	}
	c.refused("key_limit_reached", createSandboxKey(time.Hour))
	made := c.ok(listSandboxKeys(nil)).GetAccount().GetSandboxKeys().GetKeys()
	c.ok(revokeSandboxKey(pb.KeyHash(made[0].GetHash()).String()))
	c.ok(createSandboxKey(time.Hour)) // instead of the one that is revoked
	c.refused("key_limit_reached", createSandboxKey(time.Hour))
	n.clock.Advance(time.Hour)
	c.ok(createSandboxKey(time.Hour))
	if got := len(c.ok(listSandboxKeys(nil)).GetAccount().GetSandboxKeys().GetKeys()); got != 1 {
		t.Errorf("%d keys are listed", got)
	}
}

// TestNothingCrossesTheSandbox plants something of each kind on both sides, and
// looks for it with every read from the other.
func TestNothingCrossesTheSandbox(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	c.put("anna")
	sandbox := n.sandboxKey(c)
	type side struct {
		name          string
		clients       []client
		mark, other   string
		job, node     string
		cursor        string
		idempotentJob string
	}
	sides := []*side{
		{name: "main", clients: []client{c, c.as("anna")}, mark: "quizzacious", other: "absquatulate"},
		{name: "sandbox", clients: []client{sandbox}, mark: "absquatulate", other: "quizzacious"},
	}
	with := func(op *pb.Envelope) *pb.Envelope { op.IdempotencyKey = "same"; return op }
	for _, s := range sides {
		for _, c := range s.clients {
			s.idempotentJob = jobOf(c.ok(with(items(doc("same", "A "+s.mark+" text.")))))
			n.wait(s.idempotentJob)
			job := c.ingest(doc("second", "Another "+s.mark+" text."))
			s.job, s.node = pb.JobID(job.GetId()).String(), job.GetItems()[0].GetNode()
		}
		list := s.clients[0].ok(&pb.Envelope{Op: &pb.Envelope_ListJobs{ListJobs: &pb.ListJobs{Page: &pb.Page{Size: 1}}}}).
			GetJobs()
		if s.cursor = list.GetNextCursor(); s.cursor == "" {
			t.Fatalf("%s: one job", s.name)
		}
	}
	check := func() {
		t.Helper()
		for i, s := range sides {
			them := sides[1-i]
			for _, c := range s.clients {
				for _, mode := range []string{"hybrid", "keyword", "vector"} {
					for _, wide := range []bool{false, true} {
						if wide && c.subject != "" {
							continue
						}
						found := 0
						for _, h := range c.search(&pb.Search{
							Query: s.mark + " " + s.other + " text", TopK: 100, Mode: mode,
							OrgScope: wide,
						}) {
							if strings.Contains(h.GetChunk(), s.mark) {
								found++
							}
							if strings.Contains(h.GetChunk(), s.other) {
								t.Errorf("%s found %q", s.name, h.GetChunk())
							}
						}
						if found == 0 {
							t.Errorf("%s finds nothing of its own", s.name)
						}
					}
				}
				c.refused(pb.CodeNodeNotFound, getNodeOp(them.node))
				c.refused(pb.CodeJobNotFound, &pb.Envelope{Op: &pb.Envelope_GetJob{GetJob: &pb.GetJob{Id: them.job}}})
				c.refused(pb.CodeJobNotFound, &pb.Envelope{Op: &pb.Envelope_JobStatus{JobStatus: &pb.JobStatus{Id: them.job}}})
				c.refused(pb.CodeJobNotFound, &pb.Envelope{Op: &pb.Envelope_CancelJob{CancelJob: &pb.CancelJob{Id: them.job}}})
				c.refused(pb.CodeInvalidCursor,
					&pb.Envelope{Op: &pb.Envelope_ListJobs{ListJobs: &pb.ListJobs{Page: &pb.Page{Size: 1, Cursor: them.cursor}}}})
				for _, j := range c.ok(listJobs()).GetJobs().GetJobs() {
					if id := pb.JobID(j.GetId()).String(); id == them.job || id == them.idempotentJob {
						t.Errorf("%s lists a job of %s", s.name, them.name)
					}
				}
			}
		}
		if got := sandbox.ok(&pb.Envelope{Op: &pb.Envelope_ListSubjects{ListSubjects: &pb.ListSubjects{}}}).GetSubjects().
			GetSubjects(); len(got) != 0 {
			t.Errorf("the sandbox lists subjects: %v", got)
		}
		sandbox.refused(pb.CodeSubjectNotFound,
			&pb.Envelope{Op: &pb.Envelope_GetSubject_{GetSubject_: &pb.GetSubject{Id: "anna"}}})
		subjects := c.ok(&pb.Envelope{Op: &pb.Envelope_ListSubjects{ListSubjects: &pb.ListSubjects{}}}).GetSubjects().
			GetSubjects()
		if len(subjects) != 1 || subjects[0].GetId() != "anna" {
			t.Errorf("subjects %v", subjects)
		}
	}
	check()
	// Nothing of one lies in the other's store either.
	for realm, mark := range map[storage.Realm]string{
		storage.RealmMain:    "absquatulate",
		storage.RealmSandbox: "quizzacious",
	} {
		id := storage.StoreID{Org: org.Org, Realm: realm}
		for _, j := range records(n, id, storage.TableJob, func() *pb.Job { return &pb.Job{} }) {
			if (realm == storage.RealmSandbox) != (j.GetSubject() == "sandbox") {
				t.Errorf("the store %v holds %v", realm, j)
			}
		}
		if use := records(n, id, storage.TableUsage,
			func() *pb.Usage { return &pb.Usage{} }); realm == storage.RealmSandbox && len(use) > 0 {
			t.Errorf("the sandbox is metered: %v", use)
		}
		for _, path := range disk.Find(t, mark) {
			if strings.Contains(path, id.String()) {
				t.Errorf("%s holds %s", path, mark)
			}
		}
	}
	n.stop()
	n = startNode(t, disk)
	c.n, sandbox.n = n, n
	for _, s := range sides {
		for i := range s.clients {
			s.clients[i].n = n
		}
	}
	check()
}

// interface: Endpoints/Sandbox
func TestResetEmptiesTheSandbox(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	c.ok(resetSandbox()) // there is none yet
	c.ingest(doc("a", "The real text stays."))
	sandbox := n.sandboxKey(c)
	job := sandbox.ingest(doc("quizzid", "A quizzacious text."))
	sandbox.ok(patchSettings("fast", nil))
	with := func(op *pb.Envelope) *pb.Envelope { op.IdempotencyKey = "reset 1"; return op }
	first := c.ok(with(resetSandbox())).GetAccount().GetSandboxReset()
	if first.GetSubject() != "sandbox" || first.GetAtMs() != n.clock.Now().UnixMilli() {
		t.Errorf("reset %v", first)
	}
	empty := func() {
		t.Helper()
		if got := sandbox.chunks("quizzacious text"); len(got) != 0 {
			t.Errorf("the sandbox finds %q", got)
		}
		sandbox.refused(pb.CodeNodeNotFound, getNodeOp(job.GetItems()[0].GetNode()))
		sandbox.refused(pb.CodeJobNotFound, &pb.Envelope{Op: &pb.Envelope_GetJob{GetJob: &pb.GetJob{Id: pb.JobID(job.GetId()).
			String()}}})
		for _, j := range sandbox.ok(listJobs()).GetJobs().GetJobs() {
			if j.GetType() != pb.JobSubjectErase {
				t.Errorf("the sandbox lists %v", j)
			}
		}
		if s := sandbox.ok(getSettingsOp()).GetAccount().GetSettings(); s.GetQualityMode() != "balanced" {
			t.Errorf("settings %v", s)
		}
		if got := c.chunks("text"); len(got) != 1 {
			t.Errorf("the real memory holds %q", got)
		}
	}
	empty()
	n.settle(storage.StoreID{Org: org.Org, Realm: storage.RealmSandbox})
	for _, mark := range []string{"quizzacious", "quizzid"} {
		for _, path := range disk.Find(t, mark) {
			t.Errorf("%s holds %s", path, mark)
		}
	}
	// A replay resets nothing.
	sandbox.ingest(doc("b", "A new text."))
	if again := c.ok(with(resetSandbox())); !again.GetReplayed() ||
		again.GetAccount().GetSandboxReset().GetAtMs() != first.GetAtMs() {
		t.Errorf("replayed %v", again)
	}
	if got := sandbox.chunks("text"); !slices.Equal(got, []string{"A new text."}) {
		t.Errorf("after a replay the sandbox finds %q", got)
	}
	resets := 0
	for _, action := range n.audits(org.Org) {
		if action == "sandbox.reset" {
			resets++
		}
	}
	if resets != 2 {
		t.Errorf("%d resets in the trail", resets)
	}
}

// TestResetSurvivesACrash cuts the power behind the reset's answer, and behind its
// commit before the sandbox has heard of it.
func TestResetSurvivesACrash(t *testing.T) {
	for name, stage := range map[string]func(n *testNode, c client){
		"behind the answer": func(_ *testNode, c client) { c.ok(resetSandbox()) },
		"behind the commit": func(n *testNode, c client) {
			err := n.sys.Visit(t.Context(), c.orgID(), func(o *tenant.Org, done func(error)) {
				o.WithBusyMark(func(error) {
					b := storage.NewBatch(o.Store)
					if _, err := o.NewSandbox(b); err != nil {
						done(err)
						return
					}
					o.Committer.Submit(b, done)
				})
			})
			if err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			disk := storagetest.NewDisk()
			n := startNode(t, disk)
			c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
			sandbox := n.sandboxKey(c)
			sandbox.ingest(doc("a", "A quizzacious text."))
			stage(n, c)
			after := disk.Crash(0, 1)
			n = startNode(t, after)
			c.n, sandbox.n = n, n
			org := c.orgID()
			// Nobody asks for the sandbox: it is woken for its erasure.
			n.waitFor(func() bool {
				id := tenant.SandboxStore(org)
				jobs := records(n, id, storage.TableJob, func() *pb.Job { return &pb.Job{} })
				return len(jobs) > 0 && !slices.ContainsFunc(jobs,
					func(j *pb.Job) bool { return j.GetType() != pb.JobSubjectErase || !tenant.Terminal(j.GetStatus()) })
			})
			for _, path := range after.Find(t, "quizzacious") {
				t.Errorf("%s holds the text", path)
			}
			if got := sandbox.chunks("text"); len(got) != 0 {
				t.Errorf("the sandbox finds %q", got)
			}
			sandbox.ingest(doc("b", "A new text."))
			if got := sandbox.chunks("text"); len(got) != 1 {
				t.Errorf("the sandbox finds %q", got)
			}
		})
	}
}

// TestTheSandboxFinishesItsJobs: after a power failure nobody has to ask for it.
func TestTheSandboxFinishesItsJobs(t *testing.T) {
	disk := storagetest.NewDisk()
	gate := make(chan struct{})
	n := startNode(t, disk, func(cfg *tenant.Config, _ *storage.Options) {
		cfg.Embedder = wordEmbedder{id: "words", fail: func(string) { <-gate }}
	})
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	sandbox := n.sandboxKey(c)
	job := jobOf(sandbox.ok(items(doc("a", "A text for the sandbox."))))
	after := disk.Crash(0, 1)
	close(gate)
	n2 := startNode(t, after)
	n2.wait(job)
	sandbox.n = n2
	if got := sandbox.chunks("text"); len(got) != 1 {
		t.Errorf("the sandbox finds %q", got)
	}
}

func TestAnIdleSandboxLeavesMemory(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	sandbox := n.sandboxKey(c)
	sandbox.ingest(doc("a", "Sleeping text."))
	org := c.orgID()
	n.waitFor(func() bool {
		n.clock.Advance(11 * time.Minute)
		return n.sys.Stats().ActiveOrgs == 0
	})
	if e, ok := n.host.Directory().Org(org); !ok || e.GetBusy() {
		t.Error("a sleeping organization without jobs is marked busy")
	}
	sandbox = n.sandboxKey(c) // the first may have expired while the clock ran
	if got := sandbox.chunks("Sleeping"); len(got) != 1 {
		t.Errorf("after waking: %q", got)
	}
}

// TestALostSandboxIsOpenedAgain takes the sandbox's lease away, as another node
// would.
func TestALostSandboxIsOpenedAgain(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	sandbox := n.sandboxKey(c)
	sandbox.ingest(doc("a", "First text."))
	if _, err := n.host.OpenStore(t.Context(), tenant.SandboxStore(c.orgID())); err != nil {
		t.Fatal(err)
	}
	sandbox.refused(pb.CodeServiceDegraded, items(doc("b", "Lost text.")))
	var r *pb.Reply
	n.waitFor(func() bool { // what comes before the lost activation has stopped is refused, too
		r = sandbox.ask(items(doc("b", "Second text.")))
		return r.GetProblem().GetCode() != pb.CodeServiceDegraded
	})
	n.wait(jobOf(r))
	c.ok(me())
	if got := sandbox.chunks("text"); len(got) != 2 {
		t.Errorf("the sandbox finds %q", got)
	}
}

// TestRequestsDuringResets sends writes and reads while the sandbox is reset over
// and over: each is answered, and what was answered before a reset is gone.
func TestRequestsDuringResets(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	sandbox := n.sandboxKey(c)
	stop := make(chan struct{})
	done := make(chan int)
	for range 4 {
		go func() {
			accepted := 0
			for {
				select {
				case <-stop:
					done <- accepted
					return
				default:
				}
				for _, op := range []*pb.Envelope{items(doc("a", "Busy text.")), find("text")} {
					switch p := sandbox.ask(op).GetProblem(); p.GetCode() {
					case "":
						accepted++
					case pb.CodeServiceDegraded: // its write was on its way
					default:
						t.Errorf("%s: %s", p.GetCode(), p.GetDetail())
					}
				}
			}
		}()
	}
	for range 10 {
		c.ok(resetSandbox())
	}
	close(stop)
	total := 0
	for range 4 {
		total += <-done
	}
	if total == 0 {
		t.Error("nothing got through")
	}
	c.ok(resetSandbox())
	if got := sandbox.chunks("text"); len(got) != 0 {
		t.Errorf("after the last reset: %q", got)
	}
	sandbox.ingest(doc("a", "New text."))
	if got := sandbox.chunks("text"); len(got) != 1 {
		t.Errorf("the sandbox finds %q", got)
	}
}

// TestSandboxAgainstModel takes in, resets, sleeps, restarts and loses power at
// random, and after each step compares what both sides find with the model.
func TestSandboxAgainstModel(t *testing.T) {
	storagetest.FewerUnderRace(t, 20)
	small := func(c *tenant.Config, o *storage.Options) {
		smallSlices(c, o)
		o.MaxOpenStores = 4 // the least that can be configured
	}
	rapid.Check(t, func(rt *rapid.T) {
		disk := storagetest.NewDisk()
		n := startNode(t, disk, small)
		c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
		sides := map[string]client{"main": c, "sandbox": {n: n, key: c.ok(createSandboxKey(90 * 24 * time.Hour)).GetAccount().
			GetNewSandboxKey().GetApiKey()}}
		model := map[string][]string{}
		restart := func(from *storagetest.Disk) {
			n.stop()
			disk = from
			n = startNode(t, disk, small)
			for name, c := range sides {
				c.n = n
				sides[name] = c
			}
		}
		for step := range rapid.IntRange(1, 7).Draw(rt, "steps") {
			switch rapid.SampledFrom([]string{"ingest", "ingest", "ingest", "reset", "reset", "idle", "restart", "crash"}).
				Draw(rt, "step") {
			case "ingest":
				side := rapid.SampledFrom([]string{"main", "sandbox"}).Draw(rt, "side")
				text := fmt.Sprintf("common %s %d", side, step)
				sides[side].ingest(doc("", text))
				model[side] = append(model[side], text)
			case "reset":
				sides["main"].ok(resetSandbox())
				model["sandbox"] = nil
			case "idle":
				n.clock.Advance(20 * time.Minute)
			case "restart":
				restart(disk)
			case "crash":
				restart(disk.Crash(rapid.SampledFrom([]int{0, 50, 100}).Draw(rt, "kept"), 1))
			}
			for name, c := range sides {
				got := c.chunks("common")
				slices.Sort(got)
				slices.Sort(model[name])
				if !slices.Equal(got, model[name]) {
					rt.Fatalf("%s finds %q, want %q", name, got, model[name])
				}
			}
		}
		n.stop()
	})
}
