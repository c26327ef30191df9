// Package account is who may do what in an organization, and leaving: members and their keys, subjects and settings,
// the audit trail, usage, purges, and the operator's orders.
//
// # Promises
//
//   - From its answer on a revocation holds: the key authenticates nothing any more, and a removed member's keys
//     neither. What was theirs cannot be reached, and a job erases it.
//   - The directory learns of a key before the organization does, and drops it after: a crash in between leaves a hash
//     that leads to an organization which refuses it, and such hashes are looked for and dropped (keys_gone.go).
//   - A purge deletes all of what its dry run counted, or nothing. Once it is decided upon it is carried to its end,
//     also behind a crash, before anything of the organization is read.
//   - An act of the audit trail became true together with what it tells of, in the same commit. A report of usage is
//     exact: it waits until what was answered before it is stored.
//   - An operator's order returns after its effect is durable.
//
// # What it knows
//
// The organization (package tenant), and what a purge and a leaving member end in the features above it: jobs,
// exports, trainings, the graph. It does not know on which node an organization lives: LocalOperator serves those of
// this node, and package peer carries orders to the others.
//
// # Who calls it from where
//
// Keys, Members, Profile, Trail, Usage and Purges are modules in the organization's mailbox; what they read runs in the
// read pool. The methods of LocalOperator may be called from any goroutine.
package account
