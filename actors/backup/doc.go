// Package backup hands out copies of a node's stores to backups. A copy is the store at one moment, in parts that are
// made of the records that there are: what was forgotten is in none of them, also while its bytes are still in the
// store's files.
//
// A copy ends when it is released, when nobody has read it for five minutes, or with the node; few are open at once.
//
// It knows the stores of this node only. Copies of organizations that live on other nodes are fetched by package peer.
package backup
