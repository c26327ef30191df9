package actors

import (
	"sync"

	"google.golang.org/protobuf/proto"

	pb "orgmem/proto"
)

const (
	// largeForwarded is from how many bytes on a request is large: imports and batches
	// are. Large ones together take three quarters of the room at most, like uploads at
	// the edge, so that they leave room for the others.
	largeForwarded        = 64 << 10
	defaultForwardedBytes = 128 << 20
)

// forwarded counts the bytes of requests that other nodes have sent on. The edge of those
// nodes counts them there; here they are held once more, until they are answered.
type forwarded struct {
	room int

	mu           sync.Mutex // guards what follows
	small, large int
}

// enter counts a question in, and returns what counts it out; false: there is no room. Of
// the large ones one is let in whatever there is, or the largest would never be.
func (f *forwarded) enter(ask *pb.NodeAsk) (leave func(), ok bool) {
	if ask.GetEnvelope() == nil { // an operator's, one after the other, or one of a few bytes
		return func() {}, true
	}
	n := proto.Size(ask)
	f.mu.Lock()
	defer f.mu.Unlock()
	held, most := &f.small, max(f.room/4, f.room-f.large)
	if n > largeForwarded {
		held, most = &f.large, min(f.room/4*3, f.room-f.small)
	}
	if *held+n > most && (n <= largeForwarded || *held > 0) {
		return nil, false
	}
	*held += n
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		*held -= n
	}, true
}
