package actors

import (
	"slices"
	"strings"
	"testing"
	"time"

	"orgmem/actors/account"
	"orgmem/actors/ground"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/prototest"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// recurring is what a memory says that comes again and again, as of a time in Unix milliseconds; 0 is now.
func (c client) recurring(asOf int64) []*pb.Recurrence {
	c.n.t.Helper()
	return c.ok(recallOp(&pb.Recall{Type: pb.RecallTemporal, AsOfMs: asOf})).GetMind().GetTemporal().GetRecurrences()
}

// wordsOf gives the words of recurrences, in the order in which they are shown.
func wordsOf(all []*pb.Recurrence) (out []string) {
	for _, r := range all {
		out = append(out, r.GetText())
	}
	return out
}

// TestWhatRecursIsToldWithItsText: a time that comes again and again is no event. It stands beside them, in its words
// and in a normal form, as long as its text does; and with the text all of it is erased.
func TestWhatRecursIsToldWithItsText(t *testing.T) {
	t.Parallel()
	n := startNode(t, storagetest.NewDisk(), thinking)
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	written := time.Date(2027, 5, 5, 12, 0, 0, 0, time.UTC).UnixMilli() // a Wednesday
	const sentence = "The quimby choir rehearses every Thursday at 19:30 until 24 June, except in holidays."
	const choir = sentence + " Is it every Sunday?"
	note := &pb.IngestItem{Content: choir, OccurredMs: written}
	rent := &pb.IngestItem{Content: "Rent is due on the first of each month.", OccurredMs: written - 1000}
	id := c.ingest(note, rent).GetItems()[0].GetNode()
	c.think()

	all := c.recurring(0)
	if got := wordsOf(all); !slices.Equal(got, []string{"every Thursday at 19:30", "first of each month"}) {
		t.Fatalf("%q", got)
	}
	first := all[0]
	if diff := prototest.Diff(&pb.Recurrence{
		Title: sentence, Text: "every Thursday at 19:30", Node: id, ToldMs: written,
		Every: &pb.Every{
			Unit: "week", Interval: 1, Weekdays: []int32{4}, At: []uint32{19*60 + 30}, Except: "in holidays",
		},
		UntilMs: new(time.Date(2027, 6, 25, 0, 0, 0, 0, time.UTC).UnixMilli()),
	}, first); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	_, days := c.told()
	if !slices.Equal(days, []string{"2027-06-24"}) {
		t.Errorf("events on %q: what recurs is none", days)
	}
	if list := c.ok(recallOp(&pb.Recall{Type: pb.RecallTemporal, Paged: true})).GetMind().GetTemporal(); len(
		list.GetRecurrences()) > 0 {
		t.Errorf("pages of events hold %v", list.GetRecurrences())
	}
	if got := wordsOf(c.recurring(written - 500)); !slices.Equal(got, []string{"first of each month"}) {
		t.Errorf("before the choir was told: %q", got)
	}

	c.forget(id)
	if got := wordsOf(c.recurring(0)); !slices.Equal(got, []string{"first of each month"}) {
		t.Errorf("after one was forgotten: %q", got)
	}
	n.nothingSays(storage.StoreID{Org: org.Org, Realm: storage.RealmMain}, "quimby")
	c.ok(undeleteOp(id)) // without its text, which is erased
	if got := c.recurring(0); len(got) != 1 {
		t.Errorf("of a node without a text: %q", wordsOf(got))
	}
	c.ingest(note)
	c.think()
	if got := c.recurring(0); len(got) != 2 || !slices.Equal(got[0].GetId(), first.GetId()) {
		t.Errorf("after the text came again: %q", wordsOf(got))
	}
}

// TestWhatRecursGoesWithWhatReplacesIt: of a text that another has replaced it is told of the time before that only, of
// words that were edited away no more.
func TestWhatRecursGoesWithWhatReplacesIt(t *testing.T) {
	t.Parallel()
	n := startNode(t, storagetest.NewDisk(), thinking)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	old := doc("rota", "The boiler is checked every Wednesday.")
	id := c.ingest(old).GetItems()[0].GetNode()
	c.think()
	before := n.clock.Now().UnixMilli()
	n.clock.Advance(time.Hour)
	c.supersede(id, "The boiler is checked every Thursday.")
	c.think()
	if got := wordsOf(c.recurring(0)); !slices.Equal(got, []string{"every Thursday"}) {
		t.Errorf("now %q", got)
	}
	if got := wordsOf(c.recurring(before)); !slices.Equal(got, []string{"every Wednesday"}) {
		t.Errorf("before %q", got)
	}
	other := c.note("The lamps are checked every month.")
	c.think()
	c.edit(&pb.EditNode{Id: other, Content: new("The lamps are checked every two years.")})
	if got := wordsOf(c.recurring(0)); slices.Contains(got, "every month") {
		t.Errorf("of words that are gone: %q", got)
	}
	c.think()
	if got := wordsOf(c.recurring(0)); !slices.Equal(got, []string{"every two years", "every Thursday"}) {
		t.Errorf("after an edit: %q", got)
	}
}

// TestWhatAnEarlierProgramLeavesIsNotTold: a program of a version before, on another node of the cluster, edits a text
// and leaves what recurred by its old words. It is not shown, and the next cycle erases it.
func TestWhatAnEarlierProgramLeavesIsNotTold(t *testing.T) {
	t.Parallel()
	n := startNode(t, storagetest.NewDisk(), thinking)
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	id := c.note("The lamps are checked every month.")
	c.think()
	stored := func() []*pb.Recurrence {
		return ofPartition(c, org, storage.TableRecurrence, func() *pb.Recurrence { return &pb.Recurrence{} })
	}
	left := stored()
	if len(left) != 1 {
		t.Fatal(left)
	}
	c.edit(&pb.EditNode{Id: id, Content: new("The lamps are checked every two years.")})
	c.inOrg(func(o *tenant.Org) {
		part := memberOf(t, o, org.Owner)
		rec := pb.DerivedID(left[0].GetId())
		key := part.Space.Key(storage.TableRecurrence, storage.I64Desc(left[0].GetToldMs()), storage.ID16(rec))
		b := storage.NewBatch(o.Store)
		b.Put(key, left[0])
		ground.RestOn(b, part.Space, rec, key, id)
		if err := o.Committer.Commit(b); err != nil {
			t.Error(err)
		}
	})
	if got := wordsOf(c.recurring(0)); slices.Contains(got, "every month") {
		t.Errorf("before a cycle: %q", got)
	}
	c.think()
	if got := wordsOf(c.recurring(0)); !slices.Equal(got, []string{"every two years"}) {
		t.Errorf("after a cycle: %q", got)
	}
	if left = stored(); len(left) != 1 {
		t.Errorf("stored are %v", left)
	}
}

// TestTheReaderTellsWhatRecurs: what means one day as often recurs where the node's reader says so.
func TestTheReaderTellsWhatRecurs(t *testing.T) {
	t.Parallel()
	const bins = "The bins are emptied on Wednesday."
	for name, x := range map[string]struct {
		configure []func(*tenant.Config, *storage.Options)
		want      []string
	}{
		"by the reader": {[]func(*tenant.Config, *storage.Options){thinking, tagged(t)}, []string{"Wednesday"}},
		"by the rules":  {[]func(*tenant.Config, *storage.Options){thinking}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := startNode(t, storagetest.NewDisk(), x.configure...)
			c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
			c.note(bins)
			c.think()
			if got := wordsOf(c.recurring(0)); !slices.Equal(got, x.want) {
				t.Errorf("%q, want %q", got, x.want)
			}
		})
	}
}

// TestAMomentSaysOfWhatInALongDocument: the title of a day in a list names what the list stands under, also
// where it is passages above.
func TestAMomentSaysOfWhatInALongDocument(t *testing.T) {
	t.Parallel()
	n := startNode(t, storagetest.NewDisk(), thinking)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	planks := strings.Repeat("  * Lena looked at one more plank of it and wrote down what she saw.\n", 60)
	c.ingest(&pb.IngestItem{
		Content:    "# Yard\n\n* Boat shed roof\n" + planks + "  * postponed to 3 March 2028\n* Slipway\n",
		OccurredMs: time.Date(2027, 5, 5, 12, 0, 0, 0, time.UTC).UnixMilli(),
	})
	c.think()
	events := c.ok(recallOp(&pb.Recall{Type: pb.RecallTemporal})).GetMind().GetTemporal().GetMoments()
	if len(events) != 1 || events[0].GetTitle() != "Boat shed roof: postponed to 3 March 2028" {
		t.Errorf("%v", events)
	}
}
