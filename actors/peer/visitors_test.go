package peer

import (
	"testing"

	pb "orgmem/proto"
)

// upload is a request that imports a file of some bytes.
func upload(bytes int) *pb.Envelope {
	return &pb.Envelope{Op: &pb.Envelope_Link{Link: &pb.LinkOp{Op: &pb.LinkOp_ImportFile{ImportFile: &pb.ImportFile{
		Filename: "a", Content: make([]byte, bytes),
	}}}}}
}

// TestALargeRequestHasRoomAlone, also one that is larger than all of it, and beside small
// ones that fill it.
func TestALargeRequestHasRoomAlone(t *testing.T) {
	f := forwarded{room: 4 * largeForwarded}
	ask := func(bytes int) *pb.NodeAsk {
		return &pb.NodeAsk{What: &pb.NodeAsk_Envelope{Envelope: upload(bytes)}}
	}
	enter := func(bytes int, want bool) func() {
		t.Helper()
		leave, ok := f.enter(ask(bytes))
		if ok != want {
			t.Errorf("%d beside %d and %d: let in: %v", bytes, f.small, f.large, ok)
		}
		return leave
	}
	small := make([]func(), 0, 4)
	for range 4 {
		small = append(small, enter(largeForwarded-200, true))
	}
	enter(largeForwarded-200, false)
	huge := enter(10*largeForwarded, true)
	enter(largeForwarded, false)
	enter(1, false)
	for _, leave := range small {
		leave()
	}
	enter(1, true)()
	huge()
	first := enter(largeForwarded, true)
	second := enter(largeForwarded, true)
	enter(largeForwarded, false) // three quarters
	enter(largeForwarded-200, true)()
	first()
	second()
	if f.small != 0 || f.large != 0 {
		t.Errorf("%d and %d bytes are held by nobody", f.small, f.large)
	}
}
