package actors

import (
	"fmt"
	"strings"
	"testing"

	"orgmem/actors/account"
	"orgmem/actors/tenant"
	"orgmem/brain/conflict"
	"orgmem/brain/reader/readertest"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// reading has cycles ask a reader that gives each pair the verdict with these logits: contradict, entail, neutral.
func reading(t *testing.T, logits [3]float32) func(*tenant.Config, *storage.Options) {
	t.Helper()
	r, err := readertest.Certain(logits)
	if err != nil {
		t.Fatal(err)
	}
	return func(c *tenant.Config, _ *storage.Options) { c.Reader = r }
}

// TestAReaderDecidesWhatNoRuleKnows: two statements that no rule finds at odds are put to the reader, whatever words
// they share; what it finds is reported once, with both statements, whichever came first.
func TestAReaderDecidesWhatNoRuleKnows(t *testing.T) {
	t.Parallel()
	const first, second = "The choir meets in the old chapel.", "The choir meets in the town hall."
	for name, x := range map[string]struct {
		logits [3]float32
		want   int
	}{"contradict": {[3]float32{9, 0, 0}, 1}, "entail": {[3]float32{0, 9, 0}, 0}, "unsure": {[3]float32{1, 0, 0}, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := startNode(t, storagetest.NewDisk(), thinking, reading(t, x.logits))
			c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
			c.note(first)
			c.note("Bread and butter, twelve eggs, half a pound of coffee.")
			c.think()
			c.note(second)
			c.think()
			c.note("Nothing else is new.")
			c.think()
			pairs := c.ok(contradictionsOp("", nil)).GetMind().GetContradictions().GetPairs()
			found := 0
			for _, p := range pairs {
				e := p.GetContradiction().GetExplanation()
				if strings.Contains(e, first) && strings.Contains(e, second) {
					found++
				}
			}
			if found != x.want || x.want == 0 && len(pairs) > 0 {
				t.Errorf("the two are reported %d times, among %v", found, pairs)
			}
		})
	}
}

// TestReadingIsBounded: of more candidates than a cycle may read it reads as many as it may.
func TestReadingIsBounded(t *testing.T) {
	t.Parallel()
	n := startNode(t, storagetest.NewDisk(), thinking, reading(t, [3]float32{40, 0, 0}))
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	const notes = 30 // each is near all others, and a rule decides of none
	words := strings.Fields("chapel library basement kitchen gallery attic corridor courtyard studio cellar")
	for i := range notes {
		c.note(fmt.Sprintf("The choir of the parish meets in the %s beside the %s.", words[i%10], words[(i/10+i+1)%10]))
	}
	c.think()
	pairs := 0
	for cursor := ""; ; {
		list := c.ok(contradictionsOp("", &pb.Page{Cursor: cursor, Size: 100})).GetMind().GetContradictions()
		pairs += len(list.GetPairs())
		if cursor = list.GetNextCursor(); cursor == "" {
			break
		}
	}
	if most := conflict.MostRead(notes); pairs != most {
		t.Errorf("%d contradictions of %d that may be read", pairs, most)
	}
}
