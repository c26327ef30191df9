package api

import pb "orgmem/proto"

// dataSamples holds a valid body for each of the routes of proto/data.proto that
// want one.
var dataSamples = map[string]string{}

// fakeData answers an operation of proto/data.proto with a full record.
func fakeData(op *pb.DataOp) *pb.Reply {
	switch op.GetOp().(type) {
	}
	return fakeProblem(codeInternal)
}
