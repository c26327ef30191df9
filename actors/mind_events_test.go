package actors

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// What a cycle finds out is announced with the keys of the catalogue and nothing of
// the content, and reaches whom it is about.
//
// interface: Events/contradiction.detected
// interface: Events/insight.proposed
// interface: Events/identity.* on the stream
func TestCyclesAnnounceWhatTheyFind(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	org := n.org(NewOrg{})
	c := client{n: n, key: org.APIKey}
	c.put("ann")
	ann := c.as("ann")
	told := func() map[string]map[string]any {
		out := map[string]map[string]any{}
		for _, e := range records(n, storage.StoreID{Org: org.Org, Realm: storage.RealmMain}, storage.TableOutbox, func() *pb.OutboxEvent { return &pb.OutboxEvent{} }) {
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
			w := func(k int) string { return words[(i%2+k)%len(words)] }
			items = append(items, &pb.IngestItem{ExternalId: fmt.Sprint(words[0], i), Content: fmt.Sprintf("%s %s %s %s %s %d", w(0), w(1), w(2), w(3), w(4), i)})
		}
		return items
	}
	garden := []string{"rose", "hedge", "spade", "compost", "tulip", "lawn", "seed", "shed", "pond", "trellis", "mulch"}
	server := []string{"router", "kernel", "cluster", "socket", "packet", "daemon", "switch", "driver", "buffer", "thread", "cache"}
	ann.ingest(about(garden, 0, 40)...)
	ann.ingest(about(server, 0, 40)...)
	ann.note("The deadline of the Atlas project is 3 May.")
	ann.note("The deadline of the Atlas project is 9 June.")
	ann.think()
	got := told()
	for kind, keys := range map[string][]string{
		eventContradiction: {"count", "subject"},
		eventInsight:       {"count", "threshold"},
		eventIdentity:      {"subject", "version"},
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
}
