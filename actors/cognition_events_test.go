package actors

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"orgmem/actors/account"
	"orgmem/actors/cognition"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// What a cycle finds out is announced with the keys of the catalogue and nothing of
// the content, and reaches whom it is about.
//
// interface: Events/contradiction.detected
// interface: Events/insight.proposed
// interface: Events/basin.shifted
// interface: Events/identity.* on the stream
func TestCyclesAnnounceWhatTheyFind(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	c.put("ann")
	ann := c.as("ann")
	live := n.member(c, org, "peer@example.com").stream() // of somebody who did nothing
	told := func() map[string]map[string]any {
		out := map[string]map[string]any{}
		for _, e := range records(n, storage.StoreID{Org: org.Org, Realm: storage.RealmMain}, storage.TableOutbox,
			func() *pb.OutboxEvent { return &pb.OutboxEvent{} }) {
			var data map[string]any
			if err := json.Unmarshal(e.GetData(), &data); err != nil {
				t.Error(err)
			}
			out[e.GetType()] = data
		}
		return out
	}
	about := func(words []string, from, to int) (items []*pb.IngestItem) {
		for i := from; i < to; i++ {
			items = append(items, &pb.IngestItem{
				ExternalId: fmt.Sprint(words[0], i),
				Content:    fmt.Sprint(strings.Join(words, " "), " ", i),
			})
		}
		return items
	}
	garden := []string{"rose", "hedge", "spade", "compost", "tulip"}
	server := []string{"router", "kernel", "cluster", "socket", "packet"}
	ann.ingest(about(garden, 0, 40)...)
	n.clock.Advance(time.Second)
	ann.ingest(about(server, 0, 40)...)
	ann.note("The deadline of the Atlas project is 3 May.")
	ann.note("The deadline of the Atlas project is 9 June.")
	ann.think()
	if data, ok := told()[pb.EventBasinShifted]; ok {
		t.Errorf("ann has moved already: %v", data)
	}
	in := func() *pb.Basin { // where she is
		t.Helper()
		view := ann.ok(recallOp(&pb.Recall{Type: pb.RecallIdentity})).GetMind().GetIdentity().GetView()
		var at []*pb.Basin
		for _, b := range view.GetBasins() {
			if b.GetCurrent() {
				at = append(at, b)
			} else if b.GetSinceMs() != 0 {
				t.Errorf("she is not there, since %v", b)
			}
		}
		if len(at) != 1 || at[0].GetSinceMs() == 0 {
			t.Fatalf("she is in %v", at)
		}
		for _, trait := range view.GetTraits() {
			if len(trait.GetNodes()) != cognition.MaxTraitNodes {
				t.Errorf("the evidence of %s is %v", trait.GetName(), trait.GetNodes())
			}
		}
		return at[0]
	}
	first := in()
	ann.ingest(about(garden, 40, 60)...) // back in the garden
	ann.think()
	got := told()
	if data, last := got[pb.EventBasinShifted], in(); data["from"] != first.GetId() || data["to"] != last.GetId() ||
		last.GetId() == first.GetId() || last.GetSinceMs() <= first.GetSinceMs() {
		t.Errorf("the shift is %v, from %v to %v", data, first, last)
	}
	for kind, keys := range map[string][]string{
		pb.EventContradictionFound: {"count", "subject"},
		pb.EventInsightProposed:    {"count", "threshold"},
		pb.EventIdentityUpdated:    {"subject", "version"},
		pb.EventBasinShifted:       {"confidence", "from", "subject", "to"},
	} {
		data, ok := got[kind]
		if !ok {
			t.Errorf("%s was not told; told were %v", kind, slices.Sorted(maps.Keys(got)))
			continue
		}
		if have := slices.Sorted(maps.Keys(data)); !slices.Equal(have, keys) {
			t.Errorf("%s has %v, want %v", kind, have, keys)
		}
		if s, ok := data["subject"]; ok && s != "ann" {
			t.Errorf("%s is about %v", kind, s)
		}
	}
	for missing := map[string]bool{
		pb.EventContradictionFound: true, pb.EventInsightProposed: true,
		pb.EventIdentityUpdated: true, pb.EventBasinShifted: true,
	}; len(missing) > 0; {
		delete(missing, next(t, live))
	}
}

// Who trains again at once keeps nobody from hearing of the training before.
//
// interface: Events/brain.trained
func TestEveryTrainingIsToldOf(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	const trainings = 3 // all fail: there is nothing to learn from
	for range trainings {
		c.n.wait(jobOf(c.ok(trainOp())))
	}
	told := 0
	c.n.waitFor(func() bool {
		c.n.clock.Advance(time.Second)
		told = 0
		for _, e := range records(c.n, storage.StoreID{Org: c.orgID(), Realm: storage.RealmMain}, storage.TableOutbox,
			func() *pb.OutboxEvent { return &pb.OutboxEvent{} }) {
			var said map[string]any
			if e.GetType() != pb.EventBrainTrained || json.Unmarshal(e.GetData(), &said) != nil {
				continue
			}
			told++
			if at, there := said["trainedAt"]; said["status"] != pb.TrainingFailed || at != nil || !there {
				t.Errorf("nothing was trained, and it says %v", said)
			}
		}
		return told >= trainings
	})
	if told != trainings {
		t.Errorf("%d events of %d trainings", told, trainings)
	}
}
