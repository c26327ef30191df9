// Package remoting carries messages between the actors of different nodes. It
// hides protoactor's remoting: its gRPC server and clients, and their defaults,
// which are not for the open (no encryption, queues of a million messages).
//
// # Promises
//
//   - Only nodes of the cluster are heard: both sides show a certificate, and a
//     client checks that the other side is the node it meant to reach.
//   - What is on its way to a node when the connection to it ends is given up, and
//     the function given to Start is called; nothing is sent twice.
//   - Addresses are server ids. A node that comes back elsewhere is the same
//     address.
//
// # Order of calls
//
// Start with an actor system that has no traffic yet, then Owner and the
// system's own ways to send, then Stop.
//
// # What of protoactor's cluster is used
//
// It is started, with two parts of ours: Provider says who its members are, and
// Lookup, its IdentityLookup, where an organization's actor is. Messages go to the
// address that Lookup gives, in one hop. Three of its parts are kept still:
//
//   - Its gossip speaks to every member every 300 ms, and blocks for good a node that
//     was paused for 20 seconds. Membership is memberlist's; the interval is never.
//   - Its placement put one identity on two nodes for six seconds after a join
//     (DESIGN.md in the package above). Placement is where the shard leads.
//   - Cluster.Request remembers where an identity was until a request to it has
//     timed out, and asks again by itself what may have been done. Who waits for an
//     answer, and what may be repeated, is known in package actors.
package remoting
