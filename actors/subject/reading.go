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
	// ReadingWait is how long a request waits for memory to read its file. It leaves enough of the request's time to read
	// the file.
	ReadingWait = 10 * time.Second
	// textMemory is the memory for a byte of a file's text until it is stored: as a document, as an entry of the queue, in
	// the log's entry, in the store's log and in its table.
	textMemory = 5
)

// beginReading waits for the memory that reading any file takes, for as long as wait, or as ctx where wait is 0.
func beginReading(ctx context.Context, s *tenant.System, org pb.OrgID, wait time.Duration) (*budget.Work, error) {
	return s.ReadingMemory.Begin(ctx, org, formatreading.FirstMemory, formatreading.MaxMemory, wait)
}
