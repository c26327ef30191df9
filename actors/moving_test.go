package actors

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"orgmem/actors/account"
	"orgmem/actors/moving"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// narrowEmbedder is a model whose cosines lie in a narrow range, as multilingual models' do: from .8 to 1.
type narrowEmbedder struct{ wordEmbedder }

func (e narrowEmbedder) NewEncoder() partition.Encoder  { return e }
func (narrowEmbedder) Dim() int                         { return wordDim + 1 }
func (e narrowEmbedder) Query(s string) []float32       { return e.Passages([]string{s})[0] }
func (narrowEmbedder) CosineLine() (factor, of float32) { return 5, -4 }

func (e narrowEmbedder) Passages(texts []string) [][]float32 {
	out := e.wordEmbedder.Passages(texts)
	for i, v := range out {
		for j := range v {
			v[j] *= 0.4472136 // the root of 1 - narrowBase
		}
		out[i] = append(v, 0.8944272) // of narrowBase
	}
	return out
}

var oldWords = wordEmbedder{id: "words"}

// movesTo lets a node embed with a model, and serve what a former one has embedded.
func movesTo(to partition.Embedder, former ...partition.Embedder) func(*tenant.Config, *storage.Options) {
	return func(cfg *tenant.Config, _ *storage.Options) { cfg.Embedder, cfg.Former = to, former }
}

func (n *testNode) progress() moving.Progress {
	return tenant.FeatureOf[*moving.Feature](n.sys.System).Progress()
}

// embeddedWith is what the directory says of an organization.
func (n *testNode) embeddedWith(org pb.OrgID) string {
	e, _ := n.host.Directory().Org(org)
	return e.GetEmbedded()
}

// unmark makes an organization one of a version that did not know of marks.
func (n *testNode) unmark(org pb.OrgID) {
	n.t.Helper()
	err := n.sys.Visit(n.t.Context(), org, func(o *tenant.Org, done func(error)) { o.MarkEmbedded("", done) })
	if err != nil {
		n.t.Fatal(err)
	}
}

// vectorModels are the models that a store has vectors of.
func vectorModels(n *testNode, org pb.OrgID, part pb.PartitionID) (models []string) {
	n.t.Helper()
	id := tenant.MainStoreOf(org)
	st, err := n.store.Acquire(id)
	if err != nil {
		n.t.Fatal(err)
	}
	defer st.Release()
	models, err = partition.VectorModels(st, storage.PartitionSpace(id, part))
	if err != nil {
		n.t.Fatal(err)
	}
	return models
}

func (c client) embedding() *pb.Embedding {
	c.n.t.Helper()
	return c.ok(&pb.Envelope{Op: &pb.Envelope_Me{Me: &pb.Me{}}}).GetMe().GetEmbedding()
}

func passages(from, to int) (its []*pb.IngestItem) {
	for i := from; i < to; i++ {
		its = append(its, doc(fmt.Sprint(i), fmt.Sprintf("Passage w%d about v%d.", i, i)))
	}
	return its
}

// Nobody asks for anything, and all of several organizations is embedded anew; they are marked, leave memory, and are
// not opened again.
func TestIdleOrganizationsAreEmbeddedAnew(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	var clients []client
	var orgs []pb.OrgID
	var parts [][]pb.PartitionID
	for i := range 6 {
		c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
		c.put("ann")
		c.ingest(passages(0, 20*(i+1))...)
		c.as("ann").ingest(passages(100, 110)...)
		clients, orgs = append(clients, c), append(orgs, c.orgID())
		parts = append(parts, []pb.PartitionID{c.as("ann").partition().ID})
	}
	n.unmark(orgs[3])
	n.stop()

	n = startNode(t, disk, movesTo(wordEmbedder{id: "other"}, oldWords))
	n.waitFor(func() bool {
		return !slices.ContainsFunc(orgs, func(o pb.OrgID) bool { return n.embeddedWith(o) != "other" })
	})
	began := n.clock.Now()
	n.waitFor(func() bool { n.clock.Advance(time.Second); return n.sys.Stats().ActiveOrgs == 0 })
	if after := n.clock.Now().Sub(began); after >= time.Minute {
		t.Errorf("they stayed in memory for %v", after)
	}
	for i, org := range orgs {
		if got := vectorModels(n, org, parts[i][0]); !slices.Equal(got, []string{"other"}) {
			t.Errorf("vectors of %q", got)
		}
	}
	st, p := n.sys.Stats(), n.progress()
	if want := uint64(20*(1+2+3+4+5+6) + 6*10); st.ChunksMoved != want || st.ChunksToMove != 0 || p.Embedded != want ||
		p.Chunks != want || p.Organizations != 0 || p.Memories != 12 || p.Moved != 12 {
		t.Errorf("%d chunks were moved, %d are left; %+v", st.ChunksMoved, st.ChunksToMove, p)
	}
	opened := n.sys.Stats().OrgActivations
	for range 10 { // looks
		n.clock.Advance(time.Minute)
	}
	clients[5].n = n
	if hits := clients[5].search(&pb.Search{Query: "Passage w77 about v77", Mode: "vector"}); len(hits) == 0 ||
		hits[0].GetExternalId() != "77" {
		t.Errorf("found %v", hits)
	}
	if got := clients[5].embedding(); got.GetModel() != "other" || got.GetChunks() != 130 || got.GetEmbedded() != 130 {
		t.Errorf("the organization hears %v", got)
	}
	if got := n.sys.Stats().OrgActivations; got != opened+1 {
		t.Errorf("%d organizations were opened to be searched once", got-opened)
	}
}

// gatedEmbedder stops before a text until it is let go.
func gatedEmbedder(id, at string) (e wordEmbedder, reached, open chan struct{}, seen *atomic.Int64) {
	reached, open, seen = make(chan struct{}), make(chan struct{}), new(atomic.Int64)
	var once sync.Once
	return wordEmbedder{id: id, fail: func(s string) {
		seen.Add(1)
		if strings.Contains(s, at) {
			once.Do(func() { close(reached) })
			<-open
		}
	}}, reached, open, seen
}

// What is embedded anew before a crash is not embedded again after it.
func TestEmbeddingAnewGoesOnAfterACrash(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.ingest(passages(0, 300)...)
	org := c.orgID()
	n.stop()

	other, reached, open, _ := gatedEmbedder("other", "w250 ")
	n = startNode(t, disk, movesTo(other, oldWords))
	c.n = n
	<-reached
	if got := c.embedding(); got.GetChunks() != 300 || got.GetEmbedded() == 0 || got.GetEmbedded() > 250 {
		t.Errorf("in the middle the organization hears %v", got)
	}
	if p := n.progress(); p.Organizations != 1 || p.Embedded == 0 || p.Embedded > 250 || p.Moved != 0 {
		t.Errorf("in the middle the operator hears %+v", p)
	}
	if hits := c.search(&pb.Search{Query: "Passage w17 about v17", Mode: "vector"}); len(hits) == 0 ||
		hits[0].GetExternalId() != "17" {
		t.Errorf("in the middle found %v", hits)
	}
	after := disk.Crash(0, 1)
	close(open)
	n.stop()

	again, _, open, seen := gatedEmbedder("other", "no such text")
	close(open)
	c.n = startNode(t, after, movesTo(again, oldWords))
	c.n.waitFor(func() bool { return c.n.embeddedWith(org) == "other" })
	if got := seen.Load(); got == 0 || got > 300-192 {
		t.Errorf("%d of 300 chunks were embedded after the crash", got)
	}
	if part := c.n.partitionOf(c); part.State.GetModel() != "other" {
		t.Errorf("served by %q", part.State.GetModel())
	}
}

// While one memory is moved and another is not, a search of both puts the best of either where it belongs; the models'
// cosines lie in ranges of their own.
func TestASearchOverBothGenerations(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	for _, s := range []string{"ann", "bob"} {
		c.put(s)
	}
	type text struct{ id, content string }
	texts := map[string][]text{
		"ann": {{"1", "red lamps hang over the long table"}, {"3", "red lamps hang here by number"}},
		"bob": {{"2", "red lamps hang over the river bank"}, {"4", "a boat with red lamps"}},
	}
	for s, all := range texts {
		for _, x := range all {
			c.as(s).ingest(doc(x.id, x.content))
		}
		c.as(s).ingest(passages(10, 40)...)
	}
	parts := map[string]pb.PartitionID{"ann": c.as("ann").partition().ID, "bob": c.as("bob").partition().ID}
	n.stop()
	order := func(c client) (ids []string) {
		for _, h := range c.search(&pb.Search{
			Query: "red lamps hang over the long table", Mode: "vector", OrgScope: true, TopK: 4,
		}) {
			ids = append(ids, h.GetExternalId())
		}
		return ids
	}
	// Whichever is moved first, the gate holds the other.
	const want = "1 2 3 4"
	other, reached, open, _ := gatedEmbedder("narrow", "boat")
	n = startNode(t, disk, movesTo(narrowEmbedder{other}, oldWords))
	c.n = n
	<-reached
	if bob := vectorModels(n, c.orgID(), parts["bob"]); bob[0] == "narrow" && len(bob) == 1 {
		t.Fatal("the gate has not held")
	}
	if got := strings.Join(order(c), " "); got != want {
		t.Errorf("while bob's is being moved (ann's has vectors of %q): found %s, want %s",
			vectorModels(n, c.orgID(), parts["ann"]), got, want)
	}
	close(open)
	n.waitFor(func() bool { return n.embeddedWith(c.orgID()) == "narrow" })
	if got := strings.Join(order(c), " "); got != want {
		t.Errorf("when all is moved: found %s, want %s", got, want)
	}
}

// Content, edits and forgetting go on while a memory is moved; what is forgotten leaves no vector of either model.
func TestAMemoryIsUsedWhileItIsMoved(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	made := n.org(account.NewOrg{})
	c := client{n: n, key: made.APIKey}
	c.ingest(passages(0, 200)...)
	node := func(id string) string {
		return c.search(&pb.Search{Query: fmt.Sprintf("w%s v%s", id, id), Mode: "keyword", TopK: 1})[0].GetNode()
	}
	gone, edited := node("3"), node("4")
	n.stop()

	other, reached, open, _ := gatedEmbedder("other", "w150 ")
	n = startNode(t, disk, movesTo(other, oldWords))
	c.n = n
	<-reached
	var wg sync.WaitGroup // they wait for the step that is under way
	wg.Go(func() { c.ok(forgetOp(gone)) })
	wg.Go(func() { c.ok(editOp(&pb.EditNode{Id: edited, Content: new("Passage about a zeppelin.")})) })
	job := jobOf(c.ok(items(doc("new", "A kite is new here."))))
	close(open)
	wg.Wait()
	n.wait(job)
	n.waitFor(func() bool { return n.embeddedWith(c.orgID()) == "other" })
	for query, want := range map[string]string{"A kite is new here": "new", "Passage about a zeppelin": "4"} {
		if hits := c.search(&pb.Search{Query: query, Mode: "vector"}); len(hits) == 0 || hits[0].GetExternalId() != want {
			t.Errorf("%s: found %v", query, hits)
		}
	}
	if got := c.chunks("w3 v3"); slices.Contains(got, "Passage w3 about v3.") {
		t.Error("what was forgotten is found")
	}
	state := ofPartition(c, made, storage.TableState, func() *pb.PartitionState { return &pb.PartitionState{} })[0]
	if state.GetModel() != "other" || state.GetChunks() != 200 {
		t.Errorf("%d chunks of %q", state.GetChunks(), state.GetModel())
	}
	if n := c.count(memberSpace(c, made).Prefix(storage.TableVector)); n != 200 {
		t.Errorf("%d vectors of 200 chunks", n)
	}
}

func memberSpace(c client, made account.CreatedOrg) (space storage.Space) {
	c.n.t.Helper()
	c.inOrg(func(o *tenant.Org) { space = memberOf(c.n.t, o, made.Owner).Space })
	return space
}

// Without the former model a memory is found by its words, takes content and edits in, and says so; when the model
// comes back before it is moved, or it is moved, all is found by meaning.
func TestWithoutTheFormerModelWordsServe(t *testing.T) {
	for _, back := range []bool{true, false} {
		t.Run(fmt.Sprintf("the model comes back %v", back), func(t *testing.T) {
			disk := storagetest.NewDisk()
			n := startNode(t, disk)
			made := n.org(account.NewOrg{})
			c := client{n: n, key: made.APIKey}
			c.ingest(passages(0, 70)...)
			edited := c.search(&pb.Search{Query: "w4 v4", Mode: "keyword", TopK: 1})[0].GetNode()
			n.stop()

			other, reached, open, _ := gatedEmbedder("other", "w10 ")
			paused := func(cfg *tenant.Config, _ *storage.Options) { cfg.MovingPercent = -1 }
			n = startNode(t, disk, movesTo(narrowEmbedder{other}), paused)
			c.n = n
			n.waitFor(func() bool { return n.progress().WordsOnly == 1 })
			if p := n.progress(); p.Missing != "words" || !p.Paused {
				t.Errorf("the operator hears %+v", p)
			}
			c.ingest(doc("new", "A kite is new here."))
			c.ok(editOp(&pb.EditNode{Id: edited, Content: new("Passage about a zeppelin.")}))
			for query, want := range map[string]string{"kite": "new", "zeppelin": "4", "w17 v17": "17"} {
				if hits := c.search(&pb.Search{Query: query}); len(hits) == 0 || hits[0].GetExternalId() != want {
					t.Errorf("%s: by words found %v", query, hits)
				}
			}
			close(open)
			n.stop()
			serves := partition.Embedder(narrowEmbedder{other})
			if back {
				serves = oldWords
			}
			n = startNode(t, disk, movesTo(serves))
			c.n = n
			if !back {
				<-reached
			}
			n.waitFor(func() bool {
				state := ofPartition(c, made, storage.TableState, func() *pb.PartitionState { return &pb.PartitionState{} })[0]
				return state.GetModel() == serves.ID() && !state.GetLacksVectors()
			})
			n.waitFor(func() bool { // what is in the store is served a moment later
				return len(c.search(&pb.Search{Query: "A kite is new here", Mode: "vector"})) > 0
			})
			for query, want := range map[string]string{
				"A kite is new here": "new", "Passage about a zeppelin": "4", "Passage w17 about v17": "17",
			} {
				if hits := c.search(&pb.Search{Query: query, Mode: "vector"}); len(hits) == 0 ||
					hits[0].GetExternalId() != want {
					t.Errorf("%s: by meaning found %v", query, hits)
				}
			}
			if n := c.count(memberSpace(c, made).Prefix(storage.TableVector)); n != 71 {
				t.Errorf("%d vectors of 71 chunks", n)
			}
		})
	}
}

// An operator goes back to the former model in the middle, and on again.
func TestGoingBackAndOnAgain(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.put("ann")
	c.as("ann").ingest(passages(0, 200)...)
	c.ingest(passages(300, 310)...)
	org, part := c.orgID(), c.as("ann").partition().ID
	n.stop()
	other, reached, open, _ := gatedEmbedder("other", "w150 ")
	n = startNode(t, disk, movesTo(other, oldWords))
	<-reached
	close(open)
	n.stop()
	for _, step := range []struct{ to, from wordEmbedder }{
		{oldWords, other}, {other, oldWords}, {oldWords, other},
	} {
		n = startNode(t, disk, movesTo(step.to, step.from))
		c.n = n
		n.waitFor(func() bool { return n.embeddedWith(org) == step.to.id })
		c.as("ann").ingest(doc("new", "A kite is new here with "+step.to.id))
		if got := vectorModels(n, org, part); !slices.Equal(got, []string{step.to.id}) {
			t.Errorf("with %s: vectors of %q", step.to.id, got)
		}
		if hits := c.as("ann").search(&pb.Search{Query: "Passage w17 about v17", Mode: "vector"}); len(hits) == 0 ||
			hits[0].GetExternalId() != "17" {
			t.Errorf("with %s: found %v", step.to.id, hits)
		}
		n.stop()
	}
}

// Until every node of the cluster has a model the former one embeds, and nothing is moved.
func TestTheModelOfANewVersionWaitsForTheLastNode(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.ingest(passages(0, 10)...)
	org := c.orgID()
	n.stop()
	since := func(version uint32) func(*tenant.Config, *storage.Options) {
		return func(cfg *tenant.Config, _ *storage.Options) { cfg.EmbedderSince = version }
	}
	n = startNode(t, disk, movesTo(wordEmbedder{id: "other"}, oldWords), since(wire.ProtocolVersion+1))
	c.n = n
	c.put("ann")
	c.as("ann").ingest(doc("a", "A kite is new here."))
	part := c.as("ann").partition().ID
	if got := vectorModels(n, org, part); !slices.Equal(got, []string{"words"}) || n.embeddedWith(org) != "words" ||
		n.progress().Organizations != 0 || c.embedding().GetModel() != "words" {
		t.Errorf("vectors of %q; %+v", got, n.progress())
	}
	n.stop()
	n = startNode(t, disk, movesTo(wordEmbedder{id: "other"}, oldWords), since(wire.ProtocolVersion))
	n.waitFor(func() bool { return n.embeddedWith(org) == "other" })
	if got := vectorModels(n, org, part); !slices.Equal(got, []string{"other"}) {
		t.Errorf("vectors of %q", got)
	}
}

// Between two steps the mover rests until it has taken its share of the CPU workers, and says about how long it takes.
func TestMovingTakesItsShare(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.ingest(passages(0, 256)...)
	org := c.orgID()
	n.stop()
	const each = 10 * time.Millisecond
	var tick atomic.Pointer[testNode]
	slow := wordEmbedder{id: "other", fail: func(string) {
		if n := tick.Load(); n != nil {
			n.clock.Advance(each)
		}
	}}
	started := make(chan struct{})
	slow.fail = func(fail func(string)) func(string) {
		return func(s string) { <-started; fail(s) }
	}(slow.fail)
	n = startNode(t, disk, movesTo(slow, oldWords), func(cfg *tenant.Config, _ *storage.Options) {
		cfg.Workers, cfg.MovingPercent = 1, 20
	})
	tick.Store(n)
	began := n.clock.Now()
	close(started)
	told := time.Duration(0)
	n.waitFor(func() bool {
		n.clock.Advance(time.Millisecond)
		if p := n.progress(); p.Embedded >= 128 && told == 0 {
			told = p.Left
		}
		return n.embeddedWith(org) == "other"
	})
	took := n.clock.Now().Sub(began)
	if most := 256 * each * 5; took < most*9/10 {
		t.Errorf("256 chunks of %v were embedded within %v, a fifth of one worker takes %v", each, took, most)
	}
	if told <= 0 || told > took {
		t.Errorf("in the middle %v were left of %v", told, took)
	}
}

// A node that takes an organization over in the middle goes on where the other was. Both begin when the last node of an
// older version has left.
func TestEmbeddingAnewMovesWithTheShard(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]int{}
	reached, open := make(chan struct{}), make(chan struct{})
	var once sync.Once
	other := wordEmbedder{id: "other", fail: func(s string) {
		mu.Lock()
		seen[s]++
		mu.Unlock()
		if strings.Contains(s, "w150 ") {
			once.Do(func() { close(reached) })
			<-open
		}
	}}
	var speaks atomic.Bool
	time := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	w := startTownWith(t, func(cfg *tenant.Config, _ *storage.Options) {
		movesTo(other, oldWords)(cfg, nil)
		cfg.WithoutDerivation, cfg.EmbedderSince = true, 1
		cfg.Speaks = func(uint32) bool { return speaks.Load() }
		cfg.Clock = time
	}, "a", "b")
	made := w.org("a", pb.PlanUnlimited)
	a, b := w.at("a").client(made.APIKey), w.at("b").client(made.APIKey)
	a.ingest(passages(0, 200)...)
	org := a.orgID()
	if got := w.at("a").embeddedWith(org); got != "words" {
		t.Fatalf("an organization of today is marked %q", got)
	}
	speaks.Store(true)
	w.at("a").waitFor(func() bool {
		time.Advance(look)
		select {
		case <-reached:
			return true
		default:
			return false
		}
	})
	w.lead("b")
	if hits := b.search(&pb.Search{Query: "Passage w17 about v17", Mode: "vector"}); len(hits) == 0 ||
		hits[0].GetExternalId() != "17" {
		t.Errorf("the next node finds %v", hits)
	}
	close(open)
	w.at("b").waitFor(func() bool {
		time.Advance(look)
		return w.at("b").embeddedWith(org) == "other"
	})
	if hits := b.search(&pb.Search{Query: "Passage w17 about v17", Mode: "vector"}); len(hits) == 0 ||
		hits[0].GetExternalId() != "17" {
		t.Errorf("moved, it finds %v", hits)
	}
	mu.Lock()
	defer mu.Unlock()
	for i := range 200 { // the step that was under way, from 128 on, is tried until the next node may write
		times := seen[fmt.Sprintf("Passage w%d about v%d.", i, i)]
		if times == 0 || i < 128 && times != 1 {
			t.Errorf("text %d of 200 was embedded %d times", i, times)
		}
	}
}

// look is how often a node looks for organizations to move.
const look = time.Minute
