package actors

import (
	"bytes"
	crand "crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/account"
	"orgmem/actors/commit"
	"orgmem/actors/graph"
	"orgmem/actors/partition"
	"orgmem/actors/search"
	"orgmem/actors/tenant"
	"orgmem/actors/training"
	"orgmem/brain/retriever"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/proto/prototest"
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
func drawn(cfg *tenant.Config, _ *storage.Options) {
	process := io.LimitReader(crand.Reader, 16) // the name of the process, which no other has
	cfg.Random = &lockedRandom{r: io.MultiReader(process, rand.NewChaCha8([32]byte{1}))}
}

type lockedRandom struct {
	mu sync.Mutex
	r  io.Reader
}

func (l *lockedRandom) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.r.Read(p)
}

// train trains a brain and waits for it.
func (c client) train() *pb.BrainState {
	c.n.t.Helper()
	c.n.wait(jobOf(c.ok(trainOp())))
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
			strings.Fields(n)[0], 1700+r.IntN(200), pick("river", "mill", "church"), names[mother[i]],
			pick("bees", "sheep", "an inn", "goats"))})
	}
	return docs, names, mother
}

// slowed is a clock by which, while it is on, everything takes as long as a walk may.
type slowed struct {
	clock.Clock
	on   atomic.Bool
	late atomic.Int64 // nanoseconds
}

func (s *slowed) Now() time.Time {
	if s.on.Load() {
		s.late.Add(int64(search.WalkTimeout))
	}
	return s.Clock.Now().Add(time.Duration(s.late.Load()))
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
	slow := &slowed{}
	n := startNode(t, disk, drawn, func(c *tenant.Config, _ *storage.Options) { slow.Clock, c.Clock = c.Clock, slow })
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	docs, names, mother := parish(60)
	c.ingest(docs...)
	state := c.train()
	artifact := state.GetArtifact()
	if state.GetTraining().GetStatus() != pb.JobSucceeded || artifact.GetVersion() != 1 || artifact.GetNodes() < 60 ||
		artifact.GetParameters() == 0 || len(artifact.GetSha256()) != 32 {
		t.Fatalf("%v", state)
	}
	if m := state.GetTraining().GetMetrics(); m["recall10"] < m["cosineRecall10"] || m["mrr"] < m["cosineMrr"] ||
		m["judged"] == 0 {
		t.Errorf("published with %v", m)
	}
	report := artifact.GetReport()
	sum := uint32(0)
	for _, s := range report.GetGates() {
		sum += s.GetQuestions()
	}
	if len(report.GetCurve()) < 2 || float64(sum) != state.GetTraining().GetMetrics()["judged"] ||
		len(report.GetKinds()) == 0 || state.GetTraining().GetReport() != nil {
		t.Errorf("the report of a brain that serves: %v", report)
	}
	var told map[string]any
	c.n.waitFor(func() bool {
		c.n.clock.Advance(time.Second)
		for _, e := range records(c.n, storage.StoreID{Org: org.Org, Realm: storage.RealmMain}, storage.TableOutbox,
			func() *pb.OutboxEvent { return &pb.OutboxEvent{} }) {
			if e.GetType() == pb.EventBrainTrained && json.Unmarshal(e.GetData(), &told) == nil &&
				told["status"] == pb.JobSucceeded {
				return true
			}
		}
		return false
	})
	_, err := time.Parse(time.RFC3339, fmt.Sprint(told["trainedAt"]))
	if err != nil || len(told) != 4 || told["nodes"] != float64(artifact.GetNodes()) ||
		told["edges"] != float64(artifact.GetEdges()) {
		t.Errorf("brain.trained says %v of %v", told, artifact)
	}

	reached := func() (mothers, far int) {
		for i := range 20 {
			ids, found := c.query("What did the mother of " + names[i] + " keep?")
			if slices.Contains(ids[:min(3, len(ids))], fmt.Sprint("p", mother[i])) {
				mothers++
			}
			if tier := found.GetPropagationTier(); tier != string(retriever.TierNone) && tier != string(retriever.TierLocal) {
				far++
			}
		}
		return mothers, far
	}
	if mothers, far := reached(); mothers < 15 || far == 0 {
		t.Errorf("of 20 mothers %d are among the first three; %d walks went far", mothers, far)
	}
	slow.on.Store(true) // as if each step took all the time there is
	if mothers, far := reached(); mothers > 5 || far > 0 {
		t.Errorf("without time %d mothers of 20 are reached, and %d walks went far", mothers, far)
	}
	slow.on.Store(false)
	ids, found := c.query(names[3])
	if len(ids) != 10 || len(found.GetCosine()) != 10 || found.GetVersion() != 1 || found.GetDriftRate() != 0 ||
		found.GetPropagationTier() == "" || found.GetEmbedTokens() == 0 {
		t.Errorf("%v", found)
	}

	// While somebody else reads a brain, who asks it is told to come back; searches, and
	// answers, go without. A training measures itself against it all the same.
	c.inOrg(func(o *tenant.Org) {
		tenant.ModuleOf[*training.Module](&o.View).Serving.Now.Store(nil)
		tenant.ModuleOf[*training.Module](&o.View).Serving.Loading.Lock()
	})
	again := c.train()
	if again.GetArtifact().GetVersion() != 2 || string(again.GetArtifact().GetSha256()) != string(artifact.GetSha256()) {
		t.Errorf("the same content gave another brain: %v", again)
	}
	if m := again.GetTraining().GetMetrics(); m["servingRecall10"] == 0 || m["servingRecall10"] != m["recall10"] {
		t.Errorf("beside its like: %v", m)
	}
	c.refused(pb.CodeBrainNotReady, queryOp(names[3]))
	if hits := c.search(&pb.Search{Query: names[3], OrgScope: true, TopK: 5}); len(hits) == 0 {
		t.Error("without the brain nothing is found")
	}
	c.inOrg(func(o *tenant.Org) { tenant.ModuleOf[*training.Module](&o.View).Serving.Loading.Unlock() })
	if _, found := c.query(names[3]); found.GetVersion() != 2 {
		t.Errorf("the brain that was read is %v", found)
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
	c.ingest(&pb.IngestItem{
		ExternalId: "new", Title: "Zora Newcomer",
		Content: "Zora Newcomer came yesterday with a parrot.",
	})
	if ids, found := c.query("Who came with a parrot?"); len(ids) == 0 || ids[0] != "new" || found.GetDriftRate() == 0 {
		t.Errorf("what came after the training: %v, %v", ids, found)
	}
}

// A brain that is worse on the questions held out than the one that serves is not
// published, says so with the figures of both, and leaves everything as it was, also
// behind a crash: the artifact and its bytes, and what a query and a search find.
//
// interface: States/Brain parity gate
func TestRejectedBrains(t *testing.T) {
	withoutRace(t)
	disk := storagetest.NewDisk()
	n := startNode(t, disk, drawn)
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	docs, names, _ := parish(160)
	c.ingest(docs[:60]...)
	from := 60
	for ; c.train().GetTraining().GetStatus() == pb.TrainingRejected; from += 10 { // until one serves
		c.ingest(docs[from : from+10]...)
	}

	type image struct {
		artifact *pb.BrainArtifact
		brains   []*pb.BrainArtifact
		bytes    []byte
		focal    *pb.BrainFound
		hits     []*pb.Hit
	}
	look := func() (x image) {
		c.n.t.Helper()
		id := storage.StoreID{Org: org.Org, Realm: storage.RealmMain}
		x.artifact = c.info().GetArtifact()
		x.brains = records(c.n, id, storage.TableBrain, func() *pb.BrainArtifact { return &pb.BrainArtifact{} })
		st, err := c.n.store.Acquire(id)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Release()
		if x.bytes, _, err = storage.ReadPieces(st, storage.OrgSpace(id).Key(storage.TableBrainPiece,
			storage.U64(x.artifact.GetVersion()))); err != nil {
			t.Fatal(err)
		}
		_, x.focal = c.query("What did the mother of " + names[3] + " keep?")
		x.hits = c.search(&pb.Search{Query: "What did the mother of " + names[4] + " keep?"})
		return x
	}
	same := func(a, b image) bool {
		return proto.Equal(a.artifact, b.artifact) && slices.EqualFunc(a.brains, b.brains,
			func(x, y *pb.BrainArtifact) bool { return proto.Equal(x, y) }) &&
			bytes.Equal(a.bytes, b.bytes) && proto.Equal(a.focal, b.focal) &&
			slices.EqualFunc(a.hits, b.hits, func(x, y *pb.Hit) bool { return proto.Equal(x, y) })
	}

	// The memory grows until a training does worse than the brain before it, and not already
	// than plain cosine. Which does is chance, and the same chance each time.
	var before image
	rejected := &pb.Training{}
	published := uint64(1)
	for ; rejected.GetStatus() != pb.TrainingRejected || rejected.GetMetrics()["servingMrr"] == 0; from += 10 {
		if from == len(docs) {
			t.Fatal("no training was rejected: the test says nothing")
		}
		c.ingest(docs[from : from+10]...)
		before = look()
		switch rejected = c.train().GetTraining(); rejected.GetStatus() {
		case pb.TrainingFailed:
			t.Fatalf("%v", rejected)
		case pb.JobSucceeded:
			published++
		}
	}
	m := rejected.GetMetrics()
	if m["recall10"] >= m["servingRecall10"] && m["mrr"] >= m["servingMrr"] && m["servingLost"] <= m["servingWon"] ||
		m["judged"] == 0 {
		t.Errorf("rejected with %v", m)
	}
	for _, figure := range []string{"recall10", "mrr", "servingRecall10", "servingMrr"} {
		if said := fmt.Sprintf("%.3f", m[figure]); !strings.Contains(rejected.GetReason(), said) {
			t.Errorf("%q does not tell %s, which is %s", rejected.GetReason(), figure, said)
		}
	}
	if job := c.job(pb.JobID(rejected.GetJob()).String()); job.GetStatus() != pb.JobSucceeded { // it did what it was to do
		t.Errorf("%v", job)
	}
	if before.artifact.GetVersion() != published || len(before.bytes) == 0 {
		t.Fatalf("%d brains were published, and %v serves, %d bytes", published, before.artifact, len(before.bytes))
	}
	if after := look(); !same(before, after) {
		t.Errorf("before the rejected training: %v\nafter it: %v", before, after)
	}
	c.n.waitFor(func() bool {
		c.n.clock.Advance(time.Second)
		return slices.ContainsFunc(records(c.n, storage.StoreID{Org: org.Org, Realm: storage.RealmMain}, storage.TableOutbox,
			func() *pb.OutboxEvent { return &pb.OutboxEvent{} }),
			func(e *pb.OutboxEvent) bool {
				return e.GetType() == pb.EventBrainTrained && strings.Contains(string(e.GetData()), `"status":"rejected"`)
			})
	})
	c = client{n: startNode(t, disk.Crash(0, 1)), key: c.key}
	if after := look(); !same(before, after) {
		t.Errorf("before the rejected training: %v\nbehind a crash: %v", before, after)
	}
	if s := c.info().GetTraining(); s.GetStatus() != pb.TrainingRejected || s.GetReason() != rejected.GetReason() {
		t.Errorf("%v", s)
	}
}

// A memory of which too few questions can be made to judge a brain by gets none, since
// nothing would say that it is as good as search.
func TestNoBrainWithoutJudges(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), drawn)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	var docs []*pb.IngestItem
	for i := range training.MinPassages + 5 { // all the questions that it asks are its one title, once or twice
		docs = append(docs, &pb.IngestItem{ExternalId: fmt.Sprint("d", i), Title: "Note", Content: strings.Repeat("?", i+1)})
	}
	c.ingest(docs...)
	s := c.train()
	if s.GetTraining().GetStatus() != pb.TrainingFailed || s.GetArtifact() != nil ||
		!strings.Contains(s.GetTraining().GetReason(), "questions to judge a brain by") {
		t.Errorf("%v", s)
	}
	c.refused(pb.CodeBrainNotTrained, queryOp("Note"))
}

// Search and retrieve rank by the brain once there is one and say so; what a brain
// does not know or may not be made of is found as before, and nobody's search leaves
// its partition.
func TestSearchUsesTheBrain(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), drawn)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	docs, names, mother := parish(60)
	c.ingest(docs...)
	c.put("ann")
	ann := c.as("ann")
	ann.ingest(&pb.IngestItem{ExternalId: "hers", Content: "The mother of " + names[0] + " kept a secret diary."})
	find := func(c client, op *pb.Search) (ids []string, version uint64) {
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
			ids, v := find(c, &pb.Search{Query: "What did the mother of " + names[i] + " keep?"})
			if len(ids) != search.DefaultTopK {
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
	if r := c.ok(mindEnvelope(&pb.MindOp{Op: &pb.MindOp_Retrieve{Retrieve: &pb.Retrieve{Query: names[3], MaxHops: 1}}})).
		GetMind().GetRetrieved(); r.GetBrainVersion() != 1 || len(r.GetHits()) == 0 {
		t.Errorf("%v", r)
	}

	explained(t, c, "What did the mother of "+names[3]+" keep?", names[3])
	ids, version := find(ann, &pb.Search{Query: "What did the mother of " + names[0] + " keep?"})
	if version != 1 || !slices.Equal(ids, []string{"hers"}) {
		t.Errorf("a subject's search found %v by brain %d", ids, version)
	}
	c.ok(patchSettings("", new(bool))) // what comes now is not learned from
	c.ingest(&pb.IngestItem{ExternalId: "plain", Content: "A zeppelin landed on the common."})
	if ids, _ := find(c, &pb.Search{Query: "Where did the zeppelin land?"}); len(ids) == 0 || ids[0] != "plain" {
		t.Errorf("what must not be learned from: %v", ids)
	}
	for _, op := range []*pb.Search{
		{Query: names[0], Mode: "keyword"},
		{Query: names[0], IncludeSuperseded: true},
		{Query: names[0], Filters: &pb.Filters{Kind: "note"}},
	} {
		if _, version := find(c, op); version != 0 {
			t.Errorf("the brain ranked %v", op)
		}
	}
	c.ok(patchSettings("fast", nil))
	if _, version := find(c, &pb.Search{Query: names[0]}); version != 0 {
		t.Error("the brain ranked in quality mode fast")
	}
}

// A brain that cannot be read, of another version or damaged, is none: searches go on
// without it, nobody is told of it, and a training puts another in its place. The one
// that is published behind a purge, which has its number again, is another too.
func TestUnreadableBrains(t *testing.T) {
	withoutRace(t)
	disk := storagetest.NewDisk()
	n := startNode(t, disk, drawn)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	docs, names, _ := parish(60)
	c.ingest(docs...)
	whole := c.train().GetArtifact()
	put := func(artifact *pb.BrainArtifact, raw []byte) (was []byte) {
		done := make(chan error)
		c.inOrg(func(o *tenant.Org) {
			key := tenant.ModuleOf[*training.Module](&o.View).PiecesKey(artifact.GetVersion())
			err := o.WithStore(func(st *storage.Store) (err error) {
				was, _, err = storage.ReadPieces(st, key)
				return err
			})
			ch := commit.New(o.Store)
			ch.Put(o.Space.Key(storage.TableBrain, storage.U64(artifact.GetVersion())), artifact)
			if raw != nil {
				err = errors.Join(err, storage.PutPieces(ch.Batch, key, raw))
			}
			tenant.ModuleOf[*training.Module](&o.View).Serving.Now.Store(nil)
			go func() {
				result := make(chan error, 1)
				o.Committer.SubmitChange(ch, func(err error) { result <- err })
				done <- errors.Join(err, <-result)
			}()
		})
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		return was
	}
	raw := put(&pb.BrainArtifact{Version: 1, Sha256: []byte("another")}, nil)
	found := c.ok(&pb.Envelope{Op: &pb.Envelope_Search{Search: &pb.Search{Query: names[3]}}}).GetSearch()
	if found.GetBrainVersion() != 0 || len(found.GetHits()) == 0 {
		t.Errorf("%v", found)
	}
	c.refused(pb.CodeBrainNotTrained, queryOp("bees"))
	if s := c.info(); s.GetArtifact() != nil {
		t.Errorf("told of: %v", s)
	}
	if s := c.train(); s.GetArtifact().GetVersion() != 2 {
		t.Errorf("%v", s)
	}
	if _, found := c.query(names[3]); found.GetVersion() != 2 {
		t.Errorf("%v", found)
	}

	dry := c.ok(dryPurge("")).GetData().GetPurge()
	c.ok(confirmPurge("", dry.GetConfirmToken()))
	c.refused(pb.CodeBrainNotTrained, queryOp("bees"))
	put(whole, raw)
	if _, found := c.query(names[3]); found.GetVersion() != 1 {
		t.Errorf("behind the purge: %v", found)
	}
	if s := c.info(); s.GetArtifact().GetVersion() != 1 {
		t.Errorf("behind the purge: %v", s)
	}
}

// A brain is useless outside its organization: it holds no word of the texts, and one
// that somebody carries over to another with the same texts leads nowhere.
func TestBrainsAreOfTheirOrganization(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), drawn)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	docs, names, _ := parish(60)
	c.ingest(docs...)
	artifact := c.train().GetArtifact()
	if artifact == nil {
		t.Fatal("no brain was published: the test says nothing")
	}
	id := storage.StoreID{Org: c.orgID(), Realm: storage.RealmMain}
	st, err := n.store.Acquire(id)
	if err != nil {
		t.Fatal(err)
	}
	carried, found, err := storage.ReadPieces(st, storage.OrgSpace(id).Key(storage.TableBrainPiece,
		storage.U64(artifact.GetVersion())))
	st.Release()
	if err != nil || !found {
		t.Fatalf("the artifact: %v, %v", found, err)
	}
	for _, d := range docs {
		for word := range strings.FieldsSeq(d.GetTitle() + " " + d.GetContent()) {
			// shorter ones may stand anywhere by chance
			if word = strings.Trim(word, ".,"); len(word) > 4 && bytes.Contains(carried, []byte(word)) {
				t.Fatalf("%q stands in the artifact", word)
			}
		}
	}

	other := client{n: n, key: n.org(account.NewOrg{Name: "Other", OwnerEmail: "x@example.com", Plan: pb.PlanUnlimited}).
		APIKey}
	other.ingest(docs...)
	other.refused(pb.CodeBrainNotTrained, queryOp(names[0]))
	done := make(chan error)
	other.inOrg(func(o *tenant.Org) {
		ch := commit.New(o.Store)
		ch.Put(o.Space.Key(storage.TableBrain, storage.U64(artifact.GetVersion())), artifact)
		if err := storage.PutPieces(ch.Batch, tenant.ModuleOf[*training.Module](&o.View).PiecesKey(artifact.GetVersion()),
			carried); err != nil {
			t.Error(err)
		}
		go func() {
			result := make(chan error, 1)
			o.Committer.SubmitChange(ch, func(err error) { result <- err })
			done <- <-result
		}()
	})
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	led := false
	for _, name := range names[:10] {
		q := "What did the mother of " + name + " keep?"
		if _, found := c.query(q); len(found.GetEntities()) > 0 || found.GetPropagationTier() != string(retriever.TierNone) {
			led = true
		}
		_, found := other.query(q)
		want := &pb.BrainFound{Version: artifact.GetVersion(), PropagationTier: string(retriever.TierNone)}
		if diff := prototest.Diff(want, found, "entities"); diff != "" {
			t.Errorf("%q leads somewhere (-want +got):\n%s", q, diff)
		}
		if len(found.GetFocal()) == 0 ||
			slices.ContainsFunc(found.GetFocal(), func(f *pb.BrainNode) bool { return f.GetActivation() != 0 }) {
			t.Errorf("%q leads to %v", q, found.GetFocal())
		}
	}
	if !led {
		t.Error("it leads nowhere at home either: the test says nothing")
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

// A training that a crash interrupts goes on at the epoch that it was in and gives the
// same brain, byte for byte; where the content has changed in between it begins anew.
// Nothing of how far it was is left behind its end.
func TestTrainingsGoOnAfterACrash(t *testing.T) {
	withoutRace(t)
	const cut = 3 // epochs, the one of the untrained parameters among them
	docs, _, _ := parish(60)
	epochs := make(chan int, 64) // more than a training has
	start := func(t *testing.T, disk *storagetest.Disk, hold chan struct{}) *testNode {
		done := 0
		return startNode(t, disk, drawn, func(cfg *tenant.Config, _ *storage.Options) {
			cfg.EpochCommitted = func() {
				done++
				epochs <- done
				if hold != nil && done == cut {
					<-hold
				}
			}
		})
	}
	count := func() (all int) {
		for {
			select {
			case <-epochs:
				all++
			default:
				return all
			}
		}
	}
	state := func(c client, org pb.OrgID) *pb.Training {
		all := records(c.n, storage.StoreID{Org: org, Realm: storage.RealmMain}, storage.TableTraining,
			func() *pb.Training { return &pb.Training{} })
		if len(all) != 1 {
			t.Fatalf("%d states of trainings", len(all))
		}
		return all[0]
	}
	ended := func(c client) *pb.BrainState {
		t.Helper()
		c.info() // somebody asks for the organization
		c.n.waitFor(func() bool {
			c.n.clock.Advance(time.Second)
			s := c.info().GetTraining().GetStatus()
			return s != pb.JobQueued && s != pb.JobRunning
		})
		return c.info()
	}

	disk, hold := storagetest.NewDisk(), make(chan struct{})
	first := start(t, disk, hold)
	org := first.org(account.NewOrg{})
	c := client{n: first, key: org.APIKey}
	c.ingest(docs...)
	c.ok(trainOp())
	for range cut {
		<-epochs
	}
	interrupted := disk.Crash(0, 1)
	close(hold)
	whole := ended(c) // the one that was not interrupted
	all := cut + count()
	if whole.GetArtifact().GetVersion() != 1 || all <= cut+1 {
		t.Fatalf("%v after %d epochs", whole, all)
	}
	if s := state(c, org.Org); s.GetCheckpoint() != nil {
		t.Errorf("behind the end of a training: %v", s)
	}

	t.Run("same content", func(t *testing.T) {
		c := client{n: start(t, interrupted.Crash(0, 1), nil), key: org.APIKey}
		if s := state(c, org.Org); s.GetCheckpoint().GetEpoch() != cut {
			t.Fatalf("behind the crash: %v", s)
		}
		s := ended(c)
		if !bytes.Equal(s.GetArtifact().GetSha256(), whole.GetArtifact().GetSha256()) {
			t.Errorf("%v, and without an interruption %v", s, whole)
		}
		if n := count(); n != all-cut {
			t.Errorf("%d epochs, want those that were left of %d", n, all)
		}
		if s := state(c, org.Org); s.GetCheckpoint() != nil {
			t.Errorf("behind the end of a training: %v", s)
		}
	})
	t.Run("other content", func(t *testing.T) {
		failed := false
		n := startNode(t, storagetest.NewDisk(), drawn, func(cfg *tenant.Config, _ *storage.Options) {
			done := 0
			cfg.EpochCommitted = func() {
				epochs <- done
				if done++; done == cut && !failed {
					failed = true
					panic("tried again in a while")
				}
			}
		})
		c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
		c.ingest(docs...)
		c.ok(trainOp())
		for range cut {
			<-epochs
		}
		c.ingest(&pb.IngestItem{
			ExternalId: "new", Title: "Zora Newcomer",
			Content: "Zora Newcomer came yesterday with a parrot. " + docs[0].GetContent(),
		})
		s := ended(c)
		n1 := count()
		again := c.train()
		if n2 := count(); n1 != n2 || !bytes.Equal(s.GetArtifact().GetSha256(), again.GetArtifact().GetSha256()) {
			t.Errorf("%v after %d epochs, and anew %v after %d", s, n1, again, n2)
		}
	})
}

// A brain that is trained after something was forgotten is byte for byte the one of
// a memory that never had it, though cycles have joined it with others, and cut
// domains with it, before.
func TestBrainOfWhatIsLeft(t *testing.T) {
	withoutRace(t)
	docs, _, _ := parish(60)
	trained := func(docs []*pb.IngestItem, forget string) string {
		n := startNode(t, storagetest.NewDisk(), drawn, thinking)
		c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
		c.ingest(docs...)
		c.think()
		if forget != "" {
			c.forget(c.nodeNamed(forget))
			c.think()
		}
		s := c.train()
		if s.GetTraining().GetStatus() != pb.JobSucceeded {
			t.Fatalf("%d documents, forgotten %q: %v, %v", len(docs), forget, s,
				c.job(pb.JobID(s.GetTraining().GetJob()).String()))
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

// What people decide about a memory is what its brain learns from, too: that one thing
// took the place of another, also by way of a third, and that two belong together. What
// is forgotten, must not be learned from or was refused is not among it.
func TestBrainsLearnFromDecisions(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	supersede := func(id, content string) string {
		return c.ok(supersedeOp(id, content)).GetGraph().GetSuperseded().GetNewNode()
	}
	first := c.note("The boiler is from 1980.")
	second := supersede(first, "The boiler is from 1990.")
	third := supersede(second, "The boiler is from 1999.")
	lost := c.note("Nobody may know of the safe.")
	supersede(lost, "There is no safe.")
	c.forget(lost)
	a, b := c.note("The plumber came."), c.note("The roof leaks.")
	for i, pair := range [][2]string{{a, b}, {a, third}, {b, third}} {
		c.derive(func(batch *storage.Batch, space storage.Space) {
			graph.PutProposal(batch, space, &pb.Proposal{
				Id: derivedN(i), Source: pair[0], Target: pair[1], Type: "relates_to",
				Score: 0.7, Status: pb.ReviewOpen, CreatedMs: int64(i),
			})
		})
	}
	c.ok(decideOp(pb.DerivedID(derivedN(0)).String(), true))
	c.ok(decideOp(pb.DerivedID(derivedN(1)).String(), false))

	read := make(chan *training.Source, 1)
	c.inOrg(func(o *tenant.Org) {
		var src *training.Source
		err := o.WithStore(func(st *storage.Store) error {
			parts, err := o.AllPartitions(st)
			if err == nil {
				src, err = training.ReadSource(st, parts, func() error { return nil })
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		read <- src
	})
	src := <-read
	var formers []string
	for _, f := range src.Former {
		formers = append(formers, string(f.ID))
		if f.By != pb.NodeID(third) || len(f.Passages) != 1 || !strings.HasPrefix(f.Passages[0], "The boiler is from 19") {
			t.Errorf("%+v", f)
		}
	}
	slices.Sort(formers)
	if want := slices.Sorted(slices.Values([]string{first, second})); !slices.Equal(formers, want) {
		t.Errorf("former: %v, want %v", formers, want)
	}
	if len(src.Accepted) != 1 || src.Accepted[0].From != pb.NodeID(a) || src.Accepted[0].To != pb.NodeID(b) {
		t.Errorf("accepted: %v", src.Accepted)
	}
	for _, d := range src.Documents {
		if id := string(d.ID); id == first || id == second || id == lost {
			t.Errorf("%q is part of the graph", d.Title)
		}
	}
}

// A training reads a memory of one moment: what is forgotten while it reads neither
// fails it nor is half there.
func TestBrainSourcesAreOfOneMoment(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	a, b := c.note("The ferry leaves at noon."), c.note("The bridge is closed.")
	var parts []*partition.Ref
	c.inOrg(func(o *tenant.Org) {
		if err := o.WithStore(func(st *storage.Store) (err error) {
			parts,
				err = o.AllPartitions(st)
			return err
		}); err != nil {
			t.Error(err)
		}
	})
	st, err := n.store.Acquire(storage.StoreID{Org: c.orgID(), Realm: storage.RealmMain})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Release()
	forgotten := false
	src, err := training.ReadSource(st, parts, func() error {
		if !forgotten {
			forgotten = true
			c.forget(a)
			c.forget(b)
		}
		return nil
	})
	if err != nil || !forgotten || len(src.Documents) != 2 {
		t.Fatalf("%+v, %v", src, err)
	}
	if src, err = training.ReadSource(st, parts, func() error { return nil }); err != nil || len(src.Documents) != 0 {
		t.Errorf("behind that: %+v, %v", src, err)
	}
}

// A training that is cancelled or purged under way publishes nothing, and the next
// can begin.
//
// interface: States/Purge
func TestTrainingsEndEarly(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), drawn)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	docs, _, _ := parish(60)
	c.ingest(docs...)
	job := jobOf(c.ok(trainOp()))
	r := c.ask(trainOp())
	if code := r.GetProblem().GetCode(); code != pb.CodeTrainInProgress {
		t.Errorf("a second training: %v", r)
	}
	if ended := c.ok(&pb.Envelope{Op: &pb.Envelope_CancelJob{CancelJob: &pb.CancelJob{Id: job}}}).GetJob().
		GetJob(); ended.GetStatus() != pb.JobCancelled {
		t.Errorf("%v", ended)
	}
	if s := c.info(); s.GetArtifact() != nil || s.GetTraining().GetStatus() != pb.TrainingFailed ||
		s.GetTraining().GetReason() == "" {
		t.Errorf("%v", s)
	}
	if s := c.train(); s.GetArtifact().GetVersion() != 1 {
		t.Errorf("%v", s)
	}
	if got := c.job(job); got.GetStatus() != pb.JobCancelled {
		t.Errorf("%v", got)
	}

	job = jobOf(c.ok(trainOp()))
	dry := c.ok(dryPurge("")).GetData().GetPurge()
	done := c.ask(confirmPurge("", dry.GetConfirmToken()))
	if p := done.GetProblem(); p != nil && p.GetCode() == pb.CodePurgeImpactChanged { // it was published in between
		dry = c.ok(dryPurge("")).GetData().GetPurge()
		done = c.ask(confirmPurge("", dry.GetConfirmToken()))
	}
	if done.GetProblem() != nil {
		t.Fatalf("%v", done)
	}
	c.n.wait(job) // by the purge or, where that let it, by itself
	if s := c.info(); s.GetArtifact() != nil {
		t.Errorf("behind the purge: %v", s)
	}
	c.refused(pb.CodeBrainNotTrained, queryOp("bees"))
}
