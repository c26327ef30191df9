// Package wire is what the nodes of a cluster must agree on before they can say
// anything to each other: how nodes and groups are named, which errors keep their
// meaning from node to node, what the versions of the protocol are, and the two times
// that a leader's right to answer rests on. All other packages of cluster import it.
//
// Changing anything here changes what older programs read: ShardOf and the names are
// part of the disk format, the codes and versions part of the protocol.
package wire
