package actors

import (
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"orgmem/actors/account"
	"orgmem/actors/commit"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/actors/training"
	"orgmem/brain/index"
	"orgmem/brain/retriever"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// What has changed since a training tells a brain nothing any more. What was forgotten is
// to its gate what was never there, and so is, to who searches one memory, what another
// holds: both ask for the same words in two orders, of which one is a title. What an edit
// has put into the place of a text is younger than the brain, also when that is read
// again, and nothing leads over what stood there.
func TestBrainsSeeWhatIsThere(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), drawn)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	docs, names, _ := parish(40)
	docs = append(docs, &pb.IngestItem{
		ExternalId: "z", Title: "Zephyr Blaxo",
		Content: "The mother of this child came by balloon.",
	})
	c.ingest(docs...)
	c.ingest(&pb.IngestItem{ExternalId: "e", Content: "The mother of this child wrote a letter to " + names[0] + "."})
	c.put("ann")
	ann := c.as("ann")
	hers := []*pb.IngestItem{
		{ExternalId: "a1", Content: "A zephyr blew on Monday."},
		{ExternalId: "a2", Content: "The word blaxo means nothing at all."},
		{ExternalId: "a3", Content: "On Tuesday a zephyr blew again, and nothing came of it."},
	}
	ann.ingest(hers...)
	if s := c.train(); s.GetArtifact() == nil {
		t.Fatalf("%v", s)
	}
	again := func() {
		c.inOrg(func(o *tenant.Org) { tenant.ModuleOf[*training.Module](&o.View).Serving.Now.Store(nil) })
	}

	activation := func() float64 {
		found := c.ok(mindEnvelope(&pb.MindOp{Op: &pb.MindOp_BrainQuery{BrainQuery: &pb.BrainQuery{
			Query: names[0],
			TopK:  100,
		}}})).GetMind().GetFound()
		i := slices.IndexFunc(found.GetFocal(), func(f *pb.BrainNode) bool { return f.GetExternalId() == "e" })
		if i < 0 {
			return 0
		}
		return found.GetFocal()[i].GetActivation()
	}
	if activation() <= 0 {
		t.Fatal("what names somebody is not reached: the test says nothing")
	}
	c.edit(&pb.EditNode{Id: c.nodeNamed("e"), Content: new("The mother of this child wrote to nobody.")})
	if a := activation(); a != 0 {
		t.Errorf("what a text no longer says leads to it: %g", a)
	}
	again()
	if a := activation(); a != 0 {
		t.Errorf("read again, what a text no longer says leads to it: %g", a)
	}
	known := 0
	c.inOrg(func(o *tenant.Org) {
		known = len(tenant.ModuleOf[*training.Module](&o.View).Serving.Now.Load().Passages)
	})
	if known != len(docs)+len(hers) {
		t.Errorf("the brain takes %d passages for what it was made of", known)
	}

	gates := func() (title, turned float64) {
		_, a := c.query("zephyr blaxo")
		_, b := c.query("blaxo zephyr")
		return a.GetGateConfidence(), b.GetGateConfidence()
	}
	if title, turned := gates(); math.Abs(title-turned) < 1e-6 {
		t.Fatalf("a title opens the gate by nothing, %g: the test says nothing", title)
	}
	scores := func(q string) (out []string) {
		found := ann.ok(&pb.Envelope{Op: &pb.Envelope_Search{Search: &pb.Search{Query: q}}}).GetSearch()
		if found.GetBrainVersion() == 0 || len(found.GetHits()) != len(hers) {
			t.Fatalf("%v", found)
		}
		for _, h := range found.GetHits() {
			out = append(out, fmt.Sprintf("%s %.6f", h.GetExternalId(), h.GetScore()))
		}
		return out
	}
	if a, b := scores("zephyr blaxo"), scores("blaxo zephyr"); !slices.Equal(a, b) {
		t.Errorf("another memory's title moves a search from %v to %v", b, a)
	}
	c.forget(c.nodeNamed("z"))
	if title, turned := gates(); math.Abs(title-turned) > 1e-6 {
		t.Errorf("a forgotten title opens the gate from %g to %g", turned, title)
	}
	again()
	if title, turned := gates(); math.Abs(title-turned) > 1e-6 {
		t.Errorf("read again, a forgotten title opens the gate from %g to %g", turned, title)
	}
}

// What a training has no memory left to keep of its walks it reads again, and finds the
// same.
func TestScoresWithoutRoom(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	node := c.note("The ferry leaves at noon.")
	c.withParts(func(st *storage.Store, parts []*partition.Ref) {
		i := slices.IndexFunc(parts, func(p *partition.Ref) bool {
			return tenant.OwnerOf([]*partition.Ref{p},
				pb.NodeID(node)) != nil
		})
		x := &pb.Node{}
		if _, err := st.Get(parts[i].Space.Key(storage.TableNode, storage.Str(node)), x); err != nil {
			t.Fatal(err)
		}
		seeds := func(room int64) (out [2][]retriever.Seed, kept int) {
			a := &training.BrainQuery{
				Store: st, Parts: parts, KnownScores: map[training.ChunkID]retriever.Seed{}, Chunks: map[pb.NodeID][]uint64{},
				ScoresLeft: &atomic.Int64{},
				Lookup: &training.Lookup{Query: &index.Query{Vectors: map[index.ModelID][]float32{
					"words": wordEmbedder{id: "words"}.Query("When does the ferry leave?"),
				}}},
			}
			a.ScoresLeft.Store(room)
			a.ChunkOf = func(int32) training.ChunkID { return training.ChunkID{Part: parts[i].ID, Seq: x.GetChunks()[0]} }
			a.DocumentOf = func(int32) pb.NodeID { return pb.NodeID(node) }
			for k := range out {
				out[k] = a.ScoreAll([]int32{0})
			}
			if a.Err != nil {
				t.Fatal(a.Err)
			}
			return out, len(a.KnownScores) + len(a.Chunks)
		}
		with, kept := seeds(1)
		without, none := seeds(0)
		if kept != 2 || none != 0 {
			t.Errorf("%d are kept, and %d without room", kept, none)
		}
		first := with[0]
		if len(first) != 1 || first[0].Cosine == 0 {
			t.Errorf("seeds %v", first)
		}
		want := [][]retriever.Seed{first, first, first}
		if diff := cmp.Diff(want, [][]retriever.Seed{with[1], without[0], without[1]}); diff != "" {
			t.Errorf("the second time, and twice without room (-want +got):\n%s", diff)
		}
	})
}

// A brain goes on serving searches of one memory where there are more by now than are
// searched together.
func TestBrainsOfManyMemories(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	node := c.note("The ferry leaves at noon.")
	params := retriever.Prior()
	apply := func(change func(o *tenant.Org, ch *commit.Change)) {
		done := make(chan error, 1)
		c.inOrg(func(o *tenant.Org) {
			ch := commit.New(o.Store)
			change(o, ch)
			o.Committer.SubmitChange(ch, func(err error) { done <- err })
		})
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	apply(func(o *tenant.Org, ch *commit.Change) {
		src := &retriever.Source{Documents: []retriever.Document{{
			ID:       pb.NodeID(node),
			Passages: []string{"The ferry leaves at noon."},
		}}}
		raw, err := proto.Marshal(&pb.Brain{Model: params.Message(), Graph: retriever.NewGraph(src,
			tenant.ModuleOf[*training.Module](&o.View).BrainSalt()).Message()})
		if err != nil {
			t.Error(err)
		}
		sum := sha256.Sum256(raw)
		ch.Put(o.Space.Key(storage.TableBrain, storage.U64(1)), &pb.BrainArtifact{Version: 1, Sha256: sum[:]})
		if err := storage.PutPieces(ch.Batch, tenant.ModuleOf[*training.Module](&o.View).PiecesKey(1), raw); err != nil {
			t.Error(err)
		}
	})
	apply(func(o *tenant.Org, ch *commit.Change) {
		for i := range tenant.MaxOrgPartitions {
			id := pb.PartitionID(uuid.NewSHA1(uuid.Nil, fmt.Append(nil, i)))
			tenant.PutPartition(ch.Batch, o.Space, partition.NewRef(o.Store, &o.View, id,
				&pb.Partition{Kind: pb.PartitionSubject, Subject: fmt.Sprint("s", i)}))
		}
	})
	found := c.ok(&pb.Envelope{Op: &pb.Envelope_Search{Search: &pb.Search{Query: "When does the ferry leave?"}}}).
		GetSearch()
	if found.GetBrainVersion() != 1 || len(found.GetHits()) != 1 {
		t.Errorf("%v", found)
	}
	known := 0
	c.inOrg(func(o *tenant.Org) {
		known = len(tenant.ModuleOf[*training.Module](&o.View).Serving.Now.Load().Passages)
	})
	if known != 1 {
		t.Errorf("the brain knows %d passages", known)
	}
}
