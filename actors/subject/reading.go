package subject

import (
	"context"
	"time"

	"orgmem/actors/budget"
	"orgmem/actors/tenant"
	formatreading "orgmem/brain/format/reading"
	pb "orgmem/proto"
)

const (
	// ReadingWait is how long a request waits for memory to read its file: what is free by
	// then is used well before the request's own time is over.
	ReadingWait = 10 * time.Second
	// textMemory is what a byte of a file's text takes until it is stored: as a document,
	// as an entry of the queue, in the log's entry, in the store's log and in its table.
	textMemory = 5
)

// beginReading waits for the memory that any file takes to be read. wait 0 is as long as
// ctx lasts.
func beginReading(ctx context.Context, s *tenant.System, org pb.OrgID, wait time.Duration) (*budget.Work, error) {
	return s.ReadingMemory.Begin(ctx, org, formatreading.FirstMemory, formatreading.MaxMemory, wait)
}
