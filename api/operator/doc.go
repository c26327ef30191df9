// Package operator is the operator interface: a table of its own (Routes), on a listener
// of its own, behind one token. It makes and removes organizations, members and keys, and
// shows how the node and its cluster are; it reads no content, but for backups, which read
// all.
//
// Engine makes the router of it on a web.Edge, so that its requests are bounded, counted
// and logged as those of the public interface are.
package operator
