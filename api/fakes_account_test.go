package api

import pb "orgmem/proto"

// accountSamples holds a valid body for each of the routes of proto/account.proto that
// want one.
var accountSamples = map[string]string{}

// fakeAccount answers an operation of proto/account.proto with a full record.
func fakeAccount(op *pb.AccountOp) *pb.Reply {
	switch op.GetOp().(type) {
	}
	return fakeProblem(codeInternal)
}
