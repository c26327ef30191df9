package actors

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"orgmem/actors/account"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/actors/training"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// leaningEmbedder is a model that takes every question for one about bees by the river.
type leaningEmbedder struct{ wordEmbedder }

func (e leaningEmbedder) NewEncoder() partition.Encoder { return e }

func (e leaningEmbedder) Query(s string) []float32 {
	v, length := e.wordEmbedder.Query(s), 0.0
	for i, x := range e.wordEmbedder.Query("river bees") {
		v[i] += 0.5 * x
	}
	for _, x := range v {
		length += float64(x) * float64(x)
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(length))
	}
	return v
}

// Where an organization's questions lie beside their answers, and always in the same
// way, a training learns that, and walks from what is near to the projected questions,
// too. It is the same brain each time, knows nothing of what was forgotten, serves
// behind a crash as before it, and is left out where its vectors' model is.
func TestBrainProjectsQuestions(t *testing.T) {
	withoutRace(t)
	docs, names, _ := parish(120)
	leaning := func(cfg *tenant.Config, o *storage.Options) {
		drawn(cfg, o)
		cfg.Embedder = leaningEmbedder{wordEmbedder{id: "words"}}
	}
	trained := func(disk *storagetest.Disk, docs []*pb.IngestItem, forget string) (client, *pb.BrainState) {
		n := startNode(t, disk, leaning)
		c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
		c.ingest(docs...)
		if forget != "" {
			c.forget(c.nodeNamed(forget))
		}
		return c, c.train()
	}
	disk := storagetest.NewDisk()
	gone := &pb.IngestItem{
		ExternalId: "gone", Title: "Gone Away",
		Content: "The mother of this child: Gone Away kept bees by the river, and " + names[7] + " in a house by the mill.",
	}
	c, state := trained(disk, append(slices.Clone(docs), gone), "gone")
	artifact, m := state.GetArtifact(), state.GetTraining().GetMetrics()
	if m["projectionNear"] == 0 && m["projectionStart"] == 0 || m["projectionGain"] <= 2*m["projectionGainError"] ||
		artifact.GetParameters() < 16*wordDim {
		t.Fatalf("%v", state)
	}
	if _, never := trained(storagetest.NewDisk(), docs, ""); !bytes.Equal(never.GetArtifact().GetSha256(),
		artifact.GetSha256()) {
		t.Error("the brain knows of what was forgotten")
	}

	question := "What did the mother of " + names[7] + " keep?"
	before, _ := c.query(question)
	serving := func(c client) (looks bool) {
		c.inOrg(func(o *tenant.Org) {
			net := tenant.ModuleOf[*training.Module](&o.View).Serving.Now.Load()
			looks = net != nil && net.Project != nil && net.Params.Projects()
		})
		return looks
	}
	if !serving(c) || len(before) == 0 || slices.Contains(before, "gone") {
		t.Errorf("found %v", before)
	}
	c.forget(c.nodeNamed(before[0]))
	if after, _ := c.query(question); slices.Contains(after, before[0]) {
		t.Errorf("what was forgotten behind the training is found: %v", after)
	}
	again := client{n: startNode(t, disk.Crash(0, 1), leaning), key: c.key}
	one, _ := c.query(question)
	if two, _ := again.query(question); !slices.Equal(one, two) || !serving(again) {
		t.Errorf("behind a crash %v, before %v", two, one)
	}

	// A node that embeds by another model carries the former one's brain no further than
	// it understands its vectors.
	other := client{n: startNode(t, disk.Crash(0, 1), func(cfg *tenant.Config, o *storage.Options) {
		drawn(cfg, o)
		cfg.Embedder = wordEmbedder{id: "others"}
	}), key: c.key}
	if ids, _ := other.query(question); len(ids) == 0 {
		t.Error("without the brain's model nothing is found")
	}
}
