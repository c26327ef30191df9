package actors

import (
	"context"
	"time"

	"orgmem/actors/budget"
	"orgmem/brain/format"
	pb "orgmem/proto"
)

const (
	// readingWait is how long a request waits for memory to read its file: what is free by
	// then is used well before the request's own time is over.
	readingWait = 10 * time.Second
	// maxReadingsPerOrg bounds the files of one organization that are read or wait for
	// that. Each holds an upload, which the edge counts.
	maxReadingsPerOrg = 64
	// textMemory is what a byte of a file's text takes until it is stored: as a document,
	// as an entry of the queue, in the log's entry, in the store's log and in its table.
	textMemory = 5
)

// enterReading counts a file of an organization; false: it has as many as it may.
func enterReading(s *System, org pb.OrgID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.readings[org] == maxReadingsPerOrg {
		return false
	}
	s.readings[org]++
	return true
}

func leaveReading(s *System, org pb.OrgID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.readings[org]--; s.readings[org] == 0 {
		delete(s.readings, org)
	}
}

// beginReading waits for the memory that any file takes to be read. wait 0 is as long as
// ctx lasts.
func beginReading(s *System, ctx context.Context, org pb.OrgID, wait time.Duration) (*budget.Work, error) {
	return s.memory.Begin(ctx, org, format.FirstMemory, format.MaxMemory, wait)
}
