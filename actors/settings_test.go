package actors

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"orgmem/actors/account"
	"orgmem/actors/graph"
	"orgmem/actors/partition"
	"orgmem/actors/search"
	"orgmem/actors/tenant"
	"orgmem/actors/training"
	"orgmem/brain/index"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

func getSettingsOp() *pb.Envelope {
	return accountOp(&pb.AccountOp{Op: &pb.AccountOp_GetSettings{GetSettings: &pb.GetSettings{}}})
}

func resetSettings() *pb.Envelope {
	return accountOp(&pb.AccountOp{Op: &pb.AccountOp_ResetSettings{ResetSettings: &pb.ResetSettings{}}})
}

func patchSettings(quality string, learn *bool) *pb.Envelope {
	s := &pb.Settings{LearnModeDefault: learn}
	if quality != "" {
		s.QualityMode = &quality
	}
	return accountOp(&pb.AccountOp{Op: &pb.AccountOp_PatchSettings{PatchSettings: &pb.PatchSettings{Settings: s}}})
}

// interface: Resources/Settings
// interface: Endpoints/Settings
func TestSettingsAreAPartitionsOwn(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	c.put("anna")
	sandbox := n.sandboxKey(c)
	off, on := false, true
	expect := func(who client, quality string, learn bool) {
		t.Helper()
		s := who.ok(getSettingsOp()).GetAccount().GetSettings()
		if s.GetQualityMode() != quality || s.GetLearnModeDefault() != learn {
			t.Errorf("settings %v, want %s %v", s, quality, learn)
		}
	}
	for _, who := range []client{c, c.as("anna"), sandbox} {
		expect(who, "balanced", true)
	}
	if s := c.ok(patchSettings("fast", nil)).GetAccount().GetSettings(); s.GetQualityMode() != "fast" ||
		!s.GetLearnModeDefault() {
		t.Errorf("patched %v", s)
	}
	c.as("anna").ok(patchSettings("", &off))
	c.as("anna").ok(patchSettings("thorough", nil))
	sandbox.ok(patchSettings("thorough", &on))
	c.ok(patchSettings("", nil)) // nothing to change
	expect(c, "fast", true)
	expect(c.as("anna"), "thorough", false)
	expect(sandbox, "thorough", true)
	if p := c.refused(pb.CodeValidation, patchSettings("quick", nil)); p.GetErrors()[0].GetField() != "qualityMode" {
		t.Errorf("problem %v", p)
	}

	n = startNode(t, disk.Crash(0, 1))
	c.n, sandbox.n = n, n
	expect(c, "fast", true)
	expect(c.as("anna"), "thorough", false)
	expect(sandbox, "thorough", true)

	with := func(op *pb.Envelope) *pb.Envelope { op.IdempotencyKey = "k"; return op }
	if s := c.as("anna").ok(with(resetSettings())).GetAccount().GetSettings(); s.GetQualityMode() != "balanced" ||
		!s.GetLearnModeDefault() {
		t.Errorf("reset %v", s)
	}
	c.as("anna").ok(patchSettings("fast", nil))
	if r := c.as("anna").ok(with(resetSettings())); !r.GetReplayed() {
		t.Errorf("replayed %v", r)
	}
	expect(c.as("anna"), "fast", true) // a replay changes nothing
	expect(c, "fast", true)
	var got []string
	for _, action := range n.audits(org.Org) {
		if action == "settings.reset" {
			got = append(got, action)
		}
	}
	if !slices.Equal(got, []string{"settings.reset"}) {
		t.Errorf("audited %v", got)
	}

	// An erased subject begins anew.
	n.wait(jobOf(c.ok(&pb.Envelope{Op: &pb.Envelope_EraseSubject{EraseSubject: &pb.EraseSubject{Id: "anna"}}})))
	c.put("anna")
	expect(c.as("anna"), "balanced", true)
}

// TestQualityModesSpendDifferently writes other vectors than those that the index
// was made of: what is ranked by its stored vector shows it.
func TestQualityModesSpendDifferently(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	var docs []*pb.IngestItem
	// The further down, the less of it is the query's word; the first three are alike,
	// so that only their stored vectors can tell which is the best.
	for i := range 40 {
		text := "common"
		for w := range max(i+1, 3) {
			text += fmt.Sprintf(" filler%dy%d", i, w)
		}
		docs = append(docs, doc(fmt.Sprintf("d%02d", i), text))
	}
	c.ingest(docs...)
	model := wordEmbedder{id: "words"}
	user, err := pb.UserIDFrom(c.ok(me()).GetMe().GetUser())
	if err != nil {
		t.Fatal(err)
	}
	err = n.sys.Visit(t.Context(), c.orgID(), func(o *tenant.Org, done func(error)) {
		part, err := o.Member(user)
		if err != nil {
			done(err)
			return
		}
		b := storage.NewBatch(o.Store)
		for _, seq := range []uint64{3, 31} { // d02 and d30
			partition.PutVector(b, part, model.ID(), seq, model.Query("common"))
		}
		o.Committer.Submit(b, done)
	})
	if err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[string][]string{
		"fast":     {"d00", "d01", "d02"},
		"balanced": {"d02", "d00", "d01"},
		"thorough": {"d02", "d30", "d00"},
	} {
		c.ok(patchSettings(mode, nil))
		var got []string
		for _, h := range c.search(&pb.Search{Query: "common", Mode: "vector", TopK: 10})[:3] {
			got = append(got, h.GetExternalId())
		}
		if mode == "thorough" { // two equals
			slices.Sort(got[:2])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", mode, got, want)
		}
	}
}

// TestFastReadsNoRelations: of what is taken in while the mode is fast the entities are
// read, and nothing between them; the other modes read that, too.
func TestFastReadsNoRelations(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	for mode, want := range map[partition.Quality]bool{
		partition.QualityFast: false, partition.QualityBalanced: true,
		partition.QualityThorough: true,
	} {
		who := c.as(string(mode))
		c.put(who.subject)
		who.ok(patchSettings(string(mode), nil))
		who.note("Jane Lee works for Initech.")
		if got := who.titles(graph.KindEntity); !slices.Equal(got, []string{"Initech", "Jane Lee"}) {
			t.Errorf("%s names %q", mode, got)
		}
		types := map[string]int{}
		for _, id := range who.edges(&pb.ListEdges{}, 100) {
			types[who.ok(getEdgeOp(id)).GetGraph().GetEdge().GetEdge().GetType()]++
		}
		if mentions := types[string(graph.EdgeMentions)]; mentions != 2 || (types["works_for"] == 1) != want ||
			(len(types) > 1) != want {
			t.Errorf("%s reads %v", mode, types)
		}
	}
}

// TestThoroughLooksAtMore: at four times the candidates, as docs/settings.md has it.
func TestThoroughLooksAtMore(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	owner := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	owner.put("anna")
	c := owner.as("anna")
	c.note("Common text.")
	part := c.partition()
	for _, topK := range []uint32{10, 100} {
		looked := map[partition.Quality]int{}
		c.inOrg(func(o *tenant.Org) {
			err := o.WithStore(func(st *storage.Store) error {
				for mode, e := range search.Efforts {
					search := tenant.ModuleOf[*search.Module](&o.View)
					rd, parts := &search.Node.Workers[0], []*partition.Ref{part}
					q, err := training.NewLookup(&o.View, st, parts, "common", index.Hybrid, &rd.QueryEncoder,
						func() error { return nil })
					if err != nil {
						return err
					}
					c, op := &tenant.Call{Org: &o.View, Part: part}, &pb.Search{Query: "common", TopK: topK}
					found, err := search.SearchIn(c, st, parts, q, op, e, rd)
					if err != nil || len(found.GetHits()) != 1 {
						t.Errorf("%s finds %v, %v", mode, found, err)
					}
					looked[mode] = q.N
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		few := max(100, 8*int(topK))
		if want := map[partition.Quality]int{
			partition.QualityFast: few, partition.QualityBalanced: few,
			partition.QualityThorough: min(4*few, index.MaxCandidates),
		}; !maps.Equal(looked, want) {
			t.Errorf("for %d hits they look at %v candidates, want %v", topK, looked, want)
		}
	}
}

// TestQualityModesAndTheBrain: fast declines it, balanced goes by it, and thorough gives
// it the exact cosines: the stored vector of one passage is another than the index has.
func TestQualityModesAndTheBrain(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), drawn)
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	docs, names, _ := parish(60)
	c.ingest(docs...)
	if s := c.train().GetTraining(); s.GetStatus() != pb.JobSucceeded {
		t.Fatalf("no brain is published: %v", s)
	}
	query := "Where was " + names[5] + " born?"
	node := c.nodeOf(c.nodeNamed("p5"))
	c.inOrg(func(o *tenant.Org) {
		part, err := o.Member(org.Owner)
		if err != nil {
			t.Error(err)
			return
		}
		model := wordEmbedder{id: "words"}
		b := storage.NewBatch(o.Store)
		partition.PutVector(b, part, model.ID(), node.GetChunks()[0], model.Query(query))
		done := make(chan error, 1)
		o.Committer.Submit(b, func(err error) { done <- err })
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	for _, x := range []struct {
		mode         partition.Quality
		brain, exact bool
	}{{partition.QualityFast, false, false}, {partition.QualityBalanced, true, false}, {
		partition.QualityThorough, true,
		true,
	}} {
		c.ok(patchSettings(string(x.mode), nil))
		r := c.ok(find(query)).GetSearch()
		i := slices.IndexFunc(r.GetHits(), func(h *pb.Hit) bool { return h.GetExternalId() == "p5" })
		if i < 0 || (r.GetBrainVersion() != 0) != x.brain || (r.GetHits()[i].GetVector() > 0.999) != x.exact {
			t.Errorf("%s: brain %d, hits %v", x.mode, r.GetBrainVersion(), r.GetHits())
		}
	}
}

// TestLearnModeMarksWhatIsTakenIn: by the setting when a job was accepted, until the
// same content is sent to be learned from.
func TestLearnModeMarksWhatIsTakenIn(t *testing.T) {
	gate := make(chan struct{})
	n := startNode(t, storagetest.NewDisk(), func(cfg *tenant.Config, _ *storage.Options) {
		cfg.Embedder = wordEmbedder{id: "words", fail: func(text string) {
			if strings.Contains(text, "late") {
				<-gate
			}
		}}
	})
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.put("anna")
	unlearned := func(who client, job *pb.Job) (marks []bool) {
		t.Helper()
		for _, item := range job.GetItems() {
			marks = append(marks, who.ok(getNodeOp(item.GetNode())).GetNode().GetNode().GetUnlearned())
		}
		return marks
	}
	off, on := false, true
	if got := unlearned(c, c.ingest(doc("a", "Learned text."))); !slices.Equal(got, []bool{false}) {
		t.Errorf("by default: %v", got)
	}
	c.ok(patchSettings("", &off))
	late := jobOf(c.ok(items(doc("late", "A late text."))))
	c.ok(patchSettings("", &on))
	c.ok(patchSettings("", &off))
	close(gate)
	n.wait(late)
	kept := c.ingest(doc("a", "Learned text."), doc("b", "Private text."))
	if got := unlearned(c, kept); !slices.Equal(got, []bool{false, true}) {
		t.Errorf("while off: %v", got)
	}
	if got := unlearned(c.as("anna"), c.as("anna").ingest(doc("b", "Private text."))); !slices.Equal(got, []bool{false}) {
		t.Errorf("of another subject: %v", got)
	}
	if got := c.chunks("text"); len(got) != 3 {
		t.Errorf("search finds %q", got)
	}
	c.ok(patchSettings("", &on))
	if got := unlearned(c, c.job(late)); !slices.Equal(got, []bool{true}) {
		t.Errorf("accepted while off: %v", got)
	}
	if got := unlearned(c, c.ingest(doc("c", "Private text."))); !slices.Equal(got, []bool{false}) {
		t.Errorf("sent again while on: %v", got)
	}
}

// Texts that are not to be learned from take no place among what an answer is made of.
func TestAnswersLookPastWhatIsNotLearned(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	off, on := false, true
	c.ok(patchSettings("", &off))
	for i := range search.AnswerSources + 1 {
		c.ingest(doc(fmt.Sprint("private", i), fmt.Sprintf("The boiler was repaired by neighbour %d.", i)))
	}
	c.ok(patchSettings("", &on))
	learned := c.note("On a Tuesday in the autumn the boiler was repaired by the plumber, who came late and left early.")
	got := c.answer("Who was the boiler repaired by?")
	if len(got.GetCitations()) != 1 || got.GetCitations()[0].GetNode() != learned || !strings.Contains(got.GetAnswer(),
		"plumber") {
		t.Errorf("%v", got)
	}
}
