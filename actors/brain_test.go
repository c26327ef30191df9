package actors

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

func trainOp() *pb.Envelope {
	return mindEnvelope(&pb.MindOp{Op: &pb.MindOp_BrainTrain{BrainTrain: &pb.BrainTrain{}}})
}

func queryOp(query string) *pb.Envelope {
	return mindEnvelope(&pb.MindOp{Op: &pb.MindOp_BrainQuery{BrainQuery: &pb.BrainQuery{Query: query}}})
}

// drawn makes what is drawn at random the same each time, and with it the ids of
// nodes: whether a brain passes the gate depends on the order in which questions are
// made of them.
func drawn(cfg *Config, _ *storage.Options) {
	cfg.Random = &lockedRandom{r: rand.NewChaCha8([32]byte{1})}
}

type lockedRandom struct {
	mu sync.Mutex
	r  *rand.ChaCha8
}

func (l *lockedRandom) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.r.Read(p)
}

// train trains a brain and waits for it.
func (c client) train() *pb.BrainState {
	c.n.t.Helper()
	job := jobOf(c.ok(trainOp()))
	c.n.waitFor(func() bool {
		if terminal(c.job(job).GetStatus()) {
			return true
		}
		c.n.clock.Advance(time.Second) // it waits until what was forgotten is gone
		return false
	})
	return c.info()
}

// query asks the brain and gives the external ids of the focal nodes.
func (c client) query(q string) (ids []string, found *pb.BrainFound) {
	c.n.t.Helper()
	found = c.ok(queryOp(q)).GetMind().GetFound()
	for _, x := range found.GetFocal() {
		ids = append(ids, x.GetExternalId())
	}
	return ids, found
}

// parish is made-up text about people and their parents, a titled document for
// each. mother[i] is the mother of person i.
func parish(people int) (docs []*pb.IngestItem, names []string, mother []int) {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	for len(names) < people {
		n := pick("Al", "Ber", "Car", "Dor", "El", "Fa") + pick("mar", "nix", "tor", "wen", "zul") + " " +
			pick("Os", "Pra", "Quin", "Ros", "Sta") + pick("berg", "dale", "fort", "grim") + pick("a", "e", "i", "o")
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	for i, n := range names {
		mother = append(mother, (i+1+r.IntN(people-1))%people)
		docs = append(docs, &pb.IngestItem{ExternalId: fmt.Sprint("p", i), Title: n, Content: fmt.Sprintf(
			"%s was born in %d in a house by the %s. The mother of this child was %s, who kept %s.",
			strings.Fields(n)[0], 1700+r.IntN(200), pick("river", "mill", "church"), names[mother[i]], pick("bees", "sheep", "an inn", "goats"))})
	}
	return docs, names, mother
}

// interface: Resources/Brain info
// interface: States/Brain training
// interface: Events/brain.trained
//
// A brain is trained on the organization's own content, passes the gate, serves,
// and finds what a question leads to. It is the same brain when it is trained again
// on the same content, also after a crash in the middle, and knows nothing of what
// was forgotten.
func TestBrainLearnsTheWay(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk, drawn)
	org := n.org(NewOrg{})
	c := client{n: n, key: org.APIKey}
	docs, names, mother := parish(60)
	c.ingest(docs...)
	state := c.train()
	artifact := state.GetArtifact()
	if state.GetTraining().GetStatus() != jobSucceeded || artifact.GetVersion() != 1 || artifact.GetNodes() < 60 || artifact.GetParameters() == 0 || len(artifact.GetSha256()) != 32 {
		t.Fatalf("%v", state)
	}
	if m := state.GetTraining().GetMetrics(); m["recall10"] < m["cosineRecall10"] || m["mrr"] < m["cosineMrr"] || m["judged"] == 0 {
		t.Errorf("published with %v", m)
	}
	c.n.waitFor(func() bool {
		c.n.clock.Advance(time.Second)
		return slices.ContainsFunc(records(c.n, storage.StoreID{Org: org.Org, Realm: storage.RealmMain}, storage.TableOutbox, func() *pb.OutboxEvent { return &pb.OutboxEvent{} }),
			func(e *pb.OutboxEvent) bool {
				return e.GetType() == eventBrain && strings.Contains(string(e.GetData()), `"status":"succeeded"`)
			})
	})

	reached := 0
	for i := range 20 {
		want := fmt.Sprint("p", mother[i])
		if ids, _ := c.query("What did the mother of " + names[i] + " keep?"); len(ids) > 0 && slices.Contains(ids[:min(3, len(ids))], want) {
			reached++
		}
	}
	if reached < 15 {
		t.Errorf("of 20 mothers %d are among the first three", reached)
	}
	ids, found := c.query(names[3])
	if len(ids) != 10 || len(found.GetCosine()) != 10 || found.GetVersion() != 1 || found.GetDriftRate() != 0 || found.GetPropagationTier() == "" || found.GetEmbedTokens() == 0 {
		t.Errorf("%v", found)
	}

	again := c.train()
	if again.GetArtifact().GetVersion() != 2 || string(again.GetArtifact().GetSha256()) != string(artifact.GetSha256()) {
		t.Errorf("the same content gave another brain: %v", again)
	}

	// What was forgotten is not found, at once and after a crash.
	c.forget(c.nodeNamed("p5"))
	for _, q := range []string{names[5], docs[5].GetContent(), "bees"} {
		if ids, _ := c.query(q); slices.Contains(ids, "p5") {
			t.Errorf("%q finds what was forgotten", q)
		}
	}
	if _, found := c.query("bees"); found.GetDriftRate() == 0 {
		t.Error("nothing has drifted")
	}
	c = client{n: startNode(t, disk.Crash(0, 1)), key: c.key}
	if ids, _ := c.query(docs[5].GetContent()); slices.Contains(ids, "p5") || len(ids) == 0 {
		t.Errorf("after a crash: %v", ids)
	}
	c.ingest(&pb.IngestItem{ExternalId: "new", Title: "Zora Newcomer", Content: "Zora Newcomer came yesterday with a parrot."})
	if ids, found := c.query("Who came with a parrot?"); len(ids) == 0 || ids[0] != "new" || found.GetDriftRate() == 0 {
		t.Errorf("what came after the training: %v, %v", ids, found)
	}
}

// Search and retrieve rank by the brain once there is one and say so; what a brain
// does not know or may not be made of is found as before, and nobody's search leaves
// its partition.
func TestSearchUsesTheBrain(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), drawn)
	c := client{n: n, key: n.org(NewOrg{}).APIKey}
	docs, names, mother := parish(60)
	c.ingest(docs...)
	c.put("ann")
	ann := c.as("ann")
	ann.ingest(&pb.IngestItem{ExternalId: "hers", Content: "The mother of " + names[0] + " kept a secret diary."})
	search := func(c client, op *pb.Search) (ids []string, version uint64) {
		found := c.ok(&pb.Envelope{Op: &pb.Envelope_Search{Search: op}}).GetSearch()
		for i, h := range found.GetHits() {
			ids = append(ids, h.GetExternalId())
			if i > 0 && h.GetScore() > found.GetHits()[i-1].GetScore() {
				t.Errorf("%v: scores rise", op)
			}
		}
		return ids, found.GetBrainVersion()
	}
	reached := func() (n int, version uint64) {
		for i := range 20 {
			ids, v := search(c, &pb.Search{Query: "What did the mother of " + names[i] + " keep?"})
			if len(ids) != defaultTopK {
				t.Errorf("%d hits", len(ids))
			}
			if slices.Contains(ids[:3], fmt.Sprint("p", mother[i])) {
				n++
			}
			version = v
		}
		return n, version
	}
	before, version := reached()
	if version != 0 {
		t.Error("a brain ranked before there was one")
	}
	if s := c.train(); s.GetArtifact() == nil {
		t.Fatalf("%v", s)
	}
	after, version := reached()
	if version != 1 || after <= before {
		t.Errorf("of 20 mothers %d with brain %d, %d without", after, version, before)
	}
	if r := c.ok(mindEnvelope(&pb.MindOp{Op: &pb.MindOp_Retrieve{Retrieve: &pb.Retrieve{Query: names[3], MaxHops: 1}}})).GetMind().GetRetrieved(); r.GetBrainVersion() != 1 || len(r.GetHits()) == 0 {
		t.Errorf("%v", r)
	}

	ids, version := search(ann, &pb.Search{Query: "What did the mother of " + names[0] + " keep?"})
	if version != 1 || !slices.Equal(ids, []string{"hers"}) {
		t.Errorf("a subject's search found %v by brain %d", ids, version)
	}
	c.ok(patchSettings("", new(bool))) // what comes now is not learned from
	c.ingest(&pb.IngestItem{ExternalId: "plain", Content: "A zeppelin landed on the common."})
	if ids, _ := search(c, &pb.Search{Query: "Where did the zeppelin land?"}); len(ids) == 0 || ids[0] != "plain" {
		t.Errorf("what must not be learned from: %v", ids)
	}
	for _, op := range []*pb.Search{
		{Query: names[0], Mode: "keyword"},
		{Query: names[0], IncludeSuperseded: true},
		{Query: names[0], Filters: &pb.Filters{Kind: "note"}},
	} {
		if _, version := search(c, op); version != 0 {
			t.Errorf("the brain ranked %v", op)
		}
	}
	c.ok(patchSettings("fast", nil))
	if _, version := search(c, &pb.Search{Query: names[0]}); version != 0 {
		t.Error("the brain ranked in quality mode fast")
	}
}

// A brain that cannot be read, of another version or damaged, is none: searches go on
// without it, and a training puts another in its place.
func TestUnreadableBrains(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk, drawn)
	c := client{n: n, key: n.org(NewOrg{}).APIKey}
	docs, names, _ := parish(60)
	c.ingest(docs...)
	c.train()
	done := make(chan error)
	c.inOrg(func(o *orgActor) {
		ch := newChange(o.store)
		ch.Put(o.space.Key(storage.TableBrain, storage.U64(1)), &pb.BrainArtifact{Version: 1, Sha256: []byte("another")})
		o.seat.now.Store(nil)
		go func() {
			result := make(chan error, 1)
			o.committer.submitChange(ch, func(err error) { result <- err })
			done <- <-result
		}()
	})
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	found := c.ok(&pb.Envelope{Op: &pb.Envelope_Search{Search: &pb.Search{Query: names[3]}}}).GetSearch()
	if found.GetBrainVersion() != 0 || len(found.GetHits()) == 0 {
		t.Errorf("%v", found)
	}
	c.refused(codeBrainNotTrained, queryOp("bees"))
	if s := c.train(); s.GetArtifact().GetVersion() != 2 {
		t.Errorf("%v", s)
	}
	if _, found := c.query(names[3]); found.GetVersion() != 2 {
		t.Errorf("%v", found)
	}
}

// nodeNamed finds the node of an external id.
func (c client) nodeNamed(ext string) string {
	c.n.t.Helper()
	for _, x := range c.search(&pb.Search{Query: "the mother of this child", TopK: 100}) {
		if x.GetExternalId() == ext {
			return x.GetNode()
		}
	}
	c.n.t.Fatalf("%s is not found", ext)
	return ""
}

// A brain that is trained after something was forgotten is byte for byte the one of
// a memory that never had it.
func TestBrainOfWhatIsLeft(t *testing.T) {
	docs, _, _ := parish(60)
	trained := func(docs []*pb.IngestItem, forget string) string {
		n := startNode(t, storagetest.NewDisk(), drawn)
		c := client{n: n, key: n.org(NewOrg{}).APIKey}
		c.ingest(docs...)
		if forget != "" {
			c.forget(c.nodeNamed(forget))
		}
		s := c.train()
		if s.GetTraining().GetStatus() != jobSucceeded {
			t.Fatalf("%d documents, forgotten %q: %v, %v", len(docs), forget, s, c.job(pb.JobID(s.GetTraining().GetJob()).String()))
		}
		return string(s.GetArtifact().GetSha256())
	}
	with, without := trained(docs, "p5"), trained(slices.Delete(slices.Clone(docs), 5, 6), "")
	if with != without {
		t.Fatal("the brain knows of what was forgotten")
	}
	if trained(docs, "") == without {
		t.Error("the brain is the same with and without it: the test says nothing")
	}
}

// A training that is cancelled or purged under way publishes nothing, and the next
// can begin.
func TestTrainingsEndEarly(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), drawn)
	c := client{n: n, key: n.org(NewOrg{}).APIKey}
	docs, _, _ := parish(60)
	c.ingest(docs...)
	job := jobOf(c.ok(trainOp()))
	r := c.ask(trainOp())
	if code := r.GetProblem().GetCode(); code != codeTrainInProgress {
		t.Errorf("a second training: %v", r)
	}
	if ended := c.ok(&pb.Envelope{Op: &pb.Envelope_CancelJob{CancelJob: &pb.CancelJob{Id: job}}}).GetJob().GetJob(); ended.GetStatus() != jobCancelled {
		t.Errorf("%v", ended)
	}
	if s := c.info(); s.GetArtifact() != nil || s.GetTraining().GetStatus() != trainingFailed || s.GetTraining().GetReason() == "" {
		t.Errorf("%v", s)
	}
	if s := c.train(); s.GetArtifact().GetVersion() != 1 {
		t.Errorf("%v", s)
	}
	if got := c.job(job); got.GetStatus() != jobCancelled {
		t.Errorf("%v", got)
	}

	job = jobOf(c.ok(trainOp()))
	dry := c.ok(dryPurge("")).GetData().GetPurge()
	done := c.ask(confirmPurge("", dry.GetConfirmToken()))
	if p := done.GetProblem(); p != nil && p.GetCode() == codePurgeImpactChanged { // it was published in between
		dry = c.ok(dryPurge("")).GetData().GetPurge()
		done = c.ask(confirmPurge("", dry.GetConfirmToken()))
	}
	if done.GetProblem() != nil {
		t.Fatalf("%v", done)
	}
	c.n.waitFor(func() bool { return terminal(c.job(job).GetStatus()) })
	if s := c.info(); s.GetArtifact() != nil {
		t.Errorf("behind the purge: %v", s)
	}
	c.refused(codeBrainNotTrained, queryOp("bees"))
}
