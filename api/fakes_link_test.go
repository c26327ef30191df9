package api

import pb "orgmem/proto"

// linkSamples holds a valid body for each of the routes of proto/link.proto that
// want one.
var linkSamples = map[string]string{}

// fakeLink answers an operation of proto/link.proto with a full record.
func fakeLink(op *pb.LinkOp) *pb.Reply {
	switch op.GetOp().(type) {
	}
	return fakeProblem(codeInternal)
}
