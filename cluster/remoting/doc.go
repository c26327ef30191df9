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
// It is started, and knows two kinds of virtual actor, organization and subject. Two of its
// parts are ours: Provider says who its members are and which kinds they have, and Lookup,
// its IdentityLookup, where an actor of a kind is. An organization is where its shard leads,
// a subject ("ORGANIZATION/PARTITION") where its organization is.
//
// Lookup gives the gateway of that node, and messages go there in one hop. It spawns nothing
// by itself: what a node knows of leaders may be old, and two nodes that each spawned an
// organization would both decide for it until one lost its lease. So the gateway asks its
// own host whether the shard is led there before it wakes anybody, the organization's actor
// opens its store under a lease, and it alone spawns its subjects, which write under that
// lease and end with it. Props that protoactor wants with a kind are therefore those of an
// actor that hands on to the gateway. The actors themselves are spawned by the table of
// kinds in actors/tenant, without the middleware of protoactor's kinds, which would tell
// every one of them its identity by a message of its own and keep its address in a cache.
//
// Three parts of protoactor's cluster are kept still:
//
//   - Its gossip speaks to every member every 300 ms, and blocks for good a node that
//     was paused for 20 seconds. Membership is memberlist's; the interval is never.
//   - Its placement put one identity on two nodes for six seconds after a join
//     (DESIGN.md in the package above). Placement is where the shard leads.
//   - Cluster.Request remembers where an identity was until a request to it has
//     timed out, and asks again by itself what may have been done. Who waits for an
//     answer, and what may be repeated, is known in package actors.
package remoting
