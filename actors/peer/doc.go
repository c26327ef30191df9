// Package peer carries what a node is asked to the node where the organization lives: requests, an operator's orders,
// pieces of exports, copies for backups, and event streams.
//
// # Promises
//
//   - A request is decided where its organization lives, or not at all. It waits for that until its deadline.
//   - A question that may have been carried out is asked again only where that is harmless. Otherwise the client is
//     told that nobody knows.
//   - What is on its way to one node has a bound, and so have the questions and the bytes that a node answers for the
//     others: what is beyond them is refused at once.
//   - A node that stops says farewell first, so that no answer to what it was asked is lost with its connections.
//   - An event stream of another node ends when its node, its connection or its key does, and is never slowed down by
//     another reader.
//
// # What it knows
//
// What answers for another node: the organization's mailbox (package tenant), the operator's orders (package account),
// exports, webhooks' streams and copies of stores. It reaches nodes by the interfaces Remote and Network, and asks a
// tenant.Placement who leads. It decides nothing about a request.
//
// # Order of calls
//
// Start, which opens the gateway; then everything else from any goroutine; then Drain, and Stop behind it.
//
// # Its parts
//
// Router brings requests out (router.go) and in (gateway.go). questions is what this node has asked others and waits
// for, visitors what others have asked and wait for; each has a lock of its own.
package peer
