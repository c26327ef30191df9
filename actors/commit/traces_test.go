package commit

import (
	"errors"
	"testing"

	"orgmem/storage"
)

// Without traces, what a commit does for them costs nothing.
func TestNoTraceCostsNoMemory(t *testing.T) {
	c, failure := &Committer{}, errors.New("no")
	group := []write{{Change: &Change{Batch: storage.NewBatch(storage.StoreID{})}}}
	if n := testing.AllocsPerRun(100, func() {
		group[0].In(nil)
		c.traced(&group[0])
		c.proposed(group, 10)
		group[0].ended(failure)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
