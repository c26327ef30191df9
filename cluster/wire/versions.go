package wire

import pb "orgmem/proto"

// ProtocolVersion is what this program speaks with other nodes: commands in the
// logs, calls, and what a snapshot brings. It speaks all earlier ones, too. A node
// tells it in its gossip and in the node table; what is newer than the lowest
// present is not said. Raise it with whatever an earlier program would not
// understand, and write down here what that is.
//
// Commands that write a store carry records that cluster does not look into, and the
// actors of another node may read them: where the store has moved, and where an
// operation travels to its owner. They are not gated; each change of a record
// has to be of one of two kinds.
//
//   - What an earlier program may leave out: a new field that is as good as absent
//     there, a new key that it never looks at. protobuf keeps fields that a program does
//     not know as long as it writes back the message that it read, so records are changed
//     in place and never built anew. This needs no version.
//   - What it must not leave out, since it would answer, erase or bill wrongly: another
//     meaning of a field, a key that moves, a value of an enumeration that it would
//     refuse, a record of which it would drop the half. This needs a version here, and
//     the code that writes the new form asks Meta.Version first and writes the old one until
//     then; what reads takes both, for good.
//
// make upgrade holds both to it, as far as its load reaches. The versions:
//
//	1  the first
//	2  commands say what they need (Command.needs); the node table and the version
//	   are judged by it (judgeOutdated, judgeVersion)
//	3  keys are dropped from the directory (DropKeys)
//	4  the secrets of connectors, what requests were answered and the types of the edges
//	   of forgotten nodes are sealed (Connector.sealed, Outcome.sealed, Edge.sealed)
//	5  memories are embedded with the multilingual model; an earlier program does not have it,
//	   and would find what that has embedded by its words only, and embed it anew
const ProtocolVersion = 5

// DropKeysVersion is the version that brought DropKeys.
const DropKeysVersion = 3

// SealedVersion is the version from which on the node that opens an organization finds in
// its store what is sealed: an earlier program would fetch without the secrets of a
// connector, and replay an empty answer.
const SealedVersion = 4

// MultilingualVersion is the version from which on every node has the multilingual model.
const MultilingualVersion = 5

// JudgedVersion is the version of the cluster from which on entries of nodes and
// raises of the version are refused where they are applied. Before it some replica
// may run a program that takes them all, and replicas must decide alike.
const JudgedVersion = 2

// Needs returns the version that a command asks of the replicas that carry it out, 0 where
// the first one knew it. A new kind of command is entered here,
// and a field that changes what an old one does, with the ProtocolVersion that
// brings it: then it is refused until the last node has that version, and nothing
// else has to be done. What raises the version asks for nothing: an old node must
// be able to refuse it as all others do, and stops where it takes effect
// (Directory.apply).
func Needs(cmd *pb.Command) uint32 {
	if cmd.GetDropKeys() != nil {
		return DropKeysVersion
	}
	return 0
}
