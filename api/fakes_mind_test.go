package api

import pb "orgmem/proto"

// mindSamples holds a valid body for each of the routes of proto/mind.proto that
// want one.
var mindSamples = map[string]string{}

// fakeMind answers an operation of proto/mind.proto with a full record.
func fakeMind(op *pb.MindOp) *pb.Reply {
	switch op.GetOp().(type) {
	}
	return fakeProblem(codeInternal)
}
