// Package remoting carries messages between the actors of different nodes. It
// hides protoactor's remoting: its gRPC server and clients, and their defaults,
// which are not for the open (no encryption, queues of a million messages).
//
// # Promises
//
//   - Only nodes of the cluster are heard: both sides show a certificate, and a
//     client checks that the other side is the node it meant to reach.
//   - What is on its way to a node when the connection to it ends is given up, and
//     Config.Lost is told; nothing is sent twice.
//   - Addresses are server ids. A node that comes back elsewhere is the same
//     address.
//
// # Order of calls
//
// Start with an actor system that has no traffic yet, then Owner and the
// system's own ways to send, then Stop.
//
// # Why not all of protoactor's cluster
//
// Lookup is protoactor's IdentityLookup: it says where an organization's actor
// is. The rest of its package cluster is not started: it gossips by itself, to
// every member, every 300 ms; it never takes a member back that was paused for 20
// seconds; and its placement put one identity on two nodes for six seconds after
// a join (DESIGN.md in the package above). Membership is memberlist's, and
// placement is where the shard leads.
package remoting
