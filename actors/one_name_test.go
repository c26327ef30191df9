package actors

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"orgmem/actors/account"
	"orgmem/actors/graph"
	"orgmem/actors/tenant"
	"orgmem/brain/reader"
	"orgmem/brain/reader/readertest"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// readBy opens a memory, or a new one, on a node whose reader takes Washington for something of a type.
func readBy(t *testing.T, disk *storagetest.Disk, before client, kind reader.Type) client {
	t.Helper()
	r, err := readertest.Tagging(map[string]readertest.Tag{"washington": {Type: kind}, "mara": {Type: reader.Person}})
	if err != nil {
		t.Fatal(err)
	}
	if before.n != nil {
		before.n.stop()
	}
	n := startNode(t, disk, thinking, func(c *tenant.Config, _ *storage.Options) { c.Reader = r })
	if before.key == "" {
		before.key = n.org(account.NewOrg{}).APIKey
	}
	return client{n: n, key: before.key}
}

// mention writes texts that name Washington, and gives their nodes.
func (c client) mention(from, to int) (ids []string) {
	c.n.t.Helper()
	for i := from; i < to; i++ {
		ids = append(ids, c.note(fmt.Sprintf("Mara and Washington wrote letter %d.", i)))
	}
	return ids
}

// named gives the entities that are called Washington, by type, with how many texts name each.
func (c client) named() (all []string) {
	c.n.t.Helper()
	by := map[string]int{}
	for _, id := range c.edges(&pb.ListEdges{Type: string(graph.EdgeMentions)}, 100) {
		entity := c.nodeOf(c.ok(getEdgeOp(id)).GetGraph().GetEdge().GetEdge().GetTarget())
		if _, about, _ := strings.Cut(string(entity.GetMetadata()), `"entityType":"`); entity.GetTitle() == "Washington" {
			kind, _, _ := strings.Cut(about, `"`)
			by[kind+" "+entity.GetId()]++
		}
	}
	for entity, texts := range by {
		kind, _, _ := strings.Cut(entity, " ")
		all = append(all, fmt.Sprint(kind, " ", texts))
	}
	slices.Sort(all)
	return all
}

func (c client) wantNamed(when string, want ...string) {
	c.n.t.Helper()
	if got := c.named(); !slices.Equal(got, want) {
		c.n.t.Errorf("%s: %q, want %q", when, got, want)
	}
}

// TestOneNameIsOneThing: what one text takes for a place, and others for a person, is one entity, at once, and it is
// what most of the texts say that are there.
func TestOneNameIsOneThing(t *testing.T) {
	t.Parallel()
	disk := storagetest.NewDisk()
	c := readBy(t, disk, client{}, reader.Place)
	c.mention(0, 1)
	c.wantNamed("one text", "place 1")
	c = readBy(t, disk, c, reader.Person)
	people := c.mention(1, 4)
	c.wantNamed("four texts", "person 4")
	c.think()
	c.wantNamed("after a cycle", "person 4")
	for _, id := range people[:2] {
		c.forget(id)
	}
	c.edit(&pb.EditNode{Id: people[2], Content: new("Mara said nothing.")})
	c.wantNamed("when only the place is left", "place 1")
}

// TestANameThatClearlyMeansTwoThings: with several texts that are sure of each, the name has two entities, and again
// one when these texts are gone. What a text says of it stands with the right one.
func TestANameThatClearlyMeansTwoThings(t *testing.T) {
	t.Parallel()
	disk := storagetest.NewDisk()
	c := readBy(t, disk, client{}, reader.Place)
	c.mention(0, 4)
	c.think()
	c = readBy(t, disk, c, reader.Person)
	people := c.mention(4, 7)
	c.wantNamed("before a cycle", "place 7")
	c.think()
	c.wantNamed("after it", "person 3", "place 4")
	people = append(people, c.mention(7, 8)...)
	c.wantNamed("of the next text", "person 4", "place 4")
	c.think()
	c.wantNamed("after another cycle", "person 4", "place 4")

	for _, id := range people[:2] {
		c.forget(id)
	}
	c.think()
	c.wantNamed("when too few are sure of the person", "place 6")
	for _, id := range people[2:] {
		c.forget(id)
	}
	c.think()
	c.wantNamed("when nobody is", "place 4")
}

// TestAForgottenNameStaysForgotten: whatever an entity was taken for when it began, texts do not bring it back.
func TestAForgottenNameStaysForgotten(t *testing.T) {
	t.Parallel()
	disk := storagetest.NewDisk()
	c := readBy(t, disk, client{}, reader.Place)
	c.mention(0, 1)
	c = readBy(t, disk, c, reader.Person)
	c.mention(1, 4)
	for _, id := range c.nodes(&pb.ListNodes{Kind: graph.KindEntity}, 100) {
		if c.nodeOf(id).GetTitle() == "Washington" {
			c.forget(id)
		}
	}
	c.mention(4, 6)
	c.think()
	c.wantNamed("after more texts")
	c = readBy(t, disk, c, reader.Organization)
	c.mention(6, 7)
	c.think()
	c.wantNamed("when a text takes it for something else")
	c = readBy(t, disk, c, reader.Person)
	c.mention(7, 11)
	c.think()
	c.wantNamed("and texts for what it was, again")
}

// TestWhatAPersonSaysOfANameKeepsItTogether: an entity of which a person asserts or forgets something is not shared out
// among others of its name, and what was asserted stays.
func TestWhatAPersonSaysOfANameKeepsItTogether(t *testing.T) {
	t.Parallel()
	for _, says := range []string{"asserts", "forgets"} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			disk := storagetest.NewDisk()
			c := readBy(t, disk, client{}, reader.Place)
			texts := c.mention(0, 4)
			var washington, edge string
			for _, id := range c.nodes(&pb.ListNodes{Kind: graph.KindEntity}, 100) {
				if c.nodeOf(id).GetTitle() == "Washington" {
					washington = id
				}
			}
			want := []string{"place 7"}
			if says == "asserts" {
				e, _ := c.assertEdge(&pb.AssertEdge{Source: washington, Target: texts[0], Type: "explains"})
				edge = e.GetId()
			} else {
				for _, id := range c.edges(&pb.ListEdges{Type: string(graph.EdgeMentions)}, 100) {
					e := c.ok(getEdgeOp(id)).GetGraph().GetEdge().GetEdge()
					if e.GetTarget() == washington && e.GetSource() == texts[0] {
						c.ok(forgetEdgeOp(id))
					}
				}
				want = []string{"place 6"}
			}
			c = readBy(t, disk, c, reader.Person)
			c.mention(4, 7)
			c.think()
			c.wantNamed("after a cycle", want...)
			if edge != "" && c.ok(getEdgeOp(edge)).GetGraph().GetEdge().GetEdge().GetSource() != washington {
				t.Error("what was asserted is gone")
			}
		})
	}
}

// called gives the entities that stand for people, with how many texts name each.
func (c client) called() (all []string) {
	c.n.t.Helper()
	by := map[string]int{}
	for _, id := range c.edges(&pb.ListEdges{Type: string(graph.EdgeMentions)}, 100) {
		by[c.nodeOf(c.ok(getEdgeOp(id)).GetGraph().GetEdge().GetEdge().GetTarget()).GetTitle()]++
	}
	for name, texts := range by {
		all = append(all, fmt.Sprint(name, " ", texts))
	}
	slices.Sort(all)
	return all
}

// TestAFirstNameMeansWhoeverHasIt: texts that say the first name alone mean the only person of the memory who has it,
// as soon as several texts have shown that they are called so, and nobody where two are.
func TestAFirstNameMeansWhoeverHasIt(t *testing.T) {
	t.Parallel()
	n := startNode(t, storagetest.NewDisk(), thinking)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	for i := range 2 {
		c.note(fmt.Sprintf("Then Maria wrote letter %d.", i))
	}
	want := func(when string, want ...string) {
		t.Helper()
		if got := c.called(); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
	whole := []string{c.note("Today Maria Lopez wrote number 0. It was Maria who sent it.")}
	c.think()
	want("when one text calls her both", "Maria 2", "Maria Lopez 1")
	whole = append(whole, c.note("Today Maria Lopez wrote number 1. It was Maria who sent it."))
	c.think()
	want("when two do", "Maria Lopez 4")
	c.note("Then Maria wrote the last letter.")
	c.think()
	want("of the next text", "Maria Lopez 5")
	for _, id := range whole {
		c.forget(id)
	}
	want("when nothing has the whole name", "Maria 3")
}
