// Package transfer copies stores from node to node. It knows no raft and no group: its
// caller says what a store must hold, and who may have one (Config.Allow).
//
// A replica that misses entries which the leader's log has no more is brought up in
// three steps:
//
//  1. raft sends "the snapshot", a StoreManifest: which stores there are, and up to
//     which entry each must be for the marker to be true (Manifest).
//  2. The replica fetches each store that is behind from the node that sent the
//     manifest: a copy of it as it is now, file by file (Transfers.Fetch there,
//     Transfers.Serve here). What arrives may be newer than the manifest, since a store
//     knows itself which entries it has and skips them when they come by the log.
//  3. When all are in place and on disk, the marker is published, and the log goes on
//     behind it (fsm.Restore in package cluster).
//
// A transfer that breaks off fails the Restore, raft's leader tries again, and what has
// arrived stays in the stage of its store (see storage.Stage).
//
// A store that is damaged on one node is fetched in the same way, one at a time (From).
//
// # Order of calls
//
// New, then all methods from any goroutine; a Fetcher is for one. Closing ends what is
// being sent to others, the context what is being fetched.
package transfer
