// Package mesh connects the nodes of a cluster: one port that carries everything
// they say to each other, and who may say it. It hides memberlist; it knows nothing
// of raft, stores or placement.
//
//   - Network is a node's one port (mux.go): mutual TLS between nodes, streams told
//     apart by Kind, gossip (gossip.go) over UDP of the same number. A peer is who its
//     certificate says. A connection without a certificate of this cluster ends before
//     it has said anything else; how long it may take, and how many of its like there
//     are, is bounded.
//   - Call asks another node a question and returns its answer (call.go). Streams of
//     other kinds carry raft's messages, stores, events and exports.
//   - A machine becomes a node with a join token (token.go, join.go), which admits one
//     machine and carries what it recognizes the cluster by. The machine's key never
//     leaves it.
//   - Certificates renew themselves, and the authority that signs them can be replaced
//     while the cluster serves (authority.go, maintain.go).
//   - Members says which nodes are alive, have left or have failed (members.go). It is
//     a hint, never a reason to act without the log.
//
// # Inside
//
// Network puts its parts together and answers its callers through those that it embeds.
// node is what they all know: configuration, credentials, node table, life. door takes
// connections in (mux.go), streams keeps those that are open, dialer opens new ones
// (dial.go); calls, gossip with members, actorPort, maintenance and admission are what
// goes over them, and each is given the parts that it needs.
//
// # Order of calls
//
// Found or Join once, for credentials. Open, then Attach with the meta group's state
// (package cluster does that), at the end Close. What serves a kind of stream or a call
// may be registered at any time; what arrives before is refused.
package mesh
