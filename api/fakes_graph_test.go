package api

import pb "orgmem/proto"

// graphSamples holds a valid body for each of the routes of proto/graph.proto that
// want one.
var graphSamples = map[string]string{}

// fakeGraph answers an operation of proto/graph.proto with a full record.
func fakeGraph(op *pb.GraphOp) *pb.Reply {
	switch op.GetOp().(type) {
	}
	return fakeProblem(codeInternal)
}
