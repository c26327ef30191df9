// Package pb is the vocabulary that all other packages share: typed ids, the
// records that are stored, the commands that go into raft logs and the messages
// between the HTTP edge and the actors.
//
// It promises that a field number keeps its meaning for ever: stored bytes and
// the messages of a neighbour that runs another version stay readable. It holds
// no behaviour beyond parsing and printing ids, and it imports nothing of
// orgmem.
//
// The Go code is generated from the .proto files beside it by `make proto`.
package pb

//go:generate protoc --go_out=. --go_opt=paths=source_relative account.proto actors.proto brain.proto
//go:generate protoc --go_out=. --go_opt=paths=source_relative command.proto common.proto data.proto graph.proto
//go:generate protoc --go_out=. --go_opt=paths=source_relative message.proto mind.proto node.proto record.proto
//go:generate protoc --go_out=. --go_opt=paths=source_relative link.proto replica.proto
