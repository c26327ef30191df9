// Package graph is a partition's graph: nodes, edges and domains, what was derived from them, and the entries by which
// lists find them. A Tx is a transaction over it. Module answers the requests that read the graph, and hands those that
// change it to the one writer of the partition as an Edit.
//
// # Promises
//
//   - What a transaction does is one commit, with degrees, entries of lists, history, the audit trail, events and the
//     outcome of the request. Where that is more than one commit carries, each piece is true in itself (ErrUnfinished,
//     Pending.StagedBatches).
//   - A transaction sees its own changes. It stores nothing: who has made it commits its Batch, or drops it.
//   - A record and its entries in lists are written by one function (PutNode, PutEdge, PutDomain), so that no list
//     lacks what is stored, and no cursor skips or repeats an entry.
//   - The commit that forgets a node erases its text wherever this package has written it, and what was derived from
//     the node. The segments of the index that hold something of it are noted for the writer (Tx.Finish).
//   - What clients say was derived from a node tells what became of the node, also when nothing of it is left. That
//     stays within one partition.
//   - One content is one node. A document that repeats what a person has changed since does not undo the change; one
//     that says something new does.
//
// # What it knows
//
// The records of a partition, what a text says (brain), and the call whose edit it carries out. Of the queue it knows
// only the entries that it erases with a node. It does not know the worker, nor how segments are merged and stored:
// package subject commits what a transaction has gathered and shows it to readers.
//
// # Who calls it from where
//
// A Tx, and all of its methods, belong to the goroutine of the partition's worker that is making the change. The
// functions that read take a storage.Reader and may be called from any goroutine. Module runs in the organization's
// mailbox, except where tenant.Module says otherwise.
//
// # Order of calls
//
// For an edit: SubmitEdit from the mailbox; the worker then makes a Tx (NewTx), sets Store and Call, and runs the edit,
// which may ask for chunks (Tx.Prepared) and is then run again. For items of the queue: Prepared.Cut and Prepared.Read
// on a CPU worker, then Tx.Apply and Tx.Charge for each, then History.Announce. In both cases the end is the same:
// Tx.Finish, the commits of StagedBatches, and last the commit of Batch.
//
// # The parts of a transaction
//
// All parts know the Scope (whose graph, when, on whose behalf) and write into Pending (what will be committed). Above
// these, each part keeps one kind of record: NodeRecords; EdgeRecords, which count degrees at the nodes; ExternalIDs;
// History; Entities; Traces; IndexChange; DerivedRecords. What concerns several parts is a method of Tx.
package graph
